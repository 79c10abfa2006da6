#!/usr/bin/python3
"""edit_distance, edit_rate, to_ctph and ctph_score equal the distances, digests and scores of the samples, by
test/reference, and of the data sets, which other programs made (edlib, ssdeep); the search
in two stages finds what its digests allow."""
from harness import *
import samples

# set: (document file, its columns, pair file)
TEXTS = {
    "code_versions": ("docs", "id text, path text, nth text, commit text, at text, body text", "pairs"),
    "code_plagiarism": ("docs", "id text, kase text, label text, submission text, body text", "pairs"),
    "sms": ("docs", "id text, label text, body text", "pairs"),
    "text_articles": ("articles_2500", "id text, body text", "articles_2500_pairs"),
}
PAIRS = "a text, b text, lev int, er float8, jw3 float8, jw3n float8, jc5 float8, jc3 float8"
MOST = "" if FULL else "LIMIT 1500"
EACH = 1 if FULL else 3  # every one of so many digests is compared with all


def distances(conn, name, docs, columns, pairs):
    paths = [data_file(name, f + ".tsv.gz") for f in (docs, pairs)]
    if None in paths:
        return
    conn.execute("DROP TABLE IF EXISTS doc, pair")
    load(conn, "doc", columns, paths[0])
    load(conn, "pair", PAIRS, paths[1])
    conn.execute("ALTER TABLE doc ADD PRIMARY KEY (id)")
    listed, wrong, loose, rates, example = conn.execute("""
        SELECT count(*), count(*) FILTER (WHERE d IS DISTINCT FROM lev), count(*) FILTER (WHERE below IS NOT NULL),
               count(*) FILTER (WHERE (abs(rate - er) <= 1e-6) IS NOT TRUE OR rate <> lev / (la + lb)::float8),
               min(format('%%s %%s: %%s, %%s want %%s, %%s', a, b, d, rate, lev, er))
                   FILTER (WHERE d IS DISTINCT FROM lev OR (abs(rate - er) <= 1e-6) IS NOT TRUE)
        FROM (SELECT p.*, char_length(x.body) AS la, char_length(y.body) AS lb, edit_distance(x.body, y.body) AS d,
                     CASE WHEN lev > 0 THEN edit_distance(x.body, y.body, lev - 1) END AS below,
                     edit_rate(x.body, y.body, lev / greatest(char_length(x.body) + char_length(y.body), 1)::float8) AS
                       rate
              FROM (SELECT * FROM pair WHERE lev IS NOT NULL ORDER BY md5(a || b) %s) p
              JOIN doc x ON x.id = a JOIN doc y ON y.id = b OFFSET 0) p""" % MOST).fetchone()
    check("%s: edit_distance and edit_rate of %d pairs, and NULL below" % (name, listed),
          listed and wrong + loose + rates == 0, "%s, %s, %s differ; %s" % (wrong, loose, rates, example))


def digests(conn, name, docs, columns, body, of):
    paths = [data_file(name, f + ".tsv.gz") for f in (docs, "ssdeep", "ssdeep_pairs")]
    if None in paths:
        return
    conn.execute("DROP TABLE IF EXISTS doc, digest, score")
    load(conn, "doc", columns, paths[0])
    load(conn, "digest", of, paths[1])
    load(conn, "score", "a text, b text, score int", paths[2])
    equal("%s: digests" % name,
          conn.execute("""
        SELECT count(*) > 100, count(*) FILTER (WHERE to_ctph(%s)::text <> digest) FROM doc JOIN digest USING (id)"""
                       % body).fetchone(), (True, 0))
    want = one(conn, "SELECT count(*) FROM score WHERE a::int %% %d = 0" % EACH)
    equal("%s: scores of pairs of digests" % name, conn.execute("""
        SELECT count(*) FILTER (WHERE ctph_score(x.c, y.c) <> coalesce(score, 0)), count(score)
        FROM (SELECT id, digest::ctph AS c FROM digest) x JOIN (SELECT id, digest::ctph AS c
          FROM digest) y ON x.id::int < y.id::int
        LEFT JOIN score ON a = x.id AND b = y.id WHERE x.id::int %% %d = 0""" % EACH).fetchone(), (0, want))


def check_samples(conn):
    documents, pairs, digests = samples.documents(), samples.pairs(), samples.digests()
    samples.fill(conn, "doc", "id text PRIMARY KEY, body text", documents)
    samples.fill(conn, "pair", "a text, b text, lev int, words float8, chars float8, score int", pairs)
    equal_all(
        "samples: digests",
        [(i, one(conn, "SELECT to_ctph(body)::text FROM doc WHERE id = %s", (i,)), digests[i]) for i, _ in documents])
    rows = conn.execute("""
        SELECT a, b, edit_distance(x.body, y.body), CASE WHEN lev > 0 THEN edit_distance(x.body, y.body, lev - 1) END,
          edit_rate(x.body, y.body) * (char_length(x.body) + char_length(y.body)),
            ctph_score(to_ctph(x.body), to_ctph(y.body)) FROM pair JOIN doc x ON x.id = a JOIN doc y
              ON y.id = b""").fetchall()
    want = {(a, b): (lev, None, lev, score) for a, b, lev, _, _, score in pairs}
    equal_all("samples: edit_distance, NULL below it, edit_rate, ctph_score",
              [((a, b), (d, below, round(rate), score), want[a, b]) for a, b, d, below, rate, score in rows])
    check("samples: pairs of all kinds", len(rows) == len(pairs) > 1000 and sum(w[3] > 0 for w in want.values()) > 200
          and sum(w[0] < 100 for w in want.values()) > 10)
    conn.execute(
        "CREATE TABLE near AS SELECT a, b, lev / (char_length(x.body) + char_length(y.body))::float8 AS er "
        "FROM pair JOIN doc x ON x.id = a JOIN doc y ON y.id = b; DROP TABLE pair; ALTER TABLE near RENAME TO pair")
    # so few rows are read one by one
    conn.execute("SET enable_seqscan = off")
    two_stages(conn, "samples")
    conn.execute("RESET enable_seqscan")


def two_stages_of_code(conn):
    paths = [data_file("code_versions", f + ".tsv.gz") for f in ("docs", "pairs")]
    if None in paths:
        return
    conn.execute("DROP TABLE IF EXISTS doc, pair")
    load(conn, "doc", TEXTS["code_versions"][1], paths[0])
    load(conn, "pair", PAIRS, paths[1])
    conn.execute("ALTER TABLE doc ADD PRIMARY KEY (id)")
    two_stages(conn, "code_versions")


def two_stages(conn, name):
    """The README's search: documents within P among those whose digests are within 3 P. It finds what the digests let
    it find, which is counted, and no pair is missed for another reason."""
    conn.execute("DELETE FROM pair WHERE er >= 0.05 OR er IS NULL")
    total = one(conn, "SELECT count(*) FROM pair")
    for what, digest in ("to_ctph", "to_ctph(body)"), ("ctph_long", "ctph_long(body, 100)"):
        conn.execute(
            "ALTER TABLE doc DROP COLUMN IF EXISTS c; ALTER TABLE doc ADD c ctph; UPDATE doc SET c = " + digest)
        # An index over chains of updated rows would serve no session that is older than it, here: the other tests'.
        conn.execute("VACUUM doc")
        conn.execute("CREATE INDEX doc_c ON doc USING lsh (c)")
        conn.execute("VACUUM ANALYZE doc")
        search = """SELECT a.id AS a, b.id AS b FROM doc a JOIN doc b ON a.id < b.id AND ctph_edit_rate(a.c, b.c) < 3 *
                    0.05
                    WHERE edit_rate(a.body, b.body, 0.05) < 0.05"""
        wait_for_indexes(conn)
        plan = " ".join(r[0] for r in conn.execute("EXPLAIN " + search))
        check("%s: two stages by %s use the index, or are a similarity join" % (name, what),
              "Index Cond: (c %> neardup_internal.lsh_rate_query" in plan or "Similarity Join" in plan, plan)
        conn.execute("DROP TABLE IF EXISTS found; CREATE TABLE found AS " + search)
        wrong, lost, far, found = conn.execute("""
            SELECT count(*) FILTER (WHERE p.a IS NULL), count(*) FILTER (WHERE f.a IS NULL
              AND ctph_edit_rate(x.c, y.c) < 0.15),
                   count(*) FILTER (WHERE f.a IS NULL AND ctph_edit_rate(x.c, y.c) >= 0.15), count(f.a)
            FROM (SELECT least(a, b) AS a, greatest(a, b) AS b FROM pair) p FULL JOIN found f USING (a, b)
            JOIN doc x ON x.id = a JOIN doc y ON y.id = b""").fetchone()
        equal("%s: two stages by %s: pairs that are none, pairs missed although their digests are near" % (name, what),
              (wrong, lost), (0, 0))
        equal("%s: two stages by %s: the others have digests that are not near" % (name, what), found + far, total)
        print("note: %s: two stages by %s: %d of %d pairs below 0.05" % (name, what, found, total))


def main():
    with database() as name, connect(name) as conn:
        check_samples(conn)
        for data, files in TEXTS.items():
            distances(conn, data, *files)
        digests(conn, "binaries", "files", "id text, grp text, name text, size int, bytes bytea", "bytes",
                "id text, name text, size int, digest text")
        digests(conn, "code_versions", *TEXTS["code_versions"][:2], "body", "id text, size int, digest text")
        two_stages_of_code(conn)
        path = data_file("binaries", "score_vectors.tsv.gz")
        if path:
            load(conn, "vector", "a text, b text, score int", path)
            equal("published scores", conn.execute("""
                SELECT count(*) > 2, count(*) FILTER (WHERE ctph_score(a::ctph, b::ctph) <> score
                  OR ctph_score(b::ctph, a::ctph) <> score)
                FROM vector""").fetchone(), (True, 0))


finish(main)
