#!/usr/bin/python3
"""Logical replication as in docs/operating.md: the subscriber computes generated signatures again, stored ones are sent
as text or in binary, updates and deletes find their rows by a key or by the whole row,
and the indexes of the subscriber are used."""
from servers import *

WHAT = {  # table: its columns on either side
    "made": "id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED",
    "sent": "id int PRIMARY KEY, sig minhash, hash simhash, digest ctph",
    "keyless": "id int, sig minhash",
}
BODY = ("'the ferry number ' || i / 3 || ' leaves the pier of ' || i / 6 || ' at nine, at noon and at five on every "
        "day of the week'")


def change(conn):
    conn.execute("INSERT INTO made SELECT i, %s FROM generate_series(201, 300) i" % BODY)
    conn.execute("UPDATE made SET body = 'now ' || body WHERE id % 7 = 0; DELETE FROM made WHERE id % 11 = 0")
    conn.execute("UPDATE sent SET sig = to_minhash('something else ' || id), hash = to_simhash('something else ' || "
                 "id) WHERE id % 7 = 0; DELETE FROM sent WHERE id % 11 = 0")
    conn.execute("UPDATE keyless SET sig = to_minhash('something else ' || id) WHERE id % 7 = 0; "
                 "DELETE FROM keyless WHERE id % 11 = 0")


def rows(conn):
    return {t: sorted(map(repr, conn.execute("SELECT t::text FROM %s t" % t).fetchall())) for t in WHAT}


def main():
    with Server("wal_level = logical") as publisher, Server("wal_level = logical") as subscriber:
        for server in (publisher, subscriber):
            server.start()
            with server.connect() as conn:
                conn.execute("CREATE EXTENSION neardup")
                for table, columns in WHAT.items():
                    conn.execute("CREATE TABLE %s (%s)" % (table, columns))
        with publisher.connect() as conn, subscriber.connect() as copy:
            conn.execute("ALTER TABLE keyless REPLICA IDENTITY FULL")
            conn.execute("INSERT INTO made SELECT i, %s FROM generate_series(1, 200) i" % BODY)
            conn.execute("INSERT INTO sent SELECT i, to_minhash(b), to_simhash(b), to_ctph(repeat(b, 20)) "
                         "FROM generate_series(1, 200) i, LATERAL (SELECT %s AS b OFFSET 0) t" % BODY)
            conn.execute("INSERT INTO keyless SELECT id, sig FROM sent")
            conn.execute(
                "CREATE PUBLICATION as_text FOR TABLE made, keyless; CREATE PUBLICATION as_bytes FOR TABLE sent")
            for table in ("made", "sent", "keyless"):
                copy.execute("CREATE INDEX %s_sig ON %s USING lsh (sig)" % (table, table))
            at = "host=%s user=postgres dbname=postgres" % publisher.folder
            copy.execute("CREATE SUBSCRIPTION as_text CONNECTION '%s' PUBLICATION as_text" % at)
            copy.execute("CREATE SUBSCRIPTION as_bytes CONNECTION '%s' PUBLICATION as_bytes WITH (binary = true)" % at)
            wait_for(lambda: rows(copy) == rows(conn), "the first copy does not arrive: %s" % subscriber.log_tail())
            check("the first copy: the same rows", rows(copy) == rows(conn))
            equal("signatures of either side are equal, and comparable with new ones",
                  one(copy, "SELECT count(*) FROM made WHERE jaccard(sig, to_minhash(body)) = 1"), 200)
            change(conn)
            wait_for(lambda: rows(copy) == rows(conn), "changes do not arrive: %s" % subscriber.log_tail())
            equal("inserts, updates and deletes arrive", {t: len(r) for t, r in rows(copy).items()},
                  {"made": 273, "sent": 182, "keyless": 182})
            findings = Findings()
            for table in WHAT:
                e = unsound(copy, table + "_sig")
                findings.see("%s_sig is sound" % table, e is None, e)
                query = "SELECT a.id, b.id FROM {0} a JOIN {0} b ON jaccard(a.sig, b.sig) >= 0.8 ORDER BY 1, 2".format(
                    table)
                found = {}
                for how in ("on", "off"):
                    copy.execute("SET enable_seqscan = %s; SET enable_material = off; SET enable_mergejoin = off; "
                                 "SET neardup.enable_join = off; SET neardup.derive_conditions = %s"
                                 % ("off" if how == "on" else "on", how))
                    plan = "\n".join(r[0] for r in copy.execute("EXPLAIN " + query))
                    findings.see("%s: plan" % table, (table + "_sig" in plan) == (how == "on"), plan)
                    found[how] = copy.execute(query).fetchall()
                findings.see(
                    "%s: rows" % table, found["on"] == found["off"] and len(found["on"]) > 200, len(found["on"]))
            findings.report("the subscriber's indexes: sound, and the answers of a sequential scan")
            for subscription in ("as_text", "as_bytes"):
                copy.execute("DROP SUBSCRIPTION %s" % subscription)
        equal("nothing in the servers' logs", publisher.alarms() + subscriber.alarms(), [])


finish(main)
