#!/usr/bin/env python3
"""neardup.sign, and what it makes beside the classes of the package neardup: the same values as the server's, sent and received by psycopg."""
import os
import sys

import neardup_core
from common import ROOT, check, equal, error_text, finish, random_texts
from harness import connect, database, sections

sys.path.insert(0, os.path.join(ROOT, "clients", "python", "src"))
import neardup
import neardup.psycopg
import neardup.sign
from neardup import Ctph, Minhash, SimHash

TEXTS = random_texts(300, seed=7)


def names():
    equal("what neardup.sign has", sorted(neardup.sign.__dir__()), sorted(n for n in dir(neardup_core) if not n.startswith("_")))
    check("its functions are those of neardup_core", neardup.sign.minhash is neardup_core.minhash and neardup.sign.jaccard is neardup_core.jaccard)
    equal("a name that it has not", error_text(lambda: neardup.sign.md5("x")), "AttributeError: module 'neardup_core' has no attribute 'md5'")


def values():
    for kind, binary, text in ((Minhash, neardup.sign.minhash(TEXTS), neardup.sign.minhash(TEXTS, result="text")),
                               (SimHash, neardup.sign.simhash(TEXTS), neardup.sign.simhash(TEXTS, result="text")),
                               (Ctph, neardup.sign.ctph(TEXTS), neardup.sign.ctph(TEXTS, result="text"))):
        pairs = [(b, t) for b, t in zip(binary, text, strict=True) if b is not None]
        equal("%s reads both forms" % kind.__name__, [kind.from_binary(b) for b, _ in pairs], [kind(t) for _, t in pairs])
        equal("%s writes both forms" % kind.__name__, [(v.to_binary(), v.to_text()) for v in (kind(t) for _, t in pairs)], pairs)
    signatures = neardup.sign.minhash(TEXTS)
    objects = [Minhash.from_binary(s) for s in signatures]
    equal("jaccard of values and of their bytes", [a.jaccard(b) for a, b in zip(objects, objects[1:], strict=False)], neardup.sign.jaccard(signatures[:-1], signatures[1:]))


def sent(conn):
    neardup.psycopg.register(conn)
    conn.execute("CREATE TABLE signed (id int, doc text, mh minhash, sh simhash, cd ctph)")
    rows = zip(range(len(TEXTS)), TEXTS, neardup.sign.minhash(TEXTS), neardup.sign.simhash(TEXTS), neardup.sign.ctph(TEXTS), strict=True)
    with conn.cursor() as cur:
        cur.executemany("INSERT INTO signed VALUES (%s, %s, %s, %s, %s)",
                        [(i, doc, Minhash.from_binary(mh), None if sh is None else SimHash.from_binary(sh), Ctph.from_binary(cd)) for i, doc, mh, sh, cd in rows])
    same = "SELECT count(*) FROM signed WHERE mh = to_minhash(doc) AND sh IS NOT DISTINCT FROM to_simhash(doc) AND cd = to_ctph(doc)"
    equal("what was sent is what the server makes", conn.execute(same).fetchone()[0], len(TEXTS))
    received = [row[0] for row in conn.execute("SELECT to_minhash(doc) FROM signed ORDER BY id")]
    equal("what the server makes is what was made here", [m.to_binary() for m in received], neardup.sign.minhash(TEXTS))


def main():
    sections((names,), (values,))
    with database() as name, connect(name) as conn:
        sections((sent, conn))


finish(main)
