"""neardup.refresh(), neardup.report() and neardup.passages(): results, progress, interruptions, refusals; the reports
of the program beside these."""
import csv
import datetime
import io
import json
import re
import stat
import struct
import tempfile
from unittest import mock

from clients import *

neardup, psycopg2 = need("neardup", "psycopg2")
from neardup import _out_file

BIN = os.environ.get("NEARDUP_BIN") or os.path.join(ROOT, "bin", "neardup")


def make(conn, rows=400):
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, path text, body text)")
    conn.execute(
        "INSERT INTO docs SELECT i, '/srv/' || i, (SELECT string_agg('w' || (i / 3 * 31 + j * j + CASE WHEN j = 7 "
        "THEN i ELSE 0 END) % 997, ' ') FROM generate_series(1, 60) j) FROM generate_series(1, {}) i".format(rows))
    conn.execute("SELECT create_duplicates('copies', 'docs', 'id', 'body')")


def results(name, conn):
    seen = []
    with psycopg.connect(dbname=name) as user:  # not autocommit, and it stays so
        result = neardup.refresh(user, "copies", progress=seen.append)
        check("autocommit is as before",
              not user.autocommit and user.info.transaction_status == psycopg.pq.TransactionStatus.IDLE)
    want = conn.execute("SELECT rows, clusters, duplicates FROM duplicates_status").fetchone()
    equal("counts are those of duplicates_status",
          (result.rows, result.clusters, result.duplicates, result.new_duplicates, result.finished),
          (*want, want[2], True))
    check("the summary is the program's",
          re.fullmatch(r"400 rows, \d+ clusters of 2 or more, \d+ duplicates \(\d+\.\d %\), \d+ of them new since the "
                       r"last run; \d+\.\d s", str(result)), str(result))
    conn.execute("UPDATE docs SET body = 'something else altogether, of more than three words' WHERE id = 3; "
                 "DELETE FROM docs WHERE id BETWEEN 30 AND 33")
    other = psycopg2.connect(dbname=name)
    result = neardup.refresh(other, "public.copies", batch=50, time_limit=3600)
    other.close()
    # 35 has another representative than 33
    equal("psycopg 2, changes", (result.rows, result.new_duplicates, bool(result.changes)), (396, 1, True))
    check("changes are in the summary", "\nclusters of earlier runs: " in str(result) and "gone" in str(result),
          str(result))
    equal("rebuild", neardup.refresh(conn, "copies", rebuild=True).rows, 396)
    for limit in (datetime.timedelta(minutes=5), "30min", 2.5, 10 ** 9):
        check("time_limit=%r" % (limit,), neardup.refresh(conn, "copies", time_limit=limit).finished)
    for limit in (1e-6, 1e-300, datetime.timedelta(microseconds=1)):
        check("time_limit=%r" % (limit,),
              isinstance(neardup.refresh(conn, "copies", time_limit=limit), neardup.RefreshResult))
    conn.execute("CALL refresh_duplicates('copies')")


def progress(name, conn):
    """A long refresh seen from a second connection; a bar; Ctrl-C."""
    conn.execute(
        "CREATE TABLE many AS SELECT i AS id, (SELECT string_agg('w' || (i * 31 + j * j) % 9973, ' ') "
        "FROM generate_series(1, 80) j) AS body FROM generate_series(1, 20000) i; CREATE UNIQUE INDEX ON many (id)")
    conn.execute("SELECT create_duplicates('many_copies', 'many', 'id', 'body')")
    conn.execute(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.4); RETURN NULL; "
        "END $$; CREATE TRIGGER slow AFTER INSERT ON many_copies_signatures FOR EACH STATEMENT EXECUTE FUNCTION slow()")
    seen = []
    result = neardup.refresh(conn, "many_copies", batch=5000, progress=seen.append)
    signing = [s for s in seen if s.phase == "signing"]
    check("progress is seen",
          result.rows == 20000 and any(
              s.total == 20000 and s.share is not None and " of 20000 rows" in s.text for s in signing),
          [s.text for s in seen])
    need("tqdm")
    code = ("import neardup, psycopg; c = psycopg.connect(autocommit=True); "
            "c.execute(\"UPDATE many SET body = body || ' more words'\"); "
            "print(neardup.refresh(c, 'many_copies', batch=5000, progress=True).finished)")
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ, PGDATABASE=name), cwd=HERE, capture_output=True, text=True)
    check("a bar of tqdm", done.stdout == "True\n" and "signing" in done.stderr and "rows" in done.stderr,
          done.stderr[-300:])
    conn.execute("UPDATE many SET body = body || ' and more'")
    code = ("import neardup, psycopg; neardup.refresh(psycopg.connect(autocommit=True), 'many_copies', batch=1000, "
            "progress=lambda s: print(s.phase, flush=True))")
    # ./run starts tests in the background, where Ctrl-C is ignored: the child asks for it
    child = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + code],
        env=dict(os.environ, PGDATABASE=name), cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "signing" not in child.stdout.readline() and child.poll() is None:
        pass
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    check("Ctrl-C cancels it", "KeyboardInterrupt" in errors and child.returncode != 0, errors[-200:])
    equal("and the next refresh continues",
          (one(conn, "SELECT phase FROM duplicates_status WHERE job = 'many_copies'"),
           neardup.refresh(conn, "many_copies").rows), ("interrupted", 20000))


def failing_write(conn, folder):
    """A file that cannot be written leaves nothing beside it."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    failed = None
    try:
        neardup.report(conn, "copies", os.path.join(folder, "large.csv"))
    except OSError as error:
        failed = error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    # The check prints after the limit is lifted, since stdout may be a file.
    check("a file that becomes too large", failed is not None and "too large" in str(failed), failed)
    equal("leaves nothing beside it", sorted(os.listdir(folder)), ["r.json"])


def one_error(conn, folder):
    """The first error is raised, the file is closed and removed, and what was there stays."""
    path = os.path.join(folder, "first.csv")
    neardup.report(conn, "copies", path)
    with open(path, encoding="utf-8") as file:
        before = file.read()
    unlink, seen = os.unlink, []

    def fails(*arguments, **named):
        raise OSError("the first")

    def unlink_fails(name, **named):
        seen.append([os.readlink(link) for link in open_files()].count(os.path.realpath(name)))
        unlink(name)
        raise OSError("the second")
    rows = []
    for what, module in (("fsync", os), ("replace", os), ("_keep_rights", _out_file)):
        with mock.patch.object(module, what, fails), mock.patch.object(os, "unlink", unlink_fails):
            try:
                neardup.report(conn, "copies", path)
                got = None
            except OSError as error:
                got = str(error)
        rows.append(("the error of %s" % what, got, "the first"))
    rows.append(("the file is closed when it is removed", seen, [0, 0, 0]))
    with open(path, encoding="utf-8") as file:
        rows.append(("the report of before", file.read(), before))
    os.unlink(path)
    equal_all("an error of writing a report is the first one", rows)


def open_files():
    """The links to them."""
    folder = "/proc/self/fd"
    return [link for link in (os.path.join(folder, name) for name in os.listdir(folder)) if os.path.islink(link)]


def order_of_writing(conn, folder):
    """All is on disk before the file has its name."""
    path, calls = os.path.join(folder, "order.csv"), []
    real = {name: getattr(os, name) for name in ("fsync", "replace")}

    def noted(name, size):
        def call(*arguments):
            calls.append((name, size(*arguments)))
            return real[name](*arguments)
        return call
    with mock.patch.object(os, "fsync", noted("fsync", lambda file: os.fstat(file).st_size)), mock.patch.object(
            os, "replace", noted("replace", lambda new, old: os.stat(new).st_size)):
        neardup.report(conn, "copies", path)
    size = os.stat(path).st_size
    equal("synchronized before it is renamed", calls, [("fsync", size), ("replace", size)])
    os.unlink(path)


def rights_of_files(conn, folder):
    """A new file has those that the umask leaves; one that is replaced keeps its own. test/cli/report_test.py has the
    program's."""
    path = os.path.join(folder, "rights.json")
    rights = lambda: stat.S_IMODE(os.stat(neardup.report(conn, "copies", path)).st_mode)
    before, umask, calls = os.umask(0o027), os.umask, []
    try:
        with mock.patch.object(os, "umask", lambda mask: calls.append(mask) or umask(mask)):
            rows = [("new", rights(), 0o640),
                    ("the umask of the process, which other threads have too, stays", calls, [])]
    finally:
        os.umask(before)
    for mode in (0o600, 0o640, 0o664):
        os.chmod(path, mode)
        rows.append(("%o" % mode, rights(), mode))
    with mock.patch.object(_out_file, "_give", lambda file, old: False):
        os.chmod(path, 0o664)
        rows.append(("no rights for another group", rights(), 0o604))
    for other in (folder, os.devnull):
        raises("%s is no regular file" % other, ValueError, lambda: neardup.report(conn, "copies", other, format="csv"),
               "is not a regular file")
    link = os.path.join(folder, "link.json")
    os.symlink(path, link)
    os.chmod(path, 0o600)
    neardup.report(conn, "copies", link)
    rows.append(("a link stays", (os.readlink(link), stat.S_IMODE(os.stat(path).st_mode)), (path, 0o600)))
    os.unlink(link)
    equal_all("rights of a report that is replaced", rows)
    if os.geteuid() == 0:
        rows = []
        for owner in ((65534, 65534), (65534, 0), (0, 65534)):
            os.chown(path, *owner)
            os.chmod(path, 0o640)
            status = os.stat(neardup.report(conn, "copies", path))
            rows.append((str(owner), (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)), (*owner, 0o640)))
        equal_all("owner and group of a report that is replaced", rows)
    os.unlink(path)


def access_lists(conn, folder):
    """With an ACL the bits of the group are what its entries may have at most: another entry's rights are not given to
    the group, nor by the folder's list."""
    # u::rw, u:65534:rw, g::-, m::rw, o::-
    entries = ((0x01, 6, -1), (0x02, 6, 65534), (0x04, 0, -1), (0x10, 6, -1), (0x20, 0, -1))
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    path, within = os.path.join(folder, "acl.json"), os.path.join(folder, "within")
    neardup.report(conn, "copies", path)
    os.mkdir(within)
    try:
        os.setxattr(path, "system.posix_acl_access", acl)
        os.setxattr(within, "system.posix_acl_default", acl)
    except OSError as error:
        return skip("no access lists in %s: %s" % (folder, error))
    rows = [("its bits of the group are the mask", stat.S_IMODE(os.stat(path).st_mode), 0o660)]
    rows.append(("a file with a list", stat.S_IMODE(os.stat(neardup.report(conn, "copies", path)).st_mode), 0o600))
    inner = os.path.join(within, "inner.json")
    with open(inner, "w", encoding="utf-8"):
        os.removexattr(inner, "system.posix_acl_access")
        os.chmod(inner, 0o640)
    neardup.report(conn, "copies", inner)
    rows.append(("the list of the folder grants nothing", stat.S_IMODE(os.stat(inner).st_mode), 0o600))
    equal_all("access lists are not kept", rows)
    os.unlink(path)


def reports(name, conn):
    report = neardup.report(conn, "copies", clusters=5, pairs=4)
    text = neardup.report(conn, "copies", format="csv")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.json")
        equal("out is returned", str(neardup.report(conn, "copies", path, clusters=5, pairs=4)), path)
        with open(path, encoding="utf-8") as file:
            written = json.load(file)
        equal("a file of JSON", {**written, "time": ""}, {**report, "time": ""})
        failing_write(conn, folder)
        one_error(conn, folder)
        order_of_writing(conn, folder)
        rights_of_files(conn, folder)
        access_lists(conn, folder)
        equal("a file of CSV",
              open(neardup.report(conn, "copies", os.path.join(folder, "r.csv")), encoding="utf-8", newline="").read(),
              text)
        if not os.path.exists(BIN):
            return skip("the program neardup is not built: bin/neardup")
        program = lambda *a: tool(BIN, "report", "copies", "--out", "-", "-q", "-d", name, *a).stdout
        equal("JSON as the program writes it", {**report, "time": ""},
              {**json.loads(program("--format", "json", "--clusters", "5", "--pairs", "4")), "time": ""})
        equal("CSV as the program writes it", [r[:5] for r in csv.reader(io.StringIO(text))],
              [r[:5] for r in csv.reader(io.StringIO(program("--format", "csv")))])
        equal("byte for byte", text, program("--format", "csv"))
        os.environ["PATH"] = os.path.dirname(os.path.abspath(BIN)) + os.pathsep + os.environ["PATH"]
        page = os.path.join(folder, "r.html")
        neardup.report(conn, "copies", page)
        check("a page, by the program", "<!doctype html" in open(page, encoding="utf-8").read(100).lower())
        raises("a page that cannot be written", neardup.NeardupError,
               lambda: neardup.report(conn, "copies", os.path.join(folder, "no", "r.html")),
               "neardup report ended with status")
    before = os.environ["PATH"]
    os.environ["PATH"] = "/nowhere"
    raises("a page without the program", neardup.NeardupError, lambda: neardup.report(conn, "copies", "x.html"),
           "not in PATH", 'format="json"')
    os.environ["PATH"] = before
    with psycopg.connect(dbname=name) as user:
        neardup.report(user, "copies")
        equal("no transaction is left open", user.info.transaction_status, psycopg.pq.TransactionStatus.IDLE)


def passages(name, conn):
    conn.execute("CREATE TABLE mails (id int PRIMARY KEY, body text); INSERT INTO mails SELECT i, 'mail ' || i || E'\n"
                 "-- \nkind regards from your team' FROM generate_series(1, 5) i")
    query = "SELECT id, body FROM mails ORDER BY id"
    before = os.environ["PATH"]
    os.environ["PATH"] = "/nowhere"
    raises("passages without the program", neardup.NeardupError, lambda: neardup.passages(conn, query, "x.html"),
           "not in PATH", "passage_counts()")
    os.environ["PATH"] = before
    for option, value, error in (("source", 5, TypeError), ("unit", None, TypeError), ("min_units", 0, ValueError),
                                 ("min_units", "5", TypeError), ("at_least", 1, ValueError),
                                 ("passages", 10001, ValueError), ("documents", -1, ValueError)):
        raises("%s=%r" % (option, value), error,
               lambda: neardup.passages(conn, **{"source": query, "out": "x.html", option: value}), option)
    if not os.path.exists(BIN):
        return skip("the program neardup is not built: bin/neardup")
    os.environ["PATH"] = os.path.dirname(os.path.abspath(BIN)) + os.pathsep + before
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "p.html")
        equal("passages of a query: out is returned",
              str(neardup.passages(conn, query, page, min_units=2, unit="line")), page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        check("the page shows them",
              "<b>5</b> documents, <b>5</b> with repeated passages" in text and "kind regards from your team" in text,
              text[:500])
        program = tool(
            BIN, "passages", query, "--min-units", "2", "--unit", "line", "--out", "-", "-q", "-d", name).stdout
        when = re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d")
        equal("as the program writes it", when.sub("", text), when.sub("", program))
        neardup.passages(conn, "copies", page, min_units=3)
        check("passages of a job", "Repeated passages" in open(page, encoding="utf-8").read())
        raises("an unknown unit", neardup.NeardupError, lambda: neardup.passages(conn, query, page, unit="sentence"),
               "neardup passages ended with status 1", "unknown unit")
    os.environ["PATH"] = before
    conn.execute("DROP TABLE mails")


def operators_of_others(name, conn):
    """An operator that fits better than pg_catalog's, in a schema that others may write, is not called; the session's
    path stays."""
    conn.execute("CREATE TABLE named (id varchar(9) PRIMARY KEY, path varchar, body text)")
    conn.execute("INSERT INTO named SELECT i, '/' || i, 'words that both have, of number ' || i / 2 "
                 "FROM generate_series(2, 9) i")
    conn.execute("SELECT create_duplicates('named_copies', 'named', 'id', 'body')")
    neardup.refresh(conn, "named_copies")
    conn.execute("CREATE FUNCTION public.trap(varchar, varchar) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE "
                 "'called'; END $$")
    conn.execute("CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.trap)")
    with conn.transaction():
        conn.execute("SET LOCAL search_path = public, pg_temp")
        text = neardup.report(conn, "named_copies", format="csv")
        equal("search_path of the transaction stays", one(conn, "SELECT current_setting('search_path')"),
              "public, pg_temp")
    equal("paths are found by pg_catalog's operator", sorted(row["path"] for row in csv.DictReader(io.StringIO(text))),
          ["/%d" % i for i in range(2, 10)])
    conn.execute("DROP FUNCTION public.trap CASCADE; SELECT drop_duplicates('named_copies')")


def types_of_others(name, conn):
    """Ids of a type in a schema where others may create operators: of an enum, whose operators are PostgreSQL's, and of
    citext, which has its own."""
    conn.execute("""CREATE SCHEMA shared; CREATE TYPE shared.kind AS ENUM ('a', 'b', 'c');
        CREATE TABLE kinds (id shared.kind PRIMARY KEY, path text, body text); INSERT INTO kinds SELECT k, k::text, %s
          FROM unnest(enum_range(NULL::shared.kind)) k;
        SELECT create_duplicates('kinds_copies', 'kinds', 'id', 'body')""" % psycopg.sql.quote(DOC))
    jobs = ["kinds_copies"]
    if one(conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'"):
        conn.execute("""CREATE EXTENSION citext SCHEMA shared;
            CREATE TABLE ci (id shared.citext PRIMARY KEY, path text, body text); INSERT INTO ci SELECT path, path, body
            FROM kinds;
            SELECT create_duplicates('ci_copies', 'ci', 'id', 'body')""")
        jobs.append("ci_copies")
    for job in jobs:
        neardup.refresh(conn, job)
    for left, right in (("shared.kind", "shared.kind"), ("oid", "regclass")):
        conn.execute("CREATE FUNCTION shared.others(%s, %s) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE "
                     "'operator of others'; END $$;"
                     "CREATE OPERATOR shared.= (LEFTARG = %s, RIGHTARG = %s, FUNCTION = shared.others)"
                     % (left, right, left, right))
    for job in jobs:
        equal("report of %s" % job, len(neardup.report(conn, job)["clusters"]), 1)
        if os.path.exists(BIN):
            with tempfile.TemporaryDirectory() as folder:
                for arguments in (("report", job, "--format", "json", "--out", "-"), ("export", job, folder, "--list")):
                    done = tool(BIN, *arguments, "-d", name)
                    check("%s of %s" % (arguments[0], job),
                          done.returncode == 0 and "operator of others" not in done.stderr, done.stderr)


def domains_of_others(name, conn):
    """Ids of a domain: an operator for it fits better than that of the type below, which the result has."""
    if not one(conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'"):
        return skip("citext is not installed")
    conn.execute("CREATE SCHEMA IF NOT EXISTS shared; CREATE EXTENSION IF NOT EXISTS citext SCHEMA shared")
    conn.execute("CREATE DOMAIN shared.code AS shared.citext; "
                 "CREATE DOMAIN shared.special_code AS shared.code CHECK (VALUE IS NOT NULL)")
    paths = lambda job: sorted(str(row["path"]) for row in neardup.report(conn, job)["clusters"][0]["rows"])
    for kind in ("code", "special_code"):
        conn.execute("CREATE TABLE by_%s (id shared.%s PRIMARY KEY, path text, body text); "
                     "INSERT INTO by_%s VALUES ('a', '/a', %s), ('b', '/b', %s)"
                     % (kind, kind, kind, *[psycopg.sql.quote(DOC)] * 2))
        conn.execute("SELECT create_duplicates('%s_copies', 'by_%s', 'id', 'body')" % (kind, kind))
        neardup.refresh(conn, kind + "_copies")
        for left, right in ((kind, kind), (kind, "citext"), ("citext", kind)):
            conn.execute("CREATE FUNCTION shared.sprung(shared.%s, shared.%s) RETURNS boolean LANGUAGE plpgsql AS $$ "
                         "BEGIN RAISE 'operator of others'; END $$;"
                         "CREATE OPERATOR shared.= (LEFTARG = shared.%s, RIGHTARG = shared.%s, FUNCTION = "
                         "shared.sprung)" % (left, right, left, right))
        equal("report of ids of the domain %s" % kind, paths(kind + "_copies"), ["/a", "/b"])
    # Version 0.2.0 made the tables of jobs with the domain; the ids are equal by the operator of citext.
    conn.execute(
        "ALTER TABLE special_code_copies ALTER id TYPE shared.special_code; UPDATE by_special_code SET id = upper(id)")
    equal("report of a result with ids of the domain", paths("special_code_copies"), ["/a", "/b"])
    conn.execute("DELETE FROM by_code WHERE id = 'b'")  # the other becomes ROW(1), which is unique then
    conn.execute(
        "CREATE TYPE shared.pair AS (n int); "
        "CREATE FUNCTION shared.sprung(shared.pair) RETURNS shared.citext LANGUAGE plpgsql AS $$ BEGIN RAISE "
        "'cast of others'; END $$;CREATE CAST (shared.pair AS shared.citext) WITH FUNCTION shared.sprung(shared.pair) "
        "AS IMPLICIT;ALTER TABLE by_code ALTER id TYPE shared.pair USING ROW(1)::shared.pair")
    equal("ids of a type of others since: no cast of theirs, no paths", paths("code_copies"), ["None", "None"])


def types_since(conn):
    """Ids that have another type of pg_catalog since the last refresh, also one without a common operator =, or another
    collation."""
    uuids = "(lpad(id::text, 32, '0'))::uuid"
    rows = []
    conn.execute("CREATE DOMAIN small AS int; CREATE DOMAIN label AS text")
    for before, after in (("int", "bigint"), ("int", "text"), ("bigint", "varchar(9)"), ("small", "label"),
                          ("text", "int"), ("text", "uuid"), ("uuid", "label"),
                          ('text COLLATE "C"', 'text COLLATE "POSIX"'),
                          ('text COLLATE "C"', 'varchar COLLATE "POSIX"')):
        conn.execute("CREATE TABLE grown (id int PRIMARY KEY, path text, body text); "
                     "INSERT INTO grown VALUES (1, '/1', %s), (2, '/2', %s)" % ((psycopg.sql.quote(DOC),) * 2))
        if "uuid" in (before, after):
            conn.execute("ALTER TABLE grown ALTER id TYPE uuid USING %s" % uuids)
        if before != "uuid":
            conn.execute("ALTER TABLE grown ALTER id TYPE %s USING id::text::%s" % (before, before.partition(" ")[0]))
        conn.execute("SELECT create_duplicates('grown_copies', 'grown', 'id', 'body')")
        neardup.refresh(conn, "grown_copies")
        conn.execute("ALTER TABLE grown ALTER id TYPE %s USING id::text::%s" % (after, after.partition(" ")[0]))
        for format, found in (("json",
                               lambda: [row["path"]
                                        for row in neardup.report(conn, "grown_copies")["clusters"][0]["rows"]]),
                              ("csv", lambda: [row["path"] for row in csv.DictReader(
                                      io.StringIO(neardup.report(conn, "grown_copies", format="csv")))])):
            try:
                got = sorted(found())
            except psycopg.Error as error:
                got = str(error)
            rows.append(("%s, then %s, as %s" % (before, after, format), got, ["/1", "/2"]))
        conn.execute("SELECT drop_duplicates('grown_copies'); DROP TABLE grown")
    equal_all("ids of another type since the last refresh", rows)


def refusals(name, conn):
    for function in (neardup.refresh, neardup.report):
        what = function.__name__
        raises("%s: conn None" % what, TypeError, lambda: function(None, "copies"), "conn must be")
        raises("%s: a job that is no name" % what, TypeError, lambda: function(conn, 5), "job must be")
        raises("%s: no such job" % what, psycopg.Error, lambda: function(conn, "nothing"), "nothing")
        closed = connect(name)
        closed.close()
        raises(
            "%s: a closed connection" % what, neardup.NeardupError, lambda: function(closed, "copies"), "connect again")
    with psycopg.connect(dbname=name) as busy:
        busy.execute("SELECT 1")
        raises("a transaction", neardup.NeardupError, lambda: neardup.refresh(busy, "copies"), "in a transaction")
    nan = float("nan")
    for option, value, error in (("batch", 0, ValueError), ("batch", 1 << 31, ValueError), ("batch", nan, TypeError),
                                 ("batch", "5", TypeError), ("time_limit", nan, ValueError),
                                 ("time_limit", -1, ValueError), ("time_limit", 1e300, ValueError),
                                 ("time_limit", 10 ** 30, ValueError),
                                 ("time_limit", datetime.timedelta.max, ValueError), ("time_limit", [], TypeError)):
        raises("%s=%r" % (option, value), error, lambda: neardup.refresh(conn, "copies", **{option: value}), option)
    raises("an interval that is none", psycopg.DataError, lambda: neardup.refresh(conn, "copies", time_limit="soon"),
           "interval")
    for option, value, error in (("format", "pdf", ValueError), ("clusters", -1, ValueError),
                                 ("clusters", 10001, ValueError), ("pairs", 201, ValueError),
                                 ("pairs", nan, TypeError)):
        raises("%s=%r" % (option, value), error, lambda: neardup.report(conn, "copies", **{option: value}), option)
    raises("a page without a file", ValueError, lambda: neardup.report(conn, "copies", format="html"), "needs out")
    with database("_bare", extension=False) as bare, connect(bare) as c:
        raises("no extension", neardup.NeardupError, lambda: neardup.refresh(c, "x"), "CREATE EXTENSION neardup;")
        c.execute("CREATE EXTENSION neardup")
        # An older version does not have this function.
        c.execute("ALTER EXTENSION neardup DROP FUNCTION neardup_internal.report_about(regclass)")
        raises("an older version", neardup.NeardupError, lambda: neardup.refresh(c, "x"),
               "older version than this package", "ALTER EXTENSION neardup UPDATE;")


def main():
    with database() as name, connect(name) as conn:
        conn.execute("SET client_min_messages = warning")
        make(conn)
        sections((results, name, conn), (reports, name, conn), (passages, name, conn), (progress, name, conn),
                 (operators_of_others, name, conn), (types_of_others, name, conn), (domains_of_others, name, conn),
                 (types_since, conn), (refusals, name, conn))


finish(main)
