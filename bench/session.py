"""A server's session that measures processor time, for the benchmarks in Python."""
import os
import statistics

import psycopg

RUNS = 5


class Session:
    """One connection, without parallel plans. The server runs on this machine: its processor time is read in /proc."""

    def __init__(self, *settings, database=None):
        self.conn = psycopg.connect("", autocommit=True, **({"dbname": database} if database else {}))
        self.clock = os.open("/proc/%d/schedstat" % self.conn.info.backend_pid, os.O_RDONLY)
        for setting in ("client_min_messages = warning", "jit = off", "max_parallel_workers_per_gather = 0") + settings:
            self.conn.execute("SET " + setting)

    def cpu(self):
        """Seconds of processor time that the backend has used."""
        return int(os.pread(self.clock, 64, 0).split()[0]) * 1e-9

    def one(self, query):
        return self.conn.execute(query).fetchone()

    def measured(self, query):
        """(seconds of processor time, the median of some runs; the query's row)"""
        times = []
        for _ in range(RUNS):
            before = self.cpu()
            row = self.one(query)
            times.append(self.cpu() - before)
        return statistics.median(times), row
