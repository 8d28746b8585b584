# The front door. Every goal installs what it needs (Debian packages, only when one is missing),
# so that a fresh machine with git and make is enough. `make help` lists the goals.

MAKEFLAGS += --no-print-directory
PREFIX    ?= /usr/local
DESTDIR   ?=
SECONDS   ?= 60# per fuzzer
HOURS     ?= 1000
SEEDS     ?=
FIRST_SEED ?=
WORLD     ?= memory etcd redis postgresql
DURATION  ?= 10m
SUITE     ?=
STORE     ?= etcd
EARLIER   ?=
SEED      ?=
FAULTS    ?=
RUNS      ?= 1000000

.DEFAULT_GOAL := help
.PHONY: help run build test check sim fault soak versions compat tsan library deb rpm packages tarball container kubernetes collector bench bench-report site pictures fuzz format lint install uninstall clean

help: ## list the goals
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: ## build peal and watch it run a few demo jobs (Ctrl-C ends it)
	@tools/deps.sh run
	@tools/build.sh quick --target peal peal-spawn peal-call
	@build/quick/bin/peal dev

build: ## build the release binaries into build/bin
	@tools/deps.sh build
	@tools/build.sh release
	@tools/hardening.sh build/bin/peal build/bin/peal-spawn build/bin/peal-call build/release/src/lib/libpeal.so $$(find build/lib -name '*.so' 2>/dev/null)

test: ## build with sanitizers and run every test
	@tools/deps.sh build test
	@tools/ferretdb.sh >/dev/null || test $$? = 77
	@tools/build.sh asan
	@PEAL_UNSTEADY=test/unsteady.txt tools/test.sh build/asan

check: ## build, and run in two minutes what a change is seen by first: unit tests, contracts, gates, format
	@tools/deps.sh build test lint
	@tools/check.sh

sim: ## simulate clusters, with faults, for HOURS=1000 of a node [or SEEDS=n] [FIRST_SEED=n] [WORLD=memory|etcd|redis|postgresql]
	$(if $(filter-out memory etcd redis postgresql,$(WORLD)),$(error WORLD=$(WORLD): there are memory, etcd, redis and postgresql))
	@tools/deps.sh build test
	@tools/build.sh sim --target sim_drive $(WORLD:%=sim_%_test)
	@build/sim/test/sim_drive $(if $(SEEDS),--seeds $(SEEDS),--hours $(HOURS)) \
		$(if $(FIRST_SEED),--first-seed $(FIRST_SEED)) --logs build/sim/failures \
		$(foreach world,$(WORLD),$(world)=build/sim/test/sim_$(world)_test)

fault: ## hurt a real cluster for DURATION=10m [STORE=etcd|postgresql|redis] [SEED=n] [FAULTS=name,...] [EARLIER=version], write the report
	@tools/deps.sh build test
	@tools/build.sh asan
	@test/reliability/run.sh --store $(STORE) --duration $(DURATION) $(if $(SEED),--seed $(SEED)) \
		$(if $(FAULTS),--faults $(FAULTS)) $(if $(EARLIER),--earlier "$$(tools/versions.sh --programs $(EARLIER))") \
		--report $(if $(FAULTS)$(EARLIER),build,docs)/reliability-report$(if $(filter-out etcd,$(STORE)),-$(STORE)).md

soak: ## push RUNS=1000000 through a node and see that nothing grows
	@tools/deps.sh build bench
	@tools/build.sh release
	@bench/cluster/soak.sh build/release $(RUNS)

versions: ## run clusters of an earlier peal and this one, also under faults, and go back to it [VERSION=v|COMMIT=c]
	@tools/deps.sh build test
	@tools/build.sh asan
	@tools/versions.sh $(VERSION) $(COMMIT)

compat: ## run what speaks to etcd against 3.5 and 3.6 (built with Go)
	@tools/deps.sh build test
	@tools/build.sh asan
	@tools/compat.sh

tsan: ## run what has threads under ThreadSanitizer
	@tools/deps.sh build test
	@tools/tsan.sh

library: ## prove libpeal as it is installed: examples, ABI, hygiene, valgrind, ThreadSanitizer
	@tools/deps.sh build test library
	@tools/library.sh

deb: ## build the packages of Debian, into build/deb [SUITE=trixie: of that release, in a folder of debootstrap]
	@tools/deps.sh build deb
	@tools/deb.sh $(if $(SUITE),--suite $(SUITE))

rpm: ## build the packages of rpm, into build/rpm
	@tools/deps.sh build rpm
	@tools/rpm.sh

packages: ## prove the packages: lintian, same bytes twice, install, upgrade under running jobs, purge [SUITE=trixie]
	@tools/deps.sh build deb rpm
	@test/packages/deb.sh $(SUITE)
	$(if $(SUITE),,@test/packages/rpm.sh)

tarball: ## build a folder that runs from anywhere, into build/tarball; test/packages/tarball.sh proves it
	@tools/deps.sh build tarball
	@$(MAKE) build
	@tools/tarball.sh

container: ## build the image from the packages, and run it: its first process, its port, its account
	@tools/deps.sh build deb container
	@tools/deb.sh
	@test/packages/container.sh

kubernetes: ## check the chart and exported CronJobs against the schemas of Kubernetes
	@tools/deps.sh build test
	@tools/helm.sh >/dev/null
	@tools/kubeconform.sh >/dev/null
	@tools/build.sh asan --target peal peal-spawn peal-call
	@ctest --test-dir build/asan -R '^integration\.(kubernetes|containers)$$' --output-on-failure --no-tests=error

collector: ## send spans and metrics to a real collector of OpenTelemetry (built with Go, some minutes)
	@tools/deps.sh build test
	@tools/otelcol.sh >/dev/null
	@tools/build.sh asan --target peal peal-spawn peal-call
	@ctest --test-dir build/asan -R '^integration\.collector_real$$' --output-on-failure --no-tests=error

bench: ## measure, beside the peers that are installed
	@tools/deps.sh build bench
	@tools/build.sh release
	@bench/run.sh

bench-report: ## measure peal and all peers that can be had, draw the tables and plots of README.md and docs/BENCHMARKS.md anew
	@tools/deps.sh build bench report
	@$(MAKE) build
	@BENCH_PEERS=all bench/peers/table.sh --anew
	@BENCH_KILLS=20 bench/failover/run.sh && bench/failover/table.sh --write

site: ## make a static site of the documents, with search, into build/site
	@tools/deps.sh build
	@tools/site.sh

pictures: ## take the pictures of docs/CONSOLE.md anew
	@tools/deps.sh build test
	@tools/build.sh asan --target peal peal-spawn peal-call console_tests
	@PEAL_PICTURES=$(CURDIR)/docs/console test/browser/run.sh node gallery $(CURDIR)/build/asan/screenshots
	@PEAL_PICTURES=$(CURDIR)/docs/console test/browser/run.sh node recording $(CURDIR)/build/asan/screenshots

fuzz: ## run every fuzzer for SECONDS=60
	@tools/deps.sh build test fuzz
	@FUZZ_SECONDS=$(SECONDS) tools/build.sh asan-clang --target fuzz -- -k 0

format: ## format the C code in place
	@tools/deps.sh lint
	@tools/lint.sh fix

lint: ## check format, common mistakes, scripts and leftovers
	@tools/deps.sh build test lint
	@tools/lint_selftest.sh
	@tools/lint.sh

install: ## install below PREFIX=/usr/local (DESTDIR is heeded)
	@test -x build/bin/peal || $(MAKE) build
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

uninstall: ## remove what the last `make install` from here put there
	@tools/uninstall.sh build/release/install_manifest.txt '$(DESTDIR)'

clean: ## remove all that was built
	rm -rf build web/node_modules test/browser/node_modules
