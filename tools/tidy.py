#!/usr/bin/env python3
"""clang-tidy over src/, with the checks of .clang-tidy.

    tools/tidy.py [ROOT]     ROOT: the folder of the project, this one unless given

Most of its time goes into the headers of the system and of PostgreSQL, once for each source that it is handed. So the
sources of a folder are handed to it as one that includes them all; those that cannot stand in one (two have a function
of the same name, say) go into a second, and so on."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import cpp_sources

ROOT_OF_TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WARNING = re.compile(r"^(/\S+):(\d+):\d+: (?:warning|error): (.*)$", re.M)


def including(sources, root):
    return "".join('#include "%s"\n' % os.path.join(root, source) for source in sources)


class Groups:
    """Sources of a folder that can be read as one."""

    def __init__(self, root, scratch):
        self.root, self.scratch = root, scratch
        self.reader = cpp_sources.Reader(root, scratch)
        self.commands = []  # (sources, file that includes them, flags)

    def add(self, sources, flags):
        while sources:
            made, _ = self.reader.precompiled(sources[0], flags)
            flags_here = flags + (["-include-pch", made] if made else [])
            taken = self.one_by_one(sources, flags_here)
            file = os.path.join(self.scratch, "group-%d.cpp" % len(self.commands))
            with open(file, "w", encoding="utf-8") as f:
                f.write(including(taken, self.root))
            self.commands.append((taken, file, flags_here))
            sources = [source for source in sources if source not in taken]

    def one_by_one(self, sources, flags):
        """Those of the sources that can stand in one file: all but the ones that have errors there. Where the errors
        are in a header, the first half."""
        taken = list(sources)
        while len(taken) > 1:
            apart = self.refused(taken, flags)
            if not apart:
                break
            left = [source for source in taken if source not in apart]
            taken = left[:len(taken) // 2] if len(left) == len(taken) else left or taken[:1]
        return taken

    def refused(self, sources, flags):
        file = os.path.join(self.scratch, "tried.cpp")
        parsed = self.reader.index.parse(file, args=self.reader.own_headers + flags + ["-w", "-ferror-limit=0"],
                                         unsaved_files=[(file, including(sources, self.root))],
                                         options=cpp_sources.KEEP_GOING)
        return {os.path.relpath(said.location.file.name, self.root) for said in parsed.diagnostics
                if cpp_sources.is_error(said) and said.location.file}


def tidy(program, root, command):
    sources, file, flags = command
    done = subprocess.run([program, "--quiet", "--config-file=" + os.path.join(root, ".clang-tidy"), file, "--"]
                              + flags,
                          cwd=root,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = {
        "%s:%s: %s" % (os.path.relpath(path, root), line, what) for path, line, what in WARNING.findall(done.stdout)}
    if done.returncode != 0 and not found:
        found.add("%s: clang-tidy ended with status %d: %s" % (sources[0], done.returncode, done.stderr.strip()[-300:]))
    return found


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT_OF_TOOLS)
    program = shutil.which("clang-tidy")
    if program is None:
        print("skip - clang-tidy: it is not installed")
        return
    os.chdir(root)
    rooms = {}
    for source, flags in cpp_sources.sources_with_flags(root):
        if source.startswith("src/") and source.endswith(".cpp"):
            rooms.setdefault((os.path.dirname(source), tuple(flags)), []).append(source)
    with tempfile.TemporaryDirectory() as scratch:
        groups = Groups(root, scratch)
        for (_, flags), sources in rooms.items():
            groups.add(sources, list(flags))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = sorted(set().union(*pool.map(lambda command: tidy(program, root, command), groups.commands)))
        count = sum(len(sources) for sources, _, _ in groups.commands)
    for mistake in found:
        print(mistake)
    print("%s - clang-tidy finds nothing (%d sources, read as %d)%s" %
          ("not ok" if found or not count else "ok", count, len(groups.commands),
           ": %d mistakes" % len(found) if found else ""))
    sys.exit(1 if found or not count else 0)


if __name__ == "__main__":
    main()
