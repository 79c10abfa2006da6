#!/usr/bin/env python3
# may be skipped: where pglast is not installed and PyPI cannot be reached
"""Checks what our SQL leaves to the search_path: operators, functions, types and relations without a schema, where
somebody else's may be found.

    tools/sql_lint.py [-v] [FILE...]     sql/install/*.sql and the newest script of sql/upgrade, unless files are given

Two rules. What runs while the extension is installed or updated runs as superuser: its operators and functions are
written with their schema. The search_path is then the schema of the extension, behind pg_catalog: a type or relation of
pg_catalog is found there, but of operators and functions the one is taken whose argument types fit best, from whatever
schema. And a function's body runs with the search_path of who calls it, unless it has SET search_path = pg_catalog,
pg_temp: without that all of it is written with its schema, and so are statements that it gives to others.

IN, BETWEEN, LIKE, NULLIF, IS DISTINCT FROM, CASE x WHEN, = ANY (..), USING (..) and row comparisons look up their
operator in the search_path; ORDER BY, GROUP BY, DISTINCT and UNION take that of the type's default operator class.
Strings that format() makes statements of are looked at where they can be parsed with something put in for %s.

Needs pglast (PyPI), which is PostgreSQL's own parser; prints "skip" without it."""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
KEPT_PATH = ["pg_catalog", "pg_temp"]
SCHEMA = "public"  # stands for @extschema@: the parser of PL/pgSQL knows no other
HOLE = "hole"  # stands for what format() puts in
# Literals of these types are looked up when they are read.
NAME_TYPES = {"regclass", "regtype", "regproc", "regprocedure", "regoper", "regoperator", "regconfig", "regdictionary",
              "regcollation"}
EXECUTES = {"PLpgSQL_stmt_dynexecute", "PLpgSQL_stmt_dynfors", "PLpgSQL_stmt_return_query", "PLpgSQL_stmt_open"}
NOT_NAMES = {"trigger", "void", "cstring", "internal"}


class Finding:
    def __init__(self, path, line, place, what):
        self.path, self.line, self.place, self.what = path, line, place, what

    def __str__(self):
        return "%s:%d: %s: %s" % (self.path, self.line, self.place, self.what)


class Linter:
    def __init__(self, pglast):
        self.pglast = pglast
        self.findings, self.statements, self.bodies, self.settled, self.strings, self.unread = [], 0, 0, 0, 0, 0

    # -- files and statements

    def file(self, path):
        with open(path, encoding="utf-8") as f:
            self.text(os.path.relpath(path, ROOT), f.read())

    def text(self, name, text):
        text = "".join(c if ord(c) < 128 else "?" for c in text.replace("@extschema@", SCHEMA))
        text = re.sub(r"^(?:\\|@include ).*$", "", text, flags=re.M)  # what psql and the Makefile read
        for raw in self.pglast.parse_sql(text):
            begin = raw.stmt_location or 0
            source = text[begin:begin + raw.stmt_len] if raw.stmt_len else text[begin:]
            self.statement(name, 1 + text.count("\n", 0, begin + len(source) - len(source.lstrip())), raw.stmt,
                           source.strip(), text)

    def statement(self, path, line, node, source, text):
        kind = type(node).__name__
        self.statements += 1
        # an update replaces what is the extension's already
        if os.path.join("sql", "install") in path and (
                getattr(node, "replace", False) or getattr(node, "if_not_exists", False)):
            self.found(
                path, line, "at installation", "OR REPLACE or IF NOT EXISTS takes what somebody else has put there")
        if kind == "CreateFunctionStmt":
            return self.function(path, node, source, text)
        if kind == "DoStmt":
            body = next(a.arg.sval for a in node.args if a.defname == "as")
            self.bodies += 1
            return self.plpgsql(path, self.body_line(text, source, body), "DO", source, Rules(install=True))
        self.expressions(node, Rules(install=True), path,
                         lambda location: 1 + text.count("\n", 0, location) if location else line, "at installation")

    @staticmethod
    def body_line(text, source, body):
        """The line that a body begins in: that of its opening quotes."""
        at = text.find(source)
        inside = text.find(body, at)
        return 1 + text.count("\n", 0, inside if inside >= 0 else at)

    def function(self, path, node, source, text):
        name = node.funcname[-1].sval
        options = {o.defname: o.arg for o in node.options or () if o.defname != "set"}
        path_set = [o.arg for o in node.options or () if o.defname == "set" and o.arg.name == "search_path"]
        language = options["language"].sval if "language" in options else "sql"
        if language not in ("sql", "plpgsql"):
            return
        self.bodies += 1
        if path_set:
            given = [a.val.sval for a in path_set[0].args or ()]
            self.settled += 1
            if given != KEPT_PATH:
                self.found(path, self.body_line(text, source, source), name,
                           "search_path is %s, not %s" % (", ".join(given), ", ".join(KEPT_PATH)))
        rules = Rules(install=False, settled=bool(path_set))
        body = options["as"][0].sval
        line = self.body_line(text, source, body)
        if language == "plpgsql":
            return self.plpgsql(path, line, name, source, rules, body)
        for raw in self.pglast.parse_sql(body):
            self.expressions(raw.stmt, rules, path, lambda location: line + body.count("\n", 0, location), name)

    # -- PL/pgSQL

    def plpgsql(self, path, line, name, source, rules, body=""):
        head, quotes, rest = source.partition("$$")
        # The parser knows too little of VARIADIC.
        for tree in self.pglast.parse_plpgsql(head.replace("VARIADIC ", "") + quotes + rest):
            self.block(tree, rules, path, line, line, name)
        self.declarations(path, line, name, body, rules)

    def block(self, node, rules, path, first, line, name):
        """Walks what the parser of PL/pgSQL gives: nested dictionaries, lines counted within the body."""
        if isinstance(node, list):
            for item in node:
                self.block(item, rules, path, first, line, name)
        elif isinstance(node, dict):
            for key, value in node.items():
                if key == "PLpgSQL_stmt_raise" or key in EXECUTES and rules.settled:
                    self.block(value, rules.without_strings(), path, first, first + value.get("lineno", 1) - 1, name)
                elif key == "PLpgSQL_expr":
                    self.expression(value["query"], rules, path, line, name)
                elif isinstance(value, (dict, list)):
                    inner = value.get("lineno") if isinstance(value, dict) else None
                    self.block(value, rules, path, first, first + inner - 1 if inner else line, name)

    def expression(self, query, rules, path, line, name):
        tree = self.parsed(query) or self.parsed("SELECT " + query) or self.parsed(
            "SELECT " + re.sub(r"^[^:=]*:?=", "", query, count=1))
        if tree is None:
            return self.found(path, line, name, "cannot be parsed: %.60s" % query)
        for raw in tree:
            self.expressions(raw.stmt, rules, path, lambda location: line, name)

    def parsed(self, text):
        try:
            return self.pglast.parse_sql(text)
        except self.pglast.parser.ParseError:
            return None

    def declarations(self, path, line, name, body, rules):
        """Types of variables: the parser gives them resolved."""
        begin = re.search(r"\bDECLARE\b", body)
        if not begin:
            return
        part = re.split(r"\bBEGIN\b", body[begin.end():], maxsplit=1)[0]
        blank = re.sub(r"--[^\n]*", lambda m: " " * len(m.group()), part)
        blank = re.sub(r"'[^']*'", lambda m: "'" + " " * (len(m.group()) - 2) + "'", blank)
        at = 0
        for piece in blank.split(";"):
            found = re.match(r"\s*\w+\s+(?:CONSTANT\s+)?([\w.\" "
                                 r"]+?(?:\(\d+(?:,\s*\d+)?\))?(?:\[\])*)\s*(?:NOT\s+NULL\s*)?(?::?=.*|DEFAULT\b.*)?$",
                             piece, re.S)
            where = line + body.count("\n", 0, begin.end() + at + len(piece) - len(piece.lstrip()))
            at += len(piece) + 1
            if found and "%" not in found.group(1):
                tree = self.parsed("SELECT NULL::" + found.group(1))
                for raw in tree or ():
                    self.expressions(raw.stmt, rules, path, lambda location: where, name)

    # -- expressions

    def expressions(self, node, rules, path, body_line, name):
        ctes = set()
        walk(self.pglast, node, lambda n: ctes.add(n.ctename) if type(n).__name__ == "CommonTableExpr" else None)

        def look(n):
            for what in rules.broken(n, ctes):
                self.found(path, body_line(getattr(n, "location", 0) or 0), name, what)
            self.string(n, rules, path, body_line, name)
        walk(self.pglast, node, look)

    def string(self, node, rules, path, body_line, name):
        """The text that format() is given, or EXECUTE without it, if it is SQL."""
        if (not rules.strings or type(node).__name__ != "FuncCall" or node.funcname[-1].sval != "format"
            or not node.args):
            return
        template = literal(node.args[0])
        if template is None:
            return
        tree = self.filled(template)
        self.strings += 1
        if tree is None:
            self.unread += 1
            return
        for raw in tree:
            self.expressions(raw.stmt, Rules(install=rules.install), path, body_line, name + ", in a string")

    def filled(self, template):
        for hole in (SCHEMA + "." + HOLE, HOLE):
            text = re.sub(r"OPERATOR\(pg_catalog\.%s\)", "OPERATOR(pg_catalog.=)", template)
            text = re.sub(r"%(?:\d+\$)?I", HOLE, text)
            text = re.sub(r"%(?:\d+\$)?L", "'%s'" % HOLE, text)
            text = re.sub(r"%(?:\d+\$)?s", hole, text).replace("%%", "%")
            text = re.sub(r"^\s*(?:AND|OR|,)\s", "", text)
            for before in ("", "SELECT ", "SELECT FROM x WHERE "):
                tree = self.parsed(before + text)
                if tree is not None:
                    return tree
        return None

    def found(self, path, line, place, what):
        self.findings.append(Finding(path, line, place, what))


class Rules:
    """Names that need a schema: at installation operators and functions; in a body types and relations, too."""

    def __init__(self, install, settled=False, strings=True):
        self.install = install
        # SET search_path: what the body says is looked up there, but not a string that it gives away
        self.settled = settled
        self.strings = strings

    def without_strings(self):
        return Rules(self.install, self.settled, False)

    def broken(self, node, ctes):
        kind = type(node).__name__
        if self.settled:
            return
        if kind == "FuncCall" and len(node.funcname) == 1:
            yield "function %s()" % node.funcname[0].sval
        elif kind == "A_Expr" and len(node.name) == 1 and not isinstance(node.name[0], tuple):
            yield "operator %s%s" % (node.name[0].sval, FORMS.get(node.kind.name, ""))
        elif kind == "SubLink" and node.subLinkType.name in ("ANY_SUBLINK", "ALL_SUBLINK") and (
                node.operName is None or len(node.operName) == 1):
            yield "operator %s of IN or ANY (SELECT ..)" % (node.operName[0].sval if node.operName else "=")
        elif kind == "CaseExpr" and node.arg is not None:
            yield "operator = of CASE x WHEN"
        elif kind == "JoinExpr" and (node.usingClause or node.isNatural):
            yield "operator = of USING or NATURAL"
        elif kind == "SortBy" and node.useOp and len(node.useOp) == 1:
            yield "operator %s of ORDER BY .. USING" % node.useOp[0].sval
        elif not self.install:
            yield from self.in_body(node, kind, ctes)

    @staticmethod
    def in_body(node, kind, ctes):
        if kind == "TypeName" and len(node.names or ()) == 1 and node.names[0].sval not in NOT_NAMES | {HOLE}:
            yield "type %s" % node.names[0].sval
        elif kind == "RangeVar" and not node.schemaname and node.relname not in ctes | {HOLE, "x"}:
            yield "relation %s" % node.relname
        elif kind == "CollateClause" and len(node.collname) == 1:
            yield "collation %s" % node.collname[0].sval
        if kind == "TypeCast" and node.typeName.names[-1].sval in NAME_TYPES:
            text = literal(node.arg)
            if text is not None and "." not in text:
                yield "name '%s' of %s" % (text, node.typeName.names[-1].sval)


FORMS = {"AEXPR_OP_ANY": " of ANY", "AEXPR_OP_ALL": " of ALL", "AEXPR_DISTINCT": " of IS DISTINCT FROM",
         "AEXPR_NOT_DISTINCT": " of IS NOT DISTINCT FROM", "AEXPR_NULLIF": " of NULLIF", "AEXPR_IN": " of IN",
         "AEXPR_LIKE": " of LIKE", "AEXPR_ILIKE": " of ILIKE", "AEXPR_SIMILAR": " of SIMILAR TO",
         "AEXPR_BETWEEN": " of BETWEEN", "AEXPR_NOT_BETWEEN": " of NOT BETWEEN", "AEXPR_BETWEEN_SYM": " of BETWEEN",
         "AEXPR_NOT_BETWEEN_SYM": " of NOT BETWEEN"}


def literal(node):
    """The text of a string constant, or of the constants of a concatenation with holes for the rest; None for anything
    else."""
    kind = type(node).__name__
    if kind == "A_Const" and type(node.val).__name__ == "String":
        return node.val.sval
    if kind == "A_Expr" and node.name[-1].sval == "||" and node.lexpr is not None:
        left, right = literal(node.lexpr), literal(node.rexpr)
        if left is not None or right is not None:
            return (left if left is not None else "%s") + (right if right is not None else "%s")
    return None


def walk(pglast, node, visit):
    """Every node, from the outside in."""
    if isinstance(node, (tuple, list)):
        for item in node:
            walk(pglast, item, visit)
    elif isinstance(node, pglast.ast.Node):
        visit(node)
        for slot in node:
            walk(pglast, getattr(node, slot, None), visit)


BODY = "CREATE FUNCTION f(a text) RETURNS void LANGUAGE plpgsql%s AS $$ DECLARE t pg_catalog.text; BEGIN\n%s\nEND $$;"
# Texts that must be found, once each, and texts that must not.
SAMPLES = (
    ("SELECT a = b", 1), ("SELECT a OPERATOR(pg_catalog.=) b", 0), ("SELECT f(1), pg_catalog.f(2)", 1),
    ("SELECT a IN (1, 2)", 1), ("SELECT a IN (SELECT 1)", 1), ("SELECT a = ANY (b)", 1),
    ("SELECT a BETWEEN 1 AND 2", 1), ("SELECT a LIKE 'x'", 1), ("SELECT CASE a WHEN 1 THEN 2 END", 1),
    ("SELECT CASE WHEN a THEN 2 END", 0), ("SELECT NULLIF(a, b)", 1), ("SELECT a IS DISTINCT FROM b", 1),
    ("SELECT FROM a JOIN b USING (c)", 1), ("SELECT FROM a NATURAL JOIN b", 1), ("SELECT FROM a ORDER BY b USING <", 1),
    ("SELECT DISTINCT a FROM b GROUP BY c ORDER BY d", 0), ("SELECT (a, b) < (c, d)", 1),
    ("SELECT a::text FROM pg_class", 0), ("CREATE VIEW v AS SELECT a + 1 AS b FROM c", 1),
    ("CREATE TABLE t (a int DEFAULT now(), CHECK (a > 0))", 2), ("DO $$ BEGIN PERFORM 1 + 1; END $$", 1),
    (BODY % ("", "PERFORM a::text;"), 1), (BODY % ("", "PERFORM 1 FROM pg_class;"), 1),
    (BODY % ("", "t := 'int'::pg_catalog.regtype;"), 1), (BODY % ("", "IF a = 'x' THEN RETURN; END IF;"), 1),
    (BODY % ("", "EXECUTE pg_catalog.format('SELECT %s = %s', a, a);"), 1),
    (BODY % ("", "RAISE EXCEPTION 'x' USING HINT = pg_catalog.format('SELECT f(%L)', a);"), 0),
    (BODY % (" SET search_path = pg_catalog, pg_temp",
             "IF a = 'x' THEN RETURN; END IF; EXECUTE format('SELECT 1 + %s', 1);"),
     0),
    (BODY % (" SET search_path = pg_catalog", "NULL;"), 1),
    (BODY % (" SET search_path = pg_catalog, pg_temp", "t := format('SELECT 1 + %s', 1);"), 1),
    (BODY.replace("DECLARE t pg_catalog.text;", "DECLARE t text;") % ("", "NULL;"), 1),
    ("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1 + 1'", 1),
    ("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'WITH c AS (SELECT 1) SELECT * FROM c'", 0),
)


def check_samples(pglast):
    """The samples that the lint does not see as they are."""
    bad = []
    for text, wanted in SAMPLES:
        linter = Linter(pglast)
        linter.text("sample", text)
        if len(linter.findings) != wanted:
            bad.append("%s: %d of %d: %s" % (text, len(linter.findings), wanted, [f.what for f in linter.findings]))
    return bad


def default_files():
    upgrades = glob.glob(os.path.join(ROOT, "sql", "upgrade", "neardup--*--*.sql*"))
    newest = max(upgrades, key=lambda p: [int(n) for n in re.findall(r"\d+", os.path.basename(p))])
    return sorted(glob.glob(os.path.join(ROOT, "sql", "install", "*.sql"))) + [newest]


def make_linter(files):
    """A Linter that has read the files; None without pglast."""
    try:
        import pglast
        import pglast.ast
        import pglast.parser
    except ImportError:
        return None
    linter = Linter(pglast)
    for path in files:
        linter.file(path)
    return linter


def main():
    files = [a for a in sys.argv[1:] if a != "-v"] or default_files()
    linter = make_linter(files)
    if linter is None:
        print("skip - lint of SQL: pglast is not installed (PyPI)")
        return 0
    print("%d statements, %d bodies of functions, %d of them with SET search_path, %d strings of format(), %d of which "
          "are no SQL by themselves"
          % (linter.statements, linter.bodies, linter.settled, linter.strings, linter.unread))
    bad = check_samples(linter.pglast)
    print("not ok - %d samples: %s" % (len(SAMPLES), "; ".join(bad)) if bad
          else "ok - %d samples are seen as they are" % len(SAMPLES))
    for path in files:
        name = os.path.relpath(path, ROOT)
        found = sorted((f for f in linter.findings if f.path == name), key=lambda f: f.line)
        for finding in found:
            print("    %s" % finding)
        print("not ok - %s: %d names without a schema" % (name, len(found)) if found
              else "ok - %s leaves nothing to the search_path" % name)
    return 1 if linter.findings or bad else 0


if __name__ == "__main__":
    sys.exit(main())
