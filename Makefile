# `make help` says what each target does; README.md and CONTRIBUTING.md have the same without make.
PYTHON ?= python3
VENV ?= .venv
LAB_ARGS ?=
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(BIN)/python
READY := $(VENV)/ready
PIP := $(PY) -m pip install -q --disable-pip-version-check
# Notebooks and tests run side by side, one a core; torch's own threads would stand in one another's way.
quick test test-rest test-slow test-hostile test-browser test-lab: export OMP_NUM_THREADS = 1
# A comma inside the arguments of a call would end one.
EXTRAS_OF_SITE := site,browser
# $(call step,what is done,command): says so, runs it, says how long it took
step = @echo "== $(1)"; t=$$(date +%s); $(2) && echo "== done in $$(( $$(date +%s) - t )) s"

.PHONY: help setup lab quick build new-lesson check test test-rest test-slow test-hostile lint grade answers pictures bench site slides sheet test-browser test-lab test-nbgrader clean
.DEFAULT_GOAL := setup

help: ## this list
	@sed -n 's/^\([a-z-]*\):.* ## /\1: /p' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## a virtual environment with all that the course needs, in .venv
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 15) else f"Python 3.11 to 3.14 is needed, {sys.executable} is {sys.version.split()[0]}; try: make PYTHON=python3.11")'
	@echo "== setting up $(VENV) in three steps: 1 to 5 minutes, about 300 MB to download, 1.6 GB on disk"
	$(call step,1 of 3: a virtual environment,$(PYTHON) -m venv $(VENV))
	$(call step,2 of 3: PyTorch; the largest part,$(PIP) $(shell grep '^torch==' constraints.txt))
	$(call step,3 of 3: JupyterLab and what the lessons use,$(PIP) -c constraints.txt -e '.[dev]')
	@$(PY) -m jupyter labextension disable @jupyterlab/apputils-extension:announcements 2>/dev/null # no pop-up about news
	@touch $(READY)
	@echo "== ready"

lab: setup ## set up, then open JupyterLab on the quick tour, in your own copy of the notebooks: my/
	@$(PY) -m course_utils.own_copy
	@echo "== opening JupyterLab on the quick tour; stop it with Ctrl-C"
	$(PY) -m jupyterlab --ServerApp.root_dir=. --LabApp.workspaces_dir=my/.workspaces --LabApp.default_url=/lab/tree/my/notebooks/quick_tour.ipynb $(LAB_ARGS)

build: setup ## notebooks, solutions and exercises from the sources
	$(PY) -m course_authoring build

new-lesson: setup ## a lesson to start from: NAME=13_state_spaces TITLE="State spaces"
	$(PY) -m course_authoring new $(or $(NAME),$(error say which lesson: make new-lesson NAME=13_state_spaces TITLE="State spaces")) $(if $(TITLE),"$(TITLE)")

check: setup ## is every built notebook what its source says?
	$(call step,every built notebook is what its source says,$(PY) -m course_authoring check)

lint: setup ## ruff
	$(call step,ruff,$(PY) -m ruff check -q . && $(PY) -m ruff format -q --check course_utils course_checks course_grader course_authoring course_site experiments tests benchmarks)

# What `make test` also runs, in the part of it that a change breaks most often.
QUICK := $(filter-out tests/test_exercise_notebooks.py tests/test_colab_cell.py tests/test_packaging.py,$(wildcard tests/test_*.py)) \
	$(addprefix tests/,layers models decoding training datasets checks/running checks/deciding checks/test_engine.py)

quick: lint check ## a first answer: lint, check, most tests of the library, those of the checks' engine, one lesson
	$(call step,the library and the checks' engine,$(PY) -m pytest -q -n auto --dist worksteal -m "not slow" $(QUICK))
	$(call step,lesson 05 runs and prints what it printed before (nbval),$(PY) -m pytest -q --nbval --nbval-current-env notebooks/05_masking.ipynb)

# The lessons that train come first, so that no core waits for the other at the end.
LONGEST_FIRST := $(wildcard notebooks/1*.ipynb solutions/1*.ipynb) $(wildcard notebooks/0*.ipynb solutions/0*.ipynb) solutions/quick_tour.ipynb

test: lint check ## every lesson and solution, then the tests of `tests`; skips, and names, what needs more than this machine has
	$(call step,every lesson and solution runs and prints what it printed before (nbval),$(PY) -m pytest -q -n auto --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env $(LONGEST_FIRST))
	$(call step,unit tests; checks against known mistakes; exercise notebooks unsolved and solved,$(PY) -m pytest -q -n auto --dist worksteal -m "not slow" tests)

test-rest: setup ## what `make test` skipped on a machine that has only the set-up
	$(call step,what needs more than the set-up installs,$(PY) -m pytest -q -n auto --dist worksteal -m "needs and not slow" tests)

# Without the exception that pyproject.toml makes of tests/hostile.
test-slow: setup ## what `make test` and `make test-hostile` leave out, marked `slow` (pyproject.toml says when)
	$(call step,what takes long; half an hour,$(PY) -m pytest -q -n auto --dist worksteal -m slow -o "norecursedirs=.* nbgrader browser" tests)

grade: setup ## grade a class: SUBMISSIONS=folder GRADES=folder LESSON=05 (Linux with bubblewrap)
	$(PY) -m course_grader $(or $(SUBMISSIONS),submissions) --output $(or $(GRADES),grades) $(if $(LESSON),--lesson $(LESSON)) $(GRADE_ARGS)

test-hostile: setup ## submissions that attack the grader
	$(call step,hostile submissions; the course's own functions borrowed and observations forged in three lessons; ready-mades of PyTorch,$(PY) -m pytest -q -n 2 --dist worksteal -m "not slow" tests/hostile --ignore tests/hostile/test_class.py)
	$(call step,a class is graded; is interrupted; is graded by an ordinary user,$(PY) -m pytest -q -m "not slow" tests/hostile/test_class.py)

answers: setup ## what the checks say of the recorded answers: ANSWERS_ARGS="4.2"; all messages in build/answers.md
	$(PY) tests/checks/recorded_answers.py $(ANSWERS_ARGS)

pictures: setup ## every diagram at three sizes, in build/pictures/index.html
	PYTHONPATH=.:tests/diagrams $(PY) tests/diagrams/gallery.py build/pictures

bench: setup ## how long a student waits, and the library against PyTorch's own
	$(PY) -m benchmarks.course
	$(PY) -m benchmarks.attention
	$(PY) -m benchmarks.llama
	$(PY) -m benchmarks.transformer
	$(PY) -m benchmarks.copy_task
	$(PY) -m benchmarks.decoding
	$(PY) -m benchmarks.pronunciation
	$(PY) -m benchmarks.generation

# what the web site needs beyond the set-up: Sphinx and MathJax
SITE_READY := $(VENV)/site-ready
$(SITE_READY): $(READY)
	$(call step,Sphinx and MathJax into $(VENV); about 40 MB to download,$(PIP) -c constraints.txt -e '.[$(EXTRAS_OF_SITE)]')
	@touch $(SITE_READY)

site: $(SITE_READY) ## the web site, in build/site
	$(call step,the web site: build/site/index.html,$(PY) -m course_site)

slides: $(SITE_READY) ## six slides for each lesson, in build/slides
	$(PY) -m course_site.slides

sheet: $(SITE_READY) ## the cheat sheet, two pages as HTML and PDF, in build/sheet
	$(PY) -m course_site.sheet

test-browser: site ## every page of the site, and the tour and three lessons in JupyterLab, in a real browser
	$(call step,every page and the live models in a real browser; then the tour and three lessons with their widgets and exercises in JupyterLab; about 6 minutes,$(PY) -m pytest -q -n 2 --dist worksteal -m "not slow" tests/browser)

test-lab: $(SITE_READY) ## every lesson in JupyterLab, and every exercise answered wrong and then right
	$(call step,every lesson, its widgets and its exercises in JupyterLab and a real browser; about 12 minutes,$(PY) -m pytest -q -n 2 --dist worksteal tests/browser/test_lab.py)

test-nbgrader: setup ## a solution through the real nbgrader
	$(call step,a virtual environment of its own for nbgrader,test -e .venv-nbgrader/ready || ($(PYTHON) -m venv .venv-nbgrader && .venv-nbgrader/bin/python -m pip install -q --disable-pip-version-check nbgrader==0.9.6 && touch .venv-nbgrader/ready))
	$(call step,a solution through nbgrader: assign; autograde full; half and empty,$(PY) -m pytest -q tests/nbgrader)

clean: ## remove what was made here
	rm -rf $(VENV) .venv-nbgrader build attention_course.egg-info .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
