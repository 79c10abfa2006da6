#!/usr/bin/python3
"""Versions: the scripts of releases do not change; ALTER EXTENSION UPDATE from each of them gives the same as a new
installation; this library works with the SQL of the release before it; existing objects keep working."""
import glob
import hashlib

from harness import *
import catalog
import estate

UPGRADE = os.path.join(ROOT, "sql", "upgrade")


def frozen():
    """sql/upgrade/SHA256SUMS names what has been released."""
    with open(os.path.join(UPGRADE, "SHA256SUMS")) as f:
        sums = [line.split() for line in f]
    equal_all(
        "released scripts are as they were",
        [(name, hashlib.sha256(open(os.path.join(UPGRADE, name), "rb").read()).hexdigest(), s) for s, name in sums])


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
        conn.execute("CREATE TABLE words AS SELECT * FROM word_similarities('SELECT body FROM article', k => 3, "
                     "vocabulary => 300)")
        conn.execute("CREATE VIEW akin AS SELECT * FROM word_similarities('SELECT body FROM article', k => 3, "
                     "vocabulary => 300)")
        begun = ("CALL create_word_model('begun', 'SELECT body FROM article', vocabulary => 300, k => 3, commit_every "
                 "=> '0 s')")
        begun_model(conn, begun)
        with connect(name) as other:  # a session that saw the old version
            other.execute("SELECT count(*) FROM akin")
            conn.execute("ALTER EXTENSION neardup UPDATE")
            equal(old + ", updated: another session goes on", one(other, "SELECT count(*) FROM akin"),
                  one(conn, "SELECT count(*) FROM words"))
        estate.same(old + ", updated: the same answers", estate.answers(conn), before)
        estate.served(old + ", updated", conn)
        estate.sound(old + ", updated", conn)
        if old == "0.1.0":
            equal("0.1.0, updated: a view of word_similarities gives what it gave",
                  conn.execute("TABLE akin").fetchall(), conn.execute("TABLE words").fetchall())
            fails("0.1.0, updated: a model that was begun without a discount goes on without one", conn,
                  begun.replace("commit_every", "discount => 0.5, commit_every"), text="other arguments")
            conn.execute(begun)
            equal("0.1.0, updated: and is finished",
                  conn.execute(
                      "SELECT m.word, s.n::int, o.word, s.v FROM begun m, unnest(m.similar_ids, m.similarities) "
                      "WITH ORDINALITY s(i, v, n), begun o WHERE o.id = s.i ORDER BY m.id, s.n").fetchall(),
                  conn.execute("SELECT word, rank, similar_word, similarity FROM words").fetchall())
            conn.execute("SELECT drop_word_model('begun')")
            conn.execute("CREATE OR REPLACE VIEW akin AS SELECT * FROM word_similarities('SELECT body FROM article', "
                         "k => 3, vocabulary => 300)")
            conn.execute("ALTER EXTENSION neardup DROP FUNCTION neardup_word_similarities_0_1_0; "
                         "DROP FUNCTION neardup_word_similarities_0_1_0")
            equal("0.1.0, updated: the view made again gives the same, and the old function is dropped",
                  conn.execute("TABLE akin").fetchall(), conn.execute("TABLE words").fetchall())
            conn.execute("DROP VIEW akin")
            conn.execute("CALL create_word_model('sparing', 'SELECT body FROM article', vocabulary => 300, k => 3, "
                         "discount => 0.5)")
            check("0.1.0, updated: what is new works",
                  one(conn, "SELECT sum(weight) FROM sparing") < one(conn, "SELECT sum(weight) FROM model"))
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
        conn.execute("CALL refresh_duplicates('copies')")
        # 0.1.0 kept the name of a profile as it was given.
        conn.execute("SELECT create_profile('narrow', k => 2); "
                     "SELECT create_duplicates('narrow_copies', 'docs', 'id', 'body', profile => 'narrow')")
        conn.execute("UPDATE narrow_copies_job SET profile = 'narrow'")
        conn.execute("CALL refresh_duplicates('narrow_copies')")
        conn.execute("CREATE VIEW watching AS SELECT job, phase FROM duplicates_status WHERE job::text = 'copies'")
        conn.execute("CREATE VIEW near AS SELECT * FROM all_pairs('SELECT id, to_minhash(body) FROM docs', 0.5)")
        conn.execute("CREATE VIEW clustered AS SELECT * FROM all_clusters('SELECT id, to_minhash(body) FROM docs "
                     "ORDER BY id', 0.5)")
        conn.execute("CREATE VIEW copied AS SELECT copied_share('a b c', 'a b d', 2), (SELECT count(*) "
                     "FROM winnow_fingerprints('a b c', 2, 1)) AS chosen, "
                     "(SELECT text FROM shared_passages('a b c', 'a b d', 2)) AS passage, (SELECT count(*) "
                     "FROM winnow_fingerprints('abc'::bytea, 2, 1)) AS of_bytes")
        copied = conn.execute("TABLE copied").fetchall()
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
        equal("a view over the status of 0.2.0 gives what it gave", conn.execute("TABLE watching").fetchall(),
              [("copies", "idle")])
        equal("a view over all_pairs() of 0.2.0 gives what it gave", conn.execute("TABLE near").fetchall(), [(1, 2, 1)])
        equal("as does one over all_clusters()", conn.execute("SELECT id, representative FROM clustered").fetchall(),
              [(1, 1), (2, 1)])
        equal("views over functions of passages of 0.2.0, too",
              (conn.execute("TABLE copied").fetchall(), copied[0][1:]), (copied, (2, "a b", 2)))
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
              [("copies", "idle", "CALL refresh_duplicates('copies');")])
        rights = """SELECT r, has_table_privilege(r, 'duplicates_status', 'SELECT'),
                    has_function_privilege(r, 'refresh_duplicates(text, int, interval, boolean, boolean)', 'EXECUTE'),
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
        conn.execute(
            "DROP VIEW clustered; ALTER EXTENSION neardup DROP FUNCTION neardup_all_clusters_0_2_0(text, float8, text, "
            "text, float8, interval); "
            "DROP FUNCTION neardup_all_clusters_0_2_0(text, float8, text, text, float8, interval)")
        conn.execute(
            "DROP VIEW near; ALTER EXTENSION neardup DROP FUNCTION neardup_all_pairs_0_2_0(text, float8, text, text, "
            "float8, interval); DROP FUNCTION neardup_all_pairs_0_2_0(text, float8, text, text, float8, interval)")
        conn.execute("DROP VIEW copied")
        for function in ("copied_share_0_2_0(text, text, int, text)", "shared_passages_0_2_0(text, text, int, text)",
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
        FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
          JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'neardup'
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
        path, = glob.glob(os.path.join(ROOT, "sql", "upgrade", "neardup--%s--*.sql" % at))
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


def begun_model(conn, call):
    """Words are counted and none compared, as an interrupted call leaves it."""
    conn.execute(call)
    conn.execute("UPDATE begun_model SET compared = 0, finished = NULL; "
                 "UPDATE begun SET similar_ids = NULL, similarities = NULL")


def main():
    with database("_any") as name, connect(name) as conn:
        old = catalog.versions(conn)[:-1]
    sections((frozen,), (chain,), (made_over_it,), (schema_of_that_name,),
             *[(call, v) for v in old for call in (refreshed_before_it, nobody_blocks)],
             *[(call, v) for v in old[-1:] for call in (carried, dumped)])


finish(main)
