#!/usr/bin/env bash
# check-readme.sh [FILE]
#
# Runs the commands that FILE (default README.md) shows: every fenced block marked ```sh, in order, as one script with
# `bash -euo pipefail`. A block that fails fails the check. An HTML comment on a line of its own, above the block (blank
# lines may stand between), says what else to do; readers never see it:
#
#   <!-- test: background PORT -->  a server: start it, go on once http://127.0.0.1:PORT/healthz answers 200
#   <!-- test: background -->       a command that goes on by itself, such as `freshet watch`: start it, go on at once
#   <!-- test: prints TEXT -->      the block must print TEXT (may be combined with `background`, which then waits for
#                                   it, and given more than once)
#   <!-- test: elsewhere TARGET --> not run here: `make TARGET` does what the block does (the target must exist)
#   <!-- test: skip REASON -->      not run, for the reason given, which is printed
#   <!-- test: where COMMAND -->    run where COMMAND succeeds (a program is installed), and skipped elsewhere
#   <!-- test: file NAME -->        a block in any language: its text becomes the file NAME; `file >> NAME` appends it
#
# and those that stand alone, between blocks:
#
#   <!-- test: seen TEXT -->        a background command must have printed TEXT since the last `seen`, or do so soon
#   <!-- test: needs COMMAND -->    the rest of the page is skipped where COMMAND fails
#
# So a block without a comment is run, and one that cannot be run has to say why. All blocks share an empty folder,
# where the files they make stay; `make` and `docker` go to the project's own folder instead. The folder of the
# `freshet` under test must be in PATH. Background commands are stopped at the end.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
file=$(realpath "${1:-$root/README.md}")
patience=${README_TIMEOUT:-120} # seconds, for a server to answer or a text to appear
scratch=$(mktemp -d)
background=() # process groups
fresh=()      # output files of background commands that have not been searched whole
declare -A searched=()
ran=0 skipped=0

stop_background() {
  local pid
  for pid in "${background[@]}"; do kill -TERM -- "-$pid" 2>/dev/null || true; done
  for pid in "${background[@]}"; do
    for _ in {1..100}; do
      kill -0 -- "-$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$pid" 2>/dev/null || true
  done
}
trap 'stop_background; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

fail() {
  printf 'FAILED  %s\n' "$1" >&2
  if [[ -n ${2:-} && -s $2 ]]; then sed 's/^/        | /' "$2" | tail -n 40 >&2; fi
  exit 1
}

# Cuts the file into $scratch/blocks: NNN.sh (a block's commands), NNN.test (its directives), NNN.line (its first
# line's number). A `seen` makes an entry of its own, with an empty .sh.
cut_blocks() {
  mkdir "$scratch/blocks"
  awk -v to="$scratch/blocks" '
    function open_entry(line) { name = sprintf("%s/%03d", to, ++count); print line > (name ".line"); close(name ".line")
                                printf "" > (name ".sh"); printf "%s", directives > (name ".test"); directives = "" }
    inside && /^[ ]*```[ ]*$/ { close(name ".sh"); close(name ".test"); inside = 0; next }
    inside == 2 { print > (name ".sh") }
    inside { next }
    /^[ ]*```sh[ ]*$/ || (/^[ ]*```/ && directives ~ /^file /) { open_entry(NR + 1); inside = 2; next }
    /^[ ]*```/ && directives == "" { inside = 1; next }
    /^<!-- test: (seen|needs) .* -->$/ { directive = $0; sub(/^<!-- test: /, "", directive); sub(/ -->$/, "", directive)
                                 held = directives; directives = directive "\n"; open_entry(NR); directives = held
                                 close(name ".sh"); close(name ".test"); next }
    /^<!-- test: .* -->$/ { directive = $0; sub(/^<!-- test: /, "", directive); sub(/ -->$/, "", directive)
                            directives = directives directive "\n"; next }
    /[^ ]/ && directives != "" { print FILENAME ":" NR ": a test comment without a block below it" > "/dev/stderr"
                                 bad = 1; exit 1 }
    END { if (!bad && inside) { print FILENAME ": a fenced block is never closed" > "/dev/stderr"; exit 1 } }
  ' "$file"
}

# The beginning of every block's script.
prelude() {
  cat <<EOF
set -euo pipefail
cd $(printf %q "$scratch/work")
make() { command make -C $(printf %q "$root") "\$@"; }
docker() { (cd $(printf %q "$root") && command docker "\$@"); }
python3() { PYTHONPATH=$(printf %q "$root/python/src") $(printf %q "$root/scripts/python.sh") "\$@"; }
node() { if command node -e WebSocket 2>/dev/null; then command node "\$@"; else command node --experimental-websocket "\$@"; fi; }
EOF
}

# Whether a background command still runs: as a process until it has its own group, and then as that group.
lives() { kill -0 "$1" 2>/dev/null || kill -0 -- "-$1" 2>/dev/null; }

wait_for_text() { # text, file, process group or empty
  local deadline=$((SECONDS + patience))
  until grep -qF -- "$1" "$2"; do
    if ((SECONDS >= deadline)); then return 1; fi
    if [[ -n ${3:-} ]] && ! lives "$3"; then
      grep -qF -- "$1" "$2"
      return
    fi
    sleep 0.1
  done
}

wait_for_server() { # port, process group
  local deadline=$((SECONDS + patience))
  until curl -fsS -o "$scratch/health" --max-time 5 "http://127.0.0.1:$1/healthz" 2>/dev/null; do
    if ((SECONDS >= deadline)) || ! lives "$2"; then return 1; fi
    sleep 0.1
  done
}

port_is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

start() { # script, its output, where, port or empty, texts…
  local script=$1 output=$2 where=$3 port=$4 pid text
  shift 4
  if [[ -n $port ]] && port_is_taken "$port"; then fail "$where: port $port is in use by something else"; fi
  : >"$output"
  setsid bash "$script" >"$output" 2>&1 </dev/null &
  pid=$!
  background+=("$pid")
  fresh+=("$output")
  searched[$output]=0
  if [[ -n $port ]] && ! wait_for_server "$port" "$pid"; then
    fail "$where: no server answered on port $port" "$output"
  fi
  for text in "$@"; do
    wait_for_text "$text" "$output" "$pid" || fail "$where: did not print: $text" "$output"
  done
}

run() { # script, its output, where, texts…
  local script=$1 output=$2 where=$3 text
  shift 3
  timeout "$((patience * 5))" bash "$script" >"$output" 2>&1 </dev/null || fail "$where: exit status $?" "$output"
  for text in "$@"; do
    grep -qF -- "$text" "$output" || fail "$where: did not print: $text" "$output"
  done
}

write_file() { # text, name or >> name
  local name=${2#>> }
  mkdir -p "$(dirname "$scratch/work/$name")"
  if [[ $name == "$2" ]]; then cp "$1" "$scratch/work/$name"; else cat "$1" >>"$scratch/work/$name"; fi
}

# Searches the output of background commands since the last `seen` for a text.
seen() { # text, where
  local deadline=$((SECONDS + patience)) output
  while :; do
    for output in "${fresh[@]}"; do
      if tail -c "+$((searched[$output] + 1))" "$output" | grep -qF -- "$1"; then
        for output in "${fresh[@]}"; do searched[$output]=$(stat -c %s "$output"); done
        return
      fi
    done
    if ((SECONDS >= deadline)); then fail "$2: no background command printed: $1" "${fresh[-1]:-}"; fi
    sleep 0.1
  done
}

# Whether a command of a comment succeeds, with the functions of blocks.
succeeds() { (prelude && printf '%s\n' "$1") | bash >/dev/null 2>&1; }

entry() { # its name without the ending
  local name=$1 where mode=run port='' texts=() word rest
  where=$(basename "$file"):$(<"$name.line")
  while read -r word rest; do
    case $word in
      background) mode=background port=$rest ;;
      prints) texts+=("$rest") ;;
      seen | skip | elsewhere | needs) mode=$word ;;
      where) succeeds "$rest" || mode=missing ;;
      file) mode=file ;;
      *) fail "$where: unknown test comment: $word $rest" ;;
    esac
    case $word in
      seen) seen "$rest" "$where" && printf 'seen    %s: %s\n' "$where" "$rest" ;;
      skip) [[ -n $rest ]] || fail "$where: skip needs a reason" ;;&
      elsewhere) make -C "$root" -n "$rest" >/dev/null 2>&1 || fail "$where: there is no make target: $rest" ;;&
      skip | elsewhere) skipped=$((skipped + 1)) && printf 'skipped %s: %s %s\n' "$where" "$word" "$rest" ;;
      needs) succeeds "$rest" || { printf 'skipped %s: the rest, which needs %s\n' "$where" "$rest" && exit 0; } ;;
      file) write_file "$name.sh" "$rest" ;;
    esac
  done <"$name.test"
  if [[ $mode == missing ]]; then
    skipped=$((skipped + 1))
    printf 'skipped %s: not installed\n' "$where"
  fi
  [[ $mode == run || $mode == background ]] || return 0
  (prelude && cat "$name.sh") >"$name.run"
  if [[ $mode == run ]]; then
    run "$name.run" "$name.out" "$where" "${texts[@]}"
  else
    start "$name.run" "$name.out" "$where" "$port" "${texts[@]}"
  fi
  ran=$((ran + 1))
  printf 'ok      %s: %s\n' "$where" "$(grep -m 1 . "$name.sh")"
}

command -v freshet >/dev/null || fail 'freshet is not in PATH: PATH="$PWD/.build/release:$PATH" scripts/check-readme.sh'
unset MAKEFLAGS MFLAGS MAKELEVEL
export FRESHET_CACHE=$scratch/cache
mkdir "$scratch/work"
# As in a clone, where a reader is.
ln -s "$root/examples" "$root/packaging" "$root/.build" "$scratch/work/"
cut_blocks
shopt -s nullglob
for line in "$scratch"/blocks/*.line; do entry "${line%.line}"; done
printf '%s: %d blocks run, %d not run\n' "$(basename "$file")" "$ran" "$skipped"
((ran > 0)) || fail 'no block was run'
