#!/usr/bin/env bash
# Everything that must pass before a change is merged, in the order in which it fails soonest, in some twenty minutes on
# two cores from a fresh clone: one build, the one of the tests, which pages, clients and commands are tried with as
# well. What it leaves out is in test-long.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/parts.sh
export BUILD=debug
# Rows of the largest table that pages show: in a debug build a million takes a minute.
export FRESHET_MILLION=100000

part 'packages' scripts/packages.sh test || true
part 'format' make lint || true
part 'checker of histories' python3 scripts/test-check-history.py || true
part 'checker of prose' python3 scripts/test-prose.py || true
part 'JavaScript tests' make web || true
if part 'build (debug, strict)' make build-tests; then
  part 'Swift tests' make unit || true
  # Instruction counts are the same on a busy machine, so this part runs in the background.
  begin 'instruction counts' make instructions SCRATCH=.build/instructions
  part 'inputs of the fuzzers' make corpora || true
  part 'Swift in documents' scripts/check-swift-docs.py || true
  part 'documentation' make docs || true
  part 'npm package' make npm || true
  part 'example clients' make clients || true
  part 'Python package' make python || true
  part 'README commands' make readme || true
  part 'guides' make guides || true
  join 'instruction counts' || true
  part 'browser tests' make browser || true
  part 'SELECTs of sqllogictest as lists' scripts/corpus-lists.py 80 3 || true
  part 'proxies' make proxies || true
  part 'tenants' make tenants SECONDS=20 || true
  part 'replicas under faults' make replicas SECONDS=30 || true
else
  skip 'whatever needs the build' 'it failed'
fi
skip 'what takes longer' 'make test-long: depth, release binary, fuzzers, hostile writers, faults, sanitizers'
finish
