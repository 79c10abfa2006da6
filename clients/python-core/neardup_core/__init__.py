"""Signatures of texts: the same bits as those of the PostgreSQL extension neardup, made where the texts are.

    >>> neardup_core.minhash("one two three four", result="text")
    'mh1:word3:128x32:s0:t1:yj5AgaUuLIA..'

Texts are a str, or a list, a tuple, a NumPy array of objects or an Arrow array of them (anything with __arrow_c_array__ or
__arrow_c_stream__). Several give a list in their order. None stays None. bytes are cut into runs of bytes, as bytea in SQL.
Other threads of Python run while texts are worked on; threads=0 takes all processors.

Names, defaults and errors are those of SQL. Wrong types raise TypeError, wrong values ValueError.
"""

from . import _core

__version__ = _core.__version__
__all__ = ["ctph", "ctph_score", "hamming", "jaccard", "minhash", "shingle_hashes", "shingles", "simhash", "winnow_hashes"]


def minhash(texts, *, k=None, unit=None, num_perm=128, bits=32, seed=0, threads=1, result="bytes"):
    """MinHash signatures of the k-shingles of documents, as to_minhash() of SQL.

    k: 1 to 64; 3 for str, 8 for bytes. unit: 'word', 'char', 'line', 'paragraph' or 'code' for str,
    'byte' for bytes. num_perm: 16 to 4096. bits: 8, 16, 32.
    result: 'bytes', what minhash_send() gives and a column of type minhash receives; 'text', its text form;
    'numpy', an array with a row of num_perm components (uint32, uint16 or uint8) for each document.
    """
    return _core.minhash(texts, k, unit, num_perm, bits, seed, threads, result)


def simhash(texts, *, k=3, unit="word", threads=1, result="bytes"):
    """SimHash of the k-shingles of texts, as to_simhash() of SQL; None for a text without a shingle.

    result: 'bytes', what simhash_send() gives; 'text', 16 hexadecimal digits; 'numpy', an array of uint64.
    """
    return _core.simhash(texts, k, unit, threads, result)


def ctph(texts, *, length=None, threads=1, result="bytes"):
    """Fuzzy digests of documents as ssdeep computes them, as to_ctph() of SQL; with a length from 65 to 1024, as ctph_long().

    A str is digested in UTF-8. result: 'bytes', what ctph_send() gives; 'text', 'blocksize:part1:part2'.
    """
    return _core.ctph(texts, length, threads, result)


def shingles(texts, *, k=3, unit="word", threads=1):
    """The k-shingles of texts, in order and with repetitions, as shingles() of SQL: a list of str for each text."""
    return _core.shingles(texts, k, unit, threads)


def shingle_hashes(texts, *, k=None, unit=None, threads=1, result="list"):
    """64-bit hashes of the k-shingles of documents, in order and with repetitions, as shingle_hashes() of SQL.

    k and unit as minhash(). result: 'list', a list of int for each document; 'numpy', an array of int64.
    """
    return _core.shingle_hashes(texts, k, unit, threads, result)


def winnow_hashes(texts, *, k=None, window=None, unit=None, threads=1, result="list"):
    """Distinct fingerprints of documents, ascending: at least one of k + window - 1 units in a row, as winnow_hashes() of SQL.

    k: 5 for str, 8 for bytes. window: 1 to 10000; 4 for str, 16 for bytes. unit and result as shingle_hashes().
    """
    return _core.winnow_hashes(texts, k, window, unit, threads, result)


def jaccard(a, b):
    """Estimated Jaccard similarity of MinHash signatures, 0 to 1, as jaccard() of SQL.

    a, b: signatures, as bytes or in their text form; sequences of them, compared pair by pair; or NumPy arrays of components.
    One signature is compared with each of the other side.
    """
    return _core.jaccard(a, b)


def hamming(a, b):
    """Number of differing bits of simhashes, 0 to 64, as hamming() of SQL. Arguments as those of jaccard(); arrays of uint64."""
    return _core.hamming(a, b)


def ctph_score(a, b):
    """Score of fuzzy digests as ssdeep computes it, 0 to 100, as ctph_score() of SQL. Arguments as those of jaccard()."""
    return _core.ctph_score(a, b)
