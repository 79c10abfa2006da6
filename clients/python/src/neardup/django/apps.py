"""The Django app: it has no models; its command inspectdb knows the types."""

from __future__ import annotations

from django.apps import AppConfig


class NeardupConfig(AppConfig):  # type: ignore[misc]
    name = "neardup.django"
    label = "neardup"
    verbose_name = "neardup"
