"""A Django app that refuses copies: python manage.py migrate; python manage.py runserver. The PG* variables lead to the database."""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    DEBUG=True,
    SECRET_KEY="of an example that is not for production",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="notes.urls",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.postgres", "neardup.django", "notes"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ.get("PGDATABASE", "notes"),
            "USER": os.environ.get("PGUSER", ""),
            "PASSWORD": os.environ.get("PGPASSWORD", ""),
            "HOST": os.environ.get("PGHOST", ""),
            "PORT": os.environ.get("PGPORT", ""),
        }
    },
)

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
