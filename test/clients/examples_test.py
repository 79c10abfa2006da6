"""The examples of clients/python, each run as its first lines say."""
import tempfile

from clients import *

neardup = need("neardup")
EXAMPLES = os.path.join(PACKAGE, "examples")


def python(name, code, folder):
    env = dict(os.environ, PGDATABASE=name, PYTHONPATH=folder)
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stdout + done.stderr


def fastapi(name):
    need("fastapi", "httpx")
    code = """from fastapi.testclient import TestClient
from fastapi_service import app
doc, near, far = %r, %r, %r
with TestClient(app) as client:
    post = lambda body: client.post("/posts", json={"body": body})
    print(post(doc).status_code, post(far).json(), post(near.replace("six", "five").upper()).status_code,
          post(doc).json(), client.post("/posts", json={}).status_code, post("a\\0b").status_code)
""" % (DOC, NEAR, FAR)
    equal("FastAPI: copies are refused", python(name, code, EXAMPLES),
          "201 {'id': 2} 409 {'detail': [{'id': 1, 'similarity': 1.0}]} 422 422")


def django_app(name):
    need("django")
    code = """import json, sys
import manage, django
from django.core.management import call_command
django.setup()
call_command("makemigrations", "notes", "--check", "--dry-run", "-v", "0")
call_command("migrate", "-v", "0")
from django.test import Client
post = lambda **fields: Client().post("/notes", json.dumps(fields), content_type="application/json")
doc, far = %r, %r
print(post(author=1, body=doc).status_code, post(author=1, body=far).status_code,
      post(author=1, body=doc.upper()).json(), post(author=2, body=doc).status_code, post(author="x").status_code,
      len(Client().get("/notes", {"like": doc}).json()))
""" % (DOC, FAR)
    equal("Django: copies are refused, within an author", python(name, code, os.path.join(EXAMPLES, "django_app")),
          "201 201 {'copies': [{'id': 1, 'similarity': 1.0}]} 201 400 2")


def parquet(name):
    pa, pq = need("pyarrow", "pyarrow.parquet")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.parquet")
        texts = [" ".join(
            "w%d" % ((i // 3 * 31 + j * j + (i if j == 7 else 0)) % 997) for j in range(60)) for i in range(90)]
        pq.write_table(pa.table({"text": texts}), path)
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, "parquet_copies.py"), path],
                              env=dict(os.environ, PGDATABASE=name), capture_output=True, text=True)
        again = subprocess.run([sys.executable, os.path.join(EXAMPLES, "parquet_copies.py"), path],
                               env=dict(os.environ, PGDATABASE=name), capture_output=True, text=True)
    check("Parquet: loaded, clustered, reported",
          done.stdout.startswith("90 new, ") and "90 rows, 30 clusters of 2 or more, 60 duplicates" in done.stdout
          and "30 of 90 documents are no copies" in done.stdout, done.stdout + done.stderr)
    check("and again", again.stdout.startswith("0 new, 0 changed, 90 unchanged")
          and "30 of 90 documents are no copies" in again.stdout, again.stdout + again.stderr)


def main():
    for part in (fastapi, django_app, parquet):
        with database("_" + part.__name__, extension=False) as name:
            sections((part, name))


finish(main)
