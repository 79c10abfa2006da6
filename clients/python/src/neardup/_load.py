"""neardup.load(): documents of files and data frames into a table, by binary COPY. `neardup load` of the command line reads other files."""

from __future__ import annotations

import json
import os
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from typing import Any, Final, TypeVar

from ._errors import shown, type_error
from ._load_result import LoadResult, Stored
from ._load_table import COLUMNS, IN_PROGRESS, RECORD_COLUMNS, STAGE_COLUMNS, FileState, LoadTable
from ._refresh import progress_bar
from ._session import Session, own_transactions, make_session, transaction, utf8
from ._sources import Columns, Record, Source, is_numpy_scalar, make_sources

BATCH: Final = 20000  # records that are committed together
BATCH_BYTES: Final = 32 << 20
MAX_SIZE: Final = 256 << 20
LARGEST: Final = 1000 << 20
BLOCK: Final = 1 << 20
EPOCH: Final = 946684800  # 2000-01-01, from which PostgreSQL counts
COPY_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_TRAILER: Final = b"\xff\xff"
NULL: Final = b"\xff\xff\xff\xff"
FIELDS: Final = struct.Struct(">iqiqiqi")  # size, mtime, content_hash, each after its length, and the length of body
START: Final = struct.Struct(">hi")
LENGTH: Final = struct.Struct(">i")
UNITS: Final = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
COLUMNS_SQL: Final = ", ".join((*COLUMNS, *RECORD_COLUMNS))
DATA_ERRORS: Final = ("22", "23", "54", "P0")  # classes in which the server objects to a row
NO_NOTE: Final = ("22", "54")  # a character that the encoding of the database lacks, an entry that is too long for an index
CONFLICTS: Final = "40"  # class of deadlocks and serialization failures
PAUSES: Final = (0.05, 0.2, 0.8, 2.0)  # seconds before a transaction is made again
T = TypeVar("T")


@dataclass
class _Row:
    number: int
    path: str
    data: bytes
    text_bytes: int


class _Encoder:
    """Records as rows of binary COPY; those that cannot be stored are counted and left out."""

    def __init__(self, source: Source, mtime: int, max_size: int, result: LoadResult) -> None:
        try:
            from xxhash import xxh3_64_intdigest
        except ImportError as error:
            raise ImportError("neardup.load needs xxhash: pip install 'neardup[load]'") from error
        self.hash: Callable[[bytes], int] = xxh3_64_intdigest
        self.prefix = source.name + "#"
        self.mtime = mtime
        self.max_size = max_size
        self.result = result
        self.identities: set[int] = set()

    def add_ids(self, ids: Iterable[str]) -> None:
        self.identities.update(self.hash(id_.encode("utf-8", "surrogatepass")) for id_ in ids)

    def row(self, number: int, record: Record) -> _Row | None:
        path = f"{self.prefix}{number}"
        fault = record.fault or self._fault(record)
        if fault is not None:
            self.result.skip(fault[0], path, fault[1])
            return None
        body = record.text or b""
        hash_ = self.hash(body)
        name = path.encode()
        size = len(body) if record.size is None else record.size
        fields = FIELDS.pack(8, size, 8, self.mtime, 8, hash_ - (1 << 64) if hash_ >> 63 else hash_, len(body))
        # The broken characters of an id that is not valid UTF-8 have been replaced before.
        record_id = NULL if not record.record_id else _field(record.record_id.encode("utf-8", "replace"))
        attributes = NULL if not record.attributes else _field(b"\x01" + _json(record.attributes))
        data = b"".join((START.pack(8, len(name)), name, fields, body, record_id, NULL, attributes))
        return _Row(number, path, data, len(body))

    def _fault(self, record: Record) -> tuple[str, str] | None:
        """Reason and detail; the words of the program."""
        body = record.text
        if not body:
            return "without a text", ""
        if len(body) > self.max_size:
            return "too large", f"{len(body)} bytes"
        if b"\0" in body:
            return "holding NUL (binary)", ""
        if not body.isascii():
            try:
                body.decode()
            except UnicodeDecodeError as error:
                return "not valid UTF-8", f"at byte {error.start}"
        if record.record_id:
            identity = self.hash(record.record_id.encode("utf-8", "replace"))
            if identity in self.identities:
                return "records with the id of an earlier one", record.record_id
            self.identities.add(identity)
        return None


def _field(data: bytes) -> bytes:
    return LENGTH.pack(len(data)) + data


def _plain(value: Any) -> Any:
    """A value that JSON can hold: NaN and infinities become null, times their ISO form, other bytes than UTF-8 U+FFFD."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if type(value).__name__ in ("NaTType", "NAType"):  # of pandas
        return None
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(_plain(str(key))): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (datetime, date, time_of_day)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if is_numpy_scalar(value):
        return _plain(value.item())
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)  # arrays and series as lists


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def _json(attributes: Any) -> bytes:
    try:
        return _ENCODER.encode(attributes).encode()
    except (TypeError, ValueError):  # NaN, a surrogate, keys of other types
        return _ENCODER.encode(_plain(dict(attributes))).encode()


def _copy_blocks(rows: Sequence[_Row]) -> Iterator[bytes]:
    parts, size = [COPY_HEADER], 0
    for row in rows:
        parts.append(row.data)
        size += len(row.data)
        if size >= BLOCK:
            yield b"".join(parts)
            parts, size = [], 0
    parts.append(COPY_TRAILER)
    yield b"".join(parts)


def _repeated(session: Session, call: Callable[[], T]) -> T:
    """A transaction that meets others, a deadlock or a serialization failure, is made again."""
    for pause in PAUSES:
        try:
            return call()
        except Exception as error:
            if session.is_closed() or not (session.sqlstate(error) or "").startswith(CONFLICTS):
                raise
        time.sleep(pause)
    return call()


class _Sender:
    """Rows into the table, one transaction a batch, each with a note of how far the source was read."""

    def __init__(self, session: Session, table: LoadTable, result: LoadResult, note: Callable[[int], None], last: int) -> None:
        self.session, self.table, self.result, self.note = session, table, result, note
        self.last = last  # number of the last record that was stored

    def send(self, rows: Sequence[_Row], fresh: bool) -> None:
        """`fresh`: no row is there yet, most likely. Where the server refuses the data of a row: halves, until the row is found."""
        try:
            stored = _repeated(self.session, lambda: self._once(rows, fresh))
        except Exception as error:
            state = self.session.sqlstate(error) or ""
            if self.session.is_closed() or not state.startswith(DATA_ERRORS):
                raise
            if fresh and state == "23505":
                self.send(rows, False)
            elif len(rows) == 1:
                self.result.skip("refused by the server", rows[0].path, str(error).splitlines()[0])
            else:
                self.send(rows[: len(rows) // 2], False)
                self.send(rows[len(rows) // 2 :], False)
            return
        self.last = rows[-1].number
        self.result.add(stored)

    def _once(self, rows: Sequence[_Row], fresh: bool) -> Stored:
        with transaction(self.session):
            stored = self._copy(rows) if fresh else self._merge(rows)
            if stored.left_out == 0:  # else the next load tries these again
                self.note(rows[-1].number)
        return stored

    def _copy(self, rows: Sequence[_Row]) -> Stored:
        new = self.session.copy(f"COPY {self.table.name} ({COLUMNS_SQL}) FROM STDIN (FORMAT binary)", _copy_blocks(rows))
        return Stored(new=new, left_out=len(rows) - new, bytes=sum(row.text_bytes for row in rows))

    def _merge(self, rows: Sequence[_Row]) -> Stored:
        """Through a temporary table: new rows are added, changed ones replaced with the same id, equal ones stay as they are."""
        of_files = self._paths_of_files(rows)
        rows = [row for row in rows if row.path not in of_files]
        stage, table = "pg_temp." + self.table.stage, self.table.name
        self.session.query(f"CREATE TEMP TABLE {self.table.stage} ({STAGE_COLUMNS}) ON COMMIT DROP")
        self.session.copy(f"COPY {stage} ({COLUMNS_SQL}) FROM STDIN (FORMAT binary)", _copy_blocks(rows))
        columns = COLUMNS_SQL.split(", ")
        # The last SELECT sees the table as it was before.
        ((wanted, new, changed, size),) = self.session.query(
            f"WITH wanted AS MATERIALIZED (SELECT {COLUMNS_SQL} FROM {stage} s"
            f" WHERE NOT EXISTS (SELECT FROM {table} e WHERE e.path OPERATOR(pg_catalog.=) s.path AND e.content_hash OPERATOR(pg_catalog.=) s.content_hash"
            " AND e.size OPERATOR(pg_catalog.=) s.size AND EXISTS (SELECT e.record_id, e.attributes INTERSECT SELECT s.record_id, s.attributes))),"
            f" written AS (INSERT INTO {table} AS t ({COLUMNS_SQL}) SELECT {COLUMNS_SQL} FROM wanted"
            f" ON CONFLICT (path) DO UPDATE SET {', '.join(f'{name} = EXCLUDED.{name}' for name in columns[1:])}"
            " RETURNING t.path, pg_catalog.octet_length(t.body) AS size),"
            f" known AS (SELECT w.size, EXISTS (SELECT FROM {table} e WHERE e.path OPERATOR(pg_catalog.=) w.path) AS known FROM written w)"
            " SELECT (SELECT pg_catalog.count(*) FROM wanted), pg_catalog.count(*) FILTER (WHERE NOT known), pg_catalog.count(*) FILTER (WHERE known),"
            " COALESCE(pg_catalog.sum(size), 0)::pg_catalog.int8 FROM known"
        )
        return Stored(new, changed, len(rows) - wanted, wanted - new - changed, size, sorted(of_files))

    def _paths_of_files(self, rows: Sequence[_Row]) -> set[str]:
        """The records n of X where the table has the row of a file X#n, loaded by the program: these are not replaced.

        What cannot be told apart is the row of a record without id and attributes where a file X#n has its size and time, such as a copy of an X of
        one line. It is taken for that of the file.
        """
        if not os.path.isabs(rows[0].path):  # those of files are absolute
            return set()
        states = self.table.states_of_texts([row.path for row in rows])
        return {path for path, state in states.items() if state == _state_of_file(path)}


def _ahead(items: Iterator[T]) -> Iterator[T]:
    """The items, the next of them made in another thread while one is used."""
    end = object()
    with ThreadPoolExecutor(1, "neardup.load") as pool:
        following = pool.submit(next, items, end)
        while True:
            item = following.result()
            if item is end:
                return
            following = pool.submit(next, items, end)
            yield item  # type: ignore[misc]


@dataclass(frozen=True)
class _Options:
    columns: Columns
    batch: int
    max_size: int

    def text(self, format: str) -> str:
        """As TABLE_files keeps them: those of the program, in its form."""
        text = format
        for name, value in (("text", self.columns.text), ("id", self.columns.id)):
            if value:
                text += f" {name}={value}"
        if self.columns.attributes is not None:
            text += f" attributes={','.join(self.columns.attributes)}"
        if self.max_size != MAX_SIZE:
            text += f" max_size={self.max_size}"
        return text


class _Loader:
    """One source after the other."""

    def __init__(self, session: Session, table: LoadTable, options: _Options, advance: Callable[[int, int], None]) -> None:
        self.session, self.table, self.options, self.advance = session, table, options, advance
        self.result = LoadResult()

    def load(self, source: Source) -> None:
        size, mtime = _stat(source)
        options = self.options.text(source.format)
        noted = self.table.file_state(source.name)
        state = noted if noted is not None and noted.has_last else None
        if state is not None and source.is_file and (state.size, state.mtime, state.options) == (size, mtime, options):
            self.result.unchanged += state.records
            return
        skip, can_note = 0, True
        if state is not None and state.size == IN_PROGRESS and state.options == options and (state.mtime == mtime or not source.is_file):
            skip, mtime = state.records, state.mtime  # a load that was interrupted goes on
        else:
            can_note = self._begin_notes(source, noted, FileState(IN_PROGRESS, mtime, 0, options))
        encoder = _Encoder(source, mtime, self.options.max_size, self.result)
        if skip:
            encoder.add_ids(self.table.ids_before(source.name, skip))
        fresh = not self.table.has(f"{source.name}#{skip + 1}") and (skip > 0 or state is None)
        before = self._refused()

        def note(records: int) -> None:
            if can_note and self._refused() == before:  # else the next load tries these again
                self.table.note(source.name, FileState(IN_PROGRESS, mtime, records, options))

        sender = _Sender(self.session, self.table, self.result, note, skip)
        for rows, read in _ahead(self._batches(source, encoder, skip)):
            if rows:
                sender.send(rows, fresh)
            self.advance(read, sum(row.text_bytes for row in rows))
        if not source.is_file:
            self._forget(source)
        elif _stat(source) == (size, mtime) and self._refused() == before:
            if can_note:
                self._note(source, FileState(size, mtime, sender.last, options))
            else:
                self.result.unnoted += 1

    def _begin_notes(self, source: Source, noted: FileState | None, first: FileState) -> bool:
        """True if TABLE_files can hold the notes of this load, asked before the batches: in these the error would be taken for that of a row.

        What it has `noted` is replaced or forgotten: it is not true of the rows to come, and would be believed again when the record that it names
        last is stored.
        """
        try:
            _repeated(self.session, lambda: self._try_note(source, first))
        except Exception as error:
            if self.session.is_closed() or not (self.session.sqlstate(error) or "").startswith(NO_NOTE):
                raise
            if noted is not None:
                self._forget(source)
            return False
        if noted is not None:
            self._note(source, first)
        return True

    def _try_note(self, source: Source, state: FileState) -> None:
        """Leaves nothing: where there was no note, a load that stores no row makes none."""
        self.session.query("BEGIN")
        try:
            self.table.note(source.name, state)
        finally:
            if not self.session.is_closed():
                self.session.rollback()

    def _note(self, source: Source, state: FileState) -> None:
        """Commits in a transaction of its own."""
        _repeated(self.session, lambda: self.table.note(source.name, state))

    def _forget(self, source: Source) -> None:
        _repeated(self.session, lambda: self.table.forget(source.name))

    def _refused(self) -> int:
        """Records that another load may take, though the source is the same."""
        return self.result.skipped["refused by the server"] + self.result.skipped["left out by a trigger"]

    def _batches(self, source: Source, encoder: _Encoder, skip: int) -> Iterator[tuple[list[_Row], int]]:
        """Rows that are committed together, and how many records were read for them."""
        rows: list[_Row] = []
        size = read = 0
        number = skip
        for records in source.records(self.options.columns, skip):
            for record in records:
                number += 1
                read += 1
                row = encoder.row(number, record)
                if row is not None:
                    rows.append(row)
                    size += len(row.data)
                if len(rows) >= self.options.batch or size >= BATCH_BYTES:
                    yield rows, read
                    rows, size, read = [], 0, 0
        if read:
            yield rows, read


def _stat(source: Source) -> tuple[int, int]:
    """Size, and modification time in microseconds since 2000; of what is not a file, 0 and now."""
    if not source.is_file:
        return 0, int((time.time() - EPOCH) * 1_000_000)
    return _size_and_time(os.stat(source.name))


def _size_and_time(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns // 1000 - EPOCH * 1_000_000


def _state_of_file(path: str) -> tuple[int, int] | None:
    """Size and modification time; None where the path is not that of a file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return _size_and_time(status) if stat.S_ISREG(status.st_mode) else None


def _parse_size(value: int | str) -> int:
    """A size such as 1000000 or '256M'."""
    text = str(value)
    number, unit = (text[:-1], UNITS[text[-1]]) if text and text[-1] in UNITS else (text, 1)
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not number.isdecimal() or not 1 <= int(number) * unit <= LARGEST:
        raise ValueError(f"max_size must be a number of bytes from 1 to 1000M, such as '256M': {shown(value)}")
    return int(number) * unit


def _options(text_column: Any, id_column: Any, attributes: Any, batch: Any, max_size: Any) -> _Options:
    for name, value in (("text_column", text_column), ("id_column", id_column)):
        if value is not None and (not isinstance(value, str) or not value):
            raise type_error(name, "the name of a column", value)
    if attributes is not None and (isinstance(attributes, str) or not all(isinstance(name, str) for name in attributes)):
        raise type_error("attributes", "a list of columns", attributes)
    if isinstance(batch, bool) or not isinstance(batch, int):
        raise type_error("batch", "a whole number", batch)
    if batch < 1:
        raise ValueError(f"batch must be 1 or more: {batch}")
    return _Options(Columns(text_column, id_column, None if attributes is None else list(attributes)), batch, _parse_size(max_size))


def load(
    conn: Any,
    table: str,
    source: Any,
    *,
    format: str = "auto",
    text_column: str | None = None,
    id_column: str | None = None,
    attributes: Sequence[str] | None = None,
    name: str | None = None,
    batch: int = BATCH,
    max_size: int | str = MAX_SIZE,
    progress: bool | None = None,
) -> LoadResult:
    """Loads the documents of `source` into `table`, which is created if it does not exist: the table of `neardup load`.

    source: a path or paths of Parquet, Arrow or JSON lines; a table, record batch, reader or data set of pyarrow; a data frame; whatever
    yields batches or dicts. A source that is not a file needs a `name`. Record n is stored with the path `name#n`, or `file#n`. The source is
    read in another thread, one batch ahead: what belongs to its thread, such as a cursor of sqlite3, must be read into a list first.

    text_column: the default is the first of text, body, content that exists. id_column: the default is id. attributes: further columns
    that are kept as jsonb, by default all. batch: records that are committed together; also every 32 MB. max_size: of a text.
    progress: None shows a bar of tqdm if it is installed and stderr is a terminal.

    If a load is interrupted, the committed batches stay, and the next load of the same source continues after them. A file that has not
    changed since it was read to its end is not read again, if the options are the same and the server has refused no record.
    """
    options = _options(text_column, id_column, attributes, batch, max_size)
    session = make_session(conn, "neardup.load")
    sources = make_sources(source, format, name)
    for found in sources:
        if found.is_file and not os.path.isfile(found.name):
            raise FileNotFoundError(f"{found.name} does not exist or is not a file")
    tqdm = progress_bar() if progress or (progress is None and sys.stderr.isatty()) else None
    if progress and tqdm is None:
        raise ImportError("progress=True needs tqdm: pip install tqdm")
    bar = tqdm(unit=" records", desc=table) if tqdm is not None else None

    def advance(records: int, size: int) -> None:
        if bar is not None:
            bar.update(records)

    began = time.monotonic()
    with own_transactions(session, "neardup.load"), utf8(session):
        target = LoadTable(session, table)
        target.prepare()
        loader = _Loader(session, target, options, advance)
        try:
            for found in sources:
                loader.load(found)
        finally:
            if bar is not None:
                bar.close()
    loader.result.seconds = time.monotonic() - began
    return loader.result
