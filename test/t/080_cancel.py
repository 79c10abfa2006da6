#!/usr/bin/python3
"""Long statements stop on request and leave no temporary file, and the session stays usable. What counts is the
processor time that a statement still takes; times of a clock only prevent hanging."""
import time

from harness import *

LIMIT = 15.0  # seconds beyond statement_timeout, on a busy machine, too
STATEMENTS = {
    "all_pairs": "SELECT count(*) FROM all_pairs('TABLE hot', 0.8)",
    "pairs_between": "SELECT count(*) FROM pairs_between('TABLE hot', 'SELECT -id, sig FROM hot', 0.8)",
    "all_pairs within groups": "SELECT count(*) FROM all_pairs('SELECT id, sig, id % 2 AS within FROM hot', 0.8)",
    "all_pairs near in time":
        "SELECT count(*) FROM all_pairs('SELECT id, sig, date ''2026-01-01'' + (id / 100)::int AS at FROM hot', 0.8, "
        "at_most_apart => '99 days')",
    "pairs_between within groups":
        "SELECT count(*) FROM pairs_between('SELECT id, sig, 1 AS within FROM hot', 'SELECT id, sig, 1 AS within "
        "FROM hot', 0.8)",
    "all_clusters within groups": "SELECT count(*) FROM all_clusters('SELECT id, sig, id % 2 AS within FROM hot', 0.8)",
    "all_pairs verified":
        "SELECT count(*) FROM all_pairs('SELECT i, to_minhash(md5(''x'')), left(body, 200000 + i) AS doc "
        "FROM big, generate_series(1, 600) i', 0.01, verify => 'jaccard', verify_threshold => 0.01)",
    "all_pairs verified by edit rate":
        "SELECT count(*) FROM all_pairs('SELECT i, to_minhash(md5(''x'')), CASE WHEN i % 2 = 0 "
        "THEN reverse(left(body, 100000)) ELSE left(body, 100000) END AS doc FROM big, generate_series(1, 100) i', "
        "0.01, verify => 'edit_rate', verify_threshold => 0.01)",
    "repeated_passages":
        "SELECT count(*) FROM repeated_passages('SELECT i, body FROM big, generate_series(1, 40) i', 20)",
    "repeated_passages of characters":
        "SELECT count(*) FROM repeated_passages('SELECT 1, body FROM big UNION ALL SELECT 2, body FROM same', "
        "20, 'char')",
    "cluster_bridges": "SELECT count(*) FROM cluster_bridges('TABLE hot', 0.6)",
    "all_pairs of simhashes": "SELECT count(*) FROM all_pairs('SELECT id, s FROM other hot', 0.75)",
    "all_pairs of digests": "SELECT count(*) FROM all_pairs('SELECT id, c FROM other hot', 0.7)",
    "clusters of digests":
        "SELECT count(c) FROM (SELECT cluster_anchor(c, 0.7) OVER (ORDER BY id) AS c FROM other) hot",
    "all_clusters": "SELECT count(*) FROM all_clusters('TABLE hot', 0.8, 'connected')",
    "cluster_anchor": "SELECT count(c) FROM (SELECT cluster_anchor(sig, 0.8) OVER (ORDER BY id) AS c FROM hot) x",
    "cluster_connected": "SELECT count(c) FROM (SELECT cluster_connected(sig, 0.8) OVER (ORDER BY id) AS c FROM hot) x",
    "neardup_suggest":
        "SELECT count(*) FROM neardup_suggest('SELECT i, left(body, 9000 + i) FROM big, generate_series(1, 2000) i')",
    "a similarity join": "SELECT count(*) FROM hot a JOIN hot b ON jaccard(a.sig, b.sig) >= 0.8 AND a.id < b.id",
    "a similarity join of simhashes": "SELECT count(*) FROM other a JOIN other b ON hamming(a.s, b.s) <= 9",
    "CREATE INDEX": "CREATE INDEX ON other USING lsh (s simhash_ops (blocks = 6))",
    "lsh_check": "SELECT lsh_check('other_s', true)",
    "INSERT": "INSERT INTO other SELECT -id, s FROM other",
    "word_similarities": "SELECT count(*) FROM word_similarities('SELECT repeat(body, 5) FROM big', 5000, 3)",
    "minhash_agg": "SELECT minhash_agg(i % 3, 4096) FROM generate_series(1, 50000000::bigint) i",
}

# Long work on one value or set. Reading the value can be cancelled, too: these are cancelled in the middle.
CALLS = {
    "to_minhash": "SELECT to_minhash(body, 64, 'char', 4096) FROM big",
    "to_minhash of words": "SELECT to_minhash(body, 3, 'word', 4096) FROM big",
    "to_minhash of repetitive text": "SELECT to_minhash(body, 3, 'word', 4096) FROM same",
    "to_minhash of bytea": "SELECT to_minhash(raw) FROM big",
    "to_simhash": "SELECT to_simhash(body) FROM big",
    "ctph_long": "SELECT ctph_long(body, 1024) FROM big",
    "shingles": "SELECT count(*) FROM same, shingles(left(body, 20000000))",
    "shingle_hashes": "SELECT count(*) FROM same, shingle_hashes(left(body, 5000000), 5, 'char')",
    "compare_texts": "SELECT count(*) FROM big, compare_texts(left(body, 20000000), left(body, 20000000))",
    "compare_texts of unlike texts":
        "SELECT * FROM big, compare_texts(left(body, 220000), reverse(left(body, 220000)))",
    "edit_rate": "SELECT edit_rate(left(body, 300000), reverse(left(body, 300000))) FROM big",
    "shared_passages": "SELECT count(*) FROM big, shared_passages(left(body, 9000000), left(body, 9000000))",
    "neardup_clean": "SELECT (neardup_clean(body)).kept FROM big",
    "jaccard_exact": "SELECT jaccard_exact(a[:2000000], a[2:]) FROM longs",
    "blocked_pairs": "SELECT count(*) FROM blocked_pairs('SELECT id, id % 10, id % 11 FROM hot WHERE id < 9000')",
}

# PostgreSQL takes these arrays apart in one go, which nothing interrupts.
SETS = {
    "set_minhash": "SELECT set_minhash(a, 4096) FROM longs",
    "set_minhash of text": "SELECT set_minhash(a::text[], 4096) FROM longs",
}

# The phases that neardup_progress() names: a call is cancelled in each phase that takes long.
PHASES = {
    "all_pairs": ("searching",),
    "all_pairs verified": ("verifying",),
    "all_pairs verified by edit rate": ("verifying",),
    "repeated_passages": ("reading rows",),
    "all_pairs of simhashes": ("reading rows", "searching"),
    "all_pairs of digests": ("searching",),
    "cluster_bridges": ("searching",),
    "all_clusters": ("searching",),
    "word_similarities": ("reading rows",),
}
# Seconds of processor time after a cancel, of all threads or of the session alone: where nobody looks at it, it takes
# longer.
MOST, MOST_ALONE = 0.3, 0.12
LEAST = 0.1  # seconds of a call that is cancelled in the middle


def times_out(conn, name, query, seconds):
    """The statement ends soon after statement_timeout."""
    conn.execute("SET statement_timeout = %d" % (seconds * 1000))
    start = time.monotonic()
    e = sql_error(conn, query)
    late = time.monotonic() - start - seconds
    conn.execute("SET statement_timeout = 0")
    check("%s: statement_timeout, %.0f ms late" % (name, late * 1000),
          e is not None and e.sqlstate == "57014" and late < LIMIT, e)


def stops_half_way(conn, name, query):
    """The statement, which takes a while, ends soon after a cancel in the middle."""
    before = cpu_seconds(conn.info.backend_pid)
    conn.execute(query)
    whole = cpu_seconds(conn.info.backend_pid) - before
    check("%s takes a while" % name, whole > LEAST, "%.2f s" % whole)
    stops_when_asked("%s: cancelled half way, of %.2f s" % (name, whole), conn, query, most=max(whole / 4, 0.04),
                     after=whole / 2)


def prepare(conn):
    # Rows that share 70 % with every other row: all of them candidates, hardly a pair at 0.8.
    conn.execute("""CREATE TABLE hot AS SELECT i::bigint AS id, set_minhash(array(SELECT e::bigint
                FROM generate_series(1, 150) e) ||
                array(SELECT (i * 1000 + e)::bigint FROM generate_series(1, 30) e)) AS sig
                  FROM generate_series(1, 15000) i""")
    # The simhashes are as far from each other as random ones.
    conn.execute("""CREATE TABLE other AS SELECT i AS id, (hashint8extended(i, 5))::simhash AS s, CASE WHEN i <= 30000
                THEN ('96:' ||
                translate(left(encode(sha512(i::text::bytea), 'base64'), 60), E'\n=', '') || ':abc')::ctph END AS c
            FROM generate_series(1, 400000::bigint) i""")
    conn.execute("""CREATE TABLE big(body text, raw bytea); ALTER TABLE big ALTER body SET STORAGE EXTERNAL, ALTER raw
        SET STORAGE EXTERNAL;
        INSERT INTO big SELECT string_agg(md5(i::text) || ' ', '') || repeat(string_agg(md5(i::text) || E' щука\\n',
          ''), 8), NULL FROM generate_series(1, 200000) i;
        UPDATE big SET raw = convert_to(body, 'UTF8')""")
    conn.execute("""CREATE TABLE same(body text); ALTER TABLE same ALTER body SET STORAGE EXTERNAL;
        INSERT INTO same SELECT repeat('one two three four ', 6000000)""")
    conn.execute("""CREATE TABLE longs(a bigint[]); ALTER TABLE longs ALTER a SET STORAGE EXTERNAL;
        INSERT INTO longs SELECT array_agg(i * 7919 % 4000037) FROM generate_series(1, 3000000::bigint) i""")
    conn.execute("CREATE INDEX other_s ON other USING lsh (s)")


def terminated(name, conn):
    """A backend that is ended in the middle of a search takes its threads with it: the others live on."""
    conn.execute("CREATE TABLE many AS SELECT i AS id, to_minhash(i::text) AS sig, i::text AS doc "
                 "FROM generate_series(1, 100000) i")
    start = one(conn, "SELECT min(backend_start) FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    for label, query in (("all_pairs", "SELECT count(*) FROM all_pairs('SELECT id, sig FROM many', 0.3)"),
                         ("all_pairs verified", STATEMENTS["all_pairs verified"]),
                         ("all_clusters", "SELECT count(*) FROM all_clusters('SELECT id, sig FROM many ORDER BY id', "
                                              "0.3, 'connected')"),
                         ("digests", "SELECT count(*) FROM all_pairs('SELECT id, c FROM other', 0.5)")):
        ended = []
        for wait in (0.1, 0.5) + (2.0,) * FULL:
            other = connect(name)
            temp_files.pids.add(str(other.info.backend_pid))
            other.execute("SET neardup.threads = 4; SET maintenance_work_mem = '1GB'")
            thread = Thread(target=lambda: ended.append(sql_error(other, query)))
            thread.start()
            end = time.monotonic() + 60
            while thread.is_alive() and time.monotonic() < end and not conn.execute(
                    "SELECT 1 FROM neardup_progress() WHERE pid = %s AND phase IN ('searching', 'verifying')",
                    (other.info.backend_pid,)).fetchone():
                time.sleep(0.01)
            time.sleep(wait)
            conn.execute("SELECT pg_terminate_backend(%s)", (other.info.backend_pid,))
            thread.join()
            other.close()
        check("%s: terminated, %d of %d before its end" % (label, sum(e is not None for e in ended), len(ended)),
              all(e is None or "administrator command" in str(e) for e in ended) and any(ended), ended)
        equal("%s: the server runs on" % label,
              one(conn, "SELECT min(backend_start) FROM pg_stat_activity WHERE backend_type = 'checkpointer'"), start)


def refusing_scan(conn):
    """A scan of an index that refuses every row it looks at stops long before the last one."""
    # 16 components. All rows differ from the query in three of one band: candidates of a condition that allows one.
    conn.execute("""CREATE TABLE refused (id int, sig minhash) WITH (autovacuum_enabled = off);
        CREATE FUNCTION sig(VARIADIC changed bigint[]) RETURNS minhash IMMUTABLE LANGUAGE sql AS
          $$ SELECT minhash_import(changed || array(SELECT generate_series(cardinality(changed)::bigint, 15))) $$;
        CREATE INDEX ON refused USING lsh (sig) WITH (threshold = 0.75, pending_limit = 64);
        INSERT INTO refused SELECT n, sig(100, 101, 102) FROM generate_series(1, 1000000) n""")
    query = "SELECT count(*) FROM refused WHERE sig %> with_threshold(sig(0), 15 / 16.0)"
    conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    check("a scan that refuses rows is one by the index",
          "Index Scan" in str(conn.execute("EXPLAIN " + query).fetchall()))
    equal("it refuses all rows", one(conn, query), 0)
    before = cpu_seconds(conn.info.backend_pid)
    one(conn, query)
    whole = cpu_seconds(conn.info.backend_pid) - before
    stops_when_asked("it stops when asked, of %.2f s" % whole, conn, query, most=whole / 3)
    conn.execute("RESET enable_seqscan; RESET enable_bitmapscan")


def main():
    with database() as name, connect(name) as conn:
        prepare(conn)
        conn.execute("SET max_parallel_workers_per_gather = 0; SET neardup.threads = 3")
        for memory in ("1MB", "64MB"):
            conn.execute("SET maintenance_work_mem = '%s'; SET work_mem = '%s'" % (memory, memory))
            for label, query in STATEMENTS.items():
                if memory == "64MB" or " hot" in query:
                    what = "%s, %s: cancelled" % (label, memory)
                    for phase in PHASES.get(label, (None,)):
                        most = MOST if phase else MOST_ALONE
                        stops_when_asked("%s while %s" % (what, phase) if phase else what, conn, query, most, phase)
                    for seconds in (0.02, 0.3, 1.0) if FULL else ():
                        times_out(conn, "%s, %s" % (label, memory), query, seconds)
        for label, query in CALLS.items():
            stops_half_way(conn, label, query)
        for label, query in SETS.items():
            times_out(conn, label, query, 0.02)
        times_out(conn, "all_clusters", STATEMENTS["all_clusters"], 0.3)
        equal("no temporary file is left", temp_files(conn), 0)

        refusing_scan(conn)
        terminated(name, conn)
        equal("no temporary file is left by them", temp_files(conn), 0)

        # Early ends of another kind: a cursor closed, LIMIT, a rolled back savepoint.
        conn.execute("SET maintenance_work_mem = '1MB'; DELETE FROM hot WHERE id > 3000")
        conn.execute("UPDATE hot SET sig = set_minhash(ARRAY[id / 30]) WHERE id > 1500")
        with conn.transaction():
            conn.execute("DECLARE c CURSOR FOR SELECT * FROM all_pairs('TABLE hot', 0.8)")
            conn.execute("FETCH 3 FROM c")
            conn.execute("CLOSE c")
            equal("LIMIT 2 of all_pairs",
                  len(conn.execute("SELECT * FROM all_pairs('TABLE hot', 0.8) LIMIT 2").fetchall()), 2)
            conn.execute("SAVEPOINT s; DECLARE d CURSOR FOR SELECT * FROM all_pairs('TABLE hot', 0.8); FETCH 3 FROM d; "
                         "ROLLBACK TO s")
        equal("no temporary file is left by cursors", temp_files(conn), 0)


finish(main)
