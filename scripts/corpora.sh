#!/usr/bin/env bash
# Gives each target of the fuzzer the inputs that git has, without libFuzzer and its sanitizers: seconds, in the build
# of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

program=.build/debug/freshet-corpora
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
for target in $("$program"); do
  if count=$("$program" "$target" "Fuzzing/corpora/$target" 2>"$log"); then
    printf '%-10s %s\n' "$target" "$count"
  else
    printf '%-10s FAILED\n' "$target"
    tr '\r' '\n' <"$log" | tail -n 20
    failed=1
  fi
done
exit $failed
