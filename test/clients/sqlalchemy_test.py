"""SQLAlchemy 2 and Alembic: types, comparators, indexes, the constraint, reflection, autogenerate."""
import contextlib
import io
import tempfile
import warnings

from clients import *

neardup, sa, alembic = need("neardup", "sqlalchemy", "alembic")
from sqlalchemy import orm

warnings.simplefilter("error", sa.exc.SAWarning)  # a type that is not known is a warning
DRIVERS = ("psycopg", "psycopg2")
MODELS = """
import sqlalchemy as sa
from sqlalchemy import orm
from neardup.sqlalchemy import CTPH, MINHASH, SIMHASH, lsh_index, no_copies, to_minhash


class Base(orm.DeclarativeBase):
    pass


class Doc(Base):
    __tablename__ = "docs"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    tenant: orm.Mapped[int] = orm.mapped_column(server_default="1")
    body: orm.Mapped[str]
    sig = orm.mapped_column(MINHASH(128, 32), sa.Computed("to_minhash(body)", persisted=True))
    hash = orm.mapped_column(SIMHASH)
    digest = orm.mapped_column(CTPH)
    many = orm.mapped_column(sa.ARRAY(MINHASH()))
    __table_args__ = (no_copies("sig", 0.9, within=["tenant"], name="docs_no_copies"),)


lsh_index("docs_sig", Doc.sig, threshold=0.6)
lsh_index("docs_hash", Doc.hash)
"""


def models():
    scope = {"__name__": "models"}
    exec(compile(MODELS, "models.py", "exec"), scope)
    return scope


def reflection_by_plugin(name):
    """The plugin is enough in a process that imports nothing of neardup."""
    code = """import sys, warnings, sqlalchemy as sa
warnings.simplefilter("error")
engine = sa.create_engine(%r, plugins=["neardup"])
table = sa.Table("docs", sa.MetaData(), autoload_with=engine)
print(sorted(repr(c.type) for c in table.c if "HASH" in repr(c.type) or "CTPH" in repr(c.type)))
""" % url(name, "psycopg")
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True)
    equal("reflection by plugins=['neardup']", done.stdout.strip() or done.stderr[-300:],
          "['ARRAY(MINHASH())', 'CTPH()', 'MINHASH(num_perm=128, bits=32)', 'SIMHASH()']")


def queries(name, driver, scope):
    from neardup.sqlalchemy import to_minhash

    Doc = scope["Doc"]
    engine = sa.create_engine(url(name, driver), plugins=["neardup"])
    scope["Base"].metadata.drop_all(engine)
    scope["Base"].metadata.create_all(engine)
    value = neardup.SimHash(5)
    with orm.Session(engine) as session:
        session.add_all([Doc(id=1, body=DOC, hash=value, digest=neardup.Ctph("3:abc:de"),
                             many=[neardup.Minhash(o.to_minhash(DOC)), None]),
                         Doc(id=2, body=FAR, hash="00000000000000ff")])
        session.commit()
        one_, two = session.get(Doc, 1), session.get(Doc, 2)
        equal("%s: values come back" % driver, (one_.hash, one_.digest, one_.sig, one_.many, two.hash, two.digest),
              (value, neardup.Ctph("3:abc:de"), neardup.Minhash(o.to_minhash(DOC)), [one_.sig, None],
               neardup.SimHash(255), None))
        near = to_minhash(NEAR)
        select = lambda *where, **order: session.scalars(
            sa.select(Doc.id).where(*where).order_by(*order.get("by", (Doc.id,)))).all()
        equal_all("%s: comparators" % driver, [
            ("jaccard of a value", select(Doc.sig.jaccard(one_.sig) >= 0.8), [1]),
            ("jaccard of a text form", select(Doc.sig.jaccard(str(one_.sig)) >= 0.8), [1]),
            ("jaccard of a document", select(Doc.sig.jaccard(near) >= 0.7), [1]),
            ("options",
             select(Doc.sig.jaccard(to_minhash(NEAR, k=3, unit="word", num_perm=128, bits=32, seed=0)) >= 0.7), [1]),
            ("distance", select(by=(Doc.sig.jaccard_distance(two.sig),)), [2, 1]),
            ("similar", select(Doc.sig.similar(one_.sig)), [1]),
            ("containment", select(Doc.sig.containment(one_.sig) == 1), [1]),
            ("hamming", select(Doc.hash.hamming(value) <= 3), [1]),
            ("hamming distance", select(by=(Doc.hash.hamming_distance(value).desc(),)), [2, 1]),
            ("cosine", select(Doc.hash.cosine(value) == 1), [1]),
            ("ctph_score", select(Doc.digest.ctph_score(one_.digest) >= 0), [1]),
            ("edit rate", select(Doc.digest.ctph_edit_rate("3:abc:de") == 0), [1]),
            ("equality", select(Doc.sig == one_.sig), [1]),
            ("IN", select(Doc.hash.in_([value, neardup.SimHash(1)])), [1]),
            ("another column", select(Doc.sig.jaccard(Doc.sig) == 1), [1, 2]),
            ("ORM alias", session.scalar(sa.select(orm.aliased(Doc).sig.jaccard(one_.sig)).limit(1)) in (0.0, 1.0),
             True)])
        literal = str(
            sa.select(Doc.id).where(Doc.hash == value).compile(engine, compile_kwargs={"literal_binds": True}))
        check("%s: literals" % driver,
              "CAST('0000000000000005' AS SIMHASH)" in literal and session.scalars(sa.text(literal)).all() == [1],
              literal)
        session.add(Doc(id=3, body=DOC + " "))
        try:
            session.commit()
            check("%s: a copy is refused" % driver, False, "no error")
        except sa.exc.IntegrityError as error:
            check("%s: a copy is refused" % driver, "docs_no_copies" in str(error), error)
            session.rollback()
        session.add(Doc(id=3, body=DOC, tenant=2))
        session.commit()
        for bad in (5, "no signature", b"x", float("nan")):
            try:
                select(Doc.sig.jaccard(bad) >= 0.5)
                check("%s: jaccard(%r)" % (driver, bad), False, "no error")
            except sa.exc.StatementError as error:
                check("%s: jaccard(%r)" % (driver, bad), "minhash" in str(error), error)
                session.rollback()
    if driver == "psycopg":
        reflection_by_plugin(name)
        reflected = sa.MetaData()
        reflected.reflect(engine)
        table = reflected.tables["docs"]
        equal("a reflected table has the types", [repr(table.c[n].type) for n in ("sig", "hash", "digest", "many")],
              ["MINHASH(num_perm=128, bits=32)", "SIMHASH()", "CTPH()", "ARRAY(MINHASH())"])
        check("its comparators", "jaccard" in str(table.c.sig.jaccard("mh1")))
        index = {i.name: i for i in table.indexes}["docs_sig"]
        equal("its index", (index.dialect_options["postgresql"]["using"], index.dialect_options["postgresql"]["with"]),
              ("lsh", {"threshold": "0.6"}))
        with engine.connect() as conn:
            conn.exec_driver_sql("SET enable_seqscan = off")
            plan = "\n".join(conn.scalars(sa.text("EXPLAIN " + str(sa.select(Doc.id).where(
                Doc.sig.jaccard(to_minhash("x")) >= 0.8).compile(engine, compile_kwargs={"literal_binds": True})))))
        check("the index serves the comparator", "docs_sig" in plan, plan)
    scope["Base"].metadata.drop_all(engine)
    engine.dispose()


def asynchronous(name, driver, scope):
    import asyncio

    from neardup.sqlalchemy import register

    from sqlalchemy.ext.asyncio import create_async_engine

    Doc = scope["Doc"]

    async def run():
        engine = create_async_engine(url(name, driver))
        register(engine)
        async with engine.begin() as conn:
            await conn.run_sync(scope["Base"].metadata.drop_all)
            await conn.run_sync(scope["Base"].metadata.create_all)
            await conn.execute(sa.insert(Doc).values(
                id=1, body=DOC, hash=neardup.SimHash(5), many=[neardup.Minhash(o.to_minhash(DOC))]))
            row = (await conn.execute(
                sa.select(Doc.sig, Doc.hash, Doc.many, Doc.sig.jaccard(neardup.Minhash(o.to_minhash(DOC)))))).one()
            await conn.run_sync(scope["Base"].metadata.drop_all)
        await engine.dispose()
        return tuple(row)
    sig = neardup.Minhash(o.to_minhash(DOC))
    equal("%s below SQLAlchemy's asyncio" % driver, asyncio.run(run()), (sig, neardup.SimHash(5), [sig], 1.0))


def migrations(name):
    """Autogenerate writes a migration that runs, and then finds nothing to do."""
    from alembic import command
    from alembic.config import Config

    with tempfile.TemporaryDirectory() as folder:
        log = io.StringIO()
        config = Config(os.path.join(folder, "alembic.ini"), stdout=log)
        config.set_main_option("script_location", os.path.join(folder, "migrations"))
        config.set_main_option("sqlalchemy.url", url(name, "psycopg").replace("%", "%%"))
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            command.init(config, os.path.join(folder, "migrations"))
        config = Config(os.path.join(folder, "alembic.ini"), stdout=log)
        config.set_main_option("sqlalchemy.url", url(name, "psycopg").replace("%", "%%"))
        with open(os.path.join(folder, "models.py"), "w", encoding="utf-8") as file:
            file.write(MODELS)
        env = os.path.join(folder, "migrations", "env.py")
        with open(env, encoding="utf-8") as file:
            text = file.read()
        older = tuple(int(n) for n in alembic.__version__.split(".")[:2]) < (1, 18)
        text = text.replace(
            "target_metadata = None",
            "import sys\nsys.path.insert(0, %r)\nimport models\ntarget_metadata = models.Base.metadata%s"
                % (folder, "\nimport neardup.alembic" if older else ""))
        if older:
            text = text.replace("target_metadata=target_metadata",
                                "target_metadata=target_metadata, render_item=neardup.alembic.render_item")
        with open(env, "w", encoding="utf-8") as file:
            file.write(text)
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            script = command.revision(config, "first", autogenerate=True)
        with open(script.path, encoding="utf-8") as file:
            made = file.read()
        check("the migration imports the types",
              "\nimport neardup.sqlalchemy\n" in made and "neardup.sqlalchemy.MINHASH(num_perm=128, bits=32)" in made,
              made)
        check("the migration has the index and the constraint",
              "postgresql_using='lsh'" in made and "ExcludeConstraint" in made and "docs_no_copies" in made, made)
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            command.upgrade(config, "head")
        more = None
        try:
            with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                command.check(config)
        except Exception as error:
            more = error
        check("autogenerate finds nothing more to do", more is None, more)
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            command.downgrade(config, "base")


def refusals():
    from neardup.sqlalchemy import MINHASH, lsh_index, no_copies, to_minhash, with_threshold

    raises("num_perm out of range", ValueError, lambda: MINHASH(5), "between 16 and 4096", "5")
    raises("bits out of range", ValueError, lambda: MINHASH(128, 12), "8, 16 or 32", "12")
    raises("bits without num_perm", ValueError, lambda: MINHASH(bits=32), "num_perm")
    for bad in (0, 1.5, float("nan"), True):
        raises("a threshold of %r" % bad, ValueError, lambda: with_threshold("x", bad), "above 0 and at most 1")
    raises("an index of nothing", ValueError, lambda: lsh_index("x"), "needs a column")
    raises("a storage parameter NaN", TypeError, lambda: lsh_index("x", sa.column("a"), threshold=float("nan")),
           "threshold")
    raises("a unit with a quote", ValueError, lambda: to_minhash("a", unit="word'"), "unit must be a word")
    raises("k that is no number", TypeError, lambda: to_minhash("a", k=1.5), "k must be")
    raises("a constraint of NaN", ValueError, lambda: no_copies("sig", float("nan")), "threshold")


def main():
    print("note: SQLAlchemy %s, Alembic %s" % (sa.__version__, alembic.__version__))
    refusals()
    with database() as name:
        sections((migrations, name))
        for driver in DRIVERS:
            sections((queries, name, driver, models()))
        for driver in ("asyncpg", "psycopg"):
            sections((asynchronous, name, driver, models()))


finish(main)
