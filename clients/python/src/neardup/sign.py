"""`neardup.sign`: signatures in Python, with the bits of the server. The package neardup-core has the code."""

from __future__ import annotations

from typing import Any

_INSTALL = "neardup.sign needs the package neardup-core: pip install ./clients/python-core, in a checkout of neardup"

try:
    import neardup_core as _core
except ImportError as error:
    raise ImportError(_INSTALL) from error


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(_core, name)


def __dir__() -> list[str]:
    return [name for name in dir(_core) if not name.startswith("_")]
