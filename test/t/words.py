"""Word similarity as docs/words.md defines it, slow and simple: places, sentences, vocabulary, triples, information,
similarity.

Independent of the C++ code; the words of a text are those of test/reference/oracle.py. A document is a str or a list
(text[]). """
import collections
import math
import re
import struct
import unicodedata

import oracle

MOST_WORD_BYTES = 1024
UNITS = 1024  # of information: 1/1024 nat
ENDS = set("!?…。！？｡।؟۔‼⁇⁈⁉")
STOPS = set(".．")
PARAGRAPH = re.compile("\n[ \t\r]*\n")
CLOSING = set("\"')]}«»‘’“”‹›〉》」』】〕〗〙〞〟＂＇）］｝｠｣")
SPACES = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
LOWER = set()


def spans(text):
    """(begin, end, folded) of each word; as oracle.words()."""
    out, begin, run, solo = [], 0, [], False
    for i, ch in enumerate(text):
        kind, folded = oracle.classify(ord(ch))
        if kind == "m" and run:
            run.append(chr(folded))
            continue
        if run and (kind in "s-" or solo):
            out.append((begin, i, "".join(run)))
            run = []
        if kind != "-":
            if not run:
                begin, solo = i, kind == "s"
            run.append(chr(folded))
    if run:
        out.append((begin, len(text), "".join(run)))
    return out


def is_lower(ch):
    """A capital folds to it, in a script whose sentences begin with capitals."""
    if not LOWER:
        for first, last, _, delta in oracle.load_unicode():
            LOWER.update(c + delta for c in range(first, last + 1) if delta)
        LOWER.difference_update(range(0x10D0, 0x1100), range(0x13A0, 0x13F6))  # Georgian, Cherokee
    return ord(ch) in LOWER


def sentence_ends(word, gap, following):
    """True if a sentence ends in the text between a word and the one that begins with the letter `following`."""
    if any(c in ENDS for c in gap) or PARAGRAPH.search(gap):
        return True
    for i, c in enumerate(gap):
        if c in STOPS:
            j = i + 1
            while j < len(gap) and gap[j] in CLOSING:
                j += 1
            if j < len(gap) and gap[j] in SPACES:
                return len(word) > 1 and not is_lower(following)
    return False


def kept(word):
    """The folded word, or None where it only keeps its place."""
    if len(word.encode()) > MOST_WORD_BYTES or "_" in word or any(unicodedata.category(c) == "Nd" for c in word):
        return None
    return word


def split_sentences(doc, context="sentence"):
    """The document's sentences, each a list of words, None for a place without a word."""
    if not isinstance(doc, str):
        return [[w if w and len(w.encode()) <= MOST_WORD_BYTES else None for w in doc]]
    out, last = [[]], None
    for begin, end, word in spans(doc):
        if context == "sentence" and last and sentence_ends(doc[last[0]:last[1]], doc[last[1]:begin], doc[begin]):
            out.append([])
        out[-1].append(kept(word))
        last = begin, end
    return out


class Model:
    """words (in the order of the model), frequency, rows: per word {feature: value}, weight; exact_rows in nats, not
    rounded."""

    def __init__(self, docs, vocabulary=100000, window=3, by_position=True, features=None, stopwords=(),
                 context="sentence", discount=0):
        sentences = [s for d in docs if d is not None for s in split_sentences(d, context)]
        frequency = collections.Counter(w for s in sentences for w in s if w is not None)
        stop = set(stopwords)
        self.words = (
            sorted((w for w in frequency if w not in stop), key=lambda w: (-frequency[w], w.encode()))[:vocabulary])
        self.frequency = [frequency[w] for w in self.words]
        self.id = {w: i for i, w in enumerate(self.words)}
        self.places = sum(map(len, sentences))
        cells = collections.Counter()
        for s in sentences:
            ids = [self.id.get(w) for w in s]
            for p, a in enumerate(ids):
                if a is None:
                    continue
                for d in range(1, min(window, len(ids) - 1 - p) + 1):
                    b = ids[p + d]
                    if b is not None:
                        cells[a, d if by_position else 0, b] += 1
                        cells[b, -d if by_position else 0, a] += 1
        self._rows(
            cells, window, by_position, len(self.words) if features is None else features, round(1000 * discount))

    def _rows(self, cells, window, by_position, features, discount):
        all_of, of_word, of_feature = collections.Counter(), collections.Counter(), collections.Counter()
        for (w, r, v), n in cells.items():
            all_of[r] += n
            of_word[w, r] += n
            of_feature[r, v] += n
        position = {r: i for i, r in enumerate([*range(-window, 0), *range(1, window + 1)])}
        self.triples, self.cells = sum(all_of.values()), cells
        self.rows = [{} for _ in self.words]
        self.exact_rows = [{} for _ in self.words]
        for (w, r, v), c in cells.items():
            if v >= features:
                continue
            t, a, b = all_of[r], of_word[w, r], of_feature[r, v]
            if (1000 * c - discount) * t > 1000 * a * b:
                feature = v * 2 * window + position[r] if by_position else v
                nats = math.log((1000 * c - discount) / 1000) + math.log(t) - math.log(a) - math.log(b)
                self.rows[w][feature] = min(max(math.floor(UNITS * nats + 0.5), 1), 32767)
                self.exact_rows[w][feature] = math.log((c - discount / 1000) * t / (a * b))
        self.weight = [sum(row.values()) for row in self.rows]
        self.exact_weight = [math.fsum(row.values()) for row in self.exact_rows]


def similarity(a, b):
    """The similarity of two rows; None where neither has a feature. Works for rows of units, and of nats."""
    both = sum(a.values()) + sum(b.values())
    return sum(a[f] + b[f] for f in a.keys() & b.keys()) / both if both else None


def lists_by_feature(rows):
    lists = collections.defaultdict(list)
    for w, row in enumerate(rows):
        for f, v in row.items():
            lists[f].append((w, v))
    return lists


def similar_to(rows, weight, lists, w):
    """{other word: similarity}, where it is above 0."""
    common = collections.Counter()
    for f, v in rows[w].items():
        for other, u in lists[f]:
            common[other] += v + u
    del common[w]
    return {o: n / (weight[w] + weight[o]) for o, n in common.items()}


def best(words, similar, k):
    """[(word, similarity)], most similar first, equally similar ones by their bytes."""
    order = sorted(similar.items(), key=lambda x: (-x[1], words[x[0]].encode()))
    return [(words[o], s) for o, s in order[:k]]


def word_similarities(docs, k=50, **settings):
    """The rows of the SQL function."""
    return rows_of_model(Model(docs, **settings), k)


def rows_of_model(model, k=50):
    lists = lists_by_feature(model.rows)
    return [(word, other, s, rank + 1) for w, word in enumerate(model.words) if model.rows[w]
            for rank, (other, s) in enumerate(best(model.words, similar_to(model.rows, model.weight, lists, w), k))]


def cosine(a, b):
    """The cosine of two rows."""
    if len(b) < len(a):
        a, b = b, a
    product = sum(v * b[f] for f, v in a.items() if f in b)
    return product / math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values())) if product else 0.0


def decode(stored):
    """The row of a stored model's bytes: {feature: value}."""
    data, p = bytes(stored), 1
    assert data[0] == 1, data[0]

    def number():
        nonlocal p
        n = shift = 0
        while True:
            byte = data[p]
            p += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n
    n, features, at = number(), [], -1
    for _ in range(n):
        if data[p] < 128:  # most of them
            at += data[p] + 1
            p += 1
        else:
            at += number() + 1
        features.append(at)
    return dict(zip(features, struct.unpack("<%dH" % n, data[p:])))


def ranks(values):
    """Ranks from 0, equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for x in order[i:j]:
            out[x] = (i + j - 1) / 2
        i = j
    return out


def spearman(a, b):
    x, y = ranks(a), ranks(b)
    mean = (len(x) - 1) / 2
    xy, xx, yy = (math.fsum((p - mean) * (q - mean) for p, q in zip(*z)) for z in ((x, y), (x, x), (y, y)))
    return xy / math.sqrt(xx * yy) if xx and yy else 0.0


def classes_of_synonyms(rng, classes, members, company, times, words_apart=3):
    """(documents, {word: its class}): every word of a class stands `times` times among `company` words that only the
    class has, each beside others that all classes share."""
    def name(kind, i):
        return kind + "".join("bdfgklmnprstvz"[i // 14 ** j % 14] + "aeiou"[i // 5 ** j % 5] for j in range(4))
    common = [name("co", i) for i in range(50)]
    sentences, of_class = [], {}
    for c in range(classes):
        own = [name("x", c * company + i) for i in range(company)]
        for m in range(members):
            word = name("q", c * members + m)
            of_class[word] = c
            for _ in range(times):
                around = [rng.choice(own) if rng.random() < 0.7 else rng.choice(common) for _ in range(2 * words_apart)]
                sentences.append(" ".join(around[:words_apart] + [word] + around[words_apart:]) + ".")
    rng.shuffle(sentences)
    return [" ".join(s.capitalize() for s in sentences[i:i + 20]) for i in range(0, len(sentences), 20)], of_class


def average_precision(found, relevant):
    """The average precision of a ranking (words) for a set of relevant words."""
    hits, total = 0, 0.0
    for i, word in enumerate(found):
        if word in relevant:
            hits += 1
            total += hits / (i + 1)
    return total / len(relevant)
