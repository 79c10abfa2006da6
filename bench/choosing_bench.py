#!/usr/bin/env python3
"""Precision and recall of every method on data with known duplicates, through SQL. Prints tables, of which docs/choosing.md says what they show.

The data sets are those of the folder NEARDUP_DATA; nothing of them is in the repository. The server is that of PGHOST and PGDATABASE, on this
machine; the schema neardup_choosing is made and dropped there. Times are processor time of the server. The row of TLSH needs py-tlsh, which makes the
digests; without it this row is left out.
"""
import csv
import gzip
import os
import re
import sys

import psycopg

try:
    import tlsh
except ImportError:
    tlsh = None

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("NEARDUP_DATA", "")
LISTED = "a text, b text, lev int, er float8, jw3 float8, jw3n float8, jc5 float8, jc3 float8"
FEW_EDITS = "SELECT a.n, b.n FROM listed l JOIN doc a ON a.id = l.a JOIN doc b ON b.id = l.b WHERE er < 0.05"
SAME_WORK = "SELECT a.n, b.n FROM doc a JOIN doc b USING (work) WHERE a.n < b.n"
ALL = "SELECT id_a, id_b, similarity FROM all_pairs('SELECT n, sig FROM doc', {least})"
CROSS = "SELECT a.n, b.n, {measure} FROM {a} a JOIN {b} b ON {condition}"

# Sets of whole documents: name in the table; folder/file; its columns, of which id, body and work are used; what is a duplicate: a query; in words
WHOLE = (
    ("articles with planted copies", "text_articles/articles_2500", "id text, body text", "articles_2500_pairs", FEW_EDITS),
    ("news wire", "news_reuters/docs", "id text, at text, body text", "pairs", FEW_EDITS),
    ("short messages", "sms/docs", "id text, label text, body text", "pairs", FEW_EDITS),
    ("versions of source files", "code_versions/docs", "id text, path text, nth text, commit text, at text, body text", "pairs", FEW_EDITS),
    ("versions of laws, German", "law_versions/docs", "id text, path text, nth text, commit text, at text, body text", "pairs", FEW_EDITS),
    ("editions of works, Japanese", "ja_aozora/docs", "id text, work text, file text, author text, title text, body text", None, SAME_WORK),
    ("editions of classics, Chinese", "zh_classic_editions/docs", "id text, code text, edition text, juan text, title text, body text, work text GENERATED ALWAYS AS (code || juan) STORED",
     None, SAME_WORK),
)


class Method:
    """A signature or set, and how pairs are measured by it: larger scores are nearer."""

    def __init__(self, name, sign, measure, start, steps, shown, query=ALL):
        self.name = name        # as the table writes it
        self.sign = sign        # of {doc}
        self.measure = measure  # of a.sig and b.sig
        self.start = start      # the score to start with
        self.steps = steps      # the scores that are tried as thresholds
        self.shown = shown      # a score in words
        self.query = query      # all pairs from the least step upward


    def starting(self, start, steps):
        """The curve with another start and other steps."""
        return Method(self.name, self.sign, self.measure, start, steps, self.shown, self.query)


def shares(first):
    """Thresholds in percent from `first` to 95."""
    return [i / 100 for i in range(first, 100, 5)]


def at_least(measure):
    return lambda score: "`%s >= %g`" % (measure, score)


JACCARD = at_least("jaccard")
CONTAINMENT = at_least("containment_exact")
WORDS = Method("`to_minhash(body)`", "to_minhash({doc})", "jaccard(a.sig, b.sig)", 0.8, shares(50), JACCARD)
CHARS = Method("`to_minhash(body, 5, 'char')`", "to_minhash({doc}, 5, 'char')", "jaccard(a.sig, b.sig)", 0.8, shares(50), JACCARD)
SIMHASH = Method("`to_simhash(body)`", "to_simhash({doc})", "1 - hamming(a.sig, b.sig) / 64.0", 1 - 3 / 64, [1 - i / 64 for i in range(13)],
                 lambda score: "`hamming <= %d`" % round(64 * (1 - score)))
CTPH = Method("`to_ctph(body)`", "to_ctph({doc})", "1 - ctph_edit_rate(a.sig, b.sig)", 0.9, [1 - i / 50 for i in range(16)],
              lambda score: "`ctph_edit_rate <= %g`" % round(1 - score, 2))
VERIFIED = Method("`to_minhash(body, 5, 'char')`, verified by `edit_rate`", "to_minhash({doc}, 5, 'char')", None, 0.95, [0.95], lambda score: "0.5, `verify_threshold => 0.95`",
                  "SELECT id_a, id_b, similarity FROM all_pairs('SELECT n, sig, body AS doc FROM doc', 0.5, verify => 'edit_rate', verify_threshold => 0.95)")
WINNOWED = Method("`winnow_hashes(body)`", "winnow_hashes({doc})", "containment_exact(a.sig, b.sig)", 0.8, shares(30), CONTAINMENT)
WHOLE_METHODS = (WORDS, CHARS, SIMHASH, CTPH, VERIFIED)


class Session:
    def __init__(self):
        self.conn = psycopg.connect("", autocommit=True)
        self.clock = os.open("/proc/%d/schedstat" % self.conn.info.backend_pid, os.O_RDONLY)
        self.run("SET client_min_messages = warning; SET jit = off; SET max_parallel_workers_per_gather = 0; CREATE EXTENSION IF NOT EXISTS neardup")
        where = self.rows("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'neardup'")[0][0]
        self.run("DROP SCHEMA IF EXISTS neardup_choosing CASCADE; CREATE SCHEMA neardup_choosing; SET search_path = neardup_choosing, %s" % where)

    def close(self):
        self.run("DROP SCHEMA neardup_choosing CASCADE")
        self.conn.close()

    def run(self, statements):
        self.conn.execute(statements)

    def rows(self, query):
        return self.conn.execute(query).fetchall()

    def cpu(self):
        """Seconds of processor time of the server's process so far."""
        return int(os.pread(self.clock, 64, 0).split()[0]) * 1e-9

    def load(self, table, columns, path, options=""):
        self.run("DROP TABLE IF EXISTS %s CASCADE; CREATE TABLE %s (%s)" % (table, table, columns))
        self.fill(table, path, options)

    def fill(self, table, path, options=""):
        with self.conn.cursor() as cur, gzip.open(os.path.join(DATA, path), "rb") as src, cur.copy("COPY %s FROM STDIN %s" % (table, options)) as copy:
            copy.write(src.read())
        self.run("ANALYZE %s" % table)


def quality(found, true):
    """Precision, None where nothing is found, and recall."""
    right = len(found & true)
    return (right / len(found) if found else None, right / len(true))


def f1(found, true):
    return 2 * len(found & true) / (len(found) + len(true))


def best_step(method, scores, true):
    """The threshold of the greatest F1; of equal ones that nearest to the start."""
    return max(method.steps, key=lambda step: (round(f1(above(scores, step), true), 3), -abs(step - method.start)))


def above(scores, least):
    return {pair for pair, score in scores.items() if score >= least - 1e-9}


def cells(method, scores, true):
    """Start, precision, recall; best, precision, recall."""
    out = []
    for step in (method.start, best_step(method, scores, true)):
        precision, recall = quality(above(scores, step), true)
        out += [method.shown(step), "-" if precision is None else "%.3f" % precision, "%.3f" % recall]
    return out


def signed(session, method, table="doc", document="body"):
    """Adds the column sig; microseconds of signing and bytes, of a document."""
    session.run("ALTER TABLE %s DROP COLUMN IF EXISTS sig" % table)
    expression = method.sign.format(doc=document)
    count = session.rows("SELECT count(%s) FROM %s" % (document, table))[0][0]
    before = session.cpu()
    session.rows("SELECT count(%s) FROM %s" % (expression, table))
    took = session.cpu() - before
    session.run("ALTER TABLE {0} ADD sig {1}; UPDATE {0} SET sig = {2}; ANALYZE {0}".format(
        table, session.rows("SELECT pg_typeof(%s) FROM %s LIMIT 1" % (expression, table))[0][0], expression))
    size = session.rows("SELECT avg(pg_column_size(sig)) FROM %s" % table)[0][0]
    return ["%.1f" % (1e6 * took / count), "%d" % round(size)]


def read_scores(session, query):
    return {(a, b): score for a, b, score in session.rows(query)}


def whole_documents(session):
    """Sets of documents, all pairs of each."""
    for name, file, columns, listed, duplicates in WHOLE:
        session.load("doc", columns, file + ".tsv.gz")
        session.run("ALTER TABLE doc ADD n bigserial")
        if listed:
            session.load("listed", LISTED, "%s/%s.tsv.gz" % (file.split("/")[0], listed))
        true = {tuple(sorted(pair)) for pair in session.rows(duplicates)}
        count = session.rows("SELECT count(*) FROM doc")[0][0]
        for method in WHOLE_METHODS:
            cost = signed(session, method)
            scores = read_scores(session, method.query.format(least=min(method.steps)))
            yield ["%s: %s documents, %s pairs" % (name, format(count, ","), format(len(true), ",")), method.name] + cells(method, scores, true) + cost


def programs(session):
    """Students' programs beside the originals that they copy or not: labelled pairs."""
    session.load("doc", "id text, kase text, label text, submission text, body text", "code_plagiarism/docs.tsv.gz")
    session.load("gold", "a text, b text, copied int, label text", "code_plagiarism/gold.tsv.gz")
    for levels, condition in (("comments, names, order changed (L1 to L3)", "label IN ('L1', 'L2', 'L3', 'independent')"), ("all six levels", "true")):
        session.run("DROP VIEW IF EXISTS pair; CREATE VIEW pair AS SELECT * FROM gold WHERE " + condition)
        true = set(session.rows("SELECT a, b FROM pair WHERE copied = 1"))
        count = session.rows("SELECT count(*) FROM pair")[0][0]
        half = [method.starting(0.5, shares(30)) for method in (WORDS, CHARS, WINNOWED)]
        for method in half + [SIMHASH, CTPH]:
            cost = signed(session, method)
            scores = read_scores(session, "SELECT a.id, b.id, %s FROM pair p JOIN doc a ON a.id = p.a JOIN doc b ON b.id = p.b" % method.measure)
            yield ["%s: %d pairs, %d copied" % (levels, count, len(true)), method.name] + cells(method, scores, true) + cost


def files(session):
    """Object files of six sources in eleven releases, and others: near are those of one source in releases of one series (5.2, 5.3, 5.4) with the same
    options."""
    session.load("doc", "id int, family text, name text, size int, body bytea", "binaries/files.tsv.gz")
    true = set(session.rows("SELECT a.id, b.id FROM doc a JOIN doc b ON a.id < b.id AND a.family = b.family AND a.family LIKE 'lua%' "
                            "AND substring(a.name FROM 'v\\d\\.\\d') = substring(b.name FROM 'v\\d\\.\\d') AND right(a.name, 4) = right(b.name, 4)"))
    count = session.rows("SELECT count(*) FROM doc")[0][0]
    score = Method("`to_ctph(data)`", "to_ctph({doc})", "ctph_score(a.sig, b.sig)", 1, [1] + list(range(10, 100, 10)), at_least("ctph_score"))
    bytes_of = Method("`to_minhash(data)`", "to_minhash({doc})", "jaccard(a.sig, b.sig)", 0.5, shares(20), JACCARD)
    methods = [bytes_of, score, CTPH]
    if tlsh:
        methods.append(Method("TLSH digests of py-tlsh", "digest", "-tlsh_distance(a.sig, b.sig)", -50, range(-150, -9, 10), lambda score: "`tlsh_distance <= %d`" % -score))
        session.run("ALTER TABLE doc ADD digest text")
        for id, body in session.rows("SELECT id, body FROM doc"):
            session.conn.execute("UPDATE doc SET digest = nullif(%s, 'TNULL') WHERE id = %s", (tlsh.hash(body), id))
    for method in methods:
        cost = signed(session, method)
        if method.sign == "digest":
            cost[0] = ""  # made outside
        condition = "a.id < b.id AND %s >= %s" % (method.measure, min(method.steps))
        scores = read_scores(session, CROSS.format(a="doc", b="doc", measure=method.measure, condition=condition).replace(".n", ".id"))
        yield ["object files: %d files, %d pairs of one series" % (count, len(true)), method.name.replace("body", "data")] + cells(method, scores, true) + cost


def contained(session):
    """Bodies of news pages in whole pages; excerpts of wire stories in stories."""
    session.load("page", "id int, key text, url text, body text, page text", "news_boilerplate/pages.tsv.gz")
    session.load("listed", "a int, b int, containment float8, jaccard float8", "news_boilerplate/body_in_page.tsv.gz")
    session.run("CREATE TABLE part AS SELECT id AS n, body AS text FROM page; CREATE TABLE entire AS SELECT id AS n, page AS text FROM page")
    true = set(session.rows("SELECT a, b FROM listed WHERE containment >= 0.9"))
    yield from part_in_entire(session, "articles in web pages: %d pages" % len(true), true, True)
    session.load("doc", "id text, at text, body text", "news_reuters/docs.tsv.gz")
    session.run("""DROP TABLE part, entire; CREATE TABLE entire AS SELECT row_number() OVER () AS n, body AS text FROM doc;
        CREATE TABLE part AS SELECT n, (regexp_match(text, '^(?:\\S+\\s+){30}((?:\\S+\\s+){59}\\S+)'))[1] AS text FROM entire WHERE n % 10 = 0;
        DELETE FROM part WHERE text IS NULL""")
    true = set(session.rows("SELECT p.n, e.n FROM part p JOIN entire e ON position(p.text IN e.text) > 0"))
    count = session.rows("SELECT count(*) FROM part")[0][0]
    yield from part_in_entire(session, "60 words in wire stories: %d excerpts, %d pairs" % (count, len(true)), true, False)


def part_in_entire(session, name, true, small):
    estimate = Method("`to_minhash(body)`", "to_minhash({doc})", "containment(a.sig, b.sig)", 0.8, shares(30), at_least("containment"))
    passages = Method("the texts", "{doc}", "copied_share(a.text, b.text)", 0.8, shares(30), at_least("copied_share"))
    for method in (WINNOWED, estimate, WORDS) + ((passages,) if small else ()):
        cost = ["", ""] if method is passages else signed(session, method, "entire", "text")
        if method is not passages:
            signed(session, method, "part", "text")
        scores = read_scores(session, CROSS.format(a="part", b="entire", measure=method.measure, condition="%s >= %s" % (method.measure, min(method.steps))))
        yield [name, method.name] + cells(method, scores, true) + cost


# A recipe of record_recipes.sql: its first line; its table; the file of known matches, whether a pair may stand either way round there
RECIPES = (
    ("restaurants", "restaurant_links", "restaurants/gold", False), ("papers", "paper_links", "dblp_acm/gold", False),
    ("people, two files", "people_links", None, False), ("people, one file", "people_pairs", "febrl/febrl3_gold", True),
    ("citations", "citation_links", "cora/gold", True), ("products", "product_links", "abt_buy/gold", False),
)
RECORD_FILES = {"rest1": "restaurants/rest1", "rest2": "restaurants/rest2", "dblp": "dblp_acm/dblp", "acm": "dblp_acm/acm", "cora": "cora/cora",
                "abt": "abt_buy/abt", "buy": "abt_buy/buy", "febrl3": "febrl/febrl3", "febrl4a": "febrl/febrl4a", "febrl4b": "febrl/febrl4b"}


def records(session):
    """The recipes of record_recipes.sql as they stand there."""
    with open(os.path.join(HERE, "record_recipes.sql"), encoding="utf-8") as f:
        columns, *recipes = re.split(r"^(?=-- (?:%s)\n)" % "|".join(recipe[0] for recipe in RECIPES), f.read(), flags=re.M)
    session.run(columns)
    for table, file in RECORD_FILES.items():
        session.fill(table, "er/%s.csv.gz" % file, "(FORMAT csv, HEADER)")
    for name, table, gold, symmetric in RECIPES:
        before = session.cpu()
        session.run(next(r for r in recipes if r.startswith("-- %s\n" % name)))
        took = session.cpu() - before
        found = {(str(a), str(b)) for a, b in session.rows("SELECT id_a, id_b FROM %s" % table)}
        if gold:
            with gzip.open(os.path.join(DATA, "er", gold + ".csv.gz"), "rt", encoding="utf-8", newline="") as f:
                true = {tuple(row) for row in list(csv.reader(f))[1:]}
        else:  # rec-N-org and rec-N-dup-0
            true = {(a, a.replace("org", "dup-0")) for (a,) in session.rows("SELECT rec_id FROM febrl4a")}
        if symmetric:
            found, true = ({tuple(sorted(p)) for p in s} for s in (found, true))
        precision, recall = quality(found, true)
        yield [name, format(len(true), ","), "%.3f" % precision, "%.3f" % recall, "%.2f" % took]


MEASURED_HEAD = ("data", "signature or set", "start with", "precision", "recall", "best", "precision", "recall", "us to sign", "bytes")
TABLES = (
    ("whole", MEASURED_HEAD, whole_documents),
    ("programs", MEASURED_HEAD, programs),
    ("files", MEASURED_HEAD, files),
    ("contained", MEASURED_HEAD, contained),
    ("records", ("recipe", "known pairs", "precision", "recall", "s"), records),
)


def table_lines(head, rows):
    """A table of Markdown; what repeats the row above is left out in the first column."""
    lines = ["| %s |" % " | ".join(head), "|%s" % (" --- |" * len(head))]
    last = None
    for row in rows:
        lines.append("| %s |" % " | ".join([row[0] if row[0] != last else ""] + row[1:]))
        last = row[0]
    return lines


def main():
    if not os.path.isdir(DATA):
        print("NEARDUP_DATA names no folder: %r" % DATA, file=sys.stderr)
        return 1
    session = Session()
    try:
        for name, head, rows in TABLES:
            lines = table_lines(head, rows(session))
            print("%s\n\n%s\n" % (name, "\n".join(lines)), flush=True)
    finally:
        session.close()
    return 0


sys.exit(main())
