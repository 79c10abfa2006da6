#!/usr/bin/python3
"""Indexes of simhash_ops and ctph_ops never change an answer: every bound and form of condition on tables with them,
against the same tables without. For a marked part EXPLAIN must show the index. Then all pairs of many values, before
and after changes, the digests of the data sets, and what the operator classes refuse."""
import itertools
import random
import re

from answers import expand
from plans import *
from servers import dead_gone

rng = random.Random(127)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

# Values -------------------------------------------------------------------------------------------------------------


def spread(value, blocks, distance, even):
    """Flips so many bits: as evenly over the blocks as can be, which leaves least in common, or in some of them."""
    places = [[b for b in range(64) if b * blocks // 64 == i] for i in range(blocks)]
    for bits in places:
        rng.shuffle(bits)
    rng.shuffle(places)
    if even:
        order = [b for level in itertools.zip_longest(*places) for b in level if b is not None]
    else:
        order = [b for bits in places for b in bits]
    for b in order[:distance]:
        value ^= 1 << b
    return value


def simhashes():
    """Text forms and None, in chance order."""
    centres = [0, 2**64 - 1, 0xFF] + [rng.getrandbits(64) for _ in range(7)]
    values = [rng.getrandbits(64) for _ in range(300)]
    for centre in centres:
        values += [centre] * 5 + [spread(centre, 64, d, True) for d in range(21)]
        values += [
            spread(centre, blocks, d, even) for blocks in (2, 3, 4, 7) for d in range(17) for even in (True, False)]
    texts = ["%016x" % v for v in values] + [None] * 40
    rng.shuffle(texts)
    return texts, ["%016x" % c for c in centres]


def edited(part, edits, alphabet):
    """So many insertions, deletions and substitutions at even distances, which leaves the fewest grams; sometimes by
    chance."""
    out = list(part)
    even = rng.random() < 0.7
    for i in range(edits):
        at = (2 * i + 1) * len(out) // (2 * edits) if even else rng.randrange(len(out) + 1)
        kind = rng.choice("sssid")
        if kind == "i" or at >= len(out):
            out.insert(at, rng.choice(alphabet))
        elif kind == "d":
            del out[at]
        else:
            out[at] = rng.choice(alphabet)
    return "".join(out)


def cut(part):
    """As many characters as a part may have: 64 without those after the third of a run, 1024 with them."""
    out, n, run = "", 0, 0
    for i, c in enumerate(part[:1024]):
        run = run + 1 if i and c == part[i - 1] else 1
        n += run <= 3
        if n > 64:
            break
        out += c
    return out


def parts():
    """Parts of digests, of each the alphabet that its edits come from."""
    for alphabet in ("AB", "ABC", ALPHABET):
        for n in list(range(31)) + [36, 40, 48, 56, 62, 63, 64]:
            yield "".join(rng.choice(alphabet) for _ in range(n)), alphabet
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 64, 200, 389, 390, 391, 400, 1024):
        yield "A" * n, "AB"
    for n in (7, 20, 30, 64):
        for g in (2, 3, 4, 5, 7, 8, 11):  # repeated grams
            gram = "".join(rng.choice(ALPHABET) for _ in range(g))
            yield (gram * 64)[:n], gram + "Z"
    for n in (12, 30, 64):
        yield "".join(rng.choice(ALPHABET) * rng.choice((1, 1, 3, 4, 5, 30)) for _ in range(n)), ALPHABET
        yield "".join(rng.choice("AB") * rng.choice((1, 2, 3, 4, 5, 7)) for _ in range(n)), "AB"


def digest_texts():
    """Text forms of ssdeep's digests: parts, what is near them, in either place and at neighbouring block sizes."""
    for part, alphabet in parts():
        exponent = rng.choice((0, 1, 2, 3, 4, 9, 29))
        size = 3 << exponent
        near = [cut(part)] * 2 + [cut(edited(part, int(len(part) * 2 * rng.choice((0.01, 0.03, 0.06, 0.1,
            0.15)) + rng.random()), alphabet))
                                       for _ in range(4)]
        other = [cut(edited(part, rng.randrange(9), ALPHABET)[: rng.choice((0, 5, 32, 64))]) for _ in range(3)]
        yield "%d:%s:%s" % (size, near[0], other[0])
        yield "%d:%s:%s" % (size, near[1], other[0])
        yield "%d:%s:%s" % (size, near[2], other[1])
        yield "%d:%s:%s" % (size, near[3], other[0])
        yield "%d:%s:%s" % (2 * size, other[2], near[4])
        yield "%d:%s:%s" % (2 * size, near[5], other[2])
    # One run of 7 characters in common with the first one, at each place of either part.
    lone = lambda n: "".join(rng.choice(ALPHABET) for _ in range(n))
    first, second = lone(64), lone(32)
    yield "96:%s:%s" % (first, second)
    for i in range(58):
        before = rng.randrange(58)
        yield "%d:%s" % (rng.choice((96, 96, 48)),
                         ":".join(rng.sample([lone(before) + first[i : i + 7] + lone(57 - before), lone(30)], 2)))
        yield "96:%s:%s" % (lone(before) + first[i : i + 7] + lone(57 - before), lone(32))
    for i in range(26):
        yield "96:%s:%s" % (lone(60), lone(i) + second[i : i + 7] + lone(5))
        yield "192:%s:%s" % (lone(25) + second[i : i + 7] + lone(i), lone(20))
    # At the ends of what a digest can be.
    yield from ("3::", "3::", "6::", "3::A", "3:A:", "3:ABCDEFG:", "3:AAAABCDEFG:", "3221225472:ABCDEFGHIJ:ABCDEFGH",
                "1610612736:KLMNOPQRST:ABCDEFGHIJ", "3221225472:ABCDEFGHI:")


def documents():
    """Texts of many sizes, edited, cut short and continued; twice as long, the block size is the next one."""
    for words in (0, 1, 4, 15, 40, 120, 350, 1000, 2500, 6000):
        text = ["w%x" % rng.getrandbits(rng.choice((8, 16, 24))) for _ in range(words)]
        yield " ".join(text)
        for share in (0, 0.002, 0.01, 0.03, 0.08, 0.2):
            changed = list(text)
            for _ in range(int(words * share) + (share > 0 and words > 0)):
                changed[rng.randrange(words)] = rng.choice(("", "x", "another word"))
            yield " ".join(changed)
        for length in (0.5, 0.8, 1.1, 1.6, 2):
            yield " ".join(
                text[: int(words * length)] + ["n%x" % rng.getrandbits(16) for _ in range(int(words * (length - 1)))])


# Measures -----------------------------------------------------------------------------------------------------------


class Measure:
    """A measure of two values of a family. on: X is the column, Q the query, B the greatest distance or least score."""

    def __init__(self, name, family, on, more, order, bounds, column_bound, not_served):
        self.name, self.family, self.order = name, family, order
        self.forms = [on] + more
        self.bounds = bounds              # served by every index that serves any
        self.column_bound = column_bound  # of a row of the other table
        self.not_served = not_served

    def on(self, x, q, bound, form=0):
        return expand(self.forms[form], X=x, Q=q, B=bound)


HAMMING = Measure("hamming", "hash", "hamming(X, Q) <= B",
                  ["hamming_at_most(X, Q, B)", "Q <~> X <= B", "B >= hamming(Q, X)", "hamming(X, Q) < B + 1"],
                  "<~>", ("0", "3", "8"), "a.n / 12", "40")
SCORE = Measure("score", "digest", "ctph_score(X, Q) >= B",
                ["ctph_score_at_least(Q, X, B)", "B <= ctph_score(Q, X)", "ctph_score(X, Q) > B - 1"],
                "<->", ("1", "50", "90"), "a.n", "0")
RATE = Measure("rate", "digest", "ctph_edit_rate(X, Q) <= B",
               ["ctph_edit_rate_at_most(Q, X, B)", "Q <-> X <= B", "B >= ctph_edit_rate(X, Q)"],
               "<->", ("0", "0.05", "0.15"), "a.n / 700.0", "0.5")
MEASURES = (HAMMING, SCORE, RATE)

COLUMNS = {
    "hash": {"v": "", "b2": "simhash_ops (blocks = 2)", "b3": "simhash_ops (blocks = 3)",
             "b4": "simhash_ops (blocks = 4)", "b7": "simhash_ops (blocks = 7)"},
    "digest": {"v": "", "r0": "ctph_ops (max_rate = 0)", "r05": "ctph_ops (max_rate = 0.05)",
               "r06": "ctph_ops (max_rate = 0.06)",
               "r07": "ctph_ops (max_rate = 0.07)"},
}
TYPES = {"hash": "simhash", "digest": "ctph"}
SMALL = {"hash": "simhash_ops (blocks = 3)", "digest": "ctph_ops"}
MAKERS = {"hash": "to_simhash", "digest": "to_ctph"}


def served(conn):
    """(family, column, measure's name) -> the greatest distance or rate that the index serves, or the least score."""
    out = {}
    for family, columns in COLUMNS.items():
        for column in columns:
            guarantee = one(conn, "SELECT guarantee FROM lsh_info('indexed.%s_%s')" % (family, column))
            for word, name in (("hamming <= ", "hamming"), ("ctph_score >= ", "score"), ("ctph_edit_rate <= ", "rate")):
                if word in guarantee:
                    out[family, column, name] = float(re.search(word + r"([\d.]+)", guarantee).group(1))
    return out


def is_served(limits, measure, column, bound):
    """bound: a number, or None for those that are none."""
    limit = limits.get((measure.family, column, measure.name))
    if bound is None or limit is None:
        return False
    return limit <= bound <= 100 if measure is SCORE else 0 <= bound <= limit


# Tables -------------------------------------------------------------------------------------------------------------

# Twice, of the pool's values; f: the family, t: its type.
SCHEMA = """
CREATE TABLE {f} (id int PRIMARY KEY, grp int, cat int, n int, old {t}, {columns});
INSERT INTO {f} SELECT i, i / 8, i % 5, CASE WHEN i % 11 > 0 THEN i * 7 % 100 END, lag(v, 3) OVER (ORDER BY i), {values}
    FROM public.{f}_pool ORDER BY i;
CREATE TABLE {f}_small (id int PRIMARY KEY, grp int, n int, v {t});
INSERT INTO {f}_small SELECT id, grp, n, v FROM {f} WHERE id <= {small};
CREATE TABLE {f}_other (id int PRIMARY KEY, grp int, n int, v {t});
INSERT INTO {f}_other SELECT 10000 + id, grp, n, v FROM {f} WHERE id BETWEEN {small} / 2 AND {small} * 3 / 2;
CREATE TABLE {f}_same (id int PRIMARY KEY, v {t});
INSERT INTO {f}_same SELECT e, v FROM {f}, generate_series(1, {same}) e WHERE id = {known};
INSERT INTO {f}_same SELECT 100000 + id, v FROM {f} WHERE id < 300;
CREATE TABLE {f}_part (id int, k int, v {t}) PARTITION BY RANGE (id);
CREATE TABLE {f}_part_a PARTITION OF {f}_part FOR VALUES FROM (MINVALUE) TO (400);
CREATE TABLE {f}_part_b PARTITION OF {f}_part FOR VALUES FROM (400) TO (800) PARTITION BY LIST (k);
CREATE TABLE {f}_part_b0 PARTITION OF {f}_part_b FOR VALUES IN (0);
CREATE TABLE {f}_part_b1 PARTITION OF {f}_part_b DEFAULT;
CREATE TABLE {f}_part_c (v {t}, id int, k int);
ALTER TABLE {f}_part ATTACH PARTITION {f}_part_c FOR VALUES FROM (800) TO (MAXVALUE);
INSERT INTO {f}_part SELECT id, id % 2, v FROM {f};
CREATE TABLE {f}_empty (id int PRIMARY KEY, v {t});
CREATE TABLE {f}_null (id int PRIMARY KEY, v {t});
INSERT INTO {f}_null SELECT i FROM generate_series(1, 500) i;
CREATE VIEW {f}_guarded WITH (security_barrier) AS SELECT id, grp, v FROM {f} WHERE grp % 2 = 0;
CREATE TABLE {f}_secret (id int PRIMARY KEY, owner text, v {t});
INSERT INTO {f}_secret SELECT id, CASE WHEN id % 2 = 0 THEN 'families_reader' ELSE 'nobody' END, v FROM {f};
ALTER TABLE {f}_secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {f}_secret USING (owner = current_user);
CREATE FUNCTION {f}_of(wanted int) RETURNS {t} LANGUAGE plpgsql STABLE AS
    $$ BEGIN RETURN (SELECT v FROM {f} WHERE id = wanted); END $$;
ALTER FUNCTION {f}_of SET search_path FROM CURRENT;
"""
ARTICLES = """
CREATE TABLE article (id int PRIMARY KEY, lang text, body text);
INSERT INTO article SELECT i, (ARRAY['en', 'uk'])[i % 3], body FROM public.document_pool
    WHERE body IS NULL OR length(body) < 9000;
CREATE TABLE long (id int PRIMARY KEY, grp int, k100 ctph, k1000 ctph);
INSERT INTO long SELECT i, i / 8, ctph_long(body, 100), ctph_long(body, 1000) FROM public.document_pool
    WHERE body IS NULL OR length(body) < {longest};
CREATE TABLE mixed AS SELECT i AS id, to_minhash('a b c d ' || i / 9) AS m, to_simhash('a b c d ' || i / 9) AS s,
  to_ctph('a b c d ' || i / 9) AS c
    FROM generate_series(1, 400) i;
GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO families_reader;
GRANT USAGE ON SCHEMA {schema} TO families_reader;
"""
INDEXES = """
CREATE INDEX {f}_grp ON {f} (grp);
CREATE INDEX {f}_old_lsh ON {f} USING lsh (old) WHERE cat = 2;
CREATE INDEX {f}_small_lsh ON {f}_small USING lsh (v {small});
CREATE INDEX {f}_other_lsh ON {f}_other USING lsh (v);
CREATE INDEX {f}_same_lsh ON {f}_same USING lsh (v);
CREATE INDEX {f}_part_lsh ON {f}_part USING lsh (v);
CREATE INDEX {f}_empty_lsh ON {f}_empty USING lsh (v);
CREATE INDEX {f}_null_lsh ON {f}_null USING lsh (v);
CREATE INDEX {f}_secret_lsh ON {f}_secret USING lsh (v);
"""
ARTICLE_INDEXES = """
CREATE INDEX article_hash_lsh ON article USING lsh (to_simhash(body));
CREATE INDEX article_hash_en_lsh ON article USING lsh (to_simhash(body, 2)) WHERE lang = 'en';
CREATE INDEX article_digest_lsh ON article USING lsh (to_ctph(body));
CREATE INDEX article_digest_en_lsh ON article USING lsh (to_ctph(body || 'en') ctph_ops (max_rate = 0.06))
  WHERE lang = 'en';
CREATE INDEX mixed_m ON mixed USING lsh (m);
CREATE INDEX mixed_s ON mixed USING lsh (s);
CREATE INDEX mixed_c ON mixed USING lsh (c);
CREATE INDEX long_100 ON long USING lsh (k100);
CREATE INDEX long_1000 ON long USING lsh (k1000);
"""
SAME = 10000 if FULL else 3000
SMALL_ROWS = 120 if FULL else 70  # of both tables of a join, without an index on one side
LONGEST = 10**9 if FULL else 8000  # characters of a text of which long digests are compared


def fill(conn, table, rows):
    copy_rows(conn, table, enumerate(rows, 1))


def setup(name):
    """-> a row's id of each family, at whose value the queries look, and that of one far away."""
    hashes, centres = simhashes()
    digests = list(digest_texts()) + [None] * 20
    known = {}
    with connect(name) as conn:
        conn.execute("DO $$ BEGIN CREATE ROLE families_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        conn.execute("CREATE TABLE hash_pool (i int, v simhash); CREATE TABLE document_pool (i int, body text)")
        conn.execute("CREATE TABLE digest_text (i int, v ctph); CREATE TABLE digest_pool (i int, v ctph)")
        fill(conn, "hash_pool", hashes)
        fill(conn, "document_pool", list(documents()) + [None] * 5)
        fill(conn, "digest_text", digests)
        conn.execute("INSERT INTO digest_pool SELECT row_number() OVER (ORDER BY md5(i::text)), v FROM (SELECT i, v "
                     "FROM digest_text UNION ALL SELECT 100000 + i, to_ctph(body) FROM document_pool) x")
        known["hash"] = (1 + hashes.index(centres[4]), 1 + hashes.index(centres[5]))
        # Those with many neighbours.
        known["digest"] = tuple(r[0] for r in conn.execute("""
            WITH near AS MATERIALIZED (SELECT id_a, id_b
              FROM all_pairs('SELECT i, v FROM digest_pool WHERE length(v::text) > 60', 0.9001))
            SELECT min(a.i) FROM (SELECT id_a AS i, id_b AS j FROM near UNION ALL SELECT id_b, id_a FROM near) n
                JOIN digest_pool a USING (i) JOIN digest_pool b ON b.i = j AND ctph_score(a.v, b.v) > 0
            GROUP BY a.v::text ORDER BY count(*) DESC, a.v::text LIMIT 2"""))
        for schema in ("plain", "indexed"):
            conn.execute("CREATE SCHEMA %s; SET search_path = %s, public" % (schema, schema))
            for family, columns in COLUMNS.items():
                conn.execute(SCHEMA.format(f=family, t=TYPES[family],
                                           columns=", ".join("%s %s" % (c,
                                                                        TYPES[family]) for c in columns),
                                           values=", ".join(["v"] * len(columns)), known=known[family][0], same=SAME,
                                           small=SMALL_ROWS))
            conn.execute(ARTICLES.format(schema=schema, longest=LONGEST))
        for family, columns in COLUMNS.items():
            for column, options in columns.items():
                conn.execute("CREATE INDEX %s_%s ON %s USING lsh (%s %s)" % (family, column, family, column, options))
            conn.execute(INDEXES.format(f=family, small=SMALL[family]))
        conn.execute(ARTICLE_INDEXES)
        for schema in ("plain", "indexed"):
            for family in COLUMNS:
                change(conn, schema, family, 90000, 60)
        for table, in conn.execute("SELECT c.oid::regclass FROM pg_class c "
                                   "WHERE relnamespace = 'indexed'::regnamespace AND relkind IN ('r', 'p')").fetchall():
            conn.execute("ANALYZE %s" % table)
        for family, ids in known.items():
            known[family] = [one(
                conn, "SELECT min(t.id) FROM plain.{f} t JOIN {f}_pool p ON p.i = %s AND t.v = p.v".format(f=family),
                (i,)) for i in ids]
    return known


def change(conn, schema, family, first, rows):
    """New rows, which are not sorted into the index's runs yet, dead ones, changed ones, and rows at another place."""
    table, columns = "%s.%s" % (schema, family), list(COLUMNS[family])
    conn.execute("INSERT INTO {t} (id, grp, cat, n, old, {c}) SELECT {first} + id, grp, cat, n, old, {c} FROM {t} "
                 "WHERE id <= {rows}".format(t=table, c=", ".join(columns), first=first, rows=rows))
    conn.execute("DELETE FROM %s WHERE id %% 53 = %d" % (table, first % 53))
    conn.execute("UPDATE %s SET cat = 2 WHERE id %% 17 = 0" % table)
    conn.execute("UPDATE %s x SET %s FROM %s y WHERE x.id %% 29 = %d AND y.id = x.id + 1" % (
        table, ", ".join("%s = y.%s" % (c, c) for c in columns), table, first % 29))


# One table ----------------------------------------------------------------------------------------------------------

# Bounds with their numbers; None: no number that an index must serve.
HASH_BOUNDS = [(str(d), d) for d in list(range(17)) + [20, 40]] + [
    ("64", None), ("-1", None), ("65", None), ("3.5", 3), ("3.5::real", 3), ("3::real", 3), ("3::smallint", 3),
        ("3::bigint", 3), ("3::numeric", 3),
    ("2.999999999999999999999", 2), ("3.0000000000000000000001", 3), ("7.9::float8", 7), ("-0.5", None),
    ("1e300::numeric", None),
    ("1e400", None), ("-1e400", None), ("1e-400", 0), ("9223372036854775807", None), ("-9223372036854775808", None),
    ("'NaN'::float8", None),
    ("'NaN'::numeric", None), ("'NaN'::real", None), ("'Infinity'::float8", None), ("'-Infinity'::float8", None),
    ("NULL::int", None),
    ("NULL::numeric", None), ("NULL::float8", None), ("(SELECT 3)", 3), ("(SELECT 3.5)", 3), ("random() * 0 + 3", None),
    ("(SELECT n FROM hash WHERE id = -1)", None)]
SCORE_BOUNDS = [(str(s), s) for s in [1] + list(range(10, 101, 10))] + [
    ("0", None), ("-1", None), ("101", None), ("0.5", None), ("55.5::real", 55), ("70::smallint", 70),
    ("70::bigint", 70), ("69.00000000000000000000001", 70), ("70::numeric", 70), ("70.0::float8", 70), ("1e400", None),
    ("-1e400", None), ("'NaN'::float8", None), ("'NaN'::numeric", None), ("'Infinity'::float8", None),
    ("NULL::int", None), ("NULL::numeric", None), ("(SELECT 70)", 70), ("random() * 0 + 70", None),
    ("(SELECT n FROM digest WHERE id = -1)", None)]
RATE_BOUNDS = [("%g" % r, r) for r in [i / 100 for i in range(16)] + [0.2, 0.5, 1]] + [
    ("-0.1", None), ("1.5", None), ("0.05::real", None), ("0.1::real", None), ("0::smallint", 0), ("0::bigint", 0),
    ("0.06::float8", 0.06), ("0.0699999999999999999999999", None), ("'NaN'::float8", None), ("'NaN'::numeric", None),
    ("'NaN'::real", None), ("'-Infinity'::float8", None), ("1e300", None), ("NULL::float8", None), ("NULL::int", None),
    ("(SELECT 0.05)", 0.05), ("random() * 0 + 0.05", None)]
BOUNDS = {"hamming": HASH_BOUNDS, "score": SCORE_BOUNDS, "rate": RATE_BOUNDS}

# M: the measure of column and query; N: with another query; D: the ordering operator; P(a, b, B): the named predicate;
# K: the column, O: `old`. L, G: nearer and farther; E, F: the same or equal. A star:
# EXPLAIN must show the index where it serves B.
FORMS = [
    "* M E B", "* M L B", "* B F M", "* B G M", "* M = B", "* B = M", "* NOT (M G B)", "* NOT (M F B)", "* P(K, Q, B)",
    "* P(Q, K, B)", "* M E B AND n < 60", "* M E B AND id % 2 = 0", "* M E B AND N E B", "* M E B AND N = B",
    "* M = B AND N = B", "* M E B OR id = 5", "* M E B OR N E B", "* (M E B AND cat = 2) OR (N E B AND cat = 1)",
    "* (M E B OR id < 9) AND (N E B OR grp = 10)", "* M E B AND K IS NOT NULL", "* M E B AND M E B",
    "* M E B AND M F B", "* M E B AND H(O, K) E B", "M G B", "M F B", "M <> B", "M = ANY (ARRAY[1, 3, B])",
    "(M E B) IS NOT TRUE", "(M E B) IS TRUE", "(M E B) IS UNKNOWN", "coalesce(M, 0) E B", "M + 0 E B", "-M F -(B)",
    "abs(M) = B", "CASE WHEN cat = 1 THEN M E B ELSE id % 9 = 0 END", "M E n", "M E n AND M E B", "M E B OR cat = 3",
    "M::numeric E B", "M::float8 E B", "M::real E B", "M::int E B", "M::text = (B)::text", "H(K, K) E B", "H(K, O) E B",
    "NOT P(K, Q, B)", "(M E B) = (N E B)", "M E least(B, 3)", "id IN (SELECT id FROM T WHERE M E B)",
    "M BETWEEN B AND 60", "M BETWEEN 0 AND B", "* H(O, Q) E B AND cat = 2", "H(O, Q) E B",
]
MORE_FORMS = {
    "hamming": ["* D <= B", "* D < B", "* B > Q <~> K", "* D = B", "D > B", "cosine(K, Q) >= 0.95 AND M <= B",
                "* M BETWEEN 0 AND B"],
    "score":
        ["* M E B AND ctph_edit_rate(K, Q) < 0.15", "M E B OR ctph_edit_rate(K, Q) < 0.02", "* M BETWEEN B AND 100"],
    "rate": ["* D <= B", "* D < B", "* B > Q <-> K", "D > B", "* M E B AND ctph_score(K, Q) > 60",
             "M E B OR ctph_score(K, Q) = 100", "* M BETWEEN 0 AND B"],
}
FUNCTIONS = {"hamming": ("hamming", "hamming_at_most"), "score": ("ctph_score", "ctph_score_at_least"),
             "rate": ("ctph_edit_rate", "ctph_edit_rate_at_most")}


def where(measure, form, column, q, far, bound):
    function, predicate = FUNCTIONS[measure.name]
    less = measure is not SCORE
    return expand(form, M="%s(%s, %s)" % (function, column, q), N="%s(%s, %s)" % (function, far, column), H=function,
        P=predicate,
                  D="%s %s %s" % (column, measure.order, q), K=column, O="old", Q=q, B=bound, T=measure.family,
                  L="<" if less else ">", E="<=" if less else ">=", F=">=" if less else "<=", G=">" if less else "<")


def single(p, literals, limits, measure):
    family = measure.family
    q, far = ("'%s'::%s" % (t, TYPES[family]) for t in literals[family])
    queries = [q, "(SELECT v FROM %s WHERE id = %d)" % (family, literals["ids"][family][0]),
               "%s_of(%d)" % (family, literals["ids"][family][0]), "current_setting('families.q')::%s" % TYPES[family]]
    before = ["SET families.q = '%s'" % literals[family][0]]
    forms = FORMS + MORE_FORMS[measure.name]
    columns = list(COLUMNS[family])
    n = 0
    for i, form in enumerate(forms):
        for j, (bound, number) in enumerate(BOUNDS[measure.name]):
            every = 5 if FULL else 23
            if i % every != j % every and i > 0:
                continue
            shows, form_text = form.startswith("*"), form.lstrip("* ")
            for column in columns if FULL and i == 0 else [columns[n % len(columns)]]:
                n += 1
                old = "H(O, Q)" in form_text
                near = is_served(limits, measure, "v" if old else column, number)
                index = "%s_old_lsh" % family if old else "%s_%s" % (family, column)
                # The named predicates refuse what is no bound; some numbers are beyond float8.
                errors = ("22023",) * ("P(" in form_text and number is None) + ("22003",) * (
                    "e400" in bound or "e-400" in bound)
                p.compare("SELECT id FROM %s WHERE %s" % (family, where(measure, form_text, column,
                    queries[n % len(queries)], far, bound)),
                          index if shows and near else None, before, errors=errors)
    p.report("%s: one table" % measure.name)


def skewed(p, literals, limits, measure):
    """Thousands of equal rows, no row, NULLs."""
    family = measure.family
    for text in literals[family]:
        q = "'%s'::%s" % (text, TYPES[family])
        for bound in measure.bounds + (measure.not_served,):
            p.compare("SELECT count(*), sum(id), min(id) FROM %s_same WHERE %s" % (family, measure.on("v", q, bound)),
                      None if bound == measure.not_served else "%s_same_lsh" % family)
            for table in ("empty", "null"):
                p.compare("SELECT id FROM %s_%s WHERE %s" % (family, table, measure.on("v", q, bound)))
                p.compare("SELECT a.id FROM %s_small a, %s_%s b WHERE %s" % (family, family, table,
                    measure.on("b.v", "a.v", bound)))
            p.compare("SELECT v %s %s FROM %s_same WHERE %s ORDER BY v %s %s LIMIT 50" % (
                measure.order, q, family, measure.on("v", q, bound), measure.order, q), ordered=True)
    p.report("%s: equal rows, no rows" % measure.name)


def ordered(p, literals, limits, measure):
    family, order = measure.family, measure.order
    known = literals["ids"][family][0]
    q, far = ("'%s'::%s" % (t, TYPES[family]) for t in literals[family])
    row, function = "(SELECT v FROM %s WHERE id = %d)" % (family, known), "%s_of(%d)" % (family, known)
    columns = list(COLUMNS[family])
    for n, (query, bound, limit) in enumerate(
            itertools.product((q, row, function), measure.bounds + (measure.not_served,),
                              ("", "LIMIT 1", "LIMIT 5", "LIMIT 3 OFFSET 20"))):
        if not FULL and (n + n // 4) % 2:
            continue
        for column in columns if FULL else [columns[n // 2 % len(columns)]]:
            shows = query == q and bound != measure.not_served and is_served(limits, measure, column, float(bound))
            # Ties come in any order: the distances are what is ordered.
            p.compare("SELECT {c} {o} {q} FROM {f} WHERE {on} ORDER BY {c} {o} {q} {l}".format(
                c=column, o=order, q=query, f=family, on=measure.on(column, query, bound), l=limit),
                      ORDERED if shows else None, ordered=True)
            p.compare("SELECT id FROM {f} WHERE {on} ORDER BY {q} {o} {c}, id {l}".format(
                c=column, o=order, q=query, f=family, on=measure.on(column, query, bound, 1), l=limit), ordered=True)
    for bound in measure.bounds:
        on = measure.on("v", q, bound)
        for query in ("SELECT v {o} {q} FROM {f} WHERE {on} ORDER BY v {o} {far}, id LIMIT 9",
                      "SELECT v {o} {far} FROM {f} WHERE {on} ORDER BY v {o} {far}",
                      "SELECT v {o} {q} FROM {f} WHERE {on} ORDER BY v {o} {q} DESC, id LIMIT 9",
                      "SELECT v {o} NULL FROM {f} WHERE {on} ORDER BY 1",
                      "SELECT v {o} {q} FROM {f} WHERE {on} AND v {o} {far} < 60 ORDER BY 1",
                      "SELECT v {o} {q} FROM {f} WHERE {on} AND id % 3 = 0 ORDER BY 1 LIMIT 7",
                      "SELECT DISTINCT ON (cat) cat, id FROM {f} WHERE {on} ORDER BY cat, id",
                      "SELECT cat, count(*) FROM {f} WHERE {on} GROUP BY 1 ORDER BY 1",
                      "SELECT id, rank() OVER (ORDER BY v {o} {q}) FROM {f} WHERE {on} ORDER BY 2, 1"):
            p.compare(query.format(o=order, q=q, far=far, f=family, on=on), ordered=True)
        p.compare("SELECT count(*) FROM (SELECT id FROM %s WHERE %s LIMIT 3) x" % (family, on))
        p.compare("SELECT id FROM %s WHERE %s FOR UPDATE" % (family, on))
    p.compare("SELECT v %s %s FROM %s ORDER BY 1 LIMIT 9" % (order, q, family), ordered=True)
    p.report("%s: order and limit" % measure.name)


# Joins and other tables ---------------------------------------------------------------------------------------------


def joins(p, measure):
    f, order = measure.family, measure.order
    for turn, bound in enumerate(measure.bounds + (measure.column_bound, measure.column_bound.replace("a.", "b."),
            measure.not_served, "'NaN'::float8", "NULL")):
        uses = "_lsh" if bound in measure.bounds + (measure.column_bound,) else None
        on = measure.on("a.v", "b.v", bound)
        at_least = measure.on("b.v", "a.v", bound, 1)
        fill_in = dict(f=f, on=on, o=order, both=on + " AND a.grp = b.grp")
        marked = ["SELECT a.id, b.id FROM {f}_small a JOIN {f}_other b ON {on}",
                  "SELECT a.id, b.id FROM {f}_small a LEFT JOIN {f}_other b ON {on}",
                  "SELECT a.id FROM {f}_small a WHERE EXISTS (SELECT FROM {f}_other b WHERE {on})",
                  "SELECT a.id FROM {f}_small a WHERE NOT EXISTS (SELECT FROM {f}_other b WHERE {on})",
                  "SELECT a.id FROM {f}_small a LEFT JOIN {f}_other b ON {on} WHERE b.id IS NULL",
                  "SELECT a.id, (SELECT count(*) FROM {f}_other b WHERE {on}) FROM {f}_small a",
                  "SELECT a.id, b.id FROM {f}_small a LEFT JOIN LATERAL (SELECT * FROM {f}_other b "
                      "WHERE {on} OFFSET 0) b ON true",
                  "SELECT a.id, b.d FROM {f}_small a, LATERAL (SELECT a.v {o} b.v AS d FROM {f}_other b WHERE {on} "
                      "ORDER BY a.v {o} b.v LIMIT 2) b",
                  "SELECT a.id, c.n FROM {f}_small a, LATERAL (SELECT count(*) AS n FROM (SELECT FROM {f}_other b "
                      "WHERE {on} LIMIT 3) x) c"]
        for query in marked:
            p.compare(query.format(**fill_in), uses)
        others = ["SELECT a.id, b.id FROM {f}_small a RIGHT JOIN {f}_other b ON {on}",
                  "SELECT a.id, b.id FROM {f}_small a FULL JOIN {f}_other b ON {both}",
                  "SELECT a.id, b.id FROM {f}_small a JOIN {f}_small b ON a.id < b.id AND {on}",
                  "SELECT a.id, b.id FROM {f}_small a JOIN {f}_other b ON {both}",
                  "SELECT a.id, b.id FROM {f}_small a, {f}_small b WHERE a.id <> b.id AND {on} AND a.id < 50",
                  "SELECT a.id FROM {f}_small a WHERE a.grp IN (SELECT b.grp FROM {f}_other b WHERE {on})",
                  "SELECT a.id FROM {f}_small a WHERE a.id NOT IN (SELECT b.id - 10000 FROM {f}_other b WHERE {on})",
                  "SELECT a.id FROM {f}_small a WHERE EXISTS (SELECT FROM {f}_other b WHERE {on}) OR a.id = 3",
                  "SELECT a.id, b.id FROM {f}_small a JOIN {f}_other b ON {on} OR a.id = b.id - 10000",
                  "SELECT a.id, b.id, c.id FROM {f}_small a JOIN {f}_other b ON {on} LEFT JOIN {f}_small c "
                      "ON c.grp = b.grp"]
        # All of them at one bound, else in turn.
        for query in others if FULL or bound == measure.bounds[1] else others[turn % 3 :: 3]:
            p.compare(query.format(**fill_in))
        # The named predicates refuse what is no bound, before they see a row.
        if bound in measure.bounds:
            p.compare("SELECT a.id, b.id FROM %s_small a JOIN %s_other b ON %s" % (f, f, at_least), uses)
            p.compare("SELECT a.id FROM %s_small a WHERE NOT EXISTS (SELECT FROM %s_other b WHERE %s)"
                      % (f, f, at_least), uses)
            p.compare("SELECT a.id, b.id FROM %s_small a JOIN %s_small b ON a.id <> b.id AND %s" % (f, f, on),
                "%s_small_lsh" % f)
    bound = measure.bounds[-1] if measure is not SCORE else measure.bounds[0]
    on, then = measure.on("a.v", "b.v", bound), measure.on("b.v", "c.v", measure.bounds[1])
    for turn, (first, second) in enumerate(itertools.product(("JOIN", "LEFT JOIN", "RIGHT JOIN"), repeat=2)):
        if not FULL and turn % 2:
            continue
        p.compare("SELECT a.id, b.id, c.id FROM {f}_small a {x} {f}_other b ON {on} {y} {f}_small c ON {then}".format(
            f=f,
            x=first, y=second, on=on, then=then))
        p.compare("SELECT a.id, b.id, c.id FROM {f}_small a {x} ({f}_other b {y} {f}_small c ON {then}) ON {on}".format(
            f=f,
            x=first, y=second, on=on, then=then))
    (
        p.compare("SELECT a.id, b.id, c.id FROM {f}_small a JOIN {f}_other b ON {on} JOIN {f}_small c ON {then} "
                  "AND {ends}".format(
            f=f, on=on, then=then, ends=measure.on("a.v", "c.v", bound))))
    p.compare("SELECT x.i, b.id FROM generate_series(1, 60) x(i) JOIN %s b ON %s" % (f,
        measure.on("b.v", "%s_of(x.i)" % f, bound)), "%s_v" % f)
    p.compare("SELECT x.i, b.id FROM (VALUES (1, NULL::%s), (2, %s_of(%d))) x(i, q) JOIN %s b ON %s" % (
        TYPES[f], f, 5, f, measure.on("b.v", "x.q", bound)), "%s_v" % f)
    p.compare("SELECT a.id, b.id FROM %s_small a JOIN %s_other b ON %s" % (
        f, f, measure.on("b.v", "(SELECT s.v FROM %s s WHERE s.id = a.id + 1)" % f, bound)), "%s_other_lsh" % f)
    p.report("%s: joins" % measure.name)


def tables(p, literals, measure):
    f, order = measure.family, measure.order
    known = literals["ids"][f][0]
    role = ["SET ROLE families_reader"]
    for bound in (measure.bounds if FULL else measure.bounds[1:2]) + (measure.not_served,):
        hit = lambda index: index % f if bound != measure.not_served else None
        queries = ["'%s'::%s" % (literals[f][0], TYPES[f]), "%s_of(%d)" % (f, known),
            "(SELECT v FROM %s WHERE id = %d)" % (f, known)]
        for q in queries if bound == measure.bounds[1] else queries[:1]:
            on = measure.on("v", q, bound)
            p.compare("SELECT id, tableoid::regclass::text ~ 'part_c' FROM %s_part WHERE %s" % (f, on),
                hit("%s_part_a_v_idx"))
            p.compare("SELECT id FROM %s_part WHERE id BETWEEN 450 AND 900 AND k = 0 AND %s" % (f, on),
                hit("%s_part_b0_v_idx"))
            p.compare("SELECT v %s %s FROM %s_part WHERE %s ORDER BY 1 LIMIT 5" % (order, q, f, on), ordered=True)
            p.compare("SELECT id FROM %s_guarded WHERE %s" % (f, on), hit("%s_v"))
            p.compare("WITH c AS (SELECT * FROM %s) SELECT id FROM c WHERE %s" % (f, on), hit("%s_v"))
            p.compare("WITH c AS MATERIALIZED (SELECT id, v FROM %s WHERE %s) SELECT id FROM c WHERE id %% 2 = 0"
                      % (f, on), hit("%s_v"))
            p.compare("SELECT id FROM %s TABLESAMPLE BERNOULLI (100) WHERE %s" % (f, on))
            p.compare("SELECT id FROM %s WHERE %s EXCEPT SELECT id FROM %s_part WHERE %s" % (f, on, f, on))
            p.compare(
                "UPDATE %s SET cat = -1 WHERE %s RETURNING id, cat" % (f, on), hit("%s_v"), ["BEGIN"], ["ROLLBACK"])
            p.compare("DELETE FROM %s WHERE %s RETURNING id" % (f, on), hit("%s_v"), ["BEGIN"], ["ROLLBACK"])
            p.compare("SELECT id FROM %s WHERE %s" % (f, on), hit("%s_v"), [
                "BEGIN", "UPDATE {f} SET v = {f}_of({i}) WHERE id BETWEEN 300 AND 330".format(f=f, i=known),
                    "DELETE FROM %s WHERE id < 99" % f], ["ROLLBACK"])
            p.compare("SELECT id FROM %s_empty WHERE %s" % (f, on), None,
                ["BEGIN", "INSERT INTO %s_empty SELECT id, v FROM %s" % (f, f)], ["ROLLBACK"])
            if "SELECT" not in q:  # the policy hides the row that the query would read
                uses = hit("%s_secret_lsh")
                p.compare("SELECT id FROM %s_secret WHERE %s" % (f, on), uses, role)
                p.compare("SELECT id FROM %s_secret WHERE %s" % (f, measure.on("v", q, bound, 1)), uses, role)
                p.compare("SELECT v %s %s FROM %s_secret WHERE %s ORDER BY v %s %s LIMIT 3"
                          % (order, q, f, on, order, q), uses, role, ordered=True)
                p.compare("SELECT id FROM %s_secret WHERE %s OR id = 6" % (f, on), uses, role)
                p.compare("DELETE FROM %s_secret WHERE %s RETURNING id" % (f, on), uses, role + ["BEGIN"], ["ROLLBACK"])
        p.compare("SELECT a.id, b.id FROM {f}_small a JOIN {f}_secret b ON {on} WHERE a.id < 50".format(f=f,
            on=measure.on("a.v", "b.v", bound)),
                  hit("%s_secret_lsh"), role)
        p.compare("SELECT a.id, b.id FROM {f}_small a JOIN {f}_part b ON {on} WHERE a.id < 40".format(f=f,
            on=measure.on("a.v", "b.v", bound)), hit("%s_part_a_v_idx"))
        p.compare(
            "SELECT s.id FROM {f}_small s WHERE NOT EXISTS (SELECT FROM {f}_part e WHERE e.id <> s.id AND {on})".format(
                f=f, on=measure.on("s.v", "e.v", bound)), hit("%s_part_c_v_idx"))
    p.report("%s: tables, views, changes, security" % measure.name)


def queries_of_others(p):
    """lsh_querys of all measures on columns of all types: the rows, or the operator's own error."""
    for column in ("m", "s", "c"):
        for literal in ("hamming<=3 00ff00ff00ff00ff", "ctph_score>=3 3:sHFSB:sly", "ctph_edit_rate<=0.1 3:sHFSB:sly",
                        "hamming<=-1 00ff00ff00ff00ff", "ctph_score>=NaN 3::", "ctph_edit_rate<=0.1 long100:3::"):
            own = {"h": "s", "c": "c"}[literal[0]] == column and "long" not in literal
            errors = () if own else ("42804",)
            p.compare("SELECT id FROM mixed WHERE %s %%> '%s'" % (column, literal), errors=errors)
            p.compare("SELECT id FROM mixed WHERE %s %%> '%s' AND id < 0" % (column, literal), settings=["default"],
                      errors=errors)
        for query in ("with_threshold({m}, 0.9)", "neardup_internal.lsh_query_bound({m}, 0.9)",
                      "neardup_internal.lsh_hamming_query({s}, 3)", "neardup_internal.lsh_score_query({c}, 3)",
                      "neardup_internal.lsh_rate_query({c}, 0.1)"):
            for b in ("b.", ""):
                words = {x: b + x if b else "(SELECT %s FROM mixed WHERE id = 5)" % x for x in "msc"}
                p.compare("SELECT a.id, b.id FROM mixed a JOIN mixed b ON a.%s %%> %s AND b.id < 20" % (column,
                    query.format(**words)), errors=() if "{%s}" % column in query else ("42804",))
    p.report("queries of other measures")


def expressions(p, literals):
    body = "(SELECT body FROM article WHERE id = 70)"
    # (expression, of the same text, predicate, index, bounds)
    for make, condition, index, measure in (("to_simhash(%s)", "true", "article_hash_lsh", HAMMING),
                                            ("to_simhash(%s, 2)", "lang = 'en'", "article_hash_en_lsh", HAMMING),
                                            ("to_ctph(%s)", "true", "article_digest_lsh", SCORE),
                                            ("to_ctph(%s)", "true", "article_digest_lsh", RATE),
                                            ("to_ctph(%s || 'en')", "lang = 'en'", "article_digest_en_lsh", SCORE),
                                            ("to_ctph(%s || 'en')", "lang = 'en'", "article_digest_en_lsh", RATE)):
        for bound in measure.bounds + (measure.not_served,):
            hit = None if bound == measure.not_served or ("en_lsh" in index and bound == "0.15") else index
            for form in range(len(measure.forms)) if FULL or bound == measure.bounds[1] else [0]:
                on = measure.on(make % "body", make % body, bound, form)
                p.compare("SELECT id FROM article WHERE %s AND %s" % (condition, on), hit)
                p.compare("SELECT id FROM article WHERE %s" % on)
            p.compare("SELECT id FROM article WHERE (%s AND %s) OR id = 3" % (condition, on), hit)
            # 18 rather scans a partial index for its predicate than a disabled table
            p.compare("SELECT x.id, y.id FROM article x JOIN article y ON x.id < y.id AND %s AND %s" % (
                          measure.on(make % "y.body", make % "x.body", bound), condition.replace("lang", "y.lang")),
                      hit if condition == "true" or server_version() < 180000 else None)
            p.compare("SELECT {a} {o} {b} FROM article WHERE {c} AND {on} ORDER BY {a} {o} {b} LIMIT 4".format(
                a=make % "body", b=make % body, o=measure.order, c=condition,
                on=measure.on(make % "body", make % body, bound)), hit, ordered=True)
    p.report("expressions and partial indexes")


def prepared(p, literals, measure):
    f, t = measure.family, TYPES[measure.family]
    numbers = ("int", "bigint", "smallint", "numeric", "real", "float8")
    statements = ["SELECT id FROM {f} WHERE {on}", "SELECT id FROM {f} WHERE {named}",
                  "SELECT id FROM {f} WHERE {strict}", "SELECT id FROM {f} WHERE {is}",
                  "SELECT id FROM {f}_part WHERE {on} AND id < 600",
                  "SELECT id FROM {f} WHERE {on} OR id = 5 OR {strict}",
                  "SELECT v {o} $1 FROM {f} WHERE {on} ORDER BY v {o} $1 LIMIT 7",
                  "UPDATE {f} SET cat = 0 WHERE {on} RETURNING id",
                  "SELECT a.id, b.id FROM {f}_small a JOIN {f}_other b ON {join} AND a.v <> $1",
                  "SELECT id FROM {f}_secret WHERE {on}"]
    value, other = "'%s'" % literals[f][0], "'%s'" % literals[f][1]
    values = [value, other, "NULL"] + (["'0000000000000000'", "'ffffffffffffffff'"] if f == "hash" else ["'3::'",
        "to_ctph('')", "ctph_long('other', 100)"])
    bounds = list(measure.bounds) + [measure.not_served, "-1", "101", "'NaN'", "NULL", "3", "1"]
    function = FUNCTIONS[measure.name][0]
    for s, (statement, number) in enumerate(itertools.product(statements, numbers)):
        sql_text = statement.format(f=f, o=measure.order, on=measure.on("v", "$1", "$2"),
                                    named=measure.on("v", "$1", "$2", 1),
                                    strict="%s(v, $1) %s $2" % (function, ">" if measure is SCORE else "<"),
                                    join=measure.on("a.v", "b.v", "$2"), **{"is": "$2 = %s($1, v)" % function})
        whole = number in ("int", "bigint", "smallint")
        for n, (mode, v, b) in enumerate(itertools.product(("force_generic_plan", "force_custom_plan", "auto"), values,
                bounds)):
            step = (11, 37) if FULL else (67, 197)
            if (n + s) % step[mode != "force_generic_plan"] and not (n == 0 and s % 6 == 0):
                continue
            if (whole and ("." in b or b == "'NaN'")) or ("long" in v and b == "NULL"):
                continue
            before = ["SET plan_cache_mode = " + mode, "PREPARE s(%s, %s) AS %s" % (t, number, sql_text), "BEGIN"]
            if mode == "auto":
                before += ["SAVEPOINT s"] + ["EXECUTE s(%s, %s)" % (value, measure.bounds[0])] * 6 + ["ROLLBACK TO s"]
            uses = ("_lsh" if "_lsh" in statement else "Index Cond: (v %>" if mode == "force_generic_plan"
                    and v == value and b in measure.bounds else None)
            if uses and "part" in statement or "OR id" in statement:
                uses = None
            refused = ("-1", "101", "'NaN'") + ("3",) * (measure is RATE)
            errors = ("42804",) * ("long" in v) + ("22023",) * ("{named}" in statement and b in refused)
            p.compare("EXECUTE s(%s, %s)" % (v, b), uses, before, ["ROLLBACK", "DEALLOCATE s"],
                ordered="ORDER BY" in statement, errors=errors)
    p.report("%s: prepared statements" % measure.name)


# All pairs ----------------------------------------------------------------------------------------------------------

SUMS = "count(*), sum({t}), sum({t}::bigint * {t})"


def all_pairs(p, limits, measure, when, bounds):
    """Many values, each against the table, in every column and at every bound."""
    f = measure.family
    conn = p.conn
    function = FUNCTIONS[measure.name][0]
    conn.execute("RESET ALL; SET search_path = public; DROP TABLE IF EXISTS near, ask")
    conn.execute("CREATE TABLE ask AS SELECT i AS q, v FROM (SELECT min(i) AS i, v FROM %s_pool GROUP BY v) x "
                 "WHERE v IS NOT NULL AND (i %% %d = 0 OR v::text ~ '^96:.{64}:.{32}$')"
                 % (f, (3 if FULL else 23) if when == "built" else 12 if FULL else 25))
    conn.execute("CREATE TABLE near AS SELECT q, t.id, %s(ask.v, t.v) AS d FROM ask, plain.%s t WHERE %s" % (
        function, f, measure.on("t.v", "ask.v", {"hamming": 20, "score": 1, "rate": 0.2}[measure.name])))
    conn.execute("ANALYZE near; ANALYZE ask; SET search_path = indexed, public; SET enable_seqscan = off; "
                 "SET neardup.enable_join = off")
    bad, unused, count, rows = [], [], 0, 0
    for n, bound in enumerate(bounds):
        want = conn.execute("SELECT q, %s FROM near WHERE d %s %s GROUP BY q ORDER BY q" % (SUMS.format(t="id"),
            ">=" if measure is SCORE else "<=", bound)).fetchall()
        rows += sum(r[1] for r in want)
        for c, column in enumerate(COLUMNS[f]):
            if not is_served(limits, measure, column, float(bound)):
                continue
            conn.execute("SET enable_bitmapscan = %s; SET enable_indexscan = %s" % (
                ("off", "on") if (n + c) % 2 else ("on", "off")))
            query = "SELECT q, %s FROM ask JOIN %s t ON %s GROUP BY q ORDER BY q" % (
                SUMS.format(t="t.id"), f, measure.on("t." + column, "ask.v", bound, (n + c) % len(measure.forms)))
            plan = "\n".join(r[0] for r in conn.execute("EXPLAIN (COSTS OFF) " + query))
            if "%s_%s" % (f, column) not in plan:
                unused.append(plan)
            got = conn.execute(query).fetchall()
            count += 1
            if got != want:
                there = {r[0]: r[1:] for r in got}
                some = [(r, there.get(r[0])) for r in want if there.get(r[0]) != r[1:]][:2]
                bad.append("%s %s: %r" % (column, bound, some))
    check("%s, all pairs, %s: equal (%d joins, %d pairs)" % (measure.name, when, count, rows),
          count and rows > 100 and not bad, "%d differ; %s" % (len(bad), "; ".join(bad[:3])))
    check(
        "%s, all pairs, %s: by the index" % (measure.name, when), not unused, "%d not; %s" % (len(unused), unused[:1]))


ALL_BOUNDS = {"hamming": [str(d) for d in range(21)], "score": ["1"] + [str(s) for s in range(10, 101, 10)],
              "rate": ["%g" % (r / 100) for r in range(16)]}


def lifetime(p, limits):
    """The same before and after changes, VACUUM and REINDEX."""
    few = {"hamming": ["0", "3", "7", "9"], "score": ["1", "60", "100"], "rate": ["0", "0.05", "0.06", "0.07", "0.15"]}
    for measure in MEASURES:
        all_pairs(p, limits, measure, "built", ALL_BOUNDS[measure.name])
    with connect(p.conn.info.dbname) as conn:
        for turn, step in enumerate(("rows inserted, deleted, updated", "vacuumed", "changed again", "reindexed",
                                     "reindexed concurrently", "every third row left", "vacuumed at last")):
            for family, columns in COLUMNS.items():
                indexes = ["indexed.%s_%s" % (family, c) for c in columns]
                if step.startswith("vacuumed"):
                    conn.execute("VACUUM indexed.%s" % family)
                elif step.startswith("reindexed"):
                    for index in indexes:
                        conn.execute("REINDEX INDEX %s %s" % ("CONCURRENTLY" if "concurrently" in step else "", index))
                elif step.startswith("every"):
                    for schema in ("plain", "indexed"):
                        conn.execute("DELETE FROM %s.%s WHERE id %% 3 <> 0" % (schema, family))
                else:
                    for schema in ("plain", "indexed"):
                        change(conn, schema, family, 100000 * (turn + 2), 700)
                pending = one(conn, "SELECT sum(pending_rows) FROM unnest(%s::regclass[]) i, lsh_info(i)", (indexes,))
                if step.startswith(("rows", "reindexed")):
                    check("%s, %s: rows in pending pages: %d" % (family, step, pending),
                        (pending == 0) == step.startswith("reindexed"))
                for index in indexes:
                    e = sql_error(conn, "SELECT lsh_check('%s', true)" % index)
                    if e:
                        check("%s, %s: sound" % (index, step), False, e)
            for measure in MEASURES:
                all_pairs(p, limits, measure, step, few[measure.name])


# Kinds of digests ---------------------------------------------------------------------------------------------------


def long_digests(p):
    for column, (measure, bound) in itertools.product(("k100", "k1000"),
            [(m, b) for m in (SCORE, RATE) for b in m.bounds + (m.not_served, "NULL", "'NaN'::float8")]):
        hit = "long_" + column[1:] if bound in measure.bounds else None
        if hit and column == "k1000":
            hit = None  # parts above 390 characters are not cut into grams: their queries read all rows
        for q in (70, 1, 2, 30, 100) if FULL else (70, 30):
            p.compare("SELECT id FROM long WHERE %s" % measure.on(column,
                "(SELECT %s FROM long WHERE id = %d)" % (column, q), bound))
        p.compare(
            "SELECT x.id, y.id FROM long x JOIN long y ON %s" % measure.on("y." + column, "x." + column, bound), hit)
        p.compare("SELECT x.id FROM long x WHERE NOT EXISTS (SELECT FROM long y WHERE y.id <> x.id AND %s)"
                  % measure.on("y." + column, "x." + column, bound))
        # The other kind, where there are rows.
        short = measure.on(column, "to_ctph('a b c d')", bound)
        if bound != "NULL":
            p.compare("SELECT id FROM long WHERE " + short, errors=("42804",))
        p.compare("SELECT id FROM digest_empty WHERE " + measure.on("v", "ctph_long('a b c d', 100)", bound))
        p.compare("SELECT id FROM digest_null WHERE " + measure.on("v", "ctph_long('a b c d', 100)", bound))
    p.report("long digests")


def kinds(name):
    error = "cannot compare an ssdeep digest with a long one"
    row = "digest was not made like those of the index"
    with connect(name) as conn:
        e = sql_error(conn, "INSERT INTO indexed.digest (id, v) VALUES (-1, ctph_long('a b c', 100))")
        check("a long digest into an index of ssdeep's: both kinds are named",
              e is not None and e.sqlstate == "42804" and
              e.diag.message_primary == row and e.diag.message_detail == "index: digests of to_ctph(); "
              "row: one of ctph_long()", e)
        e = sql_error(conn, "INSERT INTO indexed.long (id, k100) VALUES (-1, to_ctph('a b c'))")
        check("an ssdeep digest into an index of long ones: both kinds are named",
              e is not None and e.sqlstate == "42804" and
              e.diag.message_primary == row and e.diag.message_detail == "index: digests of ctph_long(); "
              "row: one of to_ctph()", e)
        conn.execute("INSERT INTO indexed.long (id, k100) VALUES (-1, ctph_long('a b c', 200))")
        equal("long digests of other lengths are welcome", one(conn, "SELECT count(*) FROM indexed.long WHERE id = -1"),
              1)
        conn.execute("DELETE FROM indexed.long WHERE id = -1")
        conn.execute("SET plan_cache_mode = force_generic_plan")
        for schema, seqscan in (("plain", "on"), ("indexed", "on"), ("indexed", "off")):
            conn.execute("SET search_path = %s, public; SET enable_seqscan = %s" % (schema, seqscan))
            side = "%s, enable_seqscan = %s" % (schema, seqscan)
            for measure in (SCORE, RATE):
                for bound in measure.bounds + ("101", "0"):
                    for form in range(len(measure.forms)):
                        if form == 1 and bound == "101":
                            continue
                        q = "ctph_long('a b c', 100)"
                        fails("%s: a long query, %s" % (side, measure.on("v", q, bound, form)), conn,
                            "SELECT id FROM digest WHERE " + measure.on("v", q, bound, form),
                              text=error, state="42804")
                        conn.execute(
                            "PREPARE s(ctph) AS SELECT id FROM digest WHERE " + measure.on("v", "$1", bound, form))
                        fails("%s: prepared" % side, conn, "EXECUTE s(%s)" % q, text=error, state="42804")
                        conn.execute("DEALLOCATE s")
                fails("%s: a join" % side, conn, "SELECT FROM digest d JOIN long l ON " + measure.on("d.v", "l.k100",
                    measure.bounds[1]), text=error, state="42804")
        # A table of both kinds.
        conn.execute("CREATE TABLE both_kinds AS SELECT to_ctph('a b c') AS v UNION ALL SELECT ctph_long('a b c', 100)")
        fails("an index on both kinds", conn, "CREATE INDEX ON both_kinds USING lsh (v)", text=row, state="42804")
        conn.execute("DELETE FROM both_kinds; CREATE INDEX both_lsh ON both_kinds USING lsh (v); "
                     "INSERT INTO both_kinds VALUES (to_ctph('a b c'))")
        conn.execute("DELETE FROM both_kinds")
        fails("the kind stays when its rows are gone", conn, "INSERT INTO both_kinds VALUES (ctph_long('a b c', 100))",
            text=row)
        # Rows that an older snapshot may still see are indexed, too: other sections are at work.
        dead_gone(conn, "both_kinds")
        conn.execute("REINDEX INDEX both_lsh; INSERT INTO both_kinds VALUES (ctph_long('a b c', 100))")
        fails("and is another after REINDEX", conn, "INSERT INTO both_kinds VALUES (to_ctph('a b c'))", text=row)


# Real data ----------------------------------------------------------------------------------------------------------


def real_data(name):
    with connect(name) as conn:
        for data in ("code_versions", "binaries"):
            path = data_file(data, "ssdeep.tsv.gz")
            if path is None:
                continue
            columns = ("id text, size int, digest text" if data == "code_versions"
                       else "id text, name text, size int, digest text")
            conn.execute("RESET ALL; SET search_path = public; DROP TABLE IF EXISTS listed, d, score")
            load(conn, "listed", columns, path)
            conn.execute("CREATE TABLE d AS SELECT row_number() OVER () AS i, digest::ctph AS c FROM listed")
            conn.execute("CREATE TABLE score AS SELECT x.i AS x, y.i AS y, ctph_score(x.c, y.c) AS s, "
                         "ctph_edit_rate(x.c, y.c) AS r FROM d x, d y WHERE x.i %% %d = 0" % (1 if FULL else 5))
            conn.execute("CREATE INDEX d_lsh ON d USING lsh (c); ANALYZE d; ANALYZE score; SET enable_seqscan = off")
            rows = []
            for on, want in [("ctph_score(y.c, x.c) >= %d" % s, "s >= %d" % s) for s in (1, 50, 90)] + [
                    ("ctph_edit_rate(y.c, x.c) < %g" % r, "r < %g" % r) for r in (0.05, 0.15)]:
                query = "SELECT x.i, y.i FROM d x JOIN d y ON %s WHERE x.i %% %d = 0 ORDER BY 1, 2" % (
                    on, 1 if FULL else 5)
                plan = "".join(r[0] for r in conn.execute("EXPLAIN " + query))
                rows.append((on + " uses the index", "d_lsh" in plan, True))
                got = conn.execute(query).fetchall()
                rows.append((on, got, conn.execute("SELECT x, y FROM score WHERE %s ORDER BY 1, 2" % want).fetchall()))
                rows.append((on + " finds rows", bool(got), True))
            equal_all("%s: of each digest the near ones" % data, rows)
            equal("%s: the index is sound" % data, sql_error(conn, "SELECT lsh_check('d_lsh', true)"), None)


# Options ------------------------------------------------------------------------------------------------------------


def options(name):
    with connect(name) as conn:
        conn.execute("CREATE TABLE o (s simhash, c ctph)")
        hint = ("The option of this operator class belongs to the column: USING lsh (column %s); "
                "lsh_info() shows what the index serves.")
        for rows in (0, 1):
            if rows:
                conn.execute("INSERT INTO o VALUES (to_simhash('a b c'), to_ctph('a b c'))")
            for column, family, own in (("s", "simhash", "simhash_ops (blocks = 4)"),
                                        ("c", "ctph", "ctph_ops (max_rate = 0.1)")):
                for option, value in (("threshold", "0.5"), ("recall", "0.9"), ("recall", "1")):
                    fails("%d rows, %s: %s = %s" % (rows, family, option, value), conn,
                          "CREATE INDEX ON o USING lsh (%s) WITH (%s = %s)" % (column, option, value),
                          text='an index on %s values has no option "%s"' % (family, option), state="22023",
                          hint=hint % own)
            for value in ("1", "8", "0", "-3"):
                fails("%d rows: blocks = %s" % (rows, value), conn,
                    "CREATE INDEX ON o USING lsh (s simhash_ops (blocks = %s))" % value,
                      text='value %s out of bounds for option "blocks"' % value, state="22023")
            for value in ("-0.1", "0.16", "1"):
                fails("%d rows: max_rate = %s" % (rows, value), conn,
                    "CREATE INDEX ON o USING lsh (c ctph_ops (max_rate = %s))" % value,
                      text='value %s out of bounds for option "max_rate"' % value, state="22023")
            fails("%d rows: blocks = many" % rows, conn, "CREATE INDEX ON o USING lsh (s simhash_ops (blocks = many))",
                text='invalid value for integer option "blocks"')
            for value in ("NaN", "much"):
                fails("%d rows: max_rate = %s" % (rows, value), conn,
                    "CREATE INDEX ON o USING lsh (c ctph_ops (max_rate = '%s'))" % value,
                      text='invalid value for floating point option "max_rate": ' + value)
            fails("%d rows: an unknown option" % rows, conn,
                  "CREATE INDEX ON o USING lsh (s simhash_ops (max_rate = 0.1))",
                  text='unrecognized parameter "max_rate"')
            fails("%d rows: an option of another class" % rows, conn,
                "CREATE INDEX ON o USING lsh (c ctph_ops (blocks = 3))", text='unrecognized parameter "blocks"')
        conn.execute("CREATE INDEX o_s ON o USING lsh (s); CREATE INDEX o_c ON o USING lsh (c)")
        for index in ("o_s", "o_c"):
            for query in ("explain_pair('%s', to_minhash('a b c'), to_minhash('a b c'))",
                    "explain_pair('%s', to_minhash('a b c'), to_minhash('d e f'), 0.5)"):
                fails(query % index, conn, "SELECT * FROM " + query % index,
                      text="is not an index on minhash signatures", state="42809")
        told = []
        for column, opclass, want in (
                [("s", "(blocks = %d)" % b, ("serves hamming <= %d, exactly" % d, "simhash, %d blocks" % b)) for b,
                d in ((2, 5), (3, 10), (4, 15), (5, 22))] +
                [("c", "(max_rate = 0)", ("serves ctph_score >= 1, exactly", "digests of to_ctph(), max_rate 0"))] +
                [("c", "(max_rate = %g)" % r, ("serves ctph_score >= 1 and ctph_edit_rate <= %g, exactly" % r,
                    "digests of to_ctph(), max_rate %g, %d-grams" % (r, g)))
                 for r, g in ((0.01, 7), (0.06, 7), (0.07, 3), (0.15, 3))]):
            conn.execute("DROP INDEX IF EXISTS o_i; CREATE INDEX o_i ON o USING lsh (%s %s %s)" % (column,
                "simhash_ops" if column == "s" else "ctph_ops", opclass))
            told.append((opclass, conn.execute("SELECT guarantee, parameters FROM lsh_info('o_i')").fetchone(), want))
        equal_all("lsh_info's sentence", told)
        conn.execute("CREATE TABLE n (s simhash, c ctph); CREATE INDEX n_s ON n USING lsh (s); "
                     "CREATE INDEX n_c ON n USING lsh (c)")
        equal("lsh_info before the first row", [one(conn, "SELECT parameters FROM lsh_info('%s')" % i) for i in ("n_s",
            "n_c")], [None, None])

        # The index keeps its parameters until REINDEX, which counts the rows again.
        blocks = lambda: one(conn, "SELECT bands FROM lsh_info('o_s')")
        steps = [("made for a small table", blocks(), 4)]
        conn.execute("UPDATE pg_class SET relpages = 1, reltuples = 2e7 WHERE oid = 'o'::regclass")
        steps.append(("the table seems to be large", blocks(), 4))
        conn.execute("REINDEX INDEX o_s")
        steps.append(("reindexed", blocks(), 3))
        conn.execute("VACUUM o")
        conn.execute("REINDEX INDEX o_s")
        steps.append(("small again", blocks(), 4))
        conn.execute("UPDATE pg_attribute SET attoptions = '{blocks=7}' WHERE attrelid = 'o_s'::regclass")
        steps.append(("another option", blocks(), 4))
        conn.execute("INSERT INTO o SELECT i::bigint::simhash FROM generate_series(1, 400) i")
        found = "SELECT count(*) FROM o WHERE hamming(s, 5::bigint::simhash) <= 2"
        conn.execute("SET enable_seqscan = off")
        n = one(conn, found)
        conn.execute("REINDEX INDEX o_s")
        steps += [("and REINDEX", blocks(), 7), ("the same answer", one(conn, found), n), ("of rows", n > 5, True)]
        equal_all("parameters act at REINDEX", steps)


def parallel_builds(p):
    """Builds by several processes hold the same entries."""
    p.conn.execute("RESET ALL; SET search_path = indexed, public")
    for family, columns in COLUMNS.items():
        for column, opclass in columns.items():
            made = []
            for workers in (0, 2):
                p.conn.execute(
                    "SET max_parallel_maintenance_workers = %d; SET min_parallel_table_scan_size = 0" % workers)
                p.conn.execute("ALTER TABLE %s SET (parallel_workers = %d)" % (family, workers))
                p.conn.execute("DROP INDEX {f}_{c}; CREATE INDEX {f}_{c} ON {f} USING lsh ({c} {o})".format(f=family,
                    c=column, o=opclass))
                p.conn.execute("CHECKPOINT")
                data = one(p.conn, "SELECT pg_read_binary_file(pg_relation_filepath('%s_%s'))" % (family, column))
                made.append(b"".join(data[at + 10 : at + 8192] for at in range(0, len(data), 8192)))
                e = sql_error(p.conn, "SELECT lsh_check('%s_%s', true)" % (family, column))
                if e:
                    check("%s_%s, %d workers: sound" % (family, column, workers), False, e)
            check("%s_%s: the same bytes by two workers (%d pages)" % (family, column, len(made[0]) // 8182),
                made[0] == made[1])


# Estimates ----------------------------------------------------------------------------------------------------------


def estimated_rows(conn, query):
    return int(re.search(r"rows=(\d+)", conn.execute("EXPLAIN " + query).fetchone()[0]).group(1))


def estimates(name, literals):
    with connect(name) as conn:
        conn.execute("CREATE TABLE e (id int, s simhash, c ctph)")
        for kind, fill_it in (("no row", "SELECT"),
                              ("NULLs alone", "INSERT INTO e SELECT i FROM generate_series(1, 500) i"),
                              ("one value", "INSERT INTO e VALUES (0, to_simhash('a b c'), to_ctph('a b c'))")):
            conn.execute(fill_it)
            for statement in ("ANALYZE e", "VACUUM ANALYZE e"):
                check("%s, %s" % (kind, statement), sql_error(conn, statement) is None)
            equal("%s: queries" % kind, [one(conn, "SELECT count(*) FROM e WHERE " + on) for on in
                                         ("hamming(s, to_simhash('a b c')) < 3", "ctph_score(c, to_ctph('a b c')) > 10",
                                             "c <-> to_ctph('a b c') < 0.1")],
                  [int(kind == "one value"), int(kind == "one value"), int(kind == "one value")])
        fails("ANALYZE of both kinds of digests needs no index", conn, "INSERT INTO e SELECT 1, NULL, 'no digest'",
            text="invalid input syntax for type ctph")
        conn.execute("INSERT INTO e SELECT 1, NULL, ctph_long('a b c ' || i, 100) FROM generate_series(1, 50) i")
        check("ANALYZE with both kinds of digests", sql_error(conn, "ANALYZE e") is None)

        conn.execute("CREATE TABLE est AS SELECT row_number() OVER () AS id, h.v AS s, d.v AS c FROM hash_pool h LEFT "
                     "JOIN digest_pool d USING (i), generate_series(1, 8)")
        conn.execute("ANALYZE est")
        s, c = "'%s'::simhash" % literals["hash"][0], "'%s'::ctph" % literals["digest"][0]
        conditions = [("hamming_at_most(s, {s}, 3)", "hamming(s, {s}) <= 3"),
            ("hamming_at_most(s, {s}, 8)", "hamming(s, {s}) < 9"),
                      ("ctph_score_at_least(c, {c}, 50)", "ctph_score(c, {c}) >= 50"),
                      ("ctph_score_at_least(c, {c}, 90)", "90 <= ctph_score(c, {c})"),
                      ("ctph_edit_rate_at_most(c, {c}, 0.05)", "c <-> {c} <= 0.05"),
                      ("ctph_edit_rate_at_most(c, {c}, 0.15)", "ctph_edit_rate({c}, c) <= 0.15")]
        for when in ("by statistics alone", "with an index"):
            for at_most, on in conditions:
                for value in ("a constant", "another row's"):
                    words = dict(s=s, c=c) if value == "a constant" else dict(
                        s="(SELECT s FROM est WHERE id = %d)" % literals["ids"]["hash"][0],
                        c="(SELECT c FROM est ORDER BY id DESC LIMIT 1)")
                    condition = (at_most if when == "by statistics alone" else on).format(**words)
                    told = estimated_rows(conn, "SELECT * FROM est WHERE " + condition)
                    really = one(conn, "SELECT count(*) FROM est WHERE " + condition)
                    total = one(conn, "SELECT count(*) FROM est")
                    sane = told <= total / 8
                    if value == "a constant":
                        sane = sane and (really / 12 - 1 <= told <= really * 12 + 100)
                    check("estimate %s of %s: %s" % (when, value, on.format(s="s", c="c")), sane,
                        "%d of %d, really %d" % (told, total, really))
            if when == "by statistics alone":
                conn.execute(
                    "CREATE INDEX est_s ON est USING lsh (s); CREATE INDEX est_c ON est USING lsh (c); ANALYZE est")
        equal("nothing beyond reach", [estimated_rows(conn, "SELECT * FROM est WHERE " + on.format(s=s, c=c)) for on in
                                       ("hamming(s, {s}) < 0", "hamming(s, {s}) <= -1", "ctph_score(c, {c}) > 100",
                                           "c <-> {c} < -0.1")], [1, 1, 1, 1])


def main():
    with database() as name:
        ids = setup(name)
        p = Plans(name, others=2)
        with connect(name) as conn:
            limits = served(conn)
            literals = {"ids": ids}
            for family, rows in ids.items():
                literals[family] = [one(conn, "SELECT v::text FROM plain.%s WHERE id = %d" % (family, i)) for i in rows]
        of_each = [(single, p, literals, limits), (skewed, p, literals, limits), (ordered, p, literals, limits),
                   (joins, p), (tables, p, literals), (prepared, p, literals)]
        sections(*[(call, *args, m) for m in MEASURES for call, *args in of_each])
        sections((queries_of_others, p), (expressions, p, literals), (long_digests, p), (kinds, name),
                 (lifetime, p, limits),
                 (parallel_builds, p), (real_data, name), (options, name),
                 (estimates, name, literals))
        with connect(name) as conn:
            bad = [(i, e) for i, e in ((i, sql_error(conn, "SELECT lsh_check('%s', true)" % i)) for i, in conn.execute(
                "SELECT c.oid::regclass FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'lsh' "
                "AND relkind = 'i'").fetchall()) if e]
            check("indexes are sound", not bad, bad)
        p.conn.close()
    with psycopg.connect(autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS families_reader")


if __name__ == "__main__":
    finish(main)
