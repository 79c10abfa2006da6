#!/usr/bin/python3
"""neardup_suggest: its proposals for one sample must be good for another one; neardup_s_curve."""
import random
import time
from math import sqrt

from harness import *

VOCABULARY = 4000
FAMILIES = 120 if FULL else 60


def word(n):
    return "".join("bcdfghklmnprstvz"[n >> s & 15] + "aeiou"[(n >> s) % 5] for s in (0, 4, 8))


def edited(rng, words, rate):
    """Each word is replaced by another one with this probability."""
    return [word(rng.randrange(VOCABULARY)) if rng.random() < rate else w for w in words]


def families(seed, rates, count=FAMILIES, length=150):
    """Rows (id, document): `count` families of a base and an edited copy for each of `rates`, and as many loners."""
    rng = random.Random(seed)
    rows = []
    for f in range(count):
        base = [word(rng.randrange(VOCABULARY)) for _ in range(length)]
        rows.append(("f%03d-base" % f, base))
        rows += [("f%03d-%02d" % (f, i), edited(rng, base, r() if callable(r) else r)) for i, r in enumerate(rates)]
        rows.append(("l%03d" % f, [word(rng.randrange(VOCABULARY)) for _ in range(length)]))
    return [(i, " ".join(words)) for i, words in rows]


def put(conn, table, rows):
    conn.execute("CREATE TABLE %s (id text PRIMARY KEY, body text)" % table)
    copy_rows(conn, table, rows)
    conn.execute("ANALYZE %s" % table)


def suggest(conn, *args):
    cur = conn.execute("SELECT * FROM neardup_suggest(%s)" % ", ".join(["%s"] * len(args)), args)
    names = [d.name for d in cur.description]
    return [dict(zip(names, row)) for row in cur.fetchall()]


def proposal_text(p):
    return "%s %s, %sx%s, %s: recall %.3f, precision %.3f" % (
        p["unit"], p["k"], p["num_perm"], p["bits"], p["threshold"], p["expected_recall"], p["expected_precision"])


def found_with(conn, table, p):
    """Pairs of a table that a proposal's parameters find."""
    return set(conn.execute("SELECT id_a, id_b FROM all_pairs(NULL::text, %s, %s)",
                            ("SELECT id, to_minhash(body, %(k)s, '%(unit)s', %(num_perm)s, %(bits)s) FROM " % p + table,
                             p["threshold"])).fetchall())


def measured(found, truth):
    hits = len(found & truth)
    return hits / len(truth), hits / max(1, len(found))


def holds(name, conn, table, proposals, truth, margin):
    """The best proposals' recall and precision, measured on another table with signatures, not with probabilities."""
    worst, why = 0, ""
    for p in proposals[:3]:
        recall, precision = measured(found_with(conn, table, p), truth)
        for was, now, n in ((p["expected_recall"], recall, len(truth)),
                            (p["expected_precision"], precision, len(truth))):
            # Both samples scatter, so two standard deviations are allowed beyond the margin.
            off = abs(was - now) - 2 * sqrt(2 * max(now * (1 - now), 1 / n) / n)
            if off > worst:
                worst = off
                why = "%s; measured %.3f and %.3f" % (proposal_text(p), recall, precision)
    return check("%s: recall and precision of the best three hold on a second sample within %s" % (name, margin),
                 worst <= margin, why)


def edit_truth(conn, table):
    """All pairs by the definition, of all documents with all: 1 - 2 * edit_rate >= 0.8."""
    return set(conn.execute(
        "SELECT a.id, b.id FROM %s a JOIN %s b ON a.id < b.id WHERE edit_rate(a.body, b.body, 0.100000001) IS NOT NULL"
        % (table, table)).fetchall())


def f1(recall, precision):
    return 2 * recall * precision / max(1e-9, recall + precision)


def make(conn):
    """Tables of two kinds, two of each: one to ask of, one to try the answer on."""
    for name, seed in (("clear_a", 1), ("clear_b", 2)):
        put(conn, name, families(seed, (0.05, 0.08, 0.6)))
    for name, seed in (("blurred_a", 3), ("blurred_b", 4)):
        rng = random.Random(seed)
        put(conn, name, families(seed, [lambda: rng.uniform(0, 0.5)] * 3))


def well_known(conn):
    """Copies with 5 and 8 % of their words replaced are duplicates, those with 60 % are not: there is a clean cut."""
    p = suggest(conn, "SELECT id, body FROM clear_a")
    truth = edit_truth(conn, "clear_b")
    equal("the truth of a clean cut is the families'", truth,
          {("f%03d-%s" % (f, x), "f%03d-%s" % (f, y)) for f in range(FAMILIES)
           for x, y in (("00", "01"), ("00", "base"), ("01", "base"))})
    check("a clean cut: 18 proposals and the default, the best finds all and nothing else",
          len(p) == 19 and [(x["unit"], x["k"], x["num_perm"], x["threshold"]) for x in p if x["is_default"]]
              == [("word", 3, 128, 0.8)] and p[0]["expected_recall"] > 0.98 and p[0]["expected_precision"] > 0.98,
          proposal_text(p[0]))
    equal("a clean cut: pairs", p[0]["pairs"], 3 * FAMILIES)
    check(
        "a clean cut: each family counts once", 0.5 * FAMILIES <= p[0]["families"] <= 1.1 * FAMILIES, p[0]["families"])
    holds("a clean cut", conn, "clear_b", p, truth, 0.02)
    order = [(round(f1(x["expected_recall"], x["expected_precision"]), 2), -x["bytes_per_row"]) for x in p
             if not x["is_default"]]
    check("best first, the smaller ones first among equals",
          all(a[0] > b[0] - 0.011 for a, b in zip(order, order[1:])), order)
    check("what costs is told", all(x["bytes_per_row"] > 140 and x["signing_us"] > 0 and x["query_us"] > 0 for x in p),
          p[0])
    equal_all("options of an index",
              [(proposal_text(x), x["index_options"], "threshold = %s" % x["threshold"]) for x in p])
    conn.execute("CREATE TABLE signed AS SELECT id, to_minhash(body, %(k)s, '%(unit)s', %(num_perm)s, %(bits)s) AS sig "
                 "FROM clear_b" % p[0])
    conn.execute("CREATE INDEX signed_sig ON signed USING lsh (sig) WITH (%s)" % p[0]["index_options"])
    real = one(conn, "SELECT bytes_per_row FROM lsh_info('signed_sig')") + one(
        conn, "SELECT avg(pg_column_size(sig))::float8 FROM signed")
    check("bytes_per_row is that of the column and its index, by a third", abs(p[0]["bytes_per_row"] / real - 1) < 0.34,
          (p[0]["bytes_per_row"], real))
    again = suggest(conn, "SELECT id, body FROM clear_a")
    timeless = lambda rows: [{k: v for k, v in x.items() if k not in ("signing_us", "query_us")} for x in rows]
    equal("the same again, but for times", timeless(again), timeless(p))


def no_clean_cut(conn):
    """Any rate from 0 to 0.5: whatever the threshold, some are missed and some are wrong; how many must be told
    right."""
    p = suggest(conn, "SELECT id, body FROM blurred_a")
    truth = edit_truth(conn, "blurred_b")
    check("no clean cut: the best is not perfect, and good",
          0.8 < f1(p[0]["expected_recall"], p[0]["expected_precision"]) < 0.995, proposal_text(p[0]))
    holds("no clean cut", conn, "blurred_b", p, truth, 0.03)
    best = f1(*measured(found_with(conn, "blurred_b", p[0]), truth))
    for unit, k, threshold in (("word", 3, 0.8), ("char", 5, 0.8), ("word", 5, 0.5)):
        other = f1(*measured(
            found_with(conn, "blurred_b", dict(p[0], unit=unit, k=k, threshold=threshold, num_perm=128)), truth))
        check("no clean cut: better than %s %d at %s" % (unit, k, threshold), best > other - 0.02,
              "F1 %.3f and %.3f" % (best, other))
    sizes = {x["num_perm"]: f1(x["expected_recall"], x["expected_precision"]) for x in reversed(p)
             if (x["unit"], x["k"]) == ("char", 5)}
    check("no clean cut: more components promise no less",
          sizes[64] <= sizes[128] + 0.002 and sizes[128] <= sizes[256] + 0.002, sizes)


def with_labels(conn):
    """Labels that say otherwise than edit_rate: copies with up to 30 % of their words replaced are duplicates, 60 %
    not."""
    for name, seed in (("labelled_a", 5), ("labelled_b", 6)):
        put(conn, name, families(seed, (0.05, 0.3, 0.6)))
        conn.execute("""CREATE TABLE %s_pairs AS SELECT a.id AS a, b.id AS b, a.id !~ '-02$' AND b.id !~ '-02$' AS same
                        FROM %s a JOIN %s b ON a.id < b.id AND left(a.id, 4) = left(b.id, 4)""" % (name, name, name))
    p = suggest(conn, "SELECT id, body FROM labelled_a",
                "SELECT a, b, same FROM labelled_a_pairs UNION ALL SELECT 'none', 'nor this', true")
    truth = set(conn.execute("SELECT a, b FROM labelled_b_pairs WHERE same").fetchall())
    check("labels: strangers are counted", "labels of ids that are not in the sample: 1" in p[0]["note"], p[0]["note"])
    equal("labels: pairs", p[0]["pairs"], 3 * FAMILIES)
    holds("labels", conn, "labelled_b", p, truth, 0.03)
    p = suggest(conn, "SELECT id, body FROM labelled_a", "SELECT a, b, same FROM labelled_a_pairs WHERE same")
    check("labels of duplicates only: others count as others", "none as others" in p[0]["note"], p[0]["note"])
    holds("labels of duplicates only", conn, "labelled_b", p, truth, 0.03)


def crowded(conn):
    """More near pairs than are looked at: some stand for all, and the figures are those of all."""
    for name, seed in (("crowd_a", 7), ("crowd_b", 8)):
        rng = random.Random(seed)
        put(conn, name, families(seed, [lambda: rng.uniform(0, 0.4)] * 40, count=12))
    p = suggest(conn, "SELECT id, body FROM crowd_a")
    check("a crowd: it is told that some pairs stand for all", "of the near pairs stand for all" in p[0]["note"],
          p[0]["note"])
    holds("a crowd", conn, "crowd_b", p, edit_truth(conn, "crowd_b"), 0.05)


def examples(conn):
    """The pairs for people to judge lie on both sides of each threshold; their labels are taken back."""
    query = "SELECT id, body FROM blurred_a"
    cur = conn.execute("SELECT * FROM neardup_suggest_examples(%s)", (query,))
    names = [d.name for d in cur.description]
    rows = [dict(zip(names, row)) for row in cur.fetchall()]
    groups = {}
    for row in rows:
        groups.setdefault((row["unit"], row["k"], row["threshold"], row["is_default"]), []).append(row)
    proposed = {(x["unit"], x["k"], x["threshold"], x["is_default"]) for x in suggest(conn, query)}
    check("examples: of each kind of shingles, and of the default",
          set(groups) <= proposed and len(groups) == 7 and any(g[3] for g in groups), set(groups) - proposed)
    checks = []
    for (unit, k, threshold, _), group in groups.items():
        near = [row["similarity"] for row in group]
        ids = [row[c] for row in group for c in ("id_a", "id_b")]
        exact = conn.execute("SELECT round(jaccard_exact(ARRAY(SELECT shingle_hashes(a.body, %s, %s)), "
                                 "ARRAY(SELECT shingle_hashes(b.body, %s, %s)))::numeric, 3)::float8 "
                                 "FROM blurred_a a, blurred_a b WHERE a.id = %s AND b.id = %s",
                             (k, unit, k, unit, group[0]["id_a"], group[0]["id_b"])).fetchone()[0]
        checks += [("%s %d: five on each side" % (unit, k),
                    (len(near), sum(x > threshold + 0.0005 for x in near) <= 5,
                     sum(x < threshold - 0.0005 for x in near) <= 5),
                    (10, True, True)),
                   ("%s %d: most similar first" % (unit, k), near, sorted(near, reverse=True)),
                   ("%s %d: no document twice" % (unit, k), len(set(ids)), len(ids)),
                   ("%s %d: the similarity is exact" % (unit, k), abs(near[0] - exact) < 0.0011, True)]
    equal_all("examples: around each threshold", checks)
    check("examples: what differs is shown",
          all("[-" in row["difference"] and "{+" in row["difference"] and len(row["difference"]) < 700 for row in rows),
          rows[0])
    conn.execute(
        "CREATE TABLE judged AS SELECT DISTINCT id_a, id_b, is_duplicate FROM neardup_suggest_examples(%s)", (query,))
    p = suggest(conn, query, "TABLE judged")
    equal("examples: their labels are taken", p[0]["note"].split(",")[1].strip(),
          "%d labelled pairs" % one(conn, "SELECT count(*) FROM judged"))
    check("labels: one judgement, so that the interval holds the expected precision",
          all(x["precision_low"] <= x["expected_precision"] <= x["precision_high"] for x in p
              if x["expected_precision"] is not None), p)


def reads_only(conn, name):
    query = "SELECT md5(id)::uuid, body::varchar FROM clear_a -- a comment"
    with connect(name, autocommit=False) as other:
        other.execute("SET TRANSACTION READ ONLY")
        p = suggest(other, query)
        check("in a read-only transaction, ids of another type",
              len(p) == 19 and "query_us is not measured" in p[0]["note"] and p[0]["query_us"] is None, p[0])
        other.rollback()
        suggest(other, query)
        equal("nothing is left in the transaction",
              one(other, "SELECT count(*) FROM pg_class WHERE relname ~ 'suggest_sample'"), 0)
        equal("nor a cursor", one(other, "SELECT count(*) FROM pg_cursors WHERE name ~ 'unnamed portal'"), 0)
        equal("nor a setting", one(other, "SHOW enable_seqscan"), "on")
    for what, query in (("DELETE", "DELETE FROM clear_a RETURNING *"),
                        ("WITH", "WITH x AS (DELETE FROM clear_a RETURNING *) TABLE x"),
                        ("FOR UPDATE", "SELECT * FROM clear_a FOR UPDATE"),
                        ("two statements", "TABLE clear_a; DELETE FROM clear_a"),
                        ("nothing", "")):
        fails("refused: %s" % what, conn, "SELECT * FROM neardup_suggest(%s)", (query,),
              "query must be one SELECT, VALUES or TABLE", "0A000")
    fails("refused: a way out of the subquery", conn, "SELECT * FROM neardup_suggest(%s)",
          ("SELECT 1, 2) x; DELETE FROM clear_a; --",), "syntax error", "42601")
    equal("all rows are there", one(conn, "SELECT count(*) FROM clear_a"), 5 * FAMILIES)


def watched(conn, name):
    """Another session sees what a call is doing; afterwards nothing is left."""
    put(conn, "watched", families(15, (0.02, 0.3), count=300))
    seen, pid = set(), one(conn, "SELECT pg_backend_pid()")
    with connect(name) as watcher:
        thread = Thread(target=lambda: suggest(conn, "TABLE watched"))
        thread.start()
        while thread.is_alive():
            seen.update(
                watcher.execute("SELECT function, phase FROM neardup_progress() WHERE pid = %s", (pid,)).fetchall())
            time.sleep(0.002)
        thread.join()
        equal("nothing is left of its progress",
              watcher.execute("SELECT * FROM neardup_progress() WHERE pid = %s", (pid,)).fetchall(), [])
    check("another session sees the phases of a call",
          {p for _, p in seen} >= {"searching", "measuring"} and {f for f, _ in seen} == {"neardup_suggest"}, seen)
    conn.execute("DROP TABLE watched")


def errors(conn):
    call = "SELECT * FROM neardup_suggest(%s, %s)"
    for name, query, labels, text, state in (
            ("no row", "SELECT id, body FROM clear_a WHERE false", None, "query returns no document", "P0002"),
            ("empty documents", "SELECT 1, NULL::text", None, "query returns no document", "P0002"),
            ("one column", "SELECT id FROM clear_a", None, "query must return two columns: id, document", "42804"),
            ("not a text", "SELECT 1, 2", None,
             "the second column of query must be a document of type text: it is integer", "42804"),
            ("an id twice", "SELECT 7, body FROM clear_a", None, "query returns the id 7 more than once", "23505"),
            ("NULL id", "SELECT NULL::int, 'x'", None, "query returns a row whose id is NULL", "22004"),
            ("no duplicates", "SELECT id, body FROM clear_a WHERE id ~ '^l'", None,
             "no two documents of the sample are", "P0002"),
            ("NULL", None, None, "query must not be NULL", "22004"),
            ("labels of two columns", "TABLE clear_a", "SELECT 1, 2",
             "labels must return three columns: id_a, id_b, is_duplicate", "42804"),
            ("labels without boolean", "TABLE clear_a", "SELECT 1, 2, 3",
             "the third column of labels must be boolean: it is integer", "42804"),
            ("labels of strangers", "TABLE clear_a", "SELECT 1, 2, true",
             "labels names no duplicates of which both are in the sample", "P0002"),
            ("no labels", "TABLE clear_a", "SELECT 1, 2, true WHERE false",
             "labels names no duplicates of which both are in the sample", "P0002"),
            ("a label of one id", "TABLE clear_a", "SELECT 1, 1, true", "labels pairs the id 1 with itself", "22023"),
            ("labels that contradict", "TABLE clear_a", "VALUES (1, 2, true), (2, 1, false)",
             "labels says both true and false of 1 and 2", "22023"),
            ("labels with NULL", "TABLE clear_a", "SELECT 1, 2, NULL::boolean", "labels returns a row with NULL",
             "22004")):
        fails("error: %s" % name, conn, call, (query, labels), text, state)
    for value in ("80", "0.4", "'NaN'"):
        fails("error: edit_similarity %s" % value, conn,
              "SELECT * FROM neardup_suggest('TABLE clear_a', edit_similarity => %s)" % value,
              None, "edit_similarity must be from 0.5 to 1", "22023")


def curve(conn):
    lines = [r[0] for r in conn.execute("SELECT neardup_s_curve(0.8)").fetchall()]
    values = [float(x.split("|")[2]) for x in lines[2:]]
    check("the S-curve goes from 0.5 to 1 and up", lines[2].startswith("0.50") and lines[-1].startswith("1.00")
          and values == sorted(values) and values[0] < 0.001 and values[-1] == 1, values)
    bands = [r[0] for r in conn.execute("SELECT neardup_s_curve(0.8, 128, 16, 8)").fetchall()]
    equal_all("with bands it is lsh_probability, rounded down", [
        (x, -1e-9 < 1 - (1 - float(x.split()[0]) ** 8) ** 16 - float(x.split("|")[2]) < 1e-4, True) for x in bands[2:]])
    check("a low threshold has its curve, too",
          conn.execute("SELECT neardup_s_curve(0.3)").fetchall()[2][0].startswith("0.10"))
    for call, text in (("80", "threshold must be above 0 and at most 1: 80"), ("0", "threshold must be above 0"),
                       ("'NaN'", "threshold must be above 0"), ("0.8, 15", "num_perm must be between 16 and 4096: 15"),
                       ("0.8, 128, 16", "bands and rows must be given together"),
                       ("0.8, 128, 0, 4", "bands must be at least 1: 0"),
                       ("0.8, 128, 64, 4", "64 bands of 4 rows need 256 components, and num_perm is 128")):
        fails("error: neardup_s_curve(%s)" % call, conn, "SELECT neardup_s_curve(%s)" % call, None, text, "22023")


def data_sets(conn):
    path, gold = data_file("text_articles", "articles_2500.tsv.gz"), data_file(
        "text_articles", "articles_2500_gold.tsv.gz")
    if path and gold:
        load(conn, "articles", "id text, body text", path)
        load(conn, "gold", "a text, b text", gold)
        # labels of half of the gold; the other half is only measured
        conn.execute("CREATE TABLE half AS SELECT a, b FROM (SELECT *, row_number() OVER (ORDER BY a) AS n "
                     "FROM gold) g WHERE n % 2 = 0")
        p = suggest(conn,
                    """SELECT id, body FROM articles WHERE id NOT IN (SELECT a FROM gold EXCEPT SELECT a FROM half)
                             ORDER BY id NOT IN (SELECT a FROM half UNION SELECT b FROM half), id %s""" % (
                        "" if FULL else "LIMIT 600"), "SELECT a, b, true FROM half")
        print("# text_articles: %s (%s)" % (proposal_text(p[0]), p[0]["note"]))
        truth = {tuple(sorted(x)) for x in conn.execute("SELECT a, b FROM gold").fetchall()}
        recall, precision = measured({tuple(sorted(x)) for x in found_with(conn, "articles", p[0])}, truth)
        check("text_articles: the best proposal finds the gold of all articles", recall >= 0.95 and precision >= 0.9,
              (proposal_text(p[0]), recall, precision))
    for data, columns, query in (("zh_headlines", "id int, class int, body text",
                                  "SELECT id, body FROM docs ORDER BY id"),
                                 ("code_versions", "id text, path text, nth text, commit text, at text, body text",
                                  "SELECT id, body FROM docs ORDER BY path, nth")):
        path = data_file(data, "docs.tsv.gz") if FULL or data == "zh_headlines" else None
        if path:
            load(conn, "docs", columns, path)
            p = suggest(conn, query)
            print("# %s: %s (%s)" % (data, proposal_text(p[0]), p[0]["note"]))
            if data == "zh_headlines":
                check("zh_headlines: characters, since there are no spaces",
                      all(x["unit"] == "char" or x["k"] == 3 for x in p), p)
            else:
                check("%s: recall and precision of the best" % data,
                      f1(p[0]["expected_recall"], p[0]["expected_precision"]) > 0.7, proposal_text(p[0]))
            conn.execute("DROP TABLE docs")


def sets_with_gold(conn):
    """(name, query of id and document, whether two ids are one by the gold: None where it says nothing)."""
    path = data_file("text_articles", "articles_2500.tsv.gz")
    if path:
        load(conn, "gold_articles", "id text, body text", path)
        load(conn, "gold_articles_pairs", "a text, b text", data_file("text_articles", "articles_2500_gold.tsv.gz"))
        pairs = set(conn.execute("SELECT a, b FROM gold_articles_pairs").fetchall())
        yield "text_articles", "SELECT id, body FROM gold_articles", lambda a, b, pairs=pairs: (a, b) in pairs or (
            b, a) in pairs
    path = data_file("code_plagiarism", "docs.tsv.gz")
    if path:
        load(conn, "gold_code", "id text, task text, label text, submission text, body text", path)
        load(conn, "gold_code_pairs", "a text, b text, same text, label text",
             data_file("code_plagiarism", "gold.tsv.gz"))
        labels = {
            (a, b): same == "1" for a, b, same in conn.execute("SELECT a, b, same FROM gold_code_pairs").fetchall()}
        yield "code_plagiarism", "SELECT id, body FROM gold_code", lambda a, b, labels=labels: labels.get(
            (a, b), labels.get((b, a)))
    for data, columns, group in (("ja_aozora", "id text, work text, file text, author text, title text, body text",
                                  "work"),
                                 ("zh_classic_editions",
                                  "id text, work text, edition text, juan text, title text, body text",
                                  "work || ' ' || juan")):
        path = data_file(data, "docs.tsv.gz")
        if path:
            load(conn, "gold_" + data, columns, path)
            groups = dict(conn.execute("SELECT id, %s FROM gold_%s" % (group, data)).fetchall())
            yield data, "SELECT id, body FROM gold_" + data, lambda a, b, groups=groups: groups[a] == groups[b]
    for data, records in (("cora", "cora.csv.gz"), ("febrl", "febrl3.csv.gz")):
        rows = csv_rows("er", data, records)
        if rows:
            gold = {tuple(row[:2]) for row in csv_rows(
                "er", data, records.replace("cora", "gold") if data == "cora" else "febrl3_gold.csv.gz")[1:]}
            put(conn, "gold_" + data, [(row[0], " ".join(v for v in row[1:] if v)) for row in rows[1:]])
            yield data, "SELECT id, body FROM gold_" + data, lambda a, b, gold=gold: (a, b) in gold or (b, a) in gold


def calibrated(conn):
    """The precision by people's gold lies in the interval that is said without it: of the best proposal and of the
    default in five sets of six at least."""
    inside = {"first": 0, "default": 0}
    sets = 0
    for name, query, is_one in sets_with_gold(conn):
        sets += 1
        p = suggest(conn, query)
        for which, row in (("first", p[0]), ("default", next(x for x in p if x["is_default"]))):
            found = conn.execute("SELECT id_a, id_b FROM all_pairs(NULL::text, %s, %s)",
                                 ("SELECT min(id), to_minhash(body, %(k)s, '%(unit)s', %(num_perm)s, %(bits)s)" % row
                                  + " FROM (%s) d GROUP BY body" % query, row["threshold"])).fetchall()
            judged = [x for x in (is_one(a, b) for a, b in found) if x is not None]
            truth = sum(judged) / len(judged) if judged else None
            lies = truth is not None and row["precision_low"] <= truth <= row["precision_high"]
            inside[which] += lies
            print("# %s, %s, %s: [%.3f, %.3f], by the gold %s of %d pairs%s" % (
                name, which, proposal_text(row), row["precision_low"], row["precision_high"], truth, len(judged),
                "" if lies else ", outside"))
    if sets == 6:
        equal_all("the intervals of expected precision hold", [(which, n >= 5, True) for which, n in inside.items()])


def news(conn):
    """Reports of one form with other numbers are no duplicates to a reader: neither are they to neardup_suggest, and
    what it proposes first finds few of them."""
    path = data_file("news_reuters", "docs.tsv.gz")
    if not path:
        return
    load(conn, "news", "id int, day text, body text", path)
    p = suggest(conn, "SELECT id, body FROM news ORDER BY id")
    forms = [row for row in conn.execute("SELECT count(*) FILTER (WHERE a.body ~ '^(TREASURY BALANCES|FED |U.K. "
                                         "MONEY MARKET)'), count(*) FROM all_pairs(NULL::bigint, %s, %s) p "
                                         "JOIN news a ON a.id = p.id_a",
                                         ("SELECT min(id), to_minhash(body, %(k)s, '%(unit)s', %(num_perm)s, %(bits)s)"
                                          % p[0] + " FROM news GROUP BY body", p[0]["threshold"])).fetchall()][0]
    print("# news_reuters: %s: [%.3f, %.3f]; of %d pairs %d are daily reports of one form" % (
        proposal_text(p[0]), p[0]["precision_low"], p[0]["precision_high"], forms[1], forms[0]))
    check("news: the default is proposed, which finds few daily reports",
          p[0]["is_default"] and forms[1] > 100 and forms[0] <= forms[1] / 8, forms)
    check("news: 10,000 documents are read",
          p[0]["note"].startswith("98") and "more rows than were read" in p[0]["note"], p[0]["note"])


def main():
    with database() as name, connect(name) as conn:
        make(conn)
        sections((curve, conn), (well_known, conn), (no_clean_cut, conn), (examples, conn), (with_labels, conn),
                 (crowded, conn),
                 (reads_only, conn, name), (watched, conn, name), (errors, conn), (data_sets, conn),
                 *([(calibrated, conn)] if FULL else []), (news, conn))


finish(main)
