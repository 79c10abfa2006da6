#!/usr/bin/env bash
# Jobs: files of this machine from the folder to a table of duplicates, then a table of short documents of which 1 % change.
# Seconds, one run. The server is that of PGHOST and PGDATABASE (./run bench starts one); tables named neardup_bench_* are
# made and dropped there.
#   jobs_bench.sh [ROWS]      short documents (default 100000; 1000000 takes 3 GB and some minutes)
# FILES: folders to load (default /usr/share /usr/include /usr/lib); NEARDUP: the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
neardup=${NEARDUP:-$here/../bin/neardup}
rows=${1:-100000}
read -r -a folders <<<"${FILES:-/usr/share /usr/include /usr/lib}"
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning -c maintenance_work_mem=1GB"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
drop() {
  for job in neardup_bench_file_copies neardup_bench_doc_copies; do
    sql -c "SELECT drop_duplicates('$job')" >/dev/null 2>&1 || true
  done
  sql -c 'DROP TABLE IF EXISTS neardup_bench_files, neardup_bench_docs'
}
trap drop EXIT
# timed WHAT COMMAND ...: the seconds that it took
timed() {
  local start=$EPOCHREALTIME what=$1
  shift
  "$@" >/dev/null
  awk -v a="$start" -v b="$EPOCHREALTIME" -v w="$what" 'BEGIN { printf "%-60s %8.1f\n", w, b - a }'
}
result() { sql -c "SELECT count(*) || ' rows, ' || count(DISTINCT cluster) || ' clusters, ' || count(*) FILTER (WHERE NOT survivor) || ' copies' FROM $1"; }
peak() { sql -c "SELECT pg_size_pretty(sum(pg_total_relation_size(c.oid))) FROM pg_class c WHERE c.relkind = 'r' AND c.relname LIKE '$1%'"; }

echo "$(sql -c 'SELECT version()'), $(nproc) processors"
sql -c 'CREATE EXTENSION IF NOT EXISTS neardup'
drop
echo "Files of ${folders[*]}:"
timed "loaded" "$neardup" load "${folders[@]}" -t neardup_bench_files 2>/dev/null || true
sql -c "SELECT count(*) || ' texts, ' || pg_size_pretty(sum(octet_length(body))) FROM neardup_bench_files"
sql -c "SELECT create_duplicates('neardup_bench_file_copies', 'neardup_bench_files', 'id', 'body')" >/dev/null
timed "signed, indexed and clustered" sql -c "CALL refresh_duplicates('neardup_bench_file_copies')"
result neardup_bench_file_copies
timed "nothing has changed" sql -c "CALL refresh_duplicates('neardup_bench_file_copies')"

echo "$rows documents of 60 words; each tenth is another with one word changed:"
sql -c "CREATE TABLE neardup_bench_docs (id bigint PRIMARY KEY, body text)"
word="'w' || (hashint8(CASE WHEN i % 10 = 0 THEN i - 1 ELSE i END * 61 + j + CASE WHEN i % 10 = 0 AND j = 20 THEN 500000000000 ELSE 0 END) & 262143)"
timed "made" sql -c "INSERT INTO neardup_bench_docs SELECT i, (SELECT string_agg($word, ' ') FROM generate_series(1, 60) j)
  FROM generate_series(1, $rows::bigint) i" -c "VACUUM ANALYZE neardup_bench_docs"
sql -c "SELECT create_duplicates('neardup_bench_doc_copies', 'neardup_bench_docs', 'id', 'body')" >/dev/null
timed "signed, indexed and clustered" sql -c "CALL refresh_duplicates('neardup_bench_doc_copies')"
result neardup_bench_doc_copies
sql -c "INSERT INTO neardup_bench_docs SELECT id + 1000000000, body || ' and more' FROM neardup_bench_docs WHERE id % 200 = 7" \
  -c "UPDATE neardup_bench_docs SET body = 'now ' || body WHERE id % 200 = 11" -c "ANALYZE neardup_bench_docs"
timed "refreshed after 0.5 % inserts and 0.5 % updates" sql -c "CALL refresh_duplicates('neardup_bench_doc_copies')"
echo "clustered: $(sql -c 'SELECT clustered_rows FROM neardup_bench_doc_copies_job') rows; tables of the job: $(peak neardup_bench_doc_copies)"
result neardup_bench_doc_copies
timed "nothing has changed" sql -c "CALL refresh_duplicates('neardup_bench_doc_copies')"
