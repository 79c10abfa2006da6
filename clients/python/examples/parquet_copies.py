"""Copies in a file of Parquet, step by step; an editor with notebooks runs the cells one by one.

python parquet_copies.py FILE.parquet. Needs neardup[psycopg,load]; the PG* variables lead to the database.
"""

# %% Connect
import sys

import neardup
import psycopg

conn = psycopg.connect(autocommit=True)
conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")

# %% Load: run it again after an interruption, and it continues
loaded = neardup.load(conn, "documents", sys.argv[1])
print(loaded)

# %% Find copies: a job keeps the result up to date
if conn.execute("SELECT to_regclass('document_copies') IS NULL").fetchone()[0]:
    conn.execute("SELECT create_duplicates('document_copies', 'documents', 'id', 'body', threshold => 0.8)")
print(neardup.refresh(conn, "document_copies"))

# %% Look at the pairs nearest to the threshold: are they copies?
report = neardup.report(conn, "document_copies", pairs=5)
BODY = "SELECT path, left(body, 70) FROM documents WHERE id = %s"
for pair in report["pairs"]:
    print(f"\n{pair['similarity']:.2f}")
    for side in ("representative", "duplicate"):
        print("  %s  %s" % conn.execute(BODY, [pair[side]]).fetchone())

# %% What to keep: one document of each cluster
kept = conn.execute("SELECT count(*) FROM document_copies WHERE survivor").fetchone()[0]
print(f"\n{kept} of {report['counts']['rows']} documents are no copies")
