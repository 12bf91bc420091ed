#!/usr/bin/env bash
# fuzz.sh [TARGET…]         runs each target for FUZZ_SECONDS=600, two at a time, starting from Fuzzing/corpora/TARGET
# fuzz.sh --corpus          runs each target once on every input of its corpus
# fuzz.sh --minimize        puts what .build/fuzz-work has found into Fuzzing/corpora, without what adds nothing
#
# Inputs that are new go to .build/fuzz-work/TARGET, those that break something to .build/fuzz-work/TARGET-*.
set -euo pipefail
duration=${FUZZ_SECONDS:-600}
cd "$(dirname "$0")/.."

work=.build/fuzz-work
# One's own, so that a fuzzer's build and that of the command do not replace each other.
scratch=${FUZZ_SCRATCH:-.build/fuzz}
program=$scratch/release/freshet-fuzz
targets=(query fragment connection proxies pages wal state message token url yaml)
# Swift's own traces of a crash take minutes under the sanitizers; libFuzzer prints one.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1

build() {
  local library
  library=$(scripts/fuzz-library.sh)
  FRESHET_FUZZ=1 FRESHET_STRICT=1 FRESHET_FUZZ_LIBRARIES="-Xlinker $library -lstdc++" \
    swift build -c release -j "${JOBS:-2}" --product freshet-fuzz --scratch-path "$scratch"
}

options() { # target
  printf '%s\n' -timeout=10 -rss_limit_mb=4096 -use_value_profile=1
  case $1 in
    pages | wal) printf '%s\n' -max_len=8192 ;;
    query | fragment | url) printf '%s\n' -max_len=1000 ;;
    *) printf '%s\n' -max_len=4096 ;;
  esac
  if [[ -e Fuzzing/dictionaries/$1.txt ]]; then printf '%s\n' "-dict=Fuzzing/dictionaries/$1.txt"; fi
}

fuzz() { # target
  local log=$work/$1.log
  mkdir -p "$work/$1"
  mapfile -t flags < <(options "$1")
  if "$program" "$1" "${flags[@]}" -max_total_time="$duration" -artifact_prefix="$work/$1-" -print_final_stats=1 \
    "$work/$1" "Fuzzing/corpora/$1" >"$log" 2>&1; then
    local coverage
    coverage=$(grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$log" | tail -n 1)
    printf '%-10s %s executions, %s\n' "$1" "$(sed -nE 's/^stat::number_of_executed_units: +//p' "$log")" "$coverage"
  else
    printf '%-10s FAILED, see %s\n' "$1" "$log"
    tail -n 20 "$log"
    return 1
  fi
}

run_corpus() { # target
  local log=$work/$1.log start=$SECONDS
  mapfile -t flags < <(options "$1")
  if "$program" "$1" "${flags[@]}" -runs=0 -artifact_prefix="$work/$1-" "Fuzzing/corpora/$1" >"$log" 2>&1; then
    printf '%-10s %s inputs, %s s\n' "$1" "$(find "Fuzzing/corpora/$1" -type f | wc -l)" "$((SECONDS - start))"
  else
    printf '%-10s FAILED\n' "$1"
    tail -n 20 "$log"
    return 1
  fi
}

minimize() { # target
  local small=$work/$1-small
  rm -rf "$small"
  mkdir -p "$small"
  mapfile -t flags < <(options "$1")
  # Value profiles keep thousands of inputs that reach nothing else.
  "$program" "$1" "${flags[@]}" -use_value_profile=0 -merge=1 "$small" "Fuzzing/corpora/$1" "$work/$1" >"$work/$1.log" 2>&1
  printf '%-10s %s inputs\n' "$1" "$(find "$small" -type f | wc -l)"
}

all() { # command, then targets: two at a time
  local command=$1 failed=0 target
  shift
  for target; do
    while (($(jobs -rp | wc -l) >= 2)); do wait -n || failed=1; done
    "$command" "$target" &
  done
  while (($(jobs -rp | wc -l) > 0)); do wait -n || failed=1; done
  return "$failed"
}

mkdir -p "$work"
build >&2
case ${1:-} in
  --corpus) all run_corpus "${targets[@]}" ;;
  --minimize) all minimize "${targets[@]}" ;;
  *) all fuzz "${@:-${targets[@]}}" ;;
esac
