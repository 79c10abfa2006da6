"""neardup.load(): sources of every kind, the tables of the program, loads that were interrupted, what is skipped and
refused."""
import datetime
import importlib
import json
import random
import shutil
import tempfile
from unittest import mock

from clients import *

neardup, pa, pq, pandas, psycopg2 = need("neardup", "pyarrow", "pyarrow.parquet", "pandas", "psycopg2")
need("xxhash")
BIN = os.environ.get("NEARDUP_BIN") or os.path.join(ROOT, "bin", "neardup")
rng = random.Random(3)
TEXTS = [" ".join(rng.choice(DOC.split() + FAR.split()) for _ in range(60)) + " ж %d" % i for i in range(1000)]
IDS = ["doc %d" % i for i in range(1000)]


def make_arrow(n=1000):
    return pa.table({"id": IDS[:n], "text": TEXTS[:n], "year": list(range(n)),
                     "score": [None if i % 3 else i / 7 for i in range(n)]})


def stored(conn, table, where="true"):
    return conn.execute(
        "SELECT path, body, record_id, attributes FROM %s WHERE %s ORDER BY id" % (table, where)).fetchall()


def wanted(prefix, n=1000):
    return [
        ("%s#%d" % (prefix, i + 1), TEXTS[i], IDS[i], {"year": i, "score": None if i % 3 else i / 7}) for i in range(n)]


def sources(conn, folder):
    """The same rows, whatever they come from."""
    table = make_arrow()
    frame = table.to_pandas()
    path = lambda name: os.path.join(folder, name)
    pq.write_table(table, path("a.parquet"), row_group_size=300)
    pq.write_table(
        table.cast(pa.schema(
            [("id", pa.large_string()), ("text", pa.large_string()), ("year", pa.int32()), ("score", pa.float64())])),
        path("large.parquet"))
    pq.write_table(table.set_column(1, "text", table["text"].dictionary_encode()), path("dictionary.parquet"))
    with pa.OSFile(path("a.arrow"), "wb") as f, pa.ipc.new_file(f, table.schema) as w:
        w.write_table(table, 200)
    with pa.OSFile(path("stream.arrow"), "wb") as f, pa.ipc.new_stream(f, table.schema) as w:
        w.write_table(table, 200)
    lines = "".join(json.dumps(row, ensure_ascii=bool(i % 2)) + "\n" for i, row in enumerate(table.to_pylist()))
    with open(path("a.jsonl"), "w", encoding="utf-8") as f:
        f.write(lines)
    with gzip.open(path("b.jsonl.gz"), "wt", encoding="utf-8") as f:
        f.write(lines.replace("\n", "\n\n"))
    rows = []

    def both(what, source, prefix, **options):
        conn.execute("DROP TABLE IF EXISTS docs, docs_files")
        result = neardup.load(conn, "docs", source, **options)
        got = stored(conn, "docs")
        want = wanted(prefix)
        rows.append((what, got, want))
        rows.append(
            (what + " counts", (result.new, result.changed, result.unchanged, result.skipped.total(), result.bytes),
             (1000, 0, 0, 0, sum(len(t.encode()) for t in TEXTS))))
    for name in ("a.parquet", "large.parquet", "dictionary.parquet", "a.arrow", "stream.arrow", "a.jsonl",
                 "b.jsonl.gz"):
        both(name, path(name), path(name))
    both("path-like", __import__("pathlib").Path(path("a.parquet")), path("a.parquet"))
    both("a table", table, "t", name="t")
    both("a batch", table.combine_chunks().to_batches()[0], "t", name="t")
    both("a reader", table.to_reader(100), "t", name="t")
    both("batches", iter(table.to_batches(100)), "t", name="t")
    both("a data set", pa.dataset.dataset(path("a.parquet")) if hasattr(pa, "dataset")
         else __import__("pyarrow.dataset").dataset.dataset(path("a.parquet")), "t", name="t")
    both("dicts", table.to_pylist(), "t", name="t")
    both("dicts of columns", (table.slice(i, 100).to_pydict() for i in range(0, 1000, 100)), "t", name="t")
    both("frames", (frame[i:i + 100] for i in range(0, 1000, 100)), "t", name="t")
    both("small batches", table, "t", name="t", batch=7)
    conn.execute("DROP TABLE docs, docs_files")
    neardup.load(conn, "docs", frame, name="t")
    rows.append(("a data frame", [r[:3] for r in stored(conn, "docs")], [r[:3] for r in wanted("t")]))
    equal_all("sources of every kind", rows)
    conn.execute("DROP TABLE docs, docs_files")
    neardup.load(conn, "docs", [path("a.parquet"), path("a.jsonl")], attributes=["year"])
    equal(
        "two files, one attribute", stored(conn, "docs")[1000], (path("a.jsonl") + "#1", TEXTS[0], IDS[0], {"year": 0}))
    equal("content_hash is the program's", one(conn, "SELECT count(DISTINCT content_hash) FROM docs"), 1000)
    import xxhash
    h = xxhash.xxh3_64_intdigest(TEXTS[0].encode())
    equal("and XXH3", one(conn, "SELECT content_hash FROM docs LIMIT 1"), h - (1 << 64) if h >> 63 else h)


def drivers(name, conn, folder):
    path = os.path.join(folder, "a.parquet")
    rows = []
    other, latin = psycopg2.connect(dbname=name), psycopg2.connect(dbname=name, client_encoding="latin1")
    for what, connection in (("psycopg 3 in LATIN1", psycopg.connect(dbname=name, client_encoding="latin1")),
                             ("psycopg 2 in LATIN1", latin), ("psycopg 3", psycopg.connect(dbname=name)),
                             ("psycopg 2", other),
                             ("dict rows", psycopg.connect(dbname=name, row_factory=psycopg.rows.dict_row)),
                             ("binary", connect(name, cursor_factory=psycopg.ClientCursor))):
        conn.execute("DROP TABLE IF EXISTS docs, docs_files")
        neardup.load(connection, "docs", path)
        rows.append((what, stored(conn, "docs"), wanted(path)))
        rows.append((what + " again", neardup.load(connection, "docs", path).unchanged, 1000))
        if "LATIN1" in what:
            cursor = connection.cursor()
            cursor.execute("SHOW client_encoding")
            rows.append((what + " keeps its encoding", cursor.fetchone()[0].upper(), "LATIN1"))
        connection.close()
    try:
        import sqlalchemy as sa

        engine = sa.create_engine("postgresql+psycopg://%s@/%s?host=%s&port=%s" % (
            os.environ.get("PGUSER", ""), name, os.environ["PGHOST"], os.environ.get("PGPORT", "5432")))
        conn.execute("DROP TABLE IF EXISTS docs, docs_files")
        with engine.connect() as c:
            neardup.load(c, "docs", path)
        rows.append(("SQLAlchemy", stored(conn, "docs"), wanted(path)))
        engine.dispose()
    except ImportError:
        pass
    equal_all("drivers", rows)


def again(conn, folder):
    """Unchanged files are not read; changed ones replace changed rows and keep their ids."""
    path = os.path.join(folder, "again.jsonl")
    write = lambda texts: open(path, "w", encoding="utf-8").write(
        "".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(texts)))
    write(TEXTS[:10])
    neardup.load(conn, "again", path)
    before = conn.execute("SELECT id, path, xmin::text FROM again ORDER BY id").fetchall()
    equal("an unchanged file", neardup.load(conn, "again", path).unchanged, 10)
    write(TEXTS[:4] + ["another text"] + TEXTS[5:12])
    os.utime(path, (1, 1))
    result = neardup.load(conn, "again", path)
    equal("a changed file", (result.new, result.changed, result.unchanged), (2, 1, 9))
    after = conn.execute("SELECT id, path, xmin::text FROM again ORDER BY id").fetchall()
    equal("rows that are the same stay", [a == b for a, b in zip(before, after)], [True] * 4 + [False] + [True] * 5)
    equal("a changed row keeps its id",
          (after[4][:2], one(conn, "SELECT body FROM again WHERE path = %s", (path + "#5",))),
          (before[4][:2], "another text"))
    result = neardup.load(conn, "again", path, attributes=[])
    equal("other options: read again", (result.new, result.changed, result.unchanged), (0, 0, 12))
    conn.execute("DELETE FROM again WHERE path = %s", (path + "#12",))
    equal("the last row was deleted: read again", neardup.load(conn, "again", path, attributes=[]).new, 1)


def interrupted(conn, folder):
    """Each batch is committed; the next load continues after it."""
    path = os.path.join(folder, "a.parquet")

    class Stop(Exception):
        pass

    def breaking(at):
        for i, batch in enumerate(make_arrow().to_batches(100)):
            if i == at:
                raise Stop
            yield batch
    raises("a source that breaks off", Stop, lambda: neardup.load(conn, "broken", breaking(5), name="n", batch=100))
    count = one(conn, "SELECT count(*) FROM broken")
    check("committed batches stay", 300 <= count <= 500, count)
    ids = conn.execute("SELECT id, path FROM broken ORDER BY id").fetchall()
    result = neardup.load(conn, "broken", make_arrow(), name="n", batch=100)
    equal("the next load continues", (result.new, result.changed, result.unchanged), (1000 - count, 0, 0))
    equal("all rows, and those of before",
          (stored(conn, "broken"), conn.execute("SELECT id, path FROM broken ORDER BY id LIMIT %s" % count).fetchall()),
          (wanted("n"), ids))
    equal("nothing is left of the note", one(conn, "SELECT count(*) FROM broken_files"), 0)
    # a server that ends the connection
    with connect(conn.info.dbname) as victim:
        conn.execute("CREATE FUNCTION pg_temp.nothing() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        neardup.load(conn, "cut", path, batch=100)
        conn.execute("TRUNCATE cut, cut_files")
        conn.execute("""CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.path LIKE '%#450'
            THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NEW; END $$;
            CREATE TRIGGER cut BEFORE INSERT ON cut FOR EACH ROW EXECUTE FUNCTION cut()""")
        raises("a connection that ends", psycopg.OperationalError, lambda: neardup.load(victim, "cut", path, batch=100))
        raises("the next call says so", neardup.NeardupError, lambda: neardup.load(victim, "cut", path),
               "connection is closed")
    conn.execute("DROP TRIGGER cut ON cut")
    equal("its batches stay", one(conn, "SELECT count(*) FROM cut"), 400)
    equal("and are not sent again", (neardup.load(conn, "cut", path).new, stored(conn, "cut")), (600, wanted(path)))


def skipped(conn, folder):
    path = os.path.join(folder, "bad.jsonl")
    lines = ['{"text": "good one"}', '{"text": null}', '{"text": ""}', '{"text": ["a"]}', '{"title": "x"}', "no json",
             "[1]", '{"text": "nul \\u0000"}', '{"text": "surrogate \\ud800"}', '{"id": 5, "text": "first"}',
             '{"id": 5, "text": "second"}', '{"text": 12.5}', '{"text": true}', '{"text": "x", "a": "\\u0000"}',
             '{"text": "x", "n": NaN, "i": [1e999], "s": "\\udc00"}']
    with open(path, "wb") as f:
        f.write("\n".join(lines).encode() + b"\n" + b'{"text": "\xff"}\n{"text": "last"}')
    result = neardup.load(conn, "bad", path)
    equal("reasons", dict(result.skipped),
          {"without a text": 3, "without a text column": 1, "damaged records": 2, "holding NUL (binary)": 1,
           "not valid UTF-8": 2, "records with the id of an earlier one": 1, "refused by the server": 1})
    equal("rows", [(p.rpartition("#")[2], b, a) for p, b, _, a in stored(conn, "bad")],
          [("1", "good one", None), ("10", "first", None), ("12", "12.5", None), ("13", "true", None),
           ("15", "x", {"n": None, "i": [None], "s": "?"}), ("17", "last", None)])
    check("the summary is the program's",
          re.match(r"6 new, 0 changed, 0 unchanged; 26 B of text in 0\.\d s \(.*B/s\)\n11 skipped: 2 damaged records, ",
                   str(result)), str(result))
    check("examples of what was skipped",
          ("without a text", path + "#2", "") in result.examples and len(result.examples) == 10, result.examples)
    frame = pandas.DataFrame({"text": ["a", float("nan"), None, "b"], "x": [1.5, float("nan"), 3, float("inf")],
                              "t": pandas.to_datetime(["2026-01-01"] * 4)})
    result = neardup.load(conn, "frame", frame, name="f", max_size="1k")
    equal("NaN and None in a data frame", ([(b, a) for _, b, _, a in stored(conn, "frame")], dict(result.skipped)),
          ([("a", {"t": "2026-01-01T00:00:00", "x": 1.5}), ("b", {"t": "2026-01-01T00:00:00", "x": None})],
           {"without a text": 2}))
    rows = [{"text": "x", "d": datetime.date(2026, 1, 2), "u": __import__("uuid").UUID(int=5), "b": b"\xff",
             "m": __import__("decimal").Decimal("NaN")},
            {"text": "y" * 2000}]
    result = neardup.load(conn, "kinds", rows, name="k", max_size=1024)
    equal(
        "other values", (stored(conn, "kinds")[0][3], dict(result.skipped)),
        ({"d": "2026-01-02", "u": "00000000-0000-0000-0000-000000000005", "b": "\ufffd", "m": None}, {"too large": 1}))


def numbers(conn, folder):
    """Lines of JSON as the program reads them: numbers as they are written, a byte order mark."""
    path = os.path.join(folder, "numbers.jsonl")
    with open(path, "wb") as f:
        f.write(b'\xef\xbb\xbf{"text": 12.50, "id": 1.10}\n{"text": 1e2, "id": 1e3, "n": 0.50}\n'
                b'{"text": -0, "id": 12345678901234567890}\n')
    neardup.load(conn, "numbers", path)
    want = [("12.50", "1.10", None), ("1e2", "1e3", {"n": 0.5}), ("0", "12345678901234567890", None)]
    equal("numbers as they are written", [(b, r, a) for _, b, r, a in stored(conn, "numbers")], want)
    if os.path.exists(BIN):
        tool(BIN, "load", path, "--table", "numbers_there", "-q", "-d", conn.info.dbname)
        equal("as the program has them",
              one(conn, "SELECT count(*) FROM numbers a JOIN numbers_there b USING (path, size, record_id) "
                        "WHERE a.body = b.body OR a.body = '0'"), 3)


def with_program(conn, folder):
    """Tables of the program and of the package are the same."""
    if not os.path.exists(BIN):
        return skip("the program neardup is not built: bin/neardup")
    path = os.path.join(folder, "a.jsonl")
    columns = (
        "SELECT attrelid::regclass::text, attname, format_type(atttypid, NULL), attnotnull, attidentity "
        "FROM pg_attribute WHERE attrelid IN ('%s'::regclass, '%s_files'::regclass) AND attnum > 0 ORDER BY 1, attnum")
    conn.execute("DROP TABLE IF EXISTS one, one_files, two, two_files")
    neardup.load(conn, "one", path)
    done = tool(BIN, "load", path, "--table", "two", "-q", "-d", conn.info.dbname)
    equal("the program loads it", done.returncode, 0)
    equal(
        "the same rows",
        conn.execute(
            "SELECT path, size, mtime, content_hash, body, record_id, at, attributes FROM one ORDER BY id").fetchall(),
        conn.execute(
            "SELECT path, size, mtime, content_hash, body, record_id, at, attributes FROM two ORDER BY id").fetchall())
    equal("the same columns", [r[1:] for r in conn.execute(columns % ("one", "one"))],
          [r[1:] for r in conn.execute(columns % ("two", "two"))])
    equal("the same note", conn.execute("TABLE one_files").fetchall(), conn.execute("TABLE two_files").fetchall())
    equal("what the program has loaded is unchanged here", neardup.load(conn, "two", path).unchanged, 1000)
    check("and there", "0 new, 0 changed, 0 only with a new time, 1 unchanged" in tool(
        BIN, "load", path, "--table", "one", "-d", conn.info.dbname).stdout)
    # an option that leaves out records is in the note, in one form
    short = os.path.join(folder, "short.jsonl")
    with open(short, "w", encoding="utf-8") as f:
        f.write('{"text": "short"}\n{"text": "a longer text than that"}\n')
    equal("a limit leaves out a record", neardup.load(conn, "one", short, max_size=20).new, 1)
    tool(BIN, "load", short, "--table", "two", "--max-size", "20", "-d", conn.info.dbname)
    note = "SELECT records, options FROM %s_files WHERE path = %%s"
    equal("the limit is noted", [conn.execute(note % name, (short,)).fetchall() for name in ("one", "two")],
          [[(1, "jsonl max_size=20")]] * 2)
    equal("the program's note is ours", neardup.load(conn, "two", short, max_size=20).unchanged, 1)
    equal("without the limit it comes", neardup.load(conn, "one", short).new, 1)
    # the package has formats that the program does not know
    conn.execute("UPDATE one_files SET options = 'parquet' WHERE path = %s", (short,))
    check("a format of the package alone",
          "0 new, 0 changed, 0 only with a new time, 2 unchanged" in tool(
              BIN, "load", short, "--table", "one", "-d", conn.info.dbname).stdout)
    # the row of a file x.jsonl#1 is not that of the record 1 of x.jsonl
    one_of, record = os.path.join(folder, "both.jsonl"), os.path.join(folder, "both.jsonl#1")
    with open(record, "w", encoding="utf-8") as f:
        f.write("of the file")
    tool(BIN, "load", record, "--table", "mixed", "-q", "-d", conn.info.dbname)
    for text in ("of the record", "of the file"):  # which is equal at last
        with open(one_of, "w", encoding="utf-8") as f:
            f.write(json.dumps({"id": "r", "text": text}) + '\n{"text": "second"}\n')
        result = neardup.load(conn, "mixed", one_of)
        equal("a row of a file stays, text of the record: %s" % text,
              (stored(conn, "mixed")[0], result.changed, dict(result.skipped), result.examples),
              ((record, "of the file", None, None), 0, {"with the path of another row": 1},
               [("with the path of another row", record, "a file has this path")]))
    equal("the other record is loaded", [r[1] for r in stored(conn, "mixed")], ["of the file", "second"])
    # a load that the program has left unfinished
    conn.execute("ALTER TABLE two ADD CONSTRAINT no CHECK (body <> 'a longer text than that')")
    tool(BIN, "load", short, "--table", "two", "-d", conn.info.dbname)
    equal("of refused records",
          conn.execute("SELECT size, records FROM two_files WHERE path = %s", (short,)).fetchall(), [(-1, 0)])
    conn.execute("ALTER TABLE two DROP CONSTRAINT no")
    equal("and they come", (neardup.load(conn, "two", short).new, neardup.load(conn, "two", short).unchanged), (1, 2))


def beside_files(conn, folder):
    """The own row of a record n of X is not taken for that of a file X#n, and not each record costs a look at the file
    system."""
    path = os.path.join(folder, "beside.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"id": "r", "text": "the only one"}\n')
    neardup.load(conn, "beside", path)
    shutil.copy2(path, path + "#1")
    result = neardup.load(conn, "beside", path, attributes=[])
    equal("a record of the size and time of a file with its path", (result.unchanged, dict(result.skipped)), (1, {}))
    path = os.path.join(folder, "many.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(
            {"id": i, "text": "text %d" % i} if i != 3 else {"text": "without an id"}) + "\n" for i in range(40))
    neardup.load(conn, "beside", path)
    looks, look = [], os.stat
    with mock.patch.object(os, "stat", lambda name, *a,
                           **o: (looks.append(name) if "#" in str(name) else None) or look(name, *a, **o)):
        result = neardup.load(conn, "beside", path, attributes=[])
    equal("files are looked for where a row may be that of a file", (result.unchanged, looks), (40, [path + "#4"]))
    looks.clear()
    with mock.patch.object(os, "stat", lambda name, *a,
                           **o: (looks.append(name) if "#" in str(name) else None) or look(name, *a, **o)):
        for text in ("a", "b"):
            neardup.load(conn, "beside", [{"text": text}], name="no path")
    equal("and never for what has no path of a file", looks, [])


def unnoted(folder):
    """A database whose encoding lacks a character of the options: the records are stored, the file cannot be noted, and
    is read again."""
    path = os.path.join(folder, "unnoted.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps({"text": "here %d" % i, "文本": "there %d" % i}) + "\n" for i in range(5))
    rows = []
    with database("_latin", options="ENCODING 'LATIN1' LOCALE 'C'") as latin, connect(
            latin) as conn, contextlib.closing(psycopg2.connect(dbname=latin)) as other:
        for what, user in (("psycopg", conn), ("psycopg2", other)):
            for turn, want in (("first", (5, 0, 0)), ("again", (0, 0, 5))):
                result = neardup.load(user, "docs", path, text_column="文本", attributes=[], batch=2)
                rows.append(("%s, %s" % (what, turn),
                             (result.new, result.changed, result.unchanged, dict(result.skipped), result.unnoted),
                             (*want, {}, 1)))
                rows.append(("%s, %s: the summary" % (what, turn), str(result).splitlines()[1:],
                             ["1 files of records cannot be noted as read (path or options do not fit); "
                              "the next load reads them again"]))
            rows.append((what + ": no note", conn.execute("SELECT count(*) FROM docs_files").fetchone(), (0,)))
            # a note of an earlier load is not true of the rows that come, and the next load must not believe it
            neardup.load(user, "docs", path, attributes=[])
            rows.append(
                (what + ": with other options", conn.execute("SELECT records, options FROM docs_files").fetchall(),
                 [(5, "jsonl attributes=")]))
            neardup.load(user, "docs", path, text_column="文本", attributes=[])
            result = neardup.load(user, "docs", path, attributes=[])
            rows.append((what + ": a note of an earlier load",
                         (result.changed, result.unchanged, one(conn, "SELECT min(body) FROM docs")), (5, 0, "here 0")))
            neardup.load(user, "docs", [{"文本": "a"}], name="n", text_column="文本")
            rows.append((what + ": what is not a file",
                         conn.execute("SELECT body FROM docs WHERE path = 'n#1'").fetchall(), [("a",)]))
            conn.execute("DROP TABLE docs, docs_files")
    equal_all("a file that cannot be noted", rows)


def refused_now(conn, folder):
    """Records that the server refuses come with a later load of the same file."""
    path = os.path.join(folder, "refused.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(json.dumps({"text": "text %d" % i}) + "\n" for i in range(40)))
    neardup.load(conn, "strict", [{"text": "x"}], name="x")
    conn.execute("ALTER TABLE strict ADD CONSTRAINT no CHECK (body <> 'text 25')")
    result = neardup.load(conn, "strict", path, batch=10)
    equal("one is refused", (result.new, dict(result.skipped)), (39, {"refused by the server": 1}))
    equal("again", dict(neardup.load(conn, "strict", path, batch=10).skipped), {"refused by the server": 1})
    conn.execute("ALTER TABLE strict DROP CONSTRAINT no")
    equal("it comes", neardup.load(conn, "strict", path, batch=10).new, 1)
    equal("all are there", neardup.load(conn, "strict", path, batch=10).unchanged, 40)
    # a record that the note names last is deleted, and comes again beside one that is
    # refused: the note must not become true again
    for what, refuse, allow in (("constraint",
                                 "ALTER TABLE strict ADD CONSTRAINT no CHECK (body <> 'text 0') NOT VALID",
                                 "ALTER TABLE strict DROP CONSTRAINT no"),
                                ("trigger",
                                 "CREATE FUNCTION first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE "
                                 "WHEN NEW.body <> 'text 0' THEN NEW END; END $$;"
                                 "CREATE TRIGGER first BEFORE INSERT ON strict FOR EACH ROW EXECUTE "
                                 "FUNCTION first()", "DROP TRIGGER first ON strict")):
        for options in ({}, {"attributes": []}):
            conn.execute("DELETE FROM strict WHERE body IN ('text 0', 'text 39');" + refuse.replace(
                "FUNCTION first()", "FUNCTION first_%d()" % len(options)))
            result = neardup.load(conn, "strict", path, **options)
            conn.execute(allow)
            again = neardup.load(conn, "strict", path)
            equal("the last record was deleted, and one is refused by a %s, %s" % (what, options or "same options"),
                  (result.new, result.skipped.total(), again.new,
                   one(conn, "SELECT count(*) FROM strict WHERE path <> 'x#1'")), (1, 1, 1, 40))
            neardup.load(conn, "strict", path)
    conn.execute("CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE "
                 "WHEN NEW.body <> 'text 25' THEN NEW END; END $$")
    conn.execute("TRUNCATE strict, strict_files; "
                 "CREATE TRIGGER leave BEFORE INSERT ON strict FOR EACH ROW EXECUTE FUNCTION leave()")
    result = neardup.load(conn, "strict", path, batch=10)
    equal("one is left out", (result.new, dict(result.skipped)), (39, {"left out by a trigger": 1}))
    conn.execute("DROP TRIGGER leave ON strict")
    equal("it comes, too", neardup.load(conn, "strict", path, batch=10).new, 1)
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(json.dumps({"text": "text %d" % i}) + " " * (i == 3) + "\n" for i in range(40)))
    os.utime(path, (5, 5))
    equal("the size of a record", (neardup.load(conn, "strict", path).changed,
                                   one(conn, "SELECT size FROM strict WHERE path = %s", (path + "#4",))), (1, 20))


def refusals(name, conn, folder):
    path = os.path.join(folder, "a.parquet")
    load = lambda *a, **o: (lambda: neardup.load(*a, **o))
    for bad in (None, "dbname=x", 5):
        raises("conn %r" % bad, TypeError, load(bad, "t", path), "conn must be a connection of psycopg 3")
    closed = connect(name)
    closed.close()
    raises("a closed connection", neardup.NeardupError, load(closed, "t", path), "closed: connect again")
    with psycopg.connect(dbname=name) as busy:
        busy.execute("SELECT 1")
        raises("a transaction", neardup.NeardupError, load(busy, "t", path), "in a transaction", "commit or roll back")
    raises("a format that is not known", ValueError, load(conn, "t", "/tmp/x.csv"), "format", "neardup load")
    raises("a file that does not exist", FileNotFoundError, load(conn, "t", "/nowhere/x.parquet"), "/nowhere/x.parquet")
    raises("no path", TypeError, load(conn, "t", b"/tmp/x.parquet", name="x"), "source must be")
    raises("a name that is not UTF-8", ValueError, load(conn, "t", "/tmp/\udcff.parquet"), "valid UTF-8")
    equal("no files", neardup.load(conn, "none", []).new, 0)
    raises("a source without a name", TypeError, load(conn, "t", make_arrow()), "needs a name")
    for bad in (None, 5, float("nan")):
        raises("source %r" % bad, TypeError, load(conn, "t", bad, name="x"), "source must be")
    raises(
        "items that are no records", TypeError, load(conn, "t", [1, 2], name="x"), "must yield batches or dicts", "int")
    raises("columns of other lengths", ValueError, load(conn, "t", [{"text": ["a", "b"], "id": [1]}], name="x"),
           "same length", "text 2, id 1")
    raises("no text column", ValueError, load(conn, "t", path, text_column="nothing"), "no column nothing",
           "id, text, year, score", "text_column")
    raises("no id column", ValueError, load(conn, "t", path, id_column="nothing"), "id_column")
    raises("no such attribute", ValueError, load(conn, "t", path, attributes=["nothing"]), "no column nothing")
    for option, value, error in (("batch", 0, ValueError), ("batch", 1.5, TypeError), ("batch", True, TypeError),
                                 ("max_size", "5x", ValueError), ("max_size", "2G", ValueError),
                                 ("max_size", float("nan"), ValueError), ("text_column", 5, TypeError),
                                 ("attributes", "abc", TypeError)):
        raises("%s=%r" % (option, value), error, load(conn, "t", path, **{option: value}), option)
    raises("a table that is no name", TypeError, load(conn, 5, path), "table must be a name")
    raises("a long name", ValueError, load(conn, "t" * 60, path), "too long")
    raises("three parts", ValueError, load(conn, "a.b.c", path), "schema.name")
    conn.execute("CREATE TABLE other (id int); CREATE VIEW seen AS SELECT 1 AS path; "
                 "CREATE TABLE typed (path text UNIQUE, size int, mtime timestamptz, content_hash bigint, body text)")
    raises("a table without the columns", neardup.NeardupError, load(conn, "other", path), "has no column path (text)")
    raises("a view", neardup.NeardupError, load(conn, "seen", path), "is not a table")
    raises("another type", neardup.NeardupError, load(conn, "typed", path), "column size", "is integer, not bigint")
    equal("the connection is as before", (conn.autocommit, conn.info.transaction_status),
          (True, psycopg.pq.TransactionStatus.IDLE))
    conn.execute('CREATE SCHEMA "Odd ""s"')
    neardup.load(conn, '"Odd ""s"."T 1"', path)
    equal("a quoted name", one(conn, 'SELECT count(*) FROM "Odd ""s"."T 1"'), 1000)


def values(conn):
    """Ids and attributes of the types that frames, arrays and Parquet have."""
    from decimal import Decimal
    from uuid import UUID

    numpy = importlib.import_module("numpy")
    ids = [UUID(int=5), numpy.int64(7), Decimal("1.50"), datetime.date(2026, 1, 2), numpy.str_("n"), "s", 9, None,
           pandas.NaT]
    neardup.load(conn, "ids", [{"text": "t %d" % i, "id": v} for i, v in enumerate(ids)], name="v")
    equal("ids as they are written", [r for _, _, r, _ in stored(conn, "ids")],
          ["00000000-0000-0000-0000-000000000005", "7", "1.50", "2026-01-02", "n", "s", "9", None, None])
    neardup.load(conn, "arrays",
                 [{"text": numpy.int64(5), "a": numpy.array([1.5, 2]), "one": numpy.array([3]), "na": pandas.NA,
                   "nat": pandas.NaT, "f": numpy.float32(0.5)}], name="v")
    equal("arrays are lists, what is missing is null", stored(conn, "arrays")[0][1:],
          ("5", None, {"a": [1.5, 2.0], "one": [3], "na": None, "nat": None, "f": 0.5}))
    batches = [{"text": numpy.array(["a", "b"]), "id": numpy.array([1, 2])},
               {"text": pandas.Series(["c"]), "id": pandas.Series(["3"])}]
    neardup.load(conn, "columns", batches, name="v")
    equal("columns that are arrays or series", [(b, r) for _, b, r, _ in stored(conn, "columns")],
          [("a", "1"), ("b", "2"), ("c", "3")])
    broken = pa.array([b"\xff", b"ok"], pa.binary()).view(pa.string())
    late = pa.array([2**62, 0], pa.timestamp("s"))
    result = neardup.load(
        conn, "damaged", pa.table({"text": ["a", "b"], "id": broken, "k": broken, "n": [1, 2]}), name="v")
    equal(
        "ids and attributes that are not UTF-8", ([(r, x["k"]) for _, _, r, x in stored(conn, "damaged")], result.new),
        ([("\ufffd", "\ufffd"), ("ok", "ok")], 2))
    neardup.load(conn, "times", pa.table({"text": ["a", "b"], "late": late}), name="w")
    equal("a time beyond Python's is a number, the others stay", [a["late"] for *_, a in stored(conn, "times")],
          [2**62, "1970-01-01T00:00:00"])


# Prints the id and the attributes of records whose columns have times of every kind;
# the argument: whether pandas can be imported.
TIMES = """import json, sys
class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ImportError("no pandas")
if sys.argv[1] == "without":
    sys.meta_path.insert(0, NoPandas())
import pyarrow as pa
from neardup._load import _json
from neardup._sources import Columns, arrow_source
ns = [1704067200000000000, 1704067200123456789, 1704067200123456000, -1, None]
clocks = [0, 123456001, 123456002, 86399999999999, None]
spans = [0, 1, 1500, -1, None]
offsets = [0, 2, 3, 3, 4, 5]
columns = {"t": pa.array(ns, pa.timestamp("ns")), "u": pa.array(ns, pa.timestamp("ns", "UTC")),
           "b": pa.array(ns, pa.timestamp("ns", "+05:30")), "z": pa.array(ns, pa.timestamp("ns", "Europe/Berlin")),
           "c": pa.array(clocks, pa.time64("ns")), "d": pa.array(spans, pa.duration("ns")),
           "du": pa.array(spans, pa.duration("us")),
           "y": pa.array([253402300800, 2**62, 0, -1, None], pa.timestamp("s"))}
for name in "tcd":
    array = columns[name]
    columns[name + " of a dictionary"] = array.dictionary_encode()
    columns[name + " in lists"] = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), array)
    columns[name + " in large lists"] = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), array)
    columns[name + " in a struct"] = pa.StructArray.from_arrays(
        [array, pa.array(list("abcde"))], ["at", "s"], mask=pa.array([False, False, True, False, False]))
    columns[name + " in maps"] = pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(list("abcde")), array)
    columns[name + " in lists of structs"] = pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), columns[name + " in a struct"])
table = pa.table({"text": ["a"] * 5, **columns})
for id_ in columns:
    print(json.dumps([[r.record_id, json.loads(_json(r.attributes))]
                      for records in arrow_source("x", table).records(Columns(id=id_), 0) for r in records]))
for text in columns:
    print(json.dumps([text, [r.text and r.text.decode()
                             for records in arrow_source("x", table).records(Columns(text=text, id="t"), 0)
                             for r in records]]))
"""


def times(conn):
    """Times that Python does not have, with nanoseconds or beyond its years, alone and within lists, structs and
    dictionaries."""
    outputs = []
    for pandas_is in ("with", "without"):
        done = subprocess.run([sys.executable, "-c", TIMES, pandas_is], cwd=HERE, capture_output=True, text=True)
        if check("times %s pandas are read" % pandas_is, done.returncode == 0, done.stderr[-500:]):
            outputs.append([json.loads(line) for line in done.stdout.splitlines()])
    if len(outputs) < 2:
        return
    differ = [pair for pair in zip(*outputs) if pair[0] != pair[1]]
    check("and are the same ones (%d)" % len(outputs[0]), not differ and len(outputs[0]) == len(outputs[1]), differ)
    rows = outputs[0][0]
    attributes = {"t": None, **{name: [row[1][name] for row in rows] for name in rows[0][1]}}
    ids = {name: [row[0] for row in found] for name, found in zip(("t", *rows[0][1]), outputs[0])}
    attributes["t"] = [row[1]["t"] for row in outputs[0][1]]
    t = ["2024-01-01T00:00:00", "2024-01-01T00:00:00.123456789", "2024-01-01T00:00:00.123456",
         "1969-12-31T23:59:59.999999999", None]
    c = ["00:00:00", "00:00:00.123456001", "00:00:00.123456002", "23:59:59.999999999", None]
    d = ["0:00:00", "0:00:00.000000001", "0:00:00.000001500", "-1 day, 23:59:59.999999999", None]
    want = {"t": t, "u": [v and v + "+00:00" for v in t],
            "z": [v and v.replace("01T00", "01T01").replace("1969-12-31T23", "1970-01-01T00") + "+01:00" for v in t],
            "b": [v and v.replace("01T00:00", "01T05:30").replace(
                "1969-12-31T23:59", "1970-01-01T05:29") + "+05:30" for v in t],
            "c": c, "d": d, "du": ["0:00:00", "0:00:00.000001", "0:00:00.001500", "-1 day, 23:59:59.999999", None],
            "y": [253402300800, 2**62, "1970-01-01T00:00:00", "1969-12-31T23:59:59", None]}
    equal_all("times as they are stored", [(name, attributes[name], want[name]) for name in want])
    nested = []
    for name, v in (("t", t), ("c", c), ("d", d)):
        structs = [{"at": v[i], "s": "abcde"[i]} if i != 2 else None for i in range(5)]
        nested += [(name + " of a dictionary", v), (name + " in lists", [v[:2], v[2:3], [], v[3:4], v[4:]]),
                   (name + " in large lists", [v[:2], v[2:3], [], v[3:4], v[4:]]), (name + " in a struct", structs),
                   (name + " in maps", [[["a", v[0]], ["b", v[1]]], [["c", v[2]]], [], [["d", v[3]]], [["e", v[4]]]]),
                   (name + " in lists of structs", [structs[:2], structs[2:3], [], structs[3:4], structs[4:]])]
    equal_all("and within others", [(name, attributes[name], v) for name, v in nested])
    equal_all(
        "as ids",
        [(name, ids[name], [str(v).replace("T", " ") if v is not None else None for v in want[name]]) for name in want])
    equal("no text is made of them", [found for found in outputs[0][len(ids):] if any(found[1])], [])
    late = pa.array([2**62, 0, None], pa.timestamp("s"))
    neardup.load(conn, "late", pa.table({"text": ["a", "b", "c"], "t": late, "d": late.dictionary_encode()}), name="w")
    equal("a time beyond Python's, in a dictionary, too", [(a["t"], a["d"]) for *_, a in stored(conn, "late")],
          [(2**62,) * 2, ("1970-01-01T00:00:00",) * 2, (None,) * 2])
    broken = pa.array([b"\xff", b"ok", None], pa.binary()).view(pa.string())
    offsets = pa.array([0, 2, 3, 3], pa.int32())
    nested = {"lists": pa.ListArray.from_arrays(offsets, late),
              "structs": pa.StructArray.from_arrays([late, broken], ["t", "s"]),
              "texts": pa.ListArray.from_arrays(offsets, broken)}
    neardup.load(conn, "later", pa.table({"text": ["a", "b", "c"], **nested}), name="w")
    equal("one within lists and structs, and text that is not UTF-8", [a for *_, a in stored(conn, "later")],
          [{"lists": [2**62, "1970-01-01T00:00:00"], "structs": {"t": 2**62, "s": "\ufffd"}, "texts": ["\ufffd", "ok"]},
           {"lists": [None], "structs": {"t": "1970-01-01T00:00:00", "s": "ok"}, "texts": [None]},
           {"lists": [], "structs": {"t": None, "s": None}, "texts": []}])
    zones = {unit: pa.array([1], pa.timestamp(unit, "No/Where")) for unit in ("us", "ns")}
    if hasattr(pa, "json_"):
        zones["json"] = pa.ExtensionArray.from_storage(
            pa.json_(), pa.array([b"\"\xff\""], pa.binary()).view(pa.string()))
    neardup.load(conn, "zones", pa.table({"text": ["a"], **zones}), name="w")
    equal("a zone that is not known; JSON that is not UTF-8", {**stored(conn, "zones")[0][-1], "json": None},
          {"us": 1, "ns": 1, "json": None})
    neardup.load(conn, "clocks",
                 pa.table({"text": ["a", "b"], "id": pa.array([123456001, 123456002], pa.time64("ns"))}), name="w")
    equal("ids that differ in nanoseconds", [r for _, _, r, _ in stored(conn, "clocks")],
          ["00:00:00.123456001", "00:00:00.123456002"])
    twice = pa.StructArray.from_arrays([late, late], ["a", "a"])
    for name in ("k", "id"):
        raises("two fields of one name, as %s" % name, ValueError,
               lambda: neardup.load(conn, "late", pa.table({"text": ["a", "b", "c"], name: twice}), name="w"),
               "column %s of w cannot be read" % name)


def conflicts(conn, folder):
    """A transaction that meets another is made again, and loses no row; one that always does raises its error."""
    neardup.load(conn, "met", [{"text": "a"}], name="first")
    conn.execute("""CREATE SEQUENCE meetings;
        CREATE FUNCTION meet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.path = 's#2' AND nextval('meetings') <= TG_ARGV[0]::int THEN RAISE 'met' USING ERRCODE = '40P01';
              END IF; RETURN NEW; END $$;
        CREATE TRIGGER meet BEFORE INSERT ON met FOR EACH ROW EXECUTE FUNCTION meet(2)""")
    result = neardup.load(conn, "met", [{"text": "x"}, {"text": "y"}, {"text": "z"}], name="s", batch=1)
    equal("a deadlock loses no row", (result.new, result.skipped.total(), one(conn, "SELECT count(*) FROM met")),
          (3, 0, 4))
    conn.execute("DELETE FROM met WHERE path = 's#2'; DROP TRIGGER meet ON met; "
                 "CREATE TRIGGER meet BEFORE INSERT ON met FOR EACH ROW EXECUTE FUNCTION meet(1000)")
    raises("one that does not end", psycopg.errors.DeadlockDetected,
           lambda: neardup.load(conn, "met", [{"text": "x"}, {"text": "y"}], name="s", batch=1), "met")
    conn.execute("DROP TRIGGER meet ON met")
    # the notes beside the batches: at the begin, where the last record was deleted, and at the end
    path = os.path.join(folder, "met.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"text": "x"}\n')
    neardup.load(conn, "met", path)
    conn.execute("""CREATE SEQUENCE note_meetings;
            CREATE FUNCTION meet_notes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('note_meetings') % 2 = 1 THEN RAISE 'met' USING ERRCODE = '40001'; END IF;
              RETURN COALESCE(NEW, OLD); END $$;
        CREATE TRIGGER meet BEFORE INSERT OR DELETE ON met_files FOR EACH ROW EXECUTE FUNCTION meet_notes();
          DELETE FROM met WHERE path LIKE '%jsonl#1'""")
    equal("notes that meet others", (neardup.load(conn, "met", path).new, neardup.load(conn, "met", path).unchanged,
                                     neardup.load(conn, "met", [{"text": "x"}], name="t").new), (1, 1, 1))
    conn.execute("DROP TRIGGER meet ON met_files")
    conn.execute("""CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE
        WHEN NEW.body LIKE 'new%' THEN NULL ELSE NEW END; END $$;
        CREATE TRIGGER leave_out BEFORE INSERT ON met FOR EACH ROW EXECUTE FUNCTION leave_out()""")
    neardup.load(conn, "met", [{"text": "x"}, {"text": "y"}, {"text": "z"}], name="u")
    result = neardup.load(conn, "met", [{"text": "x"}, {"text": "new"}, {"text": "zz"}], name="u")
    equal("what a trigger leaves out of a merge", (result.new, result.changed, result.unchanged, dict(result.skipped)),
          (0, 1, 1, {"left out by a trigger": 1}))


def partitioned(conn, folder):
    path = os.path.join(folder, "parts.jsonl")
    conn.execute("CREATE TABLE parts (id bigint GENERATED ALWAYS AS IDENTITY, path text PRIMARY KEY, size bigint, "
                 "mtime timestamptz, content_hash bigint, body text) PARTITION BY HASH (path);"
                 "CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0); "
                 "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
    for turn, want in (("a", (10, 0, 0)), ("b", (0, 10, 0)), ("b", (0, 0, 10))):
        with open(path, "w", encoding="utf-8") as f:
            f.write("".join('{"text": "%s %d"}\n' % (turn, i) for i in range(10)) + "\n")
        os.utime(path, (time.time(), time.time() + random.random() * 1000))
        result = neardup.load(conn, "parts", path)
        equal("a partitioned table: %s" % (want,), (result.new, result.changed, result.unchanged), want)


def names(conn):
    """Names with %, and the name of the stage."""
    for table in ('"100%"', '"p%s"', '"%(x)s"', "neardup_load_stage", "neardup_load"):
        for want in (1, 0):
            equal("table %s" % table, neardup.load(conn, table, [{"text": "a"}], name="n").new, want)


def strangers(name, conn, folder):
    """Other roles put operators into search_path, and a trigger on a table of files."""
    path = os.path.join(folder, "strangers.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"text": "a"}\n{"text": "b"}\n')
    conn.execute("""CREATE SCHEMA strange; CREATE ROLE strange_loader;
        CREATE FUNCTION strange.take(bigint, interval) RETURNS interval LANGUAGE plpgsql AS $$ BEGIN RAISE 'taken';
          END $$;
        CREATE OPERATOR strange.* (LEFTARG = bigint, RIGHTARG = interval, FUNCTION = strange.take);
        CREATE FUNCTION strange.take(numeric, int) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RAISE 'taken'; END $$;
        CREATE OPERATOR strange.* (LEFTARG = numeric, RIGHTARG = int, FUNCTION = strange.take);
        CREATE FUNCTION strange.take(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'taken'; END $$;
        CREATE OPERATOR strange.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = strange.take)""")
    with connect(name, options="-c search_path=strange,public") as c:
        for want in ((2, 0), (0, 2)):
            result = neardup.load(c, "public.safe", path)
            equal("operators of search_path are not taken: %s" % (want,), (result.new, result.unchanged), want)
    try:
        conn.execute(
            "CREATE TABLE lured_files (path text PRIMARY KEY, size bigint NOT NULL, mtime timestamptz NOT NULL, "
            "records bigint NOT NULL, options text NOT NULL);ALTER TABLE lured_files OWNER TO strange_loader")
        raises("a table of files of another role", neardup.NeardupError, lambda: neardup.load(conn, "lured", path),
               "lured_files", "belongs to strange_loader")
        conn.execute(
            "CREATE ROLE strange_team; GRANT strange_team TO strange_loader; ALTER TABLE lured OWNER TO strange_team")
        equal("one of a member of the owner's role", neardup.load(conn, "lured", path).new, 2)
        conn.execute("DROP TABLE lured_files; CREATE VIEW lured_files AS SELECT 1")
        raises("a view of our own", neardup.NeardupError, lambda: neardup.load(conn, "lured", path), "lured_files",
               "is not an ordinary table")
        conn.execute("DROP VIEW lured_files; "
                     "CREATE TABLE lured_files (options text NOT NULL, records bigint NOT NULL, mtime timestamptz NOT "
                     "NULL, size bigint NOT NULL, path text PRIMARY KEY)")
        neardup.load(conn, "lured", path)
        equal("columns in another order", conn.execute("SELECT path, records, options FROM lured_files").fetchall(),
              [(path, 2, "jsonl")])
    finally:
        conn.execute("DROP TABLE IF EXISTS lured_files; DROP TABLE IF EXISTS lured; DROP OWNED BY strange_loader; "
                     "DROP ROLE strange_loader; DROP ROLE IF EXISTS strange_team")


def places(name, conn, folder):
    """TABLE_files is beside TABLE, whatever search_path says, and what others create meanwhile is not taken."""
    path = os.path.join(folder, "places.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"text": "t", "other": "o"}\n')
    conn.execute("CREATE SCHEMA a; CREATE SCHEMA b; "
                 "CREATE TABLE team (id bigint GENERATED ALWAYS AS IDENTITY, path text UNIQUE, size bigint, "
                 "mtime timestamptz, content_hash bigint, body text)")
    got = []
    for schema, column in (("a", None), ("b", "other"), ("a", None), ("a", None)):
        with connect(name, options="-c search_path=%s,public" % schema) as c:
            result = neardup.load(c, "team", path, text_column=column)
            got.append((result.new, result.changed, result.unchanged, one(c, "SELECT body FROM team")))
    equal("loads with other search_paths", got, [(1, 0, 0, "t"), (0, 1, 0, "o"), (0, 1, 0, "t"), (0, 0, 1, "t")])
    equal("one table of files",
          conn.execute("SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'team_files'").fetchall(),
          [("public",)])
    with connect(name, options="-c search_path=a,public") as c:
        neardup.load(c, "fresh", path)
        equal(
            "new tables",
            c.execute("SELECT to_regclass('a.fresh') IS NOT NULL, to_regclass('a.fresh_files') IS NOT NULL").fetchone(),
            (True, True))
        c.execute("SET search_path = pg_temp")
        neardup.load(c, "brief", path)
        equal("temporary tables",
              c.execute("SELECT relname, relpersistence::text FROM pg_class WHERE relname LIKE 'brief%' "
                        "AND relkind = 'r' ORDER BY 1").fetchall(), [("brief", "t"), ("brief_files", "t")])
        equal("again", neardup.load(c, "brief", path).unchanged, 1)
        c.execute("SET search_path = nowhere")
        raises("no schema", neardup.NeardupError, lambda: neardup.load(c, "lost", path),
               "no schema of search_path exists", "lost")
    conn.execute(
        "CREATE FUNCTION a.spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'trigger of others'; END $$")

    def rows():
        yield {"text": "first"}
        with connect(name) as other:  # once the tables were checked
            for table in ("raced", "raced_files"):
                other.execute(
                    "CREATE TABLE a.%s (LIKE public.%s INCLUDING ALL); CREATE TRIGGER spring BEFORE INSERT OR UPDATE "
                    "OR DELETE ON a.%s FOR EACH STATEMENT EXECUTE FUNCTION a.spring()" % ((table,) * 3))
        for i in range(10000):  # several batches
            yield {"text": "text %d" % i}
    neardup.load(conn, "public.raced", [])
    with connect(name, options="-c search_path=a,public") as c:
        equal("tables that others create meanwhile", neardup.load(c, "raced", rows(), name="n", batch=1000).new, 10001)
    conn.execute("DROP SCHEMA a CASCADE; DROP SCHEMA b CASCADE")
    conn.execute("CREATE SCHEMA mine; CREATE DOMAIN mine.text AS pg_catalog.text; "
                 "CREATE TABLE mine.typed (path mine.text UNIQUE, size bigint, mtime timestamptz, content_hash "
                 "bigint, body text)")
    with connect(name, options="-c search_path=mine,public,pg_catalog") as c:
        raises("a type of the same name", neardup.NeardupError, lambda: neardup.load(c, "typed", path), "column path",
               "is mine.text, not text")
        equal("types of pg_catalog behind others", neardup.load(c, "public.team", path).unchanged, 1)
    conn.execute("DROP SCHEMA mine CASCADE")


def main():
    with database() as name, connect(name) as conn, tempfile.TemporaryDirectory() as folder:
        conn.execute("SET client_min_messages = warning")
        sections((sources, conn, folder), (drivers, name, conn, folder), (again, conn, folder),
                 (interrupted, conn, folder), (skipped, conn, folder), (numbers, conn, folder),
                 (with_program, conn, folder), (beside_files, conn, folder), (unnoted, folder),
                 (refused_now, conn, folder),
                 (refusals, name, conn, folder), (values, conn), (times, conn), (conflicts, conn, folder),
                 (partitioned, conn, folder), (names, conn), (strangers, name, conn, folder),
                 (places, name, conn, folder))


finish(main)
