#!/usr/bin/python3
"""Partitioned tables: where an index declared on the parent exists, through ATTACH, DETACH, REINDEX; that queries use
only the partitions they need, by the index of each, with the answers of one table without indexes; order, joins,
triggers, jobs; what PostgreSQL refuses. (120, 127 and 190 compare plans over partitions with many more queries.)"""
import re

from answers import sorted_rows
from harness import *
from jobs import from_scratch, table

ROWS = 12000 if FULL else 1000
COLUMNS = "id int, day date, tenant int, body text, sig minhash, hash simhash, digest ctph, items int[]"
# Families of 8, whose first words differ; a family is spread over days and
# tenants. NULLs and empty documents among them.
SCHEMA = """
CREATE TABLE whole (%s);
INSERT INTO whole SELECT id, day, tenant, body, to_minhash(body), to_simhash(body), to_ctph(body), items FROM (
  SELECT i AS id, date '2026-01-01' + i * 7 %% 120 AS day, i * 5 %% 6 AS tenant,
    CASE WHEN i %% 97 = 0 THEN NULL WHEN i %% 89 = 0 THEN '' ELSE (SELECT string_agg(md5((i / 8 * 60 + e)::text) ||
      CASE WHEN e < i %% 8 THEN 'x' || i ELSE '' END, ' ') FROM generate_series(1, 60) e) END AS body,
    ARRAY[i / 8, i / 8 + 1, i / 8 + 2, i %% 3 - 3] AS items
  FROM generate_series(1, %d) i) x;
CREATE TABLE by_day (%s) PARTITION BY RANGE (day);
CREATE TABLE day_1 PARTITION OF by_day FOR VALUES FROM (MINVALUE) TO ('2026-02-01');
CREATE TABLE day_2 PARTITION OF by_day FOR VALUES FROM ('2026-02-01') TO ('2026-03-01') PARTITION BY LIST (tenant);
CREATE TABLE day_2_odd PARTITION OF day_2 FOR VALUES IN (1, 3, 5);
CREATE TABLE day_2_rest PARTITION OF day_2 DEFAULT;
CREATE TABLE day_3 PARTITION OF by_day FOR VALUES FROM ('2026-03-01') TO ('2026-04-01');
CREATE TABLE by_tenant (%s) PARTITION BY LIST (tenant);
CREATE TABLE tenant_012 PARTITION OF by_tenant FOR VALUES IN (0, 1, 2);
CREATE TABLE tenant_345 PARTITION OF by_tenant FOR VALUES IN (3, 4, 5);
CREATE TABLE by_hash (%s) PARTITION BY HASH (id);
CREATE TABLE hash_0 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
""" % (COLUMNS, ROWS, COLUMNS, COLUMNS, COLUMNS)
PARENTS = ("by_day", "by_tenant", "by_hash")
INDEXES = {"sig": "sig", "hash": "hash simhash_ops (blocks = 3)", "digest": "digest ctph_ops (max_rate = 0.12)",
           "items": "items"}
LEAVES = {"by_day": {"day_1", "day_2_odd", "day_2_rest", "day_3", "day_4"}, "by_tenant": {"tenant_012", "tenant_345"},
          "by_hash": {"hash_0", "hash_1"}}

# A condition, the index column that serves it.
CONDITIONS = [("jaccard(sig, Q) >= 0.8", "sig"), ("jaccard_at_least(sig, Q, 0.9)", "sig"), ("sig % Q", "sig"),
              ("hamming(hash, H) <= 3", "hash"), ("ctph_score(digest, C) >= 70", "digest"),
              ("ctph_edit_rate(digest, C) < 0.1", "digest"), ("jaccard_exact(items, ARRAY[20, 21, 22]) > 0.6", "items")]
ORDERS = [("jaccard(sig, Q) >= 0.75", "sig <%> Q"), ("hamming(hash, H) <= 6", "hash <~> H"),
          ("ctph_edit_rate(digest, C) < 0.12", "digest <-> C")]
# Further conditions, and the partitions that are left.
PRUNED = [("by_day", "day = date '2026-03-05'", {"day_3"}),
          ("by_day", "day >= '2026-02-20' AND day < '2026-03-05'", {"day_2_odd", "day_2_rest", "day_3"}),
          ("by_day", "day BETWEEN '2026-02-10' AND '2026-02-12' AND tenant = 3", {"day_2_odd"}),
          ("by_tenant", "tenant IN (1, 2)", {"tenant_012"}),
          ("by_hash", "id = 160", None), ("by_day", "true", LEAVES["by_day"])]
TYPES = {"Q": "minhash", "H": "simhash", "C": "ctph"}
values = {}


def expand(text):
    return re.sub(r"\b[QHC]\b", lambda m: "'%s'::%s" % (values[m.group()], TYPES[m.group()]), text)


def whole(query):
    return re.sub(r"\b(%s)\b" % "|".join(PARENTS), "whole", query)


def plan_nodes(conn, query, options="FORMAT JSON"):
    """Every node of the plan."""
    nodes = []

    def walk(node):
        nodes.append(node)
        for child in node.get("Plans", ()):
            walk(child)
    walk(one(conn, "EXPLAIN (%s) %s" % (options, query))[0]["Plan"])
    return nodes


def scans(conn, query):
    """The index by which the plan reads each table, or the name of the node where there is none."""
    nodes, out = plan_nodes(conn, query), {}
    for n in nodes:
        if "Relation Name" in n:
            inner = [x.get("Index Name") for x in n.get("Plans", ())]
            out[n["Relation Name"]] = n.get("Index Name") or (inner and inner[0]) or n["Node Type"]
    return out


def lsh_indexes(conn, parent):
    """(table, index, is valid) of the partitions' lsh indexes, also of those that the parent does not know."""
    return conn.execute("""SELECT t.relid::regclass::text, i.indexrelid::regclass::text, i.indisvalid,
        pg_get_indexdef(i.indexrelid)
        FROM pg_partition_tree(%s) t JOIN pg_index i ON i.indrelid = t.relid JOIN pg_class c ON c.oid = i.indexrelid
          JOIN pg_am a ON a.oid = c.relam
        WHERE t.isleaf AND a.amname = 'lsh' ORDER BY 1, 2""",
                        (parent,)).fetchall()


def sound(conn):
    """The findings of lsh_check over all lsh indexes of tables."""
    indexes = [r[0] for r in conn.execute(
        "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'lsh' "
        "AND c.relkind = 'i'")]
    return [e for e in (sql_error(conn, "SELECT lsh_check('%s', true)" % i) for i in indexes) if e] if indexes else [
        "no index"]


def make(conn):
    conn.execute(SCHEMA)
    for parent in PARENTS:
        for column, definition in INDEXES.items():
            option = "WITH (threshold = 0.7)" if column == "sig" else ""
            conn.execute("CREATE INDEX %s_%s ON %s USING lsh (%s) %s" % (parent, column, parent, definition, option))
    conn.execute("CREATE TABLE day_4 PARTITION OF by_day FOR VALUES FROM ('2026-04-01') TO (MAXVALUE)")
    for parent in PARENTS:
        conn.execute("INSERT INTO %s SELECT * FROM whole" % parent)
    conn.execute("ANALYZE")
    values.update(
        zip("QHC", conn.execute("SELECT sig::text, hash::text, digest::text FROM whole WHERE id = 161").fetchone()))


def declared(conn):
    """An index of the parent comes to partitions that there are, to new ones, and to theirs, with its options."""
    rows = []
    for parent in PARENTS:
        found = lsh_indexes(conn, parent)
        rows.append((parent + ": tables", {r[0] for r in found}, LEAVES[parent]))
        rows.append((parent + ": four indexes each", len(found), 4 * len(LEAVES[parent])))
        for option in ("WITH (threshold='0.7')", "simhash_ops (blocks='3')", "ctph_ops (max_rate='0.12')"):
            rows.append(("%s: %s" % (parent, option), sum(option in r[3] for r in found), len(LEAVES[parent])))
        held = [one(conn, "SELECT rows FROM lsh_info('%s')" % r[1]) for r in found if r[1].endswith("_hash_idx")]
        rows.append((parent + ": rows in the indexes", sum(held), one(conn, "SELECT count(hash) FROM whole")))
    equal_all("an index of the parent is in every partition, with its options", rows)
    fails("lsh_info of the parent's index", conn, "SELECT * FROM lsh_info('by_day_sig')",
          text='"by_day_sig" is a partitioned index', state="42809", hint="pg_partition_tree()")
    fails("lsh_check of the parent's index", conn, "SELECT lsh_check('by_day_sig')",
          text='"by_day_sig" is a partitioned index', state="42809")


# Queries -------------------------------------------------------------------------------------------------------------

def pruning(conn):
    plans, answers = [], []
    conn.execute("SET enable_seqscan = off; SET neardup.enable_join = off")
    for condition, column in CONDITIONS:
        for parent, further, left in PRUNED:
            query = expand("SELECT id FROM %s WHERE %s AND %s" % (parent, condition, further))
            found = scans(conn, query)
            want = left or {one(conn, "SELECT tableoid::regclass::text FROM by_hash WHERE id = 160")}
            plans.append((query[:70], set(found), want))
            plans.append(
                (query[:70] + " indexes", {i for i in found.values() if not i.endswith("_%s_idx" % column)}, set()))
            answers.append((query[:70], sorted_rows(conn, query), sorted_rows(conn, whole(query))))
        query = expand("SELECT id FROM by_day WHERE %s" % condition)
        answers.append((condition + " finds rows of several partitions",
                        len({r[0] for r in conn.execute(query.replace("SELECT id", "SELECT tableoid"))}) > 1, True))
    equal_all("only the partitions that are needed, each by its index", plans)
    equal_all("answers are those of one table", answers)
    conn.execute("RESET enable_seqscan")


def pruning_at_run_time(conn):
    """In generic plans, and for each row of a join."""
    conn.execute("SET enable_seqscan = off; SET neardup.enable_join = off; SET plan_cache_mode = force_generic_plan")
    conn.execute("PREPARE near (minhash, float8, date, date) AS SELECT id FROM by_day WHERE jaccard(sig, $1) >= $2 "
                 "AND day >= $3 AND day < $4")
    call = expand("EXECUTE near (Q, 0.8, '2026-03-05', '2026-03-20')")
    nodes = plan_nodes(conn, call)
    check("a generic plan leaves partitions out",
          [n.get("Subplans Removed") for n in nodes if "Subplans Removed" in n] == [4] and
              scans(conn, call) == {"day_3": "day_3_sig_idx"}, nodes)
    equal("a generic plan's answer", sorted_rows(conn, call), sorted_rows(
        conn,
        expand("SELECT id FROM whole WHERE jaccard(sig, Q) >= 0.8 AND day >= '2026-03-05' AND day < '2026-03-20'")))
    conn.execute("DEALLOCATE near; RESET plan_cache_mode; ANALYZE whole;CREATE TABLE asked AS SELECT id, day, sig "
                 "FROM whole WHERE day = '2026-03-05' AND id < 200; ANALYZE asked")
    query = "SELECT a.id, d.id FROM asked a JOIN by_day d ON d.day = a.day AND jaccard(d.sig, a.sig) >= 0.8"
    conn.execute("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; "
                 "SET enable_material = off; SET join_collapse_limit = 1; SET enable_memoize = off")
    nodes = plan_nodes(conn, query, "ANALYZE, FORMAT JSON")
    ran = {n["Relation Name"]: n["Actual Loops"] > 0 for n in nodes
           if "Relation Name" in n and n["Relation Name"] != "asked"}
    check("a join looks into the partition of its row", ran == {p: p == "day_3" for p in LEAVES["by_day"]} and
          all(n["Index Name"].endswith("_sig_idx") for n in nodes if "Index Name" in n), ran)
    equal("a join's answer", sorted_rows(conn, query), sorted_rows(conn, whole(query)))
    conn.execute("RESET ALL")


def workers(conn):
    """Short searches of many partitions stay in one process, whatever their costs come to together."""
    conn.execute("""CREATE TABLE many (id int, sig minhash) PARTITION BY RANGE (id);
        DO $$ BEGIN FOR i IN 0..7 LOOP EXECUTE
          format('CREATE TABLE many_%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i * 3000, (i + 1) * 3000);
          END LOOP; END $$;
        INSERT INTO many SELECT i, set_minhash(array[i, i + 1, i + 2, i / 3]::bigint[])
          FROM generate_series(0, 23999) i;
        CREATE INDEX ON many USING lsh (sig); CREATE INDEX ON many (id); ANALYZE many""")
    query = "'%s'::minhash" % one(conn, "SELECT sig FROM many WHERE id = 77")
    conditions = ("jaccard(sig, %s) >= 0.8", "sig %% %s", "id BETWEEN 70 AND 23900 AND jaccard(sig, %s) >= 0.8")
    gathers = {setup: [
        "Gather" in str(conn.execute("EXPLAIN SELECT id FROM many WHERE " + c % query).fetchall()) for c in conditions]
               for setup in ("150", "0") if conn.execute("SET parallel_setup_cost = " + setup)}
    equal("searches of eight partitions that together cost more than workers", gathers["150"], [False] * 3)
    check("workers for those to whom they cost nothing", any(gathers["0"]), gathers["0"])
    conn.execute("RESET parallel_setup_cost; DROP TABLE many")


def ordered(conn):
    """The nearest of all partitions, each of which hands out its rows in order."""
    conn.execute("SET enable_seqscan = off; SET neardup.enable_join = off; SET enable_bitmapscan = off")
    for condition, order in ORDERS:
        for parent, where in (("by_day", ""), ("by_hash", ""),
                              ("by_day", " AND day >= '2026-02-01' AND day < '2026-04-01'")):
            query = expand(
                "SELECT %s FROM %s WHERE %s%s ORDER BY %s LIMIT 5" % (order, parent, condition, where, order))
            conn.execute("SET enable_sort = off")
            nodes = plan_nodes(conn, query)
            conn.execute("RESET enable_sort")
            got = conn.execute(query).fetchall()
            check("merged in order: %s of %s%s" % (order, parent, where),
                  "Merge Append" in {n["Node Type"] for n in nodes} and
                      all("Order By" in n for n in nodes if n["Node Type"] == "Index Scan") and "Sort" not in {
                      n["Node Type"] for n in nodes}, nodes)
            check("the nearest: %s of %s%s" % (order, parent, where),
                  len(got) > 1 and got == conn.execute(whole(query)).fetchall(), got)
            first = conn.execute("SET enable_sort = off").connection.execute(query).fetchall()
            equal("the nearest, by Merge Append: %s of %s%s" % (order, parent, where), first, got)
            conn.execute("RESET enable_sort")
    conn.execute("RESET ALL")


def joins(conn):
    conn.execute("CREATE TABLE other (%s) PARTITION BY LIST (tenant); "
                 "CREATE TABLE other_012 PARTITION OF other FOR VALUES IN (0, 1, 2);"
                 "CREATE TABLE other_345 PARTITION OF other FOR VALUES IN (3, 4, 5); "
                 "CREATE INDEX ON other USING lsh (sig);INSERT INTO other SELECT * FROM whole "
                 "WHERE id %% 20 = 1; ANALYZE other; CREATE TABLE other_whole AS SELECT * FROM other" % COLUMNS)
    rows = []
    queries = [
        "SELECT o.id, t.id FROM other o JOIN by_tenant t ON t.tenant = o.tenant AND jaccard(t.sig, o.sig) >= 0.8",
        "SELECT o.id, t.id FROM other o JOIN by_tenant t ON t.tenant = o.tenant AND hamming(t.hash, o.hash) <= 3 "
            "AND t.id <> o.id",
        "SELECT o.id, t.id FROM other o JOIN by_tenant t ON jaccard(t.sig, o.sig) > 0.85 AND t.id < o.id",
        "SELECT o.id FROM other o WHERE EXISTS (SELECT FROM by_day d WHERE d.id < o.id "
            "AND jaccard(d.sig, o.sig) >= 0.8)",
        "SELECT o.id FROM other o WHERE NOT EXISTS (SELECT FROM by_day d WHERE d.id < o.id "
            "AND ctph_score(d.digest, o.digest) >= 60)",
        "SELECT o.id, d.id FROM other o LEFT JOIN by_hash d ON d.id > o.id AND jaccard(d.sig, o.sig) >= 0.9"]
    for settings in ("", "SET enable_partitionwise_join = on",
                     "SET enable_partitionwise_join = on; SET enable_seqscan = off; SET enable_hashjoin = off; "
                         "SET enable_mergejoin = off"):
        conn.execute(settings or "SELECT")
        for query in queries:
            plain = re.sub(r"\bother o\b", "other_whole o", whole(query))
            rows.append(("%s %s" % (settings, query[:80]), sorted_rows(conn, query), sorted_rows(conn, plain)))
    nodes = plan_nodes(conn, queries[0])
    joined = [n for n in nodes if n["Node Type"] == "Nested Loop"]
    check("partition by partition, by the index",
          len(joined) == 2 and
              sorted(re.sub("^[a-z]+", "", n["Index Name"]) for n in nodes if "Index Name" in n) == [
              "_012_sig_idx", "_345_sig_idx"],
          [(n["Node Type"], n.get("Index Name")) for n in nodes])
    conn.execute("RESET ALL")
    equal_all("joins of partitioned tables", rows)
    want = sorted_rows(conn, "SELECT * FROM all_pairs('SELECT id, sig FROM whole', 0.8)")
    check("all_pairs over partitions",
          len(want) > 100 and sorted_rows(conn, "SELECT * FROM all_pairs('SELECT id, sig FROM by_day', 0.8)") == want,
          len(want))


# Changes of the table ------------------------------------------------------------------------------------------------

def attach(conn):
    """Indexes that match are taken as they are, others are made."""
    conn.execute("CREATE TABLE a (id int, sig minhash, hash simhash, items int[]) PARTITION BY RANGE (id);"
                 "CREATE INDEX a_sig ON a USING lsh (sig); CREATE INDEX a_hash ON a USING lsh (hash); "
                 "CREATE INDEX a_items ON a USING lsh (items minutiae_ops)")
    first = 0
    rows = []
    for name, indexes, adopted in (("bare", "", []),
                                   ("alike", "CREATE INDEX alike_sig ON alike USING lsh (sig); "
                                                 "CREATE INDEX alike_hash ON alike USING lsh (hash)",
                                    ["alike_sig", "alike_hash"]),
                                   # a threshold is no part of what an index is of
                                   ("lower", "CREATE INDEX lower_sig ON lower USING lsh (sig) WITH (threshold = 0.5)",
                                    ["lower_sig"]),
                                   ("partial", "CREATE INDEX partial_sig ON partial USING lsh (sig) WHERE id > 0", []),
                                   ("class", "CREATE INDEX class_items ON class USING lsh (items)", [])):
        conn.execute(
            "CREATE TABLE %s (LIKE a); INSERT INTO %s SELECT id + %d, sig, hash, ARRAY[id %% 64, id %% 50 + 64] "
            "FROM whole WHERE id <= 200; %s" % (name, name, first, indexes))
        before = dict(
            conn.execute("SELECT relname, relfilenode FROM pg_class WHERE relname = ANY (%s)", (adopted,)).fetchall())
        conn.execute("ALTER TABLE a ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)" % (name, first + 1, first + 201))
        first += 200
        after = dict(conn.execute("SELECT c.relname, c.relfilenode FROM pg_class c JOIN pg_inherits i "
                                  "ON i.inhrelid = c.oid WHERE relname = ANY (%s)", (adopted,)).fetchall())
        rows.append((name + ": taken as they are", (after, len(after)), (before, len(adopted))))
        known = one(conn, "SELECT count(*) FROM pg_inherits i JOIN pg_index x ON x.indexrelid = i.inhrelid "
                          "WHERE x.indrelid = '%s'::regclass" % name)
        rows.append((name + ": three that the parent knows", known, 3))
    equal_all("ATTACH", rows)
    conn.execute("SET enable_seqscan = off; ANALYZE a")
    found = scans(conn, expand("SELECT id FROM a WHERE jaccard(sig, Q) >= 0.8"))
    equal("attached partitions answer by their indexes", found,
          {"bare": "bare_sig_idx", "alike": "alike_sig", "lower": "lower_sig", "partial": "partial_sig_idx",
           "class": "class_sig_idx"})
    # below the default threshold only the partition whose index serves it
    low = scans(conn, expand("SELECT id FROM a WHERE jaccard(sig, Q) >= 0.6"))
    check("each partition's index serves its own threshold",
          low["lower"] == "lower_sig" and low["bare"] != "bare_sig_idx", low)
    query = "SELECT (id - 1) % 200 + 1 FROM a WHERE jaccard(sig, Q) >= {0}"
    for bound in (0.6, 0.8):
        got = sorted(r[0] for r in conn.execute(expand(query.format(bound))))
        want = sorted(5 * [r[0] for r in conn.execute(
            expand("SELECT id FROM whole WHERE id <= 200 AND jaccard(sig, Q) >= %s" % bound))])
        check("five times the rows, at %s" % bound, len(want) > 5 and got == want, "%s %s" % (got, want))
    # in two steps, so that no lock is held while indexes are built
    conn.execute("CREATE INDEX a_half ON ONLY a USING lsh (sig) WITH (threshold = 0.9)")
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_half'::regclass"
    equal("ON ONLY the parent: not valid yet", one(conn, valid), False)
    for name in ("bare", "alike", "lower", "partial", "class"):
        conn.execute("CREATE INDEX CONCURRENTLY %s_half ON %s USING lsh (sig) WITH (threshold = 0.9)" % (name, name))
        conn.execute("ALTER INDEX a_half ATTACH PARTITION %s_half" % name)
    equal("with an index of every partition it is", one(conn, valid), True)
    fails("CREATE INDEX CONCURRENTLY on the parent is PostgreSQL's error", conn,
          "CREATE INDEX CONCURRENTLY ON a USING lsh (sig)",
          text="cannot create index on partitioned table", state="0A000")


def detach(conn):
    """A detached partition keeps its rows and indexes; the parent forgets both."""
    for n, how in enumerate(("", "CONCURRENTLY")):
        name = ("bare", "alike")[n]
        query = expand("SELECT id FROM {0} WHERE jaccard(sig, Q) >= 0.8")
        before = sorted_rows(conn, query.format("a"))
        conn.execute("ALTER TABLE a DETACH PARTITION %s %s" % (name, how))
        kept = sorted_rows(conn, query.format(name))
        check("DETACH %s: its rows are where they were" % how,
              kept and sorted(kept + sorted_rows(conn, query.format("a"))) == before, kept)
        used = scans(conn, query.format(name))[name]
        check("DETACH %s: its index serves it" % how, used.startswith(name + "_"), used)
        equal("DETACH %s: and is the parent's no more" % how,
              one(conn, "SELECT count(*) FROM pg_inherits WHERE inhrelid = "
                        "'%s'::regclass" % used), 0)
        conn.execute("INSERT INTO %s (id, sig) SELECT %d, sig FROM whole WHERE id = 161" % (name, 200 * n + 1))
        equal("DETACH %s: rows come to it alone" % how, [len(sorted_rows(conn, query.format(t))) for t in (name, "a")],
              [len(kept) + 1, len(before) - len(kept)])
        conn.execute("DELETE FROM %s WHERE items IS NULL" % name)
        conn.execute(
            "ALTER TABLE a ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)" % (name, 200 * n + 1, 200 * n + 201))
        equal("DETACH %s and ATTACH: as before" % how, sorted_rows(conn, query.format("a")), before)
    conn.execute("RESET ALL")


def attach_and_detach(conn):
    attach(conn)
    detach(conn)


def rebuilt(conn):
    for statement in ("REINDEX INDEX by_day_sig", "REINDEX TABLE by_day", "REINDEX INDEX CONCURRENTLY by_day_hash",
                      "REINDEX TABLE CONCURRENTLY by_tenant", "VACUUM by_day, by_hash"):
        error = sql_error(conn, statement)
        check(statement, error is None, error)
    for statement in ("DELETE FROM {0} WHERE id % 7 = 3", "UPDATE {0} SET day = day + 40 WHERE id % 11 = 5",
                      "UPDATE {0} SET tenant = 5 - tenant WHERE id % 13 = 6", "TRUNCATE day_1"):
        if "TRUNCATE" in statement:  # the parameters of an empty partition are free again
            conn.execute(statement)
            conn.execute("INSERT INTO by_day SELECT * FROM whole WHERE day < '2026-02-01'")
            continue
        for parent in PARENTS + ("whole",):
            conn.execute(statement.format(parent))
    conn.execute("SET enable_seqscan = off")
    rows = []
    for condition, _ in CONDITIONS:
        for parent in PARENTS:
            query = expand("SELECT id, day, tenant FROM %s WHERE %s" % (parent, condition))
            rows.append((query[:60], sorted_rows(conn, query), sorted_rows(conn, whole(query))))
    conn.execute("RESET ALL")
    equal_all("after rows moved between partitions", rows)
    equal("all indexes are sound", sound(conn), [])


def parameters(conn):
    """Each partition's index keeps those of its own first row; signatures that are not comparable do not meet where
    pruning keeps them apart."""
    conn.execute("CREATE TABLE f (year int, id int, sig minhash) PARTITION BY LIST (year); "
                 "CREATE TABLE f_2025 PARTITION OF f FOR VALUES IN (2025);"
                 "CREATE TABLE f_2026 PARTITION OF f FOR VALUES IN (2026); CREATE INDEX ON f USING lsh (sig)")
    conn.execute("INSERT INTO f SELECT 2025, i, to_minhash('a b c d e f ' || i / 3, 2, 'word', 64) "
                 "FROM generate_series(1, 300) i")
    conn.execute("INSERT INTO f SELECT 2026, i, to_minhash('a b c d e f ' || i / 3, 3) FROM generate_series(1, 300) i")
    frozen = [one(conn, "SELECT parameters FROM lsh_info('f_%d_sig_idx')" % y) for y in (2025, 2026)]
    check("a partition has its own parameters", "word 2, 64x32" in frozen[0] and "word 3, 128x32" in frozen[1], frozen)
    fails("another signature in a partition", conn, "INSERT INTO f SELECT 2025, 0, to_minhash('a b c')",
          text="signature was not made like those of the index", state="42804", hint="minhash_like")
    fails("a row that moves between them", conn, "UPDATE f SET year = 2025 WHERE year = 2026",
          text="signature was not made like those of " "the index", state="42804")
    query = "SELECT id FROM f WHERE jaccard(sig, to_minhash('a b c d e f 7')) >= 0.9"
    for scan in ("on", "off"):
        conn.execute("SET enable_seqscan = %s" % scan)
        fails("a query of both, enable_seqscan = %s" % scan, conn, query,
              text="cannot compare signatures made differently")
        equal("a query of the one that is comparable, enable_seqscan = %s" % scan,
              len(sorted_rows(conn, query + " AND year = 2026")), 3)
    conn.execute("RESET ALL")
    fails("a partition of another type", conn,
          "CREATE TABLE f_x (year int, id int, sig simhash); ALTER TABLE f ATTACH PARTITION f_x FOR VALUES IN (1)",
          text="different type", state="42804")
    conn.execute("CREATE TABLE f_2027 (LIKE f); INSERT INTO f_2027 SELECT 2027, 1, to_minhash('a'); "
                 "INSERT INTO f_2027 SELECT 2027, 1, to_minhash('a', 2)")
    fails("a partition of several parameters", conn, "ALTER TABLE f ATTACH PARTITION f_2027 FOR VALUES IN (2027)",
          text="signature was not made like those of the index", state="42804")


def constraints(conn):
    """Constraints that PostgreSQL does not have for partitioned tables, and their substitutes."""
    conn.execute("CREATE TABLE c (tenant int, id int, sig minhash, PRIMARY KEY (id, tenant)) PARTITION BY LIST "
                 "(tenant);CREATE TABLE c_1 PARTITION OF c FOR VALUES IN (1); "
                 "CREATE TABLE c_2 PARTITION OF c FOR VALUES IN (2) PARTITION BY RANGE (id); "
                 "CREATE TABLE c_2_low PARTITION OF c_2 FOR VALUES FROM (0) TO (100)")
    e = sql_error(conn, "ALTER TABLE c ADD EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&)")
    check("an exclusion constraint on the parent is PostgreSQL's error", e is not None and e.sqlstate == "0A000", e)
    if conn.info.server_version >= 170000:  # where it has the partition key
        conn.execute("CREATE TABLE x (tenant int, sig minhash, EXCLUDE USING lsh (tenant "
                     "WITH =, with_threshold(sig, 0.9) WITH &&)) PARTITION BY LIST (tenant); "
                     "CREATE TABLE x_1 PARTITION OF x FOR VALUES IN (1); CREATE TABLE x_2 PARTITION OF x DEFAULT")
        conn.execute("INSERT INTO x SELECT t, sig FROM whole, generate_series(1, 2) t WHERE id = 162")
        fails("an exclusion constraint of the parent, with the partition key", conn,
              "INSERT INTO x SELECT 2, sig FROM whole WHERE id = 162",
              text="conflicting key value violates exclusion constraint", state="23P01")
    fails("a unique lsh index is PostgreSQL's error", conn, "CREATE UNIQUE INDEX ON c USING lsh (sig)",
          text='access method "lsh" does not support unique indexes', state="0A000")
    conn.execute("ALTER TABLE c_1 ADD EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&)")
    put = "INSERT INTO %s SELECT %d, %d, sig FROM whole WHERE id = %d"
    conn.execute(put % ("c", 1, 1, 162))
    fails("a partition has its own", conn, put % ("c", 1, 2, 162),
          text="conflicting key value violates exclusion constraint", state="23P01")
    conn.execute(put % ("c", 2, 2, 162))
    conn.execute("TRUNCATE c; CREATE INDEX ON c USING lsh (sig)")
    conn.execute(
        "CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON c FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9')")
    conn.execute("CREATE TABLE c_2_high PARTITION OF c_2 FOR VALUES FROM (100) TO (200); "
                 "CREATE TABLE c_3 (LIKE c INCLUDING INDEXES)")
    conn.execute(put % ("c_3", 3, 3, 241))
    conn.execute("ALTER TABLE c ATTACH PARTITION c_3 FOR VALUES IN (3)")
    conn.execute(put % ("c", 1, 1, 162))
    refused = dict(text='violates guard "guard"', state="23P01")
    for name, statement in {"in another partition": put % ("c", 2, 5, 162),
                            "in one that came later": put % ("c", 2, 105, 162),
                            "in it by its name": put % ("c_2_high", 2, 105, 162),
                            "of a row that came by ATTACH": put % ("c", 1, 6, 241),
                            "in the attached one": put % ("c_3", 3, 7, 162)}.items():
        fails("neardup_guard: a copy " + name, conn, statement, **refused)
    conn.execute("ALTER TABLE c DETACH PARTITION c_3")
    conn.execute(put % ("c", 1, 6, 241))
    fails("neardup_guard: an attached partition's rows are looked through as well as others", conn,
          put % ("c", 2, 8, 241), **refused)


# Recipes -------------------------------------------------------------------------------------------------------------

def deduplicate(conn):
    """The recipe of docs/distributed.md: what is left after it has no copies, and all that is gone had one."""
    conn.execute("CREATE TABLE arrived (LIKE by_day INCLUDING ALL)")
    conn.execute("INSERT INTO arrived SELECT 100000 + id, '2026-06-01', tenant, body, sig, hash, digest, items "
                 "FROM whole WHERE id % 3 = 0 AND id % 16 < 8")
    conn.execute("INSERT INTO arrived SELECT 200000 + i, '2026-06-01', 0, b, to_minhash(b) "
                 "FROM generate_series(1, 200) i, LATERAL (SELECT string_agg(md5((i / 4 + 7000)::text || e), ' ') "
                 "FROM generate_series(1, 50 + i % 4) e) x(b)")
    conn.execute("ANALYZE arrived")
    older = conn.execute("SELECT count(*) FROM by_day").fetchone()
    conn.execute("CREATE TABLE before AS TABLE arrived")
    n = conn.execute("DELETE FROM arrived a USING all_clusters('SELECT id, sig FROM arrived ORDER BY id', 0.8) c "
                     "WHERE c.id = a.id AND NOT c.survivor").rowcount
    conn.execute("SET enable_seqscan = off")
    gone = "DELETE FROM arrived a WHERE EXISTS (SELECT FROM by_day d WHERE jaccard(d.sig, a.sig) >= 0.8)"
    found = scans(conn, gone)
    check("each older partition is searched by its index",
          {found.get(p) for p in LEAVES["by_day"]} == {p + "_sig_idx" for p in LEAVES["by_day"]}, found)
    by_pairs = sorted_rows(
        conn,
        "SELECT DISTINCT id_b FROM pairs_between('SELECT id, sig FROM by_day', 'SELECT id, sig FROM arrived', 0.8)")
    m = conn.execute(gone).rowcount
    conn.execute("RESET ALL")
    equal("as many as by pairs_between", m, len(by_pairs))
    check("copies within and across", n > 100 and m > 50, "%d %d" % (n, m))
    conn.execute("ALTER TABLE by_day DETACH PARTITION day_4; ALTER TABLE by_day ATTACH PARTITION day_4 FOR VALUES "
                 "FROM ('2026-04-01') TO ('2026-06-01')")
    conn.execute("ALTER TABLE by_day ATTACH PARTITION arrived FOR VALUES FROM ('2026-06-01') TO (MAXVALUE)")
    equal("nothing in the new partition has a copy",
          one(conn, "SELECT count(*) FROM all_pairs('SELECT id, sig FROM by_day', 0.8) WHERE id_b > 100000"), 0)
    equal("all that is gone has one",
          one(conn, "SELECT count(*) FROM before b WHERE id NOT IN (SELECT id FROM arrived) AND NOT EXISTS (SELECT "
                    "FROM by_day d WHERE jaccard(d.sig, b.sig) >= 0.8)"), 0)
    equal("older rows stay", conn.execute("SELECT count(*) FROM by_day WHERE id < 100000").fetchone(), older)


def jobs(conn):
    """A refresh takes up the rows of a partition that came, or went, and no others."""
    conn.execute(
        "CREATE TABLE j (id int, body text) PARTITION BY RANGE (id); CREATE TABLE j_1 PARTITION OF j FOR VALUES "
        "FROM (1) TO (501);CREATE TABLE j_2 (LIKE j); INSERT INTO j_2 SELECT id, body FROM whole WHERE id BETWEEN 501 "
        "AND 600 UNION ALL SELECT id + 400, body FROM whole WHERE id BETWEEN 201 AND 300;"
        "INSERT INTO j SELECT id, body FROM whole WHERE id <= 500")
    conn.execute("SELECT create_duplicates('dups', 'j', 'id', 'body')")
    listed = []

    def same(name):
        conn.execute("CALL refresh_duplicates('dups')")
        equal("a job: " + name, table(conn, "dups"), from_scratch(conn, "'body'", source="j"))
        listed.append(one(conn, "SELECT total FROM dups_job"))
    same("first")
    conn.execute("ALTER TABLE j ATTACH PARTITION j_2 FOR VALUES FROM (501) TO (1001)")
    check("copies across partitions to find",
          one(conn, "SELECT count(*) FROM all_pairs('SELECT id, to_minhash(body) FROM j', 0.8) WHERE id_a <= "
                    "500 AND id_b > 500") > 50)
    same("ATTACH")
    same("nothing has changed")
    conn.execute("ALTER TABLE j DETACH PARTITION j_2")
    same("DETACH")
    conn.execute("ALTER TABLE j ATTACH PARTITION j_2 FOR VALUES FROM (501) TO (1001)")
    conn.execute("UPDATE j SET id = id + 500 WHERE id BETWEEN 11 AND 15 AND NOT EXISTS (SELECT FROM j x "
                 "WHERE x.id = j.id + 500)")
    same("ATTACH again")
    conn.execute("VACUUM FULL j_1")  # rows lie elsewhere, and are not signed again
    same("rows moved within a partition")
    before, after, idle, gone, again = listed[:5]
    want = one(conn, "SELECT count(*) FROM j_2 WHERE id NOT BETWEEN 511 AND 515")
    check("only rows of the partition that comes or goes are looked at", idle == 0 and gone == after and after >= want,
          listed)
    conn.execute("SELECT drop_duplicates('dups')")


def main():
    with database() as name:
        with connect(name) as conn:
            make(conn)
        in_copies(name, declared, pruning, pruning_at_run_time, workers, ordered, joins, attach_and_detach, parameters,
                  constraints, jobs, deduplicate, rebuilt)


finish(main)
