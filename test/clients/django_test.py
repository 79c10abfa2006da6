"""Django: fields, lookups, functions, LshIndex, NoCopiesConstraint, migrations, inspectdb."""
import io
import tempfile

from clients import *

neardup, django = need("neardup", "django")
from django.conf import settings

HAS_GENERATED = django.VERSION >= (5, 0)


def configure(name):
    options = {} if not os.environ.get("NEARDUP_SERVER_SIDE") else {"server_side_binding": True}
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": name,
                               "USER": os.environ.get("PGUSER", ""), "HOST": os.environ.get("PGHOST", ""),
                               "PORT": os.environ.get("PGPORT", ""), "OPTIONS": options}},
        INSTALLED_APPS=["django.contrib.postgres", "neardup.django", "papers"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True)
    folder = tempfile.TemporaryDirectory()
    for path, text in (("papers/__init__.py", ""), ("papers/models.py", MODELS), ("papers/migrations/__init__.py", "")):
        os.makedirs(os.path.dirname(os.path.join(folder.name, path)), exist_ok=True)
        with open(os.path.join(folder.name, path), "w", encoding="utf-8") as file:
            file.write(text)
    sys.path.insert(0, folder.name)
    django.setup()
    return folder


MODELS = """
from django.db import models
from neardup.django import CtphField, LshIndex, MinhashField, NoCopiesConstraint, SimHashField, ToMinhash


class Paper(models.Model):
    tenant = models.IntegerField(default=1)
    body = models.TextField()
    %s
    hash = SimHashField(null=True, blank=True)
    digest = CtphField(null=True, blank=True)

    class Meta:
        indexes = [LshIndex(fields=["sig"], name="paper_sig", threshold=0.6),
                   LshIndex(fields=["hash"], name="paper_hash"), LshIndex(ToMinhash("body"), name="paper_body")]
        constraints = [NoCopiesConstraint(
            name="paper_no_copies", signature=ToMinhash("body"), threshold=0.9, within=["tenant"])]


class Revision(models.Model):
    page = models.IntegerField()
    old = MinhashField(null=True)
    new = MinhashField(null=True)


class Bound(models.Model):
    revision = models.ForeignKey(Revision, models.CASCADE, related_name="bounds")
    value = models.FloatField()
""" % ('sig = models.GeneratedField(expression=ToMinhash("body"), output_field=MinhashField(num_perm=128, bits=32), '
       'db_persist=True)' if HAS_GENERATED
       else "sig = MinhashField(num_perm=128, bits=32, null=True)")


def run(*arguments):
    from django.core.management import call_command

    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=out)
    return out.getvalue()


def migrations(folder):
    made = run("makemigrations", "papers", "-v", "3")
    path = os.path.join(folder, "papers", "migrations", "0001_initial.py")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check("makemigrations writes fields, indexes and the constraint",
          all(w in text for w in ("neardup.django.fields.MinhashField(bits=32", "neardup.django.indexes.LshIndex",
                                  "threshold=0.6",
                                  "neardup.django.constraints.NoCopiesConstraint(name='paper_no_copies', "
                                      "signature=neardup.django.functions.ToMinhash('body'), threshold=0.9, "
                                      "within=('tenant',))")), text[-1500:])
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(
            "operations = [", "operations = [\n        neardup.django.operations.NeardupExtension(),").replace(
            "import neardup", "import neardup.django.operations\nimport neardup", 1))
    run("migrate", "-v", "0")
    check("makemigrations finds nothing more to do",
          "No changes" in run("makemigrations", "papers", "--check", "--dry-run"), made)
    check("check --database", "no issues" in run("check", "--database", "default"))


def rows(papers):
    from django.db.models import F, Value
    from neardup.django import (Containment, Cosine, CtphEditRate, CtphScore, Hamming, Jaccard, JaccardDistance, ToCtph,
                                ToMinhash, ToSimHash)

    Paper = papers.Paper
    sig = neardup.Minhash(o.to_minhash(DOC))
    extra = {} if HAS_GENERATED else {"sig": sig}
    one_ = Paper.objects.create(body=DOC, hash=neardup.SimHash(5), digest="3:abc:de", **extra)
    Paper.objects.create(
        body=FAR, hash="00000000000000ff", digest=None, **({} if HAS_GENERATED else {"sig": o.to_minhash(FAR)}))
    one_ = Paper.objects.get(pk=one_.pk)
    equal("values come back", (one_.sig, one_.hash, one_.digest), (sig, neardup.SimHash(5), neardup.Ctph("3:abc:de")))
    ids = lambda query: sorted(query.values_list("pk", flat=True))
    first = [one_.pk]
    equal_all("lookups", [
        ("jaccard_gte", ids(Paper.objects.filter(sig__jaccard_gte=(sig, 0.8))), first),
        ("text form", ids(Paper.objects.filter(sig__jaccard_gt=(str(sig), 0.8))), first),
        ("of a document", ids(Paper.objects.filter(sig__jaccard_gte=(ToMinhash(Value(NEAR)), 0.7))), first),
        ("of a column", len(ids(Paper.objects.filter(sig__jaccard_gte=(F("sig"), 1)))), 2),
        ("similar", ids(Paper.objects.filter(sig__similar=sig)), first),
        ("containment", ids(Paper.objects.filter(sig__containment_gte=(sig, 1))), first),
        ("hamming", ids(Paper.objects.filter(hash__hamming_lte=(neardup.SimHash(4), 1))), first),
        ("ctph_score", ids(Paper.objects.filter(digest__ctph_score_gte=("3:abc:de", 0))), first),
        ("ctph_edit_rate", ids(Paper.objects.filter(digest__ctph_edit_rate_lte=("3:abc:de", 0))), first),
        ("exact", ids(Paper.objects.filter(sig=sig)), first),
        ("in", ids(Paper.objects.filter(hash__in=[neardup.SimHash(5), "00000000000000aa"])), first),
        ("isnull", len(ids(Paper.objects.filter(digest__isnull=True))), 1),
        ("exclude", len(ids(Paper.objects.exclude(sig__jaccard_gte=(sig, 0.8)))), 1)])
    value = lambda expression: Paper.objects.annotate(x=expression).get(pk=one_.pk).x
    equal_all("functions", [
        ("Jaccard", value(Jaccard("sig", sig)), 1.0),
        ("Jaccard of a document", value(Jaccard("sig", ToMinhash(Value(DOC), k=3, unit="word", seed=0))), 1.0),
        ("JaccardDistance", value(JaccardDistance("sig", sig)), 0.0),
        ("Containment", value(Containment("sig", sig)), 1.0),
        ("Hamming", value(Hamming("hash", neardup.SimHash(4))), 1), ("Cosine", value(Cosine("hash", F("hash"))), 1.0),
        ("CtphScore", value(CtphScore("digest", ToCtph(Value(DOC)))), 0),
        ("CtphEditRate", value(CtphEditRate("digest", neardup.Ctph("3:abc:de"))), 0.0),
        ("ToMinhash", value(ToMinhash("body")), sig),
        ("ToSimHash", type(value(ToSimHash("body", k=2))), neardup.SimHash),
        ("options", value(ToMinhash("body", k=5, unit="char", num_perm=64, bits=16)).description,
         "char 5, 64x16, seed 0")])
    ordered = Paper.objects.filter(sig__jaccard_gte=(sig, 0.1)).order_by(JaccardDistance("sig", sig)).values_list(
        "pk", flat=True)
    equal("order_by", list(ordered), first)
    equal("annotate and filter", ids(Paper.objects.annotate(j=Jaccard("sig", sig)).filter(j__gte=0.8)), first)
    equal(
        "bulk_create and update",
        (len(Paper.objects.bulk_create([Paper(tenant=9, body="x %d" % i, hash=neardup.SimHash(i)) for i in range(3)])),
         Paper.objects.filter(tenant=9).update(hash=neardup.SimHash(1))), (3, 3))
    from django.core import serializers

    text = serializers.serialize("json", [one_])
    equal("serialized and back", next(iter(serializers.deserialize("json", text))).object.hash, one_.hash)
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        for what, query, index in (("lookup", Paper.objects.filter(sig__jaccard_gte=(sig, 0.8)), "paper_sig"),
                                   ("annotation", Paper.objects.annotate(j=Jaccard("sig", sig)).filter(j__gte=0.8),
                                    "paper_sig"),
                                   ("simhash", Paper.objects.filter(hash__hamming_lte=(neardup.SimHash(4), 1)),
                                    "paper_hash")):
            check("the index serves the %s" % what, index in query.explain(), query.explain())
        cursor.execute("RESET enable_seqscan")


def lookups_of_references(papers):
    """A lookup whose value or bound refers to columns, to an outer query or to an aggregate means what Jaccard()
    means."""
    from django.db.models import Case, Exists, F, Min, OuterRef, Q, Subquery, Value, When
    from neardup.django import Jaccard

    Revision = papers.Revision
    doc, near, far = (o.to_minhash(text) for text in (DOC, NEAR, FAR))
    for page, old, new in ((1, doc, doc), (1, far, doc), (2, far, near), (3, far, far), (3, None, far)):
        papers.Bound.objects.create(revision=Revision.objects.create(page=page, old=old, new=new), value=0.1 * page)
    papers.Bound.objects.create(revision=Revision.objects.get(page=2), value=0.0)
    ids = lambda query: sorted(query.values_list("pk", flat=True))
    all_ = Revision.objects.all()

    def both(what, lookup, function, size):
        got, want = ids(lookup), ids(function)
        return [(what, got, want), (what + ": rows", len(want), size)]
    equal_all("references", both(
        "F", all_.filter(new__jaccard_gte=(F("old"), 0.8)), all_.annotate(j=Jaccard("new", "old")).filter(j__gte=0.8),
        2)
        + both("F in a subquery of the same model",
               all_.filter(page__in=all_.filter(new__jaccard_gte=(F("old"), 0.8)).values("page")),
               all_.filter(page__in=all_.annotate(j=Jaccard("new", "old")).filter(j__gte=0.8).values("page")), 4)
        + both("OuterRef",
               all_.filter(Exists(all_.filter(new__jaccard_gte=(OuterRef("new"), 0.5)).exclude(pk=OuterRef("pk")))),
               all_.filter(Exists(
                   all_.annotate(j=Jaccard("new", OuterRef("new"))).filter(j__gte=0.5).exclude(pk=OuterRef("pk")))), 5)
        + both("OuterRef in exclude()", all_.filter(~Exists(all_.exclude(new__jaccard_gte=(OuterRef("old"), 0.5)))),
               all_.filter(~Exists(all_.annotate(j=Jaccard("new", OuterRef("old"))).exclude(j__gte=0.5))), 1)
        + both("OuterRef of an outer query's outer query",
               all_.filter(
                   Exists(all_.filter(Exists(all_.filter(new__jaccard_gte=(OuterRef(OuterRef("old")), 0.5))), page=1))),
               all_.filter(Exists(all_.filter(
                   Exists(all_.annotate(j=Jaccard("new", OuterRef(OuterRef("old")))).filter(j__gte=0.5)), page=1))), 4)
        + both("a bound that is an aggregate",
               all_.annotate(least=Min("bounds__value")).filter(new__jaccard_gt=(F("old"), F("least"))),
               all_.annotate(least=Min("bounds__value"), j=Jaccard("new", "old")).filter(j__gt=F("least")), 2)
        + both("beside it a condition of WHERE",
               all_.annotate(least=Min("bounds__value")).filter(Q(page=1) | Q(new__jaccard_gte=(F("old"), F("least")))),
               all_.annotate(least=Min("bounds__value"), j=Jaccard("new", "old")).filter(
                   Q(page=1) | Q(j__gte=F("least"))), 4)
        + both("a bound of another table", all_.filter(new__jaccard_gte=(F("old"), F("bounds__value"))),
               all_.annotate(j=Jaccard("new", "old")).filter(j__gte=F("bounds__value")), 3)
        + both("a subquery", all_.filter(new__jaccard_gte=(Subquery(all_.filter(page=2).values("old")[:1]), 0.9)),
               all_.annotate(j=Jaccard("new", Subquery(all_.filter(page=2).values("old")[:1]))).filter(j__gte=0.9), 2)
        + both("two querysets combined", all_.filter(page=1) & all_.filter(new__jaccard_gte=(F("old"), 0.8)),
               all_.filter(page=1).annotate(j=Jaccard("new", "old")).filter(j__gte=0.8), 1)
        + both("in Case()",
               all_.annotate(same=Case(When(new__jaccard_gte=(F("old"), 0.8), then=Value(1)), default=Value(0))).filter(
                   same=1),
               all_.annotate(j=Jaccard("new", "old")).filter(j__gte=0.8), 2))
    grouped = all_.annotate(least=Min("bounds__value")).filter(new__jaccard_gte=(F("old"), F("least")))
    check("an aggregate stands in HAVING", " HAVING jaccard(" in str(grouped.query), grouped.query)
    import pickle

    query = all_.filter(new__jaccard_gte=(doc, 0.8))
    equal("a queryset is pickled", ids(all_.all().__class__(Revision, pickle.loads(pickle.dumps(query.query)))),
          ids(query))


def transactions(papers):
    """load() and refresh() are refused within atomic(), also before its first statement; report() leaves it as it
    is."""
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        cursor.execute("SELECT create_duplicates('paper_copies', 'papers_paper', 'id', 'body')")
    calls = (("load", lambda: neardup.load(connection, "pages", [{"id": "a", "text": DOC}], name="s")),
             ("refresh", lambda: neardup.refresh(connection, "paper_copies", progress=False)))
    for what, call in calls:
        def within():
            with transaction.atomic():
                call()
        raises("%s within atomic()" % what, neardup.NeardupError, within, "in a transaction", "neardup." + what)
        check("%s after it" % what, call() is not None)
    before = papers.Revision.objects.count()
    try:
        with transaction.atomic():
            neardup.report(connection, "paper_copies")
            papers.Revision.objects.create(page=9)
            neardup.report(connection, "paper_copies")
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    equal("report within atomic(), which is rolled back", papers.Revision.objects.count(), before)
    with connection.cursor() as cursor:
        cursor.execute(
            "SET client_min_messages = warning; SELECT drop_duplicates('paper_copies'); DROP TABLE pages, pages_files")


def constraint(papers):
    from django.core.exceptions import ValidationError
    from django.db import IntegrityError, transaction

    Paper = papers.Paper
    copy = Paper(body=DOC.upper(), **({} if HAS_GENERATED else {"sig": o.to_minhash(DOC)}))
    raises("full_clean() refuses a copy", ValidationError, copy.full_clean, "near copy")

    def save():
        with transaction.atomic():
            copy.save()
    raises("the database refuses a copy", IntegrityError, save, "paper_no_copies")
    copy.tenant = 2
    check("not that of another tenant", copy.full_clean() is None and copy.save() is None)
    check("nor the row itself", Paper.objects.get(pk=copy.pk).full_clean() is None)


def inspect():
    found = run("inspectdb", "papers_paper")
    check("inspectdb knows the fields",
          all(w in found for w in ("import neardup.django\n", "sig = neardup.django.MinhashField(",
                                   "num_perm=128, bits=32", "hash = neardup.django.SimHashField(",
                                   "digest = neardup.django.CtphField(")) and "guess" not in found,
          found)
    from django.db import connection
    from neardup.django.management.commands.inspectdb import TYPE_SQL

    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA trap")
        for right in ("oid", "regclass"):
            cursor.execute("CREATE FUNCTION trap.called_%s(oid, %s) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE "
                           "'an operator of others was called'; END $$" % (right, right))
            cursor.execute(
                "CREATE OPERATOR trap.= (LEFTARG = oid, RIGHTARG = %s, FUNCTION = trap.called_%s)" % (right, right))
        cursor.execute("CREATE FUNCTION trap.taken(bool) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE "
                       "'a type of others was taken'; END $$")
        for kind in ("text", "name", "oid", "regclass", '"char"', "int4", "bool"):
            cursor.execute("CREATE DOMAIN trap.%s AS pg_catalog.%s CHECK (trap.taken(VALUE IS NULL))" % (kind, kind))
        try:
            cursor.execute("SET search_path = trap, public, pg_catalog")
            cursor.execute(TYPE_SQL, ["papers_paper", "hash"])
            equal("inspectdb takes no operators and types of others", cursor.fetchall(), [("simhash", "simhash")])
        except django.db.Error as error:
            check("inspectdb takes no operators and types of others", False, error)
        cursor.execute("SET client_min_messages = warning; RESET search_path; DROP SCHEMA trap CASCADE")


def refusals(papers):
    from django.core.exceptions import ValidationError
    from neardup.django import LshIndex, MinhashField, NoCopiesConstraint, ToMinhash

    Paper = papers.Paper
    raises("num_perm out of range", ValueError, lambda: MinhashField(num_perm=5), "between 16 and 4096")
    raises("bits without num_perm", ValueError, lambda: MinhashField(bits=32), "num_perm")
    raises("a storage parameter NaN", TypeError, lambda: LshIndex(fields=["sig"], name="x", threshold=float("nan")),
           "threshold")
    for bad in (0, 1.5, float("nan"), True):
        raises("a threshold of %r" % bad, ValueError,
               lambda: NoCopiesConstraint(name="x", signature="sig", threshold=bad), "above 0 and at most 1")
    raises("a lookup without a bound", ValueError, lambda: Paper.objects.filter(sig__jaccard_gte="mh1"), "pair")
    raises("a bound that is NaN", ValueError,
           lambda: Paper.objects.filter(sig__jaccard_gte=(o.to_minhash(DOC), float("nan"))), "must be a number")
    raises("a document in a lookup", (ValueError, ValidationError),
           lambda: Paper.objects.filter(sig__jaccard_gte=(DOC, 0.8)), "to_minhash")
    raises("a document in a field", ValueError, lambda: Paper.objects.create(body="y", hash=DOC), "simhash")
    raises("None in a lookup", (ValueError, TypeError), lambda: Paper.objects.filter(sig__similar=5).count(), "minhash")
    raises("k that is no number", TypeError, lambda: ToMinhash("body", k=1.5), "k must be")
    raises("a unit with a quote", ValueError, lambda: ToMinhash("body", unit="word'"), "unit")


def main():
    with database(extension=False) as name:
        print("note: Django %s" % django.__version__)
        with configure(name) as folder:
            import papers.models as papers

            sections((migrations, folder), (rows, papers), (lookups_of_references, papers), (transactions, papers),
                     (constraint, papers), (inspect,), (refusals, papers))
        from django.db import connection

        connection.close()


finish(main)
