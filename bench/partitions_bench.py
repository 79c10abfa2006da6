#!/usr/bin/env python3
"""partitions_bench.py MAKE_SIGNATURES ROWS JOB_ROWS yes|no: see partitions_bench.sh, which calls it. A figure a line; results of
the two ways to deduplicate, of partitions and of one table are compared."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import psycopg
except ImportError:
    print("python3-psycopg is not installed")
    sys.exit(0)

TABLE, ONE = "neardup_parts_bench", "neardup_parts_bench_one"
PARTITIONS = 10
THRESHOLD = 0.8
QUERIES = 200
# Bytes on disk: a row of the table with its index, of a job (with its dead rows) and the temporary files of a refresh.
BYTES_A_ROW, BYTES_A_JOB_ROW = 800, 2400
GB = 1 << 30


def line(what, value, unit, more=""):
    print("%-72s %10.*f %s%s" % (what, 3 if value < 1 else 1, value, unit, more and "   " + more), flush=True)


class Bench:
    def __init__(self, make, rows, job_rows):
        self.make, self.rows, self.job_rows = make, rows, job_rows
        self.new = min(100000, rows // 5)  # rows of each of two later lots
        self.part = rows // PARTITIONS
        self.conn = psycopg.connect("", autocommit=True)
        self.conn.prepare_threshold = None
        self.conn.execute("SET client_min_messages = error; SET maintenance_work_mem = '1GB'; SET work_mem = '64MB'; SET jit = off")

    def one(self, query):
        return self.conn.execute(query).fetchone()[0]

    def timed(self, what, *statements, more=""):
        """The first value of the last statement, and a line with the seconds that all took."""
        began = time.monotonic()
        for statement in statements:
            cursor = self.conn.execute(statement)
        value = cursor.fetchone()[0] if cursor.description else None
        line(what, time.monotonic() - began, "s", more if value is None else "%s %s" % (format(value, ","), more or "rows"))
        return value

    def size(self, what, query):
        line(what, self.one("SELECT sum(pg_total_relation_size(oid))::bigint FROM (%s) x" % query) / 1e9, "GB")

    def drop(self):
        for name in (TABLE + "_job", TABLE + "_part_job"):
            if self.one("SELECT to_regclass('%s_job') IS NOT NULL" % name):
                self.conn.execute("SELECT drop_duplicates('%s')" % name)
        self.conn.execute("DROP TABLE IF EXISTS %s, %s, %s_new, %s_more, %s_asked" % (TABLE, ONE, TABLE, TABLE, TABLE))

    # Rows -------------------------------------------------------------------------------------------------------------

    def copy(self, table, first, last, *options):
        """Rows first + 1 .. last of the corpus into the table; the seconds of COPY alone, from a file."""
        with tempfile.TemporaryFile() as file:
            subprocess.run([self.make, "--rows", str(self.rows + 2 * self.new), "--from", str(first), "--to", str(last), *options],
                           stdout=file, check=True)
            file.seek(0)
            began = time.monotonic()
            with self.conn.cursor() as cursor, cursor.copy("COPY %s (id, sig) FROM STDIN (FORMAT binary)" % table) as copy:
                while True:
                    block = file.read(1 << 20)
                    if not block:
                        break
                    copy.write(block)
            return time.monotonic() - began

    def load(self):
        self.conn.execute("CREATE TABLE %s (id bigint NOT NULL, sig minhash NOT NULL) PARTITION BY RANGE (id)" % TABLE)
        seconds = 0
        for i in range(PARTITIONS):
            low = "MINVALUE" if i == 0 else i * self.part + 1
            self.conn.execute("CREATE TABLE %s_%d PARTITION OF %s FOR VALUES FROM (%s) TO (%d) WITH "
                              "(autovacuum_enabled = off)" % (TABLE, i, TABLE, low, (i + 1) * self.part + 1))
            seconds += self.copy(TABLE, i * self.part, (i + 1) * self.part)
        line("%s rows loaded by COPY" % format(self.one("SELECT count(*) FROM " + TABLE), ","), seconds, "s")
        self.timed("VACUUM ANALYZE", "VACUUM ANALYZE " + TABLE)
        self.size("ten tables", "SELECT relid AS oid FROM pg_partition_tree('%s')" % TABLE)

    def index(self):
        self.timed("CREATE INDEX, all partitions", "CREATE INDEX %s_sig ON %s USING lsh (sig)" % (TABLE, TABLE))
        self.size("ten indexes", "SELECT relid AS oid FROM pg_partition_tree('%s_sig')" % TABLE)

    def one_table(self):
        self.timed("the same rows in one table: copied", "CREATE TABLE %s AS TABLE %s" % (ONE, TABLE), "VACUUM ANALYZE " + ONE)
        self.timed("one table: CREATE INDEX", "CREATE INDEX ON %s USING lsh (sig)" % ONE)
        self.size("one table and its index", "SELECT '%s'::regclass AS oid" % ONE)

    # Queries ----------------------------------------------------------------------------------------------------------

    def latencies(self, what, statement, arguments, prepared, settings=""):
        self.conn.execute(settings or "SELECT")
        times, found = [], 0
        for turn in range(2):  # the first one brings the pages in
            times, found = [], 0
            for values in arguments:
                began = time.monotonic()
                cursor = self.conn.execute(statement, values, prepare=prepared)
                found += len(cursor.fetchall())
                times.append((time.monotonic() - began) * 1e3)
        self.conn.execute("RESET plan_cache_mode; RESET enable_indexscan; RESET enable_bitmapscan")
        times.sort()
        line("search, %s: p50" % what, statistics.median(times), "ms", "%.1f rows a query" % (found / len(times)))
        line("search, %s: p95" % what, times[len(times) * 95 // 100], "ms")
        return found

    def search(self, one_table):
        self.conn.execute("CREATE UNLOGGED TABLE %s_asked (id bigint, sig minhash)" % TABLE)
        self.copy(TABLE + "_asked", 0, self.rows, "--queries", str(QUERIES))
        queries = [r[0] for r in self.conn.execute("SELECT sig::text FROM %s_asked" % TABLE)]
        condition = "SELECT id FROM {0} WHERE jaccard(sig, %s::minhash) >= {1}".format("{0}", THRESHOLD)
        whole = [(q,) for q in queries]
        here = [(q, i % PARTITIONS * self.part + 1, (i % PARTITIONS + 1) * self.part) for i, q in enumerate(queries)]
        pruned = condition.format(TABLE) + " AND id BETWEEN %s AND %s"
        generic = "SET plan_cache_mode = force_generic_plan"
        found = self.latencies("ten partitions, planned each time", condition.format(TABLE), whole, False)
        self.latencies("ten partitions, prepared, generic plan", condition.format(TABLE), whole, True, generic)
        self.latencies("pruned to one, planned each time", pruned, here, False)
        self.latencies("pruned to one, prepared, generic plan", pruned, here, True, generic)
        nearest = condition.format(TABLE) + " ORDER BY sig <%%> %s::minhash LIMIT 3"
        self.latencies("ten partitions, ORDER BY distance LIMIT 3", nearest, [(q, q) for q in queries], False)
        if one_table:
            same = self.latencies("one table, planned each time", condition.format(ONE), whole, False)
            self.latencies("one table, prepared, generic plan", condition.format(ONE), whole, True, generic)
            if same != found:
                sys.exit("one table has %d rows, ten partitions have %d" % (same, found))
            self.conn.execute("DROP TABLE " + ONE)
        began = time.monotonic()
        self.conn.execute("SET enable_indexscan = off; SET enable_bitmapscan = off")
        n = self.conn.execute(condition.format(TABLE), whole[0]).rowcount
        line("search, ten partitions, sequential scans, one query", (time.monotonic() - began) * 1e3, "ms", "%d rows" % n)
        self.conn.execute("RESET ALL; SET client_min_messages = error; SET maintenance_work_mem = '1GB'; SET work_mem = '64MB'; SET jit = off")

    # Changes ----------------------------------------------------------------------------------------------------------

    def insert(self):
        more = TABLE + "_more"
        self.conn.execute("CREATE UNLOGGED TABLE %s (id bigint, sig minhash)" % more)
        self.copy(more, self.rows, self.rows + self.new)
        self.conn.execute("ANALYZE " + more)
        self.timed("inserted, %s rows, over all partitions" % format(self.new, ","),
                   "INSERT INTO %s SELECT (id * 7919) %% %d + 1, sig FROM %s" % (TABLE, self.rows, more))
        self.timed("VACUUM after it", "VACUUM " + TABLE)

    def deduplicate(self):
        new = TABLE + "_new"
        self.conn.execute("CREATE TABLE %s (LIKE %s INCLUDING ALL)" % (new, TABLE))
        seconds = self.copy(new, self.rows + self.new, self.rows + 2 * self.new)
        line("a new partition of %s rows loaded, with its index" % format(self.new, ","), seconds, "s")
        self.conn.execute("VACUUM ANALYZE " + new)
        self.timed("its pairs: all_pairs", "SELECT count(*) FROM all_pairs('SELECT id, sig FROM %s', %s)" % (new, THRESHOLD), more="pairs")
        self.timed("its clusters: all_clusters", "SELECT count(*) FROM all_clusters('SELECT id, sig FROM %s ORDER BY id', %s) WHERE NOT "
                   "survivor" % (new, THRESHOLD), more="copies")
        exists = "SELECT count(*) FROM %s n WHERE EXISTS (SELECT FROM %s o WHERE jaccard(o.sig, n.sig) >= %s)" % (new, TABLE, THRESHOLD)
        kind = "by index" if "Index" in str(self.conn.execute("EXPLAIN " + exists).fetchall()) else "without index"
        by_index = self.timed("its rows with a copy in the others: EXISTS, " + kind, exists, more="rows")
        by_pairs = self.timed("the same by pairs_between", "SELECT count(DISTINCT id_b) FROM pairs_between('SELECT n, sig FROM (SELECT "
                              "row_number() OVER () AS n, sig FROM %s) x', 'SELECT id, sig FROM %s', %s)"
                              % (TABLE, new, THRESHOLD), more="rows")
        if by_index != by_pairs:
            sys.exit("by index %d rows have a copy, by pairs_between %d" % (by_index, by_pairs))
        self.timed("ATTACH", "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (MAXVALUE)" % (TABLE, new, self.rows + self.new + 1))

    def job(self):
        job = TABLE + "_job"
        # inserted rows have ids that others have
        self.conn.execute("DELETE FROM {0} o USING {0}_more m WHERE o.id = (m.id * 7919) % {1} + 1 AND o.sig = m.sig".format(TABLE, self.rows))
        self.timed("an index on id, as a primary key would be", "CREATE INDEX ON %s (id)" % TABLE)
        later = 4 * self.rows  # ids of rows that come after all others
        where = "" if self.job_rows >= self.rows else ", filter => 'id <= %d OR id > %d'" % (self.job_rows, later)
        self.conn.execute("SELECT create_duplicates('%s', '%s', 'id', signature => 'sig', threshold => %s%s)" % (job, TABLE, THRESHOLD, where))
        written = "SELECT temp_bytes / 1e9 FROM pg_stat_database WHERE datname = current_database()"
        before = self.one(written)
        self.timed("a job over %s rows, first refresh" % format(min(self.job_rows, self.rows), ","),
                   "CALL refresh_duplicates('%s')" % job)
        n, clusters, copies = self.conn.execute("SELECT count(*), count(DISTINCT cluster), count(*) FILTER (WHERE NOT "
                                                "survivor) FROM " + job).fetchone()
        print("    %s rows, %s clusters, %s copies" % tuple(format(x, ",") for x in (n, clusters, copies)))
        time.sleep(2)  # statistics of temporary files come with a delay
        line("temporary files written in it", float(self.one(written) - before), "GB")
        self.size("the job's tables", "SELECT oid FROM pg_class WHERE relkind = 'r' AND relname ~ '^%s(_|$)'" % job)
        self.timed("refresh, nothing has changed", "CALL refresh_duplicates('%s')" % job)
        self.conn.execute("INSERT INTO {0} SELECT {2} + id, sig FROM {0} WHERE id BETWEEN 1 AND {1} AND id % 200 = 7".format(TABLE, self.job_rows, later))
        self.conn.execute("DELETE FROM {0} WHERE id BETWEEN 1 AND {1} AND id % 200 = 11".format(TABLE, self.job_rows))
        changed = self.timed("refresh after 0.5 % inserts and 0.5 % deletes", "CALL refresh_duplicates('%s')" % job,
                             "SELECT clustered_rows FROM %s_job" % job, more="rows clustered")
        assert changed > 0
        if not where:
            self.conn.execute("ALTER TABLE %s DETACH PARTITION %s_new" % (TABLE, TABLE))
            self.timed("refresh after DETACH of the new partition", "CALL refresh_duplicates('%s')" % job,
                       "SELECT clustered_rows FROM %s_job" % job, more="rows clustered")
            self.conn.execute("DROP TABLE %s_new" % TABLE)
        self.size("everything", "SELECT oid FROM pg_class WHERE relkind = 'r' AND relname ~ '^%s(_|$)'" % TABLE)


def main():
    make, rows, one_table = sys.argv[1], int(sys.argv[2]), sys.argv[4] == "yes"
    job_rows = min(rows, int(sys.argv[3]))
    b = Bench(make, rows, job_rows)
    b.conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")
    b.drop()
    folder = b.one("SHOW data_directory")
    free = shutil.disk_usage(folder).free if os.path.isdir(folder) else 0
    need = rows * BYTES_A_ROW + max(rows * BYTES_A_ROW if one_table else 0, job_rows * BYTES_A_JOB_ROW) + 3 * GB  # and WAL
    if free < need:
        print("skip - %s rows need %.0f GB of disk, %.0f are free" % (format(rows, ","), need / 1e9, free / 1e9))
        return
    print("%s, %d processors, shared_buffers %s, fsync %s; %.0f GB of disk are free, at most %.0f needed" % (
        b.one("SELECT version()").split(" on ")[0], os.cpu_count(), b.one("SHOW shared_buffers"), b.one("SHOW fsync"), free / 1e9, need / 1e9))
    try:
        b.load()
        b.index()
        if one_table:
            b.one_table()
        b.search(one_table)
        b.insert()
        b.deduplicate()
        b.job()
    finally:
        b.drop()


main()
