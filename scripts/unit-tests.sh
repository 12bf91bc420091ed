#!/usr/bin/env bash
# Runs the Swift tests of the build that FRESHET_STRICT=1 swift build --build-tests made, two modules at a time as they
# mostly wait. Arguments pick modules, or suites of one: `ServerTests.[A-E]`.
set -euo pipefail
cd "$(dirname "$0")/.."

# The package's tests in one program, which `swift test` would run as well, but for one module after the other.
PROGRAM=$PWD/$(compgen -G '.build/debug/*PackageTests.xctest' | head -n 1)
[[ -f $PROGRAM && -x $PROGRAM ]] || FRESHET_STRICT=1 exec swift test --skip-build
export PROGRAM

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The longest tests begin first.
modules=(ListTests ServerTests ChangeCaptureTests ClusterTests ControllersTests FreshetClientTests)
for folder in Tests/*Tests Tests/*/*Tests; do
  module=${folder##*/}
  # Others are in Python and JavaScript.
  [[ -n $(find "$folder" -name '*.swift' -print -quit) ]] || continue
  [[ " ${modules[*]} " == *" $module "* ]] || modules+=("$module")
done
(($# == 0)) || modules=("$@")

run() { # scratch, module; the output when it has ended
  local filter=${2/./\\.} status=0
  [[ $2 == *.* ]] || filter+='\.'
  # Tests must not all run at once: each would wait minutes for its next turn, and the event that it waits for would be
  # over.
  "$PROGRAM" --testing-library swift-testing --experimental-maximum-parallelization-width 6 --filter "^$filter" \
    </dev/null >"$1/$2" 2>&1 || status=$?
  ! grep -q 'Test run with 0 tests' "$1/$2" || status=1
  flock "$1" bash -c 'echo "$2: $(tail -n 1 "$1/$2")"; ((!$3)) || grep -E "✘|↳|rror:|seed|number|atal" "$1/$2" || tail -n 50 "$1/$2"' _ "$1" "$2" "$status"
  return "$status"
}
export -f run

printf '%s\n' "${modules[@]}" | xargs -P 2 -I MODULE bash -c 'run "$@"' run "$scratch" MODULE
