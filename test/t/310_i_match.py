#!/usr/bin/python3
"""I-Match against its definition in Python, its recall and precision on data with known pairs, a lexicon that does not
fit in memory."""
import collections
import math
import random

from harness import *
import oracle

SETS = (
    # name, file, columns, pairs, least recall and precision of i_match_bag at jw3n >= 0.8
    ("text_articles", "articles_2500.tsv.gz", "id text, body text", "articles_2500_pairs.tsv.gz", 0.9, 0.9),
    ("law_versions", "docs.tsv.gz", "id text, path text, n text, c text, d text, body text", "pairs.tsv.gz", 0.7, 0.95),
    ("news_reuters", "docs.tsv.gz", "id text, d text, body text", "pairs.tsv.gz", 0.75, 0.75),
    ("sms", "docs.tsv.gz", "id text, kind text, body text", "pairs.tsv.gz", 0.9, 0.3),
    ("code_versions", "docs.tsv.gz", "id text, path text, n text, c text, d text, body text", "pairs.tsv.gz", 0.03,
     0.9),
)
FOUND = {
    "i_match": "SELECT a.id AS a, b.id AS b FROM f a JOIN f b ON a.f[1] = b.f[1] AND a.id < b.id",
    "i_match_bag": "SELECT DISTINCT a.id AS a, b.id AS b FROM u a JOIN u b ON a.f = b.f AND a.id < b.id",
}


def kept_terms(text, lexicon, n, low, high):
    words = set(oracle.words(text))
    return frozenset(w for w in words if w in lexicon and low <= (lexicon[w][1] / math.log(n)) <= high)


def definition(conn):
    """Equal fingerprints exactly where the sets of words are equal."""
    rng = random.Random(5)
    words = ["w%d" % i for i in range(60)] + ["Über", "ÉTÉ", "на", "中文", "don't"]
    docs = [" ".join(rng.choice(words) for _ in range(rng.randrange(12))) for _ in range(300)]
    docs += [d.upper() + "!" for d in docs[:60]]
    conn.execute("CREATE TABLE d (id int, body text)")
    with conn.cursor() as cur:
        cur.executemany("INSERT INTO d VALUES (%s, %s)", list(enumerate(docs)))
    conn.execute("SELECT create_lexicon('d_lexicon', 'SELECT body FROM d')")
    counts = collections.Counter(w for d in docs for w in set(oracle.words(d)))
    got = {t: (n, idf) for t, n, idf in conn.execute("SELECT * FROM d_lexicon")}
    equal("the lexicon: words and how many documents hold them", {t: n for t, (n, _) in got.items()}, dict(counts))
    check("its idf is ln(N / documents)", all(abs(idf - math.log(len(docs) / n)) < 1e-12 for n, idf in got.values()))
    for low, high in ((0.2, 0.9), (0.35, 0.6), (0, 1)):
        by_terms, by_hash = collections.defaultdict(set), collections.defaultdict(set)
        for i, f in conn.execute("SELECT id, i_match(body, 'd_lexicon', %s, %s) FROM d", (low, high)):
            terms = kept_terms(docs[i], got, len(docs), low, high)
            by_terms[terms or None].add(i)
            by_hash[f].add(i)
        equal("documents with one fingerprint have one set of words (%s to %s)" % (low, high),
              sorted(map(sorted, by_hash.values())), sorted(map(sorted, by_terms.values())))
        equal("none without words has one (%s to %s)" % (low, high), by_hash[None], by_terms[None])
    # 30000 words, each in 3 of 1800 documents: far more than half of 1 MB
    equal("partial counts add up",
          small_memory(conn, "SELECT create_lexicon('d_small', $$SELECT string_agg('w' || (d * 50 + j) * 7 % 30000, "
                             "' ') FROM generate_series(0, 1799) d, generate_series(0, 49) j GROUP BY d$$)"), 30000)
    equal("to the counts of all",
          conn.execute("SELECT min(document_frequency), max(document_frequency), obj_description('d_small'::regclass) "
                       "FROM d_small").fetchone(),
          (3, 3, "lexicon of 1800 documents"))
    equal("a bag begins with the fingerprint",
          one(conn, "SELECT count(*) FROM d WHERE (i_match_bag(body, 'd_lexicon'))[1] IS DISTINCT "
                    "FROM i_match(body, 'd_lexicon')"), 0)
    conn.execute("CREATE TABLE bags AS SELECT id, i_match_bag(body, 'd_lexicon') AS f FROM d")
    conn.execute("CREATE INDEX ON bags USING gin (f)")
    for off in ("enable_seqscan", "enable_bitmapscan"):
        with conn.transaction():
            conn.execute("SET LOCAL %s = off" % off)
            n = one(conn, "SELECT count(*) FROM bags a, bags b WHERE a.f && b.f")
            check("arrays overlap, %s off" % off, n == overlaps(conn), n)


def small_memory(conn, query):
    with conn.transaction():
        conn.execute("SET LOCAL maintenance_work_mem = '1MB'")
        conn.execute("SET LOCAL work_mem = '64kB'")
        return one(conn, query)


def overlaps(conn):
    bags = [set(f or ()) for (f,) in conn.execute("SELECT f FROM bags")]
    return sum(1 for a in bags for b in bags if a & b)


def measured(conn):
    for name, docs, columns, pairs, least_recall, least_precision in SETS:
        path, truth = data_file(name, docs), data_file(name, pairs)
        if not path or not truth:
            continue
        conn.execute("DROP TABLE IF EXISTS docs, truth, lex, f, u")
        load(conn, "docs", columns, path)
        load(
            conn, "truth", "a text, b text, lev int, er float8, jw3 float8, jw3n float8, jc5 float8, jc3 float8", truth)
        conn.execute("SELECT create_lexicon('lex', 'SELECT body FROM docs')")
        for share in ((0.67, 0.5, 0.8, 0.9) if FULL else (0.67,)):
            conn.execute("DROP TABLE IF EXISTS f, u")
            conn.execute("CREATE TABLE f AS SELECT id, i_match_bag(body, 'lex', share => %s) AS f FROM docs" % share)
            conn.execute("CREATE TABLE u AS SELECT id, unnest(f) AS f FROM f")
            for function, found in FOUND.items():
                if function == "i_match" and share != 0.67:
                    continue
                for condition in ("jw3n >= 0.8", "jw3n >= 0.9", "er < 0.05"):
                    n, true, both = conn.execute(
                        "WITH found AS (%s), t AS (SELECT least(a, b) AS a, greatest(a, b) AS b FROM truth WHERE %s)"
                        " SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM t), (SELECT count(*) "
                        "FROM found JOIN t USING (a, b))" % (found, condition)).fetchone()
                    recall, precision = both / max(true, 1), both / max(n, 1)
                    print("# %s, %s%s: %d pairs found, %d with %s: recall %.3f, precision %.3f"
                              % (name, function, "" if function == "i_match" else ", share %.2f" % share, n, true,
                                 condition, recall, precision),
                          flush=True)
                    if condition == "jw3n >= 0.8" and function == "i_match":
                        alone = recall
                    if condition == "jw3n >= 0.8" and function == "i_match_bag" and share == 0.67:
                        check("%s: recall and precision of i_match_bag" % name,
                              recall >= least_recall and precision >= least_precision, (recall, precision))
                        check(
                            "%s: variants find more than one fingerprint does" % name, recall > alone, (recall, alone))
        equal("%s: equal texts have equal fingerprints" % name,
              one(conn, "SELECT count(*) FROM (SELECT body FROM docs JOIN f USING (id) GROUP BY body "
                        "HAVING count(DISTINCT f) > 1) x"), 0)


def at_once(name):
    """A lexicon that another session makes at the same time."""
    with connect(name) as first, connect(name) as second:
        call = "SELECT create_lexicon('twice', 'SELECT ''a b''::text')"
        for before in ("", HOLD_CATALOGS):
            first.execute("BEGIN; SELECT create_lexicon('twice', 'SELECT ''a''::text')")
            e = error_behind(first, ("COMMIT",), second, before + call)
            check("a lexicon that another session has just made: %s" % before,
                  e and e.sqlstate == "42P07" and "relation public.twice exists already" in str(e), e)
            first.execute("DROP TABLE twice")
        first.execute("BEGIN; SELECT create_lexicon('twice', 'SELECT ''a''::text')")
        equal("one that it has given up", error_behind(first, ("ROLLBACK",), second, call), None)
        equal("is made", one(first, "SELECT count(*) FROM twice"), 2)
        first.execute("DROP TABLE twice; CREATE TYPE twice AS ENUM ('x')")
        fails("a type has its name", second, call, text='type "twice" already exists', state="42710")
        first.execute("DROP TYPE twice")


def main():
    with database() as name, connect(name) as conn:
        sections((definition, conn), (at_once, name), (measured, conn))


finish(main)
