"""The base of every client's test: the harness of test/t, the package neardup from an environment of PyPI, documents
with known copies."""
import importlib
import os
import sys

# The folder of python -c matters: in the root of the checkout `import neardup` finds neardup.so, the server's library.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "t"))
from harness import *
import oracle as o  # noqa: F401  # for the scripts

PACKAGE = os.path.join(ROOT, "clients", "python")
DOC = ("The ferry to the outer islands leaves the old pier at nine, at noon and at five every day. "
       "Dogs and bicycles travel free.")
NEAR = DOC.replace("five", "six")
FAR = ("The town library is open from ten to six on weekdays and from ten to two on Saturdays. "
       "Readers may borrow ten books.")


def need(*modules):
    """Imports the modules; where one cannot be imported, the script says so and ends."""
    found = []
    for name in modules:
        try:
            found.append(importlib.import_module(name))
        except ImportError as error:
            skip("%s cannot be imported: %s" % (name, error))
            import harness

            harness.ended = True
            sys.exit(0)
    return found if len(found) > 1 else found[0]


def raises(name, error, call, *words):
    """The call raises this error, and its message has the words."""
    try:
        got = call()
    except Exception as e:
        text = str(e)
        return check(
            name, isinstance(e, error) and all(word in text for word in words), "%s: %s" % (type(e).__name__, text))
    return check(name, False, "no error, but %.200r" % (got,))


def url(name, driver):
    """SQLAlchemy's, of a database by a driver."""
    return "postgresql+%s://%s@/%s?host=%s&port=%s" % (
        driver, os.environ.get("PGUSER", ""), name, os.environ.get("PGHOST", ""), os.environ.get("PGPORT", "5432"))


def forms(conn):
    """Values of every kind as the server writes them: (type, text form, binary form)."""
    calls = [("minhash", "to_minhash('%s')" % DOC), ("minhash", "to_minhash('')"),
             ("minhash", "to_minhash('%s', 5, 'char', 64, 16, -7)" % DOC),
             ("minhash", "to_minhash('a b c'::bytea, 2, 25, 8)"), ("minhash", "set_minhash(ARRAY['a', 'b'])"),
             ("minhash", "set_minhash(ARRAY[1, 2]::bigint[], 4096)"),
             *(("minhash", "to_minhash('%s', 2, '%s')" % (DOC.replace(". ", ".\n\n"), unit))
               for unit in ("line", "paragraph", "code")),
             ("minhash", "minhash_import(array(SELECT i * 1000 FROM generate_series(1::bigint, 16) i), 32, 5)"),
             ("minhash", "weighted_minhash('{red,green}', '{1,2.5}', 16)"), ("simhash", "to_simhash('%s')" % DOC),
             ("simhash", "(-1)::bigint::simhash"), ("simhash", "0::bigint::simhash"), ("ctph", "to_ctph('%s')" % DOC),
             ("ctph", "'3::'::ctph"), ("ctph", "ctph_long(repeat('%s', 40), 256)" % DOC),
             ("ctph", "'3221225472:AAAB:c+/'::ctph")]
    for kind, call in calls:
        text, data = conn.execute("SELECT (%s)::text, neardup_internal.%s_send(%s)" % (call, kind, call)).fetchone()
        yield kind, text, bytes(data)
