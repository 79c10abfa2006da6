# shellcheck shell=bash
# Sourced by ./run: the benchmarks.
# shellcheck disable=SC2154  # work, logs: set in common.sh

: "${root:?}"

# Peers that the benchmarks are run beside, where PyPI can be reached; without one its benchmark says so.
bench_python() {
  local venv=$work/bench
  if [ ! -x "$venv/bin/python3" ]; then python3 -m venv --system-site-packages "$venv"; fi
  pip_install "$venv" datasketch rapidfuzz edlib py-tlsh rensa gaoya FastSketchLSH 'psycopg[binary]>=3.1,<4' pyarrow \
    xxhash || true
  pip_install "$venv" --force-reinstall --no-deps "$root/clients/python" || true
  pip_install "$venv" --force-reinstall --no-deps --config-settings build-dir="$work/bench-neardup-core" \
    --config-settings cmake.define.NEARDUP_OBJECTS="$root" "$root/clients/python-core" || true
  PATH=$venv/bin:$PATH
}

# run_bench [--report [SECTION ...]]: with --report into bench/results.md
run_bench() {
  local program
  set_work
  need_packages bench
  build
  cmake -S "$root" -B "$root/build-bench" -DCMAKE_BUILD_TYPE=Release >"$logs/bench-build.log"
  cmake --build "$root/build-bench" -j "$(processors)" --target benchmarks >>"$logs/bench-build.log" ||
    die "the benchmarks do not build (the whole log: $logs/bench-build.log)"
  if [ "${1:-}" = --report ]; then
    shift
    scratch_server bench
    bench_python
    python3 "$root/bench/report.py" --build "$root/build-bench" "$@"
    return
  fi
  [ $# -eq 0 ] || die "bench takes no argument but --report: $1"
  find "$root/build-bench" -name CMakeFiles -prune -o -type f -perm -u+x -name '*_bench' -print | sort |
    while read -r program; do
      say "== $(basename "$program")"
      "$program"
    done
  scratch_server bench
  for program in "$root"/bench/*.sh; do
    [ -x "$program" ] || continue
    say "== $(basename "$program")"
    "$program"
  done
}
