# limber: one command for each thing a developer does. `make` alone lists them.
#
# The build itself is CMake's (CMakePresets.json); this file installs what is missing, configures once and calls it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

SCENE ?= scenes/bridge-car.yaml
PREFIX ?= /usr/local
JOBS ?= $(shell scripts/build-jobs.sh)
TEST_JOBS ?= 2
PYTHON := /usr/bin/python3
LIMBER := build/release/limber

# Configures a preset with the tests unless that has been done; Ninja notices later changes by itself.
configured_with_tests = grep -qs '^LIMBER_TESTS:BOOL=ON' build/$(1)/CMakeCache.txt && test -e build/$(1)/build.ninja
configure_with_tests = if ! { $(call configured_with_tests,$(1)); }; then cmake --preset $(1) -DLIMBER_TESTS=ON; fi
build = cmake --build --preset $(1) -j $(JOBS)
ctest = ctest --preset $(1) -j $(TEST_JOBS) --output-on-failure --no-tests=error

.PHONY: help
help: ## list these commands
	@echo "limber: simulation of structures that bend"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "settings: SCENE=$(SCENE) PREFIX=$(PREFIX) JOBS=$(JOBS) TEST_JOBS=$(TEST_JOBS)"

.PHONY: deps deps-test deps-python
deps: ## install the Debian packages that the build needs, if any is missing
	@scripts/install-deps.sh build

deps-test deps-python:
	@scripts/install-deps.sh $(@:deps-%=%)

.PHONY: build
build: deps ## build the library and the command (Release)
	@if [[ ! -e build/release/build.ninja ]]; then cmake --preset release -DLIMBER_TESTS=OFF; fi
	@$(call build,release) --target limber

.PHONY: run
run: build ## build, run a scene and write its report: SCENE=scenes/….yaml
	@$(LIMBER) run $(SCENE)
	@echo
	@echo "Open the report.html above in a browser. To see it live, pull at it and change it:"
	@echo "  $(LIMBER) view $(SCENE)"

.PHONY: test
test: deps-test ## build all and run every test
	@$(call configure_with_tests,release)
	@$(call build,release)
	@$(call ctest,release)
	@scripts/test-wheel.sh --if-possible

.PHONY: wheel python python-campaign
wheel: deps deps-python ## make the Python package: build/python/dist/limber_sim-*.whl
	@if [[ ! -e build/release/build.ninja ]]; then cmake --preset release -DLIMBER_TESTS=OFF; fi
	@scripts/wheel.sh

python: deps deps-python ## make the wheel, install it into build/python/test and run its tests there
	@if [[ ! -e build/release/build.ninja ]]; then cmake --preset release -DLIMBER_TESTS=OFF; fi
	@scripts/test-wheel.sh

python-campaign: deps deps-python ## the same with 105 scenes whose gradients are held against differences, and 100,000 random calls
	@if [[ ! -e build/release/build.ninja ]]; then cmake --preset release -DLIMBER_TESTS=OFF; fi
	@LIMBER_GRADIENTS=15 LIMBER_CALLS=100000 scripts/test-wheel.sh

.PHONY: docs
docs: deps deps-python ## make the pages of the Python package with their notebooks: build/python/site/index.html
	@if [[ ! -e build/release/build.ninja ]]; then cmake --preset release -DLIMBER_TESTS=OFF; fi
	@scripts/docs.sh

.PHONY: check test-times
check: deps-test ## build all and run the tests that the changes since they last passed can affect
	@$(call configure_with_tests,release)
	@$(call build,release)
	@$(PYTHON) scripts/check.py build/release -j $(TEST_JOBS)

test-times: ## how long each test took when it last ran, longest first
	@$(PYTHON) scripts/test_times.py build/release

.PHONY: dev asan tsan
dev: deps-test ## the same tests in a Debug build with assertions
asan: deps-test ## the same tests under the address and undefined-behaviour sanitizers
tsan: deps-test ## the same tests under the thread sanitizer
dev asan tsan:
	@$(call configure_with_tests,$@)
	@$(call build,$@)
	@$(call ctest,$@)

.PHONY: format check-format
format: deps-test ## format the C++ sources in place
	@scripts/format.sh

check-format: deps-test ## name the C++ sources that are not formatted
	@scripts/format.sh --check

.PHONY: fuzz
fuzz: deps-test ## feed the scene reader 100,000 mutated scenes under the address sanitizer
	@$(call configure_with_tests,asan)
	@$(call build,asan) --target scene_fuzz
	@build/asan/tests/scene/scene_fuzz 100000

.PHONY: kill-campaign broken-scenes
kill-campaign: deps-test build ## kill a run at 200 random moments and check that it resumes bit for bit
	@$(PYTHON) tests/cli/kill_campaign.py 200

broken-scenes: deps-test build ## break scenes in 200 ways and check that each error names its place
	@$(PYTHON) tests/cli/broken_scenes.py 200

.PHONY: adaptive-campaign
adaptive-campaign: deps-test ## hold the adaptive method against full solutions on thousands of random linkages
	@$(call configure_with_tests,release)
	@$(call build,release) --target adaptive_tests
	@LIMBER_ADAPTIVE_CAMPAIGN=1 build/release/tests/adaptive/adaptive_tests

.PHONY: thread-campaign viewer-campaign
thread-campaign: deps-test ## throw threads at each other in 200 ways (none crosses, sinks in or gains energy); a fine capstan
	@$(call configure_with_tests,release)
	@$(call build,release) --target thread_tests
	@LIMBER_CAMPAIGN=1 build/release/tests/thread/thread_tests --gtest_also_run_disabled_tests --gtest_filter='*TwoHundred*:Capstan*'

.PHONY: contact-campaign
contact-campaign: deps-test ## throw 500 bodies at thin plates and tumble 200 bins
	@$(call configure_with_tests,release)
	@$(call build,release) --target contact_validation_tests
	@LIMBER_CAMPAIGN=1 build/release/tests/validation/contact_validation_tests --gtest_filter='ContactCampaign*'

viewer-campaign: deps-test ## every shipped scene in the browser, live and as a report
	@$(call configure_with_tests,release)
	@$(call build,release)
	@node tests/viewer/live_test.mjs --limber $(LIMBER) --modules build/release/viewer --all
	@node tests/viewer/report_test.mjs --limber $(LIMBER) --modules build/release/viewer --all

AGREE ?= 10000
AGREE_SEED ?= 1
ROUND_TRIP ?= 1000
AGREE_OPTIONS ?=
.PHONY: agree
agree: deps-test build ## draw AGREE scenes a family and hold answers that must agree against each other; hours
	@$(PYTHON) tests/agree/agree.py $(AGREE) --seed $(AGREE_SEED) --limber $(LIMBER) --keep build/agree-failures $(AGREE_OPTIONS)

.PHONY: round-trip
round-trip: deps-test build ## run shipped and ROUND_TRIP drawn scenes, and what `limber convert --to yaml` makes of them: the same bits
	@$(PYTHON) tests/scene/round_trip.py --limber $(LIMBER) --generated $(ROUND_TRIP) --keep build/round-trip-failures scenes/*.yaml

.PHONY: bench
bench: build ## measure a step and print ratios against a baseline of the same run
	@$(LIMBER) bench

# A virtual environment of its own, made again when its list changes.
PEERS := build/peers/venv
$(PEERS)/.made: scripts/peers/requirements.txt
	@python3 -m venv --clear $(PEERS)
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: peers
peers: build $(PEERS)/.made ## measure limber beside MuJoCo, Pinocchio, Exudyn and PyElastica (from PyPI): docs/peers.md; ONLY=contact: one case
	@$(PEERS)/bin/python scripts/peers/peers.py --limber $(LIMBER) $(if $(ONLY),--only $(ONLY))

DOORS := build/doors/venv
$(DOORS)/.made: scripts/doors/requirements.txt
	@python3 -m venv --clear $(DOORS)
	@$(DOORS)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: import-campaign
import-campaign: wheel $(DOORS)/.made ## import every robot of dm-control, gymnasium and example-robot-data and hold it against MuJoCo and Pinocchio: docs/import.md
	@$(DOORS)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/python/dist/limber_sim-*.whl
	@$(DOORS)/bin/python -P scripts/doors/campaign.py

.PHONY: pictures
pictures: deps-test ## make the pictures of README.md from the shipped scenes
	@$(call configure_with_tests,release)
	@$(call build,release) --target limber
	@node scripts/pictures.mjs --limber $(LIMBER)

.PHONY: install
install: build ## install the library, headers, command and scenes under PREFIX
	@$(call build,release)
	@cmake --install build/release --prefix $(PREFIX)

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf build
