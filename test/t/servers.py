"""Servers of a single test: started with its settings, killed, copied to a standby. Clients in threads. Tables of
near duplicates, and whether an lsh index returns the rows of a sequential scan."""
import atexit
import logging
import pwd
import random
import shutil
import signal
import tempfile
import threading
import time

from harness import *

PG_CONFIG = os.environ.get("PG_CONFIG", "pg_config")
DESTDIR = os.environ.get("NEARDUP_DESTDIR", "")  # where `make install DESTDIR=...` has put the extension
SCRATCH = os.environ.get("NEARDUP_SCRATCH") or "/tmp"  # where servers live
OS_USER = os.environ.get("NEARDUP_OS_USER", "postgres")  # the servers' account when this is run as root
# lines of postgresql.conf, to run a test under other settings
MORE_SETTINGS = os.environ.get("NEARDUP_TEST_SETTINGS", "")

SETTINGS = """
listen_addresses = ''
unix_socket_permissions = 0700
fsync = off
wal_level = replica
max_wal_senders = 4
max_wal_size = 1GB
max_connections = 40
autovacuum = off
shared_buffers = 32MB
jit = off
timezone = 'UTC'
statement_timeout = 300s
"""

logging.getLogger("psycopg").setLevel(logging.ERROR)  # it warns of rollbacks that a killed server does not answer


def pg_config(what, program=PG_CONFIG):
    return subprocess.run([program, what], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.strip()


def pg_version(program=PG_CONFIG):
    """15 for 15.4."""
    return int("".join(c if c.isdigit() else " " for c in pg_config("--version", program).split()[1]).split()[0])


class Installation:
    """A PostgreSQL with an extension built from the sources in a folder, in a folder of its own: links to what is
    installed, but for the programs that look for the rest beside themselves.
    `bin` has the programs. `flags`: of make."""

    def __init__(self, folder, sources, program=PG_CONFIG, flags=()):
        self.program, self.prefix = program, os.path.join(folder, "root")
        make = ["make", "-s", "-C", sources, "PG_CONFIG=" + program, "CUDA=no", *flags]
        for target in (["-j%d" % (os.cpu_count() or 2), "all"], ["install", "DESTDIR=" + self.prefix]):
            done = subprocess.run(make + target, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, universal_newlines=True)
            if done.returncode:
                raise RuntimeError("make %s: %s" % (target, done.stdout[-800:]))
        self.bin = self.prefix + pg_config("--bindir", program)
        os.makedirs(self.bin, exist_ok=True)
        for name in ("postgres", "initdb", "pg_ctl"):
            shutil.copy(os.path.join(pg_config("--bindir", program), name), self.bin)
        for what in (pg_config("--bindir", program), pg_config("--sharedir", program) + "/extension",
                     pg_config("--sharedir", program), pg_config("--pkglibdir", program)):
            os.makedirs(self.prefix + what, exist_ok=True)
            for entry in os.listdir(what):
                if not os.path.lexists(os.path.join(self.prefix + what, entry)):
                    os.symlink(os.path.join(what, entry), os.path.join(self.prefix + what, entry))
        open_to_all(self.prefix)


def copy_sources(commit, folder):
    """The tree of a commit, or of the working tree where that is None, without what is built; None where there is no
    history."""
    os.makedirs(folder, exist_ok=True)
    if commit:
        # A copy below a checkout knows its history, too.
        top = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", ROOT, "rev-parse", "--show-toplevel"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        packed = top if top.returncode else subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", top.stdout.strip(), "archive", commit], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if packed.returncode:
            return None
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
    else:
        for entry in ("Makefile", "neardup.control", "docs", "sql", "src", "tools"):
            path = os.path.join(ROOT, entry)
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(folder, entry), dirs_exist_ok=True, ignore=shutil.ignore_patterns(
                    "*.o", "*.so", ".libraries", ".server", "neardup--%s.sql" % default_version()))
            else:
                shutil.copy2(path, folder)  # a Makefile of now would make all again
    return folder


def open_to_all(folder):
    """Readable to the servers' account, whatever the umask."""
    for path, folders, files in os.walk(folder):
        os.chmod(path, 0o755)
        for f in files:
            f = os.path.join(path, f)
            if not os.path.islink(f):
                os.chmod(f, os.stat(f).st_mode | 0o444)


def pids_below(parent):
    """Processes that this one has started."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError), open("/proc/%s/stat" % entry) as f:
            if int(f.read().rsplit(")", 1)[1].split()[1]) == parent:
                found.append(int(entry))
    return found


def process_state(pid):
    """The kernel's letter for it; None where there is no such process."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def is_gone(pid):
    return process_state(pid) in (None, "Z")


def wait_for(condition, what, seconds=60):
    """Waits until condition() is true. The limit guards against hanging, nothing else."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


class Server:
    """A new cluster in a folder of its own, with the extension at hand; removed at the end."""

    def __init__(self, settings="", installation=None, initdb=()):
        self._make_folder(installation)
        # -k: checksums, a test of pages that are written past the buffer manager
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-N", "-k", "--no-locale", "-E", "UTF8",
                  *initdb)
        shm = os.statvfs("/dev/shm") if os.path.isdir("/dev/shm") else None
        if shm is None or shm.f_frsize * shm.f_blocks < 1 << 29:  # containers have 64 MB there
            settings = "dynamic_shared_memory_type = mmap\n" + settings
        self.configure(SETTINGS + settings + "\n" + MORE_SETTINGS)

    def _make_folder(self, installation=None):
        self.folder = tempfile.mkdtemp(prefix="neardup_%s_" % NAME[:3], dir=SCRATCH)
        self.data = self.folder + "/data"
        self.log = self.folder + "/log"
        self.process = None
        self.bin = installation.bin if installation else self.bin_of_today()
        self.user = {}
        if os.geteuid() == 0:
            owner = pwd.getpwnam(OS_USER)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self.user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        self.env["LC_ALL"] = "C"
        atexit.register(self.remove)

    @staticmethod
    def bin_of_today():
        """Programs of the installation that is being tested."""
        bindir = pg_config("--bindir")
        return DESTDIR + bindir if os.path.exists(DESTDIR + bindir + "/initdb") else bindir

    def configure(self, settings):
        """More settings, from the next start on."""
        with open(self.data + "/postgresql.conf", "a") as f:
            f.write("\n%s\nunix_socket_directories = '%s'\n" % (settings, self.folder))

    def _run(self, program, *args):
        done = subprocess.run([os.path.join(self.bin, program), *args], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder, env=self.env,
                              universal_newlines=True, **self.user)
        if done.returncode:
            raise RuntimeError("%s: %s" % (program, done.stdout[-800:]))
        return done.stdout

    def client(self, program, *args):
        """Runs a client program against this server; its output."""
        return self._run(program, "-h", self.folder, "-U", "postgres", *args)

    def start(self):
        """As our child, so that no process of it stays unnoticed. Returns when it answers, on a standby with
        queries."""
        with contextlib.suppress(OSError):
            os.remove(self.data + "/postmaster.pid")  # of a killed one; the number may be another's by now
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([self.bin + "/postgres", "-D", self.data], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, cwd=self.folder, env=self.env,
                                            start_new_session=True, **self.user)
        return self.wait()

    def wait(self):
        """Waits until it answers: after a start, a crash of one of its processes, a promotion."""
        def answers():
            if self.process.poll() is not None:
                raise RuntimeError("the server ended: %s" % self.log_tail())
            with contextlib.suppress(psycopg.OperationalError):
                self.connect().close()
                return True
        wait_for(answers, "the server does not answer: %s" % self.log_tail(), 120)
        return self

    def kill_backend(self, pid):
        """SIGKILL of one backend; returns when the postmaster has ended all others for it, recovered, and answers."""
        with self.connect() as witness:
            os.kill(pid, signal.SIGKILL)

            def is_ended():
                try:
                    witness.execute("SELECT 1")
                except psycopg.Error:
                    return True
            wait_for(is_ended, "the postmaster lets other sessions live on")
        return self.wait()

    def stop(self, mode=signal.SIGINT):
        """A fast shutdown."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(mode)
            try:
                self.process.wait(180)
            except subprocess.TimeoutExpired as e:
                raise RuntimeError("the server does not stop; below it: %s; its log: %s" % (
                    [(pid, process_state(pid)) for pid in pids_below(self.process.pid)], self.log_tail())) from e
        self.process = None

    def kill(self):
        """As a crash of the machine, but for what the kernel still writes: all processes end without another
        instruction."""
        if not self.process or self.process.poll() is not None:
            return
        # it must not react to what happens to its children, nor make new ones
        os.kill(self.process.pid, signal.SIGSTOP)
        wait_for(lambda: process_state(self.process.pid) == "T", "the server does not stop")
        children = pids_below(self.process.pid)
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        wait_for(lambda: all(map(is_gone, children)), "killed processes live on")
        self.process = None

    def remove(self):
        self.kill()
        if not os.environ.get("NEARDUP_TEST_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def connect(self, dbname="postgres", **kwargs):
        kwargs.setdefault("autocommit", True)
        return psycopg.connect(host=self.folder, port=5432, user="postgres", dbname=dbname, **kwargs)

    def standby(self, settings=""):
        """A streaming replica of this server with a slot, not started yet."""
        copy = Server.__new__(Server)
        copy._make_folder()
        copy._run("pg_basebackup", "-h", self.folder, "-U", "postgres", "-D", copy.data, "-X", "stream", "-R", "-C",
                  "-S", "standby", "-c", "fast", "--no-sync")
        copy.configure(settings)
        return copy

    def log_text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def log_tail(self):
        return self.log_text()[-1500:] if os.path.exists(self.log) else ""

    def alarms(self):
        """Lines of the log that no killing of ours explains."""
        words = ("PANIC:", "TRAP:", "terminated by signal 6", "terminated by signal 11", "inconsistent page found",
                 "is damaged", "could not find", "page verification failed")
        return [line for line in self.log_text().splitlines() if any(w in line for w in words)]


def sigterm(*_):
    sys.exit(143)  # by way of atexit: no server stays


signal.signal(signal.SIGTERM, sigterm)


class Clients:
    """Threads that call their work again and again, each with a connection and a random source of its own, until
    stop(). Work may raise the SQLSTATEs `allowed`; any other error is kept in `errors`, and ends the thread. `dying`:
    the server will be killed under them, so that a lost connection is none; whatever else goes wrong is."""

    def __init__(self, server, works, allowed=(), dying=False, seed=0):
        self.server, self.allowed, self.dying = server, set(allowed), dying
        self.errors, self.rounds, self.pids = [], [0] * len(works), [0] * len(works)
        self.stopping = threading.Event()
        self.threads = [Thread(target=self._loop, args=(i, w, random.Random("%s/%s" % (seed, i))), daemon=True) for i,
                        w in enumerate(works)]
        for t in self.threads:
            t.start()

    def _loop(self, number, work, rng):
        conn = None
        try:
            while not self.stopping.is_set():
                if conn is None or conn.closed:
                    conn = self.server.connect()
                    self.pids[number] = conn.info.backend_pid
                try:
                    work(conn, rng)
                    self.rounds[number] += 1
                except psycopg.Error as e:
                    if conn.closed or e.sqlstate not in self.allowed:
                        raise
                    conn.rollback()
        except Exception as e:
            # The class alone does not tell: a full disk and a deadlock have it, too.
            lost = isinstance(e, psycopg.OperationalError) and (conn is None or conn.closed)
            if not (self.dying and lost):
                self.errors.append(
                    "%s: %s %s" % (getattr(work, "__name__", work), getattr(e, "sqlstate", type(e).__name__), e))
        finally:
            self.pids[number] = 0
            if conn is not None:
                conn.close()

    def stop(self):
        """The errors that the clients met."""
        self.stopping.set()
        for t in self.threads:
            t.join(180)
            if t.is_alive():
                self.errors.append("a client hangs")
        return self.errors


class Pauser(Thread):
    """Stops backends of these clients (by their numbers) for moments, wherever they are, so that others overtake
    them."""

    def __init__(self, clients, numbers, most=0.02):
        super().__init__(target=self.pause, daemon=True)
        self.clients, self.numbers, self.most = clients, numbers, most
        self.start()

    def pause(self):
        rng = random.Random(7)
        while not self.clients.stopping.is_set():
            pid = self.clients.pids[rng.choice(self.numbers)]
            if pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    time.sleep(rng.uniform(0, self.most))
                    os.kill(pid, signal.SIGCONT)
            time.sleep(rng.uniform(0, self.most / 4))


class Task(Thread):
    """One statement in a thread and a connection of its own."""

    def __init__(self, server, statement, settings=""):
        super().__init__(target=self.execute, daemon=True)
        self.statement, self.error = statement, None
        self.conn = server.connect()
        if settings:
            self.conn.execute(settings)
        self.pid = self.conn.info.backend_pid
        self.start()

    def execute(self):
        try:
            self.conn.execute(self.statement)
        except psycopg.Error as e:
            self.error = e
        self.ended = time.monotonic()

    def close(self):
        self.join(180)
        self.conn.close()


class Findings:
    """Faults gathered over many rounds, for one result line."""

    def __init__(self):
        self.count, self.bad = 0, []

    def see(self, what, good, why=""):
        self.count += 1
        if not good:
            self.bad.append("%s: %s" % (what, why))
        return good

    def see_none(self, what, error):
        """error: None, or what went wrong."""
        return self.see(what, not error, error)

    def report(self, name):
        return check("%s (%d)" % (name, self.count), self.count and not self.bad,
                     "%d wrong; %s" % (len(self.bad), "; ".join(self.bad[:3])))


# Near duplicates ----------------------------------------------------------------------------------------------------
# Rows of a family differ from its set of 40 numbers in the first `changed`: two that change a and b > a have similarity
# (40 - b) / (40 + b).

SCHEMA = """
CREATE EXTENSION neardup;
CREATE FUNCTION make_sig(family bigint, member bigint, changed int) RETURNS minhash IMMUTABLE PARALLEL SAFE LANGUAGE sql
  AS $$
  SELECT set_minhash(array(SELECT family * 1000003 + CASE WHEN e <= changed THEN 1000 + member % 10000 * 50 + e
    ELSE e END
                           FROM generate_series(1, 40) e)) $$;
"""
CHANGES = 12  # members of a family change 0..CHANGES-1


def fill(conn, table, rows, first=1, family=8):
    """Rows id, family, sig; `family` rows to a family."""
    conn.execute("INSERT INTO %s SELECT i, i / %d, make_sig(i / %d, i, (i * 7 %% %d)::int) "
                 "FROM generate_series(%d::bigint, %d) i" % (table, family, family, CHANGES, first, first + rows - 1))


def make_table(conn, table, rows, family=8, index="", kind="TABLE"):
    """A table filled so and, with index not None, an lsh index <table>_sig with these options."""
    conn.execute("CREATE %s %s (id bigint, family bigint, sig minhash)" % (kind, table))
    fill(conn, table, rows, family=family)
    if index is not None:
        conn.execute("CREATE INDEX %s_sig ON %s USING lsh (sig) %s" % (table, table, index and "WITH (%s)" % index))
    conn.execute("ANALYZE " + table)


def make_pool(conn, rows=2000):
    """Rows to insert from, a quarter of them one signature, so that its lists go over several pages."""
    make_table(conn, "pool", rows, index=None)
    conn.execute("CREATE INDEX ON pool (id)")
    conn.execute("UPDATE pool SET family = 3, sig = make_sig(3, 3, 0) WHERE id % 4 = 0")
    conn.execute("VACUUM pool")


def make_queries(conn, rng, families, n, common=0):
    """Signatures near to rows of these families; `common` of them the one that the pool has often."""
    of = [[rng.randrange(most) for _ in range(n)] for most in (families, 10**6, CHANGES)]
    return [r[0] for r in conn.execute(
        "SELECT make_sig(f, m, c)::text FROM unnest(%s::bigint[], %s::bigint[], %s::int[]) u(f, m, c)", of)] + [
        one(conn, "SELECT make_sig(3, 3, 0)::text")] * common


# The forms of a question, each with the plans that are allowed.
PLANS = {
    "sequential": "SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off",
    "index": "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_bitmapscan = off",
    "bitmap": "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = on",
}
# The condition of "derived" is a comparison with jaccard(); that of "constant" has the query in the statement.
PLANS["derived"] = PLANS["constant"] = PLANS["index"]
# OFFSET 0: else every row has the query made from text again.
ANSWERS = """SELECT array(SELECT id FROM %s t WHERE %s)
  FROM (SELECT text::minhash AS q, n FROM unnest(%%s::text[]) WITH ORDINALITY u(text, n) OFFSET 0) x ORDER BY n"""


def question(how, table, bound):
    """A statement with the texts of queries as its parameter."""
    return ANSWERS % (table, "jaccard(t.sig, q) >= %s" % bound if how == "derived" else "t.sig %% q")


def uses_index(conn, table):
    """Plans that are not what their names say; None: all are."""
    query = make_queries(conn, random.Random(1), 10, 1)
    for how, want in (("sequential", "Seq Scan"), ("index", "Index Scan"), ("bitmap", "Bitmap Index Scan"),
                      ("derived", "Index Scan")):
        with conn.transaction():
            conn.execute(PLANS[how])
            plan = " ".join(r[0] for r in conn.execute("EXPLAIN " + question(how, table, 0.8), [query]))
        if want not in plan:
            return "%s scan: %s" % (how, plan)


def differences(conn, table, queries, bound=0.8, plans=("index", "bitmap", "derived", "constant")):
    """Texts that say where answers by the index differ from those of a sequential scan of the same snapshot; and how
    many rows the scan found. `plans`: how the index is used; "constant" lets the planner see the query, and is asked
    one only."""
    bad, got = [], {}
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        conn.execute("SET LOCAL neardup.jaccard_threshold = %s" % bound)
        for how in plans + ("sequential",):
            conn.execute(PLANS[how])
            if how == "constant":
                got[how] = [{r[0] for r in conn.execute("SELECT id FROM %s WHERE sig %% '%s'" % (table, queries[0]))}]
            else:
                got[how] = [set(r[0]) for r in conn.execute(question(how, table, bound), [queries])]
    for i in range(len(queries)):
        want = got["sequential"][i]
        for how in plans:
            if i < len(got[how]) and got[how][i] != want:
                bad.append("%s scan at %s: %d rows, lacks %s, has %s" % (
                    how, bound, len(got[how][i]), sorted(want - got[how][i])[:5], sorted(got[how][i] - want)[:5]))
    return bad, sum(map(len, got["sequential"]))


def differences_of_many(conn, table, queries, bound, how="index", times=15):
    """The same, with each question asked again and again of the index, and once of the table: most of the time goes to
    the index, where changes meanwhile matter."""
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        conn.execute("SET LOCAL neardup.jaccard_threshold = %s" % bound)
        conn.execute(PLANS["sequential"])
        want = [set(r[0]) for r in conn.execute(question("sequential", table, bound), [queries])]
        conn.execute(PLANS[how])
        got = [set(r[0]) for r in conn.execute(question(how, table, bound), [queries * times])]
    return ["%s scan %d at %s: lacks %s, has %s" % (
        how, i, bound, sorted(want[i % len(queries)] - g)[:5], sorted(g - want[i % len(queries)])[:5])
            for i, g in enumerate(got) if g != want[i % len(queries)]], sum(map(len, want))


def unsound(conn, index, heapallindexed=True):
    """The faults that lsh_check reports, None when the index is sound."""
    return sql_error(conn, "SELECT lsh_check('%s', %s)" % (index, "true" if heapallindexed else "false"))


def look(findings, what, conn, table, queries, bounds=(0.8,), index=None):
    """Soundness and answers of the index of a table."""
    index = index or table + "_sig"
    findings.see_none(what + ": lsh_check", unsound(conn, index))
    found = 0
    for bound in bounds:
        bad, rows = differences(conn, table, queries, bound)
        found += rows
        findings.see_none("%s: answers at %s" % (what, bound), "; ".join(bad[:2]))
    return found


def vacuumed(conn, table, index=None, indexed="sig"):
    """VACUUM until all dead rows are gone, which needs that nobody looks at an old snapshot; None, or what is left.
    indexed: the column whose NULLs are not in the index, or *."""
    index = index or table + "_sig"
    left = []

    def done():
        conn.execute("VACUUM (INDEX_CLEANUP on) " + table)
        left[:] = conn.execute("SELECT rows - (SELECT count(%s) FROM %s), orphan_pages FROM lsh_info('%s', true)" % (
            indexed, table, index)).fetchone()
        return left == [0, 0]

    with contextlib.suppress(TimeoutError):
        wait_for(done, "", 30)
    return None if left == [0, 0] else "%d rows more than the table has, %d orphan pages" % tuple(left)


def dead_gone(conn, table):
    """VACUUM until no dead row of a table is left. An index that is built holds the dead rows that another session's
    snapshot still sees, such as an ANALYZE of autovacuum's in the same database."""
    said = []

    def hear(notice):
        said.append("%s %s" % (notice.message_primary, notice.message_detail))

    def done():
        said.clear()
        conn.execute("VACUUM (VERBOSE, INDEX_CLEANUP on) " + table)
        left = re.findall(
            r"(\d+) (?:are dead but not yet removable|dead row versions cannot be removed yet)", " ".join(said))
        return left and not any(map(int, left))

    conn.add_notice_handler(hear)
    try:
        wait_for(done, "a snapshot goes on that sees dead rows of %s" % table, 120)
    finally:
        conn.remove_notice_handler(hear)


def temp_files(conn):
    return one(conn, "SELECT count(*) FROM pg_ls_tmpdir()")
