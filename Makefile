# eunoe: every target installs what it needs. `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH := .venv-torch
MEMBERS := $(wildcard libs/*) $(wildcard services/*) standalone
READY := $(VENV)/.ready
TWO := --numprocesses 2 --dist worksteal
export UV_PYTHON_DOWNLOADS := never

.DEFAULT_GOAL := help
.PHONY: help setup demo outage test quick check format protos lock image-packages compose-env samples docs wheel wheel-test test-faults test-servers test-sentence-transformers chaos servers-install servers-up servers-down faults test-wheel bench clean models

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): requirements.lock tools/install.sh $(wildcard libs/*/pyproject.toml services/*/pyproject.toml standalone/pyproject.toml)
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash tools/install.sh $(MEMBERS)
	@touch $(READY)

setup: $(READY) models ## install everything into .venv and fetch the default model

models: $(READY)
	@$(BIN)/eunoe models pull minilm

demo: setup ## ingest the sample files, ask three questions, print the answers and their sources
	@$(BIN)/eunoe demo --data-dir .demo

test: setup ## the tests (all but faults and wheel)
	$(BIN)/pytest tests --ignore=tests/faults -m "not alone and not servers" $(TWO)
	$(BIN)/pytest tests --ignore=tests/faults -m alone

test-servers: setup ## the tests on real servers (Kafka, PostgreSQL, Weaviate, Neo4j, S3), which it installs and starts
	$(BIN)/pytest tests -m servers --numprocesses 0 --durations 15

test-sentence-transformers: setup ## the embedding suite on the real library, in an environment of its own (3 GB to download, 6 GB)
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(TORCH)
	$(BIN)/uv pip install --quiet --python $(TORCH)/bin/python --require-hashes -r deploy/images/embedder-gpu.lock
	$(BIN)/uv pip install --quiet --python $(TORCH)/bin/python --constraint requirements.lock pytest pytest-asyncio pytest-timeout
	$(BIN)/uv pip install --quiet --python $(TORCH)/bin/python --no-deps -e libs/contracts -e libs/telemetry -e libs/safety -e libs/models
	$(TORCH)/bin/python -m pytest --confcutdir=tests/contract/embedding -m torch tests/contract/embedding

outage: setup ## Kafka is away for a minute under the six processes (15 s in test-servers), with the figures
	EUNOE_TEST_OUTAGE_S=60 $(BIN)/pytest tests/servers/cluster/test_outages_long.py -m servers -s -k broker

chaos: $(READY) ## kill members and broker of a Kafka group at random for SECONDS=300, then look whether anything was lost (BROKEN=1: it must be)
	PYTHONPATH=tools $(BIN)/python -m chaos --seconds $(or $(SECONDS),300) $(if $(SEED),--seed $(SEED)) $(if $(BROKEN),--broken)

servers-up: $(READY) ## start the real servers on loopback and print where they are
	@PYTHONPATH=tools $(BIN)/python -m servers up $(NAMES)

servers-install: $(READY) ## build or fetch their programs once; kept in the user's cache
	@PYTHONPATH=tools $(BIN)/python -m servers install $(NAMES)

servers-down: $(READY) ## stop them
	@PYTHONPATH=tools $(BIN)/python -m servers down

quick: $(READY) ## the fast tests only
	$(BIN)/pytest tests --ignore=tests/faults -m "not slow and not alone and not servers" $(TWO)

test-faults: setup ## kill -9 during ingest and other fault tests
	PYTHONHASHSEED=0 $(BIN)/pytest tests/faults $(TWO)

faults: $(READY) ## simulate SEEDS=500 seeds of faults from FIRST=0 on
	$(BIN)/python -m eunoe_standalone.simulation --seeds $(or $(SEEDS),500) --first $(or $(FIRST),0)

check: $(READY) ## lint, types, import rules, protos
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy libs services standalone
	$(BIN)/lint-imports
	$(BIN)/python tools/gen_protos.py --check
	cd protos && ../$(BIN)/buf lint
	$(BIN)/python tools/check_breaking.py

format: $(READY) ## format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

protos: $(READY) ## generate eunoe.v1 from protos/
	$(BIN)/python tools/gen_protos.py

docs: $(READY) ## generate docs/reference from the code
	$(BIN)/python tools/gen_reference.py

samples: $(READY) ## make the sample files of the demo again
	$(BIN)/python tools/make_samples.py

lock: $(READY) ## resolve the dependencies again (versions and hashes, no addresses)
	$(BIN)/uv lock --upgrade
	$(BIN)/uv export -q --all-packages --all-groups --no-emit-workspace --no-annotate --no-header --format requirements-txt -o requirements.lock
	$(BIN)/uv export -q --package eunoe-embedder --extra sentence-transformers --no-default-groups --no-emit-workspace --no-annotate --no-header --format requirements-txt -o deploy/images/embedder-gpu.lock

image-packages: $(READY) ## list the packages of each container image anew (after make lock and make setup)
	$(BIN)/python tools/image_packages.py

compose-env: ## write the secrets that docker-compose.yml asks for into .env
	@$(PYTHON) tools/compose_env.py

wheel: $(READY) ## build the distribution into dist/
	$(BIN)/python -m build --no-isolation --wheel --outdir dist standalone

wheel-test: setup wheel ## install the wheel into an empty environment and run the demo there
	$(BIN)/python tools/wheel_test.py

bench: setup ## measure everything in small sizes (see bench/README.md)
	@for each in ingest_rate search_latency pdf_rate growth startup soak; do $(BIN)/python bench/$$each.py --quick; done
	$(BIN)/python bench/embedder_rate.py

clean: ## remove everything that can be made again
	rm -rf $(VENV) $(TORCH) dist build .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache uv.lock
