"""Kinds of lsh index, and ways to write their pages: each a row of a table. 140, 144 and 150 take what is listed here
through their dangers, and compare each index with a sequential scan. A new way to write is a row of WAYS."""
import hashlib
from typing import NamedTuple

from servers import *

# A row from LARGE on goes into a run at once, and into several leaves; of those from TALL on each fills a leaf.
LARGE, TALL = 90_000, 100_000
MINHASH = "make_sig({i} / 8, {i}, ({i} * 7 % 12)::int)"
SIMHASH = """neardup_internal.simhash_from_bigint(
    hashint8extended({i} / 8, 7) # ((1::bigint << ({i} % 8)::int) - 1))"""
BITS = """(hashint8extended({i} / 8, 7)::bit(64) || hashint8extended({i} / 8, 8)::bit(64))
    # (((1::bigint << ({i} % 8)::int) - 1)::bit(64) || repeat('0', 64)::bit(64))"""
DIGEST = """to_ctph((
    SELECT string_agg(md5((CASE WHEN l % 20 < {i} % 4 THEN {i} * 1000 + l ELSE {i} / 4 * 1000 + l END)::text), '')
    FROM generate_series(1, 12) l))"""
SET = """array(
    SELECT {i} / 8 * 1000003 + CASE WHEN e <= {i} % 8 THEN 1000 + {i} % 10000 * 50 + e ELSE e END
    FROM generate_series(1, CASE WHEN {i} < 90000 THEN 40 WHEN {i} < 100000 THEN 2000 ELSE 1500 END) e)"""
LSH = "CREATE INDEX {table}_v ON {table} USING lsh (%s) WITH (pending_limit = 1)"


class Kind(NamedTuple):
    """A kind of index, on column v of a table (id, grp, v)."""
    name: str
    column: str        # its type
    value: str         # of row {i}; rows of a family of eight are near to each other
    asks: tuple        # conditions on t.v with asked.v, the value of a row
    create: str = LSH % "v"
    drop: str = "DROP INDEX {table}_v"
    nearest: str = ""  # a distance to order by


KINDS = (
    Kind("minhash", "minhash", MINHASH, ("jaccard(t.v, asked.v) >= 0.8",), nearest="t.v <%> asked.v"),
    Kind("bits", "bit(128)", BITS, ("bit_hamming(t.v, asked.v) <= 5",)),
    Kind("sets", "bigint[]", SET, ("jaccard_exact(t.v, asked.v) >= 0.7", "containment_exact(asked.v, t.v) >= 0.9")),
    Kind("columns", "minhash", MINHASH, ("t.grp = asked.id % 4 AND jaccard(t.v, asked.v) >= 0.8",), LSH % "grp, v"),
    Kind("constraint", "minhash", "make_sig({i}, {i}, 0)",
         ("with_threshold(t.v, 0.9) && with_threshold(asked.v, 0.9)",),
         """
            ALTER TABLE {table} ADD CONSTRAINT {table}_v
            EXCLUDE USING lsh (with_threshold(v, 0.9) WITH &&) WITH (pending_limit = 1)
         """, "ALTER TABLE {table} DROP CONSTRAINT {table}_v"),
    Kind("simhash", "simhash", SIMHASH, ("hamming(t.v, asked.v) <= 3",), nearest="t.v <~> asked.v"),
    Kind("ctph", "ctph", DIGEST, ("ctph_edit_rate(t.v, asked.v) <= 0.1",)),
)
KIND = {kind.name: kind for kind in KINDS}
# Rows whose neighbours are asked for.
ASKED = (3, 6, 21, 60, 300, 333, 480, 510, 700, 1000, 1250, LARGE + 1, TALL + 7)


def rows(first, last):
    """Inserts rows of these numbers."""
    return """
        INSERT INTO {table}
        SELECT i, nullif(i %% 4, 3), {value} FROM generate_series(%d::bigint, %d) i
        """ % (first, last)


VACUUM = "VACUUM (INDEX_CLEANUP on) {table}"
COPIES = "INSERT INTO {table} SELECT id, grp, v FROM {table} WHERE id < 70 ON CONFLICT DO NOTHING"
# 500 rows of which a few are left: their pages are free.
FREED = (rows(1, 500), "DELETE FROM {table} WHERE id > 20", VACUUM)


class Way(NamedTuple):
    """A way to write pages: statements that prepare a table with its index, and those that write."""
    name: str
    before: tuple
    writes: tuple
    kinds: tuple = ()      # names, of those that it is for; none: all
    not_for: tuple = ()
    in_place: bool = True  # whether it writes to the index's file by statements that a transaction may have
    logged: bool = True    # whether a crash keeps it
    is_large: bool = False  # only in the long forms


WAYS = (
    Way("first row", (), (rows(1, 1),)),
    Way("append", (rows(1, 5),), (rows(6, 6),)),
    Way("abort", (rows(1, 5),), ("BEGIN", rows(6, 6), "ROLLBACK"), in_place=False),
    Way("new page", ("ALTER INDEX {table}_v SET (pending_limit = 8)", rows(1, 20)), (rows(21, 110),)),
    Way("flush", (rows(1, 40),), (rows(41, 100),)),
    Way("merge", (rows(1, 150),), (rows(151, 520),)),
    Way("used again", FREED, (rows(501, 720),)),
    Way("large rows", (rows(1, 100),), (rows(LARGE, LARGE + 4),), kinds=("sets",)),
    Way("refused rows", (rows(1, 100),), (COPIES,), kinds=("constraint",)),
    Way("VACUUM", (rows(1, 500), "DELETE FROM {table} WHERE id % 3 = 0"), (VACUUM,), in_place=False),
    Way("VACUUM, none dead", (rows(1, 100),), (VACUUM,), in_place=False),
    Way("VACUUM, all dead", (rows(1, 500), "DELETE FROM {table}"), (VACUUM,), in_place=False),
    Way("build", (rows(1, 500), "{drop}"), ("{create}", rows(501, 510)), in_place=False),
    Way("parallel build", (rows(1, 500), "{drop}", "ALTER TABLE {table} SET (parallel_workers = 2)"), ("{create}",),
        in_place=False),
    Way("build, concurrently", (rows(1, 500), "{drop}"), ("{create_concurrently}", rows(501, 510)),
        not_for=("constraint",), in_place=False),
    Way("REINDEX", (rows(1, 300), "DELETE FROM {table} WHERE id % 3 = 0"),
        ("REINDEX INDEX {table}_v", rows(501, 510)), in_place=False),
    Way("TRUNCATE", (rows(1, 100),), ("TRUNCATE {table}", rows(3, 3)), in_place=False),
    Way("made logged", (rows(1, 300), "ALTER TABLE {table} SET UNLOGGED"),
        (rows(301, 400), "ALTER TABLE {table} SET LOGGED", rows(401, 500)), in_place=False),
    Way("unlogged", (rows(1, 100), "ALTER TABLE {table} SET UNLOGGED"), (rows(101, 300),), logged=False),
    Way("inner pages", (rows(TALL, TALL + 460),), (VACUUM,), kinds=("sets",), in_place=False, is_large=True),
)
WAY = {way.name: way for way in WAYS}
# The statements after a danger.
GO_ON = (rows(801, 1100), "DELETE FROM {table} WHERE id % 2 = 0", VACUUM, rows(1101, 1300))


class Case:
    """A table with an index of a kind, written to in one way."""

    def __init__(self, kind, way, table):
        self.kind, self.way, self.table = kind, way, table
        self.index, self.asked = table + "_v", ASKED
        self.name = "%s, %s" % (kind.name, way.name)

    def sql(self, text):
        """A statement of WAYS for this table."""
        create = self.kind.create
        concurrently = create.replace("INDEX", "INDEX CONCURRENTLY")
        for name, by in (("{create}", create), ("{create_concurrently}", concurrently), ("{drop}", self.kind.drop),
                         ("{value}", self.kind.value), ("{table}", self.table), ("{i}", "i")):
            text = text.replace(name, by)
        return text

    def run(self, conn, statements):
        for statement in statements:
            conn.execute(self.sql(statement))

    def prepare(self, conn):
        table = "CREATE TABLE {table} (id bigint, grp bigint, v %s)" % self.kind.column
        self.run(conn, (table, "{create}", *self.way.before))

    def question(self, inner, asked):
        return """
            SELECT asked.id, array(%s)
            FROM (SELECT id, %s AS v FROM unnest(ARRAY%s::bigint[]) id OFFSET 0) asked ORDER BY 1
            """ % (inner, self.kind.value.replace("{i}", "id"), list(asked))

    def questions(self, asked):
        for ask in self.kind.asks:
            yield self.question("SELECT t.id FROM %s t WHERE %s ORDER BY 1" % (self.table, ask), asked)
        if self.kind.nearest:  # of several rows as near any may come
            by = self.kind.nearest
            yield self.question("SELECT %s FROM %s t ORDER BY %s LIMIT 6" % (by, self.table, by), asked)

    def answer(self, conn, question, by_index):
        seq, index = ("off", "on") if by_index else ("on", "off")
        conn.execute("SET LOCAL enable_seqscan = %s; SET LOCAL enable_indexscan = %s" % (seq, index))
        plan = " ".join(row[0] for row in conn.execute("EXPLAIN " + question))
        return (self.index in plan) == by_index, conn.execute(question).fetchall()

    def look(self, findings, what, conn, asked=None):
        """Its index is sound and has the rows of a sequential scan of the same snapshot; how many."""
        what, found = "%s: %s" % (what, self.name), 0
        findings.see_none(what + ": lsh_check", unsound(conn, self.index))
        for question in self.questions(asked or self.asked):
            with conn.transaction():
                conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL enable_bitmapscan = off")
                (planned, want), (indexed, got) = (self.answer(conn, question, way) for way in (False, True))
            findings.see(what + ": the plans", planned and indexed, question)
            differ = [pair for pair in zip(got, want) if pair[0] != pair[1]]
            findings.see(what + ": answers", got == want, differ[:1])
            found += sum(len(near) for _, near in want)
        return found

    def left_by_vacuum(self, conn):
        """Pages of the index that nobody needs after VACUUM, or None."""
        return vacuumed(conn, self.table, self.index, "*" if self.kind.name == "columns" else "v")


def way_cases(rng, most=None):
    """Every way of the first kind, and of each other kind those of its own and some, `most` together; None: all."""
    ways, cases = [way for way in WAYS if LONG or not way.is_large], []
    for kind in KINDS:
        mine = [way for way in ways if kind.name in (way.kinds or (kind.name,)) and kind.name not in way.not_for]
        if kind is not KINDS[0] and most is not None:
            own, others = ([way for way in mine if bool(way.kinds) == is_own] for is_own in (True, False))
            mine = own + rng.sample(others, min(len(others), max(0, most - len(own))))
        cases += [Case(kind, way, "t%d" % (len(cases) + n)) for n, way in enumerate(mine)]
    for case in cases:
        if case.way.is_large:
            case.asked = (TALL + 7,)
    return cases


def look_at(findings, what, conn, cases):
    """All of them; how many rows were found."""
    return sum(case.look(findings, what, conn) for case in cases)


# Pages --------------------------------------------------------------------------------------------------------------

PAGE = 8192
CHECKSUM = slice(8, 10)  # of a page; set when it is written
NEVER_WRITTEN = hashlib.md5(bytes(PAGE)).hexdigest()


def can_inspect(conn):
    """True if pages can be read byte by byte in this database; the script says so where they cannot."""
    can_inspect.known = one(conn, "SELECT count(*) > 0 FROM pg_available_extensions WHERE name = 'pageinspect'")
    if can_inspect.known:
        conn.execute("CREATE EXTENSION IF NOT EXISTS pageinspect")
    else:
        skip("no pageinspect here: pages are not compared byte by byte")
    return can_inspect.known


can_inspect.known = False


def pages(conn, cases):
    """Digests of each index's pages in memory, with their positions in WAL and without their checksums. Pages that
    were added and never written to are in no log."""
    query = """
        SELECT b, md5(overlay(get_raw_page('{index}', b::int) PLACING '\\x0000' FROM 9))
        FROM generate_series(0, pg_relation_size('{index}') / 8192 - 1) b ORDER BY b
        """
    return {case.name: [page for page in conn.execute(query.replace("{index}", case.index)) if page[1] != NEVER_WRITTEN]
            for case in cases}


def compare_pages(findings, what, before, after):
    for name, old in before.items():
        differ = sorted({block for block, _ in set(old) ^ set(after[name])})
        findings.see("%s: %s: pages" % (what, name), not differ, differ[:6])


def flush_wal(conn):
    """A crash keeps what was logged so far, also of transactions that did not commit."""
    conn.execute("SELECT pg_logical_emit_message(true, '', '')")


def fork_path(server, conn, case, fork="main"):
    """The file of its index."""
    path = os.path.join(server.data, one(conn, "SELECT pg_relation_filepath('%s')" % case.index))
    return path if fork == "main" else "%s_%s" % (path, fork)


# Free space maps ----------------------------------------------------------------------------------------------------

def read_file(path):
    with open(path, "rb") as f:
        return f.read()


def map_of_empty_pages(server, conn):
    """The free space map of a table of 300 empty pages: of an index it calls all pages free, also the meta page, pages
    in use, and some beyond the end."""
    conn.execute("""
        CREATE TABLE emptied AS SELECT repeat('x', 2000) FROM generate_series(1, 1200);
        DELETE FROM emptied
        """)
    conn.execute("VACUUM (TRUNCATE off) emptied")
    conn.execute("CHECKPOINT")
    return read_file(os.path.join(server.data, one(conn, "SELECT pg_relation_filepath('emptied')") + "_fsm"))


def put_map(path, content):
    """In the place of the one that is there; None: none. The server is down."""
    if content is None:
        os.remove(path)
        return
    with open(path, "r+b") as f:
        f.truncate()
        f.write(content)
