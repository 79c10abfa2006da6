#!/usr/bin/env bash
# lsh indexes of several columns and of sets: a tenant's query among the rows of all tenants, by USING lsh (tenant, sig), by
# USING lsh (sig), and one tenant's own table; one-to-many search of minutiae; sets of integers. Milliseconds a query, median
# of 40, side by side. The server is that of PGHOST and PGDATABASE (./run bench starts one); tables named neardup_bench_* are
# made and dropped there.
#   lsh_columns_bench.sh [ROWS]      default 100000; 1000000 takes 3 GB and some minutes
set -euo pipefail
rows=${1:-100000}
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning -c maintenance_work_mem=1GB -c jit=off"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
drop() { sql -c 'DROP TABLE IF EXISTS neardup_bench_tenants, neardup_bench_one, neardup_bench_prints, neardup_bench_sets'; }
trap drop EXIT
timed() {
  local start=$EPOCHREALTIME what=$1
  shift
  "$@" >/dev/null
  awk -v a="$start" -v b="$EPOCHREALTIME" -v w="$what" 'BEGIN { printf "%-72s %8.1f s\n", w, b - a }'
}
# median WHAT SETTINGS QUERY: of 40 runs of the query, with :i for their number; the rows of the last one
median() {
  sql -c "SET neardup.jaccard_threshold = 0.8; $2
DO \$do\$
DECLARE began timestamptz; ms float8[]; n bigint;
BEGIN
  FOR i IN 1..45 LOOP
    began := clock_timestamp();
    EXECUTE format('SELECT count(*) FROM (%s) x', replace(\$q\$$3\$q\$, ':i', i::text)) INTO n;
    IF i > 5 THEN ms := ms || extract(epoch FROM clock_timestamp() - began) * 1000; END IF;
  END LOOP;
  PERFORM set_config('neardup_bench.ms', (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY v)::numeric, 3) FROM unnest(ms) v)::text, false),
    set_config('neardup_bench.n', n::text, false);
END \$do\$;
SELECT format('%-72s %8s ms %8s rows', '$1', current_setting('neardup_bench.ms'), current_setting('neardup_bench.n'))"
}

echo "$(sql -c 'SELECT version()'), $(nproc) processors, $rows rows"
sql -c 'CREATE EXTENSION IF NOT EXISTS neardup'
drop
# A thousandth of the texts is one notice that every tenant sends; of the rest each has a near copy in its tenant.
timed "tenants made" sql -c "CREATE TABLE neardup_bench_tenants AS SELECT i AS id, i % 1000 AS tenant, set_minhash(CASE WHEN i / 1000 % 10 = 0
    THEN (SELECT array_agg(e::bigint) FROM generate_series(1, 60) e) ELSE (SELECT array_agg((i / 2000)::bigint * 1000000007 + (i % 1000) * 1009 + e
    + CASE WHEN e = i % 60 THEN i ELSE 0 END) FROM generate_series(1, 60) e) END) AS sig FROM generate_series(0, $rows - 1) i" \
  -c "CREATE TABLE neardup_bench_one AS SELECT * FROM neardup_bench_tenants WHERE tenant = 77"
timed "lsh (tenant, sig) built" sql -c "CREATE INDEX neardup_bench_both ON neardup_bench_tenants USING lsh (tenant, sig)"
timed "lsh (sig) built" sql -c "CREATE INDEX neardup_bench_sig ON neardup_bench_tenants USING lsh (sig)"
sql -c "CREATE INDEX ON neardup_bench_one USING lsh (sig)" -c "VACUUM ANALYZE neardup_bench_tenants" -c "VACUUM ANALYZE neardup_bench_one"
sql -c "SELECT 'bytes a row: ' || (SELECT bytes_per_row FROM lsh_info('neardup_bench_both')) || ' and ' || (SELECT bytes_per_row FROM lsh_info('neardup_bench_sig'))"
for kind in "a text of one tenant:1" "the notice that all tenants send:0"; do
  query="SELECT id FROM neardup_bench_tenants WHERE tenant = 77 AND jaccard(sig, (SELECT sig FROM neardup_bench_one WHERE id / 1000 % 10 = ${kind#*:} ORDER BY id OFFSET :i % 9 LIMIT 1)) >= 0.8"
  median "${kind%:*}, lsh (tenant, sig)" "SET enable_seqscan = off; UPDATE pg_index SET indisvalid = indexrelid <> 'neardup_bench_sig'::regclass WHERE indrelid = 'neardup_bench_tenants'::regclass;" "$query"
  median "${kind%:*}, lsh (sig)" "SET enable_seqscan = off; UPDATE pg_index SET indisvalid = indexrelid <> 'neardup_bench_both'::regclass WHERE indrelid = 'neardup_bench_tenants'::regclass;" "$query"
  median "${kind%:*}, a table of the tenant alone" "SET enable_seqscan = off;" "${query/neardup_bench_tenants WHERE tenant = 77 AND/neardup_bench_one WHERE}"
done

# Prints of a grid of 32 x 32, a fifth of the cells set.
timed "prints made" sql -c "CREATE TABLE neardup_bench_prints AS SELECT i AS id, (SELECT array_agg(DISTINCT c) FROM (SELECT (random() * 1023)::int AS c
    FROM generate_series(1, 228 + i % 2)) x) AS cells FROM generate_series(1, $rows) i"
timed "minutiae_ops built" sql -c "CREATE INDEX neardup_bench_cells ON neardup_bench_prints USING lsh (cells minutiae_ops (functions = 1024, cells = 3, grid = 32))" \
  -c "VACUUM ANALYZE neardup_bench_prints"
sql -c "SELECT 'density ' || round(avg(cardinality(cells)) / 1024, 3) FROM neardup_bench_prints TABLESAMPLE SYSTEM (1)" \
  -c "SELECT 'bytes a row: ' || bytes_per_row FROM lsh_info('neardup_bench_cells')"
again="(SELECT array_agg(c ORDER BY c) FROM neardup_bench_prints, unnest(cells) c WHERE id = :i AND hashint4(c) % 5 <> 0)"
median "one print among all, at 0.4 (80 % of its cells)" "CREATE INDEX IF NOT EXISTS neardup_bench_id ON neardup_bench_prints (id);" \
  "SELECT id FROM neardup_bench_prints WHERE jaccard_exact(cells, $again) >= 0.4"

timed "sets made" sql -c "CREATE TABLE neardup_bench_sets AS SELECT i AS id, (SELECT array_agg(((hashint8(i / 3 * 50 + e) & 1048575)::bigint * (hashint8(i / 3 * 70 + e) & 1048575)) >> 20)
    || CASE WHEN i % 3 > 0 THEN ARRAY[i::bigint] ELSE '{}' END FROM generate_series(1, 20 + i % 7) e) AS items FROM generate_series(1, $rows) i"
timed "lsh (items) built" sql -c "CREATE INDEX neardup_bench_items ON neardup_bench_sets USING lsh (items)" -c "CREATE INDEX ON neardup_bench_sets (id)" \
  -c "VACUUM ANALYZE neardup_bench_sets"
sql -c "SELECT 'bytes a row: ' || bytes_per_row FROM lsh_info('neardup_bench_items')"
for bound in 0.5 0.8; do
  median "a set among all, at $bound" "" "SELECT id FROM neardup_bench_sets WHERE jaccard_exact(items, (SELECT items FROM neardup_bench_sets WHERE id = :i * 100)) >= $bound"
done
median "the same without an index, at 0.8, of 2 % of the rows" "SET enable_indexscan = off; SET enable_bitmapscan = off;" \
  "SELECT id FROM (SELECT * FROM neardup_bench_sets LIMIT $rows / 50) x WHERE jaccard_exact(items, (SELECT items FROM neardup_bench_sets LIMIT 1)) >= 0.8"
