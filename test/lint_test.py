#!/usr/bin/env python3
# may be skipped: where none of the tools is installed
"""The checks of ./run lint find what they are for: each passes over a small tree of good files, and fails over the
same tree with one mistake of each kind planted. Needs no server.

    test/lint_test.py     with a Python that has libclang; NEARDUP_RUFF names ruff where it is not in PATH"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TOOLS = os.path.join(ROOT, "tools")
COPIED = [".clang-format", ".clang-tidy", "ruff.toml", "src/pg/.clang-format", "src/core/base", "src/core/work",
          "src/pg/base", "src/pch"]
FLAGS_OF = "src/pg/functions/fn_version.cpp"  # those of src/pg
ROOMS = """| room | what | SQL | may include |
| --- | --- | --- | --- |
| core/base | | | |
| core/work | | | core/base |
| pch | | | pg/base |
| pg/base | | | core/base core/work |
| pg/functions | | | pg/base core/base |
"""

HEAD = """// Of test/lint_test.py.
#include <string>
#include <vector>

#include "core/base/error.h"

#include "pg/base/boundary.h"
#include "pg/base/context.h"

namespace neardup {

"""
END = """
}  // namespace neardup
"""

GOOD = HEAD + """// A frame of PostgreSQL's, and one of the core's below it.
size_t length_of(const char* text) {
  char* copy = pstrdup(text);
  size_t n = 0;
  call_core([&] {
    const std::string kept(copy);
    if (kept.empty()) throw Error(Errc::invalid_text, "nothing");
    n = kept.size();
  });
  pfree(copy);
  return n;
}

Owned<std::string>* owned_text(const char* text) {
  return make_owned<std::string>(CurrentMemoryContext,
                                 [&](PgStop*, PgTempFiles*) { return new std::string(text); });
}
""" + END


def long_function(lines, reason):
    body = "".join("  n += %d;\n" % i for i in range(lines - 4))
    return "%sint sum_of(int a) {\n  int n = a;\n%s  return n;\n}\n" % ("// Long: a list.\n" if reason else "", body)


# Rules that hold, and mistakes, each with the part of its text that must be printed.
BELOW = "below the core"
PLANTED = {
    "a PostgreSQL call beside a std::string":
        (HEAD + """void beside() {
  std::string text("x");
  pfree(pstrdup(text.c_str()));
}
""" + END,
         "beside calls pfree() (line 14) and holds text"),
    "a PostgreSQL call with a temporary std::string":
        (HEAD + """std::string made();
void temporary() { pfree(pstrdup(made().c_str())); }
""" + END,
         "temporary calls pfree() (line 13) and holds a temporary"),
    "call_core() beside a std::vector":
        (HEAD + """void vector_above() {
  std::vector<int> numbers;
  call_core([&] { numbers.push_back(1); });
}
""" + END,
         "vector_above calls call_core() (line 14) and holds numbers"),
    "an ereport() inside call_core()":
        (HEAD + """void inside() {
  call_core([] { ereport(ERROR, (errmsg("inside"))); });
}
""" + END,
         "a lambda in inside calls errfinish() (line 13), " + BELOW),
    "a call inside make_owned() of what calls PostgreSQL":
        (HEAD + """void* asked() { return palloc(1); }
Owned<std::string>* through() {
  return make_owned<std::string>(CurrentMemoryContext, [](PgStop*, PgTempFiles*) {
    asked();
    return new std::string;
  });
}
""" + END,
         "a lambda in through calls asked() (line 15), " + BELOW),
    "a throw in a frame of PostgreSQL's":
        (HEAD + """void thrower() {
  pfree(nullptr);
  throw 1;
}
""" + END,
         "thrower calls pfree() (line 13) and throws"),
    "a catch outside boundary.cpp":
        (HEAD + """int caught() {
  try {
    return std::stoi("1");
  } catch (...) {
    return 0;
  }
}
""" + END,
         "caught catches (line 15)"),
    "a function of 61 lines": (HEAD + long_function(61, False) + END, "sum_of has 61 lines"),
    "a file of 501 lines": (GOOD + "//\n" * (501 - GOOD.count("\n")), "501 lines"),
    "a dead include":
        (GOOD.replace('#include "core/base/error.h"', '#include "core/base/bits.h"\n#include "core/base/error.h"'),
         "nothing of src/core/base/bits.h is used"),
}
NOT_TOO_LONG = {
    "a function of 60 lines": "// Of test/lint_test.py.\n" + long_function(60, False),
    "a file of 500 lines": "// Of test/lint_test.py.\n" + "//\n" * 499,
    "a function of 61 lines with a reason": "// Of test/lint_test.py.\n" + long_function(61, True),
}
TIDY_PLANTED = HEAD + """size_t moved() {
  std::string text("x");
  const std::vector<std::string> taken{std::move(text)};
  return text.size() + taken.size();
}
""" + END


class Tree:
    """A small tree of sources that the tools take for the project."""

    def __init__(self, folder, flags):
        self.folder = folder
        self.flags = flags
        self.sources = ["src/pg/base/boundary.cpp"]
        for path in COPIED:
            self.copy(path)
        self.write("src/README", ROOMS)

    def copy(self, path):
        target = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(os.path.join(ROOT, path)):
            shutil.copytree(os.path.join(ROOT, path), target, ignore=shutil.ignore_patterns("*.o", "*.d", "*.gch"))
        else:
            shutil.copy(os.path.join(ROOT, path), target)

    def write(self, path, text):
        target = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as f:
            f.write(text)

    def add(self, name, text):
        """A source; the file of make that compiles it."""
        path = "src/pg/functions/%s.cpp" % name
        self.write(path, text)
        self.sources.append(path)
        self.write("Makefile", "syntax:\n" + "".join(
            "\tg++ %s -fsyntax-only %s\n" % (" ".join(self.flags), path) for path in self.sources))
        return path

    def run(self, *command):
        """(whether it found nothing, what it printed)"""
        done = subprocess.run(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode == 0, done.stdout

    def tool(self, name):
        return self.run(sys.executable, os.path.join(TOOLS, name), self.folder)


def check(name, holds, why=""):
    print("ok - %s" % name if holds else "not ok - %s: %s" % (name, why))


def passes_and_fails(what, good, bad, text):
    """good and bad: what Tree.run() gave of the good tree and of the one with a mistake; text: what must be said of
    that."""
    check("%s: not found where there is none" % what, good[0], good[1][-1500:])
    check("%s: found" % what, not bad[0] and text in bad[1], bad[1][-1500:])


def libclang(folder):
    try:
        sys.path.insert(0, TOOLS)
        import cpp_sources
    except ImportError:
        print("skip - two worlds, sizes, dead includes, clang-tidy: no libclang")
        return
    flags = next(flags for source, flags in cpp_sources.sources_with_flags(ROOT) if source == FLAGS_OF)
    flags = [flag.replace("-I./src", "-Isrc") for flag in flags if not flag.startswith("-DNEARDUP_VERSION")]
    tree = Tree(os.path.join(folder, "good"), flags)
    tree.add("good", GOOD)
    for n, text in enumerate(NOT_TOO_LONG.values()):
        tree.add("not_too_long_%d" % n, text)
    good = tree.tool("check_cpp.py")
    tree = Tree(os.path.join(folder, "planted"), flags)
    files = {what: tree.add("planted_%d" % n, text) for n, (what, (text, _)) in enumerate(PLANTED.items())}
    tree.write("tools/planted.sh", "# %s\n" % ("x" * 119))
    bad = tree.tool("check_cpp.py")
    mine = [line for line in good[1].splitlines() if "/functions/" in line or line.startswith("not ok")]
    check("the good files have no mistakes", not mine and "ok - " in good[1], good[1][-1500:])
    for what, (_, text) in PLANTED.items():
        said = [line for line in bad[1].splitlines() if line.startswith(files[what] + ":")]
        check("%s: found" % what, not bad[0] and any(text in line for line in said), said or bad[1][-1500:])
    check("a line of a shell script above 120 characters: found",
          "tools/planted.sh:1: 121 characters, above 120" in bad[1], bad[1][-1500:])
    if not shutil.which("clang-tidy"):
        print("skip - clang-tidy: it is not installed")
        return
    tree = Tree(os.path.join(folder, "tidy"), flags)
    tree.add("good", GOOD)
    good = tree.tool("tidy.py")
    tree.add("planted", TIDY_PLANTED)
    passes_and_fails(
        "clang-tidy, a use after a move", good, tree.tool("tidy.py"), "planted.cpp:15: 'text' used after it was moved")


def rooms(folder):
    tree = Tree(os.path.join(folder, "rooms"), [])
    tree.add("good", GOOD)
    tree.write("src/pg/functions/README", "good.cpp")
    good = tree.tool("check_rooms.py")
    tree.write("src/core/base/planted.h", '#include "pg/base/pg.h"\n')
    passes_and_fails(
        "rooms, a forbidden include", good, tree.tool("check_rooms.py"), "core/base may not include pg/base/pg.h")
    tree.write("src/pg/functions/README", "nothing")
    passes_and_fails("rooms, a source that no README names", good, tree.tool("check_rooms.py"),
                     "src/pg/functions/README does not name good")
    tree.write("src/pg/functions/README", "good.cpp late.cpp")
    tree.add("late", '#include "pg/base/pg.h"\n#include "core/base/error.h"\n')
    passes_and_fails(
        "rooms, PostgreSQL before the core", good, tree.tool("check_rooms.py"), "late.cpp includes PostgreSQL")
    tree.write("src/core/base/planted.h", "  switch (kind) {\n    case Kind::set:\n")
    passes_and_fails("rooms, a switch on a kind", good, tree.tool("check_rooms.py"),
                     "src/core/base/planted.h:2: a switch on a kind or a measure")
    tree = Tree(os.path.join(folder, "full"), [])
    tree.add("good", GOOD)
    names = ["source_%d.h" % i for i in range(26)]
    tree.write("src/pg/functions/README", "good.cpp " + " ".join(names))
    for name in names[:25]:
        tree.write("src/pg/functions/" + name, "")
    most = tree.tool("check_rooms.py")
    tree.write("src/pg/functions/" + names[25], "")
    passes_and_fails("rooms, too many sources", most, tree.tool("check_rooms.py"),
                     "src/pg/functions has 27 sources, at most 26")


GUARDED = HEAD + """// relation_open() in a comment, "relation_open(" in a string
const char* said() { return "table_open(oid, NoLock)"; }
Relation opened(Oid oid) {
  return relation_open(oid, AccessShareLock);
}
""" + END


def guards(folder):
    tree = Tree(os.path.join(folder, "guards"), [])
    with open(os.path.join(ROOT, "src/pg/base/GUARDS"), encoding="utf-8") as f:
        rows = [line for line in f if line.startswith("|") and line.split("|")[2].strip().startswith("base/")]
    row = "| relation_open | functions/good.cpp | A reason. |\n"

    def guarded_by(*more):
        tree.write("src/pg/base/GUARDS", "".join(rows) + "".join(more))
        return tree.tool("check_guards.py")

    tree.add("good", GUARDED)
    good = guarded_by(row)
    passes_and_fails("guards, a call without a row", good, guarded_by(),
                     "src/pg/functions/good.cpp:15: relation_open() is called below its guard")
    passes_and_fails(
        "guards, a row without a call", good, guarded_by(row, "| table_open | functions/good.cpp | A reason. |\n"),
        "src/pg/functions/good.cpp does not call table_open")
    passes_and_fails(
        "guards, a row of another file", good, guarded_by(row, "| relation_open | functions/other.cpp | A reason. |\n"),
        "src/pg/functions/other.cpp does not call relation_open")
    passes_and_fails("guards, a row that says nothing", good, guarded_by("| relation_open | functions/good.cpp | |\n"),
                     "does not say why relation_open may be called")
    passes_and_fails("guards, two rows of one call", good, guarded_by(row, row),
                     "relation_open in functions/good.cpp has a row already")
    passes_and_fails(
        "guards, a function that nobody looks for", good,
        guarded_by(row, "| pstrdup | functions/good.cpp | A reason. |\n"), "pstrdup, which is no function of the list")
    tree.add("planted", GUARDED.replace("return relation_open(oid, AccessShareLock)",
                                        "return table_open(\n      oid, NoLock)").replace("opened", "planted"))
    passes_and_fails("guards, a call in another file", good, guarded_by(row),
                     "src/pg/functions/planted.cpp:15: table_open() is called below its guard")


def clang_format(folder):
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    if program is None or "version 14." not in subprocess.run(
            [program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout:
        print("skip - clang-format: no version 14")
        return
    tree = Tree(os.path.join(folder, "format"), [])
    tree.write("src/core/base/sum.cpp",
               '#include "core/base/sum.h"\n\n#include <string>\n\n#include "core/base/bits.h"\n'
                   '\nint sum(int a, int b) { return a + b; }\n')
    tree.write("src/core/base/spaces.cpp", "int sum(int a,int b) { return a+b; }\n")
    tree.write("src/core/base/unsorted.cpp", '#include "core/base/stop.h"\n#include "core/base/bits.h"\n')
    tree.write("src/pg/functions/order.cpp", '#include "pg/values/values.h"\n#include "pg/base/pg.h"\n')  # the author's

    def run(*paths):
        return tree.run(program, "--dry-run", "-Werror", *paths)

    good = run("src/core/base/sum.cpp", "src/pg/functions/order.cpp")
    passes_and_fails("clang-format, spaces", good, run("src/core/base/spaces.cpp"), "spaces.cpp:1:")
    passes_and_fails("clang-format, the order of includes", good, run("src/core/base/unsorted.cpp"), "unsorted.cpp:1:")


def small_tools(folder):
    tree = Tree(os.path.join(folder, "small"), [])
    ruff = shutil.which(os.environ.get("NEARDUP_RUFF", "ruff")) or shutil.which("ruff")
    if ruff:
        tree.write("good.py", 'import os\n\nprint("%s" % os.name)\n')
        good = tree.run(ruff, "check", "--no-cache", "good.py")
        tree.write("planted.py", 'import os\n\nprint("x")\n')
        passes_and_fails(
            "ruff, an import that nothing uses", good, tree.run(ruff, "check", "--no-cache", "planted.py"), "F401")
        tree.write("planted.py", 'print("%s")\n' % ("x " * 60))
        passes_and_fails(
            "ruff, a line above 120 characters", good, tree.run(ruff, "check", "--no-cache", "planted.py"), "E501")
    else:
        print("skip - ruff: it is not installed")
    if shutil.which("shellcheck"):
        tree.write("good.sh", '#!/bin/bash\nrm -f "$1"\n')
        good = tree.run("shellcheck", "good.sh")
        tree.write("planted.sh", "#!/bin/bash\nrm -f $1\n")
        passes_and_fails("shellcheck, a name without quotes", good, tree.run("shellcheck", "planted.sh"), "SC2086")
    else:
        print("skip - shellcheck: it is not installed")
    prose = os.path.join(ROOT, "tools", "check_prose.py")
    for ending, fine, bad in (("md", "The function returns two rows. `goes on with` is code.",
                               "A caller is told of two rows, whoever made them."),
                              ("sql", "-- its kin\nCOMMENT ON TYPE x IS\n  'the user''s rows';",
                               "-- more\nCOMMENT ON TYPE x IS\n  'all_pairs and its kin';"),
                              ("cpp", '// made anew\nerrhint("Create it again.");',
                               '// more\nerrhint("Make it anew.");')):
        tree.write("good." + ending, fine + "\n")
        tree.write("planted." + ending, bad + "\n")
        good, planted = (tree.run("/usr/bin/python3", prose, os.path.join(tree.folder, name + ending))
                         for name in ("good.", "planted."))
        passes_and_fails("prose, a phrase that we do not use: " + ending, good, planted,
                         "planted.%s:%d:" % (ending, bad.count("\n") + 1))
    for ending, mark in (("cpp", "//"), ("sql", "--"), ("py", "#"), ("sh", "#")):
        for bad in ("Of a row that is gone.", "What a reader keeps.", "Whether it is one", "After the page.",
                    "The same with two rows."):
            tree.write("good." + ending, mark + " After the page, the row. True if\n" + mark + " it is one.\n")
            tree.write("planted." + ending, "\n%s %s\n" % (mark, bad))
            good, planted = (tree.run("/usr/bin/python3", prose, os.path.join(tree.folder, name + ending))
                             for name in ("good.", "planted."))
            passes_and_fails("prose, a comment that is no sentence: %s, %s" % (ending, bad), good, planted,
                             "planted.%s:2:" % ending)
    names(tree)
    checks = os.path.join(ROOT, "tools", "check_checks.py")
    fine = (
        'check("x", f(), True)\nequal("x", f(), f())\ncheck("y", a == b and True)\nassert a, "why"\ncheck("z", [*a])\n')
    tree.write("fine.py", fine)
    good = tree.run("/usr/bin/python3", checks, "fine.py")
    for bad in ('check("x", True)', 'check("x", 1, why)', 'check("x", a or "no")', 'check("x", (n > 0 for n in a))',
                'check("x", (a, b))', 'check("x", a == a)', 'check("x", lambda: a)', 'equal("x", a.b, a.b)',
                'equal("x", [], [])', 'assert (a, "why")'):
        tree.write("planted.py", fine + bad + "\n")
        passes_and_fails("checks, one that cannot fail: " + bad, good,
                         tree.run("/usr/bin/python3", checks, "planted.py"), "planted.py:%d:" % (fine.count("\n") + 1))
    if shutil.which("codespell"):
        tree.write("misspelled.md", "The fucntion returns two rows.\n")
        passes_and_fails(
            "spelling", tree.run("codespell", "good.md"), tree.run("codespell", "misspelled.md"), "fucntion")
    else:
        print("skip - codespell: it is not installed")


def names(tree):
    """Functions and constants whose names tools/check_names.py refuses."""
    tool = os.path.join(ROOT, "tools", "check_names.py")
    os.makedirs(os.path.join(tree.folder, "src"), exist_ok=True)
    tree.run("git", "init", "-q")

    def looked_at(text):
        tree.write("src/one.cpp", "constexpr size_t kRow = 8;\nint x = value_of(row);\n" + text)
        tree.write("src/two.h", "constexpr size_t kRow = 8;\nconstexpr int kColumn = 1;\n")
        tree.run("git", "add", "src/one.cpp", "src/two.h")
        return tree.run("/usr/bin/python3", tool, tree.folder)

    good = looked_at("size_t row_bytes(int row);\n")
    for bad in ("size_t bytes_of(int row);\n", "void take_row(int row) {\n", "const Row* Table::of(int row) const {\n",
                "auto name_of = [](int row) { return row; };\n", "constexpr int kColumn = 2;\n"):
        passes_and_fails("names, " + bad.strip(), good, looked_at(bad), "1 do not")


# Values that may fill a placeholder of src/pg/sql/statement.h, and others that may not.
STATEMENT = """#include "pg/sql/statement.h"

namespace neardup {

Sql of(const char* text) { return %s; }

}  // namespace neardup
"""
FILLED = 'sql("SELECT {name}", {{"name", Identifier(text)}})'
UNFILLED = {
    "a string fills no placeholder of a statement": 'sql("SELECT {name}", {{"name", text}})',
    "a statement is a constant": "sql(text)",
    "a string is no statement": "Sql(text)",
}


def statements(folder):
    config, compiler = (os.environ.get("PG_CONFIG") or shutil.which("pg_config"),
                        shutil.which(os.environ.get("CXX", "g++")))
    if not config or not compiler:
        print("skip - statements: there are no g++ and no PostgreSQL headers")
        return
    server = subprocess.run([config, "--includedir-server"], stdout=subprocess.PIPE, text=True).stdout.strip()

    def compiled(expression):
        path = os.path.join(folder, "statement.cpp")
        with open(path, "w", encoding="utf-8") as f:
            f.write(STATEMENT % expression)
        run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I" + os.path.join(ROOT, "src"), "-isystem",
                              server, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.returncode == 0, run.stdout

    good = compiled(FILLED)
    for what, expression in UNFILLED.items():
        passes_and_fails(what, good, compiled(expression), "error")


def main():
    with tempfile.TemporaryDirectory() as folder:
        rooms(folder)
        guards(folder)
        clang_format(folder)
        small_tools(folder)
        statements(folder)
        libclang(folder)


if __name__ == "__main__":
    main()
