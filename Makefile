# Everything starts from a machine that has only Python 3.11+, pip, make and git.
PYTHON ?= python3
BIN := .venv/bin
# Without bytecode every worker of pytest compiles all tests again, which takes longer than to run a
# third of them.
unexport PYTHONDONTWRITEBYTECODE
# Python compiles what is imported; pip would compile every module of every package, one at a time.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# A worker gets neighbouring tests, so that what a module's tests share is made once.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: help demo setup setup-gpu quick test test-skipped lint docs docs-quick docs-serve bench bench-compare bench-peers clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

demo: .venv/.demo  ## install what the demo needs and run it
	$(BIN)/piforest demo

setup: .venv/.setup  ## install every extra

setup-gpu: .venv/.setup  ## PyTorch beside it, the CPU build where pip finds one
	$(PIP) torch==2.13.0

quick: .venv/.setup  ## run the tests that are not slow: an answer in a minute
	$(PYTEST) -q -m "not slow" --durations=5 tests

test: .venv/.setup  ## run all tests
	$(PYTEST)

test-skipped: .venv/.setup  ## run what the last `make test` skipped; without PIFOREST_DATA no data tests
	$(PYTEST) --no-skips $(if $(PIFOREST_DATA),,-m "not data") @.pytest_cache/d/skipped/tests.txt

lint: .venv/.setup  ## style, types, layers, docstrings, licences
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_docstrings.py
	$(BIN)/python tools/check_licences.py

SPHINX := $(BIN)/python -m sphinx -q -W --keep-going -b html -d build/docs/doctrees

docs: .venv/.setup  ## build the site, gallery included, without network; a warning is an error
	$(SPHINX) docs build/docs/html
	@echo 'The site is build/docs/html/index.html; `make docs-serve` shows it.'

docs-quick: .venv/.setup  ## the same without running the scripts of the gallery
	$(SPHINX) -D plot_gallery=0 docs build/docs/html

PORT ?= 8000
docs-serve:  ## show the site of `make docs` on http://localhost:8000 (PORT=...)
	@test -f build/docs/html/index.html || { echo 'there is no site yet: make docs'; exit 1; }
	$(BIN)/python -m http.server -b 127.0.0.1 -d build/docs/html $(PORT)

bench: .venv/.setup  ## CPU time and memory, as ratios to what one would pick instead
	$(BIN)/python benchmarks/run.py $(if $(ONLY),--only "$(ONLY)")

bench-compare: .venv/.setup  ## the same for this tree beside BASE=commit (or a JSON file); ONLY=word
	@test -n "$(BASE)" || { echo 'usage: make bench-compare BASE=commit-or-json [ONLY=word]'; exit 2; }
	$(BIN)/python benchmarks/compare.py "$(BASE)" $(if $(ONLY),--only "$(ONLY)")

bench-peers:  ## write docs/peers.md: other packages on the same data; needs PIFOREST_DATA, 2 GB of packages
	test -d .venv-peers || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e '.[vision,peers]'
	.venv-peers/bin/python benchmarks/peers $(if $(ONLY),--only "$(ONLY)")

clean:  ## remove the environments and all caches
	rm -rf .venv .venv-* build dist docs/auto_examples docs/api/generated docs/api/backreferences .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "piforest needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv .venv

.venv/.demo: pyproject.toml | .venv/bin/python
	$(PIP) -e '.[plots]'
	touch $@

.venv/.setup: pyproject.toml | .venv/bin/python
	$(PIP) -e '.[all,test,docs,dev]'
	touch $@ .venv/.demo

N ?= 2000
SEED ?= 0
.PHONY: fuzz
fuzz: .venv/.setup  ## N inputs that are nearly right, for every reader, model files and commands
	PYTHONPATH=tests $(BIN)/python -m fuzz --inputs $(N) --seed $(SEED)

MUTANTS ?= 60
.PHONY: mutants
mutants: .venv/.setup  ## MUTANTS faults in each part of the core (0: all; ONLY=part): do tests notice?
	PYTHONPATH=tools:src $(BIN)/python -m mutants --number $(MUTANTS) --seed $(SEED) $(if $(ONLY),--only $(ONLY))

.PHONY: load
load: .venv/.setup  ## what takes minutes or gigabytes: ten million rows, a thousand columns, a cold cache
	$(BIN)/python -m pytest -s tests/load/load_*.py

.PHONY: dist test-wheel test-oldest test-newest
dist: .venv/.setup  ## build the wheel and the source distribution, and check both
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

# Each of these has an environment of its own. Tests of the wheel run where `src` is not on the path.
test-wheel:  ## install the wheel of `make dist` alone, then with its extras, and run the quick tests
	rm -rf .venv-wheel && $(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd / && $(CURDIR)/.venv-wheel/bin/piforest demo --no-picture
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[all,test]"
	.venv-wheel/bin/python -m pytest -n auto -q -m "not slow" tests

# uv finds the lowest versions that suit one another, and in seconds; pip tries for half an hour.
UV := bin/uv pip install --quiet --python
test-oldest:  ## the quick tests with the lowest version of each package that pyproject.toml names
	rm -rf .venv-oldest && $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check uv
	# River needs a newer NumPy than piforest: its tests are skipped.
	echo 'river ; python_version < "3"' > .venv-oldest/overrides.txt
	.venv-oldest/$(UV) .venv-oldest --resolution lowest-direct --overrides .venv-oldest/overrides.txt -e '.[all,test]'
	.venv-oldest/bin/python -m pytest -n auto -q -m "not slow" tests

# Not of all: some pre-releases have another API, which packages of the tests do not know.
PRE_RELEASES := 'numpy>=2a0' 'scipy>=1a0' 'scikit-learn>=1a0' 'numba>=0a0' 'pandas>=2a0'
test-newest:  ## the quick tests with the newest versions, pre-releases of NumPy and the like included
	rm -rf .venv-newest && $(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-newest/$(UV) .venv-newest $(PRE_RELEASES) -e '.[all,test]'
	.venv-newest/bin/python -m pytest -n auto -q -m "not slow" tests
