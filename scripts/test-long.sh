#!/usr/bin/env bash
# What `make test` has no time for: every test at full depth, the release binary, models, fuzzers, hostile writers,
# faults and sanitizers, for about four hours on two cores. Before a release, and after a change of what it guards:
# CONTRIBUTING.md says which. FUZZ_SECONDS is for each fuzzer, MINUTES for hostile writers.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/parts.sh
export FRESHET_LONG=1

part 'packages' scripts/packages.sh test || true
part 'models' make model || true
part 'Swift tests, in full' make unit || true
part "hostile writers, ${MINUTES:-10} min" make hostile || true
if part 'release build' make build; then
  part 'npm package' make npm || true
  part 'example clients' make clients || true
  part 'Python package' make python || true
  part 'browser tests' make browser || true
  part 'README commands' make readme || true
  part 'replicas under faults' make replicas SECONDS=600 || true
  part 'SELECTs of sqllogictest as lists' env BUILD=release scripts/corpus-lists.py 10000 || true
  part 'faults' scripts/python.sh scripts/faults.py || true
  part 'mutated messages' scripts/python.sh scripts/fuzz-messages.py || true
else
  skip 'whatever needs the release build' 'it failed'
fi
part 'archive, package, wheel' make dist && part 'wheel' make wheel-test || true
part "fuzzing, ${FUZZ_SECONDS:-600} s a target" make fuzz SECONDS="${FUZZ_SECONDS:-600}" || true
part 'sanitizers' make sanitize || true
skip 'container image' 'takes a Docker daemon and a second release build: make docker-test'
finish
