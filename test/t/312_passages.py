#!/usr/bin/python3
"""Repeated passages through SQL, against their definition in Python; little memory and much give the same; news pages
without what stands on many of them."""
import collections
import random
import re

from harness import *

WORD = re.compile(r"\w+")


def word_windows(text, units):
    words = [(m.group().lower(), m.start(), m.end()) for m in WORD.finditer(text)]
    return words, [tuple(w for w, _, _ in words[i:i + units]) for i in range(len(words) - units + 1)]


def by_definition(rows, units, keep_first, at_least):
    """(id, start, length, occurrences, first_id, first_start) of rows (id, text, within), in order."""
    places = collections.defaultdict(list)
    for number, (_, text, within) in enumerate(rows):
        if text is not None and within is not None:
            for i, w in enumerate(word_windows(text, units)[1]):
                places[within, w].append((number, i))
    out = []
    for number, (row_id, text, within) in enumerate(rows):
        if text is None or within is None:
            continue
        words, windows = word_windows(text, units)
        at = [places[within, w] for w in windows]
        good = [len(a) >= at_least for a in at]
        kept = {
            u for i, a in enumerate(at) if keep_first and good[i] and a[0] == (number, i) for u in range(i, i + units)}
        pieces = []
        for i in range(len(at)):
            if not good[i] or (i and good[i - 1]):
                continue
            last = i
            while last + 1 < len(at) and good[last + 1]:
                last += 1
            free = [u for u in range(i, last + units) if u not in kept]
            for u in free:
                if u - 1 in free:
                    continue
                end = u
                while end in free:
                    end += 1
                its = [w for w in range(i, last + 1) if w + units > u and w < end]
                first = at[its[0]][0]
                pieces.append(
                    (u, end, i, (row_id, words[u][1] + 1, words[end - 1][2] - words[u][1], min(len(at[w]) for w in its),
                                 rows[first[0]][0], word_windows(rows[first[0]][1], units)[0][first[1]][1] + 1)))
        for p in pieces:
            if not any(q[0] <= p[0] and p[1] <= q[1] and (q[1] - q[0] > p[1] - p[0] or q[2] > p[2]) for q in pieces):
                out.append(p[3])
    return sorted(out)


def definition(conn):
    rng = random.Random(7)
    conn.execute("CREATE TABLE collection (id int, body text, team int)")
    bad = found = 0
    for _ in range(150 if FULL else 40):
        pool = ["w%d" % rng.randrange(rng.choice((2, 6, 40))) for _ in range(30)]
        rows = []
        for i in range(rng.randrange(1, 9)):
            text = ""
            for _ in range(rng.randrange(5)):
                a = rng.randrange(30)
                text += rng.choice((" ", ", ", "\n")).join(pool[a:a + rng.randrange(1, 12)]) + " "
            rows.append((i * 7 - 20, rng.choice((text, text.upper(), None) if rng.random() < 0.2 else (text,)),
                         rng.choice((1, 1, 2, None))))
        conn.execute("TRUNCATE collection")
        with conn.cursor() as cursor:
            cursor.executemany("INSERT INTO collection VALUES (%s, %s, %s)", rows)
        units, at_least, keep = rng.randrange(2, 6), rng.choice((2, 2, 3, 5)), rng.choice(("first", "none"))
        conn.execute("SET neardup.threads = %d" % rng.choice((1, 3)))
        got = conn.execute("SELECT id, start, length, occurrences, first_id, first_start "
                           "FROM repeated_passages('SELECT id, body, team AS within FROM collection ORDER BY id', "
                           "%s, 'word', %s, %s)", (units, keep, at_least)).fetchall()
        want = by_definition(rows, units, keep == "first", at_least)
        found += len(want)
        bad += sorted(got) != want
    conn.execute("RESET neardup.threads")
    equal("ranges are those of the definition (%d of them)" % found, (bad, found > 50), (0, True))


def memory(conn):
    conn.execute("""CREATE TABLE mails AS SELECT i AS id, (SELECT string_agg(md5((i * 1000 + j)::text), ' ')
        FROM generate_series(1, 80) j) || ' ' ||
        (SELECT string_agg('footer' || j, ' ') FROM generate_series(1, 90) j) AS body
          FROM generate_series(1, 4000) i""")
    answers = []
    for size in ("1MB", "64MB"):
        conn.execute("SET maintenance_work_mem = '%s'" % size)
        answers.append(conn.execute("SELECT count(*), min(length), max(length), min(occurrences), max(first_id), "
                                    "sum(start) FROM repeated_passages('TABLE mails ORDER BY id')").fetchone())
    conn.execute("RESET maintenance_work_mem")
    equal("little memory gives the same", answers[0], answers[1])
    equal(
        "a footer of 90 words is found in all mails but the first", answers[1][0:1] + answers[1][3:5], (3999, 4000, 1))
    equal("and counted", conn.execute("SELECT documents, occurrences, passage LIKE 'footer1 %% footer90' "
                                      "FROM passage_counts('TABLE mails')").fetchall(), [(4000, 4000, True)])
    equal("cut, it is gone",
          one(conn, """SELECT count(*) FROM mails m JOIN (SELECT id, range_agg(int4range(start, start + length)) AS r
        FROM
        repeated_passages('TABLE mails', keep => 'none') GROUP BY id) p USING (id)
          WHERE cut_passages(body, r) NOT LIKE '%footer%' AND length(cut_passages(body, r)) > 2000"""),
          4000)


def words_in(text):
    return collections.Counter(m.group().lower() for m in WORD.finditer(text))


def scores(pages, texts):
    """The precision, recall and F1 of the words of the story over all pages."""
    right = found = wanted = 0
    for (_, body, _), text in zip(pages, texts):
        a, b = words_in(body), words_in(text)
        right, found, wanted = right + sum((a & b).values()), found + sum(b.values()), wanted + sum(a.values())
    p, r = right / found, right / wanted
    return p, r, 2 * p * r / (p + r)


def news(conn):
    path = data_file("news_boilerplate", "pages.tsv.gz")
    if path is None:
        return
    load(conn, "news", "id int, key text, url text, body text, page text", path)
    pages = conn.execute("SELECT id, body, page FROM news ORDER BY id").fetchall()
    before = scores(pages, [p for _, _, p in pages])
    note = lambda what, s: print("note: %s: precision %.3f, recall %.3f, F1 of the story %.3f" % ((what,) + s))
    note("whole pages", before)
    best = before
    for unit, units, at_least in (("line", 1, 2), ("line", 2, 2), ("word", 5, 2), ("word", 10, 2)):
        cut = conn.execute("""SELECT coalesce(cut_passages(n.page, p.r), n.page) FROM news n LEFT
            JOIN (SELECT id, range_agg(int4range(start, start + length)) AS r
            FROM repeated_passages('SELECT id, page FROM news ORDER BY id', %s, %s, 'none', %s)
              GROUP BY id) p USING (id) ORDER BY n.id""",
                           (units, unit, at_least)).fetchall()
        after = scores(pages, [c for c, in cut])
        note("without %d %ss of %d places" % (units, unit, at_least), after)
        best = max(best, after, key=lambda s: s[2])
        around = lambda texts: sum(
            sum((words_in(t) - words_in(body)).values()) for (_, body, _), t in zip(pages, texts))
        left = around([c for c, in cut]) / around([p for _, _, p in pages])
        print("note:   %.0f %% of the words around stories are cut" % (100 - 100 * left))
    check("cutting what is repeated brings pages nearer to their stories: F1 %.3f, before %.3f" % (best[2], before[2]),
          best[2] > before[2])


def main():
    with database() as name, connect(name) as conn:
        sections((definition, conn), (memory, conn), (news, conn))


finish(main)
