#!/usr/bin/env bash
# Searches by lsh indexes of simhashes and ctph digests beside sequential scans, in one run. The server is that of PGHOST
# and PGDATABASE, on this machine (./run bench starts one); tables named neardup_families_bench_* are made and dropped
# there. ROWS=100000 for fewer simhashes than a million.
set -euo pipefail
# The system's Python: another one in PATH has not the system's psycopg.
exec /usr/bin/python3 "$(cd "$(dirname "$0")" && pwd)/lsh_families_bench.py" "${ROWS:-1000000}"
