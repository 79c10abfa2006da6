"""SQLAlchemy 2: the types MINHASH, SIMHASH and CTPH with comparators, indexes `USING lsh`, the constraint against copies, reflection.

Importing this module teaches the PostgreSQL dialect to reflect the types. Without the import: `create_engine(url, plugins=["neardup"])`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

try:
    from sqlalchemy import Double, Float, Index, Integer, cast, event, func, literal_column
except ImportError as error:
    raise ImportError("neardup.sqlalchemy needs SQLAlchemy 2: pip install 'sqlalchemy>=2'") from error
from sqlalchemy.dialects.postgresql import TEXT, ExcludeConstraint
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.engine import URL, CreateEnginePlugin
from sqlalchemy.types import TypeEngine, UserDefinedType

from ._ctph import Ctph
from ._errors import NeardupError, shown, type_error
from ._minhash import MAX_NUM_PERM, MIN_NUM_PERM, WIDTHS, Minhash
from ._simhash import SimHash

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Dialect

__all__ = [
    "CTPH", "LSH_QUERY", "MINHASH", "SIMHASH", "lsh_index", "no_copies", "register", "to_ctph", "to_minhash", "to_simhash", "with_threshold",
]  # fmt: skip

T = TypeVar("T", Minhash, SimHash, Ctph)


class _ValueType(UserDefinedType[T], Generic[T]):
    """Values travel as their text forms, which every driver sends; a driver that is registered may return values already."""

    render_bind_cast = True  # drivers that type each parameter would send VARCHAR
    value_class: Callable[[Any], T]
    name: str

    def get_col_spec(self, **kw: Any) -> str:
        return self.name

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], str | None]:
        def process(value: Any) -> str | None:
            return None if value is None else str(self.value_class(value))

        return process

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        def process(value: Any) -> str:
            return f"CAST('{self.value_class(value)}' AS {self.get_col_spec()})"  # text forms have no quotes

        return process

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], T | None]:
        def process(value: Any) -> T | None:
            return None if value is None else self.value_class(value)

        return process

    def coerce_compared_value(self, op: Any, value: Any) -> TypeEngine[Any]:
        return self


class MINHASH(_ValueType[Minhash]):
    """The column type `minhash`, or `minhash(num_perm, bits)`, which accepts only such signatures."""

    cache_ok = True
    value_class = Minhash
    name = "MINHASH"

    def __init__(self, num_perm: int | None = None, bits: int | str | None = None) -> None:
        if num_perm is not None and not (isinstance(num_perm, int) and MIN_NUM_PERM <= num_perm <= MAX_NUM_PERM):
            raise ValueError(f"num_perm must be between {MIN_NUM_PERM} and {MAX_NUM_PERM}: {shown(num_perm)}")
        self.bits = None if bits is None else int(bits)  # reflection gives digits
        if self.bits is not None and (num_perm is None or self.bits not in WIDTHS):
            raise ValueError(f"bits must be 8, 16 or 32, and needs num_perm: {shown(bits)}")
        self.num_perm = num_perm

    def get_col_spec(self, **kw: Any) -> str:
        numbers = [str(number) for number in (self.num_perm, self.bits) if number is not None]
        return f"MINHASH({', '.join(numbers)})" if numbers else "MINHASH"

    class comparator_factory(UserDefinedType.Comparator[Minhash]):
        """The operators of a minhash column besides =."""

        def jaccard(self, other: Any) -> ColumnElement[float]:
            """jaccard(column, other): a condition on it, such as >= 0.8, is served by an lsh index."""
            return func.jaccard(self.expr, _signature(other, MINHASH()), type_=Double())

        def containment(self, other: Any) -> ColumnElement[float]:
            return func.containment(self.expr, _signature(other, MINHASH()), type_=Double())

        def jaccard_distance(self, other: Any) -> ColumnElement[float]:
            """column <%> other, for ORDER BY."""
            return self.expr.op("<%>", return_type=Float())(_signature(other, MINHASH()))

        def similar(self, other: Any) -> ColumnElement[bool]:
            """column % other: their jaccard is at least the setting neardup.jaccard_threshold."""
            return self.expr.bool_op("%")(_signature(other, MINHASH()))


class SIMHASH(_ValueType[SimHash]):
    """The column type `simhash`."""

    cache_ok = True
    value_class = SimHash
    name = "SIMHASH"

    class comparator_factory(UserDefinedType.Comparator[SimHash]):
        """The operators of a simhash column besides =."""

        def hamming(self, other: Any) -> ColumnElement[int]:
            """hamming(column, other): a condition on it, such as <= 3, is served by an lsh index."""
            return func.hamming(self.expr, _signature(other, SIMHASH()), type_=Integer())

        def hamming_distance(self, other: Any) -> ColumnElement[float]:
            """column <~> other, for ORDER BY."""
            return self.expr.op("<~>", return_type=Float())(_signature(other, SIMHASH()))

        def cosine(self, other: Any) -> ColumnElement[float]:
            return func.cosine(self.expr, _signature(other, SIMHASH()), type_=Double())


class CTPH(_ValueType[Ctph]):
    """The column type `ctph`."""

    cache_ok = True
    value_class = Ctph
    name = "CTPH"

    class comparator_factory(UserDefinedType.Comparator[Ctph]):
        """The operators of a ctph column besides =."""

        def ctph_score(self, other: Any) -> ColumnElement[int]:
            """ctph_score(column, other): a condition on it, such as >= 70, is served by an lsh index."""
            return func.ctph_score(self.expr, _signature(other, CTPH()), type_=Integer())

        def ctph_edit_rate(self, other: Any) -> ColumnElement[float]:
            return func.ctph_edit_rate(self.expr, _signature(other, CTPH()), type_=Double())


class LSH_QUERY(UserDefinedType[str]):
    """The column type `lsh_query`, as its text form."""

    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **kw: Any) -> str:
        return "LSH_QUERY"


def _signature(value: Any, type_: TypeEngine[Any]) -> Any:
    """An expression as it is; a value of Python as a parameter of the type."""
    if hasattr(value, "__clause_element__") or hasattr(value, "compile"):
        return value
    from sqlalchemy import bindparam

    return bindparam(None, value, type_=type_, unique=True)


def _document(document: Any) -> Any:
    """A parameter of type text for a str, so that to_minhash(bytea) is not meant."""
    return cast(document, TEXT) if isinstance(document, str) else document


def _arguments(**arguments: Any) -> list[Any]:
    """Arguments that are given, by name: the server has the defaults."""
    for name, value in arguments.items():
        if isinstance(value, str) and not value.isidentifier():
            raise ValueError(f"{name} must be a word: {shown(value)}")
        if value is not None and not isinstance(value, (str, int)):
            raise type_error(name, "a whole number or a word", value)
    texts = {name: f"'{value}'" if isinstance(value, str) else str(int(value)) for name, value in arguments.items() if value is not None}
    return [literal_column(f"{name} => {text}") for name, text in texts.items()]


def to_minhash(
    document: Any,
    *,
    k: int | None = None,
    unit: str | None = None,
    num_perm: int | None = None,
    bits: int | None = None,
    seed: int | None = None,
) -> ColumnElement[Minhash]:
    """to_minhash(document, ..): the signature of a text. The defaults are the server's."""
    arguments = _arguments(k=k, unit=unit, num_perm=num_perm, bits=bits, seed=seed)
    return func.to_minhash(_document(document), *arguments, type_=MINHASH())


def to_simhash(document: Any, *, k: int | None = None, unit: str | None = None) -> ColumnElement[SimHash]:
    return func.to_simhash(_document(document), *_arguments(k=k, unit=unit), type_=SIMHASH())


def to_ctph(document: Any) -> ColumnElement[Ctph]:
    return func.to_ctph(_document(document), type_=CTPH())


def _threshold(threshold: Any) -> Any:
    if isinstance(threshold, bool) or (isinstance(threshold, (int, float)) and not 0 < threshold <= 1):
        raise ValueError(f"threshold must be above 0 and at most 1: {shown(threshold)}")
    return literal_column(repr(threshold)) if isinstance(threshold, (int, float)) else threshold


def with_threshold(signature: Any, threshold: Any) -> ColumnElement[str]:
    """with_threshold(signature, threshold): what a constraint compares by &&."""
    return func.with_threshold(signature, _threshold(threshold), type_=LSH_QUERY())


def lsh_index(name: str | None, *expressions: Any, **storage: float) -> Index:
    """An index `USING lsh`. Further arguments are its storage parameters: lsh_index("docs_sig", Doc.sig, threshold=0.6)."""
    if not expressions:
        raise ValueError("an lsh index needs a column or an expression")
    for parameter, value in storage.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise type_error(f"the storage parameter {parameter}", "a number", value)
    options: dict[str, Any] = {"postgresql_with": {name: repr(value) for name, value in storage.items()}} if storage else {}
    return Index(name, *expressions, postgresql_using="lsh", **options)


def no_copies(
    signature: Any, threshold: Any = 0.8, *, within: Sequence[Any] = (), name: str | None = None, where: Any = None, **options: Any
) -> ExcludeConstraint:
    """A constraint that refuses a row whose similarity to another row is `threshold` or more (SQLSTATE 23P01).

    `signature` is a column or an expression such as to_minhash(column). With `within`, only rows with equal values in these columns
    are copies of each other. `options` go to ExcludeConstraint: deferrable, initially.
    """
    from sqlalchemy import column

    if isinstance(signature, str):
        signature = column(signature, MINHASH())
    elements = [(column(field) if isinstance(field, str) else field, "=") for field in within]
    elements.append((with_threshold(signature, threshold), "&&"))
    return ExcludeConstraint(*elements, using="lsh", name=name, where=where, **options)


REFLECTED: dict[str, type[TypeEngine[Any]]] = {"minhash": MINHASH, "simhash": SIMHASH, "ctph": CTPH, "lsh_query": LSH_QUERY}
PGDialect.ischema_names.update(REFLECTED)


def register(engine: Any) -> None:
    """Registers the types with the driver on each new connection of an engine, which arrays of them need.

    A connection to a database without the extension stays as it is: a migration may be about to create it.
    """
    sync = getattr(engine, "sync_engine", engine)

    @event.listens_for(sync, "connect")
    def connect(connection: Any, record: object) -> None:
        driver = sync.dialect.driver
        try:
            if driver == "psycopg2":
                from .psycopg2 import register as register_psycopg2

                register_psycopg2(connection)
            elif driver == "psycopg" and sync.dialect.is_async:
                from .psycopg import register_async

                connection.run_async(register_async)
            elif driver == "psycopg":
                from .psycopg import register as register_psycopg

                register_psycopg(connection)
            elif driver == "asyncpg":
                from .asyncpg import register as register_asyncpg

                connection.run_async(register_asyncpg)
        except NeardupError:
            pass


class NeardupPlugin(CreateEnginePlugin):
    """`create_engine(url, plugins=["neardup"])`: reflection knows the types, and so does the driver."""

    def update_url(self, url: URL) -> URL:
        return url

    def engine_created(self, engine: Any) -> None:
        register(engine)
