# shellcheck shell=bash
# Sourced by ./run: the steps of the test suite, and its forms.
# work, logs, pg_config: set in common.sh and packages.sh; only_step: read in steps.sh
# shellcheck disable=SC2154,SC2034

: "${root:?}"

step_build() {
  lock_build
  make -C "$root" -j"$(processors)" PG_CONFIG="$pg_config" all 8>&-
  unlock_build
  count passed
}

# Digests and scores beside those of ssdeep's own library.
step_oracle() {
  if ! echo '#include <fuzzy.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
    say "skip - digests against ssdeep's: no fuzzy.h (libfuzzy-dev)"
    count skipped
    return
  fi
  g++ -std=c++20 -O2 -I"$root/src" -I"$root" "$root"/test/oracle/ctph_oracle.cpp "$root"/src/core/*/*.cpp \
    "$root"/src/core/*/*/*.cpp -pthread -lfuzzy -o "$work/ctph_oracle"
  script_test env "$work/ctph_oracle" 200000 1000000
}

# Distances of TLSH digests beside those of its reference implementation.
step_tlsh_oracle() {
  if from_pypi tlsh py-tlsh; then
    script_test "$work/lint/bin/python3" "$root/test/oracle/tlsh_oracle.py" 200000
  else
    say "skip - TLSH distances: no py-tlsh, which comes from PyPI"
    count skipped
  fi
}

# installcheck FOLDER VARIABLE...: pg_regress or pg_isolation_regress, with variables of make; its output in .run/FOLDER
installcheck() {
  local folder=$work/$1 status=0
  rm -rf "$folder"
  mkdir -p "$folder/results"
  make -C "$root" installcheck PG_CONFIG="$pg_config" EXTRA_REGRESS_OPTS="--outputdir='$folder'" "${@:2}" \
    >"$folder/log" 2>&1 || status=$?
  count_regress "$folder"
  return $status
}

# step_regress [TOPIC...]: all topics unless given
step_regress() { installcheck regress ISOLATION= ${1:+"REGRESS=$*"}; }

# step_isolation [SPEC...]: several sessions in a given order; all of test/isolation/specs unless given
step_isolation() {
  local program
  program=$(dirname "$("$pg_config" --pgxs)")/../test/isolation/pg_isolation_regress
  if [ ! -x "$program" ]; then
    say "skip - isolation tests: this PostgreSQL comes without pg_isolation_regress"
    count skipped
    return
  fi
  installcheck isolation REGRESS= ${1:+"ISOLATION=$*"}
}

# count_regress FOLDER: of pg_regress or pg_isolation_regress
count_regress() {
  cat "$1/log"
  if [ -s "$1/regression.diffs" ]; then head -n 200 "$1/regression.diffs"; fi
  # PostgreSQL 15 and older print "test name ... ok", newer versions print TAP.
  count passed "$(grep -cE '^(test +)?.* \.\.\. ok +[0-9]+ ms|^ok [0-9]' "$1/log" || true)"
  count failed "$(grep -cE ' \.\.\. FAILED|^not ok [0-9]' "$1/log" || true)"
}

# find_script_python: the Python of the scripts, in NEARDUP_PYTHON: the system's, over which an environment has psycopg
# in C where PyPI gives it. It reads rows several times as fast as psycopg in Python, which goes otherwise.
find_script_python() {
  local venv=$work/scripts
  export NEARDUP_PYTHON=/usr/bin/python3
  [ -x "$venv/bin/pip" ] || "$NEARDUP_PYTHON" -m venv --system-site-packages "$venv" >/dev/null 2>&1 || return 0
  "$venv/bin/python3" -c 'import psycopg, psycopg_binary' 2>/dev/null ||
    pip_install "$venv" 'psycopg[binary]' >/dev/null 2>&1 || return 0
  NEARDUP_PYTHON=$venv/bin/python3
}

# one_script SCRIPT: in a database of its own, named in PGDATABASE; the extension is not created in it.
one_script() {
  local database began
  began=$(date +%s)
  database=script_$(basename "${1%.*}" | tr -c 'a-z0-9\n' _)
  PGDATABASE=postgres psql -X -q -c "DROP DATABASE IF EXISTS $database" -c "CREATE DATABASE $database"
  case $1 in
    *.py) PGDATABASE=$database script_test "${client_python:-$NEARDUP_PYTHON}" "$1" ;;
    *) PGDATABASE=$database script_test bash "$1" ;;
  esac
  printf '%s took %d s\n' "$(basename "$1")" $(($(date +%s) - began))
}

# script_tasks SCRIPT...
script_tasks() {
  local script
  for script in "$@"; do task "$(basename "$script")" one_script "$script"; done
}

short_script_tasks() { script_tasks "$root"/test/t/[0-9]*; }

# Those of damage, crashes, replicas, concurrency and constraints, in a longer form, and two of many sections. All
# sections come in an order of chance, which each script prints and NEARDUP_SHUFFLE repeats.
long_script_tasks() {
  local number script
  for number in 130 140 141 144 150 160 180 129 400; do
    script=$(echo "$root/test/t/$number"_*)
    task "$(basename "$script")" long_script "$script"
  done
}
long_script() { NEARDUP_LONG=1 NEARDUP_SHUFFLE=${NEARDUP_SHUFFLE:-$RANDOM} one_script "$1"; }

# loader_script SCRIPT PROGRAM: in a database of its own, as it may run beside others
loader_script() {
  local database
  database=$(basename "$1" .py)_$(printf %s "$2" | cksum | cut -d' ' -f1)
  psql -X -q -d postgres -c "DROP DATABASE IF EXISTS $database" -c "CREATE DATABASE $database"
  PGDATABASE=$database script_test "$NEARDUP_PYTHON" "$1" "$2"
}

# loader_tasks_of PROGRAM
loader_tasks_of() {
  local script
  for script in "$root"/test/cli/*_test.py; do task "$(basename "$script")" loader_script "$script" "$1"; done
}

loader_tasks() { loader_tasks_of "$root/bin/neardup"; }

# Random queries against a server of their own, for ten minutes.
step_sqlsmith() { script_test "$NEARDUP_PYTHON" "$root/test/sqlsmith/sqlsmith_test.py" \
  "${NEARDUP_SQLSMITH_SECONDS:-600}"; }

# The same tests are run with every memory access and every shift checked.
loader_sanitized_tasks() { loader_tasks_of "$root/build-asan/src/pg/neardup"; }

# The GPU module for every architecture, GPU or not: that it compiles.
step_gpu_module() {
  local nvcc
  nvcc=$(command -v "${NVCC:-nvcc}" || command -v /usr/local/cuda/bin/nvcc || true)
  if [ -z "$nvcc" ]; then
    say "skip - the GPU module: no nvcc"
    count skipped
    return
  fi
  env -u GPU_ARCHS make -C "$root" -j"$(processors)" -f src/gpu/gpu.mk CUDA=yes NVCC="$nvcc" neardup_gpu.so
  count passed
}

step_server() {
  create_server "$work/test-$$" "$(memory_folder "$scratch_megabytes")"
  start_server
  psql -X -c 'SELECT version()'
  count passed
}

# copy_sources FOLDER: the tree without what make has built, which would not be made again for another version of
# PostgreSQL; the folders of CMake know nothing of PostgreSQL.
copy_sources() {
  tar -C "$root" --exclude=./.run --exclude=./.git --exclude=./bin --exclude='./build*' --exclude='*.o' \
    --exclude='*.d' --exclude='*.gch' --exclude='*.so' --exclude='./sql/neardup--*.sql' --exclude=./src/.compiler \
    --exclude=./src/pg/.server --exclude=./src/text/.libraries --exclude=./src/cli/.libraries \
    --no-wildcards-match-slash -cf - . | tar -C "$1" -xf -
}

# test_version MAJOR OPTIONS...: what depends on PostgreSQL, in a copy of this tree that is built for that one, so that
# what is built here stays
test_version() {
  # The sources are all files that make has not made.
  local major=${1:-} copy sources=(-type f ! -name '*.o' ! -name '*.d' ! -name '*.gch' ! -name '.*')
  [ $# -eq 0 ] || shift
  [[ $major =~ ^[0-9]+$ ]] || die "--pg takes a major version of PostgreSQL, such as 17: ${major:-nothing}"
  set_work
  copy=$work/pg-$major
  mkdir -p "$copy/src"
  # Held to the end, by the ./run of the copy; the server does not get it.
  lock 7 "$copy.lock" -n || die "another ./run test --pg $major is at work in this checkout"
  # .copied: the time of the last copy that was compiled to its end
  if [ -e "$copy.copying" ] && [ "$copy/neardup.so" -nt "$copy.copying" ]; then mv "$copy.copying" "$copy.copied"; fi
  [ -e "$copy.copied" ] || touch -d @0 "$copy.copied"
  # Files that are gone here must not stay there; objects are made again when their source is newer, or when the notes
  # of make beside them (.server, .libraries) are no longer true.
  find "$copy" -mindepth 1 -maxdepth 1 ! -name src ! -name .run ! -name 'build*' -exec rm -rf {} +
  find "$copy/src" "${sources[@]}" -delete
  touch "$copy.copying"
  copy_sources "$copy"
  # A source that was changed here while a copy compiled is older than its object there, which does not know the change.
  find "$copy/src" "$copy/neardup.control" "${sources[@]}" -newer "$copy.copied" -exec touch {} +
  if [ -z "${NEARDUP_DATA:-}" ] && [ -d "$root/../shared/data" ]; then
    NEARDUP_DATA=$(cd "$root/../shared/data" && pwd)
    export NEARDUP_DATA
  fi
  if [ -n "${PG_CONFIG:-}" ] && [[ ! $("$PG_CONFIG" --version) =~ ^PostgreSQL\ $major([^0-9]|$) ]]; then
    die "--pg $major, but PG_CONFIG=$PG_CONFIG is of $("$PG_CONFIG" --version)"
  fi
  NEARDUP_PG_MAJOR=$major exec "$copy/run" test "$@"
}

# The steps of a form of the tests: CONTRIBUTING.md has the table. In a pool all steps but those that have the
# processors alone run side by side.
short_steps() {
  if [ -z "${NEARDUP_PG_MAJOR:-}" ]; then  # the core knows no PostgreSQL
    pooled "unit tests" unit_tasks
    pooled_whole "lint of SQL" step_lint
    pooled_whole "places of the planted mistakes" step_anchors
    pooled_whole "queue of the tests" step_pool
    pooled_whole "test vectors" step_golden
    pooled_whole "Unicode tables" step_unicode_tables
  fi
  need_server
  if server_runs; then
    pooled_whole "regression tests (pg_regress)" step_regress
    pooled_whole "isolation tests" step_isolation
    pooled "scripts" short_script_tasks
    pooled "loader" loader_tasks
    if [ -z "${NEARDUP_PG_MAJOR:-}" ]; then pooled_whole "neardup-core, for Python" step_python_core; fi
    pooled "clients" client_tasks
  fi
  run_pool
}

ci_steps() {
  step "GPU module" step_gpu_module
  lint_steps
  pooled "unit tests with ASan and UBSan" sanitizer_tasks
  pooled_whole "neardup-core: types, source distribution" step_python_core_source
  need_server
  if server_runs; then
    pooled_whole "server with assertions" step_asserts
    pooled_whole "PostgreSQL's interfaces alone" step_interfaces
    pooled "scripts, longer forms" long_script_tasks
  fi
  run_pool
  if server_runs; then
    pooled "loader with ASan and UBSan" loader_sanitized_tasks
    run_pool
  fi
  step "ten planted mistakes" step_mutations
}

full_steps() {
  short_steps
  if [ -n "${NEARDUP_PG_MAJOR:-}" ]; then return; fi
  ci_steps
  step "sources without precompiled headers" step_syntax
  step "all targets by g++, without a warning" step_gcc
  step "all targets by clang++, without a warning" step_clang
  pooled "unit tests with TSan" races_tasks
  run_pool
  step "fuzz targets" step_fuzz
  step "digests beside ssdeep's" step_oracle
  if server_runs; then
    step "TLSH distances beside py-tlsh's" step_tlsh_oracle
    step "random queries (sqlsmith)" step_sqlsmith
    step "server with ASan and UBSan" step_sanitized_server
    pooled "large clients, oldest versions of the others" old_client_tasks
    run_pool
    pooled "newest versions of the clients" new_client_tasks
    run_pool
  fi
  step "arm64, under QEMU" step_arm64
  step "fresh systems" step_fresh
  step "packages" step_packages
  step "releases, versions of PostgreSQL" step_upgrades
}

scratch_megabytes=4000  # of the databases of all scripts at a time, with room to spare

# need_server: the first call starts the private server. server_runs tells whether it has. Not to be called in a
# condition, where bash would ignore errors.
need_server() {
  if [ "$server_wanted" = 1 ]; then
    server_wanted=0
    remove_leftovers test
    at_exit remove_scratch_server
    prepare_server "$work/test-$$"
    # These variables are for tests that start servers of their own.
    export NEARDUP_DESTDIR=$work/test-$$/root NEARDUP_OS_USER=$server_user PG_CONFIG=$pg_config
    NEARDUP_SCRATCH=$(memory_folder "$scratch_megabytes")
    export NEARDUP_SCRATCH
    step "private server" step_server
  fi
}

run_tests() {
  local began option form=short
  began=$(date +%s.%N)
  export NEARDUP_FULL=0 NEARDUP_LONG=0
  fresh_suites="" upgrades_only=0 only_script="" only_section="" only_room=""
  server_wanted=1
  while [ $# -gt 0 ]; do
    option=$1
    shift
    case $option in
      --ci) form=ci ;;
      --full) form=full NEARDUP_FULL=1 NEARDUP_LONG=1 ;;
      --step)
        [ $# -gt 0 ] || die "--step takes a part of the name of a step"
        only_step=$1
        shift
        ;;
      --script)
        [ $# -gt 0 ] || die "--script takes a part of the name of a script of test/t or test/cli"
        only_script=$1
        shift
        ;;
      --section)
        [ $# -gt 0 ] || die "--section takes a part of the name of a section of a script"
        only_section=$1
        shift
        ;;
      --room)
        [ $# -gt 0 ] || die "--room takes a room of src, such as core/pairs"
        only_room=$1
        shift
        ;;
      --asserts)
        build_assert_server "${1:-}"
        [ $# -eq 0 ] || shift
        ;;
      --pg)
        if [ "$NEARDUP_FULL" = 1 ]; then set -- "$@" --full; fi
        test_version "$@"
        ;;
      --upgrades) upgrades_only=1 ;;
      --fresh)
        fresh_suites=${*:-bookworm trixie}
        shift $#
        ;;
      *) die "unknown option of test: $option" ;;
    esac
  done
  set_work
  need_packages test
  find_script_python
  if [ -z "${NEARDUP_DATA:-}" ] && [ -d "$root/../shared/data" ]; then
    NEARDUP_DATA=$(cd "$root/../shared/data" && pwd)
  fi
  export NEARDUP_DATA=${NEARDUP_DATA:-} NEARDUP_ROOT=$root NEARDUP_BIN=$root/bin/neardup \
    NEARDUP_SERVER_USER=$server_user
  if [ -n "$only_script" ]; then
    run_scripts_named "$only_script" "$only_section"
    return
  fi
  if [ -n "$only_room" ]; then
    run_room "$only_room"
    return
  fi
  [ -z "$only_section" ] || die "--section goes with --script"
  lock 9 "$work/test.lock" -n || die "another ./run test is at work in this checkout"
  say "neardup tests, $("$pg_config" --version), logs in $logs"
  counts=$work/counts
  : >"$counts"
  begin_pool
  if [ -n "$fresh_suites" ]; then
    step "fresh systems: demos and tests" step_fresh_tests
  elif [ "$upgrades_only" = 1 ]; then
    step "releases, versions of PostgreSQL" step_upgrades
  else
    step "build of the extension and the program" step_build
    "${form}_steps"
  fi
  end_tests "$began"
}
