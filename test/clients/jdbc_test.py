"""JDBC: the block of docs/clients.md as a program of one file."""
# may be skipped: the driver or Java may be missing
from pages import *

JAR = os.environ.get("NEARDUP_JDBC", "/usr/share/java/postgresql.jar")
if not os.path.exists(JAR):
    leave("the JDBC driver is not installed (libpostgresql-jdbc-java)")
if not shutil.which("java") or "javac" not in subprocess.run(
        ["java", "--list-modules"], capture_output=True, text=True).stdout.replace("jdk.compiler", "javac"):
    leave("there is no java with a compiler (default-jdk-headless)")

PROGRAM = """import java.sql.*;
import org.postgresql.util.PGobject;

class Posts {
  public static void main(String[] args) throws Exception {
%s  }
}
"""


def run(name, conn, folder):
    """The driver speaks TCP only: the private server may listen on a socket alone, and is then reached through a
    relay."""
    import socket

    path = os.path.join(folder, "Posts.java")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM % block("JDBC", "java"))
    listener = socket.create_server(("127.0.0.1", 0))
    host, port = os.environ.get("PGHOST", "localhost"), os.environ.get("PGPORT", "5432")

    def pipe(source, target):
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
        except OSError:
            pass
        finally:
            target.close()

    def relay():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if host.startswith("/"):
                server = socket.socket(socket.AF_UNIX)
                server.connect("%s/.s.PGSQL.%s" % (host, port))
            else:
                server = socket.create_connection((host, int(port)))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=pipe, args=pair, daemon=True).start()
    threading.Thread(target=relay, daemon=True).start()
    url = "jdbc:postgresql://127.0.0.1:%d/%s?user=%s&sslmode=disable&gssEncMode=disable" % (
        listener.getsockname()[1], name, os.environ.get("PGUSER", ""))
    equal("JDBC", outcome(["java", "-cp", JAR, path, url], name), "1 1.0\n1\n1\n")
    listener.close()


with_posts(run)
