PYTHON ?= python3
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

# Without compiled modules each process that starts would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help up test lint format bench pictures chart sdk sdk-examples proto lock clean

help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

up: $(STAMP) ## install what is needed and start everything
	@exec $(BIN)/switchboard up

test: $(DEV_STAMP) ## run the whole suite (WORKERS=3 side by side)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

lint: $(DEV_STAMP) ## style, types, import contracts and proto files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint proto

format: $(DEV_STAMP) ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV_STAMP) ## measure against the baselines; results go to bench/results
	$(BIN)/python -m bench

pictures: $(DEV_STAMP) ## make the pictures of the console for docs/pictures
	PYTHONPATH=. $(BIN)/python scripts/pictures.py

chart: ## render the chart as Helm does, check it against the schemas of Kubernetes
	@test -d .venv-chart || $(PYTHON) -m venv .venv-chart
	@.venv-chart/bin/pip install --disable-pip-version-check --quiet -r scripts/chart-requirements.txt
	.venv-chart/bin/python scripts/chart.py

SDK_FRAMEWORKS := light crewai claude

sdk-examples: $(DEV_STAMP) $(SDK_FRAMEWORKS:%=.venv-sdk-%/.installed) ## run the examples of sdk/python, with their frameworks (2 GB)
	$(BIN)/python -m pytest tests/sdk/test_examples.py

.venv-sdk-%/.installed: sdk/python/examples/requirements-%.txt
	@$(PYTHON) -m venv .venv-sdk-$*
	@.venv-sdk-$*/bin/pip install --disable-pip-version-check --progress-bar off --quiet --no-deps -r $<
	@touch $@

sdk: $(DEV_STAMP) ## generate the types of sdk/python and sdk/typescript, and the client of the first
	PYTHONPATH=.:proto/gen $(BIN)/python sdk/python/generate.py
	cd sdk/typescript && npm ci --ignore-scripts --no-audit --no-fund
	PYTHONPATH=.:proto/gen $(BIN)/python sdk/typescript/generate.py

proto: $(DEV_STAMP) ## generate proto/gen and the stubs of sdk/python from proto/
	$(BIN)/python proto/generate.py

lock: $(DEV_STAMP) ## write the locks from what is installed in .venv
	$(BIN)/python scripts/lock.py

clean: ## remove the environment and caches (not the data)
	rm -rf $(VENV) .venv-sdk-* .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/python:
	@echo "Making the environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "Switchboard needs Python 3.11, 3.12 or 3.13; name one with: make up PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV)

$(STAMP): requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing the pinned dependencies (a few minutes the first time, about 2.5 GB)"
	@$(BIN)/pip install --disable-pip-version-check --progress-bar off --no-deps -r requirements.lock
	@$(BIN)/pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(STAMP)
	@$(BIN)/pip install --disable-pip-version-check --progress-bar off --no-deps -r requirements-dev.lock
	@touch $@
