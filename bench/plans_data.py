"""The rows that plans_bench.py asks: skewed, as documents are. Of each hundred 8 are one notice, 30 have no signature, and 0.8 belong to one family of
near copies; the others have some near copies each, far apart in the table. Tenants have from two fifths of the rows to a thousandth."""

PREFIX = "neardup_plans_"
DOCS, PARTS, FEW = PREFIX + "docs", PREFIX + "parts", PREFIX + "few"
PARTITIONS = 21
DAYS = 1000
FEW_ROWS = 101
LATE = 20  # the part of the rows that comes after the indexes
WORDS = 60
FIRST_DAY = "DATE '2025-01-01'"

# A number from 0 to 999 that depends on the row alone.
DRAWN = "(hashint4(i + {0}) & 2147483647) % 1000"

# g: what a text is made of; -1: the notice, -2: the family. v: what makes it different from other texts of g; 0: nothing.
KINDS = """SELECT i, CASE WHEN i % 25 < 2 THEN -1 WHEN i % 125 = 7 THEN -2 ELSE i % ({rows} / 4) END AS g,
    CASE WHEN i % 25 < 2 OR (i < {rows} / 4 AND i % 125 <> 7) THEN 0 ELSE i END AS v, i % 25 >= 2 AND i % 125 <> 7 AND {drawn} < 330 AS is_null,
    {tenant} AS tenant, {status} AS status FROM generate_series(0, {rows} - 1) i"""

TENANT = """CASE WHEN t < 400 THEN 1 WHEN t < 600 THEN 2 WHEN t < 700 THEN 3 WHEN t < 800 THEN 4 WHEN t < 850 THEN 5 WHEN t < 900 THEN 6
    WHEN t < 920 THEN 7 ELSE t END"""
SMALL_TENANT, BIG_TENANT = 950, 1

TEXT = "(SELECT string_agg('w' || CASE WHEN e = {words} AND v > 0 THEN v ELSE hashint4(g * 64 + e) & 262143 END, ' ') FROM generate_series(1, {words}) e)"
SET = """(SELECT array_agg(CASE WHEN e = 20 AND v > 0 THEN 1000000000 + v WHEN e <= 20 THEN 1000 + (g + 2) * 20 + e ELSE (hashint4(g * 64 + e) & 1023) * (e - 20) / 30 END)
    FROM generate_series(1, 30) e)"""
CODE = "set_bit(('x' || md5(g::text) || md5('b' || g))::bit(256), v % 256, CASE WHEN v > 0 THEN 1 ELSE 0 END)"

INDEXES = ("ALTER TABLE {docs} ADD PRIMARY KEY (id)", "CREATE INDEX {docs}_tenant ON {docs} (tenant)", "CREATE INDEX {docs}_day ON {docs} (day)",
           "CREATE INDEX {docs}_status ON {docs} (status)",
           "CREATE INDEX {docs}_sig ON {docs} USING lsh (sig)", "CREATE INDEX {docs}_tenant_sig ON {docs} USING lsh (tenant, sig)",
           "CREATE INDEX {docs}_hash ON {docs} USING lsh (hash)", "CREATE INDEX {docs}_digest ON {docs} USING lsh (digest)",
           "CREATE INDEX {docs}_items ON {docs} USING lsh (items)", "CREATE INDEX {docs}_code ON {docs} USING lsh (code bit_ops (max_distance = 31))",
           "CREATE INDEX {parts}_sig ON {parts} USING lsh (sig)", "CREATE INDEX {parts}_id ON {parts} (id)")


def drop(conn):
    conn.execute("DROP TABLE IF EXISTS %s, %s, %s" % (DOCS, PARTS, FEW))


def all_rows_query(rows):
    """A query of all rows."""
    drawn = [DRAWN.format(salt) for salt in (10000000, 20000000, 30000000)]
    kinds = KINDS.format(rows=rows, drawn=drawn[0], tenant=drawn[1], status=drawn[2])
    made = "SELECT *, %s AS body, %s AS items, %s AS code FROM (%s) k" % (TEXT.format(words=WORDS), SET, CODE, kinds)
    value = "CASE WHEN NOT is_null THEN %s END"
    columns = ", ".join(value % ("%s" % what) + " AS " + name for what, name in
                        (("to_minhash(body)", "sig"), ("to_simhash(body)", "hash"), ("to_ctph(body)", "digest"), ("items", "items"), ("code", "code")))
    return """SELECT i AS id, {tenant} AS tenant, {first} + (i::bigint * {days} / {rows})::int AS day,
        CASE WHEN status < 20 THEN 'new' WHEN status < 320 THEN 'open' ELSE 'done' END AS status, {columns}
        FROM (SELECT *, tenant AS t FROM ({made}) m) m""".format(tenant=TENANT, first=FIRST_DAY, days=DAYS, rows=rows, columns=columns, made=made)


def make(conn, rows):
    drop(conn)
    conn.execute("CREATE TABLE %s WITH (autovacuum_enabled = off) AS %s" % (DOCS, all_rows_query(rows)))
    conn.execute("CREATE TABLE %s (id int, tenant int, day date, sig minhash) PARTITION BY RANGE (day)" % PARTS)
    for i in range(PARTITIONS):
        bounds = ["%s + %d" % (FIRST_DAY, DAYS * n // PARTITIONS) for n in (i, i + 1)]
        conn.execute("CREATE TABLE {0}_{1} PARTITION OF {0} FOR VALUES FROM ({2}) TO ({3})".format(PARTS, i, *bounds))
    conn.execute("INSERT INTO %s SELECT id, tenant, day, sig FROM %s" % (PARTS, DOCS))
    # Rows that are no notice, with near copies elsewhere.
    conn.execute("CREATE TABLE {0} AS SELECT id, tenant, sig, hash, code, items FROM {1} WHERE sig IS NOT NULL AND id % 25 >= 2 AND id % 125 <> 7 "
                 "AND hashint4(id) % 97 = 0 ORDER BY id LIMIT {2}".format(FEW, DOCS, FEW_ROWS))
    # The last rows come when the indexes are there: those then have several runs, and pending pages.
    for step in ("CREATE TEMP TABLE late AS SELECT * FROM {0} WHERE id >= {1}", "DELETE FROM {0} WHERE id >= {1}", "VACUUM {0}"):
        conn.execute(step.format(DOCS, rows - rows // LATE))
    for index in INDEXES:
        conn.execute(index.format(docs=DOCS, parts=PARTS))
    conn.execute("INSERT INTO %s SELECT * FROM late; DROP TABLE late" % DOCS)
    conn.execute("VACUUM (ANALYZE, INDEX_CLEANUP off) %s, %s, %s" % (DOCS, PARTS, FEW))
