#!/usr/bin/python3
"""Word similarity: every row against the definition in words.py, planted synonyms, WordSim-353 and SimLex-999, stored
models (interrupted, owned, dumped), memory, progress, languages, bad input."""
import random
import time

from harness import *
import words

ROWS = "SELECT word, similar_word, similarity, rank FROM word_similarities(%s"
MODEL_ROWS = ("SELECT m.word, o.word, s.similarity, s.rank::int FROM %s m, unnest(m.similar_ids, m.similarities) "
              "WITH ORDINALITY s(id, similarity, rank), %s o WHERE o.id = s.id ORDER BY m.id, s.rank")
STOPWORDS = ["the", "of", "and", "a", "to", "in"]


def fill(conn, table, docs, kind="text"):
    conn.execute("DROP TABLE IF EXISTS %s; CREATE TABLE %s (id int, body %s)" % (table, table, kind))
    copy_rows(conn, table, enumerate(docs))


def call_arguments(query, settings):
    """SQL text of the arguments, and their values."""
    return "".join(', "%s" => %%s%s' % (s, {"stopwords": "::text[]", "dictionary": "::text::regdictionary"}.get(s, ""))
                   for s in settings) + ")", (query, *settings.values())


def near_rows(conn, query, settings):
    text, values = call_arguments(query, settings)
    return conn.execute(ROWS + text, values).fetchall()


def samples(language):
    folder = os.path.join(ROOT, "samples", language)
    out = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            out.append(f.read())
    return out


def hostile(rng, n):
    """Texts of few words and of everything that may stand between them."""
    some = ["lime", "Lime", "tea", "Tea", "cup", "jar", "Öl", "ÖL", "straße", "не", "чай", "Чай", "茶", "水",
            "e\u0301t\u00e9", "J", "b", "x1", "a_b", "7", "٣", "B٣", "no", "so", "don", "t", "ß", "Ⅷ", "ǅ", "あ", "ไ",
            "x" * 1024, "y" * 1025, "я" * 512, "ю" * 513, "ʰ", "ﬁ", "\u0301"]
    gaps = [" "] * 20 + [". ", ".", ".) ", '." ', ".» ", ".’\n", ". . ", "...", "... ", "…", "! ", "!", "?", ";\n",
                         ", ", "\n\n", "\n \t\r\n", "\n\v\n", "．", "． ", "。", "｡", ".\n", ".\t", ".\u00a0",
                         ".\u3000", ".\u200b", ".\u2028", " . ", ".-", ".— ", "।", "؟", "۔", "‼", "⁇", "⁈", "⁉", ".(",
                         ".[1] ", ".“ ", ".」", ".」 ", "'", "-", "\r\n\r\n", "\n-\n"]
    return ["".join(rng.choice(some) + rng.choice(gaps) for _ in range(rng.randrange(1, 60))) for _ in range(n)]


def agreement(conn):
    """Every row of several settings, against the definition; what fixed point costs against real numbers."""
    rng = random.Random(340)
    docs = samples("en")[:3] + hostile(rng, 200 if FULL else 50) + [None, "", "   ", "lonely"]
    planted, _ = words.classes_of_synonyms(rng, 4, 4, 10, 5)
    docs += planted
    fill(conn, "d", docs)
    conn.execute("CREATE TEXT SEARCH DICTIONARY few (TEMPLATE = simple, STOPWORDS = english)")
    english = [w for w in words.Model(docs).words if one(conn, "SELECT ts_lexize('few', %s) = '{}'", (w,))]
    check("the dictionary knows stop words", len(english) > 20, english)
    settings = [{}, {"by_position": False}, {"window": 1}, {"window": 2, "by_position": False, "context": "document"},
                {"window": 5}, {"window": 16, "k": 3}, {"features": 20}, {"vocabulary": 40},
                {"vocabulary": 200, "features": 7, "by_position": False, "k": 1000}, {"stopwords": STOPWORDS},
                {"context": "document"}, {"stopwords": []}, {"k": 1, "window": 4}, {"vocabulary": 1},
                {"vocabulary": 2, "window": 1, "by_position": False}, {"discount": 0.5},
                {"discount": 0.999, "by_position": False, "k": 3}, {"discount": 0.0004, "window": 2}]
    worst, bounds, compared, used = 0, [], 0, 0
    for s in settings:
        model = words.Model(docs, **{n: v for n, v in s.items() if n != "k"})
        got, want = near_rows(conn, "SELECT body FROM d", s), words.rows_of_model(model, s.get("k", 50))
        equal_all("rows as defined: %s" % (s or "defaults"),
                  [("number", len(got), len(want))] + [("row", g, w) for g, w in zip(got, want)])
        used += len(want)
        for _ in range(2000):
            a, b = rng.randrange(len(model.words)), rng.randrange(len(model.words))
            fixed, real = words.similarity(model.rows[a], model.rows[b]), words.similarity(
                model.exact_rows[a], model.exact_rows[b])
            if a != b and fixed:
                # Each value is off by half a unit, or by less than one where it was
                # raised to 1; common ones count twice.
                off = (len(model.rows[a]) + len(model.rows[b])) / words.UNITS
                both = model.exact_weight[a] + model.exact_weight[b]
                common = len(model.rows[a].keys() & model.rows[b].keys()) * 2 / words.UNITS
                bounds.append(abs(fixed - real) <= (common + fixed * off) / both * (1 + 1e-9))
                worst, compared = max(worst, abs(fixed - real)), compared + 1
    check("there are many rows", used > 20000, used)
    print("note: %d similarities in units of 1/1024 nat against real numbers: greatest difference %.2g"
          % (compared, worst))
    check("fixed point is as near to real numbers as its unit allows, and below 0.001",
          all(bounds) and worst < 1e-3 and compared > 1000, (worst, compared, bounds.count(False)))
    equal("a list's and a dictionary's stop words",
          near_rows(conn, "SELECT body FROM d", {"dictionary": "few", "stopwords": ["TEA", "Lime"]}),
          words.word_similarities(docs, stopwords=english + ["tea", "lime"]))
    equal("a dictionary's stop words", near_rows(conn, "SELECT body FROM d", {"dictionary": "few"}),
          words.word_similarities(docs, stopwords=english))
    both = conn.execute(
        "SELECT word, similar_word, similarity FROM word_similarities('SELECT body FROM d', k => 1000)").fetchall()
    pairs = {(a, b): s for a, b, s in both}
    check("similarity is symmetric, in (0, 1]", all(pairs[b, a] == s and 0 < s <= 1 for (a, b), s in pairs.items()),
          len(pairs))
    equal("the order of documents does not matter", near_rows(conn, "SELECT body FROM d ORDER BY md5(id::text)", {}),
          near_rows(conn, "SELECT body FROM d", {}))

    lists = [
        [rng.choice(["Lime", "lime", "7", "x_y", "", None, "two words", "茶", "z" * 1024, "z" * 1025, "a", "b", "c"])
         for _ in range(rng.randrange(30))] for _ in range(150)]
    lists += [None, [], [None], ["alone"]]
    fill(conn, "l", lists, "text[]")
    for s in ({}, {"window": 2, "by_position": False}, {"context": "document", "stopwords": ["lime"]}, {"features": 3}):
        equal("words given as text[]: %s" % s, near_rows(conn, "SELECT id, body FROM l", s),
              words.word_similarities(lists, **s))
    equal("the words that they are",
          {w for (w,) in conn.execute("SELECT word FROM word_similarities('SELECT body FROM l', k => 1)")}
              - {"a", "b", "c", "alone"},
          {"Lime", "lime", "7", "x_y", "two words", "茶", "z" * 1024})


def languages(conn):
    for language in ("en", "uk", "zh"):
        docs = samples(language)
        fill(conn, "d", docs)
        for s in ({"window": 2}, {"by_position": False}):
            got = near_rows(conn, "SELECT body FROM d", s)
            check("%s: %d rows as defined, %s" % (language, len(got), s),
                  got and got == words.word_similarities(docs, **s))
    conn.execute("CREATE TABLE zh AS SELECT '{我,喝,热,茶}'::text[] AS w UNION ALL SELECT '{我,喝,热,咖啡}' UNION ALL "
                 "SELECT '{他,看,书}'")
    equal("Chinese words given as text[]",
          conn.execute(
              "SELECT similar_word, similarity FROM word_similarities('SELECT w FROM zh') "
              "WHERE word = '茶'").fetchall()[
              :1], [("咖啡", 1.0)])


def latin1():
    """Another encoding gives the same words; the micro sign, which folds to a letter that LATIN1 lacks, as it is."""
    def written(rows):
        return [tuple(v.replace("\u03bc", "\u00b5") if isinstance(v, str) else v for v in row) for row in rows]
    docs = ["Café à la carte. 5 µ of Tea. Naïve µ.", "Café µ la carte; tea of Ümit, naïve café.",
            "The café of Ümit. ÿ of tea."] * 3
    with database("_latin1", "ENCODING 'LATIN1' LOCALE 'C'") as name, connect(name) as conn:
        fill(conn, "d", docs)
        got = near_rows(conn, "SELECT body FROM d", {})
        equal("LATIN1: %d rows as defined" % len(got), got, written(words.word_similarities(docs)))
        conn.execute("CALL create_word_model('m', 'SELECT body FROM d', stopwords => '{THE,Naïve}')")
        equal("LATIN1: a model", model_rows(conn, "m"),
              written(words.word_similarities(docs, stopwords=["the", "naïve"])))
        equal(
            "LATIN1: asked in its encoding", one(conn, "SELECT count(*) > 0 FROM similar_words('m', 'CAFÉ', 3)"), True)


def synonyms(conn):
    """Words of a planted class rank each other first."""
    rng = random.Random(34)
    for times, least in ((6, 0.4), (30, 0.95)):
        docs, of_class = words.classes_of_synonyms(rng, 40 if FULL else 16, 5, 20, times)
        fill(conn, "d", docs)
        for by_position in (True, False):
            found = {}
            for word, similar in conn.execute(
                    "SELECT word, similar_word FROM word_similarities('SELECT body FROM d', k => 100, by_position => "
                        "%s) ORDER BY word, rank",
                    (by_position,)):
                found.setdefault(word, []).append(similar)
            members = {}
            for word, c in of_class.items():
                members.setdefault(c, set()).add(word)
            mean = sum(words.average_precision(found.get(w, []), members[c] - {w}) for w, c in of_class.items()) / len(
                of_class)
            print("note: planted classes, each word %d times, by_position %s: mean average precision %.3f"
                  % (times, by_position, mean))
            check("planted synonyms are found: %d times, by_position %s" % (times, by_position), mean >= least, mean)


GOLD = (("ws_353_all", 0.25), ("ws_353_sim", 0.35), ("ws_353_rel", 0.15), ("simlex_999", 0.08))


def gold(conn, model, below, plain=None):
    """Spearman of Lin's measure and of the cosine of the same positive mutual information, with people's scores. below:
    how far below the cosine's the first may be, on SimLex-999 by 0.05 anyway; None: only told. Returns the cosine's,
    which a model with a discount is given as `plain`: what it is compared with is the cosine without one."""
    line, rows, baseline = [], {}, {}
    for name, least in GOLD:
        path = data_file("words", name + ".tsv.gz")
        if not path:
            return
        with gzip.open(path, "rt", encoding="utf-8") as f:
            pairs = [(a.lower(), b.lower(), float(s)) for a, b, s in (line.rstrip("\n").split("\t") for line in f)]
        wanted = {w for p in pairs for w in p[:2]} - rows.keys()
        rows.update((w, words.decode(f)) for w, f in conn.execute(
            "SELECT word, features FROM %s WHERE word = ANY (%%s)" % model, (list(wanted),)))
        known = [(rows[a], rows[b], s) for a, b, s in pairs if a in rows and b in rows and a != b]
        human = [s for _, _, s in known]
        lin = words.spearman([words.similarity(a, b) or 0.0 for a, b, _ in known], human)
        cosine = (plain or {}).get(name) or words.spearman([words.cosine(a, b) for a, b, _ in known], human)
        baseline[name] = cosine
        line.append("%s %d of %d pairs: %.3f (%.3f)" % (name, len(known), len(pairs), lin, cosine))
        if below is not None:
            allowed = 0.05 if name == "simlex_999" else below
            check("%s: at least %g, and not below PMI and cosine by more than %g" % (name, least, allowed),
                  lin >= max(least, cosine - allowed), (lin, cosine))
    print("note: Spearman (that of PMI and cosine%s): %s" % (" without a discount" if plain else "", ", ".join(line)))
    return baseline


def corpus(conn):
    path = data_file("words", "corpus.tsv.gz")
    if not path:
        return
    load(conn, "corpus", "id int, source text, body text", path)
    vocabulary = 10000 if FULL else 2500
    start = time.monotonic()
    conn.execute("CALL create_word_model('english', 'SELECT body FROM corpus', vocabulary => %s, k => 20)" % vocabulary)
    print("note: model of %d words: %.1f s" % (vocabulary, time.monotonic() - start))
    stored = conn.execute("SELECT id, word, frequency, weight, features FROM english ORDER BY id").fetchall()
    names = [r[1] for r in stored]
    equal("ids in the order of frequency, then bytes", names,
          [r[1] for r in sorted(stored, key=lambda r: (-r[2], r[1].encode()))])
    equal("ids from 0", [r[0] for r in stored], list(range(vocabulary)))
    rows = [words.decode(r[4]) for r in stored]
    weight = [r[3] for r in stored]
    equal("weights are sums of the values", weight, [sum(r.values()) for r in rows])
    check("features are ascending, in range",
          all(list(r) == sorted(r) and (not r or max(r) < 6 * vocabulary) for r in rows))
    rng = random.Random(1)
    asked = rng.sample(range(vocabulary), 300 if FULL else 8) + [0, vocabulary - 1]
    lists = {f: [] for w in asked for f in rows[w]}
    for w, row in enumerate(rows):
        for f in row.keys() & lists.keys():
            lists[f].append((w, row[f]))
    found = {w: [] for w in asked}
    for w, other, s in conn.execute(
            "SELECT m.id, o.word, s.s FROM english m, unnest(m.similar_ids, m.similarities) "
                "WITH ORDINALITY s(id, s, n), english o WHERE o.id = s.id AND m.id = ANY (%s) ORDER BY m.id, s.n",
            (asked,)):
        found[w].append((other, s))
    equal_all("the similar words of some, by the stored rows",
              ((names[w], found[w], words.best(names, words.similar_to(rows, weight, lists, w), 20)) for w in asked))
    for word in ("water", "war", "king"):
        print("note: %s: %s" % (word, ", ".join("%s %.3f" % r for r in conn.execute(
            "SELECT similar_word, similarity FROM similar_words('english', %s, 8)", (word,)))))
    conn.execute("SELECT drop_word_model('english')")
    others = ((5000, 3, True, 0.05), (10000, 3, True, 0.05), (10000, 3, False, 0.05), (10000, 5, True, 0.05),
              (20000, 3, True, None), (100000, 3, True, None), (100000, 3, False, None))
    for *settings, below in ((10000, 2, True, 0.0),) + others * FULL:
        plain = None
        for discount in (0, 0.5) if settings[0] < 100000 else (0,):
            start = time.monotonic()
            conn.execute("CALL create_word_model('other', 'SELECT body FROM corpus', vocabulary => %s, \"window\" => "
                         "%s, by_position => %s, k => 20, discount => %s)", settings + [discount])
            print("note: vocabulary %d, window %d, by_position %s, discount %g: %.1f s, %s" % (
                *settings, discount, time.monotonic() - start,
                one(conn, "SELECT pg_size_pretty(pg_total_relation_size('other'))")))
            plain = gold(conn, "other", below, plain)
            conn.execute("SELECT drop_word_model('other')")

    # Counts and rows of real text, by the slow reference.
    least = "id BETWEEN 1 AND 60 OR id % 20 = 0" if FULL else "id IN (3, 500)"
    docs = [d for (d,) in conn.execute("SELECT body FROM corpus WHERE %s ORDER BY id" % least)]
    for s in ({"vocabulary": 1500, "k": 5},
              {"vocabulary": 500, "k": 5, "window": 5, "by_position": False, "stopwords": STOPWORDS}):
        equal_all("%.1f MB of it as defined: %s" % (sum(map(len, docs)) / 1e6, s),
                  [("row", g, w) for g, w in zip(
                      near_rows(conn, "SELECT body FROM corpus WHERE %s" % least, s) + [None],
                      words.word_similarities(docs, **s) + [None])])


def many(rng, n):
    """n words' worth of sentences over some 2,000 words."""
    names = ["".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(3)) for _ in range(2000)]
    draw = lambda: names[int(len(names) * rng.random() ** 3)]
    return [" ".join(" ".join(draw() for _ in range(9)).capitalize() + "." for _ in range(10)) for _ in range(n // 90)]


def model_rows(conn, model):
    return conn.execute(MODEL_ROWS % (model, model)).fetchall()


def stored(name):
    """A stored model holds the rows of word_similarities, and is asked for the same."""
    with connect(name) as conn:
        rng = random.Random(7)
        docs = samples("en") + hostile(rng, 60)
        fill(conn, "d", docs)
        for n, s in enumerate(
                ({}, {"by_position": False, "window": 2, "features": 30, "k": 4},
                 {"vocabulary": 50, "context": "document", "stopwords": STOPWORDS}, {"discount": 0.25, "window": 1})):
            text, values = call_arguments("SELECT body FROM d", s)
            conn.execute("CALL create_word_model('m', %s" + text, values)
            got = model_rows(conn, "m")
            equal("a model holds the rows of word_similarities: %s" % s, got, near_rows(conn, "SELECT body FROM d", s))
            model = words.Model(docs, **{n: v for n, v in s.items() if n != "k"})
            of_id = {}
            for i, word, frequency, weight, features in conn.execute(
                    "SELECT id, word, frequency, weight, features FROM m"):
                of_id[i] = (word, frequency, weight, words.decode(features))
            equal("and the words with their rows", [of_id[i] for i in range(len(of_id))],
                  list(zip(model.words, model.frequency, model.weight, model.rows)))
            if n == 0:
                pairs = [(rng.randrange(len(model.words)), rng.randrange(len(model.words))) for _ in range(300)]
                equal_all("word_similarity(a, b) as defined",
                          [((model.words[a], model.words[b]),
                            one(conn, "SELECT word_similarity('m', %s, %s)", (model.words[a], model.words[b])),
                            words.similarity(model.rows[a], model.rows[b])) for a, b in pairs])
                lists = words.lists_by_feature(model.rows)
                rows = []
                for a in rng.sample(range(len(model.words)), 60):
                    want = [(o, v, r + 1) for r, (o, v) in enumerate(
                        words.best(model.words, words.similar_to(model.rows, model.weight, lists, a), 7))]
                    rows.append(
                        (model.words[a],
                         conn.execute("SELECT similar_word, similarity, rank::int FROM similar_words('m', %s, 7)",
                                      (model.words[a],)).fetchall(),
                         want))
                equal_all("similar_words as defined", rows)
                expected = []
                for place, word in enumerate(("lighthouse", "unheard", "the", "tea"), 1):
                    expected.append((place, word, word, 1.0))
                    if word in model.id:
                        similar = words.best(
                            model.words, words.similar_to(model.rows, model.weight, lists, model.id[word]), 3)
                        expected += [(place, word, o, v) for o, v in similar]
                equal("expand_query",
                      conn.execute("SELECT place::int, word, similar_word, similarity "
                                   "FROM expand_query('m', 'Lighthouse unheard, THE tea!', 3)").fetchall(), expected)
            if n == 0:
                with connect(name) as other, other.transaction():
                    other.execute("SELECT FROM m_model FOR UPDATE")
                    fails("a model that another session is making", conn,
                          "CALL create_word_model('m', 'SELECT body FROM d')", text="another session is making",
                          state="55P03")
            fails("a finished model is not made again", conn, "CALL create_word_model('m', 'SELECT body FROM d')",
                  text="m")
            conn.execute("SELECT drop_word_model('m')")
            equal("nothing is left of a dropped model",
                  one(conn, "SELECT count(*) FROM pg_class WHERE relname IN ('m', 'm_model')"), 0)


def in_thread(conn, query, args=None):
    """Runs the statement; the thread's `error` is what it raised."""
    def run():
        try:
            cur = conn.execute(query, args)
            thread.rows = cur.fetchall() if cur.description else None
        except psycopg.Error as e:
            thread.error = e
    thread = Thread(target=run)
    thread.error, thread.rows = None, None
    thread.start()
    return thread


def until(condition, thread=None, seconds=60):
    """Waits for the condition, or the end of the thread, whichever comes first; a hang guard, no measure."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        if thread is not None and not thread.is_alive():
            return False
        time.sleep(0.002)
    return False


def interrupted(name):
    """Cancelled and terminated in every stage, again and again: the next CALL goes on, and the end is the same."""
    rng = random.Random(9)
    with connect(name) as watcher:
        fill(watcher, "d", many(rng, 60000 if FULL else 30000))
        watcher.execute("CREATE TABLE gate (open boolean); INSERT INTO gate VALUES (false)")
        # A reader that waits in its middle until the gate opens.
        watcher.execute(
            "CREATE FUNCTION hold(id int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN WHILE id = 100 "
            "AND NOT (SELECT open FROM gate) LOOP PERFORM pg_sleep(0.002); END LOOP; RETURN true; END $$")
        want = near_rows(watcher, "SELECT body FROM d", {"k": 5})
        settings = "k => 5, commit_every => '0'"
        for how in ("pg_cancel_backend", "pg_terminate_backend"):
            for again in range(6):  # anew, where the first attempt came to its end before it was stopped
                watcher.execute("UPDATE gate SET open = false")
                call = "CALL create_word_model('m', 'SELECT body FROM d WHERE hold(id)', %s)" % settings
                stopped = []
                with connect(name) as conn:
                    thread = in_thread(conn, call)
                    pid = conn.info.backend_pid
                    # Its tables are committed by then: arguments are tried by counting nothing before.
                    reading = until(
                        lambda: one(
                            watcher, "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active'",
                            (pid,)) and
                            one(watcher, "SELECT to_regclass('m_model') IS NOT NULL") and
                            one(watcher, "SELECT count(*) FROM neardup_progress() WHERE pid = %s", (pid,)), thread)
                    watcher.execute("SELECT %s(%%s)" % how, (pid,))
                    thread.join(60)
                    check("%s while counting" % how, reading and thread.error is not None and not thread.is_alive(),
                          (reading, thread.error))
                watcher.execute("UPDATE gate SET open = true")
                # 1 MB: many blocks, each committed. Stopped soon after a further one has
                # been, six times, then not any more.
                for attempt in range(7):
                    with connect(name) as conn:
                        conn.execute("SET neardup.threads = 1; SET maintenance_work_mem = '1MB'")
                        before = one(watcher, "SELECT compared FROM m_model")
                        thread = in_thread(conn, call)
                        if attempt < 6:
                            until(lambda: one(watcher, "SELECT compared FROM m_model") > before, thread)
                            time.sleep(rng.random() * 0.005)
                            watcher.execute(
                                "SELECT %s(pid) FROM pg_stat_activity WHERE pid = %%s AND state = 'active'" % how,
                                (conn.info.backend_pid,))
                        thread.join(120)
                        stopped.append((None if thread.error is None else thread.error.sqlstate or "closed",
                                        one(watcher, "SELECT compared FROM m_model")))
                    if stopped[-1][0] not in ("57014", "57P01", "closed"):
                        break
                if stopped[0][0] is not None or again == 5:
                    break
                watcher.execute("SELECT drop_word_model('m')")
            check("%s while words are compared, %d times, then finished" % (how, len(stopped) - 1),
                  len(stopped) > 1 and stopped[-1][0] is None, (stopped, thread.error))
            compared = [n for _, n in stopped]
            check("and went on where it was", compared == sorted(compared) and 0 < compared[0] < compared[-1], compared)
            equal("%s: the same rows as without" % how, model_rows(watcher, "m"), want)
            watcher.execute("SELECT drop_word_model('m')")


def at_once(name):
    """Two sessions make one model: the second, which waits for what the first has not committed, goes on as if it had
    found it there."""
    with connect(name) as first, connect(name) as second:
        fill(first, "d", samples("en"))
        want = near_rows(first, "SELECT body FROM d", {"k": 3})
        for mode, before in (("", ""), (", commit => false", ""), (", commit => false", HOLD_CATALOGS)):
            call = before + "CALL create_word_model('m', 'SELECT body FROM d', k => 3%s)" % mode
            mode += ", catalogs locked" if before else ""
            run = lambda begun, end: error_behind(first.execute("BEGIN; " + begun) and first, (end,), second, call)
            whole = "CALL create_word_model('m', 'SELECT body FROM d', k => 3, commit => false)"
            e = run(whole, "COMMIT")
            check("a model that another session has just made%s" % mode,
                  e and e.sqlstate == "42P07" and 'word model "m" already exists' in str(e), e)
            equal("it is whole%s" % mode, model_rows(first, "m"), want)
            first.execute("SELECT drop_word_model('m')")
            equal("one that another session has given up%s" % mode, run(whole, "ROLLBACK"), None)
            equal("is made%s" % mode, model_rows(first, "m"), want)
            first.execute("SELECT drop_word_model('m')")
            for what in ("m", "m_model"):
                e = run("CREATE TABLE %s (id int)" % what, "COMMIT")
                check("a table of another session has the name %s%s" % (what, mode),
                      e and e.sqlstate == "42P07" and 'relation "public.%s" already exists' % what in str(e), e)
                first.execute("DROP TABLE %s" % what)
            for what in ("m", "m_model"):
                first.execute("CREATE TYPE %s AS ENUM ('x')" % what)
                fails("a type has the name %s%s" % (what, mode), second, call, text='type "%s" already exists' % what,
                      state="42710")
                first.execute("DROP TYPE %s" % what)
        equal("nothing is left", one(first, "SELECT count(*) FROM pg_class WHERE relname IN ('m', 'm_model')"), 0)

        # The first one stops between its tables; then both are there, and whichever locks them
        # first goes on, reading until the gate opens.
        first.execute(
            "CREATE FUNCTION stops() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN IF "
            "current_setting('at_once.stops', true) = 'on' THEN PERFORM pg_advisory_xact_lock(340); END IF; END $$; "
            "CREATE EVENT TRIGGER stops ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION stops(); "
            "CREATE FUNCTION reads(id int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN IF id = 0 "
            "THEN PERFORM pg_advisory_xact_lock_shared(341); END IF; RETURN true; END $$; SET at_once.stops = 'on'")
        try:
            with connect(name) as watcher:
                watcher.execute("SELECT pg_advisory_lock(340), pg_advisory_lock(341)")
                call = "CALL create_word_model('m', 'SELECT body FROM d WHERE reads(id)', k => 3)"
                waits = lambda conn, what: until(
                    lambda: one(watcher, "SELECT wait_event FROM pg_stat_activity WHERE pid = %s",
                                (conn.info.backend_pid,)) == what)
                making = in_thread(first, call)
                stopped = waits(first, "advisory")
                behind = in_thread(second, call)
                stopped = stopped and waits(second, "transactionid")
                watcher.execute("SELECT pg_advisory_unlock(340)")
                until(lambda: not (making.is_alive() and behind.is_alive()))
                check("one of two at work waits in CREATE TABLE", stopped and (making.is_alive() or behind.is_alive()))
                watcher.execute("SELECT pg_advisory_unlock(341)")
                making.join(60)
                behind.join(60)
                errors = [e for e in (making.error, behind.error) if e]
                check(
                    "then one of them is told of the other",
                    [e.sqlstate for e in errors] == ["55P03"] and "another session is making" in str(errors[0]), errors)
                equal("which makes the model", model_rows(watcher, "m"), want)
        finally:
            first.execute("DROP EVENT TRIGGER IF EXISTS stops; DROP FUNCTION IF EXISTS stops, reads; "
                          "DROP TABLE IF EXISTS m, m_model, d")


def ordinary_user(name):
    with connect(name) as conn:
        conn.execute("DROP ROLE IF EXISTS neardup_t_words, neardup_t_other; CREATE ROLE neardup_t_words; "
                     "CREATE ROLE neardup_t_other")
        try:
            fill(conn, "d", samples("en"))
            conn.execute("GRANT SELECT ON d TO neardup_t_words; CREATE SCHEMA own AUTHORIZATION neardup_t_words; "
                         "GRANT USAGE ON SCHEMA own TO neardup_t_other")
            conn.execute("SET ROLE neardup_t_words; SET search_path = own, public")
            conn.execute("CALL create_word_model('own.\"My words\"', 'SELECT body FROM d', k => 3)")
            equal("what is made is the caller's",
                  one(conn, "SELECT string_agg(DISTINCT relowner::regrole::text, ',') FROM pg_class "
                            "WHERE relnamespace = 'own'::regnamespace"),
                  "neardup_t_words")
            check("and works under a name that needs quotes",
                  one(conn, "SELECT count(*) FROM similar_words('own.\"My words\"', 'the', 3)") == 3)
            conn.execute("RESET ROLE; SET ROLE neardup_t_other")
            fails("others may not read it", conn, "SELECT * FROM similar_words('own.\"My words\"', 'the', 3)",
                  state="42501")
            fails("nor its pairs", conn, "SELECT word_similarity('own.\"My words\"', 'the', 'a')", state="42501")
            fails("nor drop it", conn, "SELECT drop_word_model('own.\"My words\"')", state="42501")
            fails("nor read the documents", conn, "SELECT * FROM word_similarities('SELECT body FROM public.d')",
                  state="42501")
            conn.execute(
                "RESET ROLE; SET ROLE neardup_t_words; GRANT SELECT ON ALL TABLES IN SCHEMA own TO neardup_t_other; "
                "RESET ROLE; SET ROLE neardup_t_other")
            check("unless they are let",
                  one(conn, "SELECT count(*) FROM similar_words('own.\"My words\"', 'the', 3)") == 3)
            conn.execute(
                "RESET ROLE; SET ROLE neardup_t_words; ALTER TABLE own.\"My words\" ENABLE ROW LEVEL SECURITY; "
                "CREATE POLICY p ON own.\"My words\" USING (1 / (current_user = 'neardup_t_words')::int = 1); "
                "RESET ROLE; SET ROLE neardup_t_other")
            fails("but not with conditions that run as they do", conn,
                  "SELECT * FROM similar_words('own.\"My words\"', 'the', 3)", state="42809")
            conn.execute("RESET ROLE; SET ROLE neardup_t_words; SELECT drop_word_model('own.\"My words\"')")
            # Whatever they put there, or beside it, runs with nobody else's rights.
            conn.execute("CREATE TABLE own.ran (who name); GRANT INSERT ON own.ran TO public; "
                         "CREATE FUNCTION own.evil() RETURNS int LANGUAGE sql AS 'INSERT INTO own.ran "
                         "VALUES (current_user) RETURNING 1'; "
                         "CREATE FUNCTION own.evil(oid, regclass) RETURNS boolean LANGUAGE sql AS "
                         "'INSERT INTO own.ran VALUES (current_user) RETURNING true'; "
                         "CREATE FUNCTION own.fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO own.ran "
                         "VALUES (current_user); RETURN NEW; END'")
            conn.execute("CREATE OPERATOR own.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = own.evil)")
            conn.execute("CREATE TABLE own.m OF neardup_word; CREATE TABLE own.m_model OF neardup_word_model; "
                         "CREATE TRIGGER t BEFORE INSERT ON own.m FOR EACH ROW EXECUTE FUNCTION own.fires(); "
                         "INSERT INTO own.m_model SELECT 'SELECT body FROM public.d', 100000, 50, 3, true, NULL, "
                         "NULL, NULL, 'sentence', false, NULL, 0, now()")
            conn.execute("RESET ROLE; SET search_path = own, public")
            fails("nobody goes on with another role's model", conn,
                  "CALL create_word_model('own.m', 'SELECT body FROM public.d')", text="another role", state="42501")
            fails("a model that is not finished", conn, "SELECT similar_words('own.m', 'the')", state="55000")
            conn.execute("ALTER TABLE own.m_model RENAME TO settings; "
                         "CREATE VIEW own.m_model AS SELECT query, vocabulary, greatest(k, own.evil()) AS k, "
                         "\"window\", by_position, features, stopwords, dictionary, context, given, 0 AS words, "
                         "compared, started, counted, finished, discount FROM own.settings")
            fails("a view is no settings", conn, "SELECT similar_words('own.m', 'the')", state="42809")
            fails("nor to go on with", conn, "CALL create_word_model('own.m', 'SELECT body FROM public.d')",
                  state="42809")
            conn.execute(
                "DROP VIEW own.m_model; ALTER TABLE own.settings RENAME TO m_model; SELECT drop_word_model('own.m')")
            equal("nothing of it ran", conn.execute("SELECT who FROM own.ran").fetchall(), [])
            conn.execute(
                "DROP OPERATOR own.= (oid, regclass); DROP FUNCTION own.evil(), own.evil(oid, regclass), own.fires(); "
                "DROP TABLE own.ran; SET ROLE neardup_t_words")
            equal("dropped", one(conn, "SELECT count(*) FROM pg_class WHERE relnamespace = 'own'::regnamespace"), 0)
        finally:
            conn.execute("RESET ROLE; RESET search_path; DROP TABLE d; DROP SCHEMA own CASCADE; "
                         "DROP ROLE neardup_t_words, neardup_t_other")


def dumped(name):
    with connect(name) as conn, database("_restored", extension=False) as copy:
        fill(conn, "d", samples("en") + samples("uk"))
        conn.execute("CALL create_word_model('m', 'SELECT body FROM d')")
        before = model_rows(conn, "m")
        r = tool("pg_dump", "-d", name)
        r = tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", copy, input=r.stdout)
        check("a model is restored", r.returncode == 0, r.stderr)
        with connect(copy) as other:
            equal("with its rows", model_rows(other, "m"), before)
            for query in ("SELECT * FROM similar_words('m', 'the', 5)", "SELECT word_similarity('m', 'the', 'a')",
                          "SELECT * FROM expand_query('m', 'the lighthouse')"):
                equal("and it answers: %s" % query, other.execute(query).fetchall(), conn.execute(query).fetchall())
            fails("it is finished there, too", other, "CALL create_word_model('m', 'SELECT body FROM d')", text="m")
            other.execute("SELECT drop_word_model('m')")
        conn.execute("SELECT drop_word_model('m'); DROP TABLE d")


def memory(name):
    """Little memory, threads, plans: the same rows."""
    with connect(name) as conn:
        fill(conn, "d", many(random.Random(4), 60000))
        digest = ("SELECT count(*), md5(string_agg(concat_ws(',', word, similar_word, similarity, rank), ' ' "
                  "ORDER BY n)) FROM word_similarities('SELECT body FROM d', k => 20) WITH ORDINALITY x(word, "
                  "similar_word, similarity, rank, n)")
        results = set()
        for memory_, threads in (("256MB", 1), ("1MB", 1), ("1MB", 3), ("64MB", 2)):
            conn.execute(
                "SET maintenance_work_mem = '%s'; SET work_mem = '64kB'; SET neardup.threads = %d" % (memory_, threads))
            results.add(conn.execute(digest).fetchone())
        check("any memory and threads give the same rows", len(results) == 1 and max(results)[0] > 20000, results)
        equal(
            "no temporary file is left",
            one(conn, "SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '%'"), 0)


def watched(name):
    """Others see how far a call is; it stops when asked; a cursor closed early leaves nothing."""
    with connect(name) as conn, connect(name) as watcher:
        fill(conn, "d", many(random.Random(5), 150000))
        conn.execute("SET neardup.threads = 1")
        pid, seen = conn.info.backend_pid, []
        look = lambda: seen.extend(watcher.execute(
            "SELECT function, phase, rows_read FROM neardup_progress() WHERE pid = %s", (pid,)).fetchall()) or False
        query = (
            "SELECT count(*) FROM word_similarities('SELECT body FROM d', window => 5)".replace("window", '"window"'))
        thread = in_thread(conn, query)
        until(look, thread)
        thread.join(60)
        check("it ran to its end", thread.error is None and thread.rows, thread.error)
        phases = [p for i, (_, p, _) in enumerate(seen) if i == 0 or seen[i - 1][1] != p]
        print("note: phases seen: %s" % ", ".join(phases))
        check("another session sees it at work, in more than one phase",
              len(set(phases)) >= 2 and {f for f, _, _ in seen} == {"word_similarities"}, seen[:5])
        reads = [n for _, _, n in seen]
        check("the documents read only grow", reads == sorted(reads) and max(reads, default=0) > 0, reads[-5:])
        equal("nothing is left of it",
              watcher.execute("SELECT * FROM neardup_progress() WHERE pid = %s", (pid,)).fetchall(), [])
        stopped, rng = [], random.Random(6)
        for phase in sorted(set(phases)):
            thread = in_thread(conn, query)
            until(lambda: phase in [
                      p for (p,) in watcher.execute("SELECT phase FROM neardup_progress() WHERE pid = %s", (pid,))],
                  thread)
            time.sleep(rng.random() * 0.02)
            conn.cancel()
            thread.join(60)
            stopped.append((phase, thread.is_alive(), thread.error and thread.error.sqlstate))
            sql_error(conn, "SELECT 1")  # takes a cancel that came too late
        check("cancelled in each phase", all(not alive and state in ("57014", None) for _, alive, state in stopped)
              and any(s for _, _, s in stopped), stopped)
        equal("the session goes on",
              one(conn, "SELECT count(*) > 0 FROM word_similarities('SELECT body FROM d LIMIT 3')"), True)
        with conn.transaction():
            conn.execute("DECLARE c CURSOR FOR SELECT * FROM word_similarities('SELECT body FROM d LIMIT 20')")
            conn.execute("FETCH 3 FROM c")
            conn.execute("CLOSE c; SAVEPOINT s; DECLARE c CURSOR FOR SELECT * FROM word_similarities('SELECT body "
                         "FROM d LIMIT 20'); FETCH 3 FROM c; ROLLBACK TO s")
        equal(
            "no temporary file is left",
            one(conn, "SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '%'"), 0)
        equal("nor anything to see",
              watcher.execute("SELECT * FROM neardup_progress() WHERE pid = %s", (pid,)).fetchall(), [])


def bad_input(name):
    with connect(name) as conn:
        fill(conn, "d", ["Hot tea and hot coffee.", "Cold tea or cold coffee."])
        query = "'SELECT body FROM d'"
        for options, text, state in (
                ("vocabulary => 0", "vocabulary", "22023"), ("vocabulary => 1000001", "vocabulary", "22023"),
                ("vocabulary => -1", "vocabulary", "22023"), ('"window" => 0', "window", "22023"),
                ('"window" => 17', "window", "22023"), ("k => 0", "k must", "22023"), ("k => 1001", "k must", "22023"),
                ("features => 0", "features", "22023"), ("vocabulary => 10, features => 11", "features", "22023"),
                ("context => 'page'", "context", "22023"), ("context => 'Sentence'", "context", "22023"),
                ("stopwords => ARRAY['the', NULL]", "element 2 of stopwords is NULL", "22004"),
                ("stopwords => '{in front of}'", "in front of", "22023"),
                ("dictionary => 'none_such'", "none_such", "42704"), ("k => NULL", "k must not be NULL", "22004"),
                ('"window" => NULL', "window must not be NULL", "22004"),
                ("vocabulary => NULL", "vocabulary must not be NULL", "22004"),
                ("by_position => NULL", "by_position must not be NULL", "22004"),
                ("discount => NULL", "discount must not be NULL", "22004"),
                ("discount => -0.001", "discount must be between 0 and 0.999: -0.001", "22023"),
                ("discount => 1", "discount must be between 0 and 0.999: 1", "22023"),
                ("discount => 'NaN'", "discount must be between 0 and 0.999: NaN", "22023"),
                ("context => NULL", "context must not be NULL", "22004")):
            fails("word_similarities: %s" % options, conn, "SELECT * FROM word_similarities(%s, %s)" % (query, options),
                  text=text, state=state)
            fails("create_word_model: %s" % options, conn, "CALL create_word_model('bad', %s, %s)" % (query, options),
                  text=text, state=state)
        for documents, text, state in (
                ("SELECT 1", "text", "42804"), ("SELECT body, nothing FROM d", "nothing", "42703"),
                ("SELEKT body FROM d", "syntax error", "42601"),
                ("INSERT INTO d VALUES (3, 'more') RETURNING body", "only reads", "0A000"),
                ("DELETE FROM d", "only reads", "0A000"),
                ("SELECT body FROM d; SELECT body FROM d", "only reads", "0A000"),
                ("SELECT body FROM d FOR UPDATE", "only reads", "0A000"),
                ("WITH x AS (INSERT INTO d VALUES (3, 'more') RETURNING body) SELECT body FROM x", "only reads",
                 "0A000"),
                ("d", "only a name", "42601")):
            fails("word_similarities: %s" % documents, conn, "SELECT * FROM word_similarities(%s)", (documents,),
                  text=text, state=state)
            fails("create_word_model: %s" % documents, conn, "CALL create_word_model('bad', %s)", (documents,),
                  text=text, state=state)
        equal("nothing was made", one(conn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'bad%'"), 0)
        failing = "SELECT body FROM d WHERE 1 / (id - 1) < 5"
        fails("documents that end in an error", conn, "SELECT * FROM word_similarities(%s)", (failing,),
              text="division by zero", state="22012")
        fails("and for a model", conn, "CALL create_word_model('begun', %s)", (failing,), text="division by zero",
              state="22012")
        fails("a model that was begun", conn, "SELECT * FROM similar_words('begun', 'tea')", text="is not finished",
              state="55000")
        fails("and is gone on with otherwise", conn, "CALL create_word_model('begun', %s)" % query,
              text="was begun with other arguments", state="42P07")
        conn.execute("UPDATE d SET id = id + 2")
        conn.execute("CALL create_word_model('begun', %s)", (failing,))
        equal(
            "once the cause is gone, it goes on", model_rows(conn, "begun"), near_rows(conn, "SELECT body FROM d", {}))
        conn.execute("SELECT drop_word_model('begun')")
        equal("nothing was written", one(conn, "SELECT count(*) FROM d"), 2)
        for documents in ("SELECT NULL::text", "SELECT ''", "SELECT body FROM d WHERE false", "SELECT NULL::text[]",
                          "SELECT '{}'::text[]", "SELECT '1 2 3'", "SELECT repeat('x', 2000)"):
            equal("no words, no rows: %s" % documents, near_rows(conn, documents, {}), [])
            conn.execute("CALL create_word_model('none', %s)", (documents,))
            equal("an empty model: %s" % documents,
                  conn.execute("SELECT (SELECT count(*) FROM none), word_similarity('none', 'a', 'b')").fetchall() +
                      conn.execute("SELECT * FROM similar_words('none', 'a')").fetchall(), [(0, None)])
            conn.execute("SELECT drop_word_model('none')")
        equal("one word has no company", near_rows(conn, "SELECT 'alone'", {}), [])
        equal("nor have two that stand alone", near_rows(conn, "SELECT unnest('{alone,lonely}'::text[])", {}), [])
        equal("more than there are words",
              near_rows(
                  conn, "SELECT body FROM d", {"vocabulary": 1000000, "features": 1000000, "k": 1000, "window": 16}),
              words.word_similarities(["Hot tea and hot coffee.", "Cold tea or cold coffee."], window=16))
        fails("no query", conn, "SELECT * FROM word_similarities(NULL)", text="query must not be NULL", state="22004")
        fails("no query for a model", conn, "CALL create_word_model('bad', NULL)", text="query must not be NULL",
              state="22004")
        for model, state in (("''", "22023"), ("'a.b.c'", "42602"), ("NULL", "22004"), ("repeat('x', 58)", "42622"),
                             ("'none_such.m'", "3F000")):
            fails("create_word_model(%s)" % model, conn, "CALL create_word_model(%s, %s)" % (model, query), state=state)
        equal("nothing was made",
              one(conn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'bad%' OR relname LIKE 'xxx%'"), 0)
        conn.execute("CREATE TABLE bad_model (id int)")
        fails("a table stands in the way", conn, "CALL create_word_model('bad', %s)" % query, text="bad_model")
        fails("a table stands in the way, too", conn, "CALL create_word_model('d', %s)" % query, text="d")
        fails("a transaction around it", conn, "BEGIN; CALL create_word_model('m', %s); COMMIT" % query,
              text="inside a transaction block", state="25001")
        conn.execute("BEGIN; CALL create_word_model('m', %s, commit => false); COMMIT" % query)
        fails("a finished model is not made again", conn, "CALL create_word_model('m', %s, k => 3)" % query,
              text="already exists", state="42P07")
        for call in ("similar_words('d', 'tea')", "word_similarity('d', 'tea', 'tea')", "expand_query('d', 'tea')",
                     "drop_word_model('d')"):
            fails("no model: %s" % call, conn, "SELECT * FROM %s" % call, text="d")
        fails("no table", conn, "SELECT * FROM similar_words('none_such', 'tea')", text="none_such", state="42P01")
        for call, want in (("similar_words('m', 'whisky')", []), ("similar_words('m', '')", []),
                           ("word_similarity('m', 'tea', 'whisky')", [(None,)]), ("expand_query('m', '')", []),
                           ("expand_query('m', '...')", []),
                           ("expand_query('m', 'whisky')", [(1, "whisky", "whisky", 1.0)]),
                           ("word_similarity('m', 'tea', 'tea')", [(1.0,)]),
                           ("word_similarity(NULL, 'tea', 'tea')", [(None,)])):
            equal(call, conn.execute("SELECT * FROM %s" % call).fetchall(), want)
        for call in ("similar_words('m', 'tea', 0)", "similar_words('m', 'tea', 1001)", "expand_query('m', 'tea', -1)",
                     "expand_query('m', 'tea', 1001)"):
            fails(call, conn, "SELECT * FROM %s" % call, text="k must be", state="22023")
        for damage in ("'\\x'", "'\\x02'", "'\\x0101'", "'\\x01ffffffffff'", "'\\x0100ff'", "NULL"):
            e = sql_error(conn, "BEGIN; UPDATE m SET features = %s; SELECT word_similarity('m', 'tea', 'coffee')"
                               % damage.replace("\\\\", "\\"))
            check("broken rows are an error: %s" % damage,
                  e is not None and e.sqlstate in ("XX001", "22000", "23502", "22P03"), e)
            conn.execute("ROLLBACK")
        conn.execute("SELECT drop_word_model('m'); DROP TABLE bad_model")
        fails("dropped twice", conn, "SELECT drop_word_model('m')", text="m")


def main():
    with database() as name:
        with connect(name) as conn:
            sections((agreement, conn), (languages, conn), (synonyms, conn), (corpus, conn))
        sections((latin1,), (stored, name), (interrupted, name), (at_once, name), (ordinary_user, name), (dumped, name),
                 (memory, name), (watched, name), (bad_input, name))


finish(main)
