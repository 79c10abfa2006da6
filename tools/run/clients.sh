# shellcheck shell=bash
# Sourced by ./run: the tests of clients, in environments of PyPI below .run.
# shellcheck disable=SC2154  # work, root: set in common.sh

: "${root:?}"

python_client_scripts=(values psycopg psycopg2 asyncpg sqlalchemy django load jobs connections examples package)
other_client_scripts=(psql perl jdbc)
large_client_scripts=(r pgx)  # what they need is large: in the full form
clients_packages=(mypy 'psycopg[binary]>=3.1,<4' 'psycopg2-binary>=2.9,<3' asyncpg 'sqlalchemy>=2,<3' greenlet alembic 'django>=5.2,<6'
  pyarrow pandas xxhash tqdm fastapi httpx)
# The oldest that the package is for, and a newer Django, which needs Python 3.12.
oldest_clients_packages=('psycopg[binary]==3.1.*' 'psycopg2-binary>=2.9,<3' 'asyncpg==0.29.*' 'sqlalchemy==2.0.*' greenlet 'alembic==1.13.*' 'django==4.2.*'
  'pyarrow==14.*' 'pandas==2.1.*' 'numpy<2' xxhash tqdm)
newest_clients_packages=('psycopg[binary]' psycopg2-binary asyncpg sqlalchemy greenlet alembic 'django>=6,<7' pyarrow pandas xxhash tqdm)

# clients_venv NAME PYTHON REQUIREMENT...: an environment with these packages and clients/python, made once. False without PyPI.
clients_venv() {
  local venv=$work/clients/$1 python=$2 wanted
  shift 2
  wanted=$(printf '%s\n' "$python" "$@" && cat "$root/clients/python/pyproject.toml")
  if [ "$(cat "$venv/made-of" 2>/dev/null)" = "$wanted" ]; then return; fi
  rm -rf "$venv"
  mkdir -p "$work/clients"
  "$python" -m venv "$venv" || return
  timeout 900 "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 hatchling editables "$@" || return
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable "$root/clients/python" || return
  printf '%s\n' "$wanted" >"$venv/made-of"
}

# client_scripts PYTHON NAME...
client_scripts() {
  # shellcheck disable=SC2034  # one_script reads it
  local script_python=$1
  shift
  scripts_at_once "${@/%/_test.py}"
}

step_clients() {
  local python=/usr/bin/python3 scripts=("${other_client_scripts[@]}")
  if clients_venv current "$python" "${clients_packages[@]}"; then
    python=$work/clients/current/bin/python3
    scripts+=("${python_client_scripts[@]}")
  else
    say "skip - clients of Python: PyPI gives no ${clients_packages[*]}"
    count skipped
  fi
  client_scripts "$python" "${scripts[@]/#/$root/test/clients/}"
}

# Older and newer versions of what the package works with, and languages whose packages are large.
step_client_versions() {
  local python
  client_scripts /usr/bin/python3 "${large_client_scripts[@]/#/$root/test/clients/}"
  if clients_venv oldest /usr/bin/python3 "${oldest_clients_packages[@]}"; then
    client_scripts "$work/clients/oldest/bin/python3" "$root"/test/clients/{values,psycopg,psycopg2,asyncpg,sqlalchemy,django,load,jobs,connections}
  else
    say "skip - oldest versions of the clients of Python: PyPI gives no ${oldest_clients_packages[*]}"
    count skipped
  fi
  for python in python3.14 python3.13 python3.12 ""; do
    if command -v "$python" >/dev/null && "$python" -c '' 2>/dev/null; then break; fi
  done
  if [ -z "$python" ]; then
    say "skip - newest versions of the clients of Python: no Python 3.12 or later, which Django 6 needs"
    count skipped
  elif clients_venv newest "$python" "${newest_clients_packages[@]}"; then
    client_scripts "$work/clients/newest/bin/python3" "$root"/test/clients/{values,psycopg,psycopg2,asyncpg,sqlalchemy,django,load,jobs,connections}
  else
    say "skip - newest versions of the clients of Python: PyPI gives no ${newest_clients_packages[*]}"
    count skipped
  fi
}
