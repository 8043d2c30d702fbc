# The front door. `make demo` and `make test` do all the set-up they need; `make help` lists the rest.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# uv installs what pip would, in a fifth of the time. It does not read pip.conf: where uv fails, pip tries.
UV = $(BIN)/uv pip install --quiet --python $(BIN)/python
install = $(UV) $(1) 2>/dev/null || $(PIP) $(1)
APT := libzmq3-dev libprotobuf-dev protobuf-compiler pkg-config

.PHONY: help test-pairs setup tools proto adapters ns3 omnet wheel demo test fuzz test-bounds lint docs docs-serve docs-version pictures bench chaos clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    a few points of every study beside the published numbers, and a report (results/demo/report/index.html)"
	@echo "make test    everything that can be tested on this machine; what it lacks is named and skipped"
	@echo "make test-pairs  the tests marked omnet on every other installed pair of OMNeT++ and INET"
	@echo "make fuzz    the tests that draw examples, with new ones each time and ten times as many (make test draws the same)"
	@echo "make test-bounds  tests of protocols and bridge with kernels that check every index"
	@echo "make setup   only install: .venv with the causeway command, the ns-3 adapter, the OMNeT++ adapter if OMNeT++ is found"
	@echo "make lint    ruff, clang-format and mypy"
	@echo "make docs    run what the tutorial and the how-to pages show, and build the site (build/site); make docs-serve shows it"
	@echo "make docs-version  the site as one of several versions, on the branch site (VERSION=0.2)"
	@echo "make pictures  the pictures of README and of the gallery, from real runs"
	@echo "make chaos   campaigns killed at 1,000 random instants (ROUNDS=...) must end as if nothing had happened"
	@echo "make bench   speed, as ratios within one run (build/bench.json)"
	@echo "make adapters   compile the C++ adapters of the simulators that are here (make ns3, make omnet: one of them)"
	@echo "make wheel   dist/causeway_sim-*.whl, which pip installs anywhere"

# ---- set-up ----------------------------------------------------------------------------------------------------------
setup: adapters

# What studies on abstract networks need, with the versions of requirements.txt: the demo begins with them. Spark, which
# is half of the set-up, is installed while they run.
REST = import tomllib; print(*(d for d in tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"] if "spark" not in d))
$(VENV)/.core: requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "causeway: $(PYTHON) is not on PATH; install Python 3.11 or say make PYTHON=..." >&2; exit 1; }
	@command -v java >/dev/null || echo "causeway: no java on PATH; reports and --spark need Java 17 (apt install openjdk-17-jre-headless)" >&2
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -c requirements.txt uv
	$(BIN)/python -c '$(REST)' | tr ' ' '\n' > $(VENV)/core.txt
	$(call install,-c requirements.txt setuptools grpcio-tools -r $(VENV)/core.txt)
	$(call install,--no-deps --no-build-isolation -e .)
	touch $@

# All that Causeway needs to run.
$(VENV)/.runtime: $(VENV)/.core
	$(call install,-c requirements.txt pyspark)
	touch $@

$(VENV)/.ns3: requirements-ns3.txt $(VENV)/.runtime
	$(call install,--no-deps -r $<)
	touch $@

$(VENV)/.ready: requirements.txt $(VENV)/.runtime $(VENV)/.ns3
	$(call install,-r $<)
	touch $@

proto: proto/causeway_pb2.py

proto/causeway_pb2.py: proto/causeway.proto proto/generate.py $(VENV)/.core
	$(BIN)/python proto/generate.py
	touch $@

# The C++ adapters need a few Debian packages: as root they are installed, else they are named.
tools:
	@pkg-config --exists libzmq protobuf 2>/dev/null && command -v protoc >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "causeway: installing $(APT)"; \
	    apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(APT) >/dev/null; \
	  else echo "causeway: the C++ adapters need: apt install $(APT)" >&2; exit 1; fi; }

# The adapters of the simulators that are here, into the user's cache folder.
adapters: $(VENV)/.ready proto tools
	@$(BIN)/causeway build

ns3: $(VENV)/.ns3
ns3 omnet: $(VENV)/.runtime proto tools
	@$(BIN)/causeway build $@

# What `pip install` takes: dist/causeway_sim-*.whl
wheel: $(VENV)/.ready proto
	rm -rf dist build/lib build/bdist.*
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist .

# ---- the two commands ------------------------------------------------------------------------------------------------
# The demo begins without adapters, and says `make ns3` or `make omnet` itself while the first studies run.
demo: $(VENV)/.core proto
	$(BIN)/python -m causeway.cli.demo results/demo $(MAKE) --silent

# All tests, with the newest pair of OMNeT++ and INET that fits; then those marked omnet on every other pair, which takes
# 10 minutes of processor time each (`make test-pairs` alone).
LIBRARIES = $(CURDIR)/$(VENV)
DEPS = CAUSEWAY_AIO_DEPS=$(LIBRARIES)/programs CAUSEWAY_S3_DEPS=$(LIBRARIES)/s3 \
  CAUSEWAY_BROWSER_DEPS=$(LIBRARIES)/browser CAUSEWAY_SUMO_DEPS=$(LIBRARIES)/sumo
test: setup $(VENV)/programs/.ready $(VENV)/s3/.ready $(VENV)/browser/.ready $(VENV)/sumo/.ready
	@status=0; $(DEPS) $(BIN)/python -m pytest -m '' tests || status=$$?; \
	  $(DEPS) $(BIN)/python -m tests.helpers.omnet_pairs || status=$$?; exit $$status

test-pairs: setup $(VENV)/programs/.ready $(VENV)/s3/.ready
	$(DEPS) $(BIN)/python -m tests.helpers.omnet_pairs

# `make test` draws the same examples every time; here they are new. What fails becomes an @example of its test.
fuzz: setup
	$(BIN)/python -m pytest -m hypothesis --hypothesis-profile=fuzz tests

# What only tests and docs need: programs of other people for simulated nodes, a server of S3, selenium, mkdocs. Folders of their own.
$(VENV)/programs/.ready $(VENV)/s3/.ready $(VENV)/browser/.ready $(VENV)/sumo/.ready $(VENV)/docs/.ready: $(VENV)/%/.ready: requirements-%.txt $(VENV)/.ready
	rm -rf $(@D)
	$(call install,--no-deps --target $(@D) -r $<)
	touch $@

# Kernels with a check of every index: slow, and an index out of bounds is an error instead of foreign memory.
test-bounds: setup
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -m 'not slow and not spark' tests/bridge tests/network tests/pycontrol tests/protocols

lint: $(VENV)/.ready proto
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $$(find bridge ns3 omnet tests -name '*.cc' -o -name '*.h')
	$(BIN)/mypy

# The site has its libraries in a folder of its own. A broken link, or a name without a docstring, ends the build.
SITE := PYTHONPATH=$(VENV)/docs NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs
docs: setup $(VENV)/docs/.ready $(VENV)/sumo/.ready
	PYTHONPATH=$(LIBRARIES)/sumo:$$PYTHONPATH $(BIN)/python docs/transcripts.py
	$(SITE) build --strict
	$(BIN)/python docs/check_site.py build/site

# The site as one of its versions, in a commit of the branch `site`, which a web server can serve.
VERSION ?= dev
docs-version: $(VENV)/docs/.ready
	PATH=$(VENV)/docs/bin:$$PATH PYTHONPATH=$(VENV)/docs NO_MKDOCS_2_WARNING=1 \
	  $(BIN)/python $(VENV)/docs/bin/mike deploy -b site $(VERSION)

# The pictures of README and of the gallery, each from a real run.
pictures: setup
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/gallery.py

docs-serve: $(VENV)/docs/.ready
	$(SITE) serve

# Campaigns killed, doubled and starved at so many random instants; `make test` has a short stretch of it.
ROUNDS ?= 1000
chaos: setup
	$(BIN)/python -m tests.chaos.chaos --rounds $(ROUNDS)
	$(BIN)/python -m tests.chaos.folder --rounds $(ROUNDS)

bench: setup
	$(BIN)/python -m bench.run

clean:
	rm -rf build dist results .pytest_cache .mypy_cache .ruff_cache
