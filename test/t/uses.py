"""A correct call of every public function, in statements that leave no name to the search_path: for tests of what else
runs. {nd}: the schema of the extension; {own}: a schema with the types mood (an enum), words (a domain over text) and
number (over bigint)."""
import re

EXACT = "(SELECT s.sig FROM data.docs s WHERE s.id OPERATOR(pg_catalog.=) 3::pg_catalog.int8)"

MAKE = """
CREATE SCHEMA data;
CREATE TABLE data.docs (id int8 PRIMARY KEY, vid varchar(20), tag name, wid {own}.words, nid {own}.number,
  ch bpchar(12), f4 float4, num numeric, u uuid,
  body text, vbody varchar, bin bytea, mood {own}.mood, tenant varchar, at timestamptz, day date, items int4[],
    numbers int8[],
  sig {nd}.minhash, sim {nd}.simhash, dig {nd}.ctph);
INSERT INTO data.docs SELECT i, 'v' || i, 'n' || i, 'w' || i, i, 'c' || i, i, i, md5(i::text)::uuid, b, b, convert_to(b,
  'UTF8'), 'calm', 't' || i % 2, timestamptz '2026-01-01' + i * interval '1 hour',
  date '2026-01-01' + i, ARRAY[i, i + 1, i + 2], ARRAY[1, 2, i::int8], {nd}.to_minhash(b), {nd}.to_simhash(b),
    {nd}.to_ctph(b)
  FROM (SELECT i, (SELECT string_agg('w' || (i / 4 * 31 + j * j + CASE WHEN j = 7 THEN i ELSE 0 END) % 997, ' ')
    FROM generate_series(1, 60) j) b FROM generate_series(1, 60) i) d;
CREATE INDEX docs_sig ON data.docs USING lsh (sig);
CREATE INDEX docs_sim ON data.docs USING lsh (sim);
CREATE INDEX docs_dig ON data.docs USING lsh (dig);
CREATE INDEX docs_items ON data.docs USING lsh (items);
CREATE INDEX docs_tenant ON data.docs USING lsh (tenant, sig) WITH (threshold = 0.6);
CREATE VIEW data.seen AS SELECT * FROM data.docs;
CREATE TABLE data.guarded (id int8, body text);
CREATE TRIGGER guard BEFORE INSERT ON data.guarded FOR EACH ROW EXECUTE FUNCTION
  {nd}.neardup_guard('{nd}.to_minhash(body)', '0.85', 'skip');
CREATE TABLE data.kept (id int8 PRIMARY KEY, body text, EXCLUDE USING lsh ({nd}.with_threshold({nd}.to_minhash(body),
  0.9::float8) WITH OPERATOR({nd}.&&)));
CREATE TABLE data.rules OF {nd}.neardup_rule;
INSERT INTO data.rules SELECT * FROM {nd}.neardup_default_rules();
"""

T = "'one two three four five six seven'::pg_catalog.text"
B = "'one two three four'::pg_catalog.bytea"
CALLS = (
    "shingles({t}, 2::int4, 'word'::text)", "shingle_hashes({t}, 2::int4, 'word'::text)",
    "shingle_hashes({b}, 3::int4)", "neardup_stopwords('english'::text)",
    "stopword_shingles({t}, ARRAY['two']::text[], 2::int4)", "neardup_detect_encoding({b})", "neardup_to_utf8({b})",
    "neardup_to_utf8({b}, 'UTF-8'::text, 'drop'::text)", "neardup_decode({b}, 'UTF-8'::text)", "neardup_decode({b})",
    "neardup_clean({t})", "neardup_text_quality({t})", "neardup_text_score({t})", "neardup_title('a_b.txt'::text)",
    "to_minhash({t}, 2::int4, 'word'::text, 64::int4, 32::int4, 0::int8)", "to_minhash({b}, 4::int4)",
    "to_minhash({t})", "minhash_like({t}, {sig})", "set_minhash(ARRAY['a', 'b']::text[])",
    "set_minhash(ARRAY[1, 2]::int8[])", "minhash_parameters({sig})", "minhash_components({sig})", "set_size({sig})",
    "minhash_union({sig}, {sig})", "stopword_minhash({t}, ARRAY['two']::text[])",
    "weighted_minhash(ARRAY['a', 'b']::text[], ARRAY[1, 2]::float8[])",
    "weighted_jaccard_exact(ARRAY['a']::text[], ARRAY[1]::float8[], ARRAY['a']::text[], ARRAY[2]::float8[])",
    "cosine_exact(ARRAY[1, 2]::float8[], ARRAY[2, 1]::float8[])", "to_simhash({t}, 2::int4, 'word'::text)",
    "weighted_simhash(ARRAY['a']::text[], ARRAY[1]::float8[])", "hamming({sim}, {sim})", "cosine({sim}, {sim})",
    "to_ctph({t})", "to_ctph({b})", "ctph_long({t}, 256::int4)", "ctph_score({dig}, {dig})",
    "ctph_edit_rate({dig}, {dig})", "tlsh_distance(pg_catalog.repeat('0', 70), pg_catalog.repeat('1', 70))",
    "tlsh_code(pg_catalog.repeat('0', 70))",
    "bit_hamming('0101'::pg_catalog.varbit::pg_catalog.bit(64), '01'::pg_catalog.varbit::pg_catalog.bit(64))",
    "bit_hamming_at_most('0101'::pg_catalog.varbit::pg_catalog.bit(64), '01'::pg_catalog.varbit::pg_catalog.bit(64), "
        "3::float8)",
    "jaccard({sig}, {sig})", "containment({sig}, {sig})", "jaccard_exact(ARRAY['a']::text[], ARRAY['a']::text[])",
    "jaccard_exact(ARRAY[1]::int8[], ARRAY[1]::int8[])", "compare_texts({t}, {t}, 2::int4, 'word'::text)",
    "explain_pair({sig}, {sig}, 0.8::float8)", "explain_pair({sim}, {sim}, 0.9::float8)", "edit_distance({t}, {t})",
    "edit_rate({t}, {t})", "karp_rabin({t})", "rolling_fingerprints({t}, 5::int4)",
    "winnow_fingerprints({t}, 5::int4, 4::int4, 'char'::text)",
    "winnow_fingerprints({t}, 5::int4, 4::int4, 'code'::text, ARRAY[1]::int8[])", "shared_passages({t}, {t})",
    "copied_share({t}, {t}, 8::int4, 'word'::text, ARRAY['a']::text[])", "jaccard_at_least({sig}, {sig}, 0.8::float8)",
    "hamming_at_most({sim}, {sim}, 3::float8)", "ctph_score_at_least({dig}, {dig}, 50::float8)",
    "band_keys({sig}, 0.8::float8)", "lsh_probability(0.8::float8, 20::int4, 5::int4)", "neardup_text_score({t}, {t})",
    "neardup_devices()", "neardup_version()", "neardup_progress()", "neardup_default_rules()",
    "neardup_default_profiles()", "neardup_profile_named('web'::text)", "neardup_content_hash({t})",
    "neardup_search_threshold({sig}, 0.8::float8)", "lsh_info('data.docs_sig'::pg_catalog.regclass)",
    "lsh_check('data.docs_sig'::pg_catalog.regclass, true)", "lsh_check('data.docs_tenant'::pg_catalog.regclass, true)",
    "lsh_pages('data.docs_sig'::pg_catalog.regclass)",
    "explain_pair('data.docs_sig'::pg_catalog.regclass, {sig}, {sig}, 0.8::float8)",
    "all_pairs('SELECT id, sig FROM data.docs'::text, 0.8::float8)",
    "all_pairs('SELECT id, sig, body AS doc FROM data.docs'::text, 0.8::float8, verify => 'jaccard'::text, "
        "verify_threshold => 0.7::float8)",
    "all_pairs(NULL::varchar, 'SELECT vid, sig, at FROM data.docs'::text, 0.8::float8, at_most_apart => "
        "'1 day'::interval)",
    "all_pairs(NULL::name, 'SELECT tag, sim FROM data.docs'::text, 0.9::float8)",
    "all_clusters('SELECT id, sig FROM data.docs'::text, 0.8::float8, 'connected'::text)",
    "all_clusters('SELECT id, sig, ROW(tenant) AS within FROM data.docs'::text, 0.8::float8, 'anchor'::text)",
    "all_clusters('SELECT id, numbers FROM data.docs'::text, 0.5::float8, measure => 'containment'::text)",
    "cluster_bridges('SELECT id, numbers FROM data.docs'::text, 0.5::float8, measure => 'containment'::text)",
    "all_clusters(NULL::varchar, 'SELECT vid, sig FROM data.docs'::text, 0.8::float8)",
    "all_clusters(NULL::{own}.words, 'SELECT wid, sig FROM data.docs'::text, 0.8::float8)",
    "pairs_between('SELECT id, sig FROM data.docs'::text, 'SELECT id, sig FROM data.seen'::text, 0.8::float8)",
    "cluster_bridges('SELECT id, sig FROM data.docs'::text, 0.8::float8)",
    "repeated_passages('SELECT id, body, tenant AS within FROM data.docs'::text, 4::int4, 'word'::text, 'none'::text, "
        "3::int4)",
    "repeated_passages('SELECT vid, body FROM data.docs'::text, NULL::varchar, 4::int4)",
    "passage_counts('SELECT id, vbody FROM data.docs'::text, 4::int4)",
    "cut_passages({t}, '{{[1,5)}}'::pg_catalog.int4multirange)",
    "all_pairs('SELECT id, ARRAY[1, id]::pg_catalog.int8[] FROM data.docs'::text, 0.5::float8, "
        "measure => 'containment'::text)",
    "blocked_pairs('SELECT id, tenant FROM data.docs'::text)",
    "oversized_blocks('SELECT id, tenant FROM data.docs'::text, 'SELECT id, tenant FROM data.seen'::text, 2::int4)",
    "word_similarities('SELECT body FROM data.docs'::text, 50::int4, 3::int4)",
    "neardup_suggest('SELECT id, body FROM data.docs'::text)",
    "neardup_suggest_examples('SELECT id, body FROM data.docs'::text)",
    "neardup_suggest('SELECT id, vbody FROM data.docs'::text, 'SELECT a.id, b.id, true "
        "FROM data.docs a JOIN data.docs b ON a.id OPERATOR(pg_catalog.<) b.id "
        "WHERE b.id OPERATOR(pg_catalog.<) 5::int8'::text)",
)

QUERIES = (
    "SELECT d.id FROM data.docs d WHERE {nd}.jaccard(d.sig, {sig}) OPERATOR(pg_catalog.>=) 0.8::pg_catalog.float8",
    "SELECT d.id FROM data.docs d WHERE {nd}.jaccard(d.sig, {sig}) OPERATOR(pg_catalog.>) 0.7::pg_catalog.float8 "
        "ORDER BY d.sig OPERATOR({nd}.<%>) {sig} LIMIT 3",
    "SELECT d.id FROM data.docs d WHERE d.tenant::pg_catalog.text OPERATOR(pg_catalog.=) 't1'::pg_catalog.text "
        "AND {nd}.jaccard(d.sig, {sig}) OPERATOR(pg_catalog.>=) 0.8::pg_catalog.float8",
    "SELECT d.id FROM data.docs d WHERE d.sig OPERATOR({nd}.%) {sig}",
    "SELECT d.id FROM data.docs d WHERE {nd}.hamming(d.sim, {sim}) OPERATOR(pg_catalog.<=) 3::pg_catalog.int4",
    "SELECT d.id FROM data.docs d WHERE {nd}.ctph_edit_rate(d.dig, {dig}) OPERATOR(pg_catalog.<=) "
        "0.1::pg_catalog.float8",
    "SELECT a.id FROM data.docs a JOIN data.docs b ON {nd}.jaccard(a.sig, b.sig) OPERATOR(pg_catalog.>=) "
        "0.9::pg_catalog.float8",
    "SELECT d.id FROM data.docs d WHERE {nd}.jaccard_exact(d.items, ARRAY[3, 4, 5]::pg_catalog.int4[]) "
        "OPERATOR(pg_catalog.>=) 0.5::pg_catalog.float8",
    "SELECT {nd}.cluster_anchor(d.sig, 0.8::pg_catalog.float8) OVER (ORDER BY d.id) FROM data.docs d",
    "SELECT {nd}.cluster_connected(d.sig, 0.8::pg_catalog.float8) OVER () FROM data.docs d",
    "SELECT {nd}.minhash_agg(d.body), {nd}.minhash_union_agg(d.sig), {nd}.simhash_agg(d.body) FROM data.docs d",
    "SELECT d.sig FROM data.docs d GROUP BY d.sig ORDER BY d.sig",
    "SELECT DISTINCT d.sim FROM data.docs d",
    "INSERT INTO data.guarded SELECT d.id, d.body FROM data.docs d",
    "INSERT INTO data.kept SELECT d.id, d.body FROM data.docs d ON CONFLICT DO NOTHING",
    "ANALYZE data.docs", "VACUUM data.docs", "REINDEX TABLE data.docs", "DELETE FROM data.kept",
    "DELETE FROM data.guarded",
)

MODELS = (
    "SELECT {nd}.create_profile('data.mine'::text, base => 'web'::text, k => 2::int4, rules => 'data.rules'::text)",
    "SELECT {nd}.alter_profile('data.mine'::text, num_perm => 64::int4)",
    "SELECT {nd}.neardup_sign_sql({nd}.neardup_profile_named('data.mine'::text), 'text'::pg_catalog.regtype, "
        "'body'::text)",
    "SELECT {nd}.create_profile('data.cutting'::text, cut_at_least => 2::int4, cut_min_units => 3::int4, cut_unit => "
        "'word'::text)",
    "SELECT {nd}.create_profile('data.digests'::text, base => 'ctph'::text)",
    "SELECT {nd}.create_profile('data.simple'::text, base => 'simhash'::text, encoding => 'UTF-8'::text)",
    "SELECT {nd}.create_lexicon('data.lexicon'::text, 'SELECT body FROM data.docs'::text)",
    "SELECT {nd}.i_match(d.body, 'data.lexicon'::pg_catalog.regclass) FROM data.docs d",
    "SELECT {nd}.i_match_bag(d.body, 'data.lexicon'::pg_catalog.regclass) FROM data.docs d",
    "CALL {nd}.create_word_model('data.model'::text, 'SELECT body FROM data.docs'::text, 50::int4)",
    "CALL {nd}.create_word_model('data.other'::text, 'SELECT body FROM data.docs'::text, 40::int4, commit => false)",
    "SELECT * FROM {nd}.similar_words('data.model'::pg_catalog.regclass, 'w31'::text, 3::int4)",
    "SELECT {nd}.word_similarity('data.model'::pg_catalog.regclass, 'w31'::text, 'w62'::text)",
    "SELECT * FROM {nd}.expand_query('data.model'::pg_catalog.regclass, 'w31 w62'::text, 2::int4)",
    "SELECT {nd}.drop_word_model('data.model'::text)", "SELECT {nd}.drop_word_model('data.other'::text)",
    "DROP TABLE data.lexicon",
)

# Arguments of create_duplicates; the job is refreshed, its source changed, altered and so on.
JOBS = (
    "'data.docs'::pg_catalog.regclass, 'id'::name, 'body'::name",
    "'data.docs'::pg_catalog.regclass, 'vid'::name, 'vbody'::name, within => '{{tenant,tag}}'::name[]",
    "'data.docs'::pg_catalog.regclass, 'tag'::name, 'bin'::name, keep => 'longest'::text",
    "'data.docs'::pg_catalog.regclass, 'wid'::name, 'body'::name, keep => 'best'::text, linkage => 'connected'::text",
    "'data.seen'::pg_catalog.regclass, 'nid'::name, 'body'::name, verify => 'jaccard'::text, at => 'at'::name, "
        "at_most_apart => '30 days'::interval",
    "'data.docs'::pg_catalog.regclass, 'num'::name, signature => 'sig'::name, order_by => 'day'::text, "
        "filter => 'id OPERATOR(pg_catalog.>) 1::pg_catalog.int8'::text",
    "'data.docs'::pg_catalog.regclass, 'u'::name, signature => 'sim'::name, threshold => 0.95::float8",
    "'data.seen'::pg_catalog.regclass, 'ch'::name, signature => 'dig'::name, within => '{{vid,f4}}'::name[]",
    "'data.docs'::pg_catalog.regclass, 'f4'::name, 'body'::name, profile => 'data.mine'::text, at => 'day'::name, "
        "at_most_apart => '30 days'::interval",
    "'data.docs'::pg_catalog.regclass, 'id'::name, 'body'::name, profile => 'data.cutting'::text, "
        "within => '{{tenant,vid}}'::name[], verify => 'jaccard'::text",
    "'data.seen'::pg_catalog.regclass, 'vid'::name, 'bin'::name, profile => 'data.digests'::text, "
        "within => '{{mood}}'::name[]",
    "'data.docs'::pg_catalog.regclass, 'id'::name, 'body'::name, measure => 'containment'::text",
    "'data.docs'::pg_catalog.regclass, 'num'::name, signature => 'items'::name, measure => 'containment'::text",
)

# The types of their ids; None: of a view, whose rows cannot be locked.
ID_TYPES = ("int8", "varchar", "name", "text", None, "numeric", "uuid", None, "float4", "int8", None, "int8", "numeric")

JOB_STEPS = (
    "SELECT {nd}.create_duplicates('data.job'::text, {job})", "CALL {nd}.refresh_duplicates('data.job'::text)",
    "SELECT * FROM {nd}.duplicates_status", "SELECT * FROM {nd}.check_duplicates('data.job'::text)",
    "SELECT * FROM {nd}.removable_duplicates('data.job'::text, NULL::pg_catalog.{id_type}, max_rows => 2)",
    "SELECT * FROM neardup_internal.neardup_refresh_statements('data.job'::text)",
    "UPDATE data.docs d SET body = d.body OPERATOR(pg_catalog.||) ' more'::pg_catalog.text, "
        "vbody = d.body::pg_catalog.varchar, sig = {nd}.to_minhash(d.body), tenant = 't3' "
        "WHERE d.id OPERATOR(pg_catalog.<) 4::pg_catalog.int8",
    "CALL {nd}.refresh_duplicates('data.job'::text, 10::int4)",
    "CALL {nd}.refresh_duplicates('data.job'::text, commit => false)",
    "SELECT {nd}.alter_duplicates('data.job'::text, linkage => 'connected'::text)",
    "SELECT {nd}.pause_duplicates('data.job'::text)", "CALL {nd}.refresh_duplicates('data.job'::text)",
    "SELECT {nd}.pause_duplicates('data.job'::text, false)",
    "CALL {nd}.refresh_duplicates('data.job'::text, 20::int4, '1 hour'::pg_catalog.interval)",
    "SELECT {nd}.alter_duplicates('data.job'::text, threshold => 0.85::pg_catalog.float8)",
    "DELETE FROM data.docs d WHERE d.id OPERATOR(pg_catalog.=) ({i} OPERATOR(pg_catalog.+) 20)::pg_catalog.int8",
    "CALL {nd}.refresh_duplicates('data.job'::text)",
    "SELECT {nd}.rename_duplicates('data.job'::text, 'renamed'::text)", "SELECT * FROM {nd}.duplicates_status",
    "SELECT {nd}.drop_duplicates('data.renamed'::text)",
)

ENDS = ("DROP TABLE data.mine, data.digests, data.simple",)

PLAIN_TYPES = ("text", "bytea", "int4", "int8", "float8", "name", "interval", "varchar", "text[]", "int8[]", "float8[]",
               "name[]")


def made(nd, own):
    return MAKE.format(nd=nd, own=own)


def qualified(text):
    """Types of casts as pg_catalog's."""
    return re.sub(r"::(%s)(?![\w.])" % "|".join(re.escape(t) for t in sorted(PLAIN_TYPES, key=len, reverse=True)),
                  r"::pg_catalog.\1", text)


def statements(nd, own):
    """One by one: some cannot be in a transaction block."""
    values = {"nd": nd, "own": own, "t": T, "b": B, "sig": EXACT, "sim": EXACT.replace("s.sig", "s.sim"),
              "dig": EXACT.replace("s.sig", "s.dig")}
    out = [qualified("SELECT * FROM %s.%s" % (nd, c.format(**values))) for c in CALLS]
    out += [q.format(**values) for q in QUERIES]
    out += [qualified(m.format(**values)) for m in MODELS]
    for i, job in enumerate(JOBS):
        out += [qualified(s.format(job=job.format(**values), i=i, id_type=ID_TYPES[i], **values)) for s in JOB_STEPS
                if ID_TYPES[i] or "{id_type}" not in s]
    return out + list(ENDS)
