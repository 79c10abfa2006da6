"""The tables that a load fills: those of `neardup load` (src/cli/load/load_table.cpp, src/cli/load/record_table.cpp), so that both may fill one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ._errors import NeardupError, type_error
from ._session import Session
from ._texts import percent_doubled

LONGEST_NAME: Final = 63
# Types of pg_catalog. One of that name in another schema of search_path may be a domain with a check, which would run with the caller's rights.
COLUMNS: Final = {"path": "text", "size": "int8", "mtime": "timestamptz", "content_hash": "int8", "body": "text"}
RECORD_COLUMNS: Final = {"record_id": "text", "at": "timestamptz", "attributes": "jsonb"}
FILE_COLUMNS: Final = {"path": "text", "size": "int8", "mtime": "timestamptz", "records": "int8", "options": "text"}
SHOWN: Final = {"int8": "bigint", "timestamptz": "timestamp with time zone"}  # names of types in messages, where these are others
IN_PROGRESS: Final = -1  # as the size of a file: it was not read to its end
# Operators of another role in search_path would run with the caller's rights. The microseconds of 285 years are whole numbers as float8, too.
ZERO: Final = "'2000-01-01 00:00:00+00'::pg_catalog.timestamptz"
# CAST(-1 AS ..) is of a negative number; in -1::.. the minus is an operator, which search_path finds.
TIME: Final = f"{ZERO} OPERATOR(pg_catalog.+) (CAST(%s AS pg_catalog.float8) OPERATOR(pg_catalog.*) '1 microsecond'::pg_catalog.interval)"
MICROSECONDS: Final = f"(extract(epoch FROM {{}} OPERATOR(pg_catalog.-) {ZERO}) OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8"
STAGE: Final = "neardup_load_stage"
OID_OF: Final = "%s::pg_catalog.regclass::pg_catalog.oid"


@dataclass(frozen=True)
class FileState:
    """A row of TABLE_files."""

    size: int
    mtime: int  # microseconds since 2000
    records: int  # number of the last record that was stored
    options: str
    has_last: bool = True  # whether that record is in the table


class LoadTable:
    """The table of documents, and beside it the table of files of records.

    search_path says once which schema that is. All statements name it: what others create later, earlier in search_path, is not taken.
    """

    def __init__(self, session: Session, name: str) -> None:
        if not isinstance(name, str):
            raise type_error("table", "a name such as 'pages' or 'schema.pages'", name)
        self.session = session
        ((parts,),) = session.query("SELECT pg_catalog.parse_ident(%s)", [name])
        if len(parts) > 2:
            raise ValueError(f"table must be a name or schema.name: {name}")
        if len((parts[-1] + "_files").encode()) > LONGEST_NAME:
            raise ValueError(f"the name of table {name} is too long: the table {parts[-1]}_files stands beside it")
        schema = parts[0] if len(parts) == 2 else self._find_schema(parts[0])
        self.name = _quoted([schema, parts[-1]])
        self.files = _quoted([schema, parts[-1] + "_files"])
        # a temporary table, which would hide one of the same name
        self.stage = STAGE + "_" if parts[-1] == STAGE else STAGE
        self._name = percent_doubled(self.name)
        self._files = percent_doubled(self.files)

    def prepare(self) -> None:
        """Creates what is missing, and checks what exists."""
        table, files = self.name, self.files
        if not self._exists(table):
            self._create(
                table,
                f"CREATE TABLE {table} (id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, {_definition(COLUMNS, ' NOT NULL')}, UNIQUE (path))",
                f"COMMENT ON TABLE {table} IS 'files loaded by neardup load'",
                f"COMMENT ON COLUMN {table}.size IS 'bytes on disk (packed, if the file is packed); of a record: its bytes in the file'",
                f"COMMENT ON COLUMN {table}.content_hash IS 'XXH3_64 of the bytes of body, seed 0'",
            )
        self._check(table, COLUMNS)
        self._check_unique(table)
        if len(self._types(table, RECORD_COLUMNS)) < len(RECORD_COLUMNS):
            added = ", ".join(f"ADD COLUMN IF NOT EXISTS {name} pg_catalog.{kind}" for name, kind in RECORD_COLUMNS.items())
            self.session.query(f"ALTER TABLE {table} {added}")
        self._check(table, RECORD_COLUMNS)
        if not self._exists(files):
            self._create(
                files,
                f"CREATE TABLE {files} ({_definition(FILE_COLUMNS, ' NOT NULL')}, PRIMARY KEY (path))",
                f"COMMENT ON TABLE {files} IS 'files of records that neardup load has read; size -1: not to their end'",
            )
        self._check_owner(files)
        self._check(files, FILE_COLUMNS)

    def file_state(self, path: str) -> FileState | None:
        """The row of TABLE_files of a file; None where there is none."""
        found = self.session.query(
            f"SELECT f.size, {MICROSECONDS.format('f.mtime')}, f.records, f.options, f.records OPERATOR(pg_catalog.=) 0::pg_catalog.int8 OR EXISTS ("
            f"SELECT FROM {self._name} t WHERE t.path OPERATOR(pg_catalog.=) (f.path OPERATOR(pg_catalog.||) '#' OPERATOR(pg_catalog.||) f.records::pg_catalog.text))"
            f" FROM {self._files} f WHERE f.path OPERATOR(pg_catalog.=) %s::pg_catalog.text",
            [path],
        )
        return FileState(*found[0]) if found else None

    def note(self, path: str, state: FileState) -> None:
        self.session.query(
            f"INSERT INTO {self._files} AS f (path, size, mtime, records, options) VALUES (%s, %s, {TIME}, %s, %s) ON CONFLICT (path) DO UPDATE"
            " SET size = EXCLUDED.size, mtime = EXCLUDED.mtime, records = EXCLUDED.records, options = EXCLUDED.options",
            [path, state.size, state.mtime, state.records, state.options],
        )

    def forget(self, path: str) -> None:
        self.session.query(f"DELETE FROM {self._files} WHERE path OPERATOR(pg_catalog.=) %s::pg_catalog.text", [path])

    def has(self, path: str) -> bool:
        return bool(self.session.query(f"SELECT 1 FROM {self._name} WHERE path OPERATOR(pg_catalog.=) %s::pg_catalog.text", [path]))

    def ids_before(self, source: str, records: int) -> list[str]:
        """The ids of the first records of a source, for a load that continues."""
        return [
            row[0]
            for row in self.session.query(
                f"SELECT t.record_id FROM pg_catalog.generate_series(1, %s::pg_catalog.int8) n JOIN {self._name} t"
                " ON t.path OPERATOR(pg_catalog.=) (%s::pg_catalog.text OPERATOR(pg_catalog.||) '#' OPERATOR(pg_catalog.||) n::pg_catalog.text)"
                " WHERE t.record_id IS NOT NULL",
                [records, source],
            )
        ]

    def _find_schema(self, name: str) -> str:
        """Where search_path finds the table, or where it would be created."""
        ((schema,),) = self.session.query(
            "SELECT COALESCE((SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
            " WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%s)::pg_catalog.oid), pg_catalog.current_schema())",
            [_quoted([name])],
        )
        if schema is None:
            raise NeardupError(f"no schema of search_path exists; name table {name} with a schema")
        return str(schema)

    def states_of_texts(self, paths: list[str]) -> dict[str, tuple[int, int]]:
        """Size and modification time of those of the paths that have a row without what only records have, as those of files are."""
        rows = self.session.query(
            f"SELECT t.path, t.size, {MICROSECONDS.format('t.mtime')} FROM {self._name} t WHERE t.path OPERATOR(pg_catalog.=) ANY (%s::pg_catalog.text[])"
            f" AND {' AND '.join(f't.{name} IS NULL' for name in RECORD_COLUMNS)}",
            [paths],
        )
        return {path: (size, mtime) for path, size, mtime in rows}

    def _exists(self, quoted: str) -> bool:
        return bool(self.session.query("SELECT pg_catalog.to_regclass(%s) IS NOT NULL", [quoted])[0][0])

    def _create(self, quoted: str, *statements: str) -> None:
        try:
            for statement in statements:
                self.session.query(statement)
        except Exception:
            if self.session.is_closed() or not self._exists(quoted):
                raise  # else another loader was faster

    def _types(self, quoted: str, columns: dict[str, str]) -> dict[str, tuple[str | None, str]]:
        """The type of each column that exists, None where it is not one of pg_catalog, and its name for messages."""
        return {
            str(name): (None if kind is None else str(kind), str(shown))
            for name, kind, shown in self.session.query(
                "SELECT a.attname::pg_catalog.text, CASE WHEN n.nspname OPERATOR(pg_catalog.=) 'pg_catalog' THEN t.typname::pg_catalog.text END,"
                " CASE WHEN n.nspname OPERATOR(pg_catalog.=) 'pg_catalog' THEN pg_catalog.format_type(t.oid, NULL)"
                " ELSE pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(t.typname)) END"
                " FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid"
                " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace"
                f" WHERE a.attrelid OPERATOR(pg_catalog.=) {OID_OF} AND a.attname OPERATOR(pg_catalog.=) ANY (%s::pg_catalog.text[])"
                " AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped",
                [quoted, list(columns)],
            )
        }

    def _check(self, quoted: str, columns: dict[str, str]) -> None:
        ((relkind,),) = self.session.query(f"SELECT relkind::pg_catalog.text FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) {OID_OF}", [quoted])
        if relkind not in ("r", "p"):
            raise NeardupError(f"{quoted} is not a table")
        found = self._types(quoted, columns)
        for name, wanted in columns.items():
            if name not in found:
                raise NeardupError(f"table {quoted} has no column {name} ({SHOWN.get(wanted, wanted)}); name a new table, or add the column")
            kind, shown = found[name]
            if kind != wanted:
                raise NeardupError(f"column {name} of table {quoted} is {shown}, not {SHOWN.get(wanted, wanted)}; name a new table")

    def _check_owner(self, files: str) -> None:
        """The table of files is written by the way: a trigger of somebody else must not run with the caller's rights there."""
        ((owner, ordinary, trusted),) = self.session.query(
            "SELECT pg_catalog.quote_ident(o.rolname), f.relkind OPERATOR(pg_catalog.=) 'r', o.rolsuper OR o.rolname OPERATOR(pg_catalog.=) CURRENT_USER"
            " OR pg_catalog.pg_has_role(f.relowner, t.relowner, 'MEMBER') FROM pg_catalog.pg_class f, pg_catalog.pg_class t, pg_catalog.pg_roles o"
            f" WHERE f.oid OPERATOR(pg_catalog.=) {OID_OF} AND t.oid OPERATOR(pg_catalog.=) {OID_OF} AND o.oid OPERATOR(pg_catalog.=) f.relowner",
            [files, self.name],
        )
        if not ordinary:
            raise NeardupError(f"{files} is not an ordinary table; name a new table")
        if not trusted:
            raise NeardupError(
                f"table {files} belongs to {owner}, who is neither you nor a member of the owner of {self.name}; name a new table, or give it to that owner"
            )

    def _check_unique(self, quoted: str) -> None:
        ((unique,),) = self.session.query(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid"
            f" AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0] WHERE i.indrelid OPERATOR(pg_catalog.=) {OID_OF} AND i.indisunique AND i.indisvalid"
            " AND i.indnkeyatts OPERATOR(pg_catalog.=) 1 AND i.indpred IS NULL AND a.attname OPERATOR(pg_catalog.=) 'path')",
            [quoted],
        )
        if not unique:
            raise NeardupError(f"column path of table {quoted} has no unique index; ALTER TABLE {quoted} ADD UNIQUE (path)")


def _definition(columns: dict[str, str], constraint: str = "") -> str:
    """Columns as CREATE TABLE has them."""
    return ", ".join(f"{name} pg_catalog.{kind}{constraint}" for name, kind in columns.items())


STAGE_COLUMNS: Final = _definition({**COLUMNS, **RECORD_COLUMNS})


def _quoted(parts: list[str]) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
