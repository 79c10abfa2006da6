"""load(), refresh(), report(), passages() and connections: what they leave behind, in whose place a page is read, what
they refuse."""
import contextlib
import io
import json
import tempfile
import warnings

from clients import *

neardup, psycopg2, sa = need("neardup", "psycopg2", "sqlalchemy")
from neardup.psycopg import register as register_psycopg
from neardup.psycopg2 import register as register_psycopg2
from sqlalchemy import orm

BIN = os.environ.get("NEARDUP_BIN") or os.path.join(ROOT, "bin", "neardup")
IDLE = psycopg.pq.TransactionStatus.IDLE
SOURCE = [{"id": "a", "text": DOC}, {"id": "b", "text": NEAR}]
CALLS = {"load": lambda conn: neardup.load(conn, "pages", SOURCE, name="s"),
         "refresh": lambda conn: neardup.refresh(conn, "copies", progress=False)}


def make(conn):
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, path text, body text); CREATE TABLE notes (what text)")
    conn.execute(
        "INSERT INTO docs SELECT i, '/' || i, 'words that both have, of number ' || i / 2 FROM generate_series(2, 9) i")
    conn.execute("SELECT create_duplicates('copies', 'docs', 'id', 'body')")
    neardup.refresh(conn, "copies", progress=False)


def notes(conn):
    found = [row[0] for row in conn.execute("SELECT what FROM notes ORDER BY what")]
    conn.execute("TRUNCATE notes")
    return found


def reports(name, conn):
    """report() changes nothing of the user's transactions, with whatever driver."""
    rows = []
    for driver in (psycopg, psycopg2):
        what = driver.__name__
        user = driver.connect(dbname=name)
        for format in ("json", "csv"):
            neardup.report(user, "copies", format=format)
            rows.append(("%s: idle after %s" % (what, format), user.info.transaction_status, IDLE))
        user.cursor().execute("INSERT INTO notes VALUES ('lost')")
        user.rollback()
        rows.append((what + ": rollback() after report()", notes(conn), []))
        with contextlib.suppress(driver.Error):
            neardup.report(user, "nothing")
        user.cursor().execute("INSERT INTO notes VALUES ('lost')")
        user.rollback()
        rows.append((what + ": rollback() after an error of report()", notes(conn), []))
        user.cursor().execute("INSERT INTO notes VALUES ('kept')")
        neardup.report(user, "copies")
        with contextlib.suppress(driver.Error):
            neardup.report(user, "nothing")
        user.commit()
        rows.append((what + ": a transaction goes on", notes(conn), ["kept"]))
        user.autocommit = True
        neardup.report(user, "copies")
        user.cursor().execute("INSERT INTO notes VALUES ('kept')")
        rows.append((what + ": autocommit", (notes(conn), user.info.transaction_status, user.autocommit),
                     (["kept"], IDLE, True)))
        user.close()
    for autocommit in (False, True):
        user = psycopg2.connect(dbname=name)
        user.autocommit = autocommit
        with contextlib.suppress(ZeroDivisionError), user:
            neardup.report(user, "copies")
            user.cursor().execute("INSERT INTO notes VALUES ('lost')")
            raise ZeroDivisionError
        rows.append(("psycopg2: within `with conn:`, autocommit=%s" % autocommit,
                     (notes(conn), user.info.transaction_status), ([], IDLE)))
        user.close()
    for driver in ("psycopg", "psycopg2"):
        engine = sa.create_engine(url(name, driver))
        with orm.Session(engine) as session:
            neardup.report(session, "copies")
            session.execute(sa.text("INSERT INTO notes VALUES ('lost')"))
            session.rollback()
            rows.append(("SQLAlchemy on %s: rollback()" % driver, notes(conn), []))
        engine.dispose()
    equal_all("report() leaves transactions to the user", rows)


def blocks(name, conn):
    """Blocks that commit at their end, though no statement was sent yet."""
    for what, call in CALLS.items():
        for autocommit in (False, True):
            user = psycopg2.connect(dbname=name)
            user.autocommit = autocommit

            def within():
                with user:
                    return call(user)
            label = "%s within `with conn:` of psycopg 2, autocommit=%s" % (what, autocommit)
            raises(label, neardup.NeardupError, within, "in a transaction", "neardup." + what)
            equal(label + ": nothing changed", (user.autocommit, user.info.transaction_status), (autocommit, IDLE))
            check(label + ": and after it", call(user) is not None)
            user.close()
        for driver in ("psycopg", "psycopg2"):
            engine = sa.create_engine(url(name, driver))

            def begun(maker):
                with maker() as user:
                    return call(user)
            raises("%s within engine.begin(), %s" % (what, driver), neardup.NeardupError, lambda: begun(engine.begin),
                   "in a transaction")
            raises("%s within Session.begin(), %s" % (what, driver), neardup.NeardupError,
                   lambda: begun(orm.sessionmaker(engine).begin), "in a transaction")
            scoped = orm.scoped_session(orm.sessionmaker(engine))
            with scoped.begin():
                raises("%s within begin() of a scoped_session, %s" % (what, driver), neardup.NeardupError,
                       lambda: call(scoped), "in a transaction")
            scoped.remove()
            with orm.Session(engine) as user:
                check("%s of a Session twice, %s" % (what, driver), call(user) is not None and call(user) is not None)
            with engine.connect() as user:
                check(
                    "%s of a Connection twice, %s" % (what, driver), call(user) is not None and call(user) is not None)
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as user:
                user.execute(sa.text("SELECT 1"))
                check("%s in autocommit, %s" % (what, driver), call(user) is not None)
            engine.dispose()


def restoring(name):
    """A failure to set autocommit back hides neither the result nor the error."""
    class Stubborn(psycopg2.extensions.connection):
        @property
        def autocommit(self):
            return psycopg2.extensions.connection.autocommit.__get__(self)

        @autocommit.setter
        def autocommit(self, value):
            if not value:
                raise psycopg2.ProgrammingError("set_session cannot be used inside a transaction")
            psycopg2.extensions.connection.autocommit.__set__(self, value)
    for job, wanted in (("copies", None), ("nothing", "nothing")):
        user = psycopg2.connect(dbname=name, connection_factory=Stubborn)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            if wanted is None:
                equal("the result, though autocommit cannot be set back",
                      neardup.refresh(user, job, progress=False).rows, 8)
            else:
                raises("the error, though autocommit cannot be set back", psycopg2.Error,
                       lambda: neardup.refresh(user, job, progress=False), wanted)
        check("and a warning", any("could not set autocommit" in str(w.message) for w in seen), seen)
        user.close()


def refused(name, conn):
    import asyncio

    from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

    calls = dict(
        CALLS, report=lambda c: neardup.report(c, "copies"), passages=lambda c: neardup.passages(c, "copies", "x.html"))
    with connect(name) as user:
        for what, call in calls.items():
            with user.pipeline():
                raises("%s in pipeline mode" % what, neardup.NeardupError, lambda: call(user), "pipeline mode",
                       "neardup." + what)
            check("%s: the connection works afterwards" % what, user.execute("SELECT 1").fetchone() == (1,))

    async def check_sqlalchemy():
        engine = create_async_engine(url(name, "psycopg"))
        async with engine.connect() as user, AsyncSession(engine) as session:
            for what, call in calls.items():
                for value in (user, session, engine):
                    raises("%s of an %s" % (what, type(value).__name__), TypeError, lambda: call(value),
                           "needs a synchronous connection", "in a thread")
            raises("within run_sync()", TypeError,
                   lambda: None if asyncio.get_running_loop() is None else calls["report"](user.sync_connection),
                   "needs a synchronous connection")
        await engine.dispose()
    asyncio.run(check_sqlalchemy())


def without_encoding():
    """client_encoding SQL_ASCII, with which psycopg 3 returns texts as bytes."""
    with database("_ascii", options="ENCODING 'SQL_ASCII' LOCALE 'C'") as bare:
        with connect(bare, client_encoding="UTF8") as admin:
            make(admin)
            admin.execute("CREATE SCHEMA \"käse\"; UPDATE docs SET path = '/ж' WHERE id = 2")
            admin.execute("SELECT create_duplicates('\"käse\".copies', 'docs', 'id', 'body')")
        with connect(bare) as user:
            equal("the client has no encoding", user.info.encoding, "ascii")
            register_psycopg(user)
            check("register()", isinstance(one(user, "SELECT to_minhash('a b c')"), neardup.Minhash))
            seen = []
            equal("refresh()", neardup.refresh(user, '"käse".copies', progress=seen.append).rows, 8)
            found = neardup.report(user, '"käse".copies')
            check(
                "report()",
                found["settings"]["linkage"] and "/ж" in [row["path"] for c in found["clusters"] for row in c["rows"]],
                found)
            check("load()", neardup.load(user, "pages", SOURCE, name="s").new == 2)
            equal("the encoding stays", user.info.parameter_status("client_encoding"), "SQL_ASCII")
            user.execute("UPDATE docs SET path = convert_from('\\xff'::bytea, 'SQL_ASCII') WHERE id = 2")
            check("what is not UTF-8 can be shown", "\ufffd" in neardup.report(user, "copies", format="csv"))
        user = psycopg2.connect(dbname=bare)
        register_psycopg2(user)
        equal("psycopg 2: refresh()", neardup.refresh(user, '"käse".copies', progress=False).rows, 8)
        check("psycopg 2: report()", "\ufffd" in neardup.report(user, '"käse".copies', format="csv"))
        user.close()


def percents(name, conn):
    """Names with % in statements that have parameters."""
    conn.execute('CREATE SCHEMA "7%(a)s"; SELECT create_duplicates(\'"7%(a)s"."5%s"\', \'docs\', \'id\', \'body\')')
    for driver in (psycopg, psycopg2):
        user, seen = driver.connect(dbname=name), []
        result = neardup.refresh(user, '"7%(a)s"."5%s"', rebuild=True, progress=seen.append)
        report = neardup.report(user, '"7%(a)s"."5%s"')
        equal("%s: names with %%" % driver.__name__, (result.rows, report["counts"]["rows"], len(report["pairs"])),
              (8, 8, result.duplicates))
        user.close()
    with database("_percent", extension=False) as other, connect(other) as user:
        user.execute('CREATE SCHEMA apart; CREATE EXTENSION neardup SCHEMA apart; '
                     'ALTER SCHEMA apart RENAME TO "50%s off"; SET search_path = public, "50%s off"')
        make(user)
        equal("the schema of the extension", neardup.report(user, "copies")["counts"]["rows"], 8)


def operators_of_others(name, conn):
    """Operators, functions and types that stand before those of pg_catalog, or fit better, run with the rights of who
    calls: none is taken."""
    conn.execute("CREATE SCHEMA trap; CREATE FUNCTION trap.raise(anyelement) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN "
                 "RAISE 'called'; END $$")
    pairs = [("oid", "regclass"), ("regclass", "regclass"), ("oid", "oid"), ("name", "text"), ("name", "name"),
             ("text", "text"), ("int8", "int4"), ("int8", "int8"), ("int4", "int4"), ("float8", "float8"),
             ('"char"', '"char"'), ("timestamptz", "timestamptz"), ("int2", "int4"), ("regtype", "regtype"),
             ("oid", "regtype"), ("jsonb", "text[]")]
    for n, (left, right) in enumerate(pairs):
        for mark, result in (("=", "bool"), ("<>", "bool"), (">", "bool"), (">=", "bool"), ("<=", "bool"), ("-", left),
                             ("||", left), ("#>>", "text")):
            conn.execute("CREATE OR REPLACE FUNCTION trap.f%d_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN RAISE "
                         "'operator %s of others was called'; END $$"
                         % (n, result.strip('"').replace("[]", ""), left, right, result, mark.replace("%", "%%")))
            conn.execute("CREATE OPERATOR trap.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = trap.f%d_%s)" % (
                mark, left, right, n, result.strip('"').replace("[]", "")))
    for function, arguments, result in (("count", '"any"', None), ("quote_ident", "text", "text"),
                                        ("concat", 'VARIADIC "any"', None), ("current_database", "", "name"),
                                        ("now", "", "timestamptz"), ("set_config", "text, text, bool", "text"),
                                        ("to_regclass", "text", "regclass"), ("abs", "float8", "float8"),
                                        ("md5", "text", "text"), ("clock_timestamp", "", "timestamptz"),
                                        ("date_part", "text, interval", "float8")):
        if result is not None:
            conn.execute("CREATE FUNCTION trap.%s(%s) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN RAISE "
                         "'function of others was called'; END $$" % (function, arguments, result))
    for kind in ("int2", "int4", "int8", "float8", "numeric"):
        conn.execute("CREATE FUNCTION trap.minus(%s) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN RAISE "
                     "'operator - of others was called'; END $$" % (kind, kind))
        conn.execute("CREATE OPERATOR trap.- (RIGHTARG = %s, FUNCTION = trap.minus)" % kind)
    conn.execute("CREATE FUNCTION trap.spring(bool) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE "
                 "'type of others was taken'; END $$")
    for kind in ("text", "varchar", "bpchar", "name", "bytea", "bool", "int2", "int4", "int8", "float4", "float8",
                 "numeric", "timestamptz", "timestamp", "interval", "jsonb", "json", "oid", "regclass", "regtype",
                 '"char"', "xid"):
        conn.execute("CREATE DOMAIN trap.%s AS pg_catalog.%s CHECK (trap.spring(VALUE IS NULL))" % (kind, kind))
    with connect(name) as trapped:
        trapped.execute("SET search_path = trap, public, pg_catalog")
        raises("the trap of types works", psycopg.Error, lambda: trapped.execute("SELECT 'a'::text"),
               "type of others was taken")
        raises("the trap works", psycopg.Error,
               lambda: trapped.execute("SELECT 'pg_class'::pg_catalog.regclass::pg_catalog.oid = 1259::pg_catalog.oid"),
               "of others was called")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "old.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in SOURCE)
        os.utime(path, (1, 1))  # before 2000, from which PostgreSQL counts: a negative number
        equal_all("nothing of others is called", list(in_the_trap(name, path)))
    equal("the tables of load() have types of pg_catalog",
          one(conn, "SELECT string_agg(a.attname || ' ' || a.atttypid::regtype, ', ') FROM pg_attribute a "
                    "JOIN pg_type t ON t.oid = a.atttypid"
                    " WHERE a.attrelid IN ('public.loaded'::regclass, 'public.loaded_files'::regclass) "
                    "AND t.typnamespace <> 'pg_catalog'::regnamespace"), None)
    conn.execute("SET client_min_messages = warning; DROP SCHEMA trap CASCADE")


def in_the_trap(name, path):
    for driver in (psycopg, psycopg2):
        for schemas in ("trap, public", "trap, public, pg_catalog"):
            user = driver.connect(dbname=name, options="-c search_path=" + schemas.replace(" ", ""))
            what = "%s, %s: " % (driver.__name__, schemas)
            load = lambda attributes: str(
                neardup.load(user, "public.loaded", path, attributes=attributes, text_column="text")).partition(";")[0]
            calls = [("refresh", lambda: neardup.refresh(user, "copies", progress=False).rows, 8),
                     ("report", lambda: neardup.report(user, "copies")["counts"]["rows"], 8),
                     ("csv", lambda: "/2" in neardup.report(user, "copies", format="csv"), True),
                     ("register", lambda: (register_psycopg if driver is psycopg else register_psycopg2)(user), None)]
            with connect(name) as other:
                other.execute("DROP TABLE IF EXISTS public.loaded, public.loaded_files")
            calls += [("load", lambda: load(None), "2 new, 0 changed, 0 unchanged"),
                      ("load of an unchanged file", lambda: load(None), "0 new, 0 changed, 2 unchanged"),
                      ("load with other options", lambda: load([]), "0 new, 0 changed, 2 unchanged"),
                      ("load of dicts", lambda: neardup.load(user, "public.loaded", SOURCE, name="s").new, 2),
                      ("load of a file that was read in part", lambda: in_part(name) or load([]),
                       "1 new, 0 changed, 0 unchanged")]
            for call, run, wanted in calls:
                try:
                    yield what + call, run(), wanted
                except Exception as error:
                    yield what + call, error, wanted
            user.close()
    from neardup._job import find_job
    from neardup._refresh import _Watch
    from neardup._session import make_session

    user = connect(name, options="-c search_path=trap,public,pg_catalog")
    session, errors = make_session(user, "x"), io.StringIO()
    with contextlib.redirect_stderr(errors):
        watch = _Watch(session, find_job(session, "copies"), lambda status: None)
        try:
            yield "progress", len(watch.job.ask(watch.session, "run_progress")), 1
        except Exception as error:
            yield "progress", error, 1
        watch.close()
    user.close()


def in_part(name):
    """As a load that was interrupted after the first record leaves it."""
    with connect(name) as conn:
        conn.execute("UPDATE public.loaded_files SET size = -1, records = 1; "
                     "DELETE FROM public.loaded WHERE path LIKE '%jsonl#2'")


@contextlib.contextmanager
def environment():
    """Changes of the environment end with the block."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def pages(name, conn):
    """The program connects as the caller did, whatever the environment says meanwhile."""
    if not os.path.exists(BIN):
        return skip("the program neardup is not built: bin/neardup")
    conn.execute("CREATE SCHEMA \"two words\"; SET search_path = \"two words\", public; "
                 "CREATE TABLE \"two words\".docs AS TABLE public.docs; CREATE UNIQUE INDEX ON \"two words\".docs (id)")
    conn.execute("UPDATE \"two words\".docs SET path = '/mine' || path; "
                 "SELECT create_duplicates('two words.copies', 'docs', 'id', 'body')".replace(
        "'two words.copies'", "'\"two words\".copies'"))
    neardup.refresh(conn, "copies", progress=False)
    conn.execute("RESET search_path")
    with tempfile.TemporaryDirectory() as folder, environment():
        os.environ["PATH"] = os.path.dirname(os.path.abspath(BIN)) + os.pathsep + os.environ["PATH"]
        path = os.path.join(folder, "p.html")

        def page(user):
            neardup.report(user, "copies", path)
            with open(path, encoding="utf-8") as file:
                return "/mine/" in file.read()
        rows = []
        where = {"host": os.environ.get("PGHOST", ""), "port": os.environ.get("PGPORT", "5432"),
                 "user": os.environ.get("PGUSER", "")}
        users = []
        for driver in (psycopg, psycopg2):
            plain = driver.connect(dbname=name, **where)
            by_option = driver.connect(
                dbname=name, options=r'-c search_path="two\ words",public -c application_name=it\'s', **where)
            by_set = driver.connect(dbname=name, **where)
            by_set.cursor().execute("SET search_path = \"two words\", public")
            by_set.commit()
            users += [(driver.__name__ + what, user, wanted) for what, user, wanted in (
                (": plain", plain, False), (": options", by_option, True), (": SET", by_set, True))]
        for variables in (False, True):
            if variables:
                with open(os.path.join(folder, "services"), "w", encoding="utf-8") as file:
                    file.write("[elsewhere]\ndbname=template1\nhost=/nowhere\n")
                os.environ.update(PGSERVICE="elsewhere", PGSERVICEFILE=file.name, PGOPTIONS="-c search_path=nowhere",
                                  PGDATABASE="nowhere", PGPORT="1")
            for what, user, wanted in users:
                try:
                    got = page(user)
                except Exception as error:
                    got = error
                rows.append(("%s, other variables: %s" % (what, variables), got, wanted))
        for _, user, _ in users:
            user.close()
        equal_all("the page is of the caller's database", rows)


def what_the_program_gets(name):
    """All parameters of the connection, role and search_path; the password only where no other user of the machine sees
    it."""
    with tempfile.TemporaryDirectory() as folder, environment():
        program = os.path.join(folder, "neardup")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!%s\nimport json, os, sys\njson.dump([sys.argv, dict(os.environ)], open(os.path.join(%r, "
                       "'seen'), 'w'))\n" % (sys.executable, folder))
        os.chmod(program, 0o755)
        os.environ.update(PATH=folder, PGSERVICEFILE="/nowhere", PGTZ="UTC", PGHOST=os.environ.get("PGHOST", ""))
        rows = []
        for driver, parse in ((psycopg, psycopg.conninfo.conninfo_to_dict), (psycopg2, psycopg2.extensions.parse_dsn)):
            given = {"sslmode": "allow", "sslrootcert": "/a folder/root's.crt", "connect_timeout": "7",
                     "application_name": "it's \\ mine", "port": os.environ.get("PGPORT", "5432")}
            user = driver.connect(dbname=name, password="secret", **given)
            user.cursor().execute("SET ROLE pg_monitor; SET search_path = \"a \\ b\", public")
            neardup.passages(user, "TABLE docs", os.path.join(folder, "p.html"))
            with open(os.path.join(folder, "seen"), encoding="utf-8") as file:
                arguments, variables = json.load(file)
            found = parse(arguments[arguments.index("--dbname") + 1])
            what = driver.__name__ + ": "
            rows += [(what + key, found.get(key), value) for key, value in given.items()]
            rows += [(what + "dbname", found["dbname"], name),
                     (what + "options", found["options"], '-c search_path="a\\ \\\\\\ b",\\ public -c role=pg_monitor'),
                     (what + "password", (variables.get("PGPASSWORD"), "secret" in str(arguments)), ("secret", False)),
                     (what + "variables", [n for n in variables if n.startswith("PG")], ["PGTZ", "PGPASSWORD"]),
                     (what + "what is as by default is left out",
                      {"sslcertmode", "sslnegotiation", "load_balance_hosts"} & set(found), set())]
            user.close()
        equal_all("what the program gets", rows)


def main():
    with database() as name, connect(name) as conn:
        conn.execute("SET client_min_messages = warning")
        make(conn)
        sections((reports, name, conn), (blocks, name, conn), (restoring, name), (refused, name, conn),
                 (percents, name, conn), (operators_of_others, name, conn), (pages, name, conn),
                 (what_the_program_gets, name), (without_encoding,))


finish(main)
