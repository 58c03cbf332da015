# Two commands matter: `make start` and `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.NOTPARALLEL:

NODE_VERSION := 26.10.0
NODE_ARCH    := $(shell uname -m | sed -e 's/x86_64/x64/' -e 's/aarch64/arm64/')
NODE_HOME    := $(CURDIR)/.tools/node-$(NODE_VERSION)
CACHE        := $(HOME)/.cache/s3proxy
export PATH  := $(NODE_HOME)/bin:$(CURDIR)/node_modules/.bin:$(PATH)
# Arguments for the gateway, for example: make start ARGS='--set svc.proxy.web.port=40001'
ARGS ?=

## start: run the gateway on ./data (no Redis, no cluster); ARGS='--set name=value' passes properties on
start: setup
	@exec node gateway/main.ts $(ARGS)

## test: everything: check, unit, integration, real clients
test: setup
	@exec tools/test-all

## check: types, formatting, layer rules, dead code, generated files
check: setup
	@tools/check

## test-unit: unit, property, contract and golden tests
test-unit: setup
	@vitest run --project unit

## test-integration: tests that start the gateway as a process (kill, memory, faults, fuzz)
test-integration: setup
	@vitest run --project integration

## test-clients: real S3 clients against a running gateway
test-clients: setup
	@vitest run --project clients

## bench: throughput and CPU per operation beside versitygw, written to bench/results/
bench: setup
	@node bench/main.ts $(ARGS)

## generate: write the documents made from the tables
generate: setup
	@node docs/generate.ts

## format: format the source
format: setup
	@biome check --write .

## setup: the pinned Node and the packages of package-lock.json
setup: node_modules/.installed

node_modules/.installed: package-lock.json package.json $(NODE_HOME)/bin/node
	@echo "installing packages (npm ci) ..."
	@npm ci --no-progress --loglevel=error
	@touch $@

# The machine's own Node is too old for the code: take the pinned binary from its npm package.
$(NODE_HOME)/bin/node:
	@tools/install-node $(NODE_VERSION) $(NODE_ARCH) $(NODE_HOME) $(CACHE)

## clean: remove what setup made (not ./data)
clean:
	@rm -rf .tools node_modules

## help: this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST) | awk -F': ' '{printf "  make %-18s %s\n", $$1, $$2}'

.PHONY: start test check test-unit test-integration test-clients bench generate format setup clean help
