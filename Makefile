# `make demo` and `make test` do all of their own set-up. They need python3 (3.11 or newer, with venv and pip), git and make.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m
PIP := $(RUN) pip --disable-pip-version-check --quiet
PLUGINS := $(sort $(wildcard hooks/*/pyproject.toml plugins/*/pyproject.toml))
PYPROJECTS := pyproject.toml core/pyproject.toml $(PLUGINS)
DEMO := core/src/trimtab/replay/demo.jsonl

.PHONY: help demo test lint bench clean

help:  ## list the commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile

demo: $(VENV)/.trimtab  ## replay the packaged session through the default profile and print what it would have saved
	@$(VENV)/bin/trimtab replay $(DEMO)

test: $(VENV)/.tools  ## run the tests (at most 4 minutes)
	@CONTRACT_EXAMPLES=2 $(RUN) pytest -q -n auto

lint: $(VENV)/.tools  ## check style and types
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

bench: $(VENV)/.tools  ## run the benchmarks (tests/benchmarks)
	$(RUN) pytest -q -s -o addopts=--import-mode=importlib --benchmark-only tests/benchmarks

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: an environment is made once, and again when its Python is gone; what is in it is renewed when a pyproject changes.
$(shell test -x $(VENV)/bin/python || rm -f $(VENV)/.made)

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { echo "trimtab needs Python 3.11 or newer: there is no '$(PYTHON)' on the PATH" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "trimtab needs Python 3.11 or newer: '$(PYTHON)' is $$($(PYTHON) -V 2>&1); name another with make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make environments: install its venv and ensurepip modules (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) -V)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.trimtab: $(VENV)/.made $(PYPROJECTS)
	@echo "installing trimtab and its plugins into $(VENV) (about half a minute the first time)"
	@$(RUN) pip --version >/dev/null 2>&1 || $(RUN) ensurepip >/dev/null  # uv removes pip from environments it has synced
	@$(PIP) install -e './core[all]' $(foreach plugin,$(PLUGINS),-e ./$(dir $(plugin)))
	@touch $@

$(VENV)/.tools: $(VENV)/.trimtab
	@echo "installing the development tools into $(VENV) (about half a minute the first time)"
	@$(VENV)/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")' >$(VENV)/dev.txt
	@$(PIP) install -r $(VENV)/dev.txt
	@touch $@
