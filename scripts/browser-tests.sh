#!/usr/bin/env bash
# Runs the demo page's tests in a real Chromium against .build/release/freshet.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM=$(scripts/chromium.sh)
FRESHET_BIN=$PWD/.build/release/freshet
export CHROMIUM FRESHET_BIN
exec scripts/python.sh Tests/WebTests/browser_test.py "$@"
