# shellcheck shell=bash
# Sourced by ./run: tests against a server that checks its own assertions, and of the extension that uses nothing inside
# PostgreSQL.
# work, logs, root, pg_config, server, server_bin: set and read in common.sh, packages.sh and server.sh
# shellcheck disable=SC2154,SC2034

: "${root:?}"

# Scripts that write pages in every way, with a standby and without.
assert_scripts=(141_lsh_crash_points 144_lsh_durability)
# Crashes at chosen points and at any.
interfaces_scripts=("${assert_scripts[@]}" 140_lsh_crash)

# build_assert_server MAJOR: with all that a server of the distribution has, once; PG_CONFIG names it then
build_assert_server() {
  [[ $1 =~ ^[0-9]+$ ]] || die "--asserts takes a major version of PostgreSQL, such as 17: ${1:-nothing}"
  set_work
  export PG_CONFIG=$work/asserts-$1/bin/pg_config
  if [ ! -x "$PG_CONFIG" ]; then
    say "building PostgreSQL $1 with assertions, about 20 minutes"
    "$root/tools/assert_server.sh" "$work/asserts-$1" "$1" >"$logs/asserts-$1.log" 2>&1 ||
      die "tools/assert_server.sh failed: see $logs/asserts-$1.log"
  fi
}

# assert_server_alone FOLDER MAJOR: without contrib, in 2 minutes, once. Status 3: it cannot be had here.
assert_server_alone() {
  if [ -x "$1/bin/pg_config" ]; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then return 3; fi
  NEARDUP_JOBS=$(processors) "$root/tools/assert_server.sh" "$1" "$2" alone
}

# extension_for PG_CONFIG FLAG...: built and installed for that server, in a copy of the tree, so that what is built
# here stays
extension_for() {
  local copy flags=("PG_CONFIG=$1" CUDA=no CORE_OPTIMIZATION=-O0 "${@:2}")
  copy=$(mktemp -d "$work/tree-XXXXXX")
  copy_sources "$copy"
  make -C "$copy" -s -j"$(processors)" "${flags[@]}" neardup.so
  make -C "$copy" -s "${flags[@]}" install
  rm -rf "$copy"
}

step_asserts() {
  local prefix=$work/asserts-alone status=0
  assert_server_alone "$prefix" "$("$pg_config" --version | grep -oE '[0-9]+' | head -n 1)" || status=$?
  if [ $status -eq 3 ]; then
    say "skip - the server with assertions: not root, no apt, or no sources of this PostgreSQL"
    count skipped
    return
  fi
  [ $status -eq 0 ] || return $status
  extension_for "$prefix/bin/pg_config"
  trap stop_server EXIT
  prepare_server "$work/test-asserts-$$"
  server_bin=$prefix/bin
  pg_config=$prefix/bin/pg_config create_cluster "$(memory_folder "$scratch_megabytes")"
  start_server
  [ "$(psql -XAtc 'SHOW debug_assertions')" = on ]
  export PG_CONFIG=$prefix/bin/pg_config NEARDUP_DESTDIR=""
  server_tests "${assert_scripts[@]}"
  stop_server
  remove_data
  rm -rf "$server"
}

# docs/internals.md: the extension by PostgreSQL's interfaces alone
step_interfaces() {
  trap stop_server EXIT
  create_server "$work/test-interfaces-$$"
  extension_for "$pg_config" PG_CXXFLAGS=-DNEARDUP_REACH=0 "DESTDIR=$server/root"
  start_server
  export NEARDUP_DESTDIR=$server/root PG_CONFIG=$pg_config
  server_tests "${interfaces_scripts[@]}"
  stop_server
  remove_data
  rm -rf "$server"
}
