#!/usr/bin/env bash
# Word similarity in SQL: MB/s of counting, and word_similarities from the documents to the rows at several sizes of the
# vocabulary. Seconds, medians of RUNS (3). The server is that of PGHOST and PGDATABASE (./run bench starts one); tables named
# neardup_bench_* are made and dropped there, make_words is compiled into a temporary folder.
#   words_bench.sh [WORDS ...]    vocabularies (default 5000 10000 20000)
#   CORPUS=FILE words_bench.sh    documents: a gzip file in COPY text format, the text last of three columns; default: made
#   TOKENS=N COMPANY=N            of the made one (default 6000000 words, 1000 different ones near a word: 29 MB)
#   MEMORY=64MB THREADS=1         maintenance_work_mem (default 1GB), neardup.threads (default 0: as many as there are)
# Rows as long as those of 100,000 words, of which each has 6,000 others near it, take 1.0 GB of text:
#   make_words --vocabulary 100000 --zipf 0.5 --company 6000 --tokens 160000000
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
runs=${RUNS:-3}
sizes=("${@:-5000}")
[ $# -gt 0 ] || sizes=(5000 10000 20000)
export PGOPTIONS="${PGOPTIONS:-} -c jit=off -c client_min_messages=warning -c maintenance_work_mem=${MEMORY:-1GB} -c neardup.threads=${THREADS:-0}"

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
# median STATEMENT: seconds, of $runs runs in one session
median() {
  {
    printf '%s\n' '\o /dev/null' '\timing on'
    for ((i = 0; i < runs; i++)); do echo "$1;"; done
  } | sql | awk '/^Time:/ { print $2 / 1000 }' | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}

folder=$(mktemp -d)
cleanup() {
  rm -rf "$folder"
  sql -c 'DROP TABLE IF EXISTS neardup_bench_texts, neardup_bench_words, neardup_bench_words_model' || true
}
trap cleanup EXIT

sql <<SQL
CREATE EXTENSION IF NOT EXISTS neardup;
DROP TABLE IF EXISTS neardup_bench_texts, neardup_bench_words, neardup_bench_words_model;
CREATE UNLOGGED TABLE neardup_bench_texts (id int, source text, body text);
ALTER TABLE neardup_bench_texts ALTER body SET STORAGE EXTERNAL;
SQL
if [ -n "${CORPUS:-}" ]; then
  what=$(basename "$CORPUS")
  zcat "$CORPUS" | sql -c 'COPY neardup_bench_texts FROM STDIN'
else
  tokens=${TOKENS:-6000000}
  company=${COMPANY:-1000}
  what="made: make_words --vocabulary 100000 --company $company --tokens $tokens"
  "${CXX:-g++}" -O2 -std=c++20 -I "$here/../src" "$here/make_words.cpp" -o "$folder/make_words"
  "$folder/make_words" --vocabulary 100000 --company "$company" --tokens "$tokens" | sql -c 'COPY neardup_bench_texts (body) FROM STDIN'
fi
sql -c 'VACUUM ANALYZE neardup_bench_texts'
megabytes=$(sql -c 'SELECT sum(octet_length(body)) / 1e6 FROM neardup_bench_texts')

echo "$(sql -c 'SELECT version()'), $(nproc) processors, maintenance_work_mem ${MEMORY:-1GB}, neardup.threads ${THREADS:-0}"
printf '%s: %s documents, %.1f MB; median of %s\n\n' "$what" "$(sql -c 'SELECT count(*) FROM neardup_bench_texts')" "$megabytes" "$runs"

# A vocabulary of one word has no rows to compare: what is left is reading and counting.
rate() { # NAME STATEMENT
  awk -v name="$1" -v mb="$megabytes" -v s="$(median "$2")" 'BEGIN { printf "%-58s %9.2f s %8.1f MB/s\n", name, s, mb / s }'
}
rate "reading only (body < '')" "SELECT count(body < '' COLLATE \"C\") FROM neardup_bench_texts"
rate "words alone, counted (count(shingles(body, 1)))" "SELECT count(*) FROM neardup_bench_texts, shingles(body, 1)"
rate "counting, vocabulary 1" "SELECT count(*) FROM word_similarities('SELECT body FROM neardup_bench_texts', vocabulary => 1, k => 1)"
for n in "${sizes[@]}"; do
  for by_position in true false; do
    rate "word_similarities, $n words, k 50, by_position $by_position" \
      "SELECT count(*) FROM word_similarities('SELECT body FROM neardup_bench_texts', vocabulary => $n, k => 50, by_position => $by_position)"
  done
done
n=${sizes[-1]}
start=$EPOCHREALTIME
sql -c "CALL create_word_model('neardup_bench_words', 'SELECT body FROM neardup_bench_texts', vocabulary => $n)"
awk -v name="create_word_model, $n words, k 50 (one run)" -v a="$start" -v b="$EPOCHREALTIME" -v mb="$megabytes" \
  'BEGIN { printf "%-58s %9.2f s %8.1f MB/s\n", name, b - a, mb / (b - a) }'
sql -c "SELECT format('its size: %s; the features of a word: %s bytes on average, %s at most', pg_size_pretty(pg_total_relation_size('neardup_bench_words')),
  round(avg(octet_length(features))), max(octet_length(features))) FROM neardup_bench_words"
word=$(sql -c "SELECT word FROM neardup_bench_words WHERE id = 1000 LIMIT 1")
each() { # NAME CALLS STATEMENT
  awk -v name="$1" -v n="$2" -v s="$(median "$3")" 'BEGIN { printf "%-58s %9.3f ms each\n", name, 1000 * s / n }'
}
each "similar_words, k 10, 1000 words" 1000 "SELECT count(*) FROM neardup_bench_words w, similar_words('neardup_bench_words', w.word, 10) WHERE w.id < 1000"
each "word_similarity, 1000 pairs" 1000 "SELECT count(word_similarity('neardup_bench_words', '$word', word)) FROM neardup_bench_words WHERE id < 1000"
