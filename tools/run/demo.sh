# shellcheck shell=bash
# Sourced by ./run: the demo, from a folder of files to a table of verified duplicates.
# shellcheck disable=SC2154  # work, pg_config: set in common.sh and packages.sh

: "${root:?}"

few_texts=200  # with fewer, the samples of the project join in
planted=200

# Label and folder of what any machine has after set-up, those that are there.
default_corpora() {
  local include=/usr/include/postgresql perl=(/usr/share/perl /usr/share/perl5) label folder
  [ -d $include ] || include=$("$pg_config" --includedir-server)
  if [ ! -d /usr/share/perl ]; then perl+=(/usr/lib/*/perl-base); fi
  {
    printf 'C++ headers\t/usr/include/c++\n'
    printf 'Linux headers\t/usr/include/linux\n'
    printf 'PostgreSQL headers\t%s\n' "$include"
    printf 'Perl library\t%s\n' "${perl[@]}"
    printf 'locales\t/usr/share/i18n/locales\n'
    printf 'PostgreSQL share\t%s\n' "$("$pg_config" --sharedir)"
    printf 'documentation\t/usr/share/doc\n'
  } | while IFS=$'\t' read -r label folder; do
    if [ -d "$folder" ]; then printf '%s\t%s\n' "$label" "$folder"; fi
  done
}

thousands() { sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }

# stage NAME WHAT SECONDS RATE
stage() { printf '  %-10s %-46s %7s s   %s\n' "$1" "$2" "$3" "$4"; }

# per_second NUMBER SECONDS
per_second() { thousands "$(awk -v n="$1" -v s="$2" 'BEGIN { printf "%d", n / (s > 0.01 ? s : 0.01) }')"; }

megabytes() { awk -v n="$1" 'BEGIN { printf n < 9950000 ? "%.1f" : "%.0f", n / 1e6 }'; }

# load_texts FOLDER...: into table texts; the summary goes to the log, what was skipped is counted there
load_texts() {
  local quiet=()
  [ -t 2 ] || quiet=(--quiet)
  "$root/bin/neardup" load "$@" --table texts --min-words 20 --list-skipped "$logs/demo-skipped.txt" \
    "${quiet[@]}" >"$logs/demo-load.log"
}

demo_load() {
  local began label folder rows
  say "Files of this machine (texts of 20 words or more; .gz unpacked; what is not UTF-8 is left out)"
  began=$(date +%s.%N)
  load_texts "${folders[@]}"
  load_seconds=$(seconds_since "$began")
  rows=$(sql -c 'SELECT count(*) FROM texts')
  if [ "$rows" -lt $few_texts ] && [ "$(sql -v folder="$root/samples/" <<<"SELECT count(*) FROM texts
      WHERE starts_with(path, :'folder')")" -eq 0 ]; then
    say "  only $rows texts found: the project's samples join in"
    labels+=("samples")
    folders+=("$root/samples")
    load_texts "$root/samples"
  fi
  for folder in "${!folders[@]}"; do
    label=${labels[$folder]}
    folder=$(readlink -m -s "${folders[$folder]}")
    rows=$(sql -v folder="$folder" <<<"SELECT count(*) || ' ' || coalesce(sum(octet_length(body)), 0) FROM texts
      WHERE path = :'folder' OR starts_with(path, rtrim(:'folder', '/') || '/')")
    printf '  %-20s %8s texts %7s MB   %s\n' "$label" "$(thousands "${rows% *}")" "$(megabytes "${rows#* }")" "$folder"
  done
}

# Copies texts of 100 words or more, a sample across all folders with each content once, and replaces one word in 50 by
# one that they do not hold. Path: 'planted/NNN of ' and that of the original. Prints how many there are.
plant_copies() {
  sql -v planted=$planted <<'EOF'
WITH copied AS (
  SELECT format('planted/%s of %s', lpad((row_number() OVER (ORDER BY content_hash))::text, 3, '0'), path) AS path, body
  FROM (SELECT DISTINCT ON (content_hash) content_hash, path, body FROM texts
        WHERE octet_length(body) BETWEEN 500 AND 50000 ORDER BY content_hash, id) t
  WHERE body ~ '(\w+\W+){100}' LIMIT :planted
), planted AS (
  INSERT INTO texts (path, size, mtime, content_hash, body)
  SELECT path, octet_length(edited), now(), hashtextextended(edited, 0), edited
  FROM copied, LATERAL (
    SELECT string_agg(CASE WHEN word IS NULL THEN gap WHEN number % 50 = 25 THEN 'edit' || left(md5(path || number), 6)
                           ELSE word END, '' ORDER BY place)
    FROM (SELECT part[1] AS word, part[2] AS gap, place, count(part[1]) OVER (ORDER BY place) AS number
          FROM regexp_matches(body, '(\w+)|(\W+)', 'g') WITH ORDINALITY m(part, place)) p
  ) e(edited)
  RETURNING 1
)
SELECT count(*) FROM planted;
EOF
}

# Sign, pairs and clusters over the loaded texts and the planted copies.
demo_stages() {
  local began seconds rows bytes workers
  began=$(date +%s.%N)
  planted=$(plant_copies)
  plant_seconds=$(seconds_since "$began")
  read -r rows bytes < <(sql -F ' ' -c 'SELECT count(*), coalesce(sum(octet_length(body)), 0) FROM texts')
  [ "$rows" -gt 0 ] || die "no texts found"
  say
  say "Stages"
  stage Load "$(thousands $((rows - planted))) texts, $(megabytes "$bytes") MB" "$load_seconds" \
    "$(per_second $((rows - planted)) "$load_seconds") texts/s, $(per_second $((bytes / 1000000)) "$load_seconds") MB/s"
  stage Plant "$planted copies with 2 % of their words edited" "$plant_seconds" ""

  workers=$(($(processors) - 1))
  began=$(date +%s.%N)
  sql <<EOF
ALTER TABLE texts SET (parallel_workers = $workers);
ANALYZE texts (id, path, content_hash);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = $workers;
SET min_parallel_table_scan_size = 0;
CREATE TABLE signatures AS SELECT id, to_minhash(body) AS sig FROM texts;
ALTER TABLE signatures ADD PRIMARY KEY (id);
ANALYZE signatures (id);
EOF
  seconds=$(seconds_since "$began")
  stage Sign "$(thousands "$rows") signatures of word 3-shingles" "$seconds" \
    "$(per_second "$rows" "$seconds") texts/s, $(per_second $((bytes / 1000000)) "$seconds") MB/s"

  began=$(date +%s.%N)
  sql -c "CREATE TABLE pairs AS SELECT * FROM all_pairs('SELECT id, sig FROM signatures', 0.8)" -c "ANALYZE pairs"
  seconds=$(seconds_since "$began")
  stage "All pairs" "$(thousands "$(sql -c 'SELECT count(*) FROM pairs')") verified pairs at 0.8 or more" "$seconds" \
    "$(per_second "$rows" "$seconds") texts/s"

  began=$(date +%s.%N)
  sql <<'EOF'
CREATE TABLE duplicates AS
WITH anchored AS MATERIALIZED (
  SELECT id, sig, row_number() OVER w AS row_number, cluster_anchor(sig, 0.8) OVER w AS cluster
  FROM signatures WINDOW w AS (ORDER BY id)
), sized AS (
  SELECT *, count(*) OVER (PARTITION BY cluster) AS size FROM anchored
)
SELECT d.id, t.path, d.cluster, r.id AS representative, jaccard(d.sig, r.sig) AS similarity, d.id = r.id AS survivor
FROM sized d JOIN anchored r ON r.row_number = d.cluster JOIN texts t ON t.id = d.id
WHERE d.size > 1
ORDER BY d.cluster, d.id;
ALTER TABLE duplicates ADD PRIMARY KEY (id);
ANALYZE duplicates;
EOF
  seconds=$(seconds_since "$began")
  stage Clusters \
    "$(thousands "$(sql -c 'SELECT count(*) FROM duplicates WHERE survivor')") clusters, table duplicates" \
    "$seconds" "$(per_second "$rows" "$seconds") texts/s"
}

demo_counts() {
  local exact near files found missed
  exact=$(sql -c "SELECT count(*) - count(DISTINCT content_hash) FROM texts WHERE path NOT LIKE 'planted/%'")
  sql <<'EOF'
CREATE TABLE near_pairs AS
SELECT p.id_a, p.id_b, p.similarity, a.path AS path_a, b.path AS path_b,
       octet_length(a.body) AS size_a, octet_length(b.body) AS size_b
FROM pairs p JOIN texts a ON a.id = p.id_a JOIN texts b ON b.id = p.id_b
WHERE a.content_hash <> b.content_hash AND a.path NOT LIKE 'planted/%' AND b.path NOT LIKE 'planted/%';
CREATE TABLE planted AS
SELECT c.id, o.id AS original, EXISTS (SELECT FROM pairs WHERE id_a = o.id AND id_b = c.id) AS found
FROM texts c JOIN texts o ON o.path = regexp_replace(c.path, '^planted/[0-9]+ of ', '')
WHERE c.path LIKE 'planted/%';
EOF
  near=$(sql -c "SELECT count(*) FROM near_pairs")
  files=$(sql -c "SELECT count(DISTINCT id)
    FROM (SELECT id_a FROM near_pairs UNION ALL SELECT id_b FROM near_pairs) f(id)")
  found=$(sql -c "SELECT count(*) FROM planted WHERE found")
  say
  say "Found"
  say "  Exact copies: $(thousands "$exact") files repeat another one byte for byte (a hash finds these, too)."
  say "  Near copies:  $(thousands "$near") pairs of different texts in $(thousands "$files") files," \
    "each measured at 0.8 or more."
  say "  Planted:      $found of $planted found. (We edited 2 % of the words of texts of 100 words or more; that leaves"
  say "                a Jaccard of about 0.89. Planted copies are left out of every other figure here.)"
  missed=$((planted - found))
  if [ "$missed" -gt 0 ]; then
    say "                Of the $missed missed, the exact Jaccard is $(sql <<'EOF'
SELECT CASE WHEN min(j) = max(j) THEN min(j)::text ELSE min(j) || ' to ' || max(j) END
FROM (SELECT round(jaccard_exact(ARRAY(SELECT shingle_hashes(c.body)),
    ARRAY(SELECT shingle_hashes(o.body)))::numeric, 3)
      FROM planted p JOIN texts c ON c.id = p.id JOIN texts o ON o.id = p.original WHERE NOT p.found) m(j)
EOF
    ): a text that repeats itself loses more by the same edits."
  fi
}

# The longest folder that all paths of the cluster share is the common start of the least and the greatest.
demo_clusters() {
  say
  say "The ten largest clusters (the big ones are licence headers and tables: files with little else in them)"
  sql -F $'\t' <<'EOF' | awk -F '\t' '
    {
      n = 0
      while (n < length($3) && substr($3, n + 1, 1) == substr($4, n + 1, 1)) n++
      folder = substr($3, 1, n)
      sub(/[^\/]*$/, "", folder)
      printf("  %5d files, %d different   %s\n", $1, $2, folder)
      for (i = 5; i <= 7 && i <= NF; i++) {
        name = substr($i, length(folder) + 1)
        if (length(name) > 90) name = substr(name, 1, 40) "..." substr(name, length(name) - 46)
        if (name != "") printf("          %s%s\n", name, (i == 7 && $1 > 3) ? " ..." : "")
      }
    }'
SELECT count(*), count(DISTINCT t.content_hash), min(d.path), max(d.path),
       (array_agg(d.path ORDER BY d.survivor DESC, d.id))[1], (array_agg(d.path ORDER BY d.survivor DESC, d.id))[2],
       coalesce((array_agg(d.path ORDER BY d.survivor DESC, d.id))[3], '')
FROM duplicates d JOIN texts t USING (id) WHERE d.path NOT LIKE 'planted/%'
GROUP BY d.cluster HAVING count(*) > 1 ORDER BY count(*) DESC, d.cluster LIMIT 10;
EOF
}

# Candidates are exported and compared by diff; the two that read best are shown: few changed lines, none too long.
demo_diffs() {
  local folder=$work/demo/diff id_a id_b similarity path_a path_b cluster lines longest chosen
  rm -rf "$folder"
  mkdir -p "$folder"
  sql -F $'\t' >"$folder/candidates" <<'EOF'
SELECT id_a, id_b, round(similarity::numeric, 3), path_a, path_b, cluster FROM (
  SELECT DISTINCT ON (d.cluster) n.*, d.cluster FROM near_pairs n JOIN duplicates d ON d.id = n.id_b
  WHERE n.similarity >= 0.8 AND n.similarity < 0.95
    AND n.size_a BETWEEN 800 AND 40000 AND n.size_b BETWEEN 800 AND 40000
    AND strpos(n.path_a || n.path_b, E'\t') = 0
  ORDER BY d.cluster, abs(n.similarity - 0.85), n.id_a, n.id_b) c
ORDER BY abs(size_a - size_b), id_a LIMIT 80;
EOF
  if [ ! -s "$folder/candidates" ]; then return; fi
  while IFS=$'\t' read -r id_a id_b _; do
    printf '\\o %s\nSELECT body FROM texts WHERE id = %d;\n' "'$folder/$id_a'" "$id_a" "'$folder/$id_b'" "$id_b"
  done <"$folder/candidates" | sql
  while IFS=$'\t' read -r id_a id_b similarity path_a path_b cluster; do
    diff -u --label "$path_a" --label "$path_b" "$folder/$id_a" "$folder/$id_b" >"$folder/$id_a-$id_b.diff" || true
    read -r lines longest < <(awk 'NR > 2 { n += /^[-+]/; if (length > l) l = length } END { print n + 0, l + 0 }' \
      "$folder/$id_a-$id_b.diff")
    if [ "$lines" -ge 4 ] && [ "$longest" -le 110 ]; then
      # the folder, so that the two pairs come from different places
      printf '%d\t%s\t%s\t%s\t%s\t%s\n' $((lines > 14 ? lines - 14 : 14 - lines)) "$id_a" "$id_b" "$similarity" \
        "$(dirname "$path_a" | cut -d/ -f1-4)" "$cluster"
    fi
  done <"$folder/candidates" | sort -n | awk -F '\t' '!seen[$5]++' | head -n 2 >"$folder/chosen"
  if [ ! -s "$folder/chosen" ]; then return; fi
  say
  say "Two of the near copies"
  while IFS=$'\t' read -r _ id_a id_b similarity _; do
    say "  similarity $similarity"
    chosen=$folder/$id_a-$id_b.diff
    head -n 14 "$chosen" | sed -E 's/^(.{94}).{3,}$/\1.../; s/^/    /'
    lines=$(wc -l <"$chosen")
    if [ "$lines" -gt 14 ]; then say "    ($((lines - 14)) more lines of the difference)"; fi
  done <"$folder/chosen"
}

demo_end() {
  cat <<'EOF'

Now yours: ./run psql, and there for example
  SELECT * FROM duplicates WHERE NOT survivor AND similarity < 1 ORDER BY similarity LIMIT 20;
  SELECT jaccard, note FROM compare_texts('to be or not to be, said he', 'to be or not to be, said she');
  SELECT id_a, id_b FROM all_pairs('SELECT id, to_minhash(body, 5, ''char'') FROM texts', 0.9) LIMIT 9;
EOF
}

run_demo() {
  local folder label labels=() folders=() load_seconds plant_seconds began
  began=$(date +%s.%N)
  for folder in "$@"; do
    [ -e "$folder" ] || die "there is no $folder"
    labels+=("$(basename "$folder")")
    folders+=("$folder")
  done
  set_work
  need_packages build
  lock 9 "$work/demo.lock" -n || die "the demo's database is in use by another ./run (or leave ./run psql first)"
  say "neardup demo: near copies among $([ $# -gt 0 ] && echo "your" || echo "this machine's own") files"
  say "building (make) for $("$pg_config" --version)"
  build
  if [ $# -eq 0 ]; then
    while IFS=$'\t' read -r label folder; do
      labels+=("$label")
      folders+=("$folder")
    done < <(default_corpora)
  fi
  prepare_server "$work/demo"
  at_exit stop_server
  create_server "$work/demo"
  start_server
  say "a private server in $work/demo, socket only, fsync off (a scratch server, faster than a safe one)"
  say
  sql -c 'CREATE DATABASE demo'
  export PGDATABASE=demo
  sql -c 'CREATE EXTENSION neardup'
  demo_load
  demo_stages
  demo_counts
  demo_clusters
  demo_diffs
  demo_end
  stop_server
  say
  say "The demo took $(printf %.0f "$(seconds_since "$began")") s. Its server is stopped; ./run psql starts it again."
}
