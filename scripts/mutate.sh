#!/usr/bin/env bash
# Drops each rule of something that must not be wrong, one at a time, and shows which tests notice.
#
#     scripts/mutate.sh capture|records|access|lists|self-check|machine|aggregates|feed|journal [NAME ...]
# scripts/mutations has the rules. All of a list go into one copy of the sources, each behind a name that the
# environment turns on, so that one build serves all. Rules that the quick tests do not notice are left to the long ones
# (capture: hostile writers, FRESHET_TICKS=3000; access: random rules, FRESHET_SEEDS=100). Run by hand: it takes a
# quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
suite=$1
shift
case $suite in
capture)
  quick='PageTests|WALFollowerTests|SnapshotPagesTests|SharedCaptureTests|ChangeReaderTests'
  long=HostileTests
  export FRESHET_TICKS=${FRESHET_TICKS:-3000}
  ;;
records)
  quick='RecordDecoderTests|FrameTickTests|CapturedRowsTests|CapturePropertyTests'
  long='HostileTests|StorageAxesTests'
  export FRESHET_TICKS=${FRESHET_TICKS:-3000} FRESHET_SEEDS=${FRESHET_SEEDS:-40}
  ;;
access)
  quick='RoleTests|RoleIdentityTests|StatementTests'
  long=AccessPropertyTests
  export FRESHET_SEEDS=${FRESHET_SEEDS:-100}
  ;;
lists)
  quick='StorageAxesTests|RunsBetweenTicksTests|TotalsTests'
  long='LivePropertyTests|LiveKindsTests|LiveRandomTests'
  export FRESHET_SEEDS=${FRESHET_SEEDS:-20}
  ;;
self-check)
  quick='SelfCheckTests'
  long='StorageAxesTests|RunsBetweenTicksTests'
  ;;
aggregates)
  quick='ExactSumTests|TotalsTests|GroupLogTests|SearchTests|RewritingTests'
  long='AggregateAxesTests|JoinedSourcesTests|KeptRunTests|LiveTotalsTests|TPCHTests'
  export FRESHET_SEEDS=${FRESHET_SEEDS:-150}
  ;;
feed)
  quick='ChangesTests|ChangesCommandTests|EarlyKillTests'
  long=ChangesPropertyTests
  export FRESHET_SEEDS=${FRESHET_SEEDS:-30}
  ;;
journal)
  quick='JournalTests|LogQueueTests|UnusedFileTests'
  long='RestartTests|StateCommandTests|EarlyKillTests|PublisherRestartTests|AuditLogTests'
  ;;
machine)
  quick='ListMachineTests|RequestsTests'
  long='JoinTests|ResumeTests'
  ;;
*)
  echo "there are no mutations called $suite" >&2
  exit 64
  ;;
esac
copy=${MUTATE_FOLDER:-/tmp/freshet-mutations}
mkdir -p "$copy"
rm -rf "$copy/Sources" "$copy/Tests" "$copy/Benchmarks"
cp -r Package.swift Package.resolved Sources Tests Fuzzing public "$copy/"
mkdir -p "$copy/Benchmarks"
cp -r Benchmarks/Turns Benchmarks/SideBySide "$copy/Benchmarks/"
python3 scripts/mutations.py "$copy" "$root/scripts/mutations/$suite.txt" >"$copy/names"
(cd "$copy" && FRESHET_OPTIMIZED=1 swift build --build-tests -j 2 --disable-automatic-resolution) >"$copy/build.log" 2>&1 ||
  { tail -20 "$copy/build.log"; exit 1; }

tests() { # then options of Swift Testing
  (cd "$copy" && timeout 600 .build/debug/*.xctest --testing-library swift-testing "$@") >"$copy/test.log" 2>&1
}
caught() { # the names of the tests that failed
  { grep 'recorded an issue' "$copy/test.log" | sed -E 's/.*Test ("[^"]*"|[A-Za-z]*\().*/\1/' | grep . || echo '(the process ended)'; } |
    sort | uniq -c | sort -rn | sed 's/^ *[0-9]* //' | head -3 | paste -sd' '
}

missed=0
while read -r name; do
  if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
  export MUTATION=$name
  if ! tests --filter "$quick" --skip damagedPages; then
    echo "$name: $(caught)"
  elif ! tests --filter "$long"; then
    echo "$name: $(caught)"
  else
    echo "$name: NOT CAUGHT"
    missed=1
  fi
done <"$copy/names"
exit "$missed"
