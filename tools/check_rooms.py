#!/usr/bin/env python3
"""Who may include whom: fails at the first include under src/ that the table of src/README does not allow.

    tools/check_rooms.py [ROOT]     ROOT: the folder of the project, this one unless given

Every folder of src/ with sources has a row. A row names the rooms, or single headers, that the room may include besides
itself; "core" stands for all rooms of core. A row without a folder, and a permission that nothing uses, are mistakes,
too: the table says what is true. So is a source that the README of its room does not name. So is a source of src/pg
that meets PostgreSQL's headers before those of the core, which
core/base/error.h refuses without precompiled headers. So is a room with more than MOST_SOURCES sources, and a switch on
a kind of value or a measure: what one is stands in the tables of core/kinds."""
import os
import re
import sys

SOURCES = (".h", ".cpp", ".cu", ".inc")
MOST_SOURCES = 26
WITHOUT_README = {"pch", "pg"}  # src/README says it all
# the header that brings PostgreSQL, and the one that may not come after it
POSTGRESQL, FENCE = "pg/base/pg.h", "core/base/error.h"
# Cases that only a table may tell apart.
DECIDES = re.compile(r"\bcase (?:neardup::)?(?:Kind|Measure)::")
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def read_table(path):
    """{room: what it may include}"""
    rules = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("|") and len(cells) == 4 and cells[0] != "room" and not cells[0].startswith("-"):
                rules[cells[0]] = cells[3].split()
    return rules


def sources(src):
    """(room, path below src) of every source."""
    for folder, folders, names in os.walk(src):
        folders.sort()
        for name in sorted(names):
            if name.endswith(SOURCES):
                room = os.path.relpath(folder, src)
                yield room, os.path.join(room, name)


def includes(src, path):
    """(line, header) of what a source includes of ours."""
    with open(os.path.join(src, path), encoding="utf-8", errors="replace") as f:
        for number, line in enumerate(f, 1):
            found = INCLUDE.match(line)
            if found and os.path.exists(os.path.join(src, found.group(1))):
                yield number, found.group(1)


def allows(may, header):
    room = os.path.dirname(header)
    return room in may or header in may or (room.startswith("core/") and "core" in may)


def unnamed(src, room):
    """Sources of a room that its README does not name."""
    folder = os.path.join(src, room)
    if not os.path.exists(os.path.join(folder, "README")):
        return [] if room in WITHOUT_README else ["src/%s has no README" % room]
    with open(os.path.join(folder, "README"), encoding="utf-8") as f:
        words = set(re.findall(r"\w+", f.read()))
    stems = sorted({name.split(".")[0] for name in os.listdir(folder) if name.endswith(SOURCES)})
    return ["src/%s/README does not name %s" % (room, stem) for stem in stems if stem not in words]


def too_many(src, room):
    """The mistake of a room that has outgrown its limit."""
    count = sum(name.endswith(SOURCES) for name in os.listdir(os.path.join(src, room)))
    if count <= MOST_SOURCES:
        return []
    return ["src/%s has %d sources, at most %d: divide it" % (room, count, MOST_SOURCES)]


def order(src, path, seen):
    """Headers of ours as the compiler meets them, each once: its own includes come before it."""
    for _, header in includes(src, path):
        if header not in seen:
            seen.add(header)
            yield from order(src, header, seen)
            yield header


def comes_late(src, path):
    """True if a source meets PostgreSQL before the core."""
    met = list(order(src, path, set()))
    return POSTGRESQL in met and FENCE in met and met.index(POSTGRESQL) < met.index(FENCE)


def switches(src, path):
    """The mistakes of a source that decides by a kind or a measure."""
    with open(os.path.join(src, path), encoding="utf-8", errors="replace") as f:
        return ["src/%s:%d: a switch on a kind or a measure: ask the tables of core/kinds" % (path, number)
                for number, line in enumerate(f, 1) if DECIDES.search(line)]


def check(root):
    """The mistakes, and the number of includes that were looked at."""
    src = os.path.join(root, "src")
    rules = read_table(os.path.join(src, "README"))
    mistakes, seen, rooms, count = [], set(), set(), 0
    for room, path in sources(src):
        rooms.add(room)
        if path.endswith(".cpp") and comes_late(src, path):
            mistakes.append("src/%s includes PostgreSQL (%s) before the core (%s)" % (path, POSTGRESQL, FENCE))
        mistakes += switches(src, path)
        for number, header in includes(src, path):
            count += 1
            if os.path.dirname(header) == room:
                continue
            seen.update({(room, header), (room, os.path.dirname(header)), (room, header.split("/")[0])})
            if not allows(rules.get(room, []), header):
                mistakes.append("src/%s:%d: %s may not include %s" % (path, number, room, header))
    mistakes += ["src/README: no row for the room %s" % room for room in sorted(rooms - set(rules))]
    mistakes += ["src/README: there is no room %s" % room for room in sorted(set(rules) - rooms)]
    for room in sorted(rooms & set(rules)):
        mistakes += unnamed(src, room) + too_many(src, room)
        mistakes += ["src/README: %s includes nothing of %s" % (room, other) for other in rules[room]
                     if (room, other) not in seen]
    return mistakes, count


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    mistakes, count = check(root)
    for mistake in mistakes:
        print(mistake)
    if count == 0:
        mistakes.append("nothing was looked at")
    print("%s - includes keep to the rooms of src/README (%d includes)%s" % (
        "not ok" if mistakes else "ok", count, ": %d mistakes" % len(mistakes) if mistakes else ""))
    sys.exit(1 if mistakes else 0)


main()
