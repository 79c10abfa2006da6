# shellcheck shell=bash
# Sourced by ./run: private PostgreSQL servers.
# shellcheck disable=SC2154  # work, logs, pg_config, me, server_user: set in common.sh and packages.sh
#
# A server lives in a folder: root/ (an overlay of the installed PostgreSQL with our extension in it, so that nothing is
# installed for the system), data/, socket/ (mode 0700: who cannot enter it cannot connect), server.log.
# PostgreSQL finds its own files relative to its program, which makes the overlay work without settings.

: "${root:?}"
starting=0

# link_tree FROM TO: TO gets a symbolic link to each entry of FROM that it does not have yet
link_tree() {
  local entry
  mkdir -p "$2"
  for entry in "$1"/*; do
    [ -e "$2/${entry##*/}" ] || ln -s "$entry" "$2/${entry##*/}"
  done
}

# make_overlay FOLDER: the installed PostgreSQL plus what `make install` puts there
make_overlay() {
  local overlay=$1/root bin share lib program
  bin=$("$pg_config" --bindir) share=$("$pg_config" --sharedir) lib=$("$pg_config" --pkglibdir)
  rm -rf "$overlay"
  mkdir -p "$overlay$bin"
  lock_build
  run_logged install make -C "$root" -s install DESTDIR="$overlay" PG_CONFIG="$pg_config"
  unlock_build
  for program in postgres initdb pg_ctl; do cp "$bin/$program" "$overlay$bin/"; done
  link_tree "$bin" "$overlay$bin"
  link_tree "$share/extension" "$overlay$share/extension"
  link_tree "$share" "$overlay$share"
  link_tree "$lib" "$overlay$lib"
}

megabytes_of_memory() {
  local memory limit
  memory=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || echo 2048)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [ "$limit" != max ] && [ $((limit / 1048576)) -lt "$memory" ]; then memory=$((limit / 1048576)); fi
  printf '%s\n' "$memory"
}

# at_most A B
at_most() { if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi; }

write_settings() {
  local memory shm workers
  memory=$(megabytes_of_memory)
  # two on one processor, too: tests read by two
  workers=$(processors)
  [ "$workers" -ge 2 ] || workers=2
  cat <<EOF
listen_addresses = ''
unix_socket_directories = '$socket'
unix_socket_permissions = 0700
max_connections = 50
shared_buffers = $(at_most $((memory / 8 + 16)) 1024)MB
work_mem = $(at_most $((memory / 32 + 4)) 256)MB
maintenance_work_mem = $(at_most $((memory / 8 + 16)) 1024)MB
max_worker_processes = $(($(processors) + 8))
max_parallel_workers = $workers
max_parallel_workers_per_gather = $workers
jit = off
fsync = off                  # a scratch server: its data need not survive a power failure
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 4GB
timezone = 'UTC'
log_checkpoints = off
EOF
  case $("$pg_config" --configure) in *--with-lz4*) echo "default_toast_compression = lz4" ;; esac
  shm=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $2 }')
  # containers have 64 MB there, too little for parallel queries
  if [ "${shm:-0}" -lt 524288 ]; then echo "dynamic_shared_memory_type = mmap"; fi
}

# prepare_server FOLDER: paths and the PG* environment of that server, for this shell and its children
prepare_server() {
  server=$1
  server_bin=$server/root$("$pg_config" --bindir)
  socket=$server/socket
  # sockaddr_un holds 107 bytes
  if [ $((${#socket} + 16)) -gt 107 ]; then
    if [ ! -s "$server/socket.name" ]; then
      mkdir -p "$server"
      mktemp -d /tmp/neardup-XXXXXX >"$server/socket.name"
    fi
    socket=$(cat "$server/socket.name")
  fi
  export PGHOST=$socket PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
  unset PGPASSWORD PGSERVICE PGSSLMODE PGOPTIONS PGHOSTADDR PGDATA PGAPPNAME PGCLIENTENCODING
  PATH=$("$pg_config" --bindir):$PATH
}

# A socket's folder in /tmp is gone after a reboot, and someone else may have made one of that name.
make_socket_folder() {
  if [ ! -e "$socket" ] && [ ! -L "$socket" ]; then
    mkdir -m 700 "$socket"
    if [ "$server_user" != "$me" ]; then chown "$server_user" "$socket"; fi
  fi
  if [ -L "$socket" ] || [ "$(stat -c %u "$socket")" != "$(id -u "$server_user")" ]; then
    die "$socket belongs to someone else; remove $server and run this again"
  fi
}

server_runs() { as_server "$server_bin/pg_ctl" -D "$server/data" status >/dev/null 2>&1; }

# memory_folder MEGABYTES: a folder in memory that has so much room, where twice as much memory stays; else nothing.
# Scratch databases are made and dropped there in half of the time.
memory_folder() {
  local room memory
  room=$(df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
  memory=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
  if [ -w /dev/shm ] && [ "${room:-0}" -ge "$1" ] && [ "${memory:-0}" -ge $((3 * $1)) ]; then echo /dev/shm; fi
}

# create_server FOLDER [WHERE]: a new cluster; what was in the folder is lost. Its data lie in a folder of WHERE.
create_server() {
  prepare_server "$1"
  stop_server
  make_overlay "$server"
  create_cluster "${2:-}"
}

# create_cluster [WHERE]: of the server that was prepared, by its programs
create_cluster() {
  remove_data
  rm -rf "$socket"
  mkdir -p "$server"
  make_socket_folder
  if [ -n "${1:-}" ]; then
    mktemp -d "$1/neardup-XXXXXX" >"$server/data.name"
    ln -s "$(cat "$server/data.name")" "$server/data"
  fi
  install -d -m 700 "$server/data"
  : >"$server/server.log"
  if [ "$server_user" != "$me" ]; then chown "$server_user" "$server/data" "$server/server.log"; fi
  run_logged initdb as_server "$server_bin/initdb" -D "$server/data" -U postgres -A trust -E UTF8 --no-locale -N
  write_settings | as_server tee -a "$server/data/postgresql.conf" >/dev/null
}

# Two ./run psql may start one server: the second would take the pid file of the first one's away.
start_server() {
  lock 6 "$server/start.lock"
  if server_runs; then
    exec 6>&-
    return
  fi
  make_socket_folder
  as_server rm -f "$server/data/postmaster.pid"
  starting=1
  # pg_ctl puts the server into a session of its own: Ctrl-C does not reach it, our clean-up does
  if ! as_server "$server_bin/pg_ctl" -D "$server/data" -l "$server/server.log" -w -t 60 -s start \
    </dev/null >"$logs/pg_ctl.log" 2>&1 6>&- 7>&- 8>&- 9>&-; then
    tail -n 15 "$logs/pg_ctl.log" "$server/server.log" >&2
    die "the private server did not start (its log: $server/server.log)"
  fi
  starting=0
  exec 6>&-
}

remove_data() {
  if [ -s "$server/data.name" ]; then rm -rf "$(cat "$server/data.name")"; fi
  rm -rf "$server/data" "$server/data.name"
}

stop_server() {
  # stopped in the middle of a start: its pid file may be about to appear
  if [ "$starting" -eq 1 ]; then sleep 1; fi
  if [ -n "${server:-}" ] && [ -e "$server/data/postmaster.pid" ] && server_runs; then
    as_server "$server_bin/pg_ctl" -D "$server/data" -m fast -w -t 30 -s stop >/dev/null 2>&1 ||
      as_server "$server_bin/pg_ctl" -D "$server/data" -m immediate -w -t 30 -s stop >/dev/null 2>&1 || true
  fi
}

# sql [PSQL ARGS]: statements from stdin or -c, stopping at the first error; bare rows
sql() { psql -X -q -v ON_ERROR_STOP=1 -A -t "$@"; }

run_stop() {
  local folder stopped=0
  set_work
  pg_config=$(find_pg_config)
  for folder in "$work"/demo "$work"/kept "$work"/test-* "$work"/bench-* "$work"/mutate*/server; do
    [ -e "$folder/data/postmaster.pid" ] || continue
    prepare_server "$folder"
    if server_runs; then
      stop_server
      say "stopped the server in $folder"
      stopped=1
    fi
  done
  if [ $stopped -eq 0 ]; then say "no server of ours runs"; fi
}

# remove_leftovers PREFIX: folders of runs that were killed
remove_leftovers() {
  local folder
  for folder in "$work/$1"-*; do
    [ -d "$folder" ] || continue
    if kill -0 "${folder##*-}" 2>/dev/null; then continue; fi
    (prepare_server "$folder" && stop_server && remove_data)
    if [ -s "$folder/socket.name" ]; then rm -rf "$(cat "$folder/socket.name")"; fi
    rm -rf "$folder"
  done
}

# scratch_server PREFIX: a server that goes when ./run ends
scratch_server() {
  remove_leftovers "$1"
  at_exit remove_scratch_server
  create_server "$work/$1-$$"
  start_server
}

remove_scratch_server() {
  stop_server
  case ${server:-} in
    "$work"/*-$$)
      remove_data
      if [ -s "$server/socket.name" ]; then rm -rf "$(cat "$server/socket.name")"; fi
      rm -rf "$server"
      ;;
  esac
}

# The demo's server for as long as psql runs; of several, the last to leave stops it.
run_psql() {
  local status=0
  set_work
  pg_config=$(find_pg_config)
  [ -d "$work/demo/data" ] || die "there is no demo database yet: ./run demo makes it"
  lock 9 "$work/demo.lock" -s -n || die "./run demo is at work here"
  prepare_server "$work/demo"
  at_exit leave_demo_server
  start_server
  export PGDATABASE=demo
  trap : INT  # Ctrl-C is psql's: it cancels a statement
  psql "$@" 9>&- || status=$?
  exit $status
}

leave_demo_server() {
  if flock -n -x 9; then stop_server; fi
}

# server_tests SCRIPT...: regression and isolation tests, and these of test/t, by a server of their own
server_tests() {
  local script
  step_regress || true
  step_isolation || true
  for script in "$@"; do one_script "$root/test/t/$script.py" || true; done
}
