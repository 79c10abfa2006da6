"""Alembic: migrations that use the types of neardup are written with their import.

Alembic 1.18 and later load this by the entry point `alembic.plugins`. With an older one, and where context.configure() names its own
autogenerate_plugins, pass `render_item=neardup.alembic.render_item` to context.configure().
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from . import sqlalchemy as types

if TYPE_CHECKING:
    from alembic.autogenerate.api import AutogenContext
    from alembic.runtime.plugins import Plugin

__all__ = ["render_item", "setup"]

IMPORT = "import neardup.sqlalchemy"
Render = Callable[[str, Any, "AutogenContext"], str | Literal[False]]


def render_item(kind: str, item: Any, autogen_context: AutogenContext) -> str | Literal[False]:
    """Renders the types of neardup, for context.configure(render_item=..), and leaves all else to Alembic."""
    if kind != "type" or type(item).__module__ != types.__name__:
        return False
    autogen_context.imports.add(IMPORT)
    return f"{types.__name__}.{item!r}"


def _after(own: Render) -> Render:
    """The render_item of env.py first, then that of neardup."""

    def render(kind: str, item: Any, autogen_context: AutogenContext) -> str | Literal[False]:
        rendered = own(kind, item, autogen_context)
        return rendered if rendered is not False else render_item(kind, item, autogen_context)

    return render


def _begin(autogen_context: AutogenContext, upgrade_ops: object) -> Any:
    """Called when an autogenerate begins."""
    from alembic.util import PriorityDispatchResult

    own = autogen_context.opts.get("render_item")
    autogen_context.opts["render_item"] = _after(own) if own else render_item
    return PriorityDispatchResult.CONTINUE


def setup(plugin: Plugin) -> None:
    """Alembic calls it while it imports the plugin."""
    plugin.add_autogenerate_comparator(_begin, "autogenerate", "neardup")
