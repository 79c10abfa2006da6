#!/usr/bin/python3
"""A name that changes its relation while a function waits for a lock: mallory locks a table, another user calls a
function of neardup that reads it, and mallory replaces it by a view of that name, which calls a function of mallory.
That function must not run with the rights of the caller: neardup reads the relation that it checked, under the lock. A
call returns a result or raises an error that says what is wrong.

Also without a change of names: what mallory has attached to tables (triggers, rules, policies, defaults, conditions of
a job) is not run by calls of others, and names alone do not make an object belong to mallory."""
import collections

from hostile import Watch
from harness import *

MALLORY, VICTIM, OWNER = "neardup_t_mal", "neardup_t_victim", "neardup_t_third"
UNCLEAN = ("XX", "42601", "42703", "42883")  # internal errors, and what a number in the place of a name gives

MAKE_BY_SUPERUSER = """
CREATE TABLE docs (id int8 PRIMARY KEY, body text);
INSERT INTO docs SELECT i, (SELECT string_agg('w' || (i / 4 * 31 + j * j + CASE WHEN j = 7 THEN i
  ELSE 0 END) % 997, ' ') FROM generate_series(1, 40) j) FROM generate_series(1, 30) i;
GRANT SELECT ON docs TO PUBLIC;
"""
MAKE_BY_MALLORY = """
CREATE SCHEMA m; GRANT USAGE ON SCHEMA m TO PUBLIC;
CREATE SEQUENCE m.trace; GRANT ALL ON SEQUENCE m.trace TO PUBLIC;
CREATE FUNCTION m.evil(what text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.nextval('m.trace');
  RAISE WARNING 'hostile % as %', what, current_user; RETURN true; END $$;
CREATE FUNCTION m.sly(what text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM
  pg_catalog.nextval('m.trace'); RAISE WARNING 'hostile % as %', what, current_user; RETURN true; END $$;
CREATE FUNCTION m.fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM m.evil('trigger on ' || TG_TABLE_NAME);
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$;
CREATE TABLE m.docs AS SELECT * FROM public.docs;
ALTER TABLE m.docs ADD PRIMARY KEY (id), ADD sig minhash;
UPDATE m.docs SET sig = to_minhash(body);
CREATE INDEX docs_sig ON m.docs USING lsh (sig);
CREATE TABLE m.rules OF neardup_rule;
INSERT INTO m.rules SELECT * FROM neardup_default_rules() LIMIT 3;
SELECT create_profile('m.prof', rules => 'm.rules'), create_profile('m.cutter', cut_at_least => 5, cut_min_units => 20);
SELECT create_lexicon('m.lex', 'SELECT body FROM public.docs');
"""
MAKE_STEPS = ("CALL create_word_model('m.wm', 'SELECT body FROM public.docs', 40, 3)",
              "SELECT create_duplicates('m.x', 'm.docs', 'id', 'body', profile => 'm.cutter')",
              "CALL refresh_duplicates('m.x')", "GRANT SELECT ON ALL TABLES IN SCHEMA m TO PUBLIC")
MAKE_OF_READER = ("SELECT create_duplicates('public.own', 'public.docs', 'id', 'body', profile => 'm.prof')",
                  "CALL refresh_duplicates('public.own')", "UPDATE docs SET body = body || ' more' WHERE id < 5")

# name, the call, the relations that are locked one at a time, whether roles
# without rights on more than SELECT may call it
CALLS = (
    ("duplicates_status", "SELECT * FROM duplicates_status", ("m.x_job",), True),
    ("job_status", "SELECT * FROM neardup_internal.job_status()", ("m.x_job",), True),
    ("refresh_duplicates", "CALL refresh_duplicates('m.x')",
     ("m.x_job", "m.x_signatures", "m.x_passages", "m.x", "m.docs", "m.cutter"), False),
    ("refresh_duplicates in one transaction", "CALL refresh_duplicates('m.x', commit => false)",
     ("m.x_job", "m.x_signatures", "m.x", "m.docs"), False),
    ("refresh_duplicates that counts passages", "CALL refresh_duplicates('m.x', rebuild => true)",
     ("m.x_passages", "m.docs", "m.cutter"), False),
    ("check_duplicates", "SELECT * FROM check_duplicates('m.x')", ("m.x_job", "m.x_signatures", "m.x"), False),
    ("removable_duplicates", "SELECT * FROM removable_duplicates('m.x')",
     ("m.x_job", "m.x_signatures", "m.x", "m.docs", "m.cutter"), False),
    ("neardup_refresh_statements", "SELECT * FROM neardup_internal.neardup_refresh_statements('m.x')", ("m.x_job",),
     True),
    ("alter_duplicates", "SELECT alter_duplicates('m.x', threshold => 0.7)", ("m.x_job", "m.x_signatures"), False),
    ("pause_duplicates", "SELECT pause_duplicates('m.x')", ("m.x_job",), False),
    ("rename_duplicates", "SELECT rename_duplicates('m.x', 'y')", ("m.x_job", "m.x", "m.x_signatures"), False),
    ("drop_duplicates", "SELECT drop_duplicates('m.x')",
     ("m.x_job", "m.x", "m.x_signatures", "m.x_changes", "m.x_passages"), False),
    ("neardup_without_windows",
     "SELECT neardup_internal.neardup_without_windows(body, 'm.x_passages', 20, 'word', 1, 0) FROM docs",
     ("m.x_passages",), True),
    ("neardup_profile_named", "SELECT neardup_profile_named('m.prof')", ("m.prof",), True),
    ("neardup_sign_sql", "SELECT neardup_sign_sql(neardup_profile_named('m.prof'), 'text', 'body')",
     ("m.prof", "m.rules"), True),
    ("create_profile(base)", "SELECT create_profile('mine', base => 'm.prof')", ("m.prof", "m.rules"), True),
    ("alter_profile", "SELECT alter_profile('m.prof', k => 5)", ("m.prof", "m.rules"), False),
    ("create_duplicates(profile)", "SELECT create_duplicates('mine', 'public.docs', 'id', 'body', profile => 'm.prof')",
     ("m.prof", "m.rules"), True),
    ("create_duplicates(source)", "SELECT create_duplicates('mine', 'm.docs', 'id', 'body')", ("m.docs",), True),
    ("alter_duplicates(profile)", "SELECT alter_duplicates('own', profile => 'm.prof')", ("m.prof",), True),
    ("refresh_duplicates of one's own job", "CALL refresh_duplicates('own')", ("m.prof", "m.rules"), True),
    ("similar_words", "SELECT * FROM similar_words('m.wm', 'w31', 3)", ("m.wm", "m.wm_model"), True),
    ("word_similarity", "SELECT word_similarity('m.wm', 'w31', 'w40')", ("m.wm", "m.wm_model"), True),
    ("expand_query", "SELECT * FROM expand_query('m.wm', 'w31 w40')", ("m.wm", "m.wm_model"), True),
    ("create_word_model", "CALL create_word_model('m.wm', 'SELECT body FROM public.docs', 40, 3)",
     ("m.wm", "m.wm_model"), False),
    ("drop_word_model", "SELECT drop_word_model('m.wm')", ("m.wm", "m.wm_model"), False),
    ("i_match", "SELECT i_match('w31 w40 w50', 'm.lex')", ("m.lex",), True),
    ("i_match_bag", "SELECT i_match_bag('w31 w40 w50', 'm.lex')", ("m.lex",), True),
    ("create_lexicon", "SELECT create_lexicon('m.lex', 'SELECT body FROM public.docs')", ("m.lex",), False),
    ("neardup_suggest", "SELECT * FROM neardup_suggest('SELECT id, body FROM m.docs')", ("m.docs",), True),
    ("all_pairs", "SELECT * FROM all_pairs('SELECT id, sig FROM m.docs', 0.8)", ("m.docs",), True),
    ("repeated_passages", "SELECT * FROM repeated_passages('SELECT id, body FROM m.docs', 3)", ("m.docs",), True),
    ("word_similarities", "SELECT * FROM word_similarities('SELECT body FROM m.docs', 40, 3)", ("m.docs",), True),
    ("lsh_info", "SELECT lsh_info('m.docs_sig')", ("m.docs_sig", "m.docs"), True),
    ("lsh_check", "SELECT lsh_check('m.docs_sig', true)", ("m.docs_sig", "m.docs"), True),
    ("lsh_pages", "SELECT * FROM lsh_pages('m.docs_sig')", ("m.docs_sig",), True),
    ("lsh_hot_buckets", "SELECT * FROM lsh_hot_buckets('m.docs_sig', 2)", ("m.docs_sig",), True),
    ("explain_pair", "SELECT * FROM explain_pair('m.docs_sig', to_minhash('a b c d'), to_minhash('a b c d'))",
     ("m.docs_sig", "m.docs"), True),
)
# The caller's own query names the relation, which means then what it would mean outside
# of a call: they end as they ought to, no more.
AS_WRITTEN = ("neardup_suggest", "all_pairs", "repeated_passages", "word_similarities")
NEVER_WAIT = ("duplicates_status", "job_status")
# Calls that leave everything as it was, which need no database of their own where the exchange can be taken back.
READ_ONLY = ("neardup_without_windows", "duplicates_status", "job_status", "neardup_profile_named",
             "neardup_sign_sql", "similar_words", "word_similarity", "expand_query", "i_match", "i_match_bag",
             "neardup_suggest", "all_pairs", "repeated_passages", "word_similarities", "lsh_info", "lsh_check",
             "lsh_pages", "lsh_hot_buckets", "explain_pair")


def renamed(schema, name, kind):
    """The relation under another name, a view in its place."""
    what = "INDEX" if kind == "i" else "TABLE"
    source = "%s.away" % schema if kind != "i" else "m.docs"
    return ["ALTER %s %s.%s RENAME TO away" % (what, schema, name),
            "CREATE VIEW %s.%s AS SELECT t.* FROM %s t WHERE m.evil('a view of that name')" % (schema, name, source),
            "GRANT SELECT ON %s.%s TO PUBLIC" % (schema, name)]


def swapped(schema, name, kind):
    """The schema under another name, and one of its name with a view."""
    source = "gone.docs" if kind == "i" else "gone." + name
    return ["ALTER SCHEMA m RENAME TO gone", "CREATE SCHEMA m", "GRANT USAGE ON SCHEMA m TO PUBLIC",
            "CREATE FUNCTION m.evil(what text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                "pg_catalog.nextval('gone.trace'); RAISE WARNING 'hostile % as %', what, current_user; "
                "RETURN true; END $$",
            "CREATE VIEW m.%s AS SELECT t.* FROM %s t WHERE m.evil('a view in another schema')" % (name, source),
            "GRANT SELECT ON m.%s TO PUBLIC" % name]


def dropped(schema, name, kind):
    return ["DROP %s %s.%s CASCADE" % ("INDEX" if kind == "i" else "TABLE", schema, name)]


def ruled(schema, name, kind):
    """An empty table becomes a view by a rule, up to PostgreSQL 15."""
    if kind == "i" or server_version() >= 160000:
        return None
    return ["CREATE TABLE m.copy AS TABLE %s.%s" % (schema, name), "DELETE FROM %s.%s" % (schema, name),
            "CREATE RULE \"_RETURN\" AS ON SELECT TO %s.%s DO INSTEAD SELECT t.* FROM m.copy t WHERE m.evil('a rule')"
                % (schema, name)]


def secured(schema, name, kind):
    """Row security, with a condition that calls a function; of the reader, who is no superuser."""
    if kind == "i":
        name = "docs"
    return ["ALTER TABLE %s.%s ENABLE ROW LEVEL SECURITY" % (schema, name),
            "CREATE POLICY p ON %s.%s USING (m.evil('a policy'))" % (schema, name)]


def retyped(schema, name, kind):
    """The same table, no longer of the type: text columns of a type with a cast of mallory's."""
    if kind == "i":
        return None
    at = "%s.%s" % (schema, name)
    return ["CREATE TYPE m.mood AS ENUM ('calm')", "CREATE FUNCTION m.cast_text(m.mood) RETURNS text LANGUAGE plpgsql "
                                                       "AS $$ BEGIN PERFORM m.evil('a cast'); RETURN 'calm'; END $$",
            "CREATE CAST (m.mood AS text) WITH FUNCTION m.cast_text(m.mood) AS IMPLICIT",
            "DO $$ BEGIN ALTER TABLE %s NOT OF; EXCEPTION WHEN OTHERS THEN END $$" % at,
            "DO $$ DECLARE c name; BEGIN FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = '%s'::regclass "
                "AND attnum > 0 AND NOT attisdropped AND atttypid = 'text'::regtype LOOP "
                "EXECUTE format('ALTER TABLE %s ALTER %%I TYPE m.mood USING ''calm''', c); END LOOP; "
                "EXCEPTION WHEN unique_violation OR dependent_objects_still_exist THEN END $$" % (at, at)]


def inherited(schema, name, kind):
    """A child, whose rows the parent's seem to be."""
    if kind == "i":
        return None
    at = "%s.%s" % (schema, name)
    return ["CREATE TABLE m.child () INHERITS (%s)" % at, "ALTER TABLE m.child ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY p ON m.child USING (m.evil('a policy of a child'))",
            "INSERT INTO m.child SELECT * FROM ONLY %s" % at, "GRANT SELECT ON m.child TO PUBLIC"]


def undo_exchange(way, schema, name, kind):
    """The statements that undo an exchange; None where nothing does."""
    at = "m.docs" if kind == "i" else "%s.%s" % (schema, name)
    return {renamed: ["DROP VIEW %s.%s" % (schema, name),
                      "ALTER %s %s.away RENAME TO %s" % ("INDEX" if kind == "i" else "TABLE", schema, name)],
            swapped: ["DROP SCHEMA m CASCADE", "ALTER SCHEMA gone RENAME TO m"], inherited: ["DROP TABLE m.child"],
            secured: ["DROP POLICY p ON " + at, "ALTER TABLE %s DISABLE ROW LEVEL SECURITY" % at]}.get(way)


KINDS = (("another name and a view", renamed), ("another schema", swapped), ("DROP", dropped),
         ("a rule that makes it a view", ruled), ("row security", secured), ("another type of its columns", retyped),
         ("a child", inherited))


def make(name, template_of=None):
    with psycopg.connect(autocommit=True) as admin:
        admin.execute("GRANT CREATE ON DATABASE %s TO %s, %s" % (name, MALLORY, VICTIM))
    with connect(name) as conn:
        conn.execute(MAKE_BY_SUPERUSER)
        conn.execute("SET ROLE %s" % MALLORY)
        conn.execute(MAKE_BY_MALLORY)
        for statement in MAKE_STEPS:
            conn.execute(statement)


class Copies:
    """A database after another, each like the template. The extension lies in `public`, where only the superuser
    creates."""

    def __init__(self, template):
        self.template, self.number, self.lasting = template, 0, None
        with connect(template) as conn:
            self.kinds = dict(conn.execute("SELECT c.oid::regclass::text, relkind::text FROM pg_class c "
                                           "WHERE relnamespace = 'm'::regnamespace").fetchall())
            self.shape = self.read_shape(conn)

    @staticmethod
    def read_shape(conn):
        """The shape of the schema, which tells whether an exchange was taken back."""
        return conn.execute("SELECT relnamespace::regnamespace::text, relname::text, relkind::text, relrowsecurity "
                            "FROM pg_class WHERE relnamespace IN ('m'::regnamespace, "
                            "'public'::regnamespace) AND relkind <> 'c' ORDER BY 1, 2").fetchall()

    @contextlib.contextmanager
    def shared(self, back):
        """A database for one case after another, of which each takes back what it did, by these statements."""
        if self.lasting is None:
            self.lasting = self.made("t_475_shared")
        try:
            yield self.lasting
        finally:
            with connect(self.lasting) as conn:
                for statement in back:
                    sql_error(conn, statement)
                as_it_was = sql_error(conn, "SELECT 'm'::regnamespace") is None and self.read_shape(conn) == self.shape
            if not as_it_was:
                self.lost += 1
                self.end()

    lost = 0

    def end(self):
        """Drops the shared one."""
        if self.lasting is not None:
            with psycopg.connect(autocommit=True) as admin:
                admin.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)" % self.lasting)
            self.lasting = None

    def made(self, name):
        with psycopg.connect(autocommit=True) as admin:
            admin.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)" % name)
            admin.execute("CREATE DATABASE %s TEMPLATE %s" % (name, self.template))
            admin.execute("GRANT CREATE ON DATABASE %s TO %s, %s" % (name, MALLORY, VICTIM))
        return name

    @contextlib.contextmanager
    def next(self):
        self.number += 1
        name = self.made("t_475_%d" % (self.number % 2))
        try:
            yield name
        finally:
            with psycopg.connect(autocommit=True) as admin:
                admin.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)" % name)


def behind(other, ends, conn, query):
    """(whether it waited, its error) of a statement, of which `other` has executed `ends` in its way. As
    error_behind(), which insists on a wait."""
    failed = None
    with waiting_behind(other, conn, query) as (errors, waits):
        try:
            for statement in ends:
                other.execute(statement)
            other.execute("COMMIT")
        except psycopg.Error as e:
            other.execute("ROLLBACK")
            failed = e
    return waits, errors[0], failed


def become_reader(conn, superuser, own=True):
    """The session that calls: a superuser's, or of a role that may read."""
    if not superuser:
        conn.execute("CREATE SCHEMA IF NOT EXISTS v; GRANT ALL ON SCHEMA v TO %s; GRANT CREATE ON SCHEMA public TO %s; "
                     "SET ROLE %s" % (VICTIM, VICTIM, VICTIM))
    for statement in MAKE_OF_READER if own else ():
        if superuser or not statement.startswith("UPDATE"):
            conn.execute(statement)
    return one(conn, "SELECT current_user")


class Tally:
    """The outcomes of a function's cases, a result line for each way."""

    def __init__(self):
        self.cases, self.waits, self.bad, self.impossible, self.states = 0, 0, [], 0, collections.Counter()


def case(copies, tally, call, query, relation, way, superuser, hold):
    schema, table = relation.split(".")
    kind = copies.kinds[relation]
    ends, back = way(schema, table, kind), undo_exchange(way, schema, table, kind)
    if ends is None:
        return
    with copies.shared(back) if call in READ_ONLY and back else copies.next() as name, connect(name) as conn, connect(
            name) as other:
        me = become_reader(conn, superuser, "own" in query)
        watch = Watch(conn)
        other.execute("SET ROLE %s" % MALLORY)
        other.execute("BEGIN; SET LOCAL client_min_messages = error; " + (
            "REINDEX INDEX %s" if kind == "i" else "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE") % relation)
        watch.drain()
        waited, error, failed = behind(other, ends, conn, (HOLD_CATALOGS if hold else "") + query)
        if failed is not None:
            tally.impossible += 1
            return
        what = "%s, %s%s, as %s" % (relation, way.__name__, " with catalogs locked" if hold else "",
                                    "a superuser" if superuser else "another role")
        tally.cases += 1
        tally.waits += waited
        tally.states[error.sqlstate if error is not None else "ok"] += 1
        runs = [r for r in watch.drain() if r[1] == me]
        if runs and call not in AS_WRITTEN:
            tally.bad.append("%s: %s ran as %s" % (what, runs[0][0], me))
        if error is not None and (error.sqlstate is None or error.sqlstate.startswith(UNCLEAN)):
            tally.bad.append("%s: %s %s" % (what, error.sqlstate, str(error).splitlines()[0]))
        if waited and call in NEVER_WAIT:
            tally.bad.append("%s: waits for another role's lock" % what)


def choose_ways(call, first):
    """All of them in the full form. Else another name, those that cost little, and one of the others in turn, so that
    each way meets some of the calls."""
    ways = [way for _, way in KINDS]
    if FULL:
        return ways
    choose_ways.turn += 1
    if call not in READ_ONLY:
        return [renamed, ways[1:][choose_ways.turn % (len(ways) - 1)]]
    return [renamed, swapped, secured, inherited, (dropped, ruled, retyped)[choose_ways.turn % 3]] if first else [
        renamed, swapped]


choose_ways.turn = 0


def exchanges(copies, call, query, relations, for_all):
    tally = Tally()
    for relation in relations:
        for way in choose_ways(call, relation == relations[0]):
            # row security binds nobody who is superuser
            for superuser in ((False,) if way is secured else (True,) if not FULL or not for_all else (True, False)):
                if not superuser and not for_all:
                    continue
                for hold in ((False, True) if FULL and not query.startswith("CALL") else (False,)):
                    case(copies, tally, call, query, relation, way, superuser, hold)
    check("%s: nothing of who exchanges names runs%s (%d cases, %d of them waited, %d ways that there are not; "
          "ends: %s)" % (call, " but what the caller's query names" if call in AS_WRITTEN else "", tally.cases,
                         tally.waits, tally.impossible,
                         ", ".join("%s %d" % item for item in sorted(tally.states.items()))),
          tally.cases and not tally.bad, "%d: %s" % (len(tally.bad), "; ".join(tally.bad)))
    for line in tally.bad:
        print("    %s" % line)
    return tally.cases


def exchanged(copies):
    total = sum(exchanges(copies, *c) for c in CALLS)
    check("exchanges are taken back where they can be", copies.lost <= 3, "%d are not" % copies.lost)
    print("note: %d exchanges of names" % total)


# Mallory hangs these on his tables, and a superuser's calls come upon them.
TRAPS = (
    ("triggers",
     "DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'm'::regnamespace "
         "AND relkind = 'r' AND relname <> 'docs' LOOP "
         "EXECUTE format('CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION "
         "m.fires()', t); "
         "EXECUTE format('CREATE TRIGGER b BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION m.fires()', t); "
         "END LOOP; END $$"),
    ("rules",
     "CREATE RULE a AS ON UPDATE TO m.x_job DO ALSO SELECT m.evil('a rule'); CREATE RULE a AS ON INSERT TO m.x DO ALSO "
         "SELECT m.evil('a rule'); "
         "CREATE RULE a AS ON INSERT TO m.prof DO ALSO SELECT m.evil('a rule'); "
         "CREATE RULE b AS ON DELETE TO m.x_job DO ALSO SELECT m.evil('a rule')"),
    ("checks",
     "ALTER TABLE m.x_job ADD CHECK (m.evil('a check')) NOT VALID; "
         "ALTER TABLE m.x ADD CHECK (m.evil('a check')) NOT VALID; "
         "ALTER TABLE m.x_signatures ADD CHECK (m.evil('a check')) NOT VALID; "
         "ALTER TABLE m.prof ADD CHECK (m.evil('a check')) NOT VALID"),
    ("defaults",
     "ALTER TABLE m.x ADD mark boolean; ALTER TABLE m.x ALTER mark SET DEFAULT m.evil('a default'); "
         "ALTER TABLE m.x_signatures ADD mark boolean; "
         "ALTER TABLE m.x_signatures ALTER mark SET DEFAULT m.evil('a default'); "
         "ALTER TABLE m.x_changes ALTER change SET DEFAULT m.evil('a default')::text"),
    ("indexes over expressions",
     "CREATE INDEX ON m.x_job ((m.sly(phase))); CREATE INDEX ON m.x_signatures ((m.sly(id::text))); "
         "CREATE INDEX ON m.x ((m.sly(id::text)))"),
    ("a filter", "UPDATE m.x_job SET filter = 'm.sly(left(body, 0) || ''filter'')', resync = true"),
    ("order_by", "UPDATE m.x_job SET order_by = 'm.sly(left(body, 0) || ''order_by'')', resync = true"),
    ("deleted", "UPDATE m.x_job SET deleted = 'NOT m.sly(left(body, 0) || ''deleted'')', resync = true"),
    ("a source that is a view",
     "CREATE VIEW m.seen AS SELECT * FROM m.docs WHERE m.evil('a view'); GRANT SELECT ON m.seen TO PUBLIC; "
         "UPDATE m.x_job SET source = 'm.seen', resync = true"),
    ("a profile that is no name",
     "UPDATE m.prof SET script = 'simplified(m.evil(''script'')) || neardup_to_traditional'"),
    ("an encoding that is no name", "UPDATE m.prof SET encoding = 'UTF-8'') || m.evil(''encoding'"),
    ("a unit that is no name", "UPDATE m.prof SET unit = 'word'') || m.evil(''unit'"),
    ("casts of rows",
     "CREATE FUNCTION m.cast_rule(m.rules) RETURNS neardup_rule LANGUAGE plpgsql AS $$ BEGIN PERFORM "
         "m.evil('a cast of rules'); RETURN ROW($1.*); END $$; "
         "CREATE CAST (m.rules AS neardup_rule) WITH FUNCTION m.cast_rule(m.rules) AS IMPLICIT; "
         "CREATE FUNCTION m.cast_prof(m.prof) RETURNS neardup_profile LANGUAGE plpgsql AS $$ BEGIN PERFORM "
         "m.evil('a cast of a profile'); RETURN ROW($1.*); END $$; "
         "CREATE CAST (m.prof AS neardup_profile) WITH FUNCTION m.cast_prof(m.prof) AS IMPLICIT; "
         "CREATE FUNCTION m.cast_job(m.x_job) RETURNS neardup_job LANGUAGE plpgsql AS $$ BEGIN PERFORM "
         "m.evil('a cast of a job'); RETURN ROW($1.*); END $$; "
         "CREATE CAST (m.x_job AS neardup_job) WITH FUNCTION m.cast_job(m.x_job) AS IMPLICIT; "
         "CREATE FUNCTION m.cast_model(m.wm_model) RETURNS neardup_word_model LANGUAGE plpgsql AS $$ BEGIN PERFORM "
         "m.evil('a cast of a model'); RETURN ROW($1.*); END $$; "
         "CREATE CAST (m.wm_model AS neardup_word_model) WITH FUNCTION m.cast_model(m.wm_model) AS IMPLICIT"),
    ("rules that are a view", "ALTER TABLE m.rules RENAME TO r; CREATE VIEW m.rules AS SELECT * FROM m.r "
                                  "WHERE m.evil('rules'); GRANT SELECT ON m.rules TO PUBLIC"),
    ("kinds of another type", "UPDATE m.x_job SET linkage = 'connected'', m.evil(''linkage'')', "
                                  "keep = 'best'', m.evil('''')', recluster = true"),
    ("defaults of passages",
     "ALTER TABLE m.x_passages ADD mark boolean; ALTER TABLE m.x_passages ALTER mark SET DEFAULT m.evil('a default'); "
         "ALTER TABLE m.x_passages ADD CHECK (m.evil('a check')) NOT VALID; "
         "CREATE INDEX ON m.x_passages ((m.sly(number::text)))"),
    ("a column of generated values",
     "ALTER TABLE m.x_signatures ADD made boolean GENERATED ALWAYS AS (m.sly(id::text)) STORED"),
)
TRAPPED = ("SELECT * FROM duplicates_status", "SELECT pause_duplicates('m.x')", "SELECT pause_duplicates('m.x', false)",
           "SELECT alter_duplicates('m.x', threshold => 0.7)", "CALL refresh_duplicates('m.x')",
           "CALL refresh_duplicates('m.x', commit => false)", "SELECT alter_profile('m.prof', k => 5)",
           "SELECT create_profile('mine', base => 'm.prof')", "CALL refresh_duplicates('own')",
           "SELECT create_duplicates('second', 'docs', 'id', 'body', profile => 'm.prof')",
           "CALL refresh_duplicates('second')", "SELECT rename_duplicates('m.x', 'z')", "SELECT drop_duplicates('m.z')",
           "SELECT drop_duplicates('m.x')", "SELECT similar_words('m.wm', 'w31', 3)",
           "SELECT expand_query('m.wm', 'w31')", "SELECT drop_word_model('m.wm')")


def traps(copies):
    """Those that only add something to a table meet the calls together in the short form; their texts tell which has
    run."""
    together = ("triggers", "rules", "checks", "defaults", "defaults of passages", "indexes over expressions",
                "casts of rows", "a column of generated values")
    all_at_once = [
        ("%d things hung on them" % len(together), "; ".join(trap for name, trap in TRAPS if name in together))]
    for name_of, trap in TRAPS if FULL else all_at_once + [t for t in TRAPS if t[0] not in together]:
        with copies.next() as name, connect(name) as conn:
            me = become_reader(conn, True)
            watch = Watch(conn)
            conn.execute("SET ROLE %s" % MALLORY)
            error = sql_error(conn, trap)
            conn.execute("RESET ROLE; UPDATE docs SET body = body || ' again' WHERE id = 9; "
                         "UPDATE m.docs SET body = body || ' again' WHERE id = 9")
            watch.drain()
            if error is not None:
                check("another role's tables with %s are made" % name_of, False, error)
                continue
            bad = []
            for statement in TRAPPED:
                e = sql_error(conn, statement)
                bad += sorted(
                    {"%s: %s, from %s" % (statement, what, where) for what, who, where in watch.drain() if who == me})
                if e is not None and (e.sqlstate is None or e.sqlstate.startswith(UNCLEAN)):
                    bad.append("%s: %s %s" % (statement, e.sqlstate, str(e).splitlines()[0]))
            check("another role's tables with %s: %d calls of a superuser run nothing of it as superuser"
                      % (name_of, len(TRAPPED)), not bad, "%d: %s" % (len(bad), "; ".join(bad)))


BETWEEN = ("DROP TABLE m.x_job", "DROP TABLE m.x", "DROP TABLE m.x_signatures", "DROP TABLE m.x_changes",
           "ALTER TABLE m.x_job RENAME TO y_job", "ALTER TABLE m.x_signatures RENAME TO y_signatures",
           "ALTER TABLE m.x_job SET SCHEMA public", "DROP TABLE m.x_job, m.x, m.x_signatures, m.x_changes",
           "ALTER SCHEMA m RENAME TO gone", "DROP TABLE m.docs", "ALTER TABLE m.docs RENAME TO papers",
           "ALTER TABLE m.docs DROP body", "TRUNCATE m.x_job", "TRUNCATE m.x_signatures")


def between_steps(copies):
    """A refresh commits after each step. What waits for its tables is let in then, before the next step: a third
    session keeps the refresh where it is until the other one waits. It ends in an answer
    or in an error that says what is wrong."""
    bad, states = [], collections.Counter()
    ways = BETWEEN if FULL else BETWEEN[::2]
    for statement in ways:
        with copies.next() as name, connect(name) as conn, connect(name) as holder, connect(name) as other:
            conn.execute("GRANT CREATE ON SCHEMA public TO %s; UPDATE m.docs SET body = body || ' more'" % MALLORY)
            for session in (conn, other):
                session.execute("SET ROLE %s" % MALLORY)
            source = "docs" in statement or "SCHEMA m" in statement  # then the refresh is kept by its result
            holder.execute("BEGIN; LOCK TABLE %s IN ACCESS EXCLUSIVE MODE" % ("m.x_signatures" if source else "m.docs"))
            errors = []
            refresh = Thread(
                target=lambda: errors.append(sql_error(conn, "CALL refresh_duplicates('m.x', 5)")), daemon=True)
            refresh.start()
            wait_until(
                lambda: one(holder, "SELECT pg_backend_pid() = ANY (pg_blocking_pids(%s))", (conn.info.backend_pid,)))
            change = Thread(target=lambda: sql_error(other, statement), daemon=True)
            change.start()
            wait_until(lambda: not change.is_alive() or one(
                holder, "SELECT cardinality(pg_blocking_pids(%s)) > 0", (other.info.backend_pid,)))
            holder.execute("COMMIT")
            refresh.join(60)
            change.join(60)
            e = errors[0] if errors else None
            states[e.sqlstate if e is not None else "ok"] += 1
            if not errors or e is not None and (e.sqlstate is None or e.sqlstate.startswith(("XX", "42601", "42883"))
                                                or re.search(r'"\d{4,}"', str(e))):
                bad.append("%s: %s" % (
                    statement, "%s %s" % (e.sqlstate, str(e).splitlines()[0]) if errors else "the refresh hangs"))
    check("a refresh whose tables change between its steps ends as it ought to (%d ways; ends: %s)" % (
              len(ways), ", ".join("%s %d" % item for item in sorted(states.items()))), not bad, "; ".join(bad))


def wait_until(condition):
    limit = time.monotonic() + 60  # a hang guard
    while not condition() and time.monotonic() < limit:
        time.sleep(0.002)


# Values that nobody's job has, by type; NULL for each besides.
ABSURD = {"bigint": ("-9223372036854775808", "9223372036854775807", "-9223372036854775807", "0", "-1"),
          "integer": ("-2147483648", "2147483647", "0"), "double precision": ("NaN", "Infinity", "-Infinity", "1e308"),
          "timestamp with time zone":
              ("infinity", "-infinity", "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59+00"),
          "interval": ("178000000 years", "-178000000 years"),
          "text": ("", "x" * 100000, "'; SELECT m.evil('text'); --", "listing", "signing", "clustering"),
          "name": ("", '"', "no such"), "name[]": ("{}", "{NULL}", "{{a,b},{c,d}}", "[5:6]={a,b}"),
          "text[]": ("{}", "{NULL}", "{{a,b},{c,d}}"), "regclass": ("0", "4294967295", "1"),
          "regtype": ("0", "4294967295", "1"), "boolean": ("true", "false")}


def absurd_rows(copies):
    """A row of one job that makes no sense costs that row only: others see their own."""
    with copies.next() as name, connect(name) as conn, connect(name) as other, connect(name) as runner:
        become_reader(conn, False)
        other.execute("SET ROLE %s" % MALLORY)
        # the job runs
        runner.execute("SET ROLE %s; BEGIN; SELECT neardup_internal.neardup_lock_job('m.x_job')" % MALLORY)
        columns = other.execute("SELECT attname, format_type(atttypid, NULL) FROM pg_attribute "
                                "WHERE attrelid = 'm.x_job'::regclass AND attnum > 0").fetchall()
        other.execute("CREATE TABLE m.kept AS TABLE m.x_job")
        count, bad = 0, []
        for column, kind in columns:
            for value in ABSURD[kind] + (None,):
                other.execute("UPDATE m.x_job SET phase = 'signing', done = 5, total = 10, phase_started = now() - "
                              "interval '1 minute', pid = %d" % runner.info.backend_pid)
                other.execute("UPDATE m.x_job SET %s = %%s::%s" % (column, kind), (value,))
                count += 1
                e = sql_error(conn, "SELECT s::text FROM duplicates_status s")
                mine = e is None and one(conn, "SELECT count(*) FROM duplicates_status WHERE job::text ~ 'own'")
                if mine != 1:
                    bad.append("%s = %.40s: %s" % (column, value, e or "the reader's own job is not shown"))
                other.execute("DELETE FROM m.x_job; INSERT INTO m.x_job SELECT * FROM m.kept")
        # The full form has two texts of 600 MB: together they fit into no row that is sent.
        length = 600000000 if FULL else 6000000
        other.execute("UPDATE m.x_job SET last_error = repeat('y', %d); UPDATE m.x_job SET phase = repeat('x', %d)" % (
            length, length))
        equal(
            "the texts of another role's job are shown in part",
            conn.execute(
                "SELECT length(phase), length(last_error) FROM duplicates_status WHERE job::text !~ 'own'").fetchall(),
            [(10000, 10000)])
        for rows in (0, 2):
            other.execute(
                "DELETE FROM m.x_job; INSERT INTO m.x_job SELECT k.* FROM m.kept k, generate_series(1, %d)" % rows)
            e = sql_error(conn, "SELECT * FROM duplicates_status")
            bad += ["%d rows: %s" % (rows, e)] if e else []
        check("rows of another role's job that make no sense (%d) leave duplicates_status to the reader" % count,
              not bad, "%d: %s" % (len(bad), "; ".join(bad)))


def sign_sql(copies):
    """The text of neardup_sign_sql() is run later."""
    with copies.next() as name, connect(name) as conn:
        watch = Watch(conn)
        text = one(conn, "SELECT neardup_sign_sql(neardup_profile_named('m.prof'), 'text', 'body')")
        conn.execute("SET ROLE %s" % MALLORY)
        for statement in renamed("m", "rules", "r"):
            conn.execute(statement)
        conn.execute("CREATE FUNCTION m.cast_rule(m.rules) RETURNS neardup_rule LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                     "m.evil('a cast'); RETURN ROW($1.*); END $$")
        conn.execute("CREATE CAST (m.rules AS neardup_rule) WITH FUNCTION m.cast_rule(m.rules) AS IMPLICIT; RESET ROLE")
        e = sql_error(conn, "SELECT %s FROM docs" % text)
        runs = watch.drain()
        check("neardup_sign_sql(): the rules that its text names are those that it looked at (%s)"
                  % (e.sqlstate if e else "no error"), not runs, "%s" % runs[:1])


NAMED = (
    ("drop_duplicates", "SELECT drop_duplicates('s.customers')"),
    ("rename_duplicates", "SELECT rename_duplicates('s.customers', 'other')"),
    ("refresh_duplicates", "CALL refresh_duplicates('s.customers')"),
    ("alter_duplicates", "SELECT alter_duplicates('s.customers', profile => 'web')"),
    ("pause_duplicates", "SELECT pause_duplicates('s.customers')"),
    ("drop_word_model", "SELECT drop_word_model('s.customers')"),
)


def names_alone(copies):
    """A schema where several roles create: what mallory's table of the right type and name seems to own is somebody
    else's."""
    for function, query in NAMED:
        with copies.next() as name, connect(name) as conn:
            conn.execute("CREATE SCHEMA s; GRANT ALL ON SCHEMA s TO PUBLIC; SET ROLE %s; "
                         "CREATE TABLE s.customers (id int8 PRIMARY KEY, cluster int8, representative int8, similarity "
                         "float8, survivor boolean, found_at timestamptz); "
                         "CREATE TABLE s.customers_signatures (id int8 PRIMARY KEY, signature minhash, generation "
                         "int8, gone boolean, place tid, version xid, origin oid, content uuid, key text); "
                         "CREATE TABLE s.customers_changes (a int); "
                         "INSERT INTO s.customers VALUES (1, 1, 1, 1, true, now()); "
                         "INSERT INTO s.customers_signatures (id, gone) VALUES (1, true); "
                         "INSERT INTO s.customers_changes VALUES (1); RESET ROLE" % OWNER)
            conn.execute("SET ROLE %s; CREATE TABLE s.customers_job OF neardup_job; INSERT INTO s.customers_job "
                         "SELECT * FROM m.x_job; CREATE TABLE s.customers_model OF neardup_word_model; "
                         "INSERT INTO s.customers_model SELECT * FROM m.wm_model; RESET ROLE" % MALLORY)
            e = sql_error(conn, query)
            got = [sql_error(conn, "SELECT * FROM " + t) is None and one(conn, "SELECT count(*) FROM " + t)
                   for t in ("s.customers", "s.customers_signatures", "s.customers_changes")]
            equal("%s(): a table of another role's is not touched because of its name (%s)" % (
                      function, e.sqlstate if e else "no error"), got, [1, 1, 1])
            hints = [r[0] for r in conn.execute("SELECT job::text FROM duplicates_status")]
            check("%s(): the status shows no job over tables of another role's" % function, "s.customers" not in hints,
                  hints)


# Mallory changes the columns of his table so, before and after the job of another role
# is made over it: domains, and types with casts.
TYPED = (
    ("a domain with a check, as ids",
     "CREATE DOMAIN m.dom AS int8 CHECK (m.evil('a check of ' || VALUE)); ALTER TABLE m.docs ALTER id TYPE m.dom", "",
     "", None),
    ("a domain over a domain, as within",
     "CREATE DOMAIN m.below AS text CHECK (m.evil('a check')); "
         "CREATE DOMAIN m.dom AS m.below CHECK (m.evil('a check')); ALTER TABLE m.docs ADD g m.dom DEFAULT 'a'",
     ", within => '{g}'", "", None),
    ("a domain that ids become", "", "",
     "CREATE DOMAIN m.dom AS int8 CHECK (m.evil('a check')); ALTER TABLE m.docs ALTER id TYPE m.dom", None),
    ("a domain that an order becomes", "ALTER TABLE m.docs ADD o int8", ", order_by => 'o'",
     "CREATE DOMAIN m.dom AS int4 CHECK (m.evil('a check')); ALTER TABLE m.docs ALTER o TYPE m.dom", "42501"),
    ("an enum that a column becomes, with a cast", "ALTER TABLE m.docs ADD g text DEFAULT 'calm'", ", within => '{g}'",
     "CREATE TYPE m.mood AS ENUM ('calm'); "
         "CREATE FUNCTION m.of_text(text) RETURNS m.mood LANGUAGE plpgsql AS $$ BEGIN PERFORM m.evil('a cast'); "
         "RETURN 'calm'; END $$; "
         "ALTER TABLE m.docs ALTER g DROP DEFAULT, ALTER g TYPE m.mood USING 'calm'; "
         "CREATE CAST (text AS m.mood) WITH FUNCTION m.of_text(text) AS ASSIGNMENT",
     "42501"),
    ("an enum that a column was, with a cast",
     "CREATE TYPE m.mood AS ENUM ('calm'); ALTER TABLE m.docs ADD g m.mood DEFAULT 'calm'", ", within => '{g}'",
     "CREATE FUNCTION m.to_text(m.mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM m.evil('a cast'); "
         "RETURN 'calm'; END $$; "
         "ALTER TABLE m.docs ALTER g DROP DEFAULT, ALTER g TYPE text USING 'calm'; "
         "CREATE CAST (m.mood AS text) WITH FUNCTION m.to_text(m.mood) AS ASSIGNMENT",
     "42501"),
    ("a range that a column becomes, with a measure", "ALTER TABLE m.docs ADD o int8", ", order_by => 'o'",
     "CREATE FUNCTION m.measure(int8, int8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM "
         "m.sly('a measure'); RETURN 1; END $$; "
         "CREATE TYPE m.range AS RANGE (subtype = int8, subtype_diff = m.measure); "
         "ALTER TABLE m.docs ALTER o TYPE m.range USING m.range(o, o + 1)",
     "42501"),
    ("arrays of a domain", "ALTER TABLE m.docs ADD g int8[] DEFAULT '{1}'", ", within => '{g}'",
     "CREATE DOMAIN m.dom AS int8 CHECK (m.evil('a check')); "
         "ALTER TABLE m.docs ALTER g DROP DEFAULT, ALTER g TYPE m.dom[] USING NULL",
     "42501"),
)


def typed(copies):
    """A job over mallory's table: what he has put into the types of its columns is not run with the rights of who
    refreshes it."""
    for what, before, options, after, state in TYPED:
        with copies.next() as name, connect(name) as conn:
            watch = Watch(conn)

            def by_mallory(statements):
                if statements:
                    conn.execute("SET ROLE %s" % MALLORY)
                    conn.execute(statements)
                    conn.execute("RESET ROLE")
            by_mallory(before)
            watch.drain()
            conn.execute("SELECT create_duplicates('public.own', 'm.docs', 'id', 'body'%s)" % options)
            conn.execute("CALL refresh_duplicates('public.own')")
            runs = watch.drain()
            by_mallory(after)
            watch.drain()
            e = sql_error(conn, "CALL refresh_duplicates('public.own')")
            runs += watch.drain()
            check("%s: nothing of who made it runs" % what, not runs, "%s" % runs[:1])
            equal("%s: the refresh ends as it should" % what, e and e.sqlstate, state)


def ranges(copies):
    """Ranges of a type of mallory's, whose measure ANALYZE calls: neither as ids nor as an order; those of PostgreSQL,
    and one's own, are."""
    with copies.next() as name, connect(name) as conn:
        watch = Watch(conn)
        conn.execute("SET ROLE %s; CREATE FUNCTION m.measure(int8, int8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS "
                     "$$ BEGIN PERFORM m.sly('a measure'); RETURN 1; END $$; "
                     "CREATE TYPE m.range AS RANGE (subtype = int8, subtype_diff = m.measure); "
                     "CREATE DOMAIN m.dom AS m.range; "
                     "CREATE TABLE m.ranges AS SELECT m.range(id, id + 1) AS id, m.range(id, id + 1)::m.dom "
                     "AS d, int8range(id, id + 1) AS p, body FROM public.docs; "
                     "GRANT SELECT ON m.ranges TO PUBLIC; RESET ROLE" % MALLORY)
        for what, options, state in (("ids", "'id'", "42501"), ("ids of a domain over it", "'d'", "42501"),
                                     ("an order", "'p', order_by => 'id'", "42501"),
                                     ("within", "'p', within => '{id}'", "42501"), ("PostgreSQL's own", "'p'", None)):
            e = sql_error(
                conn, "SELECT create_duplicates('public.own', 'm.ranges', body => 'body', id => %s)" % options)
            equal("ranges of mallory's type, %s" % what, e and e.sqlstate, state)
        conn.execute("CALL refresh_duplicates('public.own')")
        check("ranges: no measure of mallory's runs", not [r for r in watch.drain() if r[1] != MALLORY])


def suggest(copies):
    """neardup_suggest() over a table of mallory's, whose ids are of a type of his with a cast to text."""
    with copies.next() as name, connect(name) as conn:
        watch = Watch(conn)
        conn.execute("SET ROLE %s; CREATE TYPE m.mood AS ENUM (%s); "
                     "CREATE FUNCTION m.to_text(m.mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                     "m.evil('a cast'); RETURN enum_send($1)::text; END $$; "
                     "CREATE CAST (m.mood AS text) WITH FUNCTION m.to_text(m.mood); "
                     "CREATE TABLE m.moods AS SELECT ('m' || id)::m.mood AS id, body FROM public.docs; "
                     "GRANT SELECT ON m.moods TO PUBLIC; RESET ROLE"
                     % (MALLORY, ", ".join("'m%d'" % i for i in range(1, 31))))
        watch.drain()
        labels = "SELECT a.id, b.id, true FROM m.moods a, m.moods b WHERE a.id = 'm4'::m.mood AND b.id = 'm5'::m.mood"
        e = sql_error(conn, "SELECT * FROM neardup_suggest('SELECT id, body FROM m.moods', $q$%s$q$)" % labels)
        equal("neardup_suggest(): no cast of another role's type runs", (watch.drain(), e and str(e)), ([], None))


def in_anothers_schema(copies):
    """A superuser's job whose tables lie in a schema of mallory's, who may read one of them: while he makes a statement
    wait he renames the schema, and puts another in its place with a table of that name, which has triggers, checks and
    an index of the right name."""
    impostor = ("ALTER SCHEMA m RENAME TO gone; CREATE SCHEMA m; GRANT USAGE ON SCHEMA m TO PUBLIC; "
                "CREATE TABLE m.y_signatures AS TABLE gone.y_signatures; GRANT ALL ON m.y_signatures TO PUBLIC; "
                "ALTER TABLE m.y_signatures ADD CHECK (signature IS NULL OR gone.evil('a check')) NOT VALID; "
                "CREATE INDEX y_signatures_signature_idx ON m.y_signatures (id); "
                "CREATE TRIGGER a BEFORE TRUNCATE ON m.y_signatures FOR EACH STATEMENT EXECUTE FUNCTION gone.fires()")
    for call in ("SELECT alter_duplicates('m.y', profile => 'simhash')",
                 "SELECT alter_duplicates('m.y', threshold => 0.7)", "SELECT rename_duplicates('m.y', 'z')",
                 "SELECT drop_duplicates('m.y')"):
        with copies.next() as name, connect(name) as conn, connect(name) as other:
            conn.execute("SELECT create_duplicates('m.y', 'public.docs', 'id', 'body')")
            conn.execute("CALL refresh_duplicates('m.y')")
            conn.execute("GRANT SELECT ON m.y_signatures TO %s" % MALLORY)
            watch = Watch(conn)
            other.execute("SET ROLE %s" % MALLORY)
            other.execute("BEGIN; SELECT count(*) FROM m.y_signatures")
            watch.drain()
            waited, error, failed = behind(other, [impostor], conn, call)
            runs = [r for r in watch.drain() if r[1] != MALLORY]
            check("%s: it waits for mallory, who exchanges the schema (%s, %s)" % (
                      call, error.sqlstate if error else "no error", failed.sqlstate if failed else "he did"),
                  waited and not runs, "%s" % runs[:1])


def model_in_anothers_schema(copies):
    """A superuser's word model in a schema of mallory's, who keeps a table of it locked by a DROP that he takes back,
    and meanwhile exchanges the schema."""
    exchange = (
        "ALTER SCHEMA m RENAME TO gone; CREATE SCHEMA m; GRANT USAGE ON SCHEMA m TO PUBLIC; "
        "CREATE TABLE m.base OF neardup_word_model; INSERT INTO m.base (words) VALUES (1); "
        "CREATE TABLE m.wm OF neardup_word; CREATE VIEW m.wm_model AS SELECT * FROM m.base WHERE gone.evil('a view')")
    call = "CALL create_word_model('m.wm', 'SELECT body FROM public.docs', 40, 3)"
    for table in ("wm", "wm_model"):
        with copies.next() as name, connect(name) as conn, connect(name) as other, connect(name) as third:
            conn.execute("DROP TABLE m.wm, m.wm_model")
            conn.execute(call)
            conn.execute("UPDATE m.wm_model SET finished = NULL, compared = 0")
            watch = Watch(conn)
            third.execute("SET ROLE %s; SET lock_timeout = '5s'" % MALLORY)
            other.execute("SET ROLE %s; BEGIN; SAVEPOINT a; DROP TABLE m.%s" % (MALLORY, table))
            with waiting_behind(other, conn, call) as (errors, _):
                failed = sql_error(third, exchange)
                other.execute("ROLLBACK TO a; COMMIT")
            runs = [r for r in watch.drain() if r[1] != MALLORY]
            check("create_word_model() waits for %s, and mallory exchanges the schema (%s, %s)" % (
                      table, errors[0] and errors[0].sqlstate, failed and failed.sqlstate),
                  errors and not runs and bool(errors[0]) != bool(failed), "%s %s" % (runs[:1], errors))


def held(copies):
    """A name that was given out for statements, and what stands for it when they are analysed, where nothing keeps the
    schema's name: in a transaction that only reads."""
    for statement in ("SELECT * FROM %s", "EXPLAIN ANALYZE SELECT * FROM %s",
                      "DECLARE c CURSOR FOR SELECT * FROM %s; FETCH ALL c",
                      "WITH w AS (SELECT * FROM %s) SELECT * FROM w"):
        with (copies.shared(undo_exchange(swapped, "m", "docs", "r")) as name, connect(name) as conn,
              connect(name) as other):
            watch = Watch(conn)
            other.execute("SET ROLE %s" % MALLORY)
            conn.execute("BEGIN READ ONLY")
            written = one(conn, "SELECT neardup_internal.neardup_held_name('m.docs')")
            for end in swapped("m", "docs", "r"):
                other.execute(end)
            e = sql_error(conn, statement % written)
            equal("%s: a name that is another relation's by now is an error" % statement,
                  (e and e.sqlstate, [r for r in watch.drain() if r[1] != MALLORY]), ("55000", []))


def held_until(copies):
    """A name is held as long as the lock of who asked for it: to the end of the transaction, or of a subtransaction
    that is undone."""
    for what, before, after, state in (
            ("in a transaction", (), (), "55000"),
            ("in a subtransaction that is undone", ("SAVEPOINT a",), ("ROLLBACK TO a",), None),
            ("in one that is released", ("SAVEPOINT a",), ("RELEASE a",), "55000"),
            ("before one that is undone", (), ("SAVEPOINT a", "ROLLBACK TO a"), "55000"),
            ("in one that is released within one that is undone", ("SAVEPOINT a", "SAVEPOINT b"),
             ("RELEASE b", "ROLLBACK TO a"), None),
            ("in one around one that is undone", ("SAVEPOINT a",), ("SAVEPOINT b", "ROLLBACK TO b"), "55000")):
        with (copies.shared(undo_exchange(swapped, "m", "docs", "r")) as name, connect(name) as conn,
              connect(name) as other):
            other.execute("SET ROLE %s" % MALLORY)
            conn.execute("BEGIN READ ONLY")
            for statement in (*before, "SELECT neardup_internal.neardup_held_name('m.docs')", *after):
                conn.execute(statement)
            for end in swapped("m", "docs", "r"):
                other.execute(end)
            e = sql_error(conn, "SELECT FROM m.docs LIMIT 0")
            equal("a name given out %s" % what, e and e.sqlstate, state)


def own_names(copies):
    """A transaction's own work with names that were given out in it is no exchange."""
    for what, statements in (
            ("a source of another name, a table of the old one",
             ("CALL refresh_duplicates('public.own', commit => false)", "ALTER TABLE public.docs RENAME TO away",
              "CREATE TABLE public.docs AS TABLE away", "SELECT count(*) FROM public.docs")),
            ("a job dropped, tables of its names",
             ("SELECT alter_duplicates('public.own', threshold => 0.7)", "SELECT drop_duplicates('public.own')",
              "CREATE TABLE public.own_job (a int)", "SELECT count(*) FROM public.own_job")),
            ("a job made anew, and not",
             ("SELECT alter_duplicates('public.own', threshold => 0.7)", "SAVEPOINT a",
              "SELECT drop_duplicates('public.own')", "SELECT create_duplicates('public.own', 'docs', 'id', 'body')",
              "ROLLBACK TO a", "SELECT count(*) FROM public.own_job")),
            ("a lexicon dropped, a table of its name",
             ("SELECT i_match('w31 w40 w50', 'public.lex')", "DROP TABLE public.lex", "CREATE TABLE public.lex (a int)",
              "SELECT count(*) FROM public.lex")),
            ("a name in a text",
             ("CALL refresh_duplicates('public.own', commit => false)", "SELECT 'public.docs' FROM m.docs"))):
        with copies.next() as name, connect(name) as conn:
            become_reader(conn, True)
            conn.execute("SELECT create_lexicon('public.lex', 'SELECT body FROM public.docs')")
            conn.execute("BEGIN")
            equal("%s, in one transaction" % what,
                  [str(e) for e in (sql_error(conn, statement) for statement in statements) if e is not None], [])


def main():
    with roles(MALLORY, VICTIM, OWNER), database("_template") as template, contextlib.ExitStack() as stack:
        make(template)
        copies = Copies(template)
        stack.callback(copies.end)
        sections((exchanged, copies), (traps, copies), (between_steps, copies), (absurd_rows, copies),
                 (sign_sql, copies), (names_alone, copies), (typed, copies), (ranges, copies), (suggest, copies),
                 (in_anothers_schema, copies), (model_in_anothers_schema, copies), (held, copies), (held_until, copies),
                 (own_names, copies))


finish(main)
