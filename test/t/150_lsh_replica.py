#!/usr/bin/python3
"""A streaming replica's lsh indexes. While the primary inserts, deletes, vacuums and merges, the standby compares, many
times, in one snapshot each, the result of its index with that of a sequential scan. Its replay checks each page against
the primary's (wal_consistency_checking). It is restarted and killed during the test. Then indexes of every kind are
written in every way of durability.py: the standby's pages are the primary's. At the end, in the middle of a VACUUM and
a merge, it is promoted and continues alone."""
from durability import *

SECONDS = 300 if FULL else 20 if LONG else 6
RESTARTS = 10 if FULL else 3 if LONG else 1
rng = random.Random(150)

# The standby's readers hold nothing back for long, and no query of theirs is cancelled.
STANDBY = """
hot_standby_feedback = on
wal_receiver_status_interval = 1s
max_standby_streaming_delay = -1
"""
TABLES = {"plain": "pending_limit = 1", "wide": "pending_limit = 3, threshold = 0.6"}


def insert(conn, rng):
    insert_into(conn, rng.choice(list(TABLES)), rng.choice((1, 5, 40, 200)))


def insert_into(conn, table, n):
    conn.execute("INSERT INTO %s SELECT id + %d, family, sig FROM pool WHERE id BETWEEN %d AND %d" % (
        table, 10000 * rng.randrange(1, 10**6), n, 2 * n - 1))


def change(conn, rng):
    table = rng.choice(list(TABLES))
    if rng.random() < 0.5:
        conn.execute(
            "DELETE FROM %s WHERE id %% 10 = %d AND family %% 3 = %d" % (table, rng.randrange(10), rng.randrange(3)))
    else:
        conn.execute("UPDATE %s SET id = id + 1 WHERE family %% 40 = %d" % (table, rng.randrange(40)))
    while one(conn, "SELECT count(*) FROM " + table) > 12000:
        conn.execute("DELETE FROM %s WHERE random() < 0.4" % table)


def vacuum(conn, rng):
    table = rng.choice(list(TABLES))
    if rng.random() < 0.15:
        # The standby's readers are in the way of its replay for as long as they read. Not CONCURRENTLY: PostgreSQL
        # waits for old snapshots of the primary only before it puts the new index in the old one's place, so that on a
        # standby an old snapshot meets an index, of whatever kind, without the rows deleted before it was made.
        conn.execute("REINDEX INDEX %s_sig" % table)
    else:
        conn.execute("VACUUM " + table)
    time.sleep(rng.random() * 0.3)


class Readers:
    """Compare on the standby; each snapshot is one round."""

    def __init__(self, queries):
        self.queries, self.lock = queries, threading.Lock()
        self.bad, self.snapshots, self.rows, self.checks = [], 0, 0, 0

    def enough(self):
        return self.snapshots > 10 and self.rows > 100 and self.checks > 0

    def compare(self, conn, rng):
        table = rng.choice(list(TABLES))
        bad, rows = differences(conn, table, rng.sample(self.queries, 4), rng.choice((0.8, 0.9, 0.62)))
        with self.lock:
            self.bad += bad
            self.rows += rows
            self.snapshots += 1

    def overtaken(self, conn, rng):
        table = rng.choice(list(TABLES))
        bad, rows = differences_of_many(conn, table, rng.sample(self.queries, 2), rng.choice((0.8, 0.9, 0.62)))
        with self.lock:
            self.bad += bad
            self.rows += rows
            self.snapshots += 1

    def check_index(self, conn, rng):
        """lsh_check wants an index that stands still. Where a REINDEX is half replayed, its lock stays for as long."""
        time.sleep(0.3)
        conn.execute("SET lock_timeout = '1s'")
        conn.execute("SELECT pg_wal_replay_pause()")
        try:
            wait_for(lambda: one(conn, "SELECT pg_get_wal_replay_pause_state()") == "paused", "replay does not pause")
            e = unsound(conn, rng.choice(list(TABLES)) + "_sig", rng.random() < 0.5)
        finally:
            conn.execute("SELECT pg_wal_replay_resume()")
            conn.execute("RESET lock_timeout")
        if e is not None and e.sqlstate == "55P03":
            return
        with self.lock:
            self.checks += 1
            self.bad += ["lsh_check: %s" % e] * bool(e)


def replayed(primary, standby):
    """Waits until the standby has all that the primary has written, as long as it gets on."""
    with primary.connect() as conn, standby.connect() as copy:
        end = one(conn, "SELECT pg_current_wal_flush_lsn()::text")
        last, moved = None, time.monotonic()
        while not one(copy, "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [end]):
            now = one(copy, "SELECT pg_last_wal_replay_lsn()::text")
            if now != last:
                last, moved = now, time.monotonic()
            if time.monotonic() > moved + 60:
                state = copy.execute("SELECT pg_get_wal_replay_pause_state(), array_agg(concat_ws(' ', backend_type, "
                                     "wait_event, query)) FROM pg_stat_activity").fetchone()
                raise TimeoutError("replay stays at %s, wanted %s: %s; %s" % (now, end, state, standby.log_tail()))
            time.sleep(0.1)


def states(server):
    """The state that both share: the rows, the directory of each index, and its pages. A page that was never written to
    is in no log: an inserter that found another one faster leaves it to the free space map."""
    with server.connect() as conn:
        return [conn.execute("SELECT count(*), sum(hashtextextended(t::text, 0)) FROM %s t" % t).fetchone() +
                conn.execute("SELECT rows, entries, runs, units, pending_rows FROM lsh_info('%s_sig')" % t).fetchone() +
                conn.execute(
            "SELECT count(*), sum(hashtextextended(p::text, 0)) FROM (SELECT block, kind, owner, ordinal, entries, "
            "first_key FROM lsh_pages('%s_sig') WHERE kind <> 'new') p" % t).fetchone() for t in TABLES]


def alike(primary, standby):
    replayed(primary, standby)
    return states(standby) == states(primary)


def every_way(primary, standby, cases):
    """Each case is written on the primary; what is logged is the same on the standby, byte by byte."""
    findings, logged = Findings(), [case for case in cases if case.way.logged]
    with primary.connect() as conn:
        for case in cases:
            case.prepare(conn)
            case.run(conn, case.way.writes)
        flush_wal(conn)
        before = pages(conn, logged) if can_inspect.known else {}
    replayed(primary, standby)
    with standby.connect() as conn:
        compare_pages(findings, "standby", before, pages(conn, logged) if before else {})
        found = look_at(findings, "standby", conn, logged)
        findings.see("rows are found", found > len(logged), found)
    findings.report("each way to write: the standby has the primary's pages and answers")


def half_way(primary, standby):
    """Kills the primary when the standby has a part of a merge of one index, and of a VACUUM of the other."""
    entries = "SELECT sum(entries) FROM lsh_pages('plain_sig') WHERE kind LIKE 'leaf%' AND live"
    with primary.connect() as conn, standby.connect() as copy:
        conn.execute("INSERT INTO plain SELECT id, family, sig FROM pool")
        conn.execute("VACUUM plain")
        conn.execute("DELETE FROM plain WHERE id % 7 = 0")
        deleted = one(conn, "SELECT txid_current()")
        for _ in range(400):
            insert_into(conn, "wide", 60)
            if one(conn, "SELECT runs > units FROM lsh_info('wide_sig')"):
                break
        check("a merge is under way", one(conn, "SELECT runs > units FROM lsh_info('wide_sig')"))
        replayed(primary, standby)
        # The standby says only now and then which rows its queries may see; VACUUM leaves those.
        seen = "SELECT bool_and(xmin IS NULL OR xmin::text::int8 > %s) FROM pg_replication_slots"
        wait_for(lambda: one(conn, seen, (deleted,)), "the standby holds the deleted rows", 120)
        was = one(copy, entries)
        task = Task(primary, "VACUUM plain", "SET vacuum_cost_delay = '2ms'; SET vacuum_cost_limit = 40")
        wait_for(lambda: one(copy, entries) < was, "VACUUM sweeps no leaf", 120)
        if not task.is_alive():
            print("note: the standby was late: the primary's VACUUM had ended", flush=True)
        primary.kill()
        task.close()


def main():
    with Server("wal_log_hints = on") as primary:
        primary.start()
        with primary.connect() as conn:
            # A page that replay makes otherwise than the primary did ends the standby.
            kinds = "all" if LONG or one(conn, "SHOW debug_assertions") == "on" else "generic"
            conn.execute("ALTER SYSTEM SET wal_consistency_checking = '%s'" % kinds)
            conn.execute("SELECT pg_reload_conf()")
            conn.execute(SCHEMA)
            make_pool(conn)
            for table, options in TABLES.items():
                make_table(conn, table, 2000, index=options)
            queries = make_queries(conn, rng, 250, 36, 4)
            can_inspect(conn)
        with primary.standby(STANDBY) as standby:
            standby.start()
            with standby.connect() as conn:
                equal("the standby's plans are the ones compared", uses_index(conn, "plain"), None)
                fails("no insert on the standby", conn, "INSERT INTO plain VALUES (1)", state="25006")
            readers = Readers(queries)
            load = Clients(primary, [insert, insert, change, vacuum], allowed={"40P01"})
            errors = []
            for part in range(RESTARTS + 1):
                clients = Clients(standby, [readers.overtaken, readers.overtaken, readers.compare, readers.check_index],
                                  dying=True, seed=part)
                Pauser(clients, (0, 1))
                time.sleep(SECONDS / (RESTARTS + 1))
                if part == RESTARTS:  # a slow machine goes on until there is something to compare
                    with contextlib.suppress(TimeoutError):
                        wait_for(lambda: readers.enough() or clients.errors or load.errors, "", 120)
                if part < RESTARTS and part % 2 == 0:
                    standby.kill()
                errors += clients.stop()
                if part < RESTARTS:
                    standby.stop()
                    standby.start()
            errors += load.stop()
            equal("no error on the primary or the standby", errors, [])
            check("index and sequential scan agree on the standby, %d snapshots, %d rows; %d lsh_checks" % (
                      readers.snapshots, readers.rows, readers.checks),
                  not readers.bad and readers.enough(),
                  "%d differ; %s" % (len(readers.bad), "; ".join(readers.bad[:3])))
            replayed(primary, standby)
            with contextlib.suppress(TimeoutError):  # autovacuum may change the primary between the two looks
                wait_for(lambda: alike(primary, standby), "", 60)
            replayed(primary, standby)
            equal("the standby has what the primary has", states(standby), states(primary))

            cases = way_cases(rng, None if LONG else 1)
            every_way(primary, standby, cases)
            half_way(primary, standby)
            with standby.connect() as conn:
                equal("promoted", one(conn, "SELECT pg_promote()"), True)
                findings = Findings()
                for table in TABLES:
                    look(findings, "promoted " + table, conn, table, queries, (0.8, 0.62))
                look_at(findings, "promoted", conn, cases)
                for case in cases:
                    case.run(conn, GO_ON)
                look_at(findings, "promoted and changed", conn, cases)
                findings.report("promoted: sound, and the answers of a sequential scan")
            alone = Clients(standby, [insert, insert, change, vacuum], allowed={"40P01"}, seed=1)
            time.sleep(10 if FULL else 1)
            equal("inserts, deletes and VACUUM go on", alone.stop(), [])
            with standby.connect() as conn:
                findings = Findings()
                for table in TABLES:
                    conn.execute("VACUUM " + table)
                    look(findings, "at the end " + table, conn, table, queries, (0.8, 0.62))
                    left = one(conn, "SELECT orphan_pages FROM lsh_info('%s_sig', true)" % table)
                    findings.see("orphan pages", left == 0, left)
                findings.report("at the end: sound, and the answers of a sequential scan")
            equal("nothing in the servers' logs", primary.alarms() + standby.alarms(), [])


finish(main)
