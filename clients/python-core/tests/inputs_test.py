#!/usr/bin/env python3
"""The arguments that neardup_core takes and refuses, its threads, Python's lock, Ctrl-C, memory."""
import importlib
import os
import subprocess
import sys
import threading
import time
import tracemalloc

import nanoarrow
import numpy as np

import neardup_core as nd
from common import check, equal, equal_all, error_text, finish, random_texts, skip

TEXTS = ["ab cd ef gh", None, "é ü ö ä ß", "", "漢字 かな", "x" * 100 + " y" * 30, None]
SIGNED = [None if text is None else nd.minhash(text) for text in TEXTS]


def optional(*names):
    """The modules that are installed; None in the place of others, of which one line says that they are skipped."""
    modules = []
    for name in names:
        try:
            modules.append(importlib.import_module(name))
        except ImportError:
            modules.append(None)
    missing = [name for name, module in zip(names, modules) if module is None]
    if missing:
        skip("arrays of %s: not installed" % ", ".join(missing))
    return modules


class ArrowOnly:
    """An object that offers an array by the PyCapsule interface, and nothing else."""

    def __init__(self, array):
        self.__arrow_c_array__ = array.__arrow_c_array__


class StreamOnly:
    def __init__(self, stream):
        self.__arrow_c_stream__ = stream.__arrow_c_stream__


class NeedsAnother:
    """A series like one of pandas without pyarrow: its stream of Arrow needs another package, its elements do not."""

    def __arrow_c_stream__(self, schema=None):
        raise ImportError("pyarrow is required")

    def __iter__(self):
        return iter(TEXTS)


def forms_of_texts():
    strings, large = nanoarrow.Array(TEXTS, nanoarrow.string()), nanoarrow.Array(TEXTS, nanoarrow.large_string())
    longer = nanoarrow.c_array(["before", *TEXTS, "after"], nanoarrow.string())
    rows = [("list", TEXTS), ("tuple", tuple(TEXTS)), ("generator", (text for text in TEXTS)), ("a series without pyarrow", NeedsAnother()), ("NumPy objects", np.array(TEXTS, dtype=object)),
            ("Arrow strings", ArrowOnly(strings)), ("Arrow large strings", ArrowOnly(large)), ("Arrow, a slice", ArrowOnly(longer[1:1 + len(TEXTS)])),
            ("Arrow, chunks", StreamOnly(nanoarrow.Array.from_chunks([nanoarrow.Array(part, nanoarrow.string()) for part in (TEXTS[:2], [], TEXTS[2:])])))]
    pyarrow, polars, pandas = optional("pyarrow", "polars", "pandas")
    if pyarrow:
        rows += [("pyarrow string", pyarrow.array(TEXTS)), ("pyarrow large_string", pyarrow.array(TEXTS, pyarrow.large_string())),
                 ("pyarrow string_view", pyarrow.array(TEXTS, pyarrow.string_view())), ("pyarrow chunks", pyarrow.chunked_array([TEXTS[:3], TEXTS[3:]]))]
        raws = [None if text is None else text.encode() for text in TEXTS]
        equal_all("binary arrays", [(str(t), nd.minhash(pyarrow.array(raws, t)), nd.minhash(raws)) for t in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view())])
        equal("an array of nulls", nd.minhash(pyarrow.nulls(3)), [None] * 3)
        for wrong, why in ((pyarrow.array(["a"]).dictionary_encode(), "with a dictionary"), (pyarrow.table({"a": ["x"]}), "an Arrow table")):
            check("refused: " + why, error_text(lambda: nd.minhash(wrong)).startswith("TypeError") and why in error_text(lambda: nd.minhash(wrong)), error_text(lambda: nd.minhash(wrong)))
    if polars:
        rows.append(("polars", polars.Series(TEXTS)))
    if pandas:
        rows += [("pandas objects", pandas.Series(TEXTS, dtype=object)), ("pandas strings", pandas.Series(TEXTS, dtype="string"))]
    equal_all("every form of many texts", [(name, nd.minhash(form), SIGNED) for name, form in rows])
    equal("NumPy's own strings", nd.minhash(np.array(["ab cd ef gh", "é ü ö ä ß"])), [SIGNED[0], SIGNED[2]])
    equal("an error of the caller's own generator", error_text(lambda: nd.minhash(1 + "a" for _ in [1])), error_text(lambda: 1 + "a"))
    equal("also of signatures", error_text(lambda: nd.jaccard((1 + "a" for _ in [1]), SIGNED[0])), error_text(lambda: 1 + "a"))
    equal("nothing", [nd.minhash([]), nd.minhash((), result="numpy").shape, nd.minhash(None), nd.simhash(None), nd.ctph(None), nd.shingles([])],
          [[], (0, 128), None, None, None, []])
    equal("an empty text", [nd.minhash("")[:8].hex(), nd.simhash(""), nd.ctph("", result="text"), nd.shingle_hashes(""), nd.winnow_hashes("")],
          ["0101032000800101", None, "3::", [], []])


def results():
    texts = ["a b c d", "a b c e"]
    for bits, kind in ((32, np.uint32), (16, np.uint16), (8, np.uint8)):
        array = nd.minhash(texts, bits=bits, result="numpy")
        equal("components of %d bits" % bits, [array.shape, array.dtype, array.flags.writeable], [(2, 128), np.dtype(kind), True])
    one = nd.minhash(texts[0], result="numpy")
    equal("one document gives one row", one.tolist(), nd.minhash(texts, result="numpy")[0].tolist())
    simhashes = nd.simhash(texts, result="numpy")
    equal("simhashes in an array", [int(v).to_bytes(8, "big") for v in simhashes], nd.simhash(texts))
    equal("hashes in arrays", [a.tolist() for a in nd.shingle_hashes(texts, result="numpy")], nd.shingle_hashes(texts))
    signatures, written = nd.minhash(texts), nd.minhash(texts, result="text")
    equal("one against many, bytes and text forms", [nd.jaccard(signatures[0], written), nd.jaccard(signatures, written[1]), nd.jaccard(None, written), nd.jaccard([None], [None])],
          [[1.0, nd.jaccard(*signatures)], [nd.jaccard(*signatures), 1.0], [None, None], [None]])
    arrays = nd.minhash([*texts, ""], result="numpy")
    equal("arrays: one against many, empty ones", [nd.jaccard(arrays[0], arrays).tolist(), nd.jaccard(arrays[2], arrays[2])], [[1.0, nd.jaccard(*signatures), 0.0], 0.0])
    equal("hamming of arrays", [nd.hamming(simhashes[0], simhashes).tolist(), int(nd.hamming(simhashes[0], simhashes[1]))], [[0, nd.hamming(*nd.simhash(texts))]] + [nd.hamming(*nd.simhash(texts))])


def refused():
    a = nd.minhash("a b c d")
    array = nd.minhash(["a b c d"] * 2, result="numpy")
    for call, want in (
            (lambda: nd.minhash(5), "TypeError: texts must be a str, bytes, or a sequence of them, and is an int: 5 | HINT:  Lists, tuples"),
            (lambda: nd.minhash(["a", float("nan")]), "TypeError: texts[1] must be str, bytes or None, and is a float: nan | HINT:  A missing text is None."),
            (lambda: nd.minhash(["a", b"b"]), "TypeError: texts[1] is bytes, and those before are str"),
            (lambda: nd.minhash([b"a", None, "b"]), "TypeError: texts[2] is str, and those before are bytes"),
            (lambda: nd.minhash({"a"}), "TypeError: texts must be a str, bytes, or a sequence of them, and is a set: {'a'} | HINT:  The signatures come in the order"),
            (lambda: nd.minhash({"a": 1}), "TypeError: texts must be a str, bytes, or a sequence of them, and is a dict"),
            (lambda: nd.minhash(bytearray(b"a")), "TypeError: texts must be a str, bytes, or a sequence of them, and is a bytearray: bytearray(b'a') | HINT:  Pass bytes"),
            (lambda: nd.minhash([["a"]]), "TypeError: texts[0] must be str, bytes or None, and is a list"),
            (lambda: nd.simhash([b"a"]), "TypeError: texts[0] must be str, and is bytes | HINT:  Decode it"),
            (lambda: nd.minhash(["a", "b\ud800"]), "ValueError: texts[1] has a lone surrogate, U+D800, at index 1 | HINT:  UTF-8 has no surrogates."),
            (lambda: nd.ctph("\udcff"), "ValueError: texts has a lone surrogate, U+DCFF, at index 0"),
            (lambda: nd.minhash("a", k=1.5), "TypeError: k must be an integer, and is a float: 1.5"),
            (lambda: nd.minhash("a", k="3"), "TypeError: k must be an integer, and is a str: '3'"),
            (lambda: nd.minhash("a", seed=2**63), "ValueError: seed must fit 64 bits, and is an int: 9223372036854775808"),
            (lambda: nd.minhash("a", num_perm=2**70), "ValueError: num_perm must fit 64 bits"),
            (lambda: nd.minhash("a", num_perm=4097), "ValueError: num_perm must be between 16 and 4096: 4097"),
            (lambda: nd.minhash([], bits=64), "ValueError: bits must be 8, 16 or 32: 64"),
            (lambda: nd.minhash([], k=0), "ValueError: k must be between 1 and 64: 0"),
            (lambda: nd.simhash([], k=65), "ValueError: k must be between 1 and 64: 65"),
            (lambda: nd.winnow_hashes([], window=10001), "ValueError: window must be between 1 and 10000: 10001"),
            (lambda: nd.minhash("a", unit=3), "TypeError: unit must be a str, and is an int: 3"),
            (lambda: nd.minhash("a", unit="page"), "ValueError: unknown unit \"page\""),
            (lambda: nd.minhash(b"a", unit="word"), "ValueError: unit \"word\" does not apply to bytes | HINT:  Pass the document as str"),
            (lambda: nd.minhash("a", result="array"), "ValueError: unknown result \"array\" | HINT:  Results are 'bytes', 'text', 'numpy'."),
            (lambda: nd.minhash("a", threads=-1), "ValueError: threads must be between 0 and 256: -1"),
            (lambda: nd.minhash(["a", None], result="numpy"), "ValueError: texts[1] is None, and a NumPy array has no place for None"),
            (lambda: nd.simhash(["a", ""], result="numpy"), "ValueError: texts[1] has no shingle, and a NumPy array has no place for None"),
            (lambda: nd.jaccard(a, 5), "TypeError: b must be a signature, a sequence of them or a NumPy array, and is an int: 5"),
            (lambda: nd.jaccard(a, [a, 5]), "TypeError: b[1] must be a signature, as bytes or as its text form, and is an int: 5"),
            (lambda: nd.jaccard(a, b"abc"), "ValueError: invalid minhash signature: 3 bytes are too few"),
            (lambda: nd.jaccard([a], [a, a]), "ValueError: a and b must have the same length: 1 and 2"),
            (lambda: nd.jaccard(array, [a]), "TypeError: a and b must both be contiguous NumPy arrays"),
            (lambda: nd.jaccard(array, array[:, ::2]), "TypeError: a and b must both be contiguous NumPy arrays"),
            (lambda: nd.jaccard(array, array.astype(np.float64)), "TypeError: a and b must both be contiguous NumPy arrays"),
            (lambda: nd.jaccard(array, array[:, :64].copy()), "ValueError: cannot compare signatures made differently | DETAIL:  left: (2, 128) of uint32; right: (2, 64) of uint32"),
            (lambda: nd.jaccard(array, array[:1].repeat(3, axis=0)), "ValueError: a and b must have the same length: 2 and 3"),
            (lambda: nd.hamming(b"1234567", b"12345678"), "ValueError: "),
            (lambda: nd.ctph_score("x", "3::"), "ValueError: "),
            (lambda: nd.minhash(ArrowOnly(nanoarrow.Array([1], nanoarrow.int32()))), "TypeError: texts is an Arrow array of the format \"i\", not of strings")):
        got = error_text(call)
        check("refused: " + want[:60], got.startswith(want), got)


def threads():
    texts = random_texts(3000)
    one = nd.minhash(texts)
    equal_all("threads change nothing", [(str(n), nd.minhash(texts, threads=n), one) for n in (0, 2, 3, 16)])
    calls = [threading.Thread(target=lambda: out.append(nd.minhash(texts, threads=2))) for _ in range(4)]
    out = []
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    check("calls of several threads at once", out == [one] * 4)

    # A list that another thread changes meanwhile: the texts are those at the beginning.
    changing = list(texts)
    thread = threading.Thread(target=lambda: [changing.clear() for _ in range(1000)])
    before = [None]
    call = threading.Thread(target=lambda: before.__setitem__(0, nd.minhash(changing, threads=2)))
    call.start()
    thread.start()
    call.join()
    thread.join()
    check("a list that is emptied meanwhile", before[0] in (one, []), str(before)[:100])


def lock_is_released():
    """Naps of this thread end while another one signs: each needs Python's lock."""
    for size in (1 << 25, 1 << 27):
        text = "some words and others " * (size // 22)
        entered, done = threading.Event(), threading.Event()

        def sign(text=text, entered=entered, done=done):
            entered.set()
            nd.minhash(text, unit="char")
            done.set()

        thread = threading.Thread(target=sign)
        thread.start()
        entered.wait()
        for _ in range(3):
            time.sleep(0.001)
        went_on = not done.is_set()
        thread.join()
        if went_on:
            break
    check("Python's lock is released while texts are signed", went_on)


INTERRUPTED = """
import os, signal, threading, neardup_core
text = "some words and others " * 50_000
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    neardup_core.minhash([text] * 100_000, threads=%d)
    print("it came to its end")
except KeyboardInterrupt:
    print("interrupted")
"""


def interrupts():
    """Far more work than Ctrl-C leaves time for: 110 GB of text."""
    for n in (1, 2):
        r = subprocess.run([sys.executable, "-c", INTERRUPTED % n], capture_output=True, text=True, timeout=120, env=dict(os.environ, PYTHONFAULTHANDLER="1"))
        equal("Ctrl-C ends a call with %d threads" % n, (r.stdout + r.stderr).strip(), "interrupted")


def memory():
    """The memory of a call is given back, after errors too; the texts keep no copies of themselves."""
    text = "é" * 100_000
    size = sys.getsizeof(text)
    nd.minhash([text], threads=2)
    equal("a text keeps no copy in UTF-8", sys.getsizeof(text), size)
    texts = [text, "ab", None] * 30
    array = nanoarrow.Array(["é" * 1000] * 100, nanoarrow.string())

    def use():
        nd.minhash(texts, threads=2)
        nd.minhash(ArrowOnly(array))
        nd.minhash(texts[:2], result="numpy")
        nd.shingle_hashes(texts[:3])
        error_text(lambda: nd.minhash([*texts, "\ud800"]))
        error_text(lambda: nd.minhash([*texts, 5], threads=3))
        error_text(lambda: nd.minhash(texts, result="numpy"))

    use()
    references = [sys.getrefcount(x) for x in (text, texts, array, None)]
    tracemalloc.start()
    use()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        use()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    check("memory is given back", grown < 20_000, "%d bytes more after 20 calls" % grown)
    equal("no reference is kept", [sys.getrefcount(x) for x in (text, texts, array)], references[:3])
    check("nor one to None", abs(sys.getrefcount(None) - references[3]) < 50 or sys.getrefcount(None) == references[3])


def main():
    for section in (forms_of_texts, results, refused, threads, lock_is_released, interrupts, memory):
        section()


finish(main)
