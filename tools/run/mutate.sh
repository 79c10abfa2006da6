# shellcheck shell=bash
# Sourced by ./run: planted mistakes, in a copy of the tree with a server of its own.
# work, logs, pg_config, server: set in common.sh, packages.sh and server.sh; root in a subshell
# shellcheck disable=SC2154,SC2030,SC2031

: "${root:?}"

# mutate_in COPY ARGS...: as tools/mutate.py --run takes them. In a subshell, so that its server goes when it ends.
mutate_in() (
  local checkout=$root copy=$1 status=0 seed
  shift
  mkdir -p "$copy"
  lock 7 "$copy.lock" -n || die "another ./run mutate is at work in this checkout"
  seed=$(git -C "$checkout" rev-parse --short HEAD 2>/dev/null || date +%Y%m%d)
  export PG_CONFIG=$pg_config NEARDUP_OS_USER=$server_user NEARDUP_SERVER_USER=$server_user \
    NEARDUP_DESTDIR=$copy/server/root
  export NEARDUP_DATA=${NEARDUP_DATA:-} CUDA=no
  NEARDUP_LINT_PYTHON=$(lint_python)
  export NEARDUP_LINT_PYTHON
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

# mutate JOBS ARGS...: so many side by side, each in a copy of its own
mutate() {
  local jobs=$1 part pids=() pid status=0
  shift
  if [ "$jobs" -eq 1 ]; then
    mutate_in "$work/mutate" "$@"
    return
  fi
  trap 'kill "${pids[@]}"; exit 130' INT TERM  # what runs beside a script does not see Ctrl-C
  for ((part = 1; part <= jobs; ++part)); do
    mutate_in "$work/mutate-$part" --share "$part/$jobs" "$@" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  trap - INT TERM
  return $status
}

run_mutate() {
  local jobs=1
  case ${1:-} in
    --list | --anchors | --moved) exec python3 "$root/tools/mutate.py" "$1" ;;
    --jobs)
      [[ ${2:-} =~ ^[1-9]$ ]] || die "--jobs takes a number from 1 to 9: ${2:-nothing}"
      jobs=$2
      shift 2
      ;;
  esac
  set_work
  need_packages test
  find_script_python
  mutate "$jobs" "$@"
}

# Ten of them, others with every commit.
step_mutations() { script_test mutate_sample mutations; }
mutate_sample() { mutate "$(at_most "$(processors)" 2)" --sample 10; }

# Every mutation still finds its place in the sources; and how it does.
step_anchors() {
  script_test python3 "$root/tools/mutate.py" --anchors
  script_test python3 "$root/test/mutations_test.py"
}
