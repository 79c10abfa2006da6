#!/usr/bin/env bash
# Two tables of people linked: the worked example of docs/records.md (its blocks themselves) at other sizes. Seconds of
# making the tables, of candidates alone, and of candidates with their scores; then the classes with their estimated and true
# precision. One run each: the second table holds the same in every run. The server is that of PGHOST and PGDATABASE (./run
# bench starts one); tables named crm_* and people, and functions of the example, are made and dropped there, in a schema.
#   records_bench.sh [PEOPLE]     rows of each table (default 1000000: 1 GB of disk, two minutes)
#   MEMORY=64MB records_bench.sh  maintenance_work_mem (default 1GB)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
people=${1:-1000000}
memory=${MEMORY:-1GB}
page=$here/../docs/records.md
export PGOPTIONS="${PGOPTIONS:-} -c jit=off -c client_min_messages=warning -c maintenance_work_mem=$memory -c work_mem=256MB -c search_path=neardup_bench_records,public"

sql() { psql -X -q -v ON_ERROR_STOP=1 "$@"; }
# The page's block that begins with this line.
block() { awk -v first="$1" '/^```/ { inside = 0 } inside { print } /^```sql/ { getline; if (index($0, first) == 1) { inside = 1; print } }' "$page"; }
timed() {
  local what=$1 start=$EPOCHREALTIME
  sql > /dev/null
  awk -v what="$what" -v s="$start" -v e="$EPOCHREALTIME" 'BEGIN { printf "%-46s %7.1f s\n", what, e - s }'
}

sql -c 'CREATE EXTENSION IF NOT EXISTS neardup SCHEMA public' -c 'DROP SCHEMA IF EXISTS neardup_bench_records CASCADE' \
  -c 'CREATE SCHEMA neardup_bench_records'
trap "sql -c 'DROP SCHEMA IF EXISTS neardup_bench_records CASCADE'" EXIT

echo "$(sql -A -t -c 'SELECT version()'), $(nproc) processors, maintenance_work_mem $memory"
echo "$people x $people people"
block '-- People of two companies' | sed "s/SELECT 20000 AS n/SELECT $people AS n/" | timed 'tables made (not part of the link)'
candidates=$(block '-- Candidates and their scores' | sed -n '/blocked_pairs(/,/) p$/p' | sed 's/^ *FROM //; s/ p$//')
echo "SELECT count(*) FROM $candidates;" | timed 'candidates: blocked_pairs, 4 keys, counted'
block '-- Candidates and their scores' | timed 'the same, joined, 3 scores each, into a table'
block '-- Classes of scores' | timed 'classes: estimates, precision, recall'
sql -A -t -c "SELECT format('%s pairs, %s of them right', count(*), count(*) FILTER (WHERE id_a = id_b)) FROM crm_pairs"
block '-- Classes of scores' | sql
