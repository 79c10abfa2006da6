#!/usr/bin/env bash
# The source distribution of neardup-core, and from it alone a wheel for each Python, tested in an environment of its own.
#   wheels.sh [--tested-by "NAME ..."] OUT     OUT: the folder for the files; NAME: tests/NAME_test.py, those that need no server by default
# PYTHONS="python3.10 python3.12 ..": which Pythons; by default those of a manylinux container, else the first python3 of PATH.
# From 3.12 on one wheel serves all later versions, and is tested with each of those named. In a manylinux container auditwheel checks what a
# wheel needs of a system, and names the wheel after it. Prints "ok - .." and "not ok - ..".
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd -P)
tests="alone vectors inputs"
if [ "${1:-}" = --tested-by ]; then
  tests=$2
  shift 2
fi
[ $# -eq 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 PYTHONDONTWRITEBYTECODE=1
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1  # where ccache is used: the folder has another name each time

if [ -z "${PYTHONS:-}" ]; then
  PYTHONS=$(compgen -G '/opt/python/cp31[0-9]-cp31[0-9]/bin/python' || command -v python3)
fi
read -r -d '' -a pythons <<<"$PYTHONS" || true

abi_of() { "$1" -c 'import sys; print("abi3" if sys.version_info >= (3, 12) else "cp3%d" % sys.version_info[1])'; }

# source_distribution: its path
source_distribution() {
  "${pythons[0]}" -m venv "$work/build"
  "$work/build/bin/pip" install build >&2
  rm -f "$out"/neardup_core-*
  "$work/build/bin/python" -m build --sdist --outdir "$out" "$here" >"$work/sdist.log" 2>&1 || { tail -n 30 "$work/sdist.log" >&2; return 1; }
  ls "$out"/neardup_core-*.tar.gz
}

# wheel PYTHON ABI: builds it from the source distribution, unpacked where no checkout is beside it
wheel() {
  local made=$work/made-$2
  mkdir -p "$work/source" "$made"
  tar -C "$work/source" -xzf "$sdist"
  (cd "$work" && "$1" -m venv "build-$2" && "build-$2/bin/pip" wheel --no-deps --wheel-dir "$made" "$work/source/$(basename "$sdist" .tar.gz)")
  if [ -n "${AUDITWHEEL_PLAT:-}" ]; then
    auditwheel repair --plat "$AUDITWHEEL_PLAT" --wheel-dir "$out" "$made"/*.whl
  else
    cp "$made"/*.whl "$out"
  fi
}

# tested PYTHON ABI: the tests in a fresh environment; the first is for one that has nothing else
tested() {
  local name venv
  venv=$work/test-$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$1" -m venv "$venv"
  "$venv/bin/pip" install --no-index --no-deps "$out"/neardup_core-*-"$2"-*.whl
  for name in $tests; do
    if [ "$name" != alone ] && [ ! -e "$venv/ready" ]; then
      "$venv/bin/pip" install numpy nanoarrow 'psycopg[binary]'
      touch "$venv/ready"
    fi
    (cd "$work" && "$venv/bin/python" "$here/tests/${name}_test.py") || status=1
  done
}

status=0
sdist=$(source_distribution)
echo "ok - source distribution $(basename "$sdist")"
made=" "
for python in "${pythons[@]}"; do
  abi=$(abi_of "$python")
  tag=$abi
  [ "$abi" = abi3 ] || tag=$abi-$abi
  if [[ $made != *" $abi "* ]]; then
    wheel "$python" "$abi"
    made+="$abi "
    echo "ok - wheel $(basename "$out"/neardup_core-*-"$tag"-*.whl)"
  fi
  tested "$python" "$tag"
done
exit $status
