# rewind: what can be made. `make` alone lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go
GOLANGCI_VERSION := v2.15.0
GOFUMPT_VERSION := v0.12.0
BENCHSTAT_VERSION := v0.0.0-20260908200009-22c9c6c9d4da
BIN := $(CURDIR)/.bin

# PROJECT=<dir> for install, CORPUS=<dir> and PEERSFLAGS=... for bench-peers,
# BENCH=<regexp>, COUNT=<n> and BENCHPKGS=... for bench, TESTFLAGS=... for
# test, FUZZTIME=... for fuzz, BUGS=... for bugs. They reach the recipes through the environment,
# so that a path may hold anything.
export PROJECT ?=
export CORPUS ?=
export BENCH ?= .
COUNT ?= 6
BENCHPKGS ?= ./...
PEERSFLAGS ?=
TESTFLAGS ?=
BUGS ?=
FUZZTIME ?= 10s
SETS ?= 3000

export CGO_ENABLED ?= 0

# The programs carry one version: the daemon of another one is asked to end.
VERSION ?= $(shell git describe --tags --exact-match 2>/dev/null || echo devel-$$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown))
LDFLAGS  = -s -w -X main.release=$(VERSION)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## every package, ./rewind, ./rewindd and ./smart-checkpoint
	$(GO) build ./...
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o . ./cmd/rewind ./cmd/rewindd ./cmd/smart-checkpoint

# A new binary is renamed into its place: a running one keeps its own file, and
# there is no moment without one. Agents' hooks name smart-checkpoint where it is
# put here, so an upgrade changes no settings of theirs. A file at
# ~/.local/bin/rewind that is not a link to a rewind belongs to somebody else and
# stays.
.PHONY: install
install: ## build and install for this user; PROJECT=<dir>: set it up too
	@umask 077; \
	home="$${REWIND_HOME:-$$HOME/.rewind}"; system="$$home/system"; link="$$HOME/.local/bin/rewind"; \
	mkdir -p "$$system"; \
	(umask 022; mkdir -p "$$HOME/.local/bin"); \
	if [ -e "$$link" ] || [ -L "$$link" ]; then \
		case "$$(readlink "$$link" || true)" in */system/rewind) ;; *) echo "$$link is not ours: it is left alone, nothing was installed" >&2; exit 1;; esac; \
	fi; \
	new="$$(mktemp -d "$$system/.new-XXXXXX")"; \
	trap 'rm -rf "$$new"' EXIT; \
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o "$$new/" ./cmd/rewind ./cmd/rewindd ./cmd/smart-checkpoint; \
	for name in rewindd rewind smart-checkpoint; do \
		chmod 0755 "$$new/$$name"; \
		mv -f "$$new/$$name" "$$system/$$name"; \
	done; \
	ln -sfn "$$system/rewind" "$$link"; \
	REWIND_HOME="$$home" "$$system/rewind" daemon stop >/dev/null 2>&1 || true; \
	(umask 022; "$$system/rewind" man "$$HOME/.local/share/man/man1" 2>&1 >/dev/null | grep -v ' written$$' >&2) || true; \
	echo "rewind is installed: $$link"; \
	case ":$$PATH:" in *":$$HOME/.local/bin:"*) ;; *) echo "$$HOME/.local/bin is not on your PATH: export PATH=\"\$$HOME/.local/bin:\$$PATH\"";; esac; \
	if [ -n "$$PROJECT" ]; then \
		cd "$$PROJECT"; "$$system/rewind" init; "$$system/rewind" status; \
	else \
		echo "next, in a project: rewind init"; \
	fi

.PHONY: uninstall
uninstall: ## rewind uninstall: take out hooks, programs and the link; the stores stay, and it says where they are
	@system="$${REWIND_HOME:-$$HOME/.rewind}/system"; \
	if [ -x "$$system/rewind" ]; then cd /; "$$system/rewind" uninstall; else echo "rewind is not installed: there is no $$system/rewind"; fi

# Results are not kept (-count=1): to find out whether one still holds costs more than it saves, for tests look at
# thousands of files.
.PHONY: test
test: ## every test; CI runs it after lint, which vets
	@scratch="$$($(SCRATCH))"; trap 'rm -rf "$$scratch"' EXIT; \
	CGO_ENABLED=0 $(GO) build -buildvcs=false $(STRIP) -o "$$scratch/programs/" ./cmd/...; \
	TMPDIR="$$scratch" REWIND_TEST_PROGRAMS="$$scratch/programs" GOGC=$(COLLECT) $(GO) test -vet=off -count=1 $(STRIP) -p 3 -parallel $(PARALLEL) -timeout 30m $(TESTFLAGS) $(LONG) ./...

# The tests that are left out are those of docs/slow-tests.md.
SLOW = sed -n 's/^| \([^ ]*\) | `\(Test[A-Za-z0-9_]*\)` | .*/\1 \2/p' docs/slow-tests.md
ROOM ?=
# Packages that take longest: they begin first, so that none is alone at the end.
LONG = ./cmd/rewind ./tree/apply ./internal/browsertest ./engine/restore ./cmd/smart-checkpoint ./internal/kv \
	./engine/conversation ./tree/snapshot ./transcript ./bench/peers
# Tests of a package at once: most wait, for processes or the disk.
PARALLEL ?= 4
# Garbage is collected half as often as in what users run: that takes less of the processor.
COLLECT = 200
# Linking is twice as fast without what only a debugger reads.
STRIP = -ldflags '-s -w'
# Where tests have their files: in memory where that is large enough and runs programs, or where TMPDIR says. ext4
# searches long for a free inode where thousands of files went a moment ago. What is about a disk is on one
# (torture.OnDisk), and so is `make torture`, but for what kills programs.
SCRATCH = d="$$(mktemp -d -p "$${TMPDIR:-/dev/shm}" rewind.XXXX 2>/dev/null)" || d="$$(mktemp -d)"; \
	room() { [ "$$(df -Pk "$$d" | awk 'NR == 2 { print $$4 }')" -gt 4194304 ] && cp "$$(type -P true)" "$$d/true" && "$$d/true"; }; \
	if [ -z "$${TMPDIR:-}" ] && ! room 2>/dev/null; then rm -rf "$$d"; d="$$(mktemp -d)"; fi; rm -f "$$d/true"; chmod 755 "$$d"; echo "$$d"

.PHONY: quick
quick: ## the tests of a package and those below it without the slow ones: ROOM=engine/restore
	@[ -n "$(ROOM)" ] || { echo "which package? make quick ROOM=engine/restore" >&2; exit 2; }; \
	slow="$$($(SLOW) | awk -v room='$(ROOM)' '$$1 == room || index($$1, room "/") == 1 { print $$2 }' | paste -sd'|')"; \
	scratch="$$($(SCRATCH))"; trap 'rm -rf "$$scratch"' EXIT; \
	TMPDIR="$$scratch" $(GO) test -vet=off $(STRIP) -parallel $(PARALLEL) -skip "^($$slow)\$$" ./$(ROOM)/...; \
	if [ -n "$$slow" ]; then echo "left out, for they are slow (make test-slow): $${slow//|/ }"; fi

.PHONY: test-slow
test-slow: ## the tests that take over 3 s, and why
	@sed -n 's/^| //; s/`//g; /^[a-z][a-z/-]* | /p' docs/slow-tests.md | awk -F ' [|] ?' '{ printf "%-22s %-44s %4s  %s\n", $$1, $$2, $$3, $$4 }'

.PHONY: race
race: ## every test with the race detector (needs a C compiler); an hour
	# A process with the detector in it would sleep a second at its end, and the tests start thousands.
	CGO_ENABLED=1 GORACE="atexit_sleep_ms=0 $${GORACE:-}" $(GO) test -race -timeout 60m ./...

.PHONY: cross
cross: ## compile for Linux and macOS
	@for os in linux darwin; do \
		echo "build for $$os"; \
		GOOS=$$os CGO_ENABLED=0 $(GO) build ./...; \
	done

.PHONY: page
page: ## the page's script and style, of server/page/view/src
	$(GO) test ./server/page/view -run TestDistIsMadeOfSrc -update

.PHONY: screens
screens: ## pictures of every view and dialog of the page into screens/; needs chromium-headless-shell or chromium, and npm
	$(GO) test ./internal/browsertest -count 1 -run 'TestViews|TestAxe' -screens '$(CURDIR)/screens'

.PHONY: pictures
pictures: screens ## the recording of README.md, and the pictures of docs/tour.md; needs tmux
	mkdir -p docs/pictures
	$(GO) test ./cmd/rewind -count 1 -run TestRecording -record
	cp screens/log-1024-light.png docs/pictures/log-light.png
	cp screens/log-1024-dark.png docs/pictures/log-dark.png

.PHONY: tools
tools: $(BIN)/golangci-lint-$(GOLANGCI_VERSION) $(BIN)/gofumpt-$(GOFUMPT_VERSION) $(BIN)/benchstat-$(BENCHSTAT_VERSION)

$(BIN)/golangci-lint-$(GOLANGCI_VERSION):
	GOFLAGS= GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv -f $(BIN)/golangci-lint $@

$(BIN)/gofumpt-$(GOFUMPT_VERSION):
	GOFLAGS= GOBIN=$(BIN) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
	mv -f $(BIN)/gofumpt $@

.PHONY: lint
lint: tools ## formatting, vet, staticcheck and the bans
	@unformatted="$$($(BIN)/gofumpt-$(GOFUMPT_VERSION) -l .)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	$(BIN)/golangci-lint-$(GOLANGCI_VERSION) config verify
	$(BIN)/golangci-lint-$(GOLANGCI_VERSION) run ./...

.PHONY: fmt
fmt: $(BIN)/gofumpt-$(GOFUMPT_VERSION) ## format every file
	$(BIN)/gofumpt-$(GOFUMPT_VERSION) -w .

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s)
	@$(GO) list -f '{{$$d := .Dir}}{{$$p := .ImportPath}}{{range .TestGoFiles}}{{$$p}} {{$$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$p}} {{$$d}}/{{.}}{{"\n"}}{{end}}' ./... \
	| while read -r package file; do \
		[ -n "$$file" ] || continue; \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" < /dev/null; \
		done; \
	done

# The figures go to REPORT, a line for each test, target of fuzzing and fault; what stands there already is not run again. With ROWS or a SHARE it is a piece
# of the whole, which begins where the last piece ended; the exit status is 1 as long as a row is not whole. Of REPORT=a,b the first is added to.
ROWS ?=
SHARE ?= 100%
SEED ?= 0
JOBS ?= 2
REPORT ?= torture.jsonl
MATRIX = $(GO) run ./internal/torture/matrix -report '$(REPORT)'

.PHONY: torture
torture: ## all proofs at full size, some 5 hours; ROWS=T1,T6,fuzz,bugs,rest SHARE=10% SEED=<n> JOBS=2 REPORT=<file>
	$(MATRIX) -rows '$(ROWS)' -share '$(SHARE)' -seed '$(SEED)' -jobs '$(JOBS)'

.PHONY: torture-plan
torture-plan: ## what make torture would run, and how long
	@$(MATRIX) -list -rows '$(ROWS)' -share '$(SHARE)' -jobs '$(JOBS)'

.PHONY: torture-table
torture-table: ## the table of what REPORT has
	@$(MATRIX) -table -rows '$(ROWS)'

.PHONY: bugs
bugs: ## deliberate faults, each of which the matrix must find; BUGS=<name>,<name>
	$(MATRIX) -rows bugs -only '$(BUGS)' -jobs '$(JOBS)'

# Random faults of one line in a package; its own tests have to find them. AT=<file.go>:<line> takes those of one line, RUN=<regexp> only these tests.
N ?= 300
PKG ?=
AT ?=
RUN ?=
.PHONY: mutants
mutants: JOBS = 1
mutants: ## random faults in PKG=<package>, each run with its tests; the survivors; N=300 SEED=<n> JOBS=1 AT=<file.go>:<line>,... RUN=<regexp>
	@slow="$$($(SLOW) | awk -v room='$(PKG)' '$$1 == room { print $$2 }' | paste -sd'|')"; scratch="$$($(SCRATCH))"; trap 'rm -rf "$$scratch"' EXIT; \
	TMPDIR="$$scratch" $(GO) run ./internal/torture/mutants -slow "$${slow:+^($$slow)\$$}" -pkg '$(PKG)' -n '$(N)' -seed '$(SEED)' -jobs '$(JOBS)' -at '$(AT)' -run '$(RUN)'

# The released agents, installed from npm at pinned versions, against a model on
# loopback. Needs node, npm, git and tmux.
.PHONY: acceptance
acceptance: ## the real agents, as a person uses them
	$(GO) test -tags acceptance -count 1 -timeout 90m -v ./internal/acceptance/

# One text a commit, in benchstat's format, with the machine; beside the newest
# older one.
.PHONY: bench
bench: $(BIN)/benchstat-$(BENCHSTAT_VERSION) ## BENCH=regexp, COUNT times; kept in bench/results, beside the newest older one
	@mkdir -p bench/results; commit="$$(git rev-parse --short HEAD)"; out="bench/results/$$commit.txt"; part="$$out.part"; \
	trap 'rm -f "$$part"' EXIT; \
	old="$$(for f in bench/results/*.txt; do [ "$$f" = "$$out" ] || [ ! -e "$$f" ] || echo "$$(sed -n 's/^date: //p' "$$f" | head -1) $$f"; done | sort | tail -1 | cut -d' ' -f2-)"; \
	{ echo "commit: $$commit$$(git diff --quiet HEAD || echo ' and changes')"; echo "date: $$(date -u +%Y-%m-%dT%H:%M:%SZ)"; echo "go: $$($(GO) env GOVERSION)"; \
	echo "machine: $$(uname -srm), $$(getconf _NPROCESSORS_ONLN) cores, $$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1)"; echo; } > "$$part"; \
	$(GO) test -run '^$$' -bench "$$BENCH" -benchmem -count $(COUNT) -timeout 0 $(BENCHPKGS) | tee -a "$$part"; \
	mv "$$part" "$$out"; echo "kept: $$out"; \
	if [ -z "$$old" ]; then echo "nothing older to compare with"; \
	elif [ -x "$<" ]; then "$<" -table pkg -row .fullname -ignore commit,date,go,machine "$$old" "$$out"; \
	else echo "benchstat is not here: no comparison with $$old"; fi

# Without the network there is a run all the same, only no comparison.
$(BIN)/benchstat-$(BENCHSTAT_VERSION):
	-@GOFLAGS= GOBIN=$(BIN) $(GO) install golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION) && mv -f $(BIN)/benchstat $@

.PHONY: bench-peers
bench-peers: ## the table beside git and floors; CORPUS=<dir>[:<dir>], PEERSFLAGS=-quick
	@mkdir -p bench/results
	$(GO) run ./bench/peers -json bench/results/peers.json -svg bench/results/peers.svg $${CORPUS:+-corpus "$$CORPUS"} $(PEERSFLAGS)

.PHONY: bench-growth
bench-growth: ## how figures grow with files, checkpoints, conversations; into bench/results
	$(GO) run ./bench/peers -ops growth $(PEERSFLAGS)

# A module of its own, so that the library is in nobody's build; it is fetched once.
.PHONY: bench-ignore
bench-ignore: ## our ignore rules and a library's, held against git check-ignore, right and time; SETS=3000
	cd bench/decisions/ignore && $(GO) run . -sets $(SETS)
