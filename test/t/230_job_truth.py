#!/usr/bin/python3
"""Tables of duplicates against the exact clusters of the samples and of the data sets: connected, verified Jaccard >=
0.8 of word 3-shingles."""
from clusters import components
from harness import *
import samples

# Columns of docs.tsv.gz, and which of them is the text.
SETS = {"sms": (3, 3), "code_plagiarism": (5, 5), "code_submissions": (4, 4), "law_versions": (6, 6),
        "news_reuters": (3, 3), "code_versions": (6, 6), "zh_headlines": (3, 3), "zh_tang_editions": (6, 6)}
SHORT = ("sms", "code_plagiarism", "code_submissions", "zh_tang_editions")
# The number of pairs of ids that are similar themselves.
SIMILAR = """SELECT count(*) FROM unnest(%s::text[], %s::text[]) p(a, b) JOIN docs x ON x.id = p.a JOIN docs y
  ON y.id = p.b
  WHERE jaccard_exact(ARRAY(SELECT shingle_hashes(x.body)), ARRAY(SELECT shingle_hashes(y.body))) >= 0.8"""


def split(rows, by, into):
    """Pairs of ids that have one value in column `by`, and two in column `into`."""
    groups = {}
    for row in rows:
        groups.setdefault(row[by], []).append(row)
    return [(x[0], y[0]) for group in groups.values() if len({r[into] for r in group}) > 1
            for n, x in enumerate(group) for y in group[n + 1:] if x[into] != y[into]]


def adjusted_rand(conn):
    """Hubert and Arabie (1985) of the two partitions."""
    def pairs(n):
        return n * (n - 1) // 2
    cells = conn.execute(
        "SELECT truth, cluster, count(*) FROM truth JOIN dups USING (id) GROUP BY truth, cluster").fetchall()
    rows, columns = {}, {}
    for t, c, n in cells:
        rows[t] = rows.get(t, 0) + n
        columns[c] = columns.get(c, 0) + n
    both, a, b = (sum(pairs(n) for n in x) for x in ((n for _, _, n in cells), rows.values(), columns.values()))
    expected = a * b / pairs(sum(rows.values()))
    return 1.0 if a + b == 2 * expected else (both - expected) / ((a + b) / 2 - expected)


def one_set(conn, name, columns, text):
    docs, clusters = data_file(name, "docs.tsv.gz"), data_file(name, "clusters.tsv.gz")
    if not docs or not clusters:
        return
    load(conn, "raw", ", ".join("c%d text" % i for i in range(1, columns + 1)), docs)
    load(conn, "exact", "id text, er05 text, jw3 text, jw3n text, jc5 text", clusters)
    conn.execute("DROP TABLE IF EXISTS docs, truth")
    conn.execute("CREATE TABLE docs AS SELECT c1 AS id, c%d AS body FROM raw; "
                 "CREATE TABLE truth AS SELECT id, jw3n AS truth FROM exact; DROP TABLE raw, exact" % text)
    clusters_are_exact(conn, name)


def check_samples(conn):
    documents = samples.documents()
    rep = components([i for i, _ in documents], [(a, b) for a, b, _, words, _, _ in samples.pairs() if words >= 0.8])
    samples.fill(conn, "docs", "id text, body text", documents)
    samples.fill(conn, "truth", "id text, truth text", rep.items())
    check("samples: the truth has clusters of several sizes",
          len({list(rep.values()).count(r) for r in rep.values()}) > 2)
    clusters_are_exact(conn, "samples")


def clusters_are_exact(conn, name):
    # a text without a word is similar to nothing; the truth takes it as one empty shingle
    conn.execute("DELETE FROM docs WHERE NOT EXISTS (SELECT shingle_hashes(body))")
    conn.execute("ANALYZE docs; ANALYZE truth")
    conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', linkage => 'connected', verify => 'jaccard')")
    conn.execute("CALL refresh_duplicates('dups')")
    index = adjusted_rand(conn)
    rows = conn.execute("SELECT id, truth, cluster FROM truth JOIN dups USING (id)").fetchall()
    apart, joined = split(rows, 1, 2), len(split(rows, 2, 1))
    missed = one(conn, SIMILAR, ([a for a, _ in apart[:10000]], [b for _, b in apart[:10000]]))
    print("note: %s: %d rows, adjusted Rand index %.6f; %d pairs of rows apart, %d of them similar themselves; "
          "%d together that are not in truth" % (name, len(rows), index, len(apart), missed, joined))
    # The signatures' margin may miss one similar pair in a thousand.
    pairs = one(conn, "SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM truth GROUP BY truth) x")
    check("%s: similar pairs are together" % name, missed <= 1 + pairs / 500, "%d of %d are not" % (missed, pairs))
    # The truth and the job find the same words in the samples and in ASCII.
    if name == "samples" or one(conn, "SELECT bool_and(octet_length(body) = length(body)) FROM docs"):
        check("%s: the exact clusters" % name, index == 1.0 or apart, index)
        equal("%s: nothing else is joined" % name, joined, 0)
    conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs, truth")


def main():
    with database() as name, connect(name) as conn:
        sections((check_samples, conn))
        for data_set, (columns, text) in SETS.items():
            if FULL or data_set in SHORT:
                sections((one_set, conn, data_set, columns, text))


finish(main)
