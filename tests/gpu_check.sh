#!/usr/bin/env bash
# Tests the wheel in dist/ on this machine's GPU, in less than eight minutes. Needs Python with NumPy and what
# tests/requirements.txt names for tests; no Rust, no git, no network.
#
#   bash tests/gpu_check.sh [PYTHON [PART...]]    parts: tests packed programs memcheck tour benchmark; all by default
#
# Prints a line a part. What each part printed lies in .gpu-check/logs.
set -uo pipefail
cd "$(dirname "$0")/.."
python=$(command -v "${1:-python3}") || { echo "there is no ${1:-python3}"; exit 1; }
shift || true
parts=${*:-tests packed programs memcheck tour benchmark}
programs=${PROGRAMS:-2000}

here=.gpu-check
logs=$PWD/$here/logs
cores=$(nproc)
export python logs

wheels=(dist/cupric-*.whl)
[[ -f ${wheels[0]} ]] || { echo 'no wheel in dist/: run make wheel first'; exit 1; }
wheel=$(ls -t "${wheels[@]}" | head -n 1)
echo "== $wheel"
rm -rf "$here"
mkdir -p "$logs"
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$here/site" "$wheel" || exit 1
export PYTHONPATH=$PWD/$here/site CUPRIC_DEVICE=cuda OPENBLAS_NUM_THREADS=1 CUPRIC_CACHE_DIR=$PWD/$here/cache

# Said first: a run in which every test is skipped must not pass.
"$python" -c 'import cupric as cp; assert cp.cuda.is_available(), "no GPU"; print("a sum on the GPU:", float(cp.ones(10).sum()))' || exit 1

# Runs one file of tests: its folder for the log comes first.
one_file() {
  local log
  log=$1/$(basename "$2" .py).log
  timeout 240 "$python" -m pytest -q -p no:cacheprovider "$2" --device cuda >"$log" 2>&1
  local code=$?
  # 5: no test was chosen.
  [[ $code == 0 || $code == 5 ]] || { echo "$2 ended with $code"; grep -E '^(FAILED|ERROR)' "$log"; }
  return 0
}
export -f one_file

# Counts what pytest's last lines say.
counted() {
  grep -hoE '[0-9]+ (passed|failed|errors?|skipped)' "$1"/*.log |
    awk '{ sum[$2] += $1 } END { for (word in sum) printf "%s%d %s", (n++ ? ", " : ""), sum[word], word; print "" }'
}

# Every file of tests in a process of its own, the largest first; what measures time comes last, alone.
all_files() {
  local folder=$logs/$1
  mkdir -p "$folder"
  ls -S tests/test_*.py | grep -v -e test_import -e test_large | xargs -P "$cores" -I{} bash -c 'one_file "$@"' _ "$folder" {}
  for file in tests/test_large.py tests/test_import.py; do
    [[ ! -f $file ]] || one_file "$folder" "$file"
  done
  counted "$folder"
}

tests() { all_files tests; }

# The same with the built-in kernels alone: nothing is compiled but kernels that the tests write themselves.
packed() { CUPRIC_TIER=1 CUPRIC_CACHE_DIR=$PWD/$here/empty all_files packed; }

# The same programs on both devices give the same bits.
programs() {
  local folder=$logs/programs chunk=$(((programs + 7) / 8)) device first
  mkdir -p "$folder"
  for device in cuda cpu; do
    for ((first = 0; first < programs; first += chunk)); do
      echo "$device $first"
    done
  done | CUPRIC_NUM_THREADS=2 xargs -P "$cores" -L 1 bash -c '
    CUPRIC_DEVICE=$1 timeout 240 "$python" tests/programs.py --first "$2" --count "$0" --digests "$logs/programs/$1-$2" || echo "programs from $2 on $1 failed"' "$chunk"
  for device in cuda cpu; do
    for ((first = 0; first < programs; first += chunk)); do
      cat "$folder/$device-$first"
    done >"$folder/$device"
  done
  echo "$(wc -l <"$folder/cuda") programs, $(diff "$folder/cuda" "$folder/cpu" | grep -c '^<') differ"
  cmp "$folder/cuda" "$folder/cpu" && (($(wc -l <"$folder/cuda") >= programs))
}

memcheck() {
  local sanitizer
  sanitizer=$(command -v compute-sanitizer || ls "${CUDA_PATH:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null) ||
    { echo 'compute-sanitizer is not installed: memory accesses were not checked'; return 1; }
  timeout 200 "$sanitizer" --tool memcheck --error-exitcode 9 "$python" tests/sanitized_run.py
}

tour() { timeout 120 "$python" examples/tour.py; }

benchmark() { timeout 150 "$python" benches/rows.py; }

failed=0
for part in $parts; do
  declare -F "$part" >/dev/null || { echo "there is no part $part"; exit 2; }
  start=$SECONDS
  "$part" >"$logs/$part.log" 2>&1
  code=$?
  ! grep -qE ' ended with | failed$' "$logs/$part.log" || code=1
  last=$(tail -n 1 "$logs/$part.log")
  if [[ $code == 0 ]]; then
    echo "$part: passed in $((SECONDS - start)) s: $last"
  else
    failed=1
    echo "$part: FAILED in $((SECONDS - start)) s: $last"
    tail -n 40 "$logs/$part.log" | sed 's/^/    /'
  fi
done
[[ $parts != *benchmark* ]] || cat "$logs/benchmark.log"
exit $failed
