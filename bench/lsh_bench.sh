#!/usr/bin/env bash
# The lsh index beside its peer, GIN over band keys, in one run: build, size, queries, inserts, WAL, stalls, growth.
# The server is that of PGHOST and PGDATABASE, on this machine (./run bench starts one); tables named
# neardup_lsh_bench_* are made and dropped there. SECTIONS="query insert" chooses some, MOST_ROWS=100000 leaves out the
# million; arguments go to lsh_bench.py (--help tells).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
make=${MAKE_SIGNATURES:-$here/../build-bench/make_signatures}
sizes=""
for rows in 10000 100000 1000000; do
  if [ "$rows" -le "${MOST_ROWS:-1000000}" ]; then sizes=$sizes${sizes:+,}$rows; fi
done
[ -x "$make" ] || { echo "$make is missing: ./run bench builds it" >&2; exit 1; }
[ -n "$sizes" ] || { echo "MOST_ROWS is below 10000" >&2; exit 1; }
options=()
# A scratch server, whose settings may be changed: full_page_writes is off there, and WAL is measured with it, too.
if [ "$(psql -X -q -A -t -c 'SHOW fsync')" = off ]; then options+=(--alter-system); fi
read -ra sections <<<"${SECTIONS:-}"
# The system's Python: another one in PATH has not the system's psycopg.
exec /usr/bin/python3 "$here/lsh_bench.py" --make "$make" --sizes "$sizes" "${options[@]}" "$@" "${sections[@]}"
