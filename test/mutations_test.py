#!/usr/bin/env python3
"""Planted mistakes find their places: tools/mutate.py over small trees of sources that were changed since. Needs no
server."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TOOLS = ("mutate.py", "mutation_copy.py", "mutation_files.py", "mutation_places.py")

HITS = """// Counts hits. What (hits >= need) is for: nothing here.
#include <vector>

namespace neardup {

class Counter : public Base<int> {
 public:
  explicit Counter(int need) : need_{need}, limits_(need) {}
  bool full(const std::vector<int>& hits) const override { return hits.size() >= need_; }

 private:
  int need_ = 0;
};

template <typename T, int n = 3>
bool enough(T hits, T need) {
  const char* brace = "}";  // (hits >= need) {
  const char* raw = R"x(hits >= need; })x";
#ifdef ONE
  if (hits < 0) {
#else
  if (hits <= 0) {
#endif
    return false;
  }
  return hits >= need;
}

bool operator<(const Counter& a, const Counter& b) { return compare(a, b) < 0; }

int worth(int hits, int need) {
  const auto more = [&](int n) { return hits >= need; };
  const int least[] = {need, 1};
  return more(0) ? kind_of( hits, need ) : least[0] + kBase;
}

}  // namespace neardup
"""
SQL = """CREATE FUNCTION half(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN n / 2;
END $$;
CREATE FUNCTION whole(n int) RETURNS int LANGUAGE sql AS 'SELECT 1; /* n / 2 */';
COMMENT ON FUNCTION whole(int) IS 'n / 2';
"""


def check(name, holds, why=""):
    print("ok - %s" % name if holds else "not ok - %s: %s" % (name, why))


class Tree:
    def __init__(self, folder):
        self.folder = folder
        self.write("neardup.control", "default_version = '2'\n")
        self.write("sql/upgrade/neardup--1--2.sql", "-- nothing\n")
        self.write("sql/install/10_half.sql", SQL)
        self.write("src/core/hits.cpp", HITS)
        self.write("test/mutations/README", "")
        os.makedirs(os.path.join(folder, "tools"))
        for name in TOOLS:
            shutil.copy(os.path.join(ROOT, "tools", name), os.path.join(folder, "tools", name))

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def plant(self, edits, *functions):
        """edits: (find, put)."""
        lines = ["planted: a test", "harmless: a test"]
        for number, (find, put) in enumerate(edits):
            lines.append("@ " + (functions[min(number, len(functions) - 1)] if functions else ""))
            lines += ["-" + line for line in find.split("\n")] + ["+" + line for line in put.split("\n")]
        self.write("test/mutations/core.txt", "\n".join(lines) + "\n")

    def run(self, option):
        """(status, output)"""
        run = subprocess.run([sys.executable, "-B", os.path.join(self.folder, "tools", "mutate.py"), option],
                             stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        return run.returncode, run.stdout

    def changed(self):
        """{path: changed text} of the mistake, or the words of why not."""
        script = "import json, mutate; print(json.dumps(mutate.Sources(mutate.ROOT).apply(mutate.mutations()[0])))"
        run = subprocess.run([sys.executable, "-B", "-c", script], cwd=os.path.join(self.folder, "tools"),
                             stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            return run.stderr
        return json.loads(run.stdout)


def finds(tree, what, edits, functions, path, text):
    tree.plant(edits, *functions)
    changed = tree.changed()
    check(what, changed == {path: text}, changed)


def refuses(tree, what, edits, functions, words, option="--anchors"):
    tree.plant(edits, *functions)
    status, output = tree.run(option)
    check(what, status == 1 and words in output, (status, output))


def in_functions(tree):
    path = "src/core/hits.cpp"
    edit = ("hits >= need", "hits > need")
    enough = HITS.replace("return hits >= need;\n}", "return hits > need;\n}")
    refuses(tree, "a pattern in two functions has no place without one", [edit], [], "2 in " + path)
    finds(tree, "a pattern in two functions, in the one that is named", [edit], ["enough"], path, enough)
    finds(tree, "in a lambda of a function", [edit], ["worth"], path,
          HITS.replace("{ return hits >= need; };", "{ return hits > need; };"))
    refuses(tree, "a pattern twice in its function", [("need", "0")], ["worth"],
            "must stand once in worth, and stands 4 in " + path)
    refuses(tree, "a pattern in no function of that name", [edit], ["worthy"], "stands nowhere")
    size = ("hits.size() >= need_", "hits.size() > need_")
    for function in ("full", "Counter::full"):
        finds(tree, "a method: " + function, [size], [function], path, HITS.replace(*size))
    refuses(tree, "a method of another class", [size], ["Other::full"], "stands nowhere")
    finds(tree, "a constructor with values in braces", [("need_{need}", "need_{0}")], ["Counter::Counter"], path,
          HITS.replace("need_{need}", "need_{0}"))
    finds(tree, "an operator", [("< 0", "> 0")], ["operator<"], path, HITS.replace("b) < 0", "b) > 0"))
    finds(tree, "one function for each of two patterns", [edit, ("more(0)", "more(1)")], ["enough", "worth"], path,
          enough.replace("more(0)", "more(1)"))
    refuses(tree, "no pattern", [("", "0")], ["enough"], "a pattern behind each @")
    refuses(tree, "patterns that overlap", [edit, (">= need", "> need")], ["enough"], "overlap")
    half = ("n / 2", "n / 3")
    finds(tree, "a function of SQL", [half], ["half"], "sql/install/10_half.sql",
          SQL.replace("RETURN n / 2", "RETURN n / 3"))


def rewrapped(tree):
    path = "src/core/hits.cpp"
    edit = ("kind_of(hits, need)", "kind_of(need, hits)")
    expected = HITS.replace("kind_of( hits, need )", edit[1])
    finds(tree, "other spaces", [edit], ["worth"], path, expected)
    finds(tree, "other spaces, without a function", [edit], [], path, expected)
    finds(tree, "other line breaks in the pattern",
          [("  return more(0) ?\n      kind_of(hits,\n  need)", "  return kind_of(0, 0)")], ["worth"], path,
          HITS.replace("return more(0) ? kind_of( hits, need )", "return kind_of(0, 0)"))
    wrapped = HITS.replace("kind_of( hits, need )", "kind_of(\n  hits,  // of all\n  need)")
    tree.write(path, wrapped)
    finds(tree, "line breaks and a comment in the source", [edit], ["worth"], path,
          HITS.replace("kind_of( hits, need )", edit[1]))
    tree.write(path, HITS)
    refuses(tree, "spaces in a string count", [('"} "', '""')], ["enough"], "stands nowhere")


def moved(tree):
    edit = ("hits >= need;\n}", "hits > need;\n}")
    tree.write("src/core/hits.cpp", "// empty\n")
    tree.write("src/pg/base/more.h", HITS)
    finds(tree, "a function in another file", [edit], ["enough"], "src/pg/base/more.h", HITS.replace(*edit))
    tree.plant([edit], "enough")
    check("--moved has nothing to say of it", tree.run("--moved")[0] == 0)
    tree.write("src/pg/base/more.h", HITS.replace("bool enough(", "bool are_enough("))
    refuses(tree, "--moved names the function of another name", [edit], ["enough"],
            "it stands at src/pg/base/more.h:26, in are_enough", "--moved")
    size = ("return hits.size() >= need_;", "return true;")
    tree.write("src/pg/base/more.h", HITS.replace("hits.size() >= need_", "hits.size() >= limit_"))
    refuses(tree, "--moved finds most of a pattern", [size], ["full"],
            "9 of its 10 tokens stand at src/pg/base/more.h:9, in Counter::full", "--moved")
    refuses(
        tree, "--moved says what is gone", [("gone(with, the + wind)", "0")], ["full"], "nowhere any more", "--moved")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder)
        in_functions(tree)
        rewrapped(tree)
        moved(tree)


if __name__ == "__main__":
    main()
