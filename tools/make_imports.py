#!/usr/bin/env python3
"""Writes test/data/imports: signatures that other programs make of texts in samples/, and what they say of them.

    tools/make_imports.py        needs datasketch 2, simhash, psycopg (pip),
    ssdeep (apt) and a server with neardup (PG*)

Run again only to add to them: test/t/440_imports.py compares ours with what is committed.
"""
import os
import shutil
import subprocess
import tempfile

import numpy
import psycopg
import simhash
from datasketch import LeanMinHash, MinHash, MinHashLSH, WeightedMinHashGenerator, bBitMinHash

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TO = os.path.join(ROOT, "test", "data", "imports")
NUM_PERM = 64
THRESHOLD = 0.5


def samples():
    """Name and text of the documents compared: each has a relative among them, or none."""
    for folder in ("copies", "en", "headers", "uk", "zh"):
        for name in sorted(os.listdir(os.path.join(ROOT, "samples", folder))):
            path = "%s/%s" % (folder, name)
            with open(os.path.join(ROOT, "samples", path), encoding="utf-8") as f:
                yield path, f.read()


def write(name, head, rows):
    with open(os.path.join(TO, name), "w", encoding="utf-8") as f:
        f.write("# %s; tools/make_imports.py\n" % head)
        for row in rows:
            f.write("\t".join(map(str, row)) + "\n")


def lean_bytes(m, order):
    lean = LeanMinHash(m)
    buffer = bytearray(lean.bytesize(order))
    lean.serialize(buffer, order)
    return bytes(buffer).hex()


def pairs(names):
    return [(a, b) for i, a in enumerate(names) for b in names[i + 1:]]


def datasketch(texts, shingles):
    made = {}
    for scheme in ("affine32", "affine64", "legacy"):
        for name in texts:
            m = MinHash(num_perm=NUM_PERM, scheme=scheme)
            m.update_batch(shingles[name])
            made[scheme, name] = m
    some = [name for name in texts if name.startswith(("en/", "copies/"))]
    values = [
        ("affine32", "values", name, " ".join(map(str, made["affine32", name].hashvalues.tolist()))) for name in texts]
    values += [("legacy", "lean", name, lean_bytes(made["legacy", name], "@")) for name in some]
    few = [name for name in texts if name.startswith("en/")]
    values += [
        ("affine64", "values", name, " ".join(map(str, made["affine64", name].hashvalues.tolist()))) for name in few]
    for order, form in (("@", "lean"), ("<", "lean <")):
        values += [("affine32", form, name, lean_bytes(made["affine32", name], order)) for name in few[:2]]
    values += [("b8", "values", name,
                " ".join(map(str, bBitMinHash(made["affine32", name], 8).hashvalues.tolist()))) for name in few]
    words = sorted({w for name in few for w in texts[name].split()})
    weighted = WeightedMinHashGenerator(len(words), NUM_PERM, seed=1)
    for name in few:
        counts = numpy.array([texts[name].split().count(w) for w in words])
        made["weighted", name] = weighted.minhash(counts)
        values.append(("weighted", "pairs", name,
                       " ".join("%d,%d" % (k, t) for k, t in made["weighted", name].hashvalues.tolist())))
    write("datasketch_values.tsv",
          "program's scheme, form, name, components or bytes in hex: datasketch 2.0.0, word 3, seed 1", values)

    rows = []
    for scheme, names in (("affine32", texts), ("legacy", some), ("affine64", few), ("weighted", few)):
        rows += [(scheme, a, b, repr(float(made[scheme, a].jaccard(made[scheme, b])))) for a, b in pairs(list(names))
                 if made[scheme, a].jaccard(made[scheme, b]) > 0]
    rows += [("b8", a, b, repr(float(bBitMinHash(made["affine32", a], 8).jaccard(bBitMinHash(made["affine32", b], 8)))))
             for a, b in pairs(few)]
    write("datasketch_pairs.tsv", "scheme, two names, datasketch's jaccard; pairs at 0 are left out but for b8", rows)

    for scheme, names in (("affine32", texts), ("legacy", some)):
        lsh = MinHashLSH(threshold=THRESHOLD, num_perm=NUM_PERM)
        for name in names:
            lsh.insert(name, made[scheme, name])
        found = sorted({
            tuple(sorted((name, other))) for name in names for other in lsh.query(made[scheme, name]) if other != name})
        write("datasketch_candidates_%s.tsv" % scheme,
              "MinHashLSH(%s): bands, rows, and below them the pairs that query() gives" % THRESHOLD,
              [(lsh.b, lsh.r)] + found)


def ssdeep(texts):
    with tempfile.TemporaryDirectory() as folder:
        # names that need care, an empty file, a short one, some of several block sizes
        for name, text in texts.items():
            path = os.path.join(folder, "files", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        everything = "".join(texts.values())
        for name, text in (('a "quoted", name.txt', texts["en/bread.txt"]), ("back\\slash.txt", texts["en/clock.txt"]),
                           ("порожній.txt", ""), ("empty.txt", ""), ("short.txt", "short"), ("book-1.txt", everything),
                           ("book-2.txt", everything[3000:]), ("book-3.txt", everything[:9000] + everything[11000:])):
            with open(os.path.join(folder, "files", name), "w", encoding="utf-8") as f:
                f.write(text)

        def run(*args):
            return subprocess.run(
                ("ssdeep", "-s", "-l") + args, cwd=folder, stdout=subprocess.PIPE, check=False).stdout.decode()

        known = run("-r", "files")
        lines = known.splitlines(True)
        known = lines[0] + "".join(sorted(lines[1:]))
        for name, text in (("known.ssdeep", known), ("some.ssdeep", "".join(known.splitlines(True)[:12]))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        shutil.copy(os.path.join(folder, "known.ssdeep"), TO)
        for option, name, args in (("-rd", "ssdeep_d.txt", ("-r", "-d", "files")),
                                   ("-k", "ssdeep_k.txt", ("-k", "known.ssdeep", "some.ssdeep"))):
            with open(os.path.join(TO, name), "w", encoding="utf-8") as f:
                f.write("".join(sorted(run(*args).splitlines(True))))


def main():
    os.makedirs(TO, exist_ok=True)
    texts = dict(samples())
    with psycopg.connect(autocommit=True) as conn:
        conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")
        shingles = {name: [r[0].encode() for r in conn.execute("SELECT DISTINCT shingles(%s)", [text])]
                    for name, text in texts.items()}
    datasketch(texts, shingles)
    ssdeep(texts)
    made = {name: simhash.Simhash(text) for name, text in texts.items()}
    near = [(a, b, made[a].distance(made[b])) for a, b in pairs(list(texts))]
    write("simhash_values.tsv", "name, value: the package simhash 2.1.2, its defaults",
          [(name, m.value) for name, m in made.items()])
    write("simhash_pairs.tsv", "two names, distance; pairs above 20 are left out", [r for r in near if r[2] <= 20])


if __name__ == "__main__":
    main()
