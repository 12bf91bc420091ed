#!/usr/bin/env bash
# Drops each rule of change capture, one at a time, and shows which tests notice.
#
#     scripts/mutate-capture.sh [NAME ...]
#
# scripts/capture-mutations.txt has the rules. All of them go into one copy of the sources, each behind a name that the
# environment turns on, so that one build serves all. Tests of pages and WALs made by hand come first; what they do not notice is
# left to hostile writers (FRESHET_TICKS=3000). Run by hand: it takes a quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
copy=${MUTATE_FOLDER:-/tmp/freshet-mutations}
mkdir -p "$copy"
rm -rf "$copy/Sources" "$copy/Tests" "$copy/Benchmarks"
cp -r Package.swift Package.resolved Sources Tests "$copy/"
mkdir -p "$copy/Benchmarks"
cp -r Benchmarks/Turns "$copy/Benchmarks/"
# Of the tests, only those of capture.
sed -i '/^    tests(of: "ChangeCapture"/!{/^    tests(of: /d}' "$copy/Package.swift"
python3 scripts/capture-mutations.py "$copy" "$root/scripts/capture-mutations.txt" >"$copy/names"
(cd "$copy" && swift build --product freshetPackageTests -j 2 --disable-automatic-resolution) >"$copy/build.log" 2>&1 ||
  { tail -20 "$copy/build.log"; exit 1; }

tests() { # then options of Swift Testing
  (cd "$copy" && timeout 300 .build/debug/*.xctest --testing-library swift-testing "$@") >"$copy/test.log" 2>&1
}
caught() { # the names of the tests that failed
  { grep 'recorded an issue' "$copy/test.log" | sed 's/.*Test \([A-Za-z]*\)(.*/\1/' | grep . || echo '(the process ended)'; } |
    sort | uniq -c | sort -rn | sed 's/^ *[0-9]* //' | head -3 | paste -sd' '
}

missed=0
while read -r name; do
  if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
  export MUTATION=$name
  if ! tests --filter 'PageTests|WALFollowerTests|SnapshotPagesTests' --skip damagedPages; then
    echo "$name: $(caught)"
  elif ! FRESHET_TICKS=${FRESHET_TICKS:-3000} tests --filter HostileTests; then
    echo "$name: $(caught)"
  else
    echo "$name: NOT CAUGHT"
    missed=1
  fi
done <"$copy/names"
exit "$missed"
