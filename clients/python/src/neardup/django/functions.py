"""Database functions: signatures of documents, and measures of two signatures."""

from __future__ import annotations

from typing import Any

from django.db.models import Field, FloatField, Func, IntegerField, TextField, Value

from .._ctph import Ctph
from .._errors import shown, type_error
from .._minhash import Minhash
from .._simhash import SimHash
from .fields import CtphField, MinhashField, SimHashField

FIELDS: dict[type, type[Field]] = {Minhash: MinhashField, SimHash: SimHashField, Ctph: CtphField}


class LshQueryField(Field):  # type: ignore[misc]
    """The type of with_threshold()."""

    def db_type(self, connection: Any) -> str:
        return "lsh_query"


def _expression(value: Any) -> Any:
    """A value of this package as a parameter of its type. A str is the name of a field, as everywhere in Django."""
    field = FIELDS.get(type(value))
    return value if field is None else Value(value, output_field=field())


class _Document(Func):  # type: ignore[misc]
    """to_minhash(document, k => 5, unit => 'char'): arguments that are given go by name; the server has the defaults."""

    numbers: tuple[str, ...] = ()

    def __init__(self, document: Any, **options: Any) -> None:
        own = {name: options.pop(name) for name in (*self.numbers, "unit") if name in options}
        own = {name: value for name, value in own.items() if value is not None}
        for name, value in own.items():
            if name == "unit" and not (isinstance(value, str) and value.isidentifier()):
                raise ValueError(f"unit must be 'word', 'char', 'line', 'paragraph' or 'code': {shown(value)}")
            if name != "unit" and (isinstance(value, bool) or not isinstance(value, int)):
                raise type_error(name, "a whole number", value)
        texts = [f"{name} => '{value}'" if name == "unit" else f"{name} => {value}" for name, value in own.items()]
        template = "%(function)s(" + ", ".join(["%(expressions)s", *texts]) + ")"
        if isinstance(document, Value) and isinstance(document.value, str):
            document = Value(document.value, output_field=TextField())
        super().__init__(document, **{"template": template, **options} if texts else options)

    def as_sql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        sources = self.get_source_expressions()
        if isinstance(sources[0], Value):  # a parameter without a type could be text or bytea
            kind = "bytea" if isinstance(sources[0].value, (bytes, memoryview)) else "text"
            context.setdefault("template", self.extra.get("template", self.template).replace("%(expressions)s", f"%(expressions)s::{kind}", 1))
        return super().as_sql(compiler, connection, **context)


class ToMinhash(_Document):
    """to_minhash(document, k, unit, num_perm, bits, seed): the signature of a text."""

    function = "to_minhash"
    numbers = ("k", "num_perm", "bits", "seed")
    output_field = MinhashField()


class ToSimHash(_Document):
    """to_simhash(document, k, unit)"""

    function = "to_simhash"
    numbers = ("k",)
    output_field = SimHashField()


class ToCtph(_Document):
    """to_ctph(document)"""

    function = "to_ctph"
    output_field = CtphField()


class _Measure(Func):  # type: ignore[misc]
    arity = 2
    output_field: Field = FloatField()

    def __init__(self, a: Any, b: Any, **extra: Any) -> None:
        super().__init__(_expression(a), _expression(b), **extra)


class Jaccard(_Measure):
    """jaccard(a, b). A condition on it, such as >= 0.8, is served by an lsh index."""

    function = "jaccard"


class JaccardDistance(_Measure):
    """a <%> b, for order_by()."""

    template = "(%(expressions)s)"
    arg_joiner = " <%%> "


class Containment(_Measure):
    function = "containment"


class Hamming(_Measure):
    """hamming(a, b) of simhashes"""

    function = "hamming"
    output_field = IntegerField()


class Cosine(_Measure):
    function = "cosine"


class CtphScore(_Measure):
    """ctph_score(a, b), from 0 to 100"""

    function = "ctph_score"
    output_field = IntegerField()


class CtphEditRate(_Measure):
    function = "ctph_edit_rate"


class WithThreshold(Func):  # type: ignore[misc]
    """with_threshold(signature, threshold): what a constraint compares by &&."""

    function = "with_threshold"
    arity = 2
    output_field = LshQueryField()

    def __init__(self, signature: Any, threshold: Any, **extra: Any) -> None:
        if isinstance(threshold, (int, float)):
            if isinstance(threshold, bool) or not 0 < threshold <= 1:
                raise ValueError(f"threshold must be above 0 and at most 1: {shown(threshold)}")
            threshold = Value(float(threshold), output_field=FloatField())
        super().__init__(_expression(signature), threshold, **extra)
