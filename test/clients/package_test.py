"""The package: its wheel in an empty environment, its version, its README pasted block by block, its types."""
import contextlib
import io
import shutil
import tempfile
import types
import venv
import zipfile

from clients import *

neardup = need("neardup")
need("hatchling")


def wheel():
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "python")
        shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
        code = ("import hatchling.build, sys; print(hatchling.build.build_wheel(%r)); "
                "print(hatchling.build.build_sdist(%r))" % (folder, folder))
        done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True)
        if not check("a wheel and an sdist are built", done.returncode == 0, done.stderr):
            return
        name, sdist = done.stdout.split()
        equal("their names have the version of neardup.control", (name, sdist),
              ("neardup-%s-py3-none-any.whl" % default_version(), "neardup-%s.tar.gz" % default_version()))
        with zipfile.ZipFile(os.path.join(folder, name)) as file:
            names = file.namelist()
        sources = sorted(os.path.relpath(os.path.join(top, f), os.path.join(PACKAGE, "src")) for top, _,
                         files in os.walk(os.path.join(PACKAGE, "src")) for f in files if not f.endswith(".pyc"))
        equal("the wheel has every module, py.typed and nothing else",
              sorted(n for n in names if ".dist-info/" not in n), sources)
        check("and the licence", any(n.endswith("LICENSE") for n in names), names)
        empty = os.path.join(folder, "empty")
        venv.create(empty)
        site = subprocess.run(
            [os.path.join(empty, "bin", "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True, text=True).stdout.strip()
        with zipfile.ZipFile(os.path.join(folder, name)) as file:
            file.extractall(site)  # what pip does with a wheel of pure Python; the environment has no pip
        run = lambda code: subprocess.run(
            [os.path.join(empty, "bin", "python"), "-I", "-c", code], capture_output=True, text=True)
        equal(
            "in an empty environment",
            run("import neardup; print(neardup.__version__, neardup.SimHash(5), neardup.Minhash(%r).k)" % o.to_minhash(
                DOC)).stdout,
            "%s 0000000000000005 3\n" % default_version())
        for module, package in (("psycopg", "psycopg"), ("psycopg2", "psycopg2-binary"), ("asyncpg", "asyncpg"),
                                ("sqlalchemy", "sqlalchemy"), ("django", "django"), ("sign", "neardup-core")):
            errors = run("import neardup.%s" % module).stderr
            check("without its package neardup.%s says what to install" % module,
                  "ImportError" in errors and "pip install" in errors and package in errors, errors[-200:])


def readme():
    import django
    from django.conf import settings

    with open(os.path.join(PACKAGE, "README.md"), encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", text, re.S)
    check("README has blocks", len(blocks) >= 7, len(blocks))
    with database(extension=False) as name:
        before = os.environ.get("PGDATABASE", "postgres")
        os.environ["PGDATABASE"] = name
        notes = types.ModuleType("readme_notes")
        notes.__path__ = []
        notes.__file__ = "/nowhere/__init__.py"
        models = types.ModuleType("readme_notes.models")
        sys.modules.update({"readme_notes": notes, "readme_notes.models": models})
        settings.configure(DATABASES={
                               "default": {"ENGINE": "django.db.backends.postgresql", "NAME": name,
                                           "USER": os.environ.get("PGUSER", ""), "HOST": os.environ.get("PGHOST", ""),
                                           "PORT": os.environ.get("PGPORT", "")}},
                           INSTALLED_APPS=["django.contrib.postgres", "neardup.django"],
                           DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
        django.setup()
        scope = {"__name__": "readme"}
        for number, (code, want) in enumerate(blocks, 1):
            if "GeneratedField" in code and django.VERSION < (5, 0):
                skip("README's block of Django needs Django 5")
                break
            if code.startswith("# models.py"):
                code = code.replace("    class Meta:\n", "    class Meta:\n        app_label = 'readme_notes'\n")
            out = io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile(code, "README block %d" % number, "exec"), scope)
                check("README block %d" % number, not want or out.getvalue() == want,
                      "got %r, want %r" % (out.getvalue(), want))
            except Exception as error:
                traceback.print_exc()
                check("README block %d" % number, False, error)
                os.environ["PGDATABASE"] = before
                return
            if code.startswith("# models.py"):  # what migrate would do
                from django.db import connection

                with connection.schema_editor() as editor:
                    editor.create_model(scope["Note"])
        from django.db import connection

        connection.close()
        scope["engine"].dispose()
        scope["conn"].close()
        os.environ["PGDATABASE"] = before
    for link in re.findall(r"\]\(([^)#]+)", text):
        check("README's link %s" % link, "//" in link or os.path.exists(os.path.join(PACKAGE, link)))


def typed():
    try:
        import mypy  # noqa: F401
    except ImportError:
        return skip("mypy cannot be imported")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.path.join(sys.prefix, "mypy_cache")],
                          cwd=PACKAGE, capture_output=True, text=True)
    check("mypy --strict", done.returncode == 0, done.stdout[-500:])


def main():
    sections((wheel,), (typed,), (readme,))


finish(main)
