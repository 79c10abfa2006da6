#!/usr/bin/python3
"""Random statements of every kind over random schemas (random_schema.py, random_statements.py) go through
lsh_why_not(), EXPLAIN in all its forms, and are executed, by a reader with few rights, two owners and a superuser. The
same statements go through a twin of the database, which has btree indexes where
this has lsh, and says what PostgreSQL does.

None ends the server or raises an internal error. lsh_why_not() runs no function that EXPLAIN does not run. A query runs
none as another role, and none that only an index has, unless the twin does. No message and no answer shows the reader
what is hidden from him. lsh_why_not() says of each index that the plan has, and of no other, that it is used.

NEARDUP_SECONDS: how long; NEARDUP_SEED: of the first schema, to repeat it."""

import collections
import json
import random
import xml.etree.ElementTree

from random_statements import *
from psycopg.types.string import TextLoader
from servers import *

SEED = int(os.environ.get("NEARDUP_SEED") or random.randrange(1 << 30))
SECONDS = float(os.environ.get("NEARDUP_SECONDS") or (600 if FULL else 7))
LEAST, PER_SCHEMA = 200, 1500  # statements: on a busy machine, too; with one schema
INTERNAL = ("XX", "57P", "58", "F0", "P0004", "lost")
ORDERLY = ("54001", "54000", "57014", "53200")  # too long, too deep, out of time
LOOKS = (
    "lsh_info('{0}', true)",
    "lsh_check('{0}')",
    "lsh_pages('{0}')",
    "lsh_hot_buckets('{0}', 2)",
    "explain_pair('{0}', %s, %s)" % (VALUES["sig"].format(3), VALUES["sig"].format(5)),
    "explain_pair('{0}', %s, %s)" % (VALUES["sim"].format(3), VALUES["sim"].format(5)),
)
OF_WRITES = ("trigger", "default", "generated", "check", "rule", "ruled")
OF_VIEWS = ("barrier", "shown")
ALONE = "neardup.enable_join = off; neardup.derive_conditions = off"
WHY_NOT = "SELECT * FROM public.lsh_why_not(%s)"


class Outcome:
    """The end of a statement: its SQLSTATE, what it said and answered, and which probes ran, as whom."""

    def __init__(self, state, said, answer, runs, told):
        self.state, self.said, self.answer, self.runs, self.told = state, said, answer, runs, told

    @property
    def shown(self):
        return "%s %s %s" % (self.said, self.answer, self.told)


class Side:
    """One of the two databases, in sessions that are opened again after a crash."""

    def __init__(self, server, name):
        self.server, self.name, self.notices, self.conn = server, name, [], None
        self.open()

    def open(self):
        self.conn = wait_for(self.connected, "the server does not come back")
        self.conn.prepare_threshold = None
        self.conn.adapters.register_loader("json", TextLoader)  # it is judged, and may be none
        self.conn.add_notice_handler(lambda d: self.notices.append(
            " ".join(filter(None, (d.message_primary, d.message_detail, d.message_hint)))))

    def connected(self):
        """None while the server recovers from a crash."""
        with contextlib.suppress(psycopg.OperationalError):
            return self.server.connect(self.name)

    def run(self, role, settings, text, args=None):
        """Within a transaction that is rolled back."""
        prepare = (
            ["RESET ROLE; RESET ALL; DEALLOCATE ALL; SET statement_timeout = '1s'; SET probe.seen = ''; SET ROLE %s"
             % role]
            + ["SET " + s for s in settings.split("; ") if s]
            + ["BEGIN"]
        )
        try:
            self.conn.execute("; ".join(prepare))
        except psycopg.OperationalError:  # a crash by the other side has ended this session, too
            self.open()
            self.conn.execute("; ".join(prepare))
        self.notices.clear()
        said, answer, state = "", "", "ok"
        try:
            if text.startswith("COPY "):
                with self.conn.cursor() as cursor, cursor.copy(text.encode()) as copy:
                    answer = b"".join(bytes(block) for block in copy).decode(errors="replace")
            else:
                cursor = self.conn.execute(text.encode(), args)
                answer = " ".join(self.rows(cursor))
        except psycopg.Error as e:
            state = e.sqlstate or ("lost" if self.conn.closed else type(e).__name__)
            d = e.diag
            said = " / ".join(filter(None, (d.message_primary, d.message_detail, d.message_hint, d.context))) or str(e)
        if self.conn.closed:
            self.open()
        elif self.conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self.conn.execute("ROLLBACK")
        runs = {r for n in self.notices if n.startswith(MARK + " ") for r in re.findall(r"(\w+) (\w+) as (\w+);", n)}
        return Outcome(state, said, answer, {(function, role) for _, function, role in runs},
                       " ".join(n for n in self.notices if not n.startswith(MARK + " ")))

    @staticmethod
    def rows(cursor):
        while True:
            if cursor.description:
                yield "\n".join(repr(r) if len(r) > 1 else str(r[0]) for r in cursor.fetchall())
            if not cursor.nextset():
                return


def is_internal(state):
    return state.startswith(INTERNAL)


def is_read(read, text):
    try:
        read(text)
        return True
    except (ValueError, xml.etree.ElementTree.ParseError):
        return False


class Judge:
    """Compares what a statement does on both sides; keeps the first example of each kind of fault."""

    def __init__(self):
        self.faults, self.probes_run = {}, set()
        self.counts, self.ends, self.errors, self.reasons = (collections.Counter() for _ in range(4))
        self.where = ""  # of the statement at hand

    def fault(self, what, case):
        what = re.sub(r"(?<=[a-z_])\d+|\b(?![0-9A-Z]{5}\b)\d+", "N", what)  # an SQLSTATE stays
        count, example = self.faults.get(what, (0, "%s; %s" % (self.where, case)))
        self.faults[what] = (count + 1, example)

    def count(self, way, outcome, beside, case):
        """Counts any outcome. beside: that of the twin, None where there is none; what PostgreSQL does itself is not
        ours."""
        self.counts[way] += 1
        self.ends["%s: %s" % (way, "answers" if outcome.state == "ok" else "errors")] += 1
        self.probes_run |= outcome.runs
        if outcome.state == "lost":
            self.fault("%s ends the server" % way, case)
        elif (is_internal(outcome.state) or outcome.state == "54001") and (
                beside is None or beside.state != outcome.state):
            self.fault("%s raises %s %s" % (way, outcome.state, outcome.said[:90]), case)
        if outcome.state != "ok":
            self.errors["%s %s" % (outcome.state, re.sub(r"\d+", "N", outcome.said)[:60])] += 1
        if SECRET in outcome.shown and SECRET not in case.text:
            self.counts["what is hidden from the reader, shown to %s" % case.role] += 1
        if case.role == READER and SECRET in outcome.shown and SECRET not in case.text and (
                beside is None or SECRET not in beside.shown):
            self.fault("%s shows what is hidden" % way,
                       "%s: %s" % (case, outcome.shown[max(0, outcome.shown.index(SECRET) - 100) :][:200]))

    def well_formed(self, way, outcome, beside, text, case):
        """The forms of EXPLAIN that programs read. PostgreSQL 15 itself writes one that is not, of MERGE."""
        for form, read in (("FORMAT json", json.loads), ("FORMAT xml", xml.etree.ElementTree.fromstring)):
            if form in text.split(")")[0] and outcome.state == "ok" and is_read(read, beside.answer) and not is_read(
                    read, outcome.answer):
                self.fault("%s (%s) cannot be read" % (way, form), "%s %s" % (text, case))

    def ends_alike(self, way, got, where, other, case):
        """Both give an answer, or neither does. What take() has judged is left out."""
        if (got.state == "ok") != (other.state == "ok") and not any(
                is_internal(o.state) or o.state in ORDERLY for o in (got, other)):
            self.fault("%s ends in %s, in the place %s in %s: %s" % (
                           way, got.state, where, other.state, (got.said or other.said)[:90]), case)

    def ran(self, way, runs, allowed, case):
        for function, role in sorted(runs - allowed):
            self.fault(
                "%s runs %s as %s" % (way, re.sub(r"^.*_|\d+$", "", function),
                                      "another" if role != case.role else "the caller"),
                "%s: %s as %s" % (case, function, role),
            )


class Case:
    def __init__(self, role, settings, statement):
        self.role, self.settings, self.statement, self.text = role, settings, statement, statement.text

    def __str__(self):
        return "SET ROLE %s; %s%s" % (
            self.role, "".join("SET %s; " % s for s in self.settings.split("; ") if s), self.statement.executed[:3000])


class Round:
    """One schema in two databases."""

    def __init__(self, server, judge, seed, can_be_foreign):
        self.server, self.judge, self.seed = server, judge, seed
        rng = random.Random(seed)
        version = self.make(rng, can_be_foreign)
        self.main, self.twin = Side(server, "main"), Side(server, "twin")
        self.rng, self.statements = rng, RandomStatements(self.schema, rng, version)

    def make(self, rng, can_be_foreign):
        with self.server.connect() as admin:
            for name in ("twin", "main"):
                admin.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)" % name)
            for role in (*OWNERS, READER):
                admin.execute("DROP ROLE IF EXISTS %s; CREATE ROLE %s LOGIN" % (role, role))
            admin.execute("CREATE DATABASE main TEMPLATE template0")
            with self.server.connect("main") as conn:
                conn.execute("CREATE EXTENSION neardup; GRANT TEMPORARY, CREATE ON DATABASE main TO PUBLIC; "
                             "SET probe.seen = ''; SET client_min_messages = warning")
                self.schema = RandomSchema(conn, rng, admin.info.server_version, can_be_foreign)
            admin.execute("CREATE DATABASE twin TEMPLATE main")
            admin.execute("GRANT TEMPORARY, CREATE ON DATABASE twin TO PUBLIC")
        with self.server.connect("twin") as conn:
            self.make_twin(conn)
            if can_be_foreign:
                conn.execute("ALTER SERVER here OPTIONS (SET dbname 'twin')")
            return conn.info.server_version

    @staticmethod
    def make_twin(conn):
        """An index of btree in the place of each of lsh: what PostgreSQL computes for it when rows are written is the
        same."""
        conn.execute("SET client_min_messages = warning; SET probe.seen = ''")
        indexes = conn.execute("SELECT c.oid::regclass::text, pg_get_indexdef(c.oid), indisvalid "
                               "FROM pg_class c JOIN pg_index ON indexrelid = c.oid JOIN pg_am a ON a.oid = relam "
                               "WHERE amname = 'lsh' AND NOT relispartition").fetchall()
        for name, definition, valid in indexes:
            conn.execute("DROP INDEX " + name)
            if "with_threshold" in definition:
                continue
            conn.execute(definition.replace("USING lsh", "USING btree").replace(" ON ONLY ", " ON "))
            if not valid:
                conn.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (name,))

    def step(self, number):
        self.judge.where = "NEARDUP_SEED=%d, statement %d" % (self.seed, number)
        role = self.rng.choice((READER, READER, READER, ADMIN, *OWNERS))
        statement = self.statements.statement(role)
        case = Case(role, self.statements.settings(), statement)
        options = sorted(set(self.statements.options()))
        analyzed = [
            "ANALYZE",
            *self.rng.sample(("TIMING off", "BUFFERS", "WAL"), self.rng.randrange(3)),
            *(o for o in options if o != "GENERIC_PLAN" and o != "BUFFERS"),
        ]
        self.judge.counts["of kind " + statement.kind] += 1
        planned = self.explained(case, options)
        self.why_not(case, planned)
        if statement.runs and role != ADMIN or statement.kind in (
                "SELECT", "DELETE", "INSERT", "UPDATE", "MERGE") and statement.runs:
            self.executed(case, statement.executed, "the statement")
            if statement.explained and self.rng.random() < 0.3:
                self.executed(case, "EXPLAIN (%s) %s" % (", ".join(analyzed), statement.explained), "EXPLAIN ANALYZE")
        if number % 20 == 0:
            self.inspect()

    def both(self, case, text):
        return self.main.run(case.role, case.settings, text), self.beside(case, text)

    def beside(self, case, text, settings=""):
        """The outcome by PostgreSQL alone."""
        return self.twin.run(case.role, "; ".join(filter(None, (case.settings, settings, ALONE))), text)

    def names_of_plan(self, case):
        """The functions that the statement itself runs: those that it and its plan without lsh name."""
        plan = self.beside(
            case, "EXPLAIN (VERBOSE, COSTS off) " + case.statement.explained) if case.statement.explained else None
        return self.schema.named_in(case.text + case.statement.executed + (plan.answer if plan else ""))

    def explained(self, case, options):
        """EXPLAIN on both sides; what ran then, None where the statement is not for EXPLAIN."""
        if case.statement.explained is None:
            return None
        text = "EXPLAIN %s%s" % ("(%s) " % ", ".join(options) if options else "", case.statement.explained)
        got, beside = self.both(case, text)
        self.judge.count("EXPLAIN", got, beside, case)
        self.judge.well_formed("EXPLAIN", got, beside, text, case)
        self.judge.counts["similarity joins"] += "Similarity" in got.answer
        surplus = got.runs - beside.runs
        if surplus:  # planning may look at what the statement has, but for what is volatile
            names = self.names_of_plan(case)
            self.judge.ran(
                "EXPLAIN", {r for r in surplus if r[1] != case.role or r[0] not in names or "_v_" in r[0]}, set(), case)
        got.runs |= beside.runs
        self.judge.ends_alike("EXPLAIN", got, "without neardup", beside, case)
        return got

    def why_not(self, case, planned):
        statement = case.statement
        got = self.main.run(case.role, case.settings, WHY_NOT, (statement.text,))
        self.judge.count("lsh_why_not", got, planned, case)
        for reason in re.findall(r"(True|False), '([^']{9,60})", got.answer):
            self.judge.reasons[reason[1]] += 1
        if planned is not None:
            if statement.text != statement.explained:
                return  # a value in the place of a parameter has another plan
            self.judge.ran("lsh_why_not", got.runs, planned.runs, case)
            if statement.one and not (got.state == "42501" and self.is_dead(case)):
                self.judge.ends_alike("lsh_why_not", got, "of EXPLAIN", planned, case)
            if statement.one and got.state == "ok" and "'" in got.answer:
                self.used(case, got.answer)
        elif not statement.one:
            self.judge.ran("lsh_why_not, of what is not one query,", got.runs, set(), case)
            if got.state == "ok" and statement.kind in (
                    "several", "utility", "transaction", "EXECUTE", "EXPLAIN", "DO", "COPY"):
                self.judge.fault("lsh_why_not takes what is not one query", case)

    def is_dead(self, case):
        """lsh_why_not() asks for rights that PostgreSQL does not ask for: to write where a rule does nothing instead,
        or runs NOTIFY, and to read a subquery that need not run."""
        plan = self.beside(case, "EXPLAIN (COSTS off) " + case.statement.explained).answer
        return any(text in plan for text in ("One-Time Filter: false", "Query rewrites to nothing", "NOTIFY"))

    def used(self, case, answer):
        """The indexes that lsh_why_not() says are in use are those that the plan asks."""
        plan = self.main.run(case.role, case.settings, "EXPLAIN (COSTS off) " + case.statement.explained)
        if plan.state != "ok":
            return
        said = {index.split(".")[-1] for index in re.findall(r"'([\w.]+)', True, ['\"]", answer)}
        scanned = set(re.findall(r"Index (?:Only )?Scan (?:Backward )?(?:using|on) (\w+)", plan.answer))
        asked = set(re.findall(
            r"Index (?:Only )?Scan (?:using|on) (\w+)[^\n]*\n *Index Cond: [^\n]*(?:%>|&&| % |%\?)", plan.answer))
        self.judge.counts["plans with an lsh index"] += bool(asked)
        if said - scanned:
            self.judge.fault(
                "lsh_why_not says that an index is used, which the plan has not", "%s: %s" % (case, said - scanned))
        # A plan may have an index only because all others are switched off; it then reads all of the index.
        refused = set(re.findall(r"'([\w.]+)', False, ['\"](?!.*takes another plan)", answer))
        missing = asked - said - {index.split(".")[-1] for index in refused}
        if missing:
            self.judge.fault("lsh_why_not does not say that an index is used", "%s: %s" % (case, missing))

    def executed(self, case, text, way):
        got, beside = self.both(case, text)
        self.judge.count(way, got, beside, case)
        self.judge.well_formed(way, got, beside, text, case)
        surplus = got.runs - beside.runs
        if not surplus or "57014" in (got.state, beside.state):
            return
        names = self.names_of_plan(case)
        if " LIMIT " in case.text:  # other rows may be written
            names |= self.planted_probes(OF_WRITES)
        if case.statement.explained is None:  # no plan says what the views have that it names
            names |= self.planted_probes(OF_VIEWS)
        left = {r for r in surplus if r[1] != case.role or r[0] not in names}
        for settings in (
            "enable_seqscan = off",
            "enable_nestloop = off",
            "enable_hashjoin = off; enable_mergejoin = off",
            "enable_sort = off",
        ):  # in another order, others come first
            if left:
                left -= self.beside(case, text, settings).runs
        self.judge.ran(way, left, set(), case)

    def planted_probes(self, kinds):
        return {f for f in self.schema.probes if f.split("_")[2].rstrip("0123456789") in kinds}

    def inspect(self):
        """The functions that look at an index, by each role."""
        if not self.schema.indexes:
            return
        index, owner = self.rng.choice(self.schema.indexes)
        for role in ROLES:
            for call in self.rng.sample(LOOKS, 2) + ["lsh_check('{0}', true)"]:
                case = Case(
                    role, "", Statement("inspection", "SELECT * FROM public." + call.format(index), explained=None))
                got = self.main.run(role, "", case.text)
                self.judge.count("inspection", got, None, case)
                # As REINDEX does: as the owner of the table, for himself and for a superuser.
                self.judge.ran(
                    "inspection", got.runs, {r for r in got.runs if r[1] == owner and role in (owner, ADMIN)}, case)

    def close(self):
        for side in (self.main, self.twin):
            side.conn.close()


GONE = """
DROP VIEW IF EXISTS {0}gone_view; DROP TABLE IF EXISTS {0}gone CASCADE; DROP TABLE IF EXISTS {0}was CASCADE;
CREATE TABLE {0}gone AS SELECT * FROM public.kept_rows; CREATE INDEX gone_sig ON {0}gone USING lsh (sig);
CREATE VIEW {0}gone_view WITH (security_barrier) AS SELECT * FROM {0}gone WHERE g > 0;
GRANT SELECT ON {0}gone, {0}gone_view TO PUBLIC; """
CHANGES = (
    "DROP TABLE {0}gone CASCADE",
    "DROP INDEX {0}gone_sig",
    "ALTER TABLE {0}gone RENAME TO was",
    "ALTER TABLE {0}gone DROP COLUMN sig CASCADE",
    "REVOKE SELECT ON {0}gone FROM PUBLIC; LOCK TABLE {0}gone",
    "DROP VIEW {0}gone_view; CREATE VIEW {0}gone_view AS SELECT 1 AS id; LOCK TABLE {0}gone",
    "ALTER TABLE {0}gone ALTER sig TYPE text USING 'x'",
    "ALTER TABLE {0}gone ENABLE ROW LEVEL SECURITY",
    "CREATE RULE r AS ON SELECT TO {0}gone DO INSTEAD SELECT 1; ROLLBACK; BEGIN; LOCK TABLE {0}gone",
    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{0}gone_sig'::regclass; LOCK TABLE {0}gone",
)
ASKED = (
    "lsh_why_not('SELECT id FROM {0}gone WHERE jaccard(sig, {1}) >= 0.8')",
    "lsh_why_not('SELECT id FROM {0}gone_view a WHERE a.sig % {1}')",
    "lsh_why_not('DELETE FROM {0}gone a USING {0}gone b WHERE jaccard(a.sig, b.sig) > 0.8')",
    "lsh_check('{0}gone_sig', true)",
    "lsh_info('{0}gone_sig')",
)


def changed_meanwhile(server, judge, rng):
    """Another session drops, renames or changes what is asked for, between its name and its lock."""
    value = VALUES["sig"].format(3)
    with server.connect("main") as conn, server.connect("main") as other:
        for change in CHANGES if FULL else rng.sample(CHANGES, 5):
            asked = rng.choice(ASKED).format("public.", value)
            conn.execute("RESET ROLE; " + GONE.format("public.") + "SET ROLE " + rng.choice((READER, ADMIN)))
            other.execute("BEGIN; " + HOLD_CATALOGS)
            for part in change.format("public.").split("; "):
                sql_error(other, part)
            if other.info.transaction_status != psycopg.pq.TransactionStatus.INTRANS:
                other.execute("ROLLBACK; BEGIN; LOCK TABLE public.gone")
            try:
                e = error_behind(other, ["COMMIT"], conn, "SELECT * FROM public." + asked)
            except RuntimeError as ended:
                e = str(ended)  # it does not wait: it asks for what is not locked
                if other.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    other.execute("ROLLBACK")
            judge.counts["beside a change"] += 1
            if isinstance(e, psycopg.Error) and is_internal(e.sqlstate or "lost"):
                judge.fault("%s raises %s beside a change" % (asked.split("(")[0], e.sqlstate),
                            "%s beside %s: %s" % (asked, change, e))


def rounds(server, judge):
    end, seed, objects, statements = time.monotonic() + SECONDS, SEED, collections.Counter(), 0
    can_be_foreign = ask_server(server, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == 1
    while time.monotonic() < end or statements < LEAST:
        a_round = Round(server, judge, seed, can_be_foreign)
        for number in range(PER_SCHEMA):
            if time.monotonic() >= end and statements >= LEAST:
                break
            a_round.step(number)
            statements += 1
        changed_meanwhile(server, judge, a_round.rng)
        objects.update(a_round.schema.counts)
        a_round.close()
        seed += 1
    print("%d statements over %d schemas: %s" % (
        statements, seed - SEED, ", ".join("%d %s" % (n, k) for k, n in sorted(objects.items()))))
    return statements


def ask_server(server, query):
    with server.connect() as conn:
        return one(conn, query)


def tell(judge, statements):
    """Prints the counts for the log; then one line for each kind of fault."""
    for what, counted in (("ends", judge.ends), ("counts", judge.counts), ("errors", judge.errors),
                          ("reasons of lsh_why_not", judge.reasons)):
        print("%s: %s" % (what, ", ".join("%s %d" % item for item in counted.most_common(60))))
    for what in sorted(judge.faults):
        print("    %s (%d): %s" % (what, *judge.faults[what]))
    tried = sum(n for way, n in judge.ends.items())
    check(
        "%d random statements, %d times planned, explained or executed: no internal error, nothing of others runs, "
            "nothing hidden shows (seed %d)"
            % (statements, tried, SEED),
        not judge.faults,
        "%d kinds of faults: %s" % (len(judge.faults), " | ".join(sorted(judge.faults))),
    )
    check(
        "statements are sound: most have plans, with lsh indexes and similarity joins, and probes run",
        judge.ends["EXPLAIN: answers"] > judge.ends["EXPLAIN: errors"]
        and judge.counts["plans with an lsh index"] > 0
        and judge.counts["similarity joins"] > 0
        and len(judge.probes_run) > 10
        and len(judge.reasons) > 3,
        "%s %s" % (judge.ends, judge.counts),
    )


def main():
    print("note: NEARDUP_SEED=%d" % SEED, flush=True)
    judge = Judge()
    with Server("max_connections = 30\nlog_min_messages = log\nmax_stack_depth = 2MB").start() as server:
        statements = rounds(server, judge)
        alarms = server.alarms()
    tell(judge, statements)
    check("the server lives on", not alarms, alarms[:3])


if __name__ == "__main__":
    finish(main)
