#!/usr/bin/python3
"""Scans, joins and functions that are left before their end and begin again: below LIMIT in correlated subqueries,
EXISTS and LATERAL with bounds and values that change from row to row, and in cursors. The rows are those of plans
without any of them. NEARDUP_SEED repeats a run."""
import random

from answers import read_plan, under
from clusters import anchors
from harness import *

SEED = int(os.environ.get("NEARDUP_SEED", "199"))
# The number of tries of each series of bounds; in the short form two or three of the five.
ROUNDS = 6 if FULL else 1
CURSORS = 8
# The first family has more rows than a batch, even of candidates of 8 bytes in twice the least work_mem.
ROWS, OF_FIRST = 10000, 9300
PLAIN = "enable_indexscan = off; enable_bitmapscan = off; neardup.enable_join = off"
ALONE = "enable_material = off; enable_memoize = off; max_parallel_workers_per_gather = 0; "
PLANS = {
    "index": ALONE + "enable_seqscan = off; enable_bitmapscan = off",
    "bitmap": ALONE + "enable_seqscan = off; enable_indexscan = off",
    "nearest": ALONE + "enable_seqscan = off; enable_bitmapscan = off; enable_sort = off",
    "join": ALONE + "enable_nestloop = off; enable_hashjoin = off; enable_mergejoin = off",
}
MEMORY = ("work_mem = '64kB'; hash_mem_multiplier = 1", "work_mem = '4MB'")
# Column: condition of the rows x and y with the bounds of q, distance.
FAMILIES = {
    "sig": ("jaccard({x}.sig, {y}.sig) >= {q}.least", "{x}.sig <%> {y}.sig"),
    "hash": ("hamming({x}.hash, {y}.hash) <= {q}.bits", "{x}.hash <~> {y}.hash"),
    "digest": ("ctph_edit_rate({x}.digest, {y}.digest) <= {q}.rate", "{x}.digest <-> {y}.digest"),
    "elements": ("jaccard_exact({x}.elements, {y}.elements) >= {q}.least", None),
    "code": ("bit_hamming({x}.code, {y}.code) <= {q}.bits", "{x}.code <-> {y}.code"),
}
# Least similarities of the rows of probes, one after the other.
SERIES = {
    "ascending": (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1),
    "descending": (1, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.3),
    "none and all": (0, 1, 0, 1, 0.8, 0, 0.8, 1),
    "NULL between": (0.9, None, 0.9, 0.6, None, 1, None, 0.6),
    "all alike": (0.8,) * 8,
}
# Rows that a query asks for; None: all.
LIMITS = (None, None, 0, 1, 2, 3, 60, 300, 5000)
SCHEMA = """
CREATE FUNCTION row_of(i int, family int, OUT sig minhash, OUT hash simhash, OUT digest ctph, OUT elements int[],
    OUT code bit(64)) LANGUAGE sql AS $$
  SELECT minhash_import(array(SELECT CASE WHEN (c + i) % 64 < i % 9 THEN 1000000 + i * 64 + c ELSE family * 1000 + c END
                              FROM generate_series(1, 64) c)),
    (family * 1234567890123 # (i % 32))::simhash,
    to_ctph((SELECT string_agg(md5((family * 100 + CASE WHEN c = i % 11 THEN 99 ELSE c END)::text), ' ')
             FROM generate_series(1, 24) c)),
    array(SELECT family * 100 + c + i % 7 FROM generate_series(1, 20) c),
    (family * 9876543210987 # (i % 64))::bit(64) $$;
CREATE TABLE docs (id int, part int, sig minhash, hash simhash, digest ctph, elements int[], code bit(64));
CREATE TABLE probes (n int, lim int, least float8, bits float8, rate float8, sig minhash, hash simhash, digest ctph,
    elements int[], code bit(64), other_sig minhash, other_hash simhash, other_digest ctph, other_code bit(64));
"""
INSERT = """INSERT INTO docs SELECT i, i % 4, r.* FROM generate_series({}, {}) i,
    LATERAL row_of(i, CASE WHEN i <= {} THEN 0 ELSE i % 50 END) r"""
NO_VALUES = "UPDATE docs SET sig = NULL, hash = NULL, digest = NULL, elements = NULL, code = NULL WHERE id % 97 = 3"


def fill(conn):
    """Rows of which most resemble each other, some without values; some wait in pending pages, some are dead."""
    conn.execute(SCHEMA)
    conn.execute(INSERT.format(1, ROWS, OF_FIRST))
    conn.execute(NO_VALUES)
    for column in FAMILIES:
        conn.execute("CREATE INDEX docs_%s ON docs USING lsh (%s)" % (column, column))
    conn.execute(INSERT.format(ROWS + 1, ROWS + 200, 2 * ROWS))
    conn.execute("DELETE FROM docs WHERE id % 53 = 7")
    for table, step, rest in (("few", 71, 0), ("others", 73, 1)):
        conn.execute("CREATE TABLE %s AS SELECT * FROM docs "
                     "WHERE id %% %d = 5 OR id %% 7 = %d AND id BETWEEN 9300 AND 9500" % (table, step, rest))
    conn.execute("ANALYZE docs; ANALYZE few; ANALYZE others")


def set_probes(conn, rng, series, no_value=True):
    """The rows by which queries begin again: bounds of the series, values of other rows, one of them NULL and whole."""
    conn.execute("DELETE FROM probes")
    for n, least in enumerate(SERIES[series]):
        far = None if least is None else 1 - least
        i, j = rng.choice((5, 77, 9001, 9777, 9931)), rng.choice((9, 4444, 9555))
        limit, has_value = rng.choice(LIMITS), not no_value or n != 4
        columns = "d.sig, d.hash, d.digest, d.elements, d.code" if has_value else "NULL, NULL, NULL, NULL, NULL"
        conn.execute("INSERT INTO probes SELECT %%s, %%s, %%s, %%s, %%s, %s, o.sig, o.hash, o.digest, o.code "
                     "FROM docs d, docs o WHERE d.id = %%s AND o.id = %%s" % columns,
                     (n, limit if has_value else None, least, far and round(far * 64), far, i, j))
    conn.execute("ANALYZE probes")


def answer(conn, settings, query):
    """The rows; their error's SQLSTATE, where there is one."""
    under(conn, settings)
    try:
        return conn.execute(query).fetchall()
    except psycopg.Error as e:
        return e.sqlstate, str(e)


class Comparisons:
    """Compares queries by our plans and by plain ones."""

    def __init__(self, conn, rng):
        self.conn, self.rng = conn, rng
        self.rows, self.unused = [], []

    def compare(self, query, kind, shown, memories=()):
        """shown: texts that the plan must have. memories: of MEMORY; without any, one by chance or all."""
        want = answer(self.conn, PLAIN, query)
        for memory in memories or (MEMORY if FULL else [self.rng.choice(MEMORY)]):
            settings = "%s; %s" % (PLANS[kind], memory)
            self.rows.append(("%s: %s" % (memory, query), answer(self.conn, settings, query), want))
        plan = read_plan(self.conn, query)
        if not all(text in plan for text in shown):
            self.unused.append("%s: %s" % (query, plan))

    def report(self, name):
        equal_all("%s: the rows of plain plans" % name, self.rows)
        check("%s: the plans are ours" % name, not self.unused, "%d are not; %s" % (len(self.unused), self.unused[:1]))
        self.rows, self.unused = [], []


def summary(rows, ids="s.id"):
    """The part of rows cut by LIMIT that is the same whichever come. rows: a query with the columns id and good."""
    return ("SELECT count(*) AS n, count(DISTINCT %s) AS d, bool_and(s.good) AS good, "
            "sum(hashtext((%s)::text)::bigint) FILTER (WHERE q.lim IS NULL) AS whole FROM (%s LIMIT q.lim) s"
            % (ids, ids, rows))


def some_series(rng, most=3):
    return list(SERIES) * ROUNDS if FULL else rng.sample(list(SERIES), most)


def forms(inner, some):
    """Queries that run `inner` again for each row of probes; some: a query of the same without columns, for EXISTS."""
    return {
        "LATERAL": "SELECT q.n, l.* FROM probes q, LATERAL (%s) l" % inner,
        "LEFT JOIN LATERAL": "SELECT q.n, l.* FROM probes q LEFT JOIN LATERAL (%s) l ON q.n %% 3 > 0" % inner,
        "subquery": "SELECT q.n, (SELECT l::text FROM (%s) l) FROM probes q" % inner,
        "EXISTS": "SELECT q.n, EXISTS (%s), EXISTS (%s LIMIT q.lim) FROM probes q" % (some, some),
    }


def thresholds(conn, rng):
    """Conditions on a value, by index scans and by bitmaps."""
    c = Comparisons(conn, rng)
    for kind in ("index", "bitmap"):
        for column, (condition, _) in FAMILIES.items():
            for series in some_series(rng):
                set_probes(conn, rng, series)
                on = condition.format(x="d", y="q", q="q")
                more = rng.choice(("", " AND d.part = 1", " AND d.part = q.n % 4"))
                inner = summary("SELECT d.id, %s AS good FROM docs d WHERE %s%s" % (on, on, more))
                of = forms(inner, "SELECT FROM docs d WHERE %s%s" % (on, more))
                name = "docs_%s" % column
                scan = "Index Scan using " if kind == "index" else "Bitmap Index Scan on "
                c.compare(of[rng.choice(list(of))], kind, [scan + name, "Index Cond: ("])
        c.report("thresholds, %s scans" % kind)


def orders(column):
    """The lists of expressions by which rows are ordered."""
    distance = FAMILIES[column][1]
    first = distance.format(x="d", y="q")
    second = distance.format(x="d", y="q").replace("q.", "q.other_")
    return (first, second), (first,), (second, first)


def nearest(conn, rng):
    """Rows in the order of one distance or two, with a condition on the value and without."""
    c, turn = Comparisons(conn, rng), 0
    for has_condition in (False, True):
        for column, (condition, distance) in FAMILIES.items():
            for series in some_series(rng, 2) if distance else ():
                set_probes(conn, rng, series)
                by = orders(column)[turn % 3]
                turn += 1
                where = " WHERE " + condition.format(x="d", y="q", q="q") if has_condition else ""
                order = ", ".join(str(i + 1) for i in range(len(by)))
                rows = "SELECT %s FROM docs d%s ORDER BY %s LIMIT q.lim" % (
                    ", ".join("%s AS d%d" % (text, i) for i, text in enumerate(by)), where, order)
                inner = "SELECT count(*) AS n, md5(array_agg(s)::text) AS distances FROM (%s) s" % rows
                of = forms(inner, "SELECT FROM docs d%s ORDER BY %s" % (where, ", ".join(by)))
                form = rng.choice([name for name in of if name != "EXISTS"])
                c.compare(of[form], "nearest", ["Index Scan using docs_" + column, "Order By: ("])
        c.report("nearest rows%s" % (", with a condition" if has_condition else ""))


NEAR = {"q.least": "0.9", "q.bits": "6", "q.rate": "0.1"}
FAR = {"q.least": "0.3", "q.bits": "45", "q.rate": "0.7"}
ALL = {"q.least": "0", "q.bits": "64", "q.rate": "1"}


def with_bounds(condition, bounds):
    for bound, value in bounds.items():
        condition = condition.replace(bound, value)
    return condition


def batches(conn, rng):
    """Conditions that more rows meet than a batch has: one order goes through all batches."""
    c = Comparisons(conn, rng)
    for column, (condition, distance) in FAMILIES.items():
        for bounds in (FAR, NEAR) if distance else ():
            where = with_bounds(condition.format(x="d", y="q", q="q"), bounds)
            rows = "SELECT %s AS distance FROM docs d WHERE %s ORDER BY 1" % (distance.format(x="d", y="q"), where)
            query = "SELECT count(*), md5(array_agg(s)::text) FROM (SELECT * FROM docs WHERE id = 77) q, LATERAL (%s) s"
            c.compare(query % rows, "nearest", ["Index Scan using docs_" + column, "Order By: ("], MEMORY)
    c.report("orders of several batches")


def join_forms(on):
    """FROM and WHERE, the ids, whether a row is good."""
    ids = "a.id * 100000 + b.id"
    return {
        "two sides": ("few a JOIN others b ON %s" % on, ids, on),
        "itself": ("few a JOIN few b ON %s AND a.id < b.id" % on, ids, on),
        "groups": ("few a JOIN others b ON a.part = b.part AND %s" % on, ids, on),
        "left": ("few a LEFT JOIN others b ON %s" % on, "a.id * 100000 + coalesce(b.id, 0)", "b.id IS NULL OR " + on),
        "semi": ("few a WHERE EXISTS (SELECT FROM others b WHERE %s)" % on, "a.id", "true"),
        "anti": ("few a WHERE NOT EXISTS (SELECT FROM others b WHERE %s)" % on, "a.id", "true"),
    }


def joins(conn, rng):
    """The node, whose bound changes, or stays while the limit above it changes."""
    c = Comparisons(conn, rng)
    kinds = list(join_forms(""))
    for column, (condition, _) in FAMILIES.items():
        for series, bounds in ([(name, {}) for name in SERIES] + [("all alike", NEAR), ("all alike", ALL)]) * ROUNDS:
            set_probes(conn, rng, series, no_value=False)
            on = with_bounds(condition.format(x="a", y="b", q="q"), bounds)
            kinds.append(kinds.pop(0))
            source, ids, good = join_forms(on)[kinds[0]]
            of = forms(summary("SELECT %s AS id, %s AS good FROM %s" % (ids, good, source)), "SELECT FROM " + source)
            c.compare(of[rng.choice(list(of))], "join", ["Similarity Join"])
    c.report("joins")


def calls(rng):
    """Functions that return sets: name: the call with the bound {least}."""
    column = rng.choice(("sig", "hash", "elements"))
    measure = ", measure => 'jaccard'" if column == "elements" else ""
    few, others = "'SELECT id, %s FROM few'" % column, "'SELECT id, %s FROM others'" % column
    return {
        "all_pairs": "all_pairs(%s, {least}%s)" % (few, measure),
        "pairs_between": "pairs_between(%s, %s, {least}%s)" % (few, others, measure),
        "all_clusters": "all_clusters('SELECT id, %s FROM few ORDER BY id', {least}%s)" % (column, measure),
        "blocked_pairs": "blocked_pairs('SELECT id, part, code::text FROM few', max_block => ({least} * 100)::int)",
        "cluster_anchor": "(SELECT d.id, cluster_anchor(d.sig, {least}, d.id) OVER (ORDER BY d.id) AS kept FROM few d)",
    }


def brute(conn, name, call, least):
    """The function's rows by a join, where that gives them: as (query, rows)."""
    column = next((c for c in FAMILIES if "id, %s" % c in call), "sig")
    similar = {"sig": "jaccard(a.sig, b.sig)", "hash": "1 - hamming(a.hash, b.hash) / 64.0::float8",
               "elements": "jaccard_exact(a.elements, b.elements)"}.get(column)
    other = "others b ON true" if name == "pairs_between" else "few b ON a.id < b.id"
    return conn.execute("SELECT a.id, b.id FROM few a JOIN %s WHERE %s >= %s" % (other, similar, least)).fetchall()


SERIES_OF_CALLS = ("ascending", "descending", "all alike")


def functions(conn, rng):
    """Functions, below LIMIT and once more: the first rows of one call, which has those of a join."""
    rows, proofs = [], []
    under(conn, PLAIN)
    for series in list(SERIES_OF_CALLS) * ROUNDS if FULL else rng.sample(SERIES_OF_CALLS, 2):
        set_probes(conn, rng, series, no_value=False)
        for name, call in calls(rng).items():
            source = call.format(least="q.least")
            inner = "SELECT array_agg(s::text) AS rows FROM (SELECT * FROM %s f LIMIT q.lim) s" % source
            queries = ["SELECT q.least, q.lim, l.rows FROM probes q, LATERAL (%s) l" % inner,
                       "SELECT q.least, q.lim, (%s) FROM probes q" % inner]
            if not source.startswith("("):
                inner = "SELECT array_agg(s::text) FROM (SELECT %s LIMIT q.lim) s(s)" % source
                queries.append("SELECT q.least, q.lim, (%s) FROM probes q" % inner)
            wholes = {}
            for query in queries if FULL else [rng.choice(queries)]:
                for least, limit, got in conn.execute(query).fetchall():
                    if least not in wholes:
                        alone = "SELECT f::text FROM %s f" % call.format(least=least)
                        wholes[least] = [r[0] for r in conn.execute(alone)]
                    whole = wholes[least]
                    rows.append(("%s, %s, limit %s" % (query, least, limit), got or [], whole[:limit]))
            least = rng.choice(sorted(wholes))
            whole = [tuple(map(int, re.findall(r"\d+", text)[:2])) for text in wholes[least]]
            if name in ("all_pairs", "pairs_between"):
                proofs.append((call + str(least), sorted(whole), sorted(brute(conn, name, call, least))))
            elif name == "cluster_anchor":
                near = brute(conn, name, call, least)
                ids = [r[0] for r in conn.execute("SELECT id FROM few WHERE sig IS NOT NULL ORDER BY id")]
                kept = anchors(ids, near)
                got = [row for row in whole if row[0] in kept]
                proofs.append((call + str(least), got, sorted(kept.items())))
    equal_all("functions: each time the same rows", rows)
    equal_all("functions: the rows of joins", proofs)


def cursor_queries(rng):
    """name: kind of plan, what it shows, query"""
    probe = "(SELECT {c} FROM probes WHERE n = {n})"
    out = {}
    for column, (condition, distance) in FAMILIES.items():
        n = rng.choice((0, 2, 6))
        value = probe.format(c=column, n=n)
        where = condition.format(x="d", y="q", q="q").replace("q." + column, value)
        for bound in ("least", "bits", "rate"):
            where = where.replace("q." + bound, probe.format(c=bound, n=n))
        for kind in ("index", "bitmap"):
            out["%s, %s" % (column, kind)] = kind, "docs_" + column, "SELECT d.id FROM docs d WHERE " + where
        if distance:
            by = distance.format(x="d", y="q").replace("q." + column, value)
            out[column + ", nearest"] = "nearest", "Order By: (", "SELECT d.id FROM docs d ORDER BY " + by
            near = "SELECT d.id FROM docs d WHERE %s ORDER BY %s" % (where, by)
            out[column + ", near"] = "nearest", "Order By: (", near
        on = with_bounds(condition.format(x="a", y="b", q="q"), NEAR)
        name, (source, ids, _) = rng.choice(list(join_forms(on).items()))
        out["%s, join: %s" % (column, name)] = "join", "Similarity Join", "SELECT %s FROM %s" % (ids, source)
    for name, call in calls(rng).items():
        out[name] = "join", "", "SELECT f::text FROM %s f" % call.format(least=rng.choice((0.7, 0.9)))
    return out


KINDS_OF_CURSORS = (("NO SCROLL", ""), ("SCROLL", "WITH HOLD"), ("NO SCROLL", "WITH HOLD"))


class Reader:
    """A cursor that is read in steps, and what it must return: the rows of the query at once."""

    def __init__(self, conn, rng, name, whole, scroll):
        self.conn, self.rng, self.name, self.scroll = conn, rng, name, scroll
        self.whole, self.at, self.steps = whole, 0, []

    def step(self):
        """FETCH or MOVE some, forward; backward where the cursor can."""
        n = self.rng.choice(((0,) if self.scroll else ()) + (1, 2, 7, 100, 300, 4096, 8192, "ALL"))
        verb = self.rng.choice(("FETCH", "FETCH", "MOVE"))
        back = self.scroll and self.rng.random() < 0.3
        text = "%s %s%s FROM %s" % (verb, "BACKWARD " if back else "FORWARD ", n, self.name)
        cur = self.conn.execute(text)
        got = [r[0] for r in cur.fetchall()] if verb == "FETCH" and cur.description else []
        n = len(self.whole) + 1 if n == "ALL" else n
        if n == 0:  # the row where the cursor stands, again
            here = self.whole[self.at - 1:self.at] if 0 < self.at <= len(self.whole) else []
            self.steps.append((text, got, here if verb == "FETCH" else []))
        elif back:
            first = max(self.at - 1 - n, 0)
            want = self.whole[first:max(self.at - 1, 0)][::-1]
            self.steps.append((text, got, want if verb == "FETCH" else []))
            self.at = max(self.at - n, 0)
        else:
            want = self.whole[self.at:self.at + n]
            self.steps.append((text, got, want if verb == "FETCH" else []))
            self.at = min(self.at + n, len(self.whole) + 1)


def cursors(name, rng):
    """Two cursors at a time, read in turn, one beyond its transaction."""
    steps, same, unused = [], [], []
    with connect(name, autocommit=False) as conn:
        for series in ["descending", "none and all", "all alike"] * CURSORS if FULL else ["descending"]:
            set_probes(conn, rng, series, no_value=False)
            conn.commit()
            queries = cursor_queries(rng)
            for what, (kind, shown, query) in queries.items():
                conn.execute("SET cursor_tuple_fraction = 1")
                plain = answer(conn, PLAIN, query)
                settings = "%s; cursor_tuple_fraction = 1; %s" % (PLANS[kind], rng.choice(MEMORY))
                got = answer(conn, settings, query)
                same.append((query, sorted(got), sorted(plain)))
                whole, readers = [r[0] for r in got], []
                for i, how in enumerate((rng.choice(KINDS_OF_CURSORS), rng.choice(KINDS_OF_CURSORS))):
                    declare = "DECLARE c%d %s CURSOR %s FOR %s" % (i, how[0], how[1], query)
                    unused += [] if shown in read_plan(conn, declare) else [declare]
                    readers.append((Reader(conn, rng, "c%d" % i, whole, how[0] == "SCROLL"), how[1]))
                    conn.execute(declare)
                for turn in range(6):
                    for reader, hold in readers:
                        if turn < 3 or hold:
                            reader.step()
                    if turn == 2:
                        conn.commit()
                steps += [("%s, %s: %s" % (what, query, text), got, want)
                          for reader, _ in readers for text, got, want in reader.steps]
                conn.execute("CLOSE ALL")
                conn.commit()
    equal_all("cursors: the rows of plain plans", same)
    equal_all("cursors: go on where they were left", steps)
    check("cursors: the plans are ours", not unused, "%d are not; %s" % (len(unused), unused[:1]))


def main():
    print("# NEARDUP_SEED=%d" % SEED)
    with database() as name, connect(name) as conn:
        fill(conn)
        with_connection = (thresholds, nearest, batches, joins, functions)
        sections(*((call, conn, random.Random(SEED)) for call in with_connection),
                 (cursors, name, random.Random(SEED)))


if __name__ == "__main__":
    finish(main)
