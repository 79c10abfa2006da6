"""The contents of a user's database after some time with neardup, and its answers: signatures, indexes, constraints,
triggers, jobs, word models. For tests that move a database to another version.

MAKE and ASK are of the first release, 0.1.0. STORE is the part of MAKE that this library still serves by that SQL.
LATER has what later releases brought. A database has what there was up to a version: `upto`."""
import re

from harness import *

TEXT = ("(SELECT string_agg('w' || translate((hash_of % 4001)::text, '0123456789', 'abcdefghij'), ' ' ORDER BY j) "
        "FROM generate_series(1, 60) j, LATERAL (SELECT abs(hashint8((CASE WHEN j = i % 7 + 20 THEN i "
        "ELSE i / 4 END) * 1000::bigint + j)) AS hash_of) h)")

# Statement by statement: some of them cannot be in a transaction block.
STORE = [
    "CREATE TABLE article (id int PRIMARY KEY, tenant int, published date, body text, items int[],"
        " sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, hash simhash, digest ctph)",
    "INSERT INTO article (id, tenant, published, body) SELECT i, i % 3, date '2026-01-01' + i % 100, " + TEXT + " FROM "
        "generate_series(1, 800) i",
    "UPDATE article SET hash = to_simhash(body), digest = to_ctph(body), "
        "items = ARRAY(SELECT abs(hashint4(id / 4 * 100 + j)) % 1000 FROM generate_series(1, 12 + id % 3) j)",
    "CREATE INDEX article_sig ON article USING lsh (sig)",
    "CREATE INDEX article_hash ON article USING lsh (hash)",
    "CREATE INDEX article_digest ON article USING lsh (digest)",
    "CREATE INDEX article_items ON article USING lsh (items)",
    "CREATE INDEX article_of_tenant ON article USING lsh (tenant, sig) WITH (threshold = 0.6)",
    "CREATE INDEX article_body ON article USING lsh (to_minhash(body, 2))",
    "CREATE TABLE kept (id int PRIMARY KEY, body text, EXCLUDE USING lsh (with_threshold(to_minhash(body), 0.9) "
        "WITH &&))",
    "INSERT INTO kept SELECT id, body FROM article WHERE id % 4 = 0 ORDER BY id ON CONFLICT DO NOTHING",
    "CREATE TABLE mail (id int, sent date, body text, copy_of int) PARTITION BY RANGE (sent)",
    "CREATE TABLE mail_1 PARTITION OF mail FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')",
    "CREATE TABLE mail_2 PARTITION OF mail FOR VALUES FROM ('2026-02-01') TO ('2026-12-31')",
    "CREATE INDEX mail_body ON mail USING lsh (to_minhash(body))",
    "CREATE TRIGGER zz_guard BEFORE INSERT OR UPDATE ON mail FOR EACH ROW EXECUTE FUNCTION "
        "neardup_guard('to_minhash(body)', '0.85', 'skip')",
    "INSERT INTO mail SELECT id, published, body FROM article WHERE id <= 120",
    "CREATE VIEW near AS SELECT a.id AS a, b.id AS b, jaccard(a.sig, b.sig) AS similarity "
        "FROM article a JOIN article b ON a.id < b.id AND jaccard(a.sig, b.sig) >= 0.7",
    "CREATE MATERIALIZED VIEW anchors AS SELECT id, cluster_anchor(sig, 0.8) OVER (ORDER BY id) AS kept FROM article",
    "CREATE TABLE kind (id int PRIMARY KEY, feats bigint[], cells int[], short minhash(64, 16), bytes minhash(32, 8), "
        "weighed minhash)",
    "INSERT INTO kind SELECT id, ARRAY(SELECT hashint8((id / 4 * 100 + j)::bigint)::bigint "
        "FROM generate_series(1, 30 + id % 3) j), ARRAY(SELECT DISTINCT abs(hashint4(id / 4 * 1000 + j) % 4096) "
        "FROM generate_series(1, 800 + id % 4) j), to_minhash(body, num_perm => 64, bits => 16),"
        " to_minhash(convert_to(body, 'UTF8'), num_perm => 32, bits => 8),"
        " weighted_minhash(string_to_array(body, ' '), ARRAY(SELECT 1 + j % 3 "
        "FROM generate_series(1, cardinality(string_to_array(body, ' '))) j)) FROM article WHERE id <= 200",
    "CREATE INDEX kind_feats ON kind USING lsh (feats)",
    "CREATE INDEX kind_cells ON kind USING lsh (cells minutiae_ops (functions = 1024, cells = 3))",
    "CREATE INDEX kind_short ON kind USING lsh (short) WITH (threshold = 0.8) WHERE id % 2 = 0",
    "CREATE INDEX kind_bytes ON kind USING lsh (bytes)",
    "CREATE INDEX kind_weighed ON kind USING lsh (weighed)",
    "CREATE TABLE kept_of_tenant (id int PRIMARY KEY, tenant int, q lsh_query, EXCLUDE USING lsh (tenant WITH =, q "
        "WITH &&))",
    "INSERT INTO kept_of_tenant SELECT id, tenant, with_threshold(sig, 0.9) FROM article WHERE id <= 200 "
        "ORDER BY id ON CONFLICT DO NOTHING",
]
MAKE = [
    *STORE,
    "SELECT create_profile('narrow', base => 'web', k => 2, num_perm => 64)",
    "SELECT create_duplicates('copies', 'article', 'id', 'body', order_by => 'published')",
    "CALL refresh_duplicates('copies')",
    "SELECT create_duplicates('narrow_copies', 'article', 'id', 'body', profile => 'narrow', within => '{tenant}', "
        "threshold => 0.6)",
    "CALL refresh_duplicates('narrow_copies', batch => 100)",
    "SELECT create_lexicon('lexicon', 'SELECT body FROM article')",
    "CALL create_word_model('model', 'SELECT body FROM article ORDER BY id', vocabulary => 400, k => 5)",
]

# Queries by one lsh index each.
NEAR = [
    "SELECT id FROM article WHERE jaccard(sig, (SELECT sig FROM article WHERE id = 41)) >= 0.75 ORDER BY id",
    "SELECT id FROM article WHERE tenant = 2 AND jaccard(sig, (SELECT sig FROM article WHERE id = 41)) >= 0.6 "
        "ORDER BY id",
    "SELECT id FROM article WHERE jaccard(to_minhash(body, 2), to_minhash((SELECT body FROM article "
        "WHERE id = 90), 2)) > 0.8 ORDER BY id",
    "SELECT id FROM article WHERE hamming(hash, (SELECT hash FROM article WHERE id = 41)) <= 3 ORDER BY id",
    "SELECT id, ctph_score(digest, (SELECT digest FROM article WHERE id = 41)) FROM article "
        "WHERE ctph_score(digest, (SELECT digest FROM article WHERE id = 41)) >= 60 ORDER BY id",
    "SELECT id FROM article WHERE jaccard_exact(items, (SELECT items FROM article WHERE id = 41)) >= 0.8 ORDER BY id",
    "SELECT id FROM article WHERE jaccard(sig, (SELECT sig FROM article WHERE id = 7)) > 0.75 "
        "ORDER BY sig <%> (SELECT sig FROM article WHERE id = 7), id LIMIT 5",
    "SELECT id FROM kind WHERE jaccard_exact(feats, (SELECT feats FROM kind WHERE id = 41)) >= 0.8 ORDER BY id",
    "SELECT id FROM kind WHERE jaccard_exact(cells, (SELECT cells FROM kind WHERE id = 41)) >= 0.9 ORDER BY id",
    "SELECT id FROM kind WHERE id % 2 = 0 AND jaccard(short, (SELECT short FROM kind WHERE id = 42)) >= 0.8 "
        "ORDER BY id",
    "SELECT id FROM kind WHERE jaccard(bytes, (SELECT bytes FROM kind WHERE id = 41)) >= 0.8 ORDER BY id",
    "SELECT id FROM kind WHERE jaccard(weighed, (SELECT weighed FROM kind WHERE id = 41)) >= 0.8 ORDER BY id",
]

# Questions whose answers must be the same wherever the database goes.
ASK = [
    *NEAR,
    "SELECT id, sig::text, hash::text, digest::text, items::text FROM article ORDER BY id",
    "SELECT id, sig::text, hash::text, digest::text FROM article WHERE id % 40 = 0 ORDER BY id",
    "TABLE near ORDER BY a, b",
    "TABLE anchors ORDER BY id",
    "SELECT * FROM all_pairs('SELECT id, hash FROM article', 61 / 64.0) ORDER BY 1, 2",
    "SELECT id FROM kept ORDER BY id",
    "SELECT id FROM mail ORDER BY id",
    "SELECT id FROM kept_of_tenant ORDER BY id",
    "SELECT id, representative, similarity, survivor FROM copies ORDER BY id",
    "SELECT id, representative, similarity, survivor FROM narrow_copies ORDER BY id",
    "SELECT job::text, phase, done, last_error FROM duplicates_status ORDER BY 1",
    "SELECT term, document_frequency, idf FROM lexicon ORDER BY 1",
    "SELECT i_match((SELECT body FROM article WHERE id = 5), 'lexicon')::text",
    "SELECT id, word, frequency, weight, features, similar_ids, similarities FROM model ORDER BY id",
    "SELECT * FROM similar_words('model', (SELECT word FROM model WHERE id = 3), 4)",
    "SELECT word_similarity('model', (SELECT word FROM model WHERE id = 3), (SELECT o.word FROM model m JOIN model o "
        "ON o.id = m.similar_ids[1] WHERE m.id = 3))",
    "SELECT * FROM expand_query('model', 'wf wj nothing', 2)",
]

INDEXES = ("article_sig", "article_hash", "article_digest", "article_items", "article_of_tenant", "article_body",
           "kept_with_threshold_excl", "mail_1_to_minhash_idx", "mail_2_to_minhash_idx", "kind_feats", "kind_cells",
           "kind_short", "kind_bytes", "kind_weighed", "kept_of_tenant_tenant_q_excl")


class Brought:
    """The novelties of a release: statements that make some of it, queries by one lsh index each, other questions,
    names of indexes."""

    def __init__(self, make, near=(), ask=(), indexes=()):
        self.make, self.near, self.ask, self.indexes = make, near, [*near, *ask], indexes


# Rows that are written by that release's library, into indexes of before, too.
LATER = {
    "0.2.0":
        Brought([
                    "INSERT INTO article (id, tenant, published, body) SELECT i, i % 3, date '2026-01-01' + i % 100, "
                        + TEXT + " FROM generate_series(801, 900) i",
                    "UPDATE article SET hash = to_simhash(body), digest = to_ctph(body), "
                        "items = ARRAY(SELECT abs(hashint4(id / 4 * 100 + j)) % 1000 "
                        "FROM generate_series(1, 12 + id % 3) j) WHERE id > 800",
                    "CREATE INDEX article_later ON article USING lsh (to_minhash(body, 4, 'char'))",
                    "SELECT create_duplicates('later_copies', 'article', 'id', signature => 'sig', threshold => 0.7, "
                        "linkage => 'connected')",
                    "CALL refresh_duplicates('later_copies')",
                    "CALL create_word_model('sparing', 'SELECT body FROM article ORDER BY id', vocabulary => 300, "
                        "k => 3, discount => 0.5)",
                    "VACUUM article",
                ],
                ["SELECT id FROM article WHERE jaccard(to_minhash(body, 4, 'char'), to_minhash((SELECT body "
                 "FROM article WHERE id = 850), 4, 'char')) >= 0.8 ORDER BY id"],
                ["SELECT id, representative, similarity, survivor FROM later_copies ORDER BY id",
                 "SELECT id, word, weight, similar_ids, similarities FROM sparing ORDER BY id"],
                ("article_later",)),
    "0.3.0":
        Brought([
                    "ALTER TABLE kind ADD code bit(64), ADD lines minhash",
                    "UPDATE kind k SET code = a.hash::bit(64), lines = to_minhash(replace(body, ' ', E'\\n'), 2, "
                        "'line') FROM article a WHERE a.id = k.id",
                    "CREATE INDEX kind_code ON kind USING lsh (code)",
                    "CREATE INDEX kind_lines ON kind USING lsh (lines)",
                    "SELECT create_duplicates('parts', 'kind', 'id', signature => 'feats', measure => 'containment', "
                        "threshold => 0.8, keep => 'newest', order_by => 'id')",
                    "CALL refresh_duplicates('parts')",
                ],
                ["SELECT id FROM kind WHERE bit_hamming(code, (SELECT code FROM kind WHERE id = 41)) <= 3 ORDER BY id",
                 "SELECT id FROM kind WHERE jaccard(lines, (SELECT lines FROM kind WHERE id = 41)) >= 0.8 ORDER BY id"],
                ["SELECT id, representative, similarity, survivor FROM parts ORDER BY id"],
                ("kind_code", "kind_lines")),
    # This release's queries go by indexes that the releases before made.
    "0.4.0":
        Brought([],
                ["SELECT id FROM article WHERE dice_exact(items, (SELECT items FROM article WHERE id = 40)) >= 0.5 "
                 "ORDER BY id",
                 "SELECT id FROM article WHERE set_cosine_exact((SELECT items FROM article WHERE id = 41), items) "
                 "> 0.6 ORDER BY id"],
                [], ()),
}


def version_key(version):
    return tuple(map(int, version.split(".")))


def brought(upto):
    return [b for v, b in LATER.items() if upto and version_key(v) <= version_key(upto)]


def index_names(upto):
    return [*INDEXES, *(i for b in brought(upto) for i in b.indexes)]


def make(conn):
    for statement in MAKE:
        conn.execute(statement)


def make_later(conn, version):
    """Makes the novelties of that release, in a database that has all of before."""
    for statement in LATER[version].make if version in LATER else ():
        conn.execute(statement)


def answers(conn, indexes=True, upto=None):
    """The answers by the lsh indexes, or by reading all rows."""
    conn.execute("SET enable_seqscan = %s; SET enable_indexscan = %s; SET enable_bitmapscan = %s" % (
        ("off", "on", "on") if indexes else ("on", "off", "off")))
    ask = [*ASK, *(q for b in brought(upto) for q in b.ask)]
    out = {q: conn.execute(q).fetchall() for q in ask}
    conn.execute("RESET enable_seqscan; RESET enable_indexscan; RESET enable_bitmapscan")
    empty = [q for q in ask if not out[q] or out[q] == [(None,)]]
    if empty:
        check("every question has an answer", False, empty)
    return out


def same(name, got, want):
    """One result line for each kind of answer."""
    return equal_all(name, [(q[:90], got[q], want[q]) for q in want])


def sound(name, conn, upto=None):
    rows = [(i, one(conn, "SELECT coalesce(string_agg(x::text, '; '), '') FROM lsh_check(%s, true) x", (i,)),
             "") for i in index_names(upto)]
    return equal_all(name + ": every index is sound", rows)


def served(name, conn, upto=None):
    """The planner still takes the indexes, where it may read no other way."""
    wait_for_indexes(conn)
    conn.execute("SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off")
    bad = []
    for query in [*NEAR, *(q for b in brought(upto) for q in b.near)]:
        plan = "\n".join(r[0] for r in conn.execute("EXPLAIN (COSTS OFF) " + query))
        if not re.search(r"Bitmap Index Scan on (?:%s)\b" % "|".join(index_names(upto)), plan):
            bad.append(plan)
    conn.execute("RESET enable_seqscan; RESET enable_indexscan; RESET enable_indexonlyscan")
    return check(name + ": queries go through the indexes", not bad, bad)


def guarded(name, conn):
    """Constraints refuse a copy, and take what is none; a trigger leaves a copy out."""
    with conn.transaction(force_rollback=True):
        fails_inside(name + ": the constraint refuses a copy", conn,
                     "INSERT INTO kept SELECT 100000, body FROM kept LIMIT 1", "23P01")
        fails_inside(name + ": that of several columns does, too", conn,
                     "INSERT INTO kept_of_tenant SELECT 100000, tenant, q FROM kept_of_tenant LIMIT 1", "23P01")
        equal(name + ": of another tenant it is none",
              conn.execute("INSERT INTO kept_of_tenant SELECT 100000, 77, q FROM kept_of_tenant LIMIT 1").rowcount, 1)
        equal(name + ": the trigger leaves a copy out",
              conn.execute("INSERT INTO mail SELECT 100000, sent, body FROM mail LIMIT 1 RETURNING id").fetchall(), [])


def live_on(name, conn, upto=None, shift=10000):
    """New rows, with ids above `shift`, constraints, jobs, indexes made anew."""
    guarded(name, conn)
    conn.execute(
        "INSERT INTO article (id, tenant, published, body, hash, digest, items) SELECT id + %d, tenant, published + 1, "
        "body || ' and more', hash, digest, items FROM article WHERE id %% 50 = 0 AND id < 1000" % shift)
    conn.execute("DELETE FROM article WHERE id % 90 = 13")
    jobs = [job for (job,) in conn.execute("SELECT job::text FROM duplicates_status ORDER BY 1")]
    for job in jobs:
        conn.execute("CALL refresh_duplicates('%s')" % job)
    equal(name + ": a refreshed job has the rows that there are",
          one(conn, "SELECT array_agg(id ORDER BY id) FROM copies"),
          one(conn, "SELECT array_agg(id ORDER BY id) FROM article"))
    check(name + ": and tells of copies among the new ones",
          one(conn, "SELECT count(*) FROM copies WHERE id > %s AND similarity BETWEEN 0.8 AND 0.999", (shift,)) > 5)
    if upto is not None and version_key(upto) >= (0, 3, 0):
        equal_all(name + ": jobs are right",
                  [(job, conn.execute("SELECT * FROM check_duplicates('%s')" % job).fetchall(), []) for job in jobs])
    conn.execute("REFRESH MATERIALIZED VIEW anchors")
    conn.execute("VACUUM article")
    sound(name + ", changed", conn, upto)
    by_index, by_rows = answers(conn, True, upto), answers(conn, False, upto)
    same(name + ", changed: indexes give what a sequential scan gives", by_index, by_rows)
    conn.execute("REINDEX TABLE article; REINDEX TABLE kind")
    same(name + ", indexes made anew: the same", answers(conn, True, upto), by_rows)


def fails_inside(name, conn, query, state):
    """As fails(), within a transaction that goes on."""
    conn.execute("SAVEPOINT s")
    try:
        conn.execute(query)
        check(name, False, "no error")
    except psycopg.Error as e:
        check(name, e.sqlstate == state, e)
    conn.execute("ROLLBACK TO s")
