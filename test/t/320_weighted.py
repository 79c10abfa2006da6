"""Weighted sets and cosines: components against the oracle, the tf-idf recipe of docs/weighted.md over real articles,
and the errors of the estimates against their standard errors."""
from harness import *
import math
import random

import oracle as o


def oracle_rows(conn):
    rng = random.Random(320)

    def some(n):
        features = ["f%d" % rng.randrange(40) for _ in range(n)] + ["щука"] * (n % 2)
        return features, [
            rng.choice((0.0, 1.0, rng.random(), rng.random() * 2.0 ** rng.randrange(-70, 40))) for _ in features]

    def signatures():
        for i in range(80):
            features, weights = some(rng.choice((0, 1, 3, 30)))
            L, bits, seed = (16, 25, 128)[i % 3], (32, 16, 8)[i // 3 % 3], (0, 42, -1, -(1 << 63))[i % 4]
            got = one(conn, "SELECT weighted_minhash(%s::text[], %s::float8[], %s, %s, %s)::text",
                      (features, weights, L, bits, seed))
            yield "set %d" % i, got, o.weighted_minhash(features, weights, L, bits, seed)
    equal_all("weighted_minhash", signatures())

    def sums(features, weights):
        out = {}
        for f, w in zip(features, weights):
            out[f] = out.get(f, 0) + o.weight_units(w)
        return out

    def exact():
        for i in range(80):
            a, b = some(rng.choice((0, 1, 30))), some(rng.choice((1, 30)))
            x, y = sums(*a), sums(*b)
            shared = sum(min(w, y.get(f, 0)) for f, w in x.items())
            either = sum(x.values()) + sum(y.values()) - shared
            got = one(conn, "SELECT weighted_jaccard_exact(%s::text[], %s::float8[], %s::text[], %s::float8[])", a + b)
            yield "pair %d" % i, math.isclose(got, shared / either if either else 0, rel_tol=1e-15, abs_tol=0), True
            got = one(conn, "SELECT weighted_cosine_exact(%s::text[], %s::float8[], %s::text[], %s::float8[])", a + b)
            norms = sum(w * w for w in x.values()) * sum(w * w for w in y.values())
            want = sum(w * y.get(f, 0) for f, w in x.items()) / math.sqrt(norms) if norms else None
            yield "cosine %d" % i, got is want or math.isclose(got, want, rel_tol=1e-13), True
    equal_all("weighted_jaccard_exact and weighted_cosine_exact", exact())


def error_line(name, errors, bounds):
    """errors: (estimate - exact, standard error). Their root mean square ratio should be near 1, and their mean 0."""
    n = len(errors)
    ratio = math.sqrt(sum((e / s) ** 2 for e, s in errors) / n)
    mean = sum(e for e, _ in errors) / n
    mean_bound = 4.5 * math.sqrt(sum(s * s for _, s in errors)) / n * bounds[2]
    print("# %s: %d estimates, mean error %+.4f, root mean square error / standard error %.3f" % (name, n, mean, ratio))
    check("%s: errors are as large as the standard error says" % name, bounds[0] < ratio < bounds[1],
          "ratio %.3f" % ratio)
    check("%s: no bias" % name, abs(mean) <= mean_bound, "mean error %.5f, bound %.5f" % (mean, mean_bound))


def angle_sigma(cosine):
    p = math.acos(max(-1.0, min(1.0, cosine))) / math.pi
    return p, math.sqrt(p * (1 - p) / 64)


RECIPE = (
    "CREATE TABLE term AS SELECT a.id, t.term, count(*) AS n FROM article a, shingles(a.body, 1) t(term) GROUP BY 1, 2",
    """CREATE TABLE idf AS SELECT term, ln((SELECT count(*) FROM article)::float8 / count(*)) AS idf
         FROM term GROUP BY term""",
    """CREATE TABLE weighted AS
         SELECT id, array_agg(term ORDER BY term) AS terms, array_agg((1 + ln(n)) * idf ORDER BY term) AS weights
           FROM term JOIN idf USING (term) GROUP BY id""",
    """CREATE TABLE signed AS SELECT id, terms, weights, weighted_minhash(terms, weights) AS sig,
         weighted_minhash(terms, weights, 256, 16) AS sig16, weighted_simhash(terms, weights) AS sim FROM weighted""",
)


def articles(conn):
    path = data_file("text_articles", "articles_2500.tsv.gz")
    pairs = data_file("text_articles", "articles_2500_pairs.tsv.gz")
    if path is None or pairs is None:
        return
    load(conn, "article", "id text, body text", path)
    if not FULL:
        conn.execute("DELETE FROM article WHERE abs(hashtext(id)) % 5 <> 0")
    for statement in RECIPE:
        conn.execute(statement)
    rows = conn.execute("""
        SELECT weighted_jaccard_exact(a.terms, a.weights, b.terms, b.weights), jaccard(a.sig, b.sig), jaccard(a.sig16,
          b.sig16),
               weighted_cosine_exact(a.terms, a.weights, b.terms, b.weights), hamming(a.sim, b.sim)
          FROM signed a, signed b WHERE a.id < b.id AND abs(hashtext(a.id || b.id)) %% 1000 < %s""",
                        (20 if FULL else 30,)).fetchall()
    jaccards = [r for r in rows if 0.03 <= r[0] <= 0.97]
    error_line("weighted_minhash 128x32 over articles",
               [(e - j, math.sqrt(j * (1 - j) / 128)) for j, e, _, _, _ in jaccards], (0.9, 1.1, 6))
    error_line("weighted_minhash 256x16 over articles",
               [(e - j, math.sqrt(j * (1 - j) / 256)) for j, _, e, _, _ in jaccards], (0.9, 1.1, 6))
    sims = [(h / 64 - angle_sigma(c)[0], angle_sigma(c)[1]) for _, _, _, c, h in rows if c < 0.99]
    error_line("weighted_simhash over articles", sims, (0.85, 1.2, 20))


def vectors(conn):
    """Pairs of random vectors at fixed angles: differing bits of vector_simhash and weighted_simhash."""
    rng = random.Random(321)
    pairs = 400 if FULL else 100
    conn.execute("CREATE TABLE v (angle float8, a float8[], b float8[])")
    with conn.cursor() as cur, cur.copy("COPY v FROM STDIN") as copy:
        for angle in (10, 30, 60, 90, 120):
            for _ in range(pairs):
                a = [rng.gauss(0, 1) for _ in range(128)]
                c = [rng.gauss(0, 1) for _ in range(128)]
                dot, norm = sum(x * y for x, y in zip(a, c)), sum(x * x for x in a)
                c = [y - x * dot / norm for x, y in zip(a, c)]  # at a right angle
                scale = math.sqrt(norm / sum(y * y for y in c))
                t = math.radians(angle)
                copy.write_row((angle, a, [x * math.cos(t) + y * scale * math.sin(t) for x, y in zip(a, c)]))
    worst = one(conn, "SELECT max(abs(cosine_exact(a, b) - cosd(angle))) FROM v")
    check("cosine_exact of vectors at known angles", worst < 1e-14, worst)
    for angle in (10, 30, 60, 90, 120):
        rows = conn.execute(
            "SELECT hamming(vector_simhash(a::real[]), vector_simhash(b::real[])) FROM v WHERE angle = %s",
            (angle,)).fetchall()
        p = angle / 180
        error_line("vector_simhash at %d degrees" % angle, [(h / 64 - p, math.sqrt(p * (1 - p) / 64)) for h, in rows],
                   (0.8, 1.2, 1))
    # Weights are not negative, so that angles of weighted sets end at 90 degrees: shared, and own, features.
    for share in (0.95, 0.8, 0.5, 0.0):
        rows = []
        for i in range(pairs):
            n = 300
            fa = ["s%d-%d" % (i, j) if j < share * n else "a%d-%d" % (i, j) for j in range(n)]
            fb = ["s%d-%d" % (i, j) if j < share * n else "b%d-%d" % (i, j) for j in range(n)]
            w = [math.exp(rng.gauss(0, 0.5)) for _ in range(n)]
            rows.append(conn.execute("""SELECT weighted_cosine_exact(%s::text[], %s::float8[], %s::text[],
                %s::float8[]),
                hamming(weighted_simhash(%s::text[], %s::float8[]), weighted_simhash(%s::text[], %s::float8[]))""",
                                     (fa, w, fb, w, fa, w, fb, w)).fetchone())
        errors = [(h / 64 - angle_sigma(c)[0], angle_sigma(c)[1]) for c, h in rows]
        error_line("weighted_simhash, share %.2f" % share, errors, (0.8, 1.25, 1.2))


def main():
    with database() as name, connect(name) as conn:
        sections((oracle_rows, conn), (articles, conn), (vectors, conn))


finish(main)
