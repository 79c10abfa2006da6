#!/usr/bin/env python3
"""neardup_core against the test vectors of test/data, with each form of the kernels. Needs no server."""
import csv
import os

import neardup_core as nd
from common import ROOT, check, equal_all, finish, kernel_forms
import samples


def vectors(name):
    with open(os.path.join(ROOT, "test", "data", name), encoding="utf-8", newline="") as f:
        rows = csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row for row in rows if row and not row[0].startswith("#")]


def numbers(text):
    return [int(x, 16) for x in text.split(",") if x]


def main():
    """shingle hashes, ssdeep's digests, and those MinHash vectors whose set is the shingles of a text."""
    shingles = vectors("golden_shingles.tsv")
    texts = {}  # shingle hashes of a text -> the text
    for unit, k, raw, hashes in shingles:
        if (unit, k) == ("word", "3"):
            texts[hashes] = bytes.fromhex(raw).decode()
            words = texts[hashes].split()[:4]
            texts[",".join(hashes.split(",")[:2] * 2)] = " ".join(words)
    minhashes = [row for row in vectors("golden_minhash.tsv") if row[3] in texts]
    digests = samples.digests()
    documents = samples.documents()
    for form in kernel_forms():
        rows = []
        for unit, k, raw, hashes in shingles:
            document = bytes.fromhex(raw)
            got = nd.shingle_hashes(document if unit == "byte" else document.decode(), k=int(k), unit=unit)
            rows.append(("%s %s %.20s" % (unit, k, raw), [h % 2**64 for h in got], numbers(hashes)))
        equal_all("%s: golden shingles" % form, rows)
        equal_all("%s: golden signatures" % form,
                  [(row[:4], nd.minhash(texts[row[3]], num_perm=int(row[0]), bits=int(row[1]), seed=int(row[2]), result="numpy").tolist(), numbers(row[4]))
                   for row in minhashes])
        equal_all("%s: ssdeep's digests of the samples" % form, [(name, nd.ctph(text, result="text"), digests[name]) for name, text in documents])
    check("vectors of texts were found", len(minhashes) > 20, len(minhashes))


finish(main)
