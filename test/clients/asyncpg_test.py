"""asyncpg with neardup.asyncpg: binary codecs, arrays, COPY, pools."""
import asyncio

from clients import *

neardup, asyncpg = need("neardup", "asyncpg")
import neardup.asyncpg as np
from neardup import Ctph, Minhash, SimHash

CLASSES = {"minhash": Minhash, "simhash": SimHash, "ctph": Ctph}


async def opened(name):
    return await asyncpg.connect(host=os.environ.get("PGHOST"), port=int(os.environ.get("PGPORT", 5432)),
                                 user=os.environ.get("PGUSER"), database=name)


async def values(name, found):
    conn = await opened(name)
    await np.register(conn)
    rows = []
    for kind, text, _ in found:
        value = CLASSES[kind](text)
        got = await conn.fetchrow(
            "SELECT $1::%s, $1::%s::text, $2::%s[]" % (kind, kind, kind), value, [value, None, value])
        rows.append((text[:40], tuple(got), (value, text, [value, None, value])))
        rows.append((text[:40] + " as text", await conn.fetchval("SELECT $1::%s" % kind, text), value))
    equal_all("values, texts and arrays", rows)
    await conn.execute("CREATE TABLE docs (id int, sig minhash(128, 32), hash simhash, digest ctph)")
    records = [(1, Minhash(o.to_minhash(DOC)), SimHash(5), Ctph("3:a:b")), (2, None, None, None),
               (3, Minhash(o.to_minhash(FAR)), SimHash(6), None)]
    equal("copy_records_to_table", await conn.copy_records_to_table("docs", records=records), "COPY 3")
    equal("rows", [tuple(r) for r in await conn.fetch("TABLE docs ORDER BY id")], records)
    equal("a prepared statement",
          await conn.fetchval("SELECT id FROM docs WHERE jaccard(sig, $1) >= 0.8", records[0][1]), 1)
    try:
        await conn.fetchval("SELECT jaccard(sig, $1) FROM docs", DOC)
        check("a document where a signature belongs", False, "no error")
    except asyncpg.DataError as error:
        check("a document where a signature belongs", "invalid input syntax for type minhash" in str(error), error)
    await conn.close()
    pool = await asyncpg.create_pool(
        host=os.environ.get("PGHOST"), port=int(os.environ.get("PGPORT", 5432)), user=os.environ.get("PGUSER"),
        database=name, init=np.register, min_size=1, max_size=2)
    check("a pool", isinstance(await pool.fetchval("SELECT sig FROM docs WHERE id = 1"), Minhash))
    await pool.close()


async def refusals(name, bare):
    conn = await opened(bare)
    for what, argument, error, words in (("no extension", conn, neardup.NeardupError, "CREATE EXTENSION neardup;"),
                                         ("None", None, TypeError, "asyncpg.Connection")):
        try:
            await np.register(argument)
            check(what, False, "no error")
        except error as e:
            check(what, words in str(e), e)
    await conn.close()
    try:
        await np.register(conn)
        check("a closed connection", False, "no error")
    except asyncpg.InterfaceError as e:
        check("a closed connection", "closed" in str(e), e)


def main():
    with database() as name, database("_bare", extension=False) as bare:
        with connect(name) as conn:
            found = list(forms(conn))
        for part, *args in ((values, name, found), (refusals, name, bare)):
            try:
                asyncio.run(part(*args))
            except Exception as error:
                traceback.print_exc()
                check("%s runs to its end" % part.__name__, False, error)


finish(main)
