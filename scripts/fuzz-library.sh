#!/usr/bin/env bash
# Prints the path of libFuzzer without a main function: of the Swift toolchain, or else of a clang of the system.
set -euo pipefail

name=libclang_rt.fuzzer_no_main-$(uname -m).a
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
for library in "$("$clang" -print-file-name="lib/linux/$name" 2>/dev/null)" /usr/lib/llvm-*/lib/clang/*/lib/linux/"$name"; do
  if [[ -f $library ]]; then
    printf '%s\n' "$library"
    exit
  fi
done
echo "There is no $name: neither Swift nor the system has libFuzzer." >&2
exit 1
