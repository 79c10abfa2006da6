"""The texts in samples/ as documents, and the results of the slow reference for them: they replace the data sets if
these are missing. tools/sample_truth.cpp wrote what is read here, and describes the documents."""
from harness import *

IN_A_ROW = 12


def documents():
    """[(id, text)]"""
    paths = []
    for folder, _, files in os.walk(os.path.join(ROOT, "samples")):
        paths += [os.path.join(folder, f) for f in files if f != "README"]
    texts = []
    for path in sorted(paths):
        with open(path, encoding="utf-8", newline="") as f:
            texts.append(f.read())
    rows = ["".join((texts + texts)[i:i + IN_A_ROW]) for i in range(len(texts))]
    return [("text_%d" % i, t) for i, t in enumerate(texts)] + [("row_%d" % i, t) for i, t in enumerate(rows)]


def rows():
    with open(os.path.join(ROOT, "test", "data", "samples.tsv"), encoding="ascii") as f:
        return [line.rstrip("\n").split("\t") for line in f]


def pairs():
    """[(id, id, edit distance, Jaccard of 3 words, of 5 characters, score of the digests)]: all near ones, and some
    others."""
    compared = [(a, *other.split()) for a, _, *others in rows() for other in others]
    return [(a, b, int(lev), float(words), float(chars), int(score)) for a, b, lev, words, chars, score in compared]


def digests():
    return {a: digest for a, digest, *_ in rows()}


def fill(conn, table, columns, rows):
    """Makes the table anew."""
    conn.execute("DROP TABLE IF EXISTS %s; CREATE TABLE %s (%s)" % (table, table, columns))
    copy_rows(conn, table, rows)
    conn.execute("ANALYZE %s" % table)
