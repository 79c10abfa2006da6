#!/usr/bin/python3
"""Dump and restore: views and materialized views over window functions, generated columns, expression indexes,
partitions, as superuser and as the ordinary owner of a database who installed the trusted extension."""
import tempfile

from harness import *

SCHEMA = """
    CREATE TABLE article(id int PRIMARY KEY, tenant int NOT NULL, published date, title text, body text,
        sig minhash GENERATED ALWAYS AS (to_minhash(coalesce(title, '') || ' ' || coalesce(body, ''))) STORED,
        narrow minhash GENERATED ALWAYS AS (to_minhash(body, 5, 'char', 64, 16, -3)) STORED);
    INSERT INTO article(id, tenant, published, title, body)
        SELECT i, i % 3, date '2024-01-01' + i, CASE WHEN i % 10 > 0 THEN 'title ' || i / 4 END,
            CASE WHEN i % 17 > 0 THEN 'the body of article ' || i / 4 ||
              ' with words Щука 漢字 that every copy has in it'
              END
        FROM generate_series(1, 200) i;
    CREATE TABLE stored(id int, sig minhash(64));
    INSERT INTO stored SELECT id, to_minhash(body, 3, 'word', 64) FROM article;
    CREATE TABLE keyed(sig minhash PRIMARY KEY, n bigint);
    INSERT INTO keyed SELECT sig, count(*) FROM article GROUP BY sig;
    CREATE INDEX article_body ON article (to_minhash(body));
    CREATE INDEX article_body_5 ON article (to_minhash(body, k => 5, unit => 'char'));
    CREATE INDEX stored_hash ON stored USING hash (sig);
    CREATE TABLE part(id int, body text, sig minhash DEFAULT to_minhash('none'), CHECK (jaccard(sig,
      sig) >= 0)) PARTITION BY RANGE (id);
    CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100);
    INSERT INTO part SELECT i, 'b' || i, to_minhash('b' || i) FROM generate_series(1, 20) i;
    CREATE VIEW copies AS SELECT id, tenant, cluster_anchor(sig, 0.8) OVER (PARTITION BY tenant
      ORDER BY published) AS anchor,
            cluster_connected(to_minhash(body), 0.6) OVER (ORDER BY id DESC) AS connected FROM article;
    CREATE MATERIALIZED VIEW kept AS SELECT id, cluster_anchor(sig, 0.8) OVER w = row_number() OVER w AS kept
        FROM article WINDOW w AS (ORDER BY published);
    CREATE MATERIALIZED VIEW near AS SELECT a.id AS a, b.id AS b, jaccard(a.sig, b.sig) AS similarity, a.sig <%> b.sig
      AS distance
        FROM article a JOIN article b ON a.id < b.id AND jaccard(a.sig, b.sig) >= 0.5;
    CREATE VIEW wide AS SELECT tenant, minhash_agg(w) AS words, minhash_union_agg(sig) AS sigs
        FROM article, regexp_split_to_table(body, ' ') w GROUP BY tenant;
    CREATE UNIQUE INDEX ON kept (id);
    CREATE FUNCTION signed(text) RETURNS minhash LANGUAGE sql IMMUTABLE RETURN to_minhash($1, 2);
"""
RELATIONS = ("article", "stored", "keyed", "part", "copies", "kept", "near", "wide")


def read_all(conn):
    out = {r: sorted(map(repr, conn.execute("SELECT t::text FROM %s t" % r).fetchall())) for r in RELATIONS}
    out["function"] = conn.execute("SELECT signed('a b c')::text").fetchall()
    return out


def scan(conn, on):
    conn.execute("SET enable_seqscan = %s; SET enable_bitmapscan = off" % ("off" if on else "on"))
    return conn.execute("SELECT id FROM article WHERE to_minhash(body) = (SELECT to_minhash(body) FROM article "
                        "WHERE id = 41) ORDER BY id").fetchall()


def indexes(conn, name):
    conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    plan = "\n".join(
        r[0] for r in conn.execute("EXPLAIN SELECT id FROM article WHERE to_minhash(body) = to_minhash('x')"))
    check(name + ": expression index serves equality", "article_body" in plan, plan)
    equal(name + ": index and sequential scan agree", scan(conn, True), scan(conn, False))
    conn.execute("RESET enable_seqscan; RESET enable_bitmapscan")


def views(conn):
    """A view follows a rename and guards its table, which the string form cannot do."""
    before = conn.execute("TABLE copies ORDER BY id").fetchall()
    conn.execute("ALTER TABLE article RENAME TO story; ALTER TABLE story RENAME sig TO signature")
    equal("view follows renamed table and column", conn.execute("TABLE copies ORDER BY id").fetchall(), before)
    conn.execute("ALTER TABLE story RENAME signature TO sig; ALTER TABLE story RENAME TO article")
    fails("DROP TABLE refused while views need it", conn, "DROP TABLE article", state="2BP01")
    fails("DROP EXTENSION refused while columns need it", conn, "DROP EXTENSION neardup", state="2BP01")
    conn.execute("REFRESH MATERIALIZED VIEW CONCURRENTLY kept; REFRESH MATERIALIZED VIEW near")
    with conn.transaction(force_rollback=True):
        copies = one(conn, "SELECT count(*) FROM (SELECT cluster_anchor(sig, 0.8) OVER w AS c, row_number() OVER w AS "
                           "n FROM article WINDOW w AS (ORDER BY id)) x WHERE c <> n")
        gone = conn.execute("""DELETE FROM article USING (SELECT id, cluster_anchor(sig, 0.8) OVER w AS c, row_number()
            OVER w AS n
            FROM article WINDOW w AS (ORDER BY id)) x WHERE x.id = article.id AND x.c <> x.n""").rowcount
        check("DELETE of every copy in one statement", copies > 50 and gone == copies, "%s %s" % (copies, gone))


def restore(name, source, target, conn, role=None):
    before = read_all(conn)
    options = ["--role=" + role] if role else []
    plain = tool("pg_dump", *options, "-d", source)
    check(name + ": pg_dump", plain.returncode == 0 and "minhash" in plain.stdout, plain.stderr)
    script = ("SET ROLE %s;\n" % role if role else "") + plain.stdout
    r = tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", target, input=script)
    check(name + ": psql restores it", r.returncode == 0, r.stderr)
    with connect(target) as copy:
        after = read_all(copy)
        for relation in before:
            equal("%s: %s is the same after restore" % (name, relation), after[relation], before[relation])
        indexes(copy, name)


def main():
    with database("_a") as a, database("_b", extension=False) as b, connect(a) as conn:
        conn.execute(SCHEMA)
        indexes(conn, "original")
        views(conn)
        restore("superuser", a, b, conn)
        with tempfile.TemporaryDirectory() as folder, database("_c", extension=False) as c:
            r = tool("pg_dump", "-Fd", "-j2", "-f", folder + "/d", "-d", a)
            check("pg_dump to a directory", r.returncode == 0, r.stderr)
            r = tool("pg_restore", "-j2", "-e", "-d", c, folder + "/d")
            check("parallel pg_restore", r.returncode == 0, r.stderr)
            with connect(c) as copy:
                equal("parallel restore: the same rows", read_all(copy), read_all(conn))

    role = "t_060_owner"
    with psycopg.connect(autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS %s" % role)
        admin.execute("CREATE ROLE %s" % role)
        try:
            with database("_d", "ENCODING 'UTF8' LOCALE 'C' OWNER %s" % role, extension=False) as d, \
                    database("_e", "ENCODING 'UTF8' LOCALE 'C' OWNER %s" % role, extension=False) as e:
                with connect(d) as conn:
                    for target in (d, e):
                        with connect(target) as super_conn:
                            super_conn.execute("ALTER SCHEMA public OWNER TO %s" % role)
                    conn.execute("SET ROLE %s; CREATE SCHEMA nd; CREATE EXTENSION neardup SCHEMA nd; "
                                 "SET search_path = public, nd" % role)
                    equal("an ordinary owner installs the trusted extension",
                          one(conn, "SELECT extowner::regrole::text FROM pg_extension WHERE extname = 'neardup'"), role)
                    conn.execute(SCHEMA)
                    conn.execute("ALTER DATABASE %s SET search_path = public, nd" % d)
                    with connect(e) as super_conn:
                        super_conn.execute("ALTER DATABASE %s SET search_path = public, nd" % e)
                    restore("ordinary owner, own schema", d, e, conn, role)
        finally:
            admin.execute("DROP ROLE IF EXISTS %s" % role)


finish(main)
