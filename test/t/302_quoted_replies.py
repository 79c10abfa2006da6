#!/usr/bin/env python3
"""A mail archive: replies that quote a post in full, by construction, are found by containment of their fingerprints,
all of them."""
import random
import textwrap

import samples
from harness import *

SHARE = 0.9
LEAST_WORDS = 8  # k + window - 1: shorter posts may have fingerprints that depend on what stands around them
POSTS = 4000 if FULL else 600
OPENINGS = ("I agree with most of this, except for the last part:", "Thanks for the report.",
            "Has anybody looked into this since?", "Not quite. Please see below, and have a look at the figures again.")


def quoted(rng, text):
    """The reply: something new, and the post with "> " before each line."""
    lines = [line for paragraph in text.splitlines() for line in textwrap.wrap(paragraph, 60) or [""]]
    return "%s\n\n%s\n" % (rng.choice(OPENINGS), "\n".join("> " + line for line in lines)) + (
        " ".join("new%d" % rng.randrange(10_000) for _ in range(rng.randrange(40))) + "\n" if rng.random() < 0.7
        else "")


def archive(conn, what, posts):
    """Every second post has a reply, some replies have one, too."""
    rng = random.Random(302)
    conn.execute("DROP TABLE IF EXISTS mails; "
                 "CREATE TABLE mails (id int PRIMARY KEY, quotes int, body text, hashes bigint[] GENERATED ALWAYS AS "
                 "(winnow_hashes(body)) STORED)")
    rows = [(i, None, body) for i, body in enumerate(posts)]
    rows += [(100_000 + i, i, quoted(rng, body)) for i, body in enumerate(posts) if i % 2 == 0]
    rows += [(200_000 + i, 100_000 + i, quoted(rng, body)) for _, i, body in rows[len(posts):] if i % 8 == 0]
    copy_rows(conn, "mails (id, quotes, body)", rows)
    conn.execute("CREATE INDEX ON mails USING lsh (hashes); ANALYZE mails; SET enable_seqscan = off")
    replies = {id: quotes for id, quotes, _ in rows if quotes is not None}
    found = conn.execute("SELECT r.id, p.id FROM mails r, LATERAL (SELECT id FROM mails m "
                         "WHERE containment_exact(m.hashes, (SELECT hashes FROM mails x "
                         "WHERE x.id = r.id)) >= %s AND m.id <> r.id OFFSET 0) p" % SHARE).fetchall()
    recall = sum((reply, post) in set(found) for reply, post in replies.items()) / len(replies)
    # A reply quotes its post and all that this post quotes in full; an equal post counts, too.
    bodies = {id: body for id, _, body in rows}
    def is_quoted(reply, post):
        while reply is not None:
            if reply == post or bodies[reply] == bodies[post]:
                return True
            reply = replies.get(reply)
        return False
    # If two mails contain each other nearly in full, the longer one quotes the other.
    size = dict(conn.execute("SELECT id, cardinality(hashes) FROM mails").fetchall())
    longer = [(reply, post) for reply, post in found if size[reply] > size[post]]
    right = sum(is_quoted(reply, post) for reply, post in longer)
    print("# %s: %d posts, %d replies, %d pairs found: recall %.4f; where the reply is longer %d, precision %.4f" % (
        what, len(posts), len(replies), len(found), recall, len(longer), right / max(len(longer), 1)))
    equal("%s: the reply of every post is found" % what, recall, 1.0)
    pairs = conn.execute("SELECT id_b, id_a FROM all_pairs('SELECT id, hashes FROM mails', %s, measure => "
                         "'containment')" % SHARE).fetchall()
    equal("%s: all_pairs() has the pairs of the index" % what, sorted(pairs), sorted(found))
    conn.execute("RESET enable_seqscan")
    job_of_archive(conn, what, replies, is_quoted)


def job_of_archive(conn, what, replies, is_quoted):
    """A job by containment keeps the longest mail of a thread: every mail that another one quotes in full is a copy of
    one that quotes it."""
    conn.execute("DROP TABLE IF EXISTS prof; SELECT create_profile('prof', k => 5)")
    conn.execute("SELECT create_duplicates('threads', 'mails', 'id', 'body', profile => 'prof', measure => "
                 "'containment', threshold => %s)" % SHARE)
    conn.execute("CREATE TEMP TABLE later AS SELECT id, quotes, body FROM mails WHERE id >= 100000 AND id % 30 = 0; "
                 "DELETE FROM mails m USING later l WHERE l.id = m.id")
    conn.execute("CALL refresh_duplicates('threads')")
    # some replies come later; then some mails go
    for change in ("INSERT INTO mails SELECT * FROM later; DROP TABLE later", "DELETE FROM mails WHERE id % 40 = 8"):
        conn.execute(change)
        conn.execute("CALL refresh_duplicates('threads')")
        clusters = conn.execute(
            "SELECT id, representative, similarity, survivor FROM all_clusters('SELECT id, hashes FROM mails "
            "ORDER BY cardinality(hashes) DESC, id', %s, measure => 'containment')" % SHARE).fetchall()
        equal("%s: a job of containment has the clusters of the fingerprints" % what,
              conn.execute("SELECT id, representative, similarity, survivor FROM threads ORDER BY id").fetchall(),
              sorted(clusters))
    there = {row[0] for row in clusters}
    joined = {id: representative for id, representative, _, survivor in clusters if not survivor}
    quoted = {post for reply, post in replies.items() if reply in there and post in there}
    right = sum(is_quoted(representative, id) for id, representative in joined.items())
    print("# %s: %d mails that others quote, %d of them copies by the job; %d copies, precision %.4f" % (
        what, len(quoted), len(quoted & set(joined)), len(joined), right / max(len(joined), 1)))
    equal("%s: every mail that is quoted in full is a copy of a longer one" % what, quoted - set(joined), set())
    conn.execute("SELECT drop_duplicates('threads'); DROP TABLE prof")


def main():
    with database() as name, connect(name) as conn:
        archive(
            conn, "samples",
            [text for id, text in samples.documents() if id.startswith("text_") and len(text.split()) >= LEAST_WORDS])
        path = data_file("news_reuters", "docs.tsv.gz")
        if path is None:
            return
        load(conn, "raw", "id text, at text, body text", path)
        posts = [row[0] for row in conn.execute(
            "SELECT DISTINCT body FROM raw WHERE array_length(regexp_split_to_array(body, '\\W+'), 1) > %d "
            "ORDER BY body LIMIT %d" % (LEAST_WORDS + 2, POSTS))]
        archive(conn, "news_reuters", posts)


finish(main)
