#!/usr/bin/env python3
"""The lsh index beside its peer, band keys in a bigint[] with GIN (16 bands of 8), in one run on one server.

    lsh_bench.py --make BUILD/make_signatures [OPTION ...] [SECTION ...]

PGHOST, PGDATABASE and so on choose the server, which must be on this machine: CPU and memory are those of its
processes in /proc. Tables named neardup_lsh_bench_* are made and dropped there. Every result is compared with a
sequential scan's. bench/lsh_bench.sh calls this with everything set.
"""
import argparse
import os
import platform
import statistics
import subprocess
import sys
import threading
import time

try:
    import psycopg
    from psycopg import pq
except ImportError:
    print("python3-psycopg is not installed")
    sys.exit(0)

PREFIX = "neardup_lsh_bench_"
INT8, INT8_ARRAY = 20, 1016
BANDS = 16
EXTRA_BASE = 10 ** 8  # ids of rows that are inserted later
MB = 1 << 20


# Sessions and statements ---------------------------------------------------------------------------------------------

class Session:
    """A connection and its backend's CPU clock. Statements go to libpq directly: the driver's own layers would add
    more to a round trip than a query takes."""

    def __init__(self, *settings):
        self.conn = psycopg.connect("", autocommit=True)
        self.pg = self.conn.pgconn
        self.pid = self.pg.backend_pid
        try:
            self.clock = os.open("/proc/%d/schedstat" % self.pid, os.O_RDONLY)
            self.cpu()
        except (OSError, IndexError):
            sys.exit("lsh_bench: /proc/%d/schedstat cannot be read: the server must run on this machine, on Linux with "
                     "schedstats" % self.pid)
        self.do("SET client_min_messages = warning", "SET jit = off", "SET max_parallel_workers_per_gather = 0",
                *settings)
        self.prepared = 0

    def cpu(self):
        """Seconds that the backend has been on a CPU."""
        return int(os.pread(self.clock, 64, 0).split()[0]) * 1e-9

    def do(self, *statements):
        for statement in statements:
            self.check(self.pg.exec_(statement.encode()), statement)

    def configure(self, settings):
        """The settings of a kind, and no other's."""
        self.do("RESET enable_seqscan", "RESET plan_cache_mode", *settings)

    def check(self, result, what):
        if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            raise RuntimeError("%s\n%s" % (result.error_message.decode().strip(), what[:500]))
        return result

    def rows(self, query):
        with self.conn.cursor() as cursor:
            return cursor.execute(query).fetchall()

    def one(self, query):
        return self.rows(query)[0][0]

    def binary(self, query):
        """Rows of the values' binary forms."""
        result = self.check(self.pg.exec_params(query.encode(), None, result_format=1), query)
        return [[result.get_value(i, j) for j in range(result.nfields)] for i in range(result.ntuples)]

    def prepare(self, query, types):
        self.prepared += 1
        name = b"b%d" % self.prepared
        self.check(self.pg.prepare(name, query.encode(), types), query)
        return name

    def run(self, name, values):
        result = self.pg.exec_prepared(name, values, (1,) * len(values), 1)
        if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            self.check(result, name.decode())
        return result

    def run_together(self, name, values, times):
        """So many executions, sent at once if they fit a socket's buffer: the backend does not fall asleep between."""
        if times * sum(map(len, values)) > 65536:
            for _ in range(times):
                self.run(name, values)
            return
        self.pg.enter_pipeline_mode()
        for _ in range(times):
            self.pg.send_query_prepared(name, values, (1,) * len(values), 1)
        self.pg.pipeline_sync()
        done = 0
        while True:
            result = self.pg.get_result()
            if result is None:
                continue
            if result.status == pq.ExecStatus.PIPELINE_SYNC:
                break
            self.check(result, name.decode())
            done += 1
        self.pg.exit_pipeline_mode()
        if done != times:
            raise RuntimeError("%d of %d executions" % (done, times))

    def ids(self, name, values):
        result = self.run(name, values)
        return [int.from_bytes(result.get_value(i, 0), "big") for i in range(result.ntuples)]

    def generic(self, name):
        """True if the prepared statement has come to a generic plan."""
        generic, custom = self.rows("SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = '%s'"
                                    % name.decode())[0]
        return "generic" if generic > custom else "custom"

    def nodes(self, query):
        """The scans of a plan, as one word each."""
        plan = self.one("EXPLAIN (FORMAT JSON) " + query)
        found = []

        def walk(node):
            kind = node["Node Type"]
            if "Scan" in kind or kind == "Nested Loop" or kind.endswith("Join"):
                found.append(kind)
            for child in node.get("Plans", []):
                walk(child)

        walk(plan[0]["Plan"])
        return found

    def close(self):
        os.close(self.clock)
        self.conn.close()


class Kind:
    """A way to find similar signatures: table columns, index and query."""

    def __init__(self, name, columns, index, query, parameters, settings=()):
        self.name = name
        self.columns = columns        # of a source table (id, sig, bk): name -> (type, expression)
        self.index = index
        self.query = query            # parameters of it: names of query columns
        self.parameters = parameters
        self.settings = settings

    @property
    def label(self):
        return {"none": "no index", "lsh": "lsh", "gin": "GIN 16x8", "gin_off": "GIN 16x8, fastupdate off",
                "gin_sql": "GIN 16x8, verified without neardup"}[self.name]

    def condition(self, query):
        """The join condition with a table of queries."""
        text = self.query
        for i, column in enumerate(self.parameters):
            text = text.replace("$%d" % (i + 1), "%s.%s" % (query, column))
        return text


def table_kinds(args):
    base = {"id": ("bigint", "id"), "sig": ("minhash", "sig")}
    keys = dict(base, bk=("bigint[]", "bk"))
    # The peer is told to use its index, and not to plan each time: that is generous to it.
    forced = ("SET enable_seqscan = off", "SET plan_cache_mode = force_generic_plan")
    gin = "bk && $1 AND jaccard(sig, $2) > 0.8"
    plain = ("bk && $1 AND (SELECT count(*) FROM unnest(components, $2::int[]) AS u(x, y) WHERE x = y) > 0.8 * 128")
    all_kinds = [
        Kind("none", base, None, "jaccard(sig, $1) > 0.8", ["sig"]),
        Kind("lsh", base, "USING lsh (sig)", "jaccard(sig, $1) > 0.8", ["sig"]),
        Kind("gin", keys, "USING gin (bk)", gin, ["bk", "sig"], forced),
        Kind("gin_off", keys, "USING gin (bk) WITH (fastupdate = off)", gin, ["bk", "sig"], forced),
        Kind("gin_sql", dict(keys, components=("int[]", "minhash_components(sig)::int[]")), "USING gin (bk)", plain,
             ["bk", "components"], forced),
    ]
    wanted = {"lsh": ("none", "lsh"), "gin": ("none", "gin", "gin_off", "gin_sql")}.get(args.only)
    return {k.name: k for k in all_kinds if wanted is None or k.name in wanted}


# Tables --------------------------------------------------------------------------------------------------------------

class Tables:
    """Corpora, each generated once, and the tables made of them."""

    def __init__(self, admin, args):
        self.admin = admin
        self.args = args
        self.minhash = admin.one("SELECT 'minhash'::regtype::oid::int")
        self.sources = set()
        self.tables = {}
        self.truths = {}

    def generate(self, table, *options):
        """Fills (id, sig, bk) from the generator."""
        command = [self.args.make, *map(str, options), "--band-keys", str(BANDS)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as program, self.admin.conn.cursor() as cursor:
            with cursor.copy("COPY %s (id, sig, bk) FROM STDIN (FORMAT binary)" % table) as copy:
                while True:
                    block = program.stdout.read(MB)
                    if not block:
                        break
                    copy.write(block)
            if program.wait() != 0:
                raise RuntimeError("%s failed" % " ".join(command))

    def source(self, rows, identical=0, seed=1, base=0):
        """(id, sig, bk), ids from base + 1, in the order of id but for identical rows, which lie among the others."""
        name = PREFIX + "src_%d_%d_%d" % (rows, identical, seed)
        if name not in self.sources:
            self.admin.do("DROP TABLE IF EXISTS " + name, "CREATE UNLOGGED TABLE %s (id bigint, sig minhash,"
                          " bk bigint[]) WITH (autovacuum_enabled = off)" % name)
            self.generate(name, "--rows", rows, "--identical", identical, "--seed", seed, "--base", base)
            self.admin.do("VACUUM ANALYZE " + name, "CREATE INDEX ON %s (id)" % name)
            self.sources.add(name)
        return name

    def extra(self):
        """Rows of another corpus, for inserting: more than any section inserts into one table."""
        return self.source(self.args.extra, seed=2, base=EXTRA_BASE)

    def queries(self, rows, count, to=None):
        name = PREFIX + "q_%d_%d_%d" % (rows, count, to or rows)
        if name not in self.sources:
            self.admin.do("DROP TABLE IF EXISTS " + name, "CREATE TABLE %s (id bigint, sig minhash, bk bigint[],"
                          " components int[], n int GENERATED ALWAYS AS IDENTITY)" % name)
            self.generate(name, "--rows", rows, "--to", to or rows, "--queries", count)
            self.admin.do("UPDATE %s SET components = minhash_components(sig)::int[]" % name, "VACUUM ANALYZE " + name)
            self.sources.add(name)
        return name

    def query_values(self, queries):
        columns = ("sig", "bk", "components")
        return [dict(zip(columns, row)) for row in
                self.admin.binary("SELECT %s FROM %s ORDER BY n" % (", ".join(columns), queries))]

    def make(self, kind, rows, extra=0, identical=0, index=True, fresh=False):
        """A vacuumed table of `rows` rows of a corpus that has `extra` more and `identical` ones; kept while clean."""
        key = (kind.name, rows, extra, identical, index)
        table = self.tables.pop(key, None)
        if table is not None and (table.dirty or fresh):
            table.drop()
            table = None
        if table is None:
            table = Table(self, kind, PREFIX + "%s_%d_%d_%d%s" % (kind.name, rows, extra, identical,
                                                                  "" if index else "_x"))
            # Identical rows of the source keep their scattered places; those that come later have ids up to
            # rows + extra.
            table.fill(self.source(rows + extra, identical), "id <= %d OR id > %d" % (rows, rows + extra))
            if index:
                table.index()
            self.admin.do("VACUUM ANALYZE " + table.name)
        self.tables[key] = table
        return table

    def empty(self, kind, rows):
        """One to be filled up to so many rows."""
        table = Table(self, kind, PREFIX + "%s_grown_%d" % (kind.name, rows))
        table.index()
        return table

    def truth(self, table, queries, key=None):
        """Ids of a sequential scan, one set a query; kept under key."""
        if key is None or key not in self.truths:
            scan = Session("SET enable_indexscan = off", "SET enable_bitmapscan = off",
                           "SET enable_indexonlyscan = off")
            query = "SELECT q.n, t.id FROM %s q, %s t WHERE jaccard(t.sig, q.sig) > 0.8" % (queries, table.name)
            if any("Index" in node for node in scan.nodes(query)):
                raise RuntimeError("the sequential scan uses an index")
            found = {}
            for n, i in scan.rows(query):
                found.setdefault(n, set()).add(i)
            numbers = [n for n, in scan.rows("SELECT n FROM %s ORDER BY n" % queries)]
            scan.close()
            result = [found.get(n, set()) for n in numbers]
            if key is None:
                return result
            self.truths[key] = result
        return self.truths[key]

    def drop(self):
        names = [n for n, in self.admin.rows(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relname LIKE '%s%%'"
            % PREFIX.replace("_", "\\_"))]
        for name in names:
            self.admin.do("DROP TABLE IF EXISTS " + name)


class Table:
    def __init__(self, tables, kind, name):
        self.tables, self.kind, self.name = tables, kind, name
        self.admin = tables.admin
        self.index_name = name + "_i" if kind.index else None
        self.used = 0       # of the extra rows
        self.dirty = False  # holds other rows than those it was made of
        columns = ", ".join("%s %s" % (c, t) for c, (t, _) in kind.columns.items())
        self.admin.do("DROP TABLE IF EXISTS " + name,
                      "CREATE TABLE %s (%s) WITH (autovacuum_enabled = off)" % (name, columns))

    def drop(self):
        self.admin.do("DROP TABLE IF EXISTS " + self.name)

    def insert_select(self, source, where):
        return "INSERT INTO %s SELECT %s FROM %s WHERE %s" % (
            self.name, ", ".join(e for _, e in self.kind.columns.values()), source, where)

    def fill(self, source, where):
        # An index scan would change the order: rows come in the source's physical one.
        self.admin.do("SET enable_indexscan = off", "SET enable_bitmapscan = off", self.insert_select(source, where),
                      "RESET enable_indexscan", "RESET enable_bitmapscan")

    def index(self):
        if self.index_name:
            self.admin.do("CREATE INDEX %s ON %s %s" % (self.index_name, self.name, self.kind.index))

    def index_bytes(self):
        return self.admin.one("SELECT pg_table_size('%s')" % self.index_name) if self.index_name else 0

    def rows(self):
        return self.admin.one("SELECT count(*) FROM " + self.name)

    def next_extra(self, count):
        """A condition on id for rows that were not inserted yet."""
        first = EXTRA_BASE + 1 + self.used
        self.used += count
        self.dirty = True
        if self.used > self.tables.args.extra:
            raise RuntimeError("--extra is too small")
        return "id BETWEEN %d AND %d" % (first, first + count - 1)

    def insert_batch(self, session, count):
        """One statement. Seconds, CPU seconds."""
        statement = self.insert_select(self.tables.extra(), self.next_extra(count))
        cpu, start = session.cpu(), time.perf_counter()
        session.do(statement)
        return time.perf_counter() - start, session.cpu() - cpu

    def prepare_insert(self, session):
        names = list(self.kind.columns)
        types = {"id": INT8, "sig": self.tables.minhash, "bk": INT8_ARRAY}
        return session.prepare("INSERT INTO %s (%s) VALUES (%s)" % (
            self.name, ", ".join(names), ", ".join("$%d" % (i + 1) for i in range(len(names)))),
            [types[n] for n in names])

    def extra_values(self, count, source=None, where=None):
        return self.admin.binary("SELECT %s FROM %s WHERE %s ORDER BY id" % (
            ", ".join(self.kind.columns), source or self.tables.extra(), where or self.next_extra(count)))

    def settle(self, session):
        """GIN puts off work that others do at once; doing it now is part of its inserts. Seconds, CPU seconds."""
        if self.kind.name != "gin":
            return 0.0, 0.0
        cpu, start = session.cpu(), time.perf_counter()
        session.do("SELECT gin_clean_pending_list('%s')" % self.index_name)
        return time.perf_counter() - start, session.cpu() - cpu


# Printing ------------------------------------------------------------------------------------------------------------

def title(text):
    print("\n" + text, flush=True)


def lines(rows):
    """The first row is the head; the first column is text, the others are figures."""
    rows = [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    for row in rows:
        figures = "".join("  %*s" % (widths[i], row[i]) for i in range(1, len(row)))
        print(("  %-*s%s" % (widths[0], row[0], figures)).rstrip())
    sys.stdout.flush()


def ms(seconds):
    return "%.3f" % (seconds * 1e3)


def ratio(a, b):
    return "%.2f" % (a / b) if a and b else "-"


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(p * len(values)))]


def machine(admin, args):
    model = platform.machine()
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    names = ["shared_buffers", "work_mem", "maintenance_work_mem", "max_parallel_workers", "fsync",
             "synchronous_commit", "full_page_writes", "wal_level", "max_wal_size", "gin_pending_list_limit"]
    version = admin.rows("SELECT library, kernels FROM neardup_version()")[0]
    print("machine: %s, %d cores, %.0f GiB, Linux %s, load %.1f; PostgreSQL %s; neardup %s, kernels %s" % (
        model, os.cpu_count(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 ** 30, platform.release(),
        os.getloadavg()[0], admin.one("SHOW server_version"), version[0], version[1]))
    print("settings: " + ", ".join("%s %s" % (n, admin.one("SHOW " + n)) for n in names))
    print("queries: %d, drawn half among rows and half among families; jaccard(sig, $1) > 0.8 of 128x32; CPU is the"
          " backend's" % args.queries, flush=True)


# Measuring queries ---------------------------------------------------------------------------------------------------

class Measured:
    """A prepared statement and its figures, one list a query. All that are compared share a session: two backends
    that do the same may differ by a factor, by the core that each has come to run on."""

    def __init__(self, label, session, name, values, settings=()):
        self.label, self.session, self.name, self.values, self.settings = label, session, name, values, settings
        self.forget()

    def forget(self):
        self.cpu = [[] for _ in self.values]   # seconds an execution, one figure a round
        self.wall = [[] for _ in self.values]  # seconds, every execution

    def warm(self):
        """The pages, and the plan: the first five executions have plans of their own."""
        self.round(1 + 6 // len(self.values))
        self.forget()

    def round(self, repeats):
        session, name, clock = self.session, self.name, time.perf_counter
        session.configure(self.settings)
        for i, values in enumerate(self.values):
            for _ in range((repeats + 4) // 5):
                start = clock()
                session.run(name, values)
                self.wall[i].append(clock() - start)
            # Falling asleep and waking up cost a backend more than a query on some virtual machines.
            before = session.cpu()
            session.run_together(name, values, repeats)
            self.cpu[i].append((session.cpu() - before) / repeats)

    def cpu_medians(self):
        return [statistics.median(c) for c in self.cpu]

    def wall_medians(self):
        return [statistics.median(w) for w in self.wall]


def encode_array(ids):
    """bigint[] in binary."""
    head = [1 if ids else 0, 0, INT8] + ([len(ids), 1] if ids else [])
    return b"".join(v.to_bytes(4, "big") for v in head) + b"".join(
        (8).to_bytes(4, "big") + i.to_bytes(8, "big") for i in ids)


def round_trip(session, truth):
    """The cost of asking and of getting as many rows."""
    name = session.prepare("SELECT unnest($1::bigint[])", [INT8_ARRAY])
    return Measured("round trip", session, name, [[encode_array(sorted(t))] for t in truth])


def measured(tables, table, session, values):
    kind = table.kind
    types = {"sig": tables.minhash, "bk": INT8_ARRAY, "components": 1007}
    name = session.prepare("SELECT id FROM %s WHERE %s" % (table.name, kind.query), [types[p] for p in kind.parameters])
    return Measured(kind.label, session, name, [[v[p] for p in kind.parameters] for v in values], kind.settings)


def plan_summary(m, table, queries):
    """The plan of the prepared statement, once it has settled: the scan and whether it is generic."""
    session = m.session
    session.configure(m.settings)
    literals = session.rows("SELECT %s FROM %s ORDER BY n LIMIT 1" % (
        ", ".join("quote_literal(%s::text)" % p for p in table.kind.parameters), queries))[0]
    nodes = session.nodes("EXECUTE %s(%s)" % (m.name.decode(), ", ".join(literals)))
    scan = "Bitmap" if any("Bitmap" in n for n in nodes) else nodes[0].replace(" Scan", "")
    return "%s, %s" % (scan, session.generic(m.name))


def measure_recall(m, truth):
    """Runs every query once. (share of the truth that was found, rows beyond it)."""
    found = wrong = 0
    m.session.configure(m.settings)
    for values, want in zip(m.values, truth):
        got = m.session.ids(m.name, values)
        if len(got) != len(set(got)):
            raise RuntimeError("%s returned a row twice" % m.label)
        found += len(want.intersection(got))
        wrong += len(set(got) - want)
    return found / max(1, sum(map(len, truth))), wrong


def recall_text(recall):
    share, wrong = recall
    text = "1, exact" if share == 1 else "%.4f" % share
    return text + (", %d WRONG" % wrong if wrong else "")


QUERY_HEAD = ["", "CPU ms above it", "CPU p50", "p95", "p95/p50", "wall p50", "p95", "recall", "plan", "of GIN's CPU"]


def query_rows(trip, all_measured, recalls, plans):
    base = trip.cpu_medians()
    rows = [QUERY_HEAD,
            ["round trip", "(%s)" % ms(statistics.mean(base)), ms(percentile(base, .5)), ms(percentile(base, .95)), "",
             ms(percentile(trip.wall_medians(), .5)), ms(percentile(trip.wall_medians(), .95))]]
    means = {m.label: statistics.mean(m.cpu_medians()) - statistics.mean(base) for m in all_measured}
    for m in all_measured:
        above = [a - b for a, b in zip(m.cpu_medians(), base)]
        wall = m.wall_medians()
        rows.append([m.label, ms(means[m.label]), ms(percentile(above, .5)), ms(percentile(above, .95)),
                     ratio(percentile(above, .95), percentile(above, .5)), ms(percentile(wall, .5)),
                     ms(percentile(wall, .95)), recall_text(recalls[m.label]), plans[m.label],
                     ratio(means[m.label], means.get("GIN 16x8"))])
    return rows, means


def measure_queries(tables, sets, args):
    """Measures sets (made, queries, truth), warm, all of them by turns: for each, rows to print and CPU seconds above
    the round trip by label."""
    session = Session()
    jobs = []
    for made, queries, truth in sets:
        values = tables.query_values(queries)
        jobs.append((round_trip(session, truth), [measured(tables, t, session, values) for t in made]))
    recalls = [{m.label: measure_recall(m, truth) for m in sides} for (_, sides), (_, _, truth) in zip(jobs, sets)]
    turns = [m for trip, sides in jobs for m in [trip] + sides]
    for m in turns:
        m.warm()
    for _ in range(args.rounds):
        for m in turns:
            m.round(args.repeats)
    out = []
    for (trip, sides), recall, (made, queries, _) in zip(jobs, recalls, sets):
        plans = {m.label: plan_summary(m, t, queries) for m, t in zip(sides, made)}
        out.append(query_rows(trip, sides, recall, plans))
    session.close()
    return out


def hits_line(truth, candidates=""):
    hits = [len(t) for t in truth]
    return "%.2f hits a query (p50 %d, p95 %d)%s" % (
        statistics.mean(hits), percentile(hits, .5), percentile(hits, .95), candidates)


# Sections ------------------------------------------------------------------------------------------------------------

class MemoryPoll(threading.Thread):
    """Peak of the private memory of a backend and its parallel workers, and of shared segments made meanwhile."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.done = threading.Event()
        self.anon = self.shared = self.workers = 0
        self.worker_cpu = {}
        with open("/proc/%d/stat" % pid) as file:
            self.postmaster = int(file.read().rsplit(")", 1)[1].split()[1])
        self.known = {}
        self.anon_before = self.anonymous_bytes(pid)
        self.shared_before = self.segments()

    @staticmethod
    def anonymous_bytes(pid):
        try:
            with open("/proc/%d/status" % pid) as file:
                for line in file:
                    if line.startswith("RssAnon:"):
                        return int(line.split()[1]) * 1024
        except OSError:
            pass
        return 0

    @staticmethod
    def segments():
        try:
            return sum(e.stat().st_blocks * 512 for e in os.scandir("/dev/shm") if e.name.startswith("PostgreSQL."))
        except OSError:
            return 0

    def own_workers(self):
        try:
            with open("/proc/%d/task/%d/children" % (self.postmaster, self.postmaster)) as file:
                pids = [int(p) for p in file.read().split()]
        except OSError:
            return []
        for p in pids:
            if p not in self.known:
                try:
                    with open("/proc/%d/cmdline" % p) as file:
                        line = file.read()
                except OSError:
                    continue
                if line.startswith("postgres: "):  # until then it has the postmaster's title
                    self.known[p] = "parallel worker for PID %d" % self.pid in line
        return [p for p in pids if self.known.get(p)]

    def run(self):
        while not self.done.wait(0.004):
            workers = self.own_workers()
            self.workers = max(self.workers, len(workers))
            for p in workers:
                try:
                    with open("/proc/%d/schedstat" % p) as file:
                        self.worker_cpu[p] = int(file.read().split()[0]) * 1e-9
                except OSError:
                    pass  # it has ended
            self.anon = max(self.anon, self.anonymous_bytes(self.pid) + sum(map(self.anonymous_bytes, workers)))
            self.shared = max(self.shared, self.segments() - self.shared_before)

    def stop(self):
        self.done.set()
        self.join()


def create_index(table, memory, workers, poll=False):
    """Seconds, CPU seconds (of workers, too, when polled), MemoryPoll or None. The index is dropped first."""
    session = Session("SET maintenance_work_mem = '%s'" % memory, "SET max_parallel_maintenance_workers = %d" % workers)
    session.do("DROP INDEX IF EXISTS " + table.index_name, "SELECT count(*) FROM " + table.name)
    watch = MemoryPoll(session.pid) if poll else None
    if watch:
        watch.start()
    cpu, start = session.cpu(), time.perf_counter()
    session.do("CREATE INDEX %s ON %s %s" % (table.index_name, table.name, table.kind.index))
    seconds, cpu = time.perf_counter() - start, session.cpu() - cpu
    if watch:
        watch.stop()
        cpu += sum(watch.worker_cpu.values())
    session.close()
    return seconds, cpu, watch


def section_build(tables, kinds, args):
    title("build: CREATE INDEX (medians; CPU and peak of all processes, from a run of its own that is polled; peak: "
          "private memory, less what the backend had before)")
    head = ["", "rows", "maintenance_work_mem", "processes", "s", "of GIN's", "CPU s", "of GIN's", "peak MB",
            "shared MB", "bytes/row"]
    rows = [head]
    for n in [s for s in args.sizes if s >= 100000] or args.sizes[-1:]:
        for memory in args.memory:
            gin = (None, None)
            for kind in [kinds[k] for k in ("gin", "lsh") if k in kinds]:
                table = tables.make(kind, n, index=False)
                for workers in (0, 1) if kind.name == "lsh" else (0,):
                    # The peer's long runs are not repeated.
                    runs = 3 if n <= 300000 else 0 if kind.name == "gin" else 1
                    times = [create_index(table, memory, workers)[0] for _ in range(runs)]
                    seconds, cpu, watch = create_index(table, memory, workers, poll=True)
                    seconds = statistics.median(times or [seconds])
                    if kind.name == "gin":
                        gin = (seconds, cpu)
                    rows.append([kind.label, n, memory, 1 + watch.workers, "%.2f" % seconds, ratio(seconds, gin[0]),
                                 "%.2f" % cpu, ratio(cpu, gin[1]), "%.0f" % ((watch.anon - watch.anon_before) / MB),
                                 "%.0f" % (watch.shared / MB), "%.1f" % (table.index_bytes() / n)])
                    if args.verbose:
                        print("   ", rows[-1], flush=True)
        if n > 300000:
            for kind in kinds.values():
                key = (kind.name, n, 0, 0, False)
                if key in tables.tables:
                    tables.tables.pop(key).drop()
    lines(rows)


def section_size(tables, kinds, args):
    n, step = args.rows, args.rows // 5
    title("size: index bytes a row, %d rows (all forks); inserts by 100 rows a statement" % n)
    rows = [["", "built", "+20 % (most on the way)", "VACUUM", "after 5 x 20 % deleted, VACUUM, as many inserted (most)",
             "VACUUM", "filled empty by inserts (most)", "VACUUM"]]
    for kind in [kinds[k] for k in ("lsh", "gin") if k in kinds]:
        table = tables.make(kind, n)
        session = Session()

        def grow(table, count, source=None, first=0):
            most = 0.0
            rows = table.rows()
            for done in range(0, count, 100):
                m = min(100, count - done)
                if source:
                    where = "id BETWEEN %d AND %d" % (first + done + 1, first + done + m)
                    session.do(table.insert_select(source, where))
                else:
                    table.insert_batch(session, m)
                rows += m
                if done % 1000 == 0 and rows >= n // 2:
                    most = max(most, table.index_bytes() / rows)
            return "%.1f (%.1f)" % (table.index_bytes() / rows, max(most, table.index_bytes() / rows))

        def vacuumed(table):
            session.do("VACUUM " + table.name)
            return "%.1f" % (table.index_bytes() / table.rows())

        row = [kind.label, "%.1f" % (table.index_bytes() / n), grow(table, step), vacuumed(table)]
        for i in range(5):
            fifth = table.rows() // 5
            session.do("DELETE FROM %s WHERE id IN (SELECT id FROM %s ORDER BY hashint8(id # %d) LIMIT %d)" % (
                table.name, table.name, i + 1, fifth), "VACUUM " + table.name)
            churned = grow(table, fifth)
        row += [churned, vacuumed(table)]
        table.drop()
        empty = tables.empty(kind, args.rows)
        row += [grow(empty, n, tables.source(n)), vacuumed(empty)]
        empty.drop()
        rows.append(row)
        session.close()
    lines(rows)


def candidates_text(tables, kinds, table, queries):
    """The number of rows that the peer looks at."""
    if table.kind.name != "gin":
        return ""
    mean = tables.admin.one("SELECT avg(c)::float8 FROM (SELECT count(*) AS c FROM %s q, %s t WHERE t.bk && q.bk"
                            " GROUP BY q.n) x" % (queries, table.name))
    return "; GIN 16x8 verifies %.0f rows a query" % mean


def query_section(tables, kinds, args, identical):
    names = ["lsh", "gin"] + ([] if identical else ["gin_sql"])
    made = [tables.make(kinds[k], args.rows, identical=identical) for k in names if k in kinds]
    queries = tables.queries(args.rows, args.queries)
    truth = tables.truth(made[0], queries, (args.rows, identical))
    looked = "".join(candidates_text(tables, kinds, t, queries) for t in made)
    rows, _ = measure_queries(tables, [(made, queries, truth)], args)[0]
    print("  " + hits_line(truth, looked))
    lines(rows)
    return made


def section_query(tables, kinds, args):
    title("query: prepared, warm, after VACUUM, %d rows; ms" % args.rows)
    query_section(tables, kinds, args, 0)


def section_identical(tables, kinds, args):
    title("identical: the same with %d identical rows more, half of them boilerplate that others share; ms"
          % args.identical)
    made = query_section(tables, kinds, args, args.identical)
    name = PREFIX + "q_identical"
    tables.admin.do("DROP TABLE IF EXISTS " + name, "CREATE TABLE %s (id bigint, sig minhash, bk bigint[],"
                    " components int[], n int GENERATED ALWAYS AS IDENTITY)" % name)
    tables.generate(name, "--rows", args.rows, "--only-identical")
    tables.admin.do("VACUUM ANALYZE " + name)
    truth = tables.truth(made[0], name)
    rows, _ = measure_queries(tables, [(made, name, truth)], args)[0]
    print("  the query for the identical rows themselves, %d rows" % len(truth[0]))
    lines(rows)


def section_rescan(tables, kinds, args):
    outer = min(2000, args.rows // 10)
    title("rescan: nested loop over %d queries, %d rows, after VACUUM; CPU us an outer row (medians)"
          % (outer, args.rows))
    queries = tables.queries(args.rows, outer)
    made = [tables.make(kinds[k], args.rows) for k in ("lsh", "gin") if k in kinds]
    truth = sum(len(t) for t in tables.truth(made[0], queries))
    figures = {}
    s = Session()
    for t in made:
        settings = list(t.kind.settings)
        s.configure(settings)
        query = "SELECT count(*) FROM %s q JOIN %s t ON %s" % (
            queries, t.name, t.kind.condition("q").replace("bk &&", "t.bk &&").replace("jaccard(sig", "jaccard(t.sig"))
        nodes = s.nodes(query)
        forced = ""
        if not any("Index" in n for n in nodes):
            settings.append("SET enable_seqscan = off")
            s.configure(settings)
            nodes = s.nodes(query)
            forced = ", with enable_seqscan = off"
        figures[t] = (query, " / ".join(nodes) + forced, [])
        if not any("Index" in n for n in nodes):
            raise RuntimeError("no plan with the index for: " + query)
        got = s.one(query)
        figures[t] += ("%d of %d%s" % (got, truth, ", exact" if got == truth else ""), settings)
    for _ in range(args.rounds):
        for t in made:
            query = figures[t][0]
            s.configure(figures[t][4])
            before = s.cpu()
            s.do("SELECT count(sig) FROM " + queries)
            idle = s.cpu() - before
            before = s.cpu()
            s.do(query)
            figures[t][2].append((s.cpu() - before - idle) / outer * 1e6)
    rows = [["", "us", "of GIN's", "rows found", "plan"]]
    gin = [statistics.median(figures[t][2]) for t in made if t.kind.name == "gin"]
    for t in made:
        us = statistics.median(figures[t][2])
        rows.append([t.kind.label, "%.1f" % us, ratio(us, gin[0] if gin else None), figures[t][3], figures[t][1]])
    s.close()
    print("  %.2f hits an outer row" % (truth / outer))
    lines(rows)


def insert_rounds(tables, made, batch, total):
    """`total` rows into each table, by turns. Per table (seconds, CPU seconds), GIN's put-off work included."""
    session = Session()
    sums = {t: [0.0, 0.0] for t in made}
    names = {t: t.prepare_insert(session) for t in made} if batch == 1 else {}
    turn = 1000 if batch == 1 else batch

    def one_by_one(t):
        name, values = names[t], t.extra_values(turn)
        cpu, start = session.cpu(), time.perf_counter()
        for row in values:
            session.run(name, row)
        return time.perf_counter() - start, session.cpu() - cpu

    for done in range(0, total, turn):
        for t in made:
            figures = one_by_one(t) if batch == 1 else t.insert_batch(session, turn)
            sums[t] = [a + b for a, b in zip(sums[t], figures)]
    for t in made:
        sums[t] = [a + b for a, b in zip(sums[t], t.settle(session))]
    session.close()
    return sums


def insert_lines(made, sums, total):
    rows = [["", "rows/s of CPU", "of GIN's rate", "rows/s", "of GIN's rate", "CPU us a row", "of it the index"]]
    by_name = {t.kind.name: sums[t] for t in made}
    gin, none = by_name.get("gin"), by_name.get("none")
    for t in made:
        wall, cpu = sums[t]
        rows.append([t.kind.label, "%.0f" % (total / cpu), ratio(gin[1], cpu) if gin else "-", "%.0f" % (total / wall),
                     ratio(gin[0], wall) if gin else "-", "%.1f" % (cpu / total * 1e6),
                     "%.1f" % ((cpu - none[1]) / total * 1e6) if none else "-"])
    lines(rows)


def section_insert(tables, kinds, args):
    made = [tables.make(kinds[k], args.rows, fresh=True) for k in ("none", "lsh", "gin", "gin_off") if k in kinds]
    for t in made:
        t.dirty = True
    for batch, total, text in ((5000, 60000, "batches of 5000 rows, INSERT ... SELECT"),
                               (1, 20000, "one by one, one client, prepared, a transaction each")):
        total = max(batch, min(total, args.rows // 2))
        title("insert: %d rows into %d, %s; GIN's pending list is flushed at the end and counted" % (
            total, args.rows, text))
        insert_lines(made, insert_rounds(tables, made, batch, total), total)


def lsn(admin):
    return admin.one("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8")


def section_wal(tables, kinds, args):
    count = min(20000, args.rows // 5)
    title("wal: bytes a row, %d rows into %d after a checkpoint (wal_level %s); of which the index" % (
        count, args.rows, tables.admin.one("SHOW wal_level")))
    before = tables.admin.one("SHOW full_page_writes")
    allowed = tables.admin.one("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") and args.alter_system
    rows = [["", "full_page_writes", "one by one", "index", "in batches of 1000", "index"]]
    try:
        for pages in ("off", "on") if allowed else (before,):
            if allowed:
                tables.admin.do("ALTER SYSTEM SET full_page_writes = %s" % pages, "SELECT pg_reload_conf()")
                time.sleep(0.5)
            none = [0.0, 0.0]
            for kind in [kinds[k] for k in ("none", "lsh", "gin", "gin_off") if k in kinds]:
                table = tables.make(kind, args.rows)
                session = Session()
                name = table.prepare_insert(session)
                figures = []
                for batch in (1, 1000):
                    values = table.extra_values(count) if batch == 1 else None
                    tables.admin.do("CHECKPOINT")
                    start = lsn(tables.admin)
                    if batch == 1:
                        for row in values:
                            session.run(name, row)
                    else:
                        for _ in range(0, count, batch):
                            table.insert_batch(session, batch)
                    table.settle(session)
                    figures.append((lsn(tables.admin) - start) / count)
                session.close()
                if kind.name == "none":
                    none = figures
                rows.append([kind.label, pages, "%.0f" % figures[0], "%.0f" % (figures[0] - none[0]),
                             "%.0f" % figures[1], "%.0f" % (figures[1] - none[1])])
    finally:
        if allowed:
            tables.admin.do("ALTER SYSTEM RESET full_page_writes", "SELECT pg_reload_conf()")
    lines(rows)


BUCKETS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9]


def section_stall(tables, kinds, args):
    n, count = args.sizes[-1], args.stall
    title("stall: %d inserts one by one into %d rows; wall ms of one insert (CPU ms of the worst)" % (count, n))
    rows = [["", "p50", "p99", "p99.9", "max", "most CPU"] + ["<%g" % b for b in BUCKETS[:-1]] + [">=%g" % BUCKETS[-2]]]
    for kind in [kinds[k] for k in ("none", "lsh", "gin", "gin_off") if k in kinds and (k != "gin_off" or n < 300000)]:
        table = tables.make(kind, n)
        session = Session()
        name = table.prepare_insert(session)
        wall, cpu, clock = [], [], time.perf_counter
        for _ in range(0, count, 10000):
            for row in table.extra_values(min(10000, count)):
                before, start = session.cpu(), clock()
                session.run(name, row)
                wall.append((clock() - start) * 1e3)
                cpu.append((session.cpu() - before) * 1e3)
        session.close()
        counts = [0] * len(BUCKETS)
        for w in wall:
            counts[next(i for i, b in enumerate(BUCKETS) if w < b)] += 1
        rows.append([kind.label] + ["%.3f" % percentile(wall, p) for p in (.5, .99, .999)] +
                    ["%.1f" % max(wall), "%.1f" % max(cpu)] + [c or "." for c in counts])
    lines(rows)


def cancelled(session, statement, after):
    """Asks for the statement's end after so many seconds; seconds until it came, None if the statement had ended before."""
    session.pg.send_query(statement.encode())
    time.sleep(after)
    start = time.perf_counter()
    session.pg.get_cancel().cancel()
    error = None
    while (result := session.pg.get_result()) is not None:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            error = result.error_field(pq.DiagnosticField.SQLSTATE)
    if error not in (None, b"57014"):
        raise RuntimeError("%s, not cancelled: %s" % (error.decode(), statement[:200]))
    return time.perf_counter() - start if error else None


def section_cancel(tables, kinds, args):
    n, times = args.sizes[-1], 16
    title("cancel: ms from the request to the error, %d requests spread over the time of each statement, %d rows" % (times, n))
    lsh = kinds["lsh"]
    table = tables.make(lsh, n, fresh=True)
    queries = tables.queries(n, args.queries)
    create = "CREATE INDEX %s ON %s %s" % (table.index_name, table.name, lsh.index)
    drop = "DROP INDEX IF EXISTS " + table.index_name
    searches = "SET enable_seqscan = off"

    def build(memory, workers):
        return ["SET maintenance_work_mem = '%s'" % memory, "SET max_parallel_maintenance_workers = %d" % workers], create, lambda _: [drop]

    def dead(i):
        return ["DELETE FROM %s WHERE id %% 100 = %d" % (table.name, i)]

    works = [("VACUUM, 1 % of the rows dead or more, 64 MB", ["SET maintenance_work_mem = '64MB'"], "VACUUM " + table.name, dead),
             ("VACUUM, the same, 1 MB", ["SET maintenance_work_mem = '1MB'"], "VACUUM " + table.name, lambda i: dead(i + 50)),
             ("INSERT of 50,000 rows, with flushes and merges", [], None, lambda _: []),
             ("search that gives every row", [searches], "SELECT count(*) FROM %s WHERE jaccard_at_least(sig, (SELECT sig FROM %s "
              "LIMIT 1), 0.01)" % (table.name, queries), lambda _: []),
             ("nested loop of %d searches" % args.queries, [searches], "SELECT count(*) FROM %s q, %s t WHERE jaccard(t.sig, q.sig) > 0.8"
              % (queries, table.name), lambda _: []),
             ("CREATE INDEX, 64 MB", *build("64MB", 0)), ("CREATE INDEX, 64 MB, two processes", *build("64MB", 1)),
             ("CREATE INDEX, 1 GB", *build("1GB", 0))]
    rows = [["", "s", "stopped", "median", "most"]]
    for label, settings, statement, before in works:
        session = Session(*settings)
        taken = []
        for i in range(times + 1):
            for command in before(i):
                tables.admin.do(command)
            # Undone: the same rows may come again.
            command = statement or "BEGIN; %s; ROLLBACK" % table.insert_select(tables.extra(), "id BETWEEN %d AND %d" % (EXTRA_BASE + 1, EXTRA_BASE + 50000))
            if i == 0:
                start = time.perf_counter()
                session.do(command)
                took = time.perf_counter() - start
                continue
            taken.append(cancelled(session, command, took * (i - 0.5) / times))
            if statement is None:
                session.do("ROLLBACK")
        session.close()
        delays = [1e3 * t for t in taken if t is not None]
        rows.append([label, "%.2f" % took, "%d of %d" % (len(delays), times), "%.1f" % percentile(delays, .5) if delays else "",
                     "%.1f" % max(delays) if delays else ""])
        tables.admin.do("SELECT lsh_check(oid::regclass, true) FROM pg_class WHERE relname = '%s'" % table.index_name)
    table.dirty = True
    lines(rows)


def section_steady(tables, kinds, args):
    for identical in (0, args.identical):
        steady(tables, kinds, args, identical)


def steady(tables, kinds, args, identical):
    n, extra = args.rows, max(args.rows // 2, 1000)
    names = [k for k in ("lsh", "gin", "gin_off") if k in kinds]
    made = [tables.make(kinds[k], n, extra=extra, identical=identical) for k in names]
    queries = tables.queries(n + extra, args.queries, to=n)
    values = tables.query_values(queries)
    source = tables.source(n + extra, identical)
    title("steady: the same queries while another client inserts %d rows/s one by one, no VACUUM, from %d rows%s on; ms"
          % (args.rate, n, " and %d identical ones" % identical if identical else ""))
    truth = tables.truth(made[0], queries)
    session = Session()
    all_measured = [measured(tables, t, session, values) for t in made]
    trip = round_trip(session, truth)
    for m in [trip] + all_measured:
        m.warm()
    place = dict.fromkeys(made, n)
    writer = Session()

    def insert(t, count, piece):
        for _ in range(0, count, piece):
            writer.do(t.insert_select(source, "id BETWEEN %d AND %d" % (place[t] + 1, place[t] + piece)))
            place[t] += piece

    # Each round finds the index in another state: some rows are inserted before it.
    share = extra // (2 * args.rounds)
    for _ in range(args.rounds):
        trip.round(args.repeats)
        for t, m in zip(made, all_measured):
            t.dirty = True
            insert(t, share // 100 * 100, 100)
            with Inserter(t, source, place[t], min(share, 50000), args.rate) as inserter:
                m.round(args.repeats)
            place[t] += inserter.inserted
    recalls, plans = {}, {}
    for t, m in zip(made, all_measured):
        recalls[m.label] = measure_recall(m, tables.truth(t, queries))
        plans[m.label] = plan_summary(m, t, queries)
    rows, _ = query_rows(trip, all_measured, recalls, plans)
    print("  rows at the end: " + ", ".join("%s %d" % (t.kind.label, place[t]) for t in made))
    lines(rows)
    session.close()
    writer.close()
    for t in made:
        t.drop()
        tables.tables = {k: v for k, v in tables.tables.items() if v is not t}


class Inserter:
    """Another process that inserts rows of a source at a rate until it is stopped, or has no more."""

    def __init__(self, table, source, after, most, rate):
        names = ",".join(table.kind.columns)
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--inserter", table.name, names, source, str(after), str(most),
             str(rate)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError("the inserter did not start")
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.inserted = int(self.process.stdout.readline() or 0)
        self.process.wait()


def inserter_main(table, names, source, after, most, rate):
    session = Session()
    names = names.split(",")
    types = {"id": INT8, "sig": session.one("SELECT 'minhash'::regtype::oid::int"), "bk": INT8_ARRAY}
    values = session.binary("SELECT %s FROM %s WHERE id BETWEEN %d AND %d ORDER BY id" % (
        ", ".join(names), source, int(after) + 1, int(after) + int(most)))
    name = session.prepare("INSERT INTO %s (%s) VALUES (%s)" % (
        table, ", ".join(names), ", ".join("$%d" % (i + 1) for i in range(len(names)))), [types[n] for n in names])
    stop = threading.Event()
    print("ready", flush=True)
    sys.stdin.readline()

    def wait_for_end():
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    start, inserted = time.perf_counter(), 0
    while not stop.is_set() and inserted < len(values):
        due = min(len(values), int((time.perf_counter() - start) * float(rate)))
        while inserted < due and not stop.is_set():
            session.run(name, values[inserted])
            inserted += 1
        time.sleep(0.002)
    stop.wait()
    print(inserted, flush=True)


def section_growth(tables, kinds, args):
    title("growth: CPU ms a query above the round trip, after VACUUM, all sizes by turns")
    names = [k for k in ("lsh", "gin") if k in kinds]
    rows = [["rows", "hits"] + [c for k in names for c in (kinds[k].label, "plan", "recall")]]
    costs = {}
    sets = []
    for n in args.sizes:
        made = [tables.make(kinds[k], n) for k in names]
        queries = tables.queries(n, args.queries)
        sets.append((made, queries, tables.truth(made[0], queries, (n, 0))))
    for n, (made, _, truth), (figures, means) in zip(args.sizes, sets, measure_queries(tables, sets, args)):
        row = [n, "%.2f" % statistics.mean(map(len, truth))]
        for line in figures[2:]:
            row += [ms(means[line[0]]), line[8], line[7]]
            costs.setdefault(line[0], []).append(means[line[0]])
        rows.append(row)
        if n > 300000 and "stall" not in args.sections:
            for t in made:
                t.dirty = True
                t.drop()
    rows.append(["last / first", ""] + [c for k in names for c in (
        ratio(costs[kinds[k].label][-1], costs[kinds[k].label][0]), "", "")])
    lines(rows)

    title("growth: filled from empty by statements of 1000 rows (by turns); rows/s of CPU over the last half up to "
          "that size, table included")
    most = args.sizes[-1]
    fills = []
    recycle_wal(tables.admin, 1600 * most * len(kinds))
    session = Session()
    fills.append(grow_from_empty(tables, kinds, session, most, args.sizes[0], fills))
    session.close()
    marks = args.sizes
    head = ["rows"]
    fill_names = [k for k in ("none", "lsh", "gin") if k in kinds]
    for k in fill_names:
        head += [kinds[k].label, "rows/s", "WAL/row"] + (["bytes/row"] if k != "none" else [])
    rows, rates = [head], {}
    for mark in marks:
        row = [mark]
        for k in fill_names:
            wall, cpu, wal = ([f[k][mark][i] - f[k][mark // 2][i] for f in fills if mark in f[k]] for i in range(3))
            wall, cpu, wal = map(statistics.median, (wall, cpu, wal))
            half = mark - mark // 2
            rates.setdefault(k, []).append(half / cpu)
            row += ["%.0f" % (half / cpu), "%.0f" % (half / wall), "%.0f" % (wal / half)]
            if k != "none":
                row.append("%.1f" % (fills[-1][k][mark][3] / mark))
        rows.append(row)
    last = ["last / first"]
    for k in fill_names:
        last += ["%.2f" % (rates[k][-1] / rates[k][0]), "", ""] + ([""] if k != "none" else [])
    rows.append(last)
    lines(rows)
    if "lsh" in rates and "gin" in rates:
        print("  lsh / GIN, rows/s of CPU: " + ", ".join(
            "%.2f at %d" % (a / b, m) for a, b, m in zip(rates["lsh"], rates["gin"], marks)))
    for k in fill_names:
        print("  whole fill, %s: %s" % (kinds[k].label, fill_text(fills[-1][k][most], most)))
    sys.stdout.flush()


def fill_text(figures, rows):
    wall, cpu, wal, size = figures
    return "%.1f s, %.1f s CPU, %.0f rows/s, WAL %.0f a row%s" % (
        wall, cpu, rows / wall, wal / rows, ", index %.1f bytes/row" % (size / rows) if size else "")


def recycle_wal(admin, size):
    """Leaves WAL segments of that many bytes for use, as a server has that has been at work for hours; a new one makes
    its segments on the way, in the time of whoever writes."""
    for _ in range(size // (16 * MB) + 1):
        admin.do("SELECT pg_logical_emit_message(false, 'neardup_bench', repeat('x', %d))" % (16 * MB))
    admin.do("CHECKPOINT")


def grow_from_empty(tables, kinds, session, most, least=0, beside=None):
    """name -> {rows: (seconds, CPU seconds, WAL bytes, index bytes)} at every half and whole size. While the second half
    comes, tables of `least` rows are grown, too, ten of each kind; what they cost is appended to `beside`."""
    source = tables.source(most)
    names = [k for k in ("none", "lsh", "gin") if k in kinds]
    made = {k: tables.empty(kinds[k], most) for k in names}
    sums = {k: [0.0, 0.0, 0.0] for k in names}
    marks = {m for s in tables.args.sizes for m in (s, s // 2) if m <= most}
    out = {k: {} for k in names}
    for done in range(0, most, 1000):
        if beside is not None and least < most and done >= most // 2 and done % max(1000, most // 20) == 0:
            beside.append(grow_from_empty(tables, kinds, session, least))
        for k in names:
            statement = made[k].insert_select(source, "id BETWEEN %d AND %d" % (done + 1, done + 1000))
            wal, cpu, start = lsn(tables.admin), session.cpu(), time.perf_counter()
            session.do(statement)
            figures = time.perf_counter() - start, session.cpu() - cpu, lsn(tables.admin) - wal
            sums[k] = [a + b for a, b in zip(sums[k], figures)]
            if done + 1000 in marks:
                wal = lsn(tables.admin)
                sums[k] = [a + b for a, b in zip(sums[k], (*made[k].settle(session), 0.0))]
                sums[k][2] += lsn(tables.admin) - wal
                out[k][done + 1000] = (*sums[k], made[k].index_bytes())
    for k in names:
        made[k].drop()
    return out


SECTIONS = {"build": section_build, "size": section_size, "query": section_query, "identical": section_identical,
            "rescan": section_rescan, "steady": section_steady, "insert": section_insert, "wal": section_wal,
            "growth": section_growth, "stall": section_stall, "cancel": section_cancel}


def main():
    if sys.argv[1:2] == ["--inserter"]:
        return inserter_main(*sys.argv[2:])
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="of %s; all by default" % " ".join(SECTIONS))
    parser.add_argument("--make", default=os.path.join(here, "..", "build-bench", "make_signatures"), metavar="PROGRAM",
                        help="make_signatures (build-bench/make_signatures)")
    parser.add_argument("--only", choices=["lsh", "gin"], help="measure one side alone")
    parser.add_argument("--rows", type=int, default=100000, help="rows of all sections but build, growth, stall and cancel")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="rows of growth; the last is that of stall and cancel; build "
                        "takes those from 100000 on")
    parser.add_argument("--memory", default="64MB,1GB", help="maintenance_work_mem of build")
    parser.add_argument("--queries", type=int, default=200, help="different queries")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, by turns")
    parser.add_argument("--repeats", type=int, default=10, help="executions of each query in a round")
    parser.add_argument("--identical", type=int, default=10000, help="identical rows")
    parser.add_argument("--rate", type=int, default=1000, help="rows/s of steady")
    parser.add_argument("--stall", type=int, default=50000, help="inserts of stall")
    parser.add_argument("--extra", type=int, default=200000, help="rows kept for inserting")
    parser.add_argument("--alter-system", action="store_true", help="wal: with full_page_writes off and on; changes "
                        "the server's setting meanwhile")
    parser.add_argument("--keep", action="store_true", help="leave the tables")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    args.sizes = sorted(int(s) for s in args.sizes.split(","))
    args.memory = args.memory.split(",")
    unknown = [s for s in args.sections if s not in SECTIONS]
    if unknown:
        parser.error("unknown section %s: choose from %s" % (unknown[0], ", ".join(SECTIONS)))
    if any(s % 2000 for s in args.sizes):
        parser.error("--sizes must be multiples of 2000")
    args.sections = [s for s in SECTIONS if s in (args.sections or SECTIONS)]
    if not os.access(args.make, os.X_OK):
        sys.exit("lsh_bench: %s is missing: ./run bench builds it" % args.make)

    admin = Session()
    admin.do("CREATE EXTENSION IF NOT EXISTS neardup")
    if args.only != "gin" and not admin.rows("SELECT 1 FROM pg_am WHERE amname = 'lsh'"):
        sys.exit("lsh_bench: this server's neardup has no access method lsh (CREATE INDEX ... USING lsh); --only gin "
                 "measures the peer alone")
    tables = Tables(admin, args)
    kinds = table_kinds(args)
    machine(admin, args)
    tables.drop()
    failed = []
    try:
        for name in args.sections:
            start = time.perf_counter()
            try:
                SECTIONS[name](tables, kinds, args)
            except (RuntimeError, psycopg.Error) as error:
                failed.append(name)
                print("  %s FAILED: %s" % (name, str(error).strip()), flush=True)
            print("  (%s took %.0f s)" % (name, time.perf_counter() - start), flush=True)
    finally:
        if not args.keep:
            admin.conn.close()
            admin = tables.admin = Session()
            tables.drop()
    return 1 if failed else 0


sys.exit(main())
