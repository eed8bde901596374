# The front door. It needs Python 3.11 or later and make; all else goes into .venv.

PYTHON ?= python3
VENV := .venv
CLIENTS := .clients
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check --quiet install
TEST = echo "The tests take about thirteen minutes on two cores." && $(RUN) -m pytest -n auto --maxprocesses 8

# Compiled modules are kept, also where the environment says otherwise, as images of containers do: the tests start
# hundreds of processes, and each would compile more than a thousand modules for itself.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo serve stop test check mutants soak bench kernels console console-test format clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.runtime ## start the service, load the packages of Debian 12 and show the main job, step by step
	@$(RUN) -m freshet demo

serve: $(VENV)/.runtime ## the service in the foreground; its settings are read from the environment
	@exec $(RUN) -m freshet serve

stop: ## end the service that `make demo` left running
	@test ! -x $(RUN) || $(RUN) -m freshet demo --stop

test: $(VENV)/.development ## all tests, in as many processes as there are cores
	@$(TEST)

check: $(VENV)/.development $(CLIENTS)/.installed ## format, lint, types, import rules, then all tests
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports
	@export FRESHET_CLIENTS=$${FRESHET_CLIENTS-required} FRESHET_PGCLI=$(CURDIR)/$(CLIENTS)/bin/pgcli \
		FRESHET_DBT_PYTHON=$(CURDIR)/$(CLIENTS)/bin/python FRESHET_NODE_MODULES=$(CURDIR)/$(CLIENTS)/node_modules; $(TEST)

mutants: $(VENV)/.development ## faults planted one at a time: each is caught by the tests
	$(RUN) -m tests.mutants

soak: $(VENV)/.development ## the long runs: many random histories, 50 rounds of kill -9, and Spark on clusters
	FRESHET_SHARE=$${FRESHET_SHARE:-1} FRESHET_CLUSTER=$${FRESHET_CLUSTER:-1} FRESHET_KILLS=$${FRESHET_KILLS:-50} FRESHET_CASES=$${FRESHET_CASES:-20000} \
		FRESHET_SPARK_CASES=$${FRESHET_SPARK_CASES:-20} FRESHET_SPARK_KILLS=$${FRESHET_SPARK_KILLS:-100} \
		FRESHET_SOURCE_KILLS=$${FRESHET_SOURCE_KILLS:-50} FRESHET_DATAFLOWS=$${FRESHET_DATAFLOWS:-100000} FRESHET_PERIODS=$${FRESHET_PERIODS:-1000} \
		FRESHET_SEQUENCES=$${FRESHET_SEQUENCES:-480} FRESHET_PROGRAMS=$${FRESHET_PROGRAMS:-200} \
		FRESHET_EXAMPLES=$${FRESHET_EXAMPLES:-20} FRESHET_CHURN=$${FRESHET_CHURN:-1000000} \
		FRESHET_HOSTILE=$${FRESHET_HOSTILE:-1} FRESHET_TRANSFERS=$${FRESHET_TRANSFERS:-1000000} \
		FRESHET_APPENDS=$${FRESHET_APPENDS:-20000} FRESHET_DAMAGES=$${FRESHET_DAMAGES:-1000} \
		FRESHET_FUZZ_SECONDS=$${FRESHET_FUZZ_SECONDS:-600} FRESHET_SUPERSTEPS=$${FRESHET_SUPERSTEPS:-20} \
		FRESHET_TPCH_ROUNDS=$${FRESHET_TPCH_ROUNDS:-30} FRESHET_POSTGRES_CASES=$${FRESHET_POSTGRES_CASES:-500} \
		FRESHET_TREES=$${FRESHET_TREES:-1000} FRESHET_TAKEOVERS=$${FRESHET_TAKEOVERS:-100} \
		FRESHET_FUZZ_CONNECTIONS=$${FRESHET_FUZZ_CONNECTIONS:-5000} FRESHET_RECURSIONS=$${FRESHET_RECURSIONS:-5000} \
		$(RUN) -m pytest

bench: $(VENV)/.development ## the benchmarks
	$(RUN) -m bench
	$(RUN) -m bench bulk
	$(RUN) -m bench postgres
	$(RUN) -m bench costs

kernels: $(VENV)/.development ## compile the kernels that the package brings, anew where their sources have changed
	$(RUN) -m engine.kernels.build --ship

console: $(VENV)/.runtime ## build the console anew into service/console; needs Node 20 or later
	cd console && npm ci --no-audit --no-fund && npm run build
	$(RUN) console/digest.py

console-test: $(VENV)/.development ## the console's types and unit tests, and all its tests in a browser
	cd console && npm ci --no-audit --no-fund && npm run check && npm test
	FRESHET_BROWSER=1 $(RUN) -m pytest tests/console

format: $(VENV)/.development ## put the code into its form
	$(RUN) -m ruff format .
	$(RUN) -m ruff check --fix .

clean: stop ## remove what the targets above made, but no data directory that you named
	rm -rf $(VENV) $(CLIENTS) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: a virtual environment with what runs the service, the same with what tests it. Each ends with
# what makes the first start quick: for tests, all kernels that the package does not bring for this machine, and
# all modules, which each process of the tests would compile for itself.

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Freshet needs Python 3.11 or later, and $(PYTHON) is not: $$($(PYTHON) --version 2>&1)." >&2; \
		echo "Name another one: make PYTHON=python3.11 ..." >&2; exit 1; }
	@echo "Setting up $(VENV); this takes a minute or two the first time." >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.runtime: pyproject.toml | $(RUN)
	@$(PIP) --editable .
	@touch $@

$(VENV)/.development: pyproject.toml | $(RUN)
	@$(PIP) --editable '.[dev]'
	@$(RUN) -m engine.kernels.build
	@$(RUN) -m compileall -q -j 0 bench engine examples freshet migrations planner service tests
	@touch $@ $(VENV)/.runtime

# What connects in tests, apart from the service: its packages would hold back the service's.
$(CLIENTS)/.installed: pyproject.toml | $(RUN)
	@$(PYTHON) -m venv $(CLIENTS)
	@$(CLIENTS)/bin/python -m pip --disable-pip-version-check --quiet install \
		'dbt-core>=1.10,<1.12' 'dbt-postgres>=1.9,<2' 'pgcli>=4,<5'
	@! command -v npm > /dev/null || \
		npm install --prefix $(CLIENTS) --no-audit --no-fund --silent pg@8 pg-cursor@2
	@touch $@
