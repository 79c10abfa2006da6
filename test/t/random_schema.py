"""A random schema of two owners, for random statements (random_statements.py): tables, partitions, views, rules,
policies, lsh indexes, and in each of them probes: functions that tell, by a NOTICE, that they run and as whom.

What may not be seen by the reader holds SECRET: the column `hidden`, and the rows of other owners where a policy or a
barrier view hides them."""

import re

OWNERS, READER, ADMIN = ("alice", "mallory"), "bob", "postgres"
ROLES = (*OWNERS, READER, ADMIN)
SECRET = "zzsecret"
MARK = "probe"
ROWS = 48

# The columns of every relation, in this order; the names that a join by alias gives the second relation's.
COLUMNS = ("id", "g", "owner", "note", "sig", "sim", "dig", "items", "code")
TYPES = {
    "id": "int",
    "g": "int",
    "owner": "text",
    "note": "text",
    "sig": "minhash",
    "sim": "simhash",
    "dig": "ctph",
    "items": "int[]",
    "code": "bit(64)",
}
VALUES = {
    "sig": "set_minhash(ARRAY[{0}, {0} + 1, {0} + 2]::bigint[], 32)",
    "sim": "(({0}) * 77777777777)::bigint::simhash",
    "dig": "to_ctph(repeat('text no {0} ' || md5(({0})::text), 40))",
    "items": "ARRAY[{0}, {0} + 1, {0} + 2]",
    "code": "(({0}) * 77777777777)::bigint::bit(64)",
}

# Conditions that an lsh index could serve: a column, and a condition of X and Q.
NEAR = {
    "sig": (
        "jaccard({x}, {q}) >= 0.8",
        "jaccard({x}, {q}) > 0.3",
        "{x} % {q}",
        "{q} % {x}",
        "{x} <%> {q} < 0.2",
        "jaccard_at_least({x}, {q}, 0.9)",
        "{x} %> with_threshold({q}, 0.9)",
        "with_threshold({x}, 0.8) && with_threshold({q}, 0.8)",
        "0.9 <= jaccard({q}, {x})",
        "jaccard({x}, {q}) < 0.2",
    ),
    "sim": ("hamming({x}, {q}) <= 3", "{x} <~> {q} < 2", "hamming_at_most({x}, {q}, 2)"),
    "dig": ("ctph_score({x}, {q}) >= 80", "ctph_edit_rate({x}, {q}) <= 0.1", "{x} <-> {q} < 0.1"),
    "items": ("jaccard_exact({x}, {q}) >= 0.6", "containment_exact({x}, {q}) >= 0.7",
              "jaccard_exact_at_least({x}, {q}, 0.5)"),
    "code": ("bit_hamming({x}, {q}) <= 3", "{x} <-> {q} < 3", "bit_hamming_at_most({x}, {q}, 2)"),
}
ORDERS = {"sig": "<%>", "sim": "<~>", "dig": "<->", "code": "<->"}

# A probe tells once in a statement, and for each role: the client empties probe.seen before the next.
PROBE = """
CREATE FUNCTION {owner}.{name}({takes}) RETURNS {gives} LANGUAGE plpgsql {volatility} COST {cost} {more} AS $probe$
DECLARE told text := '{owner} {name} as ' || current_user || ';';
BEGIN
  IF pg_catalog.strpos(pg_catalog.current_setting('probe.seen', true), told) = 0 THEN
    RAISE NOTICE '{mark} %', told;
    PERFORM pg_catalog.set_config('probe.seen', pg_catalog.current_setting('probe.seen', true) || told, false);
  END IF;
  {body}
END $probe$"""

# Tells its argument: what a reader learns by a function of his own.
TELLER = """
CREATE FUNCTION {owner}.{owner}_tell(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.01 AS $$
BEGIN RAISE NOTICE 'told %', $1; RETURN true; END $$"""

BASIS = """
CREATE TABLE public.kept_rows AS SELECT i AS id, i % 3 AS g, CASE WHEN i % 4 < 2 THEN 'bob' ELSE 'alice' END AS owner,
  {sig} AS sig, {sim} AS sim, {dig} AS dig, {items} AS items, {code} AS code FROM generate_series(1, {rows}) i;
GRANT SELECT ON public.kept_rows TO PUBLIC;
""".format(rows=ROWS, **{c: v.format("(i / 4)") for c, v in VALUES.items()})


class Relation:
    """A relation that statements may name. name: with its schema; readers, writers: the roles that may do so; has_key:
    whether ON CONFLICT (id) is possible; is_plain: no view and without rules, as MERGE requires."""

    def __init__(self, name, kind, rights, has_key=False):
        self.name, self.owner, self.kind, self.has_key = name, name.split(".")[0], kind, has_key
        self.readers, self.writers = rights
        self.is_plain = kind not in ("view", "foreign")


ALL = (ROLES, ROLES)
WAYS = ("open", "rows", "rows", "columns", "closed")  # what others see of a table
SOME = ("column", "column", "expression", "first", "partial", "partial", "other", "two", "invalid", "clear")  # indexes


class RandomSchema:
    """Makes all in the database of `conn`, a superuser's session; version: of the server."""

    def __init__(self, conn, rng, version, can_be_foreign):
        self.conn, self.rng, self.version, self.number = conn, rng, version, 0
        self.relations, self.called, self.counts = [], [], {}
        self.probes, self.texts = set(), {}  # names of functions; what a text may have in the place of the name
        conn.execute(BASIS)
        for role in (*OWNERS, READER):
            conn.execute("CREATE SCHEMA {0} AUTHORIZATION {0}; GRANT USAGE ON SCHEMA {0} TO PUBLIC".format(role))
            self.run(TELLER.format(owner=role))
        if can_be_foreign:
            self.make_server()
        for owner in OWNERS:
            self.make_functions(owner)
        for owner in OWNERS:
            self.make_table(owner, ways=("open",), some=("expression", "first", "partial", "column"))
            self.make_table(owner)
        for make in rng.sample(
                (self.make_table, self.make_partitions, self.make_children, self.make_barred, self.make_unlike), 4):
            make(rng.choice(OWNERS))
        self.make_partitions(rng.choice(OWNERS))
        for _ in range(3):
            self.make_view(rng.choice(OWNERS))
        for _ in range(3):
            self.make_rule()
        if can_be_foreign:
            self.make_foreign(rng.choice(OWNERS))
        conn.execute("VACUUM ANALYZE")
        self.indexes = conn.execute(
            "SELECT c.oid::regclass::text, c.relowner::regrole::text FROM pg_class c JOIN pg_am a ON a.oid = relam "
            "WHERE amname = 'lsh' AND relkind = 'i' ORDER BY 1"
        ).fetchall()

    # -- parts

    def next(self):
        self.number += 1
        return self.number

    def made(self, kind):
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def run(self, statement, kind=None):
        self.conn.execute(statement)
        if kind:
            self.made(kind)

    def probe(self, owner, what, takes, gives, body, volatility="IMMUTABLE", cost=None, more=""):
        """The name of a new function. Its first letter tells the volatility, which a name alone must tell to those who
        read a plan."""
        bare = "%s_%s_%s%d" % (owner, volatility[0].lower(), what, self.next())
        cost = cost or self.rng.choice((0.1, 1, 100))
        self.run(
            PROBE.format(owner=owner, name=bare, takes=takes, gives=gives, body=body, volatility=volatility, cost=cost,
                         more=more, mark=MARK),
            "probes",
        )
        self.probes.add(bare)
        return "%s.%s" % (owner, bare)

    def other(self, owner):
        """Mostly the owner; else the other one, whose function is in an object of the owner's then."""
        return owner if self.rng.random() < 0.6 else OWNERS[1 - OWNERS.index(owner)]

    def make_server(self):
        """Foreign tables whose other side is this database: the session there is alice's or mallory's."""
        self.run("CREATE EXTENSION postgres_fdw; "
                 "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname '%s')"
                 % (self.conn.info.host, self.conn.info.port, self.conn.info.dbname))
        for role in ROLES:
            self.run(
                "CREATE USER MAPPING FOR {0} SERVER here OPTIONS (user '{1}', password_required 'false')".format(
                    role, role if role != READER else OWNERS[0]
                )
            )
        self.run("GRANT USAGE ON FOREIGN SERVER here TO alice, mallory")

    def make_functions(self, owner):
        """Functions for statements: of each volatility, one that SQL inlines, one that runs as its owner, operators, a
        cast."""
        for volatility in ("IMMUTABLE", "STABLE", "VOLATILE"):
            self.called.append(self.probe(owner, "called", "int", "boolean", "RETURN $1 % 7 > 0;", volatility))
        inner = self.probe(owner, "inner", "int", "int", "RETURN $1;")
        self.texts[inner.split(".")[1]] = "%s_inlined" % owner
        (
            self.run("CREATE FUNCTION {0}.{0}_inlined(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS "
                     "'SELECT {1}($1) > 3'".format(owner, inner)))
        self.called.append("%s.%s_inlined" % (owner, owner))
        self.called.append(
            self.probe(owner, "definer", "int", "boolean", "RETURN $1 > 2;", "STABLE", more="SECURITY DEFINER"))
        symbol = "=#=" if owner == OWNERS[0] else "=##="
        compared = self.probe(owner, "operator", "int, int", "boolean", "RETURN $1 = $2;")
        self.run(
            "CREATE OPERATOR {0}.{1} (LEFTARG = int, RIGHTARG = int, FUNCTION = {2}, COMMUTATOR = {1}, RESTRICT = "
                "eqsel, JOIN = eqjoinsel)".format(
                owner, symbol, compared
            ),
            "operators",
        )
        self.texts[compared.split(".")[1]] = symbol
        self.run("CREATE TYPE {0}.mood AS ENUM ('calm', 'cross')".format(owner))
        cast = self.probe(owner, "cast", "%s.mood" % owner, "int", "RETURN 1;")
        self.run("CREATE CAST ({0}.mood AS int) WITH FUNCTION {1}".format(owner, cast), "casts")
        self.texts[cast.split(".")[1]] = "mood"
        # This one has the extension's own name and types: it is called where the owner's schema comes first.
        shadow = self.probe(owner, "shadow", "minhash, minhash", "double precision", "RETURN public.jaccard($1, $2);")
        self.texts[shadow.split(".")[1]] = "jaccard("
        self.run("ALTER FUNCTION %s RENAME TO jaccard" % shadow)

    # -- tables

    def column_definitions(self, owner):
        """Definitions of the columns, some with defaults, generated values and checks."""
        definitions = ["%s %s" % (c, TYPES[c]) for c in COLUMNS]
        if self.rng.random() < 0.5:
            definitions[3] += " DEFAULT %s()" % self.probe(
                self.other(owner), "default", "", "text", "RETURN 'given';", "VOLATILE")
            self.made("defaults")
        definitions.append("hidden text")
        if self.rng.random() < 0.3:
            definitions.append(
                "made int GENERATED ALWAYS AS (%s(id)) STORED" % self.probe(
                    self.other(owner), "generated", "int", "int", "RETURN $1;")
            )
            self.made("generated columns")
        if self.rng.random() < 0.3:
            definitions.append(
                "CHECK (%s(id))" % self.probe(self.other(owner), "check", "int", "boolean", "RETURN true;"))
            self.made("checks")
        return definitions

    def fill(self, name, open_rows):
        self.run("INSERT INTO {0} (id, g, owner, note, sig, sim, dig, items, code, hidden) SELECT id, g, owner, CASE "
                 "WHEN {1} OR owner = 'bob' "
                 "THEN 'note ' ELSE '{2}' END || id, sig, sim, dig, items, code, CASE WHEN {1} THEN 'open' "
                 "ELSE '{2}' END FROM public.kept_rows".format(name, "true" if open_rows else "false", SECRET))

    def make_table(self, owner, kind="table", ways=WAYS, some=SOME):
        name = "%s.t%d" % (owner, self.next())
        has_key = self.rng.random() < 0.5
        self.run("CREATE TABLE %s (%s)" % (name, ", ".join(self.column_definitions(owner))), "tables")
        rights = self.protect(name, owner, ways)
        if has_key:
            self.run("ALTER TABLE %s ADD PRIMARY KEY (id)" % name)
        self.relations.append(Relation(name, kind, rights, has_key))
        self.index(name, owner, some)
        self.trigger(name, owner)
        return name

    def protect(self, name, owner, ways=WAYS):
        """Fills a table, and lets others see all of it, some columns, some rows, or nothing. Who may read, who may
        write."""
        way = self.rng.choice(ways)
        self.fill(name, way == "open")
        if way == "rows":
            seen = (
                "owner = 'bob'"
                if self.rng.random() < 0.4
                else "%s(owner)"
                % self.probe(
                    self.other(owner), "policy", "text", "boolean", "RETURN $1 = 'bob';",
                    self.rng.choice(("STABLE", "VOLATILE", "IMMUTABLE"))
                )
            )
            self.run(
                "ALTER TABLE {0} ENABLE ROW LEVEL SECURITY; CREATE POLICY seen ON {0} USING ({1})".format(name, seen),
                "policies")
        self.made("tables: " + way)
        return self.give(name, owner, way)

    def give(self, name, owner, way):
        self.run("ALTER TABLE %s OWNER TO %s" % (name, owner))
        others = "%s, %s" % (READER, OWNERS[1 - OWNERS.index(owner)])
        columns = ", ".join(c for c in COLUMNS if way != "columns" or c != "note")
        is_written = way != "closed" and self.rng.random() < 0.7
        if way == "open":
            self.run("GRANT SELECT ON %s TO %s" % (name, others))
        elif way != "closed":
            self.run("GRANT SELECT (%s) ON %s TO %s" % (columns, name, others))
        if is_written:
            self.run("GRANT INSERT, UPDATE (%s), DELETE ON %s TO %s" % (columns, name, others))
        return ROLES if way != "closed" else (owner, ADMIN), ROLES if is_written else (owner, ADMIN)

    def trigger(self, name, owner, when="BEFORE"):
        if self.rng.random() < 0.3:
            run = self.probe(self.other(owner), "trigger", "", "trigger", "RETURN COALESCE(NEW, OLD);", "VOLATILE")
            self.run(
                "CREATE TRIGGER t%d %s INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s()"
                    % (self.next(), when, name, run),
                "triggers",
            )

    def make_partitions(self, owner):
        name, n = "%s.parted%d" % (owner, self.next()), self.next()
        key = "id" if self.rng.random() < 0.2 else "g"
        self.run("CREATE TABLE %s (%s) PARTITION BY LIST (%s)" % (name, ", ".join(self.column_definitions(owner)), key),
                 "partitioned tables")
        for g in (0, 1) if key == "g" else ():
            owner_of_part = self.other(owner)
            part = "%s.part%d_%d" % (owner_of_part, n, g)
            self.run("CREATE TABLE %s PARTITION OF %s FOR VALUES IN (%d)" % (part, name, g), "partitions")
            self.relations.append(
                Relation(part, "partition", self.give(part, owner_of_part, self.rng.choice(("columns", "closed")))))
            if self.rng.random() < 0.4:
                self.index(part, owner_of_part)
        self.run("CREATE TABLE %s.part%d_rest PARTITION OF %s DEFAULT" % (owner, n, name), "partitions")
        self.relations.append(Relation(name, "partitioned", self.protect(name, owner)))
        self.index(name, owner, some=("column", "column", "two", "expression", "first"))

    def make_children(self, owner):
        """A table and those that inherit from it."""
        name = self.make_table(owner, "parent", ways=("rows", "columns", "closed"))
        for _ in range(2):
            child = "%s.child%d" % (owner, self.next())
            self.run("CREATE TABLE %s (extra int) INHERITS (%s)" % (child, name), "children")
            self.fill(child, False)
            self.relations.append(Relation(child, "child", self.give(child, owner, "closed")))
            self.index(child, owner)

    def make_barred(self, owner):
        """A table that only a view shows, and only some of whose rows."""
        name = "%s.t%d" % (owner, self.next())
        self.run("CREATE TABLE %s (%s)" % (name, ", ".join(self.column_definitions(owner))), "tables")
        self.fill(name, False)
        self.index(name, owner)
        self.relations.append(Relation(name, "table", self.give(name, owner, "closed")))
        self.make_view(owner, name, "barrier")

    def make_unlike(self, owner):
        """Its only index is one of lsh, and many of its values are NULL."""
        name = "%s.t%d" % (owner, self.next())
        self.run(
            "CREATE TABLE {0} AS SELECT id, g, owner, 'open'::text AS note, CASE WHEN id % 3 = 0 "
                "THEN sig END AS sig, sim, dig, items, code FROM public.kept_rows; "
                "ALTER TABLE {0} OWNER TO {1}; GRANT ALL ON {0} TO PUBLIC".format(name, owner),
            "tables",
        )
        self.run(
            "CREATE INDEX ON %s USING lsh (%s)" % (name, self.rng.choice(("sig", "items", "code"))), "indexes: alone")
        self.relations.append(Relation(name, "table", ALL))

    # -- indexes

    def index(self, name, owner, some=SOME):
        for way in self.rng.sample(some, self.rng.choice((0, 1, 1, 2, 3))):
            self.made("indexes: " + way)
            made = "%s.i%d" % (owner, self.next())
            value, condition = "sig", ""
            if way == "other":
                value = self.rng.choice(("sim", "dig", "items", "code", "with_threshold(sig, 0.8)"))
            if way == "two":
                value = "g, " + self.rng.choice(("sig", "items"))
            if way == "expression":
                value = "(%s(sig))" % self.probe(self.other(owner), "expression", "minhash", "minhash", "RETURN $1;")
            if way == "first":
                value = "(%s(id)), sig" % self.probe(self.other(owner), "first", "int", "int", "RETURN $1 % 3;")
            if way == "partial":
                condition = " WHERE %s(id)" % self.probe(
                    self.other(owner), "predicate", "int", "boolean", "RETURN $1 > 5;")
            if way == "clear":
                condition = " WHERE id > 5"
            self.run("CREATE INDEX %s ON %s USING lsh (%s)%s" % (made.split(".")[1], name, value, condition))
            if way == "invalid":
                self.run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = '%s'::regclass" % made)

    # -- views and rules

    def make_view(self, owner, over=None, kind=None):
        """A plain view shows all rows and no note; a barrier hides rows; an invoker's shows what the caller may see."""
        rng, name = self.rng, "%s.v%d" % (owner, self.next())
        kind = kind or rng.choice(
            ("plain", "barrier", "barrier", "invoker") if self.version >= 150000 else ("plain", "barrier", "barrier"))
        if over is None:
            over = rng.choice([r for r in self.relations if r.owner == owner]).name
        note = "a.note" if kind != "plain" else "'open'::text AS note"
        shown = "a.id, a.g, a.owner, %s, a.sig, a.sim, a.dig, a.items, a.code" % note
        if rng.random() < 0.5:
            shown += ", %s(a.id) AS extra" % self.probe(
                self.other(owner), "shown", "int", "int", "RETURN $1;", rng.choice(("STABLE", "IMMUTABLE")))
        where = []
        if kind == "barrier":
            where.append("a.owner = 'bob'")
            if rng.random() < 0.5:
                where.append(
                    "%s(a.id)" % self.probe(self.other(owner), "barrier", "int", "boolean", "RETURN true;",
                                            rng.choice(("STABLE", "IMMUTABLE")))
                )
            if rng.random() < 0.3:
                where.append("jaccard(a.sig, (SELECT k.sig FROM public.kept_rows k WHERE k.id = 5)) >= 0.5")
        more = {"plain": "", "barrier": " WITH (security_barrier)", "invoker": " WITH (security_invoker)"}[kind]
        joined = rng.random() < 0.25
        self.run(
            "CREATE VIEW %s%s AS SELECT %s FROM %s a%s%s; ALTER VIEW %s OWNER TO %s; GRANT ALL ON %s TO PUBLIC"
            % (
                name,
                more,
                shown,
                over,
                " JOIN public.kept_rows k USING (id)" if joined else "",
                " WHERE " + " AND ".join(where) if where else "",
                name,
                owner,
                name,
            )
        )
        self.made("views: " + kind)
        self.relations.append(Relation(name, "view", ALL))
        self.trigger(name, owner, "INSTEAD OF")

    def make_rule(self):
        """On a table or a view that is there; NOTIFY, several statements, conditions, nothing."""
        rng = self.rng
        target = rng.choice([r for r in self.relations if r.kind in ("table", "view", "partitioned")])
        log = "%s.log%d" % (target.owner, self.next())
        self.run("CREATE TABLE {0} (id int, note text); ALTER TABLE {0} OWNER TO {1}".format(log, target.owner))
        event = rng.choice(("INSERT", "UPDATE", "DELETE"))
        row = "OLD" if event == "DELETE" else "NEW"
        acts = self.probe(self.other(target.owner), "rule", "int", "int", "RETURN $1;")
        action = rng.choice(
            (
                "NOTIFY somebody",
                "NOTHING",
                "INSERT INTO {log} VALUES ({acts}({row}.id), 'x')",
                "DELETE FROM {log} WHERE id = {acts}({row}.id)",
                "(INSERT INTO {log} VALUES ({row}.id, 'x'); NOTIFY somebody)",
                "SELECT {acts}({row}.id)",
                "(UPDATE {log} SET note = {row}.note WHERE id = {row}.id; "
                "INSERT INTO {log} SELECT id, note FROM public.kept_rows k JOIN {log} USING (id))",
                "(SELECT k.id FROM public.kept_rows k WHERE jaccard(k.sig, {row}.sig) >= 0.9; DELETE FROM {log})",
            )
        ).format(log=log, acts=acts, row=row)
        where = (
            " WHERE %s(%s.id)" % (self.probe(self.other(target.owner), "ruled", "int", "boolean", "RETURN true;"), row)
            if rng.random() < 0.3 and "NOTIFY" not in action
            else ""
        )
        do = rng.choice(("ALSO", "INSTEAD"))
        self.run("CREATE RULE r%d AS ON %s TO %s%s DO %s %s" % (self.next(), event, target.name, where, do, action),
                 "rules DO " + do)
        target.has_key = target.is_plain = False

    def make_foreign(self, owner):
        """A foreign table, and, of a new partitioned table, a foreign partition beside one with lsh indexes."""
        far, name, n = "%s.far%d" % (owner, self.next()), "%s.parted%d" % (owner, self.next()), self.next()
        columns = ", ".join("%s %s" % (c, TYPES[c]) for c in COLUMNS)
        where = "SERVER here OPTIONS (schema_name '%s', table_name '%s')" % (owner, far.split(".")[1])
        self.run("CREATE TABLE {0} ({1}); ALTER TABLE {0} OWNER TO {2}; GRANT ALL ON {0} TO alice, mallory".format(
            far, columns, owner))
        self.run(
            "INSERT INTO {0} SELECT id, 1, owner, 'open', sig, sim, dig, items, code FROM public.kept_rows".format(far))
        self.run("CREATE TABLE %s (%s) PARTITION BY LIST (g)" % (name, columns))
        self.run(
            "CREATE TABLE {0}.near{1} PARTITION OF {2} FOR VALUES IN (0); "
            "CREATE FOREIGN TABLE {0}.foreign{1} PARTITION OF {2} FOR VALUES IN (1) {3}".format(
                owner, n, name, where
            ),
            "foreign partitions",
        )
        self.run("INSERT INTO {0} SELECT id, 0, owner, 'open', sig, sim, dig, items, code FROM public.kept_rows".format(
            name))
        (self.run("CREATE INDEX ON {1}.near{2} USING lsh (sig); ALTER TABLE {0} OWNER TO {1}; "
                  "GRANT ALL ON {0} TO PUBLIC".format(name, owner, n)))
        self.run("CREATE FOREIGN TABLE {0}.away{1} ({2}) {3}; GRANT ALL ON {0}.away{1} TO PUBLIC".format(
                     owner, n, columns, where), "foreign tables")
        self.relations += [Relation(name, "partitioned", ALL), Relation("%s.away%d" % (owner, n), "foreign", ALL)]

    # -- what a text names

    def named_in(self, text):
        """The probes that a statement or a plan names, by their functions, operators and casts."""
        return {n for n in re.findall(r"\w+", text) if n in self.probes} | {
            n for n, other in self.texts.items() if other in text}
