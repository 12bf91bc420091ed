#!/usr/bin/env bash
# Runs the JavaScript tests, Tests/WebTests/**/*.test.js or .mjs. The files are named one by one, because Node 18 and
# Node 22 disagree about what `node --test` does with a folder.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -d '' files < <(find Tests/WebTests -name node_modules -prune -o -name '*.test.*js' -print0 | sort -z)
if ((${#files[@]} == 0)); then
  echo 'Tests/WebTests has no *.test.js' >&2
  exit 1
fi
exec node --test --test-reporter=spec "${files[@]}"
