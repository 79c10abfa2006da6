"""psql: the block of docs/clients.md."""
from pages import *


def run(name, conn, folder):
    conn.execute("DROP TABLE posts")
    done = tool("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", name, input=block("psql", "sql"))
    equal("psql", done.stdout + done.stderr, "1\n")


with_posts(run)
