#!/usr/bin/env python3
"""neardup_core makes the server's bits: 10,000 random documents beside the server, with each form of the kernels; measures; errors."""
import numpy

import neardup_core as nd
from common import check, equal, equal_all, error_text, finish, kernel_forms, random_texts
from harness import connect, database, psycopg

DOCUMENTS = 10_000


# Each case: a name, the server's expression over `doc` and `raw`, and ours over texts and their bytes.
CASES = [
    ("to_minhash", "neardup_internal.minhash_send(to_minhash(doc))", lambda texts, raws: nd.minhash(texts)),
    ("of characters, 64x16, seed", "neardup_internal.minhash_send(to_minhash(doc, k => 5, unit => 'char', num_perm => 64, bits => 16, seed => -7))",
     lambda texts, raws: nd.minhash(texts, k=5, unit="char", num_perm=64, bits=16, seed=-7, threads=2)),
    ("of bytes, 100x8", "neardup_internal.minhash_send(to_minhash(raw, num_perm => 100, bits => 8))", lambda texts, raws: nd.minhash(raws, num_perm=100, bits=8)),
    ("text form", "to_minhash(doc, k => 1)::text", lambda texts, raws: nd.minhash(texts, k=1, result="text")),
    ("components", "minhash_components(to_minhash(doc, num_perm => 16))", lambda texts, raws: nd.minhash(texts, num_perm=16, result="numpy").tolist()),
    ("to_simhash", "neardup_internal.simhash_send(to_simhash(doc))", lambda texts, raws: nd.simhash(texts)),
    ("to_simhash of characters", "to_simhash(doc, 4, 'char')::text", lambda texts, raws: nd.simhash(texts, k=4, unit="char", result="text")),
    ("to_ctph", "neardup_internal.ctph_send(to_ctph(doc))", lambda texts, raws: nd.ctph(texts)),
    ("to_ctph of bytes", "to_ctph(raw)::text", lambda texts, raws: nd.ctph(raws, result="text")),
    ("ctph_long", "neardup_internal.ctph_send(ctph_long(doc, 256))", lambda texts, raws: nd.ctph(texts, length=256)),
    ("shingles", "array(SELECT shingles(doc))", lambda texts, raws: nd.shingles(texts)),
    ("shingle_hashes", "array(SELECT shingle_hashes(doc, 2))", lambda texts, raws: nd.shingle_hashes(texts, k=2)),
    ("shingle_hashes of bytes", "array(SELECT shingle_hashes(raw))", lambda texts, raws: nd.shingle_hashes(raws)),
    ("winnow_hashes", "winnow_hashes(doc)", lambda texts, raws: nd.winnow_hashes(texts)),
    ("winnow_hashes of bytes", "winnow_hashes(raw)", lambda texts, raws: nd.winnow_hashes(raws)),
]
FEW = 1000  # documents for all cases but the first


def fill(conn, texts):
    conn.execute("CREATE TABLE documents (id int PRIMARY KEY, doc text, raw bytea)")
    with conn.cursor() as cur, cur.copy("COPY documents FROM STDIN") as copy:
        for i, text in enumerate(texts):
            copy.write_row((i, text, text.encode()))


def beside_the_server(conn, texts):
    raws = [text.encode() for text in texts]
    for name, expression, ours in CASES:
        n = DOCUMENTS if name == "to_minhash" else FEW
        want = [row[0] for row in conn.execute("SELECT %s FROM documents WHERE id < %d ORDER BY id" % (expression, n))]
        for form in kernel_forms():
            got = ours(texts[:n], raws[:n])
            equal_all("%s: %s" % (form, name), [(repr(text[:30]), a, b) for text, a, b in zip(texts, got, want, strict=False)])


def measures(conn, texts):
    pairs = "documents a JOIN documents b ON b.id = a.id + 1 WHERE a.id < %d ORDER BY a.id" % FEW
    signatures, simhashes, digests = nd.minhash(texts[:FEW + 1]), nd.simhash(texts[:FEW + 1]), nd.ctph(texts[:FEW + 1])
    components = nd.minhash(texts[:FEW + 1], result="numpy")
    want = [row[0] for row in conn.execute("SELECT jaccard(to_minhash(a.doc), to_minhash(b.doc)) FROM " + pairs)]
    equal("jaccard of signatures", nd.jaccard(signatures[:-1], signatures[1:]), want)
    equal("jaccard of arrays", nd.jaccard(components[:-1], components[1:]).tolist(), want)
    for bits in (16, 8):
        arrays = nd.minhash(texts[:FEW + 1], bits=bits, result="numpy")
        rows = conn.execute("SELECT jaccard(to_minhash(a.doc, bits => %d), to_minhash(b.doc, bits => %d)) FROM %s" % (bits, bits, pairs))
        equal("jaccard of arrays, %d bits" % bits, nd.jaccard(arrays[:-1], arrays[1:]).tolist(), [row[0] for row in rows])
    rows = conn.execute("SELECT hamming(to_simhash(a.doc), to_simhash(b.doc)), ctph_score(to_ctph(a.doc), to_ctph(b.doc)) FROM " + pairs).fetchall()
    equal("hamming", nd.hamming(simhashes[:-1], simhashes[1:]), [row[0] for row in rows])
    equal("ctph_score", nd.ctph_score(digests[:-1], digests[1:]), [row[1] for row in rows])
    there = [s for s in nd.simhash(texts[:FEW]) if s is not None]
    values = numpy.array([int.from_bytes(s, "big") for s in there], dtype=numpy.uint64)
    equal("hamming of arrays", nd.hamming(values[:-1], values[1:]).tolist(), nd.hamming(there[:-1], there[1:]))
    check("some of the pairs are alike", 0 < sum(w > 0 for w in want), want[:5])


def received(conn, texts):
    """The bytes are what a column receives: COPY in binary format, and a binary parameter."""
    conn.execute("CREATE TABLE sent (id int, mh minhash, sh simhash, cd ctph)")
    with conn.cursor() as cur, cur.copy("COPY sent FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["int4", "bytea", "bytea", "bytea"])
        for row in zip(range(FEW), nd.minhash(texts[:FEW]), nd.simhash(texts[:FEW]), nd.ctph(texts[:FEW])):
            copy.write_row(row)
    query = "SELECT count(*) FROM sent JOIN documents USING (id) WHERE mh = to_minhash(doc) AND sh IS NOT DISTINCT FROM to_simhash(doc) AND cd = to_ctph(doc)"
    equal("COPY receives the bytes", conn.execute(query).fetchone()[0], FEW)


def same_words(conn):
    """A value out of range is refused in the same words."""
    for query, call in (
            ("to_minhash('x', k => 0)", lambda: nd.minhash("x", k=0)),
            ("to_minhash('x', k => 65)", lambda: nd.minhash("x", k=65)),
            ("to_minhash('x', num_perm => 15)", lambda: nd.minhash("x", num_perm=15)),
            ("to_minhash('x', bits => 7)", lambda: nd.minhash("x", bits=7)),
            ("to_minhash('x', unit => 'byte')", lambda: nd.minhash("x", unit="byte")),
            ("to_simhash('x', unit => 'line')", lambda: nd.simhash("x", unit="line")),
            ("ctph_long('x', 64)", lambda: nd.ctph("x", length=64)),
            ("winnow_hashes('x', \"window\" => 0)", lambda: nd.winnow_hashes("x", window=0)),
            ("jaccard(to_minhash('x'), to_minhash('x', k => 2))", lambda: nd.jaccard(nd.minhash("x"), nd.minhash("x", k=2))),
            ("ctph_score(to_ctph('x'), ctph_long('x', 65))", lambda: nd.ctph_score(nd.ctph("x"), nd.ctph("x", length=65))),
            ("jaccard('mh1:word3', 'mh1:word3')", lambda: nd.jaccard("mh1:word3", "mh1:word3"))):
        try:
            conn.execute("SELECT " + query)
            want = "no error"
        except psycopg.Error as e:
            lines = (e.diag.message_primary, e.diag.message_detail and "DETAIL:  " + e.diag.message_detail, e.diag.message_hint and "HINT:  " + e.diag.message_hint)
            want = "ValueError: " + " | ".join(line for line in lines if line)
        equal("the server's words: " + query, error_text(call), want)


def main():
    texts = random_texts(DOCUMENTS)
    with database() as name, connect(name) as conn:
        fill(conn, texts)
        beside_the_server(conn, texts)
        measures(conn, texts)
        received(conn, texts)
        same_words(conn)


finish(main)
