#!/usr/bin/python3
"""Every SQL function called with invalid arguments (OIDs of nothing, of dropped objects, of an index, a type, a view,
another session's temporary table; names of other roles' objects), and by roles without rights, or with all rows hidden
by row security. Each call returns a result or raises an error that says what is wrong. No result, message, detail or
hint shows a hidden row, and no object of another role is changed or dropped. Texts and arrays that are far too long are
refused at once, or can be cancelled. What a query means is looked at once, whatever its functions set meanwhile."""
import collections
import hashlib

from hostile import quote
from harness import *

OWNER, STRANGER, VISITOR, HIDDEN = ("neardup_t_96_" + r for r in ("owner", "stranger", "visitor", "hidden"))
# Who calls: without any right; with USAGE on the schemas; with SELECT, too, where
# row security hides all rows of schema h.
CALLERS = (STRANGER, VISITOR, HIDDEN)
SEED, ROWS, SECRET = 4242424242, 137, "zzsecret"
SECRETS = (str(SEED), SECRET)

# Schema o: no right to STRANGER; VISITOR has USAGE. Schema h: all may read, row security hides all.
MAKE = """
CREATE SCHEMA o; CREATE SCHEMA h; GRANT USAGE ON SCHEMA o TO {visitor}; GRANT USAGE ON SCHEMA h TO PUBLIC;
CREATE TABLE o.docs (id int8 PRIMARY KEY, body text, bin bytea, sig minhash, sim simhash, dig ctph, items int[],
  big int8[], at timestamptz);
INSERT INTO o.docs SELECT 987654000 + i, b, convert_to(b, 'UTF8'), to_minhash(b, 3, 'word', 64, 32, {seed}),
  to_simhash(b), to_ctph(b), ARRAY[i, 1, 2], ARRAY[i, 1, 2]::int8[], now()
  FROM (SELECT i, '{secret} ' || (SELECT string_agg('{secret}' || (i / 4 * 31 + j * j) % 97, ' ')
    FROM generate_series(1, 40) j) b FROM generate_series(1, {rows}) i) d;
CREATE TABLE h.docs AS TABLE o.docs; ALTER TABLE h.docs ADD PRIMARY KEY (id);
CREATE INDEX docs_sig ON o.docs USING lsh (sig); CREATE INDEX docs_sig ON h.docs USING lsh (sig);
  CREATE INDEX docs_sim ON h.docs USING lsh (sim); CREATE INDEX docs_dig ON h.docs USING lsh (dig);
CREATE INDEX docs_items ON h.docs USING lsh (items);
CREATE VIEW o.seen AS SELECT * FROM o.docs; CREATE MATERIALIZED VIEW o.kept AS SELECT * FROM o.docs;
CREATE TABLE o.parts (id int8, sig minhash, body text) PARTITION BY RANGE (id);
  CREATE TABLE o.part PARTITION OF o.parts DEFAULT; CREATE INDEX parts_sig ON o.parts USING lsh (sig);
CREATE SEQUENCE o.counter; CREATE TYPE o.pair AS (a int, b text); CREATE TABLE o.empty ();
CREATE TABLE o.gone (id int8 PRIMARY KEY, body text, sig minhash); CREATE INDEX gone_sig ON o.gone USING lsh (sig);
"""
MAKE_STEPS = (
    "SELECT create_profile('{s}.prof', rules => NULL, seed => {seed})",
    "SELECT create_lexicon('{s}.lex', 'SELECT body FROM {s}.docs')",
    "CALL create_word_model('{s}.wm', 'SELECT body FROM {s}.docs', 40, 3)", "CREATE TABLE {s}.rules OF neardup_rule",
    "INSERT INTO {s}.rules SELECT '{secret}', kind, pattern, replacement, position FROM neardup_default_rules() "
        "LIMIT 2",
    "SELECT create_duplicates('{s}.job', '{s}.docs', 'id', 'body', filter => 'body <> ''{secret}''')",
    "CALL refresh_duplicates('{s}.job')")
# Nobody sees a row, and to find that out takes longer than any measure.
HIDE = """CREATE FUNCTION h.visible(t text) RETURNS boolean LANGUAGE plpgsql STABLE COST 100000 AS $$ BEGIN RETURN
    false; END $$;
DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'h'::regnamespace
  AND relkind = 'r' LOOP
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t); EXECUTE format('GRANT SELECT ON %s TO PUBLIC', t);
  EXECUTE format('CREATE POLICY p ON %s USING (h.visible(%s::text))', t, (SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = t AND attnum = 1)); END LOOP; END $$"""

OID_TYPES = ("regclass", "regtype", "regdictionary", "oid")
NAME_TYPES = ("text", "name", "name[]")
# Values that are sensible, by an argument's name, else by its type.
SENSIBLE = {
    "threshold": "0.8", "query": "'SELECT id, body FROM h.docs'", "query_a": "'SELECT id, sig FROM h.docs'",
    "query_b": "'SELECT id, sig FROM h.docs'", "unit": "'word'", "linkage": "'anchor'", "profile": "'default'",
    "id": "'id'", "body": "'body'", "source": "'h.docs'", "verify": "NULL", "keep": "'oldest'", "order_by": "NULL",
    "within": "'{}'", "at": "NULL", "signature": "NULL", "filter": "NULL", "deleted": "NULL", "suffix": "''",
    "kind": "'TABLE'", "expression": "'id'", "condition": "'true'", "what": "'it'", "model": "'h.wm'",
    "lexicon": "'h.lex'", "index": "'h.docs_sig'", "job": "'h.job_job'", "col": "'id'", "base": "'default'",
    "num_perm": "64", "bits": "32", "functions": "64", "grid": "32", "length": "256", "low": "0", "high": "1",
    "invalid": "'drop'", "identical": "'all'", "labels": "NULL", "state": "'22023'", "language": "'english'",
    "new": "'renamed'", "old": "'h.job'", "keys": "'SELECT id, body FROM h.docs'", "word": "'a'",
    "context": "'sentence'", "encoding": "NULL", "script": "NULL", "rules": "NULL", "verify_threshold": "NULL",
    "at_most_apart": "NULL", "name": "'h.job'", "relation": "'h.wm'", "words": "'h.wm'", "settings": "'h.wm_model'"}
BY_TYPE = {"text": "'a b c'", "name": "'id'", "integer": "3", "bigint": "1", "smallint": "1", "double precision": "0.5",
           "boolean": "true", "bytea": "'abc'", "regclass": "'h.docs'", "regtype": "'text'",
           "regdictionary": "'simple'", "oid": "1", "interval": "'1 h'", "minhash": "to_minhash('a b c d')",
           "simhash": "to_simhash('a b c d')", "ctph": "to_ctph('a b c d')",
           "lsh_query": "with_threshold(to_minhash('a b c d'), 0.8)", "text[]": "'{a,b}'", "bigint[]": "'{1,2}'",
           "integer[]": "'{1,2}'", "smallint[]": "'{1,2}'", "real[]": "'{1,2}'", "double precision[]": "'{1,2}'",
           "name[]": "'{}'", "anyelement": "NULL::int8", "bit": "'1'::bit(64)", "point[]": "'{}'",
           "neardup_rule[]": "'{}'", "boolean[]": "'{t,f}'",
           "neardup_job": "(SELECT jsonb_populate_record(NULL::neardup_job, k.j) FROM kept_job k)",
           "neardup_profile": "neardup_profile_named('default')", "neardup_word_model": "NULL"}
# Rows of our types with another's in them: what the functions make SQL of.
ROWS_OF = {"neardup_job": ("source", "profile", "within", "filter", "signature", "body"),
           "neardup_profile": ("rules", "script", "encoding", "unit", "signature"),
           "neardup_word_model": ("query", "dictionary")}
# This text is too long for any name or option; the server makes it. Code that reads it by steps that
# grow takes a second of processor time and more.
LONG = 400000
LONG_TEXTS = ["repeat('\"', %d)" % LONG, "'\"' || repeat('\"\"', %d) || 'a\"'" % (LONG // 2),
              "repeat('a.', %d) || 'a'" % (LONG // 2)]
MORE_LONG_TEXTS = ["repeat('%s', %d)" % (c, LONG) for c in ("x", " ", "(", "''", "\\", "1", "a,")] + [
    "'1' || repeat('+1', %d)" % (LONG // 2), "'SELECT 1' || repeat(' UNION SELECT 1', %d)" % (LONG // 15)]
LONG_ARRAYS = ["array_fill('id'::text, ARRAY[%d])" % (LONG // 4),
               "ARRAY(SELECT i::text FROM generate_series(1, %d) i)" % (LONG // 4)]
LONG_MOST = 0.5  # seconds of processor time, of which the server's own parser takes 0.3
BAD_STATES = re.compile("XX000|XX002|57P|58|P0004")


def prepare(conn, admin_of):
    """Makes all; the OIDs to call with: {what: oid}."""
    for role in (OWNER,) + CALLERS:
        conn.execute("DROP ROLE IF EXISTS %s" % role)
        conn.execute("CREATE ROLE %s" % role)
    conn.execute("GRANT CREATE ON DATABASE %s TO %s; CREATE FOREIGN DATA WRAPPER nothing; "
                 "CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing; GRANT USAGE ON FOREIGN SERVER nowhere TO %s"
                 % (admin_of, OWNER, OWNER))
    conn.execute("SET ROLE %s" % OWNER)
    conn.execute(MAKE.format(visitor=VISITOR, seed=SEED, secret=SECRET, rows=ROWS))
    conn.execute("CREATE FOREIGN TABLE o.far (id int8, sig minhash, body text) SERVER nowhere")
    for schema in ("o", "h"):
        for statement in MAKE_STEPS:
            conn.execute(statement.format(s=schema, seed=SEED, secret=SECRET))
    conn.execute(HIDE)
    conn.execute("RESET ROLE; CREATE TABLE public.kept_job AS SELECT to_jsonb(j) - 'filter' AS j FROM h.job_job j; "
                 "GRANT SELECT ON kept_job TO PUBLIC")
    oids = {"0": 0, "1": 1, "4294967295": 4294967295}
    queries = {"a dropped table": "'o.gone'::regclass", "a dropped index": "'o.gone_sig'::regclass",
               "a table": "'o.docs'::regclass", "an index": "'o.docs_pkey'::regclass",
               "an lsh index": "'o.docs_sig'::regclass", "a table of hidden rows": "'h.docs'::regclass",
               "an lsh index of hidden rows": "'h.docs_sig'::regclass",
               "another of hidden rows": "'h.docs_sim'::regclass", "a type": "'minhash'::regtype",
               "a row type": "'o.pair'::regtype", "a row type's relation": "'o.pair'::regclass",
               "a toast table": "(SELECT reltoastrelid FROM pg_class WHERE oid = 'o.docs'::regclass)",
               "a toast table's index":
                   "(SELECT indexrelid FROM pg_index WHERE indrelid = (SELECT reltoastrelid FROM pg_class "
                   "WHERE oid = 'o.docs'::regclass))",
               "a view": "'o.seen'::regclass", "a materialized view": "'o.kept'::regclass",
               "a foreign table": "'o.far'::regclass", "a partitioned table": "'o.parts'::regclass",
               "a partitioned index": "'o.parts_sig'::regclass", "a sequence": "'o.counter'::regclass",
               "a table without columns": "'o.empty'::regclass", "a catalog": "'pg_class'::regclass",
               "a catalog of secrets": "'pg_authid'::regclass",
               "a function": "'neardup_internal.job_status()'::regprocedure", "a schema": "'o'::regnamespace",
               "a role": "'%s'::regrole" % OWNER, "a dictionary": "'english_stem'::regdictionary",
               "another role's job": "'o.job_job'::regclass", "a hidden job": "'h.job_job'::regclass",
               "a job's signatures": "'o.job_signatures'::regclass", "a profile": "'o.prof'::regclass",
               "a lexicon": "'o.lex'::regclass", "a hidden lexicon": "'h.lex'::regclass",
               "a word model": "'o.wm'::regclass", "a hidden word model": "'h.wm'::regclass",
               "settings of a word model": "'o.wm_model'::regclass"}
    for what, query in queries.items():
        oids[what] = one(conn, "SELECT (%s)::oid::int8" % query)
    return oids


def hostile_names():
    """Names and texts to call with."""
    objects = ["%s.%s" % (s, n) for s in ("o", "h") for n in (
        "docs", "docs_sig", "job", "job_job", "job_signatures", "prof", "rules", "lex", "wm", "wm_model")]
    return objects + ["o.seen", "o.far", "o.parts", "o.counter", "o.pair", "o.no_such", "no_such.t",
                      "pg_catalog.pg_authid", "pg_toast.pg_toast_1255", "pg_temp.t", "265629", "", '"', "a.b.c",
                      '"a"."', "docs; DROP TABLE o.docs", "SELECT * FROM o.docs", "SELECT id, body FROM o.docs",
                      "SELECT id, sig FROM h.docs", "SELECT id, body FROM h.docs",
                      "SELECT id, sig, body AS doc FROM h.docs", "SELECT body FROM h.docs", "TABLE o.seen",
                      "SELECT 1, rolpassword FROM pg_authid", "(SELECT max(body) FROM o.docs)", "body FROM o.docs; --",
                      "'; DROP TABLE o.docs; --", "x" * 100, "\u00e4" * 64]


def extension_functions(conn):
    """(name, kind, returns a set, types, names of the arguments, whether the last is VARIADIC)"""
    rows = conn.execute("""
        SELECT p.oid::regproc::text, prokind::text, proretset, ARRAY(SELECT format_type(t, NULL)
          FROM unnest(proargtypes) WITH ORDINALITY u(t, n) ORDER BY n), proargnames, provariadic <> 0
        FROM """ + OUR_FUNCTIONS + """ WHERE prokind IN ('f', 'p') ORDER BY p.oid""").fetchall()
    return [(n, k, s, types, (names or [])[:len(types)], v) for n, k, s, types, names, v in rows
            if not {"internal", "cstring", "trigger"} & set(types) and n not in ("neardup_guard", "neardup_flag")]


def sensible(kind, name):
    text = SENSIBLE.get(name, BY_TYPE.get(kind, "NULL"))
    if name in SENSIBLE and kind not in NAME_TYPES + OID_TYPES and text not in ("NULL", "0.8"):
        text = BY_TYPE.get(kind, "NULL")
    return text if kind in ("anyelement", "bit") or kind.startswith("neardup_") and text != "NULL" else "%s::%s" % (
        text, kind)


def wrong_calls(function, oids, names):
    """(what is wrong in it, the call). In the short form with every third name, another third for each function."""
    if not FULL:
        names = names[len(function[0]) % 3::3]
    name, kind, is_set, types, argument_names, variadic = function
    good = [sensible(t, argument_names[i] if i < len(argument_names) else "") for i, t in enumerate(types)]

    def call(i, value):
        given = good[:i] + [value] + good[i + 1:]
        text = "%s(%s)" % (name, ", ".join(given[:-1] + ["VARIADIC " + given[-1]] if variadic else given))
        return "CALL " + text if kind == "p" else "SELECT * FROM %s LIMIT 50" % text
    yield "as it is meant", call(0, good[0]) if types else "SELECT * FROM %s() LIMIT 50" % name
    for i, t in enumerate(types):
        if t in OID_TYPES:
            for what, oid in oids.items():
                yield what, call(i, "%d::oid::%s" % (oid, t))
        elif t in ("text", "name"):
            for n in names:
                yield n, call(i, "%s::%s" % (quote(n), t))
        elif t in ROWS_OF:
            for column in ROWS_OF[t]:
                values = ["%d::oid::regclass" % o for o in oids.values()] if column == "source" else [
                    "ARRAY[%s]::name[]" % quote(n) for n in names[:12]] if column == "within" else [
                    quote(n) for n in names]
                for value in values:
                    base = good[i] if good[i] != "NULL::" + t else "NULL::" + t
                    fields = "jsonb_build_object('%s', %s)" % (column, value)
                    yield "%s = %s" % (column, value), call(i, "jsonb_populate_record(%s, %s)" % (base, fields))


def long_calls(function):
    """Each argument that is a text, or an array of texts, in turn far too long."""
    name, kind, is_set, types, argument_names, variadic = function
    good = [sensible(t, argument_names[i] if i < len(argument_names) else "") for i, t in enumerate(types)]
    texts = LONG_TEXTS + MORE_LONG_TEXTS * FULL
    values = {"text": texts, "text[]": ["ARRAY[%s]" % t for t in texts] + LONG_ARRAYS, "name[]": LONG_ARRAYS}
    for i, t in enumerate(types):
        given = ["(%s)::%s" % (v, t) for v in values.get(t, ())]
        given += ["jsonb_populate_record(%s, jsonb_build_object('%s', %s))" % (good[i], column, text)
                  for column in ROWS_OF.get(t, ()) for text in texts if column not in ("source", "within")
                  and good[i] != "NULL"]
        for value in given:
            arguments = good[:i] + [value] + good[i + 1:]
            text = "%s(%s)" % (name,
                               ", ".join(arguments[:-1] + ["VARIADIC " + arguments[-1]] if variadic else arguments))
            yield "CALL " + text if kind == "p" else "SELECT count(*) FROM (SELECT * FROM %s LIMIT 50) made" % text


def long_arguments(name, functions):
    """They end soon after statement_timeout, if not before it, whatever they make of what is too long for them."""
    with connect(name) as conn:
        conn.execute("SET statement_timeout = '50ms'")
        tried, slow, bad = 0, [], []
        for call in (c.replace(", true::boolean)", ", false::boolean)") for f in functions for c in long_calls(f)):
            tried += 1
            conn.execute("BEGIN")
            before = cpu_seconds(conn.info.backend_pid)
            e = sql_error(conn, call)
            used = cpu_seconds(conn.info.backend_pid) - before
            # A call that did not see the cancel leaves it to the next statement, and a ROLLBACK may fail.
            while conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                sql_error(conn, "ROLLBACK")
            if used > LONG_MOST:
                slow.append("%.2f s: %.200s" % (used, call))
            if e is not None and (e.sqlstate is None or BAD_STATES.match(e.sqlstate) and e.sqlstate != "57014"):
                bad.append("%s %.100s: %.200s" % (e.sqlstate, e, call))
        check("%d calls with arguments that are far too long end when asked" % tried,
              tried > 100 and not slow and not bad, "%d: %s" % (len(slow + bad), "; ".join((slow + bad)[:3])))
        for line in slow + bad:
            print("    " + line)


class Caller:
    """A role's session; how its calls ended, and what was wrong with that."""

    def __init__(self, database_name, role):
        self.name, self.role, self.notices = database_name, role, []
        self.ends, self.bad, self.calls = collections.Counter(), [], 0
        self.open()

    def open(self):
        self.conn = connect(self.name)
        self.conn.add_notice_handler(lambda d: self.notices.append(
            " ".join(filter(None, (d.message_primary, d.message_detail, d.message_hint)))))
        self.conn.execute("SET statement_timeout = '10s'; SET work_mem = '4MB'")
        if self.role is not None:
            self.conn.execute("SET ROLE %s" % self.role)

    def run(self, call):
        self.calls += 1
        self.notices.clear()
        said, answer = "", ""
        if self.role is None and call.startswith("CALL"):
            call = call.replace(", true::boolean)", ", false::boolean)")  # no COMMIT: what a superuser does is undone
        try:
            if self.role is None:
                self.conn.execute("BEGIN")
            cursor = self.conn.execute(call.encode())
            answer = repr(cursor.fetchall()) if cursor.description else ""
            state = "ok"
        except psycopg.Error as e:
            state = e.sqlstate or "lost"
            d = e.diag
            said = " / ".join(filter(None, (d.message_primary, d.message_detail, d.message_hint,
                                            d.context if self.role is not None else None))) or str(e)
        if self.role is None and not self.conn.closed:
            self.conn.execute("ROLLBACK")
        self.ends[state] += 1
        self.judge(call, state, said, answer)
        if self.conn.closed:
            self.open()

    def judge(self, call, state, said, answer):
        if BAD_STATES.match(state) or state == "lost":
            self.bad.append(("ends in %s" % state, said, call))
        elif state == "42601" and re.search(r'at or near "\d{3,}"', said) and "'265629'" not in call:
            self.bad.append(("a number in the place of a name", said, call))
        if self.role is None:
            return
        # A message may quote the call: a value in it is no secret.
        for secret in SECRETS:
            if secret in " ".join(self.notices + [said]).replace(call, "") and secret not in call:
                self.bad.append(("a hidden value in a message", said or self.notices[0], call))
            if secret in answer and secret not in call:
                self.bad.append(("a hidden value in an answer", answer[:200], call))
        if re.search(r"\b(?:lsh_\w+|explain_pair)\(", call) and re.search(r"\b%d\b" % ROWS, answer):
            self.bad.append(("the number of hidden rows", answer[:200], call))

    def report(self, what):
        kinds = {}
        for kind, said, call in self.bad:
            kinds.setdefault((kind, re.match(r"\w+ (?:\* FROM )?(?:public\.)?(\w+)", call).group(1)), []).append(
                (said, call))
        check("%d %s as %s end as they ought to (%s)" % (
                  self.calls, what, self.role or "superuser",
                  ", ".join("%s %d" % item for item in self.ends.most_common(8))), not kinds,
              "; ".join("%s: %s %d" % (f, kind, len(found)) for (kind, f), found in kinds.items()))
        for (kind, f), found in kinds.items():
            print("    %s: %s (%d), such as %.400s: %.200s" % (
                f, kind, len(found), found[0][1], " ".join(found[0][0].split())))
        self.bad, self.ends, self.calls = [], collections.Counter(), 0


def foreign_rows(conn):
    """The relations of other roles as the catalogs have them, and their rows."""
    rows = conn.execute(
        "SELECT oid::int8, relname::text, relowner::int8, relacl::text, relkind::text, reloptions::text, relnatts "
        "FROM pg_class WHERE relnamespace IN ('o'::regnamespace, 'h'::regnamespace) ORDER BY 1").fetchall()
    found = {}
    for row in rows:
        content = None
        if row[4] in "rm":
            table = one(conn, "SELECT %s::oid::regclass::text", (row[0],))
            content = hashlib.md5(
                repr(sorted(conn.execute("SELECT x::text FROM %s x" % table).fetchall())).encode()).hexdigest()
        found["%s %d" % (row[1], row[0])] = (row, content)
    return found


def row_security(name):
    """Conditions over rows that row security hides: no error, no row, whatever the condition compares them with."""
    tried, bad = 0, []
    with connect(name) as admin, connect(name) as conn:
        functions = admin.execute("""
            SELECT p.oid::regproc::text, ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes)
              WITH ORDINALITY u(t, n) ORDER BY n), format_type(prorettype, NULL), proleakproof
            FROM """ + OUR_FUNCTIONS + """ WHERE prokind = 'f' AND NOT proretset""").fetchall()
        operators = admin.execute("""
            SELECT oprname::text, format_type(oprleft, NULL), format_type(oprright, NULL), format_type(oprresult, NULL)
              FROM pg_operator o
            JOIN pg_depend d ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e'
              WHERE oprkind = 'b'""").fetchall()
        columns = {"minhash": "sig", "simhash": "sim", "ctph": "dig", "integer[]": "items", "bigint[]": "big",
                   "text": "body", "bytea": "bin"}
        others = {"minhash": ("to_minhash('a b c d')", "to_minhash('a b c d', 3, 'word', 32, 8, 7)"),
                  "simhash": ("to_simhash('a')",), "ctph": ("to_ctph('a')", "ctph_long('a b c'::text, 256)"),
                  "lsh_query": ("with_threshold(to_minhash('a b c d'), 0.8)",
                                "neardup_internal.lsh_hamming_query(to_simhash('a'), 3)",
                                "neardup_internal.lsh_rate_query(to_ctph('a'), 0.1)",
                                "neardup_internal.lsh_set_query(ARRAY[1, 2]::int8[], 0.5)"),
                  "integer[]": ("'{1}'::int[]", "'{NULL}'::int[]"), "bigint[]": ("'{1}'::int8[]",),
                  "double precision": ("0.5", "'NaN'"), "integer": ("1", "-1"), "text": ("'a'",),
                  "bytea": ("'a'::bytea",), "bigint": ("1",)}
        expressions = []
        for f, types, result, leakproof in functions:
            if types and types[0] in columns and all(t in others for t in types[1:]) and len(types) <= 3:
                for value in others.get(types[1], ("",)) if len(types) > 1 else ("",):
                    rest = [others[t][0] for t in types[2:]]
                    expressions.append(
                        ("%s(%s)" % (f, ", ".join([columns[types[0]]] + ([value] if value else []) + rest)), result))
        for op, left, right, result in operators:
            if left in columns:
                expressions += [
                    ("%s OPERATOR(public.%s) %s" % (columns[left], op, v), result) for v in others.get(right, ())]
        conn.execute("SET ROLE %s; SET statement_timeout = '10s'" % HIDDEN)
        for settings in ("SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off",
                         "SET enable_seqscan = off; SET enable_indexscan = on; SET enable_bitmapscan = on"):
            conn.execute(settings)
            for expression, result in expressions:
                forms = {"boolean": ("%s", "NOT (%s)")}.get(
                    result,
                    ("(%s) >= 0.9", "(%s) <= 0.1") if result in ("double precision", "integer") else ("(%s) IS NULL",))
                for form in forms:
                    condition = form % expression
                    tried += 1
                    query = "SELECT id FROM h.docs WHERE " + condition
                    e = sql_error(conn, query)
                    text = "" if e is None else "%s %s %s" % (e.sqlstate, e.diag.message_primary, e.diag.message_detail)
                    # an error may be of the constant alone: then it comes without the table, too
                    if e is not None and sql_error(
                            conn,
                            "SELECT FROM (SELECT NULL::minhash AS sig, NULL::simhash AS sim, NULL::ctph AS dig, "
                                "NULL::int[] AS items, NULL::int8[] AS big, NULL::text AS body, "
                                "NULL::bytea AS bin WHERE false) d WHERE " + condition) is None:
                        bad.append("%s: %s" % (condition, text))
                    elif any(s in text for s in SECRETS):
                        bad.append("%s tells: %s" % (condition, text))
    kinds = sorted({re.sub(r"\d+", "N", b) for b in bad})
    check("%d conditions over hidden rows, with the indexes and without: neither a row nor an error of theirs" % tried,
          tried > 100 and not bad, "%d: %s" % (len(bad), "; ".join(kinds[:3])))
    for kind in kinds[:40]:
        print("    %.300s" % kind)


PATHS = """
CREATE SCHEMA first_in_path; CREATE SCHEMA second_in_path;
CREATE TABLE first_in_path.docs AS SELECT i::int8 AS id, set_minhash(ARRAY[i, i + 1], 32) AS sig, i::text AS key
  FROM generate_series(1, 20) i;
CREATE TABLE second_in_path.docs AS SELECT id, 4711 AS sig, 4711 AS key FROM first_in_path.docs;
CREATE FUNCTION take_second_path() RETURNS bool LANGUAGE plpgsql AS $$BEGIN PERFORM set_config('search_path',
  'second_in_path, public', false); RETURN true; END$$;
CREATE FUNCTION take_it_while_planning() RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN take_second_path();
  END$$;
"""
# PostgreSQL reads the names of a query again when search_path is another one: a function of the first query sets it
# before the second runs, or while the planner counts the rows of both.
BY_TWO_PATHS = (
    "SELECT * FROM pairs_between('SELECT id, sig FROM first_in_path.docs WHERE take_second_path()', 'SELECT id, sig "
        "FROM docs', 0.5)",
    "SELECT * FROM pairs_between('SELECT id, sig FROM docs WHERE take_it_while_planning()', 'SELECT id, sig "
        "FROM first_in_path.docs', 0.5)",
    "SELECT * FROM blocked_pairs('SELECT id, key FROM first_in_path.docs WHERE take_second_path()', 'SELECT id, key "
        "FROM docs')",
    "SELECT * FROM oversized_blocks('SELECT id, key FROM first_in_path.docs WHERE take_second_path()', 'SELECT id, key "
        "FROM docs')",
)


def two_paths(name):
    with connect(name) as conn:
        conn.execute(PATHS)
    for call in BY_TWO_PATHS:
        with connect(name) as conn:
            conn.execute("SET search_path = first_in_path, public")
            fails("names that mean another table when it is read: " + call, conn, call,
                  text="cached plan must not change result type", state="0A000")
            conn.execute("SET search_path = first_in_path, public")
            equal(
                "the same without a change: " + call,
                sql_error(conn, call.replace("take_second_path()", "true").replace("take_it_while_planning()", "true")),
                None)


# The check of a domain runs whenever a value becomes one, that of a declared variable included.
TRAP = """
CREATE SCHEMA trap; CREATE SEQUENCE trap.sprung;
CREATE FUNCTION trap.spring() RETURNS bool LANGUAGE plpgsql AS $$BEGIN PERFORM pg_catalog.nextval('trap.sprung');
  RETURN true; END$$;
"""
TRAP_TYPES = {"record": "text", **{t: t for t in (
    "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "name", "oid", "regclass",
    "regtype", "refcursor", "timestamptz", "interval", "jsonb")}}
# The values that functions in PL/pgSQL are called with, by the names of their arguments.
TRAP_ARGUMENTS = {
    "job": "o.job_job", "path_column": "body", "same": "%s OPERATOR(pg_catalog.=) %s", "aliases": "{a}", "ids": "{b}",
    "characters": 9, "most": 5, "largest": 5, "with_texts": True, "as_bytes": False, "has_within": False,
    "query": "SELECT id, body FROM o.docs", "min_units": 5, "unit": "word", "at_least": 2, "most_passages": 5,
    "most_documents": 5, "model": "o.wm", "w1": "a", "w2": "b", "word": "a", "k": 3}


def trapped_types(name):
    """Functions in PL/pgSQL look types up by name at their first call of a session, perhaps in another schema first."""
    with connect(name) as conn:
        conn.execute(TRAP)
        for domain, base in TRAP_TYPES.items():
            conn.execute("CREATE DOMAIN trap.%s AS pg_catalog.%s CHECK (trap.spring())" % (domain, base))
        functions = conn.execute("""
            SELECT p.oid::regproc::text, proargnames::text[], ARRAY(SELECT n.nspname || '.' || y.typname
              FROM unnest(proargtypes) WITH ORDINALITY u(t, i) JOIN pg_type y ON y.oid = t
              JOIN pg_namespace n ON n.oid = y.typnamespace ORDER BY i)
            FROM """ + OUR_FUNCTIONS + """
              JOIN pg_language l ON l.oid = prolang AND lanname = 'plpgsql' ORDER BY 1""").fetchall()

    def ended(statement):
        """(the error or None, whether the trap has sprung), in a session of its own"""
        with connect(name) as conn:
            conn.execute("SELECT setval('trap.sprung', 1, false); SET search_path = trap, public, pg_catalog")
            e = sql_error(conn, statement)
            return e and str(e), one(conn, "SELECT is_called FROM trap.sprung")
    equal("a type that is not qualified is the one of the trap",
          ended("DO $$DECLARE r record := ROW(1); BEGIN END$$"), (None, True))
    check("functions in PL/pgSQL are called", len(functions) > 15, len(functions))
    equal_all("and their types are PostgreSQL's own", [(f, ended("SELECT * FROM %s(%s)" % (f, ", ".join(
        "%s::%s" % (quote(str(TRAP_ARGUMENTS[n])), t) for n, t in zip(names, types)))), (None, False))
        for f, names, types in functions])


def main():
    with database() as name:
        try:
            with connect(name) as conn, connect(name) as other:
                oids = prepare(conn, name)
                other.execute(
                    "CREATE TEMP TABLE t (id int8 PRIMARY KEY, body text, sig minhash); "
                    "INSERT INTO t VALUES (1, '%s', to_minhash('a b c')); "
                    "CREATE INDEX t_sig ON t USING lsh (sig); "
                    "CREATE TEMP TABLE j_job OF neardup_job; CREATE TEMP TABLE w OF neardup_word; "
                    "CREATE TEMP TABLE w_model OF neardup_word_model; CREATE TEMP TABLE p OF neardup_profile" % SECRET)
                for table in ("t", "t_sig", "j_job", "w", "w_model", "p"):
                    oids["another session's temporary %s" % table] = one(
                        other, "SELECT '%s'::regclass::oid::int8" % table)
                names = hostile_names() + [
                    one(other, "SELECT nspname::text FROM pg_namespace WHERE oid = pg_my_temp_schema()") + "." + t
                    for t in ("t", "j", "w", "p")]
                conn.execute("DROP TABLE o.gone")
                functions = extension_functions(conn)
                before = foreign_rows(conn)
                calls = [c for f in functions for _, c in wrong_calls(f, oids, names)]
                print("note: %d functions, %d OIDs, %d names, %d calls of each role" % (
                    len(functions), len(oids), len(names), len(calls)))
                for role in CALLERS + (None,) if FULL else (STRANGER, HIDDEN, None):
                    caller = Caller(name, role)
                    # The first and the last may do the same, so each meets one half in the short form.
                    for call in calls if FULL or role == HIDDEN else calls[::2] if role else calls[1::2]:
                        caller.run(call)
                    caller.report("calls")
                    after = foreign_rows(conn)
                    equal_all(
                        "and nothing of other roles' is otherwise afterwards (%s)" % (role or "superuser, rolled back"),
                        [(k, after.get(k), v) for k, v in before.items()])
                    caller.conn.close()
            sections((row_security, name), (long_arguments, name, functions), (two_paths, name), (trapped_types, name))
        finally:
            with connect(name) as conn:
                for role in (OWNER,) + CALLERS:
                    sql_error(conn, "DROP OWNED BY %s CASCADE" % role)
    with psycopg.connect(autocommit=True) as admin:
        for role in (OWNER,) + CALLERS:
            admin.execute("DROP ROLE IF EXISTS %s" % role)


finish(main)
