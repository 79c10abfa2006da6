#!/usr/bin/python3
"""A relation in a schema that a role may not use is out of its reach, by number too: a relation of which it knows the
OID, and which it may read, is refused by each function that takes one, whatever the schema's owner has granted on the
relation. Once the schema is open the same calls work."""
from harness import *

READER = "neardup_t_closed"
MAKE = (
    "CREATE SCHEMA m",
    "CREATE TABLE m.docs AS SELECT i::bigint AS id, (SELECT string_agg('w' || (i / 4 * 31 + j * j) % 97, ' ') "
        "FROM generate_series(1, 40) j) AS body FROM generate_series(1, 30) i",
    "ALTER TABLE m.docs ADD PRIMARY KEY (id), ADD sig minhash, ADD hash simhash, ADD digest ctph",
    "UPDATE m.docs SET sig = to_minhash(body), hash = to_simhash(body), digest = to_ctph(body)",
    "CREATE INDEX docs_sig ON m.docs USING lsh (sig); CREATE INDEX docs_hash ON m.docs USING lsh (hash); "
        "CREATE INDEX docs_digest ON m.docs USING lsh (digest)",
    "SELECT create_lexicon('m.lex', 'SELECT body FROM m.docs')",
    "CALL create_word_model('m.wm', 'SELECT body FROM m.docs', 40, 3)",
    "SELECT create_profile('m.cutter', cut_at_least => 5, cut_min_units => 20)",
    "SELECT create_duplicates('m.x', 'm.docs', 'id', 'body', profile => 'm.cutter')", "CALL refresh_duplicates('m.x')",
    "GRANT SELECT ON ALL TABLES IN SCHEMA m TO PUBLIC",
)
# Function, and a call of it; {name} is the OID of m.name.
CALLS = (
    ("i_match", "i_match('w31 w40 w50', '{lex}')"), ("i_match_bag", "i_match_bag('w31 w40 w50', '{lex}')"),
    ("word_similarity", "word_similarity('{wm}', 'w31', 'w40')"),
    ("similar_words", "(SELECT count(*) FROM similar_words('{wm}', 'w31', 3))"),
    ("expand_query", "(SELECT count(*) FROM expand_query('{wm}', 'w31 w40'))"),
    ("neardup_similar_to", "(SELECT count(*) FROM neardup_internal.neardup_similar_to('{wm}', 'w31', 3))"),
    ("neardup_word_model_of", "neardup_internal.neardup_word_model_of('{wm}')"),
    ("neardup_word_of", "neardup_internal.neardup_word_of('{wm}', 'w31')"),
    ("neardup_words_at", "neardup_internal.neardup_words_at('{wm}', '{{1}}')"),
    ("neardup_similar_words",
     "(SELECT count(*) FROM neardup_internal.neardup_similar_words('{wm}', 40, 40, 3, 40, 0.1))"),
    ("lsh_info", "lsh_info('{docs_sig}')"), ("lsh_check", "lsh_check('{docs_sig}', true)"),
    ("lsh_pages", "(SELECT count(*) FROM lsh_pages('{docs_sig}'))"),
    ("lsh_hot_buckets", "(SELECT count(*) FROM lsh_hot_buckets('{docs_sig}', 2))"),
    ("explain_pair", "explain_pair('{docs_sig}', to_minhash('a b c d'), to_minhash('a b c d'))"),
    ("explain_pair", "explain_pair('{docs_hash}', to_simhash('a b c d'), to_simhash('a b c d'))"),
    ("explain_pair", "explain_pair('{docs_digest}', to_ctph('a b c d'), to_ctph('a b c d'))"),
    ("neardup_without_windows",
     "neardup_internal.neardup_without_windows('w31 w40', '{x_passages}', 20, 'word', 1, 0)"),
    ("neardup_job_row", "neardup_internal.neardup_job_row('{x_job}')"),
    ("neardup_job_rows", "neardup_internal.neardup_job_rows('{x_job}')"),
    ("neardup_job_part", "neardup_internal.neardup_job_part('{x_job}', '_signatures')"),
    *((name, "neardup_internal.%s('{x_job}'%s)" % (name, arguments)) for name, arguments in (
        ("job_ids", ""), ("job_documents", ""), ("job_paths", ", 'body'"), ("path_join", ", '%s', 'r.id'"),
        ("job_counts", ""), ("job_passages", ", 9, 'word', 2, 5, 5"), ("run_progress", ""), ("run_summary", ""),
        ("run_changes", ""), ("report_documents", ", '%s', '{{a}}', '{{b}}', 9"), ("report_threshold", ""),
        ("report_about", ""), ("report_settings", ""), ("report_similarities", ""), ("report_sizes", ""),
        ("report_pairs", ", 5, true"), ("report_clusters", ", 5, true"), ("report_rows", ", NULL"),
        ("export_rows", ", 'body', false"))),
    ("neardup_profile_named", "neardup_profile_named('m.cutter')"),
    ("create_profile", "create_profile('own', base => 'm.cutter')"),  # by name
    ("neardup_refresh_statements", "(SELECT count(*) FROM neardup_internal.neardup_refresh_statements('m.x'))"),
    ("create_duplicates", "create_duplicates('mine', '{docs}', 'id', 'body')"),
)
OTHERS = {"neardup_lock_job", "neardup_held_name"}  # read nothing of it
OTHERWISE = {"neardup_similar_words": "XX001"}  # a model that is finished keeps no features
READ_LATER = {"create_duplicates"}  # by the job, with the rights of who refreshes it


@contextlib.contextmanager
def reader():
    with psycopg.connect(autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS %s" % READER)
        admin.execute("CREATE ROLE %s" % READER)
        try:
            yield
        finally:
            admin.execute("DROP ROLE %s" % READER)


def answers(conn, oids):
    """[SQLSTATE or None] of the calls, each undone."""
    states = []
    for _, call in CALLS:
        with conn.transaction(force_rollback=True):
            conn.execute("SET LOCAL ROLE %s" % READER)
            try:
                with conn.transaction():
                    conn.execute("SELECT " + call.format(**oids))
                states.append(None)
            except psycopg.Error as e:
                states.append("%s %s" % (e.sqlstate, e.diag.message_primary))
    return states


def main():
    with reader(), database() as name, connect(name) as conn:
        for statement in MAKE:
            conn.execute(statement)
        conn.execute("GRANT CREATE ON SCHEMA public TO %s" % READER)
        oids = dict(conn.execute(
            "SELECT relname::text, oid::text FROM pg_class WHERE relnamespace = 'm'::regnamespace").fetchall())
        known = {r[0] for r in conn.execute(
            "SELECT proname::text FROM " + OUR_FUNCTIONS + " WHERE 'regclass'::regtype = ANY (proargtypes)")}
        equal("each function that takes a relation is called", known - {call[0] for call in CALLS} - OTHERS, set())
        refused = answers(conn, oids)
        equal_all("in a closed schema", [(call, str(state)[:5], "42501") for (_, call), state in zip(CALLS, refused)])
        conn.execute("GRANT USAGE ON SCHEMA m TO %s" % READER)
        equal_all("in an open one", [(call, state and state[:5], OTHERWISE.get(function))
                                     for (function, call), state in zip(CALLS, answers(conn, oids))])
        conn.execute("REVOKE SELECT ON ALL TABLES IN SCHEMA m FROM PUBLIC")
        equal_all("without SELECT", [(call, str(state)[:5], "42501") for (function, call), state in zip(
            CALLS, answers(conn, oids)) if function not in READ_LATER])
        for place in ("first", "last"):
            conn.execute("REVOKE SELECT ON ALL TABLES IN SCHEMA m FROM PUBLIC")
            for table, column in conn.execute(
                    "SELECT attrelid::regclass::text, (array_agg(quote_ident(attname) ORDER BY attnum %s))[1] "
                    "FROM pg_attribute JOIN pg_class c ON c.oid = attrelid "
                    "WHERE relnamespace = 'm'::regnamespace AND relkind = 'r' AND attnum > 0 GROUP BY 1"
                    % ("ASC" if place == "first" else "DESC")).fetchall():
                conn.execute("GRANT SELECT (%s) ON %s TO PUBLIC" % (column, table))
            equal_all("with SELECT of the %s column alone" % place,
                      [(call, str(state)[:5], "42501") for (function, call), state in zip(CALLS, answers(conn, oids))
                       if function not in READ_LATER])
        conn.execute("DROP OWNED BY %s" % READER)


finish(main)
