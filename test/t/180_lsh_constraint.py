#!/usr/bin/python3
"""Constraints and triggers against near copies under many clients, and through dump and restore. Clients insert,
update, delete and roll back at once, while the index is flushed, merged and vacuumed. The table never holds a near
copy, and a row is refused only if there is one."""
import random
import tempfile
import threading
import time

from harness import *

CLIENTS = 4
STATEMENTS = 60000 if FULL else 4000 if LONG else 1200  # of each mix: rows that were inserted or refused
FAMILIES = 250               # rows of one are near copies of each other, rows of two are not
COPY, DEADLOCK = "23P01", "40P01"

SCHEMA = """
    CREATE FUNCTION sig(family int, change int) RETURNS minhash LANGUAGE sql IMMUTABLE AS
        $$ SELECT set_minhash(ARRAY(SELECT family * 1000::bigint + change + g FROM generate_series(1, 97) g)) $$;
    CREATE TABLE excluded (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, family int, sig minhash,
        EXCLUDE USING lsh (with_threshold(sig, 0.8) WITH &&) WITH (pending_limit = 1));
    CREATE TABLE guarded (id bigint GENERATED ALWAYS AS IDENTITY, family int, sig minhash) PARTITION BY HASH (id);
    CREATE TABLE guarded_0 PARTITION OF guarded FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE guarded_1 PARTITION OF guarded FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    ALTER TABLE guarded ADD PRIMARY KEY (id);
    CREATE INDEX ON guarded USING lsh (sig) WITH (pending_limit = 1);
    CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON guarded FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig',
      '0.8');
    CREATE TABLE marked (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, family int, sig minhash, copy_of bigint);
    CREATE INDEX ON marked USING lsh (sig) WITH (pending_limit = 1);
    CREATE TRIGGER mark BEFORE INSERT OR UPDATE ON marked FOR EACH ROW EXECUTE FUNCTION neardup_flag('sig', '0.8',
      'copy_of');
"""
INDEXES = {"excluded": ["excluded_with_threshold_excl"], "guarded": ["guarded_0_sig_idx", "guarded_1_sig_idx"],
           "marked": ["marked_sig_idx"]}


class Mix:
    """Clients that insert into `table`; with `change` they update and delete, too."""

    def __init__(self, name, table, conflict, change):
        self.name, self.table, self.conflict, self.change = name, table, conflict, change
        self.kept, self.bad = set(), []
        self.counts = {"inserted": 0, "refused": 0, "deadlocks": 0}
        self.lock = threading.Lock()
        self.end = time.monotonic() + 600  # a hang guard

    def is_over(self):
        with self.lock:
            return sum(self.counts.values()) >= STATEMENTS or time.monotonic() > self.end

    def note(self, what, n=1):
        with self.lock:
            self.counts[what] += n

    def insert(self, conn, rng):
        n = 1 if rng.random() < 0.8 else rng.randrange(2, 6)
        families = [rng.randrange(FAMILIES) for _ in range(n)]
        values = ", ".join("(%d, sig(%d, %d))" % (f, f, rng.randrange(3)) for f in families)
        undo = rng.random() < 0.15
        with conn.transaction(force_rollback=undo):
            cur = conn.execute(
                "INSERT INTO %s (family, sig) VALUES %s %s RETURNING family" % (self.table, values, self.conflict))
            got = len(cur.fetchall())
            if undo and rng.random() < 0.5:
                time.sleep(0.01)
        if not undo:
            with self.lock:
                self.counts["inserted"] += got
                self.counts["refused"] += n - got
                self.kept.update(families)

    def update(self, conn, rng):
        conn.execute("UPDATE %s SET family = v.f, sig = sig(v.f, v.c) FROM (VALUES (%d, %d, %d)) v(was, f, c) "
                     "WHERE family = v.was"
                     % (self.table, rng.randrange(FAMILIES), rng.randrange(FAMILIES), rng.randrange(3)))

    def work(self, conn, seed):
        rng = random.Random(seed)
        while not self.bad and not self.is_over():
            what = rng.random() if self.change else 1
            try:
                if what < 0.15:
                    conn.execute("DELETE FROM %s WHERE family = %d" % (self.table, rng.randrange(FAMILIES)))
                elif what < 0.4:
                    self.update(conn, rng)
                else:
                    self.insert(conn, rng)
            except psycopg.Error as e:
                if e.sqlstate == COPY:
                    self.note("refused")
                elif e.sqlstate == DEADLOCK:
                    self.note("deadlocks")
                else:
                    with self.lock:
                        self.bad.append("%s %s" % (e.sqlstate, e))
                    return

    def vacuum(self, conn):
        while not self.bad and not self.is_over():
            conn.execute("VACUUM " + self.table)
            time.sleep(0.2)

    def run(self, name):
        conns = [connect(name) for _ in range(CLIENTS + 1)]
        conns[0].execute("TRUNCATE " + self.table)
        threads = [Thread(target=self.work, args=(c, i)) for i, c in enumerate(conns[1:])]
        threads.append(Thread(target=self.vacuum, args=(conns[0],)))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        conn = conns[0]
        equal(self.name + ": no other error", self.bad, [])
        pairs = conn.execute("SELECT * FROM all_pairs('SELECT id, sig FROM %s', 0.8)" % self.table).fetchall()
        check("%s: no near copies (%s)" % (self.name, ", ".join("%d %s" % (n, k) for k, n in self.counts.items() if n)),
              not pairs and self.counts["inserted"], "%d pairs: %s" % (len(pairs), pairs[:3]))
        if not self.change and self.conflict:
            # Nobody was refused for a row that was taken back, or for none.
            there = {r[0] for r in conn.execute("SELECT family FROM " + self.table)}
            check(self.name + ": a row of every family", there == self.kept,
                  "%d there, %d kept" % (len(there), len(self.kept)))
        for index in INDEXES[self.table]:
            e = sql_error(conn, "SELECT lsh_check('%s', true)" % index)
            check("%s: %s is sound" % (self.name, index), e is None, e)
        for c in conns:
            c.close()


def flags(name):
    """Every row but the first of its family is marked, whoever inserted it when."""
    def work(conn, seed):
        rng = random.Random(seed)
        for _ in range(1000 if FULL else 150 if LONG else 60):
            family = rng.randrange(60)
            with conn.transaction(force_rollback=rng.random() < 0.2):
                conn.execute(
                    "INSERT INTO marked (family, sig) VALUES (%d, sig(%d, %d))" % (family, family, rng.randrange(3)))

    conns = [connect(name) for _ in range(CLIENTS)]
    threads = [Thread(target=work, args=(c, i)) for i, c in enumerate(conns)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    rows = conns[0].execute("SELECT id, family, copy_of FROM marked ORDER BY id").fetchall()
    originals = [f for _, f, of in rows if of is None]
    equal("flags: one original a family", sorted(originals), sorted({f for _, f, _ in rows}))
    family = {i: f for i, f, _ in rows}
    check("flags: copies name a row of their family", len(rows) > len(originals) and
          all(of is None or family.get(of) == f for i, f, of in rows), rows[:20])
    for c in conns:
        c.close()


def restored(conn, where):
    equal(where + ": constraint", one(conn, "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'x'"),
          "EXCLUDE USING lsh (with_threshold(sig, (0.8)::double precision) WITH &&) WITH (pending_limit='1')")
    for index in sum(INDEXES.values(), []):
        e = sql_error(conn, "SELECT lsh_check('%s', true)" % index)
        check("%s: %s is sound" % (where, index), e is None, e)
    conn.execute("INSERT INTO marked (family, sig) SELECT 5000, sig(5000, 0)")
    for table in ("excluded", "guarded"):
        conn.execute("INSERT INTO %s (family, sig) SELECT 5000, sig(5000, 0)" % table)
        fails("%s: a near copy in %s" % (where, table), conn,
              "INSERT INTO %s (family, sig) SELECT 5000, sig(5000, 1)" % table, state=COPY)
    equal(where + ": a near copy is marked",
          one(conn, "INSERT INTO marked (family, sig) SELECT 5000, sig(5000, 1) RETURNING copy_of IS NOT NULL"), True)


def dump(name):
    """Triggers come after the data, so that what a table holds is restored as it is. With jobs pg_restore does not know
    that the trigger of a partitioned table belongs behind the data of its
    partitions: there it is told not to fire any."""
    with connect(name) as conn, tempfile.NamedTemporaryFile(suffix=".dump") as file:
        conn.execute("ALTER TABLE guarded DISABLE TRIGGER no_copies")
        conn.execute("INSERT INTO guarded (family, sig) SELECT 6000, sig(6000, i) FROM generate_series(0, 1) i")
        conn.execute("ALTER TABLE guarded ENABLE TRIGGER no_copies")
        tables = {t: conn.execute("SELECT t::text FROM %s t ORDER BY id" % t).fetchall() for t in INDEXES}
        done = tool("pg_dump", "-Fc", "-f", file.name, name)
        check("pg_dump", done.returncode == 0 and not done.stderr, done.stderr)
        for jobs in ("1", "4"):
            with database("_restored", extension=False) as copy:
                options = {"PGOPTIONS": "-c session_replication_role=replica"} if jobs != "1" else {}
                done = tool("pg_restore", "-d", copy, "-j", jobs, "--exit-on-error", file.name, env=options)
                check("pg_restore, jobs %s" % jobs, done.returncode == 0 and not done.stderr, done.stderr)
                with connect(copy) as other:
                    got = {t: other.execute("SELECT t::text FROM %s t ORDER BY id" % t).fetchall() for t in INDEXES}
                    equal("restored rows, jobs %s" % jobs, got, tables)
                    restored(other, "restored, jobs %s" % jobs)


def main():
    with database() as name:
        with connect(name) as conn:
            conn.execute(SCHEMA)
        for mix in (("EXCLUDE", "excluded", "", False),
                    ("EXCLUDE, ON CONFLICT", "excluded", "ON CONFLICT DO NOTHING", False),
                    ("EXCLUDE, changes", "excluded", "", True),
                    ("EXCLUDE, ON CONFLICT, changes", "excluded", "ON CONFLICT DO NOTHING", True),
                    ("guard", "guarded", "", False), ("guard, changes", "guarded", "", True)):
            Mix(*mix).run(name)
        flags(name)
        dump(name)


finish(main)
