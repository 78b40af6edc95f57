# `make tour` shows what Cupric does, `make test` checks it. Everything lands in .venv, target, dist.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The first Python that is new enough.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
ARCH ?= sm_90
# Tests need reproducible speed more than two libraries' worth of threads.
TEST_ENV := OPENBLAS_NUM_THREADS=1
IN_VENV := VIRTUAL_ENV="$(CURDIR)/.venv" PATH="$(CURDIR)/.venv/bin:$$PATH"

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name '*.cuh' -o -name 'Cargo.toml' 2>/dev/null)
PYTHON_SOURCES := $(shell find python -name '*.py' -o -name '*.pyi' 2>/dev/null)
CODEGEN_SOURCES := $(filter crates/cupric-math/% crates/cupric-core/% crates/cupric-ir/% crates/cupric-codegen/% \
	crates/cupric-runtime/% crates/cupric-gpu/%,$(RUST_SOURCES))
PACK := python/cupric/pack/$(ARCH).pack

.PHONY: help
help:
	@echo 'make tour                see what works, on whatever device there is'
	@echo 'make test                build, then the Rust and Python tests and the style checks'
	@echo 'make test-full           the same tests over every dtype'
	@echo 'make wheel               a release wheel in dist/'
	@echo 'make pack ARCH=$(ARCH)   compile the built-in GPU kernels for an architecture'
	@echo 'make gpu-check           test the wheel in dist/ on this machine'"'"'s GPU'
	@echo 'make clean               remove what make made'

# --- setting up and building

.venv/.tools: tests/requirements.txt
	@test -n "$(PYTHON)" || { echo 'Cupric needs Python 3.11 or newer'; exit 1; }
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	touch $@

# Python files are used where they are: only the Rust library is rebuilt.
.venv/.built: .venv/.tools pyproject.toml Cargo.toml Cargo.lock $(RUST_SOURCES)
	$(IN_VENV) maturin develop --quiet
	touch $@

.PHONY: build
build: .venv/.built

# --- what a reader runs

.PHONY: tour
tour: .venv/.built
	.venv/bin/python examples/tour.py

.PHONY: test
test: rust-test python-test style

.PHONY: test-full
test-full: rust-test .venv/.built
	$(TEST_ENV) .venv/bin/python -m pytest tests --full --programs 2000

.PHONY: rust-test
rust-test: .venv/.built
	$(IN_VENV) cargo test --workspace --quiet

.PHONY: python-test
python-test: .venv/.built
	$(TEST_ENV) .venv/bin/python -m pytest tests

.PHONY: style
style: .venv/.tools
	cargo fmt --all --check
	$(IN_VENV) cargo clippy --workspace --all-targets --quiet -- -D warnings
	.venv/bin/ruff check --quiet python tests examples benches
	.venv/bin/ruff format --quiet --check python tests examples benches

# --- kernels compiled ahead

# The oldest compiler that knows sm_90: what it makes loads with every driver of CUDA 12 and 13.
.pack/.tools:
	$(PYTHON) -m venv .pack/venv
	.pack/venv/bin/python -m pip install --quiet --disable-pip-version-check nvidia-cuda-nvrtc-cu12==12.0.76
	touch $@

$(PACK): .pack/.tools $(CODEGEN_SOURCES) Cargo.toml Cargo.lock
	mkdir -p $(@D)
	CUPRIC_NVRTC="$$(echo .pack/venv/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib)" \
		cargo run --quiet -p cupric-gpu --example pack -- --arch $(ARCH) --out $@
	touch $@

.PHONY: pack
pack: $(PACK)

# --- wheels

.PHONY: wheel
wheel: .venv/.tools
	rm -f dist/cupric-*.whl
	$(IN_VENV) maturin build --release --out dist

# A machine with a GPU needs the wheel, this file, tests/ and benches/; neither Rust nor a network.
.PHONY: gpu-check
gpu-check:
	bash tests/gpu_check.sh "$(PYTHON)"

.PHONY: clean
clean:
	rm -rf .venv .pack .gpu-check dist target .pytest_cache .ruff_cache .hypothesis
	find python tests examples -name __pycache__ -type d -exec rm -rf {} +
	find python -name '*.so' -delete
