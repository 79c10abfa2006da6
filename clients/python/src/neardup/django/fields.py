"""Model fields of the types minhash, simhash and ctph, and their lookups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Field, Func, Lookup
from django.db.models.expressions import Value

from .._ctph import Ctph
from .._errors import shown
from .._minhash import MAX_NUM_PERM, MIN_NUM_PERM, WIDTHS, Minhash
from .._simhash import SimHash


class _ValueField(Field):  # type: ignore[misc]
    """Values travel as their text forms with a cast, which is the same for psycopg 3 and 2."""

    value_class: Callable[[Any], Any]
    type_name: str
    empty_strings_allowed = False

    def db_type(self, connection: Any) -> str:
        return self.type_name

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else self.value_class(value)

    def to_python(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self.value_class(value)
        except (TypeError, ValueError) as error:
            raise ValidationError(str(error), code="invalid") from error

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return value if value is None or hasattr(value, "resolve_expression") else str(self.value_class(value))

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        return "%s" if hasattr(value, "resolve_expression") else f"%s::{self.type_name}"

    def value_to_string(self, obj: Any) -> str:
        value = self.value_from_object(obj)
        return "" if value is None else str(value)

    def formfield(self, **kwargs: Any) -> None:
        return None  # signatures are computed, not typed


class MinhashField(_ValueField):
    """A column of type minhash, or minhash(num_perm, bits), which accepts only such signatures."""

    description = "MinHash signature"
    value_class = Minhash
    type_name = "minhash"

    def __init__(self, *args: Any, num_perm: int | None = None, bits: int | None = None, **kwargs: Any) -> None:
        if num_perm is not None and not (isinstance(num_perm, int) and MIN_NUM_PERM <= num_perm <= MAX_NUM_PERM):
            raise ValueError(f"num_perm must be between {MIN_NUM_PERM} and {MAX_NUM_PERM}: {shown(num_perm)}")
        if bits is not None and (num_perm is None or bits not in WIDTHS):
            raise ValueError(f"bits must be 8, 16 or 32, and needs num_perm: {shown(bits)}")
        self.num_perm, self.bits = num_perm, bits
        super().__init__(*args, **kwargs)

    def db_type(self, connection: Any) -> str:
        numbers = [str(number) for number in (self.num_perm, self.bits) if number is not None]
        return f"minhash({', '.join(numbers)})" if numbers else "minhash"

    def cast_db_type(self, connection: Any) -> str:
        return self.type_name

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        for option in ("num_perm", "bits"):
            if getattr(self, option) is not None:
                kwargs[option] = getattr(self, option)
        return name, path, args, kwargs


class SimHashField(_ValueField):
    """A column of type simhash."""

    description = "SimHash"
    value_class = SimHash
    type_name = "simhash"


class CtphField(_ValueField):
    """A column of type ctph."""

    description = "fuzzy digest (ctph)"
    value_class = Ctph
    type_name = "ctph"


class _Pair(Func):  # type: ignore[misc]
    """A value and a bound as the one expression on the right of a lookup, so that Django finds both wherever it resolves or renames references."""

    arity = 2
    output_field = Field()

    def get_group_by_cols(self) -> list[Any]:
        return [column for source in self.get_source_expressions() for column in source.get_group_by_cols()]


class _BoundedLookup(Lookup):  # type: ignore[misc]
    """A lookup of a pair, as in sig__jaccard_gte=(signature, 0.8), of values or expressions. The condition is one that an lsh index serves."""

    function: str
    comparison: str

    def __init__(self, lhs: Any, rhs: Any) -> None:
        super().__init__(lhs, rhs if isinstance(rhs, _Pair) else self._pair(lhs, rhs))

    def _pair(self, lhs: Any, rhs: Any) -> _Pair:
        if not isinstance(rhs, (list, tuple)) or len(rhs) != 2:
            raise ValueError(f"{self.lookup_name} takes a pair, (value, bound): {shown(rhs)}")
        other, bound = rhs
        if isinstance(bound, bool) or (not isinstance(bound, (int, float)) and not hasattr(bound, "resolve_expression")) or bound != bound:
            raise ValueError(f"the bound of {self.lookup_name} must be a number: {shown(bound)}")
        if not hasattr(other, "resolve_expression"):
            other = Value(lhs.output_field.to_python(other), output_field=lhs.output_field)
        return _Pair(other, bound if hasattr(bound, "resolve_expression") else Value(bound))

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        lhs, lhs_params = self.process_lhs(compiler, connection)
        (other, other_params), (bound, bound_params) = (compiler.compile(source) for source in self.rhs.get_source_expressions())
        return f"{self.function}({lhs}, {other}) {self.comparison} {bound}", (*lhs_params, *other_params, *bound_params)


def _lookup(field: type[Field], function: str, suffix: str) -> None:
    comparison = {"gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}[suffix]
    name = f"{function}_{suffix}"
    lookup = type(name, (_BoundedLookup,), {"lookup_name": name, "function": function, "comparison": comparison, "__module__": __name__})
    globals()[name] = field.register_lookup(lookup)  # where pickle finds the class of a query's lookup


for _suffix in ("gte", "gt"):
    _lookup(MinhashField, "jaccard", _suffix)
    _lookup(MinhashField, "containment", _suffix)
    _lookup(CtphField, "ctph_score", _suffix)
for _suffix in ("lte", "lt"):
    _lookup(SimHashField, "hamming", _suffix)
    _lookup(CtphField, "ctph_edit_rate", _suffix)


@MinhashField.register_lookup
class Similar(Lookup):  # type: ignore[misc]
    """sig__similar=signature: their jaccard is at least the setting neardup.jaccard_threshold."""

    lookup_name = "similar"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        lhs, lhs_params = self.process_lhs(compiler, connection)
        rhs, rhs_params = self.process_rhs(compiler, connection)
        return f"{lhs} %% {rhs}", (*lhs_params, *rhs_params)
