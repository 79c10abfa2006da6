#!/usr/bin/env bash
# Pairs and clusters verified on documents of 10 kB: pages that are all equal, and pages that are all near each other.
# Seconds, median of three runs. The server is that of PGHOST and PGDATABASE (./run bench starts one); tables named
# neardup_bench_* are made and dropped there.
#   verify_bench.sh [ROWS]      pages of either kind (default 1000); ten times as many equal ones besides
set -euo pipefail
rows=${1:-1000}
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
trap 'sql -c "DROP TABLE IF EXISTS neardup_bench_equal, neardup_bench_near"' EXIT
# timed WHAT QUERY: the median of three
timed() {
  local what=$1 query=$2 start
  for _ in 1 2 3; do
    start=$EPOCHREALTIME
    sql -c "$query" >"/tmp/neardup-verify-$$"
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", b - a }'
  done | sort -n | sed -n 2p | { read -r seconds; printf '%-62s %8.2f   %s\n' "$what" "$seconds" "$(cat "/tmp/neardup-verify-$$")"; }
  rm -f "/tmp/neardup-verify-$$"
}

echo "$(sql -c 'SELECT version()'), $(nproc) processors"
sql -c 'CREATE EXTENSION IF NOT EXISTS neardup' -c 'DROP TABLE IF EXISTS neardup_bench_equal, neardup_bench_near'
sql -c "CREATE TABLE neardup_bench_equal AS SELECT i AS id, body, to_minhash(body) AS sig FROM
  (SELECT string_agg(md5(w::text), ' ') AS body FROM generate_series(1, 300) w) page, generate_series(1, 10 * $rows) i"
sql -c "CREATE TABLE neardup_bench_near AS SELECT id, body, to_minhash(body) AS sig FROM
  (SELECT i AS id, (SELECT string_agg(md5(CASE WHEN (w * 7919 + i) % 97 < 4 THEN i ELSE 1 END * w::bigint || ''), ' ') AS body
                    FROM generate_series(1, 300) w) FROM generate_series(1, $rows) i) page"
sql -c 'VACUUM ANALYZE neardup_bench_equal, neardup_bench_near'
columns="id, sig, body AS doc"
timed "all_pairs, $rows equal pages" "SELECT count(*) || ' pairs' FROM all_pairs('SELECT $columns FROM neardup_bench_equal WHERE id <= $rows', 0.8, verify => 'jaccard')"
timed "all_pairs, $rows near pages" "SELECT count(*) || ' pairs' FROM all_pairs('SELECT $columns FROM neardup_bench_near', 0.6, verify => 'jaccard')"
for linkage in anchor connected; do
  timed "all_clusters, $linkage, $((10 * rows)) equal pages" \
    "SELECT count(DISTINCT cluster) || ' clusters' FROM all_clusters('SELECT $columns FROM neardup_bench_equal ORDER BY id', 0.8, '$linkage', 'jaccard')"
  timed "all_clusters, $linkage, $rows near pages" \
    "SELECT count(DISTINCT cluster) || ' clusters' FROM all_clusters('SELECT $columns FROM neardup_bench_near ORDER BY id', 0.6, '$linkage', 'jaccard')"
done
