#!/usr/bin/env bash
# Runs Tests/WebTests/browser/*_test.py in a real Chromium against .build/release/freshet. Arguments pick tests by words.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM=$(scripts/chromium.sh)
FRESHET_BIN=$PWD/.build/release/freshet
export CHROMIUM FRESHET_BIN

failed=0
for file in Tests/WebTests/browser/*_test.py; do
  echo "${file##*/}"
  scripts/python.sh "$file" "$@" || failed=1
done
exit $failed
