#!/usr/bin/python3
"""lsh indexes under many clients and under PostgreSQL's other commands. Inserts, deletes, updates, searches and VACUUM
at once, where each search compares the index with a sequential scan of its snapshot; CREATE INDEX and REINDEX
CONCURRENTLY under writes; dump and restore; size over many cycles of update and VACUUM; unlogged and temporary tables,
TRUNCATE, rollback, savepoints, prepared statements, two-phase commit; NULLs, empty signatures, thousands of equal rows;
DROP INDEX during a scan."""
from servers import *

SECONDS = 600 if FULL else 25 if LONG else 5  # of the mix
CYCLES = 50 if FULL else 12 if LONG else 4     # of update and VACUUM
KEPT = 20000 if LONG else 8000                 # rows that these change
rng = random.Random(160)

SETTINGS_HERE = """
autovacuum = on
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 200
autovacuum_vacuum_scale_factor = 0.05
autovacuum_vacuum_insert_threshold = 2000
autovacuum_vacuum_cost_delay = 0
max_prepared_transactions = 10
max_worker_processes = 12
min_parallel_index_scan_size = 0
"""
# A search may be a victim of a deadlock between TRUNCATE or DDL and others, nothing else may fail.
DEADLOCK, LOCK_TIMEOUT, CONFLICT = "40P01", "55P03", "40001"


class Mix:
    """Work on a table that stays at some thousand rows."""

    def __init__(self, table, queries, most):
        self.table, self.queries, self.most = table, queries, most
        self.lock = threading.Lock()
        self.bad, self.snapshots, self.rows = [], 0, 0

    def searched(self):
        return self.snapshots > 20 and self.rows > 100

    def insert(self, conn, rng):
        n = rng.choice((1, 1, 3, 30, 300))
        first = rng.randrange(1, 1700)
        conn.execute("INSERT INTO %s SELECT id + %d, family, sig FROM pool WHERE id BETWEEN %d AND %d" % (
            self.table, 10000 * rng.randrange(1, 10**6), first, first + n - 1))

    def insert_one_by_one(self, conn, rng):
        with conn.transaction(force_rollback=rng.random() < 0.2):
            for _ in range(rng.randrange(1, 12)):
                if rng.random() < 0.3:
                    with conn.transaction(force_rollback=True):  # a savepoint
                        self.insert(conn, rng)
                conn.execute("INSERT INTO %s SELECT id + 50000, family, sig FROM pool WHERE id = %d" % (
                    self.table, rng.randrange(1, 2000)))

    def update(self, conn, rng):
        # Another signature for the same row, from far and from near.
        conn.execute("""UPDATE %s SET sig = make_sig(family, id + %d, %d) WHERE family BETWEEN %d AND %d""" % (
            self.table, rng.randrange(1000), rng.randrange(CHANGES), *([rng.randrange(250)] * 2)))

    def delete(self, conn, rng):
        kind = rng.randrange(3)
        if kind == 0:
            conn.execute("DELETE FROM %s WHERE family = %d" % (self.table, rng.randrange(250)))
        elif kind == 1:
            conn.execute("DELETE FROM %s WHERE ctid IN (SELECT ctid FROM %s OFFSET %d LIMIT 300)" % (
                self.table, self.table, rng.randrange(3000)))
        if one(conn, "SELECT count(*) FROM " + self.table) > self.most:
            conn.execute("DELETE FROM %s WHERE random() < 0.5" % self.table)

    def vacuum(self, conn, rng):
        time.sleep(rng.random())
        conn.execute("VACUUM (INDEX_CLEANUP %s, PARALLEL %d) %s" % (
            rng.choice(("on", "on", "auto")), rng.randrange(3), self.table))

    def search(self, conn, rng):
        bad, rows = differences(conn, self.table, rng.sample(self.queries, 3), rng.choice((0.8, 0.8, 0.95, 0.7)),
                                (rng.choice(("index", "bitmap", "derived", "constant")),))
        with self.lock:
            self.bad += bad
            self.rows += rows
            self.snapshots += 1

    def overtaken(self, conn, rng):
        bad, rows = differences_of_many(conn, self.table, rng.sample(self.queries, 2), rng.choice((0.8, 0.9, 0.7)),
                                        rng.choice(("index", "derived")))
        with self.lock:
            self.bad += bad
            self.rows += rows
            self.snapshots += 1

    def reverse(self, conn, rng):
        """In a snapshot that grows old, and the other way round: rows ordered by distance."""
        q = rng.choice(self.queries)
        answers = []
        with conn.transaction():
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL neardup.jaccard_threshold = 0.7")
            for plan in ("index", "sequential", "index"):
                conn.execute(PLANS[plan])
                answers.append(conn.execute(
                    "SELECT sig <%%> '%s' AS d FROM %s WHERE sig %% '%s' ORDER BY sig <%%> '%s' LIMIT 20" % (
                        q, self.table, q, q)).fetchall())
                time.sleep(rng.random() * 0.3)
        with self.lock:
            self.snapshots += 1
            if answers[0] != answers[1] or answers[2] != answers[1]:
                self.bad.append("ordered: %s %s %s" % tuple(a[:4] for a in answers))


def mix(server):
    findings = Findings()
    options = ("pending_limit = 1", "pending_limit = 8, threshold = 0.7")
    mixes, works = [], []
    with server.connect() as conn:
        for i, option in enumerate(options):
            make_table(conn, "mix%d" % i, 2000, index=option)
            # Several indexes of one table are vacuumed in parallel.
            conn.execute("CREATE INDEX mix%d_part ON mix%d USING lsh (sig) WITH (pending_limit = 2, threshold = 0.9) "
                         "WHERE family < 100" % (i, i))
            m = Mix("mix%d" % i, make_queries(conn, rng, 250, 55, 5), 10000)
            mixes.append(m)
            works += [m.insert, m.insert_one_by_one, m.update, m.delete, m.search, m.reverse, m.vacuum, m.overtaken,
                      m.overtaken]
    clients = Clients(server, works, allowed={DEADLOCK, CONFLICT})
    Pauser(clients, [i for i, w in enumerate(works) if w.__name__ == "overtaken"])
    start = time.monotonic()
    end = start + SECONDS
    with server.connect() as conn:
        # A slow machine goes on until there is something to compare.
        while not clients.errors and (
                time.monotonic() < end or time.monotonic() < end + 120 and not all(m.searched() for m in mixes)):
            time.sleep(min(3, max(0.1, end - time.monotonic())))
            m = rng.choice(mixes)
            findings.see_none("meanwhile: lsh_check", unsound(conn, m.table + "_sig", rng.random() < 0.5))
            if rng.random() < 0.3:
                conn.execute("ALTER INDEX %s_sig SET (pending_limit = %d)" % (m.table, rng.choice((1, 2, 3, 5, 8, 64))))
        for error in clients.stop():
            findings.see("a client", False, error)
        lasted = time.monotonic() - start
        for m in mixes:
            m.queries = m.queries[-20:]
            findings.see("searches", not m.bad, "; ".join(m.bad[:3]))
            findings.see("searches were made", m.searched(), (m.snapshots, m.rows))
            look(findings, "at the end " + m.table, conn, m.table, m.queries, (0.8, 0.6))
            findings.see_none("the partial index of " + m.table, unsound(conn, m.table + "_part"))
            findings.see_none("VACUUM " + m.table, vacuumed(conn, m.table))
            look(findings, "after VACUUM " + m.table, conn, m.table, m.queries)
            conn.execute("DROP TABLE " + m.table)
    findings.report("many clients for %d s, %d rounds, %d compared snapshots" % (
        lasted, sum(clients.rounds), sum(m.snapshots for m in mixes)))


def built_under_writes(server):
    """CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY while rows come, change and go."""
    findings = Findings()
    with server.connect() as conn:
        make_table(conn, "cic", 6000, index=None)
        queries = make_queries(conn, rng, 250, 30)
        m = Mix("cic", queries, 10000)

        def slowly(work):  # at full speed those that add rows outrun the one that takes them, while builds hold it up
            return lambda conn, rng: (time.sleep(rng.random() * 0.05), work(conn, rng))

        clients = Clients(
            server, [slowly(m.insert), m.update, m.delete, slowly(m.insert_one_by_one)], allowed={DEADLOCK, CONFLICT})
        for i in range(20 if FULL else 3 if LONG else 2):
            conn.execute("SET maintenance_work_mem = '%s'" % rng.choice(("1MB", "64MB")))
            statement = (
                "CREATE INDEX CONCURRENTLY cic_sig ON cic USING lsh (sig) WITH (pending_limit = 2)" if i == 0
                else rng.choice(
                    ("REINDEX INDEX CONCURRENTLY cic_sig", "REINDEX TABLE CONCURRENTLY cic", "REINDEX INDEX cic_sig")))
            e = sql_error(conn, statement)
            findings.see_none(statement, None if e is not None and e.sqlstate == DEADLOCK else e)
            look(findings, "after " + statement, conn, "cic", queries)
            # Autovacuum hardly ever finds the table unlocked.
            for statement in ("DELETE FROM cic WHERE (SELECT count(*) FROM cic) > 20000 AND random() < 0.7",
                              "VACUUM cic"):
                e = sql_error(conn, statement)
                findings.see_none(statement, None if e is not None and e.sqlstate == DEADLOCK else e)
        for error in clients.stop():
            findings.see("a client", False, error)
        look(findings, "at the end", conn, "cic", queries, (0.8, 0.6))
        names = [r[0] for r in conn.execute(
            "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'cic'::regclass")]
        findings.see("no index is left over", names == ["cic_sig"], names)
        conn.execute("DROP TABLE cic")
    findings.report("CREATE INDEX and REINDEX CONCURRENTLY under writes")


def excluded(server):
    """An exclusion constraint under inserts by several: no two rows conflict, and of each family there are some."""
    findings = Findings()
    with server.connect() as conn:
        conn.execute("""CREATE TABLE ex (id bigint, family bigint, sig minhash,
            EXCLUDE USING lsh (with_threshold(sig, 0.8) WITH &&) WITH (pending_limit = 1))""")

        def insert(conn, rng):
            conn.execute("INSERT INTO ex SELECT %d, f, make_sig(f, %d, %d) FROM (SELECT %d AS f) x" % (
                rng.randrange(10**6), rng.randrange(10**6), rng.randrange(CHANGES), rng.randrange(300)))

        def delete(conn, rng):
            conn.execute("DELETE FROM ex WHERE family % 10 = " + str(rng.randrange(10)))
            conn.execute("VACUUM ex")
            time.sleep(0.3)

        clients = Clients(server, [insert] * 4 + [delete], allowed={DEADLOCK, "23P01"})
        rounds, end = 20000 if FULL else 1200, time.monotonic() + 300  # a hang guard
        while sum(clients.rounds) < rounds and not clients.errors and time.monotonic() < end:
            time.sleep(0.05)
        for error in clients.stop():
            findings.see("a client", False, error)
        rows = one(conn, "SELECT count(*) FROM ex")
        findings.see("rows", rows > 100, rows)
        conn.execute(PLANS["sequential"].replace("LOCAL ", ""))
        pairs = conn.execute(
            "SELECT a.id, b.id FROM ex a, ex b WHERE a.ctid < b.ctid AND jaccard(a.sig, b.sig) >= 0.8").fetchall()
        findings.see("no rows conflict", not pairs, pairs[:3])
        index = one(conn, "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'ex'::regclass")
        findings.see_none("lsh_check", unsound(conn, index))
        findings.report("exclusion constraint, %d rows by 4 clients" % sum(clients.rounds))


def dumped(server):
    findings = Findings()
    with server.connect() as conn:
        make_table(conn, "d", 4000, index="pending_limit = 3, threshold = 0.7")
        conn.execute("CREATE INDEX d_part ON d USING lsh (sig) WHERE family % 2 = 0")
        conn.execute("INSERT INTO d VALUES (-1, 0, NULL), (-2, 0, set_minhash('{}'::bigint[]))")
        queries = make_queries(conn, rng, 500, 20)
        conn.execute("CREATE DATABASE copied")
        file = server.folder + "/dump"
        server.client("pg_dump", "-Fc", "-f", file, "-t", "d", "-e", "neardup", "postgres")
        server.client("pg_restore", "-e", "-d", "copied", file)
        with server.connect("copied") as copy:
            look(findings, "the copy", copy, "d", queries, (0.8, 0.7, 0.5))
            findings.see_none("the copy's partial index", unsound(copy, "d_part"))
            settings = ("SELECT indexrelid::regclass::text, reloptions FROM pg_index JOIN pg_class c "
                        "ON c.oid = indexrelid WHERE indrelid = 'd'::regclass ORDER BY 1")
            findings.see("options", conn.execute(settings).fetchall() == copy.execute(settings).fetchall())
            answers = []
            for c in (conn, copy):
                with c.transaction():
                    c.execute(PLANS["index"])
                    answers.append([sorted(r[0]) for r in c.execute(question("index", "d", 0.8), [queries])])
            findings.see("the same answers", answers[0] == answers[1])
        conn.execute("DROP DATABASE copied WITH (FORCE)")
        conn.execute("DROP TABLE d")
    findings.report("pg_dump and pg_restore")


def sizes(server):
    """Over cycles of UPDATE, DELETE and VACUUM the file stays below 2.5 times its size when built."""
    with server.connect() as conn:
        conn.execute("CREATE TABLE s (id bigint, family bigint, sig minhash) WITH (autovacuum_enabled = off)")
        fill(conn, "s", KEPT)
        conn.execute("CREATE INDEX s_sig ON s USING lsh (sig)")
        fresh = one(conn, "SELECT pg_relation_size('s_sig')")
        most, queries, findings = 0, make_queries(conn, rng, KEPT // 8, 10), Findings()
        for i in range(CYCLES):
            way = i % 4
            if way == 0:
                conn.execute("UPDATE s SET sig = make_sig(family, id + %d, 3) WHERE id %% 4 = %d" % (i, i // 4 % 4))
            elif way == 1:
                conn.execute("UPDATE s SET id = id WHERE id <= %d" % (KEPT // 2))
            elif way == 2:
                conn.execute("DELETE FROM s WHERE id > %d" % (KEPT // 2))
                fill(conn, "s", KEPT // 2, KEPT // 2 + 1)
            else:
                for part in range(8):
                    conn.execute("UPDATE s SET sig = make_sig(family, id, 2) WHERE id %% 80 = %d" % (10 * i + part))
            conn.execute("VACUUM s")
            most = max(most, one(conn, "SELECT pg_relation_size('s_sig')"))
            if i % 10 == 0:
                look(findings, "cycle %d" % i, conn, "s", queries)
            # Dead rows that another session's snapshot sees, such as an ANALYZE of
            # autovacuum's, stay for the next VACUUM.
            for _ in range(50):
                rows = one(conn, "SELECT rows FROM lsh_info('s_sig')")
                if rows == KEPT:
                    break
                findings.see_none("cycle %d, lsh_check" % i, unsound(conn, "s_sig"))
                time.sleep(0.2)
                conn.execute("VACUUM s")
            findings.see("rows", rows == KEPT, rows)
        look(findings, "at the end", conn, "s", queries, (0.8, 0.6))
        conn.execute("REINDEX INDEX s_sig")
        fresh = max(fresh, one(conn, "SELECT pg_relation_size('s_sig')"))
        findings.report("answers over %d cycles of changes and VACUUM" % CYCLES)
        check("size over %d cycles: at most %.2f times that of a new index" % (CYCLES, most / fresh),
              most < 2.5 * fresh, (most, fresh))
        conn.execute("DROP TABLE s")


def kinds_of_tables(server):
    findings = Findings()
    with server.connect() as conn:
        queries = make_queries(conn, rng, 100, 10)
        # Temporary, also with rows gone at commit; another session cannot look into it.
        conn.execute("CREATE TEMPORARY TABLE te (LIKE pool)")
        conn.execute("CREATE INDEX te_sig ON te USING lsh (sig) WITH (pending_limit = 1)")
        for statement in ("INSERT INTO te TABLE pool", "DELETE FROM te WHERE id % 3 = 0", "VACUUM te",
                          "INSERT INTO te TABLE pool", "UPDATE te SET id = -id WHERE id < 500"):
            conn.execute(statement)
            look(findings, "temporary: " + statement, conn, "te", queries)
        conn.execute("CREATE TEMPORARY TABLE gone (LIKE pool) ON COMMIT DELETE ROWS")
        conn.execute("CREATE INDEX gone_sig ON gone USING lsh (sig) WITH (pending_limit = 1)")
        for _ in range(2):
            with conn.transaction():
                conn.execute("INSERT INTO gone TABLE pool")
                findings.see_none("ON COMMIT DELETE ROWS", unsound(conn, "gone_sig"))
            look(findings, "ON COMMIT DELETE ROWS, after it", conn, "gone", queries)

        # TRUNCATE, also of what the same transaction has made.
        make_table(conn, "tr", 2000, index="pending_limit = 1")
        conn.execute("TRUNCATE tr")
        look(findings, "TRUNCATE", conn, "tr", queries)
        findings.see("TRUNCATE: unbound", one(conn, "SELECT rows FROM lsh_info('tr_sig')") == 0)
        # other parameters now
        conn.execute("INSERT INTO tr SELECT id, family, set_minhash(ARRAY[id], 64) FROM pool WHERE id < 10")
        findings.see("TRUNCATE: other signatures after it", sql_error(conn, "INSERT INTO tr TABLE pool") is not None)
        conn.execute("TRUNCATE tr; INSERT INTO tr TABLE pool")
        look(findings, "TRUNCATE and refill", conn, "tr", queries)
        with conn.transaction(force_rollback=True):
            conn.execute("TRUNCATE tr; INSERT INTO tr SELECT * FROM pool WHERE id < 50")
            findings.see_none("TRUNCATE rolled back, before", unsound(conn, "tr_sig"))
        look(findings, "TRUNCATE rolled back", conn, "tr", queries)
        with conn.transaction():
            conn.execute(
                "CREATE TABLE tw (LIKE pool); CREATE INDEX tw_sig ON tw USING lsh (sig) WITH (pending_limit = 1)")
            conn.execute("INSERT INTO tw TABLE pool; TRUNCATE tw; INSERT INTO tw SELECT * FROM pool WHERE id <= 1500; "
                         "SAVEPOINT a; INSERT INTO tw TABLE pool; ROLLBACK TO a")
            conn.execute("INSERT INTO tw SELECT * FROM pool WHERE id > 1800")
        look(findings, "CREATE TABLE and TRUNCATE in one transaction", conn, "tw", queries)
        conn.execute("VACUUM FULL tw")
        look(findings, "VACUUM FULL", conn, "tw", queries)

        # Rolled back rows, savepoints, prepared statements.
        def answers():
            with conn.transaction():
                conn.execute(PLANS["index"])
                return [sorted(r[0]) for r in conn.execute(question("index", "tr", 0.8), [queries])]

        before = answers()
        with conn.transaction(force_rollback=True):
            conn.execute("INSERT INTO tr SELECT id + 10000, family, sig FROM pool")
            findings.see("own rows are seen", before != answers())
        look(findings, "ROLLBACK", conn, "tr", queries)
        findings.see("ROLLBACK: as before", before == answers())
        conn.execute("PREPARE ins(bigint, minhash) AS INSERT INTO tr VALUES ($1, 0, $2); "
                     "PREPARE ask(minhash) AS SELECT id FROM tr WHERE sig % $1 ORDER BY id")
        for i in range(12):  # from the sixth on a generic plan may serve
            q = queries[i % len(queries)]
            conn.execute("EXECUTE ins(%d, '%s')" % (10**6 + i, q))
            got = [r[0] for r in conn.execute("EXECUTE ask('%s')" % q)]
            with conn.transaction():
                conn.execute(PLANS["sequential"])
                want = [r[0] for r in conn.execute("SELECT id FROM tr WHERE sig %% '%s' ORDER BY id" % q)]
            findings.see("prepared statement %d" % i, got == want and 10**6 + i in got, (got[:5], want[:5]))
        conn.execute("DROP TABLE tr, tw")
    findings.report("temporary tables, TRUNCATE, VACUUM FULL, rollback, prepared statements")


def crashed(server):
    """Two-phase commit and unlogged tables through a crash."""
    findings = Findings()
    with server.connect() as conn:
        queries = make_queries(conn, rng, 100, 10)
        make_table(conn, "tp", 1000, index="pending_limit = 1")
        for gid, ids in (("a", "id <= 700"), ("b", "id > 700")):
            conn.execute("BEGIN; INSERT INTO tp SELECT id + 5000, family, sig FROM pool WHERE %s; "
                         "PREPARE TRANSACTION '%s'" % (ids, gid))
        conn.execute("DELETE FROM tp WHERE id % 2 = 0")
        conn.execute("VACUUM tp")
        look(findings, "prepared", conn, "tp", queries)
        make_table(conn, "un", 2000, index="pending_limit = 1", kind="UNLOGGED TABLE")
        conn.execute("DELETE FROM un WHERE id % 2 = 0")
        conn.execute("VACUUM un")
        look(findings, "unlogged", conn, "un", queries)
        conn.execute("CREATE UNLOGGED TABLE ue (LIKE pool); CREATE INDEX ue_sig ON ue USING lsh (sig)")
    server.kill()
    server.start()
    with server.connect() as conn:
        look(findings, "prepared, after a crash", conn, "tp", queries)
        conn.execute("COMMIT PREPARED 'a'")
        conn.execute("ROLLBACK PREPARED 'b'")
        findings.see("rows of the prepared transaction", one(conn, "SELECT count(*) FROM tp") == 1200)
        look(findings, "COMMIT PREPARED", conn, "tp", queries, (0.8, 0.6))
        findings.see_none("VACUUM", vacuumed(conn, "tp"))
        findings.see("rows after VACUUM", one(conn, "SELECT rows FROM lsh_info('tp_sig')") == 1200)
        for table in ("un", "ue"):
            findings.see("unlogged: empty after a crash", one(conn, "SELECT count(*) FROM " + table) == 0)
            look(findings, "unlogged, after a crash", conn, table, queries)
            conn.execute("INSERT INTO %s TABLE pool" % table)
            look(findings, "unlogged, refilled", conn, table, queries)
            conn.execute("DELETE FROM %s WHERE id %% 2 = 0" % table)
            conn.execute("VACUUM " + table)
            look(findings, "unlogged, refilled, VACUUM", conn, table, queries)
        conn.execute("ALTER TABLE un SET LOGGED; ALTER TABLE ue SET LOGGED; ALTER TABLE ue SET UNLOGGED")
        look(findings, "SET LOGGED", conn, "un", queries)
        look(findings, "SET UNLOGGED", conn, "ue", queries)
        conn.execute("INSERT INTO un TABLE pool")
    server.stop()  # after a shutdown an unlogged table keeps its rows
    server.start()
    with server.connect() as conn:
        for table, rows in (("un", 3000), ("ue", 1000)):
            findings.see("rows after a shutdown", one(conn, "SELECT count(*) FROM " + table) == rows)
            look(findings, "after a shutdown", conn, table, queries)
        conn.execute("DROP TABLE un, ue, tp")
    findings.report("two-phase commit, unlogged tables, a crash")


def odd_rows(server):
    """NULLs, empty signatures, and one signature ten thousand times: four thousand times in the short form."""
    rows_of_each = 10000 if LONG else 4000
    findings = Findings()
    with server.connect() as conn:
        for how in ("built", "inserted"):
            conn.execute("DROP TABLE IF EXISTS o; CREATE TABLE o (id bigint, family bigint, sig minhash)")
            create = "CREATE INDEX o_sig ON o USING lsh (sig) WITH (pending_limit = 2)"
            if how == "inserted":
                conn.execute(create)
            conn.execute("""INSERT INTO o SELECT i, 0, CASE i %% 4 WHEN 0 THEN NULL WHEN 1
                THEN set_minhash('{}'::bigint[])
                WHEN 2 THEN make_sig(3, 3, 0) ELSE make_sig(i %% 50, i, (i %% 12)::int) END
                  FROM generate_series(1, %d) i""" % (4 * rows_of_each))
            if how == "built":
                conn.execute(create)
            conn.execute("ANALYZE o")
            empty = one(conn, "SELECT set_minhash('{}'::bigint[])::text")
            queries = make_queries(conn, rng, 50, 6) + [one(conn, "SELECT make_sig(3, 3, 0)::text"), empty]
            found = look(findings, how, conn, "o", queries, (0.8, 1, 0.6))
            findings.see("rows found", found > 3 * rows_of_each, found)
            # No index serves it, but it has every row. An empty signature has similarity 0 to all.
            bad, rows = differences(conn, "o", [empty, queries[0]], 0, ("index", "bitmap"))
            findings.see("similarity at least 0", not bad and rows == 6 * rows_of_each, (bad, rows))
            findings.see("rows in the index", one(conn, "SELECT rows FROM lsh_info('o_sig')") == 3 * rows_of_each)
            conn.execute("SET work_mem = '64kB'")
            look(findings, how + ", little memory", conn, "o", queries, (0.8, 0.9))
            conn.execute("RESET work_mem; DELETE FROM o WHERE id % 4 = 2 AND id % 3 = 0 OR id % 4 = 1 AND id % 5 = 0")
            conn.execute("VACUUM o")
            look(findings, how + ", VACUUM", conn, "o", queries, (0.8, 0.6))
            conn.execute("DELETE FROM o")
            conn.execute("VACUUM o")
            look(findings, how + ", all deleted", conn, "o", queries)
            conn.execute("INSERT INTO o TABLE pool")
            look(findings, how + ", refilled", conn, "o", queries)
        conn.execute("DROP TABLE o")
    findings.report("NULLs, empty signatures, %d equal rows" % rows_of_each)


def locks(server):
    """DROP INDEX and TRUNCATE wait for a scan; a scan that is open sees its rows through VACUUM and merges."""
    findings = Findings()
    with server.connect() as conn, server.connect() as other:
        make_table(conn, "l", 4000, index="pending_limit = 1")
        query = one(conn, "SELECT make_sig(17, 17, 0)::text")
        conn.execute("BEGIN; SET LOCAL neardup.jaccard_threshold = 0.5; " + PLANS["index"])
        want = [r[0] for r in conn.execute("SELECT id FROM l WHERE sig %% '%s'" % query)]
        conn.execute("DECLARE c CURSOR FOR SELECT id FROM l WHERE sig %% '%s'" % query)
        got = [r[0] for r in conn.execute("FETCH 2 FROM c")]
        other.execute("SET lock_timeout = '200ms'")
        for statement in ("DROP INDEX l_sig", "DROP TABLE l", "TRUNCATE l", "REINDEX INDEX l_sig"):
            e = sql_error(other, statement)
            findings.see(statement + " waits", e is not None and e.sqlstate == LOCK_TIMEOUT, e)
        other.execute("RESET lock_timeout")
        other.execute("DELETE FROM l WHERE id < 3000")
        for i in range(4):
            other.execute("INSERT INTO l SELECT id + 10000, family, sig FROM pool")
            other.execute("VACUUM l")
        got += [r[0] for r in conn.execute("FETCH ALL FROM c")]
        findings.see("the open scan's rows", got == want and len(got) > 3, (got, want))
        conn.execute("ROLLBACK")
        findings.see_none("after it", unsound(other, "l_sig"))
        findings.see_none("DROP INDEX", sql_error(other, "DROP INDEX l_sig"))
        other.execute("DROP TABLE l")
    findings.report("DROP INDEX, TRUNCATE and VACUUM during a scan")


def main():
    with Server(SETTINGS_HERE) as server:
        server.start()
        with server.connect() as conn:
            conn.execute(SCHEMA)
            make_pool(conn)
        sections((mix, server), (built_under_writes, server), (excluded, server), (dumped, server), (sizes, server),
                 (kinds_of_tables, server),
                 (crashed, server), (odd_rows, server), (locks, server))
        equal("no crash, no damage in the server's log", server.alarms(), [])


finish(main)
