# Everything a person types: `make demo`, `make test`, `make bench`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
SYSCONFDIR ?= /etc
SWIFT ?= swift
# More can be given to the test runner: make test TESTS="--filter KithStoreTests"
TESTS ?=
# Which simulated runs: make sim SEEDS=1..2000 SIM="--long --complete"
SEEDS ?= 1..200
SIM ?= --short --double
# How long each target is fuzzed: make fuzz FUZZ_SECONDS=3600
FUZZ_SECONDS ?= 60

.PHONY: help prepare build static install uninstall deb demo docs test test-lan test-deb stranger bench sim mutants fuzz nightly lint clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

prepare:
	@.ci/prepare

build: prepare ## build the command in release mode
	@$(SWIFT) build -c release --product kith

# What is installed has the Swift runtime inside. Built apart, so that the other builds need not begin anew.
STATIC := -c release --static-swift-stdlib --scratch-path .build/static --product kith
SERVICE := Sources/kith-cli/Service
export PREFIX DESTDIR SYSCONFDIR

static: prepare ## build the command with the Swift runtime inside
	@$(SWIFT) build $(STATIC)
	@ln -sf "$$($(SWIFT) build $(STATIC) --show-bin-path)/kith" .build/static/kith

# Under sudo what was built before is installed: a build as root would leave files of root among one's own.
install: ## install the command and the service: make static && sudo make install [PREFIX=/usr/local] [DESTDIR=DIR]
	@[ -n "$${SUDO_USER:-}" -a -x .build/static/kith ] || $(MAKE) --no-print-directory static
	@$(SERVICE)/install .build/static/kith

uninstall: ## remove what install installed; configuration and data stay
	@$(SERVICE)/install --remove

deb: static ## make a Debian package, .build/deb/kith_VERSION_ARCHITECTURE.deb
	@$(SERVICE)/build-deb .build/static/kith .build/deb

demo: build ## three nodes on this machine: import, part, edit, meet, merge
	@"$$($(SWIFT) build -c release --show-bin-path)/kith" demo

# Three runs, one after the other: what keeps the processors busy, then what talks over sockets and has times to meet,
# then what waits on a LAN. All tests of a run begin at once, so one busy suite in the second would hold up all others.
BUSY := KithCryptoTests|KithDocumentTests|KithMergeTests|KithQueryTests|KithCodingTests|KithQueryBuilderTests|KithStoreTests|KithReplicationTests|KithSimulationTests
BUSY := $(BUSY)|KithVirtualDiskTests|KithFuzzingTests|KithNodeTests.(LogTests|SequenceTests|RandomSequenceTests|MeshSelectionTests|PresenceTests)
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

test-deb: deb ## install and run the package in a root without a toolchain (root)
	@Tests/Package/try-deb .build/deb/*.deb

stranger: prepare ## build and run a package that depends on Kith as somebody else's would
	@.ci/stranger

docs: prepare ## make the documentation of the public API, .build/docs
	@SWIFT=$(SWIFT) .ci/docs

bench: prepare ## rates and delays, each beside the same work by raw SQLite
	@$(SWIFT) build -c release --product kith
	@$(SWIFT) build -c release --product kith-bench
	@"$$($(SWIFT) build -c release --show-bin-path)/kith-bench"

# Seeds, the plans that are kept, the scenarios, and a power cut at every call of each kind of work.
sim: prepare ## simulated meshes: make sim SEEDS=1..1000 SIM="--long"
	@$(SWIFT) build -c release --product kith-sim
	@sim="$$($(SWIFT) build -c release --show-bin-path)/kith-sim"; \
	"$$sim" --seeds $(SEEDS) $(SIM); \
	"$$sim" --plans Tests/Regressions --double --no-shrink; \
	"$$sim" --plans Simulations/Scenarios --no-shrink; \
	"$$sim" --crash-points

mutants: prepare ## bugs put in on purpose, and what finds them: make mutants MUTANTS="skipsSync neverTells"
	@.ci/mutants $(MUTANTS)

fuzz: prepare ## libFuzzer on all that reads bytes from outside, a minute each: make fuzz FUZZ_SECONDS=3600
	@SECONDS_EACH=$(FUZZ_SECONDS) .ci/fuzz

# Others with each commit.
nightly: FIRST = $(shell echo $$((0x$$(git rev-parse --short=6 HEAD))))
nightly: prepare ## what takes long: the longest forms of the tests, thousands of meshes, mutants, sanitizers, fuzzing, the package
	@KITH_LONG_TESTS=1 $(MAKE) test
	@$(MAKE) sim SEEDS=$(FIRST)..$$(($(FIRST) + 7999)) SIM="--short --double"
	@sim="$$($(SWIFT) build -c release --show-bin-path)/kith-sim"; \
	"$$sim" --seeds $(FIRST)..$$(($(FIRST) + 1999)) --long --complete; \
	"$$sim" --plans Simulations/Scenarios --all --no-shrink; \
	"$$sim" --crash-points --all; \
	"$$sim" --scale 100; "$$sim" --scale 1000
	@.ci/regressions
	@$(MAKE) mutants
	@.ci/sanitizers
	@$(MAKE) fuzz
	@$(MAKE) test-deb

lint: ## the formatter's checks
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Simulations Tests

clean: ## remove what was built
	@rm -rf .build
