"""Random queries over a random schema (random_schema.py): SELECT, INSERT, UPDATE, DELETE and MERGE of every form, for a
role."""

from random_schema import *


class Alias:
    """A name in FROM, and what its columns are called there."""

    def __init__(self, name, columns):
        self.name, self.columns = name, columns

    def __getitem__(self, column):
        return "%s.%s" % (self.name, self.columns[column])


class RandomQueries:
    def __init__(self, schema, rng, version):
        self.schema, self.rng, self.version, self.number, self.role = schema, rng, version, 0, ADMIN

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, share):
        return self.rng.random() < share

    def name(self):
        self.number += 1
        return "%s%d" % (self.pick("a", "b", "t"), self.number % 40)

    # -- expressions

    def value(self, column, aliases=()):
        """Something to compare a signature with."""
        made = VALUES[column].format(self.rng.randrange(12))
        if aliases and self.chance(0.6):
            return self.rng.choice(aliases)[column]
        ways = [made, made,
                "(SELECT k.%s FROM public.kept_rows k WHERE k.id = %d)" % (column, self.rng.randrange(1, ROWS)),
                "NULL::" + TYPES[column]]
        if aliases:
            a = self.rng.choice(aliases)
            ways.append("(SELECT z.%s FROM %s z WHERE z.id = %s LIMIT 1)" % (column, self.relation().name, a["id"]))
        return self.rng.choice(ways)

    def near(self, aliases, others=None):
        """A condition that an lsh index could serve; of expressions of indexes now and then."""
        column = self.pick("sig", "sig", "sig", "sim", "dig", "items", "code")
        x = self.rng.choice(aliases)[column]
        if column == "sig" and self.chance(0.2):
            expressions = sorted(p for p in self.schema.probes if "_expression" in p)
            if expressions:
                p = self.rng.choice(expressions)
                x = "%s.%s(%s)" % (p.split("_")[0], p, x)
        q = self.value(column, others if others is not None else aliases if self.chance(0.15) else ())
        return self.rng.choice(NEAR[column]).format(x=x, q=q)

    def predicate(self, a):
        """The predicate of some partial index, so that it is implied."""
        predicates = sorted(p for p in self.schema.probes if "_predicate" in p)
        if not predicates or self.chance(0.5):
            return "%s > 5" % a["id"]
        p = self.rng.choice(predicates)
        return "%s.%s(%s)" % (p.split("_")[0], p, a["id"])

    def plain(self, aliases):
        a = self.rng.choice(aliases)
        return self.pick(
            "%s > %d" % (a["id"], self.rng.randrange(ROWS)),
            "%s = %d" % (a["g"], self.rng.randrange(3)),
            "%s(%s)" % (self.rng.choice(self.schema.called), a["id"]),
            "%s(%d)" % (self.rng.choice(self.schema.called), self.rng.randrange(9)),
            "%s OPERATOR(alice.=#=) %d" % (a["id"], self.rng.randrange(9)),
            "%s OPERATOR(mallory.=##=) %s" % (a["g"], a["id"]),
            "bob.bob_tell(%s)" % a["owner"],
            "bob.bob_tell(%s)" % a["note"],
            "%s LIKE '%%3%%'" % a["note"],
            "%s IS NOT NULL" % a["sig"],
            "%s = ANY (ARRAY[1, 2])" % a["g"],
            "%s > 'calm'::alice.mood::int" % a["id"],
            self.predicate(a),
            "EXISTS (SELECT FROM %s e WHERE e.id = %s)" % (self.relation().name, a["id"]),
            "%s IN (SELECT e.id FROM public.kept_rows e WHERE %s)" % (
                a["id"], self.rng.choice(NEAR["sig"]).format(x="e.sig", q=a["sig"])),
            "%s = current_user" % a["owner"],
            "$1 > 3" if self.chance(0.1) else "true",
        )

    def condition(self, aliases, depth=0):
        draw = self.rng.random()
        if depth < 2 and draw < 0.3:
            return "(%s)" % self.pick(" AND ", " AND ", " AND ", " OR ").join(
                self.condition(aliases, depth + 1) for _ in range(2))
        if depth < 2 and draw < 0.34:
            return "NOT (%s)" % self.condition(aliases, depth + 1)
        return self.near(aliases) if draw < 0.75 else self.plain(aliases)

    # -- FROM

    def relation(self, writable=False):
        """Mostly one that the role may read, or write."""
        some = [r for r in self.schema.relations if self.role in (r.writers if writable else r.readers)]
        return self.rng.choice(some if some and self.chance(0.9) else self.schema.relations)

    def alias(self, name):
        return Alias(name, {c: c for c in COLUMNS})

    def source(self, depth=0, before=()):
        """(text, alias) of one table or what stands for one."""
        name = self.name()
        draw = self.rng.random()
        if depth < 2 and draw < 0.1:
            select, _ = self.select_all(depth + 1)
            return "(%s) AS %s" % (select, name), self.alias(name)
        if depth < 2 and draw < 0.17 and before:
            on = self.near([self.alias("l")], before)
            return "LATERAL (SELECT l.* FROM %s l WHERE %s%s) AS %s" % (
                self.relation().name,
                on,
                self.pick("", " LIMIT 3", " OFFSET 0"),
                name,
            ), self.alias(name)
        if depth < 2 and draw < 0.27:
            return self.aliased_join(depth + 1)
        text = self.relation().name
        if draw < 0.3:
            text = "ONLY " + text
        return "%s AS %s" % (text, name), self.alias(name)

    def aliased_join(self, depth):
        """(x JOIN y USING (id)) AS j, the columns of y by other names."""
        name, others = self.name(), [c if c == "id" else c + "2" for c in COLUMNS]
        left, right = self.relation().name, self.relation().name
        join = "%s AS x %s %s AS y (%s) USING (id)%s" % (
            left,
            self.pick("JOIN", "JOIN", "LEFT JOIN", "FULL JOIN"),
            right,
            ", ".join(others),
            self.pick("", " AS u"),
        )
        return "(%s) AS %s" % (join, name), Alias(name, {c: self.pick(c, c if c == "id" else c + "2") for c in COLUMNS})

    def sources(self, depth=0, most=3):
        """(text of FROM, aliases, conditions that must go to WHERE)"""
        text, alias = self.source(depth)
        aliases, where = [alias], []
        for _ in range(self.pick(0, 0, 1, 1, 1, 2) if most > 1 else 0):
            more, other = self.source(depth, aliases)
            join = self.pick(",", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "USING")
            if "LATERAL" in more:
                join = self.pick(",", "JOIN")
            on = self.pick(
                self.near(aliases, [other]), self.near(aliases, [other]), "%s = %s" % (aliases[-1]["id"], other["id"]))
            if self.chance(0.3):
                on += " AND %s <> %s" % (aliases[-1]["id"], other["id"])
            if join == "FULL JOIN":
                on = "%s = %s" % (aliases[-1]["id"], other["id"])
            if join == ",":
                text = "%s, %s" % (text, more)
                where.append(on)
            elif join == "USING" and len(aliases) == 1:
                text = "%s JOIN %s USING (id)" % (text, more)
            else:
                text = "%s %s %s ON %s" % (text, join if join != "USING" else "JOIN", more, on)
            aliases.append(other)
        return text, aliases, where

    # -- SELECT

    def target(self, aliases):
        a = self.rng.choice(aliases)
        return self.pick(
            a["id"],
            a["id"],
            a["g"],
            a["note"],
            "%s(%s) AS f" % (self.rng.choice(self.schema.called), a["id"]),
            "%s.*" % a.name,
            a.name,
            "jaccard(%s, %s) AS near" % (a["sig"], self.value("sig", aliases)),
            "%s.ctid" % a.name if self.chance(0.2) else a["owner"],
            "%s <%%> %s AS apart" % (a["sig"], self.value("sig")),
            "row_number() OVER (PARTITION BY %s ORDER BY %s) AS n" % (a["g"], a["id"]),
            "cluster_anchor(%s, 0.8) OVER (ORDER BY %s) AS c" % (a["sig"], a["id"]),
            "'cross'::mallory.mood::int AS m",
            "(SELECT count(*) FROM %s s WHERE %s) AS n" % (self.relation().name, self.near([self.alias("s")], [a])),
        )

    def where(self, aliases, more=()):
        parts = list(more)
        if self.chance(0.8):
            parts.append(self.condition(aliases))
        if self.chance(0.25):
            parts.append(self.predicate(self.rng.choice(aliases)))
        return " WHERE " + " AND ".join(parts) if parts else ""

    def select_all(self, depth):
        """A query of all columns of one source."""
        text, alias = self.source(depth)
        columns = ", ".join("%s AS %s" % (alias[c], c) for c in COLUMNS)
        return "SELECT %s FROM %s%s%s" % (
            columns, text, self.where([alias]), self.pick("", "", " LIMIT 20", " OFFSET 0")), alias

    def order(self, aliases):
        a, column = self.rng.choice(aliases), self.pick("sig", "sig", "sig", "sim", "dig", "code")
        other = self.rng.choice(aliases) if self.chance(0.1) else None
        return " ORDER BY %s %s %s LIMIT %s" % (
            a[column],
            ORDERS[column],
            other[column] if other else self.value(column),
            self.pick("1", "3", "10", "(SELECT 2)", "ALL"),
        )

    def select(self):
        rng = self.rng
        kind = self.pick(
            "plain", "plain", "nearest", "nearest", "count", "group", "set", "cte", "writing cte", "lock", "recursive")
        text, aliases, more = self.sources(most=1 if kind in ("lock", "nearest") and self.chance(0.7) else 3)
        where = self.where(aliases, more)
        first = aliases[0]
        if kind == "count":
            return "SELECT count(*) FROM %s%s" % (text, where if self.chance(0.6) or more else "")
        if kind == "group":
            return "SELECT %s, count(*), max(%s) FROM %s%s GROUP BY 1 HAVING count(*) > 1 ORDER BY 2" % (
                first["g"], first["id"], text, where)
        if kind == "set":
            other, others, conditions = self.sources()
            return "SELECT %s FROM %s%s %s SELECT %s FROM %s%s ORDER BY 1" % (
                first["id"],
                text,
                where,
                self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT"),
                others[0]["id"],
                other,
                self.where(others, conditions),
            )
        if kind == "cte":
            select, _ = self.select_all(0)
            return "WITH w AS %s(%s) SELECT w.id FROM w, %s WHERE %s" % (
                self.pick("", "MATERIALIZED ", "NOT MATERIALIZED "),
                select,
                text,
                " AND ".join([*more, self.near([self.alias("w")], aliases)]),
            )
        if kind == "writing cte":
            return "WITH w AS (%s RETURNING t.id, t.g) SELECT w.id, %s FROM w, %s WHERE %s" % (
                rng.choice((self.insert, self.update, self.delete))(False),
                first["id"],
                text,
                " AND ".join([*more, self.condition(aliases)]),
            )
        if kind == "recursive":
            return (
                "WITH RECURSIVE w(id, sig) AS (SELECT k.id, k.sig FROM public.kept_rows k WHERE k.id = 3 "
                "UNION SELECT %s, %s FROM w, %s WHERE %s) SELECT count(*) FROM w"
                % (first["id"], first["sig"], text,
                   " AND ".join([*more, self.rng.choice(NEAR["sig"][:3]).format(x=first["sig"], q="w.sig")]))
            )
        targets = first["id"] if kind == "lock" else ", ".join(self.target(aliases) for _ in range(self.pick(1, 2, 3)))
        if kind == "nearest":
            return "SELECT %s FROM %s%s%s" % (
                targets,
                text,
                where if self.chance(0.4) else " WHERE " + " AND ".join(more) if more else "",
                self.order(aliases),
            )
        return "SELECT %s FROM %s%s%s%s" % (
            targets,
            text,
            where,
            self.pick("", "", " LIMIT 5", " ORDER BY 1"),
            self.pick(
                " FOR UPDATE", " FOR SHARE", " FOR UPDATE OF %s SKIP LOCKED" % first.name) if kind == "lock" else "",
        )

    # -- writing

    def returning(self, name, more=True):
        a = self.alias(name)
        return (
            self.pick("", " RETURNING %s" % self.pick(
                a["id"], "%s.*" % name, "%s(%s)" % (self.rng.choice(self.schema.called), a["id"]), a["sig"]))
            if more
            else ""
        )

    def insert(self, returning=True):
        r = self.relation(True)
        values = "%s, %s, %s, 'new', %s" % (
            1000 + self.rng.randrange(40),
            self.rng.randrange(4),
            self.pick("'bob'", "current_user", "'alice'"),
            self.value("sig"),
        )
        rows, columns = "VALUES (%s)" % values, "(id, g, owner, note, sig)"
        if r.kind == "view":
            rows, columns = rows.replace(", 'new'", ""), "(id, g, owner, sig)"
        draw = self.rng.random()
        if draw < 0.4:
            text, alias = self.source()
            note = ", " + self.pick("'new'", "'new'", alias["note"]) if "note" in columns else ""
            rows = "SELECT %s + 2000, %s, %s%s, %s FROM %s%s" % (
                alias["id"],
                alias["g"],
                alias["owner"],
                note,
                alias["sig"],
                text,
                self.where([alias]),
            )
        elif draw < 0.5:
            columns, rows = "", "DEFAULT VALUES"
        elif draw < 0.6:
            columns, rows = "(id, g, sig)", "VALUES (%d, 0, %s), (%d, 1, NULL)" % (
                self.rng.randrange(50), self.value("sig"), self.rng.randrange(50))
        conflict = ""
        if r.has_key and self.chance(0.7):
            conflict = self.pick(
                " ON CONFLICT DO NOTHING",
                " ON CONFLICT (id) DO NOTHING",
                " ON CONFLICT (id) DO UPDATE SET sig = excluded.sig, g = t.g WHERE %s" % self.condition(
                    [self.alias("t")]),
            )
        return "INSERT INTO %s AS t %s %s%s%s" % (r.name, columns, rows, conflict, self.returning("t", returning))

    def changes(self, a, other=None):
        column = self.pick("sig", "sig", "g", "g", "owner", "note")
        new = {"sig": self.value("sig", [other] if other else ()), "note": "'changed'", "g": "(%s.g + 1) %% 3" % a.name,
               "owner": "'bob'"}[column]
        return "%s = %s" % (column, new)

    def written(self, kind, returning):
        """UPDATE or DELETE, alone or by a join."""
        a, r = self.alias("t"), self.relation(True)
        text, aliases, where = "", [a], []
        if self.chance(0.5):
            text, b = self.source(1, ())
            aliases.append(b)
            text = (" FROM " if kind == "UPDATE" else " USING ") + text
            where.append(self.pick(self.near([a], [b]), self.near([b], [a]), "%s = %s" % (a["id"], b["id"])))
        only = self.pick("", "", "", "ONLY ")
        head = ("UPDATE %s%s AS t SET %s" % (only, r.name, self.changes(a, aliases[-1] if len(aliases) > 1 else None))
                if kind == "UPDATE" else "DELETE FROM %s%s AS t" % (only, r.name))
        return head + text + self.where(aliases, where) + self.returning("t", returning)

    def update(self, returning=True):
        return self.written("UPDATE", returning)

    def delete(self, returning=True):
        return self.written("DELETE", returning)

    def merge(self):
        a = self.alias("t")
        r = next((r for r in (self.relation(True) for _ in range(9)) if r.is_plain), self.relation(True))
        text, b = self.source(1)
        whens = [
            " WHEN MATCHED%s THEN %s"
                % (self.pick("", " AND " + self.condition([a, b], 2)),
                   self.pick("DELETE", "UPDATE SET " + self.changes(a, b), "DO NOTHING")),
            " WHEN NOT MATCHED THEN %s"
                % self.pick(
                "DO NOTHING",
                "INSERT (id, g, owner, sig) VALUES (%s + 3000, %s, 'bob', %s)" % (b["id"], b["g"], b["sig"])),
        ]
        on = self.pick(self.near([a], [b]), "%s = %s" % (a["id"], b["id"])) + self.pick(
            "", " AND " + self.condition([a], 2))
        returning = self.pick("", " RETURNING t.id") if self.version >= 170000 else ""
        return "MERGE INTO %s AS t USING %s ON %s%s%s" % (
            r.name, text, on, "".join(self.rng.sample(whens, self.pick(1, 2))), returning)

    def query(self):
        draw = self.rng.random()
        if draw < 0.58:
            return "SELECT", self.select()
        if draw < 0.68:
            return "INSERT", self.insert()
        if draw < 0.78:
            return "UPDATE", self.update()
        if draw < 0.92 or self.version < 150000:
            return "DELETE", self.delete()
        return "MERGE", self.merge()
