#!/usr/bin/env bash
# Has spin look at every way in which docs/replication.pml can go: what is asserted, that nothing waits for ever, and
# that copies reach the file's state in the end. Then each mistake that the model knows has to be found. The same for
# docs/wal-reset.pml.
set -euo pipefail
cd "$(dirname "$0")/.."
model=$PWD/docs/replication.pml
wal_reset=$PWD/docs/wal-reset.pml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# $1: what to look for; the rest: definitions.
search() {
  local kind=$1
  shift
  spin -a "$@" "$model" >spin.log || { cat spin.log; exit 1; }
  if [[ $kind == safety ]]; then
    cc -w -O2 -DSAFETY -DNOCLAIM -DCOLLAPSE -o pan pan.c
    ./pan -m200000 >pan.log
  else
    cc -w -O2 -DNFAIR=3 -DCOLLAPSE -o pan pan.c
    ./pan -a -f -m1000000 >pan.log
  fi
}
finds_nothing() { grep -q 'errors: 0$' pan.log && ! grep -q 'Search not completed\|max search depth' pan.log; }

for kind in safety converges; do
  # Properties of all endless runs take long to verify.
  if [[ $kind == safety ]]; then search safety; else search converges -DCOMMITS=2; fi
  finds_nothing || { cat pan.log; echo "the model is wrong: $kind"; exit 1; }
  echo "$kind: $(grep -o '[0-9]* states, stored' pan.log)"
done
for mistake in safety:WITHOUT_NOTICE safety:WITHOUT_HASH+WITHOUT_NUMBERS; do
  definitions=()
  names=${mistake#*:}
  for name in ${names//+/ }; do definitions+=("-D$name"); done
  search "${mistake%%:*}" "${definitions[@]}"
  if finds_nothing; then echo "$mistake is not found"; exit 1; fi
  echo "$mistake: found"
done

# SQLite's WAL-reset bug, and the rule of docs/wal-reset.md.
model=$wal_reset
for processes in FIXED RULE LEAVES; do
  search safety "-D$processes"
  finds_nothing || { cat pan.log; echo "the model is wrong: wal-reset $processes"; exit 1; }
  echo "wal-reset $processes: $(grep -o '[0-9]* states, stored' pan.log)"
done
for processes in BUG FULL INTRUDES; do
  search safety "-D$processes"
  if finds_nothing; then echo "wal-reset $processes: the bug is not found"; exit 1; fi
  echo "wal-reset $processes: found"
done
