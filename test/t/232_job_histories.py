#!/usr/bin/env python3
"""Random histories of jobs over sets on a line: after each refresh, whatever came before it, a job has the result of a
new job and of all_clusters(). NEARDUP_SEED repeats a run."""
import random

from harness import *
from jobs import from_scratch, table

SEED = int(os.environ.get("NEARDUP_SEED", "232"))
HISTORIES = 40 if FULL else 4
STEPS = 40 if FULL else 20
# The share of refreshes that are also compared with a new job, which takes several times as long as a refresh.
NEW_JOBS = 1 if LONG else 0.2
ROWS, IDS, CHAIN = 20, 26, 7
KEYS = (None, None, None, 1, 2, 3, 4, 5, 6, 7)
# The length of the line of a history: with few places most rows are near others.
PLACES = (25, 40, 60)
# writes: what the next batch writes into docs, after it has read them.
SCHEMA = """CREATE TABLE docs (id int PRIMARY KEY, key int, team int, body text, hashes int[], sig minhash);
    CREATE TABLE writes (statements text);
    CREATE FUNCTION write() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$DECLARE w record;
    BEGIN FOR w IN DELETE FROM writes RETURNING statements LOOP EXECUTE w.statements; END LOOP; RETURN NULL; END$$"""
INSERT = "INSERT INTO docs VALUES ({id}, {key}, {team}, {body}, {hashes}, to_minhash({body}, 1, num_perm => 16))"
UPDATE = ("UPDATE docs SET key = {key}, team = {team}, body = {body}, hashes = {hashes}, sig = to_minhash({body}, 1, "
          "num_perm => 16) WHERE id = {id}")
DELETE = "DELETE FROM docs WHERE id = {id}"
# The arguments of a job, and of all_clusters(), for each kind of signature.
SETS = ("signature => 'hashes', measure => 'jaccard'", "hashes", ", measure => 'jaccard'")
MINHASH = ("signature => 'sig'", "sig", "")
CONTAINMENT = ("signature => 'hashes', measure => 'containment'", "hashes", ", measure => 'containment'")
DOCUMENTS = ("body => 'body', verify => 'jaccard'", "to_minhash(body), body AS doc", ", verify => 'jaccard'")
OLDEST = (", order_by => 'key'", "key NULLS LAST, id")
NEWEST = (", order_by => 'key', keep => 'newest'", "key DESC NULLS LAST, id")
BY_ID = ("", "id")
LARGEST = (", order_by => 'key'", "cardinality(hashes) DESC NULLS LAST, key NULLS LAST, id")
# Value, order, linkage; whether only rows of a team are copies of each other.
FORMS = {
    "anchor": (SETS, OLDEST, "anchor", False),
    "anchor, the newest": (SETS, NEWEST, "anchor", False),
    "connected": (SETS, OLDEST, "connected", False),
    "minhash": (MINHASH, BY_ID, "anchor", False),
    "minhash, connected, the newest": (MINHASH, NEWEST, "connected", False),
    "containment": (CONTAINMENT, LARGEST, "anchor", False),
    "teams": (SETS, NEWEST, "anchor", True),
    "verified": (DOCUMENTS, OLDEST, "anchor", False),
}
# 0.5: ranges of six overlap by four, so that the third in a row is near the second alone.
THRESHOLDS = (0.5, 0.5, 0.6, 0.7)
# Rows that one of them leaves out come back without being written.
FILTERS = ("true", "team IS DISTINCT FROM 2")


class Rows:
    """The rows of docs, each a range of integers, and how they change."""

    def __init__(self, conn, rng, in_line, count=ROWS):
        self.conn, self.rng, self.places, self.in_line = conn, rng, rng.choice(PLACES), in_line
        self.rows, self.gone, self.later = {}, {}, None
        for _ in range(count):
            self.insert()

    def range(self, beside=None):
        """Mostly near others, sometimes the same, empty or NULL."""
        kind = self.rng.random()
        if kind < 0.06:
            return None
        if kind < 0.09:
            return range(0)
        size = self.rng.choice((5, 6, 6, 6, 6, 7, 9))
        start = beside.start + self.rng.randrange(-3, 4) if beside and kind < 0.6 else self.rng.randrange(self.places)
        if self.in_line:  # each is near the next and not near the one behind it
            start, size = start - start % 2, 6
        return range(start, start + size)

    def key(self, elements):
        """Mostly the place on the line, in a history where chains are in order: then a change at one end moves on to
        the other."""
        if self.in_line and elements and self.rng.random() < 0.85:
            return elements.start
        return self.rng.choice(KEYS)

    def execute(self, statement, i, row):
        """At once, or into the list self.later."""
        elements, key, team = row
        values = {"id": i, "key": key, "team": team,
                  "body": None if elements is None else " ".join("w%d" % e for e in elements),
                  "hashes": None if elements is None else "{%s}" % ",".join(map(str, elements))}
        text = sql.SQL(statement).format(**{name: sql.Literal(value) for name, value in values.items()}).as_string(
            self.conn)
        if self.later is None:
            self.conn.execute(text)
        else:
            self.later.append(text)

    def write(self, i, row):
        self.execute(INSERT, i, row)
        self.rows[i] = row

    def update(self, i, row):
        self.execute(UPDATE, i, row)
        self.rows[i] = row

    def erase(self, i):
        self.execute(DELETE, i, self.rows[i])
        return self.rows.pop(i)

    def any(self):
        return self.rng.choice(sorted(self.rows))

    def insert(self):
        i = self.rng.choice([i for i in range(1, IDS + 1) if i not in self.rows])
        beside = self.rows[self.any()][0] if self.rows else None
        elements = self.range(beside)
        self.write(i, (elements, self.key(elements), self.rng.choice((None, 1, 1, 2))))

    def delete(self):
        i = self.any()
        self.gone[i] = self.erase(i)

    def comes_back(self):
        """A row that went, as it was."""
        ids = sorted(i for i in self.gone if i not in self.rows)
        if ids:
            i = self.rng.choice(ids)
            self.write(i, self.gone.pop(i))

    def deleted_and_inserted(self):
        i = self.any()
        self.write(i, self.erase(i))

    def moved(self):
        i = self.any()
        elements, key, team = self.rows[i]
        elements = self.range(elements)
        self.update(i, (elements, self.key(elements) if self.in_line else key, team))

    def reordered(self):
        i = self.any()
        elements, _, team = self.rows[i]
        self.update(i, (elements, self.rng.choice(KEYS), team))

    def in_another_team(self):
        i = self.any()
        elements, key, _ = self.rows[i]
        self.update(i, (elements, key, self.rng.choice((None, 1, 2))))

    def written_again(self):
        i = self.any()
        self.update(i, self.rows[i])

    def exchanged(self):
        i, j = self.any(), self.any()
        a, b = self.rows[i], self.rows[j]
        self.update(i, b)
        self.update(j, a)

    def change(self):
        for _ in range(self.rng.choice((0, 1, 1, 1, 2, 3, 4))):
            kind = self.rng.choice((self.moved, self.moved, self.reordered, self.comes_back, self.deleted_and_inserted,
                                    self.in_another_team, self.written_again, self.exchanged, self.insert, self.insert,
                                    self.delete, self.delete))
            if len(self.rows) >= IDS - 2:
                kind = self.delete
            kind()


class Job:
    """A job of a form, and what its result must be."""

    def __init__(self, conn, form, name):
        self.conn, self.name, self.threshold, self.filter = conn, name, THRESHOLDS[0], FILTERS[0]
        self.value, self.order, self.linkage, self.within = FORMS[form]
        conn.execute("SELECT create_duplicates('%s', 'docs', 'id', %s)" % (name, self.options()))
        conn.execute("CREATE TRIGGER write BEFORE INSERT ON %s_signatures EXECUTE FUNCTION write()" % name)

    def options(self):
        return "%s%s, threshold => %s, filter => '%s', linkage => '%s'%s" % (
            self.value[0], self.order[0], self.threshold, self.filter, self.linkage,
            ", within => '{team}'" if self.within else "")

    def alter(self, rng):
        self.threshold, self.filter = rng.choice(THRESHOLDS), FILTERS[self.filter == FILTERS[0]]
        self.conn.execute(
            "SELECT alter_duplicates('%s', threshold => %s, filter => '%s')" % (self.name, self.threshold, self.filter))

    def all_clusters(self):
        """The clusters of all_clusters() in the form of table()."""
        query = "SELECT id, %s%s FROM docs WHERE %s ORDER BY %s" % (
            self.value[1], ", ROW(team) AS within" if self.within else "", self.filter, self.order[1])
        return self.conn.execute("""SELECT id, representative, similarity, survivor, min(id::text) OVER cluster,
            count(*) OVER cluster
            FROM (SELECT id::int, COALESCE(representative, id)::int AS representative, similarity, survivor
              FROM all_clusters($$%s$$, %s, '%s'%s)) c
            WINDOW cluster AS (PARTITION BY representative) ORDER BY id""" % (
            query, self.threshold, self.linkage, self.value[2])).fetchall()

    def is_idle(self):
        return one(self.conn, "SELECT phase = 'idle' FROM %s_job" % self.name)

    def is_part(self):
        return one(self.conn,
                   "SELECT clustered_rows BETWEEN 1 AND (SELECT count(*) - 1 FROM {0}) FROM {0}_job".format(self.name))


def cannot_publish(conn, other, job, call):
    """The refresh comes to the end of its clustering, and there it fails, if anything is to be written."""
    other.execute("BEGIN; LOCK TABLE %s IN SHARE MODE" % job.name)
    conn.execute("SET lock_timeout = '1ms'")
    error = sql_error(conn, call)
    conn.execute("RESET lock_timeout")
    other.execute("ROLLBACK")
    if error is not None and error.sqlstate != "55P03":
        raise error


def written_meanwhile(conn, rows, call):
    """Rows change while a batch of them is signed. What no batch has written, because there was none, is written
    afterwards."""
    rows.later = []
    rows.change()
    if rows.later:
        conn.execute("INSERT INTO writes VALUES (%s)", ("; ".join(rows.later),))
    rows.later = None
    conn.execute(call)
    for statements, in conn.execute("DELETE FROM writes RETURNING statements").fetchall():
        conn.execute(statements)


def refresh(conn, other, rng, rows, job):
    """In batches of any size, and often not to its end. Whether it came there, and has seen all rows as they are."""
    call, how = "CALL refresh_duplicates('%s', batch => %d" % (job.name, rng.choice((1, 2, 3, 1000))), rng.random()
    if how < 0.15:
        cannot_publish(conn, other, job, call + ")")
    elif how < 0.35:
        conn.execute(call + ", time_limit => '0 s')")
    elif how < 0.45:
        written_meanwhile(conn, rows, call + ")")
        return False
    elif how < 0.48:
        conn.execute(call + ", rebuild => true)")
    else:
        conn.execute(call + ")")
    return job.is_idle()


def differences(got, want):
    return [sorted(map(str, set(a) - set(b))) for a, b in ((got, want), (want, got))]


def history(conn, other, rng, in_line, compared):
    """Some steps of changes until something differs, each with a refresh of each job: how many clustered some of the
    rows. Adds (what, got, want)."""
    conn.execute(SCHEMA)
    rows, parts = Rows(conn, rng, in_line), 0
    jobs = {form: Job(conn, form, "job_%d" % n) for n, form in enumerate(FORMS)}
    for step in range(STEPS):
        for form, job in jobs.items():
            if rng.random() < (0.05 if job.is_idle() else 0.3):
                job.alter(rng)
            if not refresh(conn, other, rng, rows, job):
                continue
            got, what = table(conn, job.name), "step %d" % step
            compared[form].append((what, *differences(got, job.all_clusters())))
            if rng.random() < NEW_JOBS:
                compared[form].append((what + ", a new job", *differences(got, from_scratch(conn, job.options()))))
            parts += job.is_part()
        if any(got != want for pairs in compared.values() for _, got, want in pairs):
            break
        rows.change()
    conn.execute("SELECT %s; DROP TABLE docs, writes; DROP FUNCTION write" % ", ".join(
        "drop_duplicates('%s')" % job.name for job in jobs.values()))
    return parts


def gaps(conn, compared):
    """A chain in order: each row in turn goes and comes back."""
    conn.execute(SCHEMA)
    rows = Rows(conn, random.Random(SEED), True, 0)
    for i in range(1, CHAIN + 1):
        rows.write(i, (range(2 * i, 2 * i + 6), i, 1))
    jobs = {form: Job(conn, form, "job_%d" % n) for n, form in enumerate(FORMS)}
    for i in range(2 * CHAIN):
        row = rows.rows.get(1 + i // 2)
        for form, job in jobs.items():
            conn.execute("CALL refresh_duplicates('%s')" % job.name)
            compared[form].append(("chain %d" % i, *differences(table(conn, job.name), job.all_clusters())))
        if row:
            rows.gone[1 + i // 2] = rows.erase(1 + i // 2)
        else:
            rows.comes_back()
    conn.execute("SELECT %s; DROP TABLE docs, writes; DROP FUNCTION write" % ", ".join(
        "drop_duplicates('%s')" % job.name for job in jobs.values()))


def main():
    compared, parts = {form: [] for form in FORMS}, 0
    with database() as name, connect(name) as conn, connect(name) as other:
        gaps(conn, compared)
        for n in range(HISTORIES):
            parts += history(conn, other, random.Random("%d %d" % (SEED, n)), n % 2 == 1, compared)
    for form, rows in compared.items():
        equal_all("%s: refreshed as from scratch, NEARDUP_SEED=%d" % (form, SEED), rows)
    check("most refreshes cluster some of the rows: %d" % parts, parts > sum(map(len, compared.values())) / 8, parts)


finish(main)
