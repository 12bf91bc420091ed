#!/usr/bin/env bash
# count-instructions.sh [--write]
#
# Counts the instructions of one-row changes, from the commit to the encoded patch, and compares them with those in
# Benchmarks/instructions.txt: unlike times they are the same on a busy machine. One that grew by more than the file's
# tolerance fails the check; one that fell by as much is to be written down, which `--write` does for all.
set -euo pipefail
cd "$(dirname "$0")/.."

thresholds=Benchmarks/instructions.txt
tolerance=5 # percent: another SQLite, another C library
changes=100
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$program"' EXIT

# Debian 12's valgrind gives up on some of clang's debugging information.
built=${SCRATCH:-.build}/release/freshet-turns
program=$built.counted
strip --strip-debug -o "$program" "$built"

count() { # kind, rows
  cp "$scratch/$2.sqlite" "$scratch/wells.sqlite"
  # Without this variable, Swift's hash tables differ in every process.
  SWIFT_DETERMINISTIC_HASHING=1 timeout 120 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    --toggle-collect=freshet_measured_turn "$program" "$scratch/wells.sqlite" "change $1 $changes" \
    >"$scratch/out" 2>"$scratch/err" || { tail -n 20 "$scratch/err" >&2; return 1; }
  rm -f "$scratch"/wells.sqlite*
  awk -v changes="$changes" '/Collected/ { print int($NF / changes); found = $NF > 0 } END { exit !found }' "$scratch/err"
}

failed=0
: >"$scratch/counts"
for rows in 1000 20000; do
  sed "s/ROWS/$rows/g" Benchmarks/wells.sql | sqlite3 "$scratch/$rows.sqlite"
  for kind in content sort section insert delete; do
    now=$(count "$kind" "$rows") || { echo "cannot count $kind of $rows rows" >&2; exit 1; }
    echo "$kind $rows $now" >>"$scratch/counts"
    before=$(awk -v kind="$kind" -v rows="$rows" '$1 == kind && $2 == rows { print $3 }' "$thresholds" || true)
    verdict=ok
    if [[ -z $before ]]; then
      verdict='NOT IN GIT' && failed=1
    elif ((now * 100 > before * (100 + tolerance))); then
      verdict='TOO MANY' && failed=1
    elif ((now * 100 < before * (100 - tolerance))); then
      verdict='fewer: scripts/count-instructions.sh --write'
    fi
    printf '%-8s %6d rows %9d instructions, %9s in git: %s\n' "$kind" "$rows" "$now" "${before:-none}" "$verdict"
  done
done
if [[ ${1:-} == --write ]]; then
  { grep '^#' "$thresholds" || true; cat "$scratch/counts"; } >"$scratch/new"
  cp "$scratch/new" "$thresholds"
  exit 0
fi
exit "$failed"
