#!/usr/bin/python3
"""lsh indexes through a clean restart, which replays nothing: what a change wrote to the pages in memory is there
afterwards, each of them, and the index finds the same rows. A crash does not
tell: it writes the pages anew from WAL."""
from servers import *

rng = random.Random(142)
ROWS = 1500
# What is done to the table `docs`, one after the other, each to pages that are on disk.
CHANGES_OF_PAGES = (
    ("the first row of a page", "INSERT INTO docs SELECT id, family, sig FROM pool WHERE id = 1"),
    ("a row on a page that has some", "INSERT INTO docs SELECT id, family, sig FROM pool WHERE id = 2"),
    ("a row that is rolled back", "BEGIN; INSERT INTO docs SELECT id, family, sig FROM pool WHERE id = 3; ROLLBACK"),
    ("rows of several pages", "INSERT INTO docs SELECT id, family, sig FROM pool WHERE id BETWEEN 10 AND 60"),
    ("pending rows that become a run",
     "INSERT INTO docs SELECT id, family, sig FROM pool WHERE id BETWEEN 100 AND 700"),
    ("runs that are merged", "DO $$ BEGIN FOR i IN 1..8 LOOP INSERT INTO docs SELECT id, family, sig FROM pool "
                                 "WHERE id BETWEEN 700 + 100 * i AND 1100 + 100 * i; END LOOP; END $$"),
    ("VACUUM of dead rows", "DELETE FROM docs WHERE id % 3 = 0; VACUUM (INDEX_CLEANUP on) docs"),
    ("pages that are used again", "INSERT INTO docs SELECT id, family, sig FROM pool WHERE id % 2 = 0"),
    ("VACUUM of many", "DELETE FROM docs WHERE id > 50; VACUUM (INDEX_CLEANUP on) docs"),
    ("REINDEX", "REINDEX INDEX docs_sig"),
    ("a row after that", "INSERT INTO docs SELECT id, family, sig FROM pool WHERE id = 5"),
    ("TRUNCATE and a row", "TRUNCATE docs; INSERT INTO docs SELECT id, family, sig FROM pool WHERE id = 8"),
)


def pages(conn, inspected):
    """Of each page in memory what is known of it; with pageinspect its bytes, but its checksum.
    """
    known = [conn.execute("SELECT p::text FROM lsh_pages('docs_sig') p").fetchall(),
             conn.execute("SELECT i::text FROM lsh_info('docs_sig', true) i").fetchall()]
    if inspected:  # bytes 8 and 9 are the checksum, which is set when a page is written
        known.append(conn.execute("SELECT b, md5(overlay(get_raw_page('docs_sig', b::int) PLACING '\\x0000' FROM 9)) "
                                  "FROM generate_series(0, pg_relation_size('docs_sig') / "
                                  "current_setting('block_size')::int - 1) b ORDER BY b").fetchall())
    return known


def main():
    with Server("checkpoint_timeout = 1h\nbgwriter_lru_maxpages = 0") as server:
        server.start()
        findings = Findings()
        with server.connect() as conn:
            conn.execute(SCHEMA)
            make_pool(conn, 4000)
            make_table(conn, "docs", ROWS, index="pending_limit = 4")
            queries = make_queries(conn, rng, 400, 6, 1)
            inspected = one(conn, "SELECT count(*) > 0 FROM pg_available_extensions WHERE name = 'pageinspect'")
            conn.execute("CREATE EXTENSION pageinspect" if inspected else "SELECT")
        if not inspected:
            skip("no pageinspect here: pages are compared by their headers")
        for what, statements in CHANGES_OF_PAGES:
            with server.connect() as conn:
                conn.execute("CHECKPOINT")
                before = pages(conn, inspected)
                for statement in statements.split("; ") if "$$" not in statements else [statements]:
                    conn.execute(statement)
                written = pages(conn, inspected)
            server.stop()
            server.start()
            with server.connect() as conn:
                kept = pages(conn, inspected)
                lost = [pair for part in zip(written, kept) for pair in zip(*part) if pair[0] != pair[1]]
                findings.see(what + ": changes pages", before != written)
                findings.see(what + ": pages", kept == written, lost[:2])
                look(findings, what, conn, "docs", queries)
        findings.report("a clean restart keeps what was written")
        equal("nothing in the server's log", server.alarms(), [])


finish(main)
