#!/usr/bin/python3
"""Exact and partial copies on real documents: karp_rabin against arbitrary-precision arithmetic, the guarantee of
winnowing against shared_passages and copied_share, articles found in the pages that
contain them, copied programs, and cancelling."""
import itertools
import random

from harness import *

BASE, PRIME = 0x0936E6F6839D61BC, 2**61 - 1


def horner(data):
    f = 0
    for c in data:
        f = (f * BASE + c + 1) % PRIME
    return f


def polynomial(conn):
    rng = random.Random(1)
    docs = [bytes(rng.randrange(256) for _ in range(n)) for n in list(range(300)) + [1000, 4096, 70001]]
    equal_all("karp_rabin is the polynomial", [
        (len(d), got, horner(d)) for d, (got,) in
        zip(docs,
            conn.execute("SELECT karp_rabin(d) FROM unnest(%s::bytea[]) WITH ORDINALITY u(d, i) ORDER BY i", (docs,)))])
    texts = ["".join(rng.choice("aé漢😀 \n") for _ in range(rng.randrange(200))) for _ in range(100)]
    equal_all("windows of characters", [
        (t, conn.execute("SELECT position, fingerprint FROM rolling_fingerprints(%s::text, 7)", (t,)).fetchall(),
         [(i + 1, horner(t[i:i + 7].encode())) for i in range(len(t) - 6)]) for t in texts])


def articles_in_pages(conn):
    """Each article body is found among all pages: by shared winnowed fingerprints, by containment(), by
    copied_share()."""
    paths = [data_file("news_boilerplate", f + ".tsv.gz") for f in ("pages", "body_in_page")]
    if None in paths:
        return
    load(conn, "pages", "id int, key text, url text, body text, page text", paths[0])
    load(conn, "truth", "body int, page int, containment float8, jaccard float8", paths[1])
    conn.execute("""
        CREATE TABLE fingerprints AS SELECT DISTINCT id AS doc, fingerprint FROM pages, winnow_fingerprints(page);
        CREATE INDEX ON fingerprints (fingerprint);
        CREATE TABLE of_body AS SELECT DISTINCT id AS body, fingerprint FROM pages, winnow_fingerprints(body);
        ANALYZE fingerprints, of_body;
        CREATE TABLE by_winnowing AS SELECT body, doc AS page, count(*)::float8 / n AS share
            FROM of_body JOIN fingerprints USING (fingerprint) JOIN (SELECT body, count(*) AS n FROM of_body
              GROUP BY 1) c USING (body)
            GROUP BY body, doc, n;
        CREATE TABLE by_signature AS SELECT b.id AS body, p.id AS page, containment(b.s, p.s) AS share
            FROM (SELECT id, to_minhash(body) AS s FROM pages OFFSET 0) b, (SELECT id, to_minhash(page) AS s
              FROM pages OFFSET 0) p""")
    want = one(conn, "SELECT count(*) FROM truth WHERE body = page AND containment >= 0.9")
    for how in "by_winnowing", "by_signature":
        found, first, others = conn.execute("""
            SELECT count(*) FILTER (WHERE body = page AND share >= 0.8), count(*) FILTER (WHERE body = page
              AND rank = 1),
                   count(*) FILTER (WHERE body <> page AND share >= 0.8)
            FROM (SELECT *, rank() OVER (PARTITION BY body ORDER BY share DESC) FROM %s) r""" % how).fetchone()
        print("note: %s: %d of %d articles at share 0.8, %d first, %d other pages" % (how, found, want, first, others))
        check("%s: articles are found in their pages" % how,
              want == 181 and found >= 179 and first >= 179 and others == 0)
    low, near = conn.execute("""
        SELECT min(copied_share(b.body, p.page)), max(abs(copied_share(b.body, p.page, 3) - containment)) FILTER
          (WHERE b.id = p.id)
        FROM truth t JOIN pages b ON b.id = t.body JOIN pages p ON p.id = t.page WHERE t.body = t.page""").fetchone()
    check("copied_share of articles in their pages", low >= 0.9 and near < 0.06, (low, near))


def versions_of_laws(conn):
    """Documents share a passage of 8 words just where copied_share is above 0, and then they share a fingerprint."""
    path = data_file("law_versions", "docs.tsv.gz")
    if not path:
        return
    load(conn, "law", "id int, path text, nth text, commit text, at text, body text", path)
    step = 10 if FULL else 150
    conn.execute("""
        CREATE TABLE of_law AS SELECT DISTINCT id AS doc, fingerprint FROM law, winnow_fingerprints(body)
          WHERE id %% %d = 0 OR id %% 9 = 0;
        CREATE INDEX ON of_law (fingerprint, doc); ANALYZE of_law;
        CREATE TABLE sharing AS SELECT DISTINCT f.doc AS a, g.doc AS b FROM of_law f JOIN of_law g USING (fingerprint)
            WHERE f.doc %% %d = 0 AND g.doc %% 9 = 0;
        CREATE TABLE pair AS SELECT x.id AS a, y.id AS b, x.body AS text_a, y.body AS text_b, copied_share(x.body,
          y.body) AS share
            FROM law x, law y WHERE x.id %% %d = 0 AND y.id %% 9 = 0""" % (step, step, step))
    pairs, copies, missed, whole = conn.execute("""
        SELECT count(*), count(*) FILTER (WHERE share > 0), count(*) FILTER (WHERE share > 0
          AND s.a IS NULL), count(*) FILTER (WHERE p.a = p.b AND share = 1)
        FROM pair p LEFT JOIN sharing s USING (a, b)""").fetchone()
    print("note: %d pairs of laws, %d with a shared passage of 8 words" % (pairs, copies))
    equal("every pair with a shared passage shares a fingerprint", (copies > 20, missed), (True, 0))
    check("a law is copied from itself", whole > 0, whole)
    conn.execute("""
        CREATE TABLE passage AS SELECT a, b, p.*, (SELECT count(*)::int FROM shingles(p.text, 1)) AS words
            FROM pair, shared_passages(text_a, text_b) p""")
    rows, odd, short = conn.execute("""
        SELECT count(*), count(*) FILTER (WHERE substr(text_a, start_a, length) <> text
                OR array(SELECT shingles(text, 1)) <> (array(SELECT shingles(substr(text_b, start_b), 1)))[:words]),
            count(*) FILTER (WHERE words < 8)
        FROM passage JOIN pair USING (a, b)""").fetchone()
    equal("passages stand in both, word by word (%d)" % rows, (rows > 20, odd, short), (True, 0, 0))
    equal("passages do not overlap", one(conn, """
        SELECT count(*) FROM (SELECT start_a < lag(start_a + length) OVER (PARTITION BY a, b
          ORDER BY start_a) AS overlap FROM passage) x
        WHERE overlap"""), 0)
    none, more, parts = conn.execute("""
        SELECT count(*) FILTER (WHERE (share > 0) <> (found IS NOT NULL)), count(*) FILTER (WHERE found > share *
          all_words + 1e-6),
            count(*) FILTER (WHERE abs(coalesce(found, 0) - share * all_words) < 1e-6)
        FROM pair JOIN (SELECT id AS a, count(*) AS all_words FROM law, shingles(body, 1) WHERE id %% %d = 0
          GROUP BY 1) n USING (a)
            LEFT JOIN (SELECT a, b, sum(words) AS found FROM passage GROUP BY 1, 2) p USING (a, b)""" % step).fetchone()
    equal("passages where something is copied, covering no more, and mostly all", (none, more, parts > 0.9 * pairs),
          (0, 0, True))


def plagiarised_programs(conn):
    """The more is copied, the greater is the share."""
    paths = [data_file("code_plagiarism", f + ".tsv.gz") for f in ("docs", "gold")]
    if None in paths:
        return
    load(conn, "code", "id int, kase text, label text, submission text, body text", paths[0])
    load(conn, "gold", "original int, id int, positive int, label text", paths[1])
    rows = conn.execute("""
        SELECT g.label, round(avg(copied_share(c.body, o.body, 12))::numeric, 2)
        FROM gold g JOIN code o ON o.id = original JOIN code c ON c.id = g.id GROUP BY 1 ORDER BY 2 DESC""").fetchall()
    print("note: copied_share(.., 12) of programs: %s" % ", ".join("%s %s" % r for r in rows))
    order = [r[0] for r in rows]
    check("shares fall from copies of level L1 to independent programs",
          order[0] == "L1" and order[-1] == "independent", rows)


def average_precision(scored):
    """The average precision of (score, 1 or 0) in falling order of score; equal scores are found together."""
    seen = right = total = 0
    for _, same in itertools.groupby(sorted(scored, reverse=True), key=lambda s: s[0]):
        marks = [mark for _, mark in same]
        seen, right = seen + len(marks), right + sum(marks)
        total += sum(marks) * right / seen
    return total / right


def units_of_programs(conn):
    """The precision of each unit of text on copied programs: names and layout changed (L1 to L3), and all levels."""
    if not one(conn, "SELECT to_regclass('gold') IS NOT NULL"):
        return
    measures = ("jaccard(to_minhash(c.body, {k}, {unit}), to_minhash(o.body, {k}, {unit}))",
                "containment_exact(winnow_hashes(c.body, {k}, 4, {unit}), winnow_hashes(o.body, {k}, 4, {unit}))",
                "copied_share(c.body, o.body, {passage}, {unit})")
    shares = {}
    print("note: code_plagiarism: average precision of L1 to L3, and of all levels")
    for unit, k, passage in (("word", 3, 8), ("word", 5, 12), ("char", 5, 20), ("char", 12, 36), ("line", 1, 1),
                             ("code", 3, 9), ("code", 5, 15)):
        for measure in measures:
            rows = conn.execute("SELECT {}, g.label, g.positive FROM gold g JOIN code o ON o.id = original JOIN code c "
                                "ON c.id = g.id".format(
                measure.format(unit="'%s'" % unit, k=k, passage=passage))).fetchall()
            name = measure.partition("(")[0]
            near = average_precision([(s, p) for s, label, p in rows if label in ("L1", "L2", "L3", "independent")])
            shares.setdefault((name, unit), []).append(near)
            print("note:   unit %s, k %d (passages of %d), %s: %.3f, %.3f" % (
                unit, k, passage, name, near, average_precision([(s, p) for s, _, p in rows])))
    for name in sorted({n for n, _ in shares}):
        others = max(max(v) for (n, unit), v in shares.items() if n == name and unit != "code")
        check("%s: copies with other names are found best by unit code" % name, max(shares[name, "code"]) > others,
              shares)


def cancelling(conn):
    conn.execute("""
        CREATE TABLE big AS SELECT string_agg(md5(i::text), ' ') AS body FROM generate_series(1, 150000) i;
        SET work_mem = '1MB'""")
    for query in ("SELECT count(*) FROM big, rolling_fingerprints(body)",
                  "SELECT max(fingerprint) FROM (SELECT (rolling_fingerprints(body)).* FROM big) x",
                  "SELECT count(*) FROM big, winnow_fingerprints(body, 20, 10000, 'char')",
                  "SELECT count(*) FROM big, shared_passages(body, body)",
                  "SELECT count(*) FROM shared_passages(repeat('ab ', 1000000), repeat('ab ', 1000000))",
                  "SELECT copied_share(body, body, 1000, 'char') FROM big",
                  "SELECT count(*) FROM big, winnow_fingerprints('/*' || repeat(body, 20), 20, 10000, 'code')"):
        stops_when_asked("stops when asked: " + query, conn, query)
    equal(
        "equal words without end are one passage",
        conn.execute(
            "SELECT start_a, start_b, length FROM shared_passages(repeat('a ', 200000), repeat('a ', "
            "300000))").fetchall(),
        [(1, 1, 399999)])


def main():
    with database() as name, connect(name) as conn:
        sections(*[(f, conn) for f in (
            polynomial, articles_in_pages, versions_of_laws, plagiarised_programs, units_of_programs, cancelling)])


finish(main)
