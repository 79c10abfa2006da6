#!/usr/bin/python3
"""Citus: a coordinator and two workers. The blocks of docs/citus.md, compared with a single server. If Citus is not
installed for this PostgreSQL, the test is skipped."""
import re

from servers import *

SETTINGS_OF_CITUS = """
shared_preload_libraries = 'citus'
max_prepared_transactions = 50
max_connections = 60
citus.shard_count = 6
citus.max_background_task_executors_per_node = 1
"""


def installed():
    extension = pg_config("--sharedir") + "/extension/citus.control"
    return any(os.path.exists(prefix + extension) for prefix in {DESTDIR, ""})


def cluster():
    """Coordinator and workers, in the database app. Nodes are named by the folders of their sockets."""
    nodes = []
    for _ in range(3):
        node = Server(SETTINGS_OF_CITUS)
        node.configure("citus.local_hostname = '%s'" % node.folder)
        nodes.append(node.start())
    for node in nodes:
        node.connect().execute("CREATE DATABASE app")
        node.connect("app").execute("CREATE EXTENSION citus")
    conn = nodes[0].connect("app")
    conn.execute("SELECT citus_set_coordinator_host(%s, 5432)", (nodes[0].folder,))
    for node in nodes[1:]:
        conn.execute("SELECT citus_add_node(%s, 5432)", (node.folder,))
    return nodes, conn


def guide():
    """The blocks of docs/citus.md, in order."""
    with open(os.path.join(ROOT, "docs", "citus.md"), encoding="utf-8") as f:
        blocks = sql_blocks(f.read())
    check("docs/citus.md has blocks", len(blocks) >= 5, len(blocks))
    return "\n".join(blocks)


def single(name, conn):
    """The same rows in one table, and what that says."""
    rows = conn.execute("SELECT id, published, body, sig::text FROM articles").fetchall()
    with connect(name) as one_server:
        one_server.execute("CREATE TABLE articles (id bigint PRIMARY KEY, published date, body text, sig minhash)")
        with one_server.cursor() as cur, cur.copy("COPY articles FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        equal("signatures made on the shards are those made here",
              one(one_server, "SELECT count(*) FROM articles WHERE sig IS DISTINCT FROM to_minhash(body)"), 0)
        pairs = one_server.execute(
            "SELECT * FROM all_pairs('SELECT id, sig FROM articles', 0.8) ORDER BY 1, 2").fetchall()
        clusters = one_server.execute(
            "SELECT id, cluster, representative, similarity, survivor FROM all_clusters('SELECT id, sig FROM articles "
            "ORDER BY published, id', 0.8) ORDER BY id").fetchall()
        found = {q: one_server.execute(
            "SELECT id FROM articles WHERE jaccard(sig, (SELECT sig FROM articles WHERE id = %s)) > 0.75 ORDER BY id",
            (q,)).fetchall() for q in (1, 42, 777, 3999)}
        union = one(one_server, "SELECT minhash_union_agg(sig)::text FROM articles")
        words = one(
            one_server, "SELECT minhash_agg(w)::text FROM articles, string_to_table(body, ' ') w WHERE id < 500")
    return len(rows), pairs, clusters, found, union, words


def search(conn, q):
    return conn.execute(
        "SELECT id FROM articles WHERE jaccard(sig, (SELECT sig FROM articles WHERE id = %s)) > 0.75 ORDER BY id",
        (q,)).fetchall()


def distributed(name):
    nodes, conn = cluster()
    script = tool("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", nodes[0].folder, "-p", "5432", "-U", "postgres",
                  "-d", "app", input=guide())
    check("docs/citus.md runs", script.returncode == 0, script.stderr[-600:])
    equal("the extension is on every node",
          [one(n.connect("app"), "SELECT count(*) FROM pg_extension WHERE extname = 'neardup'") for n in nodes],
          [1, 1, 1])
    check("its checks of the shards' indexes are sound", re.search(r"^ t +\| +6$", script.stdout, re.M),
          script.stdout[-300:])

    rows, pairs, clusters, found, union, words = single(name, conn)
    check("there are rows and pairs to compare", rows == 4000 and len(pairs) > 3000, (rows, len(pairs)))
    equal("pairs by the repartition join are all pairs of one table",
          conn.execute("TABLE article_pairs ORDER BY 1, 2").fetchall(), pairs)
    equal("the table of duplicates is that of one table", conn.execute("TABLE article_copies ORDER BY 1").fetchall(),
          clusters)
    equal_all("searches through the coordinator", [(q, search(conn, q), want) for q, want in found.items()])
    equal("an aggregate of all shards", one(conn, "SELECT minhash_union_agg(sig)::text FROM articles"), union)
    equal(
        "an aggregate over words",
        one(conn,
            "SELECT minhash_agg(w)::text FROM (SELECT string_to_table(body, ' ') AS w FROM articles WHERE id < 500) x"),
        words)

    conn.execute("SET citus.explain_all_tasks = on")
    plan = "\n".join(
        r[0] for r in conn.execute("EXPLAIN (COSTS OFF) SELECT id FROM articles "
                                   "WHERE jaccard(sig, to_minhash('some words that are not there')) > 0.8"))
    equal("every shard searches by its index", len(re.findall("Index Scan (using|on) articles_sig_", plan)), 6)
    plan = "\n".join(
        r[0] for r in conn.execute("EXPLAIN (COSTS OFF) SELECT x.id FROM article_keys x JOIN article_keys y "
                                   "ON x.key = y.key AND x.id < y.id AND jaccard(x.sig, y.sig) >= 0.8"))
    check("the pairs are joined on the shards", "Task Count: 6" in plan and "MapMerge" not in plan, plan)

    for binary in ("on", "off"):
        conn.execute("SET citus.enable_binary_protocol = %s" % binary)
        equal("signatures come through, binary protocol %s" % binary,
              one(conn, "SELECT count(*) FROM articles a JOIN (SELECT id, sig FROM articles ORDER BY id LIMIT 1000) b "
                        "USING (id) WHERE jaccard(a.sig, b.sig) = 1"), 1000)
    conn.execute("RESET citus.enable_binary_protocol")

    conn.execute("PREPARE near (text) AS SELECT id FROM articles WHERE jaccard(sig, to_minhash($1)) > 0.75 "
                 "ORDER BY sig <%> to_minhash($1), id LIMIT 3")
    body = one(conn, "SELECT body FROM articles WHERE id = 42")
    answers = [conn.execute(sql.SQL("EXECUTE near ({})").format(body)).fetchall() for _ in range(8)]
    check("a prepared statement, again and again, the nearest first",
          answers[0][0] == (42,) and all(a == answers[0] for a in answers), answers)

    conn.execute("CREATE TABLE wanted (id int, sig minhash); SELECT create_reference_table('wanted')")
    conn.execute("INSERT INTO wanted SELECT id, sig FROM articles WHERE id IN (41, 777, 3000)")
    joined = conn.execute(
        "SELECT w.id, a.id FROM wanted w JOIN articles a ON jaccard(a.sig, w.sig) >= 0.8 ORDER BY 1, 2").fetchall()
    near = {tuple(sorted(p[:2])) for p in pairs}
    equal("a join with a reference table", joined,
          sorted((w, a) for w in (41, 777, 3000) for a in range(1, 4001) if a == w or tuple(sorted((a, w))) in near))

    conn.execute("ALTER TABLE articles ADD hash simhash, ADD digest ctph, ADD items int[]")
    conn.execute("UPDATE articles SET hash = to_simhash(body), digest = to_ctph(body), items = ARRAY[id, id / 4, 7]")
    conn.execute("CREATE INDEX CONCURRENTLY articles_hash ON articles USING lsh (hash)")
    conn.execute("CREATE INDEX articles_digest ON articles USING lsh (digest)")
    conn.execute("CREATE INDEX articles_items ON articles USING lsh (items)")
    for condition in ("hamming(hash, '%s') <= 3", "ctph_score(digest, '%s') >= 60",
                      "jaccard_exact(items, '%s') >= 0.5"):
        column = condition[condition.index("(") + 1:condition.index(",")]
        query = "SELECT id FROM articles WHERE %s ORDER BY id" % (
            condition % one(conn, "SELECT %s::text FROM articles WHERE id = 42" % column))
        conn.execute("SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off")
        want = conn.execute(query).fetchall()
        conn.execute("RESET enable_seqscan; RESET enable_indexscan; RESET enable_bitmapscan")
        check("%s: the shards' indexes give what their rows give" % column,
              want and conn.execute(query).fetchall() == want, want)

    fails("a copy within a tenant is refused", conn,
          "INSERT INTO submissions SELECT tenant_id, id + 5000, body FROM submissions WHERE id = 1", state="23P01")
    conn.execute("CREATE MATERIALIZED VIEW article_signatures AS SELECT id, published, sig FROM articles")
    conn.execute("SELECT create_duplicates('kept_copies', 'article_signatures', 'id', signature => 'sig', order_by => "
                 "'published')")
    conn.execute("CALL refresh_duplicates('kept_copies')")
    equal("a job over a materialized view on the coordinator",
          conn.execute("SELECT id, representative, survivor FROM kept_copies ORDER BY id").fetchall(),
          [(c[0], c[2], c[4]) for c in clusters])

    shard, node = conn.execute(
        "SELECT shardid, nodename FROM pg_dist_shard JOIN pg_dist_shard_placement USING (shardid) "
        "WHERE logicalrelid = 'articles'::regclass ORDER BY shardid LIMIT 1").fetchone()
    other = next(n.folder for n in nodes[1:] if n.folder != node)
    conn.execute("SELECT citus_move_shard_placement(%s, %s, 5432, %s, 5432, shard_transfer_mode => 'block_writes')",
                 (shard, node, other))
    equal("a shard has moved", one(conn, "SELECT nodename FROM pg_dist_shard_placement WHERE shardid = %s", (shard,)),
          other)
    equal_all("searches after it", [(q, search(conn, q), want) for q, want in found.items()])
    equal("indexes are sound after it",
          conn.execute("SELECT bool_and(success), count(*) "
                       "FROM run_command_on_shards('articles', $$SELECT lsh_check(replace('%s', "
                       "'articles', 'articles_sig')::regclass, true)$$)").fetchall(), [(True, 6)])

    nodes[2].stop()
    fails("a worker that is gone is an error", conn,
          "SELECT count(*) FROM articles WHERE jaccard(sig, to_minhash('a b c d')) > 0.75", state="08006")
    nodes[2].start()
    equal_all("and searches go on when it is back", [(q, search(conn, q), want) for q, want in found.items()])
    conn.close()
    for node in nodes:
        check("nothing alarming in the log", not node.alarms(), node.alarms())
        node.remove()


def main():
    guide()
    if not installed():
        skip("Citus is not installed for this PostgreSQL (%s)" % pg_config("--version"))
        return
    with database("_single") as name:
        sections((distributed, name))


finish(main)
