"""The answers of queries under some settings, by an lsh index and by a sequential scan, and the text of their plans."""
import re

from harness import *

BY_INDEX = "enable_seqscan = off"
BY_SCAN = "enable_indexscan = off; enable_bitmapscan = off"


def under(conn, settings=""):
    """The session has these settings, which `; ` separates, and no others."""
    conn.execute("RESET ALL" + "".join("; SET " + s for s in settings.split("; ") if s))


def sorted_rows(conn, query):
    """The rows as text, sorted."""
    return sorted(map(repr, conn.execute(query).fetchall()))


def answer(conn, settings, query):
    """sorted_rows() under these settings, or the SQLSTATE of the error."""
    under(conn, settings)
    try:
        return sorted_rows(conn, query)
    except psycopg.Error as e:
        return e.sqlstate


def read_plan(conn, query, options="COSTS OFF"):
    """With the settings that the session has."""
    return "\n".join(str(row[0]) for row in conn.execute("EXPLAIN (%s) %s" % (options, query)))


def expand(form, **words):
    """The form with something in the place of each of these single letters that stands alone."""
    return re.sub(r"\b[%s]\b" % "".join(words), lambda m: str(words[m.group()]), form)


class Conditions:
    """The rows of generated queries, by the indexes whose names begin with `index` and by a sequential scan."""

    def __init__(self, conn, index):
        self.conn, self.index = conn, index
        self.rows, self.indexed, self.found = [], 0, 0

    def ask(self, query):
        got, want = answer(self.conn, BY_INDEX, query), answer(self.conn, BY_SCAN, query)
        self.rows.append((query[:300], got, want))
        self.found += bool(got) and isinstance(got, list)
        if len(self.rows) % 10 == 1:
            under(self.conn, BY_INDEX)
            explained = "EXPLAIN " + query
            self.indexed += sql_error(self.conn, explained) is None and self.index in str(
                self.conn.execute(explained).fetchall())

    def report(self, name, least):
        """least: the share of the queries whose plans, of each tenth query, must have the index."""
        print("# %s: %d queries, %d found rows, of each tenth %d by an index"
              % (name, len(self.rows), self.found, self.indexed))
        equal_all("%s have the rows of a sequential scan" % name, self.rows)
        check("%s: many went by an index, and found rows" % name,
              self.indexed > least * len(self.rows) and self.found > 0.3 * len(self.rows), (self.indexed, self.found))
