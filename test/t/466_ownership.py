#!/usr/bin/python3
"""A job owns some objects, and others only seem to be its own: a table is dropped, renamed or written because pg_depend
says that it belongs to the job, never because of its name; and a job of a hostile role causes no error and no wait for
other roles."""
from harness import *

ROLE = "neardup_t_intruder"
FORGED = ("INSERT INTO s.customers_job (source, id, phase, refresh, paused, result) "
          "VALUES ('s.customers', 'id', 'idle', 1, false, 's.customers')")


def attempt(conn, role, *statements):
    """Runs the statements as the role."""
    conn.execute("SET ROLE " + role)
    try:
        for statement in statements:
            conn.execute(statement)
    finally:
        conn.execute("RESET ROLE")


def forged_jobs(conn):
    """A typed table beside a stranger's table of the name that a result would have."""
    conn.execute("CREATE TABLE s.customers (id int, cluster bigint, representative int, "
                 "similarity float8, survivor boolean, found_at timestamptz); INSERT INTO s.customers VALUES (1); "
                 "CREATE TABLE s.customers_signatures (id int); CREATE TABLE s.customers_changes (id int); "
                 "GRANT SELECT ON s.customers TO {0}".format(ROLE))
    attempt(conn, ROLE, "CREATE TABLE s.customers_job OF neardup_job", FORGED,
            "GRANT SELECT, UPDATE ON s.customers_job TO PUBLIC")
    equal(
        "the status names no table of a stranger",
        conn.execute("SELECT job FROM duplicates_status WHERE source = 's.customers'::regclass").fetchall(), [(None,)])
    for call, text in (("CALL refresh_duplicates('s.customers')", "belongs to another role"),
                       ("SELECT alter_duplicates('s.customers', threshold => 0.9)", "belongs to another role")):
        fails("a forged job is not worked on: %s" % call, conn, call, text=text, state="42501")
    conn.execute("SELECT rename_duplicates('s.customers', 'clients')")
    equal("a rename renames no stranger's table", one(conn, "SELECT count(*) FROM s.customers"), 1)
    conn.execute("SELECT drop_duplicates('s.clients')")
    equal("a drop drops none",
          conn.execute("SELECT (SELECT count(*) FROM s.customers), to_regclass('s.customers_signatures') IS NOT NULL, "
                       "to_regclass('s.clients_job')").fetchone(), (1, True, None))


def another_job_s_tables(conn):
    """A row that names the tables of another job of the same owner."""
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text); "
                 "INSERT INTO docs SELECT i, 'the same words in every row' FROM generate_series(1, 10) i")
    conn.execute(
        "SELECT create_duplicates('one', 'docs', 'id', 'body'), create_duplicates('two', 'docs', 'id', 'body')")
    conn.execute("UPDATE two_job SET result = 'one', signatures = 'one_signatures', changes = 'one_changes'")
    fails("a job does not work on the tables of another", conn, "CALL refresh_duplicates('two')",
          text="does not belong to job", state="42809")
    equal("nor shows them", conn.execute("SELECT job::text FROM duplicates_status ORDER BY 1").fetchall(),
          [("one",), (None,)])
    conn.execute("UPDATE two_job SET result = 'docs'")
    fails("nor on a table without the columns of a result", conn, "CALL refresh_duplicates('two')",
          text="table public.docs does not belong to job", state="42809")
    conn.execute("DROP TABLE two, two_signatures, two_changes; SELECT drop_duplicates('two')")
    conn.execute("CALL refresh_duplicates('one')")
    equal("nor drops them", conn.execute("SELECT (SELECT count(*) FROM one), (SELECT count(*) FROM docs)").fetchone(),
          (10, 10))
    fails("the table of a job does not go alone", conn, "DROP TABLE one_job", state="2BP01")
    restored(conn)


def restored(conn):
    """pg_dump loses pg_depend's entries; the owner's next call records them again."""
    depends = ("SELECT count(*) FROM pg_depend WHERE classid = 'pg_class'::regclass AND refobjid = 'one_job'::regclass "
               "AND refclassid = 'pg_class'::regclass AND deptype = 'n'")
    equal("three tables belong to a job", one(conn, depends), 3)
    conn.execute("DELETE FROM pg_depend WHERE refobjid = 'one_job'::regclass AND deptype = 'n' "
                 "AND classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass")
    conn.execute(
        "UPDATE one_job SET result = NULL, signatures = NULL, changes = NULL, qualified = NULL, filter = 'id > 2'")
    conn.execute("CALL refresh_duplicates('one')")
    equal("and are found again",
          (one(conn, depends), one(conn, "SELECT result::text || ' ' || signatures || ' ' || changes FROM one_job")),
          (3, "one one_signatures one_changes"))
    conn.execute("CREATE TABLE other AS TABLE one; ALTER TABLE one OWNER TO {0}".format(ROLE))
    fails("a table of another role is not the job's", conn, "CALL refresh_duplicates('one')",
          text="does not belong to job", state="42809")
    conn.execute("ALTER TABLE one OWNER TO postgres; SELECT drop_duplicates('one'); DROP TABLE docs, other")


def hostile_status(conn):
    """Rows that make no sense, and locks."""
    conn.execute(
        "CREATE TABLE docs (id int PRIMARY KEY, body text); SELECT create_duplicates('mine', 'docs', 'id', 'body')")
    columns = "source, id, phase, done, total, started, phase_started, finished, pid, paused"
    rows = ("'docs', 'id', 'signing', 1, -9223372036854775807, 'infinity', 'infinity', '-infinity', %d, false",
            "'docs', 'id', 'clustering', 9223372036854775807, -9223372036854775807, '-infinity', '-infinity', "
            "'infinity', %d, false",
            "0, '', 'signing', -9223372036854775808, 9223372036854775807, now(), now() + interval '1 year', NULL, "
            "-1, NULL", "1259, 'id', '" + "x" * 100000 + "', 0, 0, NULL, NULL, NULL, NULL, NULL",
            "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL")
    for i, row in enumerate(rows):
        attempt(conn, ROLE, "CREATE TABLE s.bad%d_job OF neardup_job" % i,
                "INSERT INTO s.bad%d_job (%s) VALUES (%s)" % (
                    i, columns, row % conn.info.backend_pid if "%d" in row else row),
                "GRANT SELECT, UPDATE ON s.bad%d_job TO PUBLIC" % i)
    status = "SELECT job::text, phase FROM duplicates_status WHERE source = 'docs'::regclass AND job IS NOT NULL"
    equal("one job of five rows of nonsense", conn.execute(status).fetchall(), [("mine", "new")])
    with connect(conn.info.dbname) as other:
        # as a refresh of the bad ones would lock them
        other.execute("BEGIN")
        for i in range(3):
            other.execute("SELECT neardup_internal.neardup_lock_job('s.bad%d_job')" % i)
        equal("nor of those that seem to be at work",
              conn.execute("SELECT count(*), count(time_left) FROM duplicates_status").fetchone(), (5, 0))
        other.execute("ROLLBACK; SET ROLE {0}; BEGIN; LOCK TABLE s.bad0_job".format(ROLE))
        conn.execute("SET lock_timeout = '5s'")
        equal("a locked one is not waited for", conn.execute(status).fetchall(), [("mine", "new")])
        conn.execute("RESET lock_timeout")
        other.execute("ROLLBACK")
    conn.execute("SELECT drop_duplicates('mine'); DROP TABLE docs")


def own_nonsense(conn):
    """Whatever the owner of a job has written into its row, the next call ends in an answer, or in an error that says
    what is wrong."""
    absurd = {"double precision": ("NaN", "-1", "Infinity"), "bigint": ("-9223372036854775808", "9223372036854775807"),
              "integer": ("-2147483648", "2147483647"), "interval": ("-178000000 years",),
              "text": ("", "no such", "'; SELECT"), "name": ("", "no such"),
              "name[]": ("{}", "{NULL}", "{{a,b},{c,d}}", "[5:6]={a,b}"), "text[]": ("{}", "{NULL}"),
              "regclass": ("0", "1"), "regtype": ("0", "1"), "boolean": ("true", "false")}
    calls = ("SELECT alter_duplicates('mine', threshold => 0.7)",
             "SELECT alter_duplicates('mine', keep => 'best', order_by => '', linkage => 'connected')",
             "SELECT alter_duplicates('mine', signature => 'sig')", "SELECT pause_duplicates('mine', NULL)",
             "SELECT rename_duplicates('mine', 'yours')", "SELECT neardup_internal.neardup_job_rows('mine_job')",
             "CALL refresh_duplicates('mine', commit => false)", "SELECT drop_duplicates('mine')")
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text, sig minhash, at date, tenant int); "
                 "INSERT INTO docs SELECT i, 'the same words in every row' FROM generate_series(1, 10) i; "
                 "SELECT create_duplicates('mine', 'docs', 'id', 'body', within => '{tenant}', at => 'at', "
                 "at_most_apart => '1 day', filter => 'id > 0')")
    conn.execute("CALL refresh_duplicates('mine')")
    rows = ["DELETE FROM mine_job"]
    for column, kind in conn.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'mine_job'::regclass "
            "AND attnum > 0").fetchall():
        rows += ["UPDATE mine_job SET %s = %s::%s" % (
            column, "'%s'" % value.replace("'", "''") if value is not None else "NULL", kind) for value in absurd.get(
            kind, ()) + (None,)]
    bad = []
    for row in rows:
        for call in calls:
            conn.execute("BEGIN; " + row)
            e = sql_error(conn, call)
            if e is not None and (e.sqlstate is None or e.sqlstate.startswith("XX")):
                bad.append("%s; %s: %s" % (row, call, e))
            conn.execute("ROLLBACK")
    check("nonsense in the row of one's own job (%d calls)" % (len(rows) * len(calls)), not bad,
          "%d: %s" % (len(bad), "; ".join(bad[:5])))
    conn.execute("SELECT drop_duplicates('mine'); DROP TABLE docs")


def guarded_table(conn):
    """A guard waits for another insert; meanwhile the owner of the schema puts another schema, with a view, in its
    place."""
    conn.execute('GRANT CREATE ON DATABASE "%s" TO %s' % (conn.info.dbname, ROLE))
    conn.execute(
        "CREATE SCHEMA g AUTHORIZATION {0}; CREATE TABLE g.posts (id int PRIMARY KEY, body text, sig minhash); "
        "GRANT SELECT, INSERT ON g.posts TO {0}; "
        "CREATE TRIGGER guard BEFORE INSERT ON g.posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', "
        "0.8); CREATE TABLE ran (who text); GRANT INSERT ON ran TO PUBLIC".format(ROLE))
    insert = "INSERT INTO g.posts VALUES (%d, '%s', to_minhash('%s'))"
    conn.execute(insert % (1, "a text", "some words of the first post"))  # its plan is kept
    with connect(conn.info.dbname) as other:
        other.execute("SET ROLE {0}; CREATE FUNCTION g.evil(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "
                      "public.ran VALUES (current_user); RETURN $1; END $$; BEGIN".format(ROLE))
        other.execute(insert % (2, "x", "other words of another post"))
        e = error_behind(other,
                         ("ALTER SCHEMA g RENAME TO old; CREATE SCHEMA g; "
                              "CREATE VIEW g.posts AS SELECT old.evil(id) AS id, body, sig FROM old.posts; "
                              "GRANT ALL ON g.posts TO PUBLIC",
                          "COMMIT"),
                         conn, insert % (3, "y", "words of a third one that is alone"))
    equal("a guard runs nothing of the schema's owner", conn.execute("SELECT who FROM ran").fetchall(), [])
    check("and says that the name is another's", e is None or e.sqlstate == "55000", e)
    conn.execute("DROP SCHEMA g CASCADE; DROP SCHEMA old CASCADE; DROP TABLE ran")


def waits_for(conn, session, end):
    """Returns once the session waits for a lock."""
    while not one(conn, "SELECT cardinality(pg_blocking_pids(%s)) > 0", (session.info.backend_pid,)):
        if time.monotonic() > end:
            raise RuntimeError("a session does not wait for a lock")
        time.sleep(0.01)


def given_away(conn):
    """Between two steps of a superuser's refresh the job gets another owner, who has put a trigger on its table."""
    conn.execute("CREATE TABLE papers (id int PRIMARY KEY, body text); "
                 "INSERT INTO papers SELECT i, 'words of paper ' || i FROM generate_series(1, 20) i")
    conn.execute("SELECT create_duplicates('given', 'papers', 'id', 'body'); CREATE TABLE fired (role name); "
                 "GRANT ALL ON fired TO PUBLIC; GRANT SELECT ON papers TO {0}; "
                 "GRANT CREATE ON SCHEMA public TO {0}".format(ROLE))
    attempt(conn, ROLE, "CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.fired "
                        "VALUES (current_user); RETURN NEW; END $$")
    tables = ("given", "given_signatures", "given_changes", "given_job")
    give = ("BEGIN; %s SET LOCAL ROLE %s; "
            "CREATE TRIGGER fires BEFORE UPDATE ON given_job FOR EACH ROW EXECUTE FUNCTION fires(); COMMIT"
            % ("".join("ALTER TABLE %s OWNER TO %s; " % (table, ROLE) for table in tables[::-1]), ROLE))
    errors, end = [], time.monotonic() + 60
    with (connect(conn.info.dbname) as holder, connect(conn.info.dbname) as refresher,
          connect(conn.info.dbname) as giver):
        holder.execute("BEGIN; LOCK TABLE papers IN ACCESS EXCLUSIVE MODE")
        refresh = Thread(
            target=lambda: errors.append(sql_error(refresher, "CALL refresh_duplicates('given', batch => 5)")),
            daemon=True)
        refresh.start()
        waits_for(holder, refresher, end)
        change = Thread(target=lambda: giver.execute(give), daemon=True)
        change.start()
        waits_for(holder, giver, end)
        holder.execute("COMMIT")
        refresh.join(60)
        change.join(60)
    check("a refresh ends where its job is given away",
          errors and errors[0] is not None and errors[0].sqlstate == "42501"
              and "belongs to another role" in str(errors[0]), errors)
    equal("nothing of the new owner's runs", conn.execute("SELECT role FROM fired").fetchall(), [])
    equal("and the job is as the last step left it", conn.execute("SELECT phase, last_error FROM given_job").fetchone(),
          ("signing", None))
    conn.execute("SELECT drop_duplicates('given'); DROP TABLE papers, fired; DROP FUNCTION fires()")


def main():
    with database() as name:
        with connect(name) as conn:
            conn.execute("SET client_min_messages = warning; DROP ROLE IF EXISTS {0}; CREATE ROLE {0}; "
                         "CREATE SCHEMA s; GRANT CREATE, USAGE ON SCHEMA s TO {0}".format(ROLE))
        try:
            in_copies(name, forged_jobs, another_job_s_tables, hostile_status, own_nonsense, guarded_table, given_away)
        finally:
            with connect(name) as conn:
                conn.execute("DROP OWNED BY {0} CASCADE; DROP ROLE {0}".format(ROLE))


finish(main)
