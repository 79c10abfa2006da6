#!/usr/bin/env bash
# The ten nearest rows by an lsh index beside a sequential scan and pgvector's HNSW, in one run. The server is that of
# PGHOST and PGDATABASE, on this machine (./run bench starts one); tables named neardup_nearest_bench* are made and
# dropped there.
#   nearest_bench.sh [ROWS]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
# The system's Python: another one in PATH has not the system's psycopg.
exec /usr/bin/python3 "$here/nearest_bench.py" "${1:-1000000}" "${MAKE_SIGNATURES:-$here/../build-bench/make_signatures}" "${MAKE_BIT_CODES:-$here/../build-bench/make_bit_codes}"
