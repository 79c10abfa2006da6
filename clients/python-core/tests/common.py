"""The checks of test/t/harness.py, random documents and the forms of the kernels, for every test here."""
import os
import random
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "test", "t"))
from harness import check, equal, equal_all, finish, skip  # noqa: F401  (for the tests)

import neardup_core

LETTERS = ["etaoin shrdlu", "ABCDEFGHIJ xyz_0123456789", "Привіт Ґанок їжак", "漢字かな交じり文。カタカナー", "한국어 문장", "עִבְרִית العَرَبِيَّة", "İIıßẞΣσςǅﬁＦＵⅧ²½",
           "e\u0301\u0308a\u0300 x\u0345", "👩\u200d👩\u200d👧👍🏽☃️𝐀𝐁𐐀", "ไทย ລາວ ភាសា", ".,;:-–—()[] \t\r\n\u00a0\u00ad\u200b\ufeff\ue000\ufffd\U0010ffff"]


def random_text(rng):
    """Words of one or several scripts, punctuation, repeated passages; now and then nothing, or one character."""
    size = rng.choice((0, 1, 2, 5, 20, 80, 80, 300, 300, 900, 5000))
    alphabets = rng.sample(LETTERS, rng.choice((1, 1, 2, 3)))
    words = []
    while sum(map(len, words)) + len(words) < size:
        if words and rng.random() < 0.1:
            words.append(words[rng.randrange(len(words))])
        words.append("".join(rng.choices(rng.choice(alphabets), k=rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 40)))))
    return rng.choice((" ", " ", " ", ", ", "\n", "")).join(words)[:size]


def random_texts(n, seed=41):
    rng = random.Random(seed)
    return [random_text(rng) for _ in range(n)]


def kernel_forms():
    """Selects each form that this machine can run, one after the other; the best one in the end."""
    try:
        for form in ("scalar", "avx2", "avx512", "neon"):
            if neardup_core._core.use_kernels(form):
                yield form
    finally:
        neardup_core._core.use_kernels("auto")


def error_text(call):
    """Type and text of what the call raises, its lines joined by ` | `."""
    try:
        call()
    except Exception as e:
        return "%s: %s" % (type(e).__name__, str(e).replace("\n", " | "))
    return "no error"
