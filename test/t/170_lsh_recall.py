#!/usr/bin/python3
"""An lsh index finds all pairs of every data set, of long texts, short ones and records; one with recall < 1 finds the
share that its bands predict."""
import csv
import glob
import itertools
import math
import random

from harness import *
import samples

THRESHOLDS = (0.75, 0.8, 0.9, 0.95, 1.0)
MOST_DOCS = 1500 if not FULL else 100000
SIGNATURES = {"word 3": "to_minhash(body)", "char 5": "to_minhash(body, 5, 'char')"}
# characters on average: such texts, headlines and words, have hardly a shingle of those; and records share few
SHORT = 20
SHORT_SIGNATURES = {"char 2": "to_minhash(body, 2, 'char')", "char 3": "to_minhash(body, 3, 'char')"}
NO_DOCUMENTS = ("pairs", "clusters", "gold", "vectors")  # what is known of the documents, for other tests
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def documents(path):
    """The longest column of a file in COPY text format, as stored there; the records of a CSV file, all fields of each,
    as they would be stored."""
    if path.endswith(".csv.gz"):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            return [" ".join(row).translate(ESCAPES) for row in itertools.islice(csv.reader(lines), 1, 1 + MOST_DOCS)]
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in itertools.islice(lines, MOST_DOCS)]
    if not rows:
        return []
    width = min(len(row) for row in rows)
    longest = max(range(width), key=lambda c: sum(len(row[c]) for row in rows))
    return [row[longest] for row in rows]


def fill(conn, texts):
    conn.execute("DROP TABLE IF EXISTS source; CREATE TABLE source (id bigserial, body text)")
    with conn.cursor() as cur, cur.copy("COPY source (body) FROM STDIN") as copy:
        for text in texts:
            copy.write(text + "\n")


def by_index(conn, threshold):
    """Pairs that the index gives when each row in turn is the query."""
    conn.execute("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
    query = """SELECT x.id, y.id FROM doc x JOIN doc y
               ON jaccard(y.sig, x.sig) >= %s AND x.id < y.id + 0 ORDER BY 1, 2""" % threshold
    plan = "\n".join(row[0] for row in conn.execute("EXPLAIN (COSTS OFF) " + query))
    rows = conn.execute(query).fetchall()
    conn.execute("RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin")
    return rows, plan


def all_sets(conn, folder):
    paths = sorted(path for kind in ("tsv", "csv") for path in glob.glob(
        os.path.join(folder, "**", "*.%s.gz" % kind), recursive=True))
    known = 0
    for path in paths:
        name = os.path.relpath(path, folder)
        if any(word in name for word in NO_DOCUMENTS):
            known += 1
            continue
        texts = documents(path)
        if not texts:
            skip("%s: no document" % name)
            continue
        all_found(conn, name, texts, path.endswith(".csv.gz") or sum(map(len, texts)) / len(texts) < SHORT)
    print("note: %d files hold no documents, by their names: %s" % (known, ", ".join(NO_DOCUMENTS)))


def all_found(conn, name, texts, short):
    fill(conn, texts)
    for what, constructor in (SHORT_SIGNATURES if short else SIGNATURES).items():
        # UPDATE would not do: an index on a table with old row versions is not used while any older snapshot lives.
        conn.execute("DROP TABLE IF EXISTS doc; CREATE TABLE doc AS SELECT id, %s AS sig FROM source" % constructor)
        conn.execute("ALTER TABLE doc ADD PRIMARY KEY (id); CREATE INDEX doc_sig ON doc USING lsh (sig); ANALYZE doc")
        results, used = [], True
        total = 0
        for threshold in THRESHOLDS:
            truth = conn.execute("SELECT id_a, id_b FROM all_pairs('SELECT id, sig FROM doc', %s) ORDER BY 1, 2"
                                 % threshold).fetchall()
            got, plan = by_index(conn, threshold)
            used = used and "Index Scan" in plan and "doc_sig" in plan
            results.append((threshold, got == truth, "%d of %d" % (len(set(got) & set(truth)), len(truth))))
            total += len(truth)
        check("%s, %s: %d documents, %d pairs at five thresholds, all found by the index" %
              (name, what, len(texts), total), used and all(good for _, good, _ in results),
              "index used: %s; %s" % (used, results))


def predicted_recall(components, bands, rows, matches):
    """Chance that one of the bands is whole when `matches` of the components agree, at random places."""
    # ways[m]: placements of m matches in the bands so far with none of them whole
    ways = [1] + [0] * matches
    for band in range(bands + 1):
        size = rows if band < bands else components - bands * rows
        new = [0] * (matches + 1)
        for m, w in enumerate(ways):
            if w:
                for k in range(min(size, matches - m) + 1):
                    if k < rows or band == bands:
                        new[m + k] += w * math.comb(size, k)
        ways = new
    return 1 - ways[matches] / math.comb(components, matches)


def weaker_recall(conn):
    """Pairs of signatures that agree in a given number of components at random places."""
    chance = random.Random(7)
    count = 4000 if FULL else 1500
    for recall in (0.95, 0.8):
        conn.execute("DROP TABLE IF EXISTS pair, raw; CREATE TABLE raw (id int, matches int, a bigint[], b bigint[])")
        with conn.cursor() as cur, cur.copy("COPY raw FROM STDIN") as copy:
            for i in range(count):
                matches = chance.choice((103, 104, 110, 116, 122))
                a = [chance.getrandbits(31) for _ in range(128)]
                same = set(chance.sample(range(128), matches))
                b = [v if j in same else v ^ (1 + chance.getrandbits(20)) for j, v in enumerate(a)]
                copy.write_row((i, matches, a, b))
        conn.execute("CREATE TABLE pair AS SELECT id, matches, minhash_import(a) AS a, minhash_import(b) AS b FROM raw")
        conn.execute(
            "CREATE INDEX pair_b ON pair USING lsh (b) WITH (threshold = 0.8, recall = %s); ANALYZE pair" % recall)
        conn.execute("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
        found = dict(conn.execute("""SELECT x.matches, count(*) FROM pair x CROSS JOIN LATERAL
                                       (SELECT id FROM pair y WHERE jaccard(y.b, x.a) >= 0.8 OFFSET 0) y
                                       WHERE y.id = x.id GROUP BY 1""").fetchall())
        conn.execute("RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin")
        of = dict(conn.execute("SELECT matches, count(*) FROM pair GROUP BY 1").fetchall())
        bands, guarantee = conn.execute("SELECT bands, guarantee FROM lsh_info('pair_b')").fetchone()
        # Bands are as long as the promised recall allows at 103 of 128 matches.
        rows = max(r for r in range(1, 128 // bands + 1) if predicted_recall(128, bands, r, 103) >= recall)
        lines = []
        good = True
        for matches, n in sorted(of.items()):
            p = predicted_recall(128, bands, rows, matches)
            expected, sigma = n * p, math.sqrt(n * p * (1 - p)) + 0.5
            good = good and abs(found.get(matches, 0) - expected) <= 4 * sigma
            lines.append("%d matches: %d of %d, expected %.1f" % (matches, found.get(matches, 0), n, expected))
        check("recall = %s: %d bands, found as predicted (%s)" % (recall, bands, guarantee), good, "; ".join(lines))
        print("note: " + "; ".join(lines))


def main():
    with database() as name, connect(name) as conn:
        conn.execute("SET neardup.enable_join = off")  # what is compared with is a plain loop
        weaker_recall(conn)
        all_found(conn, "samples", [text for _, text in samples.documents()], False)
        folder = data_file("")
        if folder:
            all_sets(conn, folder)


finish(main)
