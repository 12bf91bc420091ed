# To be sourced: runs the parts of a test, and sums them up. A part that fails does not keep the others from running.
# The end repeats the lines that say what failed, which are otherwise lost in thousands, and lists each part's outcome
# and time, with the reason for what was skipped. The exit status is 1 when a part failed.

summary=()
failures=()
failed=0
log=$(mktemp)
beside=$(mktemp -d)
trap 'rm -rf "$log" "$beside"' EXIT

note() { # outcome, part, detail
  local line
  line=$(printf '  %-8s %-26s %s' "$1" "$2" "$3")
  summary+=("$line")
}

part() { # name, then the command
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n=== %s\n' "$name"
  "$@" </dev/null 2>&1 | tee "$log" || status=$?
  judge "$name" "$status" "$((SECONDS - start)) s"
}

judge() { # part, status, detail; its output is in the log
  if (($2 == 0)); then
    note passed "$1" "$3"
  else
    note FAILED "$1" "$3"
    failures+=("--- $1" "$(why)")
    failed=1
    return 1
  fi
}

# A part that does not depend on time runs at the same time as the next ones, at a lower priority, until it is joined.
begin() { # name, then the command
  local start=$SECONDS
  shift
  {
    local status=0
    nice -n 19 "$@" </dev/null >"$beside/log" 2>&1 || status=$?
    printf '%s %s\n' "$status" "$((SECONDS - start))" >"$beside/outcome"
  } &
  begun=$!
}

join() { # name
  local status seconds
  printf '\n=== %s\n' "$1"
  wait "$begun"
  tee "$log" <"$beside/log"
  read -r status seconds <"$beside/outcome"
  judge "$1" "$status" "$seconds s, beside others"
}

# The lines of the last part's output that say what failed, or else its end.
why() {
  if grep -q '✘ not finished within' "$log"; then
    scripts/unfinished-tests.py "$log" || true
    sed -n '/✘ not finished within/,$p' "$log" | cut -c 1-300 | head -n 60
  fi
  grep -A 2 -E '✘|recorded an issue|error:|^(not ok|failed) |^(FAIL|ERROR):|Error:|FAILED|MISSED' "$log" |
    grep -v '^--$' | cut -c 1-600 | head -n 60 ||
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
