"""Queries by every kind of plan on tables with lsh indexes (schema `indexed`), against the same tables without them
(schema `plain`). A query names neither schema, so that search_path chooses."""
from harness import *

# One name per way to make the planner choose; the reference runs with PostgreSQL's defaults.
PARALLEL = ("parallel_setup_cost = 0; parallel_tuple_cost = 0; min_parallel_table_scan_size = 0; "
            "min_parallel_index_scan_size = 0; max_parallel_workers_per_gather = 2; "
            "enable_partitionwise_join = on; enable_partitionwise_aggregate = on")
SETTINGS = {
    "default": "",
    "no sequential scans": "enable_seqscan = off; neardup.enable_join = off",
    "no bitmaps": "enable_seqscan = off; enable_bitmapscan = off; neardup.enable_join = off",
    "only nested loops":
        "enable_seqscan = off; enable_hashjoin = off; enable_mergejoin = off; neardup.enable_join = off",
    "no index scans": "enable_seqscan = off; enable_indexscan = off; enable_indexonlyscan = off",
    "parallel": PARALLEL,
    "as written":
        "enable_seqscan = off; enable_material = off; enable_memoize = off; enable_sort = off; "
        "join_collapse_limit = 1; from_collapse_limit = 1; geqo_threshold = 2",
    "not derived": "enable_seqscan = off; neardup.derive_conditions = off",
}
FORCED = "no sequential scans"
ORDERED = "Order By"


def shows(plan, texts):
    """True if these texts are in lines of a plan, one after the other."""
    lines = iter(plan)
    return all(any(text in line[0] for line in lines) for text in texts)


class Plans:
    def __init__(self, name, others=len(SETTINGS) - 1):
        """others: with how many settings besides FORCED each query runs in the full form, which ones changes in turn;
        else one has every other query."""
        self.others = others if FULL else 1
        self.conn = connect(name)
        self.conn.prepare_threshold = None
        wait_for_indexes(self.conn)
        self.count = 0
        self.shown = 0
        self.bad = []
        self.unused = []
        self.turn = self.asked = 0

    def run(self, statement):
        """(rows or None, SQLSTATE or None)"""
        try:
            cur = self.conn.execute(statement)
            return (cur.fetchall() if cur.description else [], None)
        except psycopg.Error as e:
            return (None, e.sqlstate)

    def side(self, schema, settings, before, query, after):
        sets = ["SET " + s for s in settings.split(";") if s.strip()]
        self.conn.execute("; ".join(["RESET ALL; RESET ROLE; SET search_path = %s, public" % schema] + sets))
        for s in before:
            self.conn.execute(s)
        out = self.run(query)
        if self.conn.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
            self.conn.execute("ROLLBACK")
        for s in after:
            self.run(s)
        return out

    def compare(self, query, uses=None, before=(), after=(), ordered=False, settings=None, errors=()):
        """The query's answers with and without indexes. uses: what EXPLAIN must show, the name of an index or, without
        bitmaps, Order By; or several texts, in this order and with the first of `settings`. before and after:
        statements around it, in the same session. errors: SQLSTATEs with which it may fail, on both sides; a query that
        fails otherwise would compare nothing."""
        want = self.side("plain", "neardup.derive_conditions = off; neardup.enable_join = off", before, query, after)
        if want[1] not in (None, *errors):
            self.bad.append("%s: fails with %s" % (" ".join(query.split())[:300], want[1]))
        if settings is None:
            others = [n for n in SETTINGS if n != FORCED]
            self.turn += self.others
            names = [FORCED] + [others[(self.turn + i) % len(others)] for i in range(self.others)]
            self.asked += 1
            if not FULL and self.asked % 2:
                names = [FORCED]
                self.turn -= 1
        else:
            names = settings
        for name in names:
            got = self.side("indexed", SETTINGS[name], before, query, after)
            self.count += 1
            same = got[1] == want[1] and (got[0] == want[0] if ordered or got[0] is None
                                          else sorted(map(repr, got[0])) == sorted(map(repr, want[0])))
            if not same:
                self.bad.append("%s: %s: got %.100r want %.100r" % (name, " ".join(query.split())[:300], got, want))
        if uses and want[1] is None:  # an error may come from folding constants, before any plan
            forced = SETTINGS["no bitmaps" if uses == ORDERED else settings[0] if settings else FORCED]
            plan = self.side("indexed", forced, before, "EXPLAIN (COSTS OFF) " + query, after)
            self.shown += 1
            if not plan[0] or not shows(plan[0], [uses] if isinstance(uses, str) else uses):
                self.unused.append("%s: %s" % (" ".join(query.split())[:200], plan[1] or [r[0] for r in plan[0]]))

    def report(self, name):
        check("%s: answers equal (%d)" % (name, self.count), self.count and not self.bad,
              "%d differ; %s" % (len(self.bad), " | ".join(self.bad[:3])))
        if self.shown:
            check("%s: plans use the index (%d)" % (name, self.shown), not self.unused,
                  "%d do not; %s" % (len(self.unused), " | ".join(self.unused[:3])))
        self.count = self.shown = 0
        self.bad, self.unused = [], []
