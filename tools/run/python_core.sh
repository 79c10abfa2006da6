# shellcheck shell=bash
# Sourced by ./run: the Python package neardup-core (clients/python-core), built and tested.
# shellcheck disable=SC2154  # work, root, launcher: set in common.sh and native.sh

python_core=$root/clients/python-core

# Builds and tests the package in a virtual environment over the system's Python, which has psycopg. False where PyPI
# cannot be reached.
python_core_venv() {
  local venv=$work/python-core
  [ -x "$venv/bin/pip" ] || /usr/bin/python3 -m venv --system-site-packages "$venv" || return
  "$venv/bin/python3" -c 'import mypy, nanoarrow, nanobind, numpy, scikit_build_core' 2>/dev/null ||
    pip_install "$venv" mypy nanoarrow nanobind numpy scikit-build-core
}

# python_core_install CORE...: a wheel, made with further options of CMake, into the environment of the tests and into
# one that has nothing else
python_core_install() {
  local venv=$work/python-core bare=$work/python-core-bare wheels=$work/python-core-wheels option options=()
  for option in "${launcher[@]}" "$@"; do options+=(--config-settings "cmake.define.${option#-D}"); done
  rm -rf "$wheels" "$bare"
  "$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-index --no-build-isolation --no-deps --wheel-dir \
    "$wheels" \
    --config-settings build-dir="$work/python-core-build" "${options[@]}" "$python_core"
  pip_install "$venv" --no-index --no-deps --force-reinstall "$wheels"/*.whl
  /usr/bin/python3 -m venv --without-pip "$bare"
  "$venv/bin/pip" --python "$bare/bin/python3" install --quiet --disable-pip-version-check --no-index --no-deps \
    "$wheels"/*.whl
}

# python_core_ready: whether the package can be built here; says why not
python_core_ready() {
  local why=""
  if ! python_core_venv; then
    why="PyPI cannot be reached, or python3-venv is missing"
  elif ! "$work/python-core/bin/python3" \
    -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'; then
    why="no Python.h (Debian: python3-dev)"
  fi
  [ -n "$why" ] || return 0
  say "skip - neardup-core: $why"
  count skipped
  return 1
}

# python_core_tests NAME...: scripts of its tests
python_core_tests() {
  local name
  for name in "$@"; do script_test "$work/python-core/bin/python3" "$python_core/tests/${name}_test.py" || true; done
}

# The core is not compiled again: the objects of make are linked.
step_python_core() {
  python_core_ready || return 0
  python_core_install "-DNEARDUP_OBJECTS=$root"
  script_test "$work/python-core-bare/bin/python3" "$python_core/tests/alone_test.py" || true
  PGDATABASE=postgres python_core_tests vectors inputs server sign readme
}

# The types, by mypy; then the source distribution, alone in a folder of /tmp, and the wheel that it gives.
step_python_core_source() {
  python_core_ready || return 0
  python_core_install "-DNEARDUP_OBJECTS=$root"
  NEARDUP_MYPY_CACHE=$work/python-core/mypy python_core_tests types
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  PYTHONS=/usr/bin/python3 script_test bash "$python_core/ci/wheels.sh" --tested-by "alone vectors" \
    "$work/python-core-dist"
}
