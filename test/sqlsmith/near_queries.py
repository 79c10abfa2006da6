"""Random queries that are full of conditions of ours, over the tables of test/t/estate.py: joins of every kind,
correlated subqueries, ORs, unions. SQLsmith draws from all functions and seldom has one that an index serves. Each
query has one answer, whatever its plan."""

# columns of each table by what they are
TABLES = {
    "article": {"id": "id", "number": "tenant", "sig": "sig", "hash": "hash", "digest": "digest", "items": "items",
                "body": "body"},
    "kept": {"id": "id", "body": "body"}, "mail": {"id": "id", "number": "copy_of", "body": "body"},
    "copies": {"id": "id", "number": "cluster"}, "words_of": {"id": "id", "items": "cells", "query": "q"},
    "near": {"id": "a", "number": "b"}, "anchors": {"id": "id", "number": "kept"},
}
JOINS = ("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")


class Generator:
    """query(): another one. `scope`: [(alias, table)] that an expression may use, the own query's last."""

    def __init__(self, rng, rows):
        self.rng, self.rows, self.aliases = rng, rows, 0

    def query(self):
        self.aliases = 0
        return self.select([], self.rng.choice((0, 1, 1, 2)))

    def select(self, outer, depth, columns=None):
        rng = self.rng
        source, own = self.source(outer, depth)
        scope = outer + own
        where = " WHERE " + self.condition(scope, depth) if rng.random() < 0.85 else ""
        if columns is None and rng.random() < 0.2:
            key = self.column(own, "number") or self.column(own, "id")
            having = " HAVING count(*) > %d" % rng.randrange(3) if rng.random() < 0.3 else ""
            return "SELECT %s, count(*), min(%s) FROM %s%s GROUP BY %s%s" % (
                key, self.column(own, "id"), source, where, key, having)
        if columns is None and rng.random() < 0.15:
            return "SELECT count(*), count(DISTINCT %s) FROM %s%s" % (self.column(own, "id"), source, where)
        wanted = [self.column(own, "id")] if columns == 1 else [
            self.column(own, "id") for _ in range(columns or rng.choice((1, 2, 3)))]
        if columns is None and rng.random() < 0.3:
            wanted.append("(%s)" % self.condition(scope, 0))
        text = "SELECT %s%s FROM %s%s" % (rng.choice(("", "", "DISTINCT ")), ", ".join(wanted), source, where)
        if depth > 1 and columns is None and rng.random() < 0.2:
            text = "%s %s %s" % (text, rng.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT")),
                                 self.same_shape(outer, depth - 1, len(wanted), wanted[-1].startswith("(")))
        return text

    def same_shape(self, outer, depth, columns, ends_in_condition):
        source, own = self.source(outer, depth)
        wanted = [self.column(own, "id") for _ in range(columns - ends_in_condition)] + [
            "(%s)" % self.condition(outer + own, 0)] * ends_in_condition
        return "SELECT %s FROM %s WHERE %s" % (", ".join(wanted), source, self.condition(outer + own, depth))

    # -- FROM

    def source(self, outer, depth):
        """(text, what it adds to the scope)."""
        rng = self.rng
        text, own = self.table(outer, depth, False)
        for _ in range(rng.choice((0, 0, 0, 1, 1, 2) if depth > 0 else (0, 0, 1))):
            join = rng.choice(JOINS)
            more, added = self.table(outer + (own if join in ("JOIN", "LEFT JOIN", "CROSS JOIN") else []), depth,
                                     join in ("JOIN", "LEFT JOIN", "CROSS JOIN"))
            if join == "CROSS JOIN":
                text = "%s CROSS JOIN %s" % (text, more)
            elif join == "FULL JOIN":  # PostgreSQL wants an equality there
                text = "%s FULL JOIN %s ON %s = %s" % (text, more, self.column(own, "id"), self.column(added, "id"))
            else:
                text = "%s %s %s ON %s" % (text, join, more, self.condition(outer + own + added, min(depth, 1)))
            own = own + added
        return text, own

    def table(self, outer, depth, lateral):
        self.aliases += 1
        alias = "t%d" % self.aliases
        if depth > 0 and self.rng.random() < 0.15:
            inner = self.rng.choice(("article", "article", "mail"))
            scope = (outer if lateral else []) + [("x", inner)]
            limit = " OFFSET 0" if self.rng.random() < 0.5 else ""
            return "%s(SELECT * FROM %s x WHERE %s%s) %s" % (
                "LATERAL " if lateral else "", inner, self.condition(scope, 0), limit, alias), [(alias, inner)]
        table = self.rng.choice(tuple(TABLES) + ("article",) * 6)
        return "%s %s" % (table, alias), [(alias, table)]

    # -- expressions

    def column(self, scope, kind):
        """One of this kind, of a near table rather than a far one; None where there is none."""
        found = ["%s.%s" % (alias, TABLES[table][kind]) for alias, table in scope if kind in TABLES[table]]
        return self.rng.choice(found[-3:] + found[:1]) if found else None

    def value(self, scope, kind):
        rng = self.rng
        if rng.random() < 0.55:
            column = self.column(scope, kind)
            if column:
                return column
        body = self.column(scope, "body")
        if kind != "items" and body and rng.random() < 0.3:
            return "%s(%s)" % ({"sig": "to_minhash", "hash": "to_simhash", "digest": "to_ctph"}[kind], body)
        name = {"sig": "sig", "hash": "hash", "digest": "digest", "items": "items"}[kind]
        if rng.random() < 0.1:
            return "NULL::" + {"sig": "minhash", "hash": "simhash", "digest": "ctph", "items": "int[]"}[kind]
        return "(SELECT s.%s FROM article s WHERE s.id = %d)" % (name, rng.randrange(1, self.rows))

    def near(self, scope):
        rng = self.rng
        form, kind = rng.choice((
            ("jaccard({0}, {1}) {2} {3}", "sig"), ("jaccard({0}, {1}) {2} {3}", "sig"), ("{0} % {1}", "sig"),
            ("{0} %> with_threshold({1}, {3})", "sig"), ("({0} <%> {1}) <= 1 - {3}", "sig"),
            ("jaccard_at_least({0}, {1}, {3})", "sig"), ("hamming({0}, {1}) {4} {5}", "hash"),
            ("({0} <~> {1}) {4} {5}", "hash"), ("ctph_edit_rate({0}, {1}) {4} 1 - {3}", "digest"),
            ("ctph_score({0}, {1}) {2} 100 * {3}", "digest"), ("jaccard_exact({0}, {1}) {2} {3}", "items")))
        return form.format(
            self.value(scope, kind), self.value(scope, kind), rng.choice((">=", ">", ">=", "=", "<")),
            rng.choice((0.3, 0.5, 0.6, 0.75, 0.8, 0.9, 1)), rng.choice(("<=", "<", "<=", "=")), rng.randrange(12))

    def condition(self, scope, depth):
        rng = self.rng
        roll = rng.random()
        if roll < 0.45 or not scope:
            return self.near(scope)
        if roll < 0.6:
            a = self.column(scope, "id")
            return "%s %s %s" % (a, rng.choice(("<", "=", ">", "=")), rng.choice(
                (str(rng.randrange(self.rows)), self.column(scope, "id"), self.column(scope, "number") or "3")))
        if roll < 0.68:
            return "%s IS %sNULL" % (self.value(scope, rng.choice(("sig", "hash", "digest"))), rng.choice(("", "NOT ")))
        if depth > 0 and roll < 0.78:
            return "%sEXISTS (%s%s)" % (rng.choice(("", "NOT ")), self.select(scope, depth - 1, 1),
                                        rng.choice(("", " LIMIT 1")))
        if depth > 0 and roll < 0.84:
            return "%s %sIN (%s)" % (self.column(scope, "id"), rng.choice(("", "NOT ")),
                                     self.select(scope, depth - 1, 1))
        if depth > 0 and roll < 0.87:
            return "(SELECT count(*) FROM (%s) c) %s %d" % (
                self.select(scope, depth - 1, 1), rng.choice((">", "=", "<")), rng.randrange(4))
        if roll < 0.9:
            return "NOT (%s)" % self.condition(scope, depth - 1 if depth else 0)
        return "(%s %s %s)" % (self.condition(scope, max(0, depth - 1)), rng.choice(("AND", "AND", "AND", "OR")),
                               self.condition(scope, max(0, depth - 1)))
