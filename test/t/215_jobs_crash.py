#!/usr/bin/env python3
"""kill -9 of the server or of its backend at random points of a refresh: the next refresh continues, and ends with the
same table."""
import random

from servers import *
from jobs import *

ROUNDS = 30 if FULL else 4


def main():
    rng = random.Random(3)
    texts, ids, cut, rows = Replies(rng), [], {}, []
    with Server() as server:
        server.start()
        with server.connect() as conn:
            conn.execute("CREATE EXTENSION neardup")
            conn.execute(SCHEMA % ("bigint", "text"))
            change(conn, rng, texts, 1500, ids)
            conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', deleted => 'gone')")
            conn.execute(
                "SELECT create_duplicates('quoted', 'docs', 'id', 'body', deleted => 'gone', measure => 'containment')")
        longest = 1.0
        for number in range(8 * ROUNDS):
            if number >= ROUNDS and cut.get("interrupted", 0) >= ROUNDS // 2:
                break
            # Rounds alternate: another profile, for which all rows are clustered again; many changes; few changes.
            job, measure = (("dups", ""), ("quoted", ", measure => 'containment'"))[number // 2 % 2]
            with server.connect() as conn:
                if number % 3 == 0:
                    conn.execute(
                        "SELECT alter_duplicates(%s, profile => %s)", (job, ("code", "default")[number // 3 % 2]))
                change(conn, rng, texts, (300, 300, 10)[number % 3], ids)
            refresh = Task(server, "CALL refresh_duplicates('%s', batch => 40)" % job)
            start = time.monotonic()
            refresh.join(rng.uniform(0, longest))
            ended = not refresh.is_alive()
            if number % 2 == 0:
                server.kill()
                refresh.join(60)
                server.start()
            elif ended:
                pass
            else:
                server.kill_backend(refresh.pid)
                refresh.join(60)
            refresh.conn.close()
            if ended:
                longest = max(0.05, (refresh.ended - start) * 0.9)
            with server.connect() as conn:
                phase, pid = conn.execute("SELECT phase, pid FROM duplicates_status WHERE job = %s", (job,)).fetchone()
                cut[phase] = cut.get(phase, 0) + 1
                rows.append(("%d: nobody is at work" % number, pid, None))
                if not ended:
                    rows.append(("%d: the status" % number, phase in ("interrupted", "idle", "new", "waiting"), True))
                conn.execute("CALL refresh_duplicates('%s', batch => 40)" % job)
                options = "body => 'body', deleted => 'gone', profile => '%s'%s" % (
                    one(conn, "SELECT profile FROM %s_job" % job), measure)
                rows.append(("%d: the table" % number, table(conn, job), from_scratch(conn, options)))
                rows.append(("%d: its index" % number, unsound(conn, "%s_signatures_signature_idx" % job), None))
        equal_all("killed refreshes end as from scratch", rows)
        check("refreshes were cut short", cut.get("interrupted", 0) >= ROUNDS // 2, cut)
        print("note: after the kill: %s" % cut)
        equal("no process has crashed by itself", server.alarms(), [])


finish(main)
