"""psycopg 3 with neardup.psycopg: values as text and in binary, arrays, COPY, pools, async; what is refused."""
import asyncio

from clients import *
import released

neardup = need("neardup")
import neardup.psycopg as np
from neardup import Ctph, Minhash, SimHash

CLASSES = {"minhash": Minhash, "simhash": SimHash, "ctph": Ctph}


def values(conn):
    rows = []
    for kind, text, _ in forms(conn):
        value = CLASSES[kind](text)
        for binary in (False, True):
            with conn.cursor(binary=binary) as cur:
                for mark in ("%s", "%t", "%b"):
                    got = cur.execute("SELECT %s, %s::text" % (mark, mark), (value, value)).fetchone()
                    rows.append(("%s binary=%s %s" % (text[:30], binary, mark), got, (value, text)))
                got = cur.execute("SELECT %s, pg_typeof(%s)::text", ([value, None, value], [value])).fetchone()
                rows.append(("array of %s binary=%s" % (text[:30], binary), got, ([value, None, value], kind + "[]")))
    equal_all("values and arrays, text and binary", rows)


def statements(conn):
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text, sig minhash(128, 32), hash simhash, digest ctph)")
    conn.execute("INSERT INTO docs SELECT i, d, to_minhash(d), to_simhash(d), to_ctph(d) FROM unnest(%s::text[]) "
                 "WITH ORDINALITY u(d, i)", ([DOC, NEAR, FAR],))
    conn.execute("CREATE INDEX ON docs USING lsh (sig)")
    sig, hash_, digest = conn.execute("SELECT sig, hash, digest FROM docs WHERE id = 1").fetchone()
    check("rows have values", isinstance(sig, Minhash) and isinstance(hash_, SimHash) and isinstance(digest, Ctph))
    equal_all("values as parameters", [
        ("jaccard", conn.execute("SELECT id FROM docs WHERE jaccard(sig, %s) >= 0.7 ORDER BY id", (sig,)).fetchall(),
         [(1,), (2,)]),
        ("hamming", one(conn, "SELECT id FROM docs WHERE hamming(hash, %s) = 0", (hash_,)), 1),
        ("ctph_score", one(conn, "SELECT id FROM docs WHERE ctph_score(digest, %s) = 100", (digest,)), 1),
        ("= ANY", one(conn, "SELECT id FROM docs WHERE sig = ANY (%s)", ([sig],)), 1),
        ("None", one(conn, "SELECT jaccard(sig, %s) IS NULL FROM docs LIMIT 1", (None,)), True),
        ("the estimate", sig.jaccard(Minhash(one(conn, "SELECT sig::text FROM docs WHERE id = 2"))),
         one(conn, "SELECT jaccard(a.sig, b.sig) FROM docs a, docs b WHERE a.id = 1 AND b.id = 2")),
        ("executemany", conn.cursor().executemany("UPDATE docs SET sig = %s WHERE id = %s", [(sig, 1)] * 3), None)])


def copies(conn):
    conn.execute("CREATE TABLE sent (n int, sig minhash, hash simhash, digest ctph)")
    row = (Minhash(o.to_minhash(DOC)), SimHash(5), Ctph("3:abc:de"))
    for format in ("", "(FORMAT binary)"):
        with conn.cursor() as cur, cur.copy("COPY sent FROM STDIN %s" % format) as copy:
            if format:
                copy.set_types(["int4", "minhash", "simhash", "ctph"])
            copy.write_row((1, *row))
            copy.write_row((2, None, None, None))
        with conn.cursor() as cur, cur.copy("COPY (TABLE sent ORDER BY n) TO STDOUT %s" % format) as copy:
            copy.set_types(["int4", "minhash", "simhash", "ctph"])
            equal("COPY %s" % (format or "as text"), list(copy.rows()), [(1, *row), (2, None, None, None)])
        conn.execute("TRUNCATE sent")


def transactions(name):
    with psycopg.connect(dbname=name) as conn:  # not autocommit
        np.register(conn)
        equal("register() leaves no transaction open", conn.info.transaction_status, psycopg.pq.TransactionStatus.IDLE)
        conn.execute("CREATE TEMP TABLE x (i int)")
        np.register(conn)
        equal("register() within a transaction stays in it", conn.info.transaction_status,
              psycopg.pq.TransactionStatus.INTRANS)
        check(
            "also with dict rows", np.register(psycopg.connect(dbname=name, row_factory=psycopg.rows.dict_row)) is None)
    with connect(name) as conn:
        conn.execute("CREATE SCHEMA apart; DROP EXTENSION neardup CASCADE; CREATE EXTENSION neardup SCHEMA apart; "
                     "SET search_path = pg_catalog")
        np.register(conn)
        check(
            "types in a schema outside search_path", isinstance(one(conn, "SELECT apart.to_simhash('a b c')"), SimHash))
        equal("as parameters", one(conn, "SELECT pg_typeof(%s)::text", (SimHash(5),)), "apart.simhash")


def asynchronous(name):
    async def run():
        async with await psycopg.AsyncConnection.connect(dbname=name, autocommit=True) as conn:
            await np.register_async(conn)
            cur = await conn.execute("SELECT to_simhash('a b c'), %s", (SimHash(7),))
            return await cur.fetchone()
    got = asyncio.run(run())
    check("async", isinstance(got[0], SimHash) and got[1] == SimHash(7), got)


def refusals(name):
    conn = connect(name)
    for value in (None, "dbname=x", 5):
        raises("register(%r)" % value, TypeError, lambda: np.register(value), "psycopg.Connection")
    conn.close()
    raises("a closed connection", psycopg.OperationalError, lambda: np.register(conn), "closed")
    with database("_bare", extension=False) as bare, connect(bare) as conn:
        raises("no extension", neardup.NeardupError, lambda: np.register(conn), "no extension neardup",
               "CREATE EXTENSION neardup;")
        conn.execute("CREATE TYPE minhash AS ENUM ('a')")
        raises("a type of the same name", neardup.NeardupError, lambda: np.register(conn), "no extension neardup")
    with database("_old", extension=False) as old, connect(old) as conn:
        released.install()
        conn.execute("CREATE EXTENSION neardup VERSION '0.1.0'")
        check("an older version has the types",
              np.register(conn) is None and isinstance(one(conn, "SELECT to_minhash('a b c')"), Minhash))


def main():
    with database() as name:
        with connect(name) as conn:
            np.register(conn)
            sections((values, conn), (statements, conn), (copies, conn))
        sections((asynchronous, name), (refusals, name), (transactions, name))


finish(main)
