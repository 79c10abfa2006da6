#!/usr/bin/env python3
"""The tests of a room of src/: those that the paragraph "Tests:" of its README names.

    tools/room_tests.py ROOM     their names, "KIND NAME" a line
    tools/room_tests.py --check  every README names tests that there are, and every unit test and topic has a room

The paragraph: "Tests: KIND NAME ..; KIND NAME ..." Kinds: unit (files of test/unit), regress (sql), isolation
(test/isolation/specs), script (numbers of test/t), loader (test/cli)."""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FILES = {"unit": "test/unit/%s.cpp", "regress": "sql/%s.sql", "isolation": "test/isolation/specs/%s.spec",
         "script": "test/t/%s_*", "loader": "test/cli/%s_test.py"}
HAVE_A_ROOM = {"unit": "test/unit/*_test.cpp", "regress": "sql/*.sql", "isolation": "test/isolation/specs/*.spec"}
WITHOUT_TESTS = {"."}  # src/README


def rooms():
    """Folders with a README, below src."""
    found = glob.glob(os.path.join(ROOT, "src", "**", "README"), recursive=True)
    return sorted({os.path.relpath(os.path.dirname(path), os.path.join(ROOT, "src")) for path in found} - WITHOUT_TESTS)


def read_tests(room):
    """[(kind, name)], or None where the README has no such paragraph."""
    with open(os.path.join(ROOT, "src", room, "README"), encoding="utf-8") as f:
        paragraph = re.search(r"^Tests: ((?:.+\n)+)", f.read(), re.M)
    if not paragraph:
        return None
    kinds = [part.split() for part in paragraph.group(1).strip().rstrip(".").split(";")]
    return [(kind, name) for kind, *names in kinds for name in names]


def mistakes():
    named = set()
    for room in rooms():
        tests = read_tests(room)
        if not tests:
            yield "src/%s/README has no paragraph of tests" % room
            continue
        for kind, name in tests:
            if kind not in FILES:
                yield "src/%s/README: there is no kind of test %s" % (room, kind)
            elif not glob.glob(os.path.join(ROOT, FILES[kind] % name)):
                yield "src/%s/README: there is no test %s" % (room, FILES[kind] % name)
            named.add((kind, name))
    for kind, pattern in HAVE_A_ROOM.items():
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            name = os.path.splitext(os.path.basename(path))[0]
            if (kind, name) not in named and "--" not in name:  # not the SQL of the extension
                yield "%s: no README of a room of src names it" % os.path.relpath(path, ROOT)


def main():
    if sys.argv[1:] == ["--check"]:
        bad = list(mistakes())
        print("\n".join(bad + ["%s - rooms name their tests" % ("not ok" if bad else "ok")]))
        sys.exit(1 if bad else 0)
    room = sys.argv[1].rstrip("/").removeprefix("src/")
    if room not in rooms():
        sys.exit("src/README has no room %s" % room)
    for kind, name in read_tests(room) or []:
        print(kind, name)


main()
