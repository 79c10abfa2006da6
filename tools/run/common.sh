# shellcheck shell=bash
# Sourced by ./run: messages, the work folder, locks, building.
# shellcheck disable=SC2154  # work, logs, pg_config: set_work and need_packages set them

: "${root:?}"
me=$(id -un)
my_uid=$(id -u)

# git in this checkout, whoever owns it: as root in that of somebody else, too.
n_settings=${GIT_CONFIG_COUNT:-0}
export GIT_CONFIG_COUNT=$((n_settings + 1)) "GIT_CONFIG_KEY_$n_settings=safe.directory" \
  "GIT_CONFIG_VALUE_$n_settings=$root"

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
die() {
  printf 'run: %s\n' "$*" >&2
  exit 1
}

# Commands for the end of ./run, however it ends; the last added comes first.
cleanups=()
child=""  # a long command that a signal must not wait for
at_exit() { cleanups=("$1" "${cleanups[@]}"); }
on_exit() {
  local status=$? action
  trap '' INT TERM HUP
  set +e
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null
    wait "$child" 2>/dev/null
  fi
  for action in "${cleanups[@]}"; do $action; done
  exit "$status"
}
trap on_exit EXIT
trap 'warn "stopped"; exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# initdb and postgres refuse to run as root: as root they run as this user.
if [ "$my_uid" -ne 0 ]; then
  server_user=$me
elif id -u postgres >/dev/null 2>&1; then
  server_user=postgres
else
  server_user=nobody
fi

# A command as the server's user, in a folder that it can enter.
as_server() {
  if [ "$server_user" = "$me" ]; then
    (cd / && exec "$@")
  else
    (cd / && exec setpriv --reuid="$server_user" --regid="$(id -g "$server_user")" --init-groups \
      env HOME=/ USER="$server_user" LOGNAME="$server_user" "$@")
  fi
}

# Where servers, logs and copies go: .run in the checkout, or a folder in /tmp where the server's user cannot reach
# the checkout (root's home is closed to others).
set_work() {
  [ -n "${work:-}" ] && return
  [ -w "$root" ] || die "cannot write in $root (needed to build); use a checkout of your own"
  work=$root/.run
  if ! as_server test -x "$root"; then
    work=${TMPDIR:-/tmp}/neardup-$my_uid-$(printf %s "$root" | cksum | cut -d' ' -f1)
  fi
  [ -d "$work" ] || mkdir -m 755 "$work"
  if [ -L "$work" ] || { [ ! -O "$work" ] && { [ "$my_uid" -ne 0 ] || [ "$work" != "$root/.run" ]; }; }; then
    die "$work belongs to someone else"
  fi
  logs=$work/log
  mkdir -p "$logs"
}

# run_logged NAME COMMAND...: quiet while all is well; the end of the log and its name when not.
run_logged() {
  local log=$logs/$1.log
  shift
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 25 "$log" >&2
    die "failed: $* (the whole log: $log)"
  fi
}

# lock FILE-DESCRIPTOR FILE [FLOCK-OPTIONS]: false when someone else holds it
lock() {
  local descriptor=$1
  eval "exec $descriptor>>\"\$2\""
  shift 2
  flock "$@" "$descriptor"
}

processors() { nproc 2>/dev/null || echo 2; }

seconds_since() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }'; }

# pip_install VENV ARGS...: into that environment. What it holds is compiled when it is first imported: half of pip's
# time would go into what never is.
pip_install() {
  timeout 900 "$1/bin/pip" install --quiet --disable-pip-version-check --no-compile --retries 1 "${@:2}"
}

# Two ./run in one checkout take turns at make.
lock_build() { lock 8 "$work/build.lock" -n || { say "waiting for another ./run that builds here"; flock 8; }; }
unlock_build() { exec 8>&-; }

# A build runs on this machine: the GPU module has the code for its GPUs.
export GPU_ARCHS=${GPU_ARCHS:-native}

# Extension and program, by the Makefile
build() {
  [ -f "$root/Makefile" ] || die "no Makefile in $root"
  lock_build
  local status=0
  # The build runs in the background, since bash acts on a signal only between foreground commands.
  make -C "$root" -j"$(processors)" PG_CONFIG="$pg_config" all \
    >"$logs/build.log" 2>&1 </dev/null 8>&- 9>&- &
  child=$!
  wait "$child" || status=$?
  child=""
  if [ $status -ne 0 ]; then
    tail -n 25 "$logs/build.log" >&2
    die "make failed (the whole log: $logs/build.log)"
  fi
  unlock_build
}

# The variables that the Makefile takes from the environment.
build_variables=(PATH WITH_CLI WITH_UCHARDET WITH_OPENCC WITH_RE2 WITH_SIMDJSON WITH_GMIME WITH_LIBXML2 WITH_ZSTD \
  WITH_LZMA WITH_BZIP2 CUDA NVCC NVCCFLAGS GPU_ARCHS CCACHE PKG_CONFIG PKG_CONFIG_PATH
  PG_CPPFLAGS PG_CXXFLAGS PG_LDFLAGS)

run_install() {
  set_work
  need_packages build
  say "building for $("$pg_config" --version)"
  build
  local sudo=() folder name
  for folder in "$("$pg_config" --pkglibdir)" "$("$pg_config" --sharedir)/extension" "$("$pg_config" --bindir)" \
    "$("$pg_config" --mandir)/man1"; do
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    if [ ! -w "$folder" ] && [ "$my_uid" -ne 0 ]; then
      command -v sudo >/dev/null || die "$folder is not writable and there is no sudo; run this as root"
      sudo=(sudo env)  # sudo drops them, and make install would build something else
      for name in "${build_variables[@]}"; do
        if [ -n "${!name+set}" ]; then sudo+=("$name=${!name}"); fi
      done
    fi
  done
  # make install must find nothing left to build: what root builds, you cannot rebuild
  lock_build
  "${sudo[@]}" make -C "$root" -s install PG_CONFIG="$pg_config" >"$logs/install.log" 2>&1 || {
    tail -n 25 "$logs/install.log" >&2
    die "make install failed (the whole log: $logs/install.log)"
  }
  unlock_build
  say "installed in $("$pg_config" --pkglibdir), $("$pg_config" --sharedir)/extension and $("$pg_config" --bindir)"
  say "next, in the database of your choice:  CREATE EXTENSION neardup;"
}
