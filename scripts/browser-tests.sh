#!/usr/bin/env bash
# Runs Tests/WebTests/browser/*_test.py in a real Chromium against FRESHET_BIN, by default .build/release/freshet, two
# files at a time as they mostly wait, and Tests/WebTests/server in Node. Arguments pick tests of the first by words.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM=$(scripts/chromium.sh)
FRESHET_BIN=${FRESHET_BIN:-$PWD/.build/release/freshet}
export CHROMIUM FRESHET_BIN

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The longest tests begin first.
long=(Tests/WebTests/browser/{table,demo}_test.py)
others=()
for file in Tests/WebTests/browser/*_test.py; do [[ " ${long[*]} " == *" $file "* ]] || others+=("$file"); done

run() { # scratch, file, then words; the output when it has ended
  local scratch=$1 file=$2 status=0
  shift 2
  scripts/python.sh "$file" "$@" </dev/null >"$scratch/${file##*/}" 2>&1 || status=$?
  flock "$scratch" sed "1i ${file##*/}" "$scratch/${file##*/}"
  return "$status"
}
export -f run

failed=0
printf '%s\n' "${long[@]}" "${others[@]}" | xargs -P 2 -I FILE bash -c 'run "$@"' run "$scratch" FILE "$@" || failed=1
# The client in Node against the same server.
if (($# == 0)); then
  node --test --test-reporter=spec Tests/WebTests/server/*.server.mjs || failed=1
fi
exit $failed
