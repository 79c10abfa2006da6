# shellcheck shell=bash
# Sourced by ./run: steps whose parts run side by side, so that every processor has work to the end.
# work, logs, root, counts: set in common.sh and steps.sh; a task counts into a file of its own
# shellcheck disable=SC2154,SC2034,SC2030,SC2031
#
# A step is a line of the output; a task is a part of one. The tasks of all steps wait in one queue, the longest first.
# A step's function only queues tasks; run_pool runs them. A task is a function with arguments, in a subshell: it prints
# what it does and calls count.

: "${root:?}"

# Seconds that each task took when it was last measured, "SECONDS STEP: TASK", the longest first. They only order the
# queue. A run leaves such lines in .run/log/task-times.
task_times=$root/tools/run/task_times.txt
unknown_seconds=10  # of a task that the list does not have

# More tasks than processors: a test and its server wait for each other. The private server has connections for so many.
most_tasks_at_once=6

task_step=()     # of each task: the number of its step,
task_name=()     # its name within the step,
task_call=()     # the function with its arguments, quoted,
task_next=()     # the function that queues more tasks of the step once it has ended; or nothing
waiting_tasks=() # "SECONDS NUMBER" of those that have not begun
step_names=() step_tasks_left=() step_seconds=() step_logs=()
declare -A task_of_process=() known_seconds=()

# pooled NAME FUNCTION: a step whose tasks the function queues. A third argument:
# it is not called, but is the only task.
pooled() {
  is_wanted "$@" || return 0
  step_names+=("$1")
  step_tasks_left+=(0)
  step_seconds+=(0)
  step_logs+=("$(log_of_step "$2")")
  queueing=$((${#step_names[@]} - 1))
  rm -f "${step_logs[queueing]}" "$(counts_of_step $queueing)"
  if [ $# -gt 2 ]; then task "$1" "$3"; else "$2"; fi
}

# pooled_whole NAME FUNCTION: a step that is one task
pooled_whole() { pooled "$1" "$2" "$2"; }

counts_of_step() { printf '%s\n' "$counts.step-$1"; }

# task NAME FUNCTION ARGS...: one more task of the step whose function runs
task() { task_before "" "$@"; }

# task_before NEXT NAME FUNCTION ARGS...: a task on which others wait. It begins at
# once, and NEXT queues those when it has ended.
task_before() {
  local number=${#task_name[@]} seconds
  task_next+=("$1")
  task_name+=("$2")
  task_step+=("$queueing")
  task_call+=("$(printf '%q ' "${@:3}")")
  step_tasks_left[queueing]=$((step_tasks_left[queueing] + 1))
  seconds=${known_seconds["${step_names[queueing]}: $2"]:-$unknown_seconds}
  if [ -n "$1" ]; then seconds=$((seconds + 1000)); fi
  waiting_tasks+=("$seconds $number")
}

# begin_pool: once, before steps are queued
begin_pool() {
  local seconds name
  while read -r seconds name; do known_seconds[$name]=$seconds; done < <(grep -v '^#' "$task_times")
  : >"$logs/task-times"
  at_exit end_tasks
}

# start_longest_task: of those that wait. Not to be called in a condition, where bash would ignore errors in the task,
# too.
start_longest_task() {
  local number longest
  mapfile -t waiting_tasks < <(printf '%s\n' "${waiting_tasks[@]}" | sort -rn)
  longest=${waiting_tasks[0]}
  waiting_tasks=("${waiting_tasks[@]:1}")
  number=${longest#* }
  set -m  # a process group of its own, which ends as a whole
  run_task "$number" >"$work/task-$number.log" 2>&1 </dev/null &
  set +m
  task_of_process[$!]=$number
}

# run_task NUMBER: what it counts, and its seconds, lie in files
run_task() (
  began=$EPOCHREALTIME
  counts=$work/task-$1.counts
  : >"$counts"
  printf '== %s\n' "${task_name[$1]}"
  counted eval "${task_call[$1]}"
  seconds_since "$began" >"$work/task-$1.seconds"
)

# end_task NUMBER: what it printed and counted becomes its step's
end_task() {
  local number=$1 at=${task_step[$1]} seconds
  if [ ! -s "$work/task-$number.seconds" ]; then
    echo "not ok - ${task_name[number]} was ended" >>"$work/task-$number.log"
    echo "failed 1" >>"$work/task-$number.counts"
  fi
  seconds=$(cat "$work/task-$number.seconds" 2>/dev/null || echo 0)
  step_seconds[at]=$(awk -v a="${step_seconds[at]}" -v b="$seconds" 'BEGIN { print a + b }')
  printf '%.0f %s: %s\n' "$seconds" "${step_names[at]}" "${task_name[number]}" >>"$logs/task-times"
  { cat "$work/task-$number.log"; printf '(%.1f s)\n' "$seconds"; } >>"${step_logs[at]}"
  cat "$work/task-$number.counts" >>"$(counts_of_step "$at")"
  rm -f "$work/task-$number".*
  if [ -n "${task_next[number]}" ]; then
    queueing=$at
    "${task_next[number]}"
  fi
  step_tasks_left[at]=$((step_tasks_left[at] - 1))
  if [ "${step_tasks_left[at]}" -eq 0 ]; then end_step "$at"; fi
}

# end_step NUMBER: its last task has ended
end_step() {
  report_step "${step_names[$1]}" "${step_logs[$1]}" "$(counts_of_step "$1")" "${step_seconds[$1]}"
  cat "$(counts_of_step "$1")" >>"$counts"
}

# gone_task: a process of a task that is no more
gone_task() {
  local process
  for process in "${!task_of_process[@]}"; do
    if ! kill -0 "$process" 2>/dev/null; then echo "$process"; return; fi
  done
}

# run_pool: all that was queued since the last call; the line of a step comes with the end of its last task
run_pool() {
  local at_once process number
  at_once=$(at_most $(($(processors) + 1)) "$most_tasks_at_once")
  while :; do
    while [ ${#task_of_process[@]} -lt "$at_once" ] && [ ${#waiting_tasks[@]} -gt 0 ]; do start_longest_task; done
    [ ${#task_of_process[@]} -gt 0 ] || break
    process=$(gone_task)  # bash itself has noticed the end of one that a signal has killed
    if [ -z "$process" ]; then wait -n -p process "${!task_of_process[@]}" || true; fi
    if [ -z "${process:-}" ]; then continue; fi
    number=${task_of_process[$process]}
    unset "task_of_process[$process]"
    end_task "$number"
  done
}

# end_tasks: of a run that is stopped
end_tasks() {
  local process
  for process in "${!task_of_process[@]}"; do kill -TERM -- "-$process" 2>/dev/null || true; done
  for process in "${!task_of_process[@]}"; do wait "$process" 2>/dev/null || true; done
}
