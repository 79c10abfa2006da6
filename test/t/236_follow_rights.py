#!/usr/bin/env python3
"""Triggers by which jobs follow their source: what they refuse, what strangers, writers and the owner of a job can do
with them, a dump of them, and a crash."""
import random

from servers import *
from jobs import from_scratch, table

OWNER, WRITER, STRANGER = "neardup_t_owner", "neardup_t_writer", "neardup_t_stranger"
OPTIONS = "signature => 'hashes', measure => 'jaccard'"
JOB = "SELECT create_duplicates('follows', 'pages', 'id', %s, follow => 'trigger')" % OPTIONS
PAGES = "CREATE TABLE pages (id %s PRIMARY KEY, hashes int[]); INSERT INTO pages VALUES (1, '{1,2}'), (2, '{1,2}')"
FUNCTION = "EXECUTE FUNCTION neardup_internal.neardup_follow()"


def as_role(conn, role, *statements):
    """The error of the first statement that fails, else None."""
    conn.execute("SET ROLE " + role)
    errors = [e for e in (sql_error(conn, statement) for statement in statements) if e]
    conn.execute("RESET ROLE")
    return errors[0] if errors else None


def done(name, error):
    check(name, error is None, error)


def refused(name, error, state, text=""):
    check(name, error is not None and error.sqlstate == state and text in str(error), error)


def new_job(conn, id_type="int"):
    done("a job of an ordinary owner", as_role(conn, OWNER, PAGES % id_type, JOB, "CALL refresh_duplicates('follows')",
                                               "GRANT INSERT, UPDATE, DELETE ON pages TO " + WRITER))


def drop_job(conn):
    done("dropped", as_role(conn, OWNER, "SELECT drop_duplicates('follows')", "DROP TABLE pages"))


def queued(conn):
    return [i for i, in conn.execute("SELECT id FROM follows_queue ORDER BY entry").fetchall()]


def sources(conn):
    """Sources without triggers that report all changes are refused."""
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text, day timestamptz); CREATE VIEW v AS TABLE docs; "
                 "CREATE MATERIALIZED VIEW m AS TABLE docs; CREATE UNLOGGED TABLE u (LIKE docs); "
                 "CREATE TEMP TABLE t (LIKE docs); CREATE TABLE child () INHERITS (docs); "
                 "CREATE TABLE parts (LIKE docs) PARTITION BY LIST (id); CREATE UNLOGGED TABLE part PARTITION OF parts "
                 "DEFAULT; CREATE EXTENSION postgres_fdw; CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw; "
                 "CREATE FOREIGN TABLE f (id int, body text) SERVER here")
    call = "SELECT create_duplicates('j', '%s', '%s', '%s', follow => 'trigger'%s)"
    for source, what in (("v", "a view"), ("m", "a materialized view"), ("u", "unlogged"), ("t", "a temporary table"),
                         ("f", "a foreign table"), ("docs", "a table from which others inherit"),
                         ("parts", "partitioned, and its partition part is unlogged")):
        fails("refused: " + what, conn, call % (source, "id", "body", ""), text="it is " + what, state="0A000",
              hint="'scan'")
    fails("refused: a catalog", conn, call % ("pg_proc", "oid", "prosrc", ""), text="a system catalog", state="0A000")
    conn.execute("DROP TABLE child")
    fails("refused: a filter that changes with the time", conn,
          call % ("docs", "id", "body", ", filter => 'day < now()'"), text="changes with its row alone", state="22023")
    fails("refused: another value", conn, (call % ("docs", "id", "body", "")).replace("'trigger'", "'triggers'"),
          text="follow must be 'scan' or 'trigger': 'triggers'", state="22023")
    conn.execute("SELECT create_duplicates('j', 'v', 'id', 'body')")
    fails("refused: a job of a view", conn, "SELECT alter_duplicates('j', follow => 'trigger')", text="a view",
          state="0A000")
    fails("no NULL for scan", conn, "CALL refresh_duplicates('j', scan => NULL)", text="scan must not be NULL",
          state="22004")
    conn.execute("SELECT drop_duplicates('j')")
    conn.execute("BEGIN READ ONLY")
    error = sql_error(conn, call % ("docs", "id", "body", ""))
    refused("refused: a read-only transaction", error, "25006")
    conn.execute("DROP TABLE docs CASCADE; DROP TABLE u, t, parts; DROP EXTENSION postgres_fdw CASCADE")


def writers(conn):
    new_job(conn)
    done("a writer needs no right on a queue", as_role(conn, WRITER, "INSERT INTO pages VALUES (3, '{1}'), (4, '{2}')"))
    equal("what is written is queued", queued(conn), [3, 4])
    for statement in ("SELECT * FROM follows_queue", "INSERT INTO follows_queue (id) VALUES (9)",
                      "DELETE FROM follows_queue", "SELECT nextval('follows_queue_entry_seq')"):
        refused("a writer has none: " + statement, as_role(conn, WRITER, statement), "42501")
    refused("nor does he call the function", as_role(conn, WRITER, "SELECT neardup_internal.neardup_follow()"), "39P01")
    conn.execute("GRANT SELECT, TRIGGER ON pages TO {0}; GRANT CREATE ON SCHEMA public TO {0}".format(STRANGER))
    done("the privilege TRIGGER is enough for a job", as_role(
        conn, STRANGER, JOB.replace("follows", "his"), "CALL refresh_duplicates('his')"))
    as_role(conn, OWNER, "INSERT INTO pages VALUES (5, '{5}')")
    equal("two jobs follow one table", (queued(conn), one(conn, "SELECT count(*) FROM his_queue")), ([3, 4, 5], 1))
    conn.execute("REVOKE SELECT ON pages FROM " + STRANGER)
    as_role(conn, OWNER, "INSERT INTO pages VALUES (6, '{5}'), (7, '{5}')")
    equal("an owner who may not read the source learns no ids",
          conn.execute("SELECT id FROM his_queue ORDER BY entry").fetchall(), [(5,), (None,)])
    conn.execute("GRANT SELECT ON pages TO {0}; REVOKE TRIGGER ON pages FROM {0}".format(STRANGER))
    done("and later all", as_role(conn, STRANGER, "CALL refresh_duplicates('his')"))
    equal("all", one(conn, "SELECT count(*) FROM his"), 7)
    refused("without TRIGGER there is no other job", as_role(conn, STRANGER, JOB.replace("follows", "no")), "42501")
    done("but an end of this one", as_role(conn, STRANGER, "SELECT drop_duplicates('his')"))
    equal("its triggers have gone", one(conn, "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'pages'::regclass"), 1)
    drop_job(conn)


def strangers(conn):
    """The function on tables, events and rows that are not the job's."""
    new_job(conn)
    trigger = one(conn, "SELECT follow_trigger FROM follows_job")
    conn.execute("GRANT CREATE ON SCHEMA public TO {0}; CREATE TABLE parts (id int, hashes int[]) PARTITION BY LIST "
                 "(id); CREATE TABLE part PARTITION OF parts DEFAULT; ALTER TABLE part OWNER TO {0}".format(STRANGER))
    conn.execute("SELECT create_duplicates('of_parts', 'parts', 'id', %s, follow => 'trigger')" % OPTIONS)
    conn.execute("CALL refresh_duplicates('of_parts')")
    for what, table_name, form in (
            ("a table of one's own", "mine", "AFTER INSERT ON %s FOR EACH ROW"),
            ("the name of the job's", "mine",
             "AFTER INSERT ON %s FOR EACH ROW WHEN ('follows_job'::regclass::oid > 0)"),
            ("before", "mine", "BEFORE INSERT OR UPDATE ON %s FOR EACH ROW"),
            ("statements", "mine", "AFTER INSERT ON %s"),
            ("a partition", "part", "AFTER INSERT ON %s FOR EACH ROW")):
        if table_name == "mine":
            as_role(conn, STRANGER, "CREATE TABLE mine (id int)")
        error = as_role(conn, STRANGER, "CREATE TRIGGER %s %s %s" % (trigger, form % table_name, FUNCTION),
                        "INSERT INTO %s VALUES (77)" % table_name)
        refused("refused: " + what, error, "55000", "belongs to no job")
        conn.execute("DROP TRIGGER %s ON part" % trigger if table_name == "part" else "DROP TABLE mine")
    error = as_role(conn, OWNER, "CREATE TRIGGER x BEFORE INSERT ON pages FOR EACH ROW " + FUNCTION,
                    "INSERT INTO pages VALUES (77)", "DROP TRIGGER x ON pages")
    refused("refused: another trigger of the source", error, "55000", "belongs to no job")
    done("a job that says that it is the trigger's", as_role(
        conn, STRANGER, "CREATE TABLE evil_job OF neardup_job",
        "CREATE TABLE evil_queue (entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id int)",
        "INSERT INTO evil_job (source, id, phase, queue, follow_trigger) "
        "VALUES ('pages', 'id', 'idle', 'evil_queue', '%s')" % trigger))
    as_role(conn, OWNER, "INSERT INTO pages VALUES (8, '{8}')")
    equal("gets nothing", (queued(conn), one(conn, "SELECT count(*) FROM evil_queue")), ([8], 0))
    done("another trigger in its place", as_role(
        conn, OWNER, "CREATE OR REPLACE TRIGGER %s AFTER INSERT ON pages FOR EACH ROW %s" % (trigger, FUNCTION),
        "INSERT INTO pages VALUES (9, '{9}')"))
    equal("queues nothing", queued(conn), [8])
    done("a refresh", as_role(conn, OWNER, "CALL refresh_duplicates('follows')"))
    equal("finds all the same", one(conn, "SELECT count(*) FROM follows"), 4)
    conn.execute("DROP TABLE evil_job, evil_queue; SELECT drop_duplicates('of_parts'); DROP TABLE parts")
    drop_job(conn)


def other_queues(conn):
    """The owner of a job changes its queue: none of his code runs as the writer, and nothing is lost."""
    new_job(conn)
    conn.execute("CREATE TABLE ran (who text); GRANT INSERT ON ran TO PUBLIC")
    as_role(conn, OWNER, "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO ran VALUES "
            "(current_user); RETURN NEW; END$$", "CREATE FUNCTION spy(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS "
            "$$BEGIN INSERT INTO ran VALUES (current_user); RETURN 1; END$$")
    for what in ("ALTER TABLE follows_queue ADD CHECK (spy(id) = 1)", "CREATE INDEX ON follows_queue (spy(id))",
                 "CREATE INDEX ON follows_queue (id)", "ALTER TABLE follows_queue ALTER id SET DEFAULT spy(1)",
                 "CREATE TRIGGER t BEFORE INSERT ON follows_queue FOR EACH ROW EXECUTE FUNCTION spy()",
                 "CREATE RULE r AS ON INSERT TO follows_queue DO INSTEAD NOTHING",
                 "ALTER TABLE follows_queue ADD more int",
                 "ALTER TABLE follows_queue DROP id", "ALTER TABLE follows_queue DROP CONSTRAINT follows_queue_pkey",
                 "ALTER TABLE follows_queue SET UNLOGGED", "ALTER TABLE follows_queue ALTER entry DROP IDENTITY",
                 "ALTER TABLE follows_queue ALTER entry TYPE int", "ALTER TABLE follows_queue ALTER id SET NOT NULL",
                 "DROP TABLE follows_queue"):
        done(what, as_role(conn, OWNER, what))
        error = as_role(conn, WRITER, "INSERT INTO pages VALUES (10)")
        refused("a writer is told: " + what, error, "42P01" if "DROP TABLE" in what else "42809", "follow => 'trigger'")
        done("cured", as_role(conn, OWNER, "SELECT alter_duplicates('follows', follow => 'trigger')"))
    equal("nobody's code ran", conn.execute("SELECT * FROM ran").fetchall(), [])
    equal("nothing was written", one(conn, "SELECT count(*) FROM pages"), 2)
    rows = []
    for what in ("follow_columns = '{NULL}'", "follow_columns = '{{a,b},{c,d}}'", "follow_columns = '{no}'",
                 "id = 'no'", "id = NULL", "follow_columns = NULL"):
        conn.execute("BEGIN; UPDATE follows_job SET " + what)
        error = as_role(conn, WRITER, "UPDATE pages SET hashes = '{8}'")
        rows.append((what, error, None))
        rows.append((what + ": queued", len(queued(conn)) > 0, True))
        conn.execute("ROLLBACK")
    equal_all("nonsense in the row of a job", rows)
    conn.execute("DROP TABLE ran")
    drop_job(conn)
    as_role(conn, OWNER, "DROP FUNCTION spy()", "DROP FUNCTION spy(int)")


def hostile_ids(conn):
    """A type of ids whose functions say who called them."""
    conn.execute("CREATE SEQUENCE calls; GRANT ALL ON calls TO PUBLIC; CREATE FUNCTION spy(int) RETURNS boolean "
                 "LANGUAGE sql AS 'SELECT nextval(''calls'') > 0'; CREATE DOMAIN number AS int CHECK (spy(VALUE))")
    new_job(conn, "number")
    used = []
    for setting in ("ENABLE ALWAYS", "DISABLE"):
        conn.execute("ALTER TABLE pages %s TRIGGER %s" % (setting, one(conn, "SELECT follow_trigger FROM follows_job")))
        before = one(conn, "SELECT nextval('calls')")
        conn.execute("INSERT INTO pages VALUES (3, '{3}'); UPDATE pages SET hashes = '{4}' WHERE id = 3; "
                     "DELETE FROM pages WHERE id = 3")
        used.append(one(conn, "SELECT nextval('calls')") - before)
    equal("the trigger calls no function of the type of ids", used[0], used[1])
    drop_job(conn)
    conn.execute("DROP DOMAIN number; DROP FUNCTION spy; DROP SEQUENCE calls")


def restored(conn):
    """An ordinary owner's dump and restore; at once, and schema before data."""
    new_job(conn)
    as_role(conn, OWNER, "INSERT INTO pages VALUES (3, '{7}')")
    for n, steps in enumerate(((("--role=" + OWNER,),), (("--schema-only",), ("--data-only",)))):
        with database("_%d" % n, "ENCODING 'UTF8' LOCALE 'C' OWNER " + OWNER, extension=False) as target:
            for options in steps:
                dump = tool("pg_dump", *options, "-d", conn.info.dbname)
                script = ("SET ROLE %s;\n" % OWNER if n == 0 else "") + dump.stdout
                with connect(target) as copy:
                    copy.execute("ALTER SCHEMA public OWNER TO " + OWNER)
                loaded = tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", target, input=script)
                equal("restored %d %s" % (n, options),
                      (dump.returncode, loaded.returncode, dump.stderr + loaded.stderr), (0, 0, ""))
            with connect(target) as copy:
                done("a writer before the first refresh", as_role(copy, WRITER, "INSERT INTO pages VALUES (4, '{7}')"))
                done("the first refresh", as_role(copy, OWNER, "CALL refresh_duplicates('follows')"))
                equal("compares all rows", one(copy, "SELECT count(*) FROM follows"), 4)
                as_role(copy, WRITER, "INSERT INTO pages VALUES (5, '{7}')")
                equal("and then the triggers are the job's", queued(copy), [5])
                equal("which does not compare all", one(copy, "SELECT scan FROM follows_job"), False)
                copy.execute("DELETE FROM follows WHERE id = 1")
                equal("nor is a change of the result by hand unnoticed", queued(copy), [5, None])
                done("the next", as_role(copy, OWNER, "CALL refresh_duplicates('follows')"))
                equal("all is there", one(copy, "SELECT count(*) FROM follows"), 5)
                drop_job(copy)
    drop_job(conn)


def crashes():
    """Writers, prepared transactions and refreshes beside kill -9."""
    rng, compared = random.Random(5), []
    with Server("max_prepared_transactions = 10\n") as server:
        server.start()
        with server.connect() as conn:
            conn.execute("CREATE EXTENSION neardup; CREATE TABLE pages (id int PRIMARY KEY, hashes int[]); "
                         "INSERT INTO pages SELECT i, ARRAY[i / 2, i / 2 + 9000, i / 2 + 20000] "
                         "FROM generate_series(1, 2000) i; " + JOB)
            conn.execute("CALL refresh_duplicates('follows')")
        for n in range(20 if FULL else 4):
            with server.connect() as conn:
                conn.execute("UPDATE pages SET hashes = hashes || %s WHERE id %% 3 = %s", (n, n % 3))
                conn.execute("BEGIN; DELETE FROM pages WHERE id = %d; PREPARE TRANSACTION 'p%d'" % (10 + n, n))
            refresh = Task(server, "CALL refresh_duplicates('follows', batch => 30)")
            refresh.join(rng.uniform(0, 0.4))
            server.kill()
            refresh.join(60)
            refresh.conn.close()
            server.start()
            with server.connect() as conn:
                conn.execute("CALL refresh_duplicates('follows')")
                scratch = from_scratch(conn, OPTIONS, source="pages")
                compared.append(("after crash %d" % n, table(conn, "follows"), scratch))
                conn.execute("%s PREPARED 'p%d'" % (("COMMIT", "ROLLBACK")[n % 2], n))
                conn.execute("CALL refresh_duplicates('follows')")
                compared.append(("after the prepared transaction %d" % n, table(conn, "follows"),
                                 from_scratch(conn, OPTIONS, source="pages")))
                compared.append(("no scan %d" % n, one(conn, "SELECT scan FROM follows_job"), False))
        check("no alarm in the log", not server.alarms(), server.alarms())
    equal_all("crashes and prepared transactions", compared)


def main():
    with roles(OWNER, WRITER, STRANGER):
        with database() as name, connect(name) as conn:
            conn.execute("GRANT CREATE ON SCHEMA public TO " + OWNER)
            sections((sources, conn), (writers, conn), (strangers, conn), (other_queues, conn), (hostile_ids, conn),
                     (restored, conn), (crashes,))


finish(main)
