"""The objects of an extension in a database, to compare databases that came to the same version by different ways."""


def versions(conn):
    """Those that can be installed, the newest last."""
    found = [v for (v,) in conn.execute("SELECT version FROM pg_available_extension_versions WHERE name = 'neardup'")]
    return sorted(found, key=lambda v: tuple(map(int, v.split("."))))


def definitions(dump):
    """Each object as pg_dump --schema-only --binary-upgrade writes it, whatever its OID."""
    entries = set()
    for entry in dump.split("\n-- Name: ")[1:]:
        # 19 copies rows of large objects
        lines = [line for line in entry.splitlines() if line and not line.startswith(
            ("--", "SET ", "\\", "COPY pg_catalog."))]
        kept, skipping = [], False
        for line in lines:
            if "binary_upgrade" in line:
                skipping = not line.rstrip().endswith(";")
            elif skipping:
                skipping = not line.rstrip().endswith(";")
            elif not line.startswith("ALTER EXTENSION"):
                kept.append(line)
        entries.add("\n".join(kept))
    return entries


def descriptions(conn):
    """Each object that belongs to the extension, and what is said of it."""
    return set(conn.execute("""SELECT o.type, o.identity, obj_description(d.objid, d.classid::regclass::name)
        FROM pg_depend d
        JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'neardup',
        pg_identify_object(d.classid, d.objid, 0) o WHERE d.deptype = 'e'""").fetchall())


MEMBERS = ("SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' "
           "AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')")
# Catalogs, and which rows of them are of the extension: members, or parts of these.
ROWS = {
    "pg_attribute": "attrelid IN (SELECT objid FROM members UNION ALL "
                    "SELECT typrelid FROM pg_type JOIN members ON oid = objid WHERE typrelid <> 0)",
    "pg_attrdef": "adrelid IN (SELECT objid FROM members)",
    "pg_rewrite": "ev_class IN (SELECT objid FROM members)",
    "pg_constraint": "contypid IN (SELECT objid FROM members) OR conrelid IN (SELECT objid FROM members)",
    "pg_amop": "amopfamily IN (SELECT objid FROM members)", "pg_amproc": "amprocfamily IN (SELECT objid FROM members)",
    "pg_aggregate": "aggfnoid IN (SELECT objid FROM members)",
    "pg_extension": "extname = 'neardup'", "pg_default_acl": "true",
    "pg_type": "oid IN (SELECT objid FROM members) OR typelem IN (SELECT objid FROM members)",
}
# Columns that differ between databases.
OWN = {"oid", "relfilenode", "reltuples", "relpages", "relallvisible", "relallfrozen", "relfrozenxid", "relminmxid",
       "attcacheoff"}
# Rows that say something of an object: the columns that name it.
SAID = {"pg_init_privs": ("classoid", "objoid", "objsubid"), "pg_description": ("classoid", "objoid", "objsubid"),
        "pg_depend": ("classid", "objid", "objsubid", "refclassid", "refobjid", "refobjsubid")}


class Names:
    """The meaning of a database's OIDs, in words."""

    def __init__(self, conn):
        self.conn, self.known = conn, {}

    def identity(self, catalog, oid, part=0):
        if not str(oid).isdigit():
            return oid  # as its type shows it
        key = str(catalog), str(oid), part
        if key not in self.known:
            self.known[key] = str(oid) if str(oid) == "0" else " ".join(filter(None, self.conn.execute(
                "SELECT type, identity FROM pg_identify_object(%s::regclass, %s::oid, %s)", key).fetchone()))
        return self.known[key]


def references(conn):
    """{(catalog, column): the catalog whose OIDs it has}"""
    rows = conn.execute("SELECT fktable::text, fkcols[1], pktable::text FROM pg_get_catalog_foreign_keys() "
                        "WHERE cardinality(fkcols) = 1 AND pkcols = '{oid}'")
    return {(table, column): target for table, column, target in rows.fetchall()}


# The columns that identify a row without a name.
KEYS = ("attrelid", "attname", "adrelid", "adnum", "ev_class", "rulename", "aggfnoid", "defaclrole")
NAMELESS = ("pg_attrdef", "pg_rewrite", "pg_default_acl")
ROWS_OF = """WITH members AS MATERIALIZED (%s AND classid IN
    ('pg_class'::regclass, 'pg_type'::regclass, 'pg_opfamily'::regclass, 'pg_proc'::regclass, '%s'::regclass))
  SELECT to_jsonb(t) FROM %s t WHERE %s"""


def attributes(conn):
    """Every column of the rows of the catalogs that are of the extension, but trees of expressions, which definitions()
    has: (catalog, column, value, of what)."""
    names, targets, found = Names(conn), references(conn), set()
    members = [r[0] for r in conn.execute("SELECT DISTINCT classid::regclass::text FROM (%s) m" % MEMBERS)]
    trees = set(conn.execute("SELECT attrelid::regclass::text, attname::text FROM pg_attribute "
                             "WHERE atttypid = 'pg_node_tree'::regtype").fetchall())

    def in_words(catalog, column, value):
        target = targets.get((catalog, column))
        if target is None or value is None:
            return value
        values = value if isinstance(value, list) else str(value).split()
        return [names.identity(target, v) for v in values]

    for catalog in sorted(set(members) | set(ROWS)):
        own = "oid IN (SELECT objid FROM members WHERE classid = '%s'::regclass)" % catalog
        rows = conn.execute(ROWS_OF % (MEMBERS, catalog, catalog, ROWS.get(catalog, own)))
        for (row,) in rows.fetchall():
            if "oid" in row and catalog not in NAMELESS:
                what = names.identity(catalog, row["oid"])
            else:
                what = str([in_words(catalog, c, row[c]) for c in KEYS if c in row])
            for column, value in row.items():
                # pg_attver: a number that some builds of the server keep
                if column not in OWN and (catalog, column) not in trees and "pg_attver" not in str(value):
                    found.add((catalog, column, str(in_words(catalog, column, value)), what))
    for catalog, columns in SAID.items():
        of = columns[:3]
        others = " AND deptype <> 'e'" if catalog == "pg_depend" else ""
        rows = conn.execute("SELECT to_jsonb(t) FROM %s t WHERE (%s, %s) IN (%s)%s" % (
            catalog, of[0], of[1], MEMBERS, others))
        for (row,) in rows.fetchall():
            objects = [names.identity(*(row[c] for c in columns[i:i + 3])) for i in range(0, len(columns), 3)]
            rest = {c: v for c, v in row.items() if c not in columns}
            found.add((catalog, "", str(rest), " on ".join(objects)))
    return found
