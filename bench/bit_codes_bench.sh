#!/usr/bin/env bash
# Bit strings near in Hamming distance: an lsh index beside the sequential scan and, where the server has it, HNSW of pgvector; all pairs. ROWS codes
# of 256 bits (default 100000), random ones and such as hashes of pictures are (make_bit_codes). Building, size, milliseconds a query, medians of
# QUERIES (default 200; 3 of the sequential scan). The server is that of PGHOST and PGDATABASE (./run bench starts one); tables named neardup_bits_*
# are made and dropped there.
#   bit_codes_bench.sh [ROWS]
# MOST_HNSW: rows up to which pgvector's index is built, too (default 200000). MOST_PAIRS: rows up to which all pairs are searched (default 2000000).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
make=${MAKE_BIT_CODES:-$here/../build-bench/make_bit_codes}
rows=${1:-100000}
queries=${QUERIES:-200}
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning -c max_parallel_workers_per_gather=0 -c max_parallel_maintenance_workers=0 -c maintenance_work_mem=1GB -c jit=off"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
drop() { sql -c 'DROP TABLE IF EXISTS neardup_bits_codes, neardup_bits_queries'; }
trap drop EXIT

# timed STATEMENT: seconds, and what it prints before them
timed() { { printf '%s\n' '\timing on'; echo "$1;"; } | psql -X -q -A -t -v ON_ERROR_STOP=1 | awk '/^Time:/ { t = $2; next } { out = out $0 " " } END { printf "%s%.2f", out, t / 1000 }'; }

# milliseconds COUNT QUERY SETTINGS: the median of the query by each of the first COUNT codes, the second time that they are asked for. One plan for
# all.
milliseconds() {
  { echo 'SET plan_cache_mode = force_generic_plan;'
    echo "$3"
    echo "PREPARE q(bit) AS $2;"
    sql -c "SELECT 'EXECUTE q(''' || code::text || ''');' FROM neardup_bits_queries ORDER BY n LIMIT $1"
    printf '%s\n' '\timing on'
    sql -c "SELECT 'EXECUTE q(''' || code::text || ''');' FROM neardup_bits_queries ORDER BY n LIMIT $1"; } | psql -X -q -A -t -v ON_ERROR_STOP=1 | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' |
    sort -n | awk '{ t[NR] = $1 } END { printf "%.3f", t[int((NR + 1) / 2)] }'
}

echo "$(sql -c 'SELECT version()'), $(nproc) processors"
sql -c 'CREATE EXTENSION IF NOT EXISTS neardup'
pgvector=$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
if [ "$pgvector" = 0 ]; then echo "pgvector is not installed: no HNSW"; fi
# It takes 80 s to build for 100,000 codes.
if [ "$rows" -gt "${MOST_HNSW:-200000}" ]; then pgvector=0; fi
if [ "$pgvector" = 1 ]; then sql -c 'CREATE EXTENSION IF NOT EXISTS vector'; fi
near="SELECT count(*) FROM neardup_bits_codes WHERE bit_hamming(code, \$1)"
for skew in 0 0.5; do
  drop
  sql -c 'CREATE TABLE neardup_bits_codes (id int, code bit(256))'
  "$make" "$rows" 256 "$skew" | sql -c 'COPY neardup_bits_codes FROM STDIN'
  sql -c 'VACUUM ANALYZE neardup_bits_codes' -c "CREATE TABLE neardup_bits_queries AS SELECT n, code FROM generate_series(1, $queries) n JOIN neardup_bits_codes ON id = n * ($rows / $queries)"
  echo "$rows codes of 256 bits, $( [ $skew = 0 ] && echo random || echo 'as hashes of pictures are' ); unrelated ones differ in $(sql -c "SELECT round(avg(d), 1) || ' bits, standard deviation ' || round(stddev(d), 1) FROM (SELECT bit_hamming(a.code, b.code) AS d FROM neardup_bits_queries a, neardup_bits_queries b WHERE a.n < b.n LIMIT 20000) p")"
  scan=$(milliseconds 3 "$near <= 31" "")
  echo "lsh built in $(timed 'CREATE INDEX neardup_bits_index ON neardup_bits_codes USING lsh (code bit_ops (max_distance = 31))') s, $(sql -c "SELECT pg_relation_size('neardup_bits_index') / $rows") bytes a row"
  for d in 31 16 8; do
    ours=$(milliseconds "$queries" "$near <= $d" "SET enable_seqscan = off;")
    awk -v d="$d" -v a="$ours" -v b="$scan" 'BEGIN { printf "distance <= %2d   lsh %8.3f ms   sequential scan %9.3f ms   %6.0f x\n", d, a, b, b / a }'
  done
  if [ "$rows" -le "${MOST_PAIRS:-2000000}" ]; then
    echo "all pairs within 31: pairs and seconds $(timed "SELECT count(*) FROM all_pairs('SELECT id, code FROM neardup_bits_codes', 1 - 31 / 256.0)")"
  fi
  [ "$pgvector" = 1 ] || continue
  sql -c 'DROP INDEX neardup_bits_index'
  echo "HNSW built in $(timed 'CREATE INDEX neardup_bits_index ON neardup_bits_codes USING hnsw (code bit_hamming_ops)') s, $(sql -c "SELECT pg_relation_size('neardup_bits_index') / $rows") bytes a row"
  echo "HNSW, the ten nearest: $(milliseconds "$queries" "SELECT id FROM neardup_bits_codes ORDER BY code <~> \$1 LIMIT 10" "SET enable_seqscan = off;") ms"
  echo "HNSW, share of the rows within 31 that are among its 40 nearest: $(sql -c "SET enable_seqscan = off; SET hnsw.ef_search = 40; SELECT round(sum(found)::numeric / sum(wanted), 4) FROM (SELECT (SELECT count(*) FROM (SELECT code FROM neardup_bits_codes ORDER BY code <~> q.code LIMIT 40) h WHERE bit_hamming(h.code, q.code) <= 31) AS found, (SELECT count(*) FROM neardup_bits_codes c WHERE bit_hamming(c.code, q.code) <= 31) AS wanted FROM neardup_bits_queries q WHERE n <= 20) r")"
done
