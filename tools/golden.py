#!/usr/bin/env python3
"""Writes test/data/golden_minhash.tsv, golden_weighted.tsv, golden_shingles.tsv and golden_documents.tsv from
test/reference/oracle.py.

    tools/golden.py            writes all
    tools/golden.py --check    exits 1 when a committed file differs
The formats are frozen (format 1, tokenizer 1): a difference is an error in the code, never a reason to run this again.
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "reference"))
sys.dont_write_bytecode = True
import oracle

DATA = os.path.join(ROOT, "test", "data")

# Texts that meet every rule of the tokenizer once.
TEXTS = [
    "",
    " \t\r\n.,;-",
    "a",
    "The quick brown Fox jumps over the lazy dog",
    "snake_case __x__ 3.14 1e-9 a-b C++",
    "".join("x" * n + " " for n in list(range(1, 41)) + [63, 64, 65, 127, 128, 129, 240, 241, 300]),
    "İstanbul ISTANBUL ı ß ẞ STRASSE Straße ΣΑΣ σας Ͳ Ω K Å ſ ﬁ ǅ Ꭰ ꭰ",
    "ÀÉÎÕÜ àéîõü A\u0300E\u0301 \u0301lone \u0301\u0302 a \u0345 x\u0345",
    "Привіт, світе! Ґанок її ПРИВІТ",
    "漢字かな交じり文。カタカナー ｱｲｳﾞ 々〆〇 3人 A組 漢\u0301字\u3099か\u3099",
    "ภาษาไทย ລາວ ភាសាខ្មែរ မြန်မာ ꦗꦮ ᬩᬮᬶ ꆈꌠ ㄅㄆㄇˊ",
    "한국어 문장 हिन्दी தமிழ் עִבְרִית العَرَبِيَّة ქართული ᲥᲐᲠᲗᲣᲚᲘ",
    "ＦＵＬＬ ｗｉｄｔｈ １２３ Ⅷ ⅷ Ⓐ ² ½ ٣",
    "👩‍👩‍👧 ok👍🏽ok 1️⃣ ☃️snow 𝐀𝐁 𐐀𐐨 𠮷野家 \U0001f1fa\U0001f1e6",
    "zero\u200bwidth soft\u00adhyphen join\u200der no\u00a0break \ufeffbom a\u2019b \ue000 \ufffd \U0010ffff",
]


# Line ends and white space of every kind; then tokens of every kind.
LINES = [
    "One  line\r\n\r\n\tand\tanother\nof it \n \n\nEND",
    "a\vb\fc\rd\x85e\u2028f\u2029g\n\u3000\n\u200bh\u00a0\u00a0i\n\r",
    "Same\nsame\nSame \n\nSame",
]
CODE = [
    "int main(void) { return x1 + 0x1e+5 - 1e+5f / .5; } // end\n",
    "#include <stdio.h>\n# include\n#define F(a) a##b\n#if defined F\n#endif // F\n#endifx\nint i;",
    "s = r'\\'' + R\"d(a)\\\"b)d\" + u8\"\u00e9\" + L'x' + f\"\"\"a\n\"b\"\"\" + `q\nr` + \"no end\n"
        "t = 'a\\\nb' # of\n'",
    "vector<vector<int>> v; a >>= b >>> c <=> d; p->q::r ... x ?? y ?. z ** w := @f \\\n!== === => \\ 1'000'f 0x1p-3",
    "def \u00e9t\u00e9(self, \u65e5\u672c: None)\u3000-> True:\n    '''doc'''\n"
        "    return self if not x else lambda: y\n/* no end",
]


def golden_shingles():
    yield "# unit\tk\ttext or bytes in hex\tshingle hashes in hex, in order, by commas; tools/golden.py"
    for text in TEXTS:
        raw = text.encode("utf-8")
        for unit, ks in (("word", (1, 2, 3, 64)), ("char", (1, 5, 64)), ("byte", (1, 8, 64))):
            for k in ks:
                if unit != "word" and len(raw) > 400 and k != 5:
                    continue
                hashes = oracle.shingle_hashes(raw if unit == "byte" else text, k, unit)
                yield shingles_line(unit, k, raw, hashes)
    for unit, texts in (("line", LINES), ("paragraph", LINES), ("code", CODE)):
        for text in [TEXTS[0], TEXTS[3]] + texts:
            for k in (1, 2, 5):
                yield shingles_line(unit, k, text.encode("utf-8"), oracle.shingle_hashes(text, k, unit))


def shingles_line(unit, k, raw, hashes):
    return "%s\t%d\t%s\t%s" % (unit, k, raw.hex(), ",".join("%016x" % h for h in hashes))


def golden_documents():
    yield "# unit\tk\tnum_perm\tbits\tseed\ttext or bytes in hex\ttext form\twire form in hex; tools/golden.py"
    some = {"line": LINES[0], "paragraph": LINES[0], "code": CODE[0]}
    for unit in ("word", "char", "byte", "line", "paragraph", "code"):
        text = some.get(unit, TEXTS[3])
        for doc, k, L, bits, seed in (
                (text, 3, 128, 32, 0), (text, 1, 16, 8, -1), (text, 64, 17, 16, 42), ("", 2, 16, 32, 7)):
            raw = doc.encode("utf-8")
            given = raw if unit == "byte" else doc
            forms = (oracle.to_minhash(given, k, unit, L, bits, seed),
                     oracle.minhash_wire(given, k, unit, L, bits, seed).hex())
            yield "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s" % ((unit, k, L, bits, seed, raw.hex()) + forms)


def golden_minhash():
    yield ("# num_perm\tbits\tseed\telements in hex by commas, or n..m (all integers)\tcomponents in hex by commas; "
           "tools/golden.py")
    some = oracle.shingle_hashes(TEXTS[3], 3)
    sets = [[], [0], [1], [oracle.M64], [1 << 63], [0, 1], some, some[:2] + some[:2]]
    cases = [(s, ",".join("%016x" % x for x in s)) for s in sets]
    cases += [(range(n), "0..%d" % (n - 1)) for n in (100, 1000, 20000)]
    for elements, name in cases:
        for num_perm in (16, 25, 100, 128, 4096):
            if num_perm == 4096 and len(elements) not in (1, 7, 20000):
                continue
            for bits in (32, 16, 8):
                if bits == 8 and not elements:
                    continue  # the empty set has no components at all; 8 bits have no mark for it
                for seed in (0, 42, -1, -(1 << 63)):
                    if seed not in (0, -1) and num_perm != 128 or (num_perm == 4096 and (seed or bits == 8)):
                        continue
                    width = bits // 4
                    c = oracle.components(elements, num_perm, bits, seed)
                    yield "%d\t%d\t%d\t%s\t%s" % (num_perm, bits, seed, name, ",".join("%0*x" % (width, v) for v in c))


def golden_weighted():
    yield "# num_perm\tbits\tseed\telements hash:units in hex by commas\tcomponents in hex by commas; tools/golden.py"
    one = 1 << 60
    sets = [
        [(1, one)],
        [(0, 1)],
        [(oracle.M64, 3)],
        [(5, (1 << 100)), (6, 1)],
        [(7, (1 << 128) - 1)],
        [(8, (1 << 127) + (1 << 70) + 5), (9, 1 << 64), (10, (1 << 65) - 1)],
        [(x, one * 3 // 2) for x in range(10)] + [(3, one // 3), (4, 0)],
        [(oracle.mix64(x), oracle.mix64(x + 999) >> oracle.mix64(x) % 60) for x in range(40)],
        [(oracle.mix64(x), one // (x + 1)) for x in range(400)],
    ]
    for elements in sets:
        name = ",".join("%x:%x" % e for e in elements)
        for num_perm, bits, seed in ((16, 32, 0), (16, 32, -1), (25, 8, 0), (128, 32, 42), (128, 16, 0)):
            if len(elements) > 100 and bits != 32:
                continue
            c = oracle.weighted_components(elements, num_perm, bits, seed)
            yield "%d\t%d\t%d\t%s\t%s" % (num_perm, bits, seed, name, ",".join("%0*x" % (bits // 4, v) for v in c))


def main():
    ok = True
    files = (
        ("golden_shingles.tsv", golden_shingles()),
        ("golden_minhash.tsv", golden_minhash()),
        ("golden_weighted.tsv", golden_weighted()),
        ("golden_documents.tsv", golden_documents()),
    )
    for name, lines in files:
        text = "".join(line + "\n" for line in lines)
        path = os.path.join(DATA, name)
        if sys.argv[1:] == ["--check"]:
            same = os.path.exists(path) and open(path, encoding="ascii").read() == text
            print("%s %s" % ("ok" if same else "differs", name))
            ok = ok and same
        else:
            with open(path, "w", encoding="ascii") as out:
                out.write(text)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
