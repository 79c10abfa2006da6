"""R: the block of docs/clients.md."""
# may be skipped: R or RPostgreSQL may be missing
from pages import *

if not shutil.which("Rscript") or subprocess.run(
        ["Rscript", "-e", "library(RPostgreSQL)"], capture_output=True).returncode != 0:
    leave("R's RPostgreSQL is not installed (r-cran-rpostgresql)")


def run(name, conn, folder):
    equal("RPostgreSQL", outcome(["Rscript", "-e", block("R: DBI", "r")], name, PGSSLMODE="disable"), "1 \n1 \n0 \n")


with_posts(run)
