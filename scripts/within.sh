#!/usr/bin/env bash
# within.sh SECONDS COMMAND...: the command, ended with all its processes when it takes longer, and the stacks of what then runs.
set -euo pipefail
limit=$1
shift
# `env` takes the assignments that may stand before a command.
setsid env "$@" &
group=$!
trap 'kill -TERM -- "-$group" 2>/dev/null || true' INT TERM
(
  sleep "$limit"
  echo "✘ not finished within $limit s: $*"
  if command -v gdb >/dev/null; then
    for process in $(pgrep -g "$group"); do
      echo "--- $process $(tr '\0' ' ' <"/proc/$process/cmdline")"
      timeout 120 gdb -p "$process" -batch -ex 'thread apply all backtrace 30' 2>/dev/null | grep -E '^(Thread|#)' | cut -c 1-250 || true
    done
  fi
  kill -KILL -- "-$group"
) &
watch=$!
status=0
wait "$group" || status=$?
# Its sleep as well.
pkill -P "$watch" 2>/dev/null || true
kill "$watch" 2>/dev/null || true
exit "$status"
