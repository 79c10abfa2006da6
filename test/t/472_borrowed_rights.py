#!/usr/bin/python3
"""Nobody's code runs but the query's. Functions in index expressions, predicates, rules and policies of a hostile owner
say as whom they run: a search, a check or a diagnostic of another role runs none that its own text does not name, and
no function of an owner with the owner's rights for a role that has fewer. Nor does a plan tell of rows, or an index be
looked into, where a role may not read the table."""
import re

from harness import *

MALLORY, READER, MEMBER = "neardup_t_mallory", "neardup_t_reader", "neardup_t_member"
MARK = "ran as "
BY_INDEX = "SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off"
BY_BITMAP = "SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = on"
NEAR = "ORDER BY sig <%> set_minhash(ARRAY[3, 7], 32)"
LIKE = "jaccard(sig, set_minhash(ARRAY[3, 7], 32)) >= 0.9"

PROBES = """
CREATE SCHEMA m; GRANT USAGE ON SCHEMA m TO PUBLIC;
CREATE FUNCTION m.tenant(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'tenant {mark}%',
  current_user; RETURN $1 % 3; END$$;
CREATE FUNCTION m.listed(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'listed {mark}%',
  current_user; RETURN $1 > 100; END$$;
CREATE FUNCTION m.shown(int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'shown {mark}%', current_user;
  RETURN $1 % 2 = 0; END$$;
CREATE FUNCTION m.signed(minhash) RETURNS minhash IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'signed {mark}%',
  current_user; RETURN $1; END$$;
"""
DOCS = """
CREATE TABLE m.docs (id int, day int, sig minhash);
INSERT INTO m.docs SELECT i, i % 7, CASE WHEN i % 10 <> 0 THEN set_minhash(ARRAY[i / 4, 7], 32) END
  FROM generate_series(1, 400) i;
CREATE TABLE m.plain AS TABLE m.docs; CREATE TABLE m.late AS TABLE m.docs; CREATE TABLE m.daily AS TABLE m.docs;
CREATE INDEX docs_tenant ON m.docs USING lsh (m.tenant(id), sig);
CREATE INDEX docs_signed ON m.docs USING lsh (m.signed(sig));
CREATE INDEX docs_listed ON m.docs USING lsh (sig) WHERE m.listed(id) OR day > 2;
CREATE INDEX daily_sig ON m.daily USING lsh (sig) WHERE m.listed(id) OR day > 2;
CREATE INDEX late_sig ON m.late USING lsh (sig) WHERE day > 2;
CREATE INDEX daily_day ON m.daily USING lsh (day, sig) WHERE m.listed(id) OR day > 2;
ANALYZE m.docs; ANALYZE m.late; ANALYZE m.daily; ANALYZE m.plain;
GRANT SELECT ON m.docs, m.late, m.daily, m.plain TO PUBLIC;
"""
DISTANCE = "sig <%> set_minhash(ARRAY[3, 7], 32)"
# The queries: what follows SELECT, {t} being the table; the functions that the
# query itself names, which run as the reader.
QUERIES = (
    ("over an index with an expression that the query does not name", "{d} FROM m.{t} ORDER BY {d} LIMIT 9", ()),
    ("within a partial index whose condition is implied", "{d} FROM m.{t} WHERE day > 4 ORDER BY {d} LIMIT 30", ()),
    ("within a partial index whose condition is the query's", "{d} FROM m.{t} WHERE day > 2 ORDER BY {d} LIMIT 200",
     ()),
    ("all rows of it, those without a value too",
     "{d}, count(*) OVER (), sum(id) OVER () FROM m.{t} WHERE day > 2 ORDER BY {d}", ()),
    ("in an index of two columns that is partial", "{d} FROM m.{t} WHERE day = 5 ORDER BY {d} LIMIT 40", ()),
    ("beside an expression that the query names", "{d} FROM m.{t} WHERE m.tenant(id) = 1 ORDER BY {d} LIMIT 5",
     ("tenant",)),
    ("by an expression that the query names",
     "m.signed(sig) <%> set_minhash(ARRAY[3, 7], 32) FROM m.{t} ORDER BY 1 LIMIT 5", ("signed",)),
    ("with a threshold, in a partial index", "id FROM m.{t} WHERE day > 4 AND {like} ORDER BY id", ()),
    ("no condition at all", "count(*) FROM m.{t}", ()),
    ("the condition of a partial index alone", "count(*) FROM m.{t} WHERE day > 2", ()),
)


class Runs:
    """The functions that ran in a session since the last drain(), each with the role that it ran as."""

    def __init__(self, conn):
        self.seen = set()
        conn.add_notice_handler(lambda notice: self.hear(notice.message_primary or ""))

    def hear(self, text):
        what, is_probe, who = text.partition(MARK)
        if is_probe:
            self.seen.add((what.strip(), who))

    def drain(self):
        seen, self.seen = self.seen, set()
        return sorted(seen)


def searches(conn, runs):
    """Nearest neighbours, the last stage of which reads the table, and others; by each plan, with the rows of a table
    without indexes."""
    for name, query, allowed in QUERIES:
        query = "SELECT " + query.replace("{d}", DISTANCE).replace("{like}", LIKE)
        conn.execute("RESET ALL")
        want = conn.execute(query.replace("{t}", "plain")).fetchall()
        runs.drain()
        for table in ("docs", "late", "daily"):
            for how in (BY_INDEX, BY_BITMAP):
                conn.execute("RESET ALL; " + how)
                what = "%s: %s, by %s" % (name, table, "index" if how == BY_INDEX else "bitmap")
                equal(what + ": rows", conn.execute(query.replace("{t}", table)).fetchall(), want)
                equal(what + ": only what it names ran", runs.drain(), [(function, "postgres") for function in allowed])
    conn.execute("RESET ALL; " + BY_INDEX)
    for query, index in (("docs WHERE day > 4", "docs_listed"), ("late WHERE day > 4", "late_sig"),
                         ("daily WHERE day = 5", "daily_day")):
        plan = "\n".join(
            r[0] for r in conn.execute("EXPLAIN SELECT id FROM m.%s ORDER BY %s LIMIT 30" % (query, DISTANCE)))
        check("partial index %s gives the nearest rows" % index, index in plan and "Order By" in plan, plan)
    conn.execute("RESET ALL; " + BY_BITMAP)
    plan = "\n".join(r[0] for r in conn.execute("EXPLAIN SELECT id FROM m.docs WHERE day > 4 AND %s" % LIKE))
    check("a bitmap checks rows by the conditions of the query",
          "docs_listed" in plan and "listed(id)" not in plan and "(day > 4)" in plan, plan)
    plan = "\n".join(r[0] for r in conn.execute("EXPLAIN SELECT count(*) FROM m.docs"))
    check("no lsh index is read for a query without a condition", "Seq Scan" in plan, plan)
    conn.execute("RESET ALL")


def row_security(conn, runs):
    """Rows that a policy hides meet no function of the index."""
    conn.execute("ALTER TABLE m.daily ENABLE ROW LEVEL SECURITY; CREATE POLICY even ON m.daily USING (mod(id, 2) = 0); "
                 "SET ROLE {0}; {1}".format(READER, BY_INDEX))
    query = "SELECT %s, sum(id) OVER () FROM m.%s WHERE day > 4 %s ORDER BY 1"
    want = conn.execute(query % (DISTANCE, "plain", "AND mod(id, 2) = 0")).fetchall()
    runs.drain()
    equal("row security, partial index: rows", conn.execute(query % (DISTANCE, "daily", "")).fetchall(), want)
    equal("row security, partial index: nothing of the owner ran", runs.drain(), [])
    conn.execute("RESET ALL; RESET ROLE; DROP POLICY even ON m.daily; ALTER TABLE m.daily DISABLE ROW LEVEL SECURITY")


def checks(conn, runs):
    """lsh_check() computes expressions as the owner: for who has the owner's rights."""
    refused = {"text": "must be owner of table", "state": "42501"}
    for index in ("m.docs_tenant", "m.docs_listed", "m.late_sig"):
        conn.execute("SET ROLE " + READER)
        fails("%s: a reader may not have it checked against its table" % index, conn,
              "SELECT lsh_check('%s', true)" % index, **refused)
        equal("%s: nothing ran" % index, runs.drain(), [])
        equal("%s: its structure he may" % index, (sql_error(conn, "SELECT lsh_check('%s')" % index), runs.drain()),
              (None, []))
        conn.execute("SET ROLE " + MEMBER)
        equal("%s: a member of the owner may" % index, sql_error(conn, "SELECT lsh_check('%s', true)" % index), None)
        check("%s: functions ran as the owner" % index, {who for _, who in runs.drain()} <= {MALLORY})
        conn.execute(
            "RESET ROLE; REVOKE {0} FROM {1}; GRANT {0} TO {1}; ALTER ROLE {1} NOINHERIT".format(MALLORY, MEMBER))
        if server_version() < 160000:  # from 16 on the grant has the option
            conn.execute("SET ROLE " + MEMBER)
            fails(
                "%s: a member without INHERIT may not" % index, conn, "SELECT lsh_check('%s', true)" % index, **refused)
        conn.execute(
            "RESET ROLE; ALTER ROLE {1} INHERIT; REVOKE {0} FROM {1}; GRANT {0} TO {1}".format(MALLORY, MEMBER))
        equal("%s: a superuser may" % index, sql_error(conn, "SELECT lsh_check('%s', true)" % index), None)
        check("%s: and its functions run as the owner" % index, {who for _, who in runs.drain()} <= {MALLORY})
    conn.execute("CREATE INDEX docs_sig ON m.docs USING lsh (sig); SET ROLE " + READER)
    equal("an index of columns alone may be checked by a reader",
          sql_error(conn, "SELECT lsh_check('m.docs_sig', true)"), None)
    conn.execute("RESET ROLE; DROP INDEX m.docs_sig")


RULED = """
CREATE TABLE m.{name} (id int, sig minhash); GRANT SELECT ON m.{name} TO PUBLIC;
CREATE RULE tell AS ON INSERT TO m.{name} DO {action};
"""
ALSO = "(INSERT INTO m.log SELECT d.id FROM m.docs d WHERE jaccard(d.sig, NEW.sig) >= 0.9; NOTIFY neardup_t)"
INSERT = "INSERT INTO %s VALUES (1, set_minhash(ARRAY[3, 7], 32))"


def rules(conn):
    """A rule makes several statements of one, and utility commands, which have no plan."""
    conn.execute("CREATE TABLE m.log (id int)")
    for name, action in (("also", "ALSO NOTIFY neardup_t"), ("instead", "INSTEAD NOTIFY neardup_t"),
                         ("nothing", "INSTEAD NOTHING"), ("several", "ALSO " + ALSO)):
        conn.execute(RULED.format(name=name, action=action))
        equal("rule %s: as a superuser" % name,
              sql_error(conn, "SELECT * FROM lsh_why_not($$%s$$)" % INSERT % ("m." + name)), None)
        conn.execute("SET ROLE " + READER)
        fails("rule %s: without INSERT" % name, conn, "SELECT * FROM lsh_why_not($$%s$$)" % INSERT % ("m." + name),
              text="permission denied for table %s" % name, state="42501")
        conn.execute("CREATE TEMP TABLE {0} (id int, sig minhash); CREATE RULE tell AS ON INSERT TO {0} DO {1}".format(
            name, action))
        if name != "several":
            equal("rule %s: over a temporary table of one's own" % name,
                  sql_error(conn, "SELECT * FROM lsh_why_not($$%s$$)" % INSERT % name), None)
        else:
            fails("rule %s: over what one may not write" % name, conn,
                  "SELECT * FROM lsh_why_not($$%s$$)" % INSERT % name, text="permission denied for table log",
                  state="42501")
        conn.execute("RESET ROLE")
    found = conn.execute("SELECT DISTINCT condition FROM lsh_why_not($$%s$$)" % INSERT % "m.several").fetchall()
    check("conditions in the statements of a rule are noted", any("jaccard" in c for c, in found), found)


def before_planning(conn, runs):
    """Privileges are checked before the planner evaluates anything, in each query within the query."""
    conn.execute("CREATE TABLE m.closed (id int, sig minhash); "
                 "CREATE FUNCTION m.inlined() RETURNS SETOF m.closed LANGUAGE sql STABLE AS 'SELECT * "
                 "FROM m.closed'; SET ROLE " + READER)
    fails("a table that an inlined function reads", conn,
          "SELECT * FROM lsh_why_not($$SELECT FROM m.inlined() WHERE %s$$)" % LIKE,
          text="permission denied for table closed", state="42501")
    for where in ("m.closed", "(SELECT * FROM m.closed) c", "m.docs WHERE EXISTS (SELECT FROM m.closed)",
                  "m.docs WHERE id IN (WITH w AS (SELECT id FROM m.closed) SELECT id FROM w)"):
        fails("no right to read: FROM %s" % where, conn,
              "SELECT * FROM lsh_why_not($$SELECT 1, m.listed(3) FROM %s$$)" % where,
              text="permission denied for table closed", state="42501")
        equal("and nothing was evaluated", runs.drain(), [])
    for text in ("", ";", "SELECT 1; SELECT 2", "NOTIFY x", "CREATE TABLE x AS SELECT 1",
                 "DECLARE c CURSOR FOR SELECT 1", "EXPLAIN SELECT 1", "-- nothing"):
        fails("no query: %r" % text, conn, "SELECT * FROM lsh_why_not(%s)", (text,),
              text="query must be one SELECT, INSERT, UPDATE, DELETE or MERGE", state="22023")
    conn.execute("RESET ROLE")


LOOKED_FOR = ("ARRAY[3, 1000003]", "ARRAY[12345, 7]")  # forty rows, and none
UNREADABLE = """
CREATE TABLE m.sealed AS SELECT i AS id, set_minhash(ARRAY[i / 40, i / 40 + 1000000], 32) AS sig
  FROM generate_series(1, 4000) i;
CREATE INDEX sealed_sig ON m.sealed USING lsh (sig); ANALYZE m.sealed;
CREATE VIEW m.shown_to_all AS SELECT * FROM m.sealed; GRANT SELECT ON m.shown_to_all TO PUBLIC;
CREATE VIEW m.unshown AS SELECT * FROM m.sealed;
CREATE VIEW m.unshown_part AS SELECT * FROM (SELECT * FROM m.sealed OFFSET 0) s;
CREATE TABLE m.parts (id int, sig minhash) PARTITION BY LIST (id); CREATE TABLE m.part PARTITION OF m.parts DEFAULT;
INSERT INTO m.parts TABLE m.sealed; CREATE INDEX parts_sig ON m.parts USING lsh (sig); ANALYZE m.parts;
  GRANT SELECT (sig) ON m.parts TO PUBLIC;
"""
# Who may count, and what is asked
COUNTED = ((True, "id FROM m.shown_to_all WHERE {like}"), (True, "sig FROM m.parts WHERE {like}"),
           (False, "id FROM m.parts WHERE {like}"), (False, "id FROM m.sealed WHERE {like}"),
           (False, "id FROM m.sealed WHERE sig %> with_threshold({value}, 0.9)"),
           (False, "id FROM m.sealed ORDER BY sig <%> {value} LIMIT 9"), (False, "id FROM m.unshown WHERE {like}"),
           (False, "id FROM m.unshown ORDER BY sig <%> {value} LIMIT 9"),
           (False, "1 FROM m.plain WHERE EXISTS (SELECT FROM m.sealed WHERE {like})"),
           (False, "id FROM (SELECT * FROM m.sealed WHERE {like} LIMIT 3) s"),
           (False, "id FROM m.unshown_part WHERE {like}"))


def shown_estimates(conn, query):
    """The rows and costs in the plans that PostgreSQL shows before it checks privileges, and the error."""
    plans = []
    show = lambda notice: plans.append(notice.message_detail or "")
    conn.add_notice_handler(show)
    error = sql_error(conn, query)
    conn.remove_notice_handler(show)
    return [re.findall(r"[:.](?:plan_rows|startup_cost|total_cost) [0-9.e+]+", plan) for plan in plans], error


def estimates(conn, runs):
    """Who may not run a query learns nothing of rows from its plan. Later minor versions of PostgreSQL plan none with a
    view that one may not read."""
    conn.execute("SET ROLE %s" % MALLORY)
    conn.execute(UNREADABLE)
    conn.execute("RESET ROLE; GRANT SELECT (id) ON m.sealed TO {0}; SET ROLE {0}; SET client_min_messages = log; "
                 "SET debug_print_plan = on".format(READER))
    for may, query in COUNTED:
        found = []
        for elements in LOOKED_FOR:
            value = "set_minhash(%s, 32)" % elements
            plans, error = shown_estimates(
                conn, "SELECT " + query.replace("{like}", "jaccard(sig, {value}) >= 0.9").replace("{value}", value))
            check("%s: %s" % (query, "it runs" if may else "it is refused"),
                  error is None and len(plans) == 1 if may else error is not None and error.sqlstate == "42501",
                  (len(plans), error))
            found.append(plans)
        check("%s: %s" % (query, "the planner counts the rows" if may else "the plan tells of no row"),
              (found[0] != found[1]) == may, found)
    conn.execute("RESET ALL; RESET ROLE")


def schemas(conn, runs):
    """An index is not looked into through the number of a table whose schema one may not use."""
    conn.execute("CREATE SCHEMA hidden; CREATE TABLE hidden.docs AS TABLE m.docs; "
                 "CREATE INDEX docs_sig ON hidden.docs USING lsh (sig); GRANT SELECT ON hidden.docs TO PUBLIC")
    oid = one(conn, "SELECT 'hidden.docs_sig'::regclass::oid::int8")
    calls = ("lsh_info({0})", "lsh_pages({0})", "lsh_check({0})", "lsh_check({0}, true)", "lsh_hot_buckets({0}, 2)",
             "explain_pair({0}, set_minhash(ARRAY[3, 7], 32), set_minhash(ARRAY[3, 7], 32))")
    for call in calls:
        query = "SELECT * FROM " + call.format("%d::regclass" % oid)
        conn.execute("SET ROLE " + READER)
        fails("%s without USAGE on the schema" % call, conn, query, text="permission denied for schema hidden",
              state="42501")
        conn.execute("RESET ROLE; GRANT USAGE ON SCHEMA hidden TO {0}; SET ROLE {0}".format(READER))
        equal("%s with it" % call, sql_error(conn, query), None)
        conn.execute("RESET ROLE; REVOKE USAGE ON SCHEMA hidden FROM " + READER)
    conn.execute("DROP SCHEMA hidden CASCADE")


def main():
    with roles(MALLORY, READER, MEMBER, members=[(MALLORY, MEMBER)]), database() as name, connect(name) as conn:
        conn.prepare_threshold = None
        runs = Runs(conn)
        conn.execute("GRANT CREATE ON DATABASE {0} TO {1}; SET ROLE {1}".format(name, MALLORY))
        for script in (PROBES.replace("{mark}", MARK), DOCS):
            conn.execute(script)
        conn.execute("RESET ROLE")
        runs.drain()
        sections((searches, conn, runs), (row_security, conn, runs), (checks, conn, runs), (rules, conn),
                 (before_planning, conn, runs), (estimates, conn, runs), (schemas, conn, runs))
        conn.execute("DROP SCHEMA m CASCADE")


finish(main)
