#!/usr/bin/env bash
# The GPU beside the CPU through SQL, in one run: SELECT count(*) FROM all_pairs(..). Seconds, medians of three calls in one session
# after a first one, which stands in brackets and makes the context of the GPU. The server is that of PGHOST and PGDATABASE; tables named neardup_bench_* are
# made and dropped there.
#   gpu_sql_bench.sh [MOST]     rows of the greatest table (default 1000000: 2 GB)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
make=${MAKE_SIGNATURES:-$here/../build-bench/make_signatures}
most=${1:-1000000}
[ -x "$make" ] || { echo "$make is missing: ./run bench builds it" >&2; exit 1; }
export PGOPTIONS="${PGOPTIONS:-} -c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning"
table=neardup_bench_pairs

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
# shellcheck source=bench/pair_tables.sh
. "$here/pair_tables.sh"
trap 'sql -c "DROP TABLE IF EXISTS $table"' EXIT

# seconds DEVICE THREADS STATEMENT: "median (first call)"
seconds() {
  {
    echo "SET neardup.device = $1; SET neardup.threads = $2; SET maintenance_work_mem = '16GB'; SET work_mem = '4GB';"
    printf '%s\n' '\timing on'
    for _ in 1 2 3 4; do echo "$3;"; done
  } | sql | awk '/^Time:/ { printf "%.3f\n", $2 / 1000 }' |
    { read -r first && sort -n | sed -n 2p | sed "s/\$/ ($first)/"; }
}

# row WHAT ROWS STATEMENT [THREADS]
row() {
  local threads=${4:-$(nproc)}
  printf '%-34s %9s %9s %8s %18s %18s\n' "$1" "$2" "$(sql -c "SET neardup.threads = $(nproc); $3")" "$threads" "$(seconds cpu "$threads" "$3")" "$(seconds gpu "$threads" "$3")"
}

sql -c 'SELECT version()'
echo "$(nproc) processors; $(sql -F ', ' -c 'SELECT name, driver FROM neardup_devices()')"
echo
printf '%-34s %9s %9s %8s %18s %18s\n' "" rows pairs threads "CPU, s" "GPU, s"
sizes=()
for n in 100000 300000 1000000; do [ "$n" -gt "$most" ] || sizes+=("$n"); done

for n in "${sizes[@]}"; do
  make_pair_table "$table" minhash "$n"
  row "minhash, jaccard >= 0.8" "$n" "SELECT count(*) FROM all_pairs('TABLE $table', 0.8)"
  if [ "$n" = 300000 ]; then row "the same" "$n" "SELECT count(*) FROM all_pairs('TABLE $table', 0.8)" 1; fi
done

for n in "${sizes[@]}"; do
  make_pair_table "$table" simhash "$n"
  for distance in 3 7 10; do
    row "simhash, distance <= $distance" "$n" "SELECT count(*) FROM all_pairs('TABLE $table', (64 - $distance) / 64.0)"
  done
done

for n in "${sizes[@]}"; do
  if [ "$n" -gt 300000 ]; then continue; fi
  make_pair_table "$table" ctph "$n"
  row "digests, edit rate <= 0.15" "$n" "SELECT count(*) FROM all_pairs('TABLE $table', 0.85)"
done
