#!/usr/bin/python3
"""Versions: the scripts of releases do not change; ALTER EXTENSION UPDATE from each of them gives the same as a new
installation; this library works with the SQL of the release before it, and refuses that of earlier ones; existing
objects keep working."""
import glob
import hashlib

from released import *
import catalog
import estate

# The releases whose SQL the library serves; of earlier ones it has stubs.
SERVED = ("0.3.0", "0.3.1")
UPDATE = "Run ALTER EXTENSION neardup UPDATE, then create again the views and functions that call it."


def frozen():
    """sql/upgrade/SHA256SUMS names what has been released."""
    whole = scripts()
    sums = [line.split() for line in read(UPGRADE, "SHA256SUMS").splitlines()]
    equal_all("released scripts are as they were", [
        (name, hashlib.sha256(whole.get(name) or read(UPGRADE, name).encode()).hexdigest(), s) for s, name in sums])
    equal("each whole script is in the list", sorted(set(whole) - {name for _, name in sums}), [])
    equal("sql/upgrade has steps alone",
          [name for name in os.listdir(UPGRADE) if name.endswith(".sql") and name.count("--") != 2], [])


FUNCTION = re.compile(r"CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\s+(?:[\w@]+\.)*(\w+)\s*\([^;]*?"
                      r"AS 'MODULE_PATHNAME'(?:,\s*'(\w+)')?")


def symbols(text):
    """Names of C functions in a script."""
    found = FUNCTION.findall(text)
    if len(found) != text.count("'MODULE_PATHNAME'"):
        raise RuntimeError("%d of %d functions read" % (len(found), text.count("'MODULE_PATHNAME'")))
    return {symbol or name for name, symbol in found}


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as f:
        return f.read()


def all_symbols():
    """The library has each C function that a release or a step names, those that only old releases name as stubs."""
    whole = {name.split("--")[1][:-len(".sql")]: symbols(text.decode()) for name, text in scripts().items()}
    steps = {name: symbols(read(UPGRADE, name)) for name in os.listdir(UPGRADE) if name.endswith((".sql", ".in"))}
    with database("_symbols") as name, connect(name) as conn:
        today = {symbol for (symbol,) in conn.execute("SELECT prosrc FROM pg_proc WHERE probin LIKE '%neardup%'")}
    listed = tool("nm", "-D", "--defined-only", DESTDIR + pg_config("--pkglibdir") + "/neardup.so").stdout
    has = set(re.findall(r"\bpg_finfo_(\w+)", listed))
    equal_all("the library has all functions of", [
        (name, sorted(names - has), []) for name, names in [*whole.items(), *steps.items(), ("today", today)]])
    stubs = re.findall(r"^STUB\((\w+)\)", read("src", "pg", "values", "old_sql.cpp"), re.M)
    equal("stubs are what only the SQL of earlier releases names", stubs,
          sorted(has.difference(today, *(whole[version] for version in SERVED))))
    equal("each of them is called here", sorted(set(stubs) - set(REFUSED)), [])


ROWS = "'SELECT 1 AS id, to_minhash(''a b c'') AS sig'"
TEXTS = "'SELECT ''a b c''::text'"
# Calls by the SQL of 0.1.0 and 0.2.0, by C function.
REFUSED = {
    "neardup_all_pairs": "SELECT * FROM all_pairs(%s, 0.5)" % ROWS,
    "neardup_pairs_between": "SELECT * FROM pairs_between(%s, %s, 0.5)" % (ROWS, ROWS),
    "neardup_all_clusters": "SELECT * FROM all_clusters(%s, 0.5)" % ROWS,
    "neardup_cluster_bridges": "SELECT * FROM cluster_bridges(%s, 0.5)" % ROWS,
    "neardup_expression_type": "SELECT neardup_expression_type('pg_class', 'relname')",
    "neardup_words_given": "SELECT neardup_words_given(%s)" % TEXTS,
    "neardup_copied_share": "SELECT copied_share('a b c', 'a b d', 2)",
    "neardup_shared_passages": "SELECT * FROM shared_passages('a b c', 'a b d', 2)",
    "neardup_winnow_fingerprints": "SELECT * FROM winnow_fingerprints('a b c', 2, 1)",
    "neardup_winnow_fingerprints_bytes": "SELECT * FROM winnow_fingerprints('abc'::bytea, 2, 1)",
    "neardup_refresh_duplicates": "CALL refresh_duplicates('copies')",
}
REFUSED_OF_FIRST = {
    "word_similarities": "SELECT * FROM word_similarities(%s)" % TEXTS,
    "neardup_count_words":
        "SELECT * FROM neardup_count_words(%s, 9, 1, 2, true, NULL, NULL, NULL, 'sentence')" % TEXTS,
    "neardup_create_word_model": "CALL create_word_model('model', %s)" % TEXTS,
}


def refused(old):
    """A function that the library does not serve says how to go on; all data are there after the update."""
    with database("_refused", extension=False) as name, connect(name) as conn:
        conn.execute("CREATE EXTENSION neardup VERSION '%s'" % old)
        for statement in estate.STORE:
            conn.execute(statement)
        for symbol, call in {**REFUSED, **(REFUSED_OF_FIRST if old == "0.1.0" else {})}.items():
            fails("SQL of %s: %s" % (old, symbol), conn, call, state="0A000", hint=UPDATE,
                  text="of neardup 0.2.0 or earlier is not supported by this version of the library")
        before = {query: conn.execute(query).fetchall() for query in estate.NEAR}
        conn.execute("ALTER EXTENSION neardup UPDATE")
        estate.served(old + ", updated", conn)
        estate.same(old + ", updated: the same answers", {q: conn.execute(q).fetchall() for q in before}, before)
        estate.sound(old + ", updated", conn)


def definitions(name):
    dump = tool("pg_dump", "--schema-only", "--binary-upgrade", "-d", name)
    if dump.returncode:
        raise RuntimeError(dump.stderr)
    return catalog.definitions(dump.stdout)


def chain():
    with database("_new") as new:
        with connect(new) as conn:
            said = catalog.descriptions(conn)
            check("descriptions are read", len(said) > 400 and len([1 for _, _, d in said if d]) > 250, len(said))
            known = catalog.versions(conn)
            current = one(conn, "SELECT extversion FROM pg_extension WHERE extname = 'neardup'")
            equal("the newest version is the default one", current, known[-1])
            check("there are older ones", len(known) > 1, known)
            released = conn.execute("SELECT source, target FROM pg_extension_update_paths('neardup') "
                                    "WHERE path IS NULL AND source < target").fetchall()
            equal("a way up from each to each later one", released, [])
        wanted = definitions(new)
        check("definitions are read", len(wanted) > 400, len(wanted))
        for old in known[:-1]:
            with database("_old", extension=False) as name, connect(name) as conn:
                conn.execute("CREATE EXTENSION neardup VERSION '%s'" % old)
                before = definitions(name)
                equal("%s has other definitions, if a step from it changes any" % old, before != wanted,
                      bool(steps_from(old)))
                conn.execute("ALTER EXTENSION neardup UPDATE")
                equal("%s is updated to the newest" % old, one(conn, "SELECT sql FROM neardup_version()"), current)
                got = definitions(name)
                equal("%s, updated: nothing is missing or otherwise" % old, sorted(wanted - got), [])
                equal("%s, updated: nothing is left over" % old, sorted(got - wanted), [])
                equal("%s, updated: the descriptions are the same" % old,
                      sorted(said ^ catalog.descriptions(conn), key=str), [])
            with database("_schema", extension=False) as name, connect(name) as conn:
                conn.execute(
                    "CREATE SCHEMA \"Near dup\"; CREATE EXTENSION neardup SCHEMA \"Near dup\" VERSION '%s'" % old)
                conn.execute("ALTER EXTENSION neardup UPDATE")
                equal("%s in another schema is updated" % old,
                      one(conn, "SELECT sql FROM \"Near dup\".neardup_version()"), current)


def carried(old):
    """Objects made with the SQL of a release, by this library; then updated."""
    with database("_data", extension=False) as name, connect(name) as conn:
        conn.execute("CREATE EXTENSION neardup VERSION '%s'" % old)
        estate.make(conn)
        estate.sound(old, conn)
        before = estate.answers(conn)
        estate.same(old + ": indexes give what a sequential scan gives", before, estate.answers(conn, False))
        with database("_today") as today, connect(today) as now:
            estate.make(now)
            estate.same(old + " answers as today's SQL", before, estate.answers(now))
        conn.execute("CREATE VIEW akin AS SELECT * FROM word_similarities('SELECT body FROM article', k => 3, "
                     "vocabulary => 300)")
        with connect(name) as other:  # a session that saw the old version
            akin = other.execute("TABLE akin").fetchall()
            conn.execute("ALTER EXTENSION neardup UPDATE")
            equal(old + ", updated: another session goes on", other.execute("TABLE akin").fetchall(), akin)
        estate.same(old + ", updated: the same answers", estate.answers(conn), before)
        estate.served(old + ", updated", conn)
        estate.sound(old + ", updated", conn)
        estate.live_on(old + ", updated", conn)
        conn.execute("DROP EXTENSION neardup CASCADE")
        equal(old + ", updated: DROP EXTENSION leaves none of it",
              one(conn, "SELECT count(*) FROM pg_proc WHERE probin LIKE '%neardup%'"), 0)


def dumped(old):
    """A dump of a database with the SQL of a release is restored where today's is installed."""
    with database("_dumped", extension=False) as name, database("_restored", extension=False) as other:
        with connect(name) as conn:
            conn.execute("CREATE EXTENSION neardup VERSION '%s'" % old)
            estate.make(conn)
            conn.execute(
                "CREATE TABLE named (id int PRIMARY KEY, body text, sig minhash(64) DEFAULT to_minhash('', num_perm => "
                "64), hash simhash, "
                "bits bigint GENERATED ALWAYS AS (hash::bigint) STORED, sim minhash GENERATED ALWAYS AS "
                "(to_minhash(body)) STORED, EXCLUDE USING lsh (with_threshold(sim, 0.9) WITH &&)); "
                "CREATE INDEX ON named USING lsh (id, sig minhash_ops) WHERE neardup_content_hash(body) IS NOT NULL; "
                "CREATE INDEX ON named (minhash_components(sig)); "
                "CREATE TRIGGER guard BEFORE INSERT ON named FOR EACH ROW EXECUTE FUNCTION neardup_guard('sim', "
                "'0.8'); "
                "CREATE VIEW near_named AS SELECT a.id, b.id AS other FROM named a JOIN named b ON a.sim % b.sim "
                "AND a.hash <~> b.hash < 10; "
                "INSERT INTO named (id, body, hash) SELECT i, md5(i::text) || ' of ' || md5((-i)::text), "
                "to_simhash(md5(i::text)) FROM generate_series(1, 20) i")
            before = estate.answers(conn), conn.execute("SELECT * FROM named ORDER BY id").fetchall(), conn.execute(
                "SELECT * FROM near_named ORDER BY 1, 2").fetchall()
        dump = tool("pg_dump", "-d", name)
        restored = tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", other, input=dump.stdout)
        equal("a dump of %s is restored on today's" % old, (dump.returncode, restored.returncode, restored.stderr),
              (0, 0, ""))
        with connect(other) as conn:
            check("it has today's version",
                  one(conn, "SELECT extversion = default_version FROM pg_extension JOIN pg_available_extensions "
                            "ON name = extname WHERE extname = 'neardup'"))
            after = estate.answers(conn), conn.execute("SELECT * FROM named ORDER BY id").fetchall(), conn.execute(
                "SELECT * FROM near_named ORDER BY 1, 2").fetchall()
            estate.same("a dump of %s, restored: the same answers" % old, after[0], before[0])
            equal("and the same rows", after[1:], before[1:])
            estate.served("a dump of %s, restored" % old, conn)
            estate.sound("a dump of %s, restored" % old, conn)
            estate.live_on("a dump of %s, restored" % old, conn)


def made_over_it():
    """Objects that users have made over those that an update makes again, and the roles that may use these."""
    with database("_over", extension=False) as name, connect(name) as conn:
        conn.execute("CREATE EXTENSION neardup VERSION '0.2.0'")
        conn.execute(
            "CREATE TABLE docs (id int PRIMARY KEY, body text); "
            "INSERT INTO docs VALUES (1, 'a b c d e f g h i j k l m n o p'), (2, 'a b c d e f g h i j k l m n o p')")
        conn.execute("SELECT create_duplicates('copies', 'docs', 'id', 'body')")
        # 0.1.0 kept the name of a profile as it was given.
        conn.execute("SELECT create_profile('narrow', k => 2); "
                     "SELECT create_duplicates('narrow_copies', 'docs', 'id', 'body', profile => 'narrow')")
        conn.execute("UPDATE narrow_copies_job SET profile = 'narrow'")
        conn.execute("CREATE VIEW watching AS SELECT job, phase FROM duplicates_status WHERE job::text = 'copies'")
        views = {
            "near": "SELECT * FROM all_pairs('SELECT id, to_minhash(body) FROM docs', 0.5)",
            "clustered": "SELECT * FROM all_clusters('SELECT id, to_minhash(body) FROM docs ORDER BY id', 0.5)",
            "copied": REFUSED["neardup_copied_share"],
            "passages": REFUSED["neardup_shared_passages"],
            "chosen": REFUSED["neardup_winnow_fingerprints"],
            "of_bytes": REFUSED["neardup_winnow_fingerprints_bytes"],
        }
        for view, query in views.items():
            conn.execute("CREATE VIEW %s AS %s" % (view, query))
        conn.execute("DROP ROLE IF EXISTS neardup_update_reader; CREATE ROLE neardup_update_reader")
        conn.execute(
            "REVOKE ALL ON duplicates_status FROM PUBLIC; GRANT SELECT ON duplicates_status TO neardup_update_reader; "
            "REVOKE ALL ON PROCEDURE refresh_duplicates FROM PUBLIC; "
            "GRANT EXECUTE ON PROCEDURE refresh_duplicates TO neardup_update_reader; "
            "REVOKE ALL ON FUNCTION all_pairs(text, float8, text, text, float8, interval) FROM PUBLIC; "
            "GRANT EXECUTE ON FUNCTION all_pairs(text, float8, text, text, float8, interval) TO neardup_update_reader")
        for function in ("create_duplicates", "alter_duplicates"):
            conn.execute("REVOKE ALL ON FUNCTION %s FROM PUBLIC; GRANT EXECUTE ON FUNCTION %s TO neardup_update_reader"
                         % (function, function))
        conn.execute("ALTER EXTENSION neardup UPDATE")
        for view in ("watching", *views):
            fails("a view of 0.2.0, %s, says that it must be made again" % view, conn, "TABLE " + view, state="0A000",
                  hint=UPDATE)
        for view, query in views.items():
            conn.execute("CREATE OR REPLACE VIEW %s AS %s" % (view, query))
        equal("views that were made again have their answers",
              [conn.execute("TABLE " + view).fetchall()[0] for view in ("near", "copied", "passages")],
              [(1, 2, 1), (2 / 3,), (1, 1, 3, "a b")])
        equal("and copied_share() ignores what it is told",
              one(conn, "SELECT copied_share('a b c', 'a b d', 2, ignore => ARRAY['a'])"), 0)
        equal("and all_pairs() has a measure",
              conn.execute(
                  "SELECT * FROM all_pairs('SELECT id, ARRAY[1, 2] FROM docs', 2, measure => 'overlap')").fetchall(),
              [(1, 2, 2)])
        conn.execute("CALL refresh_duplicates('narrow_copies')")
        equal("a job with the name of a profile as 0.1.0 kept it is refreshed",
              conn.execute("SELECT j.profile, count(*) FROM narrow_copies_job j, narrow_copies GROUP BY 1").fetchall(),
              [("public.narrow", 2)])
        conn.execute("SELECT drop_duplicates('narrow_copies')")
        equal("and the status is as a new one",
              conn.execute("SELECT job, phase, next_step FROM duplicates_status").fetchall(),
              [("copies", "new", "CALL refresh_duplicates('copies');")])
        rights = """SELECT r, has_table_privilege(r, 'duplicates_status', 'SELECT'),
                    has_function_privilege(r, 'refresh_duplicates(text, int, interval, boolean, boolean, boolean)',
                                           'EXECUTE'),
                    has_function_privilege(r, 'all_pairs(text, float8, text, text, float8, interval, text)', 'EXECUTE'),
                    (SELECT array_agg(has_function_privilege(r, f.oid, 'EXECUTE')) FROM pg_proc f
                      WHERE proname IN ('create_duplicates', 'alter_duplicates')) FROM unnest(%s::text[]) r"""
        equal("who might use them may use them",
              conn.execute(rights, (["neardup_update_reader", "pg_monitor"],)).fetchall(),
              [("neardup_update_reader", True, True, True, [True, True]),
               ("pg_monitor", False, False, False, [False, False])])
        conn.execute("CALL refresh_duplicates('copies')")
        equal("a job of 0.2.0 is refreshed",
              conn.execute("SELECT rows, clusters, duplicates FROM duplicates_status").fetchall(), [(2, 1, 1)])
        conn.execute("SELECT alter_duplicates('copies', measure => 'containment'); "
                     "INSERT INTO docs VALUES (3, 'zero a b c d e f g h i j k l m n o p and more')")
        conn.execute("CALL refresh_duplicates('copies')")
        equal("and can compare containment",
              conn.execute("SELECT id, representative FROM copies ORDER BY id").fetchall(), [(1, 3), (2, 3), (3, 3)])
        equal("its result is right", conn.execute("SELECT * FROM check_duplicates('copies')").fetchall(), [])
        for function in ("all_pairs_0_2_0(text, float8, text, text, float8, interval)",
                         "all_clusters_0_2_0(text, float8, text, text, float8, interval)",
                         "copied_share_0_2_0(text, text, int, text)", "shared_passages_0_2_0(text, text, int, text)",
                         "winnow_fingerprints_0_2_0(text, int, int, text)",
                         "winnow_fingerprints_0_2_0(bytea, int, int)"):
            conn.execute(
                "ALTER EXTENSION neardup DROP FUNCTION neardup_%s; DROP FUNCTION neardup_%s" % (function, function))
        conn.execute("DROP VIEW watching; ALTER EXTENSION neardup DROP VIEW neardup_duplicates_status_0_2_0; "
                     "DROP VIEW neardup_duplicates_status_0_2_0; "
                     "ALTER EXTENSION neardup DROP FUNCTION neardup_internal.neardup_jobs_0_2_0(); "
                     "DROP FUNCTION neardup_internal.neardup_jobs_0_2_0()")
        conn.execute("DROP OWNED BY neardup_update_reader; DROP ROLE neardup_update_reader")


def ways_to_call(conn):
    """(name, query) for each function, aggregate and window function of the extension that SQL can call, with NULL for
    every argument."""
    rows = conn.execute("""
        SELECT p.oid::regproc::text, prokind::text, ARRAY(SELECT CASE WHEN t IN ('anyelement'::regtype,
          'anynonarray'::regtype) THEN 'int8' WHEN t = 'anyarray'::regtype THEN 'int8[]' ELSE format_type(t, NULL) END
                                                          FROM unnest(proargtypes) WITH ORDINALITY u(t, n) ORDER BY n)
        FROM """ + OUR_FUNCTIONS + """
        WHERE prokind <> 'p' AND prorettype NOT IN ('trigger'::regtype, 'internal'::regtype,
          'index_am_handler'::regtype, 'cstring'::regtype)
        AND NOT proargtypes::oid[] && ARRAY['internal', 'cstring', 'cstring[]']::regtype[]::oid[]
          ORDER BY p.oid""").fetchall()
    return [(name, ("SELECT %s(%s)%s AS x"
                    if kind == "w" else "SELECT count(*) FROM %s(%s)%s" if kind == "f" else "SELECT %s(%s)%s AS x")
        % (name, ", ".join("NULL::" + t for t in types),
           " OVER ()" if kind == "w" else "")) for name, kind, types in rows]


def cure(conn, heard):
    """Runs the statements that the warnings of an update name: what was kept for dependent objects goes."""
    for hint in heard:
        for statement in re.findall(
                r"ALTER EXTENSION neardup DROP \w+ [^;]+;|DROP (?:FUNCTION|PROCEDURE|VIEW) [^;]+;", hint):
            conn.execute(statement)


def steps_from(old):
    """The statements of all scripts that lead from a release to this one."""
    text, at = [], old
    while at != default_version():
        path, = (path for where in ("sql/upgrade", "sql") for path in glob.glob(
            os.path.join(ROOT, where, "neardup--%s--*.sql" % at)))
        at = os.path.basename(path)[:-len(".sql")].split("--")[2]
        with open(path, encoding="utf-8") as f:
            text += [line for line in f if line.strip() and not line.startswith(("--", "\\"))]
    return "".join(text)


def nobody_blocks(old):
    """A role without any right but TEMPORARY has temporary views over every function, and columns of every type. The
    update succeeds, and what was kept for them can be dropped once the session has ended."""
    with database("_new") as new:
        wanted = definitions(new)
    with database("_blocked", extension=False) as name, connect(name) as conn, connect(name) as other:
        heard = []
        conn.add_notice_handler(
            lambda d: heard.append((d.severity, d.message_primary, d.message_detail, d.message_hint)))
        conn.execute("CREATE EXTENSION neardup VERSION '%s'; DROP ROLE IF EXISTS neardup_update_stranger; "
                     "CREATE ROLE neardup_update_stranger" % old)
        conn.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO PUBLIC")
        calls = ways_to_call(conn)
        other.execute("SET ROLE neardup_update_stranger")
        views = {"over_%d" % i: function for i, (function, query) in enumerate(calls) if sql_error(
            other, "CREATE TEMP VIEW over_%d AS %s" % (i, query)) is None}
        refused = sorted({function for function, _ in calls} - set(views.values()))
        check("%s: a stranger's views over %d functions" % (old, len(views)), len(views) > 150 and len(refused) < 5,
              refused)
        other.execute("CREATE TEMP VIEW watching AS TABLE duplicates_status; "
                      "CREATE TEMP TABLE rows_of (job neardup_job, profile neardup_profile, model neardup_word_model, "
                      "CHECK ((job).profile <> '' AND (profile).k > 0)); INSERT INTO rows_of DEFAULT VALUES; "
                      "CREATE INDEX ON rows_of (((job).profile))")
        # A table of a type gets its columns; a session can do that to its own temporary tables only.
        for kind in sorted(set(re.findall(r"ALTER TYPE (neardup_\w+) ADD ATTRIBUTE", steps_from(old)))):
            other.execute("CREATE TEMP TABLE typed OF %s" % kind)
            fails("%s: a temporary table of the type %s is in the way, and the error says how to end that"
                      % (old, kind), conn, "ALTER EXTENSION neardup UPDATE", state="55006",
                  text="the update changes the type %s, and table pg_temp_" % kind,
                  hint="usename = 'neardup_update_stranger'")
            other.execute("DROP TABLE typed")
        del heard[:]
        e = sql_error(conn, "ALTER EXTENSION neardup UPDATE")
        if not check("%s: they do not stop the update" % old, e is None, "%s %s" % (e, e and e.diag.message_detail)):
            return
        equal("%s: it tells of what is kept" % old,
              [h for h in heard if h[0] != "WARNING" or " kept as " not in h[1] or "neardup DROP " not in (h[3] or "")],
              [])
        gone = [e for e in (sql_error(other, "TABLE " + view) for view in views)
                if e is not None and e.sqlstate in ("XX000", "42883", "42703")]
        equal("%s: each view gives an answer or an error that is meant" % old, gone[:3], [])
        other.close()
        end = time.monotonic() + 60
        while one(conn, "SELECT count(*) FROM pg_class WHERE relpersistence = 't'") and time.monotonic() < end:
            time.sleep(0.02)
        cure(conn, [h[3] for h in heard])
        equal("%s: and goes by what the warnings say" % old, sorted(definitions(name) ^ wanted), [])
        conn.execute("DROP ROLE neardup_update_stranger")


def schema_of_that_name():
    """A schema neardup_internal that is not the extension's is in the way, and stays as it is."""
    with database("_schema", extension=False) as name, connect(name) as conn:
        conn.execute("CREATE SCHEMA neardup_internal; CREATE TABLE neardup_internal.mine (id int)")
        fails("installed beside a schema of that name", conn, "CREATE EXTENSION neardup", state="42P06",
              text='schema "neardup_internal" already exists')
        conn.execute("CREATE EXTENSION neardup VERSION '0.2.0'")
        fails("updated beside a schema of that name", conn, "ALTER EXTENSION neardup UPDATE", state="42P06",
              text='schema "neardup_internal" already exists')
        equal("the version of before is as it was",
              conn.execute("SELECT extversion, jaccard(to_minhash('a b c'), to_minhash('a b c')) FROM pg_extension "
                           "WHERE extname = 'neardup'").fetchone(), ("0.2.0", 1))
        conn.execute("ALTER SCHEMA neardup_internal RENAME TO other; ALTER EXTENSION neardup UPDATE")
        equal("the schema belongs to the extension, and anybody may use it",
              conn.execute(
                  "SELECT deptype::text, has_schema_privilege('pg_monitor', 'neardup_internal', 'USAGE'), "
                  "has_schema_privilege('pg_monitor', 'neardup_internal', 'CREATE') "
                  "FROM pg_depend WHERE classid = 'pg_namespace'::regclass "
                  "AND objid = 'neardup_internal'::regnamespace").fetchall(), [("e", True, False)])
        conn.execute("DROP EXTENSION neardup")
        equal("and goes with it", one(conn, "SELECT to_regnamespace('neardup_internal')"), None)


def refreshed_before_it(old):
    """The library of today below the SQL of before: a job's filter does not run as another role that refreshes it."""
    owner = "neardup_update_owner"
    with database("_before", extension=False) as name, connect(name) as conn:
        try:
            conn.execute("DROP ROLE IF EXISTS {1}; CREATE ROLE {1}; CREATE EXTENSION neardup VERSION '{0}'; "
                         "CREATE SCHEMA owned AUTHORIZATION {1}; SET ROLE {1}".format(old, owner))
            conn.execute("CREATE TABLE owned.docs AS SELECT 1 AS id, 'a b c d'::text AS body; "
                         "CREATE FUNCTION owned.tells(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS "
                         "$$BEGIN IF current_user = '%s' THEN RETURN true; END IF; "
                         "RAISE 'ran as %%', current_user; END$$" % owner)
            conn.execute("SELECT create_duplicates('owned.copies', 'owned.docs', 'id', 'body', filter => "
                         "'owned.tells(id)'); RESET ROLE")
            fails("SQL of %s: a job of another role, by a superuser" % old, conn,
                  "CALL refresh_duplicates('owned.copies')", text="job owned.copies belongs to another role",
                  state="42501")
            conn.execute("SET ROLE " + owner)
            equal("SQL of %s: by its owner" % old, sql_error(conn, "CALL refresh_duplicates('owned.copies')"), None)
        finally:
            conn.execute("RESET ROLE; DROP OWNED BY {0} CASCADE; DROP ROLE {0}".format(owner))


def main():
    install()
    with database("_any") as name, connect(name) as conn:
        old = catalog.versions(conn)[:-1]
    sections((frozen,), (all_symbols,), (chain,), (made_over_it,), (schema_of_that_name,),
             *[(nobody_blocks, v) for v in old], *[(refused, v) for v in old if v not in SERVED],
             *[(refreshed_before_it, v) for v in old if v in SERVED],
             *[(call, v) for v in old[-1:] for call in (carried, dumped)])


finish(main)
