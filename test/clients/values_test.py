"""The values Minhash, SimHash and Ctph beside the server: text and binary forms, measures, refusals."""
import copy
import pickle
import random
import struct
from importlib import import_module
from importlib.util import find_spec

from clients import *

neardup = need("neardup")
from neardup import Ctph, Minhash, SimHash

CLASSES = {"minhash": Minhash, "simhash": SimHash, "ctph": Ctph}


def round_trips(conn):
    rows = []
    for kind, text, data in forms(conn):
        of_text, of_data = CLASSES[kind](text), CLASSES[kind].from_binary(data)
        rows += [(text[:40] + " text", of_data.to_text(), text), (text[:40] + " binary", of_text.to_binary(), data),
                 (text[:40] + " =", of_text, of_data), (text[:40] + " hash", hash(of_text), hash(of_data)),
                 (text[:40] + " str", str(of_text), text),
                 (text[:40] + " memoryview", CLASSES[kind].from_binary(memoryview(data)), of_text),
                 (text[:40] + " pickle", pickle.loads(pickle.dumps(of_text)), of_text),
                 (text[:40] + " copy", copy.deepcopy(of_text), of_text),
                 (text[:40] + " of itself", CLASSES[kind](of_text), of_text)]
    equal_all("forms of every kind of value", rows)


def parameters(conn):
    rows = []
    for kind, text, _ in forms(conn):
        if kind == "minhash":
            m = Minhash(text)
            want = conn.execute("SELECT source, unit, k, num_perm, bits, seed, tokenizer FROM minhash_parameters(%s)",
                                (text,)).fetchone()
            rows.append((text[:30], (m.source, m.unit, m.k, m.num_perm, m.bits, m.seed, m.tokenizer), want))
            rows.append(
                (text[:30] + " components", list(m.components), one(conn, "SELECT minhash_components(%s)", (text,))))
    equal_all("parameters and components as the server returns them", rows)
    units = set(re.findall(r"'([a-z]+)'", sql_error(conn, "SELECT to_minhash('a', unit => 'x')").diag.message_hint))
    equal("units of the server that no form has",
          units - {Minhash(text).unit for kind, text, _ in forms(conn) if kind == "minhash"}, set())
    values = list(range(0, 160, 10))
    equal("from_components is minhash_import", Minhash.from_components(values, bits=16, seed=-3).to_text(),
          one(conn, "SELECT minhash_import(%s::bigint[], 16, -3)::text", (values,)))


def measures(conn):
    rows, texts = [], [DOC, NEAR, FAR, "", "a b c", DOC.upper()]
    for bits in (8, 16, 32):
        found = [Minhash(t) for t, in conn.execute(
            "SELECT to_minhash(d, bits => %s)::text FROM unnest(%s::text[]) d", (bits, texts))]
        for a in found:
            for b in found:
                got = (a.jaccard(b), a.containment(b) if bits > 8 else None)
                want = conn.execute("SELECT jaccard(%%s, %%s), %s" % ("containment(%s, %s)" if bits > 8 else "NULL"),
                                    (str(a), str(b)) * (2 if bits > 8 else 1)).fetchone()
                rows.append(("minhash %d bits" % bits, got, want))
    found = [SimHash(t) for t, in conn.execute(
        "SELECT to_simhash(d)::text FROM unnest(%s::text[]) d WHERE d <> ''", (texts,))]
    for a in found:
        for b in found:
            rows.append(("hamming", a.hamming(b), one(conn, "SELECT hamming(%s, %s)", (str(a), str(b)))))
            (check("cosine of %s" % a, abs(a.cosine(b) - one(conn, "SELECT cosine(%s, %s)", (str(a), str(b)))) < 1e-15)
             if a == found[0] else None)
            rows.append(("order", a < b, one(conn, "SELECT %s::simhash < %s::simhash", (str(a), str(b)))))
        rows.append(("bigint", a.to_bigint(), one(conn, "SELECT %s::simhash::bigint", (str(a),))))
        rows.append(("of a bigint", SimHash.from_bigint(a.to_bigint()), a))
    equal_all("measures as the server computes them", rows)


def text_or_error(make, value):
    """The text form of what the package makes of it, None where it refuses."""
    try:
        return make(value).to_text()
    except ValueError:
        return None


def read(conn, kind, text):
    """The same by the server, of a text."""
    e = sql_error(conn, "SELECT %%s::%s" % kind, (text,))
    return None if e else one(conn, "SELECT (%%s::%s)::text" % kind, (text,))


def received(conn, data):
    """The value of a binary form, by the table `sent`."""
    try:
        with conn.cursor() as cur, cur.copy("COPY sent FROM STDIN (FORMAT binary)") as stream:
            stream.write(b"PGCOPY\n\xff\r\n\0" + struct.pack(">iihi", 0, 0, 1, len(data)) + bytes(data) + b"\xff\xff")
        return one(conn, "SELECT v::text FROM sent")
    except psycopg.Error:
        return None
    finally:
        conn.execute("TRUNCATE sent")


def damaged(conn):
    """The package accepts the texts and bytes with one change that the server accepts, and as the same value."""
    random.seed(7)
    rows = []
    for kind, text, data in forms(conn):
        if len(text) > 4000:
            continue
        changed = ["", " " + text, text + " ", text[:-1], text + "A", text.upper(), text.replace("s0", "s00"),
                   text.replace("32", "032"), text.replace("x", "X"), text.replace(":", "::", 1), text + "\n"]
        for _ in range(40):
            at = random.randrange(min(len(text), 60))
            changed.append(text[:at] + random.choice("0123456789:-+=/xAaz_,\u00e9") + text[at + 1:])
        for value in changed:
            rows.append(("%s %r" % (kind, value[:60]), text_or_error(CLASSES[kind], value), read(conn, kind, value)))
    equal_all("texts with one change: accepted as the server accepts them", rows)


def damaged_bytes(conn):
    random.seed(8)
    bad, accepted, count = [], 0, 0
    for kind, _, data in forms(conn):
        if len(data) > 2000:
            continue
        conn.execute("CREATE TEMP TABLE sent (v %s)" % kind)
        for turn in range(60):
            value = bytearray(data)
            if turn % 6 == 0:
                value = value[: random.randrange(len(value) + 1)] + bytes(random.randrange(3))
            elif value:
                value[random.randrange(min(len(value), 24))] ^= 1 << random.randrange(8)
            got = text_or_error(CLASSES[kind].from_binary, bytes(value))
            want = received(conn, value)
            count, accepted = count + 1, accepted + (want is not None)
            if got != want:
                bad.append((kind, bytes(value)[:30], got, want))
        conn.execute("DROP TABLE sent")
    check("binary forms with one change: accepted as the server accepts them (%d, %d accepted)" % (count, accepted),
          accepted > 20 and not bad, bad[:2])


def longest_digests(conn):
    """Digests whose parts are just not, just, and just too long: as they are written, and when their runs are cut."""
    varied = "abcdefghij" * 103
    parts = [varied[:n] + "Z" * run for n in range(57, 66) for run in range(8)] + [
        "Z" * n for n in (1023, 1024, 1025)] + [varied[:n] for n in (99, 100, 101, 1023, 1024, 1025)]
    texts = [
        "%s3:%s:%s" % (length, *pair) for length in ("", "long64:", "long65:", "long100:", "long1024:", "long1025:")
        for part in parts
        for pair in ((part, "x"), ("x", part))]
    texts += ["%d:abc:de" % size for i in (0, 1, 29, 30, 31) for size in ((3 << i) - 1, 3 << i, (3 << i) + 1)]
    conn.execute("CREATE TEMP TABLE sent (v ctph)")
    rows = []
    for text in texts:
        want = read(conn, "ctph", text)
        length, _, rest = text.rpartition("long")[2].partition(":") if text.startswith("long") else ("64", "", text)
        _, part1, part2 = rest.split(":")
        data = struct.pack(">BBHHH", 1, 0, int(length), len(part1), len(part2)) + (part1 + part2).encode()
        rows += [(text, text_or_error(Ctph, text), want),
                 (text + " binary", text_or_error(Ctph.from_binary, data), received(conn, data))]
    conn.execute("DROP TABLE sent")
    check("some are too long", 0.2 < sum(want is not None for _, _, want in rows) / len(rows) < 0.8)
    equal_all("digests of the longest parts: accepted as the server accepts them", rows)


def largest_components(conn):
    """The largest component means an empty one, but in signatures that were imported and in those of 8 bits."""
    conn.execute("CREATE TEMP TABLE sent (v minhash)")
    rows = []
    for bits in (8, 16, 32):
        for call in ("to_minhash('%s', num_perm => 16, bits => %d)" % (DOC, bits),
                     "minhash_import(array(SELECT i FROM generate_series(1::bigint, 16) i), %d)" % bits):
            data = bytes(one(conn, "SELECT neardup_internal.minhash_send(%s)" % call))
            width = bits // 8
            for at in (len(data) - 16 * width, len(data) - width):  # the first and the last
                for value in (0, (1 << bits) - 2, (1 << bits) - 1):
                    changed = data[:at] + value.to_bytes(width, "big") + data[at + width:]
                    want = received(conn, changed)
                    rows.append(("%s %d" % (call, value), text_or_error(Minhash.from_binary, changed), want))
                    if want is not None:
                        rows.append(("%s %d text" % (call, value), text_or_error(Minhash, want), want))
    conn.execute("DROP TABLE sent")
    equal("those that are refused", sum(want is None for _, _, want in rows), 4)
    equal_all("the largest components: accepted as the server accepts them", rows)


def refusals():
    nan = float("nan")
    text = o.to_minhash(DOC)
    for value in (None, 5, 1.5, nan, True, b"mh1", [text]):
        raises("Minhash(%.20r)" % (value,), TypeError, lambda: Minhash(value), "a minhash must be its text form")
    for value in (None, 1.5, nan, True, b"a", [1]):
        raises("SimHash(%.20r)" % (value,), TypeError, lambda: SimHash(value), "must be")
        raises("Ctph(%.20r)" % (value,), TypeError, lambda: Ctph(value), "must be")
    for kind in CLASSES.values():
        raises("%s.from_binary(str)" % kind.__name__, TypeError, lambda: kind.from_binary("text"), "must be bytes")
        raises("%s of a surrogate" % kind.__name__, ValueError, lambda: kind("\ud800" + text), "\\ud800")
    raises("a document is not a signature", ValueError, lambda: Minhash(DOC), "invalid input syntax for type minhash",
           "to_minhash")
    raises("a number above 64 bits", ValueError, lambda: SimHash(1 << 64), "2^64 - 1")
    raises("a negative number", ValueError, lambda: SimHash(-1), "from_bigint")
    raises(
        "signatures made differently", ValueError, lambda: Minhash(text).jaccard(Minhash(o.to_minhash(DOC, 5, "char"))),
        "cannot compare signatures made differently", "word 3", "char 5")
    raises("a signature and a text", TypeError, lambda: Minhash(text).jaccard(text), "must be a Minhash")
    raises("containment at 8 bits", ValueError,
           lambda: Minhash(o.to_minhash(DOC, bits=8)).containment(Minhash(o.to_minhash(DOC, bits=8))), "16 or 32 bits")
    raises("a text form sent as binary", ValueError, lambda: Minhash.from_binary(text.encode()), "text form",
           "Minhash(text)")
    raises("too few components", ValueError, lambda: Minhash.from_components([1, 2]), "16 to 4096")
    raises(
        "a component that is too large", ValueError, lambda: Minhash.from_components([256] * 16, bits=8), "255", "256")
    raises("a component that is NaN", TypeError, lambda: Minhash.from_components([nan] * 16), "whole number")
    raises("values do not change", AttributeError, lambda: setattr(Minhash(text), "k", 5), "cannot be changed")
    for kind, data in ((Minhash, Minhash(text).to_binary()), (Ctph, Ctph("3:abc:def").to_binary())):
        raises("%s of a newer format" % kind.__name__, ValueError, lambda: kind.from_binary(b"\x09" + data[1:]),
               "format 9 is not known", "A newer version of the package may read it")
    if find_spec("neardup_core") is None:
        raises("neardup.sign without neardup-core", ImportError, lambda: import_module("neardup.sign"),
               "pip install ./clients/python-core")
    check("other types are not equal", Minhash(text) != text and SimHash(5) != 5 and Ctph("3::") != "3::")
    check("repr is short", len(repr(Minhash(text))) < 60 and "word 3, 128x32, seed 0" in repr(Minhash(text)),
          repr(Minhash(text)))


def main():
    sections((refusals,))
    with database() as name, connect(name) as conn:
        sections((round_trips, conn), (parameters, conn), (measures, conn), (damaged, conn), (damaged_bytes, conn),
                 (longest_digests, conn), (largest_components, conn))


finish(main)
