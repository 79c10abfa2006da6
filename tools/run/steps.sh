# shellcheck shell=bash
# Sourced by ./run: what a step of the tests is, and how its results are counted.
# shellcheck disable=SC2154  # work, logs: set in common.sh

: "${root:?}"

# A step is a function that prints what it does and calls count for what it found. It fails when it counts a failure,
# ends with an error, or counts nothing at all.
count() { printf '%s %s\n' "$1" "${2:-1}" >>"$counts"; }

total_of() { awk -v kind="$1" '$1 == kind { n += $2 } END { print n + 0 }' "$counts" /dev/null; }

only_step=""  # of --step

# is_wanted NAME FUNCTION: whether --step leaves the step in; others stand on these two
is_wanted() {
  case $2 in step_build | step_server) return 0 ;; esac
  [[ $1 == *"$only_step"* ]]
}

log_of_step() { printf '%s/test-%s.log\n' "$logs" "$(printf %s "$1" | tr '_' '-')"; }

# counted COMMAND...: runs it, and counts a failure where it ends with an error, or by a signal, and counts none itself,
# or counts nothing. Its status is that of the command. Called in a subshell,
# where errors do not end the shell afterwards.
counted() {
  local status
  set +e
  (set -e && "$@")
  status=$?
  if [ $status -ne 0 ] && [ "$(total_of failed)" -eq 0 ]; then
    say "not ok - it ended with status $status"
    count failed
  elif ! awk '{ n += $2 } END { exit n == 0 }' "$counts"; then
    say "not ok - it tested nothing"
    count failed
  fi
  return $status
}

# step NAME FUNCTION: one that needs all processors, or on which others wait.
# tools/run/pool.sh has steps that run side by side.
step() {
  local log status began all_counts=$counts
  is_wanted "$@" || return 0
  log=$(log_of_step "$2")
  began=$(date +%s.%N)
  counts=$all_counts.step
  : >"$counts"
  set +e
  (counted "$2") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  if [ $status -gt 128 ]; then warn "stopped"; exit $status; fi
  report_step "$1" "$log" "$counts" "$(seconds_since "$began")"
  cat "$counts" >>"$all_counts"
  counts=$all_counts
}

# report_step NAME LOG COUNTS SECONDS: its line, and what failed or was skipped
report_step() {
  local name=$1 log=$2 counts=$3 passed failed skipped line
  passed=$(total_of passed) failed=$(total_of failed) skipped=$(total_of skipped)
  line="$passed passed"
  if [ "$failed" -gt 0 ]; then line="$line, $failed FAILED"; fi
  if [ "$skipped" -gt 0 ]; then line="$line, $skipped skipped"; fi
  printf '%-44s %s (%.1f s)\n' "$name" "$line" "$4"
  grep -E '^(skip - |note: )' "$log" | sort -u | sed 's/^/    /' || true
  if [ "$failed" -gt 0 ]; then
    grep -nE '^not ok|\[  FAILED  \]|(error|ERROR|Error): |SUMMARY: ' "$log" | head -n 15 | sed 's/^/    /' || true
    tail -n 12 "$log" | sed 's/^/    | /'
    say "    the whole log: $log"
  fi
}

prints_at_once=0  # whether script_test passes on what a script prints as it comes

# script_test INTERPRETER SCRIPT ARGS...: counts its lines "ok - name", "not ok - name", "skip - reason". A script that
# fails without a "not ok" counts as one failure; so does one that checks nothing,
# unless it has a line "# may be skipped: why".
script_test() {
  local output status=0 ok bad skip name began
  output=$(mktemp "$work/script-XXXXXX")
  name=$(basename "$2")
  began=$(date +%s.%N)
  if [ "$prints_at_once" = 1 ]; then
    printf '== %s\n' "$name"
    "$@" 2>&1 | tee "$output" || status=$?
    printf '(%.1f s)\n' "$(seconds_since "$began")"
  else
    "$@" >"$output" 2>&1 || status=$?
    printf '== %s (%.1f s)\n%s\n' "$name" "$(seconds_since "$began")" "$(cat "$output")"
  fi
  ok=$(grep -c '^ok' "$output" || true)
  bad=$(grep -c '^not ok' "$output" || true)
  skip=$(grep -c '^skip' "$output" || true)
  rm -f "$output"
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    say "not ok - $name ended with status $status"
    bad=1
  fi
  if [ $((ok + bad)) -eq 0 ] && { [ "$skip" -eq 0 ] || { [ -f "$2" ] && ! grep -q '^# may be skipped: ' "$2"; }; }; then
    say "not ok - $name tested nothing"
    bad=1
  fi
  count passed "$ok"
  count failed "$bad"
  count skipped "$skip"
}

# end_tests BEGAN: the last lines, and the exit status
end_tests() {
  local failed skipped
  failed=$(total_of failed) skipped=$(total_of skipped)
  printf 'in %.0f s\n' "$(seconds_since "$1")"
  if [ "$skipped" -gt 0 ]; then skipped=", $skipped skipped"; else skipped=""; fi
  say "$(total_of passed) passed, $failed failed$skipped"
  [ "$failed" -eq 0 ] || exit 1
}

# A task that fails is a failure of the tests.
step_pool() { script_test bash "$root/test/pool_test.sh"; }
