#!/usr/bin/env python3
"""duplicates_status.last_progress: when a refresh came further last, whether it runs, was ended or has ended, and what
docs/jobs.md asks of a refresh that seems to be stuck."""
import time

from harness import *
from jobs import run

STATUS = "SELECT phase, done, pid, started, finished, last_progress FROM duplicates_status WHERE job = 'copies'"
# The third batch of a refresh waits for who has the lock 7.
TRIGGER = """CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF (SELECT j.done FROM public.copies_job j) = 20 THEN PERFORM pg_advisory_xact_lock_shared(7); END IF;
  RETURN NEW; END $$;
CREATE TRIGGER waits BEFORE UPDATE ON copies_signatures FOR EACH ROW EXECUTE FUNCTION waits()"""


def stuck_query():
    with open(os.path.join(ROOT, "docs", "jobs.md"), encoding="utf-8") as page:
        (block,) = [block for block in sql_blocks(page.read()) if "pg_stat_activity" in block]
    return block


def wait_until_blocked(conn, pid, by):
    limit = time.monotonic() + 60  # a hang guard
    while time.monotonic() < limit and not one(conn, "SELECT %s = ANY (pg_blocking_pids(%s))", (by, pid)):
        time.sleep(0.005)


def stopped_half_way(conn):
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text); INSERT INTO docs "
                 "SELECT i, 'a document of some words, number ' || i FROM generate_series(1, 40) i")
    conn.execute("SELECT create_duplicates('copies', 'docs', 'id', 'body')")
    equal("a new job has made no progress", conn.execute(STATUS).fetchone()[-2:], (None, None))
    conn.execute("CALL refresh_duplicates('copies')")
    *_, finished, progress = conn.execute(STATUS).fetchone()
    check("the end of a refresh is its last progress", progress is not None and progress == finished, progress)
    conn.execute(TRIGGER)
    conn.execute("UPDATE docs SET body = body || ' and more'")
    with connect(conn.info.dbname) as holder, connect(conn.info.dbname) as worker:
        holder.execute("SELECT pg_advisory_lock(7)")
        before = one(conn, "SELECT clock_timestamp()")
        errors = []
        refresh = "CALL refresh_duplicates('copies', batch => 10)"
        thread = Thread(target=lambda: errors.append(sql_error(worker, refresh)), daemon=True)
        thread.start()
        wait_until_blocked(conn, worker.info.backend_pid, holder.info.backend_pid)
        phase, done, pid, started, finished, progress = conn.execute(STATUS).fetchone()
        equal("a refresh that runs has not ended", (phase, done, pid, finished),
              ("signing", 20, worker.info.backend_pid, None))
        signing = one(conn, "SELECT phase_started FROM copies_job")
        check("its last progress is its last batch", before < started < signing < progress,
              (before, started, signing, progress))
        found = conn.execute(stuck_query())
        row = dict(zip((column.name for column in found.description), found.fetchone()))
        equal("the query of the page says who is in its way",
              (row["job"], row["wait_event_type"], row["blocked_by"]), ("copies", "Lock", [holder.info.backend_pid]))
        check("and since when", row["silent_for"].total_seconds() > 0, row)
        conn.execute("SELECT pg_terminate_backend(%s)", (pid,))
        thread.join(60)
        check("it was ended", errors and errors[0] is not None, errors)
        equal("one that was ended shows the same", conn.execute(STATUS).fetchone(),
              ("interrupted", 20, None, started, None, progress))
        equal("and in a report it has not ended",
              one(conn, "SELECT iso_finished FROM neardup_internal.report_about('copies_job')"), None)
    conn.execute("CALL refresh_duplicates('copies', batch => 10)")
    phase, *_, finished, last = conn.execute(STATUS).fetchone()
    equal("the next one comes to its end", (phase, last), ("idle", finished))
    check("later", last > progress, (last, progress))
    equal("which a report shows", one(conn, "SELECT iso_finished FROM neardup_internal.report_about('copies_job')"),
          one(conn, "SELECT neardup_internal.iso_time(finished) FROM duplicates_status"))


def failed(conn):
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text); INSERT INTO docs VALUES (1, 'one'), (2, 'two')")
    run(conn, "SELECT create_duplicates('copies', 'docs', 'id', 'body', filter => '1 / (id - 2) < 5')")
    fails("a refresh that fails", conn, "CALL refresh_duplicates('copies')", state="22012")
    phase, *_, finished, progress = conn.execute(STATUS).fetchone()
    equal("its end is its last progress", (phase, progress), ("failed", finished))


def main():
    with database() as name:
        in_copies(name, stopped_half_way, failed)


finish(main)
