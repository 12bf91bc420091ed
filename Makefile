# Freshet: build, try, test. `make` alone prints the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# One scratch folder, .build, holds a strict debug build (tests) and a release build (everything else).
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
DEBUG := FRESHET_STRICT=1 swift
# Tests check that nothing is changed while it is read; releases do not.
RELEASE := swift build -c release -j $(JOBS) -Xswiftc -enforce-exclusivity=unchecked

# What pages, clients and commands are tried with: `make browser BUILD=debug` takes the binary of the tests.
BUILD ?= release
BINARY := $(CURDIR)/.build/$(BUILD)/freshet
BUILT := $(if $(filter debug,$(BUILD)),build-tests,build)

# What is started here leaves no states in the user's folder, unless it says where.
export FRESHET_STATE ?= none

# `make demo PORT=9000 ROWS=10000`
PORT ?=
ROWS ?=
# `SECONDS=60 make fuzz`, `make fuzz TARGETS="query connection"`
SECONDS ?= 600
TARGETS ?=
# `make hostile MINUTES=10`
MINUTES ?= 10
DEMO_ARGUMENTS := $(if $(PORT),--port $(PORT)) $(if $(ROWS),--rows $(ROWS))

.PHONY: help demo cluster build build-tests test test-long lint format unit docs replicas proxies tenants model hostile sanitize fuzz corpora fuzz-corpus web client npm npm-package clients python corpus browser pictures readme guides bench measure-page instructions dist dist-test wheel-test service-test docker docker-test \
	clean packages

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(BUILT) ## make the demo database, serve it and print its address (PORT=9000 ROWS=10000)
	@exec $(BINARY) demo $(DEMO_ARGUMENTS)

cluster: $(BUILT) ## serve the demo from two replicas, over three brokers (PORT=9000 BROKER_PORT=24222 ROWS=10000)
	@scripts/packages.sh cluster
	@FRESHET_BIN=$(BINARY) exec scripts/cluster.sh

build: packages ## build the freshet command in release mode: .build/release/freshet
	@$(RELEASE) --product freshet

test: ## run every check, and every test at a depth that takes minutes, installing what they need
	@scripts/test.sh

test-long: ## run everything that `make test` has no time for: before a release, and after a change of what it guards
	@scripts/test-long.sh

lint: ## check which way the sources point, where links lead, the prose of comments and pages, that tests do not sleep more, whether mutations can be made, whether each rule has its tests, and the format of all Swift (the compilers' warnings are errors in `make unit`)
	@scripts/check-floors.py
	@scripts/check-links.py
	@scripts/prose.py
	@scripts/sleeps.py
	@python3 scripts/mutations.py --check
	@scripts/rules.py --check
	@scripts/swift-files.sh | xargs -0 swift format lint --strict --parallel

format: ## bring all Swift sources into the project's format
	@scripts/swift-files.sh | xargs -0 swift format --in-place --parallel

# A test that never ends fails after half an hour, four times what all take, with the stacks of its threads.
unit: build-tests ## run the Swift tests (optimized, with assertions; warnings are errors)
	@scripts/within.sh 1800 scripts/unit-tests.sh

# Also the freshet command, in debug mode.
build-tests: packages
	@$(DEBUG) build --build-tests -j $(JOBS)

docs: ## build the documentation of the Swift libraries from the modules of `make unit`: .build/docs
	@scripts/swift-docs.sh

hostile: build-tests ## follow hostile writers for MINUTES=10, each row that is reported compared with SELECT
	@end=$$((SECONDS + 60 * $(MINUTES))); while ((SECONDS < end)); do \
	  rm -rf .build/hostile-history; \
	  FRESHET_HISTORY=.build/hostile-history FRESHET_TICKS=20000 $(DEBUG) test --skip-build --filter HostileTests; \
	  scripts/check-history.py .build/hostile-history/*.jsonl; done

sanitize: packages ## run the suites of gateway, controllers and capture under the address and thread sanitizers
	@for kind in address thread; do \
	  $(DEBUG) build --build-tests -j $(JOBS) --sanitize=$$kind --scratch-path .build/$$kind; \
	  TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/thread-sanitizer.txt" ASAN_OPTIONS=detect_leaks=0 \
	    $(DEBUG) test --skip-build --sanitize=$$kind --scratch-path .build/$$kind \
	    --filter 'GatewayTests|ControllersTests|ChangeCaptureTests'; done

fuzz: ## fuzz what strangers' bytes reach, each target for SECONDS=600 (TARGETS="query connection")
	@scripts/packages.sh fuzz
	@FUZZ_SECONDS=$(SECONDS) scripts/fuzz.sh $(TARGETS)

corpora: build-tests ## give the targets of the fuzzer the inputs that git has, without its sanitizers
	@scripts/corpora.sh

fuzz-corpus: ## run each target of the fuzzer on the inputs that git has
	@scripts/packages.sh fuzz
	@scripts/fuzz.sh --corpus

web: ## check the types of public/ and run the JavaScript tests in Node
	@scripts/packages.sh web
	@scripts/web-tests.sh

client: ## make public/freshet.min.js, live-list.min.js and live-chart.min.js, the JavaScript in one file each
	@scripts/packages.sh web
	@node scripts/build-client.mjs

npm-package: ## make the npm package: .build/npm/freshet-VERSION.tgz
	@node scripts/npm-package.mjs

npm: $(BUILT) ## pack and install the npm package, and test it with Node, React, TypeScript and a bundler
	@scripts/packages.sh npm
	@FRESHET_BIN=$(BINARY) scripts/npm-tests.sh

corpus: ## make the conformance corpus for other clients: .build/corpus/freshet-conformance.json
	@node scripts/corpus.mjs

clients: $(BUILT) ## run the clients of examples/clients on the corpus and against a server
	@scripts/packages.sh clients
	@FRESHET_BIN=$(BINARY) scripts/client-tests.sh

python: $(BUILT) ## check the types of the Python package, and run its tests with the newest and the oldest Python here
	@scripts/packages.sh python
	@FRESHET_BIN=$(BINARY) scripts/python-tests.sh

browser: $(BUILT) ## run the tests of pages and of <live-list> in a real Chromium
	@scripts/packages.sh browser
	@FRESHET_BIN=$(BINARY) scripts/browser-tests.sh

pictures: build ## make the pictures that README.md shows: docs/demo.png, docs/browser.png
	@scripts/packages.sh browser
	@CHROMIUM=$$(scripts/chromium.sh) scripts/python.sh scripts/pictures.py

readme: $(BUILT) ## run the commands that README.md shows, and those of pages that can be run
	@scripts/packages.sh readme
	@BUILD=$(BUILD) PATH="$(dir $(BINARY)):$$PATH" scripts/check-readme.sh README.md
	@BUILD=$(BUILD) PATH="$(dir $(BINARY)):$$PATH" scripts/check-readme.sh examples/shop/README.md
	@BUILD=$(BUILD) PATH="$(dir $(BINARY)):$$PATH" scripts/check-readme.sh docs/tenants.md

guides: $(BUILT) ## run the commands of docs/guides, two pages at a time
	@scripts/packages.sh guides
	@printf '%s\n' docs/guides/*.md | BUILD=$(BUILD) PATH="$(dir $(BINARY)):$$PATH" xargs -P 2 -I PAGE scripts/check-readme.sh PAGE

replicas: $(BUILT) ## kill, stop and cut off everything that replicates a file for SECONDS=600, and compare all copies
	@scripts/packages.sh replicas
	@scripts/python.sh scripts/replicas.py --freshet $(BINARY) --seconds $(SECONDS)

tenants: $(BUILT) ## serve a folder of FILES=200 databases that others write, replace and delete for SECONDS=600, and try what docs show of tenants and tokens
	@scripts/packages.sh tenants
	@scripts/sealed-queries.py --freshet $(BINARY)
	@scripts/tenant-frameworks.py --freshet $(BINARY)
	@scripts/python.sh scripts/tenants.py --freshet $(BINARY) $(if $(FILES),--files $(FILES)) --seconds $(SECONDS)

proxies: $(BUILT) ## serve a list behind Caddy, nginx and HAProxy as docs/guides/reverse-proxy.md has them, and try to smuggle requests through
	@scripts/packages.sh proxies
	@python3 scripts/proxies.py --freshet $(BINARY)

model: ## check the models of the log (docs/replication.pml) and of checkpoints (docs/wal-reset.pml) with spin
	@scripts/packages.sh model
	@scripts/check-model.sh

bench: build ## run the benchmarks, each beside its baseline (QUICK=1; ONLY=fan-out,idle)
	@$(RELEASE) --product freshet-turns
	@cd Benchmarks && $(RELEASE) && .build/release/FreshetBench

measure-page: build ## measure how soon the page has its first row, and its frames a second while rows change
	@scripts/packages.sh browser
	@CHROMIUM=$$(scripts/chromium.sh) scripts/python.sh scripts/measure-page.py

# SCRATCH=.build/x: beside a build that goes on.
instructions: packages ## count the instructions of one-row changes, and compare with what git has
	@scripts/packages.sh instructions
	@$(RELEASE) --product freshet-turns $(if $(SCRATCH),--scratch-path $(SCRATCH))
	@scripts/count-instructions.sh

dist: ## make an archive, a Debian package and a wheel of Python in .build/dist, to install without a compiler
	@scripts/packages.sh build
	@scripts/packages.sh dist
	@scripts/dist.sh

dist-test: ## install what `make dist` made into a clean Debian, and try it (as root); the wheel, in empty environments
	@scripts/packages.sh dist
	@scripts/test-wheel.sh
	@scripts/test-dist.sh

wheel-test: ## install the wheel that `make dist` made into empty environments of Python, and try it
	@scripts/packages.sh python
	@scripts/test-wheel.sh

service-test: ## boot a Debian with systemd and run the service there, with the binary of `make unit` (as root)
	@scripts/packages.sh dist
	@scripts/test-systemd.sh

docker: ## build the container image freshet:latest
	@docker build -f docker/Dockerfile --build-arg REVISION=$$(git rev-parse --short=9 HEAD) -t freshet:latest .

docker-test: ## build the image, run it and docker/cluster.yaml with compose, and look at both from outside
	@scripts/test-docker.sh
	@scripts/test-docker-cluster.sh

clean: ## remove everything that was built
	@rm -rf .build Benchmarks/.build

packages:
	@scripts/packages.sh build
