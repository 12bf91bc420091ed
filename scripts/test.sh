#!/usr/bin/env bash
# Everything that must pass before a change is merged, in the order in which it fails soonest. A part that fails does
# not keep the others from running; at the end every part's outcome and time are printed, with the reason for what
# was skipped. The exit status is 1 when a part failed.
set -euo pipefail
cd "$(dirname "$0")/.."

summary=()
failed=0

note() { # outcome, part, detail
  local line
  line=$(printf '  %-8s %-26s %s' "$1" "$2" "$3")
  summary+=("$line")
}

part() { # name, then the command
  local name=$1 start=$SECONDS
  shift
  printf '\n=== %s\n' "$name"
  if "$@" </dev/null; then
    note passed "$name" "$((SECONDS - start)) s"
  else
    note FAILED "$name" "$((SECONDS - start)) s"
    failed=1
    return 1
  fi
}

skip() { note skipped "$1" "$2"; }

finish() {
  printf '\n=== Summary (%d s)\n' "$SECONDS"
  printf '%s\n' "${summary[@]}"
  exit "$failed"
}

part 'packages' scripts/packages.sh test || true
part 'format' make lint || true

if [[ -d Tests/WebTests ]]; then
  part 'JavaScript tests' make web || true
else
  skip 'JavaScript tests' 'there is no Tests/WebTests'
fi

part 'Swift tests (strict debug)' make unit || true

if part 'release build' make build; then
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
else
  skip 'browser tests' 'the release build failed'
  skip 'README commands' 'the release build failed'
  skip 'instruction counts' 'the release build failed'
fi
skip 'container image' 'takes a Docker daemon and a second release build: make docker-test'
finish
