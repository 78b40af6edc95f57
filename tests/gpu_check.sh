#!/usr/bin/env bash
# Tests the wheel in dist/ on this machine's GPU. Needs Python with NumPy and pytest; no Rust, no git, no network.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
here=.gpu-check

wheels=(dist/cupric-*.whl)
[[ -f ${wheels[0]} ]] || { echo 'no wheel in dist/: run make wheel first'; exit 1; }
wheel=$(ls -t "${wheels[@]}" | head -n 1)
echo "== $wheel"
rm -rf "$here"
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$here" "$wheel"
export PYTHONPATH="$PWD/$here" CUPRIC_DEVICE=cuda

# Said first: a run in which every test is skipped must not pass.
"$python" -c 'import cupric as cp; assert cp.cuda.is_available(), "no GPU"; print(float(cp.ones(10).sum()))'

echo '== tests'
"$python" -m pytest -p no:cacheprovider tests --device cuda "${@:2}"

echo '== memcheck'
sanitizer=$(command -v compute-sanitizer || ls "${CUDA_PATH:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null || true)
if [[ -n $sanitizer ]]; then
  "$sanitizer" --tool memcheck --error-exitcode 9 "$python" tests/sanitized_run.py
else
  echo 'compute-sanitizer is not installed: memory accesses were not checked'
fi

echo '== benchmark'
"$python" benches/rows.py
