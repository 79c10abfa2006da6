"""Near-duplicate documents in PostgreSQL: the client of the extension neardup.

Values: Minhash, SimHash, Ctph. Drivers: neardup.psycopg, neardup.psycopg2, neardup.asyncpg. Models: neardup.sqlalchemy,
neardup.django.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from ._ctph import Ctph
from ._errors import NeardupError
from ._minhash import Minhash
from ._simhash import SimHash

try:
    __version__ = version("neardup")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "unknown"

__all__ = ["Ctph", "Minhash", "NeardupError", "SimHash"]
