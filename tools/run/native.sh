# shellcheck shell=bash
# Sourced by ./run: programs in C++ that need no server: unit tests, sanitizers, fuzz targets, other compilers.
# shellcheck disable=SC2154  # work, logs, pg_config: set in common.sh and packages.sh

: "${root:?}"

# gtest_binaries FOLDER: the test programs that CMake made there
gtest_binaries() {
  find "$1" -name CMakeFiles -prune -o -type f -perm -u+x \( -name '*_test' -o -name '*_tests' \) -print | sort
}

# gtest_shard PROGRAM SHARDS INDEX SETTING...: every SHARDS-th of its tests, with settings of the environment
gtest_shard() {
  local program=$1 output status=0 failed
  output=$(mktemp "$work/gtest-XXXXXX")
  (cd "$work" && exec env GTEST_TOTAL_SHARDS="$2" GTEST_SHARD_INDEX="$3" "${@:4}" \
    "$program" --gtest_color=no --gtest_brief=0) >"$output" 2>&1 || status=$?
  cat "$output"
  failed=$(grep -cE '^\[  FAILED  \] [^ ]+\.[^ ]+ \(' "$output" || true)
  # One that ends badly without naming a test has crashed.
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
  count passed "$(grep -cE '^\[       OK \]' "$output" || true)"
  count skipped "$(grep -cE '^\[  SKIPPED \] [^ ]+\.[^ ]+ \(' "$output" || true)"
  count failed "$failed"
  rm -f "$output"
}

# cmake_build FOLDER FLAGS TARGETS OPTIONS...: configures and builds; FLAGS for the compiler
cmake_build() {
  local folder=$1 flags=$2 targets=$3
  shift 3
  cmake -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$flags" "${launcher[@]}" "$@"
  # shellcheck disable=SC2086  # words
  cmake --build "$folder" -j "$(processors)" --target $targets
  count passed
}

# gtest_tasks FOLDER SHARDS SETTING...: a task for each shard of the test programs there
gtest_tasks() {
  local program i
  for program in $(gtest_binaries "$1"); do
    for ((i = 0; i < $2; ++i)); do
      task "$(basename "$program") $((i + 1)) of $2" gtest_shard "$program" "$2" "$i" "${@:3}"
    done
  done
}

# ccache for CMake, where it is found
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

# The sources of the core are not compiled again: the objects of make are linked.
unit_build() { cmake_build "$root/build" "-O1" unit_test -DNEARDUP_OBJECTS="$root"; }
unit_tasks() { task_before unit_shard_tasks build unit_build; }
unit_shard_tasks() { gtest_tasks "$root/build" 8; }

# AddressSanitizer finds what null, object-size and vptr check before each access where memory is touched; without them
# compiling takes a quarter less.
sanitizer_flags="-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=null,object-size,vptr"
sanitizer_flags+=" -fno-sanitize-recover=all"

# Everything again with every memory access and every shift checked: unit tests, corpora of the fuzz targets; the
# program, for the step "loader with ASan and UBSan".
sanitizer_tasks() {
  task_before sanitizer_shard_tasks build cmake_build "$root/build-asan" "$sanitizer_flags" \
    "unit_test fuzz_replay_test neardup" -DNEARDUP_EXTENSION=ON -DPG_CONFIG="$pg_config"
}
sanitizer_shard_tasks() {
  local filter=""
  # The kernels on the host and the longest test of clusters take half of the time: in the full form.
  if [ "$NEARDUP_FULL" != 1 ]; then
    filter='-GpuSearchOnHost.*:GpuWordsOnHost.*:GpuJoinTest.SamePairsAsTheEngineAlone'
    filter+=':Clusterer.BlocksAndThreadsChangeNothing'
  fi
  gtest_tasks "$root/build-asan" 8 ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 "GTEST_FILTER=$filter"
}

# compile_by COMPILER: all targets of CMake, the extension and the benchmarks among them, without a warning
compile_by() {
  local folder=$root/build-all-$1 flags="-O1 -Werror"
  if ! command -v "$1" >/dev/null; then
    say "skip - all targets by $1: it is not installed"
    count skipped
    return
  fi
  # PostgreSQL's START_CRIT_SECTION() changes a volatile variable by ++ and --: clang warns about that.
  if [[ $1 == clang* ]]; then flags+=" -Wno-deprecated-volatile"; fi
  # g++ 12 takes its own std::string for an overflow, as the Makefile says, too.
  if [[ $1 == g++* ]]; then flags+=" -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict"; fi
  cmake -S "$root" -B "$folder" -DCMAKE_CXX_COMPILER="$1" -DCMAKE_CXX_FLAGS="$flags" -DNEARDUP_EXTENSION=ON \
    -DPG_CONFIG="$pg_config" "${launcher[@]}"
  cmake --build "$folder" -j "$(processors)"
  count passed
}
step_gcc() { compile_by g++; }
step_clang() { compile_by clang++; }

# ./run compile [COMPILER ...]
run_compile() {
  local began compiler
  began=$(date +%s.%N)
  [ $# -gt 0 ] || set -- g++ clang++
  set_work
  need_packages compile
  counts=$work/counts-compile
  : >"$counts"
  say "neardup by $*, $("$pg_config" --version), logs in $logs"
  for compiler in "$@"; do
    case $compiler in
      g++) step "all targets by g++, without a warning" step_gcc ;;
      clang++) step "all targets by clang++, without a warning" step_clang ;;
      *) die "compile takes g++ or clang++: $compiler" ;;
    esac
  done
  end_tests "$began"
}

# This step has no precompiled headers: a source that lacks an include, or has core and PostgreSQL in the wrong order,
# fails here.
step_syntax() {
  make -C "$root" -j"$(processors)" PG_CONFIG="$pg_config" -k syntax
  count passed
}

# The code of several threads: pairs of the core, and the kernels of the GPU module on the host, where a barrier that is
# missing is seen as a race.
races_tasks() { task_before races_shard_tasks build cmake_build "$root/build-tsan" "-O1 -g1 -fsanitize=thread" \
  unit_test; }
races_shard_tasks() {
  local filter='UnionFind.*:Pairs.ThreadsChangeNothing:CtphPairs.AFamilyAhead*'
  filter+=':GpuSearchOnHost.RacesAreSeen:GpuSearchOnHost.EqualsDefinition*'
  filter+=':GpuWordsOnHost.TheBest*:GpuWordsOnHost.Bounds*:GpuWordsOnHost.Nearly*:GpuWordsOnHost.Dense*'
  filter+=':GpuWordsOnHost.Ties*'
  gtest_tasks "$root/build-tsan" 2 TSAN_OPTIONS=second_deadlock_stack=1 "GTEST_FILTER=$filter"
}

# shellcheck disable=SC2054  # -fsanitize takes a list
fuzz_flags=(-std=c++20 -Wno-unknown-warning-option -O1 -g1 "-I$root/src" "-I$root/test" "-I$root" \
  -fsanitize=address,undefined
  -fno-sanitize-recover=all)

# Objects of the core once, then one program a target; a minute each.
step_fuzz() {
  local folder=$work/fuzz target seconds=${NEARDUP_FUZZ_SECONDS:-60} archive
  if ! command -v clang++ >/dev/null; then
    say "skip - fuzz targets: no clang++"
    count skipped
    return
  fi
  if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -x c++ - -fsanitize=fuzzer,address -o "$work/fuzz-probe"; then
    say "skip - fuzz targets: clang++ without libFuzzer (libclang-rt-dev)"
    count skipped
    return
  fi
  rm -f "$work/fuzz-probe"
  mkdir -p "$folder"
  # shellcheck disable=SC2016  # $1 and $0 are of the inner shell
  find "$root/src/core" "$root/test/reference" -name '*.cpp' -print0 2>/dev/null |
    xargs -0 -P "$(processors)" -I{} sh -c '
    object=$0/$(printf %s "$1" | cksum | cut -d" " -f1).o
    source=$1
    shift
    exec clang++ "$@" -fsanitize=fuzzer-no-link -c "$source" -o "$object"' "$folder" {} "${fuzz_flags[@]}"
  archive=$folder/core.a
  rm -f "$archive"
  ar rcs "$archive" "$folder"/*.o
  rm -f "$folder"/*.o
  # As many at once as there are processors.
  trap 'kill $(jobs -p); exit 130' INT TERM  # what runs beside a script does not see Ctrl-C
  for target in "$root"/test/fuzz/*_fuzz.cpp; do
    while [ "$(jobs -rp | wc -l)" -ge "$(processors)" ]; do wait -n || true; done
    fuzz_target "$target" "$folder" "$archive" "$seconds" >"$folder/$(basename "$target" .cpp).log" 2>&1 &
  done
  wait
  trap - INT TERM
  cat "$folder"/*_fuzz.log
}

# fuzz_target SOURCE FOLDER ARCHIVE SECONDS: builds and runs it
fuzz_target() {
  local target=$1 folder=$2 archive=$3 seconds=$4 name corpora seeds
  name=$(basename "$target" .cpp)
  corpora=("$folder/corpus-$name")  # the first is written to
  mkdir -p "${corpora[0]}"
  for seeds in "$root/test/fuzz/corpus/${name%_fuzz}" "$root/test/fuzz/corpus/$name"; do
    if [ -d "$seeds" ]; then corpora+=("$seeds"); fi
  done
  say "== $name"
  if ! clang++ "${fuzz_flags[@]}" -fsanitize=fuzzer "$target" "$archive" -o "$folder/$name"; then
    say "not ok - $name does not compile"
    count failed
    return
  fi
  if (cd "$folder" && "./$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 "${corpora[@]}"); then
    say "ok - $name"
    count passed
  else
    say "not ok - $name; the input lies in $folder"
    count failed
  fi
}
