#!/usr/bin/env bash
# Everything that must pass before a change is merged, in the order in which it fails soonest. A part that fails does
# not keep the others from running. The end repeats the lines that say what failed, which are otherwise lost in
# thousands, and lists each part's outcome and time, with the reason for what was skipped. The exit status is 1 when a
# part failed.
set -euo pipefail
cd "$(dirname "$0")/.."

summary=()
failures=()
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

note() { # outcome, part, detail
  local line
  line=$(printf '  %-8s %-26s %s' "$1" "$2" "$3")
  summary+=("$line")
}

part() { # name, then the command
  local name=$1 start=$SECONDS
  shift
  printf '\n=== %s\n' "$name"
  if "$@" </dev/null 2>&1 | tee "$log"; then
    note passed "$name" "$((SECONDS - start)) s"
  else
    note FAILED "$name" "$((SECONDS - start)) s"
    failures+=("--- $name" "$(why)")
    failed=1
    return 1
  fi
}

# The lines of the last part's output that say what failed, or else its end.
why() {
  grep -E '✘|recorded an issue|error:|^(not ok|failed) |^(FAIL|ERROR):|Error:|FAILED|MISSED' "$log" | cut -c 1-600 | head -n 40 ||
    tail -n 20 "$log"
}

skip() { note skipped "$1" "$2"; }

finish() {
  if ((failed)); then
    printf '\n=== What failed\n'
    printf '%s\n' "${failures[@]}"
  fi
  printf '\n=== Summary (%d s)\n' "$SECONDS"
  printf '%s\n' "${summary[@]}"
  exit "$failed"
}

part 'packages' scripts/packages.sh test || true
part 'format' make lint || true
part 'models' make model || true

part 'checker of histories' python3 scripts/test-check-history.py || true

if [[ -d Tests/WebTests ]]; then
  part 'JavaScript tests' make web || true
else
  skip 'JavaScript tests' 'there is no Tests/WebTests'
fi

if part 'Swift tests (strict debug)' make unit; then
  part 'Swift in documents' scripts/check-swift-docs.py || true
  part 'documentation' make docs || true
else
  skip 'Swift in documents' 'the Swift tests failed: there may be no modules'
  skip 'documentation' 'the Swift tests failed: there may be no modules'
fi

if part 'release build' make build; then
  part 'npm package' make npm || true
  part 'example clients' make clients || true
  if [[ -d Tests/WebTests/browser ]]; then
    part 'browser tests' make browser || true
  else
    skip 'browser tests' 'there is no Tests/WebTests/browser'
  fi
  if [[ -f README.md ]]; then
    part 'README commands' make readme || true
  else
    skip 'README commands' 'there is no README.md'
  fi
  part 'instruction counts' make instructions || true
  part 'replicas under faults' make replicas SECONDS=60 || true
else
  skip 'npm package' 'the release build failed'
  skip 'example clients' 'the release build failed'
  skip 'browser tests' 'the release build failed'
  skip 'README commands' 'the release build failed'
  skip 'instruction counts' 'the release build failed'
  skip 'replicas under faults' 'the release build failed'
fi
# Last: in the same folder it takes the compiled packages of the release build, and replaces what that has of Freshet.
if [[ -n ${FUZZ_SECONDS:-} ]]; then
  export FUZZ_SCRATCH=.build
  part "fuzzing, $FUZZ_SECONDS s a target" bash -c 'scripts/packages.sh fuzz && scripts/fuzz.sh' || true
else
  skip 'fuzzing' 'takes a build of its own: make fuzz'
fi
skip 'container image' 'takes a Docker daemon and a second release build: make docker-test'
finish
