#!/usr/bin/env bash
# The Python package: its types, its style, and its tests with the newest and the oldest Python of this machine that it
# supports, against FRESHET_BIN. What it needs comes from PyPI into .build/python; what cannot be had is skipped, and
# said.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/python-envs.sh

FRESHET_CORPUS=$(node scripts/corpus.mjs)
FRESHET_BIN=${FRESHET_BIN:-$PWD/.build/release/freshet}
export FRESHET_CORPUS FRESHET_BIN

available=$(pythons)
if [[ -z $available ]]; then
  echo 'skipped  the Python package: there is no Python from 3.9 up that can make environments'
  exit 0
fi
read -r newest newest_path < <(tail -n 1 <<<"$available")
read -r oldest oldest_path < <(head -n 1 <<<"$available")

if ! python=$(python_env "tests-$newest" "$newest_path" -r python/tests/requirements.txt 'websockets>=14.2'); then
  echo 'skipped  the Python package: what its tests need cannot be had from PyPI'
  exit 0
fi
bin=$(dirname "$python")
cd python
if [[ -x $bin/mypy ]]; then
  "$bin/ruff" check --quiet .
  "$bin/ruff" format --quiet --check . || { echo "failed  not as ruff would have it: $bin/ruff format python"; exit 1; }
  "$bin/mypy" --no-error-summary
  echo "ok      types and style"
else
  echo "skipped  types and style: Python $newest is older than 3.12"
fi
cd ..

# Both at once: they wait more than they work.
tests() { # python, its name, options of pytest
  (cd python && PYTHONPATH=$PWD/src "$1" -W error::RuntimeWarning -m pytest -p no:cacheprovider "${@:3}") >"$log.$2" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log" "$log".*' EXIT
old=''
if [[ $oldest == "$newest" ]]; then
  note="skipped  an older Python: $newest is the only one here"
elif older=$(python_env "tests-$oldest" "$oldest_path" -r python/tests/requirements.txt 'websockets==14.2'); then
  note="Python $oldest, websockets 14.2"
  tests "$older" oldest "$@" &
  old=$!
else
  note="skipped  Python $oldest: what its tests need cannot be had from PyPI"
fi
failed=0
tests "$python" newest -rs "$@" || failed=1
echo "Python $newest, $("$python" -c 'from websockets.version import version; print("websockets", version)')"
cat "$log.newest"
if [[ -n $old ]]; then wait "$old" || failed=1; fi
echo "$note"
if [[ -n $old ]]; then cat "$log.oldest"; fi
exit "$failed"
