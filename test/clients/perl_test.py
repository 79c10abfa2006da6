"""Perl: the block of docs/clients.md, and COPY."""
# may be skipped: DBD::Pg may be missing
from pages import *

if not shutil.which("perl") or subprocess.run(["perl", "-MDBD::Pg", "-e", "1"], capture_output=True).returncode != 0:
    leave("Perl's DBD::Pg is not installed (libdbd-pg-perl)")


def run(name, conn, folder):
    code = "use strict; use warnings; use DBI;\n" + block("Perl: DBD::Pg", "perl")
    equal("DBD::Pg", outcome(["perl", "-e", code], name), "1\n1\n1\n128\n")
    code = ("use strict; use warnings; use DBI; "
            "my $dbh = DBI->connect('dbi:Pg:', undef, undef, {RaiseError => 0, PrintError => 0, AutoCommit => %d});\n"
            "$dbh->do(q{CALL refresh_duplicates('copies')}); print $dbh->state, qq{\\n};")
    conn.execute("SELECT create_duplicates('copies', 'posts', 'id', 'body')")
    equal("CALL in a transaction is refused, and with AutoCommit it runs",
          [outcome(["perl", "-e", code % auto], name) for auto in (0, 1)], ["25001\n", "\n"])
    code = ("use strict; use warnings; use DBI; "
            "my $dbh = DBI->connect('dbi:Pg:', undef, undef, {RaiseError => 1, PrintError => 0}); "
            "eval { $dbh->do(q{SELECT jaccard(sig, ?) FROM posts}, undef, 'a document') }; print $dbh->state, qq{\\n};")
    equal("a document where a signature belongs", outcome(["perl", "-e", code], name), "22P02\n")


with_posts(run)
