#!/usr/bin/python3
"""A newer version of neardup has written an lsh index, a hash family, or a stored value with a number above all that
this library knows. Whatever touches it raises an error that names the number and says what helps; no answer lacks rows.
REINDEX cures an index."""
from servers import *

SETTINGS = "full_page_writes = off\nwal_level = minimal\nmax_wal_senders = 0\n"
ROWS = 300
FORMAT_AT, FAMILY_VERSION_AT = 28, 56  # in the meta page: docs/format.md
DOC = "(SELECT string_agg(md5((i / 2 * 100 + j)::text), ' ') FROM generate_series(1, 40) j)"
CELLS = "ARRAY(SELECT DISTINCT abs(hashint4(i / 2 * 1000 + j) % 4096) FROM generate_series(1, 800) j)"

# kind of index: columns, value of row i, index, condition on a row's value and {q}
KINDS = {
    "minhash": ("v minhash", "to_minhash(%s)" % DOC, "(v)", "jaccard(v, {q}) >= 0.9"),
    "simhash": ("v simhash", "to_simhash(%s)" % DOC, "(v)", "hamming(v, {q}) <= 2"),
    "ctph": ("v ctph", "to_ctph(%s)" % DOC, "(v)", "ctph_edit_rate(v, {q}) <= 0.1"),
    "sets": ("v int[]", CELLS, "(v)", "jaccard_exact(v, {q}) >= 0.9"),
    "minutiae": ("v int[]", CELLS, "(v minutiae_ops)", "jaccard_exact(v, {q}) >= 0.9"),
    "bits": ("v bit(64)", "to_simhash(%s)::bit(64)" % DOC, "(v)", "bit_hamming(v, {q}) <= 2"),
    "columns": ("v minhash, tenant int DEFAULT 1", "to_minhash(%s)" % DOC, "(tenant, v)",
                "tenant = 1 AND jaccard(v, {q}) >= 0.9"),
}


class Index:
    """A table and its index, whose meta page says this at an offset."""

    def __init__(self, kind, what):
        self.columns, self.value, self.on, self.condition = KINDS[kind]
        self.kind, self.what, self.table = kind, what, "%s_%s" % (kind, what)
        self.name = self.table + "_v"
        self.query = "SELECT id FROM %s WHERE %s ORDER BY id" % (
            self.table, self.condition.format(q="(SELECT v FROM %s_asked)" % kind))

    def make(self, server, conn):
        conn.execute("CREATE TABLE %s (id int PRIMARY KEY, %s)" % (self.table, self.columns))
        conn.execute(
            "INSERT INTO %s (id, v) SELECT i, %s FROM generate_series(1, %d) i" % (self.table, self.value, ROWS))
        conn.execute("CREATE INDEX %s ON %s USING lsh %s" % (self.name, self.table, self.on))
        conn.execute("CREATE TABLE IF NOT EXISTS %s_asked AS SELECT v FROM %s WHERE id = 41" % (self.kind, self.table))
        conn.execute("VACUUM ANALYZE %s, %s_asked" % (self.table, self.kind))
        conn.execute("DELETE FROM %s WHERE id = 7" % self.table)  # for VACUUM
        read_by(conn, "seqscan")
        self.rows = conn.execute(self.query).fetchall()
        check("%s: rows are to be found" % self.table, len(self.rows) >= 2, self.rows)
        self.path = os.path.join(server.data, one(conn, "SELECT pg_relation_filepath(%s::regclass)", (self.name,)))

    def change(self):
        """The number in its file, one above what it was."""
        at = FORMAT_AT if self.what == "format" else FAMILY_VERSION_AT
        with open(self.path, "r+b") as f:
            f.seek(at)
            self.number = int.from_bytes(f.read(4), "little") + 1
            f.seek(at)
            f.write(self.number.to_bytes(4, "little"))

    def words(self):
        return 'index "%s" has storage format %d' % (
            self.name, self.number) if self.what == "format" else " version %d; this library knows " % self.number


def read_by(conn, *ways):
    for way in ("seqscan", "bitmapscan", "indexscan", "indexonlyscan"):
        conn.execute("SET enable_%s = %s" % (way, "on" if way in ways or not ways else "off"))


def touches(index):
    """Statements that read or write the index."""
    insert = "INSERT INTO %s (id, v) SELECT id + 1000, v FROM %s WHERE id < 3" % (index.table, index.table)
    calls = ["SELECT * FROM lsh_info('%s')"]
    if index.what == "format":
        calls += ["SELECT lsh_check('%s')", "SELECT lsh_check('%s', true)", "SELECT * FROM lsh_pages('%s')",
                  "SELECT * FROM lsh_hot_buckets('%s', 2)"]
    return [index.query, insert, *(c % index.name for c in calls)] + (
        ["VACUUM (INDEX_CLEANUP on) " + index.table] if index.what == "format" else [])


def newer_index(conn, index):
    name = "%s, newer %s" % (index.kind, index.what)
    read_by(conn, "bitmapscan")
    for statement in touches(index):
        fails("%s: %.60s" % (name, statement), conn, statement, text=index.words(), state="0A000",
              hint="install that version, or rebuild the index with REINDEX INDEX")
    read_by(conn)
    e = sql_error(conn, index.query)
    check(name + ": a plan of PostgreSQL's choice gives all rows, or the error",
          index.words() in str(e) if e else conn.execute(index.query).fetchall() == index.rows, e)
    conn.execute("REINDEX INDEX " + index.name)
    read_by(conn, "bitmapscan")
    plan = "\n".join(r[0] for r in conn.execute("EXPLAIN (COSTS OFF) " + index.query))
    check(name + ": made anew, it is used", "Bitmap Index Scan on " + index.name in plan, plan)
    equal(name + ": made anew, it answers", conn.execute(index.query).fetchall(), index.rows)
    read_by(conn)
    equal(name + ": and is sound", conn.execute("SELECT lsh_check('%s', true)" % index.name).fetchall(), [("",)])


def constraint(conn):
    """An index that has to find copies of rows to come."""
    fails("constraint, newer format", conn, "INSERT INTO kept SELECT 2, v FROM kept", text='has storage format 2',
          state="0A000", hint="install that version")
    conn.execute("REINDEX TABLE kept")
    fails("constraint, made anew", conn, "INSERT INTO kept SELECT 2, v FROM kept", state="23P01")


def empty(conn):
    """No row has frozen its parameters yet."""
    conn.execute("SET enable_seqscan = off")
    fails("empty index, newer format: query", conn, "SELECT FROM empty WHERE jaccard(v, to_minhash('a')) >= 0.9",
          text='index "empty_v" has storage format 2', state="0A000")
    fails("empty index, newer format: insert", conn, "INSERT INTO empty VALUES (1, to_minhash('a'))",
          text='index "empty_v" has storage format 2', state="0A000")
    conn.execute("RESET enable_seqscan")


# Stored values ------------------------------------------------------------------------------------------------------

# type: value, touches of a column v of table `newer`; table `indexed` has an lsh index of such values
VALUES = {
    "minhash": ("to_minhash('a text of some words, enough for a signature')", [
        "SELECT v::text FROM newer", "SELECT jaccard(v, v) FROM newer", "SELECT v % v FROM newer",
        "SELECT v <%> v FROM newer", "SELECT neardup_internal.minhash_send(v) FROM newer",
        "SELECT minhash_union_agg(v) FROM newer", "SELECT cluster_anchor(v, 0.8) OVER () FROM newer",
        "SELECT * FROM all_pairs('SELECT 1, v FROM newer', 0.8)", "CREATE INDEX ON newer USING lsh (v)",
        "INSERT INTO indexed SELECT v FROM newer", "SELECT FROM indexed WHERE jaccard(v, (SELECT v FROM newer)) >= 0.9",
        "SELECT v::minhash(64) FROM newer"]),
    "ctph": ("to_ctph('a text of some words, enough for a digest of some kind')", [
        "SELECT v::text FROM newer", "SELECT ctph_score(v, v) FROM newer", "SELECT ctph_edit_rate(v, v) FROM newer",
        "SELECT v <-> v FROM newer", "SELECT neardup_internal.ctph_send(v) FROM newer",
        "SELECT cluster_anchor(v, 0.8) OVER () FROM newer", "SELECT * FROM all_pairs('SELECT 1, v FROM newer', 0.8)",
        "CREATE INDEX ON newer USING lsh (v)", "INSERT INTO indexed SELECT v FROM newer",
        "SELECT FROM indexed WHERE ctph_edit_rate(v, (SELECT v FROM newer)) <= 0.1"]),
    "lsh_query": ("with_threshold(to_minhash('a text of some words'), 0.8)", [
        "SELECT v::text FROM newer", "SELECT to_minhash('a') %> v FROM newer", "SELECT v && v FROM newer",
        "SELECT neardup_internal.lsh_query_send(v) FROM newer", "CREATE INDEX ON newer USING lsh (v)",
        "INSERT INTO indexed SELECT v FROM newer"]),
}
# type, offset of a byte in its stored form, what it says, words of the error
NEWER_BYTES = [
    ("minhash", 0, 2, "format 2 is not known, this library reads format 1"),
    ("minhash", 1, 11, "unknown kind 11"),
    ("minhash", 7, 2, "unknown flags"),
    ("ctph", 0, 2, "format 2 is not known, this library reads format 1"),
    ("lsh_query", 0, 2, "format 2 is not known, this library reads format 1"),
    ("lsh_query", 1, 200, "unknown measure 200"),
]


def newer_values(conn):
    conn.execute("SET enable_seqscan = off")
    for type_, at, byte, words in NEWER_BYTES:
        value, statements = VALUES[type_]
        conn.execute(
            "CREATE CAST (bytea AS {t}) WITHOUT FUNCTION; CREATE CAST ({t} AS bytea) WITHOUT FUNCTION".format(t=type_))
        conn.execute("CREATE TABLE newer AS SELECT set_byte(({v})::bytea, {at}, {byte})::{t} AS v".format(
            v=value, t=type_, at=at, byte=byte))
        conn.execute("CREATE TABLE indexed (v {t}); CREATE INDEX ON indexed USING lsh (v); "
                     "INSERT INTO indexed VALUES ({v})".format(v=value, t=type_))
        for statement in statements:
            fails("%s, byte %d: %s" % (type_, at, statement), conn, statement, text=words,
                  hint="A newer version of neardup has written it: install that version.")
        e = sql_error(conn, "ANALYZE newer")
        check("%s, byte %d: ANALYZE passes over it, or refuses it" % (type_, at), e is None or words in str(e), e)
        conn.execute("DROP TABLE newer, indexed; DROP CAST (bytea AS {t}); DROP CAST ({t} AS bytea)".format(t=type_))
    conn.execute("RESET enable_seqscan")


def main():
    with Server(SETTINGS) as server:
        # Checksums would notice what is written here.
        server._run("pg_checksums", "--disable", "-D", server.data)
        indexes = [Index(kind, what) for kind in KINDS for what in ("format", "family")]
        others = {}
        with server.start().connect() as conn:
            conn.execute("CREATE EXTENSION neardup")
            for index in indexes:
                index.make(server, conn)
            conn.execute("CREATE TABLE kept (id int, v minhash, EXCLUDE USING lsh (with_threshold(v, 0.9) WITH &&)); "
                         "INSERT INTO kept VALUES (1, to_minhash('a b c d'))")
            conn.execute("CREATE TABLE empty (id int, v minhash); CREATE INDEX empty_v ON empty USING lsh (v)")
            for call, name in ((constraint, "kept_with_threshold_excl"), (empty, "empty_v")):
                others[call] = os.path.join(
                    server.data, one(conn, "SELECT pg_relation_filepath(%s::regclass)", (name,)))
        server.stop()
        for index in indexes:
            index.change()
        for path in others.values():
            with open(path, "r+b") as f:
                f.seek(FORMAT_AT)
                f.write((2).to_bytes(4, "little"))
        with server.start().connect() as conn:
            sections(*[(newer_index, conn, index) for index in indexes], *[(call, conn) for call in others],
                     (newer_values, conn))


finish(main)
