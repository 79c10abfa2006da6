#!/usr/bin/env bash
# The queue of the tests (tools/run/pool.sh): a task that fails, tests nothing or is killed is a failure of its step.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd -P)
for part in common server steps pool; do
  # shellcheck source=/dev/null
  . "$root/tools/run/$part.sh"
done
work=$(mktemp -d)
at_exit remove_work
remove_work() { rm -rf "$work"; }
export logs=$work counts=$work/counts
: >"$counts"

passes() { count passed; }
fails() {
  false
  count passed
}
tests_nothing() { :; }
kills_itself() { kill -KILL $BASHPID; }
kills_its_group() { kill -KILL 0; }
later_tasks() { task "waited" passes; }
of_every_kind() {
  local kind
  for kind in passes fails tests_nothing kills_itself kills_its_group; do task "$kind" "$kind"; done
  task_before later_tasks "first" passes
}

begin_pool
pooled "every kind" of_every_kind
run_pool >"$work/said" 2>&1
if [ "$(total_of passed) $(total_of failed)" = "3 4" ]; then
  echo "ok - what fails, tests nothing or is killed is a failure; the others pass"
else
  echo "not ok - 3 tasks pass and 4 fail: $(total_of passed) passed, $(total_of failed) failed"
  cat "$work/said"
fi
