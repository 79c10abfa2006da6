# shellcheck shell=bash
# Sourced by ./run: one style, kept by machines. Nothing is built, and no server is needed.
# shellcheck disable=SC2154  # work, logs, root: set in common.sh

: "${root:?}"

# A Python that has pglast: the system's, or one in .run where PyPI can be
# reached; else the step says that it is skipped.
lint_python() {
  if /usr/bin/python3 -c 'import pglast' 2>/dev/null; then
    echo /usr/bin/python3
  elif from_pypi pglast 'pglast>=7'; then
    echo "$work/lint/bin/python3"
  else
    echo python3
  fi
}

# from_pypi MODULE REQUIREMENT: whether .run has it now, fetched where PyPI can be reached
from_pypi() {
  local venv=$work/lint
  [ -x "$venv/bin/python3" ] || python3 -m venv "$venv" >&2 || return
  "$venv/bin/python3" -c "import $1" 2>/dev/null || pip_install "$venv" "$2" >&2
}

# A Python that has libclang: the system's (python3-clang), or PyPI's in .run, which finds
# the headers of a compiler only where clang is.
clang_python() {
  if /usr/bin/python3 -c 'import clang.cindex as c; c.Index.create()' 2>/dev/null; then
    echo /usr/bin/python3
  elif command -v clang >/dev/null && from_pypi clang.cindex "libclang==$(clang -dumpversion | cut -d. -f1).*"; then
    echo "$work/lint/bin/python3"
  fi
}

# skip WHAT WHY
skip() {
  say "skip - $1: $2"
  count skipped
}

# sql_lint.py finds what our SQL leaves to the search_path.
step_lint() { script_test "$(lint_python)" "$root/tools/sql_lint.py"; }

step_rooms() {
  script_test /usr/bin/python3 "$root/tools/check_rooms.py"
  script_test /usr/bin/python3 "$root/tools/room_tests.py" --check
}

step_guards() { script_test /usr/bin/python3 "$root/tools/check_guards.py"; }

# Two worlds, sizes, dead includes: each source is read once.
step_cpp() {
  local python
  python=$(clang_python)
  if [ -z "$python" ]; then
    skip "two worlds, sizes, dead includes" "no libclang (Debian: python3-clang)"
    return
  fi
  PG_CONFIG=$pg_config script_test "$python" "$root/tools/check_cpp.py"
}

step_tidy() {
  local python
  python=$(clang_python)
  if [ -z "$python" ] || ! command -v clang-tidy >/dev/null; then
    skip "clang-tidy" "no clang-tidy, or no libclang (Debian: clang-tidy, python3-clang)"
    return
  fi
  PG_CONFIG=$pg_config script_test "$python" "$root/tools/tidy.py"
}

# ours SUFFIX...: committed files, and new ones that git does not ignore, in a list that ends each name with a zero byte
ours() { checkout_git ls-files -z --cached --others --exclude-standard -- "$@"; }

# one_verdict WHAT COMMAND...: what a checker says of the files of the checkout counts as one
one_verdict() {
  local what=$1
  shift
  if ! checkout_git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    skip "$what" "git is not installed, or this is no git checkout"
    return
  fi
  if (cd "$root" && "$@"); then
    say "ok - $what"
    count passed
  else
    say "not ok - $what"
    count failed
  fi
}

# The version of Debian 12: later versions break lines at other places.
step_format() {
  local program
  program=$(command -v clang-format-14 || command -v clang-format || true)
  if [ -z "$program" ] || [[ ! $("$program" --version) =~ version\ 14\. ]]; then
    skip "clang-format" "clang-format 14 is not installed, and other versions format differently"
    return
  fi
  one_verdict "C++ and CUDA are formatted as .clang-format says" format_check "$program"
}
format_check() { ours '*.cpp' '*.h' '*.cu' | xargs -0 "$1" --dry-run -Werror --ferror-limit=3; }

step_shellcheck() {
  if ! command -v shellcheck >/dev/null; then
    skip "shellcheck" "it is not installed"
    return
  fi
  one_verdict "shellcheck finds nothing" shellcheck_check
}
shellcheck_check() { ours run .ci/run '*.sh' | xargs -0 shellcheck -x; }

step_ruff() {
  local ruff
  ruff=$(command -v ruff || true)
  if [ -z "$ruff" ]; then
    if from_pypi ruff ruff; then ruff=$work/lint/bin/ruff; fi
  fi
  if [ -z "$ruff" ]; then
    skip "ruff" "it is not installed, and PyPI cannot be reached"
    return
  fi
  one_verdict "ruff finds nothing" "$ruff" check --quiet --output-format concise .
}

# Phrases that the documentation does not use, and comments that are no sentences.
step_prose() { script_test /usr/bin/python3 "$root/tools/check_prose.py"; }

# Functions that are named by a preposition, constants of two values.
step_names() { script_test /usr/bin/python3 "$root/tools/check_names.py"; }

# Checks of the tests that cannot fail.
step_checks() { script_test /usr/bin/python3 "$root/tools/check_checks.py"; }

# Names in code, and abbreviations, that codespell takes for misspelled words.
spelled_so=copie,inh,ist,larg,nd,runn,sting,te,ue,upto
step_spelling() {
  if ! command -v codespell >/dev/null; then
    skip "spelling" "codespell is not installed"
    return
  fi
  one_verdict "codespell finds nothing" spelling_check
}
spelling_check() {
  ours '*.md' '*README' 'src/*.cpp' 'src/*.h' 'src/*.cu' 'sql/install/*.sql' 'tools/*.py' 'tools/run/*.sh' \
    'docs/neardup.1' \
    ':!src/core/document/stopwords.cpp' |
    xargs -0 codespell -q 3 -L "$spelled_so"
}

# The test of the checks: each finds what it is for.
step_lint_test() {
  local python
  python=$(clang_python)
  PG_CONFIG=$pg_config NEARDUP_RUFF=$(command -v ruff || echo "$work/lint/bin/ruff") \
    script_test "${python:-/usr/bin/python3}" "$root/test/lint_test.py"
}

# The steps of ./run lint that ./run test runs beside the lint of SQL.
lint_steps() {
  pooled_whole "rooms" step_rooms
  pooled_whole "guards" step_guards
  pooled_whole "two worlds, sizes, dead includes" step_cpp
  pooled_whole "clang-tidy" step_tidy
  pooled_whole "clang-format" step_format
  pooled_whole "shellcheck" step_shellcheck
  pooled_whole "ruff" step_ruff
  pooled_whole "prose" step_prose
  pooled_whole "names" step_names
  pooled_whole "checks" step_checks
  pooled_whole "spelling" step_spelling
  pooled_whole "planted violations" step_lint_test
}

run_lint() {
  local began
  began=$(date +%s.%N)
  set_work
  need_packages lint
  counts=$work/lint-counts
  : >"$counts"
  begin_pool
  say "neardup lint, logs in $logs"
  pooled_whole "lint of SQL" step_lint
  lint_steps
  run_pool
  end_tests "$began"
}
