"""Random statements of every kind over a random schema, by its owners, by a reader with few rights and by a
superuser."""

from random_queries import *

# One of each.
SETTINGS = [
    [settings.strip() for settings in line.split("|")]
    for line in (
        "||enable_seqscan = off|enable_seqscan = off; enable_bitmapscan = off|enable_seqscan = off; enable_sort = off"
            "|enable_seqscan = off; seq_page_cost = 100000; random_page_cost = 0|enable_seqscan = off; "
            "enable_indexscan = off",
        "|||enable_nestloop = off; enable_hashjoin = off; enable_mergejoin = off|enable_hashjoin = off; "
            "enable_mergejoin = off; enable_material = off",
        "||||neardup.derive_conditions = off|neardup.enable_join = off|constraint_exclusion = on|row_security = off"
            "|plan_cache_mode = force_generic_plan|enable_partitionwise_join = on; "
            "enable_partitionwise_aggregate = on|work_mem = '64kB'; hash_mem_multiplier = 1|join_collapse_limit = 1; "
            "from_collapse_limit = 1",
        "|||search_path = mallory, public|search_path = alice, mallory, public|search_path = public, pg_temp",
    )
]


class Statement:
    """text: what lsh_why_not() and EXPLAIN are given. kind: for the counts. one: whether it is one SELECT, INSERT,
    UPDATE, DELETE or MERGE. runs: whether it may be executed in a transaction that is rolled back; executed: by which
    text. explained: what EXPLAIN takes in its place, None for nothing."""

    def __init__(self, kind, text, one=True, runs=True, executed=None, explained=""):
        self.kind, self.text, self.one, self.runs = kind, text, one, runs
        self.executed = executed or text
        self.explained = text if explained == "" else explained


class RandomStatements(RandomQueries):
    def statement(self, role):
        """The next one, for that role."""
        self.role = role
        kind, text = self.query()
        draw = self.rng.random()
        if draw < 0.8:
            return Statement(
                kind, text, runs="$1" not in text, explained=text if "$1" not in text else text.replace("$1", "7"))
        if draw < 0.9:
            return self.utility(kind, text)
        return self.odd(kind, text)

    def utility(self, kind, text):
        """One that has a query in it, or none at all."""
        text, name = text.replace("$1", "7"), self.relation().name
        if kind == "SELECT" and self.chance(0.7):
            made = "CREATE TEMP TABLE made (a) AS SELECT 1 FROM (%s) s" % text
            return self.pick(
                Statement(
                    "DECLARE",
                    "DECLARE c CURSOR FOR " + text,
                    False,
                    True,
                    "DECLARE c CURSOR FOR %s; FETCH 3 FROM c; FETCH ALL FROM c; CLOSE c" % text,
                ),
                Statement("CREATE TABLE AS", made, False, "FOR " not in text),
                Statement("COPY", "COPY (%s) TO STDOUT" % text, False, explained=None),
                Statement("SELECT INTO", "SELECT s.* INTO TEMP made FROM (SELECT 1 FROM (%s) s) s" % text, False,
                          "FOR " not in text),
                Statement("CREATE VIEW", "CREATE TEMP VIEW made (a) AS SELECT 1 FROM (%s) s" % text, False,
                          "FOR " not in text, explained=None),
                Statement(
                    "CREATE MATERIALIZED VIEW",
                    "CREATE MATERIALIZED VIEW %s.made AS SELECT 1 AS one FROM (%s) s" % (self.rng.choice(OWNERS), text),
                    False,
                    "FOR " not in text,
                ),
            )
        if self.chance(0.4):
            return self.prepared(text)
        return self.pick(
            Statement("EXPLAIN", "EXPLAIN " + text, False, explained=None),
            Statement("PREPARE", "PREPARE p AS " + text, False, explained=None),
            Statement("DO", "DO $do$ BEGIN EXECUTE $q$%s$q$; END $do$" % text, False, explained=None),
            Statement("COPY", "COPY %s (id, sig) TO STDOUT" % name, False, explained=None),
            Statement("TABLE", "TABLE " + name),
            Statement("VALUES", "VALUES (1, %s), (2, NULL)" % self.value("sig")),
            Statement("ANALYZE", "ANALYZE " + name, False, explained=None),
            Statement("VACUUM", "VACUUM " + name, False, False, explained=None),
            Statement("LOCK", "LOCK TABLE %s" % name, False, explained=None),
            Statement("REINDEX", "REINDEX TABLE " + name, False, explained=None),
            Statement("TRUNCATE", "TRUNCATE %s CASCADE" % name, False, explained=None),
            Statement("CREATE INDEX", "CREATE INDEX ON %s USING lsh (sig) WHERE id < 9" % name, False, explained=None),
            Statement("NOTIFY", "NOTIFY somebody, 'x'", False, explained=None),
            Statement("SHOW", "SHOW ALL", False, explained=None),
        )

    def prepared(self, text):
        """A prepared statement, one of its signatures a parameter, planned for the value and then for any."""
        values = [(c, v) for c in VALUES for v in (VALUES[c].format(i) for i in range(12)) if v in text]
        column, given = values[0] if values else (None, None)
        head = "PREPARE prepared%s AS %s; " % (
            "(%s)" % TYPES[column] if given else "", text.replace(given, "$1") if given else text)
        call = "EXECUTE prepared%s" % ("(%s)" % given if given else "")
        return Statement(
            "EXECUTE",
            call,
            False,
            True,
            "%s%s; SET plan_cache_mode = force_generic_plan; EXPLAIN %s; %s; DEALLOCATE prepared"
                % (head, call, call, call),
            None,
        )

    def odd(self, kind, text):
        """Texts that are no single statement; parameters of unknown type; a megabyte of text."""
        draw = self.rng.randrange(8)
        if draw < 2:
            for column in ("sig", "sim", "dig", "items", "code"):
                text = text.replace(VALUES[column].format(3), "$2").replace(
                    VALUES[column].format(5), "$%d" % self.pick(1, 3, 99))
            return Statement(
                "parameters", text.replace("= 0", "= $1").replace("> 5", "> $1"), runs=False, explained=None)
        if draw == 2:
            return Statement("several",
                             "%s; %s" % (text, self.pick(self.query()[1], "DROP TABLE public.kept_rows", "COMMIT")),
                             False, False, explained=None)
        if draw == 3:
            return Statement("cut off", text[: self.rng.randrange(len(text))], "$" not in text, False)
        if draw == 4:
            return Statement(
                "empty", self.pick("", " ", ";", "--", "/* */", "\\", "'", "$1", "$$"), False, False, explained=None)
        if draw == 5 and self.chance(0.3):
            name = self.relation().name
            large = self.pick(
                "SELECT id FROM %s WHERE %s" % (
                    name, " OR ".join(["jaccard(sig, %s) >= 0.8" % VALUES["sig"].format(3)] * 200)),
                "SELECT '%s'" % ("x" * (1 << 20)),
                "(" * (1 << 20),
                "SELECT id FROM %s WHERE %s id > 0" % (name, "NOT " * (1 << 16)),
                "SELECT %s FROM %s" % (", ".join(["id"] * 1600), name),
                "SELECT 1 " * (1 << 17),
            )
            return Statement("large", large, False, False, explained=None)
        if draw == 6:
            return Statement(
                "transaction",
                self.pick(
                    "BEGIN",
                    "COMMIT",
                    "ROLLBACK",
                    "SAVEPOINT s",
                    "CHECKPOINT",
                    "DISCARD ALL",
                    "RESET ALL",
                    "SET ROLE postgres",
                    "LISTEN a",
                    "DROP TABLE public.kept_rows",
                    "CALL nobody()",
                    "VACUUM FULL",
                ),
                False,
                False,
                explained=None,
            )
        return Statement("mangled", self.mangled(text), "$" not in text, False)

    def mangled(self, text):
        """A word goes, comes twice, or is another."""
        words = text.split(" ")
        for _ in range(self.pick(1, 1, 2)):
            i = self.rng.randrange(len(words))
            words[i : i + 1] = self.pick([], [words[i]] * 2, [self.rng.choice(words)], ["NULL"])
        return " ".join(words)

    def settings(self):
        return "; ".join(s for s in map(self.rng.choice, SETTINGS) if s)

    def options(self):
        """Options of EXPLAIN, without ANALYZE."""
        some = ["VERBOSE", "COSTS off", "SETTINGS", "SUMMARY", "FORMAT " + self.pick("text", "json", "xml", "yaml"),
                "BUFFERS"]
        if self.version >= 160000:
            some.append("GENERIC_PLAN")
        if self.version >= 170000:
            some.append("MEMORY")
        return self.rng.sample(some, self.pick(0, 1, 2, 3)) + (["VERBOSE"] if self.chance(0.5) else [])
