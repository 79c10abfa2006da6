"""Documents that change, and tables of duplicates that are compared."""

from harness import *

WORDS = 60
SCHEMA = (
    """CREATE TABLE docs (id %s PRIMARY KEY, body %s, tenant int, published timestamptz, gone boolean DEFAULT false)""")


class Texts:
    """Families of near duplicates, by a random source."""

    def __init__(self, rng):
        self.rng, self.families = rng, [["f%dw%d" % (f, i) for i in range(WORDS)] for f in range(70)]

    def next(self):
        words = list(self.rng.choice(self.families))
        if self.rng.random() < 0.05:
            return self.rng.choice(("", None, "two words"))
        for _ in range(self.rng.choice((0, 0, 1, 2, 3, 4))):
            words[self.rng.randrange(WORDS)] = "x%d" % self.rng.randrange(10**6)
        return " ".join(words)


class Replies(Texts):
    """The same, and texts that quote them, wholly or in part, and are quoted."""

    def __init__(self, rng):
        super().__init__(rng)
        self.written = []

    def next(self):
        text = super().next()
        if self.written and self.rng.random() < 0.5:
            quoted = self.rng.choice(self.written).split()
            if self.rng.random() < 0.3:
                quoted = quoted[:self.rng.randrange(10, 60)]
            text = " ".join(["r%d" % self.rng.randrange(10**6) for _ in range(self.rng.choice((0, 3, 40)))] + quoted)
        if text and len(text.split()) < 400:
            self.written.append(text)
        return text


def texts_for(options, rng):
    return (Replies if "measure" in options else Texts)(rng)


def change(conn, rng, texts, n, ids, make_id=lambda i: i):
    """Inserts, updates and deletes of about n rows."""
    for _ in range(n):
        what = rng.random()
        tenant, day = rng.randrange(3), "2026-01-%02d" % rng.randrange(1, 29)
        if what < 0.5 or not ids:
            i = make_id(rng.randrange(10**6))
            if i not in ids:
                ids.append(i)
                conn.execute("INSERT INTO docs VALUES (%s, %s, %s, %s)", (i, texts.next(), tenant, day))
            continue
        i = rng.choice(ids)
        if what < 0.65:
            conn.execute("UPDATE docs SET body = %s WHERE id = %s", (texts.next(), i))
        elif what < 0.7:
            conn.execute("UPDATE docs SET published = %s, tenant = %s WHERE id = %s", (day, tenant, i))
        elif what < 0.75:
            conn.execute("UPDATE docs SET gone = NOT gone WHERE id = %s", (i,))
        elif what < 0.8:
            conn.execute("UPDATE docs SET body = body WHERE id = %s", (i,))
        else:
            ids.remove(i)
            conn.execute("DELETE FROM docs WHERE id = %s", (i,))


def run(conn, *statements):
    """Each by itself: several in one message are a transaction block."""
    for statement in statements:
        conn.execute(statement)


def table(conn, name, more=""):
    """The rows of a table of duplicates, without the numbers of its clusters."""
    return conn.execute("SELECT id, representative, similarity, survivor%s, min(id::text) OVER (PARTITION BY cluster), "
                        "count(*) OVER (PARTITION BY cluster) FROM %s ORDER BY id" % (more, name)).fetchall()


def from_scratch(conn, options, job="scratch", source="docs", more=""):
    conn.execute("SELECT create_duplicates(%%s, '%s', 'id', %s)" % (source, options), (job,))
    conn.execute("CALL refresh_duplicates(%s, batch => 100000)", (job,))
    rows = table(conn, job, more)
    conn.execute("SELECT drop_duplicates(%s)", (job,))
    return rows
