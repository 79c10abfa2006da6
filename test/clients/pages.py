"""The blocks of docs/clients.md for other languages, run over the table that its section psql makes."""
import shutil  # noqa: F401  # for the scripts
import tempfile

from clients import *


def block(heading, language):
    with open(os.path.join(ROOT, "docs", "clients.md"), encoding="utf-8") as file:
        section = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % re.escape(heading), file.read(), re.S | re.M).group(1)
    return re.search(r"```%s\n(.*?)```" % language, section, re.S).group(1)


def leave(why):
    """A client that is not installed: one line, and the end."""
    skip(why)
    import harness

    harness.ended = True
    sys.exit(0)


def outcome(command, name, folder=None, **env):
    """The output of the command over a database that has the posts; its errors where it fails."""
    done = subprocess.run(command, env=dict(os.environ, PGDATABASE=name, **env), cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else "status %d: %s%s" % (
        done.returncode, done.stdout[-1500:], done.stderr[-1500:])


def with_posts(run):
    """run(name, conn, folder), in a database with the table of the page."""
    def main():
        with database() as name, connect(name) as conn, tempfile.TemporaryDirectory() as folder:
            conn.execute(block("psql", "sql").split("SELECT sig FROM")[0])
            sections((run, name, conn, folder))
    finish(main)
