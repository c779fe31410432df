# Everything a person types: `make demo`, `make test`, `make bench`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
SWIFT ?= swift
# More can be given to the test runner: make test TESTS="--filter KithStoreTests"
TESTS ?=
SEEDS ?= 1..50
# How long each target is fuzzed: make fuzz FUZZ_SECONDS=3600
FUZZ_SECONDS ?= 60

.PHONY: help prepare build demo test test-lan bench sim fuzz nightly lint clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

prepare:
	@.ci/prepare

build: prepare ## build the command in release mode
	@$(SWIFT) build -c release --product kith

demo: build ## three nodes on this machine: import, part, edit, meet, merge
	@"$$($(SWIFT) build -c release --show-bin-path)/kith" demo

# Three runs, one after the other: what keeps the processors busy, then what talks over sockets and has times to meet,
# then what waits on a LAN.
BUSY := KithCryptoTests|KithDocumentTests|KithMergeTests|KithStoreTests|KithReplicationTests|KithSimulationTests
ifeq ($(TESTS),)
RUNS := "--filter '$(BUSY)'" "--skip '$(BUSY)|LAN'" "--filter LAN"
else
RUNS := "$(TESTS)"
endif

test: prepare ## build and run all tests, those on a LAN of network namespaces too where they can run
	@$(SWIFT) build --build-tests
	@for run in $(RUNS); do eval "$(SWIFT) test --skip-build $$run"; done

test-lan: prepare ## the tests on a LAN of network namespaces alone (root)
	@$(SWIFT) build --build-tests
	@$(SWIFT) test --skip-build --filter LAN

bench: prepare ## rates and delays, each beside the same work by raw SQLite
	@$(SWIFT) build -c release --product kith
	@$(SWIFT) build -c release --product kith-bench
	@"$$($(SWIFT) build -c release --show-bin-path)/kith-bench"

sim: prepare ## simulated meshes: make sim SEEDS=1..1000
	@$(SWIFT) run -c release kith-sim --seeds $(SEEDS)

fuzz: prepare ## libFuzzer on all that reads bytes from outside, a minute each: make fuzz FUZZ_SECONDS=3600
	@SECONDS_EACH=$(FUZZ_SECONDS) .ci/fuzz

nightly: prepare ## what takes long: the longest forms of the tests, a thousand simulated meshes, fuzzing
	@KITH_LONG_TESTS=1 $(MAKE) test
	@$(MAKE) sim SEEDS=1..1000
	@$(MAKE) fuzz

lint: ## the formatter's checks
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Simulations Tests

clean: ## remove what was built
	@rm -rf .build
