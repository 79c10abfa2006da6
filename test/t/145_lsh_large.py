#!/usr/bin/python3
# may be skipped: it builds the extension, so it runs in the full form
"""Indexes of the largest size. A run of an lsh index has at most 542 x 542 leaves (2.4 GB), the directory 80 runs; this
builds the extension with runs of 12 x 12 leaves, so that about 100 MB have as many of them as 190 GB have otherwise,
and fills an index completely. Then the tests of crashes, concurrency and replicas run with that library: there, small
tables have siblings and inner pages."""
from servers import *

CHILDREN = 12
FULL_RUN = 7 * CHILDREN * CHILDREN // 8  # leaves
ROWS = 330000
LIMIT = "54000"
rng = random.Random(145)
SETTINGS_HERE = "max_wal_size = 4GB\nshared_buffers = 256MB\n"


def runs(conn):
    """Leaves of each run: {owner: leaves}."""
    return dict(conn.execute(
        "SELECT owner, count(*) FROM lsh_pages('t_sig') WHERE kind LIKE 'leaf%' AND live GROUP BY 1").fetchall())


def until_full(conn, findings):
    """Inserts, deletes and VACUUMs until the index takes no more rows: the error, and how often the large unit was
    written anew."""
    first, anew = ROWS + 1, 0
    for cycle in range(60):
        before = {owner for owner, leaves in runs(conn).items() if leaves >= FULL_RUN}
        error = None
        for _ in range(4):
            try:
                fill(conn, "t", 2500, first)
            except psycopg.Error as e:
                error = e
                break
            first += 2500
        conn.execute("DELETE FROM t WHERE id %% 997 = %d" % (cycle + 1))
        conn.execute("VACUUM (INDEX_CLEANUP on) t")
        # Merging ends runs. The unit of CREATE INDEX has more than half of all.
        anew += len(before - set(runs(conn))) > len(before) / 2
        n = one(conn, "SELECT runs FROM lsh_info('t_sig')")
        findings.see("few runs after VACUUM", n <= 75, n)
        if cycle % 4 == 0 or error:
            look(findings, "cycle %d" % cycle, conn, "t", make_queries(conn, rng, first // 8, 12), (0.8,))
        if error:
            return error, anew
    return None, anew


def filled(small):
    with Server(SETTINGS_HERE, small) as server, server.start().connect() as conn:
        conn.execute(SCHEMA)
        make_table(conn, "t", ROWS, index="pending_limit = 4")
        units, n = conn.execute("SELECT units, runs FROM lsh_info('t_sig')").fetchone()
        check("CREATE INDEX makes one unit of many runs", units == 1 and n > 45, (units, n))
        findings = Findings()
        error, anew = until_full(conn, findings)
        findings.report("filled to its end: sound, and exact")
        equal(
            "the end is an error",
            (getattr(error, "sqlstate", None), "is full" in str(error), "Partition" in str(error)), (LIMIT, True, True))
        equal("VACUUM never writes the large unit anew", anew, 0)
        # A value without room is refused; all else goes on.
        findings = Findings()
        for i in range(4):
            conn.execute("DELETE FROM t WHERE id %% 991 = %d" % i)
            conn.execute("VACUUM (INDEX_CLEANUP on) t")
            error = sql_error(
                conn,
                "INSERT INTO t SELECT i, i / 8, make_sig(i / 8, i, 1) FROM generate_series(900001::bigint, 920000) i")
            findings.see("a full index refuses", error is not None and error.sqlstate == LIMIT, error)
        look(findings, "full", conn, "t", make_queries(conn, rng, ROWS // 8, 12), (0.75, 0.9))
        conn.execute("DELETE FROM t WHERE id % 3 = 0")
        conn.execute("VACUUM (INDEX_CLEANUP on) t")
        conn.execute("REINDEX INDEX t_sig")
        fill(conn, "t", 20000, 950001)
        look(findings, "a third less, and REINDEX", conn, "t", make_queries(conn, rng, ROWS // 8, 12), (0.8,))
        findings.report("full: it refuses rows, serves the others, is vacuumed and has room again after REINDEX")
        conn.execute("DROP INDEX t_sig")
        fill(conn, "t", 200000, 2000001)
        fails("CREATE INDEX of more than an index holds", conn, "CREATE INDEX t_sig ON t USING lsh (sig)",
              text="would be too large", state=LIMIT, hint="Partition")
        check("nothing alarming in the log", not server.alarms(), server.alarms())


def others(small):
    """Their short forms, each by itself."""
    env = dict(os.environ, NEARDUP_DESTDIR=small.prefix, NEARDUP_FULL="0")
    for script in ("140_lsh_crash", "141_lsh_crash_points", "144_lsh_durability", "150_lsh_replica",
                   "160_lsh_concurrency"):
        done = subprocess.run([sys.executable, os.path.join(HERE, script + ".py")], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        lines = done.stdout.splitlines()
        good = sum(line.startswith("ok - ") for line in lines)
        check("%s with small runs (%d)" % (script, good), done.returncode == 0 and good > 5,
              [line for line in lines if line.startswith("not ok")][:3] or lines[-3:])


def main():
    if not FULL:
        return skip("an index filled to its end, by a library of its own: full form only (NEARDUP_FULL=1)")
    with tempfile.TemporaryDirectory(prefix="neardup_145_", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        small = Installation(folder, copy_sources(None, os.path.join(folder, "sources")),
                             flags=("PG_CPPFLAGS=-DNEARDUP_MOST_CHILDREN=%d" % CHILDREN,))
        sections((filled, small), (others, small))


finish(main)
