#!/usr/bin/python3
"""Every sql block of README.md and of docs/*.md, pasted into psql in order in a fresh database: statements must run,
and statements that the page calls refused must be refused. The output that a page shows after a block is what psql
prints. A page that is not listed here fails, and so does a broken link between pages."""
import difflib
import os
import re

from harness import ROOT, check, database, equal, finish, skip, tool

QUERY = "'the body of article number 7 about ferries and islands and what else there is to say'"
ROWS = """
INSERT INTO articles SELECT i, i % 3, timestamptz '2026-01-01' + i * interval '1 hour', CASE WHEN i % 5 > 0
  THEN 'title ' || i / 4 END,
  'the body of article number ' || i / 3 || ' about ferries and islands and what else there is to say' || CASE i % 3
    WHEN 1 THEN ' again' ELSE '' END FROM generate_series(1, 60) i;
CREATE TABLE incoming AS SELECT id, body FROM articles WHERE id < 10;
CREATE TABLE pages AS SELECT id, title AS path, body FROM articles;
CREATE TABLE documents AS SELECT gen_random_uuid() AS id, to_minhash(body) AS sig FROM articles;
"""

# Pages over the README's table of articles, each in a database of its own; those that need its column sig, too; and
# those that bring their own tables. A block that cannot run here has a line before it
# that says why: <!-- not run: it needs a GPU -->
SHARING = ("docs/intake.md", "docs/jobs.md", "docs/operating.md", "docs/recipes.md")
SIGNED = ("docs/choosing.md",)
ALONE = ("docs/clients.md", "docs/distributed.md", "docs/gpu.md", "docs/i_match.md", "docs/imports.md",
         "docs/install.md", "docs/news.md", "docs/partial_copies.md", "docs/records.md", "docs/repeated_passages.md",
         "docs/reference.md", "docs/security.md", "docs/start.md", "docs/weighted.md", "docs/words.md")
# its outputs are compared as they are, to the last line; those of other pages without what pages leave out
PRINTED = "README.md"
WITHOUT_SQL = ("docs/algorithms.md", "docs/command_line.md", "docs/format.md", "docs/internals.md", "docs/limits.md",
               "docs/loader.md", "docs/versions.md", "docs/which_tool.md")
ELSEWHERE = ("docs/citus.md",)  # 420_citus.py
SIGNATURES = "ALTER TABLE articles ADD sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED;"

# Pages with links, beside those above.
LINKING = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "bench/results.md", "clients/python/README.md")


def psql(name, text, stop=True):
    r = tool("psql", "-X", "-q", "-v", "ON_ERROR_STOP=%d" % stop, "-d", name, input=text)
    return r.returncode, r.stdout + r.stderr


def read_page(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def sql_blocks(path):
    """The sql blocks, each with why it is not run, or an empty string, and with the output that the page shows right
    after it: one behind an empty line is of other data."""
    return [(block, why, shown) for why, block, shown in re.findall(
        r"(?:<!-- not run: (.*?) -->\n)?```sql\n(.*?)```(?:\n```(?:text)?\n(.*?)```)?", read_page(path), re.S)]


def filled_lines(output):
    """Without empty lines and numbers of rows, which pages leave out."""
    return [line.rstrip() for line in output.splitlines()
            if line.strip() and not re.fullmatch(r"\(\d+ rows?\)", line.strip())]


def shows(title, shown, out):
    """The output that a page shows after a block is the end of what psql prints; what the first statements print may be
    missing."""
    want, got = filled_lines(shown), filled_lines(out)
    got = got[-len(want):]
    check("%s: prints what the page shows" % title, got == want,
          " / ".join(list(difflib.unified_diff(want, got, "page", "psql", lineterm="", n=0))[2:]))


def refused(path, n, name, text):
    """A block that shows errors makes those and no others; the rest of it runs."""
    said = re.findall(r"-- ERROR: +(.*)", text)
    _, out = psql(name, text, stop=False)
    if "this build of neardup cannot" in out:
        skip("%s, block %d: a library is missing" % (path, n))
        return
    equal("%s, block %d: the errors that it shows" % (path, n), re.findall(r"ERROR: +(.*)", out), said)


def paste(path, table):
    with database("_" + re.sub("[^a-z]", "", path.lower()), extension=False) as name:
        status, out = psql(name, "CREATE EXTENSION neardup;" + (table + ROWS if path in SHARING + SIGNED else "") +
                           (SIGNATURES if path in SIGNED else ""))
        check("%s: the table of the README" % path, status == 0, out)
        for n, (block, why, shown) in enumerate(sql_blocks(path)):
            # The table is there already; 410_fdw.py runs the blocks for several servers.
            if block.strip() == table or block.startswith("-- on "):
                continue
            title = "%s, block %d: %s" % (path, n, block.strip().splitlines()[0][:60])
            if why:
                print("# %s is not run: %s" % (title, why))
                continue
            text = block.replace("$1", QUERY).replace("CREATE EXTENSION neardup;", "")
            if "DELETE FROM articles" in text:
                text = "BEGIN;" + text + "ROLLBACK;"
            if "-- ERROR" in text:
                refused(path, n, name, text)
                continue
            status, out = psql(name, text)
            if "this build of neardup cannot" in out:
                skip("%s, block %d: a library is missing" % (path, n))
                continue
            check(title, status == 0, out)
            if shown:
                shows(title, shown, out)


def trimmed_lines(text):
    """Without trailing blanks and empty lines at both ends."""
    return [line.rstrip() for line in text.strip().splitlines()]


def printed(path):
    """The blocks of a page in an empty database. The text block right after an sql block is what psql prints."""
    shown = 0
    with database("_printed", extension=False) as name:
        blocks = re.findall(r"```sql\n(.*?)```\n(?:\n?```text\n(.*?)```)?", read_page(path), re.S)
        for n, (block, want) in enumerate(blocks):
            _, out = psql(name, block)
            shown += want != ""
            got, want = trimmed_lines(out), trimmed_lines(want)
            check("%s, block %d: prints what the page shows: %s" % (path, n, block.strip().splitlines()[0][:60]),
                  got == want, " / ".join(list(difflib.unified_diff(want, got, "page", "psql", lineterm="", n=0))[2:]))
    check("%s shows outputs (%d)" % (path, shown), shown > 5, shown)


def heading_anchors(path):
    """The fragments by which headings of a page are linked."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", read_page(path), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", t).lower()).replace(" ", "-") for t in titles}


def links(paths):
    bad, count = [], 0
    for path in paths:
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", read_page(path), flags=re.S)):
            if "://" in target:
                continue
            count += 1
            file, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(os.path.join(ROOT, to)):
                bad.append("%s: %s" % (path, target))
            elif anchor and to.endswith(".md") and anchor not in heading_anchors(to):
                bad.append("%s: no heading %s" % (path, target))
    check("links between pages lead somewhere (%d)" % count, count > 50 and not bad, "; ".join(bad))


def main():
    listed = (PRINTED,) + SHARING + SIGNED + ALONE + ELSEWHERE + WITHOUT_SQL
    there = ["README.md"] + ["docs/" + f for f in os.listdir(os.path.join(ROOT, "docs")) if f.endswith(".md")]
    equal("every page is listed here, once", sorted(there), sorted(listed))
    equal("pages without sql have none", [p for p in WITHOUT_SQL if "```sql" in read_page(p)], [])
    links(listed + LINKING)
    readme = read_page("README.md")
    equal("the README leads to every page", [p for p in there if p != "README.md" and "](%s" % p not in readme], [])
    table = re.findall(r"CREATE TABLE articles \(.*?\);", readme, re.S)
    check("the README shows its table once", len(table) == 1, len(table))
    printed(PRINTED)
    for path in SHARING + SIGNED + ALONE:
        paste(path, table[0])


finish(main)
