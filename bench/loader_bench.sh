#!/usr/bin/env bash
# neardup load: JSONL and HTML, MB a second of the program's own processor time and of the clock, beside jq -r .text. The server is that
# of PGHOST and PGDATABASE (./run bench starts one); tables named neardup_bench_* are made and dropped there.
#   loader_bench.sh [MB [FOLDER]]     megabytes of JSONL (default 200); a folder with pages of HTML (default: pages made here)
# nowhere: a trigger takes all rows away, so that the server has less to do.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=${NEARDUP_BIN:-$here/../bin/neardup}
megabytes=${1:-200}
[ -x "$program" ] || { echo "$program is missing: make builds it" >&2; exit 1; }
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning"
work=$(mktemp -d)

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
drop() { sql -c 'DROP TABLE IF EXISTS neardup_bench_load, neardup_bench_load_files'; }
trap 'drop; rm -rf "$work"' EXIT

python3 - "$megabytes" "$work" <<'PYTHON'
import json, os, random, sys
chance, size, work = random.Random(37), int(sys.argv[1]) * 10**6, sys.argv[2]
words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(2, 10))) for _ in range(5000)] + ["naïve", '"so"']
with open(f"{work}/texts.jsonl", "w", encoding="utf-8") as file:
    number = 0
    while size > 0:
        size -= file.write(json.dumps({"id": number, "url": f"https://example.org/{number}", "text": " ".join(chance.choices(words, k=400)),
                                       "lang": "en", "tags": ["a", "b"]}, ensure_ascii=False) + "\n")
        number += 1
os.mkdir(f"{work}/pages")
for page in range(400):
    items = "".join(f'<li class="item"><a href="/{i}?a=1&amp;b=2">{" ".join(chance.choices(words, k=8))}</a></li>\n' for i in range(200))
    paragraphs = "".join(f"<p>{' '.join(chance.choices(words, k=80))} &eacute;</p>\n" for _ in range(60))
    with open(f"{work}/pages/{page}.html", "w", encoding="utf-8") as file:
        file.write(f"<!DOCTYPE html><html><head><title>{page}</title><script>var x = 1;</script></head><body><ul>{items}</ul>{paragraphs}</body></html>")
PYTHON
pages=${2:-$work/pages}

# measure NAME BYTES COMMAND...
measure() {
  local name=$1 bytes=$2 TIMEFORMAT='%R %U %S' times
  shift 2
  times=$({ time "$@" >/dev/null 2>&1; } 2>&1)
  awk -v n="$name" -v b="$bytes" '{ c = $2 + $3; printf "%-28s %8.0f MB %8.1f MB/s of the clock %8.1f MB/s of processor time\n", n, b / 1e6, b / 1e6 / $1, b / 1e6 / c }' <<<"$times"
}

bytes=$(stat -c %s "$work/texts.jsonl")
echo "$(sql -c 'SELECT version()'), $(nproc) processors"
drop
measure "JSONL" "$bytes" "$program" load "$work/texts.jsonl" -t neardup_bench_load
drop
"$program" load - -t neardup_bench_load --format jsonl <<<'{"text": "x"}' >/dev/null 2>&1
sql -c "CREATE OR REPLACE FUNCTION neardup_bench_nowhere() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'" \
  -c 'CREATE TRIGGER nowhere BEFORE INSERT ON neardup_bench_load FOR EACH ROW EXECUTE FUNCTION neardup_bench_nowhere()'
measure "JSONL, nowhere" "$bytes" "$program" load "$work/texts.jsonl" -t neardup_bench_load --list-skipped /dev/null
drop
sql -c 'DROP FUNCTION neardup_bench_nowhere()'
if command -v jq >/dev/null; then measure "jq -r .text" "$bytes" jq -r .text "$work/texts.jsonl"; fi

bytes=$(find -L "$pages" -name '*.html' -type f -printf '%s\n' | awk '{ s += $1 } END { print s }')
measure "HTML, its text" "$bytes" "$program" load "$pages" --include '*.html' -t neardup_bench_load --html text
drop
measure "HTML as it is" "$bytes" "$program" load "$pages" --include '*.html' -t neardup_bench_load
