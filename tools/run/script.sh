# shellcheck shell=bash
# Sourced by ./run: some scripts of the tests, or those of a room of src, by a server that is kept for the next call.
# work, logs, pg_config, server, server_user: set in common.sh, packages.sh and
# server.sh; prints_at_once: read in steps.sh
# shellcheck disable=SC2154,SC2034

: "${root:?}"

# scripts_named NAME: the scripts of test/t and test/cli with that part in their names; one that is named whole alone
scripts_named() {
  local folder=$root/test
  if [ -f "$folder/t/$1" ]; then
    printf '%s\n' "$folder/t/$1"
    return
  fi
  find "$folder/t" -maxdepth 1 -name '[0-9]*' -name "*$1*" | sort
  find "$folder/cli" -maxdepth 1 -name '*_test.py' -name "*$1*" | sort
}

# Copies what was built into the server's folder. Sessions that begin later have it: the files are exchanged, not
# written over.
install_into_kept() {
  local installed=$server/installed
  if [ "$root/neardup.so" -nt "$installed" ] ||
    [ -n "$(find "$root"/sql -maxdepth 2 -name '*.sql' -newer "$installed" -print -quit)" ]; then
    run_logged install make -C "$root" -s install DESTDIR="$server/root" PG_CONFIG="$pg_config"
    touch "$installed"
  fi
}

kept_server() {
  prepare_server "$work/kept"
  if [ ! -e "$server/installed" ]; then
    create_server "$work/kept"
    touch "$server/installed"
  else
    install_into_kept
  fi
  start_server
  export NEARDUP_DESTDIR=$server/root NEARDUP_OS_USER=$server_user PG_CONFIG=$pg_config
}

# begin_kept_run: builds, and starts the kept server
begin_kept_run() {
  lock 9 "$work/kept.lock" -n || die "another ./run test --script or --room is at work in this checkout"
  lock_build
  run_logged build make -C "$root" -s -j"$(processors)" PG_CONFIG="$pg_config" all
  unlock_build
  kept_server
  prints_at_once=1
  counts=$work/counts-script
  : >"$counts"
}

# script_of_any_kind SCRIPT: of test/t or test/cli
script_of_any_kind() {
  case $1 in
    */cli/*) loader_script "$1" "$root/bin/neardup" ;;
    *) one_script "$1" ;;
  esac
}

# run_scripts_named NAME [SECTION]: what the scripts print, as they print it; the last line as of all tests
run_scripts_named() {
  local scripts script began
  began=$(date +%s.%N)
  mapfile -t scripts < <(scripts_named "$1")
  [ ${#scripts[@]} -gt 0 ] || die "no script of test/t or test/cli has $1 in its name"
  begin_kept_run
  export NEARDUP_SECTION=${2:-}
  for script in "${scripts[@]}"; do script_of_any_kind "$script"; done
  end_tests "$began"
}

# suites_of FILE...: of unit tests, as a filter of GoogleTest
suites_of() {
  sed -nE 's/^TEST(_F|_P)?\(([A-Za-z0-9_]+),.*/\2.*:*\/\2.*/p' "$@" | sort -u | paste -sd:
}

# run_room ROOM: the tests that the README of the room names
run_room() {
  local began tests kind name units=() regress=() isolation=() scripts=()
  began=$(date +%s.%N)
  tests=$(python3 "$root/tools/room_tests.py" "$1") || exit
  while read -r kind name; do
    case $kind in
      unit) units+=("$root/test/unit/$name.cpp") ;;
      regress) regress+=("$name") ;;
      isolation) isolation+=("$name") ;;
      script) scripts+=("$root/test/t/$name"_*) ;;
      loader) scripts+=("$root/test/cli/${name}_test.py") ;;
    esac
  done <<<"$tests"
  begin_kept_run
  if [ ${#units[@]} -gt 0 ]; then
    run_logged unit-build unit_build
    gtest_shard "$root/build/unit_test" 1 0 "GTEST_FILTER=$(suites_of "${units[@]}")"
  fi
  if [ ${#regress[@]} -gt 0 ]; then (counted step_regress "${regress[@]}") || true; fi
  if [ ${#isolation[@]} -gt 0 ]; then (counted step_isolation "${isolation[@]}") || true; fi
  for name in "${scripts[@]}"; do script_of_any_kind "$name"; done
  end_tests "$began"
}
