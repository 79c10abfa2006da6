#!/usr/bin/env python3
"""removable_duplicates() among other sessions and roles: whoever deletes what it returns never deletes the last row of
a text, whatever others delete and change meanwhile."""
import random
import time

from harness import *
from jobs import run

OWNER = "neardup_t_deleter"
DOCS = """CREATE TABLE docs (id int PRIMARY KEY, grp int, body text);
INSERT INTO docs SELECT 10 * g + n, g, words(g) FROM generate_series(1, %d) g, generate_series(1, %d) n"""
WORDS = """CREATE FUNCTION words(g int) RETURNS text IMMUTABLE LANGUAGE sql AS
  $$ SELECT string_agg('g' || g || 'w' || w, ' ' ORDER BY w) FROM generate_series(1, 30) w $$"""
REMOVABLE = "SELECT id FROM removable_duplicates('%s'%s)"
DELETE = "DELETE FROM docs USING removable_duplicates('copies', %d) r WHERE docs.id = r.id"


def make_docs(conn, groups, rows):
    conn.execute(WORDS)
    conn.execute(DOCS % (groups, rows))
    run(conn, "SELECT create_duplicates('copies', 'docs', 'id', 'body')", "CALL refresh_duplicates('copies')")


def ids(conn, job="copies", more=""):
    return [row[0] for row in conn.execute(REMOVABLE % (job, more)).fetchall()]


def ids_behind(other, ends, conn):
    """ids(), of a call that waits for a lock which `other` has, until that has executed `ends`."""
    found = []
    thread = Thread(target=lambda: found.append(ids(conn)), daemon=True)
    with connect(conn.info.dbname) as watcher:
        thread.start()
        blocked = "SELECT %s = ANY (pg_blocking_pids(%s))"
        limit, waits = time.monotonic() + 60, False  # a hang guard
        while thread.is_alive() and not waits and time.monotonic() < limit:
            waits = one(watcher, blocked, (other.info.backend_pid, conn.info.backend_pid))
    other.execute(ends)
    thread.join(60)
    return waits, found[0] if found else None


# A name, what another session has done to row 11, which is kept, or to row 12, a copy of it, when a call comes to it,
# how that session ends, and whether row 12 may go then.
BEFORE = (
    ("the kept row is deleted", "DELETE FROM docs WHERE id = 11", "COMMIT", False),
    ("and is not", "DELETE FROM docs WHERE id = 11", "ROLLBACK", True),
    ("the kept row gets another text", "UPDATE docs SET body = 'another text' WHERE id = 11", "COMMIT", False),
    ("the kept row gets another id", "UPDATE docs SET id = 9 WHERE id = 11", "COMMIT", False),
    ("another column of it changes", "UPDATE docs SET grp = 0 WHERE id = 11", "COMMIT", True),
    ("the copy gets another text", "UPDATE docs SET body = 'another text' WHERE id = 12", "COMMIT", False),
    ("the copy is deleted", "DELETE FROM docs WHERE id = 12", "COMMIT", False),
    ("the kept row is deleted, and comes again",
     "DELETE FROM docs WHERE id = 11; INSERT INTO docs VALUES (11, 1, words(1))", "COMMIT", False),
)


def waits_for_others(conn):
    """A call waits for who has changed a row, and judges what that has left."""
    make_docs(conn, 2, 2)
    with connect(conn.info.dbname) as other:
        for level in ("READ COMMITTED", "REPEATABLE READ"):
            for what, change, end, goes in BEFORE:
                name = "%s: %s" % (level.lower(), what)
                other.execute("BEGIN; " + change)
                conn.execute("BEGIN ISOLATION LEVEL " + level)
                conn.execute("SELECT")
                if level == "REPEATABLE READ" and end == "COMMIT":
                    error = error_behind(other, [end], conn, REMOVABLE % ("copies", ""))
                    check(name, error is not None and error.sqlstate == "40001", error)
                else:
                    waits, found = ids_behind(other, end, conn)
                    equal(name, (waits, found), (True, [12, 22] if goes else [22]))
                conn.execute("ROLLBACK")
                conn.execute("TRUNCATE docs; INSERT INTO docs SELECT 10 * g + n, g, words(g) "
                             "FROM generate_series(1, 2) g, generate_series(1, 2) n")
                conn.execute("CALL refresh_duplicates('copies')")


def keeps_others_away(conn):
    """Until the caller commits, nobody deletes or changes a row that is kept, nor one that goes; who refers to a row
    that is kept does not wait."""
    make_docs(conn, 2, 2)
    conn.execute("CREATE TABLE remarks (doc int REFERENCES docs)")
    with connect(conn.info.dbname) as other:
        for what, waits in (("DELETE FROM docs WHERE id = 11", True), ("DELETE FROM docs WHERE id = 12", True),
                            ("UPDATE docs SET body = 'other' WHERE id = 11", True),
                            ("UPDATE docs SET grp = 0 WHERE id = 12", True), ("SELECT FROM docs FOR UPDATE", True),
                            ("SELECT FROM docs FOR KEY SHARE", True), ("INSERT INTO remarks VALUES (12)", True),
                            ("INSERT INTO remarks VALUES (11)", False), ("SELECT FROM docs", False)):
            conn.execute("BEGIN")
            equal("%s: what may go" % what, ids(conn), [12, 22])
            other.execute("BEGIN; SET LOCAL lock_timeout = '200ms'")
            error = sql_error(other, what)
            equal("%s waits: %s" % (what, waits), error is not None and error.sqlstate == "55P03", waits)
            other.rollback()
            conn.execute("ROLLBACK")
    conn.execute("BEGIN")
    ids(conn, more=", 1")
    equal("no more rows are locked than are asked for",
          one(conn, "SELECT count(*) FROM docs WHERE xmax::text::bigint = txid_current() % (1::bigint << 32)"), 2)
    conn.execute("ROLLBACK")


def no_circles(conn):
    """Calls for two jobs over one table, where each keeps what the other lets go: they wait for each other, and none is
    ended by a deadlock."""
    make_docs(conn, 40, 4)
    run(conn, "SELECT create_duplicates('newest', 'docs', 'id', 'body', keep => 'newest')",
        "CALL refresh_duplicates('newest')")
    equal("each keeps what the other lets go", one(conn, "SELECT count(*) FROM copies c JOIN newest n USING (id) "
                                                         "WHERE c.survivor AND NOT n.survivor"), 40)
    calls = []

    def call(job):
        with connect(conn.info.dbname) as one_of_two:
            for _ in range(200 if FULL else 60):
                one_of_two.execute("BEGIN")
                calls.append(len(ids(one_of_two, job)))
                one_of_two.execute("ROLLBACK")

    threads = [Thread(target=call, args=(job,), daemon=True) for job in ("copies", "newest", "copies", "newest")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    equal("all calls return all rows", set(calls), {120})


class Writers:
    """Sessions that delete and change rows of docs, until they are stopped. None of them ever takes the last row of a
    group by itself."""

    def __init__(self, name, groups):
        self.name, self.groups, self.stopped, self.did = name, groups, False, {}

    def start(self):
        acts = (self.delete_one, self.delete_one, self.alter_one, self.add_copies, self.delete_duplicates,
                self.delete_duplicates, self.refresh)
        self.threads = [Thread(target=self.work, args=(act, i), daemon=True) for i, act in enumerate(acts)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopped = True
        for thread in self.threads:
            thread.join(120)

    def work(self, act, seed):
        rng = random.Random(seed)
        with connect(self.name) as conn:
            while not self.stopped:
                error = None
                try:
                    with conn.transaction() if act != self.refresh else contextlib.nullcontext():
                        n = act(conn, rng)
                except psycopg.Error as e:
                    error = e
                    # Who loses tries again, as any program does.
                    if e.sqlstate not in ("40P01", "40001", "55P03"):
                        raise
                key = act.__name__ if error is None else "%s: %s" % (act.__name__, error.sqlstate)
                self.did[key] = self.did.get(key, 0) + (n if error is None else 1)

    def two_rows(self, conn, rng):
        """A row, mostly one that a job keeps, and another of its text, which stays while this transaction lasts."""
        time.sleep(0.01)
        group = rng.randrange(1, self.groups + 1)
        rows = conn.execute("SELECT id FROM docs WHERE grp = %s ORDER BY id LIMIT 2 FOR UPDATE", (group,)).fetchall()
        return rows if len(rows) == 2 else None

    def delete_one(self, conn, rng):
        rows = self.two_rows(conn, rng)
        return conn.execute("DELETE FROM docs WHERE id = %s", rows[0]).rowcount if rows else 0

    def alter_one(self, conn, rng):
        rows = self.two_rows(conn, rng)
        return conn.execute("UPDATE docs SET grp = NULL, body = %s WHERE id = %s",
                            ("a text of its own %d" % rng.randrange(10**9), rows[0][0])).rowcount if rows else 0

    def add_copies(self, conn, rng):
        """Copies of what is there, before it and behind it."""
        time.sleep(0.02)
        return conn.execute(
            "INSERT INTO docs SELECT %s + g, g, words(g) FROM (SELECT DISTINCT grp AS g FROM docs "
            "WHERE grp IS NOT NULL) d WHERE random() < 0.5", (rng.randrange(-10**6, 10**6) * 1000,)).rowcount

    def delete_duplicates(self, conn, rng):
        return conn.execute(DELETE % rng.choice((1, 7, 1000))).rowcount

    def refresh(self, conn, rng):
        conn.execute("CALL refresh_duplicates('copies', batch => %s)", (rng.choice((5, 1000)),))
        return 1


def last_copies(conn):
    """Writers who never take the last row of a text, and others who delete duplicates: no text goes."""
    groups = 30
    make_docs(conn, groups, 5)
    writers = Writers(conn.info.dbname, groups)
    writers.start()
    time.sleep(60 if FULL else 12)
    writers.stop()
    equal("of each text a row is left", conn.execute(
        "SELECT g FROM generate_series(1, %s) g WHERE NOT EXISTS (SELECT FROM docs WHERE body = words(g))",
        (groups,)).fetchall(), [])
    acts = (writers.delete_one, writers.alter_one, writers.add_copies, writers.delete_duplicates, writers.refresh)
    idle = [act.__name__ for act in acts if writers.did.get(act.__name__, 0) < 3]
    check("and all had work: %s" % writers.did, not idle, idle)


def between_steps(conn):
    """A refresh that was stopped has signed rows that are not clustered yet: what the clusters say of them is old."""
    make_docs(conn, 3, 2)
    conn.execute("UPDATE docs SET body = 'a text of another kind altogether' WHERE id IN (11, 21)")
    conn.execute("CALL refresh_duplicates('copies', batch => 1, time_limit => '0')")
    equal("it was stopped", one(conn, "SELECT phase FROM duplicates_status WHERE job = 'copies'"), "waiting")
    equal("copies of what has changed stay", ids(conn), [32])
    conn.execute("CALL refresh_duplicates('copies')")
    equal("until it is clustered", ids(conn), [21, 32])


def other_roles(conn):
    """It runs with the rights of its caller, who owns the job."""
    make_docs(conn, 3, 2)
    conn.execute("GRANT CREATE ON SCHEMA public TO {0}; GRANT SELECT ON docs, copies, copies_job, copies_signatures "
                 "TO {0}".format(OWNER))
    with connect(conn.info.dbname) as deleter:
        deleter.execute("SET ROLE " + OWNER)
        fails("not for another role's job", deleter, REMOVABLE % ("copies", ""), text="belongs to another role",
              state="42501")
        run(deleter, "SELECT create_duplicates('own', 'docs', 'id', 'body')", "CALL refresh_duplicates('own')")
        fails("not without UPDATE", deleter, REMOVABLE % ("own", ""), text="permission denied for table docs",
              state="42501")
        conn.execute("GRANT UPDATE (grp), DELETE ON docs TO {0}; REVOKE SELECT ON docs FROM {0}".format(OWNER))
        fails("not without SELECT", deleter, REMOVABLE % ("own", ""), text="permission denied for table docs",
              state="42501")
        conn.execute("GRANT SELECT ON docs TO {0}".format(OWNER))
        equal("with UPDATE on a column", ids(deleter, "own"), [12, 22, 32])
        conn.execute("ALTER TABLE docs ENABLE ROW LEVEL SECURITY; CREATE POLICY those ON docs TO {0} "
                     "USING (id NOT IN (11, 22))".format(OWNER))
        equal("a kept row that is hidden keeps nothing, and a hidden row does not go", ids(deleter, "own"), [32])
        conn.execute("DROP POLICY those ON docs; CREATE POLICY those ON docs FOR SELECT TO {0} USING (true); "
                     "CREATE POLICY these ON docs FOR UPDATE TO {0} USING (id <> 31)".format(OWNER))
        equal("nor does one that may not be locked", ids(deleter, "own"), [12, 22])


def main():
    with roles(OWNER), database() as name:
        in_copies(name, waits_for_others, keeps_others_away, no_circles, last_copies, between_steps, other_roles)


finish(main)
