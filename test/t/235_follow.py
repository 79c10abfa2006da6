#!/usr/bin/env python3
"""Jobs that follow their source by triggers: whatever writes the source, and whatever happens to it or to the result,
a refresh gives the rows of a job that compares all rows. NEARDUP_SEED repeats a run."""
import random

from servers import *
from jobs import from_scratch, run, table

SEED = int(os.environ.get("NEARDUP_SEED", "234"))
STEPS = 300 if FULL else 45
IDS, PARTS = 40, 3
# body and hashes are filled by a trigger, from columns that no job reads.
SCHEMA = """CREATE TABLE docs (id int, part int, start int, note text, key int, team int, body text, hashes int[],
      PRIMARY KEY (id, part)) PARTITION BY LIST (part);
    CREATE TABLE docs_0 PARTITION OF docs FOR VALUES IN (0); CREATE TABLE docs_1 PARTITION OF docs FOR VALUES IN (1);
    CREATE TABLE docs_2 PARTITION OF docs FOR VALUES IN (2) PARTITION BY RANGE (id);
    CREATE TABLE docs_2_1 PARTITION OF docs_2 FOR VALUES FROM (20) TO (30);
    CREATE TABLE docs_2_x PARTITION OF docs_2 DEFAULT;
    CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
      SELECT array_agg(e), string_agg('w' || e, ' ') INTO NEW.hashes, NEW.body
      FROM generate_series(NEW.start, NEW.start + 5) e; RETURN NEW; END$$;
    CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fill()"""
JOBS = {
    "anchor": "signature => 'hashes', measure => 'jaccard', threshold => 0.5, order_by => 'key'",
    "connected": "signature => 'hashes', measure => 'jaccard', threshold => 0.6, linkage => 'connected', "
                 "within => '{team}', filter => 'team IS DISTINCT FROM 3'",
    "documents": "body => 'body', verify => 'jaccard', threshold => 0.5, order_by => 'key', deleted => 'team = 4'",
}
INSERT = ("INSERT INTO docs (id, part, start, key, team) VALUES ({id}, {part}, {start}, {key}, {team})")


class Writer:
    """Statements by chance: what is left of them is the same for every job."""

    def __init__(self, conn, rng):
        self.conn, self.rng = conn, rng

    def row(self):
        rng = self.rng
        return {"id": rng.randrange(1, IDS), "part": rng.randrange(PARTS), "start": rng.randrange(60),
                "key": rng.choice(("NULL", "1", "2", "3")), "team": rng.choice(("NULL", "1", "2", "3", "4"))}

    def do(self, statement, **more):
        self.conn.execute(statement.format(**dict(self.row(), **more)))

    def insert(self):
        row = self.row()
        self.do("DELETE FROM docs WHERE id = {id}; " + INSERT, **row)

    def change(self):
        self.do("UPDATE docs SET start = {start} WHERE id = {id}")

    def reorder(self):
        self.do("UPDATE docs SET key = {key}, team = {team} WHERE id = {id}")

    def unread(self):
        self.do("UPDATE docs SET note = 'n{start}', start = start WHERE id % 5 = {part}")

    def delete(self):
        self.do("DELETE FROM docs WHERE id IN ({id}, {id} + 7)")

    def move(self):
        self.do("UPDATE docs SET part = {part}, team = {team} WHERE id = {id}")

    def new_id(self):
        """The id goes to another row, and mostly another row gets it."""
        row = self.row()
        self.do("DELETE FROM docs WHERE id = {id} + 1; UPDATE docs SET id = id + 1 WHERE id = {id}", **row)
        if self.rng.random() < 0.7:
            self.do(INSERT, **row)

    def exchange(self):
        self.do("UPDATE docs SET id = -1 WHERE id = {id}; UPDATE docs SET id = {id} WHERE id = {id} + 1; "
                "UPDATE docs SET id = {id} + 1 WHERE id = -1")

    def copy(self):
        ids = self.rng.sample(range(1, IDS), 4)
        self.conn.execute("DELETE FROM docs WHERE id = ANY (%s)", (ids,))
        with self.conn.cursor().copy("COPY docs (id, part, start, team) FROM STDIN") as out:
            for i in ids:
                out.write_row((i, i % PARTS, self.rng.randrange(60), 1))

    def upsert(self):
        self.do("INSERT INTO docs (id, part, start) SELECT {id}, COALESCE((SELECT part FROM docs WHERE id = {id}), 0), "
                "{start} ON CONFLICT (id, part) DO UPDATE SET start = EXCLUDED.start")

    def merge(self):
        if server_version() < 150000:
            return self.upsert()
        self.do("MERGE INTO docs d USING (VALUES ({id}), ({id} + 1)) v(id) ON d.id = v.id "
                "WHEN MATCHED AND {part} = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET start = {start} "
                "WHEN NOT MATCHED THEN INSERT (id, part, start) VALUES (v.id, {part}, {start})")

    def as_replica(self):
        """As a subscription writes: only triggers that always fire do."""
        self.do("SET session_replication_role = replica; UPDATE docs SET key = {key} WHERE id % 7 = {part}; "
                "DELETE FROM docs WHERE id = {id}; RESET session_replication_role")

    ROWS = (insert, insert, insert, change, change, reorder, unread, delete, move, new_id, exchange, copy, upsert,
            merge, as_replica)

    def write(self):
        """One or more, of which some are rolled back."""
        with self.conn.transaction():
            for _ in range(self.rng.choice((1, 1, 2, 4))):
                end = self.rng.random()
                with self.conn.transaction() as savepoint:
                    self.rng.choice(self.ROWS)(self)
                    if end < 0.2:
                        raise psycopg.Rollback(savepoint)
            if self.rng.random() < 0.1:
                raise psycopg.Rollback()

    def reshape(self):
        """Changes that fire no trigger for each row."""
        row, part = self.row(), self.rng.randrange(2)
        self.rng.choice((
            lambda: self.conn.execute("TRUNCATE docs_%d" % part),
            lambda: self.conn.execute("TRUNCATE docs"),
            lambda: self.conn.execute("VACUUM FULL docs_%d" % part),
            lambda: run(self.conn, *("ALTER TABLE docs ALTER start TYPE " + kind for kind in ("bigint", "int"))),
            lambda: self.do("ALTER TABLE docs DETACH PARTITION docs_1; DELETE FROM docs_1 WHERE id < {id}; "
                            "UPDATE docs_1 SET hashes = ARRAY[{id}, 5], body = 'w{id} w5' WHERE id % 3 = 1; "
                            "ALTER TABLE docs ATTACH PARTITION docs_1 FOR VALUES IN (1)", **row),
            lambda: self.conn.execute("BEGIN; TRUNCATE docs_0; %s; COMMIT" % INSERT.format(**dict(row, part=0, id=99))),
        ))()


def edit(conn, rng, job):
    conn.execute(rng.choice(("DELETE FROM %s WHERE id %% 4 = 1", "UPDATE %s SET survivor = true",
                             "TRUNCATE %s", "UPDATE %s SET cluster = 1 WHERE id < 9")) % job)


def refresh(conn, other, rng, job):
    """In batches of any size, and often not to its end. True if it came there."""
    call, how = "CALL refresh_duplicates('%s', batch => %d" % (job, rng.choice((1, 2, 3, 1000))), rng.random()
    if how < 0.1:  # it fails where it would write its result
        other.execute("BEGIN; LOCK TABLE %s IN SHARE MODE" % job)
        conn.execute("SET lock_timeout = '1ms'")
        sql_error(conn, call + ")")
        conn.execute("RESET lock_timeout")
        other.execute("ROLLBACK")
    elif how < 0.2:
        conn.execute(call + ", time_limit => '0 s')")
    elif how < 0.25:
        conn.execute(call + ", rebuild => true)")
    elif how < 0.3:
        with conn.transaction():
            conn.execute(call + ", commit => false)")
    else:
        conn.execute(call + ")")
    return one(conn, "SELECT phase = 'idle' FROM %s_job" % job)


def counted(conn, job):
    """The counts of the status, and those of the result."""
    return (conn.execute("SELECT rows, duplicates, clusters FROM %s_job" % job).fetchone(),
            conn.execute("SELECT count(*), count(*) FILTER (WHERE NOT survivor), count(DISTINCT cluster) FILTER (WHERE "
                         "NOT survivor) FROM %s" % job).fetchone())


def histories(conn, other):
    rng, compared, counts = random.Random(SEED), [], []
    conn.execute(SCHEMA)
    writer = Writer(conn, rng)
    for job, options in JOBS.items():
        conn.execute("SELECT create_duplicates('%s', 'docs', 'id', %s, follow => 'trigger')" % (job, options))
    for step in range(STEPS):
        for _ in range(rng.randrange(5)):
            writer.write()
        if rng.random() < 0.15:
            writer.reshape()
        for job, options in JOBS.items():
            if rng.random() < 0.06:
                edit(conn, rng, job)
            if refresh(conn, other, rng, job):
                got, want = table(conn, job), from_scratch(conn, options)
                compared.append(("%s, step %d" % (job, step), *compare_rows(got, want)))
                counts.append(("%s, step %d" % (job, step), *counted(conn, job)))
    for job in JOBS:
        conn.execute("CALL refresh_duplicates('%s')" % job)
        compared.append((job + ": an empty queue", one(conn, "SELECT count(*) FROM %s_queue" % job), 0))
        conn.execute("CALL refresh_duplicates('%s', scan => true)" % job)
        compared.append((job + ": nothing is left to be found", one(
            conn, "SELECT clustered_rows FROM %s_job" % job), 0))
    equal_all("as a job that compares all rows, NEARDUP_SEED=%d" % SEED, compared)
    equal_all("the status counts the result, NEARDUP_SEED=%d" % SEED, counts)
    conn.execute("SELECT %s; DROP TABLE docs; DROP FUNCTION fill" % ", ".join(
        "drop_duplicates('%s')" % job for job in JOBS))


def compare_rows(got, want):
    return sorted(map(str, set(got) - set(want))), sorted(map(str, set(want) - set(got)))


def at_once(conn, other):
    """Writers beside refreshes: no writer waits for a refresh, and nothing is lost."""
    conn.execute(SCHEMA)
    conn.execute("SELECT create_duplicates('anchor', 'docs', 'id', %s, follow => 'trigger')" % JOBS["anchor"])
    stop, seen = threading.Event(), []

    def work(number):
        rng = random.Random("%d %d" % (SEED, number))
        with connect(conn.info.dbname) as mine:
            while not stop.is_set():  # ids of its own: writers do not wait for each other
                with mine.transaction():
                    for _ in range(rng.randrange(1, 4)):
                        i = 4 * rng.randrange(30) + number
                        mine.execute("DELETE FROM docs WHERE id = %s", (i,))
                        if rng.random() < 0.8:
                            mine.execute("INSERT INTO docs (id, part, start) VALUES (%s, %s, %s)",
                                         (i, i % PARTS, rng.randrange(100)))
                    if rng.random() < 0.2:
                        raise psycopg.Rollback()

    threads = [Thread(target=work, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for n in range(200 if FULL else 25):
        conn.execute("CALL refresh_duplicates('anchor', batch => %d)" % (7, 1000)[n % 2])
        seen += other.execute("SELECT pid FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))",
                              (conn.info.backend_pid,)).fetchall()
    stop.set()
    for thread in threads:
        thread.join(60)
    conn.execute("CALL refresh_duplicates('anchor')")
    equal("no session waits for a refresh", seen, [])
    equal("nothing that was written meanwhile is lost", *compare_rows(table(conn, "anchor"),
                                                                        from_scratch(conn, JOBS["anchor"])))
    conn.execute("SELECT drop_duplicates('anchor'); DROP TABLE docs; DROP FUNCTION fill")


def plain(conn, rows=300, options=""):
    """A table of 100 pairs and a job that follows it."""
    conn.execute("CREATE TABLE pages (id int PRIMARY KEY, hashes int[], note text, key int); INSERT INTO pages "
                 "SELECT i, ARRAY[i / 2, i / 2 + 9000, i / 2 + 20000], 'n', i FROM generate_series(1, %d) i" % rows)
    conn.execute("SELECT create_duplicates('follows', 'pages', 'id', signature => 'hashes', measure => 'jaccard', "
                 "follow => 'trigger'%s)" % options)
    conn.execute("CALL refresh_duplicates('follows')")


def drop_plain(conn):
    conn.execute("SELECT drop_duplicates('follows'); DROP TABLE pages")


def queued(conn):
    return [i for i, in conn.execute("SELECT id FROM follows_queue ORDER BY entry").fetchall()]


def what_is_queued(conn, other):
    plain(conn, options=", order_by => 'key', filter => 'id > 0'")
    run(conn, "UPDATE pages SET note = 'other' WHERE id = 1", "UPDATE pages SET key = key WHERE id = 2",
        "UPDATE pages SET hashes = hashes || 5 WHERE id = 3", "UPDATE pages SET key = NULL WHERE id = 4",
        "UPDATE pages SET id = -5 WHERE id = 5", "INSERT INTO pages VALUES (1000, '{1}', '', 1)",
        "DELETE FROM pages WHERE id = 6")
    equal("what a job reads is queued, and nothing else", queued(conn), [3, 4, 5, -5, 1000, 6])
    conn.execute("CALL refresh_duplicates('follows')")
    equal("a refresh takes what it has read", queued(conn), [])
    equal("and sees only that", conn.execute("SELECT total, scan FROM follows_job").fetchone(), (6, False))
    conn.execute("BEGIN; UPDATE pages SET key = 7 WHERE id = 10")
    other.execute("CALL refresh_duplicates('follows')")
    conn.execute("COMMIT")
    equal("what is committed later stays in the queue", queued(conn), [10])
    conn.execute("CALL refresh_duplicates('follows')")
    conn.execute("BEGIN; SET session_replication_role = replica; ALTER TABLE pages DISABLE TRIGGER ALL; "
                 "DELETE FROM pages WHERE id = 20; UPDATE pages SET hashes = '{1,2}' WHERE id = 21; "
                 "INSERT INTO pages VALUES (2000, '{3}'); COMMIT; SET session_replication_role = origin")
    equal("check_duplicates() finds what no trigger has seen",
          conn.execute("SELECT * FROM check_duplicates('follows') ORDER BY id::int").fetchall(),
          [("20", "source", "gone", "queued"), ("21", "source", "changed", "queued"),
           ("2000", "source", "new", "queued")])
    warnings = []
    conn.add_notice_handler(lambda d: warnings.append(d.message_primary))
    conn.execute("CALL refresh_duplicates('follows')")
    check("a trigger that is off is told", warnings and "does not fire on public.pages" in warnings[0], warnings)
    equal("and the refresh compares all rows", conn.execute("SELECT * FROM check_duplicates('follows')").fetchall(), [])
    conn.execute("SELECT alter_duplicates('follows', follow => 'trigger')")
    conn.execute("CALL refresh_duplicates('follows')")
    trigger = one(conn, "SELECT follow_trigger FROM follows_job")
    conn.execute("ALTER TABLE pages DISABLE TRIGGER ALL; DELETE FROM pages WHERE id = 30; "
                 "ALTER TABLE pages ENABLE ALWAYS TRIGGER " + trigger)
    conn.execute("CALL refresh_duplicates('follows')")
    equal("a refresh does not look for what no trigger has seen",
          one(conn, "SELECT count(*) FROM follows WHERE id = 30"), 1)
    conn.execute("CALL refresh_duplicates('follows', scan => true)")
    equal("scan => true does", one(conn, "SELECT count(*) FROM follows WHERE id = 30"), 0)
    drop_plain(conn)


def changes_of_the_job(conn, other):
    plain(conn)
    compared = []

    def compare(what, options="signature => 'hashes', measure => 'jaccard'"):
        conn.execute("CALL refresh_duplicates('follows')")
        compared.append((what, *compare_rows(table(conn, "follows"), from_scratch(conn, options, source="pages"))))

    other.execute("BEGIN; UPDATE pages SET key = 400 - key")
    error = error_behind(other, ["COMMIT"], conn,
                         "SELECT alter_duplicates('follows', order_by => 'key', filter => 'id < 90')")
    check("a change of what is read waits for writers", error is None, error)
    compare("another order", "signature => 'hashes', measure => 'jaccard', order_by => 'key', filter => 'id < 90'")
    conn.execute("UPDATE pages SET key = -id WHERE id = 50")
    compare("it is followed", "signature => 'hashes', measure => 'jaccard', order_by => 'key', filter => 'id < 90'")
    conn.execute("SELECT alter_duplicates('follows', order_by => '', filter => '')")
    compare("none")
    conn.execute("ALTER TABLE pages ALTER id TYPE bigint; UPDATE pages SET hashes = '{7}' WHERE id < 5")
    equal("ids of another type are not queued", set(queued(conn)), {None})
    compare("ids of another type")
    conn.execute("INSERT INTO pages VALUES (%d, '{7}')" % 2**40)
    equal("and then they are", queued(conn), [2**40])
    compare("a great id")
    conn.execute("ALTER TABLE pages RENAME hashes TO old; ALTER TABLE pages ADD hashes int[]; "
                 "UPDATE pages SET hashes = ARRAY[id % 50, 1000 + id % 50] WHERE id < 200")
    compare("another column of the name")
    run(conn, "SELECT rename_duplicates('follows', 'other')", "DELETE FROM pages WHERE id = 100",
        "SELECT rename_duplicates('other', 'follows')")
    compare("another name")
    conn.execute("SELECT alter_duplicates('follows', follow => 'scan'); DELETE FROM pages WHERE id = 101")
    compare("scan")
    equal("nothing is left of the triggers",
          one(conn, "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") + one(
              conn, "SELECT count(*) FROM pg_class WHERE relname = 'follows_queue'"), 0)
    conn.execute("SELECT alter_duplicates('follows', follow => 'trigger'); DELETE FROM pages WHERE id = 102")
    compare("trigger")
    equal_all("a job that changes follows its source", compared)
    drop_plain(conn)


def old_snapshots(conn, other):
    """A transaction that has begun before the triggers were made refreshes, or writes."""
    other.execute("CREATE TABLE pages (id int PRIMARY KEY, hashes int[], key int)")
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class; LOCK TABLE pages IN "
                     "ACCESS SHARE MODE")
        other.execute("INSERT INTO pages VALUES (1, '{1}')")
        conn.execute("SELECT create_duplicates('follows', 'pages', 'id', signature => 'hashes', measure => 'jaccard', "
                     "follow => 'trigger')")
        conn.execute("CALL refresh_duplicates('follows', commit => false)")
    equal("a refresh by an old snapshot does not see all", one(conn, "SELECT count(*) FROM follows"), 0)
    conn.execute("CALL refresh_duplicates('follows')")
    equal("and is not the last that compares all rows", one(conn, "SELECT count(*) FROM follows"), 1)
    conn.execute("SELECT drop_duplicates('follows')")
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1")
    conn.execute("SELECT create_duplicates('follows', 'pages', 'id', signature => 'hashes', measure => 'jaccard', "
                 "follow => 'trigger')")
    conn.execute("CALL refresh_duplicates('follows')")
    other.execute("INSERT INTO pages VALUES (2, '{2}'); COMMIT")
    equal("a writer with an old snapshot queues, too", queued(conn), [2])
    drop_plain(conn)


def main():
    with database() as name, connect(name) as conn, connect(name) as other:
        sections((histories, conn, other), (at_once, conn, other), (what_is_queued, conn, other),
                 (changes_of_the_job, conn, other), (old_snapshots, conn, other))


finish(main)
