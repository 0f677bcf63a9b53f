# Each target installs what it misses (.ci/install), then runs the script that CI runs too.
.DEFAULT_GOAL := help
.PHONY: help demo test proof adapters check sanitize storm fuzz simulate bench format rules docs api size install
.PHONY: uninstall release clean

# Where `make install` puts things.
PREFIX ?= /usr/local

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## JSON over TLS, bars, a resumed download, events, a cache and retries, against servers inside it
	@.ci/install core
	@echo 'Building the dunlin command (debug, which builds fastest); the first time takes a minute or two.'
	@swift run dunlin demo

test: ## All tests, and a small storm; ends with "N passed, N failed"; FILTER=Suite for some of them
	@.ci/install test
	@.ci/test '$(FILTER)'

proof: ## What takes longer: sessions on four loops, fuzzing, counts per request, size, adapters
	@.ci/install test
	@.ci/proof

adapters: ## The tests of the adapters, and of a service with them, against outside packages; needs a network
	@.ci/install build
	@.ci/adapters

check: ## Format, imports, allow-lists, warnings, documentation
	@.ci/install build
	@.ci/check

sanitize: ## The tests under the thread and the address sanitizer
	@.ci/install build
	@.ci/sanitize

storm: ## A hundred thousand requests, a thousand sessions and a thousand killed downloads in bad weather
	@.ci/install build
	@.ci/storm

fuzz: ## The fuzzers, for TIME seconds in all (60)
	@.ci/install build
	@.ci/fuzz $(or $(TIME),60)

simulate: ## Limits, breakers and retries against simulated servers: a table, and pictures into Docs
	@.ci/install build
	@.ci/simulate

bench: ## Dunlin and its peers, in one run; QUICK=1 for a short one, SCENARIO=name for one part
	@.ci/install build
	@Benchmarks/run

format: ## Format the sources in place
	@.ci/install build
	@.ci/format

rules: ## Write Docs/Conformance.md from the rules of the RFCs and the tests that carry them
	@.ci/rules

docs: ## Build the documentation of all libraries as one site, .build/site
	@.ci/install build
	@.ci/site

api: ## Compare the public API with the last release
	@.ci/install build
	@.ci/api

size: ## Weigh a small program and the command, as a release builds them
	@.ci/install build
	@.ci/size

install: ## The commands, their manual pages and completions below PREFIX (/usr/local)
	@.ci/install build
	swift build --configuration release --static-swift-stdlib -Xlinker --no-export-dynamic --product dunlin
	swift build --configuration release --static-swift-stdlib -Xlinker --no-export-dynamic --product dunlin-image
	@.ci/place '$(DESTDIR)$(PREFIX)'

uninstall: ## Remove what `make install` has put below PREFIX
	@.ci/place '$(DESTDIR)$(PREFIX)' remove

release: ## Check everything, then tag VERSION and archive the sources; pushes nothing
	@.ci/install test
	@.ci/release '$(VERSION)'

clean: ## Forget everything that was built
	rm -rf .build Benchmarks/.build
