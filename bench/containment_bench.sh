#!/usr/bin/env bash
# Containment of sets by an lsh index beside GIN with verification and LSHEnsemble, and all pairs of sets beside a join of elements in SQL: ROWS sets of 400 numbers (default 100000), of which 40 are from a pool of
# 5,000 that many rows share, as boilerplate is. Building, size, and milliseconds a query. The server is that of PGHOST and
# PGDATABASE (./run bench starts one); tables named neardup_contain_* are made and dropped there.
#   containment_bench.sh [ROWS]
# PAIR_ROWS: of all pairs (default 5000: in SQL each element of the pool joins all rows that have it).
# QUERIES: by lsh (default 200); GIN gets a tenth of them, and 3 of rows in a query, which meets most rows by the pool.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
rows=${1:-100000}
pair_rows=${PAIR_ROWS:-5000}
queries=${QUERIES:-200}
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning -c max_parallel_workers_per_gather=0 -c max_parallel_maintenance_workers=0 -c maintenance_work_mem=1GB -c jit=off"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
drop() { sql -c 'DROP TABLE IF EXISTS neardup_contain_docs, neardup_contain_queries, neardup_contain_pairs'; }
trap drop EXIT

echo "$(sql -c 'SELECT version()'), $(nproc) processors"
sql -c 'CREATE EXTENSION IF NOT EXISTS neardup'
drop
sql -c "CREATE TABLE neardup_contain_docs AS SELECT i AS id, array(SELECT CASE WHEN e <= 40 THEN hashint8extended(hashint8(i * 400 + e) & 4095, 1) ELSE hashint8extended(i * 400 + e, 0) END FROM generate_series(1, 400) e) AS set FROM generate_series(1::bigint, $rows) i" \
  -c "VACUUM ANALYZE neardup_contain_docs"
# excerpt: 120 numbers of a row, as of 300 words, of which as many are from the pool as of the row's own; page: five rows, as of 5,000 words; both ascend, as winnow_hashes() returns them
sql -c "CREATE TABLE neardup_contain_queries AS SELECT n, d.id, array(SELECT e FROM unnest(d.set[29:148]) e ORDER BY e) AS excerpt, array(SELECT DISTINCT unnest(p.set) AS e FROM neardup_contain_docs p WHERE p.id BETWEEN d.id AND d.id + 4 ORDER BY e) AS page FROM generate_series(1, $queries) n JOIN neardup_contain_docs d ON d.id = n * ($rows / $queries) - 5"

# build NAME INDEX: seconds and bytes an element
build() {
  local took
  took=$({ printf '%s\n' '\timing on'; echo "CREATE INDEX neardup_contain_index ON neardup_contain_docs USING $2;"; } | psql -X -q -A -t | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p')
  awk -v n="$1" -v t="$took" -v b="$(sql -c "SELECT pg_relation_size('neardup_contain_index')")" -v e="$((400 * rows))" 'BEGIN { printf "%-6s built in %6.2f s, %7.1f MB, %5.2f bytes an element\n", n, t / 1000, b / 1048576, b / e }'
}

# milliseconds COUNT CONDITION: of a search for the rows that meet the condition on q, a row of the queries: one statement searches for COUNT of them
# in turn, the second time that it runs.
milliseconds() {
  local statement="SELECT sum(found) FROM (SELECT excerpt, page FROM neardup_contain_queries WHERE n <= $1 OFFSET 0) q, LATERAL (SELECT count(*) AS found FROM neardup_contain_docs WHERE $2) d;"
  printf '%s\n' 'SET enable_seqscan = off;' "$statement" '\timing on' "$statement" | psql -X -q -A -t -v ON_ERROR_STOP=1 |
    sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | awk -v n="$1" '{ printf "%.3f", $1 / n }'
}

# pairs QUERY: what it counts, and seconds
pairs() { { printf '%s\n' '\timing on'; echo "$1;"; } | psql -X -q -A -t -v ON_ERROR_STOP=1 | awk '/^Time:/ { t = $2; next } { n = $0 } END { printf "%s %.3f", n, t / 1000 }'; }

in_row="containment_exact(q.excerpt, set) >= 0.8"
in_page="containment_exact(set, q.page) >= 0.8"
echo "$rows sets of 400 elements; 120 elements of a row in rows, rows in 2,000 elements: milliseconds"
build lsh "lsh (set)"
lsh_row=$(milliseconds "$queries" "$in_row")
lsh_page=$(milliseconds "$queries" "$in_page")
sql -c 'DROP INDEX neardup_contain_index'
build GIN "gin (set)"
gin_row=$(milliseconds $((queries / 10)) "$in_row AND set && q.excerpt")
gin_page=$(milliseconds 3 "$in_page AND set && q.page")
awk -v a="$lsh_row" -v b="$gin_row" -v c="$lsh_page" -v d="$gin_page" 'BEGIN {
  printf "query in row   lsh %8.3f   GIN and verification %9.3f   %6.1f x\n", a, b, b / a
  printf "row in query   lsh %8.3f   GIN and verification %9.3f   %6.1f x\n", c, d, d / c }'
python3 "$here/lsh_ensemble.py" "$((rows < 20000 ? rows : 20000))"

# A part of each tenth row is a row of its own.
few="SELECT id, CASE WHEN id % 10 = 0 THEN (SELECT p.set[1:300] FROM neardup_contain_docs p WHERE p.id = d.id - 1) ELSE set END AS set FROM neardup_contain_docs d WHERE id <= $pair_rows"
sql -c "CREATE TABLE neardup_contain_pairs AS $few" -c 'VACUUM ANALYZE neardup_contain_pairs'
engine=$(pairs "SELECT count(*) FROM all_pairs('SELECT id, set FROM neardup_contain_pairs', 0.7, measure => 'containment')")
plain=$(pairs "WITH e AS MATERIALIZED (SELECT id, cardinality(set) AS size, unnest(set) AS x FROM neardup_contain_pairs)
  SELECT count(*) FROM (SELECT a.id, b.id FROM e a JOIN e b ON a.x = b.x AND a.id <> b.id GROUP BY a.id, b.id
                        HAVING count(*) >= 0.7 * min(a.size)) p")
awk -v n="$pair_rows" -v a="$engine" -v b="$plain" 'BEGIN {
  split(a, x); split(b, y)
  printf "pairs of %d sets, containment >= 0.7: all_pairs %d in %.3f s, elements joined in SQL %d in %.3f s, %.0f x\n", n, x[1], x[2], y[1], y[2], y[2] / x[2] }'
