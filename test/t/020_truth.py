#!/usr/bin/python3
"""jaccard_exact over arrays of shingle hashes equals the exact Jaccard similarities of the data sets."""
from harness import *

# set: (document file, its columns, pair file, documents may hold other than ASCII)
SETS = {
    "code_versions": ("docs", "id text, path text, nth text, commit text, at text, body text", "pairs"),
    "code_submissions": ("docs", "id text, problem text, path text, body text", "pairs"),
    "code_plagiarism": ("docs", "id text, kase text, label text, submission text, body text", "pairs"),
    "news_reuters": ("docs", "id text, at text, body text", "pairs"),
    "sms": ("docs", "id text, label text, body text", "pairs"),
    "text_articles": ("articles_2500", "id text, body text", "articles_2500_pairs"),
}
PAIRS = "a text, b text, lev int, er float8, jw3 float8, jw3n float8, jc5 float8, jc3 float8"


def main():
    with database() as name, connect(name) as conn:
        for data, (docs, columns, pairs) in SETS.items():
            paths = [data_file(data, f + ".tsv.gz") for f in (docs, pairs)]
            if None in paths:
                continue
            conn.execute("DROP TABLE IF EXISTS doc, pair, sh")
            load(conn, "doc", columns, paths[0])
            load(conn, "pair", PAIRS, paths[1])
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
                        FILTER (WHERE both_ascii AND (abs(w - jw3n) <= 1e-6) IS NOT TRUE OR (abs(c - jc5) <= 1e-6) IS NOT TRUE)
                FROM (SELECT pair.*, x.ascii AND y.ascii AS both_ascii, jaccard_exact(x.w3, y.w3) AS w,
                          jaccard_exact(x.c5, y.c5) AS c
                      FROM pair JOIN sh x ON x.id = a JOIN sh y ON y.id = b OFFSET 0) p""").fetchone()
            check("%s: word 3 equals jw3n on %d pairs of ASCII texts" % (data, ascii_pairs), ascii_pairs and word_bad == 0,
                  "%s differ; %s" % (word_bad, example))
            check("%s: char 5 equals jc5 on %d listed pairs" % (data, listed), listed and char_bad == 0,
                  "%s differ; %s" % (char_bad, example))
            total = one(conn, "SELECT count(*) FROM pair")
            equal("%s: every listed pair was compared" % data, listed, total)


finish(main)
