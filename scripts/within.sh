#!/usr/bin/env bash
# within.sh SECONDS COMMAND...: the command, ended with all its processes when it takes longer, and where its threads
# stand then, a line each.
set -euo pipefail
limit=$1
shift
# `env` takes the assignments that may stand before a command.
setsid env "$@" &
group=$!
trap 'kill -TERM -- "-$group" 2>/dev/null || true' INT TERM

stacks() { # process
  timeout 120 gdb -p "$1" -batch -ex 'thread apply all backtrace 24' 2>/dev/null |
    sed -nE 's/^(Thread [0-9]+).*/\n\1:/p; s/^#[0-9]+ +(0x[0-9a-f]+ in )?([^ ]+).*/\2/p' | tr '\n' ' ' | sed 's/ Thread/\nThread/g' |
    swift demangle --simplified 2>/dev/null | cut -c 1-700 | sort -t : -k 2 -u
}

(
  sleep "$limit"
  echo "✘ not finished within $limit s: $*"
  if command -v gdb >/dev/null; then
    for process in $(pgrep -g "$group"); do
      echo "--- $process $(tr '\0' ' ' <"/proc/$process/cmdline" | cut -c 1-300)"
      stacks "$process" || true
    done
  fi
  kill -KILL -- "-$group"
) &
watch=$!
status=0
wait "$group" || status=$?
# End the watcher's sleep as well.
pkill -P "$watch" 2>/dev/null || true
kill "$watch" 2>/dev/null || true
exit "$status"
