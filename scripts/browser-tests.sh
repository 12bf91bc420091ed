#!/usr/bin/env bash
# Runs the tests of pages in a real Chromium against .build/release/freshet: all, or those whose names have the words
# that are given.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM=$(scripts/chromium.sh)
FRESHET_BIN=$PWD/.build/release/freshet
export CHROMIUM FRESHET_BIN
failed=0
for test in Tests/WebTests/browser/*_test.py; do
  printf '\n--- %s\n' "$(basename "$test" .py)"
  scripts/python.sh "$test" "$@" || failed=1
done
exit "$failed"
