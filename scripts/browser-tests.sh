#!/usr/bin/env bash
# Runs Tests/WebTests/browser/*_test.py in a real Chromium against FRESHET_BIN, by default .build/release/freshet, and Tests/WebTests/server in Node. Arguments pick tests of the first by words.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM=$(scripts/chromium.sh)
FRESHET_BIN=${FRESHET_BIN:-$PWD/.build/release/freshet}
export CHROMIUM FRESHET_BIN

failed=0
for file in Tests/WebTests/browser/*_test.py; do
  echo "${file##*/}"
  scripts/python.sh "$file" "$@" || failed=1
done
# The client in Node against the same server.
if (($# == 0)); then
  node --test --test-reporter=spec Tests/WebTests/server/*.server.mjs || failed=1
fi
exit $failed
