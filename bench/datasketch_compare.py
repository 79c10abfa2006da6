#!/usr/bin/env python3
"""Errors of jaccard's estimate and of datasketch's, on the same shingles of the same texts, against the exact value, in one run.

    datasketch_compare.py [DOCUMENTS] [SEEDS]     default: 300 of each set, 8

Shingles are neardup's (word, 3), 128 components or permutations of 32 bits. Texts: samples/, and code_versions, text_articles,
law_versions of NEARDUP_DATA where it is set. Needs a server with neardup (PG*). datasketch 2 is not a dependency of the
project: `pip install datasketch psycopg`; without it the script says so and succeeds.
"""
import gzip
import io
import math
import os
import sys

try:
    import psycopg
    from datasketch import MinHash
    import datasketch
except ImportError as e:
    print("skip - %s is not installed" % e.name)
    sys.exit(0)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RANGES = ((0.05, 0.3), (0.3, 0.7), (0.7, 1.0))


def samples():
    folder = os.path.join(ROOT, "samples")
    for parent, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if parent != folder:
                with open(os.path.join(parent, name), encoding="utf-8") as f:
                    yield f.read()


def data_set(name, file):
    """The last column of a file in COPY's text format."""
    path = os.path.join(os.environ.get("NEARDUP_DATA", ""), name, file)
    if not os.environ.get("NEARDUP_DATA") or not os.path.exists(path):
        return None
    texts = []
    with io.TextIOWrapper(gzip.open(path), encoding="utf-8", newline="\n") as f:
        for line in f:
            body = line.rstrip("\n").split("\t")[-1]
            texts.append(body.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\0", "\\"))
    return texts


def theirs(shingles, seed, scheme):
    made = []
    for s in shingles:
        m = MinHash(num_perm=128, seed=seed, scheme=scheme)
        m.update_batch(s)
        made.append(m)
    return made


def compare(conn, name, texts, most, seeds):
    texts = [t for t in dict.fromkeys(texts[:most]) if t]
    shingles = [{r[0].encode() for r in conn.execute("SELECT shingles(%s)", [t.replace("\0", "")])} for t in texts]
    pairs = []
    for i, a in enumerate(shingles):
        for j in range(i):
            shared = len(a & shingles[j])
            if shared and shared / (len(a) + len(shingles[j]) - shared) >= RANGES[0][0]:
                pairs.append((i, j, shared / (len(a) + len(shingles[j]) - shared)))
    errors = {}
    for seed in range(1, seeds + 1):
        conn.execute("CREATE TEMP TABLE doc (n int PRIMARY KEY, sig minhash)")
        for n, t in enumerate(texts):
            conn.execute("INSERT INTO doc VALUES (%s, to_minhash(%s, seed => %s))", [n, t.replace("\0", ""), seed])
        ours = {r[:2]: r[2] for r in conn.execute("SELECT a.n, b.n, jaccard(a.sig, b.sig) FROM doc a JOIN doc b ON a.n > b.n")}
        conn.execute("DROP TABLE doc")
        made = {scheme: theirs(shingles, seed, scheme) for scheme in ("affine32", "legacy")}
        for i, j, exact in pairs:
            part = next(k for k, (low, high) in enumerate(RANGES) if low <= exact <= high)
            for who, estimate in [("neardup", ours[i, j])] + [(k, m[i].jaccard(m[j])) for k, m in made.items()]:
                errors.setdefault((part, who), []).append(estimate - exact)
    theory = {}
    for _, _, exact in pairs:
        part = next(k for k, (low, high) in enumerate(RANGES) if low <= exact <= high)
        theory.setdefault(part, []).append(exact * (1 - exact) / 128)
    for part, (low, high) in enumerate(RANGES):
        if part in theory:
            figures = ["%.4f" % math.sqrt(sum(e * e for e in errors[part, who]) / len(errors[part, who])) for who in ("neardup", "affine32", "legacy")]
            print("| %s, %d texts | %.2f - %.1f | %d | %s | %.4f |" % (name, len(texts), low, high, len(theory[part]), " | ".join(figures),
                                                                math.sqrt(sum(theory[part]) / len(theory[part]))), flush=True)


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    with psycopg.connect(autocommit=True) as conn:
        conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")
        print("root mean square error over %d seeds; datasketch %s" % (seeds, datasketch.__version__))
        print("| texts | exact Jaccard | pairs | neardup | datasketch, affine32 | datasketch, legacy | sqrt(J(1-J)/128) |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        compare(conn, "samples", list(samples()), most, seeds)
        for name, file in (("code_versions", "docs.tsv.gz"), ("text_articles", "articles_2500.tsv.gz"), ("law_versions", "docs.tsv.gz")):
            texts = data_set(name, file)
            if texts is None:
                print("skip - %s: no data set (NEARDUP_DATA)" % name)
            else:
                compare(conn, name, texts, most, seeds)


main()
