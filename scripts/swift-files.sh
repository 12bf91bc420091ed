#!/usr/bin/env bash
# Prints the path of every Swift source of the project, each ended by a NUL byte, for `xargs -0`.
set -euo pipefail
cd "$(dirname "$0")/.."

folders=(Sources Tests)
for folder in Benchmarks Fuzzing; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
printf 'Package.swift\0'
find "${folders[@]}" -name .build -prune -o -name '*.swift' -print0
