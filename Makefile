# `make help` lists the targets.
GO ?= go

.PHONY: help build test race lint selftest interop peer bench fuzz browser axe cross check

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build mcp-litmus and mcp-reference into bin/
	$(GO) build -o bin/ ./cmd/mcp-litmus ./cmd/mcp-reference

test: ## Run the tests (Go alone is enough)
	$(GO) test ./...

race: ## Run the tests with the race detector
	$(GO) test -race ./...

lint: ## gofmt, go vet and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "these files are not gofmt'd: run gofmt -w"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

selftest: build ## The kill matrix: every check can fail, and fails alone
	bin/mcp-litmus selftest

interop: build ## The suite on pinned real servers, against reviewed expectations (needs npm)
	fixtures/interop/install.sh
	MCP_LITMUS_INTEROP=1 $(GO) test -count=1 -timeout 60m ./fixtures/interop

peer: build ## The official conformance suite on the reference server (needs npm)
	fixtures/interop/peer.sh

bench: build ## Speed and memory: against a raw replay, and beside the official suite
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m -v ./suite/bench

fuzz: ## Fuzz each fuzz test for a short while
	@for p in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for f in $$(grep -h -o '^func Fuzz[A-Za-z]*' $$p/*_test.go | sed 's/func //'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 10s $$p || exit 1; \
		done; done

axe: ## Fetch axe-core for the browser test of the HTML report (needs npm)
	cd reports/testdata/axe && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

browser: axe ## The HTML report in headless Chromium (needs Chromium and npm)
	MCP_LITMUS_BROWSER=$${MCP_LITMUS_BROWSER:-chromium} $(GO) test -count=1 -run 'Browser' ./reports

cross: ## Build for Linux, macOS and Windows
	@for target in darwin/arm64 windows/amd64; do \
		echo "$$target"; GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/mcp-litmus || exit 1; done
	GOOS=windows CGO_ENABLED=0 $(GO) vet ./suite/... ./cmd/... ./reports/...

check: lint test selftest ## What a change must pass
