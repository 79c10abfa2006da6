#!/usr/bin/env bash
# Sizes and times of docs/operating.md: columns, indexes, dump and restore, VACUUM. One run, seconds and bytes a row.
# The server is that of PGHOST (./run bench starts one); databases neardup_operating and neardup_operating_copy are made
# and dropped there.
#   operating_bench.sh [ROWS]      documents of 60 words (default 20000; the page has 200000)
set -euo pipefail
rows=${1:-20000}
export PGDATABASE=neardup_operating PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning -c maintenance_work_mem=1GB"
folder=$(mktemp -d)

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
drop() { sql -d postgres -c 'DROP DATABASE IF EXISTS neardup_operating' -c 'DROP DATABASE IF EXISTS neardup_operating_copy'; }
trap 'rm -rf "$folder"; drop' EXIT
# timed WHAT COMMAND ...: the seconds that it took
timed() {
  local start=$EPOCHREALTIME what=$1
  shift
  "$@" >/dev/null
  awk -v a="$start" -v b="$EPOCHREALTIME" -v w="$what" 'BEGIN { printf "%-66s %8.2f s\n", w, b - a }'
}
a_row() { printf '%-66s %8s\n' "$1, bytes a row" "$(sql -c "SELECT round(pg_relation_size('$2') / (SELECT count(*) FROM $3)::numeric)")"; }

drop
sql -d postgres -c 'CREATE DATABASE neardup_operating' -c 'CREATE DATABASE neardup_operating_copy'
echo "$(sql -c 'SELECT version()'), $(nproc) processors, $rows documents of 60 words"
sql -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)'
word="'w' || (hashint8(CASE WHEN i % 10 = 0 THEN i - 1 ELSE i END * 61 + j + CASE WHEN i % 10 = 0 AND j = 20 THEN 500000000000 ELSE 0 END) & 262143)"
sql -c "INSERT INTO docs SELECT i, (SELECT string_agg($word, ' ') FROM generate_series(1, 60) j) FROM generate_series(1, $rows::bigint) i" -c 'VACUUM ANALYZE docs'
a_row "table without signatures" docs docs
timed "CREATE TABLE .. AS SELECT id, to_minhash(body)" sql -c 'CREATE TABLE stored AS SELECT id, to_minhash(body) AS sig FROM docs'
a_row "table of id and minhash" stored stored
sql -c 'CREATE TABLE narrow AS SELECT id, to_minhash(body, bits => 16) AS sig FROM docs' \
  -c 'CREATE TABLE hashes AS SELECT id, to_simhash(body) AS sig FROM docs' -c 'CREATE TABLE digests AS SELECT id, to_ctph(body) AS sig FROM docs'
a_row "table of id and minhash of 16 bits" narrow narrow
a_row "table of id and simhash" hashes hashes
a_row "table of id and ctph" digests digests
for t in stored hashes digests; do
  timed "CREATE INDEX on $t" sql -c "CREATE INDEX ${t}_sig ON $t USING lsh (sig)"
  a_row "index on $t" ${t}_sig $t
done
timed "CREATE INDEX on stored, 64 MB" sql -c 'SET maintenance_work_mem = 65536' -c 'CREATE INDEX again ON stored USING lsh (sig)' -c 'DROP INDEX again'
timed "ALTER TABLE docs ADD a generated column" sql -c 'ALTER TABLE docs ADD sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED'
timed "CREATE INDEX on docs" sql -c 'CREATE INDEX docs_sig ON docs USING lsh (sig)'
timed "DELETE of a fifth" sql -c 'DELETE FROM stored WHERE id % 5 = 0'
timed "VACUUM of stored and its index" sql -c 'VACUUM stored'
timed "INSERT of as many" sql -c 'INSERT INTO stored SELECT id, sig FROM docs WHERE id % 5 = 0'
a_row "index on stored, after that" stored_sig stored
timed "VACUUM again" sql -c 'VACUUM stored'
a_row "index on stored, after VACUUM" stored_sig stored
timed "lsh_check" sql -c "SELECT lsh_check('stored_sig')"
timed "lsh_check, heapallindexed" sql -c "SELECT lsh_check('stored_sig', true)"
timed "REINDEX" sql -c 'REINDEX INDEX stored_sig'
for t in docs stored; do
  timed "pg_dump -Fc of $t" pg_dump -Fc -t $t -f "$folder/$t" neardup_operating
  printf '%-66s %8s\n' "its size, bytes a row" "$(($(stat -c %s "$folder/$t") / rows))"
  sql -d neardup_operating_copy -c 'CREATE EXTENSION IF NOT EXISTS neardup'
  timed "pg_restore of $t$([ $t = docs ] && echo ', which signs again'), with its indexes" pg_restore -d neardup_operating_copy "$folder/$t"
done
