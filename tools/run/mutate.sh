# shellcheck shell=bash
# Sourced by ./run: planted mistakes, in a copy of the tree with a server of its own.
# work, logs, pg_config, server: set in common.sh, packages.sh and server.sh; root in a subshell
# shellcheck disable=SC2154,SC2030,SC2031

: "${root:?}"

# mutate ARGS...: as tools/mutate.py --run takes them. In a subshell, so that its server goes when it ends.
mutate() (
  local checkout=$root copy=$work/mutate status=0 seed
  lock 7 "$work/mutate.lock" -n || die "another ./run mutate is at work in this checkout"
  seed=$(git -C "$checkout" rev-parse --short HEAD 2>/dev/null || date +%Y%m%d)
  export PG_CONFIG=$pg_config NEARDUP_OS_USER=$server_user NEARDUP_SERVER_USER=$server_user \
    NEARDUP_DESTDIR=$copy/server/root
  export NEARDUP_DATA=${NEARDUP_DATA:-} CUDA=no
  NEARDUP_LINT_PYTHON=$(lint_python)
  export NEARDUP_LINT_PYTHON
  mkdir -p "$copy"
  python3 "$checkout/tools/mutate.py" --prepare "$copy" --seed "$seed" "$@" || return
  # The server is that of the copy.
  root=$copy/tree
  trap stop_server EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  create_server "$copy/server"
  start_server
  python3 "$checkout/tools/mutate.py" --run "$copy" --seed "$seed" "$@" 7>&- || status=$?
  exit $status
)

run_mutate() {
  case ${1:-} in
    --list | --anchors | --moved) exec python3 "$root/tools/mutate.py" "$1" ;;
  esac
  set_work
  need_packages test
  mutate "$@"
}

# Ten of them, others with every commit.
step_mutations() { script_test mutate_sample mutations; }
mutate_sample() { mutate --sample 10; }

# Every mutation still finds its place in the sources; and how it does.
step_anchors() {
  script_test python3 "$root/tools/mutate.py" --anchors
  script_test python3 "$root/test/mutations_test.py"
}
