#!/usr/bin/env python3
"""Includes of headers of ours that the file does not use.

    tools/dead_includes.py [ROOT]     ROOT: the folder of the project, this one unless given

An include is dead when the file names nothing that the header declares, and nothing of what only this include brings.
Whether it may include the header is tools/check_rooms.py's question; whether it
includes all that it uses is `make syntax`."""
import functools
import os
import re

import cpp_sources

WHAT = "each include of a header of ours is used"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)(.*)$', re.M)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.S)
# A header may include what those who include it need: `// for: what` on the line of the include.
KEPT = re.compile(r"//\s*for: \S")


# The wrapper around PostgreSQL's headers: used where anything of them is.
UMBRELLA = "src/pg/base/pg.h"

K = cpp_sources.CursorKind
SCOPES = {K.NAMESPACE, K.LINKAGE_SPEC, K.UNEXPOSED_DECL, K.ENUM_DECL}
NAMES_SOMETHING = {kind.value for kind in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.CALL_EXPR, K.TYPE_REF, K.TEMPLATE_REF,
                                           K.MEMBER_REF, K.OVERLOADED_DECL_REF, K.CXX_METHOD, K.FUNCTION_DECL,
                                           K.VAR_DECL, K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE)}

offered_so_far = {}  # {file: names}, of what this process has read


def look(unit):
    """{"uses": {file: files whose declarations it names}, "names": {file: names that it offers}, "includes": {file:
    files}}"""
    tops, uses = {}, {}
    for file, top in unit.tops("includes"):
        tops.setdefault(file, []).append(top)
    names = {file: {name for top in found for name in declared(top)} | defined_macros(unit.root, file)
             for file, found in tops.items()}
    offered_so_far.update(names)
    for file, found in tops.items():
        uses[file] = set()
        words = source_words(unit.root, file)
        # A use by name needs no closer look.
        if any(not offered_so_far.get(header, set()) & words for _, header, _ in includes_in(unit.root, file)):
            for top in found:
                note_uses(unit, top, uses[file], set())
    includes = {}
    for include in unit.parsed.get_includes():
        includes.setdefault(unit.short_name(include.source.name), set()).add(unit.short_name(include.include.name))
    return {"uses": uses, "names": names, "includes": includes}


def declared(cursor):
    """The names that a file can be included for: not those inside a function or a class."""
    if cursor.kind in SCOPES:
        for child in cursor.get_children():
            yield from declared(child)
    if cursor.spelling and cursor.kind != K.NAMESPACE:
        yield cursor.spelling


@functools.cache
def defined_macros(root, file):
    return set(DEFINE.findall(cpp_sources.read_text(root, file)))


@functools.cache
def source_words(root, file):
    text = INCLUDE.sub("", cpp_sources.read_text(root, file))
    if not file.endswith(".h"):  # the comment of a declaration names what it throws, say
        text = COMMENT.sub("", text)
    return set(re.findall(r"\w+", text))


def note_uses(unit, cursor, files, seen):
    if cursor._kind_id in NAMES_SOMETHING:
        for found in (cursor.referenced, cursor.canonical):
            if found is not None and found.hash not in seen:
                seen.add(found.hash)
                for one in (found, cpp_sources.find_template(found)):
                    if one is not None and one.location.file:
                        files.add(unit.short_name(one.location.file.name))
    for child in cursor.get_children():
        note_uses(unit, child, files, seen)


class Tree:
    """The knowledge of all units together."""

    def __init__(self, facts, root):
        self.root = root
        self.uses, self.names, self.includes = {}, {}, {}
        for fact in facts:
            for merged, part in ((self.uses, fact["uses"]), (self.names, fact["names"]),
                                 (self.includes, fact["includes"])):
                for file, values in part.items():
                    merged.setdefault(file, set()).update(values)
        self.reached = functools.cache(self.reach)

    def reach(self, file):
        """All files that including this one brings, with itself."""
        found, waiting = {file}, [file]
        while waiting:
            file = waiting.pop()
            # Clang does not see an include that a precompiled header replaces: the text has it.
            ours = () if os.path.isabs(file) else [header for _, header, _ in includes_in(self.root, file)]
            for header in [*self.includes.get(file, ()), *ours]:
                if header not in found:
                    found.add(header)
                    waiting.append(header)
        return found

    def is_named(self, file, header):
        if header == UMBRELLA and any(cpp_sources.is_of_postgresql(used) for used in self.uses.get(file, ())):
            return True
        return header in self.uses.get(file, ()) or bool(self.names.get(header, set()) & source_words(self.root, file))

    def is_used(self, file, header, others):
        if self.is_named(file, header):
            return True
        elsewhere = set().union(*(self.reached(other) for other in others))
        return any(self.is_named(file, brought) for brought in self.reached(header) - elsewhere)


@functools.cache
def includes_in(root, file):
    """(line, header of ours or None, name, has a reason) of each include."""
    text, includes = cpp_sources.read_text(root, file), []
    for found in INCLUDE.finditer(text):
        name = found.group(1) or found.group(2)
        for folder in ("src", "", os.path.dirname(file)):
            path = os.path.normpath(os.path.join(folder, name))
            if found.group(1) and os.path.isfile(os.path.join(root, path)):
                includes.append((text.count("\n", 0, found.start()) + 1, path, bool(KEPT.search(found.group(3)))))
                break
    return includes


def judge(facts, root):
    tree = Tree(facts, root)
    mistakes, count = [], 0
    for file in sorted(tree.uses):
        if not file.startswith("src/") or file.startswith("src/pch/"):
            continue
        found = includes_in(root, file)
        headers = {header for _, header, _ in found}
        for line, header, has_reason in found:
            count += 1
            others = (tree.includes.get(file, set()) | headers) - {header}
            if not has_reason and not tree.is_used(file, header, others):
                mistakes.append("%s:%d: nothing of %s is used" % (file, line, header))
    return mistakes, count


if __name__ == "__main__":
    import dead_includes
    cpp_sources.main(dead_includes)
