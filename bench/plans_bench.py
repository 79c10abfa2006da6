#!/usr/bin/env python3
"""The planner's choices: each query of plans_queries.py by the plan that is chosen, and by every other plan that settings of the planner give.

    plans_bench.py ROWS [--only TEXT] [--plans] [--keep]

Called by plans_bench.sh. Prints for each query the milliseconds of the chosen plan and of the best one, medians of RUNS, and the factor between them. A plan is
found with up to MOST_OFF settings turned off, and with one index of its table hidden, where there are several. --only: queries with TEXT in their names;
--plans: both plans of a factor above WORST, too; --keep: the tables are kept, and used as they are where they are there.
"""
import argparse
import itertools
import json
import re
import statistics
import sys

try:
    import psycopg
except ImportError:
    print("python3-psycopg is not installed")
    sys.exit(0)

import plans_data
from plans_queries import Queries

RUNS = 5
WORST = 2.0
LEAST_MS = 0.1  # shorter times count as this one
SLOWER = 1.5  # times the best one: a plan that took so long the second time is not run again
FIRST_MS = 2000  # milliseconds that a plan may take whatever the others take
MOST_OFF = 4
ON_TABLES = ("enable_seqscan", "enable_indexscan", "enable_bitmapscan", "enable_sort", "enable_incremental_sort", "max_parallel_workers_per_gather")
ON_JOINS = ("enable_nestloop", "enable_hashjoin", "enable_mergejoin", "enable_material", "enable_memoize", "neardup.enable_join")
OFF = {"max_parallel_workers_per_gather": "0"}


class Plan:
    def __init__(self, text, off, hidden):
        self.text, self.off, self.hidden = text, off, hidden


class Bench:
    def __init__(self):
        self.conn = psycopg.connect("", autocommit=True)
        self.conn.prepare_threshold = None
        self.conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")
        self.conn.execute("SET client_min_messages = error; SET maintenance_work_mem = '1GB'; SET work_mem = '64MB'; SET jit = off; "
                          "SET plan_cache_mode = force_generic_plan")

    def under(self, plan, before, statement):
        """The rows of the statement, planned under the settings of the plan; None where it took too long."""
        self.conn.execute("DEALLOCATE ALL")
        try:
            with self.conn.transaction():
                if plan.hidden:
                    self.conn.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = '%s'::regclass" % plan.hidden)
                self.conn.execute("; ".join(["SELECT"] + ["SET LOCAL %s = %s" % (name, OFF.get(name, "off")) for name in plan.off]))
                for first in before:
                    self.conn.execute(first)
                rows = self.conn.execute(statement).fetchall()
                raise psycopg.Rollback
        except psycopg.errors.QueryCanceled:
            return None
        return rows

    def explained(self, query, off=(), hidden=None):
        plan = Plan("", off, hidden)
        name, before, text = query
        plan.text = "\n".join(row[0] for row in self.under(plan, before, "EXPLAIN (COSTS OFF) " + text))
        return plan

    def plans(self, query):
        """The chosen one first, each text once."""
        found = {}

        def add(off, hidden):
            plan = self.explained(query, off, hidden)
            found.setdefault(plan.text, plan)

        add((), None)
        chosen = next(iter(found))
        joins = re.search(r"Nested Loop|Join", chosen) is not None
        hidden = [None]
        if plans_data.PARTS not in chosen:
            indexes = self.conn.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = '%s'::regclass" % plans_data.DOCS).fetchall()
            hidden += [i for i, in indexes if re.search(r"\b%s\b" % i, chosen)]
        names = ON_TABLES + (ON_JOINS if joins else ())
        for index in hidden:
            for n in range(MOST_OFF + 1 if index is None else 2):
                for off in itertools.combinations(names, n):
                    add(off, index)
        return list(found.values())

    def milliseconds(self, query, plan, limit=None):
        """The time of one execution; None where it takes longer than the limit."""
        self.conn.execute("SET statement_timeout = %d" % (limit or 0))
        rows = self.under(plan, query[1], "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + query[2])
        self.conn.execute("SET statement_timeout = 0")
        if rows is None:
            return None
        value = rows[0][0]
        return (json.loads(value) if isinstance(value, str) else value)[0]["Execution Time"]

    def measured(self, query, plan, best):
        """The median; None for a plan that is not the best one by far."""
        for limit in (FIRST_MS + 2 * best, FIRST_MS / 10 + 2 * best):  # the first run brings pages in
            took = self.milliseconds(query, plan, limit)
            if took is None:
                return None
        if took > SLOWER * best:
            return took
        times = [took]
        while len(times) < RUNS:
            took = self.milliseconds(query, plan, FIRST_MS + 4 * best)
            if took is None:
                return None
            times.append(took)
        return statistics.median(times)

    def compare(self, query):
        """(milliseconds of the chosen plan, of the best one, the plans, how many there are)"""
        plans = self.plans(query)
        chosen = plans[0]
        self.milliseconds(query, chosen)
        first = statistics.median(self.milliseconds(query, chosen) for _ in range(RUNS))
        best_ms, best = first, chosen
        for plan in plans[1:]:
            took = self.measured(query, plan, best_ms)
            if took is not None and took < best_ms:
                best_ms, best = took, plan
        if best is not chosen:  # both again, by turns: other work on the machine slows both down
            times = [(self.milliseconds(query, chosen), self.milliseconds(query, best)) for _ in range(RUNS)]
            first, best_ms = (statistics.median(column) for column in zip(*times))
        return first, min(best_ms, first), chosen, best, len(plans)


def show(plan):
    where = ", ".join(plan.off) + (" without %s" % plan.hidden if plan.hidden else "")
    print("      off: %s\n%s" % (where or "nothing", "\n".join("        " + line[:120] for line in plan.text.split("\n")[:12])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    bench = Bench()
    print(bench.conn.execute("SELECT version()").fetchone()[0])
    if not args.keep or bench.conn.execute("SELECT to_regclass('%s') IS NULL" % plans_data.DOCS).fetchone()[0]:
        plans_data.make(bench.conn, args.rows)
    queries = [query for query in Queries(bench.conn).all if args.only in query[0]]
    print("%d rows, %d queries\n%-52s %10s %10s %7s %6s" % (args.rows, len(queries), "milliseconds", "chosen", "best", "factor", "plans"), flush=True)
    above = 0
    for query in queries:
        chosen_ms, best_ms, chosen, best, n = bench.compare(query)
        factor = max(chosen_ms, LEAST_MS) / max(best_ms, LEAST_MS)
        print("%-52s %10.2f %10.2f %7.1f %6d" % (query[0], chosen_ms, best_ms, factor, n), flush=True)
        above += factor > WORST
        if args.plans and factor > WORST:
            show(chosen)
            show(best)
    if not args.keep:
        plans_data.drop(bench.conn)
    print("%d of %d factors above %g" % (above, len(queries), WORST))


main()
