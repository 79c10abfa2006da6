"""Where documents come from: files and objects that yield batches, all as batches of records."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

from ._errors import shown

TEXT_COLUMNS = ("text", "body", "content")
ID_COLUMN = "id"
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".jsonl": "jsonl", ".ndjson": "jsonl"}
PACKINGS = (".gz", ".bz2", ".xz")
ROWS = 2048  # of a batch of records

BATCHES = "batches"  # the format of a source that is not a file
BAD_RECORD = "damaged records"


@dataclass(frozen=True)
class Columns:
    """The columns of a source by their use. None: the default, where the source has it."""

    text: str | None = None
    id: str | None = None
    attributes: Sequence[str] | None = None  # None: all further ones


@dataclass
class Record:
    """A document on its way: `text` is None where there is none, and `fault` is then a reason with its detail, if there is one."""

    text: bytes | None
    record_id: str | None = None
    attributes: Mapping[str, Any] | None = None
    size: int | None = None  # in its file; None: that of the text
    fault: tuple[str, str] | None = None


class Source(Protocol):
    """Records in a fixed order, numbered from 1."""

    name: str  # the path; records are stored as name#1, name#2, ..
    format: str
    is_file: bool

    def records(self, columns: Columns, skip: int) -> Iterator[list[Record]]:
        """All records but the first `skip`, some at a time."""


def import_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("neardup.load needs pyarrow for Parquet, Arrow and data frames: pip install 'neardup[load]'") from error
    return pyarrow


def text_column(names: Sequence[str], columns: Columns, source: str) -> str:
    """The column of the text, which must exist."""
    wanted = TEXT_COLUMNS if columns.text is None else (columns.text,)
    for name in wanted:
        if name in names:
            return name
    what = "column " + " or ".join(wanted)
    raise ValueError(f"{source} has no {what}; its columns are {', '.join(names)}. Choose one by text_column")


def _other_columns(names: Sequence[str], columns: Columns, text: str, id_: str | None, source: str) -> list[str]:
    if columns.attributes is None:
        return [name for name in names if name not in (text, id_)]
    missing = [name for name in columns.attributes if name not in names]
    if missing:
        raise ValueError(f"{source} has no column {missing[0]}; its columns are {', '.join(names)}")
    return list(columns.attributes)


def _id_column(names: Sequence[str], columns: Columns, source: str) -> str | None:
    if columns.id is not None and columns.id not in names:
        raise ValueError(f"{source} has no column {columns.id}; its columns are {', '.join(names)}. Choose one by id_column")
    return columns.id or (ID_COLUMN if ID_COLUMN in names else None)


class WrittenFloat(float):
    """A number of JSON that remembers how it was written: 12.50."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, written: str) -> WrittenFloat:
        self = super().__new__(cls, written)
        self.written = written
        return self


def written_text(value: Any) -> bytes | None:
    """A text that is a number, true or false as it is written; None where it is NULL, a list or an object."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")  # a surrogate is refused later, as bytes that are not UTF-8
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, WrittenFloat):
        return value.written.encode()
    if isinstance(value, (int, float)) and value == value:  # pandas writes a missing text as NaN
        return str(value).encode()
    return written_text(value.item()) if is_numpy_scalar(value) else None


def is_numpy_scalar(value: Any) -> bool:
    return hasattr(value, "item") and getattr(value, "ndim", None) == 0


def _written_id(value: Any) -> str | None:
    """An id as text: that of a text, of UUIDs, decimal numbers, times and durations as they are written; None where there is none."""
    if isinstance(value, (UUID, Decimal, date, time_of_day, timedelta)) and value == value:  # a datetime is a date; NaT is not itself
        return str(value)
    text = written_text(value)
    return None if text is None else text.decode("utf-8", "replace")


class ArrowSource:
    """Record batches of pyarrow."""

    format = BATCHES
    is_file = False

    def __init__(self, name: str, batches: Iterable[Any]) -> None:
        self.name = name
        self._batches = batches

    def batches(self, skip: int) -> tuple[int, Iterable[Any]]:
        """The number of the first `skip` rows that were left out at once, and the batches after these."""
        return 0, self._batches

    def records(self, columns: Columns, skip: int) -> Iterator[list[Record]]:
        left_out, batches = self.batches(skip)
        skip -= left_out
        for batch in batches:
            if skip >= batch.num_rows:
                skip -= batch.num_rows
                continue
            for at in range(skip, batch.num_rows, ROWS):
                yield list(_arrow_records(batch.slice(at, ROWS), columns, self.name))
            skip = 0


def _arrow_records(batch: Any, columns: Columns, source: str) -> Iterator[Record]:
    pa = import_pyarrow()
    names = batch.schema.names
    text = text_column(names, columns, source)
    id_ = _id_column(names, columns, source)
    others = _other_columns(names, columns, text, id_, source)
    column = batch.column(names.index(text))
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        texts = column.cast(pa.large_binary()).to_pylist()  # bytes as they are, not decoded and encoded again
    elif pa.types.is_temporal(column.type) or (pa.types.is_nested(column.type) and not pa.types.is_union(column.type)):
        texts = [None] * len(column)  # no texts, whether Python has the values or not
    else:
        texts = [written_text(value) for value in column.to_pylist()]
    ids = [_written_id(value) for value in _values(batch, id_, source, " ")] if id_ else [None] * len(texts)
    columns_of_others = [_values(batch, name, source, "T") for name in others]
    attributes = [dict(zip(others, row)) for row in zip(*columns_of_others)] if others else [None] * len(texts)
    for body, record_id, more in zip(texts, ids, attributes):
        yield Record(body, record_id, more)


def _values(batch: Any, name: str, source: str, separator: str) -> list[Any]:
    """A column as Python's values, as python_values() makes them; an error names the column."""
    from ._arrow_values import python_values  # needs pyarrow

    try:
        return python_values(batch.column(batch.schema.names.index(name)), separator)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"column {name} of {source} cannot be read: {error}") from None


class ParquetSource(ArrowSource):
    """A file of Parquet; row groups that were loaded are not read."""

    format = "parquet"
    is_file = True

    def __init__(self, path: str) -> None:
        super().__init__(path, ())

    def batches(self, skip: int) -> tuple[int, Iterable[Any]]:
        import_pyarrow()
        from pyarrow.parquet import ParquetFile

        file = ParquetFile(self.name, memory_map=True)
        first = left_out = 0
        while first < file.num_row_groups and left_out + file.metadata.row_group(first).num_rows <= skip:
            left_out += file.metadata.row_group(first).num_rows
            first += 1
        return left_out, file.iter_batches(batch_size=ROWS, row_groups=range(first, file.num_row_groups))


class ArrowFileSource(ArrowSource):
    """A file of Arrow's IPC, as a file or as a stream."""

    format = "arrow"
    is_file = True

    def __init__(self, path: str) -> None:
        super().__init__(path, ())

    def batches(self, skip: int) -> tuple[int, Iterable[Any]]:
        pa = import_pyarrow()
        file = pa.memory_map(self.name)
        try:
            reader = pa.ipc.open_file(file)
            return 0, (reader.get_batch(number) for number in range(reader.num_record_batches))
        except pa.ArrowInvalid:
            file.seek(0)
            return 0, pa.ipc.open_stream(file)


class JsonlSource:
    """Lines of JSON, also packed. A line that is not an object is a damaged record."""

    format = "jsonl"
    is_file = True

    def __init__(self, path: str) -> None:
        self.name = path

    def _open(self) -> Any:
        import bz2
        import gzip
        import lzma

        opener: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(os.path.splitext(self.name)[1].lower(), open)
        return opener(self.name, "rb")

    def records(self, columns: Columns, skip: int) -> Iterator[list[Record]]:
        found: list[Record] = []
        with self._open() as lines:
            for number, line in enumerate(lines):
                size = len(line)
                if number == 0:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if not line.strip():
                    continue
                if skip > 0:
                    skip -= 1
                    continue
                found.append(self._record(line, size, columns))
                if len(found) == ROWS:
                    yield found
                    found = []
        yield found

    def _record(self, line: bytes, size: int, columns: Columns) -> Record:
        try:
            fields = json.loads(line.decode("utf-8"), parse_float=WrittenFloat)
        except UnicodeDecodeError:
            return Record(None, fault=("not valid UTF-8", ""))
        except (ValueError, RecursionError) as error:
            return Record(None, fault=(BAD_RECORD, str(error)))
        if not isinstance(fields, dict):
            return Record(None, fault=(BAD_RECORD, f"not an object: {shown(fields)}"))
        return mapping_record(fields, columns, size)


def mapping_record(fields: Mapping[str, Any], columns: Columns, size: int | None = None) -> Record:
    """A record of its fields by name, each of which may have its own."""
    wanted = TEXT_COLUMNS if columns.text is None else (columns.text,)
    text = next((name for name in wanted if name in fields), None)
    if text is None:
        return Record(None, fault=("without a text column", f"the fields are {', '.join(map(str, fields))}"))
    id_ = columns.id or ID_COLUMN
    names = [name for name in fields if name not in (text, id_)] if columns.attributes is None else columns.attributes
    others = {name: fields[name] for name in names if name in fields}
    return Record(written_text(fields[text]), _written_id(fields.get(id_)), others or None, size)


class IterableSource:
    """Whatever yields batches: record batches and tables, data frames, dicts of columns, dicts of one record."""

    format = BATCHES
    is_file = False

    def __init__(self, name: str, items: Iterable[Any]) -> None:
        self.name = name
        self._items = items

    def records(self, columns: Columns, skip: int) -> Iterator[list[Record]]:
        single: list[Record] = []
        for item in self._items:
            many = self._many(item, columns)
            if many is None:
                single.append(mapping_record(item, columns))
                if len(single) < ROWS:
                    continue
                many, single = iter([single]), []
            elif single:
                raise TypeError("a source must yield either batches or single records, not both")
            for records in many:
                skip, kept = max(0, skip - len(records)), records[skip:]
                yield kept
        yield single[skip:]

    def _many(self, item: Any, columns: Columns) -> Iterator[list[Record]] | None:
        """The records of a batch; None for a dict that is one record."""
        if isinstance(item, Mapping):
            values = list(item.values())
            if values and all(_is_column(value) for value in values):  # as data sets yield them
                if len({len(value) for value in values}) > 1:
                    raise ValueError("the columns of a batch must have the same length: " + ", ".join(f"{k} {len(v)}" for k, v in item.items()))
                rows = [dict(zip(item, row)) for row in zip(*values)]
                return iter([[mapping_record(row, columns) for row in rows]])
            return None
        source = arrow_source(self.name, item)
        if source is None:
            raise TypeError(f"a source must yield batches or dicts, not {type(item).__name__}: {shown(item)}")
        return source.records(columns, 0)


def _is_column(value: Any) -> bool:
    """A list, or what a data set or data frame has in its place: an array of NumPy, a series."""
    return isinstance(value, (list, tuple)) or (hasattr(value, "__len__") and getattr(value, "ndim", 0) >= 1)


def arrow_source(name: str, value: Any) -> ArrowSource | None:
    """The source of a table, a record batch, a reader, a data frame or a data set of Arrow; None for anything else."""
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    if kind.startswith("pyarrow."):
        pa = import_pyarrow()
        if isinstance(value, pa.RecordBatch):
            return ArrowSource(name, [value])
        if isinstance(value, pa.RecordBatchReader):
            return ArrowSource(name, value)
        if hasattr(value, "to_batches"):  # a table or a data set
            return ArrowSource(name, value.to_batches())
    if kind == "pandas.DataFrame":
        pa = import_pyarrow()
        return ArrowSource(name, pa.Table.from_pandas(value, preserve_index=False).to_batches())
    if hasattr(value, "__arrow_c_stream__"):  # polars, DuckDB and others
        return ArrowSource(name, import_pyarrow().RecordBatchReader.from_stream(value))
    return None


def _path(source: str | os.PathLike[Any]) -> str:
    """The path of a file; the table has it as text."""
    path = os.fsdecode(os.fspath(source))
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ValueError(f"the name of a file must be valid UTF-8: {shown(path)}") from None
    return path


def _file_source(path: str, format: str) -> Source:
    if format == "auto":
        stem, ending = os.path.splitext(path.lower())
        if ending in PACKINGS:
            ending = os.path.splitext(stem)[1]
        format = FORMATS.get(ending, "")
    makers: dict[str, Any] = {"parquet": ParquetSource, "arrow": ArrowFileSource, "jsonl": JsonlSource}
    if format not in makers:
        raise ValueError(
            f"the format of {path} is not known: name it by format, one of {', '.join(makers)}. "
            "Text files, CSV, mailboxes and WARC are loaded by the program: neardup load"
        )
    source: Source = makers[format](os.path.abspath(path))
    return source


def make_sources(source: Any, format: str, name: str | None) -> list[Source]:
    """One source for each file, or the one that is not a file, which needs a name."""
    if isinstance(source, (str, os.PathLike)):
        return [_file_source(_path(source), format)]
    if isinstance(source, (list, tuple)) and all(isinstance(path, (str, os.PathLike)) for path in source) and (source or not name):
        return [_file_source(_path(path), format) for path in source]
    if isinstance(source, bytes) or not (hasattr(source, "__iter__") or hasattr(source, "__arrow_c_stream__") or hasattr(source, "to_batches")):
        raise TypeError(f"source must be a path, paths, a table, a data frame or an iterable of batches, not {type(source).__name__}: {shown(source)}")
    if not name:
        raise TypeError("a source without a path needs a name: its records are stored as name#1, name#2, ..")
    found: Source | None = arrow_source(name, source)
    if found is None and hasattr(source, "iter") and hasattr(source, "features"):  # a data set of Hugging Face
        found = IterableSource(name, source.iter(batch_size=ROWS))
    return [found or IterableSource(name, source)]
