"""A schema with operators, functions, aggregates and casts that PostgreSQL finds if a name is looked up without its
schema: for each operator and function that our scripts use, one that fits its arguments better than that of pg_catalog,
and one that fits as well.

PostgreSQL takes the operator or function whose argument types fit best, in any schema of the search_path; of two that
fit equally the first in the path. So `oid = regnamespace` takes one of exactly that signature from any schema before
oid = oid of pg_catalog. Each of ours raises a WARNING that it runs, and as which role, counts in a sequence, which no
rollback resets, and returns the right answer."""
import glob
import itertools
import re

from harness import *
from psycopg.types.json import Jsonb

TYPES = ("oid", "regclass", "regtype", "regproc", "regprocedure", "regoperator", "regnamespace", "regrole",
         "regdictionary", "name", "text", "varchar", "bpchar", '"char"', "int2", "int4", "int8", "float4", "float8",
         "numeric", "bool", "interval", "timestamptz", "timestamp", "date", "bytea", "uuid", "jsonb", "bit", "xid",
         "cid", "tid", "pg_node_tree", "text[]", "name[]", "varchar[]", "int2[]", "int4[]", "int8[]", "float8[]",
         "oid[]", "bool[]", "int2vector", "oidvector", "regtype[]", "uuid[]")
FEW_TYPES = ("oid", "regclass", "regtype", "regnamespace", "name", "text", "varchar", "bpchar", '"char"', "int2",
             "int4", "int8", "float8", "numeric", "bool", "interval", "timestamptz", "date", "bytea", "uuid", "text[]",
             "name[]", "int4[]", "int8[]", "float8[]")
# The types to try for arguments of any type.
ANY_TYPES = ("text", "name", "regclass", "varchar", "int4", "int8", "float8", "oid", "bool", "regtype")
OWN_TYPES = ("minhash", "simhash", "ctph", "lsh_query", "minhash[]")
MOST_SIGNATURES = 3000 if FULL else 150  # of one function of pg_catalog
MARK = "hostile"

# The honest answers of aggregates, one value at a time.
AGGREGATES = {
    "string_agg":
        "IF $2 IS NULL THEN RETURN $1; END IF; IF $1 IS NULL THEN RETURN $2; END IF; "
        "RETURN pg_catalog.concat($1, $3, $2);",
    "array_agg": "RETURN pg_catalog.array_append($1, $2);",
    "count": "RETURN COALESCE($1, 0) OPERATOR(pg_catalog.+) 1;",
    "sum": "IF $2 IS NULL THEN RETURN $1; END IF; RETURN COALESCE($1 OPERATOR(pg_catalog.+) $2, $2);",
    "max": "RETURN GREATEST($1, $2);", "min": "RETURN LEAST($1, $2);",
    "bool_and": "RETURN COALESCE($1, true) AND COALESCE($2, true);",
    "bool_or": "RETURN COALESCE($1, false) OR COALESCE($2, false);",
}

HELPERS = """
CREATE FUNCTION pg_temp.result_of(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE t text;
BEGIN
  EXECUTE pg_catalog.format('SELECT pg_catalog.pg_typeof(x)::text
    FROM (SELECT 1) one LEFT JOIN (SELECT %s AS x LIMIT 0) s ON true', expression) INTO t;
  RETURN t;
EXCEPTION WHEN OTHERS THEN RETURN NULL;
END $$;
CREATE FUNCTION pg_temp.make(statements text[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. pg_catalog.cardinality(statements) LOOP EXECUTE statements[i]; END LOOP;
  RETURN true;
EXCEPTION WHEN OTHERS THEN RETURN false;
END $$;
"""

BASIS = """
CREATE SCHEMA {schema};
GRANT USAGE ON SCHEMA {schema} TO PUBLIC;
CREATE SEQUENCE {schema}.trace;
GRANT ALL ON SEQUENCE {schema}.trace TO PUBLIC;
CREATE TYPE {schema}.mood AS ENUM ('calm', 'cross');
CREATE DOMAIN {schema}.words AS text;
CREATE DOMAIN {schema}.number AS int8;
CREATE TYPE {schema}.pair AS (a int4, b text);
"""


def scripts():
    """The text of all that is installed."""
    files = glob.glob(os.path.join(ROOT, "sql", "install", "*.sql")) + glob.glob(
        os.path.join(ROOT, "sql", "upgrade", "*.sql"))
    return "\n".join(open(f, encoding="utf-8").read() for f in files)


class Hostile:
    """Makes the schema `schema`, of the role that the session has SET; counts what it made."""

    def __init__(self, conn, schema):
        self.conn, self.schema, self.counts, self.waiting, self.number = conn, schema, {}, [], 0
        conn.execute("SET check_function_bodies = off")
        conn.execute(HELPERS)
        conn.execute(BASIS.format(schema=schema))
        self.own = ["%s.%s" % (schema, t) for t in ("mood", "words", "number", "pair")]

    @classmethod
    def beside(cls, conn, schema):
        """For more of them in a schema that is there."""
        made = cls.__new__(cls)
        made.conn, made.schema, made.counts, made.waiting, made.number = conn, schema, {}, [], 10 ** 6
        conn.execute("SET check_function_bodies = off")
        conn.execute(HELPERS)
        return made

    # -- one object

    def body(self, what, answer):
        return ("BEGIN PERFORM pg_catalog.nextval('%s.trace'::pg_catalog.regclass); "
                "RAISE WARNING '%s %% as %%', %s, current_user; %s END" % (self.schema, MARK, quote(what), answer))

    def function(self, name, arguments, result, what, answer):
        return "CREATE FUNCTION %s.%s(%s) RETURNS %s LANGUAGE plpgsql COST 1 AS %s" % (
            self.schema, name, ", ".join(arguments), result, quote(self.body(what, answer)))

    def want(self, kind, *statements):
        self.waiting.append((kind, list(statements)))
        if len(self.waiting) >= 500:
            self.make()

    def make(self):
        """Creates what waits; what cannot be, such as a function that is there already, is left out."""
        if not self.waiting:
            return
        rows = self.conn.execute("SELECT pg_temp.make(ARRAY(SELECT pg_catalog.jsonb_array_elements_text(s))) "
                                     "FROM pg_catalog.unnest(%s::jsonb[]) WITH ORDINALITY u(s, n) ORDER BY n",
                                 ([Jsonb(s) for _, s in self.waiting],)).fetchall()
        for (kind, _), (made,) in zip(self.waiting, rows):
            if made:
                self.counts[kind] = self.counts.get(kind, 0) + 1
        self.waiting = []

    def returned(self, expressions):
        """Type of each expression by pg_catalog alone; None where it cannot be."""
        out = []
        for i in range(0, len(expressions), 5000):
            out += [r[0] for r in self.conn.execute(
                "SELECT pg_temp.result_of(e) FROM pg_catalog.unnest(%s::text[]) WITH ORDINALITY u(e, n) ORDER BY n",
                (expressions[i:i + 5000],))]
        return out

    # -- all of a kind

    def operators(self, names, types):
        """left OP right for every pair of types that pg_catalog takes, by whatever coercions."""
        combinations = [(n, a, b) for n in names for a in types for b in types]
        results = self.returned(["NULL::%s OPERATOR(pg_catalog.%s) NULL::%s" % (a, n, b) for n, a, b in combinations])
        for (name, a, b), result in zip(combinations, results):
            if result is not None:
                self.operator(name, a, b, result)
        for name, a, result in self.conn.execute(
                "SELECT oprname, oprright::regtype::text, oprresult::regtype::text FROM pg_catalog.pg_operator "
                    "WHERE oprkind = 'l' AND oprnamespace = 'pg_catalog'::regnamespace AND oprname = ANY (%s)",
                (names,)).fetchall():
            self.number += 1
            f = "op_%d" % self.number
            self.want("operators",
                      self.function(f, [a], result, "%s%s" % (name, a), "RETURN OPERATOR(pg_catalog.%s) $1;" % name),
                      "CREATE OPERATOR %s.%s (RIGHTARG = %s, FUNCTION = %s.%s)"
                          % (self.schema, name, a, self.schema, f))
        self.make()

    def operator(self, name, a, b, result, catalog="pg_catalog"):
        self.number += 1
        f = "op_%d" % self.number
        self.want("operators",
                  self.function(
                      f, [a, b], result, "%s %s %s" % (a, name, b), "RETURN $1 OPERATOR(%s.%s) $2;" % (catalog, name)),
                  "CREATE OPERATOR %s.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s.%s)" % (
                      self.schema, name, a, b, self.schema, f))

    def functions(self, names, types):
        """name(..) for every list of types that pg_catalog's takes, by whatever coercions."""
        calls = {}
        rows = self.conn.execute("""
            SELECT proname::text, prokind::text, proretset, provariadic <> 0, ARRAY(SELECT t::regtype::text
              FROM pg_catalog.unnest(proargtypes) WITH ORDINALITY u(t, n) ORDER BY n), pronargdefaults
            FROM pg_catalog.pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (%s)
              AND prorettype NOT IN ('trigger'::regtype, 'internal'::regtype)
            ORDER BY proname, oid""", (names,)).fetchall()
        for name, kind, is_set, variadic, declared, defaults in rows:
            if {"internal", "cstring"} & set(declared):
                continue
            for given in self.argument_lists(declared, variadic, types):
                calls.setdefault((name, tuple(given)), (kind, is_set))
        items = list(calls.items())
        results = self.returned([
            self.call("pg_catalog." + name, ["NULL::" + t for t in given], kind) for (name, given), (kind, _) in items])
        for ((name, given), (kind, is_set)), result in zip(items, results):
            if result is not None:
                self.shadow(name, given, kind, is_set, result)
        self.make()

    @staticmethod
    def call(name, given, kind):
        return "%s(%s)%s" % (name, ", ".join(given) if given or kind != "a" else "*", " OVER ()" if kind == "w" else "")

    @staticmethod
    def argument_lists(declared, variadic, types):
        """The declared types themselves, and others in their places: each alone, then together."""
        def choices(t):
            return ANY_TYPES if t.startswith('"any"') or t.startswith("any") and not t.endswith("array") else (
                t,) + tuple(x for x in types if x != t)
        if variadic:
            fixed, last = declared[:-1], declared[-1]
            yield list(declared)
            if last in ('"any"', "any"):
                yield fixed + ["text[]"]
                for n in range(1, 4):
                    for more in itertools.islice(itertools.product(ANY_TYPES, repeat=n), MOST_SIGNATURES):
                        yield fixed + list(more)
            return
        if not any(t.startswith("any") or t == '"any"' for t in declared):
            yield list(declared)
        for i, t in enumerate(declared):
            for x in choices(t):
                yield declared[:i] + [x] + declared[i + 1:]
        for x in types:
            yield [x if t.startswith("any") else t for t in declared]
            yield [(x[:-2] if t in ("anyelement", "anynonarray", "anycompatible", "anycompatiblenonarray") else x)
                   if t.startswith("any") else t for t in declared]
        if 1 < len(declared) < 4:
            yield from map(list, itertools.islice(itertools.product(*map(choices, declared)), MOST_SIGNATURES))

    def shadow(self, name, given, kind, is_set, result):
        what = "%s(%s)" % (name, ", ".join(given))
        quoted = '"%s"' % name
        if kind == "a":
            self.number += 1
            f = "agg_%d" % self.number
            self.want("aggregates",
                      self.function(f, [result] + list(given), result, what, AGGREGATES.get(name, "RETURN $1;")),
                      "CREATE AGGREGATE %s.%s(%s) (SFUNC = %s.%s, STYPE = %s)" % (
                          self.schema, quoted, ", ".join(given) or "*", self.schema, f, result))
        elif kind == "f" and result not in ("record", "void"):
            honest = "pg_catalog.%s(%s)" % (quoted, ", ".join("$%d" % (i + 1) for i in range(len(given))))
            self.want("functions",
                      self.function(quoted, given, ("SETOF " if is_set else "") + result, what,
                                    "RETURN QUERY SELECT %s; RETURN;" % honest if is_set else "RETURN %s;" % honest))

    def casts(self):
        """Casts of types that the role owns; others it may not cast."""
        s = self.schema
        for source, target, mode in (("mood", "text", "ASSIGNMENT"), ("mood", "varchar", "ASSIGNMENT"),
                                     ("mood", "int8", "ASSIGNMENT"), ("mood", "bytea", "ASSIGNMENT"),
                                     ("pair", "text", "IMPLICIT"), ("text", "mood", "IMPLICIT"),
                                     ("text", "pair", "ASSIGNMENT")):
            a, b = ("%s.%s" % (s, t) if t in ("mood", "pair") else t for t in (source, target))
            self.number += 1
            f = "cast_%d" % self.number
            honest = {"text": "RETURN pg_catalog.format('%s', $1);", "int8": "RETURN 1;", "bytea": "RETURN NULL;"}.get(
                target, "RETURN NULL;")
            self.want("casts", self.function(f, [a], b, "cast of %s to %s" % (a, b), honest),
                      "CREATE CAST (%s AS %s) WITH FUNCTION %s.%s(%s) AS %s" % (a, b, s, f, a, mode))
        self.make()

    def types(self, names):
        """Domains by the names of pg_catalog's types: what they check runs whenever a value becomes one."""
        for name in names:
            self.number += 1
            f = "check_%d" % self.number
            self.want("types", self.function(f, ["pg_catalog." + name], "boolean", "type " + name, "RETURN true;"),
                      "CREATE DOMAIN %s.%s AS pg_catalog.%s CHECK (%s.%s(VALUE))" % (
                          self.schema, name, name, self.schema, f))
        self.make()

    def relations(self):
        """Views by the names of pg_catalog's relations."""
        for name, in self.conn.execute(
                "SELECT relname::text FROM pg_catalog.pg_class WHERE relnamespace = 'pg_catalog'::regnamespace "
                "AND relkind IN ('r', 'v') AND pg_catalog.has_table_privilege(oid, 'SELECT')").fetchall():
            self.number += 1
            f = "read_%d" % self.number
            self.want("relations", self.function(f, [], "boolean", "relation " + name, "RETURN true;"),
                      "CREATE VIEW %s.%s AS SELECT * FROM pg_catalog.%s WHERE (SELECT %s.%s())" % (
                          self.schema, name, name, self.schema, f),
                      "GRANT SELECT ON %s.%s TO PUBLIC" % (self.schema, name))
        self.make()

    def overloads(self, extension_schema):
        """Functions of the extension's own names, of types that its arguments take by coercion: to be called in place
        of the extension's, the schema must be the extension's, or a call must leave its schema out. Operators of its
        types with others, too."""
        rows = self.conn.execute("""
            SELECT proname::text, prokind::text, proretset, prorettype::regtype::text, ARRAY(SELECT t::regtype::text
              FROM pg_catalog.unnest(proargtypes) WITH ORDINALITY u(t, n) ORDER BY n)
            FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
              AND d.deptype = 'e' WHERE prokind IN ('f', 'p')
            AND prorettype NOT IN ('trigger'::regtype, 'internal'::regtype) ORDER BY p.oid""").fetchall()
        coercions = {"text": ("varchar", "name", "bpchar", self.schema + ".words"), "name": ("text", "varchar"),
                     "regclass": ("oid", "text"), "oid": ("regclass", "regtype"),
                     "double precision": ("numeric", "int4", "float4"), "bigint": ("int4", "int2"),
                     "integer": ("int2",), "regtype": ("oid",), "text[]": ("varchar[]", "name[]"), "bigint[]": (),
                     "interval": (), "boolean": (), "bytea": ()}
        for name, kind, is_set, result, declared in rows:
            if {"internal", "cstring"} & set(declared):
                continue
            lists = {tuple(declared)} | {tuple(declared[:n]) for n in range(1, len(declared))}
            for given in list(lists):
                for i, t in enumerate(given):
                    lists.update(given[:i] + (x,) + given[i + 1:] for x in coercions.get(t, ()))
            # one with the same types beside one that takes defaults makes every call an error: nobody runs then
            lists -= {tuple(declared[:n]) for n in range(1, len(declared))}
            for given in sorted(lists):
                what = "%s(%s)" % (name, ", ".join(given))
                honest = "%s.%s(%s)" % (extension_schema, name, ", ".join(
                    "$%d%s" % (i + 1, "::" + t if t != g else "") for i, (g, t) in enumerate(zip(given, declared))))
                if kind == "p":
                    self.want("overloads",
                              self.function(name, given, "void", what, "CALL %s;" % honest).replace(
                                  " RETURNS void", "", 1).replace("FUNCTION", "PROCEDURE", 1).replace(" COST 1", "", 1))
                elif result == "void":
                    self.want("overloads", self.function(name, given, result, what, "PERFORM %s; RETURN;" % honest))
                elif result == "record":
                    continue
                else:
                    self.want("overloads", self.function(name, given, ("SETOF " if is_set else "") + result, what,
                                                         "RETURN QUERY SELECT * FROM %s; RETURN;" % honest if is_set
                                                             else "RETURN %s;" % honest))
        kinds = ["%s.%s" % (extension_schema, t) for t in OWN_TYPES]
        for name in ("=", "<>", "<", ">", "<=", ">=", "%", "&&", "<->", "<~>", "<%>", "%>", "||"):
            for a in kinds:
                for b in kinds + ["text", "float8", "record"]:
                    result = "boolean" if name in (
                        "=", "<>", "<", ">", "<=", ">=", "%", "&&", "%>") else "float8" if name != "||" else "text"
                    self.number += 1
                    f = "own_%d" % self.number
                    self.want("overloads", self.function(f, [a, b], result, "%s %s %s" % (a, name, b), "RETURN NULL;"),
                              "CREATE OPERATOR %s.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s.%s)" % (
                                  self.schema, name, a, b, self.schema, f))
        self.make()


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def fill(conn, schema):
    """Makes the schema as the role that is SET; {kind: how many}."""
    text = scripts()
    called = sorted(set(re.findall(r"\b([a-z_][a-z_0-9]*)\s*\(", text)))
    operators = [r[0] for r in conn.execute(
        "SELECT DISTINCT oprname::text FROM pg_catalog.pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace")]
    if not FULL:
        operators = [o for o in operators if o in ("=", "<>", "<", ">", "<=", ">=", "||", "+", "-", "*", "/", "%", "&&",
                                                   "@>", "<@", "~", "~~", "!~~", "^", "&", "|", "->", "->>", "^@")]
    made = Hostile(conn, schema)
    types = list(TYPES if FULL else FEW_TYPES)
    made.operators(sorted(operators), types + made.own + ["record"])
    made.functions(called, types + made.own)
    made.casts()
    made.types([t for t in TYPES if re.fullmatch("[a-z0-9_]+", t)])
    made.relations()
    return made


class Watch:
    """Remembers the hostile runs that a session tells of: (what, as whom, where from)."""

    def __init__(self, conn):
        self.runs = []
        conn.add_notice_handler(self.hear)

    def hear(self, diag):
        if (diag.message_primary or "").startswith(MARK + " "):
            what, who = diag.message_primary[len(MARK) + 1:].rsplit(" as ", 1)
            self.runs.append((what, who, find_caller(diag.context or "")))

    def drain(self):
        runs, self.runs = self.runs, []
        return runs


def find_caller(context):
    """The function of ours, or the statement, that a hostile one was called from: the first below it."""
    lines = context.splitlines()
    for line in lines[1:]:
        found = re.match(r"(?:PL/pgSQL|SQL) function (?:\S+\.)?(\w+)\(.*?\)(.*)", line)
        if found:
            return found.group(1) + re.sub(r" at .*", "", found.group(2))
    return re.sub(r"\d{4,}", "N", lines[1][:80]) if len(lines) > 1 else "the statement itself"


def traces(conn, schema):
    """The number of their runs, whoever saw them."""
    last, called = conn.execute("SELECT last_value, is_called FROM %s.trace" % schema).fetchone()
    return last if called else 0
