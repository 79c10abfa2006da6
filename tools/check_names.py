#!/usr/bin/python3
"""Names that a reader must decode: `tools/check_names.py [FOLDER]`, that of the checkout unless given.

A function is a verb with its object, or a noun for what it returns: row_bytes(params), not bytes_of(params);
read_profile(), not take_profile() or profile_of(). A constant of src has one value in all files, so its name says which
thing it measures: kWindowBatch, not one more kBatch. Prints file:line and the name; the exit status is 1 where it finds
one."""
import collections
import os
import re
import sys

from comments import known_files

CPP = (".h", ".cpp", ".cu", ".cuh")
# A declaration: a type, then the name; in a call the name follows an operator, a bracket or a word of these.
NOT_TYPES = r"(?:return|else|case|co_return|throw|new|delete|and|or|not)\b"
OF = r"(?:\w+_of|of|of_\w+|told\w*|take|take_\w+|taken_\w+)"
DECLARED = re.compile(r"^[ \t]*(?!%s)(?:[\w:<>,*&\[\]]+[ \t*&]+)+(?:\w+::)*(?P<name>%s)\(" % (NOT_TYPES, OF), re.M)
LAMBDA = re.compile(r"\b(?:auto|const auto) (?P<name>%s) = \[" % OF)
DEFINED = re.compile(r"^[ \t]*(?:async )?def (?P<name>_*%s)\(" % OF, re.M)
# One that is static and indented is a member: the name of its class says more.
CONSTANT = re.compile(r"^(?![ \t]+static\b).*?\bconstexpr\s+[\w:<>, *]+?\s\*?(k[A-Z]\w*)(?:\[\w*\])?\s*(?:=|(?=\{))\s*"
                      r"([^;]+);", re.M)


def line_at(text, place):
    return text.count("\n", 0, place) + 1


def function_names(path, text):
    for pattern in (DEFINED,) if path.endswith(".py") else (DECLARED, LAMBDA):
        for m in pattern.finditer(text):
            yield "%s:%d: %s()" % (path, line_at(text, m.start("name")), m.group("name"))


def two_values(values):
    """values: {name: {(value, file)}}. A file may give a constant two values, one of them behind #if."""
    for name, places in sorted(values.items()):
        files = {f for _, f in places}
        if len({v for v, _ in places}) > 1 and len(files) > 1:
            yield "%s has %d values: %s" % (name, len({v for v, _ in places}), ", ".join(sorted(files)))


def main(folder):
    os.chdir(folder)
    found, values, paths = [], collections.defaultdict(set), known_files(folder, CPP + (".py",))
    if paths is None:
        print("skip - names: this is no checkout of git")
        return 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found += function_names(path, text)
        if path.startswith("src/"):
            for m in CONSTANT.finditer(text):
                values[m.group(1)].add((" ".join(m.group(2).split()), path))
    found += two_values(values)
    print("\n".join(found + ["%s - names say what they name (%d files)%s" % (
        "not ok" if found else "ok", len(paths), ": %d do not" % len(found) if found else "")]))
    return 1 if found else 0


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..")))
