#!/usr/bin/python3
"""A session's cache of lsh indexes is never out of date between queries: other sessions and its own
transactions change, rebuild, move and drop the indexes between two queries. Also prefetched rows, more indexes than the
cache holds, errors during a query, and an old cursor."""

from servers import *

SETTINGS_HERE = "max_connections = 20\nshared_buffers = 4MB\n"  # buffers change hands, too
rng = random.Random(125)


def same(findings, what, conn, table, queries, bounds=(0.8, 0.62)):
    for bound in bounds:
        bad, rows = differences(conn, table, queries, bound)
        findings.see_none("%s at %s" % (what, bound), "; ".join(bad[:2]))
    return rows


def kept(conn):
    return one(conn, "SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'lsh trees'")


def others_change(server, queries):
    findings, rows = Findings(), 0
    with server.connect() as a, server.connect() as b:
        def step(what, *statements):
            nonlocal rows
            for statement in statements:
                b.execute(statement)
            rows += same(findings, what, a, "plain", queries)

        step("at first")
        for i in range(12 if FULL else 4):
            step("rows inserted", "INSERT INTO plain SELECT id + %d, family, sig FROM pool LIMIT %d" % (
                10**6 * (i + 1), rng.choice((1, 50, 1500))))
            step("rows deleted", "DELETE FROM plain WHERE id %% 7 = %d" % (i % 7))
            step("vacuumed", "VACUUM plain")
            step("updated", "UPDATE plain SET id = id + 1 WHERE family % 5 = 0")
            step("reindexed", "REINDEX INDEX plain_sig")
            step("reindexed concurrently", "REINDEX INDEX CONCURRENTLY plain_sig")
            step("another under its name",
                 "BEGIN; DROP INDEX plain_sig; CREATE INDEX plain_sig ON plain USING lsh (sig) WITH (threshold = 0.6); "
                     "COMMIT")
            step("rewritten", "VACUUM FULL plain")
            step("clustered anew", "ALTER TABLE plain ALTER id TYPE numeric; ALTER TABLE plain ALTER id TYPE bigint")
            step("truncated and filled",
                 "BEGIN; TRUNCATE plain; INSERT INTO plain SELECT id, family, sig FROM pool LIMIT 300; COMMIT")
        findings.see("rows are found", rows > 500, rows)
    findings.report("another session changes the index: the answers of a sequential scan")


def own_changes(server, queries):
    findings = Findings()
    with server.connect() as conn:
        same(findings, "before", conn, "plain", queries)
        conn.execute("BEGIN")
        found = "SELECT array_agg(id ORDER BY id) FROM plain WHERE jaccard(sig, %s::minhash) >= 0.8"
        conn.execute("SET LOCAL enable_seqscan = off")
        want = one(conn, found, [queries[0]])
        for statement in ("REINDEX INDEX plain_sig", "TRUNCATE plain", "DROP INDEX plain_sig",
                          "INSERT INTO plain SELECT id + 5000000, family, sig FROM pool"):
            for how in ("ROLLBACK TO s", "RELEASE s; ROLLBACK"):
                if how.endswith("; ROLLBACK"):
                    conn.execute("COMMIT; BEGIN; SET LOCAL enable_seqscan = off")
                conn.execute("SAVEPOINT s")
                one(conn, found, [queries[0]])
                conn.execute(statement)
                one(conn, found, [queries[0]])
                conn.execute(how)
                if how.endswith("; ROLLBACK"):
                    conn.execute("BEGIN; SET LOCAL enable_seqscan = off")
                got = one(conn, found, [queries[0]])
                findings.see("%s, %s" % (statement, how), got == want, "%s for %s" % (got, want))
        conn.execute("COMMIT")
        same(findings, "after", conn, "plain", queries)
    findings.report("changes rolled back")


def many_indexes(server, queries):
    findings = Findings()
    with server.connect() as conn:
        for i in range(40):
            make_table(conn, "many_%d" % i, 200, family=4 + i % 5, index="pending_limit = 1" if i % 2 else "")
        most = 0
        for turn in range(3):
            for i in range(40):
                same(findings, "table %d" % i, conn, "many_%d" % i, queries[:3], (0.8,))
                most = max(most, kept(conn))
        findings.see("as many as kept", 0 < most <= 17, most)
        # Several at once, each twice.
        query = "SELECT count(*) FROM many_0 q WHERE " + " AND ".join(
            "(SELECT count(*) FROM many_%d t WHERE jaccard(t.sig, q.sig) >= 0.8) %s 0"
            % (i % 20, ">=" if i % 3 else ">") for i in range(21))
        conn.execute("SET enable_bitmapscan = off")
        counts = []
        for seq in ("off", "on"):
            conn.execute("SET enable_seqscan = %s; SET enable_indexscan = %s" % (seq, "off" if seq == "on" else "on"))
            counts.append(one(conn, query))
        findings.see("21 scans at once", counts[0] == counts[1] and counts[0] > 0, counts)
        findings.see("given back", kept(conn) <= 16, kept(conn))
        conn.execute("DISCARD ALL")
        for i in range(40):
            conn.execute("DROP TABLE many_%d" % i)
        findings.see("forgotten", kept(conn) <= 1, kept(conn))
    findings.report("more indexes than are kept")


def errors(server, queries):
    findings = Findings()
    with server.connect() as conn:
        conn.execute("CREATE FUNCTION boom(i bigint, n bigint) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN "
                     "IF i % n = 0 THEN RAISE 'boom'; END IF; RETURN true; END $$")
        conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        for i in range(60):
            query = ("SELECT count(*) FROM plain p, plain t WHERE p.id %% 40 = %d AND jaccard(t.sig, p.sig) >= 0.8 "
                     "AND boom(t.id + %d, %d)" % (i % 40, i, rng.choice((1, 5, 200))))
            if i % 3 == 0:
                sql_error(conn, "BEGIN; " + query)
                conn.execute("ROLLBACK")
            else:
                sql_error(conn, query)
        findings.see("no more than kept", kept(conn) <= 2, kept(conn))
        conn.execute("RESET ALL")
        same(findings, "after errors", conn, "plain", queries)
    findings.report("errors in scans")


def old_cursor(server, queries):
    findings = Findings()
    with server.connect() as a, server.connect() as b:
        b.execute("INSERT INTO plain SELECT id + 20000000, family, sig FROM pool")
        for plan in ("index", "bitmap"):
            with a.transaction():
                a.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                want = {r[0] for r in a.execute(
                    "SELECT t.id FROM plain t, pool q WHERE q.id <= 200 AND jaccard(t.sig, q.sig) >= 0.7")}
                a.execute(PLANS[plan] + "; SET LOCAL enable_hashjoin = off; SET LOCAL enable_material = off")
                a.execute("DECLARE c CURSOR FOR SELECT t.id FROM pool q, plain t WHERE q.id <= 200 "
                          "AND jaccard(t.sig, q.sig) >= 0.7")
                got = set()
                for i in range(10**6):
                    some = a.execute("FETCH 23 FROM c").fetchall()
                    if not some:
                        break
                    got |= {r[0] for r in some}
                    if i < 30:
                        # Merges and vacuums move what the cursor reads.
                        b.execute(
                            "INSERT INTO plain SELECT id + %d, family, sig FROM pool LIMIT 150" % (10**7 * (i + 1)))
                        if i % 5 == 0:
                            b.execute("DELETE FROM plain WHERE id > 10000000 AND id % 3 = 0")
                            b.execute("VACUUM plain")
            findings.see(plan, got == want and len(want) > 100, "%d rows for %d" % (len(got), len(want)))
    findings.report("an old cursor under merges and VACUUM")


BY_WORKERS = "SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; "


def new_letters(conn, rows, k=3):
    conn.execute("RESET ALL; DROP TABLE IF EXISTS letter; CREATE TABLE letter (id int PRIMARY KEY, g int, sig minhash)")
    conn.execute("INSERT INTO letter SELECT i, i %% 2, to_minhash(md5(i::text), k => %s) FROM generate_series(1, %s) i"
                 % (k, rows))


def older_snapshots(server):
    """Rows deleted before an index is built again are in it for transactions that see them still."""
    findings = Findings()
    with server.connect() as old, server.connect() as b:
        for what, statement in (("REINDEX", "REINDEX INDEX letter_sig"), ("VACUUM FULL", "VACUUM FULL letter"),
                                ("CLUSTER", "CLUSTER letter USING letter_pkey"),
                                ("REINDEX by workers", BY_WORKERS + "REINDEX INDEX letter_sig")):
            b.execute(
                "RESET ALL; DROP TABLE IF EXISTS letter; CREATE TABLE letter (id int PRIMARY KEY, g int, sig minhash)")
            b.execute("INSERT INTO letter SELECT id, family % 2, sig FROM pool; "
                      "CREATE INDEX letter_sig ON letter USING lsh (g, sig)")
            old.execute(
                "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL enable_seqscan = off; SELECT count(*) FROM plain")
            b.execute("DELETE FROM letter WHERE id < (SELECT min(id) + 30 FROM letter)")
            for part in statement.split("; "):
                b.execute(part)
            rows = b.execute("SELECT id, family % 2, sig FROM pool WHERE id < (SELECT min(id) + 40 FROM pool) "
                             "AND sig IS NOT NULL").fetchall()
            missed = [i for i, g, sig in rows if one(
                old, "SELECT count(*) FROM letter WHERE g = %s AND jaccard(sig, %s::minhash) >= 0.9 AND id = %s",
                [g, sig, i]) != 1]
            findings.see_none(what, "rows %s are missed" % missed if missed or len(rows) < 10 else None)
            old.execute("COMMIT")
        # An index that was kept from older transactions once (indcheckxmin), and rows that
        # were signed otherwise before it was made.
        for columns in ("g, sig", "sig"):
            for what, before in (("broken chains", "DELETE FROM letter WHERE id <= 10"),
                                 ("signed anew", "UPDATE letter SET sig = to_minhash(md5(id::text), k => 2)")):
                new_letters(b, 300, k=4)
                with server.connect() as dump:
                    dump.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM plain")
                    b.execute(before)
                    b.execute("CREATE INDEX letter_sig ON letter USING lsh (%s)" % columns)
                    if what == "broken chains":
                        dump.execute("COMMIT")
                        b.execute("VACUUM letter")
                    old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL enable_seqscan = off; "
                                "SELECT count(*) FROM plain")
                    b.execute("DELETE FROM letter WHERE id <= 40")
                    b.execute("REINDEX INDEX letter_sig")
                    k = 2 if what == "signed anew" else 4
                    seen = [i for i in range(11, 41) if one(
                        old,
                        "SELECT count(*) FROM letter WHERE g = %s AND jaccard(sig, to_minhash(md5(%s::text), k => %s)) "
                            ">= 0.9 AND id = %s",
                        [i % 2, i, k, i]) == 1]
                    findings.see("%s, %s, then REINDEX" % (columns, what), seen == list(range(11, 41)), seen)
                    old.execute("COMMIT")
                    dump.execute("COMMIT")
        # Dead rows alone, which a new index has met, do not bind it.
        for how, settings in (("by one", ""), ("by workers", BY_WORKERS)):
            new_letters(b, 3000, k=4)
            old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM plain")
            for part in ("DELETE FROM letter; %sCREATE INDEX letter_sig ON letter USING lsh (sig); "
                         "INSERT INTO letter SELECT i, i %% 2, to_minhash(md5(i::text)) FROM generate_series(1, 300) i"
                         % settings).split("; "):
                b.execute(part)
            findings.see_none("rows of other parameters after dead ones, %s" % how, unsound(b, "letter_sig"))
            equal("the dead are still seen where the index is not used, %s" % how,
                  one(old, "SELECT count(*) FROM letter WHERE jaccard(sig, to_minhash(md5('7'), k => 4)) >= 0.9"), 1)
            old.execute("COMMIT")
        # Dead rows that were made otherwise: a concurrent build passes over them, and a
        # transaction without a snapshot keeps them.
        old.execute("CREATE TABLE other (id int)")
        for what, build in (("CREATE INDEX CONCURRENTLY",
                             ("DROP INDEX letter_sig",
                              "CREATE INDEX CONCURRENTLY letter_sig ON letter USING lsh (g, sig)")),
                            ("REINDEX CONCURRENTLY", ("REINDEX INDEX CONCURRENTLY letter_sig",))):
            for then in ("REINDEX INDEX letter_sig", "VACUUM FULL letter", BY_WORKERS + "REINDEX INDEX letter_sig"):
                new_letters(b, 300)
                b.execute("CREATE INDEX letter_sig ON letter USING lsh (g, sig)")
                old.execute("BEGIN; INSERT INTO other VALUES (1)")
                b.execute("DELETE FROM letter")
                for part in build:
                    b.execute(part)
                b.execute("INSERT INTO letter SELECT i, i % 2, CASE WHEN i % 3 > 0 THEN to_minhash(md5(i::text), "
                          "k => 4) END FROM generate_series(301, 600) i")
                error = [str(e) for e in (sql_error(b, part) for part in then.split("; ")) if e]
                findings.see_none("%s, then %s" % (what, then), "; ".join(error) or unsound(b, "letter_sig"))
                old.execute("COMMIT")
    findings.report("an older snapshot after deletes and a new index of several columns")


def thinned(server):
    """Runs that VACUUM has taken nearly all entries from, before it writes them anew."""
    findings = Findings()
    with server.connect() as conn, server.connect() as vacuum:
        conn.execute("""CREATE TABLE thin AS SELECT i AS id, ARRAY(SELECT i * 1000::bigint + e
            FROM generate_series(1, 30) e) AS s
            FROM generate_series(1, 60000) i; CREATE INDEX thin_s ON thin USING lsh (s);
              DELETE FROM thin WHERE id % 3000 <> 11""")
        # A pause at each page, so that the second pass over the table can be caught.
        vacuum.execute("SET vacuum_cost_page_hit = 10000; SET vacuum_cost_limit = 10000; SET vacuum_cost_delay = 1")
        # With FREEZE it waits for a page that another process (the background writer) has pinned, and passes over none.
        thread = Thread(target=lambda: sql_error(vacuum, "VACUUM (FREEZE) thin"))
        thread.start()
        caught = False
        while thread.is_alive():
            if conn.execute("SELECT 1 FROM pg_stat_progress_vacuum WHERE phase = 'vacuuming heap'").fetchone():
                vacuum.cancel()
                caught = True
            time.sleep(0.02)
        thread.join()
        entries, pages = conn.execute("SELECT entries, pages FROM lsh_info('thin_s')").fetchone()
        if entries == 0 or not caught:
            return skip("runs thinned by VACUUM: it was not caught in its second pass")
        findings.see("fewer entries than pages", entries < pages, (entries, pages))
        conn.execute("SET enable_seqscan = off")
        for i, s in conn.execute("SELECT id, s FROM thin").fetchall():
            findings.see("row %d" % i,
                         one(conn, "SELECT count(*) FROM thin WHERE jaccard_exact(s, %s::bigint[]) >= 1", [s]) == 1)
    findings.report("%d entries on %d pages: every row is found" % (entries, pages))


def row_versions(server):
    """The version of a row that the snapshot sees decides, not what else lies in its place: chains of updates, changes
    that were undone or are under way, signatures out of line, NULLs, and rows of
    other parameters beside a partial index."""
    findings = Findings()
    text = "(SELECT string_agg(md5((%s + w)::text), ' ') FROM generate_series(1, 120) w)"
    with server.connect() as a, server.connect() as b, server.connect() as c:
        for size, last in ((128, 400), (2048, 400 if FULL else 120)):  # 8 kB: out of line
            sig = "to_minhash(" + text + ", num_perm => " + str(size) + ")"
            a.execute("RESET ALL; DROP TABLE IF EXISTS versions; "
                      "CREATE TABLE versions (id int, n int, kind int DEFAULT 1, sig minhash) WITH (fillfactor = 30)")
            a.execute(
                "INSERT INTO versions SELECT i, 0, 1, %s FROM generate_series(1, %d) i" % (sig % "i % 20 * 3", last))
            a.execute("INSERT INTO versions SELECT i, 0, 1, NULL FROM generate_series(401, 410) i")
            a.execute("INSERT INTO versions SELECT i, 0, 2, to_minhash('of another kind ' || i, k => 2) "
                      "FROM generate_series(411, 500) i")
            # Other signatures in the row's own page, before there is an index: its entries lead to the first version of
            # each, which an older snapshot keeps.
            c.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM versions")
            a.execute("UPDATE versions SET sig = (SELECT sig FROM versions WHERE id = 4) WHERE id % 20 = 17")
            a.execute(
                "UPDATE versions SET sig = (SELECT sig FROM versions WHERE id = 5) WHERE id % 20 = 4 AND id % 3 = 0")
            a.execute("CREATE INDEX versions_sig ON versions USING lsh (sig) WHERE kind = 1")
            near = one(a, "SELECT %s::text" % (sig % "3 * 4"))
            found = ("SELECT array_agg(id || '.' || n ORDER BY id) FROM versions WHERE kind = 1 "
                     "AND jaccard(sig, '%s') > 0.8" % near)
            # One row and more of each family. OFFSET 0: each is read from its place once.
            counted = (
                "SELECT sum((SELECT count(*) FROM versions t WHERE t.kind = 1 AND jaccard(t.sig, q.sig) >= 0.8)) "
                "FROM (SELECT minhash_union(sig, sig) AS sig FROM versions WHERE kind = 1 AND id <= %d OFFSET 0) q"
                % (last if FULL else 40))

            def compare(what):
                for conn in (a, b):
                    for query in (found, counted):
                        got = []
                        for way in ("SET enable_seqscan = off; SET enable_bitmapscan = off",
                                    "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off"):
                            conn.execute("RESET enable_indexscan; " + way)
                            got.append(one(conn, query))
                        findings.see("%d, %s" % (size, what), got[0] == got[1] and got[0], got)

            compare("changed before there was an index")
            c.execute("COMMIT")
            a.execute("VACUUM ANALYZE versions")
            a.execute("RESET ALL; SET enable_seqscan = off; SET enable_bitmapscan = off")
            plan = "\n".join(r[0] for r in a.execute("EXPLAIN (ANALYZE, COSTS OFF) " + found))
            findings.see("%d, rows near but not near enough are left out before the executor sees them" % size,
                         "Index Scan" in plan and "Rows Removed" not in plan, plan)
            b.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            compare("at first")
            for i in range(5):
                # in the page, where there is room
                a.execute("UPDATE versions SET n = n + 1 WHERE id %% 3 = %d" % (i % 3))
                compare("the same signature, %d" % i)
            a.execute("UPDATE versions SET sig = (SELECT sig FROM versions WHERE id = 4) WHERE id % 20 = 9")
            compare("another signature")
            a.execute("DELETE FROM versions WHERE id % 40 = 4")
            compare("deleted")
            a.execute("BEGIN; DELETE FROM versions WHERE id % 20 = 3; UPDATE versions SET sig = NULL "
                      "WHERE id % 20 = 4; ROLLBACK")
            c.execute(
                "BEGIN; UPDATE versions SET n = n + 1000; INSERT INTO versions SELECT id, 7, kind, sig FROM versions")
            compare("under way")
            c.execute("ROLLBACK")
            compare("undone")
            b.execute("COMMIT")
            a.execute("DELETE FROM versions WHERE kind = 1 AND id % 7 = 0")
            a.execute("VACUUM versions")
            a.execute("INSERT INTO versions SELECT i, 0, 2, to_minhash('in their place ' || i, k => 2) "
                      "FROM generate_series(1001, 1200) i")
            compare("rows of another kind in their place")
            b.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
            compare("serializable")
            b.execute("COMMIT")
            findings.see_none("%d, lsh_check" % size, unsound(a, "versions_sig"))
        a.execute("RESET ALL; DROP TABLE versions")
    findings.report("versions of rows: the answers of a sequential scan")


def boilerplate(server):
    """Thousands of rows near to a query, few of them near enough: hits of many rows are counted otherwise than those of
    few, and with little memory otherwise than with much."""
    findings, found = Findings(), 0
    with server.connect() as conn:
        make_table(conn, "pages", 24000, family=3000)

        def compare(what):
            nonlocal found
            queries = make_queries(conn, rng, 8, 5, 1)
            for memory in ("64kB", "1MB", "4MB", "64MB") if what == "built" or FULL else ("4MB",):
                conn.execute("SET work_mem = '%s'" % memory)
                found += same(findings, "%s, work_mem %s" % (what, memory), conn, "pages", queries, (0.85,))
                # Rows come in the order of how many groups miss at least.
                for some in ("", " LIMIT 40"):
                    near = ("SELECT array(SELECT (sig <%%> %s::minhash)::numeric(9, 6) FROM pages "
                            "WHERE sig %% %s::minhash ORDER BY sig <%%> %s::minhash" + some + ")")
                    for query in queries[::3]:
                        got = []
                        for way in ("index", "sequential"):
                            with conn.transaction():
                                conn.execute("SET LOCAL neardup.jaccard_threshold = 0.8; " + PLANS[way])
                                got.append(one(conn, near, [query] * 3))
                                plan = "\n".join(r[0] for r in conn.execute("EXPLAIN " + near, [query] * 3))
                            findings.see_none("in order by %s" % way,
                                              None if ("pages_sig" in plan) == (way == "index") else plan[:300])
                        findings.see("%s, work_mem %s, in order%s" % (what, memory, some), got[0] == got[1],
                                     "%d and %d rows" % tuple(map(len, got)))
            conn.execute("RESET work_mem")

        compare("built")
        fill(conn, "pages", 9000, first=24001, family=3000)
        compare("inserted")  # some units and pending rows
        conn.execute("INSERT INTO pages SELECT 10^6 + i, 3, make_sig(3, 3, 0) FROM generate_series(1, 9000) i")
        compare("a list much longer than the others")
        conn.execute("DELETE FROM pages WHERE id % 3 = 1; UPDATE pages SET id = -id WHERE id % 3 = 2")
        compare("deleted")
        conn.execute("VACUUM pages")
        fill(conn, "pages", 5000, first=40001, family=3000)
        compare("vacuumed and filled")
        findings.see("rows are found", found > 5000, found)
        # Probes that are prefixes of keys: their lists are not in the order of rows.
        conn.execute("CREATE TABLE marks (id int, h simhash, s bigint[])")
        conn.execute("""INSERT INTO marks SELECT i, ((i % 4 * 81985529216486895) # (1::bigint << i % 61) # (1::bigint <<
                        i * 7 % 59) # (1::bigint << i * 13 % 47))::simhash,
                        array(SELECT CASE WHEN e % 20 = i % 20 THEN i + 1000 ELSE i % 4 * 1000000 + e END
                          FROM generate_series(1, 40) e) FROM generate_series(1, 12000) i""")
        conn.execute(
            "CREATE INDEX marks_h ON marks USING lsh (h); CREATE INDEX marks_s ON marks USING lsh (s); ANALYZE marks")
        for what, condition in (("hamming", "hamming(t.h, q.h) <= 3"), ("sets", "jaccard_exact(t.s, q.s) >= 0.95")):
            got = []
            for way in ("SET enable_seqscan = off",
                        "RESET enable_seqscan; SET enable_indexscan = off; SET enable_bitmapscan = off"):
                conn.execute(way)
                uses = "marks_" in str(conn.execute(
                    "EXPLAIN SELECT (SELECT count(*) FROM marks t WHERE %s) FROM marks q" % condition).fetchall())
                findings.see("%s: the plan" % what, uses == (way == "SET enable_seqscan = off"), way)
                got.append(
                    conn.execute("SELECT q.id, (SELECT coalesce(array_agg(t.id ORDER BY t.id), '{}') FROM marks t "
                                 "WHERE %s) FROM marks q WHERE q.id <= 8 ORDER BY 1" % condition).fetchall())
            conn.execute("RESET ALL")
            findings.see(
                what, got[0] == got[1] and max(len(rows) for _, rows in got[0]) > 20, [len(rows) for _, rows in got[0]])
        conn.execute("DROP TABLE pages; DROP TABLE marks")
    findings.report("boilerplate: the answers of a sequential scan, %d rows" % found)


def main():
    with Server(SETTINGS_HERE) as server:
        server.start()
        with server.connect() as conn:
            conn.execute(SCHEMA)
            make_pool(conn)
            make_table(conn, "plain", 3000, index="pending_limit = 1")
            queries = make_queries(conn, rng, 250, 10, 2)
            equal("the plans are the ones compared", uses_index(conn, "plain"), None)
        others_change(server, queries)
        own_changes(server, queries)
        errors(server, queries)
        old_cursor(server, queries)
        many_indexes(server, queries)
        older_snapshots(server)
        thinned(server)
        row_versions(server)
        boilerplate(server)
        with server.connect() as conn:
            e = unsound(conn, "plain_sig")
            check("lsh_check at the end", e is None, e)
        equal("nothing in the server's log", server.alarms(), [])


finish(main)
