"""The tables that a load fills: those of `neardup load` (src/cli/load_table.cpp, src/cli/record_table.cpp), so that both may fill one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ._errors import NeardupError, type_error
from ._session import Session
from ._texts import percent_doubled

LONGEST_NAME: Final = 63
COLUMNS: Final = {"path": "text", "size": "bigint", "mtime": "timestamp with time zone", "content_hash": "bigint", "body": "text"}
RECORD_COLUMNS: Final = {"record_id": "text", "at": "timestamp with time zone", "attributes": "jsonb"}
FILE_COLUMNS: Final = {"path": "text", "size": "bigint", "mtime": "timestamp with time zone", "records": "bigint", "options": "text"}
IN_PROGRESS: Final = -1  # as the size of a file: it was not read to its end
# Operators of another role in search_path would run with the caller's rights. The microseconds of 285 years are whole numbers as float8, too.
ZERO: Final = "'2000-01-01 00:00:00+00'::pg_catalog.timestamptz"
TIME: Final = f"{ZERO} OPERATOR(pg_catalog.+) (%s::pg_catalog.float8 OPERATOR(pg_catalog.*) '1 microsecond'::pg_catalog.interval)"
MICROSECONDS: Final = f"(extract(epoch FROM {{}} OPERATOR(pg_catalog.-) {ZERO}) OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8"
STAGE: Final = "neardup_load_stage"
OID_OF: Final = "%s::pg_catalog.regclass::pg_catalog.oid"


@dataclass(frozen=True)
class FileState:
    """What TABLE_files says of a file."""

    size: int
    mtime: int  # microseconds since 2000
    records: int  # number of the last record that was stored
    options: str


class LoadTable:
    """The table of documents, and beside it the table of files of records."""

    def __init__(self, session: Session, name: str) -> None:
        if not isinstance(name, str):
            raise type_error("table", "a name such as 'pages' or 'schema.pages'", name)
        self.session = session
        ((parts,),) = session.query("SELECT pg_catalog.parse_ident(%s)", [name])
        if len(parts) > 2:
            raise ValueError(f"table must be a name or schema.name: {name}")
        if len((parts[-1] + "_files").encode()) > LONGEST_NAME:
            raise ValueError(f"the name of table {name} is too long: the table {parts[-1]}_files stands beside it")
        self.name = _quoted(parts)
        self.files = _quoted([*parts[:-1], parts[-1] + "_files"])
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
                f"CREATE TABLE {table} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, path text NOT NULL UNIQUE, size bigint NOT NULL,"
                " mtime timestamptz NOT NULL, content_hash bigint NOT NULL, body text NOT NULL)",
                f"COMMENT ON TABLE {table} IS 'files loaded by neardup load'",
                f"COMMENT ON COLUMN {table}.size IS 'bytes on disk (packed, if the file is packed); of a record: its bytes in the file'",
                f"COMMENT ON COLUMN {table}.content_hash IS 'XXH3_64 of the bytes of body, seed 0'",
            )
        self._check(table, COLUMNS)
        self._check_unique(table)
        if len(self._types(table, RECORD_COLUMNS)) < len(RECORD_COLUMNS):
            self.session.query(
                f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS record_id text, ADD COLUMN IF NOT EXISTS at timestamptz,"
                " ADD COLUMN IF NOT EXISTS attributes jsonb"
            )
        self._check(table, RECORD_COLUMNS)
        if not self._exists(files):
            self._create(
                files,
                f"CREATE TABLE {files} (path text PRIMARY KEY, size bigint NOT NULL, mtime timestamptz NOT NULL, records bigint NOT NULL,"
                " options text NOT NULL)",
                f"COMMENT ON TABLE {files} IS 'files of records that neardup load has read; size -1: not to their end'",
            )
        self._check_owner(files)
        self._check(files, FILE_COLUMNS)

    def state_of(self, path: str) -> FileState | None:
        """Of a file that was read, to its end or to its last stored record; None also where that record was deleted."""
        found = self.session.query(
            f"SELECT f.size, {MICROSECONDS.format('f.mtime')}, f.records, f.options"
            f" FROM {self._files} f WHERE f.path OPERATOR(pg_catalog.=) %s::pg_catalog.text AND (f.records OPERATOR(pg_catalog.=) 0::pg_catalog.int8 OR EXISTS ("
            f"SELECT FROM {self._name} t WHERE t.path OPERATOR(pg_catalog.=) (f.path OPERATOR(pg_catalog.||) '#' OPERATOR(pg_catalog.||) f.records::pg_catalog.text)))",
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
                " ON t.path OPERATOR(pg_catalog.=) (%s::pg_catalog.text OPERATOR(pg_catalog.||) '#' OPERATOR(pg_catalog.||) n::text)"
                " WHERE t.record_id IS NOT NULL",
                [records, source],
            )
        ]

    def _exists(self, quoted: str) -> bool:
        return bool(self.session.query("SELECT pg_catalog.to_regclass(%s) IS NOT NULL", [quoted])[0][0])

    def _create(self, quoted: str, *statements: str) -> None:
        try:
            for statement in statements:
                self.session.query(statement)
        except Exception:
            if self.session.is_closed() or not self._exists(quoted):
                raise  # else another loader was faster

    def _types(self, quoted: str, columns: dict[str, str]) -> dict[str, str]:
        return {
            str(name): str(kind)
            for name, kind in self.session.query(
                f"SELECT attname::text, pg_catalog.format_type(atttypid, NULL) FROM pg_catalog.pg_attribute WHERE attrelid OPERATOR(pg_catalog.=) {OID_OF}"
                " AND attname OPERATOR(pg_catalog.=) ANY (%s::pg_catalog.text[]) AND attnum OPERATOR(pg_catalog.>) 0 AND NOT attisdropped",
                [quoted, list(columns)],
            )
        }

    def _check(self, quoted: str, columns: dict[str, str]) -> None:
        ((kind,),) = self.session.query(f"SELECT relkind::text FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) {OID_OF}", [quoted])
        if kind not in ("r", "p"):
            raise NeardupError(f"{quoted} is not a table")
        found: dict[str, Any] = self._types(quoted, columns)
        for name, wanted in columns.items():
            if name not in found:
                raise NeardupError(f"table {quoted} has no column {name} ({wanted}); name a new table, or add the column")
            if found[name] != wanted:
                raise NeardupError(f"column {name} of table {quoted} is {found[name]}, not {wanted}; name a new table")

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


def _quoted(parts: list[str]) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
