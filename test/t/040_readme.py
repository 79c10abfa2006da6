#!/usr/bin/python3
"""Every sql block of README.md, pasted into psql in a fresh database: what the README promises must run."""
import os
import re

from harness import check, database, finish, tool

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md")
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


def main():
    with open(README, encoding="utf-8") as f:
        blocks = re.findall(r"```sql\n(.*?)```", f.read(), re.S)
    table = [b for b in blocks if "CREATE TABLE articles" in b]
    check("the README shows its table once", len(table) == 1, len(table))
    with database("_readme", extension=False) as name:
        status, out = psql(name, "CREATE EXTENSION neardup;" + table[0] + ROWS)
        check("the table of the README", status == 0, out)
        for n, block in enumerate(blocks):
            if block == table[0]:
                continue
            text = block.replace("$1", QUERY).replace("CREATE EXTENSION neardup;", "")
            if "DELETE FROM articles" in text:
                text = "BEGIN;" + text + "ROLLBACK;"
            status, out = psql(name, text)
            check("block %d: %s" % (n, block.strip().splitlines()[0][:60]), status == 0, out)


finish(main)
