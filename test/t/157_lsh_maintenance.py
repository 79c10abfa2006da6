#!/usr/bin/python3
"""Maintenance of an lsh index: VACUUM of more dead rows than its memory holds, the progress that a build reports, and
snapshots that are too old (before PostgreSQL 17)."""
from servers import *

# Alike by fours; small, since VACUUM needs many.
SIG = "set_minhash(ARRAY[i / 4, -1 - i / 4]::bigint[], 32)"


def little_memory():
    """In 1 MB VACUUM notes 65,536 dead rows of an index at once; 145,000 take it three times."""
    rows, kept = 150000, 5000
    with database() as name, connect(name) as conn:
        conn.execute("CREATE TABLE t WITH (autovacuum_enabled = off) AS SELECT i AS id, %s AS sig "
                     "FROM generate_series(1, %d) i" % (SIG, rows))
        conn.execute("CREATE INDEX t_sig ON t USING lsh (sig) WITH (threshold = 0.9)")
        conn.execute("SET maintenance_work_mem = '1MB'")
        conn.execute("DELETE FROM t WHERE id %% %d <> 0" % (rows // kept))
        equal("VACUUM of 145,000 dead rows in 1 MB leaves none of their entries", vacuumed(conn, "t"), None)
        equal("rows of the index", one(conn, "SELECT rows FROM lsh_info('t_sig')"), kept)
        equal("it is sound", unsound(conn, "t_sig"), None)
        conn.execute("SET enable_seqscan = off")
        lost = one(conn, "SELECT count(*) FROM t WHERE NOT EXISTS (SELECT FROM t x WHERE x.id = t.id "
                         "AND jaccard(x.sig, t.sig) > 0.9)")
        plan = str(conn.execute(
            "EXPLAIN SELECT FROM t WHERE jaccard(sig, set_minhash(ARRAY[1, -2]::bigint[], 32)) > 0.9").fetchall())
        check("every row that is left is found", lost == 0 and "t_sig" in plan, (lost, plan))
        # The freed places of the table are filled again: entries that had stayed would name the new rows.
        conn.execute("INSERT INTO t SELECT i, %s FROM generate_series(%d, %d) i" % (SIG, rows + 1, rows + 20000))
        equal("new rows in the places of the dead: sound", unsound(conn, "t_sig"), None)


def progress():
    """A row's expression waits in the middle of the scan; the later phases are looked at as they pass."""
    rows = 60000
    with database() as name, connect(name) as conn, connect(name) as gate:
        conn.execute("CREATE TABLE t AS SELECT i FROM generate_series(1, %d) i" % rows)
        conn.execute("""CREATE FUNCTION sig_of(i int) RETURNS minhash LANGUAGE plpgsql IMMUTABLE
                SET search_path = public AS $$ BEGIN
                IF i = %d THEN PERFORM pg_advisory_lock(157); PERFORM pg_advisory_unlock(157); END IF;
                RETURN %s; END $$""" % (rows // 2, SIG))
        conn.execute("SET maintenance_work_mem = '1MB'")
        conn.execute("SET max_parallel_maintenance_workers = 0")
        pid, seen, samples = conn.info.backend_pid, set(), []

        def look():
            samples.extend(gate.execute("SELECT command, phase, blocks_total, blocks_done, tuples_total, tuples_done "
                                        "FROM pg_stat_progress_create_index WHERE pid = %s", [pid]).fetchall())
            if samples:
                seen.add(samples[-1][1])
            return samples[-1] if samples else None

        held = None
        for _ in range(5):
            gate.execute("SELECT pg_advisory_lock(157)")
            building = Thread(target=conn.execute, args=("CREATE INDEX i ON t USING lsh (sig_of(i))",), daemon=True)
            building.start()
            wait_for(lambda: one(
                         gate, "SELECT count(*) FROM pg_locks WHERE pid = %s AND locktype = 'advisory' AND NOT granted",
                         [pid]), "the row")
            held = look()
            gate.execute("SELECT pg_advisory_unlock(157)")
            while building.is_alive():
                look()
            building.join()
            conn.execute("DROP INDEX i")
            if {"building index: merging", "building index: writing index"} & seen:
                break
        command, phase, total, done, _, _ = held
        equal("half of the table scanned: command and phase", (command, phase),
              ("CREATE INDEX", "building index: scanning table"))
        check("half of the table scanned: blocks", 0.4 * total < done < 0.6 * total, "%d of %d" % (done, total))
        late = [s for s in samples if s[1] in ("building index: merging", "building index: writing index")]
        check("a later phase is shown", late, seen)
        check("entries are counted up to their total",
              all(0 <= s[5] <= s[4] for s in late if s[4]) and any(s[4] for s in late), late[:3])


def old_snapshots():
    """A snapshot older than old_snapshot_threshold, whose rows VACUUM took away with all that the index had of them: an
    error, as with PostgreSQL's own indexes. It takes more than the least threshold, a minute."""
    if server_version() >= 170000:
        return skip("snapshots too old: PostgreSQL 17 has no old_snapshot_threshold")
    if not FULL:
        return skip("snapshots too old: minutes, full form only (NEARDUP_FULL=1)")
    query = "SELECT count(*) FROM %s WHERE jaccard(sig, (SELECT set_minhash(ARRAY[2500, -2501]::bigint[], 32))) > 0.9"
    tables = {"no_row": 0, "few_rows": 40}  # rows that are left
    with (Server("old_snapshot_threshold = 1min\nautovacuum = off\n") as server, server.start().connect() as conn,
          contextlib.ExitStack() as stack):
        olds = {table: stack.enter_context(server.connect()) for table in tables}
        conn.execute("CREATE EXTENSION neardup")
        for table in tables:
            conn.execute("CREATE TABLE %s AS SELECT i AS id, %s AS sig FROM generate_series(1, 20000) i" % (table, SIG))
            conn.execute("CREATE INDEX %s_sig ON %s USING lsh (sig) WITH (threshold = 0.9)" % (table, table))
            conn.execute("VACUUM ANALYZE " + table)
        conn.execute("SET enable_seqscan = off")
        for table, old in olds.items():
            old.execute("SET enable_seqscan = off")
            old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            equal("%s: a snapshot when it was new" % table, one(old, query % table), 4)
        for table, left in tables.items():
            conn.execute("DELETE FROM %s WHERE id > %d" % (table, left))

        def is_gone():
            conn.execute("SELECT pg_current_xact_id(), pg_sleep(1)")  # time is told by snapshots of new transactions
            for table in tables:
                conn.execute("VACUUM (INDEX_CLEANUP on, TRUNCATE off) " + table)
            return all(
                one(conn, "SELECT rows FROM lsh_info('%s_sig')" % table) == left for table, left in tables.items())

        wait_for(is_gone, "VACUUM to take the rows away", 400)
        for table, old in olds.items():
            e = sql_error(old, query % table)
            check("%s: the snapshot is too old" % table, e is not None and e.sqlstate == "72000", e or "it answers")
            equal("%s: a new snapshot" % table, one(conn, query % table), 0)
        equal("no alarm in the log", server.alarms(), [])


def main():
    sections((little_memory,), (progress,), (old_snapshots,))


if __name__ == "__main__":
    finish(main)
