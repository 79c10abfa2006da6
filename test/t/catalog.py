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
