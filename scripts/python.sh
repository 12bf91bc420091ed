#!/usr/bin/env bash
# Runs Python with Playwright: the one of .build/venv when packages.sh made it, the system's otherwise.
set -euo pipefail
venv=$(dirname "$0")/../.build/venv/bin/python3
if [[ -x $venv ]]; then exec "$venv" "$@"; fi
exec python3 "$@"
