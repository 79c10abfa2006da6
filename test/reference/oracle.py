"""The slow, obvious version of neardup's shingles and minhash, written from the specification.

Shared by tools/golden.py (test vectors) and test/t (comparison with the database); never shipped.
Works on lists of Python integers; every value is an unsigned number of the stated width.
Sources: docs/format.md; Unicode 15.0 by unicode_15_0.inc.

    oracle.py unicode [FOLDER]    writes unicode_15_0.inc from Debian's unicode-data
"""
import base64
import bisect
import ctypes
import decimal
import os
import re
import struct
import sys
import textwrap
from fractions import Fraction

import code_lexer

M64 = (1 << 64) - 1
EMPTY32 = (1 << 32) - 1
EMPTY16 = (1 << 16) - 1
SEED0 = 0x2D358DCCAA6C78A5
SEED1 = 0x8BB84B93962EACC9
LENGTH_FACTOR = 0x9E3779B97F4A7C15
SHINGLE_BASE = 0xD1342543DE82EF95
HERE = os.path.dirname(os.path.abspath(__file__))

# ---- hashes ----------------------------------------------------------------------------------


def mix64(x):
    x ^= x >> 32
    x = x * 0xE9846AF9B1A615D & M64
    x ^= x >> 32
    x = x * 0xE9846AF9B1A615D & M64
    return x ^ x >> 28


def mum(a, b):
    p = a * b
    return (p >> 64) ^ (p & M64)


def xxh3(data):
    """XXH3_64bits, seed 0, of bytes; by the system's library."""
    if xxh3.call is None:
        xxh3.call = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
        xxh3.call.restype = ctypes.c_uint64
        xxh3.call.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return xxh3.call(data, len(data))


xxh3.call = None


def word_hash(b):
    n = len(b)
    if n <= 8:
        return mum(int.from_bytes(b, "little") ^ SEED0, n ^ SEED1)
    if n <= 16:
        first = int.from_bytes(b[:8], "little")
        last = int.from_bytes(b[-8:], "little")
        return mum(first ^ SEED0 ^ (n * LENGTH_FACTOR & M64), last ^ SEED1)
    return xxh3(b)


def byte_hash(c):
    return mix64((SEED0 + (c + 1) * LENGTH_FACTOR) & M64)


def code_point_hash(c):
    return byte_hash(c) if c < 256 else mum(c ^ SEED0, SEED1)


# ---- Unicode ---------------------------------------------------------------------------------

SOLO_SCRIPTS = """Han Hiragana Katakana Bopomofo Yi Nushu Tangut Khitan_Small_Script Thai Lao Khmer
Myanmar Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Ahom Javanese Balinese""".split()


def build_unicode(folder="/usr/share/unicode"):
    """[(first, last, class, fold delta)], class w word, s solo letter, m mark, - other with a fold."""

    def ranges(name):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            for line in f:
                fields = [x.strip() for x in line.split("#")[0].split(";")]
                if len(fields) > 1:
                    first, _, last = fields[0].partition("..")
                    yield int(first, 16), int(last or first, 16), fields[1:]

    with open(os.path.join(folder, "CaseFolding.txt"), encoding="utf-8") as f:
        if "CaseFolding-15.0.0" not in f.readline():
            raise SystemExit(folder + " is not Unicode 15.0.0")
    alias = {}
    for line in open(os.path.join(folder, "PropertyValueAliases.txt"), encoding="utf-8"):
        fields = [x.strip() for x in line.split("#")[0].split(";")]
        if fields[0] == "sc":
            alias[fields[1]] = fields[2]
    solo = set()
    for first, last, rest in ranges("Scripts.txt"):
        if rest[0] in SOLO_SCRIPTS:
            solo.update(range(first, last + 1))
    for first, last, rest in ranges("ScriptExtensions.txt"):
        if any(alias[x] in SOLO_SCRIPTS for x in rest[0].split()):
            solo.update(range(first, last + 1))
    kind = {}
    start = None
    for line in open(os.path.join(folder, "UnicodeData.txt"), encoding="utf-8"):
        code, name, category = line.split(";")[:3]
        code = int(code, 16)
        if name.endswith(", First>"):
            start = code
            continue
        span = range(start if name.endswith(", Last>") else code, code + 1)
        for c in span:
            if category[0] == "M":
                kind[c] = "m"
            elif (category[0] == "L" or category == "Nl") and c in solo:
                kind[c] = "s"
            elif category[0] in "LN" or c == 0x5F:
                kind[c] = "w"
    fold = {first: int(rest[1], 16) for first, _, rest in ranges("CaseFolding.txt") if rest[0] in "CS"}
    table = []
    for c in range(0x110000):
        entry = (kind.get(c, "-"), fold.get(c, c) - c)
        if entry == ("-", 0):
            continue
        if table and table[-1][1] == c - 1 and table[-1][2:] == entry:
            table[-1] = (table[-1][0], c) + entry
        else:
            table.append((c, c) + entry)
    return table


def load_unicode():
    pattern = re.compile(r"\{0x([0-9a-f]+),0x([0-9a-f]+),'(.)',(-?\d+)\}")
    with open(os.path.join(HERE, "unicode_15_0.inc"), encoding="ascii") as f:
        return [(int(m[1], 16), int(m[2], 16), m[3], int(m[4])) for m in pattern.finditer(f.read())]


def classify(c):
    """(class, folded code point); class w, s, m or -."""
    if not classify.table:
        classify.table = load_unicode()
        classify.first = [row[0] for row in classify.table]
    hit = classify.cache.get(c)
    if hit is None:
        i = bisect.bisect_right(classify.first, c) - 1
        row = classify.table[i] if i >= 0 else None
        hit = (row[2], c + row[3]) if row and c <= row[1] else ("-", c)
        classify.cache[c] = hit
    return hit


classify.table = None
classify.cache = {}

# ---- shingles --------------------------------------------------------------------------------


def words(text):
    """The folded words of a str."""
    out, run, run_is_solo = [], [], False
    for ch in text:
        kind, folded = classify(ord(ch))
        if kind == "m" and run:
            run.append(chr(folded))  # a mark extends any word right before it
            continue
        if run and (kind in "s-" or run_is_solo):
            out.append("".join(run))
            run = []
        if kind != "-":
            run.append(chr(folded))
            run_is_solo = kind == "s"
    if run:
        out.append("".join(run))
    return out


LINE_END = re.compile("\r\n|\r(?!\n)|[\n\v\f\x85\u2028\u2029]")
BLANK = "[\t \xa0\u1680\u2000-\u200a\u202f\u205f\u3000]"


def normalised(texts):
    """With single spaces, without blank ones."""
    return [t for t in (re.sub("(?:%s|%s)+" % (BLANK, LINE_END.pattern), " ", text).strip(" ") for text in texts) if t]


def paragraphs(text):
    return normalised(re.split("\u2029|(?:%s)(?:%s*(?:%s))+" % (LINE_END.pattern, BLANK, LINE_END.pattern), text))


def units(doc, unit):
    """(units to print, their hashes); doc is str, or bytes for unit 'byte'."""
    if unit == "word":
        w = words(doc)
        return w, [word_hash(x.encode("utf-8")) for x in w]
    if unit == "char":
        return list(doc), [code_point_hash(ord(c)) for c in doc]
    if unit in ("line", "paragraph", "code"):
        texts = normalised(LINE_END.split(doc)) if unit == "line" else paragraphs(doc) if unit == "paragraph" else [
            t[0] for t in code_lexer.tokens(doc)]
        return texts, [xxh3(t.encode("utf-8")) for t in texts]
    return [doc[i : i + 1] for i in range(len(doc))], [byte_hash(c) for c in doc]


def windows(seq, k):
    return [seq[i : i + k] for i in range(len(seq) - k + 1)] if len(seq) >= k else [seq] if seq else []


def shingles(doc, k=3, unit="word"):
    joiner = {"word": " ", "char": "", "byte": b"", "line": "\n", "paragraph": "\n", "code": " "}[unit]
    return [joiner.join(w) for w in windows(units(doc, unit)[0], k)]


def combine(hashes, k):
    h = 0
    for x in hashes:
        h = (h * SHINGLE_BASE + x) & M64
    return h ^ k


def shingle_hashes(doc, k=3, unit="word"):
    return [combine(w, k) for w in windows(units(doc, unit)[1], k)]


# ---- minhash ---------------------------------------------------------------------------------


def minhash32(elements, L=128, seed=0):
    """The L 32-bit components of a set of 64-bit values."""
    key = mix64((seed & M64) ^ SEED0)
    h0 = [mix64((x & M64) ^ key) for x in set(elements)]
    out = [EMPTY32] * L
    if not h0:
        return out
    for r in range(L):
        tag = mix64(r)
        for h in h0:
            if r:
                h = mix64(h ^ tag)
            b = (h & 0xFFFFFFFF) * L >> 32
            v = (1 << 31 | r << 18 | h >> 46) if r else h >> 33
            if v < out[b]:
                out[b] = min(v, EMPTY32 - 1)
        if EMPTY32 not in out:
            return out
    for b in range(L):
        if out[b] == EMPTY32:
            tag = mix64(L + 1 + b)
            out[b] = min(min(1 << 31 | L << 18 | mix64(h ^ tag) >> 46 for h in h0), EMPTY32 - 1)
    return out


def code16(v, L):
    if v == EMPTY32:
        return EMPTY16
    if v < 1 << 31:
        y = v
    else:
        r, f = v >> 18 & 0x1FFF, (v & 0x3FFFF) << 13
        y = (r << 31) + f if r < L else L * ((1 << 31) + f)
    if y == 0:
        return 0
    msb = y.bit_length() - 1
    below = y >> (msb - 10) if msb >= 10 else y << (10 - msb)
    return 1024 * msb + (below & 1023)


def code8(v):
    return (v * 0x9E3779B1 & 0xFFFFFFFF) >> 24


def components(elements, L=128, bits=32, seed=0):
    full = minhash32(elements, L, seed)
    if bits == 32:
        return full
    return [code16(v, L) if bits == 16 else code8(v) for v in full]


def text_form(kind, elements, L=128, bits=32, seed=0):
    """kind: wordK, charK, byteK, lineK, paraK, codeK, text, bigint, import (weighted: see weighted_minhash)."""
    elements = list(elements)
    head = "mh1:%s:%dx%d:s%d:t%d:" % (kind, L, bits, seed, kind.startswith(("word", "code")))
    if not elements:
        return head + "empty"
    raw = struct.pack("<%d%s" % (L, {32: "I", 16: "H", 8: "B"}[bits]), *components(elements, L, bits, seed))
    return head + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def to_minhash(doc, k=None, unit=None, L=128, bits=32, seed=0):
    """The text form of to_minhash(doc, ...); bytes are signed by byte."""
    unit = unit or ("byte" if isinstance(doc, bytes) else "word")
    k = k or (8 if unit == "byte" else 3)
    return text_form("%s%d" % (unit[:4], k), shingle_hashes(doc, k, unit), L, bits, seed)


KINDS = {"word": 1, "char": 2, "byte": 3, "line": 8, "paragraph": 9, "code": 10}


def minhash_wire(doc, k, unit, L=128, bits=32, seed=0):
    """The wire form of to_minhash(doc, ...)."""
    hashes = shingle_hashes(doc, k, unit)
    head = struct.pack(">BBBBHBBq", 1, KINDS[unit], k, bits, L, unit in ("word", "code"), not hashes, seed)
    return head + struct.pack(
        ">%d%s" % (L, {32: "I", 16: "H", 8: "B"}[bits]), *components(hashes, L, bits, seed)) if hashes else head


def set_minhash(elements, L=128, bits=32, seed=0, kind=None):
    """The text form of set_minhash(elements, ...): all str or all int."""
    kind = kind or ("text" if elements and isinstance(elements[0], str) else "bigint")
    values = [xxh3(e.encode("utf-8")) if kind == "text" else e for e in elements]
    return text_form(kind, values, L, bits, seed)


def estimate(m, L, bits=32):
    """The float8 that jaccard returns for m matching components of L, neither signature empty."""
    if bits != 8:
        return m / L
    return max(0.0, (m / L - 1 / 256) / (1 - 1 / 256))


def need(t, L, bits=32, inclusive=True):
    """Least number of matches whose estimate is at least (above) t; L + 1 if none."""
    for m in range(L + 1):
        e = estimate(m, L, bits)
        if e > t or (inclusive and e == t):
            return m
    return L + 1


def jaccard(a, b):
    """Exact, of two collections."""
    a, b = set(a), set(b)
    return float(Fraction(len(a & b), len(a | b))) if a and b else 0.0


# ---- weighted minhash ------------------------------------------------------------------------


def reciprocal_logs():
    """round(2^44 ln(c_j / 2^16)), c_j = floor(2^24 / (129 + j)), by exact decimals."""
    with decimal.localcontext() as context:
        context.prec = 60
        return [int(
            ((decimal.Decimal((1 << 24) // (129 + j)) / 65536).ln() * 2**44).to_integral_value()) for j in range(128)]


def exponential(h):
    """-ln((~h | 1) / 2^64) as a multiple of 2^-44, at least 1."""
    if not exponential.table:
        exponential.table = reciprocal_logs()
    x = ~h & M64 | 1
    shift = 64 - x.bit_length()
    x <<= shift
    j = (x >> 56) - 128
    d = (1 << 64) - (x * ((1 << 24) // (129 + j)) >> 16)
    tail = (1 << 63) + (d * ((1 << 64) // 3 + (d >> 2)) >> 64)
    e = d + (d * (d * tail >> 64) >> 64)
    return max(1, shift * 12193974156573 + exponential.table[j] + (e >> 20))


exponential.table = []


def weight_units(weight):
    """The nearest multiple of 2^-60, half to even."""
    return round(Fraction(weight) * 2**60)


def weighted_minhash32(elements, L, seed):
    """elements: (hash, units), units a multiple of 2^-60. The EMPTY32 of every component where no weight is above 0."""
    sums = {}
    for x, units in elements:
        if units:
            sums[x] = sums.get(x, 0) + units
    key = mix64((seed & M64) ^ SEED0)
    out = [EMPTY32] * L
    for x, units in sums.items():
        base = mix64(x ^ key)
        whole = units.bit_length()
        for k in [*range(whole - 1, -1, -1), whole]:  # down: the first stratum may fill all components; the part last
            start = 1 << k - 1 if k else 0
            if units <= start:
                continue
            rate = max(k - 1, 0)
            share = min((units - start << 64) >> rate, 1 << 64)
            h, time = mix64(base ^ mix64(0x6C62272E07BB0142 + k)), 0
            worst = max(out)
            while True:
                time += exponential(h)
                top = time.bit_length() - 1
                v = top - 44 + 60 - rate + 128 << 24 | (time << 24 >> top) & 0xFFFFFF
                if v > worst:
                    break
                event = mix64(h ^ 0x9216D5D98979FB1B)
                if share >> 64 or mix64(event + LENGTH_FACTOR & M64) < share:
                    b = (event & 0xFFFFFFFF) * L >> 32
                    if v < out[b]:
                        out[b] = v
                        worst = max(out)
                h = mix64(h + LENGTH_FACTOR & M64)
    return out


def weighted_components(elements, L=128, bits=32, seed=0):
    full = weighted_minhash32(elements, L, seed)
    return full if bits == 32 else [v >> 16 if bits == 16 else code8(v) for v in full]


def weighted_minhash(features, weights, L=128, bits=32, seed=0):
    """The text form of weighted_minhash(features, weights, ...)."""
    elements = [(xxh3(f.encode("utf-8")), weight_units(w)) for f, w in zip(features, weights)]
    head = "mh1:weighted:%dx%d:s%d:t0:" % (L, bits, seed)
    if not any(units for _, units in elements):
        return head + "empty"
    raw = struct.pack("<%d%s" % (L, {32: "I", 16: "H", 8: "B"}[bits]), *weighted_components(elements, L, bits, seed))
    return head + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def weighted_jaccard(a, b):
    """Exact sum(min) / sum(max) of two dicts feature -> weight, weights as multiples of 2^-60."""
    a = {f: weight_units(w) for f, w in a.items()}
    b = {f: weight_units(w) for f, w in b.items()}
    shared = sum(min(w, b.get(f, 0)) for f, w in a.items())
    either = sum(a.values()) + sum(b.values()) - shared
    return float(Fraction(shared, either)) if either and shared else 0.0


# ---- simhash ---------------------------------------------------------------------------------

SIMHASH_SEED = 0x5851F42D4C957F2D


def simhash_of_sums(features):
    """64 bits of (signs, weight) with exact weights, or None where no weight is above 0."""
    features = [(signs, weight) for signs, weight in features if weight]
    if not features:
        return None
    sums = [sum(w if signs >> i & 1 else -w for signs, w in features) for i in range(64)]
    return sum(1 << i for i in range(64) if sums[i] > 0)


def to_simhash(doc, k=3, unit="word"):
    return simhash_of_sums([(mix64(x ^ SIMHASH_SEED), 1) for x in shingle_hashes(doc, k, unit)])


def weighted_simhash(features, weights):
    def fixed(w):
        return round(Fraction(w) * 2**60)  # half to even

    return simhash_of_sums([(mix64(xxh3(f.encode()) ^ SIMHASH_SEED), fixed(w)) for f, w in zip(features, weights)])


def vector_simhash(vector):
    """vector: floats that 32 bits hold."""
    sums, some = [0.0] * 64, False
    for at, x in enumerate(vector):
        if x == 0:
            continue
        some = True
        for plane in range(64):
            h = mix64(mix64(at ^ SIMHASH_SEED) + plane * LENGTH_FACTOR & M64)
            sums[plane] += x * (2 * h.bit_count() - 64 + (1 if h * SHINGLE_BASE >> 63 & 1 else -1))
    return sum(1 << i for i in range(64) if sums[i] > 0) if some else None


if __name__ == "__main__":
    if sys.argv[1:2] != ["unicode"]:
        raise SystemExit(__doc__)
    with open(os.path.join(HERE, "unicode_15_0.inc"), "w", encoding="ascii") as out:
        out.write(
            "// First and last code point, class (w word, s solo letter, m mark, - none), distance to the fold.\n")
        out.write(
            "// Unicode 15.0.0 (Debian unicode-data), written by oracle.py unicode; read by C++ and by oracle.py.\n")
        rows = " ".join("{0x%x,0x%x,'%s',%d}," % row for row in build_unicode(*sys.argv[2:3]))
        out.write(textwrap.fill(rows, 120, break_on_hyphens=False) + "\n")


def edit_distance(a, b):
    """Wagner and Fischer, over code points or any other sequence."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]
