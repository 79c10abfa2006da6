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
libraries=()
# Only the sources that ask for NEARDUP_REACH (src/pg/base/compat.h) are compiled again for each value.
again=()
for build in all=15 none=0 pins=14 hints=13 rows=11 appends=7; do
  make -C "$folder/tree" -s -j"$(nproc)" CUDA=no COPT="-DNEARDUP_REACH=${build#*=}" "${again[@]}" neardup.so \
    >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
  cp "$folder/tree/neardup.so" "$folder/${build%=*}.so"
  libraries+=("${build%=*}=$folder/${build%=*}.so")
  if [ ${#again[@]} = 0 ]; then
    again=(-o src/.compiler)
    while read -r file; do again+=(-W "$file"); done < <(
      cd "$folder/tree" && grep -rlE 'NEARDUP_(REACH|PINS|READS|CHECKS|LOGS)' src/pg/lsh --include='*.cpp' --include='*.h')
  fi
done
/usr/bin/python3 "$here/reach_bench.py" "$make" "${1:-100000}" "${libraries[@]}"
