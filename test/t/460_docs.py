#!/usr/bin/python3
"""docs/s_curve.svg is the output of tools/draw_curves.py, and its curves are those of the functions of the extension.
The functions and settings that pages name exist."""
import importlib.util
import re
from xml.etree import ElementTree

from harness import *

# Pages that name functions of other programs or of their own formulas.
FOREIGN = ("docs/distributed.md", "docs/format.md", "docs/install.md")
# SQL's own, Python's, imagehash's, pg_cron's, pgvector's
ELSEWHERE = {"binary_quantize", "coalesce", "int", "is_empty", "phash", "schedule", "str", "tolist"}
PICTURE = os.path.join(ROOT, "docs", "s_curve.svg")


def tool_module():
    spec = importlib.util.spec_from_file_location("draw_curves", os.path.join(ROOT, "tools", "draw_curves.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def curves_in(text, tool):
    """Name -> [(similarity, probability)], read off the picture."""
    found = {}
    for line in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}polyline"):
        points = [tuple(map(float, p.split(","))) for p in line.get("points").split()]
        found[line[0].text] = [((x - tool.LEFT) / tool.WIDTH, 1 - (y - tool.TOP) / tool.HEIGHT) for x, y in points]
    return found


def named(conn):
    """Functions and settings in the code spans of README and docs/."""
    functions, settings, made = {}, {}, set()
    for path in ["README.md"] + sorted(
            "docs/" + f for f in os.listdir(os.path.join(ROOT, "docs")) if f.endswith(".md")):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        made.update(re.findall(r"CREATE (?:FUNCTION|PROCEDURE) ([a-z_0-9]+)\(", text))
        for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
            if path not in FOREIGN:
                functions.update(dict.fromkeys(re.findall(r"\b([a-z][a-z0-9_]*)\(", span), path))
            settings.update(
                dict.fromkeys(re.findall(r"(?<![\w.])(neardup\.(?!control\b|so\b|spec\b)[a-z_]+)", span), path))
    known = {r[0] for r in conn.execute("SELECT proname::text FROM pg_proc UNION SELECT typname::text FROM pg_type")}
    missing = sorted((n, p) for n, p in functions.items() if n not in known | made | ELSEWHERE)
    check("the functions that pages name exist (%d)" % len(functions), len(functions) > 100 and not missing, missing)
    conn.execute("SELECT to_minhash('the library is loaded')")
    known = {r[0] for r in conn.execute("SELECT name FROM pg_settings WHERE name LIKE 'neardup.%'")}
    missing = sorted((n, p) for n, p in settings.items() if n not in known)
    check("and so do the settings (%d)" % len(settings), len(settings) > 4 and not missing, missing)
    with open(os.path.join(ROOT, "docs", "reference.md"), encoding="utf-8") as f:
        reference = f.read()
    equal("the reference has every setting", sorted(n for n in known if "| `%s` |" % n not in reference), [])
    described = set(re.findall(r"\b([a-z][a-z0-9_]*)\(", " ".join(re.findall(r"`([^`\n]+)`", reference))))
    ours = dict(conn.execute("""SELECT s.nspname::text, array_agg(DISTINCT p.proname::text) FROM
        """ + OUR_FUNCTIONS + """ JOIN pg_namespace s ON s.oid = p.pronamespace GROUP BY s.nspname""").fetchall())
    equal("the functions are in two schemas", sorted(ours), ["neardup_internal", "public"])
    equal("the reference describes each in the schema that users see", sorted(set(ours["public"]) - described), [])
    equal("and none of neardup_internal", sorted(set(ours["neardup_internal"]) & described), [])


def front_door():
    """The first table of docs/reference.md names what docs/start.md shows at work."""
    texts = {}
    for name in ("reference", "start"):
        with open(os.path.join(ROOT, "docs", name + ".md"), encoding="utf-8") as f:
            texts[name] = f.read()
    table = re.search(r"^\| to \| use \|\n((?:\|.*\n)+)", texts["reference"], re.M).group(1)
    named = {n for span in re.findall(r"`([^`]+)`", table) for n in re.findall(r"^[a-z_]{4,}", span)}
    blocks = "".join(re.findall(r"```sql\n(.*?)```", texts["start"], re.S))
    equal("fifteen functions are the first", len(named), 15)
    equal("docs/start.md shows each", sorted(n for n in named if not re.search(r"\b%s\b" % n, blocks)), [])


def sign_in_batches(conn):
    """The procedure of docs/recipes.md: it signs what there is, in batches that stay, and goes on where it was."""
    with open(os.path.join(ROOT, "docs", "recipes.md"), encoding="utf-8") as f:
        text = re.search(r"CREATE TABLE article_signatures.*?END \$\$;", f.read(), re.S).group(0)
    conn.execute("CREATE TABLE articles (id bigint PRIMARY KEY, body text); "
                 "INSERT INTO articles SELECT i * 3, 'text number ' || i FROM generate_series(1, 100) i")
    conn.execute(text)
    conn.execute("CREATE FUNCTION break() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.id > 200 "
                 "THEN RAISE 'stopped'; END IF; RETURN NEW; END$$; "
                 "CREATE TRIGGER break BEFORE INSERT ON article_signatures FOR EACH ROW EXECUTE FUNCTION break()")
    fails("a run in batches that is stopped", conn, "CALL sign_articles(batch => 7)", text="stopped")
    equal("keeps its whole batches", one(conn, "SELECT count(*) FROM article_signatures"), 63)
    conn.execute("DROP TRIGGER break ON article_signatures")
    conn.execute("CALL sign_articles()")
    conn.execute("INSERT INTO articles SELECT i * 3, NULL FROM generate_series(101, 110) i")
    conn.execute("CALL sign_articles(batch => 3)")
    equal("and goes on to the end",
          conn.execute("SELECT count(*), count(sig), bool_and(sig IS NOT DISTINCT FROM to_minhash(body, bits => 16)) "
                       "FROM articles LEFT JOIN article_signatures USING (id)").fetchone(), (110, 100, True))


def main():
    tool = tool_module()
    with open(PICTURE, encoding="utf-8") as f:
        text = f.read()
    check("the picture is what tools/draw_curves.py draws", text == tool.drawn(), "run tools/draw_curves.py")
    found = curves_in(text, tool)
    equal("its curves", sorted(found), sorted(c[0] for c in tool.CURVES))
    check("it is drawn for light and for dark", "prefers-color-scheme: dark" in text)
    with database() as name, connect(name) as conn:
        for label, kind, arguments, _ in tool.CURVES:
            steps = [i / tool.STEPS for i in range(tool.STEPS + 1)]
            if kind == "bands":
                want = [r[0] for r in conn.execute("SELECT lsh_probability(s, %s, %s) FROM unnest(%s::float8[]) "
                                                   "WITH ORDINALITY u(s, n) ORDER BY n", [*arguments, steps])]
                near = 1e-5  # a point's place is rounded to a thousandth of a pixel, the plot is 320 high
            else:
                # neardup_s_curve is rounded down to four places, and has steps of 0.02
                steps = steps[100::4]
                want = [float(r[0].split("|")[2]) for r in conn.execute(
                    "SELECT neardup_s_curve(%s, %s)", [(arguments - 0.5) / tool.NUM_PERM, tool.NUM_PERM])
                        if "|" in r[0]]
                want = want[-len(steps):]
                near = 1.1e-4
            got = {round(s, 4): p for s, p in found[label]}
            bad = [(s, got.get(round(s, 4)), w) for s, w in zip(steps, want) if abs(got.get(round(s, 4), 9) - w) > near]
            check("%s: %d points as SQL says" % (label, len(want)), len(want) == len(steps) > 20 and not bad, bad[:3])
        equal("the curve of the index at 0.8 is that of the matches it needs",
              one(conn, "SELECT needed FROM explain_pair(to_minhash('a'), to_minhash('b'), 0.8)"), 103)
        named(conn)
        sign_in_batches(conn)
        front_door()
        equal("verify at 0.8 searches as drawn",
              round(128 * one(conn, "SELECT neardup_search_threshold(to_minhash('a b c d'), 0.8)")), 88)


finish(main)
