#!/usr/bin/env bash
# The goals that are measured through SQL, beside the core on the same documents in the same run: signing in MB/s,
# jaccard in ns a call, all_pairs in s. Medians. The server is that of PGHOST and PGDATABASE (./run bench starts one);
# tables named neardup_bench_* are made and dropped there. DOCUMENTS=50000 documents of 6 kB by default.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
core=${CORE_BENCH:-$here/../build-bench/core_bench}
documents=${DOCUMENTS:-50000}
[ -x "$core" ] || { echo "$core is missing: ./run bench builds it" >&2; exit 1; }
export PGOPTIONS="${PGOPTIONS:-} -c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# seconds RUNS STATEMENT [SETTING ...]: the median run, in one session, after one that is not counted
seconds() {
  local runs=$1 statement=$2 i setting
  shift 2
  {
    for setting in "$@"; do echo "SET $setting;"; done
    printf "%s\n" "\\o /dev/null"
    echo "$statement;"
    printf "%s\n" "\\timing on"
    for ((i = 0; i < runs; i++)); do echo "$statement;"; done
  } | sql | awk '/^Time:/ { print $2 / 1000 }' | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}

folder=$(mktemp -d)
cleanup() {
  rm -rf "$folder"
  sql -c 'DROP TABLE IF EXISTS neardup_bench_documents, neardup_bench_signatures, neardup_bench_sets' || true
}
trap cleanup EXIT

"$core" --export "$folder/documents" "$documents"
read -r core_word core_char < <("$core" --rates "$folder/documents")
sql <<SQL
CREATE EXTENSION IF NOT EXISTS neardup;
DROP TABLE IF EXISTS neardup_bench_documents, neardup_bench_signatures, neardup_bench_sets;
CREATE UNLOGGED TABLE neardup_bench_documents (body text, id bigint GENERATED ALWAYS AS IDENTITY);
ALTER TABLE neardup_bench_documents ALTER body SET STORAGE EXTERNAL;
\\copy neardup_bench_documents (body) FROM '$folder/documents'
VACUUM ANALYZE neardup_bench_documents;
SQL
megabytes=$(sql -c 'SELECT sum(octet_length(body)) / 1e6 FROM neardup_bench_documents')

printf '%s, %s documents, %.0f MB, storage external\n\n' "$(sql -c 'SHOW server_version')" "$documents" "$megabytes"
printf '%-34s %10s %10s %8s\n' "signing, MB/s" "SQL" "core" "SQL/core"
rate() { # NAME EXPRESSION CORE
  local s
  s=$(seconds 5 "SELECT count($2) FROM neardup_bench_documents")
  awk -v name="$1" -v mb="$megabytes" -v s="$s" -v core="$3" 'BEGIN {
    printf "%-34s %10.0f %10s %8s\n", name, mb / s, core, core == "-" ? "" : sprintf("%.0f %%", 100 * mb / s / core) }'
}
rate "reading only (body < '')" "body < '' COLLATE \"C\"" -
rate "to_minhash(body)" "to_minhash(body)" "$core_word"
rate "to_minhash(body, 5, 'char')" "to_minhash(body, 5, 'char')" "$core_char"

printf '\n%-34s %10s\n' "jaccard, ns a call" ""
for bits in 32 16 8; do
  sql <<SQL
DROP TABLE IF EXISTS neardup_bench_signatures;
CREATE UNLOGGED TABLE neardup_bench_signatures AS
  SELECT id, id::float8 AS x, to_minhash(body, bits => $bits) AS sig FROM neardup_bench_documents WHERE id <= 2000;
VACUUM ANALYZE neardup_bench_signatures;
SQL
  # 200 x 2000 x 10 calls; the same join with an addition in place of jaccard is taken off.
  join='FROM neardup_bench_signatures a, neardup_bench_signatures b, generate_series(1, 10) WHERE a.id <= 200'
  with=$(seconds 5 "SELECT sum(jaccard(a.sig, b.sig)) $join" "enable_hashjoin = off")
  without=$(seconds 5 "SELECT sum(a.x + b.x) $join" "enable_hashjoin = off")
  awk -v bits="$bits" -v a="$with" -v b="$without" -v calls=$((200 * 2000 * 10)) 'BEGIN {
    printf "%-34s %10.1f   (the whole query %.1f a row)\n", "128x" bits, (a - b) / calls * 1e9, a / calls * 1e9 }'
done

# Families of about 1 to 6 versions of 200 elements; a version has changed up to 15 % of them.
sql <<'SQL'
CREATE UNLOGGED TABLE neardup_bench_sets AS
  SELECT i AS id, set_minhash(ARRAY(
    SELECT hashint8extended(CASE WHEN hashint8extended(i * 1000 + j, 1) & 1023 < 31 * (i % 6) THEN i ELSE f END
                            * 1000 + j, 0)
    FROM generate_series(0, 199) j)) AS sig
  FROM (SELECT i, -1 - (i - i % (1 + i / 6 % 6)) AS f FROM generate_series(1::bigint, 100000) i) rows;
VACUUM ANALYZE neardup_bench_sets;
SQL
printf '\n%-34s %10s %10s %10s\n' "all_pairs >= 0.8, s" "rows" "pairs" "s"
for rows in 20000 100000; do
  query="SELECT count(*) FROM all_pairs('SELECT id, sig FROM neardup_bench_sets WHERE id <= $rows', 0.8)"
  pairs=$(sql -c "$query")
  for memory in 1GB 64MB 8MB; do
    printf '%-34s %10s %10s %10.3f\n' "maintenance_work_mem $memory" "$rows" "$pairs" \
      "$(seconds 5 "$query" "maintenance_work_mem = '$memory'")"
  done
done
