#!/usr/bin/env python3
"""No function above 60 lines and no file of src/ above 500 without a sentence that says why; no line of a shell script
of test/ or tools/ above 120 characters (ruff says so of Python).

    tools/check_sizes.py [ROOT]     ROOT: the folder of the project, this one unless given

The sentence stands in the comment above the function, or in the comment that begins the file: `// Long: reason`. Lines
of a function are counted from the one with its name to its closing brace; a lambda
belongs to the function that it stands in."""
import os

import cpp_sources

WHAT = "functions above 60 lines, and files above 500, say why; lines of shell scripts have at most 120 characters"
MAX_FUNCTION = 60
MAX_FILE = 500
MAX_LINE = 120
REASON = "Long: "


def look(unit):
    """[(file, line, name, lines)] of functions above the limit, and how many there are."""
    found, count = [], 0
    for file, top in unit.tops("sizes"):
        if not file.startswith("src/"):
            continue
        for function in cpp_sources.functions_in(top):
            count += 1
            first, last = function.location.line, function.extent.end.line
            if last - first + 1 > MAX_FUNCTION:
                found.append((file, first, function.extent.start.line, function.spelling, last - first + 1))
    return found, count


def comment_above(lines, first):
    """The comment that ends above line `first`, counted from 1."""
    n = first - 2
    while n >= 0 and lines[n].lstrip().startswith(("template", "static", "extern", "inline", "PG_FUNCTION_INFO")):
        n -= 1
    taken = []
    while n >= 0 and lines[n].lstrip().startswith("//"):
        taken.append(lines[n])
        n -= 1
    return "\n".join(taken)


def comment_of_file(lines):
    taken = []
    for line in lines:
        if not line.startswith("//"):
            break
        taken.append(line)
    return "\n".join(taken)


def files_below(root, top, suffixes):
    """(path, lines of text) of the files with these suffixes."""
    for folder, folders, names in os.walk(os.path.join(root, top)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(suffixes):
                path = os.path.relpath(os.path.join(folder, name), root)
                yield path, cpp_sources.read_text(root, path).splitlines()


def long_lines(root):
    """(path, number, length) of lines of shell scripts above the limit."""
    for top in ("test", "tools"):
        for path, lines in files_below(root, top, (".sh",)):
            for number, line in enumerate(lines, 1):
                if len(line) > MAX_LINE:
                    yield path, number, len(line)


def judge(facts, root):
    mistakes = []
    for file, first, start, name, size in sorted({function for found, _ in facts for function in found}):
        lines = cpp_sources.read_text(root, file).splitlines()
        if REASON not in comment_above(lines, start):
            mistakes.append("%s:%d: %s has %d lines, and no \"// %s...\" above it" % (file, first, name, size, REASON))
    for path, lines in files_below(root, "src", (".cpp", ".h", ".cu")):
        if len(lines) > MAX_FILE and REASON not in comment_of_file(lines):
            mistakes.append(
                "%s:1: %d lines, and no \"// %s...\" in the comment that begins it" % (path, len(lines), REASON))
    for path, number, size in long_lines(root):
        mistakes.append("%s:%d: %d characters, above %d" % (path, number, size, MAX_LINE))
    return mistakes, sum(count for _, count in facts)


if __name__ == "__main__":
    import check_sizes
    cpp_sources.main(check_sizes)
