#!/usr/bin/python3
"""After an update every attribute of every object is that of a new installation: owner, privileges, cost, flags,
dependencies, comments. Rights that an administrator had granted and revoked stay, on objects made again, too."""
from released import *
import catalog

READER = "neardup_update_reader"
KINDS = {"f": "FUNCTION", "p": "PROCEDURE", "a": "FUNCTION", "w": "FUNCTION"}
MEMBERS = catalog.MEMBERS.replace("classid, objid", "objid") + " AND classid = '%s'::regclass"


def same_attributes(old, wanted):
    with database("_attributes", extension=False) as name, connect(name) as conn:
        conn.execute("CREATE EXTENSION neardup VERSION '%s'" % old)
        conn.execute("ALTER EXTENSION neardup UPDATE")
        got = catalog.attributes(conn)
        equal("%s, updated: no attribute is missing or otherwise" % old, sorted(wanted - got)[:4], [])
        equal("%s, updated: none is left over" % old, sorted(got - wanted)[:4], [])


# A function that has come in the place of another.
SUCCESSORS = {"neardup_internal.neardup_jobs": "neardup_internal.job_status"}


def routines(conn):
    """{signature: name}"""
    query = "SELECT oid::regprocedure::text, oid::regproc::text FROM pg_proc WHERE oid IN (%s)"
    return dict(conn.execute(query % MEMBERS % "pg_proc").fetchall())


def rights(conn):
    """The privileges of PUBLIC and the reader on each object, and their grant options: {(catalog, name): privileges}"""
    rows = conn.execute("""
        SELECT 'routine', o.oid::regprocedure::text, proacl::text[] FROM pg_proc o WHERE oid IN ({proc}) UNION ALL
        SELECT 'type', format_type(oid, NULL), typacl::text[] FROM pg_type WHERE oid IN ({type}) UNION ALL
        SELECT 'relation', oid::regclass::text, relacl::text[] FROM pg_class WHERE oid IN ({rel}) UNION ALL
        SELECT 'schema', nspname::text, nspacl::text[] FROM pg_namespace WHERE oid IN ({nsp})""".format(
            proc=MEMBERS % "pg_proc", type=MEMBERS % "pg_type", rel=MEMBERS % "pg_class", nsp=MEMBERS % "pg_namespace"))
    return {(kind, name): sorted(acl) if acl else None for kind, name, acl in rows.fetchall()}


def revoke_from_public(conn):
    """PUBLIC may do nothing any more with any object, and the reader everything, and give it on."""
    def members(name, table, more=""):
        query = "SELECT %s FROM %s WHERE oid IN (%s)%s" % (name, table, MEMBERS % table, more)
        return conn.execute(query).fetchall()
    for name, kind in members("oid::regprocedure::text, prokind::text", "pg_proc"):
        conn.execute("REVOKE ALL ON {0} {1} FROM PUBLIC; GRANT ALL ON {0} {1} TO {2} WITH GRANT OPTION".format(
            KINDS[kind], name, READER))
    for (name,) in members("format_type(oid, NULL)", "pg_type"):
        conn.execute("REVOKE ALL ON TYPE {0} FROM PUBLIC; GRANT ALL ON TYPE {0} TO {1}".format(name, READER))
    for (name,) in members("oid::regclass::text", "pg_class", " AND relkind IN ('r', 'v')"):
        conn.execute("REVOKE ALL ON {0} FROM PUBLIC; GRANT SELECT ON {0} TO {1}".format(name, READER))
    for (name,) in members("nspname", "pg_namespace"):
        conn.execute("REVOKE ALL ON SCHEMA {0} FROM PUBLIC; GRANT USAGE ON SCHEMA {0} TO {1}".format(name, READER))


def kept_rights(old):
    with database("_rights", extension=False) as name, connect(name) as conn:
        conn.execute("DROP ROLE IF EXISTS {0}; CREATE ROLE {0}".format(READER))
        conn.execute("CREATE EXTENSION neardup VERSION '%s'" % old)
        try:
            revoke_from_public(conn)
            before, made_before = rights(conn), routines(conn)
            conn.execute("ALTER EXTENSION neardup UPDATE")
            after, made = rights(conn), routines(conn)
            # The step from 0.1.0, which is frozen, lost those of what it made anew.
            anew = {name for signature, name in made_before.items() if signature not in made and old != "0.1.0"}
            anew |= {SUCCESSORS[name] for name in anew & set(SUCCESSORS)}
            kept = [("%s %s" % key, after[key], acl) for key, acl in before.items() if key in after]
            equal_all("%s, updated: rights on what was there" % old, kept)
            may = "SELECT has_function_privilege(%s, %s, 'EXECUTE WITH GRANT OPTION')"
            roles = "pg_monitor", READER
            rows = [(signature, tuple(one(conn, may, (role, signature)) for role in roles), (False, True))
                    for signature, of in made.items() if of in anew]
            if anew:
                equal_all("%s, updated: rights on routines that were made anew" % old, rows)
        finally:
            conn.execute("DROP OWNED BY {0}; DROP ROLE {0}".format(READER))


def main():
    install()
    with database("_any") as name, connect(name) as conn:
        wanted, old = catalog.attributes(conn), catalog.versions(conn)[:-1]
        check("attributes are read", len(wanted) > 10000, len(wanted))
    sections(*[(same_attributes, v, wanted) for v in (old if LONG else (old[0], old[-1]))],
             *[(kept_rights, v) for v in (old if LONG else (old[1], old[-1]))])


finish(main)
