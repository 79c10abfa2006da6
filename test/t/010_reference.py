#!/usr/bin/python3
"""The database's shingles and signatures equal the oracle's, which was written from the specification alone."""
import gzip
import os
import random
import re
import struct

from harness import *
import code_lexer
import oracle as o

SEEDS = (0, 1, -1, 42, -(1 << 63), (1 << 63) - 1)
POOL = list("abcXYZ019__  ..\n\t") + [chr(c) for c in (
    0xDF, 0x130, 0x131, 0x3A3, 0x3C2, 0x300, 0x301, 0x345, 0xE01, 0xE33, 0xE34, 0x6F22, 0x5B57, 0x3007, 0x3042, 0x30FC,
    0x3099, 0x1E9E, 0xFE0F, 0x20E3, 0x200D, 0x1F469, 0x10400, 0x20BB7, 0xAC00, 0x41F, 0x43F, 0xFF21, 0x2160, 0x3000,
    0xA0, 0x2C6F, 0x2C62, 0x23A, 0x1C90, 0xAB70, 0xE0101, 0x10FFFF, 0xE000, 0xFFFD, 0x2019, 0x1F1FA, 0x661, 0xBD)]

TEXTS = {
    "empty": "", "blank": " \t\r\n", "punctuation": "?!.,;-", "one letter": "a", "one mark": "\u0301",
    "two words": "two words", "english": "The quick brown Fox jumps over the lazy dog",
    "cases": "İstanbul ISTANBUL ı ß ẞ STRASSE ΣΑΣ σας ς Ω K Å ſ ﬁ ǅ Ꭰ ꭰ",
    "marks": "A\u0300E\u0301 \u0301lone \u0301\u0302 a \u0345 x\u0345 -\u0301- \u0301漢 漢\u0301x",
    "han and latin": "漢字abc漢a字 3人 A組 漢\u0301字\u3099か\u3099カー々〆〇ｱﾞ",
    "thai": "ภาษาไทย ที่นี่abcก็ดี ລາວ ភាសាខ្មែរ မြန်မာစာ",
    "hangul, indic, rtl": "한국어 문장 हिन्दी தமிழ் עִבְרִית العَرَبِيَّة ქართული ᲥᲐᲠᲗᲣᲚᲘ",
    "emoji": "👩‍👩‍👧 ok👍🏽ok 1️⃣ ☃️snow 𝐀𝐁 𐐀𐐨 𠮷野家 \U0001f1fa\U0001f1e6",
    "full width": "ＦＵＬＬ ｗｉｄｔｈ １２３ Ⅷ ⅷ Ⓐ ² ½ ٣ snake_case＿x",
    "word lengths": " ".join("w" * n for n in range(1, 41)),
    "word lengths, two bytes": " ".join("щ" * n for n in range(1, 41)),
    "word of 10 kB": "x" * 10000 + " a b " + "Ж" * 5000, "one word": "y" * 4096, "same words": "ha " * 3000,
    "same letter": "a" * 9000,
}


def random_texts():
    rng = random.Random(1)
    for i in range(120):
        n = rng.choice((3, 10, 50, 200))
        pool = POOL if i % 3 else rng.sample(POOL, 6)
        yield "random %d" % i, "".join(rng.choice(pool) for _ in range(n))


def border_texts():
    """A word, a solo letter, a mark or a capital right at, before and after the tokenizer's block border."""
    for d in range(-8, 9):
        for name, c in (("ascii", "Q"), ("cyrillic", "Щ"), ("han", "漢"), ("mark", "a\u0301"), ("four bytes", "𐐀")):
            head = ("word " * 900)[: 4096 + d - 3] + "xyz"
            yield "border %+d %s" % (d, name), head + c + "Next word " + head[:4090] + c * 3 + " end"


def udhr_texts():
    path = data_file("udhr", "docs.tsv.gz")
    if path:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as f:
            for line in f:
                fields = line.rstrip("\n").split("\t")
                if fields[3] != "\\N":
                    text = (
                        fields[3].replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\\\\", "\\"))
                    yield "udhr " + fields[1], text


def compare_text(conn, name, cases):
    """cases: (what, text, k, unit)."""
    def rows():
        with conn.cursor() as cur:
            for what, text, k, unit in cases:
                cur.execute("SELECT array(SELECT shingle_hashes(%s::text, %s, %s)), array(SELECT shingles(%s::text, "
                            "%s, %s))", (text, k, unit) * 2)
                hashes, shown = cur.fetchone()
                label = "%s, %s %d" % (what, unit, k)
                yield label, [h & o.M64 for h in hashes], o.shingle_hashes(text, k, unit)
                yield label + " text", shown, o.shingles(text, k, unit)
    equal_all(name, rows())


def tokenizer(conn):
    compare_text(conn, "shingles of special texts", [
        (what, text, k, unit) for what, text in TEXTS.items() for unit in ("word", "char")
        for k in ((1, 2, 3, 5, 64) if len(text) < 3000 else (1, 3))])
    compare_text(conn, "shingles of random texts", [
        (what, text, k, unit) for what, text in random_texts() for unit, k in (("word", 1), ("word", 3), ("char", 5))])
    compare_text(conn, "shingles at block borders", [
        (what, text, k, "word") for what, text in border_texts() for k in (1, 3)]
        + [(what, text, 5, "char") for what, text in list(border_texts())[::3]])
    compare_text(conn, "shingles for every k", [
        ("english" + str(n), " ".join(str(i) for i in range(n)), k, unit)
        for n in (1, 2, 40, 70) for unit in ("word", "char") for k in range(1, 65)])
    udhr = list(udhr_texts())
    if udhr:
        compare_text(conn, "shingles of the UDHR", [
            (what, text, k, unit) for what, text in udhr for unit, k in (("word", 3), ("char", 5))])

    raw = [bytes(range(256)), b"", b"\x00", b"abc", b"\xff\x00" * 5000, "Щ漢".encode()] + [
        bytes(random.Random(n).randrange(256) for _ in range(n)) for n in (7, 8, 9, 4095, 4096, 4097)]

    def byte_rows():
        for b in raw:
            for k in (1, 8, 64):
                got = one(conn, "SELECT array(SELECT shingle_hashes(%s::bytea, %s))", (b, k))
                yield "%d bytes, k %d" % (len(b), k), [h & o.M64 for h in got], o.shingle_hashes(b, k, "byte")
    equal_all("shingle_hashes of bytea", byte_rows())


CODE_PIECES = ['"', "'", "`", "\\", "\n", "\r\n", "\r", " ", "\t", "//", "/*", "*/", "#", "#define", "# if", "#endifs",
               'R"', 'LR"x(', ')x"', ')"', "(", ")", "u8", "rb", "F", "x", "name", "if", "None", "0x1e+2", "1e", "E",
               "p", "+", "-", ".", "5", "1'0", "=", "<", ">", "&", "*", ":", "?", "!", "@", "$a", "_", "é", "\u3000",
               "\ufeff", "😀", "\u2028", '"' * 3, "'" * 3, "...", "delimiter", "\x7f"]


def real_code():
    """Sources of this machine and of neardup, and students' programs: C, C++, Python, shell, SQL, Java."""
    folders = [(os.path.join(ROOT, "src"), 40), (os.path.join(ROOT, "test", "t"), 15), (os.path.join(ROOT, "sql"), 10),
               (os.path.dirname(os.__file__), 60)]
    for folder, most in folders:
        names = sorted(
            os.path.join(path, name) for path, _, files in os.walk(folder) for name in files if name.endswith(
                (".cpp", ".h", ".cu", ".py", ".sql", ".sh")))
        for name in names[:: max(1, len(names) // (most * (10 if FULL else 1)))]:
            with open(name, encoding="utf-8", errors="replace", newline="") as f:
                yield os.path.relpath(name, folder), f.read().replace("\0", " ")
    path = data_file("code_plagiarism", "docs.tsv.gz")
    if path:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as f:
            for line in f:
                fields = line.rstrip("\n").split("\t")
                yield "program " + fields[0], re.sub(
                    r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), fields[4])


def lines_and_code(conn):
    rng = random.Random(5)
    made = [("made %d" % i, "".join(rng.choice(CODE_PIECES) for _ in range(rng.randrange(60)))) for i in range(600)]
    compare_text(conn, "tokens of made code", [(what, text, 1 + len(text) % 4, "code") for what, text in made])
    compare_text(conn, "lines and paragraphs of made texts",
                 [(what, text, 1 + len(text) % 3, unit) for what, text in made for unit in ("line", "paragraph")])
    compare_text(conn, "tokens of real code", [(what, text, 3, "code") for what, text in real_code()])

    def places():
        for what, text in made[:200]:
            got = conn.execute(
                "SELECT start_a - 1, start_a - 1 + length FROM shared_passages(%s::text, %s::text, 1, 'code')",
                (text, text)).fetchall()
            tokens = code_lexer.tokens(text)
            yield what, got, [(tokens[0][1], tokens[-1][2])] if tokens else []
    equal_all("passages of code stand where its tokens do", places())


def every_code_point(conn):
    """Class and fold of each code point, seen through the word shingles of 'a<c>b '."""
    planes = [(1, 0xD800), (0xE000, 0x18E00), (0x1A000, 0x32400), (0xE0000, 0xE0200), (0x10FF00, 0x110000)]
    if FULL:
        planes = [(1, 0xD800), (0xE000, 0x110000)]

    def rows():
        for first, last in planes:
            for start in range(first, last, 4096):
                text = "".join("a%sb " % chr(c) for c in range(start, min(start + 4096, last)))
                got = one(conn, "SELECT array(SELECT shingles(%s::text, 1))", (text,))
                yield "U+%04X.." % start, got, o.words(text)
    equal_all("class and fold of every code point", rows())


def signatures(conn):
    texts = dict(TEXTS)
    texts.update(list(random_texts())[:12])

    def rows():
        for i, (what, text) in enumerate(texts.items()):
            for unit, k in (("word", 3), ("char", 5), ("word", 1), ("char", 64), ("line", 1), ("paragraph", 2),
                            ("code", 3)):
                for L in (16, 25, 100, 128) + ((4096,) if i % 6 == 0 and k == 3 else ()):
                    bits, seed = (32, 16, 8)[(i + L) % 3], SEEDS[(i + k + L) % len(SEEDS)]
                    got = one(
                        conn, "SELECT to_minhash(%s::text, %s, %s, %s, %s, %s)::text", (text, k, unit, L, bits, seed))
                    yield "%s, %s %d, %dx%d seed %d" % (what, unit, k, L, bits, seed), got, \
                        o.to_minhash(text, k, unit, L, bits, seed)
            b = text.encode()
            yield what + ", bytes", one(conn, "SELECT to_minhash(%s::bytea)::text", (b,)), o.to_minhash(b)
            yield what + ", defaults", one(conn, "SELECT to_minhash(%s::text)::text", (text,)), o.to_minhash(text)
    equal_all("to_minhash", rows())

    udhr = list(udhr_texts())
    if udhr:
        equal_all("to_minhash of the UDHR",
                  ((what, one(conn, "SELECT to_minhash(%s::text)::text", (text,)), o.to_minhash(text))
                   for what, text in udhr))

    sets = [[], [0], [-1], [1, 2], list(range(50)), list(range(-500, 500)), [7] * 1000,
            [1 << 62, -(1 << 63), (1 << 63) - 1], list(range(20000))]
    sets += [["a"], ["", "a"], ["x" * n for n in range(300)], ["щука", "漢字", "漢字"]]

    def set_rows():
        for i, s in enumerate(sets):
            kind = "text" if s and isinstance(s[0], str) else "bigint"
            for L in (16, 25, 100, 128, 4096):
                if L == 4096 and len(s) > 60:
                    continue
                for bits in (32, 16, 8):
                    seed = SEEDS[(i + L + bits) % len(SEEDS)]
                    got = one(conn, "SELECT set_minhash(%%s::%s[], %%s, %%s, %%s)::text" % kind, (s, L, bits, seed))
                    yield "set %d, %dx%d seed %d" % (i, L, bits, seed), got, o.set_minhash(s, L, bits, seed)
    equal_all("set_minhash", set_rows())

    def parts():
        for s in (["a", "b"], [1, 2, 3]):
            kind = "text" if isinstance(s[0], str) else "bigint"
            for bits in (32, 16, 8):
                got = one(conn, "SELECT minhash_components(set_minhash(%%s::%s[], 25, %%s))" % kind, (s, bits))
                values = [o.xxh3(e.encode()) for e in s] if kind == "text" else s
                yield "components %s %d" % (kind, bits), list(got), o.components(values, 25, bits)
        text = TEXTS["english"]
        got = one(conn, "SELECT minhash_components(set_minhash(array(SELECT shingle_hashes(%s::text))))", (text,))
        yield "set of shingle hashes = document", list(got), o.components(o.shingle_hashes(text))
    equal_all("minhash_components", parts())


def simhashes(conn):
    def text(value):
        return None if value is None else "%016x" % value

    texts = dict(TEXTS)
    texts.update(list(random_texts())[:12])
    equal_all("to_simhash",
              (("%s, %s %d" % (what, unit, k), one(conn, "SELECT to_simhash(%s::text, %s, %s)::text", (doc, k, unit)),
                text(o.to_simhash(doc, k, unit)))
               for what, doc in texts.items() for unit, k in (("word", 3), ("char", 5), ("word", 1), ("char", 64))))
    udhr = list(udhr_texts())
    if udhr:
        equal_all("to_simhash of the UDHR",
                  ((what, one(conn, "SELECT to_simhash(%s::text)::text", (doc,)), text(o.to_simhash(doc)))
                   for what, doc in udhr))
    rng = random.Random(11)

    def weighted_rows():
        for i in range(60):
            features = ["f%d" % rng.randrange(30) for _ in range(rng.randrange(40))] + ["щука"] * (i % 3)
            weights = [rng.choice(
                (0.0, 1.0, 2.0, 0.1, rng.random(), rng.random() * 2.0 ** rng.randrange(-70, 40))) for _ in features]
            want = text(o.weighted_simhash(features, weights))
            yield "weighted %d" % i, one(
                conn, "SELECT weighted_simhash(%s::text[], %s::float8[])::text", (features, weights)), want
            yield "simhash_agg %d" % i, one(
                conn, "SELECT simhash_agg(f, w)::text FROM unnest(%s::text[], %s::float8[]) u(f, w)",
                (features, weights)), want
    equal_all("weighted_simhash and simhash_agg", weighted_rows())

    def vectors():
        for i in range(40):
            v = [struct.unpack(
                "f", struct.pack("f", rng.gauss(0, 1) * 10.0 ** rng.randrange(-5, 6) * (rng.random() > 0.1)))[0]
                 for _ in range(rng.choice((1, 2, 3, 17, 384)))]
            yield "vector %d" % i, one(conn, "SELECT vector_simhash(%s::real[])::text", (v,)), text(o.vector_simhash(v))
    equal_all("vector_simhash", vectors())


def unions(conn):
    rng = random.Random(2)

    def rows():
        for i in range(40):
            L, bits, seed = (16, 25, 128, 128)[i % 4], (32, 16)[i // 4 % 2], SEEDS[i % len(SEEDS)]
            a = [rng.randrange(1 << rng.choice((4, 62))) for _ in range(rng.choice((0, 1, 5, 300)))]
            b = [rng.randrange(1 << 8) for _ in range(rng.choice((0, 1, 40)))]
            want = o.set_minhash(a + b, L, bits, seed)
            p = {"a": a, "b": b, "L": L, "bits": bits, "seed": seed}
            yield "union %d" % i, one(conn,
                                      """SELECT minhash_union(set_minhash(%(a)s::bigint[], %(L)s, %(bits)s, %(seed)s),
                set_minhash(%(b)s::bigint[], %(L)s, %(bits)s, %(seed)s))::text""",
                                      p), want
            yield "union_agg %d" % i, one(conn, """SELECT minhash_union_agg(s)::text FROM (VALUES
                (set_minhash(%(a)s::bigint[], %(L)s, %(bits)s, %(seed)s)), (NULL),
                (set_minhash(%(b)s::bigint[], %(L)s, %(bits)s, %(seed)s))) v(s)""", p), want
            if a + b:
                yield "agg %d" % i, one(conn, """SELECT minhash_agg(x, %(L)s, %(bits)s, %(seed)s)::text
                    FROM unnest(%(a)s::bigint[] || %(b)s::bigint[] || NULL::bigint) x""", p), want
        got = one(conn, "SELECT minhash_agg(x)::text FROM unnest(%s::text[]) x", (["a", "b", "a", ""],))
        yield "agg of text", got, o.set_minhash(["a", "b", ""])
    equal_all("unions and aggregates", rows())

    conn.execute("""CREATE TABLE element AS SELECT i % 1000 AS g, i * 2654435761 % 50021 AS x
        FROM generate_series(1, 120000) i;
        ALTER TABLE element SET (parallel_workers = 2); ANALYZE element;
        SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
        SET max_parallel_workers_per_gather = 2""")
    want = o.set_minhash(sorted({i * 2654435761 % 50021 for i in range(1, 120001)}))
    wide = "SELECT g, minhash_agg(x)::text FROM element GROUP BY g ORDER BY g"
    for name, query in (("minhash_agg", "SELECT minhash_agg(x)::text FROM element"),
                        ("minhash_agg of text", "SELECT minhash_agg(x::text)::text FROM element"),
                        ("minhash_union_agg", "SELECT minhash_union_agg(set_minhash(ARRAY[x]))::text FROM element")):
        plan = "\n".join(r[0] for r in conn.execute("EXPLAIN " + query))
        check(name + " runs in parallel", "Partial Aggregate" in plan and "Gather" in plan, plan)
        got = one(conn, query)
        if name.endswith("text"):
            conn.execute("SET max_parallel_workers_per_gather = 0")
            equal(name + " in parallel", got, one(conn, query))
            conn.execute("SET max_parallel_workers_per_gather = 2")
        else:
            equal(name + " in parallel", got, want)
    got = conn.execute(wide).fetchall()
    conn.execute("SET max_parallel_workers_per_gather = 0")
    equal("grouped minhash_agg in parallel", got, conn.execute(wide).fetchall())


def measures(conn):
    rng = random.Random(3)

    def rows():
        for i in range(90):
            L, bits = (16, 25, 100, 128)[i % 4], (32, 16, 8)[i % 3]
            shared = list(range(rng.choice((0, 1, 10, 200))))
            a = shared + [1000 + j for j in range(rng.choice((0, 1, 5, 100)))]
            b = shared + [5000 + j for j in range(rng.choice((0, 1, 5, 100)))]
            ca, cb = o.components(a, L, bits), o.components(b, L, bits)
            m = sum(x == y for x, y in zip(ca, cb))
            want = o.estimate(m, L, bits) if a and b else 0.0
            p = (a, L, bits, b, L, bits)
            pair = "set_minhash(%s::bigint[], %s, %s), set_minhash(%s::bigint[], %s, %s)"
            yield "jaccard %d" % i, one(conn, "SELECT jaccard(%s)" % pair, p), want
            yield "<%%>  %d" % i, one(conn, "SELECT %s" % pair.replace("), ", ") <%%> "), p), 1 - want
            if bits != 8:
                below = sum(x <= y for x, y in zip(ca, cb))
                share = m / below if a and b and below else 0.0
                yield "containment %d" % i, one(conn, "SELECT containment(%s)" % pair, p), share
    equal_all("jaccard, <%> and containment", rows())

    def sizes():
        for n in (0, 1, 2, 10, 50, 127, 1000, 20000):
            c = o.components(range(n))
            y = [v / 2**31 if v < 1 << 31 else (v >> 18 & 0x1FFF) + (v & 0x3FFFF) / 2**18 for v in c]
            filled = sum(v < 128 for v in y)
            want = 128 * (filled - 1) / sum(min(v, 128) for v in y) if n else 0.0
            got = one(conn, "SELECT set_size(set_minhash(array(SELECT generate_series(0, %s::bigint))))", (n - 1,))
            yield "%d elements" % n, abs(got - want) <= 1e-4 * want, True
            yield "%d elements, near truth" % n, abs(got - n) <= 0.35 * n, True
    equal_all("set_size", sizes())

    pairs = [(["a"], ["a"]), (["a", "a", "b"], ["b", "c"]), ([], []), ([], ["a"]), (["x"] * 5, ["y"])]
    equal_all("jaccard_exact of text[]",
              ((str(p), one(conn, "SELECT jaccard_exact(%s::text[], %s::text[])", p), o.jaccard(*p)) for p in pairs))
    numbers = [([1, 2, 3], [2, 3, 4]), ([], []), ([1], []), ([5, 5, 5], [5]),
               (list(range(1000)), list(range(900, 3000)))]
    equal_all("jaccard_exact of bigint[] and int[]", (
        ("%d %s" % (i, t), one(conn, "SELECT jaccard_exact(%%s::%s[], %%s::%s[])" % (t, t), p), o.jaccard(*p))
        for i, p in enumerate(numbers) for t in ("bigint", "int")))


def explanations(conn):
    texts = ["", "a", "one two three four five", "one two three four six", TEXTS["english"],
             TEXTS["english"] + " again", "漢字abc漢a字 ภาษา", "...", "ha ha ha ho ha ha ha ho ha ha", "ho ho " * 30,
             "".join(random.Random(9).choice(POOL) for _ in range(150))]

    rates = {(a, b): o.edit_distance(a, b) / max(len(a) + len(b), 1) for a in texts for b in texts}

    def rows():
        for a in texts:
            for b in texts:
                for k, unit in ((3, "word"), (2, "char")):
                    x, y = set(o.shingle_hashes(a, k, unit)), set(o.shingle_hashes(b, k, unit))
                    both = len(x & y)
                    h, g = o.to_simhash(a, k, unit), o.to_simhash(b, k, unit)
                    m = sum(p == q for p, q in zip(o.components(x), o.components(y)))
                    want = (o.jaccard(x, y), m / 128 if x and y else 0.0, both / len(x) if x else 0.0,
                            both / len(y) if y else 0.0, both, len(x) - both, len(y) - both,
                            None if None in (h, g) else bin(h ^ g).count("1"), rates[a, b])
                    got = conn.execute("""SELECT jaccard, estimate, coalesce(a_in_b, 0), coalesce(b_in_a, 0), shared,
                        only_a, only_b, hamming, edit_rate
                        FROM compare_texts(%s::text, %s::text, %s, %s)""",
                                       (a, b, k, unit)).fetchone()
                    yield "%.20r with %.20r, %s %d" % (a, b, unit, k), got, want
    equal_all("compare_texts", rows())

    def pairs():
        for L, bits in ((128, 32), (25, 16), (100, 8)):
            for shared in (0, 5, 18, 20):
                a, b = list(range(20)), list(range(20 - shared, 40 - shared))
                m = sum(p == q for p, q in zip(o.components(a, L, bits), o.components(b, L, bits)))
                for t in (0.28, 0.56, 0.8, 1.0):
                    got = conn.execute("""SELECT comparable, matches, needed, jaccard
                        FROM explain_pair(set_minhash(%s::bigint[], %s, %s),
                        set_minhash(%s::bigint[], %s, %s), %s)""",
                                       (a, L, bits, b, L, bits, t)).fetchone()
                    yield "%dx%d, %d shared, %s" % (L, bits, shared, t), got, (
                        True, m, o.need(t, L, bits), o.estimate(m, L, bits))
    equal_all("explain_pair", pairs())

    def hammings():
        rng = random.Random(10)
        for distance in [0, 1, 2, 3, 3.5, 7.99, 32, 64] * 4:
            a, b = rng.getrandbits(64), rng.getrandbits(64)
            if distance < 64:
                b = a ^ b & rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64)
            got = conn.execute("SELECT hamming, verdict LIKE 'similar: %%', verdict LIKE 'not similar: %%' "
                                   "FROM explain_pair(%s::simhash, %s::simhash, %s)",
                               ("%016x" % a, "%016x" % b, distance)).fetchone()
            bits = bin(a ^ b).count("1")
            yield "%d bits, %s" % (bits, distance), got, (bits, bits <= distance, bits > distance)
    equal_all("explain_pair of simhashes", hammings())


def kernels(conn):
    """The forms for different processors give one result."""
    texts = [t for _, t in TEXTS.items()] + [t for _, t in list(random_texts()) + list(border_texts())]
    want = [o.to_minhash(t, L=25) for t in texts]
    for form in ("scalar", "avx2", "avx512", "neon"):
        conn.execute("SELECT neardup_version()")
        try:
            conn.execute("SET neardup.kernels = %s" % form)
        except psycopg.Error as e:
            if form == "scalar":
                check("kernels = scalar", False, e)
            else:
                check("neardup.kernels = %s is refused where the machine lacks it" % form,
                      e.diag.message_detail == "This machine cannot run %s code." % form, e.diag.message_detail)
                skip("neardup.kernels = %s: not on this machine" % form)
            continue
        got = [one(conn, "SELECT to_minhash(%s::text, num_perm => 25)::text", (t,)) for t in texts]
        equal_all("kernels = %s" % form, zip(range(len(texts)), got, want))
        equal_all("kernels = %s: jaccard" % form, (
            ("%dx%d" % (L, bits),
             one(conn,
                 """SELECT jaccard(set_minhash(array(SELECT generate_series(1, 30::bigint)), %s, %s),
                set_minhash(array(SELECT generate_series(9, 40::bigint)), %s, %s))""",
                 (L, bits) * 2),
             o.estimate(
                 sum(x == y for x, y in zip(o.components(range(1, 31), L, bits), o.components(range(9, 41), L, bits))),
                 L, bits))
            for L in (16, 17, 25, 31, 63, 100, 128, 257) for bits in (8, 16, 32)))
    conn.execute("RESET neardup.kernels")


def main():
    try:
        o.xxh3(b"")
    except OSError:
        return skip("libxxhash.so.0 is not installed")
    with database() as name, connect(name) as conn:
        sections(*((f, conn) for f in (tokenizer, lines_and_code, every_code_point, signatures, simhashes, unions,
                                       measures, explanations, kernels)))


finish(main)
