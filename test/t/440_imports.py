#!/usr/bin/python3
"""Signatures of other programs, loaded as docs/imports.md says: the database returns their estimates, candidates,
scores and distances (test/data/imports, made by the programs themselves), and indexes find what brute force finds. If
ssdeep is installed, its present output is read, too."""
import re
import shutil
import tempfile

from harness import *

DATA = os.path.join(ROOT, "test", "data", "imports")
FORMAT = r"WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')"  # as on the page
TEXTS = ["".join("%s, ferry %d: %s.\n" % (place, i, hex(i * 2654435761 * seed % 2**61)) for i in range(60))
         for place, seed in (("Hull", 1), ("Hull", 1), ("Hull", 1), ("Oban", 5))]


def golden(name):
    with open(os.path.join(DATA, name), encoding="utf-8") as f:
        return [tuple(line.rstrip("\n").split("\t")) for line in f if not line.startswith("#")]


def page():
    with open(os.path.join(ROOT, "docs", "imports.md"), encoding="utf-8") as f:
        return f.read()


def function(text, name):
    """The CREATE FUNCTION of the page."""
    return re.search(r"CREATE FUNCTION %s\(.*?(?:\n\$\$;|::simhash;\n)" % name, text, re.S).group(0)


def by_index(conn, index, query):
    """The rows of a join by this index, in order."""
    with conn.transaction(force_rollback=True):
        conn.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_material = off; SET LOCAL neardup.enable_join = off")
        plan = "\n".join(r[0] for r in conn.execute("EXPLAIN " + query))
        check("%s is used: %s" % (index, query[query.index(" ON ") + 4:]), index in plan, plan)
        return sorted(conn.execute(query).fetchall())


def import_values(conn, scheme, form, value):
    """The SQL by which the page imports this."""
    if form.startswith("lean"):
        return one(conn, "SELECT lean_minhash(decode(%s, 'hex'), 7)", [value])
    if scheme == "weighted":
        k, t = zip(*(map(int, pair.split(",")) for pair in value.split()))
        return one(conn, "SELECT minhash_import(ARRAY(SELECT ('x' || left(md5(k || ',' || t), 8))::bit(32)::bigint "
                   "FROM unnest(%s::int[], %s::int[]) WITH ORDINALITY u(k, t, place) ORDER BY place), seed => 7)",
                   [list(k), list(t)])
    components = [int(v) & 0xffffffff for v in value.split()]
    return one(
        conn, "SELECT minhash_import(%s::bigint[], seed => 7, bits => %s)", [components, 8 if scheme == "b8" else 32])


def datasketch(conn, text):
    conn.execute(function(text, "lean_minhash") + function(text, "lsh_bands"))
    conn.execute("CREATE TABLE sketch (scheme text, form text, name text, sig minhash)")
    for scheme, form, name, value in golden("datasketch_values.tsv"):
        conn.execute("INSERT INTO sketch VALUES (%s, %s, %s, %s::minhash)",
                     [scheme, form, name, import_values(conn, scheme, form, value)])
    conn.execute("CREATE TABLE said (scheme text, a text, b text, jaccard float8)")
    for row in golden("datasketch_pairs.tsv"):
        conn.execute("INSERT INTO said VALUES (%s, %s, %s, %s::float8)", row)
    equal("serialised components are the listed ones, in both layouts",
          conn.execute("SELECT count(*), count(DISTINCT l.form), bool_and(l.sig = v.sig) FROM sketch l JOIN sketch v "
                       "USING (scheme, name) WHERE l.form LIKE 'lean%' AND v.form = 'values'").fetchone(), (4, 2, True))
    for scheme, rows in conn.execute("SELECT scheme, count(*) FROM said GROUP BY 1 ORDER BY 1").fetchall():
        form = "('lean')" if scheme == "legacy" else "('values', 'pairs')"
        got = conn.execute(
            "SELECT a.name, b.name, jaccard(a.sig, b.sig), coalesce(s.jaccard, 0) FROM sketch a JOIN sketch b "
                "ON a.scheme = b.scheme "
                "AND a.name < b.name AND a.form = b.form LEFT JOIN said s ON s.scheme = a.scheme "
                "AND s.a = a.name AND s.b = b.name WHERE a.scheme = %%s AND a.form IN %s" % form,
            [scheme]).fetchall()
        # b-bit estimates: theirs fall below 0, and the correction is not computed in the same order
        bad = [r for r in got if (abs(r[2] - max(r[3], 0)) > 1e-12 if scheme == "b8" else r[2] != r[3])]
        check("%s: jaccard is datasketch's (%d pairs, %d of them said)" % (scheme, len(got), rows),
              len(got) >= rows > 2 and not bad, bad[:3])

    for scheme, form in (("affine32", "values"), ("legacy", "lean")):
        (bands, rows), *candidates = golden("datasketch_candidates_%s.tsv" % scheme)
        got = conn.execute(
            "WITH k AS (SELECT name, band, key FROM sketch, lsh_bands(sig, %s, %s) WHERE scheme = %s AND form = %s) "
            "SELECT DISTINCT a.name, b.name FROM k a JOIN k b USING (band, key) WHERE a.name < b.name",
            [int(bands), int(rows), scheme, form]).fetchall()
        equal("%s: %s bands of %s give the %d candidates of MinHashLSH" % (scheme, bands, rows, len(candidates)),
              sorted(got), sorted(candidates))

    rows = re.findall(r"^\| ([0-9.]+) \| (\d+) \| (\d+) \| ([0-9.]+) \|$", text, re.M)
    equal_all("the page's table of MinHashLSH's bands is what lsh_probability says", [
        (r[:3], "%.3f" % one(conn, "SELECT lsh_probability(%s::float8, %s, %s)", [r[0], int(r[1]), int(r[2])]),
         r[3]) for r in rows])
    conn.execute("CREATE TABLE indexed (name text, sig minhash(64)); "
                 "INSERT INTO indexed SELECT name, sig FROM sketch WHERE scheme = 'affine32' AND form = 'values'; "
                 "CREATE INDEX indexed_sig ON indexed USING lsh (sig) WITH (threshold = 0.5)")
    join = ("SELECT a.name, b.name, 0 FROM indexed a JOIN indexed b ON jaccard(a.sig, b.sig) >= %s "
            "WHERE a.name < b.name ORDER BY 1, 2")
    for threshold in (0.5, 0.8, 1.0):
        brute = conn.execute("SELECT a.name, b.name, 0 FROM indexed a, indexed b WHERE a.name < b.name "
                             "AND jaccard(a.sig, b.sig) + 0 >= %s ORDER BY 1, 2", [threshold]).fetchall()
        found = by_index(conn, "indexed_sig", join % threshold)
        check("an index over imports finds what brute force finds at %s (%d)" % (threshold, len(brute)),
              found == brute and len(brute) > 2, found)
        pairs = conn.execute(
            "SELECT id_a, id_b, 0 FROM all_pairs(NULL::text, 'SELECT name, sig FROM indexed', %s) ORDER BY 1, 2",
            [threshold]).fetchall()
        equal("all_pairs does at %s" % threshold, sorted(pairs), sorted(brute))

    fails("not comparable with ours", conn,
          "SELECT jaccard(sig, to_minhash('a b c d', num_perm => 64)) FROM indexed LIMIT 1",
          text="cannot compare signatures made differently", state="42804")
    fails("nor in a union", conn,
          "SELECT minhash_union(sig, to_minhash('a b c d', num_perm => 64)) FROM indexed LIMIT 1", state="42804")
    fails("nor with those of another seed", conn,
          "SELECT jaccard(sig, minhash_import(minhash_components(sig), seed => 8)) FROM indexed LIMIT 1", state="42804")
    fails("a missing component is an error", conn,
          "SELECT minhash_import(array_append(minhash_components(sig), NULL)) FROM indexed LIMIT 1",
          text="component 65 is NULL", state="22004")
    fails("so is one of 64 bits", conn,
          "SELECT minhash_import(minhash_components(sig) || 4294967296) FROM indexed LIMIT 1",
          text="component 65 must be between 0 and 4294967295", state="22023", hint="component & 4294967295")
    fails("verify by shingles that nobody knows", conn,
          "SELECT * FROM all_pairs(NULL::text, 'SELECT name, sig, name AS doc FROM indexed', 0.8, verify => 'jaccard')",
          text="verify => 'jaccard' needs signatures of documents", state="22023")
    equal("verify by edits",
          one(conn, "SELECT count(*) FROM all_pairs(NULL::text, 'SELECT name, sig, name AS doc FROM indexed', 0.8, "
                    "verify => 'edit_rate', verify_threshold => 0.01)"), 24)
    equal("numeric components, reduced, are those reduced before",
          one(conn,
              "SELECT minhash_import(ARRAY(SELECT (v %% 4294967296)::bigint "
                  "FROM unnest(%s::numeric[]) WITH ORDINALITY u(v, place) ORDER BY place), seed => 7)::text",
              [
                  next([str(int(v)) for v in r[3].split()] for r in golden("datasketch_values.tsv")
                       if r[0] == "affine64")]),
          one(conn, "SELECT sig::text FROM sketch WHERE scheme = 'affine64' AND name = %s", [
              next(r[2] for r in golden("datasketch_values.tsv") if r[0] == "affine64")]))
    equal(
        "union and containment among imports are those of minima",
        conn.execute(
            "SELECT bool_and(minhash_components(minhash_union(a.sig, b.sig)) = ARRAY(SELECT least(x, y) "
            "FROM unnest(minhash_components(a.sig), minhash_components(b.sig)) WITH ORDINALITY u(x, y, n) "
            "ORDER BY n)), bool_and(containment(a.sig, minhash_union(a.sig, b.sig)) = 1) "
            "FROM indexed a, indexed b").fetchone(), (True, True))


def load_lines(conn, name, table, source):
    """\\copy as the page says it; then the page's own CREATE TABLE .. AS, for tables of these names."""
    made = tool("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", name,
                input="DROP TABLE IF EXISTS ssdeep_lines, ssdeep_files;\n"
                    "CREATE TABLE ssdeep_lines (n bigint GENERATED ALWAYS AS IDENTITY, line text);\n"
                    "\\copy ssdeep_lines (line) FROM %s %s\n" % (source, FORMAT))
    if not check("%s: psql loads it" % table, made.returncode == 0, made.stderr):
        return
    conn.execute(re.search(r"CREATE TABLE ssdeep_files AS.*?CREATE INDEX[^;]*;", page(), re.S).group(0))
    conn.execute("DROP TABLE IF EXISTS %s; ALTER TABLE ssdeep_files RENAME TO %s" % (table, table))


def each_once(lines):
    """Pairs and scores of `a matches b (score)`, whichever name came first."""
    found = []
    for line in lines:
        a, b, score = re.fullmatch(r"(.*) matches (.*) \((\d+)\)", line).groups()
        found.append((*sorted((a, b)), int(score)))
    return sorted(found)


SCORES = ("SELECT least(a.name, b.name), greatest(a.name, b.name), ctph_score(a.digest, b.digest) "
          "FROM {0} a JOIN {0} b ON ctph_score(a.digest, b.digest) > 0 WHERE a.n < b.n")


def matches(conn, table):
    return sorted(conn.execute(SCORES.format(table)).fetchall())


def ssdeep(conn, name, text):
    check("the page says how lines are read", FORMAT in text, FORMAT)
    path = os.path.join(DATA, "known.ssdeep")
    load_lines(conn, name, "known", "'%s'" % path)
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    equal("every line but the head is a file", one(conn, "SELECT count(*) FROM known"), len(lines) - 1)
    names = [r[0] for r in conn.execute("SELECT name FROM known")]
    check("quotes, commas, backslashes and letters in names are read",
          {'files/a "quoted", name.txt', "files/back\\slash.txt", "files/порожній.txt"} <= set(names), names)
    equal("digests come back as they were", sorted(r[0] for r in conn.execute("SELECT digest::text FROM known")),
          sorted(line.split(",")[0] for line in lines[1:]))
    with open(os.path.join(DATA, "ssdeep_d.txt"), encoding="utf-8") as f:
        said = each_once(f.read().splitlines())
    equal("matches and scores are those of ssdeep -r -d (%d)" % len(said), matches(conn, "known"), said)
    equal("by the index, too", by_index(conn, "ssdeep_files_digest_idx", SCORES.format("known")), said)

    with tempfile.TemporaryDirectory() as folder:
        some = os.path.join(folder, "some.ssdeep")
        with open(some, "w", encoding="utf-8") as f:
            f.write("\n".join(lines[:12]) + "\n")
        load_lines(conn, name, "few", "'%s'" % some)
    with open(os.path.join(DATA, "ssdeep_k.txt"), encoding="utf-8") as f:
        said = sorted(f.read().splitlines())
    between = ("SELECT 'some.ssdeep:' || s.name || ' matches known.ssdeep:' || k.name || ' (' || ctph_score(s.digest, "
               "k.digest) || ')' FROM few s JOIN known k ON ctph_score(s.digest, k.digest) > %s")
    equal("two lists: those of ssdeep -k (%d)" % len(said), sorted(r[0] for r in conn.execute(between % 0)), said)
    high = sorted(line for line in said if int(line.rsplit("(", 1)[1][:-1]) > 96)
    equal("-t 96 is > 96", sorted(r[0] for r in conn.execute(between % 96)), high)


def ssdeep_today(conn, name):
    if not shutil.which("ssdeep"):
        skip("ssdeep's output of today: ssdeep is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        for n, body in enumerate(TEXTS):
            with open(os.path.join(folder, 'notice "%d", copy.txt' % n), "w", encoding="utf-8") as f:
                f.write(body + "The harbour office is open in the mornings, and closed when the tide is low. " * n)
        os.chmod(folder, 0o755)
        load_lines(conn, name, "today", "PROGRAM 'ssdeep -s -l -r \"%s\"'" % folder)

        def run(*args):
            return subprocess.run(("ssdeep", "-s", "-l") + args, stdout=subprocess.PIPE, universal_newlines=True,
                                  check=False).stdout.splitlines()
        said = each_once(run("-r", "-d", folder))
        equal("ssdeep's matches of today (%d)" % len(said), matches(conn, "today"), said)
        check("there are some", len(said) > 1, said)
        everything = each_once(run("-r", "-d", "-a", folder))
        equal("with -a, those of score 0, too", sorted((*sorted(r[:2]), r[2]) for r in conn.execute(
            "SELECT a.name, b.name, ctph_score(a.digest, b.digest) FROM today a, today b WHERE a.n < b.n")), everything)


def simhashes(conn, text):
    conn.execute(function(text, "unsigned_simhash") + function(text, "hex_simhash"))
    conn.execute("CREATE TABLE hashes (name text, value numeric, hash simhash GENERATED ALWAYS AS "
                 "(unsigned_simhash(value)) STORED)")
    values = golden("simhash_values.tsv")
    for row in values:
        conn.execute("INSERT INTO hashes (name, value) VALUES (%s, %s::numeric)", row)
    check("some are above 2^63", sum(int(v) >= 1 << 63 for _, v in values) > 3)
    equal_all("one value in every spelling", [
        (v,
         conn.execute("SELECT unsigned_simhash(%(u)s::numeric)::text, hex_simhash(%(h)s)::text, "
                          "(%(s)s::bigint)::simhash::text, %(b)s::bit(64)::simhash::text, "
                          "encode(%(y)s, 'hex')::simhash::text, %(t)s::simhash::text",
                      {"u": v, "h": hex(n), "s": n - (n >> 63 << 64), "b": format(n, "064b"), "y": n.to_bytes(8, "big"),
                       "t": "%016x" % n}).fetchone(),
         ("%016x" % n,) * 6) for v in [v for _, v in values] + [
            "0", "1", str(2**63 - 1), str(2**63), str(2**64 - 1)] for n in [int(v)]])
    said = sorted((a, b, int(d)) for a, b, d in golden("simhash_pairs.tsv"))
    got = conn.execute("SELECT a.name, b.name, hamming(a.hash, b.hash) FROM hashes a JOIN hashes b ON a.name < b.name "
                       "AND hamming(a.hash, b.hash) <= 20").fetchall()
    equal("distances are those of the package simhash (%d)" % len(said), sorted(got), said)
    conn.execute("CREATE INDEX ON hashes USING lsh (hash)")
    got = by_index(conn, "hashes_hash_idx",
                   "SELECT a.name, b.name, hamming(a.hash, b.hash) FROM hashes a JOIN hashes b "
                       "ON hamming(a.hash, b.hash) <= 8 WHERE a.name < b.name")
    equal("an index finds those within 8", got, [r for r in said if r[2] <= 8])
    for value in ("-9223372036854775809", "18446744073709551616"):
        fails("%s has no 64 bits" % value, conn, "SELECT unsigned_simhash(%s::numeric)", [value], text="out of range",
              state="22003")
    fails("17 digits are no simhash", conn, "SELECT hex_simhash('0x10000000000000000')",
          text="invalid input syntax for type simhash", state="22P02")


def main():
    text = page()
    with database() as name, connect(name) as conn:
        sections(
            (datasketch, conn, text), (ssdeep, conn, name, text), (ssdeep_today, conn, name), (simhashes, conn, text))


finish(main)
