#!/usr/bin/python3
"""News pages: the same story in other surroundings and other stories in the same surroundings, by shingles that begin
with stop words and by character 10-shingles. Pages are composed of the body of
one page and the surroundings of another."""
import random
import re
import statistics

from harness import *

WORD = re.compile(r"\w+")
RUN = 4        # words of a body that are found in a page in this number and order are the body's
LEAST_BODY = 150
MEASURES = (
    ("stopword_minhash", "stopword_minhash(page, neardup_stopwords('en'))"),
    ("stopword_minhash, following 1", "stopword_minhash(page, neardup_stopwords('en'), 1)"),
    ("stopword_minhash, following 3", "stopword_minhash(page, neardup_stopwords('en'), 3)"),
    ("stopword_minhash, english_stem", "stopword_minhash(page, 'english_stem'::regdictionary)"),
    ("to_minhash, char 10", "to_minhash(page, 10, 'char')"),
    ("to_minhash, word 3", "to_minhash(page)"),
)

# Made for this test: stories, and what stands around stories on two sites.
STORIES = (
    "The city council has approved the plan for a new bridge over the river, and work on it is to begin in the spring. "
        "It will be the first bridge that the city has built in more than thirty years. The mayor said that the old "
        "one could not carry the traffic "
        "of today, and that it would be closed for repairs as soon as the new one is open. Some of the people who "
        "live near the site are against it because they fear that there will be more noise in their streets.",
    "A fire in the harbour has destroyed two of the warehouses that belong to a shipping company. Nobody was hurt, "
        "but it took the fire brigade most of the night to get the flames under control. The police do not know yet "
        "how it began and have asked those "
        "who were in the area to come forward. The company said that it was too early to say what had been lost in "
        "the fire.",
    "The team from the north has won the cup for the second time in its history after a match that went on until the "
        "last minute. The goal came from a player who had been on the field for less than ten minutes. "
        "His coach said after the match that he had known "
        "all along that it would be this man who would decide it, and that the team had never given up.",
)
SITES = (
    ("Home\nWorld\nPolitics\nBusiness\nMarkets\nTech\nScience\nHealth\nSports\nArts\nBooks\nStyle\nFood\nTravel\nJobs\n"
         "Real Estate\nAutos\nVideo\n"
         "Subscribe Sign In\nSearch\nFacebook\nTwitter\nEmail\nPrint\nShare\nPhoto: Staff\nUpdated Monday 10:15\n",
     "\nRelated\nWeather Alerts Issued\nSchools Reopen Monday\nMarkets Close Higher\nMost Read\nComments 14\n"
         "Newsletter\nPrivacy Policy\nTerms Service\n"
         "Cookie Settings\nContact\nAdvertise\nCareers\nSite Map\nCopyright 2026 Daily Example"),
    ("Menu\nLatest\nLocal\nNational\nInternational\nOpinion\nCulture\nMusic\nFilm\nTheatre\nGames\n"
         "Crossword\nPodcasts\nEvents\nLog In\nRegister\nShop\n"
         "Cameras Laptops Phones Tablets Deals Save 30% Buy Now Free Delivery\nBy Newsroom\n5 min read\n",
     "\nTrending\nCelebrity Wedding Photos\nTen Best Cameras 2026\nQuick Pasta Recipes\nYou May Like\nSponsored\n"
         "Credit Cards Compare Rates\nLoans\n"
         "Insurance\nHelp Centre\nAccessibility\nMobile Apps\nRSS\nPress\nPartners\nCopyright Example Media Group"),
)


def surroundings(body, page):
    """The page before and after where the body begins, without the body."""
    words = [m.group().lower() for m in WORD.finditer(body)]
    runs = {tuple(words[i:i + RUN]) for i in range(len(words) - RUN + 1)}
    found = list(WORD.finditer(page))
    spelled = [m.group().lower() for m in found]
    inside = [False] * len(found)
    for i in range(len(found) - RUN + 1):
        if tuple(spelled[i:i + RUN]) in runs:
            inside[i:i + RUN] = [True] * RUN
    if True not in inside:
        return None
    begin = inside.index(True)
    keep = lambda a, b: " ".join(page[m.start():(found[i + 1].start() if i + 1 < len(found) else len(page))].rstrip(" ")
                                 for i, m in enumerate(found[a:b], a) if not inside[i])
    return keep(0, begin), keep(begin, len(found))


def quartiles(values):
    return "%.3f %.3f %.3f" % tuple(statistics.quantiles(values, n=4)) if len(values) > 1 else "%.3f" % values[0]


def separation(near, far):
    """Probability that a pair of the same story scores above one of different stories, ties counted half (AUC)."""
    ranked = sorted([(v, 0) for v in far] + [(v, 1) for v in near])
    score, below, i = 0.0, 0, 0
    while i < len(ranked):
        j = i
        while j < len(ranked) and ranked[j][0] == ranked[i][0]:
            j += 1
        tied_far = sum(1 for v in ranked[i:j] if v[1] == 0)
        score += (j - i - tied_far) * (below + tied_far / 2)
        below += tied_far
        i = j
    return score / (len(near) * len(far))


def compare(conn, name, pages, same_story, same_place, measures=MEASURES):
    """pages: key to text. The two lists hold pairs of keys. Medians by measure: (same story, same surroundings,
    AUC)."""
    conn.execute("DROP TABLE IF EXISTS pages")
    conn.execute("CREATE TABLE pages (key text PRIMARY KEY, page text)")
    with conn.cursor() as cur:
        cur.executemany("INSERT INTO pages VALUES (%s, %s)", list(pages.items()))
    out = {}
    for measure, signature in measures:
        conn.execute("DROP TABLE IF EXISTS s")
        conn.execute("CREATE TABLE s AS SELECT key, %s AS sig FROM pages" % signature)
        scores = [[v for (v,) in conn.execute("SELECT jaccard(a.sig, b.sig) FROM unnest(%s::text[], %s::text[]) p(a, "
                                                  "b) JOIN s a ON a.key = p.a JOIN s b ON b.key = p.b",
                                              ([p[0] for p in pairs], [p[1] for p in pairs]))] for pairs in (
            same_story, same_place)]
        out[measure] = statistics.median(scores[0]), statistics.median(scores[1]), separation(*scores)
        print("# %s, %s: same story %s, same surroundings %s (quartiles of %d and %d), AUC %.4f"
                  % (name, measure, quartiles(scores[0]), quartiles(scores[1]), len(scores[0]), len(scores[1]),
                     out[measure][2]),
              flush=True)
    return out


def better(name, out, by=0.0):
    stop, chars = out["stopword_minhash"], out["to_minhash, char 10"]
    check("%s: the same story in other surroundings scores higher than by characters" % name, stop[0] > chars[0] + by,
          (stop, chars))
    check("%s: other stories in the same surroundings score lower" % name, stop[1] < chars[1] - by, (stop, chars))
    check("%s: the two are told apart better" % name, stop[2] >= chars[2] and stop[0] > stop[1], (stop, chars))


def own(conn):
    """The two sites above with the three stories."""
    pages = {"%d %d" % (s, p): SITES[p][0] + STORIES[s] + SITES[p][1] for s in range(3) for p in range(2)}
    same_story = [("%d 0" % s, "%d 1" % s) for s in range(3)]
    same_place = [("%d %d" % (s, p), "%d %d" % (t, p)) for p in range(2) for s in range(3) for t in range(s)]
    better("own pages", compare(conn, "own pages", pages, same_story, same_place), 0.1)


def real(conn):
    path = data_file("news_boilerplate", "pages.tsv.gz")
    if not path:
        return
    load(conn, "news", "id int, key text, url text, body text, page text", path)
    rows = conn.execute("SELECT id, body, page FROM news ORDER BY id").fetchall()
    stories = [body for _, body, _ in rows if len(WORD.findall(body)) >= LEAST_BODY]
    places = [s for s in (surroundings(body, page) for _, body, page in rows)
              if s and len(WORD.findall(s[0] + s[1])) >= LEAST_BODY]
    rng = random.Random(1)
    pages, same_story, same_place = {}, [], []

    def page(story, place):
        key = "%d %d" % (story, place)
        pages[key] = places[place][0] + "\n" + stories[story] + "\n" + places[place][1]
        return key

    for _ in range(1000 if FULL else 300):
        a, b = rng.sample(range(len(stories)), 2)
        p, q = rng.sample(range(len(places)), 2)
        same_story.append((page(a, p), page(a, q)))
        same_place.append((page(a, p), page(b, p)))
    print("# news_boilerplate: %d stories, %d surroundings" % (len(stories), len(places)), flush=True)
    better("news_boilerplate", compare(conn, "news_boilerplate", pages, same_story, same_place,
                                       MEASURES if FULL else (MEASURES[0], MEASURES[4])), 0.05)


def main():
    with database() as name, connect(name) as conn:
        sections((own, conn), (real, conn))


finish(main)
