#!/usr/bin/env bash
# The planner's choice beside the best plan that its settings give, for queries of every kind on skewed rows. The server is that of PGHOST and
# PGDATABASE, on this machine (./run bench starts one); tables named neardup_plans_* are made and dropped there. Needs a superuser: it hides indexes.
#   plans_bench.sh [ROWS [OPTIONS]]   default 500000, which take 2 GB and about ten minutes; the options: plans_bench.py
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
# The system's Python: another one in PATH has not the system's psycopg.
exec /usr/bin/python3 "$here/plans_bench.py" "${@:-500000}"
