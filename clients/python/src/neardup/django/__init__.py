"""Django 4.2, 5.2 and 6: fields, functions, lookups, LshIndex, NoCopiesConstraint, the migration operation NeardupExtension.

Add "neardup.django" to INSTALLED_APPS for the command inspectdb to know the types.
"""

from __future__ import annotations

try:
    import django  # noqa: F401
except ImportError as error:
    raise ImportError("neardup.django needs Django: pip install 'django>=4.2'") from error

from .constraints import NoCopiesConstraint
from .fields import CtphField, MinhashField, SimHashField
from .functions import Containment, Cosine, CtphEditRate, CtphScore, Hamming, Jaccard, JaccardDistance, ToCtph, ToMinhash, ToSimHash, WithThreshold
from .indexes import LshIndex
from .operations import NeardupExtension

__all__ = [
    "Containment", "Cosine", "CtphEditRate", "CtphField", "CtphScore", "Hamming", "Jaccard", "JaccardDistance", "LshIndex",
    "MinhashField", "NeardupExtension", "NoCopiesConstraint", "SimHashField", "ToCtph", "ToMinhash", "ToSimHash", "WithThreshold",
]  # fmt: skip
