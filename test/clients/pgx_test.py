"""Go, pgx: the block of docs/clients.md, with Debian's package of the source of pgx."""
# may be skipped: Go or pgx may be missing
from pages import *

GOPATH = "/usr/share/gocode"
if not shutil.which("go"):
    leave("Go is not installed (golang-go)")
if not os.path.isdir(os.path.join(GOPATH, "src", "github.com", "jackc", "pgx", "v4")):
    leave("pgx is not installed (golang-github-jackc-pgx-v4-dev)")

PROGRAM = """package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgtype"
	"github.com/jackc/pgx/v4"
)

%s
func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, "")
	if err == nil {
		err = run(ctx, conn)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
"""


def run(name, conn, folder):
    conn.execute("CREATE TABLE signatures (id bigint, sig minhash)")
    path = os.path.join(folder, "main.go")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM % block("Go: pgx", "go"))
    env = {"GOPATH": GOPATH, "GO111MODULE": "off", "GOCACHE": os.path.join(folder, "cache"), "GOFLAGS": ""}
    equal("pgx", outcome(["go", "run", path], name, folder, **env), "1\n1\n1\n")
    equal("CopyFrom stored the signature", one(conn, "SELECT s.sig = p.sig FROM signatures s, posts p WHERE p.id = 1"),
          True)


with_posts(run)
