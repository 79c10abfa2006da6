"""Near-duplicate documents in PostgreSQL: the client of the extension neardup.

Values: Minhash, SimHash, Ctph. Drivers: neardup.psycopg, neardup.psycopg2, neardup.asyncpg. Models: neardup.sqlalchemy,
neardup.django. Documents into a table: load(). Jobs: refresh(), report(). Repeated passages: passages(). Signatures in Python: neardup.sign.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from ._ctph import Ctph
from ._errors import NeardupError
from ._load import load
from ._load_result import LoadResult
from ._minhash import Minhash
from ._passages import passages
from ._refresh import RefreshResult, Status, refresh
from ._report import report
from ._simhash import SimHash

try:
    __version__ = version("neardup")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "unknown"

__all__ = ["Ctph", "LoadResult", "Minhash", "NeardupError", "RefreshResult", "SimHash", "Status", "load", "passages", "refresh", "report"]
