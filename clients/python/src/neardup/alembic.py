"""Alembic: migrations that use the types of neardup are written with their import. Loaded by the entry point `alembic.plugins` (Alembic
1.18); with an older one, pass `render_item=neardup.alembic.render_item` to context.configure()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from alembic.ddl.postgresql import PostgresqlImpl

from . import sqlalchemy as types

if TYPE_CHECKING:
    from alembic.autogenerate.api import AutogenContext

__all__ = ["render_item", "setup"]

IMPORT = "import neardup.sqlalchemy"


def _rendered(type_: Any, imports: set[str] | None) -> str | Literal[False]:
    if type(type_).__module__ != types.__name__:
        return False
    if imports is not None:
        imports.add(IMPORT)
    return f"{types.__name__}.{type_!r}"


def render_item(kind: str, item: Any, autogen_context: AutogenContext) -> str | Literal[False]:
    """For context.configure(render_item=..): renders the types, and leaves all else to Alembic."""
    return _rendered(item, autogen_context.imports) if kind == "type" else False


class NeardupPostgresqlImpl(PostgresqlImpl):
    """Alembic's own for PostgreSQL, which also renders the types of neardup."""

    __dialect__ = "postgresql"

    def render_type(self, type_: Any, autogen_context: AutogenContext) -> str | Literal[False]:
        return _rendered(type_, autogen_context.imports) or super().render_type(type_, autogen_context)


def setup(plugin: object) -> None:
    """What Alembic calls; importing this module has done it all."""
