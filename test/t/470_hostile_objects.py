#!/usr/bin/python3
"""neardup is installed, updated and used in a database where another role has created operators, functions, aggregates
and casts of the same names (hostile.py): none of them runs. A script of a trusted extension runs as superuser: if it
looked up a name by the search_path and found it in a schema of the installing role, that role would become superuser.

Used means: by a superuser, with the other role's schema before, behind and not in the search_path."""
import collections

from hostile import *
import catalog
import released
import uses

MALLORY, BOB = "neardup_t_mallory", "neardup_t_bob"  # who makes the schema; who owns nothing
ATK = "atk"
PATHS = ("", "atk, pg_catalog", "pg_catalog, atk", "atk, public")


def ways(conn):
    """(from, to) of each update that PostgreSQL knows."""
    return [r for r in conn.execute("SELECT source, target FROM pg_extension_update_paths('neardup') "
                                    "WHERE path IS NOT NULL ORDER BY source, target")]


@contextlib.contextmanager
def database_copy(template, suffix):
    """A database like `template`, where mallory and bob may create schemas."""
    with database(suffix, options="", extension=False) as name:
        with psycopg.connect(autocommit=True) as admin:
            admin.execute("DROP DATABASE %s" % name)
            admin.execute("CREATE DATABASE %s TEMPLATE %s" % (name, template))
            admin.execute("GRANT CREATE ON DATABASE %s TO %s, %s" % (name, MALLORY, BOB))
        yield name


def none_ran(name, runs, traced):
    """One result line; after a failure a line for each place that something ran from."""
    places = {}
    for what, who, where in runs:
        places.setdefault(where, collections.Counter())["%s as %s" % (what, who)] += 1
    good = check(name, not runs and not traced,
                 "%d runs (%d told), from %d places: %s" % (traced, len(runs), len(places), ", ".join(sorted(places))))
    for where in sorted(places):
        print("    %s: %s" % (where, ", ".join("%s (%d)" % item for item in places[where].most_common(12))))
    return good


def known_attack(template):
    """The one that was found: an operator for a comparison of an oid with a regnamespace."""
    with database_copy(template, "_known") as name, connect(name) as conn:
        conn.execute("SET ROLE %s; CREATE SCHEMA plain" % MALLORY)
        conn.execute("CREATE FUNCTION plain.evil(oid, regnamespace) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN ALTER "
                     "ROLE %s SUPERUSER; RETURN $1 OPERATOR(pg_catalog.=) $2::oid; END $$" % MALLORY)
        conn.execute("CREATE OPERATOR plain.= (LEFTARG = oid, RIGHTARG = regnamespace, FUNCTION = plain.evil)")
        for version in catalog.versions(conn):
            sql_error(conn, "CREATE EXTENSION neardup SCHEMA plain VERSION '%s'" % version)
            got = one(conn, "SELECT rolsuper FROM pg_roles WHERE rolname = '%s'" % MALLORY)
            equal("%s: an operator (oid, regnamespace) makes nobody superuser" % version, got, False)
            if got:
                with psycopg.connect(autocommit=True) as admin:
                    admin.execute("ALTER ROLE %s NOSUPERUSER" % MALLORY)
            conn.execute("DROP EXTENSION IF EXISTS neardup")


def install(template, known):
    """Every version, by each role, into the hostile schema."""
    done = 0
    for version in known:
        for role in (MALLORY, BOB, "postgres"):
            with database_copy(template, "_in") as name, connect(name) as conn:
                watch = Watch(conn)
                conn.execute("GRANT CREATE ON SCHEMA %s TO %s" % (ATK, BOB))
                role = role if role != "postgres" else one(conn, "SELECT current_user")
                conn.execute('SET ROLE "%s"; SET search_path = %s, pg_catalog' % (role, ATK))
                e = sql_error(conn, "CREATE EXTENSION neardup SCHEMA %s VERSION '%s'" % (ATK, version))
                check("%s is installed by %s in the hostile schema" % (version, role), e is None, e)
                done += 1
                now = traces(conn, ATK)
                none_ran("%s, installed by %s: nothing of the schema has run" % (version, role), watch.drain(), now)
    print("note: %d installations" % done)


def updated(conn, target):
    """The error of the update. Mallory may keep himself from it by a function that the new version has, too: that one
    goes, and the update is tried again."""
    for attempt in range(100):
        e = sql_error(conn, "ALTER EXTENSION neardup UPDATE TO '%s'" % target)
        found = e is not None and re.search(
            r'function "?(?:\w+\.)?(\w+)"? ?(?:already exists|\(.*\) is not a member of extension)|function '
                r'(\w+)\(.*is not a member',
            str(e))
        if not found:
            return e
        with connect(conn.info.dbname) as his:
            his.execute("SET ROLE %s" % MALLORY)
            for (name,) in his.execute("SELECT oid::regprocedure::text FROM pg_proc p "
                                           "WHERE pronamespace = '%s'::regnamespace AND proname = %%s "
                                           "AND proowner = '%s'::regrole" % (ATK, MALLORY),
                                       (found.group(1) or found.group(2),)).fetchall():
                his.execute("DROP ROUTINE %s CASCADE" % name)
    return e


def update(template, known):
    """Along every path, with functions beside the extension's own, too."""
    done = 0
    with psycopg.connect(autocommit=True) as conn:
        paths = ways(conn)
    for source, target in paths:
        for role in (MALLORY, BOB):
            with database_copy(template, "_up") as name, connect(name) as conn:
                watch = Watch(conn)
                conn.execute(
                    "GRANT CREATE ON SCHEMA %s TO %s; SET ROLE %s; CREATE EXTENSION neardup SCHEMA %s VERSION '%s'; "
                    "RESET ROLE" % (ATK, BOB, role, ATK, source))
                watch.drain()
                before = traces(conn, ATK)
                conn.execute("SET ROLE %s" % MALLORY)
                made = Hostile.beside(conn, ATK)
                made.overloads(ATK)
                conn.execute("RESET ROLE; SET ROLE %s; SET search_path = %s, pg_catalog" % (role, ATK))
                e = updated(conn, target)
                check("%s is updated to %s by %s in the hostile schema" % (source, target, role), e is None, e)
                done += 1
                none_ran("%s to %s by %s: nothing of the schema has run" % (source, target, role), watch.drain(),
                         traces(conn, ATK) - before)
    print("note: %d updates, each beside %d functions and operators of the extension's own names"
          % (done, made.counts.get("overloads", 0)))


def use(template, version, target, schema):
    """Installed as `version`, updated to `target`; in the hostile schema by mallory, or in another by the superuser."""
    title = version if version == target else "%s updated to %s" % (version, target)
    # The short form takes each search_path once.
    for path in PATHS if FULL else PATHS[1:3] if schema == ATK else PATHS[::3]:
        name_of = "%s in %s, used with search_path %s" % (
            title, "the hostile schema" if schema == ATK else "a schema of its own", path or "as it is")
        with database_copy(template, "_use") as name, connect(name) as conn:
            if schema == ATK:
                conn.execute("SET ROLE %s" % MALLORY)
            else:
                conn.execute("CREATE SCHEMA %s" % schema)
            conn.execute("CREATE EXTENSION neardup SCHEMA %s VERSION '%s'" % (schema, version))
            if target != version:
                conn.execute("ALTER EXTENSION neardup UPDATE TO '%s'" % target)
            conn.execute("RESET ROLE")
            conn.execute(uses.made(schema, ATK))
            conn.execute("SET ROLE %s" % MALLORY)
            Hostile.beside(conn, ATK).overloads(schema)
            conn.execute("RESET ROLE")
            used(name_of, conn, uses.statements(schema, ATK), path)


def used(name, conn, statements, path):
    used.calls += len(statements)
    watch = Watch(conn)
    if path:
        conn.execute("SET search_path = %s" % path)
    before, errors = traces(conn, ATK), []
    for statement in statements:
        e = sql_error(conn, statement)
        if e is not None:
            errors.append("%s: %s" % (statement[:150], " ".join(str(e).split())[:200]))
    check("%s: %d statements give answers" % (name, len(statements)), not errors,
          "%d errors: %s" % (len(errors), " | ".join(errors[:20])))
    none_ran("%s: nothing of the hostile schema has run" % name, watch.drain(), traces(conn, ATK) - before)


used.calls = 0


def linted():
    """Functions that tools/sql_lint.py has something to say of; None where no Python here has pglast."""
    for python in (sys.executable, os.path.join(ROOT, ".run", "lint", "bin", "python3"), "python3"):
        with contextlib.suppress(OSError):
            done = tool(python, os.path.join(ROOT, "tools", "sql_lint.py"))
            if done.returncode in (0, 1) and "skip - " not in done.stdout:
                return set(re.findall(r"^ +\S+:\d+: (\w+)", done.stdout, re.M))
    return None


def settled():
    """Every body either has SET search_path, or leaves nothing to it: tools/sql_lint.py looks, where pglast is."""
    with database("_settled") as name, connect(name) as conn:
        rows = conn.execute("""SELECT p.proname::text, EXISTS (SELECT FROM unnest(proconfig) c
            WHERE c ~ '^search_path=pg_catalog, ?pg_temp$')
            FROM """ + OUR_FUNCTIONS + """ JOIN pg_language l ON l.oid = prolang
            WHERE lanname IN ('sql', 'plpgsql') AND prosqlbody IS NULL ORDER BY 1""").fetchall()
    open_ones = {f for f, set_path in rows if not set_path}
    left = linted()
    if left is None:
        return skip(
            "bodies without SET search_path (%d of %d): pglast is not installed (PyPI)" % (len(open_ones), len(rows)))
    check("of %d functions in SQL and PL/pgSQL %d have SET search_path, the others leave nothing to it"
              % (len(rows), len(rows) - len(open_ones)),
          not open_ones & left, "%d do: %s" % (len(open_ones & left), ", ".join(sorted(open_ones & left))))


def main():
    released.install()
    with roles(MALLORY, BOB), database("_schema", extension=False) as template:
        with connect(template) as conn:
            known = catalog.versions(conn)
            conn.execute("GRANT CREATE ON DATABASE %s TO %s; SET ROLE %s" % (template, MALLORY, MALLORY))
            counts = fill(conn, ATK).counts
        check("hostile objects: %s" % ", ".join("%d %s" % (n, kind) for kind, n in sorted(counts.items())),
              all(counts.get(kind, 0) > least for kind, least in (
                  ("operators", 1000), ("functions", 1000), ("aggregates", 50), ("casts", 5), ("types", 30),
                  ("relations", 100))), counts)
        newest = known[-1]
        sections((known_attack, template), (install, template, known), (update, template, known),
                 (use, template, newest, newest, "nd"), (use, template, newest, newest, ATK), (settled,))
        if FULL:
            for old in known[:-1]:
                sections((use, template, old, newest, "nd"), (use, template, old, newest, ATK))
        print("note: %d statements of use" % used.calls)


finish(main)
