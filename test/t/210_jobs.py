#!/usr/bin/env python3
"""Jobs: a table of duplicates that is refreshed is the same as a new one, after any events in between."""
import random
import threading
import time

from clusters import anchors
from harness import *
from jobs import *

def is_sound(conn, name):
    """Each cluster has one survivor, which is its representative; every live row is in the table once."""
    return one(conn, """SELECT count(*) = 0 FROM (SELECT cluster FROM %s GROUP BY cluster
        HAVING count(*) FILTER (WHERE survivor) <> 1 OR count(DISTINCT representative) <> 1
               OR bool_or(survivor AND representative <> id)) x""" % name)


FORMS = {
    "anchor": "body => 'body', deleted => 'gone'",
    "connected": "body => 'body', linkage => 'connected', deleted => 'gone'",
    "longest": "body => 'body', keep => 'longest'",
    "by date": "body => 'body', order_by => 'published', filter => 'tenant < 2'",
    "within": "body => 'body', within => '{tenant}'",
    "within a week": "body => 'body', within => '{tenant}', at => 'published', at_most_apart => '7 days'",
    "verified": "body => 'body', verify => 'jaccard', linkage => 'connected'",
    "simhash": "body => 'body', profile => 'simhash', threshold => 0.95",
    "digests": "body => 'body', profile => 'ctph', threshold => 0.9",
    "containment": "body => 'body', measure => 'containment', deleted => 'gone'",
    "containment, connected": "body => 'body', measure => 'containment', linkage => 'connected', threshold => 0.9",
    "containment, the newest":
        "body => 'body', measure => 'containment', keep => 'newest', order_by => 'published', filter => 'tenant < 2'",
    "containment within a week":
        "body => 'body', measure => 'containment', within => '{tenant}', at => 'published', at_most_apart => '7 days'",
    "sets, contained": "signature => 'hashes', measure => 'containment', threshold => 0.6, deleted => 'gone'",
    "sets": "signature => 'hashes', measure => 'jaccard', threshold => 0.4",
    "sets, cosine": "signature => 'hashes', measure => 'cosine', threshold => 0.6",
}
# A set of a document; of some rows with repeats, unsorted.
HASHES = ("ALTER TABLE docs ADD hashes bigint[] GENERATED ALWAYS AS (CASE WHEN tenant = 0 "
          "THEN winnow_hashes(body, 2) || winnow_hashes(body, 1) ELSE winnow_hashes(body, 2) END) STORED")
# A result with the numbers of its clusters, and its history.
NUMBERED = ("SELECT id, cluster, representative, similarity, survivor FROM %s ORDER BY id",
            "SELECT refresh, change, cluster, other FROM %s_changes ORDER BY refresh, change, cluster, other")


def refreshes_equal_scratch(name):
    """Random changes, refreshed in small batches: after each refresh as from scratch, and as by a job that clusters all
    rows each time."""
    with connect(name) as conn:
        for form, options in FORMS.items():
            rng = random.Random(form)
            texts, ids = texts_for(options, rng), []
            conn.execute(SCHEMA % ("bigint", "text"))
            conn.execute(HASHES)
            change(conn, rng, texts, 600, ids)
            conn.execute("SELECT create_duplicates('dups', 'docs', 'id', {0}), create_duplicates('dups_all', 'docs', "
                         "'id', {0})".format(options))
            rows, parts = [], 0
            for step in range(12 if FULL else 5):
                conn.execute("CALL refresh_duplicates('dups', batch => %s)", (rng.choice((7, 50, 10000)),))
                rows.append((step, table(conn, "dups"), from_scratch(conn, options)))
                part = one(conn, "SELECT clustered_rows < (SELECT count(*) FROM dups) FROM dups_job")
                parts += part
                rows.append(("%d sound" % step, is_sound(conn, "dups"), True))
                run(conn, "UPDATE dups_all_job SET recluster = true", "CALL refresh_duplicates('dups_all')")
                for query in NUMBERED:
                    rows.append(("%d as all clustered anew, with the same numbers" % step,
                                 conn.execute(query % "dups").fetchall(), conn.execute(query % "dups_all").fetchall()))
                change(conn, rng, texts, rng.choice((0, 1, 3, 10, 60)), ids)
            equal_all("refreshed as from scratch: %s" % form, rows)
            check("not all is clustered again: %s" % form, parts > 0)
            conn.execute("SELECT drop_duplicates('dups'), drop_duplicates('dups_all')")
            conn.execute("DROP TABLE docs")
        equal("nothing is left of dropped jobs",
              one(conn, "SELECT count(*) FROM pg_class WHERE relkind <> 'c' AND (relname LIKE 'dups%' "
                        "OR relname LIKE 'neardup\\_%\\_%')"), 0)


def every_source(name):
    """Views, partitions, materialized views, a signature column, ids of other types, bytea."""
    with connect(name) as conn:
        sources = {
            "uuid ids": (SCHEMA % ("uuid", "text"), "docs", "body => 'body'",
                         lambda i: "%08x-0000-0000-0000-%012x" % (i * 7919 % 2**32, i)),
            "text ids": (SCHEMA % ("text", "text"), "docs", "body => 'body'", lambda i: "doc %d" % i),
            "int ids": (SCHEMA % ("int", "text"), "docs", "body => 'body'", lambda i: i),
            "domains over domains":
                ("CREATE DOMAIN ids AS bigint; CREATE DOMAIN its_ids AS ids; CREATE DOMAIN yes AS boolean; "
                     "CREATE DOMAIN bodies AS text; CREATE DOMAIN its_bodies AS bodies;"
                     + SCHEMA % ("its_ids", "its_bodies"),
                 "docs", "body => 'body', filter => '(id > 0)::yes'", lambda i: i),
            "ranges as ids":
                (SCHEMA % ("int4range", "text"), "docs", "body => 'body'", lambda i: "[%d,%d)" % (i, i + 1)),
            "bytea": (SCHEMA % ("bigint", "bytea"), "docs", "body => 'body', profile => 'ctph'", lambda i: i),
            "a view": (SCHEMA % ("bigint", "text") + "; CREATE VIEW v AS SELECT id, body FROM docs WHERE NOT gone", "v",
                       "body => 'body'", lambda i: i),
            "a materialized view": (SCHEMA % ("bigint", "text") + "; CREATE MATERIALIZED VIEW v AS SELECT id, body "
                                        "FROM docs WHERE NOT gone",
                                    "v", "body => 'body'", lambda i: i),
            "partitions": ((SCHEMA % ("bigint", "text")) + """ PARTITION BY HASH (id);
                CREATE TABLE docs_0 PARTITION OF docs FOR VALUES WITH (MODULUS 2, REMAINDER 0);
                CREATE TABLE docs_1 PARTITION OF docs FOR VALUES WITH (MODULUS 2, REMAINDER 1)""",
                           "docs", "body => 'body'", lambda i: i),
            "a signature column": (SCHEMA % ("bigint", "text") + """; ALTER TABLE docs ADD sig minhash(128, 32)
                GENERATED ALWAYS AS (to_minhash(body)) STORED""",
                                   "docs", "signature => 'sig', threshold => 0.7", lambda i: i),
        }
        rows = []
        for what, (ddl, source, options, make_id) in sources.items():
            rng = random.Random(what)
            texts, ids = Texts(rng), []
            conn.execute(ddl)
            if what == "bytea":
                texts.next = lambda t=texts: (Texts.next(t) or "").encode()
            conn.execute("SELECT create_duplicates('dups', '%s', 'id', %s)" % (source, options))
            for step in range(3):
                change(conn, rng, texts, 150 if step == 0 else 5, ids, make_id)
                if what == "a materialized view":
                    conn.execute("REFRESH MATERIALIZED VIEW v")
                conn.execute("CALL refresh_duplicates('dups')")
                rows.append(("%s %d" % (what, step), table(conn, "dups"), from_scratch(conn, options, source=source)))
            conn.execute("SELECT drop_duplicates('dups'); DROP %s IF EXISTS v; DROP TABLE docs" %
                         ("MATERIALIZED VIEW" if "mat" in what else "VIEW"))
        equal_all("sources of every kind", rows)


# Types of ids, a literal of each: their values are hashed by a function of the
# type itself, of another type, or by none.
ID_TYPES = {
    "\"char\"": "'a'", "bit(3)": "B'101'", "char(5)": "'a'", "citext": "'a'", "date": "'2026-01-01'", "float8": "1.5",
    "grade": "'good'", "grade_of": "'good'", "inet": "'10.0.0.1'", "int[]": "'{1}'", "int4range": "'[1,2)'",
    "interval": "'1 day'", "jsonb": "'1'", "name": "'a'", "numeric": "1", "oid": "1", "smallint": "1",
    "time": "'10:00'", "timestamp": "'2026-01-01'", "varchar(5)": "'a'",
}


def hashed_ids(name):
    """Ids of every kind of hash: a change by hand is seen by it, and mended."""
    with connect(name) as conn:
        conn.execute(
            "CREATE EXTENSION citext; CREATE TYPE grade AS ENUM ('good', 'bad'); CREATE DOMAIN grade_of AS grade")
        rows = []
        for kind, literal in ID_TYPES.items():
            conn.execute("CREATE TABLE docs (id %s, body text); "
                         "INSERT INTO docs VALUES (%s, 'a document of a few words')" % (kind, literal))
            run(conn, "SELECT create_duplicates('dups', 'docs', 'id', 'body')", "CALL refresh_duplicates('dups')",
                "UPDATE dups SET survivor = false", "CALL refresh_duplicates('dups')")
            rows.append((kind, one(conn, "SELECT id::text || survivor FROM dups"),
                         one(conn, "SELECT id::text || true FROM docs")))
            conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")
        equal_all("ids of every kind of hash", rows)


def ids_of_clusters(name):
    """Growing keeps an id, merging keeps the older, splitting keeps it where the representative is."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))

        def text(*changed):
            return " ".join("c%d" % c + "w%d" % i if c else "w%d" % i for i in range(50)
                            for c in [changed[i // 10] if changed else 0])
        a, ab, b = text(0, 0, 0, 0, 0), text(0, 0, 0, 0, 7), text(0, 0, 0, 7, 7)

        def put(i, body):
            conn.execute(
                "INSERT INTO docs VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body", (i, body))

        def clusters():
            conn.execute("CALL refresh_duplicates('dups')")
            return dict(conn.execute("SELECT id, cluster FROM dups ORDER BY id").fetchall())

        def history():
            return conn.execute(
                "SELECT change, cluster, other FROM dups_changes ORDER BY refresh, change, cluster, other").fetchall()
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', linkage => 'connected', threshold => 0.5)")
        put(1, a)
        put(2, b)
        put(3, text(9, 9, 9, 9, 9))
        equal("three clusters", clusters(), {1: 1, 2: 2, 3: 3})
        put(10, a)
        equal("growing keeps the id", clusters(), {1: 1, 2: 2, 3: 3, 10: 1})
        put(5, ab)
        equal("merging keeps the older id", clusters(), {1: 1, 2: 1, 3: 3, 5: 1, 10: 1})
        equal("a merger is history", history(), [("merged", 1, 2)])
        conn.execute("DELETE FROM docs WHERE id = 5")
        equal("splitting keeps the id where the representative is", clusters(), {1: 1, 2: 4, 3: 3, 10: 1})
        equal("a split is history", history(), [("merged", 1, 2), ("split", 4, 1)])
        conn.execute("DELETE FROM docs WHERE id = 1")
        equal("another representative, the same id", clusters(), {2: 4, 3: 3, 10: 1})
        conn.execute("DELETE FROM docs WHERE id = 3")
        equal("an id that has gone does not come again", clusters(), {2: 4, 10: 1})
        put(4, text(8, 8, 8, 8, 8))
        equal("a new cluster has a new id", clusters(), {2: 4, 4: 5, 10: 1})
        equal("all of the history", history()[2:], [("gone", 3, None)])
        found = one(conn, "SELECT found_at FROM dups WHERE id = 10")
        clusters()
        equal("rows that stay keep found_at", one(conn, "SELECT found_at FROM dups WHERE id = 10"), found)
        conn.execute("DROP TABLE docs CASCADE")
        equal("a dropped source makes an orphan", one(conn, "SELECT phase FROM duplicates_status"), "orphan")
        for call in ("CALL refresh_duplicates('dups')", "SELECT alter_duplicates('dups', threshold => 0.9)"):
            fails("an orphan is not refreshed: %s" % call, conn, call, text="has been dropped")
        conn.execute("SELECT drop_duplicates('dups')")
        result_dropped(conn)


def result_dropped(conn):
    """The status of a job shows by which name drop_duplicates() finds it, also when its result is gone."""
    status = "SELECT job, phase, next_step FROM duplicates_status"
    conn.execute(
        "CREATE TABLE docs (id int PRIMARY KEY, body text); SELECT create_duplicates('dups', 'docs', 'id', 'body')")
    conn.execute("DROP TABLE dups")
    equal("a dropped result makes an orphan", conn.execute(status).fetchall(),
          [("dups", "orphan", "SELECT drop_duplicates('dups');")])
    fails("its job is not refreshed", conn, "CALL refresh_duplicates('dups')", state="42P01",
          text='table "dups" of job public.dups does not exist',
          hint="SELECT drop_duplicates('public.dups') drops what is left of the job.")
    conn.execute("CREATE TABLE dups (a int)")
    equal("another table's name is not recommended to be dropped", conn.execute(status).fetchall(),
          [(None, "orphan", None)])
    conn.execute("DROP TABLE dups")
    conn.execute(one(conn, "SELECT next_step FROM duplicates_status"))
    equal("the step that it recommends drops the rest",
          one(conn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'dups%'"), 0)
    conn.execute("DROP TABLE docs")


def life_of_a_job(name):
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(5)
        texts, ids = Replies(rng), []
        change(conn, rng, texts, 200, ids)
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
        hint = "autocommit"
        with conn.transaction():
            fails_in = error_of_inside(conn, "CALL refresh_duplicates('dups')")
        check("inside a transaction it says so",
              fails_in and fails_in.sqlstate == "25001" and hint in fails_in.diag.message_hint, fails_in)
        fails("inside a function, too", conn,
              "DO $$ BEGIN BEGIN CALL refresh_duplicates('dups'); EXCEPTION WHEN division_by_zero THEN END; END $$",
              state="25001")
        equal("before any work", one(conn, "SELECT phase FROM duplicates_status"), "new")
        with conn.transaction():
            conn.execute("CALL refresh_duplicates('dups', commit => false)")
        equal("commit => false works there", table(conn, "dups"), from_scratch(conn, "body => 'body'"))
        change(conn, rng, texts, 20, ids)
        conn.execute("DO $$ BEGIN CALL refresh_duplicates('dups', batch => 3); END $$")
        equal("in DO", table(conn, "dups"), from_scratch(conn, "body => 'body'"))

        change(conn, rng, texts, 60, ids)
        conn.execute("CALL refresh_duplicates('dups', batch => 5, time_limit => '0 s')")
        equal("a time limit ends it, after a batch",
              conn.execute("SELECT phase, done FROM duplicates_status").fetchone(), ("waiting", 5))
        equal("which was its last progress", conn.execute(
            "SELECT last_progress = finished, now() - last_progress < '1 minute' FROM duplicates_status").fetchone(),
              (True, True))
        for _ in range(40):
            conn.execute("CALL refresh_duplicates('dups', batch => 5, time_limit => '0 s')")
        equal("however short it is, the job comes to its end", one(conn, "SELECT phase FROM duplicates_status"), "idle")
        change(conn, rng, texts, 60, ids)
        for _ in range(40):
            conn.execute("CALL refresh_duplicates('dups', batch => 5, time_limit => '20 ms')")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("and the next goes on", table(conn, "dups"), from_scratch(conn, "body => 'body'"))

        conn.execute("SELECT pause_duplicates('dups')")
        before = table(conn, "dups")
        change(conn, rng, texts, 10, ids)
        conn.execute("CALL refresh_duplicates('dups')")
        equal(
            "a paused job", (table(conn, "dups"), one(conn, "SELECT phase FROM duplicates_status")), (before, "paused"))
        run(conn, "SELECT pause_duplicates('dups', false)", "CALL refresh_duplicates('dups')")
        equal("goes on", table(conn, "dups"), from_scratch(conn, "body => 'body'"))

        conn.execute("CREATE SCHEMA app")
        conn.execute("SELECT rename_duplicates('dups', '\"My dups\"')")
        conn.execute("CALL refresh_duplicates('\"My dups\"')")
        equal("a renamed job", table(conn, '"My dups"'), from_scratch(conn, "body => 'body'"))
        conn.execute("SELECT rename_duplicates('\"My dups\"', 'dups')")

        for options, changes in (("body => 'body', threshold => 0.9", "threshold => 0.9"),
                                 ("body => 'body', threshold => 0.9, linkage => 'connected'", "linkage => 'connected'"),
                                 ("body => 'body', threshold => 0.9, keep => 'longest'",
                                  "linkage => 'anchor', keep => 'longest'"),
                                 ("body => 'body', threshold => 0.9, profile => 'code'",
                                  "keep => 'oldest', profile => 'code'"),
                                 ("body => 'body', threshold => 0.9, profile => 'simhash', filter => 'tenant = 1'",
                                  "profile => 'simhash', filter => 'tenant = 1'"),
                                 ("body => 'body', threshold => 0.9, profile => 'simhash', filter => 'tenant = 1', "
                                  "measure => 'containment'", "measure => 'containment'"),
                                 ("body => 'body', threshold => 0.9, profile => 'code', measure => 'containment'",
                                  "profile => 'code', filter => ''"),
                                 ("body => 'body', threshold => 0.7, profile => 'code', measure => 'containment', "
                                  "linkage => 'connected'", "threshold => 0.7, linkage => 'connected'"),
                                 ("body => 'body', threshold => 0.9",
                                  "profile => 'default', measure => '', threshold => 0.9, linkage => 'anchor'")):
            conn.execute("SELECT alter_duplicates('dups', %s)" % changes)
            conn.execute("CALL refresh_duplicates('dups', batch => 50)")
            equal("altered: %s" % changes, table(conn, "dups"), from_scratch(conn, options))

        conn.execute("SELECT alter_duplicates('dups', threshold => 0.85)")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("a new threshold reads no row again", one(conn, "SELECT total FROM duplicates_status"), 0)
        conn.execute("SELECT alter_duplicates('dups', threshold => 0.9, order_by => '-id')")
        rounds = 0
        while rounds < 200 and (rounds == 0 or one(conn, "SELECT phase FROM duplicates_status") != "idle"):
            conn.execute("CALL refresh_duplicates('dups', batch => 20, time_limit => '0 s')")
            rounds += 1
        check("a new order reads all, a batch each time: %d times" % rounds, 5 < rounds < 200, rounds)
        equal("and comes to its end", table(conn, "dups"),
              from_scratch(conn, "body => 'body', threshold => 0.9, order_by => '-id'"))
        run(conn, "SELECT alter_duplicates('dups', order_by => '')", "CALL refresh_duplicates('dups')")
        # A row of another server, restored from a dump: its place and number are those of the row as it was.
        restored = ("UPDATE dups_signatures g SET origin = d.tableoid, place = d.ctid, version = d.xmin FROM docs d "
                    "WHERE d.id = g.id")
        run(conn,
            "UPDATE docs SET body = body || ' and quite other words than before' WHERE id = (SELECT min(id) FROM docs)",
            restored, "CALL refresh_duplicates('dups')")
        equal("one of the same server is taken as it was", one(conn, "SELECT total FROM duplicates_status"), 0)
        run(conn, "UPDATE dups_job SET system = 1", "CALL refresh_duplicates('dups')")
        equal("on another server all are compared",
              (one(conn, "SELECT total FROM duplicates_status"), table(conn, "dups")),
              (one(conn, "SELECT count(*) FROM docs"), from_scratch(conn, "body => 'body', threshold => 0.9")))

        conn.execute("SELECT create_profile('app.mine', k => 2, min_length => 20)")
        conn.execute("SELECT alter_duplicates('dups', profile => 'app.mine')")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("a profile of one's own", table(conn, "dups"),
              from_scratch(conn, "body => 'body', threshold => 0.9, profile => 'app.mine'"))
        equal("alter_profile", one(conn, "SELECT alter_profile('app.mine', k => 4, num_perm => 64)"), 2)
        conn.execute("CALL refresh_duplicates('dups')")
        equal("its new version signs all anew", table(conn, "dups"),
              from_scratch(conn, "body => 'body', threshold => 0.9, profile => 'app.mine'"))
        equal("with it", one(conn, "SELECT max(length(minhash_components(signature)::text)) > 0 "
                             "AND bool_and(array_length(minhash_components(signature), 1) = 64)"
                             " FROM dups_signatures WHERE signature IS NOT NULL"), True)

        conn.execute("ALTER TABLE docs RENAME body TO content")
        fails("a renamed column", conn, "CALL refresh_duplicates('dups')",
              text='column "body" of public.docs does not exist', state="42703", hint="alter_duplicates")
        status = conn.execute("SELECT phase, last_error FROM duplicates_status").fetchone()
        check("is told by the status", status[0] == "failed" and "does not exist" in status[1], status)
        run(conn, "SELECT alter_duplicates('dups', body => 'content')", "CALL refresh_duplicates('dups')")
        equal("and repaired", one(conn, "SELECT phase FROM duplicates_status"), "idle")
        conn.execute("ALTER TABLE docs ALTER content TYPE bytea USING convert_to(content, 'UTF8')")
        run(conn, "SELECT alter_duplicates('dups', profile => 'ctph')", "CALL refresh_duplicates('dups')")
        equal("another type of body", table(conn, "dups"),
              from_scratch(conn, "body => 'content', threshold => 0.9, profile => 'ctph'"))
        conn.execute("SELECT drop_duplicates('dups')")
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'content', within => '{tenant}', order_by => "
                     "'id -- as it came', filter => 'id > 0 -- all', deleted => 'gone --')")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("conditions may end in comments", table(conn, "dups"),
              from_scratch(conn, "body => 'content', within => '{tenant}', order_by => 'id', deleted => 'gone'"))
        conn.execute("ALTER TABLE docs RENAME tenant TO author")
        fails("a renamed within column", conn, "CALL refresh_duplicates('dups')",
              text='column "tenant" of public.docs does not exist', hint="rename it back")
        conn.execute("DROP TABLE dups, dups_changes")
        conn.execute("SELECT drop_duplicates('dups')")
        equal("what was left of a job is dropped",
              one(conn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'dups%'"), 0)
        conn.execute("DROP TABLE docs; DROP TABLE app.mine; DROP SCHEMA app")


def columns_change_places(name):
    """Another column gets the name of one that a job reads; no row is written."""
    with connect(name) as conn:
        conn.prepare_threshold = None
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(41)
        texts, ids = Texts(rng), []
        change(conn, rng, texts, 200, ids)
        conn.execute("ALTER TABLE docs ADD cleaned text; "
                     "UPDATE docs SET cleaned = 'the same words in most of the rows ' || tenant")
        options = "body => 'body', within => '{tenant}'"
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', %s)" % options)
        conn.execute("CALL refresh_duplicates('dups')")
        rows = []
        for alter in ("RENAME body TO raw; ALTER TABLE docs RENAME cleaned TO body",
                      "DROP body; ALTER TABLE docs ADD body text DEFAULT 'now all rows have the same words'",
                      "DROP tenant; ALTER TABLE docs ADD tenant int DEFAULT 5",
                      "DROP body; ALTER TABLE docs RENAME raw TO body"):
            conn.execute("ALTER TABLE docs " + alter)
            conn.execute("CALL refresh_duplicates('dups')")
            rows.append((alter, table(conn, "dups", ", tenant"), from_scratch(conn, options, more=", tenant")))
        equal_all("columns change places", rows)
        conn.execute("ALTER TABLE docs ADD note text")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("one that is added changes nothing", one(conn, "SELECT total FROM dups_job"), 0)
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def nulls_within(name):
    """Rows without a tenant are copies of each other."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))
        conn.execute(
            "INSERT INTO docs SELECT i, 'the same words in every row', nullif(i % 2, 0) FROM generate_series(1, 6) i")
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', within => '{tenant}')")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("NULL within", conn.execute("SELECT id, representative FROM dups ORDER BY id").fetchall(),
              [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1), (6, 2)])
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def thresholds_to_the_last_digit(name):
    """2/3 is no more than 2/3, whatever extra_float_digits says."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))
        conn.execute("INSERT INTO docs VALUES (1, 'a b c d e f'), (2, 'a b c d e f g h')")
        conn.execute(
            "SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 2 / 3::float8, verify => 'jaccard')")
        conn.execute("SET extra_float_digits = 0")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("a threshold of 2/3", one(conn, "SELECT count(DISTINCT cluster) FROM dups"), 1)
        conn.execute("RESET extra_float_digits; SELECT drop_duplicates('dups'); DROP TABLE docs")


def written_in_one_transaction(name):
    """A row that a transaction writes again after its own refresh is seen by the next, wherever it lies then."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
        with conn.transaction():
            conn.execute("INSERT INTO docs SELECT i, 'the same seven words in each row' FROM generate_series(1, 2) i; "
                         "SAVEPOINT s; INSERT INTO docs VALUES (3, 'the same seven words in each row')")
            conn.execute("CALL refresh_duplicates('dups', commit => false)")
            conn.execute("UPDATE docs SET body = 'a second text of other words in each row'")
            conn.execute("CALL refresh_duplicates('dups', commit => false)")
            equal(
                "refreshed twice in one transaction",
                one(conn, "SELECT count(DISTINCT content) FROM dups_signatures "
                          "WHERE content = neardup_content_hash('a second text of other words in each row'::text)"), 1)
            conn.execute("UPDATE docs SET body = 'other words than before ' || id WHERE id > 1")
        conn.execute("VACUUM FULL docs")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("written, refreshed and written in one transaction", table(conn, "dups"),
              from_scratch(conn, "body => 'body'"))
        conn.execute("CALL refresh_duplicates('dups')")
        equal("then it has a version", one(conn, "SELECT total FROM dups_job"), 0)
        with conn.transaction():
            conn.execute("INSERT INTO docs SELECT i, 'the same seven words in each row' FROM generate_series(4, 6) i")
            conn.execute("CALL refresh_duplicates('dups', commit => false)")
            conn.execute("UPDATE docs SET body = 'other words than before ' || id WHERE id > 4")
        conn.execute("VACUUM FULL docs")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("a row written again lies where it was", table(conn, "dups"), from_scratch(conn, "body => 'body'"))
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def signatures_change(name):
    """The signatures of a column are made anew with other parameters."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text") + "; ALTER TABLE docs ADD sig minhash")
        rng = random.Random(37)
        texts, ids = Texts(rng), []
        change(conn, rng, texts, 200, ids)
        conn.execute("UPDATE docs SET sig = to_minhash(body, num_perm => 64)")
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', signature => 'sig')")
        conn.execute("CALL refresh_duplicates('dups', batch => 50)")
        conn.execute("UPDATE docs SET sig = to_minhash(body, num_perm => CASE WHEN id % 3 = 0 THEN 128 ELSE 64 END)")
        fails("signatures made in two ways", conn, "CALL refresh_duplicates('dups', batch => 50)",
              text="not made like those")
        conn.execute("UPDATE docs SET sig = to_minhash(body, num_perm => 128)")
        conn.execute("CALL refresh_duplicates('dups', batch => 50)")
        equal("all of them made in another way", table(conn, "dups"), from_scratch(conn, "signature => 'sig'"))
        conn.execute("UPDATE docs SET sig = to_minhash(body, 2, num_perm => 256)")
        conn.execute("CALL refresh_duplicates('dups', batch => 50)")
        equal("and once more", table(conn, "dups"), from_scratch(conn, "signature => 'sig'"))
        equal("an index serves them",
              one(conn, "SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a "
                        "ON a.oid = relam WHERE indrelid = 'dups_signatures'::regclass AND amname = 'lsh'"), 1)
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def by_definition(name):
    """A job of containment: by size, the largest first, each row joins the first one kept that has its share of it."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(39)
        texts, ids = Replies(rng), []
        change(conn, rng, texts, 500, ids)
        conn.execute("UPDATE docs SET body = '' WHERE id % 7 = 0")
        conn.execute("CREATE TABLE sets AS SELECT id, published, winnow_hashes(body, 3) AS hashes FROM docs")
        for options, order in (("threshold => 0.7", "id"),
                               ("threshold => 0.9, order_by => 'published', keep => 'newest'", "published DESC, id"),
                               ("threshold => 1, keep => 'longest'",
                                "length((SELECT body FROM docs d WHERE d.id = s.id)) DESC, id")):
            share = float(options.split(",")[0].split()[-1])
            run(conn, "SELECT create_duplicates('dups', 'docs', 'id', 'body', measure => 'containment', %s)" % options,
                "CALL refresh_duplicates('dups')")
            order = [row[0] for row in conn.execute(
                "SELECT id FROM sets s ORDER BY cardinality(hashes) DESC NULLS LAST, %s" % order).fetchall()]
            near = {(a, b): x for a, b, x in conn.execute(
                "SELECT a.id, b.id, x FROM sets a JOIN sets b ON a.id <> b.id, LATERAL "
                    "(SELECT containment_exact(b.hashes, a.hashes)) c(x) WHERE x >= %s",
                (share,))}
            rank = {i: n for n, i in enumerate(order)}
            expected = anchors(order, [p for p in near if rank[p[0]] < rank[p[1]]])
            found = conn.execute("SELECT id, representative, similarity, survivor FROM dups").fetchall()
            unsigned = {row[0] for row in conn.execute("SELECT id FROM docs WHERE body IS NULL").fetchall()}
            equal("a job of containment is by definition: %s" % options, sorted(found),
                  sorted((i, r, None if i in unsigned else 1.0 if r == i else near[r, i],
                          r == i) for i, r in expected.items()))
            check("and joins rows", sum(not survivor for *_, survivor in found) > 20)
            conn.execute("SELECT drop_duplicates('dups')")
        conn.execute("DROP TABLE docs, sets")


def sets_change(name):
    """A column of sets gets another type and another measure; a NULL element is refused where it stands, and nothing is
    lost by it."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text") + "; ALTER TABLE docs ADD hashes int[], ADD sig minhash")
        rng = random.Random(41)
        texts, ids = Replies(rng), []
        change(conn, rng, texts, 200, ids)
        conn.execute("UPDATE docs SET hashes = ARRAY(SELECT h::bit(64)::bit(32)::int "
                     "FROM unnest(winnow_hashes(body, 2)) h) || '{1, 1}'::int[], sig = to_minhash(body)")
        run(conn, "SELECT create_duplicates('dups', 'docs', 'id', signature => 'hashes', measure => 'jaccard', "
            "threshold => 0.5)", "CALL refresh_duplicates('dups')")
        equal("sets of int", table(conn, "dups"),
              from_scratch(conn, "signature => 'hashes', measure => 'jaccard', threshold => 0.5"))
        signed = "SELECT id, generation, signature FROM dups_signatures ORDER BY id"
        before = conn.execute(signed).fetchall()
        contained = "signature => 'hashes', measure => 'containment', threshold => 0.5"
        run(conn, "SELECT alter_duplicates('dups', measure => 'containment')", "CALL refresh_duplicates('dups')")
        equal("another measure", table(conn, "dups"), from_scratch(conn, contained))
        equal("keeps the sets", conn.execute(signed).fetchall(), before)
        run(conn, "SELECT alter_duplicates('dups', measure => 'dice')", "CALL refresh_duplicates('dups')")
        equal("the Dice coefficient", table(conn, "dups"), from_scratch(
            conn, "signature => 'hashes', measure => 'dice', threshold => 0.5"))
        run(conn, "SELECT alter_duplicates('dups', measure => 'containment')", "CALL refresh_duplicates('dups')")
        run(conn, "ALTER TABLE docs ALTER hashes TYPE bigint[] USING hashes", "CALL refresh_duplicates('dups')")
        equal("another type", (conn.execute(signed).fetchall(), table(conn, "dups")),
              (before, from_scratch(conn, contained)))
        victim = max(ids)
        conn.execute("UPDATE docs SET hashes = hashes || NULL::bigint WHERE id = %s", (victim,))
        fails("a NULL element", conn, "CALL refresh_duplicates('dups', batch => 10)", state="22004",
              hint="array_remove(hashes, NULL)",
              text='the set in column "hashes" of public.docs has a NULL element in the row with id %d' % victim)
        conn.execute("UPDATE docs SET hashes = array_remove(hashes, NULL) WHERE id = %s", (victim,))
        conn.execute("UPDATE docs SET hashes = '{}' WHERE id = %s", (min(ids),))
        conn.execute("CALL refresh_duplicates('dups')")
        equal("is removed, and a set emptied", table(conn, "dups"), from_scratch(conn, contained))
        equal(
            "an empty set is a copy of nothing, and nothing of it",
            conn.execute("SELECT representative, similarity, survivor FROM dups WHERE id = %s", (min(ids),)).fetchone(),
            (min(ids), 1, True))
        fails("a measure cannot be taken from sets", conn, "SELECT alter_duplicates('dups', measure => '')",
              text='column "hashes" is bigint[], a set: measure is missing', state="22023")
        fails("nor a set from the measure", conn, "SELECT alter_duplicates('dups', signature => 'sig')",
              text='measure => \'containment\' is for sets: column "sig" is public.minhash', state="42804")
        run(conn, "SELECT alter_duplicates('dups', signature => 'sig', measure => '')",
            "CALL refresh_duplicates('dups')")
        equal("both can be changed at once", table(conn, "dups"),
              from_scratch(conn, "signature => 'sig', threshold => 0.5"))
        run(conn, "SELECT alter_duplicates('dups', signature => 'hashes', measure => 'containment')",
            "CALL refresh_duplicates('dups', rebuild => true)")
        equal("and back", table(conn, "dups"), from_scratch(conn, contained))
        equal("a changed result is seen",
              (conn.execute("UPDATE dups SET similarity = 0 WHERE id = %s", (min(ids),)).rowcount,
               conn.execute("SELECT * FROM check_duplicates('dups')").fetchall()),
              (1, [(str(min(ids)), "similarity", "0", "1")]))
        conn.execute("CALL refresh_duplicates('dups')")
        equal("and mended", conn.execute("SELECT * FROM check_duplicates('dups')").fetchall(), [])
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def types_change(name):
    """The types of the source's columns change under a job: its tables follow, or it is said why they cannot."""
    with connect(name) as conn:
        conn.prepare_threshold = None
        conn.execute(SCHEMA % ("int", "text") + "; ALTER TABLE docs ALTER tenant TYPE varchar(3); "
                     "ALTER TABLE docs ADD rank varchar(3); CREATE DOMAIN place AS int NOT NULL")
        rng = random.Random(31)
        texts, ids = Texts(rng), []
        change(conn, rng, texts, 200, ids)
        options = (
            "body => 'body', within => '{tenant}', order_by => 'rank', at => 'published', at_most_apart => '7 days'")
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', %s)" % options)
        conn.execute("CALL refresh_duplicates('dups')")
        rows = []
        other = 'en-x-icu' if one(conn, "SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'") else 'POSIX'
        for alter in ("ALTER id TYPE bigint", "ALTER tenant TYPE varchar(9) USING 'tenant ' || tenant",
                      "ALTER rank TYPE int USING id % 3", "ALTER rank TYPE place",
                      "ALTER rank TYPE text USING 'place ' || rank", "ALTER rank TYPE place USING id % 3",
                      "ALTER rank TYPE int USING NULL", "ALTER rank TYPE place USING id % 2",
                      "ALTER published TYPE date", "ALTER id TYPE text USING 10000000000 + id",
                      "ALTER tenant TYPE text", 'ALTER id TYPE text COLLATE "C"',
                      'ALTER id TYPE text COLLATE "%s", ALTER tenant TYPE text COLLATE "C"' % other,
                      "ALTER id TYPE numeric(20) USING id::numeric", "ALTER body TYPE bytea USING body::bytea"):
            conn.execute("ALTER TABLE docs " + alter)
            if alter == "ALTER id TYPE bigint":
                conn.execute("INSERT INTO docs (id, body, tenant) "
                             "VALUES (5000000000, 'a text with an id that has come late', '1')")
            conn.execute("CALL refresh_duplicates('dups')")
            rows.append((alter, table(conn, "dups"), from_scratch(conn, options)))
        equal_all("types change", rows)
        conn.execute("CREATE VIEW looks AS SELECT id FROM dups; ALTER TABLE docs ALTER id TYPE bigint")
        fails("a view keeps the type", conn, "CALL refresh_duplicates('dups')",
              text='"id" of public.docs was numeric(20,0) and is bigint, and the tables of the job cannot follow: '
              'cannot alter type', hint="create it again")
        conn.execute("DROP VIEW looks")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("until it is dropped", table(conn, "dups"), from_scratch(conn, options))
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def unusual_jobs(name):
    """Publications, columns that are signed anew, ids that are unique only among the rows of a job, domains, search
    paths."""
    with connect(name) as conn:
        conn.prepare_threshold = None
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(37)
        texts, ids = Texts(rng), []
        change(conn, rng, texts, 100, ids)
        conn.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        run(conn, "SELECT create_duplicates('dups', 'docs', 'id', 'body', verify => 'jaccard')",
            "CALL refresh_duplicates('dups')", "SELECT pause_duplicates('dups'), pause_duplicates('dups', false)",
            "SELECT alter_duplicates('dups', threshold => 0.85)", "CALL refresh_duplicates('dups')")
        equal("where all tables are published", table(conn, "dups"),
              from_scratch(conn, "body => 'body', verify => 'jaccard', threshold => 0.85"))
        conn.execute("DROP PUBLICATION everything")
        # The text that clustering saw may have been another, which is gone by now.
        run(conn, "UPDATE docs SET body = body WHERE id = (SELECT min(id) FROM docs WHERE body IS NOT NULL)",
            "CALL refresh_duplicates('dups')")
        check("verified, a row that was written again is clustered again",
              one(conn, "SELECT clustered_rows FROM dups_job") > 0)
        conn.execute("SELECT drop_duplicates('dups')")

        conn.execute("ALTER TABLE docs ADD sig minhash; UPDATE docs SET sig = to_minhash(body); "
                     "SELECT create_duplicates('dups', 'docs', 'id', signature => 'sig')")
        run(conn, "CALL refresh_duplicates('dups')", "UPDATE docs SET sig = to_minhash(body, num_perm => 64)",
            "DELETE FROM docs WHERE id = (SELECT max(id) FROM docs)", "CALL refresh_duplicates('dups')")
        equal("signed anew, and a row has gone", table(conn, "dups"), from_scratch(conn, "signature => 'sig'"))
        conn.execute("SELECT drop_duplicates('dups')")

        conn.execute(
            "CREATE TABLE versions (id bigint, version int, cur boolean, body text, PRIMARY KEY (id, version)); "
            "INSERT INTO versions SELECT id, v, v = 2, body || ' version ' || v FROM docs, generate_series(1, 2) v")
        rows = []
        for verify in ("NULL", "'jaccard'"):
            run(conn,
                "SELECT create_duplicates('dups', 'versions', 'id', 'body', filter => 'cur', verify => %s)" % verify,
                "CALL refresh_duplicates('dups')")
            rows.append(("ids that are unique among the current rows, verify => %s" % verify,
                         one(conn, "SELECT count(*) FROM dups"), one(conn, "SELECT count(*) FROM docs")))
            conn.execute("SELECT drop_duplicates('dups')")
        conn.execute("CREATE DOMAIN pid AS bigint NOT NULL; CREATE DOMAIN tid_of AS text NOT NULL")
        for domain in ("pid", "tid_of"):
            run(conn, "CREATE TABLE named AS SELECT id::text::%s AS id, body FROM docs" % domain,
                "SELECT create_duplicates('dups', 'named', 'id', 'body')", "CALL refresh_duplicates('dups')",
                "DELETE FROM named WHERE id::text LIKE '%1'", "CALL refresh_duplicates('dups')")
            rows.append(("ids of a domain that is NOT NULL: %s" % domain, one(conn, "SELECT count(*) FROM dups"),
                         one(conn, "SELECT count(*) FROM named")))
            conn.execute("SELECT drop_duplicates('dups'); DROP TABLE named")
        # Ids that take all dimensions that an array may have.
        conn.execute("CREATE TABLE named AS SELECT array_fill(id::text, '{1,1,1,1,1,1}') AS id, body FROM docs")
        run(conn, "SELECT create_duplicates('dups', 'named', 'id', 'body')", "CALL refresh_duplicates('dups')",
            "UPDATE named SET body = body || ' more' WHERE id = (SELECT min(id) FROM named)",
            "CALL refresh_duplicates('dups')")
        rows.append(
            ("ids of six dimensions", table(conn, "dups"), from_scratch(conn, "body => 'body'", source="named")))
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE named")
        equal_all("ids", rows)

        # A signature has 4096 components: an index below the threshold would have too many bands, and one at 0.5, too.
        conn.execute("CREATE TABLE named AS SELECT id, to_minhash(body, num_perm => 4096) AS sig FROM docs")
        for bound, indexes in ((0.8, 1), (0.63, 1), (0.5, 0)):
            options = "signature => 'sig', threshold => %s" % bound
            run(conn, "SELECT create_duplicates('dups', 'named', 'id', %s)" % options,
                "CALL refresh_duplicates('dups')", "DELETE FROM named WHERE id = (SELECT min(id) FROM named)",
                "CALL refresh_duplicates('dups')")
            equal("long signatures, threshold %s" % bound,
                  (one(conn, "SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a "
                             "ON a.oid = relam WHERE indrelid = 'dups_signatures'::regclass AND amname = 'lsh'"),
                   table(conn, "dups")),
                  (indexes, from_scratch(conn, options, source="named")))
            conn.execute("SELECT drop_duplicates('dups')")
        conn.execute("DROP TABLE named")

        conn.execute(
            "CREATE SCHEMA theirs; SELECT create_profile('theirs.prof', k => 2); SET search_path = public, theirs; "
            "SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'prof')")
        run(conn, "RESET search_path", "CALL refresh_duplicates('dups')")
        equal("a profile is found by another search_path",
              (one(conn, "SELECT profile FROM dups_job"), table(conn, "dups")),
              ("theirs.prof", from_scratch(conn, "body => 'body', profile => 'theirs.prof'")))
        conn.execute("SELECT drop_duplicates('dups')")

        # Families of many near rows: each of them finds all others.
        conn.execute("CREATE TABLE family AS SELECT i AS id, CASE WHEN i <= 700 THEN (SELECT string_agg('w' || j, ' ') "
                     "FROM generate_series(1, 60) j) || ' number ' || i ELSE md5(i::text) END AS body "
                     "FROM generate_series(1, 8000) i; SELECT create_duplicates('dups', 'family', 'id', 'body')")
        run(conn, "CALL refresh_duplicates('dups')",
            "INSERT INTO family SELECT 9000, body || ' again' FROM family WHERE id = 7",
            "CALL refresh_duplicates('dups')")
        equal("a new one of a large family joins its representative: these two are clustered",
              conn.execute("SELECT clustered_rows, (SELECT max(n) FROM (SELECT count(*) AS n FROM dups "
                           "GROUP BY cluster) c) FROM dups_job").fetchone(), (2, 701))
        run(conn, "DELETE FROM family WHERE id = 1", "CALL refresh_duplicates('dups')")
        equal("the representative of a large family goes: all are clustered, which is quicker",
              one(conn, "SELECT clustered_rows FROM dups_job"), 8000)
        run(conn, "INSERT INTO family VALUES (9001, md5('1000'))", "CALL refresh_duplicates('dups')")
        check("of a small one, few", one(conn, "SELECT clustered_rows FROM dups_job") < 10)
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs, versions, family; DROP SCHEMA theirs CASCADE; "
                     "DROP DOMAIN pid, tid_of")


def make_chain(length, rng):
    """Values of 64 bits: each differs in 5 bits from the next, and in more than 6 from all others."""
    chain = [rng.getrandbits(64)]
    while len(chain) < length:
        value = chain[-1]
        for bit in rng.sample(range(64), 5):
            value ^= 1 << bit
        if all(bin(value ^ other).count("1") > 6 for other in chain[:-1]):
            chain.append(value)
    return chain


def few_of_many(name):
    """A change that moves along a chain of near rows, and nearly a tenth of all rows changed: the others are not
    clustered again."""
    with connect(name) as conn:
        rng = random.Random(64)
        chain = make_chain(200, rng)
        conn.execute("CREATE TABLE docs (id int PRIMARY KEY, sig simhash)")
        values = chain + [rng.getrandbits(64) for _ in range(3800)]
        conn.execute("INSERT INTO docs SELECT n, v::bit(64)::simhash FROM unnest(%s::text[]) WITH ORDINALITY u(v, n)",
                     (["{:064b}".format(v) for v in values],))
        options = "signature => 'sig', threshold => 0.9"
        run(conn, "SELECT create_duplicates('dups', 'docs', 'id', %s)" % options, "CALL refresh_duplicates('dups')")
        pairs = conn.execute("SELECT count(*), bool_and(id % 2 = 0 AND representative = id - 1) FROM dups "
                             "WHERE NOT survivor AND id <= 200").fetchone()
        equal("in a chain each second row joins the one before it", pairs, (100, True))
        run(conn, "DELETE FROM docs WHERE id = 1", "CALL refresh_duplicates('dups')")
        equal("its first row goes: all of the chain is clustered again, and no other row",
              conn.execute(
                  "SELECT clustered_rows, (SELECT count(*) FROM dups WHERE NOT survivor AND id % 2 = 1 "
                  "AND representative = id - 1) FROM dups_job").fetchone(), (199, 99))
        equal("as from scratch", table(conn, "dups"), from_scratch(conn, options))
        run(conn, "UPDATE docs SET sig = ((~ sig::bigint)::simhash) WHERE id % 11 = 5 AND id > 200",
            "CALL refresh_duplicates('dups')")
        changed, clustered = conn.execute("SELECT changed, clustered_rows FROM dups_job").fetchone()
        check("of 9 % that have changed, a tenth of all rows is clustered", 340 < changed <= clustered < 420,
              (changed, clustered))
        equal("and that as from scratch", table(conn, "dups"), from_scratch(conn, options))
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def longest_names(name):
    """52 bytes: each table and the index have names of their own, whatever PostgreSQL makes of longer ones."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(29)
        texts, ids = Texts(rng), []
        change(conn, rng, texts, 200, ids)
        index = ("SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam "
                 "WHERE indrelid = to_regclass(%s || '_signatures') AND amname = 'lsh'")
        rows = []
        for job, other in (("n" * 52, "m" * 52), ("\u00e4" * 26, "dups"), ("dups", "\u00fc" * 26)):
            conn.execute("SELECT create_duplicates(%s, 'docs', 'id', 'body')", (job,))
            conn.execute("CALL refresh_duplicates(%s)", (job,))
            rows.append((job, one(conn, index, (job,)), 1))
            conn.execute("SELECT alter_duplicates(%s, threshold => 0.85)", (job,))
            rows.append((job + " altered", one(conn, index, (job,)), 0))
            conn.execute("CALL refresh_duplicates(%s)", (job,))
            conn.execute("SELECT rename_duplicates(%s, %s)", (job, other))
            # the name is free for another
            conn.execute("SELECT create_duplicates(%s, 'docs', 'id', 'body')", (job,))
            conn.execute("CALL refresh_duplicates(%s)", (job,))
            change(conn, rng, texts, 3, ids)
            conn.execute("CALL refresh_duplicates(%s)", (other,))
            rows.append((other, (one(conn, index, (other,)), table(conn, other)),
                         (1, from_scratch(conn, "body => 'body', threshold => 0.85"))))
            conn.execute("SELECT drop_duplicates(%s), drop_duplicates(%s)", (job, other))
        equal_all("the longest names", rows)
        conn.execute("DROP TABLE docs")


def error_of_inside(conn, query):
    try:
        with conn.transaction():
            conn.execute(query)
    except psycopg.Error as e:
        return e


def bad_input(name):
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text") + "; ALTER TABLE docs ADD site point, ADD sig minhash, ADD hashes "
                     "bigint[], ADD names text[]")
        conn.execute("CREATE TABLE other (id bigint, p point, b bytea)")
        create = "SELECT create_duplicates('dups', 'docs', 'id', %s)"
        for options, text, state in (
                ("'body', threshold => 80", "threshold must be above 0 and at most 1: 80", "22023"),
                ("'body', threshold => 'nan'", "threshold must be above 0", "22023"),
                ("'nobody'", 'column "nobody" of public.docs does not exist', "42703"),
                ("'tenant'", 'body column "tenant" is integer', "42804"),
                ("'body', signature => 'body'", "exactly one of body and signature", "22023"),
                ("signature => 'body'", 'column "body" is text, not a signature', "42804"),
                ("'body', linkage => 'single'", "linkage must be", "22023"),
                ("'body', keep => 'latest'", "keep must be", "22023"),
                ("'body', keep => 'longest', order_by => 'published'", "order_by is for keep => 'oldest'", "22023"),
                ("'body', verify => 'hash'", "verify must be", "22023"),
                ("'body', profile => 'simhash', verify => 'jaccard'", "needs verify_threshold", "22023"),
                ("'body', at => 'published'", "at and at_most_apart must be given together", "22023"),
                ("'body', at => 'tenant', at_most_apart => '1 day'", "no timestamp or date", "42804"),
                ("'body', profile => 'none such'", 'there is no profile "none such"', "42704"),
                ("'body', filter => 'tenant'", "filter must be a condition", "42804"),
                ("'body', filter => 'random() < 0.5'", "volatile", "22023"),
                ("'body', filter => 'id in (select 1)'", "subquery", "0A000"),
                ("'body', filter => 'true) or (true'", "syntax error", "42601"),
                ("'body', filter => 'true from other'", "not a single expression", "42601"),
                ("'body', filter => '*'", 'not a single expression: "*"', "42601"),
                ("'body', order_by => '*'", 'not a single expression: "*"', "42601"),
                ("'body', order_by => 'published DESC'", 'not an expression alone: "published DESC"', "42601"),
                ("'body', at => 'published', at_most_apart => '-1 day'", "at_most_apart must not be negative: -1 days",
                 "22023"),
                ("'body', verify => 'jaccard', verify_threshold => 80",
                 "verify_threshold must be above 0 and at most 1: 80", "22023"),
                ("'body', order_by => 'to_json(id)'", "order_by => 'to_json(id)' is json, which has no order", "42804"),
                ("'body', within => '{site}'", 'within column "site" is point, which has no order', "42804"),
                ("'body', order_by => 'max(id)'", "aggregate", "42803"),
                ("'body', order_by => 'missing'", "does not exist", "42703"),
                ("'body', measure => 'cosine'", "measure => 'cosine' needs signature => .., a column of sets", "22023"),
                ("'body', measure => 'overlap'",
                 "measure must be 'jaccard', 'containment', 'dice' or 'cosine': 'overlap'", "22023"),
                ("'body', measure => 'jaccard'", "measure => 'jaccard' needs signature", "22023"),
                ("'body', measure => 'containment', profile => 'ctph'",
                 "measure => 'containment' needs shingles: profile \"ctph\" makes ctph digests", "22023"),
                ("'body', measure => 'containment', verify => 'jaccard'",
                 "verify is for signatures: measure => 'containment' compares sets", "22023"),
                ("'body', measure => 'containment', threshold => 1.1", "threshold must be above 0 and at most 1: 1.1",
                 "22023"),
                ("'body', measure => 'containment', threshold => 0", "threshold must be above 0 and at most 1: 0",
                 "22023"),
                ("signature => 'sig', measure => 'containment'",
                 "measure => 'containment' is for sets: column \"sig\" is public.minhash", "42804"),
                ("signature => 'names', measure => 'containment'",
                 "measure => 'containment' is for sets: column \"names\" is text[]", "42804"),
                ("signature => 'hashes'", "column \"hashes\" is bigint[], a set: measure is missing", "22023"),
                ("signature => 'hashes', measure => 'containment', keep => 'longest'", "keep => 'longest' needs body",
                 "22023")):
            fails("create_duplicates: %s" % options, conn, create % options, text=text, state=state)
        fails("no source", conn, "SELECT create_duplicates('dups', NULL, 'id', 'body')",
              text="source and id must not be NULL", state="22004")
        fails("a name that is too long", conn, "SELECT create_duplicates(repeat('x', 53), 'docs', 'id', 'body')",
              text="at most 52 bytes", state="42622")
        fails("an id without an order", conn, "SELECT create_duplicates('dups', 'other', 'p', signature => 'id')",
              text="not a signature")
        fails("no such job", conn, "CALL refresh_duplicates('docs')", text='there is no table of duplicates "docs"',
              state="42P01")
        fails("a batch of nothing", conn, "CALL refresh_duplicates('docs', 0)", text="batch must be at least 1: 0")
        fails("a negative time", conn, "CALL refresh_duplicates('docs', time_limit => '-1 s')",
              text="time_limit must not be negative: -00:00:01", state="22023")
        for call, text in (("create_profile('p', k => 100)", "k must be"),
                           ("create_profile('p', unit => 'page')", "unit"),
                           ("create_profile('default')", "is built in"),
                           ("alter_profile('web', k => 2)", "is built in"),
                           ("create_profile(NULL)", "name must not be NULL"),
                           ("create_profile('p', encoding => 'klingon')", "unknown encoding: klingon"),
                           ("create_profile('p', base => 'simhash', signature => 'minhash')",
                            "num_perm, bits and seed of a profile of minhash signatures must not be NULL"),
                           ("create_profile('p', base => 'ctph', signature => 'simhash', encoding => 'detect')",
                            "unit and k of a profile of simhash signatures"),
                           ("create_duplicates('dups', 'other', 'id', 'b', profile => 'ctph', keep => 'best')",
                            "keep => 'best' is for text"),
                           ("create_profile('p', script => 'klingon')", "script must be"),
                           ("create_profile('p', min_length => -1)", "min_length")):
            fails(call, conn, "SELECT %s" % call, text=text)
        equal("nothing was made",
              one(conn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'dups%' OR relname = 'p'"), 0)
        conn.execute("INSERT INTO other VALUES (1), (1)")
        conn.execute("ALTER TABLE other ADD body text DEFAULT 'some words here'")
        conn.execute("SELECT create_duplicates('dups', 'other', 'id', 'body')")
        fails("ids that are not unique", conn, "CALL refresh_duplicates('dups')",
              text='the column "id" of public.other is not unique', state="21000",
              hint="SELECT id FROM public.other GROUP BY id HAVING count(*) > 1 returns the values that several "
                  "rows have.")
        conn.execute("TRUNCATE other; INSERT INTO other VALUES (1), (NULL)")
        fails("an id that is NULL", conn, "CALL refresh_duplicates('dups')",
              text='the column "id" of public.other is NULL in a row', state="22004", hint="filter => 'id IS NOT NULL'")
        conn.execute("SELECT alter_duplicates('dups', filter => 'id IS NOT NULL')")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("is left out by a filter", one(conn, "SELECT array_agg(id) FROM dups"), [1])
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE other, docs")


def rights(name):
    """Definer's rights nowhere: a job sees what its caller sees."""
    with connect(name) as conn:
        conn.execute("DROP ROLE IF EXISTS neardup_t_owner, neardup_t_reader; CREATE ROLE neardup_t_owner; "
                     "CREATE ROLE neardup_t_reader")
        try:
            conn.execute(SCHEMA % ("bigint", "text"))
            conn.execute(
                "INSERT INTO docs SELECT i, 'the same words in every row', i % 2 FROM generate_series(1, 10) i")
            conn.execute(
                "CREATE SCHEMA own AUTHORIZATION neardup_t_owner; GRANT USAGE ON SCHEMA own TO neardup_t_reader")
            conn.execute("SET ROLE neardup_t_owner; SET search_path = own, public")
            conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
            fails("without SELECT on the source", conn, "CALL refresh_duplicates('dups')", state="42501")
            conn.execute("SELECT drop_duplicates('dups')")
            conn.execute(
                "RESET ROLE; GRANT SELECT ON docs TO neardup_t_owner; ALTER TABLE docs ENABLE ROW LEVEL SECURITY;"
                "CREATE POLICY p ON docs TO neardup_t_owner USING (tenant = 1); SET ROLE neardup_t_owner")
            conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
            conn.execute("CALL refresh_duplicates('dups')")
            equal("rows that a policy hides stay hidden", one(conn, "SELECT array_agg(id ORDER BY id) FROM dups"),
                  [1, 3, 5, 7, 9])
            equal("what is made is the caller's",
                  one(conn, "SELECT string_agg(DISTINCT relowner::regrole::text, ',') FROM pg_class "
                            "WHERE relname LIKE 'dups%'"),
                  "neardup_t_owner")
            conn.execute("RESET ROLE; SET ROLE neardup_t_reader")
            with connect(name) as other:
                other.execute("CREATE TEMP TABLE t AS SELECT 1 AS id, 'a few words'::text AS body; "
                              "SELECT create_duplicates('pg_temp.temps', 't', 'id', 'body')")
                other.execute("CALL refresh_duplicates('pg_temp.temps')")
                equal("a job over a temporary table",
                      one(other, "SELECT phase FROM duplicates_status WHERE job = 'temps'"), "idle")
                with connect(name) as third:
                    equal("is for its session", third.execute("SELECT job::text FROM duplicates_status").fetchall(),
                          [("own.dups",)])
            conn.execute("SET ROLE neardup_t_owner; REVOKE USAGE ON SCHEMA own FROM neardup_t_reader; "
                         "GRANT SELECT ON own.dups_job TO neardup_t_reader; SET ROLE neardup_t_reader")
            equal("nor one in a schema that they may not use", one(conn, "SELECT count(*) FROM duplicates_status"), 0)
            conn.execute("SET ROLE neardup_t_owner; GRANT USAGE ON SCHEMA own TO neardup_t_reader; "
                         "REVOKE SELECT ON own.dups_job FROM neardup_t_reader; SET ROLE neardup_t_reader")
            fails("nor keep refreshes away", conn, "SELECT neardup_internal.neardup_lock_job('own.dups_job')",
                  state="42501", text="permission denied for table dups_job")
            with connect(name) as other:
                other.execute("BEGIN; LOCK TABLE own.dups_job; SET LOCAL idle_in_transaction_session_timeout = '1min'")
                conn.execute("SET lock_timeout = '2s'")
                fails("nor wait for the job to be free", conn, "SELECT drop_duplicates('own.dups')", state="42501",
                      text="permission denied for table dups_job")
                conn.execute("RESET lock_timeout")
                other.execute("ROLLBACK")
            # A function named in a profile, or in a view that gives its rules, does not run with the rights of others.
            conn.execute(
                "SET ROLE neardup_t_owner; CREATE TABLE own.ran (who name); GRANT INSERT ON own.ran TO public; "
                "CREATE FUNCTION own.evil(text) RETURNS text LANGUAGE sql AS "
                "'INSERT INTO own.ran VALUES (current_user) RETURNING $1'; SELECT create_profile('own.prof'); "
                "CREATE VIEW own.rules AS SELECT own.evil('n') AS name, 'line'::text AS kind, "
                "'a+'::text AS pattern, NULL::text AS replacement, 1 AS position; "
                "UPDATE own.prof SET script = 'simplified(own.evil(''x'')) || public.neardup_to_traditional'")
            conn.execute("RESET ROLE; SELECT create_duplicates('mine', 'docs', 'id', 'body', profile => 'own.prof')")
            fails("a script is one of three", conn, "CALL refresh_duplicates('mine')", state="22023",
                  text="script must be")
            conn.execute("UPDATE own.prof SET script = 'keep', rules = 'own.rules'")
            fails("rules are a table", conn, "CALL refresh_duplicates('mine')", state="42809",
                  text='the rules "own.rules" are no plain table')
            conn.execute(
                "SET ROLE neardup_t_owner; UPDATE own.prof SET rules = 'default'; "
                "CREATE FUNCTION own.watch() RETURNS bool LANGUAGE plpgsql AS "
                "'BEGIN INSERT INTO own.ran VALUES (current_user); RETURN true; END'; "
                "ALTER TABLE own.prof ENABLE ROW LEVEL SECURITY; "
                "CREATE POLICY w ON own.prof USING (own.watch()); GRANT SELECT ON own.prof TO neardup_t_reader; "
                "GRANT EXECUTE ON FUNCTION own.watch() TO public; "
                "RESET ROLE; GRANT SELECT ON docs TO neardup_t_reader; "
                "GRANT CREATE ON SCHEMA own TO neardup_t_reader; SET ROLE neardup_t_reader")
            fails("a policy on another role's profile", conn,
                  "SELECT create_duplicates('own.theirs', 'docs', 'id', 'body', profile => 'own.prof')",
                  text='profile "own.prof" of another role has row security', state="42501")
            conn.execute(
                "RESET ROLE; REVOKE CREATE ON SCHEMA own FROM neardup_t_reader; "
                "REVOKE SELECT ON docs FROM neardup_t_reader; DROP POLICY w ON own.prof; DROP FUNCTION own.watch()")
            equal("nothing of another role's profile ran", conn.execute("SELECT who FROM own.ran").fetchall(), [])
            conn.execute("SELECT drop_duplicates('mine'); DROP VIEW own.rules; DROP FUNCTION own.evil(text); "
                         "DROP TABLE own.ran; SET ROLE neardup_t_reader")
            equal("others see no job", one(conn, "SELECT count(*) FROM duplicates_status"), 0)
            fails("nor refresh it", conn, "CALL refresh_duplicates('own.dups')", state="42501")
            conn.execute("RESET ROLE; GRANT SELECT ON docs TO neardup_t_reader; "
                         "GRANT SELECT, INSERT, UPDATE, DELETE ON own.dups, own.dups_signatures, own.dups_changes, "
                         "own.dups_job TO neardup_t_reader;CREATE POLICY q ON docs TO neardup_t_reader "
                         "USING (tenant = 1); SET ROLE neardup_t_owner; "
                         "SELECT alter_duplicates('own.dups', threshold => 0.9); SET ROLE neardup_t_reader")
            before = one(conn, "SELECT count(*) FROM own.dups")
            for call in ("CALL refresh_duplicates('own.dups')", "SELECT pause_duplicates('own.dups')",
                         "SELECT alter_duplicates('own.dups', threshold => 0.8)"):
                fails("who may write its tables does not work on the job of another role: " + call, conn, call,
                      text="job own.dups belongs to another role", state="42501", hint="SET ROLE")
                conn.execute("RESET ROLE")
                fails("nor does a superuser: " + call, conn, call, text="job own.dups belongs to another role",
                      state="42501", hint="SET ROLE neardup_t_owner")
                conn.execute("SET ROLE neardup_t_reader")
            equal("its result is read", one(conn, "SELECT count(*) FROM own.dups"), before)
            run(conn, "SET ROLE neardup_t_owner", "CALL refresh_duplicates('own.dups')")
            conn.execute("RESET ROLE; SELECT create_duplicates('kept', 'docs', 'id', 'body'); "
                         "GRANT SELECT, INSERT, UPDATE, DELETE ON kept, kept_signatures, kept_changes, kept_job TO "
                         "neardup_t_reader")
            run(conn, "CALL refresh_duplicates('kept')", "SET ROLE neardup_t_reader")
            fails("nor on that of a superuser", conn, "CALL refresh_duplicates('kept')",
                  text="job own.kept belongs to another role", state="42501")
            conn.execute("RESET ROLE; SELECT drop_duplicates('kept')")
        finally:
            conn.execute("RESET ROLE; RESET search_path; DROP TABLE docs CASCADE; DROP SCHEMA own CASCADE; "
                         "DROP ROLE neardup_t_owner, neardup_t_reader")


# An operator or a function for whatever has none that fits exactly in pg_catalog: it
# would be taken before those that fit by a cast.
PUT_BEFORE = """CREATE SCHEMA put; DO $do$
DECLARE
  n int := 0; o text; a text; b text; f text;
  types text[] := '{oid,regclass,regtype,int4,int8,float8,numeric,name,text,"char",name[],text[]}';
BEGIN
  FOREACH o IN ARRAY '{=,<>,<,>,<=,>=,||,&&,+,-,*,/}'::text[] LOOP
    FOREACH a IN ARRAY types LOOP
      FOREACH b IN ARRAY types LOOP
        CONTINUE WHEN to_regoperator(format('pg_catalog.%s(%s,%s)', o, a, b)) IS NOT NULL;
        n := n + 1;
        EXECUTE format('CREATE FUNCTION put.o%s(%s, %s) RETURNS boolean LANGUAGE plpgsql '
          'AS $f$ BEGIN RAISE EXCEPTION %L; END $f$', n, a, b, 'put before: ' || o || ' ' || a || ' ' || b);
        EXECUTE format('CREATE OPERATOR put.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = put.o%s)', o, a, b, n);
      END LOOP;
    END LOOP;
  END LOOP;
  FOREACH f IN ARRAY
    '{quote_ident(name),left(name\\,int4),unnest(text[]),unnest(name[]),num_nonnulls(name\\,name),
      format_type(oid\\,text),array_to_string(text[]\\,text),array_cat(text[]\\,text[]),array_length(text[]\\,int4),
      array_length(name[]\\,int4),octet_length(name),generate_subscripts(text[]\\,int4),pg_typeof(int8),
      pg_typeof(text)}'::text[] LOOP
    EXECUTE format('CREATE FUNCTION put.%s RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION %L; END $f$', f,
      CASE WHEN f LIKE 'unnest%%' THEN 'SETOF text' ELSE 'text' END, 'put before: ' || f);
  END LOOP;
END $do$"""


def put_before(name):
    """Objects that others put into a schema of the search_path do not run with the rights of the role that uses a job,
    or looks at the status."""
    with connect(name) as conn:
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(23)
        texts, ids = Texts(rng), []
        change(conn, rng, texts, 200, ids)
        conn.execute(PUT_BEFORE)
        try:
            for options in ("'body'", "'body', keep => 'longest', within => '{tenant}', at => 'published', "
                                          "at_most_apart => '7 days'",
                            "'body', keep => 'best', verify => 'jaccard', filter => 'not gone', deleted => 'gone'",
                            "'body', profile => 'put_web', linkage => 'connected'",
                            "'body', profile => 'ctph', threshold => 0.9"):
                conn.execute("SET search_path = public, put; DROP TABLE IF EXISTS put_web; "
                             "SELECT create_profile('put_web', base => 'web', k => 4)")
                e = None
                for step in ("SELECT create_duplicates('dups', 'docs', 'id', %s)" % options,
                             "CALL refresh_duplicates('dups')", "SELECT alter_profile('put_web', k => 5)",
                             "UPDATE docs SET body = body || 'more' WHERE id OPERATOR(pg_catalog.<) 4",
                             "CALL refresh_duplicates('dups')", "SELECT * FROM duplicates_status",
                             "SELECT alter_duplicates('dups', threshold => 0.95), rename_duplicates('dups', 'd'), "
                             "pause_duplicates('d', false)", "CALL refresh_duplicates('d')",
                             "SELECT drop_duplicates('d')", "SELECT neardup_s_curve(0.8)"):
                    e = e or sql_error(conn, step)
                check("nothing put before runs: %s" % options, e is None, e)
            e = sql_error(conn, "SELECT * FROM neardup_suggest('SELECT id, body FROM docs')")
            check("nothing put before runs: neardup_suggest of a sample", e is None, e)
            e = sql_error(conn, "SELECT * FROM neardup_suggest('SELECT id, body FROM docs', 'SELECT min(id), max(id), "
                               "true FROM docs WHERE length(body) > 9')")
            check("nothing put before runs: neardup_suggest with labels", e is None or "put before" not in str(e), e)
        finally:
            conn.execute("RESET search_path; SET client_min_messages = warning; DROP SCHEMA put CASCADE; "
                         "RESET client_min_messages; DROP TABLE IF EXISTS docs, put_web CASCADE")


def sessions(name):
    """Two refreshes of one job exclude each other; changes go on while a refresh runs; others watch it; a cancelled one
    leaves no lock."""
    with connect(name) as conn, connect(name) as other, connect(name) as watcher:
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(11)
        texts, ids = Texts(rng), []
        change(conn, rng, texts, 3000, ids)
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
        seen, stop, errors = set(), threading.Event(), []

        def watch():
            try:
                while not stop.is_set():
                    for phase, pid in watcher.execute("SELECT phase, pid FROM duplicates_status WHERE job = 'dups'"):
                        seen.add((phase, pid is not None))
            except psycopg.Error as e:
                errors.append(e)

        def refresh():
            try:
                other.execute("CALL refresh_duplicates('dups', batch => 20)")
            except psycopg.Error as e:
                errors.append(e)
        watching = Thread(target=watch)
        running = Thread(target=refresh)
        watching.start()
        running.start()
        while ("signing", True) not in seen and running.is_alive():
            time.sleep(0.001)
        e = sql_error(conn, "CALL refresh_duplicates('dups')")
        if e is None:  # the first one has ended: its thread is about to
            running.join(1)
        check("a second refresh is refused",
              e is None and not running.is_alive() or e is not None and e.sqlstate == "55P03", e)
        for call in ("alter_duplicates('dups', threshold => 0.7)", "rename_duplicates('dups', 'other')",
                     "drop_duplicates('dups')"):
            e = sql_error(conn, "BEGIN; SELECT %s; ROLLBACK" % call)
            if e is None:
                running.join(1)
            check("meanwhile no %s" % call,
                  e is None and not running.is_alive() or e is not None and e.sqlstate == "55P03", e)
            conn.execute("ROLLBACK")
        while running.is_alive():
            change(conn, rng, texts, 3, ids)
        running.join()
        equal("changes do not disturb a refresh", errors, [])
        conn.execute("CALL refresh_duplicates('dups')")
        equal("and end in the next one's table", table(conn, "dups"), from_scratch(conn, "body => 'body'"))
        stop.set()
        watching.join()
        check("another session sees it at work", ("signing", True) in seen, seen)
        left = []
        for round_ in range(6):
            change(conn, rng, texts, 60, ids)
            running = Thread(target=refresh)
            running.start()
            time.sleep(rng.uniform(0, 0.2))
            conn.execute("SELECT pg_cancel_backend(%s)", (other.info.backend_pid,))
            running.join()
            left.append((round_, one(conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                                     "(SELECT oid FROM pg_database WHERE datname = current_database())"), 0))
        equal_all("a cancelled refresh leaves no lock", left)
        check("and is the only error", all(e.sqlstate == "57014" for e in errors), errors)
        conn.execute("CALL refresh_duplicates('dups')")
        equal("after cancels", table(conn, "dups"), from_scratch(conn, "body => 'body'"))
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def cancelled(name):
    """A job of containment that is cancelled at random points ends in the same table."""
    with connect(name) as conn, connect(name) as other:
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(43)
        texts, ids, errors, rows, options = (
            Replies(rng), [], [], [], "body => 'body', measure => 'containment', deleted => 'gone'")
        change(conn, rng, texts, 1000, ids)
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', %s)" % options)
        for round_ in range(24 if FULL else 8):
            running = Thread(
                target=lambda: errors.append(sql_error(other, "CALL refresh_duplicates('dups', batch => 20)")))
            running.start()
            time.sleep(rng.uniform(0, 0.3))
            conn.execute("SELECT pg_cancel_backend(%s)", (other.info.backend_pid,))
            running.join()
            if round_ % 3 == 2:
                conn.execute("CALL refresh_duplicates('dups')")
                rows.append((round_, table(conn, "dups"), from_scratch(conn, options)))
            change(conn, rng, texts, rng.choice((3, 60)), ids)
        equal_all("a job of containment after cancels", rows)
        check("of which some came while it ran",
              any(errors) and all(e is None or e.sqlstate == "57014" for e in errors), errors)
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs")


def at_once(name):
    """Another session makes, drops, renames or takes something away between a look at it and what follows."""
    role = "neardup_t_at_once"
    with connect(name) as first, connect(name) as second:
        first.execute(SCHEMA % ("bigint", "text"))
        create = "SELECT create_duplicates('dups', 'docs', 'id', 'body')"
        for end, before in (("COMMIT", ""), ("COMMIT", ""), ("COMMIT", HOLD_CATALOGS), ("ROLLBACK", "")):
            first.execute("BEGIN; " + create)
            e = error_behind(first, (end,), second, before + create)
            check("made by another session, %s: %s" % (end, before),
                  e and e.sqlstate == "42P07" and "relation public.dups_job exists already" in str(e) if end == "COMMIT"
                  else e is None, e)
            first.execute("SELECT drop_duplicates('dups')")
        first.execute("CREATE TYPE dups_job AS ENUM ('x')")
        fails("a type has the name", second, create, text='type "dups_job" already exists', state="42710")
        first.execute("DROP TYPE dups_job")

        first.execute("DROP ROLE IF EXISTS {0}; CREATE ROLE {0}".format(role))
        try:
            for schema in ("a", "b", "c"):
                first.execute("CREATE SCHEMA {0}; GRANT USAGE ON SCHEMA {0} TO {1}; ".format(schema, role)
                              + "; ".join(
                                  "SELECT create_duplicates('{0}.{1}', 'docs', 'id', 'body'); "
                                  "GRANT SELECT ON {0}.{1}_job TO {2}".format(schema, job, role) for job in ("x", "y")))
            second.execute("SET ROLE " + role)
            jobs = "SELECT array_agg(job::text ORDER BY job::text) FROM duplicates_status"
            equal("jobs that a role may read", one(second, jobs), ["a.x", "a.y", "b.x", "b.y", "c.x", "c.y"])
            # A table that another session has locked is left out, and not waited for.
            first.execute("BEGIN; DROP SCHEMA a CASCADE; REVOKE SELECT ON b.x_job FROM {0}; "
                          "REVOKE USAGE ON SCHEMA c FROM {0}".format(role))
            equal("jobs that are being taken away", one(second, jobs), ["b.x", "b.y", "c.x", "c.y"])
            first.execute("COMMIT")
            equal("jobs that are left", one(second, jobs), ["b.y"])
            first.execute("BEGIN; LOCK TABLE b.y_job")
            equal("a job that is locked", one(second, jobs), None)
            first.execute("ROLLBACK")
        finally:
            second.execute("RESET ROLE")
            first.execute("ROLLBACK; SET client_min_messages = warning; DROP SCHEMA IF EXISTS a, b, c CASCADE; "
                          "RESET client_min_messages; DROP OWNED BY {0}; DROP ROLE {0}; DROP TABLE docs".format(role))

    with database("_at_once") as name, connect(name) as first, connect(name) as second:
        first.execute(SCHEMA % ("bigint", "text"))
        drop, rename, alter = ("SELECT drop_duplicates('dups')", "SELECT rename_duplicates('dups', 'new')",
                               "SELECT alter_duplicates('dups', threshold => 0.7)")
        for call in (drop, rename, alter):
            for change, *between in (("dropped", drop), ("renamed", "SELECT rename_duplicates('dups', 'other')"),
                                     ("made anew", drop, create)):
                first.execute(create)
                second.execute("BEGIN; %s; ROLLBACK" % call)  # what it looks up later it has looked up before
                first.execute("BEGIN; LOCK TABLE dups_job")
                e = error_behind(first, between + ["COMMIT"], second, call)
                gone = e is not None and e.sqlstate == "42P01" and 'there is no table of duplicates "dups"' in str(e)
                left = one(first, "SELECT array_agg(job::text || (SELECT threshold "
                           "FROM neardup_internal.neardup_job_row((job || '_job')::regclass))) FROM duplicates_status")
                untouched = left == {"dropped": None, "renamed": ["other0.8"], "made anew": ["dups0.8"]}[change]
                # the new one may be seen, or not yet
                done = change == "made anew" and e is None and left == {
                    drop: None, rename: ["new0.8"], alter: ["dups0.7"]}[call]
                check("%s, meanwhile %s" % (call, change), gone and untouched or done, (e, left))
                for job in ("dups", "new", "other"):
                    sql_error(first, "SELECT drop_duplicates('%s')" % job)


def dumped(name):
    """Dumped and restored, a job goes on: nothing is signed anew."""
    jobs = {"dups": "body => 'body', profile => 'mine', within => '{tenant}'",
            "quoted": "body => 'body', measure => 'containment', within => '{tenant}'"}
    with connect(name) as conn, database("_restored", extension=False) as copy:
        conn.execute(SCHEMA % ("bigint", "text"))
        rng = random.Random(17)
        texts, ids = Replies(rng), []
        change(conn, rng, texts, 300, ids)
        conn.execute("SELECT create_profile('mine', k => 2)")
        before = {}
        for job, options in jobs.items():
            run(conn, "SELECT create_duplicates('%s', 'docs', 'id', %s)" % (job, options),
                "CALL refresh_duplicates('%s')" % job)
            before[job] = table(conn, job, ", cluster, tenant")
        r = tool("pg_dump", "-d", name)
        r = tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", copy, input=r.stdout)
        check("jobs are restored", r.returncode == 0, r.stderr)
        with connect(copy) as other:
            for job in jobs:
                equal("%s: with its result" % job, table(other, job, ", cluster, tenant"), before[job])
                generations = "SELECT id, generation FROM %s_signatures ORDER BY id" % job
                signed = other.execute(generations).fetchall()
                other.execute("CALL refresh_duplicates('%s')" % job)
                equal("%s: nothing is signed anew" % job, other.execute(generations).fetchall(), signed)
                equal("%s: nor clustered" % job, one(other, "SELECT clustered_rows FROM %s_job" % job), 0)
            change(other, rng, texts, 20, ids)
            for job, options in jobs.items():
                other.execute("CALL refresh_duplicates('%s')" % job)
                equal("%s: and it goes on" % job, table(other, job), from_scratch(other, options))
        conn.execute("SELECT drop_duplicates('dups'), drop_duplicates('quoted'); DROP TABLE docs, mine")


def main():
    with database() as name:
        sections((refreshes_equal_scratch, name), (every_source, name), (hashed_ids, name), (ids_of_clusters, name),
                 (life_of_a_job, name), (few_of_many, name), (longest_names, name), (unusual_jobs, name),
                 (types_change, name), (signatures_change, name), (by_definition, name), (sets_change, name),
                 (columns_change_places, name), (nulls_within, name), (thresholds_to_the_last_digit, name),
                 (written_in_one_transaction, name), (bad_input, name),
                 (rights, name), (put_before, name), (sessions, name), (cancelled, name), (at_once, name),
                 (dumped, name))


finish(main)
