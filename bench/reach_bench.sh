#!/usr/bin/env bash
# The saving by each use of PostgreSQL's insides (docs/internals.md): the library with all of them beside one without each,
# and one without any, built from this tree; searches and inserts on one table, by turns. The server is that of PGHOST
# and PGDATABASE (./run bench starts one), on this machine, and this role its superuser.
#   reach_bench.sh [ROWS]      (default 100000)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
make=${MAKE_SIGNATURES:-$here/../build-bench/make_signatures}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/tree"
git -C "$here/.." archive HEAD | tar -C "$folder/tree" -xf -
# NEARDUP_REACH of src/pg/base/compat.h. As a part of the compiler's name it leaves the notes of the build as they are:
# only the sources that ask for it are compiled again.
libraries=()
for build in all=15 none=0 pins=14 hints=13 rows=11 appends=7; do
  grep -rlE 'NEARDUP_(REACH|PINS|READS|CHECKS|LOGS)' "$folder/tree/src/pg/lsh" --include='*.cpp' --include='*.h' | xargs touch
  make -C "$folder/tree" -s -j"$(nproc)" CUDA=no CXX="${CXX:-g++} -DNEARDUP_REACH=${build#*=}" neardup.so \
    >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
  cp "$folder/tree/neardup.so" "$folder/${build%=*}.so"
  libraries+=("${build%=*}=$folder/${build%=*}.so")
done
/usr/bin/python3 "$here/reach_bench.py" "$make" "${1:-100000}" "${libraries[@]}"
