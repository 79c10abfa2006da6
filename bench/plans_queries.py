"""The queries of plans_bench.py: (name, statements before it, query). A query is EXPLAINed and run as it stands, with its values filled in."""
from plans_data import BIG_TENANT, DAYS, DOCS, FEW, FEW_ROWS, FIRST_DAY, PARTS, SMALL_TENANT

COLUMNS = ("sig", "hash", "digest", "items", "code")
KINDS = ("a text", "the notice", "the family", "foreign")
FOREIGN = {"sig": "to_minhash({t})", "hash": "to_simhash({t})", "digest": "to_ctph({t})", "items": "ARRAY(SELECT generate_series(-30, -1))",
           "code": "(repeat('0110100110010110', 16))::bit(256)"}
FOREIGN_TEXT = "(SELECT string_agg('other' || e * e, ' ') FROM generate_series(1, 60) e)"
DAY = "day = %s + %d" % (FIRST_DAY, DAYS // 2)
NEW = "status = 'new'"
SMALL, BIG = "tenant = %d" % SMALL_TENANT, "tenant = %d" % BIG_TENANT


def read_values(conn):
    """{(column, kind): literal} and {kind: id} of rows that have the values."""
    values, ids = {}, {}
    for kind, condition in (("a text", "id % 25 = 3"), ("the notice", "id % 25 < 2"), ("the family", "id % 125 = 7")):
        row = conn.execute("SELECT id, %s FROM %s WHERE %s AND sig IS NOT NULL AND %s ORDER BY id LIMIT 1" %
                           (", ".join(c + "::text" for c in COLUMNS), DOCS, condition, "id > (SELECT count(*) / 3 FROM %s)" % DOCS)).fetchone()
        ids[kind] = row[0]
        values.update({(column, kind): text for column, text in zip(COLUMNS, row[1:])})
    for column, how in FOREIGN.items():
        values[column, "foreign"] = conn.execute("SELECT (%s)::text" % how.format(t=FOREIGN_TEXT)).fetchone()[0]
    # This set holds the sets of several rows.
    values["items", "many"] = conn.execute("SELECT array_agg(DISTINCT e)::text FROM (SELECT unnest(items) FROM %s WHERE id %% 97 = 5 AND id %% 25 > 2 "
                                           "AND items IS NOT NULL LIMIT 40) x(e)" % DOCS).fetchone()[0]
    return values, ids


TYPES = {"sig": "minhash", "hash": "simhash", "digest": "ctph", "items": "int[]", "code": "bit(256)"}
NEAR = {"sig": "jaccard({c}, {v}) >= 0.8", "hash": "hamming({c}, {v}) <= 3", "digest": "ctph_edit_rate({c}, {v}) <= 0.1",
        "items": "jaccard_exact({c}, {v}) >= 0.8", "code": "bit_hamming({c}, {v}) <= 20"}
ORDER = {"sig": "{c} <%> {v}", "hash": "{c} <~> {v}", "digest": "{c} <-> {v}", "code": "{c} <-> {v}"}


class Queries:
    def __init__(self, conn):
        self.values, self.ids = read_values(conn)
        self.all = []
        self.searches()
        self.nearest()
        self.other_types()
        self.values_of_rows()
        self.joins()
        self.partitions()
        self.prepared()

    def add(self, name, query, *before):
        self.all.append((name, before, query))

    def literal(self, column, kind):
        return "'%s'::%s" % (self.values[column, kind], TYPES[column])

    def near(self, column, kind):
        return NEAR[column].format(c=column, v=self.literal(column, kind))

    def order(self, column, kind):
        return ORDER[column].format(c=column, v=self.literal(column, kind))

    def stored_value(self, column, kind):
        return "(SELECT %s FROM %s WHERE id = %d)" % (column, DOCS, self.ids[kind])

    def searches(self):
        for kind in KINDS:
            self.add("near %s" % kind, "SELECT id FROM %s WHERE %s" % (DOCS, self.near("sig", kind)))
        for kind in KINDS:
            for name, condition in (("one day", DAY), ("a small tenant", SMALL), ("status new", NEW)):
                if kind != "foreign" or condition == DAY:
                    self.add("near %s, %s" % (kind, name), "SELECT id FROM %s WHERE %s AND %s" % (DOCS, condition, self.near("sig", kind)))
        for kind in ("a text", "the notice"):
            self.add("near %s, a big tenant" % kind, "SELECT id FROM %s WHERE %s AND %s" % (DOCS, BIG, self.near("sig", kind)))
            self.add("near %s, LIMIT 10" % kind, "SELECT id FROM %s WHERE %s LIMIT 10" % (DOCS, self.near("sig", kind)))
            self.add("near %s, ORDER BY id LIMIT 10" % kind, "SELECT id FROM %s WHERE %s ORDER BY id LIMIT 10" % (DOCS, self.near("sig", kind)))
        self.add("near the notice, 30 days, LIMIT 10", "SELECT id FROM {d} WHERE day BETWEEN {f} + 100 AND {f} + 129 AND {n} LIMIT 10".format(
            d=DOCS, f=FIRST_DAY, n=self.near("sig", "the notice")))
        self.add("near the notice, three days, a big tenant", "SELECT id FROM {d} WHERE day BETWEEN {f} + 100 AND {f} + 102 AND {b} AND {n}".format(
            d=DOCS, f=FIRST_DAY, b=BIG, n=self.near("sig", "the notice")))
        for first, second in (("a text", "the notice"), ("the family", "the notice")):
            self.add("near %s and %s" % (first, second), "SELECT id FROM %s WHERE %s AND %s" % (DOCS, self.near("sig", second), self.near("sig", first)))
        self.add("near a text or the notice", "SELECT id FROM %s WHERE %s OR %s" % (DOCS, self.near("sig", "a text"), self.near("sig", "the notice")))

    def nearest(self):
        for kind in KINDS:
            self.add("nearest of %s" % kind, "SELECT id FROM %s ORDER BY %s LIMIT 10" % (DOCS, self.order("sig", kind)))
        self.add("nearest of a text, status new", "SELECT id FROM %s WHERE %s ORDER BY %s LIMIT 10" % (DOCS, NEW, self.order("sig", "a text")))
        self.add("nearest of the family, status new", "SELECT id FROM %s WHERE %s ORDER BY %s LIMIT 10" % (DOCS, NEW, self.order("sig", "the family")))
        self.add("nearest of a text, one day", "SELECT id FROM %s WHERE %s ORDER BY %s LIMIT 10" % (DOCS, DAY, self.order("sig", "a text")))
        for name, tenant in (("small", SMALL), ("big", BIG)):
            self.add("nearest of a text, a %s tenant" % name, "SELECT id FROM %s WHERE %s ORDER BY %s LIMIT 3" % (DOCS, tenant, self.order("sig", "a text")))
        for kind in ("a text", "the notice"):
            self.add("nearest of %s, with a bound" % kind, "SELECT id FROM %s WHERE %s ORDER BY %s LIMIT 10" %
                     (DOCS, self.near("sig", kind), self.order("sig", kind)))

    def other_types(self):
        for column in ("hash", "digest", "items", "code"):
            for kind in ("a text", "the notice"):
                self.add("%s near %s" % (column, kind), "SELECT id FROM %s WHERE %s" % (DOCS, self.near(column, kind)))
            self.add("%s near the notice, one day" % column, "SELECT id FROM %s WHERE %s AND %s" % (DOCS, DAY, self.near(column, "the notice")))
        for column in ("hash", "code"):
            self.add("%s nearest of a text" % column, "SELECT id FROM %s ORDER BY %s LIMIT 3" % (DOCS, self.order(column, "a text")))
            self.add("%s nearest of the notice" % column, "SELECT id FROM %s ORDER BY %s LIMIT 10" % (DOCS, self.order(column, "the notice")))
            for kind in ("a text", "the family"):
                self.add("%s nearest of %s, status new" % (column, kind), "SELECT id FROM %s WHERE %s ORDER BY %s LIMIT 10" % (DOCS, NEW, self.order(column, kind)))
        for share in (0.5, 0.9):
            self.add("sets within a query, %s" % share, "SELECT id FROM %s WHERE containment_exact(items, %s) >= %s" % (DOCS, self.literal("items", "many"), share))
        self.add("sets that hold a query", "SELECT id FROM %s WHERE containment_exact(%s, items) >= 0.8" % (DOCS, self.literal("items", "a text")))
        self.add("sets with five elements of a query", "SELECT id FROM %s WHERE overlap_exact(items, %s) >= 5" % (DOCS, self.literal("items", "a text")))

    def values_of_rows(self):
        for kind in ("a text", "the notice"):
            value = self.stored_value("sig", kind)
            self.add("near %s, by a subquery" % kind, "SELECT id FROM %s WHERE jaccard(sig, %s) >= 0.8" % (DOCS, value))
            self.add("nearest of %s, by a subquery" % kind, "SELECT id FROM %s ORDER BY sig <%%> %s LIMIT 3" % (DOCS, value))
        self.add("nearest of a text, by a subquery, a small tenant",
                 "SELECT id FROM %s WHERE %s ORDER BY sig <%%> %s LIMIT 3" % (DOCS, SMALL, self.stored_value("sig", "a text")))
        for column in ("hash", "code"):
            self.add("%s nearest of a text, by a subquery" % column,
                     "SELECT id FROM %s ORDER BY %s LIMIT 3" % (DOCS, ORDER[column].format(c=column, v=self.stored_value(column, "a text"))))
        lateral = "SELECT f.id, x.id FROM (SELECT * FROM %s LIMIT %%d) f, LATERAL (SELECT d.id FROM %s d %%s LIMIT %%d) x" % (FEW, DOCS)
        self.add("LATERAL, nearest of one row", lateral % (1, "ORDER BY d.sig <%> f.sig", 3))
        self.add("LATERAL, nearest of 10 rows", lateral % (10, "ORDER BY d.sig <%> f.sig", 3))
        self.add("LATERAL, nearest of 10 rows in their tenants", lateral % (10, "WHERE d.tenant = f.tenant ORDER BY d.sig <%> f.sig", 1))
        self.add("LATERAL, near 10 rows, in order", lateral % (10, "WHERE jaccard(d.sig, f.sig) >= 0.8 ORDER BY d.sig <%> f.sig", 3))

    def joins(self):
        on = "jaccard(%s.sig, %s.sig) >= 0.8"
        self.add("few rows with all", "SELECT f.id, d.id FROM %s f JOIN %s d ON %s" % (FEW, DOCS, on % ("d", "f")))
        self.add("few rows with their tenants", "SELECT f.id, d.id FROM %s f JOIN %s d ON d.tenant = f.tenant AND %s" % (FEW, DOCS, on % ("d", "f")))
        self.add("%d rows by id with all" % FEW_ROWS, "SELECT a.id, b.id FROM {d} a JOIN {d} b ON {o} WHERE a.id BETWEEN 1000 AND {l}".format(
            d=DOCS, o=on % ("a", "b"), l=1000 + FEW_ROWS - 1))
        self.add("%d texts by id with all" % FEW_ROWS, "SELECT a.id, b.id FROM {d} a JOIN {d} b ON {o} WHERE a.id IN ({i})".format(
            d=DOCS, o=on % ("a", "b"), i=", ".join(str(25 * n + 3) for n in range(FEW_ROWS))))
        self.add("the family's ten rows by id with all", "SELECT a.id, b.id FROM {d} a JOIN {d} b ON {o} WHERE a.id IN ({i})".format(
            d=DOCS, o=on % ("a", "b"), i=", ".join(str(125 * n + 7) for n in range(10))))
        self.add("few rows that have a copy", "SELECT f.id FROM %s f WHERE EXISTS (SELECT FROM %s d WHERE d.id <> f.id AND %s)" % (FEW, DOCS, on % ("d", "f")))
        self.add("few rows that have none", "SELECT f.id FROM %s f WHERE NOT EXISTS (SELECT FROM %s d WHERE d.id <> f.id AND %s)" % (FEW, DOCS, on % ("d", "f")))
        self.add("rows that a few are near, EXISTS", "SELECT d.id FROM %s d WHERE EXISTS (SELECT FROM %s f WHERE %s)" % (DOCS, FEW, on % ("d", "f")))
        self.add("rows that a few are near, IN", "SELECT id FROM {d} WHERE id IN (SELECT d.id FROM {f} f JOIN {d} d ON {o})".format(d=DOCS, f=FEW, o=on % ("d", "f")))
        self.add("rows that a few are near, IN, one day", "SELECT id FROM {d} WHERE {day} AND id IN (SELECT d.id FROM {f} f JOIN {d} d ON {o})".format(
            d=DOCS, f=FEW, o=on % ("d", "f"), day=DAY))
        self.add("few hashes with all", "SELECT f.id, d.id FROM %s f JOIN %s d ON hamming(d.hash, f.hash) <= 3" % (FEW, DOCS))
        self.add("few sets with all", "SELECT f.id, d.id FROM %s f JOIN %s d ON jaccard_exact(d.items, f.items) >= 0.8" % (FEW, DOCS))
        self.add("few codes with all", "SELECT f.id, d.id FROM %s f JOIN %s d ON bit_hamming(d.code, f.code) <= 10" % (FEW, DOCS))
        self.add("a small tenant with itself", "SELECT a.id, b.id FROM {d} a JOIN {d} b ON a.id < b.id AND {o} WHERE a.{s} AND b.{s}".format(
            d=DOCS, o=on % ("a", "b"), s=SMALL))
        self.add("a day with itself", "SELECT a.id, b.id FROM {d} a JOIN {d} b ON a.id < b.id AND {o} WHERE a.{s} AND b.{s}".format(
            d=DOCS, o=on % ("a", "b"), s=DAY))

    def partitions(self):
        for kind in KINDS:
            self.add("partitions, near %s" % kind, "SELECT id FROM %s WHERE %s" % (PARTS, self.near("sig", kind)))
        self.add("partitions, near the notice, LIMIT 10", "SELECT id FROM %s WHERE %s LIMIT 10" % (PARTS, self.near("sig", "the notice")))
        self.add("partitions, near the notice, one day", "SELECT id FROM %s WHERE %s AND %s" % (PARTS, DAY, self.near("sig", "the notice")))
        self.add("partitions, nearest of a text, with a bound", "SELECT id FROM %s WHERE %s ORDER BY %s LIMIT 3" %
                 (PARTS, self.near("sig", "a text"), self.order("sig", "a text")))
        self.add("partitions, nearest of a text", "SELECT id FROM %s ORDER BY %s LIMIT 3" % (PARTS, self.order("sig", "a text")))
        self.add("partitions, few rows with all", "SELECT f.id, d.id FROM %s f JOIN %s d ON jaccard(d.sig, f.sig) >= 0.8" % (FEW, PARTS))

    def prepared(self):
        """Queries by a plan that knows no values."""
        for kind in ("a text", "the notice"):
            one = "PREPARE q(minhash) AS SELECT id FROM %s WHERE %%s" % DOCS
            value = self.literal("sig", kind)
            self.add("prepared, near %s" % kind, "EXECUTE q(%s)" % value, one % "jaccard(sig, $1) >= 0.8")
            self.add("prepared, near %s, one day" % kind, "EXECUTE q(%s)" % value, one % (DAY + " AND jaccard(sig, $1) >= 0.8"))
        self.add("prepared, near a text, a bound", "EXECUTE q(%s, 0.9)" % self.literal("sig", "a text"),
                 "PREPARE q(minhash, float8) AS SELECT id FROM %s WHERE jaccard(sig, $1) >= $2" % DOCS)
        self.add("prepared, nearest of a text", "EXECUTE q(%s)" % self.literal("sig", "a text"),
                 "PREPARE q(minhash) AS SELECT id FROM %s ORDER BY sig <%%> $1 LIMIT 3" % DOCS)
        self.add("prepared, nearest of a text, a tenant", "EXECUTE q(%s, %d)" % (self.literal("sig", "a text"), SMALL_TENANT),
                 "PREPARE q(minhash, int) AS SELECT id FROM %s WHERE tenant = $2 ORDER BY sig <%%> $1 LIMIT 3" % DOCS)
