#!/usr/bin/python3
"""lsh indexes through crashes and cancels at random moments; 141 has crashes at chosen ones. A separate server is
killed, with all its processes, while indexes of each kind are written, and during CREATE INDEX; a single backend is
killed; statements are cancelled at random moments. After each: nothing that was committed is lost, lsh_check finds the
index sound, it returns the rows of a sequential scan, inserts continue, the next VACUUM frees every page that was left
behind, and no temporary file stays."""
import itertools

from durability import *

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


class Work:
    """Clients change an index of each kind: they insert, by chance roll back, delete and vacuum. `committed`: what
    rows were acknowledged, by case: first, how many."""

    def __init__(self, server):
        self.cases = [Case(kind, Way("at work", (rows(1, 500),), ()), "w_" + kind.name) for kind in KINDS]
        self.committed = {case: [] for case in self.cases}
        self.lock, self.ids = threading.Lock(), itertools.count(2000, 400)
        with server.connect() as conn:
            for case in self.cases:
                conn.execute("DROP TABLE IF EXISTS " + case.table)
                case.prepare(conn)

    def change(self, conn, rng):
        case, what = rng.choice(self.cases), rng.random()
        if what < 0.1:
            case.run(conn, (VACUUM,))
        elif what < 0.25:
            case.run(conn, ("DELETE FROM {table} WHERE id < 2000 AND id %% 50 = %d" % rng.randrange(50),))
        else:
            self.insert(conn, rng, case)

    def insert(self, conn, rng, case):
        is_large = case.kind.name == "sets" and rng.random() < 0.3
        first, count = next(self.ids), rng.choice((1, 2)) if is_large else rng.choice((1, 20, 350))
        first += LARGE if is_large else 0
        if first + count > (TALL if is_large else LARGE):
            return time.sleep(0.01)
        with conn.transaction(force_rollback=rng.random() < 0.2) as transaction:
            case.run(conn, (rows(first, first + count - 1),))
        if not transaction.force_rollback:
            with self.lock:
                self.committed[case].append((first, count))

    def look(self, findings, struck, conn, what):
        """After a crash, before and after a VACUUM."""
        found = 0
        for case in self.cases:
            struck.look(conn, case.index)
            done = self.committed[case]
            numbers = [list(x) for x in zip(*done)] or [[], []]
            lost = one(conn, """
                SELECT count(*) FROM (
                    SELECT generate_series(first, first + n - 1) FROM unnest(%%s::bigint[], %%s::bigint[]) u(first, n)
                    EXCEPT SELECT id FROM %s) x
                """ % case.table, numbers)
            findings.see("%s: %s: committed rows" % (what, case.name), lost == 0, "%d lost" % lost)
            asked = [rng.randrange(500) for _ in range(QUERIES)] + [first for first, _ in done[-QUERIES:]]
            found += case.look(findings, what, conn, asked)
            findings.see_none("%s: %s: VACUUM" % (what, case.name), case.left_by_vacuum(conn))
            case.look(findings, what + " and VACUUM", conn, asked)
        findings.see(what + ": rows are found", found > QUERIES * len(self.cases), found)


def recovered(conn, what, findings, orphans, table, queries):
    """The checks after a crash or a cancel."""
    look(findings, what, conn, table, queries, (0.8, 0.6))
    conn.execute("INSERT INTO %s SELECT id, family, sig FROM pool WHERE id <= 600" % table)
    conn.execute("DELETE FROM %s WHERE id <= 300" % table)
    findings.see_none(what + ": VACUUM", sql_error(conn, "VACUUM (INDEX_CLEANUP on) " + table))
    left = conn.execute("SELECT rows - (SELECT count(sig) FROM %s), orphan_pages FROM lsh_info('%s_sig', true)" % (
        table, table)).fetchone()
    orphans.see(what, left == (0, 0), "%d rows too many, %d orphan pages after VACUUM" % left)
    look(findings, what + " and VACUUM", conn, table, queries)
    findings.see(what + ": temporary files", temp_files(conn) == 0)


class Struck:
    """The states that rounds find after recovery, before any VACUUM: does the killing hit what it is meant for?"""

    def __init__(self):
        self.rounds, self.merges, self.orphans = 0, 0, 0

    def look(self, conn, index):
        # Only a merge gives tables as small as these several runs in one unit.
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


def crash_at_work(server):
    """Three clients write to indexes of every kind until the server is killed."""
    rounds, findings, struck = max(ROUNDS, 2), Findings(), Struck()
    for i in range(rounds):
        if i % 4 == 0:  # anew: what is compared grows
            work = Work(server)
        clients = Clients(server, [work.change] * 3, dying=True, seed=i)
        wait_for(lambda: any(work.committed.values()) or clients.errors, "no row is committed", 120)
        time.sleep(rng.uniform(0.2, 1.2))
        server.kill()
        for error in clients.stop():
            findings.see("a client", False, error)
        server.start()
        with server.connect() as conn:
            work.look(findings, struck, conn, "round %d" % i)
    struck.note("killed at work")
    if FULL:
        findings.see("a merge was hit", struck.merges, "in none of %d rounds" % struck.rounds)
    findings.report("killed while indexes of each kind are written, %d times" % rounds)


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
    """An interrupted build leaves no index, or an invalid one, or the whole."""
    valid = [r[0] for r in conn.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('b_sig')")]
    findings.see(
        what + ": CONCURRENTLY alone leaves an invalid index", False not in valid or "CONCURRENTLY" in what, valid)
    if valid == [False] and rng.random() < 0.5:
        findings.see_none(what + ": REINDEX of the invalid index", sql_error(conn, "REINDEX INDEX CONCURRENTLY b_sig"))
    elif valid != [True]:
        conn.execute("DROP INDEX IF EXISTS b_sig")
        findings.see_none(what + ": built again", sql_error(conn, "CREATE INDEX b_sig ON b USING lsh (sig)"))
    recovered(conn, what, findings, orphans, "b", queries)
    conn.execute("DROP INDEX b_sig")


def crash_in_build(server):
    findings, orphans = Findings(), Findings()
    with server.connect() as conn:
        conn.execute("DROP TABLE IF EXISTS b")
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


def one_backend_killed(server):
    """SIGKILL of a backend: the postmaster ends all others and recovers. pg_terminate_backend ends one alone."""
    findings, struck = Findings(), Struck()
    for i in range(ROUNDS):
        work = Work(server)
        case = rng.choice(work.cases)
        for way in ("SIGKILL", "terminate"):
            clients = Clients(server, [work.change] * 2, dying=True, seed=i)
            time.sleep(rng.uniform(0.1, 0.5))
            task = Task(server, case.sql(
                rng.choice(("DELETE FROM {table} WHERE id % 3 = 0 AND id < 2000", VACUUM, rows(80000, 81500)))))
            time.sleep(rng.uniform(0, 0.2))
            if way == "SIGKILL":
                server.kill_backend(task.pid)
            else:
                with server.connect() as conn:
                    conn.execute("SELECT pg_terminate_backend(%s)", [task.pid])
            task.join(60)
            for error in clients.stop():
                findings.see("a client", False, error)
            with contextlib.suppress(psycopg.Error):
                task.conn.close()
            with server.connect() as conn:
                work.look(findings, struck, conn, "%s %d" % (way, i))
    struck.note("a backend killed or terminated at work")
    findings.report("a backend killed or terminated at work, %d times" % (2 * ROUNDS))


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
                e = sql_error(conn, statement)
                delay = time.monotonic() - start - moment
                conn.execute("SET statement_timeout = 0")
            else:
                ended, errors = [], []

                def run():
                    errors.append(sql_error(conn, statement))
                    ended.append(time.monotonic())

                thread = Thread(target=run, daemon=True)
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
                sql_error(conn, "SELECT 1")  # takes a cancel that came too late
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
        conn.execute("DROP TABLE IF EXISTS b")
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
           "END LOOP; END $$", after=sound)
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
        sections((other_errors, server), (crash_at_work, server), (crash_in_build, server),
                 (one_backend_killed, server), (cancels, server), (cancelled_vacuums, server), (minimal_wal, server))
        equal("no other crash, no damage in the server's log", server.alarms(), [])


finish(main)
