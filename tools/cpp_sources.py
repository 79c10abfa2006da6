"""The C++ sources as libclang reads them, with the flags of the Makefile: for two_worlds.py, check_sizes.py and
dead_includes.py.

Needs libclang and its Python (Debian: python3-clang). A precompiled header (src/pch) makes reading three times as fast
where a clang++ of libclang's version is found; without one the same is found, later.

A check is a module with:
    WHAT                    what holds when it finds nothing
    look(unit) -> facts     of one source and the headers that it includes; in a process of its own
    judge(facts, root)      of all sources: the mistakes, each "FILE:LINE: what", and how many things were looked at"""
import glob
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile

import clang.cindex
from clang.cindex import CursorKind

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT_FLAG = re.compile(r"-(std=|I|D|U)")
TWO_WORD_FLAGS = ("-isystem", "-I", "-D")
KEEP_GOING = 0x200  # CXTranslationUnit_KeepGoing: CUDA's headers, say, are not everywhere
# The header of src/pch for each folder of the sources.
PRECOMPILED = {"src/pg/": "pg", "src/core/": "core", "src/offload/": "core"}

FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
             CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE}


def functions_in(cursor):
    """The functions with a body that stand in a declaration."""
    if cursor.kind in FUNCTIONS:
        if cursor.is_definition():
            yield cursor
        return
    for child in cursor.get_children():
        if child.kind.is_declaration() or child.kind == CursorKind.LINKAGE_SPEC or child.kind.is_unexposed():
            yield from functions_in(child)


def find_template(cursor):
    """The template that a declaration is an instance of, or None."""
    return clang.cindex.conf.lib.clang_getSpecializedCursorTemplate(cursor)


def is_error(said):
    return said.severity >= clang.cindex.Diagnostic.Error


def is_of_postgresql(path):
    """A header of the server."""
    return "/server/" in path or "/postgresql/internal/" in path


class Unit:
    """A source that was read. Files are named from the root; those that are not ours have their whole name."""

    def __init__(self, source, root, parsed, skipped, seen):
        self.source = source
        self.root = root
        self.parsed = parsed
        self.skipped = skipped  # top-level declarations that come from a precompiled header
        self.names = {}
        self.seen = seen        # {check: headers of ours that this process has looked at}

    def cursor_file(self, cursor):
        file = cursor.location.file
        return self.short_name(file.name) if file else None

    def short_name(self, path):
        if path not in self.names:
            self.names[path] = self.name_from_root(path)
        return self.names[path]

    def name_from_root(self, path):
        path = os.path.normpath(os.path.join(self.root, path))
        return path[len(self.root) + 1:] if path.startswith(self.root + os.sep) else path

    def tops(self, check):
        """(file, cursor) of what stands at the top of our files; a header's once a process."""
        seen = self.seen.setdefault(check, set())
        now = set()
        for cursor in list(self.parsed.cursor.get_children())[self.skipped:]:
            file = self.cursor_file(cursor)
            if file and not os.path.isabs(file) and file not in seen:
                now.add(file)
                yield file, cursor
        seen.update(now)


def read_text(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def kept_flags(command):
    """The arguments of the compiler that decide what a source means."""
    kept, words = [], command.split()
    for i, word in enumerate(words):
        if word in TWO_WORD_FLAGS:
            kept += [word, words[i + 1].replace("'", "")]
        elif KEPT_FLAG.match(word) and word not in TWO_WORD_FLAGS:
            kept.append(word.replace("'", ""))
    return kept


def sources_with_flags(root):
    """[(source, flags)]: what make compiles, and the GPU module, whose kernels its tests compile for the host."""
    command = ["make", "-s", "-n", "CUDA=no", "WITH_PCH=no", "CCACHE=", "syntax"]
    if os.environ.get("PG_CONFIG"):
        command.append("PG_CONFIG=" + os.environ["PG_CONFIG"])
    printed = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = [(line.split()[-1], kept_flags(line)) for line in printed.splitlines()
             if line.endswith(".cpp") and "-fsyntax-only" in line]
    found = [(os.path.normpath(source), flags) for source, flags in found]
    for pattern in ("test/gpu/host/*.cpp", "src/gpu/**/*.cu"):
        for name in sorted(glob.glob(pattern, root_dir=root, recursive=True)):
            found.append((name, ["-x", "c++", "-std=c++20", "-Isrc", "-I."]))
    return found


def matching_clang():
    """A clang++ of libclang's version, or None."""
    function = clang.cindex.conf.lib.clang_getClangVersion
    function.restype = clang.cindex._CXString
    version = re.search(r"version (\d+)", clang.cindex._CXString.from_result(function(), None, None)).group(1)
    for name in ("clang++-" + version, "clang++"):
        if shutil.which(name) and ("version %s." % version) in subprocess.run(
                [name, "--version"], stdout=subprocess.PIPE, text=True).stdout:
            return name
    return None


class Reader:
    """Reads sources; one a process."""

    def __init__(self, root, scratch):
        self.root = root
        self.index = clang.cindex.Index.create()
        self.scratch = scratch
        self.seen = {}
        self.compiler = matching_clang()
        self.own_headers = []  # of the compiler: libclang of PyPI comes without
        if self.compiler:
            self.own_headers = ["-resource-dir", subprocess.run(
                [self.compiler, "-print-resource-dir"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()]
        self.headers = {}  # (name, flags) -> (precompiled file or None, its top-level declarations)

    def precompiled(self, source, flags):
        name = next((name for folder, name in PRECOMPILED.items() if source.startswith(folder)), None)
        key = (name, tuple(flags))
        if key not in self.headers:
            self.headers[key] = self.precompile(name, flags) if name else (None, 0)
        return self.headers[key]

    def precompile(self, name, flags):
        header = os.path.join("src", "pch", name + ".h")
        if self.compiler is None or not os.path.exists(os.path.join(self.root, header)):
            return None, 0
        made = os.path.join(self.scratch, "%s-%d-%d.pch" % (name, os.getpid(), len(self.headers)))
        if subprocess.run([self.compiler] + flags + ["-w", "-x", "c++-header", header, "-o", made],
                          cwd=self.root).returncode != 0:
            return None, 0
        nothing = os.path.join(self.scratch, "nothing.cpp")
        empty = self.index.parse(
            nothing, args=self.own_headers + flags + ["-include-pch", made], unsaved_files=[(nothing, "")])
        if any(is_error(said) for said in empty.diagnostics):  # libclang is another one, after all
            return None, 0
        return made, len(list(empty.cursor.get_children()))

    def read(self, source, flags):
        made, skipped = self.precompiled(source, flags)
        args = self.own_headers + flags + ["-w"] + (["-include-pch", made] if made else [])
        parsed = self.index.parse(source, args=args, options=KEEP_GOING)
        if not source.startswith("src/gpu"):
            for said in parsed.diagnostics:
                if is_error(said):
                    raise SystemExit("not ok - clang cannot read %s: %s" % (source, said))
        return Unit(source, self.root, parsed, skipped, self.seen)


def work_on(share, root, scratch, checks, results):
    """A process: its share of the sources, all checks."""
    os.chdir(root)
    reader = Reader(root, scratch)
    facts = {check.__name__: [] for check in checks}
    try:
        for source, flags in share:
            unit = reader.read(source, flags)
            for check in checks:
                facts[check.__name__].append(check.look(unit))
        results.put((facts, None))
    except BaseException as e:
        results.put((None, "%s: %s" % (type(e).__name__, e)))


def collect(checks, root):
    """{name of check: facts of all sources}"""
    sources = sources_with_flags(root)
    processes = max(1, min(os.cpu_count() or 1, len(sources)))
    results = multiprocessing.Queue()
    with tempfile.TemporaryDirectory() as scratch:
        workers = [multiprocessing.Process(
            target=work_on, args=(sources[n::processes], root, scratch, checks, results)) for n in range(processes)]
        for worker in workers:
            worker.start()
        answers = [results.get() for _ in workers]
        for worker in workers:
            worker.join()
    for _, trouble in answers:
        if trouble:
            raise SystemExit("not ok - reading the sources: " + trouble)
    return {check.__name__: [fact for facts, _ in answers for fact in facts[check.__name__]] for check in checks}


def run(checks, root):
    """Prints what the checks find; the exit status."""
    facts = collect(checks, root)
    bad = False
    for check in checks:
        mistakes, count = check.judge(facts[check.__name__], root)
        if count == 0:
            mistakes = ["nothing was looked at"]
        for mistake in mistakes:
            print(mistake)
        bad = bad or bool(mistakes)
        print("%s - %s (%d)%s" % ("not ok" if mistakes else "ok", check.WHAT, count,
                                  ": %d mistakes" % len(mistakes) if mistakes else ""))
    return 1 if bad else 0


def main(*checks):
    sys.exit(run(checks, os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, ".."))))
