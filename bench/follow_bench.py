#!/usr/bin/env python3
"""follow_bench.py ROWS: refreshes of a job that compares all rows and of one that follows its source by triggers, and what writers of
the source pay for that. A figure a line: processor time of one backend. The server is that of PGHOST and PGDATABASE; tables named
neardup_follow_* are made and dropped there."""
import os
import sys
import tempfile
import threading

from session import Session

# The words of a row: of ten rows three are near copies.
WORDS = """(SELECT string_agg(md5((CASE WHEN i % 10 < 3 THEN i / 10 * 10 + 5 ELSE i END)::text || j ||
    CASE WHEN j = 20 AND i % 10 < 3 THEN i::text ELSE '' END), ' ') FROM generate_series(1, 20) j)"""
DOCS, JOBS = "neardup_follow_docs", {"scan": "neardup_follow_scan", "trigger": "neardup_follow_trigger"}
CHANGES = (
    "INSERT INTO {docs} SELECT id + 1000000000 * {n}, sig FROM {docs} WHERE id IN (SELECT {n} + i * ({rows} / 41) FROM generate_series(1, 40) i)",
    "UPDATE {docs} SET sig = (SELECT sig FROM {docs} WHERE id = {n}) WHERE id IN (SELECT 5 + {n} + i * ({rows} / 31) FROM generate_series(1, 30) i)",
    "DELETE FROM {docs} WHERE id IN (SELECT 9 + {n} + i * ({rows} / 31) FROM generate_series(1, 30) i)")
# The rows that are copied: their text, and which share of ROWS they are.
COPIES = (("documents of 2 kB", "(SELECT string_agg(md5(i::text || j), ' ') FROM generate_series(1, 62) j)", 10),
          ("rows of 50 bytes", "'short body ' || i", 1))
SINGLE = 5000


def line(what, value, unit):
    print("%-64s %9.*f %s" % (what, 3 if value < 10 else 1, value, unit), flush=True)


def drop(session):
    for job in JOBS.values():
        if session.one("SELECT to_regclass('%s_job') IS NOT NULL" % job)[0]:
            session.conn.execute("SELECT drop_duplicates('%s')" % job)
    session.conn.execute("DROP TABLE IF EXISTS %s, neardup_follow_copied" % DOCS)


def refresh(how, what):
    """A session of its own calls it, as a timer would."""
    session = Session("neardup.threads = 1", "maintenance_work_mem = '1GB'")
    before = session.cpu()
    session.conn.execute("CALL refresh_duplicates('%s')" % JOBS[how])
    line("%s, %s" % (what, how), session.cpu() - before, "s")
    session.conn.close()


def refreshes(rows):
    owner = Session()
    owner.conn.execute("CREATE TABLE %s (id bigint PRIMARY KEY, sig minhash)" % DOCS)
    owner.conn.execute("INSERT INTO %s SELECT i, to_minhash(%s, 1, num_perm => 128) FROM generate_series(1, %d) i" % (DOCS, WORDS, rows))
    owner.conn.execute("VACUUM ANALYZE " + DOCS)
    for how, job in JOBS.items():
        owner.conn.execute("SELECT create_duplicates('%s', '%s', 'id', signature => 'sig', follow => '%s')" % (job, DOCS, how))
        refresh(how, "the first refresh of %s rows" % format(rows, ","))
    for n in (1, 2):
        for change in CHANGES:
            owner.conn.execute(change.format(docs=DOCS, n=n, rows=rows))
        for how in JOBS:
            refresh(how, "100 changes")
        for how in JOBS:
            refresh(how, "nothing changed")
    differ = owner.one("SELECT count(*) FROM (SELECT id, representative, survivor FROM %s EXCEPT SELECT id, representative, survivor FROM %s) x"
                       % tuple(JOBS.values()))[0]
    print("rows of the two results that differ: %d" % differ)
    drop(owner)
    owner.conn.close()


class Memory(threading.Thread):
    """The most memory of its own that a backend has had, in MB."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.done = pid, 0, threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(0.02):
            with open("/proc/%d/status" % self.pid) as f:
                self.most = max(self.most, *(int(x.split()[1]) / 1024 for x in f if x.startswith("RssAnon")))


def written(how, what, rows, write):
    """Rows that a session writes into an empty table."""
    owner = Session()
    owner.conn.execute("CREATE TABLE neardup_follow_copied (id int PRIMARY KEY, body text)")
    if how == "trigger":
        owner.conn.execute("SELECT create_duplicates('%s', 'neardup_follow_copied', 'id', 'body', follow => 'trigger')" % JOBS[how])
    owner.conn.execute("CHECKPOINT")
    session = Session()
    memory = Memory(session.conn.info.backend_pid)
    before = session.cpu()
    write(session)
    line("%s, %s" % (what, how), (session.cpu() - before) / rows * 1e6, "us a row")
    memory.done.set()
    memory.join()
    if rows > SINGLE:
        line("  most memory of the backend", memory.most, "MB")
    session.conn.close()
    drop(owner)
    owner.conn.close()


def insert_each(session):
    for i in range(SINGLE):
        session.conn.execute("INSERT INTO neardup_follow_copied VALUES (%d, 'short body')" % i)


def main(rows):
    drop(Session())
    refreshes(rows)
    for what, body, share in COPIES:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            file = folder + "/rows"
            Session().conn.execute("COPY (SELECT i::int, %s FROM generate_series(1, %d) i) TO '%s' (FORMAT binary)" % (
                body, rows // share, file))
            for how in JOBS:
                written(how, "COPY of " + what, rows // share, lambda session: session.conn.execute(
                    "COPY neardup_follow_copied FROM '%s' (FORMAT binary)" % file))
    for how in JOBS:
        written(how, "an INSERT of one row", SINGLE, insert_each)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000000)
