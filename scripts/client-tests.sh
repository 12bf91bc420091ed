#!/usr/bin/env bash
# Runs the clients of examples/clients on the conformance corpus, and against .build/release/freshet.
set -euo pipefail
cd "$(dirname "$0")/.."

FRESHET_CORPUS=$(node scripts/corpus.mjs)
FRESHET_BIN=${FRESHET_BIN:-$PWD/.build/release/freshet}
export FRESHET_CORPUS FRESHET_BIN
python=$PWD/scripts/python.sh

lines=$(wc -l <examples/clients/python/freshet.py)
((lines == 61)) || { echo "failed  the Python client has $lines lines, and docs/clients.md says 61"; exit 1; }
"$python" examples/clients/python/conformance.py "$FRESHET_CORPUS"
scripts/within.sh 100 "$python" Tests/ClientTests/live_test.py Python "$python" examples/clients/python/freshet.py

# With Debian's packages of Go, and no network: they are not modules.
export GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS='' GOCACHE=$PWD/.build/go/cache
[[ -z $(gofmt -l examples/clients/go) ]] || { echo "failed  not as gofmt would have it: $(gofmt -l examples/clients/go)"; exit 1; }
lines=$(wc -l <examples/clients/go/main.go)
((lines == 241)) || { echo "failed  the Go client has $lines lines, and docs/clients.md says 241"; exit 1; }
cd examples/clients/go
go vet .
go test .
go build -o ../../../.build/go/freshet-client .
cd ../../..
scripts/within.sh 100 "$python" Tests/ClientTests/live_test.py Go .build/go/freshet-client
