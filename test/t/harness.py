"""The base of every script test: a database of its own, named checks, the data sets, the oracle."""
import atexit
import contextlib
import csv
import functools
import gzip
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

signal.signal(signal.SIGINT, signal.default_int_handler)  # ./run starts tests side by side, where Ctrl-C is ignored
sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

try:
    import psycopg
    from psycopg import sql
except ImportError:
    print("skip - python3-psycopg is not installed")
    sys.exit(0)

NAME = os.path.splitext(os.path.basename(sys.argv[0]))[0]
FULL = os.environ.get("NEARDUP_FULL", "0") == "1"
# the longer loops of crashes, damage, replicas, constraints, upgrades
LONG = FULL or os.environ.get("NEARDUP_LONG", "0") == "1"
# The functions and procedures of the extension, p, behind FROM
OUR_FUNCTIONS = """pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'neardup'"""
failures = 0
ended = False


def check(name, good, why=""):
    """One result line; `why` explains a failure."""
    global failures
    if good:
        print("ok - %s" % name, flush=True)
    else:
        failures += 1
        print("not ok - %s: %s" % (name, " ".join(str(why).split())[:600]), flush=True)
    return good


def equal(name, got, want):
    return check(name, got == want, "got %.280r, want %.280r" % (got, want))


def equal_all(name, rows):
    """One line for many comparisons: rows of (what, got, want)."""
    count, bad = 0, []
    for what, got, want in rows:
        count += 1
        if got != want:
            bad.append("%s: got %.120r, want %.120r" % (what, got, want))
    return check("%s (%d)" % (name, count), count and not bad, "%d differ; %s" % (len(bad), "; ".join(bad[:3])))


def skip(why):
    print("skip - %s" % why, flush=True)


def data_file(*parts):
    """Path of a data set's file, or None, of which the script says once that it skips something."""
    folder = os.environ.get("NEARDUP_DATA", "")
    path = os.path.join(folder, *parts)
    if folder and os.path.exists(path):
        return path
    if not data_file.told:
        skip("data sets are absent: NEARDUP_DATA")
        data_file.told = True
    return None


data_file.told = False


def default_version():
    """The version in neardup.control, the one place where it stands."""
    with open(os.path.join(ROOT, "neardup.control"), encoding="utf-8") as f:
        return re.search(r"^default_version = '(.*)'$", f.read(), re.M).group(1)


def sql_blocks(text):
    """The blocks of a page that are marked as sql."""
    return re.findall(r"```sql\n(.*?)```", text, re.S)


def load(conn, table, columns, path):
    """Creates `table` with the columns (SQL text) and fills it from a gzip file in COPY text format."""
    conn.execute("CREATE TABLE %s (%s)" % (table, columns))
    with conn.cursor() as cur, gzip.open(path, "rb") as src, cur.copy("COPY %s FROM STDIN" % table) as copy:
        while True:
            block = src.read(1 << 20)
            if not block:
                break
            copy.write(block)
    conn.execute("ANALYZE %s" % table)


def csv_rows(*parts):
    """Rows of a data set's CSV file: names of columns, then values. None where it is absent."""
    path = data_file(*parts)
    if not path:
        return None
    with gzip.open(path, "rt", encoding="utf-8", newline="") as f:
        return list(csv.reader(f))


def copy_rows(conn, target, rows, types=None):
    """COPY of rows into a table, or into columns of it. types: of the columns, where Python's do not say them."""
    with conn.cursor() as cur, cur.copy("COPY %s FROM STDIN" % target) as copy:
        if types:
            copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def one(conn, query, args=None):
    """The first column of the first row."""
    return conn.execute(query, args).fetchone()[0]


def sql_error(conn, query, args=None):
    """The psycopg error that the statement raises, else None."""
    try:
        cur = conn.execute(query, args)
        if cur.description:
            cur.fetchall()
    except psycopg.Error as e:
        if conn.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
            conn.rollback()
        return e
    return None


class Thread(threading.Thread):
    """join() raises what the thread has ended with."""
    raised = None

    def run(self):
        try:
            super().run()
        except BaseException as e:
            self.raised = e

    def join(self, timeout=None):
        super().join(timeout)
        if self.raised is not None:
            raised, self.raised = self.raised, None
            raise raised


# Locks that are had already bring no news of other sessions.
HOLD_CATALOGS = "SELECT FROM pg_type, pg_class, pg_namespace, pg_attribute, pg_index LIMIT 1; "


@contextlib.contextmanager
def waiting_behind(other, conn, query):
    """Starts the statement in a thread; yields [its error], which is empty before its end, and whether it waits for a
    lock that `other` has."""
    errors = []
    thread = Thread(target=lambda: errors.append(sql_error(conn, query)), daemon=True)
    thread.start()
    limit, waits = time.monotonic() + 60, False  # a hang guard
    while thread.is_alive() and not waits and time.monotonic() < limit:
        waits = one(other, "SELECT pg_backend_pid() = ANY (pg_blocking_pids(%s))", (conn.info.backend_pid,))
        if not waits:
            time.sleep(0.002)
    try:
        yield errors, waits
    finally:
        thread.join(60)
    if not errors:
        raise RuntimeError("%s does not end" % query)


def error_behind(other, ends, conn, query):
    """sql_error(conn, query), of a statement that waits for a lock which `other` has, until that has executed `ends`,
    one by one."""
    with waiting_behind(other, conn, query) as (errors, waits):
        for statement in ends:
            other.execute(statement)
    if not waits:
        raise RuntimeError("%s does not wait: %s" % (query, errors))
    return errors[0]


def temp_files(conn):
    """The number of temporary files of the sessions that have asked this: other scripts are at work on the server,
    too."""
    temp_files.pids.add(str(conn.info.backend_pid))
    return one(conn, "SELECT count(*) FROM pg_ls_tmpdir() WHERE split_part(substr(name, 10), '.', 1) = ANY (%s)",
               (list(temp_files.pids),))


temp_files.pids = set()


def cpu_seconds(pid):
    """Processor time that a process of this machine has used, which is the same on a busy machine."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stops_when_asked(name, conn, query, most=1.0, phase=None, after=0.04):
    """Cancels the statement once it has worked for so many seconds of processor time, and is in the phase that
    neardup_progress() names. It ends with the error for that, at most so many such seconds later."""
    pid, ended = conn.info.backend_pid, []
    before = None if phase else cpu_seconds(pid)
    thread = Thread(target=lambda: ended.append((sql_error(conn, query), cpu_seconds(pid))), daemon=True)
    with connect(conn.info.dbname) if phase else contextlib.nullcontext() as other:
        thread.start()
        while thread.is_alive() and (before is None or cpu_seconds(pid) < before + after):
            in_phase = "SELECT EXISTS (SELECT FROM neardup_progress() WHERE pid = %s AND phase = %s)"
            if before is None and one(other, in_phase, (pid, phase)):
                before = cpu_seconds(pid)
            time.sleep(0.002)
    conn.cancel()  # has been sent when this returns
    asked = cpu_seconds(pid)
    thread.join(300)  # a hang guard
    if not ended:
        return check(name, False, "it goes on")
    if before is None:
        return check(name, False, "it was not seen in the phase %s: %s" % (phase, ended[0][0]))
    error, used = ended[0][0], ended[0][1] - asked
    return check(name, error is not None and error.sqlstate == "57014" and used <= most,
                 "%s after %.2f s of processor time" % (error or "no error", used))


def fails(name, conn, query, args=None, text="", state=None, hint=""):
    """The statement raises an error with this text, SQLSTATE and hint, and the session lives on."""
    e = sql_error(conn, query, args)
    if e is None:
        return check(name, False, "no error")
    d = e.diag
    good = text in str(d.message_primary) and (state is None or e.sqlstate == state) and hint in (d.message_hint or "")
    good = good and not conn.closed and one(conn, "SELECT 1") == 1
    return check(name, good, "%s %s / %s / %s" % (e.sqlstate, d.message_primary or e, d.message_detail, d.message_hint))


def tool(*args, **kwargs):
    """Runs a client program of the server's own installation; returns the CompletedProcess with text output."""
    env = dict(os.environ, **kwargs.pop("env", {}))
    env["PATH"] += ":/usr/lib/postgresql/%d/bin" % (server_version() // 10000)
    kwargs.setdefault("stdin", subprocess.DEVNULL if "input" not in kwargs else None)
    if "input" in kwargs:
        kwargs.pop("stdin")
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True, **kwargs)


def server_version():
    if server_version.known is None:
        with psycopg.connect(autocommit=True) as conn:
            server_version.known = conn.info.server_version
    return server_version.known


server_version.known = None


@contextlib.contextmanager
def database(suffix="", options="ENCODING 'UTF8' LOCALE 'C'", extension=True, template="template0"):
    """A fresh database; yields its name, drops it at the end."""
    name = "t_%s%s" % (NAME, suffix)
    with psycopg.connect(autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} ").format(sql.Identifier(name), sql.Identifier(template))
                      + sql.SQL(options))
    try:
        if extension:
            with connect(name) as conn:
                conn.execute("CREATE EXTENSION neardup")
        yield name
    finally:
        with psycopg.connect(autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextlib.contextmanager
def roles(*names, members=()):
    """New roles, dropped at the end; members: pairs of a role and one that is a member of it."""
    def drop(admin):
        for role in names:
            admin.execute("DROP ROLE IF EXISTS %s" % role)
    with psycopg.connect(autocommit=True) as admin:
        drop(admin)
        for role in names:
            admin.execute("CREATE ROLE %s" % role)
        for role, member in members:
            admin.execute("GRANT %s TO %s" % (role, member))
    try:
        yield
    finally:
        with psycopg.connect(autocommit=True) as admin:
            drop(admin)


def connect(name, **kwargs):
    kwargs.setdefault("autocommit", True)
    return psycopg.connect(dbname=name, **kwargs)


def wait_for_indexes(conn):
    """An index over rows that were updated before (broken HOT chains) is not used while a transaction is at work that
    is older than it, in whatever database: of another script, say. Waits for their
    end; the limit guards against hanging."""
    end = time.monotonic() + 120
    while one(conn, "SELECT EXISTS (SELECT FROM pg_index WHERE indcheckxmin "
                    "AND age(xmin) <= age(txid_snapshot_xmin(txid_current_snapshot())::text::xid))"):
        if time.monotonic() > end:
            raise TimeoutError("a transaction goes on that is older than an index")
        time.sleep(0.05)


def sections(*calls):
    """Runs each function; one that raises is a failure and does not keep the next from running. NEARDUP_SECTION, of
    ./run test --section: only those with that in their names, and what they list themselves. NEARDUP_SHUFFLE, a number:
    in an order of chance, since each must run alone and after any other."""
    seed = os.environ.get("NEARDUP_SHUFFLE", "")
    if seed:
        calls = random.Random("%s %s" % (seed, NAME)).sample(calls, len(calls))
        print("# NEARDUP_SHUFFLE=%s: %s" % (seed, ", ".join(call[0].__name__ for call in calls)), flush=True)
    part = "" if sections.chosen else os.environ.get("NEARDUP_SECTION", "")
    if not any(part in call[0].__name__ for call in calls):
        skip("no section has %s in its name: %s" % (part, ", ".join(call[0].__name__ for call in calls)))
    for call, *args in calls:
        if part in call.__name__:
            run_section(call, args)


def in_copies(template, *calls):
    """The functions as sections, each of which has a connection to a copy of its own of this database, to which nobody
    is connected meanwhile."""
    def in_a_copy(call):
        @functools.wraps(call)
        def section():
            with database("_copy", options="", extension=False, template=template) as name, connect(name) as conn:
                call(conn)
        return section
    sections(*((in_a_copy(call),) for call in calls))


sections.chosen = False  # whether one is at work that was asked for


def run_section(call, args):
    before, sections.chosen = sections.chosen, call.__name__ != "main"
    began = time.monotonic()
    try:
        call(*args)
    except Exception as e:
        traceback.print_exc()
        check("%s runs to its end" % call.__name__, False, "%s: %s" % (type(e).__name__, e))
    sections.chosen = before
    if os.environ.get("NEARDUP_TIMES"):
        print("%s took %.1f s" % (call.__name__, time.monotonic() - began), flush=True)


def finish(main):
    """Runs main() as a section; exits 1 after any failure."""
    global ended
    run_section(main, ())
    ended = True
    sys.exit(1 if failures else 0)


def at_exit():
    """A script that ends before its end has not passed, whatever it printed and whoever ended it."""
    if not ended:
        print("not ok - %s: it did not come to its end" % NAME, flush=True)
        os._exit(1)


atexit.register(at_exit)  # the first, so that it runs after all others
