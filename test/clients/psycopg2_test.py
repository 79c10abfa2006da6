"""psycopg 2 with neardup.psycopg2."""
from clients import *

neardup, psycopg2, extras = need("neardup", "psycopg2", "psycopg2.extras")
import neardup.psycopg2 as np
from neardup import Ctph, Minhash, SimHash

CLASSES = {"minhash": Minhash, "simhash": SimHash, "ctph": Ctph}


def values(name):
    with connect(name) as server:
        found = list(forms(server))
    conn = psycopg2.connect(dbname=name)
    conn.autocommit = True
    np.register(conn)
    rows = []
    with conn.cursor() as cur:
        for kind, text, _ in found:
            value = CLASSES[kind](text)
            cur.execute("SELECT %s, %s::text, %s, pg_typeof(%s)::text", (value, value, [value, None, value], [value]))
            rows.append((text[:40], cur.fetchone(), (value, text, [value, None, value], kind + "[]")))
        equal_all("values and arrays", rows)
        cur.execute("CREATE TABLE docs (id int, sig minhash)")
        extras.execute_values(cur, "INSERT INTO docs VALUES %s",
                              [(1, Minhash(o.to_minhash(DOC))), (2, Minhash(o.to_minhash(FAR))), (3, None)])
        cur.execute(
            "SELECT id FROM docs WHERE jaccard(sig, %s) >= 0.8 ORDER BY sig <%%> %s", (Minhash(o.to_minhash(DOC)),) * 2)
        equal("a condition and an operator", cur.fetchall(), [(1,)])
        cur.execute("SELECT sig FROM docs WHERE id = 3")
        equal("NULL", cur.fetchone(), (None,))
    conn.close()
    conn = psycopg2.connect(dbname=name)
    with conn.cursor() as cur:
        cur.execute(
            "SELECT pg_typeof(to_simhash('a b c'))::text, to_simhash('a b c'), jaccard(sig, %s) FROM docs WHERE id = 1",
            (Minhash(o.to_minhash(DOC)),))
        equal("without register(): texts come, values go", cur.fetchone(),
              ("simhash", str(SimHash(o_simhash(name))), 1.0))
    conn.rollback()
    np.register(conn)
    equal("register() leaves no transaction open", conn.info.transaction_status,
          psycopg2.extensions.TRANSACTION_STATUS_IDLE)
    conn.close()


def o_simhash(name):
    with connect(name) as conn:
        return one(conn, "SELECT to_simhash('a b c')::text")


def refusals(name):
    conn = psycopg2.connect(dbname=name)
    conn.close()
    raises("a closed connection", psycopg2.Error, lambda: np.register(conn), "closed")
    for value in (None, "dbname=x"):
        raises("register(%r)" % value, TypeError, lambda: np.register(value), "psycopg2 connection")
    with connect(name) as other:
        raises("a connection of psycopg 3", TypeError, lambda: np.register(other), "psycopg2 connection")
    with database("_bare", extension=False) as bare:
        conn = psycopg2.connect(dbname=bare)
        raises("no extension", neardup.NeardupError, lambda: np.register(conn), "CREATE EXTENSION neardup;")
        conn.close()


def main():
    with database() as name:
        sections((values, name), (refusals, name))


finish(main)
