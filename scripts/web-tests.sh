#!/usr/bin/env bash
# Checks the types of public/ (JSDoc, with TypeScript's checker) and of what the documents show, that what is made of
# modules (public/*.min.*) is up to date, and runs the JavaScript tests: all *.test.js and *.test.mjs of Tests/WebTests,
# named one by one, because Node 18 and 22 disagree about `node --test` with a folder.
set -euo pipefail
cd "$(dirname "$0")/.."

tsc -p Tests/WebTests
node scripts/check-web-docs.mjs
node scripts/build-client.mjs --check
mapfile -d '' files < <(find Tests/WebTests \( -name node_modules -o -path Tests/WebTests/package \) -prune -o -name '*.test.*js' -print0 | sort -z)
if ((${#files[@]} == 0)); then
  echo 'Tests/WebTests has no *.test.js' >&2
  exit 1
fi
exec node --test --test-reporter=spec "${files[@]}"
