#!/usr/bin/python3
"""lsh indexes through crashes and cancels. A separate server is killed, with all its processes, during inserts, merges,
CREATE INDEX and VACUUM; a single backend is killed; statements are cancelled at random moments. After each: nothing
that was committed is lost, lsh_check finds the index sound, it returns the rows of a sequential scan, inserts continue,
the next VACUUM frees every page that was left behind, and no temporary file stays."""
import itertools

from servers import *

ROUNDS = 20 if FULL else 5 if LONG else 1
CANCELS = 60 if FULL else 6 if LONG else 2
ROWS = 20000 if FULL else 8000 if LONG else 4000  # of the tables that are built and vacuumed
QUERIES = 20 if LONG else 6  # whose answers are compared
# rows of a joined table: enough for a join that lasts longer than a cancel needs to reach it
JOINED = 100 if FULL else 2000
MORE_CANCELS = 30  # further tries, as long as each came too late
# seconds that a cancelled statement may take to end, on a busy machine, too; the measured worst is in the check's name
LIMIT = 15.0
rng = random.Random(140)


class Inserters:
    """Work for clients that insert into `table` from the pool; `committed` are the ids whose commit was
    acknowledged."""

    def __init__(self, table, most):
        self.table, self.most = table, most
        self.committed = []  # first id, how many
        self.rows = 0        # of all commits, also those that were taken off that list
        self.lock = threading.Lock()
        self.next_id = 10**7

    def ids(self, n):
        with self.lock:
            self.next_id += n
            return self.next_id - n

    def insert(self, conn, rng):
        n = rng.randint(1, self.most)
        first = self.ids(n)
        start = rng.randint(1, 4000 - n)
        statement = "INSERT INTO %s SELECT %d + id, family, sig FROM pool WHERE id BETWEEN %d AND %d" % (
            self.table, first - start, start, start + n - 1)
        if rng.random() < 0.2:  # rolled back: the index keeps entries of rows that never were
            with conn.transaction(force_rollback=True):
                conn.execute(statement)
            return
        conn.execute(statement)
        with self.lock:
            self.committed.append((first, n))
            self.rows += n

    def lost(self, conn):
        """How many rows are not there though their commit was acknowledged."""
        return one(conn, """SELECT count(*) FROM (SELECT i FROM unnest(%%s::bigint[], %%s::bigint[]) u(first, n),
            generate_series(first, first + n - 1) i EXCEPT SELECT id FROM %s) x""" % self.table,
                   [list(x) for x in zip(*self.committed)] or [[], []])


def recovered(conn, what, findings, orphans, table, queries, work=None):
    """The checks after a crash or a cancel."""
    if work:
        lost = work.lost(conn)
        findings.see(what + ": committed rows", lost == 0, "%d lost" % lost)
    look(findings, what, conn, table, queries, (0.8, 0.6))
    conn.execute("INSERT INTO %s SELECT id, family, sig FROM pool WHERE id <= 600" % table)
    conn.execute("DELETE FROM %s WHERE id <= 300" % table)
    findings.see_none(what + ": VACUUM", error_of(conn, "VACUUM (INDEX_CLEANUP on) " + table))
    left = conn.execute("SELECT rows - (SELECT count(sig) FROM %s), orphan_pages FROM lsh_info('%s_sig', true)" % (
        table, table)).fetchone()
    orphans.see(what, left == (0, 0), "%d rows too many, %d orphan pages after VACUUM" % left)
    look(findings, what + " and VACUUM", conn, table, queries)
    findings.see(what + ": temporary files", temp_files(conn) == 0)


class Struck:
    """What rounds find after recovery, before any VACUUM: whether the killing hits what it is meant for."""

    def __init__(self):
        self.rounds, self.merges, self.orphans = 0, 0, 0

    def look(self, conn, index):
        # Of tables as small as these only a merge has several runs in one unit.
        merging, orphans = conn.execute(
            "SELECT runs > units, orphan_pages > 0 FROM lsh_info(%s, true)", [index]).fetchone()
        self.rounds += 1
        self.merges += merging
        self.orphans += orphans

    def note(self, label):
        print("note: %s: of %d rounds %d found an unfinished merge, %d orphan pages" % (
                  label, self.rounds, self.merges, self.orphans),
              flush=True)


def other_errors(server):
    """A client that meets another error than the end of its server must not go unnoticed: the rounds below would test
    little."""
    def full(conn, _):
        conn.execute("DO $$ BEGIN RAISE 'no space' USING ERRCODE = 'disk_full'; END $$")
    clients = Clients(server, [full], dying=True)
    clients.threads[0].join(60)
    equal("a client tells of any error but a lost connection", clients.stop(),
          ["full: 53100 no space\nCONTEXT:  PL/pgSQL function inline_code_block line 1 at RAISE"])


def crash_in_inserts(server, label, most, options):
    """Three clients insert until the server is killed."""
    rounds = max(ROUNDS, 2)
    findings, orphans, struck = Findings(), Findings(), Struck()
    with server.connect() as conn:
        make_table(conn, "ins", 2000, index=options)
        queries = make_queries(conn, rng, 500, QUERIES)
    work = Inserters("ins", most)
    for i in range(rounds):
        clients = Clients(server, [work.insert] * 3, dying=True, seed=i)
        if i == 0:
            wait_for(lambda: work.rows or clients.errors, "no row is committed", 120)
        time.sleep(rng.uniform(0.1, 1.2))
        server.kill()
        for error in clients.stop():
            findings.see("a client", False, error)
        server.start()
        with server.connect() as conn:
            struck.look(conn, "ins_sig")
            recovered(conn, "round %d" % i, findings, orphans, "ins", queries, work)
            if sum(n for _, n in work.committed) > 40000:
                conn.execute("DELETE FROM ins WHERE id >= 10000000")
                work.committed.clear()
    with server.connect() as conn:
        left = one(conn, "SELECT count(*) FROM ins")
        conn.execute("DROP TABLE ins")
    findings.see("rows were committed", work.rows > 0)
    struck.note("killed during " + label)
    if FULL and label == "merges":
        findings.see("a merge was hit", struck.merges, "in none of %d rounds" % struck.rounds)
    findings.report("killed during %s, %d times, %d rows at the end" % (label, rounds, left))
    orphans.report("killed during %s: VACUUM leaves no dead row, no orphan page" % label)


def crash_in_large_sets(server):
    """Rows with more keys than a pending page takes go into a run at once: three clients insert such rows among
    others."""
    findings, committed, lock = Findings(), [], threading.Lock()
    with server.connect() as conn:
        conn.execute("CREATE TABLE large (id int, a int[]); CREATE INDEX large_a ON large USING lsh (a)")

    def insert(conn, rng):
        id_, size = rng.randrange(10**6), rng.choice((3, 50, 400, 1600, 1601, 3000, 9000))
        conn.execute("INSERT INTO large SELECT %d, array(SELECT %d * 100 + e * 7919 FROM generate_series(1, %d) e)" % (
            id_, id_, size))
        with lock:
            committed.append(id_)
    rounds = max(ROUNDS, 2)
    for i in range(rounds):
        clients = Clients(server, [insert] * 3, dying=True, seed=i)
        time.sleep(rng.uniform(0.3, 1.2))
        server.kill()
        for error in clients.stop():
            findings.see("a client", False, error)
        server.start()
        with server.connect() as conn:
            findings.see_none("lsh_check", error_of(conn, "SELECT lsh_check('large_a', true)"))
            lost = one(
                conn, "SELECT count(*) FROM unnest(%s::int[]) id WHERE id NOT IN (SELECT id FROM large)", [committed])
            findings.see("committed rows", lost == 0, "%d lost" % lost)
            conn.execute("SET enable_seqscan = off")
            for id_ in committed[-5:]:
                found = conn.execute("SELECT id FROM large WHERE containment_exact(array(SELECT %d * 100 + e * 7919 "
                                     "FROM generate_series(1, 3) e), a) = 1" % id_).fetchall()
                findings.see("a row is found", (id_,) in found, "%d: %s" % (id_, found))
            findings.see_none("VACUUM", error_of(conn, "VACUUM (INDEX_CLEANUP on) large"))
            findings.see("orphan pages", one(conn, "SELECT orphan_pages FROM lsh_info('large_a', true)") == 0)
    with server.connect() as conn:
        conn.execute("DROP TABLE large")
    findings.see("rows were committed", committed)
    findings.report("killed while rows of large sets are inserted, %d times, %d rows" % (rounds, len(committed)))


def crash_in_codes(server):
    """An index on bit strings: three clients insert, delete and vacuum until the server is killed."""
    findings, committed, lock = Findings(), [], threading.Lock()
    with server.connect() as conn:
        make_codes(conn, "codes")
        insert_codes(conn, "codes", 0, 2000)
    next_id = itertools.count(10_000, 400)

    def change(conn, rng):
        what = rng.random()
        if what < 0.1:
            conn.execute("VACUUM codes")
        elif what < 0.3:
            conn.execute("DELETE FROM codes WHERE id < 10000 AND id %% 50 = %d" % rng.randrange(50))
        else:
            first, rows = next(next_id), rng.choice((1, 20, 400))
            insert_codes(conn, "codes", first, rows)
            with lock:
                committed.append((first, rows))
    rounds, found = max(ROUNDS, 2), 0
    for i in range(rounds):
        clients = Clients(server, [change] * 3, dying=True, seed=i)
        time.sleep(rng.uniform(0.3, 1.2))
        server.kill()
        for error in clients.stop():
            findings.see("a client", False, error)
        server.start()
        with server.connect() as conn:
            lost = one(conn,
                       "SELECT count(*) FROM (SELECT generate_series(f, f + n - 1) "
                           "FROM unnest(%s::bigint[], %s::bigint[]) u(f, n) EXCEPT SELECT id FROM codes) x",
                       [list(x) for x in zip(*committed)] or [[], []])
            findings.see("committed rows", lost == 0, "%d lost" % lost)
            ids = [rng.randrange(2000) for _ in range(QUERIES)] + [first for first, _ in committed[-QUERIES:]]
            found += look_at_codes(findings, "round %d" % i, conn, "codes", ids)
            findings.see_none("VACUUM", error_of(conn, "VACUUM (INDEX_CLEANUP on) codes"))
            left = conn.execute(
                "SELECT rows - (SELECT count(*) FROM codes), orphan_pages FROM lsh_info('codes_code', true)").fetchone()
            findings.see("what VACUUM leaves", left == (0, 0), left)
            found += look_at_codes(findings, "round %d and VACUUM" % i, conn, "codes", ids)
    with server.connect() as conn:
        conn.execute("DROP TABLE codes")
    findings.see("rows were committed and found", committed and found > 20 * rounds, found)
    findings.report("killed while bit strings are inserted, %d times, %d statements" % (rounds, len(committed)))


BUILDS = {
    "CREATE INDEX": ("CREATE INDEX b_sig ON b USING lsh (sig)",
                     "SET maintenance_work_mem = '2MB'; SET max_parallel_maintenance_workers = 0"),
    "parallel CREATE INDEX": ("CREATE INDEX b_sig ON b USING lsh (sig)",
                              "SET maintenance_work_mem = '64MB'; SET min_parallel_table_scan_size = 0; "
                                  "SET max_parallel_maintenance_workers = 2"),
    "CREATE INDEX CONCURRENTLY": ("CREATE INDEX CONCURRENTLY b_sig ON b USING lsh (sig)", ""),
}


def timed(conn, statement):
    start = time.monotonic()
    conn.execute(statement)
    return time.monotonic() - start


def rebuilt(conn, what, findings, orphans, queries):
    """After an interrupted build: there is no index, or an invalid one, or the whole."""
    valid = [r[0] for r in conn.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('b_sig')")]
    findings.see(
        what + ": CONCURRENTLY alone leaves an invalid index", False not in valid or "CONCURRENTLY" in what, valid)
    if valid == [False] and rng.random() < 0.5:
        findings.see_none(what + ": REINDEX of the invalid index", error_of(conn, "REINDEX INDEX CONCURRENTLY b_sig"))
    elif valid != [True]:
        conn.execute("DROP INDEX IF EXISTS b_sig")
        findings.see_none(what + ": built again", error_of(conn, "CREATE INDEX b_sig ON b USING lsh (sig)"))
    recovered(conn, what, findings, orphans, "b", queries)
    conn.execute("DROP INDEX b_sig")


def crash_in_build(server):
    findings, orphans = Findings(), Findings()
    with server.connect() as conn:
        make_table(conn, "b", ROWS, index=None)
        queries = make_queries(conn, rng, ROWS // 8, QUERIES)
    for label, (statement, settings) in BUILDS.items():
        with server.connect() as conn:
            if settings:
                conn.execute(settings)
            took = timed(conn, statement)
            conn.execute("DROP INDEX b_sig")
        left = []
        for i in range(ROUNDS):
            task = Task(server, statement, settings)
            time.sleep(rng.uniform(0, took))
            server.kill()
            task.close()
            server.start()
            with server.connect() as conn:
                left.append(
                    one(conn, "SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('b_sig'))"))
                rebuilt(conn, "%s %d" % (label, i), findings, orphans, queries)
        print("note: killed during %s: of %d rounds %d found no index, %d an invalid one, %d the whole" % (
            label, ROUNDS, left.count(None), left.count(False), left.count(True)), flush=True)
    with server.connect() as conn:
        conn.execute("DROP TABLE b")
    findings.report("killed during CREATE INDEX, %d times" % (ROUNDS * len(BUILDS)))
    orphans.report("killed during CREATE INDEX: VACUUM leaves no dead row, no orphan page")


def make_dead(conn, i):
    """A table of ROWS with two fifths of its rows deleted, not vacuumed."""
    conn.execute("DROP TABLE IF EXISTS v")
    make_table(conn, "v", ROWS, index="pending_limit = 4")
    conn.execute("DELETE FROM v WHERE id %% 5 IN (%d, %d)" % (i % 5, (i + 1) % 5))


def crash_in_vacuum(server):
    findings, orphans, struck = Findings(), Findings(), Struck()
    settings = "SET maintenance_work_mem = '1MB'"
    with server.connect() as conn:
        queries = make_queries(conn, rng, ROWS // 8, QUERIES)
        make_dead(conn, 0)
        conn.execute(settings)
        took = timed(conn, "VACUUM v")
    for i in range(ROUNDS):
        with server.connect() as conn:
            make_dead(conn, i)
        task = Task(server, "VACUUM v", settings)
        time.sleep(rng.uniform(0, took))
        server.kill()
        task.close()
        server.start()
        with server.connect() as conn:
            struck.look(conn, "v_sig")
            recovered(conn, "round %d" % i, findings, orphans, "v", queries)
    struck.note("killed during VACUUM")
    findings.report("killed during VACUUM, %d times" % ROUNDS)
    orphans.report("killed during VACUUM: VACUUM leaves no dead row, no orphan page")


def one_backend_killed(server):
    """SIGKILL of a backend: the postmaster ends all others and recovers. pg_terminate_backend ends one alone."""
    findings, orphans, struck = Findings(), Findings(), Struck()
    with server.connect() as conn:
        queries = make_queries(conn, rng, 500, QUERIES)
    for i in range(ROUNDS):
        if i % 4 == 0:  # anew: what is compared grows with the rows that no round may lose
            with server.connect() as conn:
                conn.execute("DROP TABLE IF EXISTS k")
                make_table(conn, "k", 2000, index="pending_limit = 1")
            work = Inserters("k", 400)
        for way in ("SIGKILL", "terminate"):
            clients = Clients(server, [work.insert] * 2, dying=True, seed=i)
            time.sleep(rng.uniform(0.1, 0.5))
            task = (Task(server, "DELETE FROM k WHERE id % 3 = 0 AND id < 10000000" if rng.random() < 0.3 else "VACUUM "
                                 "k" if rng.random() < 0.5 else
                                 "INSERT INTO k SELECT id + %d, family, sig FROM pool" % (10**5 * (i + 1))))
            time.sleep(rng.uniform(0, 0.2))
            if way == "SIGKILL":
                server.kill_backend(task.pid)
                task.join(60)
                clients.stop()
            else:
                with server.connect() as conn:
                    conn.execute("SELECT pg_terminate_backend(%s)", [task.pid])
                task.join(60)
                clients.stop()
            for error in clients.errors:
                findings.see("a client", False, error)
            with contextlib.suppress(psycopg.Error):
                task.conn.close()
            with server.connect() as conn:
                struck.look(conn, "k_sig")
                recovered(conn, "%s %d" % (way, i), findings, orphans, "k", queries, work)
    struck.note("a backend killed or terminated at work")
    findings.report("a backend killed or terminated at work, %d times" % (2 * ROUNDS))
    orphans.report("a backend killed or terminated: VACUUM leaves no dead row, no orphan page")
    with server.connect() as conn:
        conn.execute("DROP TABLE k")


# Cancels ------------------------------------------------------------------------------------------------------------

def cancel(server, label, statement, settings="", prepare=None, after=None):
    """Cancels the statement at random moments of the time that it takes, from outside and by statement_timeout;
    after(conn, what) looks at what it left. The check's name has the longest time that it went on."""
    worst, stopped, tries, findings = 0, 0, 0, Findings()
    with server.connect() as conn, server.connect() as other:
        pid = conn.info.backend_pid
        conn.execute(settings or "SELECT 1")
        if prepare:
            prepare(other)
        took = timed(conn, statement)
        if after:
            after(other, label)
        while tries < CANCELS or not stopped and tries < CANCELS + MORE_CANCELS:
            i = tries
            tries += 1
            if prepare:
                prepare(other)
            # Every other one early: later runs of a statement may take less than the first one did.
            moment = rng.uniform(0.0005, max(took / 10 if i % 2 else took, 0.002))
            if i % 4 == 0:
                conn.execute("SET statement_timeout = '%d us'" % max(1000, moment * 1e6))
                start = time.monotonic()
                e = error_of(conn, statement)
                delay = time.monotonic() - start - moment
                conn.execute("SET statement_timeout = 0")
            else:
                ended, errors = [], []

                def run():
                    errors.append(error_of(conn, statement))
                    ended.append(time.monotonic())

                thread = threading.Thread(target=run, daemon=True)
                thread.start()
                # A cancel would do nothing to a session that has not begun yet.
                while thread.is_alive() and not one(
                        other, "SELECT state = 'active' AND query = %s FROM pg_stat_activity WHERE pid = %s",
                        [statement, pid]):
                    pass
                time.sleep(moment)
                start = time.monotonic()
                other.execute("SELECT pg_cancel_backend(%s)", [pid])
                thread.join(120)
                if not ended:
                    return check(label + ": cancelled", False, "it goes on")
                e = errors[0]
                delay = ended[0] - start
                error_of(conn, "SELECT 1")  # takes a cancel that came too late
            if e is not None:
                stopped += 1
                worst = max(worst, delay)
                findings.see("the error", e.sqlstate == "57014", e)
            if after:
                after(other, "%s, cancel %d" % (label, i))
            findings.see("temporary files", temp_files(other) == 0)
    findings.see("some were cancelled", stopped)
    findings.see("they end when asked", worst < LIMIT, "%.1f s" % worst)
    findings.report(
        "cancelled %s: worst delay %.0f ms, %d of %d before their end" % (label, worst * 1000, stopped, tries))


def cancels(server):
    with server.connect() as conn:
        make_table(conn, "c", ROWS, index="pending_limit = 2")
        make_table(conn, "b", ROWS, index=None)
        conn.execute(
            "CREATE TABLE same AS SELECT i AS id, make_sig(7, 7, 0) AS sig FROM generate_series(1, %d) i" % (2 * ROWS))
        conn.execute("CREATE INDEX same_sig ON same USING lsh (sig)")
        queries = make_queries(conn, rng, ROWS // 8, 4)
    findings, orphans = Findings(), Findings()

    def sound(conn, what):
        recovered(conn, what, findings, orphans, "c", queries)

    more = "INSERT INTO c SELECT id + 100000, family, sig FROM pool"
    cancel(server, "inserts with flushes and merges", more, after=sound)
    cancel(server, "single-row inserts",
           "DO $$ BEGIN FOR i IN 1..3000 LOOP INSERT INTO c SELECT id, family, sig FROM pool WHERE id = i; "
               "END LOOP; END $$",
           after=sound)
    cancel(server, "VACUUM", "VACUUM c", "SET maintenance_work_mem = '1MB'", after=sound,
           prepare=lambda conn: conn.execute(
               "INSERT INTO c SELECT id + 200000, family, sig FROM pool; DELETE FROM c WHERE random() < 0.3"))
    cancel(server, "slow VACUUM", "VACUUM c", "SET vacuum_cost_delay = '1ms'; SET vacuum_cost_limit = 100", after=sound,
           prepare=lambda conn: conn.execute(
               "DELETE FROM c WHERE id > 200000; INSERT INTO c SELECT id + 200000, family, sig FROM pool"))

    def sound_build(conn, what):
        rebuilt(conn, what, findings, orphans, queries)

    for label, (statement, settings) in BUILDS.items():
        cancel(server, label, statement, settings, after=sound_build)
    for plan, label in (("index", "index scans"), ("bitmap", "bitmap scans")):
        settings = PLANS[plan].replace(
            "LOCAL ", "") + "; SET max_parallel_workers_per_gather = 0; SET neardup.enable_join = off"
        cancel(server, label + " of all rows by rows",
               "SELECT count(*) FROM b x, c y WHERE y.sig %% x.sig AND x.id <= %d" % JOINED, settings)
        cancel(server, label + " with one answer of %d rows" % (2 * ROWS),
               "SELECT count(*) FROM generate_series(1, 4) i, same WHERE sig % make_sig(7, 7, (i / 1000)::int)",
               settings)
    cancel(server, "lsh_check", "SELECT lsh_check('c_sig', true), lsh_check('same_sig', true)")
    with server.connect() as conn:
        findings.see_none("same: lsh_check", unsound(conn, "same_sig"))
    findings.report("sound, and the answers of a sequential scan, after each cancel")
    orphans.report("cancelled: VACUUM leaves no dead row, no orphan page")


def cancelled_vacuums(server):
    """Vacuums that never end, with few inserts between: each flushes, and the directory has 80 slots."""
    with server.connect() as conn:
        make_table(conn, "few", 3000, index="pending_limit = 1")
        queries = make_queries(conn, rng, 400, 10)
        most, errors = 0, set()
        for i in range(300 if FULL else 90):
            fill(conn, "few", 2, 100000 + 2 * i)
            conn.execute("DELETE FROM few WHERE id = %s", [i + 1])
            task = Task(server, "VACUUM few",
                        "SET vacuum_cost_delay = '20ms'; SET vacuum_cost_limit = 1; SET statement_timeout = '%dms'"
                            % rng.randint(15, 60))
            task.close()
            errors.add(getattr(task.error, "sqlstate", None))
            most = max(most, one(conn, "SELECT runs FROM lsh_info('few_sig')"))
        findings = Findings()
        findings.see("errors of VACUUM", errors <= {"57014", None}, errors)
        look(findings, "after them", conn, "few", queries)
        conn.execute("VACUUM few")
        look(findings, "after VACUUM", conn, "few", queries)
        findings.report("vacuums cancelled again and again, at most %d runs" % most)


def minimal_wal(server):
    """wal_level minimal: what the transaction that made the table or the index writes is not logged."""
    server.stop()
    server.configure("wal_level = minimal\nmax_wal_senders = 0")
    findings = Findings()
    for threshold in ("0", "1GB"):  # below it, the commit logs the files whole; else it syncs them
        server.configure("wal_skip_threshold = '%s'" % threshold)
        server.start()
        with server.connect() as conn:
            queries = make_queries(conn, rng, 400, 10)
            with conn.transaction():
                make_table(conn, "m1", 3000, index="pending_limit = 1")
                conn.execute(
                    "CREATE TABLE m2 (LIKE pool); CREATE INDEX m2_sig ON m2 USING lsh (sig) WITH (pending_limit = 1)")
                conn.execute("INSERT INTO m2 TABLE pool; SAVEPOINT a; INSERT INTO m2 TABLE pool; ROLLBACK TO a; "
                             "INSERT INTO m2 TABLE pool")
            conn.execute("CREATE TABLE m3 (LIKE pool)")
            with conn.transaction():
                conn.execute("TRUNCATE m3; INSERT INTO m3 TABLE pool; CREATE INDEX m3_sig ON m3 USING lsh (sig); "
                             "INSERT INTO m3 TABLE pool")
            with conn.transaction():
                conn.execute("REINDEX INDEX m1_sig; INSERT INTO m1 TABLE pool")
        server.kill()
        server.start()
        with server.connect() as conn:
            for table in ("m1", "m2", "m3"):
                look(findings, table, conn, table, queries)
                conn.execute("INSERT INTO %s TABLE pool" % table)
                findings.see_none(table + ": VACUUM", vacuumed(conn, table))
                look(findings, table + " and VACUUM", conn, table, queries)
            conn.execute("DROP TABLE m1, m2, m3")
        server.stop()
    server.start()
    findings.report("killed after transactions that wrote no WAL")


def main():
    with Server("full_page_writes = on\nsynchronous_commit = on") as server:
        server.start()
        with server.connect() as conn:
            conn.execute(SCHEMA)
            make_pool(conn, 4000)
        sections((other_errors, server), (crash_in_inserts, server, "inserts by 3 clients", 20, "pending_limit = 4"),
                 (crash_in_inserts, server, "merges", 1500, "pending_limit = 1"),
                 (crash_in_large_sets, server), (crash_in_codes, server), (crash_in_build, server),
                 (crash_in_vacuum, server), (one_backend_killed, server),
                 (cancels, server), (cancelled_vacuums, server), (minimal_wal, server))
        equal("no other crash, no damage in the server's log", server.alarms(), [])


finish(main)
