#!/usr/bin/env bash
# A table of signatures in ten partitions: load, indexes, searches with and without pruning, inserts, deduplication of a new
# partition, a job. The server is that of PGHOST and PGDATABASE, on this machine (./run bench starts one); tables named
# neardup_parts_bench* are made and dropped there.
#   partitions_bench.sh [ROWS]   default 1000000; 10000000 takes 20 GB of disk at the most, and some 30 minutes
# JOB_ROWS: rows of the job (default 2000000 or, if fewer, all; 10000000 needs 34 GB); ONE=no: not the same rows in one table.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
make=${MAKE_SIGNATURES:-$here/../build-bench/make_signatures}
rows=${1:-1000000}
[ -x "$make" ] || { echo "$make is missing: ./run bench builds it" >&2; exit 1; }
# The system's Python: another one in PATH has not the system's psycopg.
exec /usr/bin/python3 "$here/partitions_bench.py" "$make" "$rows" "${JOB_ROWS:-2000000}" "${ONE:-yes}"
