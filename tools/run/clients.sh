# shellcheck shell=bash
# Sourced by ./run: the tests of clients, in environments of PyPI below .run.
# shellcheck disable=SC2154  # work, root: set in common.sh

: "${root:?}"

python_client_scripts=(values psycopg psycopg2 asyncpg sqlalchemy django load jobs connections examples package)
other_client_scripts=(psql perl jdbc)
large_client_scripts=(r pgx)  # what they need is large: in the full form
clients_packages=(mypy 'psycopg[binary]>=3.1,<4' 'psycopg2-binary>=2.9,<3' asyncpg 'sqlalchemy>=2,<3' greenlet alembic
  'django>=5.2,<6' pyarrow pandas xxhash tqdm fastapi httpx)
# The oldest that the package is for, and a newer Django, which needs Python 3.12.
oldest_clients_packages=('psycopg[binary]==3.1.*' 'psycopg2-binary>=2.9,<3' 'asyncpg==0.29.*' 'sqlalchemy==2.0.*'
  greenlet 'alembic==1.13.*' 'django==4.2.*' 'pyarrow==14.*' 'pandas==2.1.*' 'numpy<2' xxhash tqdm)
newest_clients_packages=('psycopg[binary]' psycopg2-binary asyncpg sqlalchemy greenlet alembic 'django>=6,<7' pyarrow
  pandas xxhash tqdm)

# clients_venv NAME PYTHON REQUIREMENT...: an environment with these packages and
# clients/python, made once. False without PyPI.
clients_venv() {
  local venv=$work/clients/$1 python=$2 wanted
  shift 2
  wanted=$(printf '%s\n' "$python" "$@" && cat "$root/clients/python/pyproject.toml")
  if [ "$(cat "$venv/made-of" 2>/dev/null)" = "$wanted" ]; then return; fi
  rm -rf "$venv"
  mkdir -p "$work/clients"
  "$python" -m venv "$venv" || return
  pip_install "$venv" hatchling editables "$@" || return
  pip_install "$venv" --no-deps --no-build-isolation --editable "$root/clients/python" || return
  printf '%s\n' "$wanted" >"$venv/made-of"
}

# client_script PYTHON SCRIPT
client_script() { client_python=$1 one_script "$2"; }

# client_script_tasks PYTHON NAME...
client_script_tasks() {
  local name
  for name in "${@:2}"; do task "$name" client_script "$1" "$root/test/clients/${name}_test.py"; done
}

# python_clients NAME PYTHON REQUIREMENT...: the environment, where PyPI gives it
python_clients() {
  if clients_venv "$@"; then
    count passed
  else
    say "skip - clients of Python: PyPI gives no ${*:3}"
    count skipped
  fi
}

# python_script_tasks ENVIRONMENT NAME...: none where there is no such environment
python_script_tasks() {
  local venv=$work/clients/$1
  if [ -e "$venv/made-of" ]; then client_script_tasks "$venv/bin/python3" "${@:2}"; fi
}

client_tasks() {
  client_script_tasks /usr/bin/python3 "${other_client_scripts[@]}"
  task_before python_client_tasks environment python_clients current /usr/bin/python3 "${clients_packages[@]}"
}
python_client_tasks() { python_script_tasks current "${python_client_scripts[@]}"; }

# Older and newer versions of what the package works with, and languages whose packages are large.
versioned_client_scripts=(values psycopg psycopg2 asyncpg sqlalchemy django load jobs connections)
old_client_tasks() {
  client_script_tasks /usr/bin/python3 "${large_client_scripts[@]}"
  task_before oldest_client_tasks "oldest environment" python_clients oldest /usr/bin/python3 \
    "${oldest_clients_packages[@]}"
}
oldest_client_tasks() { python_script_tasks oldest "${versioned_client_scripts[@]}"; }
new_client_tasks() { task_before newest_client_tasks "newest environment" newest_python_clients; }
newest_client_tasks() { python_script_tasks newest "${versioned_client_scripts[@]}"; }
newest_python_clients() {
  local python
  for python in python3.14 python3.13 python3.12; do
    if command -v "$python" >/dev/null && "$python" -c '' 2>/dev/null; then
      python_clients newest "$python" "${newest_clients_packages[@]}"
      return
    fi
  done
  say "skip - newest versions of the clients of Python: no Python 3.12 or later, which Django 6 needs"
  count skipped
}
