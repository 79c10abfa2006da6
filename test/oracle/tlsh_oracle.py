#!/usr/bin/env python3
"""Compares tlsh_distance() and tlsh_code() with py-tlsh, the reference implementation of TLSH: digests of made-up texts
and of files, and digits drawn at random. py-tlsh (PyPI, 4 or 5) is no part of the project: it is the oracle only. The
server is that of PGHOST and PGDATABASE; nothing is left there.
    tlsh_oracle.py [PAIRS [FILE ...]]       100000 pairs unless said; prints ok or not ok
    tlsh_oracle.py --golden > test/data/golden_tlsh.tsv"""
import random
import subprocess
import sys

try:
    import tlsh
except ImportError:
    print("skip - py-tlsh is not installed")
    sys.exit(0)

WORDS = ["w%d" % (i * 7919 % 1000) for i in range(1000)]
GOLDEN_DIGESTS = 60


def texts(draw, count):
    """Texts of 60 to 4,000 words in families: a first one, and others with more and more words changed."""
    words = []
    for i in range(count):
        if i % 6 == 0:
            words = [draw.choice(WORDS) for _ in range(draw.randrange(60, 4000))]
        else:
            words = list(words)
            for _ in range(1 + len(words) * (i % 6) // 40):
                words[draw.randrange(len(words))] = draw.choice(WORDS)
        yield " ".join(words).encode()


def random_digits(draw):
    return "T1" + "".join(draw.choice("0123456789ABCDEF") for _ in range(70))


def digests(draw, count, files):
    """Digests of texts and files; a third are digits drawn at random, which reach every difference of the header."""
    found = [d for d in (tlsh.hash(t) for t in texts(draw, count)) if d != "TNULL"]
    for name in files:
        with open(name, "rb") as f:
            d = tlsh.hash(f.read())
        if d != "TNULL":
            found.append(d)
    return found + [random_digits(draw) for _ in range(len(found) // 2)]


def golden():
    draw = random.Random(1)
    found = digests(draw, GOLDEN_DIGESTS, [])
    print("# Written by test/oracle/tlsh_oracle.py with py-tlsh %s: two digests, their distance, the distance without "
          "the length" % tlsh.__version__)
    for i, a in enumerate(found):
        for b in (found[max(0, i - 1)], found[draw.randrange(len(found))], random_digits(draw)):
            print("\t".join([a, b[2:].lower() if i % 3 == 0 else b, str(tlsh.diff(a, b)), str(tlsh.diffxlen(a, b))]))


def compare(count, files):
    draw = random.Random(2)
    found = digests(draw, 600, files)
    pairs = [(draw.choice(found), draw.choice(found)) for _ in range(count)]
    lines = "".join("%s\t%s\t%d\t%d\n" % (a, b, tlsh.diff(a, b), tlsh.diffxlen(a, b)) for a, b in pairs)
    script = ("BEGIN;\nCREATE EXTENSION IF NOT EXISTS neardup;\nCREATE TEMP TABLE pairs (a text, b text, full_distance "
              "int, without_length int);\nCOPY pairs FROM STDIN;\n" + lines + "\\.\n"
              "SELECT count(*) FILTER (WHERE tlsh_distance(a, b) <> full_distance OR tlsh_distance(a, b, false) <> "
              "without_length), count(*) FILTER (WHERE length(replace((tlsh_code(a) # tlsh_code(b))::text, '0', '')) "
              "> without_length), count(*) FROM pairs;\nROLLBACK;\n")
    out = subprocess.run(["psql", "-XqAt", "-F", " ", "-v", "ON_ERROR_STOP=1"], input=script, stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    wrong, above, compared = (int(n) for n in out.split())
    for name, bad in (("distances are those of py-tlsh %s" % tlsh.__version__, wrong),
                      ("codes differ in at most as many bits", above)):
        print("%s - %s: %d compared, %d differ" % ("not ok" if bad or compared != count else "ok", name, compared, bad))
    return 1 if wrong or above or compared != count else 0


if sys.argv[1:] == ["--golden"]:
    golden()
    sys.exit(0)
sys.exit(compare(int(sys.argv[1]) if len(sys.argv) > 1 else 100000, sys.argv[2:]))
