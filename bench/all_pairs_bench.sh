#!/usr/bin/env bash
# All pairs through SQL, by size: all_pairs() beside what plain SQL can do with the same signatures, in one run. Seconds,
# medians of three; "-" where a statement takes longer than LIMIT (120 s). The server is that of PGHOST and PGDATABASE
# (./run bench starts one); tables named neardup_bench_* are made and dropped there.
#   all_pairs_bench.sh [MOST]     rows of the greatest table (default 100000; 1000000 takes 2 GB and some minutes)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
make=${MAKE_SIGNATURES:-$here/../build-bench/make_signatures}
most=${1:-100000}
limit=${LIMIT:-120}
[ -x "$make" ] || { echo "$make is missing: ./run bench builds it" >&2; exit 1; }
export PGOPTIONS="${PGOPTIONS:-} -c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
# shellcheck source=bench/pair_tables.sh
. "$here/pair_tables.sh"
trap "sql -c 'DROP TABLE IF EXISTS neardup_bench_pairs, neardup_bench_keys'" EXIT

# seconds STATEMENT [SETTING ...]: the median of three runs in one session after one that is not counted; "-" beyond the
# limit
seconds() {
  local statement=$1 setting first
  shift
  first=$({
    echo "SET statement_timeout = '${limit}s';"
    for setting in "$@"; do echo "SET $setting;"; done
    printf '%s\n' '\timing on'
    echo "$statement;"
  } | sql 2>/dev/null | awk '/^Time:/ { t = $2 / 1000 } /^[0-9]/ { ok = 1 } END { print ok ? t : "-" }') || first=-
  if [ "$first" = - ] || awk -v t="$first" 'BEGIN { exit !(t > 20) }'; then
    echo "$first"
    return
  fi
  {
    for setting in "$@"; do echo "SET $setting;"; done
    echo "$statement;"
    printf '%s\n' '\timing on'
    for _ in 1 2 3; do echo "$statement;"; done
  } | sql | awk '/^Time:/ { print $2 / 1000 }' | sort -n | sed -n 2p
}

row() { printf '%-34s %9s %9s' "$1" "$2" "$3"; shift 3; printf ' %10s' "$@"; echo; }

sizes=()
for n in 1000 2000 5000 10000 20000 100000 1000000; do [ "$n" -gt "$most" ] || sizes+=("$n"); done

echo "$(sql -c 'SELECT version()'), $(nproc) processors"
echo
echo "minhash 128x32, jaccard >= 0.8. 2, 1: all_pairs() with so many threads; 64MB: with 2 threads in that much"
echo "memory, else 4GB. bands: self-join on band_keys(), verified. index: self-join by an lsh index. brute: self-join on"
echo "jaccard() alone."
row "" rows pairs 2 1 64MB bands index brute
for n in "${sizes[@]}"; do
  sql -c 'CREATE EXTENSION IF NOT EXISTS neardup' -c 'DROP TABLE IF EXISTS neardup_bench_keys'
  make_pair_table neardup_bench_pairs minhash "$n"
  ours="SELECT count(*) FROM all_pairs('TABLE neardup_bench_pairs', 0.8)"
  bands="WITH k AS MATERIALIZED (SELECT id, sig, band_keys(sig, 0.8) AS key FROM neardup_bench_pairs)
    SELECT count(*) FROM (SELECT DISTINCT x.id, y.id FROM k x JOIN k y ON x.key = y.key AND x.id < y.id
      WHERE jaccard(x.sig, y.sig) >= 0.8) p"
  plain="SELECT count(*) FROM neardup_bench_pairs x JOIN neardup_bench_pairs y ON x.id < y.id AND jaccard(x.sig, y.sig) >= 0.8"
  two=$(seconds "$ours" "neardup.threads = 2" "maintenance_work_mem = '4GB'")
  one=$(seconds "$ours" "neardup.threads = 1" "maintenance_work_mem = '4GB'")
  small=$(seconds "$ours" "neardup.threads = 2" "maintenance_work_mem = '64MB'")
  joined=- brute=- index=-
  if [ "$n" -le 100000 ]; then
    joined=$(seconds "$bands" "work_mem = '1GB'")
    [ "$n" -gt 20000 ] || brute=$(seconds "$plain" "neardup.derive_conditions = off")
    sql -c 'CREATE INDEX ON neardup_bench_pairs USING lsh (sig)'
    index=$(seconds "$plain" "enable_seqscan = on")
  fi
  row minhash "$n" "$(sql -c "SET maintenance_work_mem = '4GB'; $ours")" "$two" "$one" "$small" "$joined" "$index" "$brute"
done

echo
echo "simhash, hamming <= 3, and digests of 64 characters, edit rate <= 0.15: one row in ten is a near copy."
row "" rows pairs 2 1 64MB index brute
for kind in simhash ctph; do
  for n in "${sizes[@]}"; do
    if [ "$kind" = ctph ] && [ "$n" -gt 100000 ]; then continue; fi
    make_pair_table neardup_bench_pairs "$kind" "$n"
    if [ "$kind" = simhash ]; then
      on="hamming(x.sig, y.sig) <= 3" least="61 / 64.0"
    else
      on="ctph_edit_rate(x.sig, y.sig) <= 0.15" least=0.85
    fi
    ours="SELECT count(*) FROM all_pairs('TABLE neardup_bench_pairs', $least)"
    plain="SELECT count(*) FROM neardup_bench_pairs x JOIN neardup_bench_pairs y ON x.id < y.id AND $on"
    two=$(seconds "$ours" "neardup.threads = 2" "maintenance_work_mem = '4GB'")
    one=$(seconds "$ours" "neardup.threads = 1" "maintenance_work_mem = '4GB'")
    small=$(seconds "$ours" "neardup.threads = 2" "maintenance_work_mem = '64MB'")
    brute=- index=-
    if [ "$n" -le 20000 ]; then brute=$(seconds "$plain" "neardup.derive_conditions = off"); fi
    if [ "$n" -le 100000 ]; then
      options=
      if [ "$kind" = ctph ]; then options='ctph_ops (max_rate = 0.15)'; fi
      sql -c "CREATE INDEX ON neardup_bench_pairs USING lsh (sig $options)"
      index=$(seconds "$plain" "enable_seqscan = on")
    fi
    row "$kind" "$n" "$(sql -c "$ours")" "$two" "$one" "$small" "$index" "$brute"
  done
done

if [ "$most" -ge 1000000 ]; then
  echo
  echo "Skew: 100,000 equal signatures among 1,000,000, whose components many others have, too; jaccard >= 0.8"
  row identical rows pairs 2
  sql -c 'DROP TABLE IF EXISTS neardup_bench_pairs' -c 'CREATE UNLOGGED TABLE neardup_bench_pairs (id bigint, sig minhash)'
  "$make" --rows 900000 --identical 100000 | sql -c 'COPY neardup_bench_pairs (id, sig) FROM STDIN (FORMAT binary)'
  for identical in star none; do
    ours="SELECT count(*) FROM all_pairs('TABLE neardup_bench_pairs', 0.8, '$identical')"
    row "$identical" 1000000 "$(sql -c "$ours" 2>/dev/null)" "$(seconds "$ours" "neardup.threads = 2" "maintenance_work_mem = '4GB'")"
  done
fi
