#!/usr/bin/env bash
# Similarity joins in plain SQL beside all_pairs(), pairs_between() and a nested loop over lsh indexes: seconds, medians of RUNS.
# Another run, with `plans`, compares what the planner chooses with what can be forced. The server is that of PGHOST and PGDATABASE
# (./run bench starts one); tables named neardup_join_* are made and dropped there.
#   join_bench.sh [ROWS]         self-joins of ROWS documents of 60 words (default 100000), of which each tenth is a near copy
#   join_bench.sh plans          40 joins of tables of 100 to 20,000 rows
# RUNS: of each (default 3). LOOP=no: without the nested loop. OLD: rows that a tenth as many new ones are compared with (default 10 * ROWS).
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

self_joins() {
  local rows=$1 on="jaccard(a.sig, b.sig) >= 0.8 AND a.id < b.id"
  sql -c "CREATE TABLE neardup_join_docs AS SELECT *, to_minhash(body) AS sig, to_simhash(body) AS hash, to_ctph(body) AS digest FROM ($(documents 1 "$rows")) d" \
    -c "ALTER TABLE neardup_join_docs ADD PRIMARY KEY (id)" -c "VACUUM ANALYZE neardup_join_docs"
  echo "$rows rows with themselves (seconds; join, what it is compared with, ratio)"
  compare "jaccard >= 0.8, id and body" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, sig FROM neardup_join_docs', 0.8)" \
    "SELECT count(*), sum(length(x.body)) FROM (SELECT a.id, b.body FROM neardup_join_docs a JOIN neardup_join_docs b ON $on) x"
  compare "the same in 64 MB" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, sig FROM neardup_join_docs', 0.8)" \
    "SELECT count(*), sum(length(x.body)) FROM (SELECT a.id, b.body FROM neardup_join_docs a JOIN neardup_join_docs b ON $on) x" "SET work_mem = '64MB'; SET hash_mem_multiplier = 1"
  compare "hamming <= 3" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, hash FROM neardup_join_docs', 61 / 64.0)" \
    "SELECT count(*), sum(length(x.body)) FROM (SELECT a.id, b.body FROM neardup_join_docs a JOIN neardup_join_docs b ON hamming(a.hash, b.hash) <= 3 AND a.id < b.id) x"
  compare "ctph_edit_rate <= 0.1" "all_pairs" "SELECT count(*) FROM all_pairs('SELECT id, digest FROM neardup_join_docs', 0.9)" \
    "SELECT count(*), sum(length(x.body)) FROM (SELECT a.id, b.body FROM neardup_join_docs a JOIN neardup_join_docs b ON ctph_edit_rate(a.digest, b.digest) <= 0.1 AND a.id < b.id) x"
  if [ "${LOOP:-yes}" = yes ]; then
    sql -c "CREATE INDEX ON neardup_join_docs USING lsh (sig)"
    compare "jaccard >= 0.8, id and body" "loop, lsh index" "SET neardup.enable_join = off; SELECT count(*), sum(length(x.body)) FROM (SELECT a.id, b.body FROM neardup_join_docs a JOIN neardup_join_docs b ON $on) x" \
      "SELECT count(*), sum(length(x.body)) FROM (SELECT a.id, b.body FROM neardup_join_docs a JOIN neardup_join_docs b ON $on) x"
  fi
}

new_among_old() {
  local new=$1 old=$2
  sql -c "DROP TABLE neardup_join_docs" -c "CREATE TABLE neardup_join_docs AS SELECT id, to_minhash(body) AS sig FROM ($(documents 1 "$old")) d" \
    -c "CREATE TABLE neardup_join_new AS SELECT id + 1 AS id, sig FROM neardup_join_docs WHERE id % $((old / new)) = 0" -c "VACUUM ANALYZE neardup_join_docs" -c "VACUUM ANALYZE neardup_join_new"
  echo "$new new rows among $old old ones"
  compare "EXISTS" "pairs_between" "SELECT count(DISTINCT id_a) FROM pairs_between('SELECT id, sig FROM neardup_join_new', 'SELECT id, sig FROM neardup_join_docs', 0.8)" \
    "SELECT count(*) FROM neardup_join_new n WHERE EXISTS (SELECT FROM neardup_join_docs o WHERE jaccard(n.sig, o.sig) >= 0.8)"
}

# The plan by cost beside the fastest of those forced.
plans() {
  local small where query chosen node loop worst=0 bad=0 ratio
  sql -c "CREATE TABLE neardup_join_large AS SELECT *, to_minhash(body) AS sig FROM ($(documents 1 20000)) d" -c "CREATE TABLE neardup_join_small (LIKE neardup_join_large)"
  printf '%-8s %-8s %-6s %-8s %9s %9s %9s   ratio to the fastest\n' small large index join chosen node loop
  for index in no yes; do
    [ $index = no ] || sql -c "CREATE INDEX ON neardup_join_large USING lsh (sig)"
    for small in 10 100 1000 5000 20000; do
      sql -c "TRUNCATE neardup_join_small" -c "INSERT INTO neardup_join_small SELECT * FROM neardup_join_large WHERE id % (20000 / $small) = 0" -c "VACUUM ANALYZE neardup_join_small, neardup_join_large"
      for where in 'JOIN' 'LEFT JOIN' 'EXISTS' 'NOT EXISTS'; do
        case $where in
          *EXISTS) query="SELECT count(*) FROM neardup_join_small a WHERE $where (SELECT FROM neardup_join_large b WHERE jaccard(a.sig, b.sig) >= 0.8 AND a.id <> b.id)" ;;
          *) query="SELECT count(*), sum(length(b.body)) FROM neardup_join_small a $where neardup_join_large b ON jaccard(a.sig, b.sig) >= 0.8 AND a.id <> b.id" ;;
        esac
        chosen=$(seconds "SELECT 1" "$query")
        node=$(seconds "SET enable_nestloop = off" "$query")
        loop=60
        if [ $index = yes ] || [ "$small" -le 1000 ]; then loop=$(runs=1 seconds "SET neardup.enable_join = off" "$query"); fi
        ratio=$(awk -v c="$chosen" -v n="$node" -v l="$loop" 'BEGIN { m = n < l ? n : l; printf "%.2f", c / m }')
        printf '%-8s %-8s %-6s %-10s %9.4f %9.4f %9.4f   %s\n' "$small" 20000 $index "$where" "$chosen" "$node" "$loop" "$ratio"
        worst=$(awk -v a="$worst" -v b="$ratio" 'BEGIN { print (a > b ? a : b) }')
        bad=$((bad + $(awk -v r="$ratio" 'BEGIN { print (r > 1.5) }')))
      done
    done
  done
  echo "worst ratio $worst; $bad of 40 above 1.5"
}

echo "$(sql -c 'SELECT version()'), $(nproc) processors"
sql -c 'CREATE EXTENSION IF NOT EXISTS neardup'
drop
if [ "${1:-}" = plans ]; then
  plans
else
  rows=${1:-100000}
  self_joins "$rows"
  new_among_old "$rows" "${OLD:-$((10 * rows))}"
fi
