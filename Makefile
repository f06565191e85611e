SHELL := bash
GO ?= go
LINT_VERSION := v2.14.0
TOOLS := .tools/bin
LINT := $(TOOLS)/golangci-lint-$(LINT_VERSION)
FUZZTIME ?= 30s
ATTACK ?= 10m
ROUNDS ?= 2000
CHECKS ?= 1000
DAMAGE_TABLE ?= $(or $(TMPDIR),/tmp)/parley-damage.txt
ONLY ?=
HISTORY ?= 200000
# The race detector does not watch SQLite, which is C translated to Go: it would be ten times slower and finds nothing there.
RACE := -race -gcflags=modernc.org/...=-race=false
# Only make soak runs these packages with the race detector. Crash tests and whole-program scripts test other processes. The
# cost tests count allocations, which the race detector would change.
SLOW := internal/store/sqlite|internal/httpapi|internal/crashtest|internal/costtest|/testscript$$
# Runs a command with one PostgreSQL server for all tests.
WITH_POSTGRES := $(GO) run ./internal/pgtest/with

export CGO_ENABLED ?= 0

.PHONY: help run build test test-race test-plain test-clients conformance lint fmt openapi cost walk bench fuzz soak clean setup

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build parley and run the demo: a small company of agents at work
	bin/parley demo

build: ## Build bin/parley; needs only Go
	$(GO) build -trimpath -o bin/parley ./cmd/parley

test: setup ## Install the programs that the tests need, and run all tests
	$(WITH_POSTGRES) $(MAKE) --no-print-directory test-race test-plain

# The packages that take longest start first, so that no processor is idle at the end.
test-race:
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test $(RACE) -shuffle=on -p 3 -timeout 12m $$($(GO) list ./internal/hub ./internal/store/postgres ./internal/cli ./internal/server ./... | grep -vE '$(SLOW)')

test-plain:
	PARLEY_STORES=SQLite $(GO) test -shuffle=on -p 3 ./testscript ./internal/crashtest ./internal/hub ./internal/httpapi ./internal/store/sqlite
	$(GO) test ./internal/costtest

test-clients: build ## Install the pinned real clients and test them with a fake model API
	scripts/clients
	$(GO) test -tags clients -count=1 -parallel 4 -timeout 15m ./internal/runtime/command/clients

conformance: build ## Install the pinned conformance suite of MCP and the official clients, and run them against a hub (35 s the first time)
	scripts/conformance
	$(GO) test -tags conformance -count=1 -timeout 10m ./internal/mcpapi/conformance

lint: $(LINT) ## Run golangci-lint (pinned), and check the types for macOS
	$(LINT) run ./...
	$(GO) run ./internal/typecheck darwin

fmt: $(LINT) ## Format the code
	$(LINT) fmt ./...

openapi: ## Rewrite docs/openapi.json and the transcripts of the API
	$(GO) test -count=1 -run "TestOpenAPIDocumentIsKept|TestTranscripts" ./internal/httpapi -update

cost: ## Count the statements, round trips, rows and allocations of the hot use cases, and rewrite internal/costtest/testdata/cost.txt
	$(GO) test -count=1 ./internal/costtest -update

walk: ## Count the functions and files that three calls run through, and print Markdown tables
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && GOCOVERDIR=$$dir $(GO) run -cover -covermode=atomic ./internal/walk

bench: ## Measure the hot paths against baselines and rewrite docs/benchmarks.md (ONLY=takes prints one part and writes nothing; HISTORY=1000000 uses a larger history)
	$(GO) run ./bench -only "$(ONLY)" -history $(HISTORY)

fuzz: ## Run each fuzz target for FUZZTIME (30s, or 20000x inputs)
	scripts/fuzz $(FUZZTIME)

soak: setup ## Run the long tests: ROUNDS crashes (2000), 500 damaged homes (outcomes in DAMAGE_TABLE), 10,000 messages to agents run by the hub, 5,000 trees of asks and tasks, 1,000 files each way through bridges, attacks with one token for ATTACK (10m), CHECKS histories per property (1000), half an hour of mixed load without growing memory, each fuzz target for FUZZTIME
	PARLEY_CRASH_ROUNDS=$(ROUNDS) $(GO) test -count=1 -timeout 0 -run 'Crash|NobodyWaits' -v ./internal/crashtest
	PARLEY_DAMAGE_CASES=500 PARLEY_DAMAGE_TABLE=$(DAMAGE_TABLE) $(GO) test -count=1 -timeout 0 -run Damage -v ./internal/crashtest
	$(WITH_POSTGRES) env CGO_ENABLED=1 PARLEY_STORES=SQLite,PostgreSQL $(GO) test $(RACE) -count=1 -timeout 0 ./internal/hub ./internal/store/... -rapid.checks=$(CHECKS)
	CGO_ENABLED=1 $(GO) test $(RACE) -count=1 -timeout 0 ./internal/httpapi ./internal/costtest ./testscript
	PARLEY_ATTACK=$(ATTACK) $(GO) test -count=1 -timeout 0 -run Attack -v ./internal/crashtest
	PARLEY_MEMORY_TIME=30m $(GO) test -count=1 -timeout 0 -run Memory -v ./internal/crashtest
	scripts/fuzz $(FUZZTIME)

clean: ## Remove bin and .tools
	rm -rf bin .tools

setup:
	@scripts/setup

$(LINT):
	@mkdir -p $(TOOLS)
	GOBIN=$(abspath $(TOOLS)) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv $(TOOLS)/golangci-lint $@
