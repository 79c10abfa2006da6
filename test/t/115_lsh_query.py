#!/usr/bin/python3
"""lsh_query through drivers: bound parameters, binary COPY in both directions, damaged binary input."""
import struct

from binary import *
import oracle as o

NUMBER = struct.pack("!q", 1)
DOC = "the quick brown fox jumps over the lazy dog"


def parameters(conn):
    same = o.to_minhash(DOC)
    for label, t in (("float", 0.5), ("integer", 1), ("text", "0.75")):
        equal("jaccard_at_least(%%s, %%s, %%s), %s" % label,
              one(conn, "SELECT jaccard_at_least(%s, %s, %s)", (same, same, t)), True)
        equal("%%> with_threshold(%%s, %%s), %s" % label,
              one(conn, "SELECT %s::minhash %%> with_threshold(%s, %s)", (same, same, t)), True)
    equal("band_keys(%s, %s)", one(conn, "SELECT count(*) FROM band_keys(%s, %s)", (same, 0.75)), 33)


def binary(conn):
    conn.execute("CREATE TABLE q AS SELECT row_number() OVER () AS id, "
                 "neardup_internal.lsh_query_bound(to_minhash(doc, num_perm => 16, bits => b), t) AS q "
                 "FROM unnest('{0.8,1,-1,NaN,Infinity}'::float8[]) t, unnest(ARRAY[8, 16, 32]) b, "
                 "unnest(ARRAY['', %s]) doc; CREATE TABLE r(LIKE q)" % repr(DOC))
    with conn.cursor() as cur, cur.copy("COPY q TO STDOUT (FORMAT binary)") as copy:
        image = b"".join(bytes(block) for block in copy)

    e = copy_error(conn, "r", image)
    check("binary COPY out and in", e is None, e)
    equal("binary COPY keeps every value", one(conn, "SELECT count(*) FROM q JOIN r USING (id, q)"), 30)
    with conn.cursor(binary=True) as cur:
        samples = [
            bytes(row[0]) for row in cur.execute("SELECT q FROM q WHERE id IN (1, 6, 13) ORDER BY id").fetchall()]
    same = "SELECT q::text::lsh_query = q AND (q && q) IS NOT NULL FROM r"
    damaged(conn, "r", NUMBER, samples, 44, lambda: "" if one(conn, same) else "text form is another value")


def main():
    with database() as name, connect(name) as conn:
        conn.execute("SET client_min_messages = warning")
        sections((parameters, conn), (binary, conn))


finish(main)
