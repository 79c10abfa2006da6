#!/usr/bin/env python3
"""The wheel in an environment that has nothing else: its import, a signature, its version and licence, and what it says without NumPy."""
import importlib.metadata
import os
import re
import sys

import neardup_core

CONTROL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "neardup.control")
failures = 0


def check(name, good, why=""):
    global failures
    failures += not good
    print("ok - %s" % name if good else "not ok - %s: %s" % (name, why))


def main():
    with open(CONTROL, encoding="utf-8") as f:
        version = re.search(r"^default_version = '(.*)'$", f.read(), re.M).group(1)
    metadata = importlib.metadata.metadata("neardup-core")
    check("the versions are that of neardup.control", {neardup_core.__version__, metadata["Version"]} == {version}, (neardup_core.__version__, metadata["Version"], version))
    check("it depends on nothing", not [r for r in metadata.get_all("Requires-Dist") or [] if "extra ==" not in r], metadata.get_all("Requires-Dist"))
    files = {os.path.basename(str(f)) for f in importlib.metadata.files("neardup-core")}
    check("types and licence are in the wheel", {"py.typed", "__init__.pyi", "LICENSE"} <= files, files)
    check("nothing else is", not [f for f in files if f.endswith((".cpp", ".h", ".txt", ".control"))], files)
    signatures = neardup_core.minhash(["one two three four", "one two three four five"], threads=2)
    check("two texts are signed and compared", 0.3 < neardup_core.jaccard(*signatures) < 1, signatures)
    try:
        import numpy
        print("skip - NumPy %s is here" % numpy.__version__)
    except ImportError:
        try:
            said = neardup_core.minhash("a", result="numpy")
        except ImportError as e:
            said = str(e)
        check("without NumPy", said == "result='numpy' needs NumPy\nHINT:  pip install numpy", said)


main()
sys.exit(1 if failures else 0)
