#!/usr/bin/env python3
"""Bit strings in an lsh index: generated conditions have the rows of a sequential scan, at every length and distance,
while rows come, change and go; pairs and clusters are those of comparing everything."""
import random

from answers import *
import clusters

SEED = int(os.environ.get("NEARDUP_SEED", "131"))
LENGTHS = (64, 65, 128, 256, 1000, 4096)
ROWS = 600 if FULL else 300
CONDITIONS = 400 if FULL else 90  # of each length
# {q}: the query, {d}: a distance.
FORMS = ("bit_hamming(code, {q}) <= {d}", "bit_hamming({q}, code) <= {d}", "{d} >= bit_hamming(code, {q})",
         "bit_hamming(code, {q}) < {d}", "bit_hamming_at_most(code, {q}, {d})", "bit_hamming_at_most({q}, code, {d})",
         "code <-> {q} <= {d}", "code <-> {q} < {d}.5", "bit_hamming(code, {q}) = {d}",
         "bit_hamming(code, {q})::numeric <= {d}", "bit_hamming(code, {q}) <= {d} AND id % 2 = 0",
         "bit_hamming(code, {q}) <= {d} OR bit_hamming(code, ~ {q}) <= {d}",
         "bit_hamming(code, {q}) <= {d} AND tenant = 1", "NOT bit_hamming(code, {q}) > {d}")
ODD = ("-1", "0", "5000", "NULL::int")


def flipped(rng, value, bits, n, spread):
    """n bits flipped: by chance, side by side, or one in each block of the index in turn, which leaves the fewest
    blocks alike."""
    places = rng.sample(range(bits), n) if spread == 0 else [
        (rng.randrange(bits) + i) % bits for i in range(n)] if spread == 1 else [i * 7 % bits for i in range(n)]
    for place in places:
        value ^= 1 << place
    return value


def codes(rng, bits):
    """Near ones at every distance up to a bit more than the index serves, copies, skewed ones, NULLs."""
    centres = [0, (1 << bits) - 1] + [rng.getrandbits(bits) for _ in range(4)]
    out = []
    for _ in range(ROWS):
        kind = rng.random()
        if kind < 0.6:
            out.append(flipped(rng, rng.choice(centres), bits, rng.randrange(bits // 8 + 6), rng.randrange(3)))
        elif kind < 0.7 and out:
            out.append(rng.choice(out))
        elif kind < 0.75:
            out.append(None)
        elif kind < 0.85:  # few bits say anything
            out.append(rng.getrandbits(bits) & rng.getrandbits(bits) & rng.getrandbits(bits))
        else:
            out.append(rng.getrandbits(bits))
    return centres, [None if v is None else format(v, "0%db" % bits) for v in out]


def fill(conn, rng, bits):
    centres, rows = codes(rng, bits)
    conn.execute("CREATE TABLE codes (id int, tenant int, code bit(%d))" % bits)
    copy_rows(conn, "codes", ((i, i % 3, row) for i, row in enumerate(rows)))
    conn.execute("CREATE INDEX codes_code ON codes USING lsh (code); "
                 "CREATE INDEX codes_tenant ON codes USING lsh (tenant, code bit_ops (max_distance = %d)); "
                 "ANALYZE codes" % (bits // 10))
    return [format(c, "0%db" % bits) for c in centres] + [r for r in rows if r is not None]


def conditions(conn, rng, bits, queries, when):
    asked = Conditions(conn, "codes_")
    for _ in range(CONDITIONS):
        distance = rng.choice(ODD) if rng.random() < 0.1 else str(rng.choice((
            0, 1, 2, 3, bits // 16, bits // 10, bits // 8 - 1, bits // 8, bits // 8 + 1, rng.randrange(bits // 8 + 1))))
        value = "'%s'::bit(%d)" % (rng.choice(queries), bits)
        if rng.random() < 0.3:
            value = "(SELECT %s)" % value
        where = rng.choice([f for f in FORMS if ".5" not in f or distance.isdigit()]).format(q=value, d=distance)
        asked.ask("SELECT id FROM codes WHERE " + where)
    asked.report("%d bits, %s: conditions" % (bits, when), 0.02)


def prepared(conn, rng, bits, queries):
    """One plan for all values and distances, as drivers make them."""
    rows = []
    for plan in ("force_generic_plan", "force_custom_plan"):
        conn.execute("DEALLOCATE ALL; PREPARE near(bit, int) AS SELECT id FROM codes WHERE bit_hamming(code, $1) <= $2")
        for _ in range(20):
            call = "EXECUTE near('%s', %d)" % (rng.choice(queries), rng.randrange(-1, bits // 8 + 3))
            rows.append((call[-80:], answer(conn, BY_INDEX + "; plan_cache_mode = " + plan, call),
                         answer(conn, BY_SCAN, call)))
    equal_all("%d bits: prepared statements" % bits, rows)


def ordered(conn, rng, bits, queries):
    """The nearest of a condition's rows come first, by the index and by a sort."""
    rows = []
    for _ in range(10):
        q = "'%s'::bit(%d)" % (rng.choice(queries), bits)
        query = "SELECT (code <-> %s)::int FROM codes WHERE bit_hamming(code, %s) <= %d ORDER BY code <-> %s" % (
            q, q, bits // 8, q)
        under(conn, "enable_seqscan = off; enable_sort = off; enable_bitmapscan = off")
        by_index = [r[0] for r in conn.execute(query)]
        under(conn, BY_SCAN)
        rows.append((query[:120], by_index, [r[0] for r in conn.execute(query)]))
    equal_all("%d bits: in order of the distance" % bits, rows)
    under(conn, "enable_seqscan = off; enable_sort = off; enable_bitmapscan = off")
    plan = read_plan(conn, query)
    check("%d bits: the index orders" % bits, "Order By: (code <-> " in plan, plan[:500])


def nearest(conn, rng, bits, queries):
    """The nearest rows without a condition, within the reach of the index and beyond it."""
    rows = []
    for limit in (1, 5, 40, 10000):
        q = "'%s'::bit(%d)" % (rng.choice(queries), bits)
        query = "SELECT (code <-> %s)::int FROM codes ORDER BY code <-> %s LIMIT %d" % (q, q, limit)
        under(conn, "enable_seqscan = off; enable_sort = off")
        by_index = [r[0] for r in conn.execute(query)]
        under(conn, BY_SCAN)
        rows.append((query[:120], by_index, [r[0] for r in conn.execute(query)]))
    equal_all("%d bits: the nearest rows" % bits, rows)


def changes(conn, rng, bits, queries):
    """Rows wait in pending pages, die, change, and come back."""
    conn.execute("RESET ALL; INSERT INTO codes SELECT id + 10000, tenant, code FROM codes WHERE id % 5 = 0; "
                 "DELETE FROM codes WHERE id % 7 = 3; UPDATE codes SET code = ~ code WHERE id % 11 = 4; "
                 "UPDATE codes SET tenant = 1 WHERE id % 4 = 1")
    conditions(conn, rng, bits, queries, "after changes")
    conn.execute("RESET ALL")
    conn.execute("VACUUM codes")
    for index in ("codes_code", "codes_tenant"):
        conn.execute("SELECT lsh_check('%s', true)" % index)
    conditions(conn, rng, bits, queries, "after VACUUM")


def pairs(conn, bits):
    most = bits // 8
    conn.execute("RESET ALL")
    want = conn.execute(
        "SELECT least(a.id, b.id), greatest(a.id, b.id), bit_hamming(a.code, b.code) FROM codes a JOIN codes b "
        "ON a.id < b.id AND bit_hamming(a.code, b.code) + 0 <= %d ORDER BY 1, 2" % most).fetchall()
    for threads in (1, 2):
        conn.execute("SET neardup.threads = %d" % threads)
        got = conn.execute("SELECT least(id_a, id_b), greatest(id_a, id_b), round((1 - similarity) * %d)::int "
                           "FROM all_pairs(NULL::int, 'SELECT id, code FROM codes', 1 - %d / %d.0) ORDER BY 1, 2"
                           % (bits, most, bits)).fetchall()
        equal("%d bits: all pairs, %d threads (%d)" % (bits, threads, len(want)), got, want)
    conn.execute("RESET ALL")
    equal("%d bits: connected clusters" % bits,
          one(conn, "SELECT count(DISTINCT cluster) FROM all_clusters(NULL::int, 'SELECT id, code FROM codes', "
                    "1 - %d / %d.0, 'connected')" % (most, bits)),
          len(set(clusters.components(one_column(conn, "SELECT id FROM codes WHERE code IS NOT NULL"),
                                      [(a, b) for a, b, _ in want]).values())))
    check("%d bits: there are pairs" % bits, want)


def one_column(conn, query):
    return [r[0] for r in conn.execute(query)]


def every_length(conn):
    for bits in LENGTHS:
        rng = random.Random(SEED + bits)
        queries = fill(conn, rng, bits)
        conditions(conn, rng, bits, queries, "built")
        prepared(conn, rng, bits, queries)
        ordered(conn, rng, bits, queries)
        nearest(conn, rng, bits, queries)
        changes(conn, rng, bits, queries)
        pairs(conn, bits)
        conn.execute("RESET ALL; DROP TABLE codes")


def main():
    print("# NEARDUP_SEED=%d" % SEED)
    with database() as name, connect(name) as conn:
        every_length(conn)


finish(main)
