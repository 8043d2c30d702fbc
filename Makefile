# The front door. `make demo` and `make test` do all the set-up they need; `make help` lists the rest.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
APT := libzmq3-dev libprotobuf-dev protobuf-compiler pkg-config

.PHONY: help setup tools proto demo test test-all test-bounds lint bench omnet ns3 clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    a short run of the studies and a report (results/demo/report/index.html)"
	@echo "make test    everything that can be tested on this machine; what it lacks is named and skipped"
	@echo "make test-bounds  tests of protocols and bridge with kernels that check every index"
	@echo "make setup   only install: .venv with the causeway command, the ns-3 edge, the OMNeT++ edge if OMNeT++ is found"
	@echo "make lint    ruff and mypy"
	@echo "make bench   speed, as ratios within one run (build/bench.json)"
	@echo "make omnet   build the OMNeT++ edge (and the INET edge where INET is found)"
	@echo "make ns3     build the ns-3 edge"

# ---- set-up ----------------------------------------------------------------------------------------------------------
setup: $(VENV)/.ready proto edges

$(VENV)/.ready: requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "causeway: $(PYTHON) is not on PATH; install Python 3.11 or say make PYTHON=..." >&2; exit 1; }
	@command -v java >/dev/null || echo "causeway: no java on PATH; reports and --spark need Java 17 (apt install openjdk-17-jre-headless)" >&2
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-ns3.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

proto: proto/causeway_pb2.py

proto/causeway_pb2.py: proto/causeway.proto $(VENV)/.ready
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. proto/causeway.proto
	touch $@

# The C++ edges need a few Debian packages: as root they are installed, else they are named.
tools:
	@pkg-config --exists libzmq protobuf 2>/dev/null && command -v protoc >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "causeway: installing $(APT)"; \
	    apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(APT) >/dev/null; \
	  else echo "causeway: the C++ edges need: apt install $(APT)" >&2; exit 1; fi; }

# The OMNeT++ edge is part of the set-up only where OMNeT++ is found.
edges: ns3
	@if $(BIN)/python -m causeway.bridge.engines.omnet_find --quiet; then $(MAKE) --no-print-directory omnet; \
	else $(BIN)/python -m causeway.bridge.engines.omnet_find || true; fi

ns3: $(VENV)/.ready tools
	$(MAKE) --no-print-directory -j2 -C ns3 PYTHON=$(abspath $(BIN)/python)

omnet: proto
	@$(BIN)/python -m causeway.bridge.engines.omnet_find
	@$(MAKE) --no-print-directory tools
	$(MAKE) --no-print-directory -j2 -C omnet PYTHON=$(abspath $(BIN)/python)

# ---- the two commands ------------------------------------------------------------------------------------------------
demo: setup
	$(BIN)/python -m causeway.cli.demo results/demo

test: setup
	$(BIN)/python -m pytest -m '' tests

# Kernels with a check of every index: slow, and an index out of bounds is an error instead of foreign memory.
test-bounds: setup
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -m 'not slow and not spark' tests/bridge tests/pycontrol tests/protocols

lint: $(VENV)/.ready proto
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m bench.run

clean:
	rm -rf build results .pytest_cache .mypy_cache .ruff_cache
