#!/usr/bin/env bash
# Similarity joins in plain SQL beside all_pairs(), pairs_between(), band keys in GIN and a nested loop over lsh indexes: seconds, medians of RUNS.
# Another run, with `plans`, compares what the planner chooses with what can be forced. The server is that of PGHOST and PGDATABASE
# (./run bench starts one); tables named neardup_join_* are made and dropped there.
#   join_bench.sh [ROWS]         self-joins of ROWS documents of 60 words (default 100000), of which each tenth is a near copy, and of ten times as many;
#                                what planning costs
#   join_bench.sh plans          60 joins of tables of 10 to 20,000 rows
# RUNS: of each (default 3). LOOP=no: without GIN and the nested loop.
set -euo pipefail
runs=${RUNS:-3}
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning -c max_parallel_workers_per_gather=0 -c neardup.threads=2 -c jit=off"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
drop() { sql -c 'DROP TABLE IF EXISTS neardup_join_docs, neardup_join_new, neardup_join_small, neardup_join_large'; }
trap drop EXIT

# documents FROM TO: rows id, body
word="'w' || (hashint8(CASE WHEN i % 10 = 0 THEN i - 1 ELSE i END * 61 + j + CASE WHEN i % 10 = 0 AND j = 20 THEN 500000000000 ELSE 0 END) & 262143)"
documents() { printf "SELECT i AS id, (SELECT string_agg(%s, ' ') FROM generate_series(1, 60) j) AS body FROM generate_series(%s::bigint, %s) i" "$word" "$1" "$2"; }

# seconds SETTINGS QUERY: the median
seconds() {
  local n
  for ((n = 0; n < runs; ++n)); do
    printf '%s;\n\\timing on\n%s;\n' "$1" "$2" | psql -X -q -A -t -v ON_ERROR_STOP=1 | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -n 1
  done | sort -n | awk '{ t[NR] = $1 } END { printf "%.4f", t[int((NR + 1) / 2)] / 1000 }'
}

# compare WHAT BASE BASE_QUERY QUERY [SETTINGS]: the join beside what is known, both with the memory of the settings
compare() {
  local base join
  base=$(seconds "${5:-SELECT 1}; SET maintenance_work_mem = '512MB'" "$3")
  join=$(seconds "${5:-SET work_mem = '512MB'}; SET enable_nestloop = off" "$4")
  awk -v w="$1" -v n="$2" -v b="$base" -v j="$join" 'BEGIN { printf "%-52s %9.3f   %-14s %9.3f   %5.2f x\n", w, j, n, b, j / b }'
}

on="jaccard(a.sig, b.sig) >= 0.8 AND a.id < b.id"
# joined CONDITION: the join that is measured
joined() { printf 'SELECT count(*), sum(length(x.body)) FROM (SELECT a.id, b.body FROM neardup_join_docs a JOIN neardup_join_docs b ON %s) x' "$1"; }

self_joins() {
  local rows=$1
  sql -c "CREATE TABLE neardup_join_docs AS SELECT *, to_minhash(body) AS sig, to_simhash(body) AS hash, to_ctph(body) AS digest FROM ($(documents 1 "$rows")) d" \
    -c "ALTER TABLE neardup_join_docs ADD PRIMARY KEY (id)" -c "VACUUM ANALYZE neardup_join_docs"
  echo "$rows rows with themselves (seconds; join, what it is compared with, ratio)"
  compare "jaccard >= 0.8, id and body" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, sig FROM neardup_join_docs', 0.8)" \
    "$(joined "$on")"
  compare "the same in 64 MB" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, sig FROM neardup_join_docs', 0.8)" \
    "$(joined "$on")" "SET work_mem = '64MB'; SET hash_mem_multiplier = 1"
  compare "hamming <= 3" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, hash FROM neardup_join_docs', 61 / 64.0)" \
    "$(joined "hamming(a.hash, b.hash) <= 3 AND a.id < b.id")"
  compare "ctph_edit_rate <= 0.1" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, digest FROM neardup_join_docs', 0.9)" \
    "$(joined "ctph_edit_rate(a.digest, b.digest) <= 0.1 AND a.id < b.id")"
  compare "jaccard >= 0.8, 1000 groups" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, sig, (id + 1) / 10 % 1000 AS within FROM neardup_join_docs', 0.8)" \
    "SET enable_hashjoin = off; SET enable_mergejoin = off; $(joined "$on AND (a.id + 1) / 10 % 1000 = (b.id + 1) / 10 % 1000")"
  if [ "${LOOP:-yes}" = yes ]; then with_indexes; fi
}

# The join beside what indexes do.
with_indexes() {
  sql -c "CREATE INDEX neardup_join_lsh ON neardup_join_docs USING lsh (sig)"
  compare "jaccard >= 0.8, id and body" "loop, lsh index" "SET neardup.enable_join = off; $(joined "$on")" "$(joined "$on")"
  sql -c "DROP INDEX neardup_join_lsh" -c "ALTER TABLE neardup_join_docs ADD keys bigint[]" -c "UPDATE neardup_join_docs SET keys = ARRAY(SELECT band_keys(sig, 0.8))" \
    -c "VACUUM (FULL, ANALYZE) neardup_join_docs" -c "CREATE INDEX ON neardup_join_docs USING gin (keys)"
  runs=1 compare "jaccard >= 0.8, id and body" "band keys, GIN" "SET neardup.enable_join = off; SET enable_seqscan = off; $(joined "a.keys && b.keys AND $on")" "$(joined "$on")"
}

large_self_join() {
  local rows=$1
  sql -c "DROP TABLE neardup_join_docs" -c "CREATE TABLE neardup_join_docs AS SELECT *, to_minhash(body) AS sig FROM ($(documents 1 "$rows")) d" -c "VACUUM ANALYZE neardup_join_docs"
  echo "$rows rows with themselves, in 2 GB"
  compare "jaccard >= 0.8, id and body" "all_pairs" "SET maintenance_work_mem = '2047MB'; SELECT count(*) FROM all_pairs('SELECT id, sig FROM neardup_join_docs', 0.8)" \
    "SET work_mem = '2GB'; $(joined "$on")"
}

# The rows are those of large_self_join().
new_among_old() {
  local new=$1 old=$2
  sql -c "CREATE TABLE neardup_join_small AS SELECT id, sig FROM neardup_join_docs" -c "DROP TABLE neardup_join_docs" -c "ALTER TABLE neardup_join_small RENAME TO neardup_join_docs" \
    -c "CREATE TABLE neardup_join_new AS SELECT id + 1 AS id, sig FROM neardup_join_docs WHERE id % $((old / new)) = 0" -c "VACUUM ANALYZE neardup_join_docs" -c "VACUUM ANALYZE neardup_join_new"
  echo "$new new rows among $old old ones"
  compare "EXISTS" "pairs_between" "SELECT count(DISTINCT id_a) FROM pairs_between('SELECT id, sig FROM neardup_join_new', 'SELECT id, sig FROM neardup_join_docs', 0.8)" \
    "SELECT count(*) FROM neardup_join_new n WHERE EXISTS (SELECT FROM neardup_join_docs o WHERE jaccard(n.sig, o.sig) >= 0.8)"
}

# milliseconds SETTINGS QUERY: the median planning time of one session
milliseconds() {
  local n
  { printf '%s;\n' "$1"; for ((n = 0; n < 301; ++n)); do printf 'EXPLAIN (SUMMARY) %s;\n' "$2"; done; } | psql -X -q -A -t -v ON_ERROR_STOP=1 |
    sed -n 's/^Planning Time: \([0-9.]*\) ms.*/\1/p' | sort -n | awk '{ t[NR] = $1 } END { printf "%.3f", t[int((NR + 1) / 2)] }'
}

planning() {
  local plain="SELECT count(*) FROM neardup_join_new a JOIN neardup_join_new b USING (id) JOIN neardup_join_new c USING (id) JOIN neardup_join_new d USING (id) JOIN neardup_join_new e USING (id)"
  local near="SELECT count(*) FROM neardup_join_new a JOIN neardup_join_new b ON jaccard(a.sig, b.sig) >= 0.8 AND a.id < b.id"
  local loaded="SELECT to_simhash('a') IS NULL"
  echo "planning (milliseconds, medians of 301)"
  printf '%-52s without the library %s, with it %s\n' "five tables, no similarity" "$(milliseconds "SELECT 1" "$plain")" "$(milliseconds "$loaded" "$plain")"
  printf '%-52s neardup.enable_join off %s, on %s\n' "a similarity join" "$(milliseconds "SET neardup.enable_join = off" "$near")" "$(milliseconds "SET neardup.enable_join = on" "$near")"
}

# The plan by cost beside the fastest of those forced.
plans() {
  local small where query chosen node loop worst=0 bad=0 ratio groups
  sql -c "CREATE TABLE neardup_join_large AS SELECT *, to_minhash(body) AS sig FROM ($(documents 1 20000)) d" -c "CREATE TABLE neardup_join_small (LIKE neardup_join_large)"
  printf '%-8s %-8s %-6s %-20s %9s %9s %9s   ratio to the fastest\n' small large index join chosen node without
  for index in no yes; do
    [ $index = no ] || sql -c "CREATE INDEX ON neardup_join_large USING lsh (sig)"
    for small in 10 100 1000 5000 20000; do
      sql -c "TRUNCATE neardup_join_small" -c "INSERT INTO neardup_join_small SELECT * FROM neardup_join_large WHERE id % (20000 / $small) = 0" -c "VACUUM ANALYZE neardup_join_small, neardup_join_large"
      for where in 'JOIN' 'LEFT JOIN' 'EXISTS' 'NOT EXISTS' 'JOIN, 50 groups' 'EXISTS, 50 groups'; do
        groups=
        case $where in *groups) groups="AND (a.id + 1) / 10 % 50 = (b.id + 1) / 10 % 50" ;; esac
        case $where in
          *EXISTS*) query="SELECT count(*) FROM neardup_join_small a WHERE ${where%%,*} (SELECT FROM neardup_join_large b WHERE jaccard(a.sig, b.sig) >= 0.8 AND a.id <> b.id $groups)" ;;
          *) query="SELECT count(*), sum(length(b.body)) FROM neardup_join_small a ${where%%,*} neardup_join_large b ON jaccard(a.sig, b.sig) >= 0.8 AND a.id <> b.id $groups" ;;
        esac
        chosen=$(seconds "SELECT 1" "$query")
        node=$(seconds "SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off" "$query")
        loop=60
        if [ $index = yes ] || [ "$small" -le 1000 ] || [ -n "$groups" ]; then loop=$(runs=1 seconds "SET neardup.enable_join = off" "$query"); fi
        ratio=$(awk -v c="$chosen" -v n="$node" -v l="$loop" 'BEGIN { m = n < l ? n : l; printf "%.2f", c / m }')
        printf '%-8s %-8s %-6s %-20s %9.4f %9.4f %9.4f   %s\n' "$small" 20000 $index "$where" "$chosen" "$node" "$loop" "$ratio"
        worst=$(awk -v a="$worst" -v b="$ratio" 'BEGIN { print (a > b ? a : b) }')
        bad=$((bad + $(awk -v r="$ratio" 'BEGIN { print (r > 1.5) }')))
      done
    done
  done
  echo "worst ratio $worst; $bad of 60 above 1.5"
}

echo "$(sql -c 'SELECT version()'), $(nproc) processors"
sql -c 'CREATE EXTENSION IF NOT EXISTS neardup'
drop
if [ "${1:-}" = plans ]; then
  plans
else
  rows=${1:-100000}
  self_joins "$rows"
  large_self_join $((10 * rows))
  new_among_old "$rows" $((10 * rows))
  planning
fi
