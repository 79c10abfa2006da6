#!/usr/bin/python3
"""jaccard_exact over arrays of shingle hashes equals the exact Jaccard similarities of the samples and of the data
sets."""
from harness import *
import samples

# set: (document file, its columns, pair file, documents may hold other than ASCII)
SETS = {
    "code_versions": ("docs", "id text, path text, nth text, commit text, at text, body text", "pairs"),
    "code_submissions": ("docs", "id text, problem text, path text, body text", "pairs"),
    "code_plagiarism": ("docs", "id text, kase text, label text, submission text, body text", "pairs"),
    "news_reuters": ("docs", "id text, at text, body text", "pairs"),
    "sms": ("docs", "id text, label text, body text", "pairs"),
    "text_articles": ("articles_2500", "id text, body text", "articles_2500_pairs"),
}
MOST = "" if FULL else "LIMIT 4000"  # pairs of a set
PAIRS = "a text, b text, lev int, er float8, jw3 float8, jw3n float8, jc5 float8, jc3 float8"


def check_samples(conn):
    """The truth is that of test/reference, whose words are ours in every language."""
    samples.fill(conn, "doc", "id text, body text", samples.documents())
    samples.fill(conn, "pair", "a text, b text, lev int, words float8, chars float8, score int", samples.pairs())
    pairs, similar, word_bad, char_bad = conn.execute("""
        WITH sh AS MATERIALIZED (SELECT id, array(SELECT DISTINCT shingle_hashes(body)) AS w3, array(SELECT
          shingle_hashes(body, 5, 'char')) AS c5 FROM doc)
        SELECT count(*), count(*) FILTER (WHERE words > 0.5), count(*) FILTER (WHERE (abs(jaccard_exact(x.w3,
          y.w3) - words) <= 1e-8) IS NOT TRUE),
            count(*) FILTER (WHERE (abs(jaccard_exact(x.c5, y.c5) - chars) <= 1e-8) IS NOT TRUE)
        FROM pair JOIN sh x ON x.id = a JOIN sh y ON y.id = b""").fetchone()
    equal("samples: word 3 and char 5 on %d pairs, %d of them above 0.5" % (pairs, similar),
          (pairs > 1000, similar > 50, word_bad, char_bad), (True, True, 0, 0))


def main():
    with database() as name, connect(name) as conn:
        check_samples(conn)
        for data, (docs, columns, pairs) in SETS.items():
            paths = [data_file(data, f + ".tsv.gz") for f in (docs, pairs)]
            if None in paths:
                continue
            conn.execute("DROP TABLE IF EXISTS doc, listed, pair, sh")
            load(conn, "doc", columns, paths[0])
            load(conn, "listed", PAIRS, paths[1])
            conn.execute("CREATE TABLE pair AS SELECT * FROM listed ORDER BY md5(a || b) %s" % MOST)
            conn.execute("""
                CREATE TABLE sh AS SELECT id, octet_length(body) = char_length(body) AS ascii,
                    array(SELECT DISTINCT shingle_hashes(body)) AS w3,
                    array(SELECT shingle_hashes(body, 5, 'char')) AS c5
                FROM doc WHERE id IN (SELECT a FROM pair UNION SELECT b FROM pair);
                ALTER TABLE sh ADD PRIMARY KEY (id); ANALYZE sh""")
            listed, ascii_pairs, word_bad, char_bad, example = conn.execute("""
                SELECT count(*), count(*) FILTER (WHERE both_ascii),
                    count(*) FILTER (WHERE both_ascii AND (abs(w - jw3n) <= 1e-6) IS NOT TRUE),
                    count(*) FILTER (WHERE (abs(c - jc5) <= 1e-6) IS NOT TRUE),
                    min(format('%s %s: words %s want %s, chars %s want %s', a, b, w, jw3n, c, jc5))
                        FILTER (WHERE both_ascii AND (abs(w - jw3n) <= 1e-6) IS NOT TRUE
                          OR (abs(c - jc5) <= 1e-6) IS NOT TRUE)
                FROM (SELECT pair.*, x.ascii AND y.ascii AS both_ascii, jaccard_exact(x.w3, y.w3) AS w,
                          jaccard_exact(x.c5, y.c5) AS c
                      FROM pair JOIN sh x ON x.id = a JOIN sh y ON y.id = b OFFSET 0) p""").fetchone()
            check("%s: word 3 equals jw3n on %d pairs of ASCII texts" % (data, ascii_pairs),
                  ascii_pairs and word_bad == 0, "%s differ; %s" % (word_bad, example))
            check("%s: char 5 equals jc5 on %d listed pairs" % (data, listed), listed and char_bad == 0,
                  "%s differ; %s" % (char_bad, example))
            total = one(conn, "SELECT count(*) FROM pair")
            equal("%s: every listed pair was compared" % data, listed, total)


finish(main)
