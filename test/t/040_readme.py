#!/usr/bin/python3
"""Every sql block of README.md and of the pages below, pasted into psql in a fresh database: what they promise must run."""
import os
import re

from harness import check, database, finish, skip, tool

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
QUERY = "'the body of article number 7 about ferries and islands and what else there is to say'"
ROWS = """
INSERT INTO articles SELECT i, i % 3, timestamptz '2026-01-01' + i * interval '1 hour', CASE WHEN i % 5 > 0 THEN 'title ' || i / 4 END,
  'the body of article number ' || i / 3 || ' about ferries and islands and what else there is to say' FROM generate_series(1, 60) i;
CREATE TABLE incoming AS SELECT id, body FROM articles WHERE id < 10;
CREATE TABLE pages AS SELECT id, title AS path, body FROM articles;
CREATE TABLE documents AS SELECT gen_random_uuid() AS id, to_minhash(body) AS sig FROM articles;
"""


def psql(name, text):
    r = tool("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", name, input=text)
    return r.returncode, r.stdout + r.stderr


def blocks_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.findall(r"```sql\n(.*?)```", f.read(), re.S)


# Pages over the README's table of articles, and those that bring their own.
SHARING = ("README.md", "docs/intake.md", "docs/jobs.md")
ALONE = ("docs/partial_copies.md", "docs/i_match.md", "docs/news.md", "docs/weighted.md", "docs/words.md", "docs/reference.md", "docs/install.md")


def paste(path, table):
    with database("_" + re.sub("[^a-z]", "", path.lower()), extension=False) as name:
        status, out = psql(name, "CREATE EXTENSION neardup;" + (table + ROWS if path in SHARING else ""))
        check("%s: the table of the README" % path, status == 0, out)
        for n, block in enumerate(blocks_of(path)):
            if block == table or "-- ERROR" in block:  # one that shows what is refused
                continue
            text = block.replace("$1", QUERY).replace("CREATE EXTENSION neardup;", "")
            if "DELETE FROM articles" in text:
                text = "BEGIN;" + text + "ROLLBACK;"
            status, out = psql(name, text)
            if "this build of neardup cannot" in out:
                skip("%s, block %d: a library is missing" % (path, n))
                continue
            check("%s, block %d: %s" % (path, n, block.strip().splitlines()[0][:60]), status == 0, out)


def main():
    table = [b for b in blocks_of("README.md") if "CREATE TABLE articles" in b]
    check("the README shows its table once", len(table) == 1, len(table))
    for path in SHARING + ALONE:
        paste(path, table[0])


finish(main)
