#!/usr/bin/env bash
# Prints the path of a Chromium: $CHROMIUM, or the first that is installed. Fails when there is none.
set -euo pipefail
command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome
