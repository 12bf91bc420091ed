# To be sourced: runs the parts of a test, and sums them up. A part that fails does not keep the others from running. The end repeats the
# lines that say what failed, which are otherwise lost in thousands, and lists each part's outcome and time, with the reason for
# what was skipped. The exit status is 1 when a part failed.

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
  if grep -q '✘ not finished within' "$log"; then
    scripts/unfinished-tests.py "$log" || true
    sed -n '/✘ not finished within/,$p' "$log" | cut -c 1-300 | head -n 60
  fi
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
