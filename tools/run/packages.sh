# shellcheck shell=bash
# Sourced by ./run: what must be installed, by apt where there is apt.
# shellcheck disable=SC2154,SC2034  # logs: set_work sets it; pg_config: used elsewhere

: "${root:?}" "${my_uid:?}"

# The PostgreSQL to build for: PG_CONFIG, else that of NEARDUP_PG_MAJOR, else the newest in Debian's places that is
# complete, else the one in PATH.
find_pg_config() {
  local candidate
  if [ -n "${PG_CONFIG:-}" ]; then
    printf '%s\n' "$PG_CONFIG"
    return
  fi
  if [ -n "${NEARDUP_PG_MAJOR:-}" ]; then
    printf '/usr/lib/postgresql/%s/bin/pg_config\n' "$NEARDUP_PG_MAJOR"
    return
  fi
  for candidate in $(printf '%s\n' /usr/lib/postgresql/*/bin/pg_config | sort -rV); do
    if [ -x "$candidate" ] && [ -x "${candidate%pg_config}postgres" ] && [ -f "$("$candidate" --pgxs)" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  command -v pg_config || true
}

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

apt_lists_there() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# The major version: the one that is asked for, else of an installed server or
# development package, else the distribution's.
postgresql_version() {
  local version
  if [ -n "${NEARDUP_PG_MAJOR:-}" ]; then
    printf '%s\n' "$NEARDUP_PG_MAJOR"
    return
  fi
  version=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' 'postgresql-[0-9]*' 'postgresql-server-dev-[0-9]*' \
    2>/dev/null | awk '$2 == "installed" { print $1 }' | grep -oE '^postgresql-(server-dev-)?[0-9]+$' |
    grep -oE '[0-9]+$' | sort -rn | head -n 1 || true)
  [ -n "$version" ] || version=$(apt-cache depends postgresql 2>/dev/null | grep -oE 'postgresql-[0-9]+' |
    grep -oE '[0-9]+' | head -n 1 || true)
  printf '%s\n' "$version"
}

# The packages of ./run lint.
lint_packages=(clang-tidy clang-format shellcheck python3-clang git codespell)

# The libraries of src/cli.
cli_packages=(libsimdjson-dev libgmime-3.0-dev libxml2-dev libzstd-dev liblzma-dev libbz2-dev)

# package_names build|test|compile|lint|bench|pictures|package VERSION
package_names() {
  if [ "$1" = package ]; then
    printf '%s\n' debootstrap debian-archive-keyring
    if [ "${NEARDUP_PACKAGE_ARCHITECTURE:-}" = arm64 ]; then echo qemu-user-static; fi
    return
  fi
  if [ -z "${PG_CONFIG:-}" ]; then printf '%s\n' "postgresql-$2" "postgresql-server-dev-$2"; fi
  printf '%s\n' g++ make libpq-dev libxxhash-dev zlib1g-dev diffutils
  printf '%s\n' pkg-config libuchardet-dev libopencc-dev libre2-dev  # what src/text is built on
  printf '%s\n' "${cli_packages[@]}"
  case $1 in
    test)
      printf '%s\n' cmake libgtest-dev python3 python3-psycopg python3-psycopg2
      printf '%s\n' unicode-data  # what generated tables are compared with
      printf '%s\n' libdbd-pg-perl libpostgresql-jdbc-java  # clients
      printf '%s\n' zstd  # packs files for the tests of the loader
      printf '%s\n' python3-venv  # for what comes from PyPI: pglast of the lint of SQL, clients of Python
      printf '%s\n' python3-dev  # for clients/python-core
      if [ "${form:-short}" != short ]; then printf '%s\n' "${lint_packages[@]}"; fi
      # fuzz targets; what digests are compared with; random queries
      if [ "${NEARDUP_FULL:-0}" = 1 ]; then
        printf '%s\n' clang libclang-rt-dev libfuzzy-dev ssdeep sqlsmith golang-go golang-github-jackc-pgx-v4-dev \
          r-cran-rpostgresql
      fi
      if [ "${NEARDUP_FULL:-0}" = 1 ] || [ -n "${fresh_suites:-}" ]; then printf '%s\n' debootstrap; fi
      # tools/run/arm64.sh
      if [ "${NEARDUP_FULL:-0}" = 1 ]; then printf '%s\n' qemu-user-static g++-aarch64-linux-gnu; fi
      ;;
    compile) printf '%s\n' cmake libgtest-dev libbenchmark-dev clang ;;
    lint) printf '%s\n' python3 python3-venv libgtest-dev "${lint_packages[@]}" ;;
    bench)
      printf '%s\n' cmake libgtest-dev libbenchmark-dev python3-psycopg
      apt-cache show "postgresql-$2-pgvector" >/dev/null 2>&1 && printf '%s\n' "postgresql-$2-pgvector"  # a peer
      ;;
    pictures) printf '%s\n' chromium fonts-dejavu-core pngquant python3 ;;
  esac
}

# Packages without which ./run goes on: the tests that need them say that they are skipped.
is_optional() {
  case $1 in
    clang | libclang-rt-dev | python3-psycopg | python3-psycopg2 | libbenchmark-dev | libfuzzy-dev) return 0 ;;
    ssdeep | debootstrap | postgresql-*-pgvector | golang-go | golang-github-jackc-pgx-v4-dev) return 0 ;;
    r-cran-rpostgresql | qemu-user-static | g++-aarch64-linux-gnu) return 0 ;;
    clang-tidy | clang-format | shellcheck | python3-clang | git | codespell) return 0 ;;
    python3-venv | python3-dev | sqlsmith | unicode-data | zstd | libdbd-pg-perl | libpostgresql-jdbc-java) return 0 ;;
    pkg-config | libuchardet-dev | libopencc-dev | libre2-dev) return 0 ;;
    libsimdjson-dev | libgmime-3.0-dev | libxml2-dev | libzstd-dev | liblzma-dev | libbz2-dev) return 0 ;;
  esac
  return 1
}

# The tools themselves, wherever they come from; prints what is missing.
missing_tools() {
  local header
  command -v g++ >/dev/null || echo "g++ (C++20)"
  command -v make >/dev/null || echo "make"
  pg_config=$(find_pg_config)
  if [ -z "$pg_config" ] || [ ! -f "$("$pg_config" --pgxs 2>/dev/null)" ]; then
    echo "PostgreSQL's development files (pg_config, PGXS)"
  elif [ ! -x "$("$pg_config" --bindir)/postgres" ]; then
    echo "the PostgreSQL server ($("$pg_config" --bindir)/postgres)"
  fi
  if command -v g++ >/dev/null; then
    for header in xxhash.h zlib.h; do
      echo "#include <$header>" | g++ -E -x c++ - >/dev/null 2>&1 || echo "$header"
    done
  fi
  case $1 in
    test | bench | compile) command -v cmake >/dev/null || echo "cmake" ;;
  esac
}

# apt_get ARGS...: as root, without questions
apt_get() { "${apt_sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }

# The system's own cluster is not ours to create: postgresql-NN would make and start one when it is installed.
drop_in=/etc/postgresql-common/createcluster.d/neardup.conf
remove_drop_in() {
  if [ -e "$drop_in" ]; then "${apt_sudo[@]}" rm -f "$drop_in"; fi
}

apt_install() {
  local status=0 wanted
  case " $* " in
    *" postgresql-"[0-9]*)
      if ! is_installed "postgresql-$pg_version"; then
        apt_get install -y --no-install-recommends postgresql-common || return
        at_exit remove_drop_in
        "${apt_sudo[@]}" mkdir -p "${drop_in%/*}"
        echo 'create_main_cluster = false' | "${apt_sudo[@]}" tee "$drop_in" >/dev/null
      fi
      ;;
  esac
  apt_get install -y --no-install-recommends "$@" || status=$?
  if [ $status -ne 0 ]; then  # what is optional must not stop the rest
    status=0
    for wanted in "$@"; do
      if ! apt_get install -y --no-install-recommends "$wanted"; then is_optional "$wanted" || status=1; fi
    done
  fi
  remove_drop_in
  return $status
}

# The packages of apt.postgresql.org, with all versions of PostgreSQL, where NEARDUP_PGDG=1 asks for them.
pgdg_script=/usr/share/postgresql-common/pgdg/apt.postgresql.org.sh
add_pgdg() {
  if [ "${NEARDUP_PGDG:-0}" != 1 ] || compgen -G '/etc/apt/sources.list.d/pgdg.*' >/dev/null; then return; fi
  run_logged apt-update apt_get update
  run_logged apt-pgdg apt_get install -y --no-install-recommends postgresql-common ca-certificates
  # A version that is not released has a part of the repository to itself.
  run_logged apt-pgdg "${apt_sudo[@]}" "$pgdg_script" -y ${NEARDUP_PG_MAJOR:+-c "$NEARDUP_PG_MAJOR"}
}

# install_packages KIND: what package_names lists and is not installed, where there is apt
install_packages() {
  local kind=$1 missing=() package
  has_apt || return 0
  pg_version=$(postgresql_version)
  apt_sudo=()
  if [ "$my_uid" -ne 0 ]; then apt_sudo=(sudo); fi
  add_pgdg
  if [ -z "$pg_version" ] && [ -z "${PG_CONFIG:-}" ] && may_install; then
    say "reading the package lists (apt-get update)"
    run_logged apt-update apt_get update
    pg_version=$(postgresql_version)
  fi
  while read -r package; do
    is_installed "$package" || missing+=("$package")
  done < <(package_names "$kind" "${pg_version:-NN}")
  if [ ${#missing[@]} -gt 0 ]; then install_missing "$kind" "${missing[@]}"; fi
}

# need_packages build|test|compile|lint|bench|pictures: installs them, sets pg_config, or ends with a message.
need_packages() {
  local kind=$1 lack
  install_packages "$kind"
  lack=$(missing_tools "$kind")
  if [ -n "$lack" ]; then
    warn "missing on this machine:"
    printf '%s\n' "$lack" | sed 's/^/  /' >&2
    warn "the packages, by their Debian names: $(package_names "$kind" "${pg_version:-NN}" | tr '\n' ' ')"
    die "install them and run this again"
  fi
  pg_config=$(find_pg_config)
}

# root, or sudo that can ask or needs not
may_install() {
  [ "$my_uid" -eq 0 ] && return
  command -v sudo >/dev/null || return
  sudo -n true 2>/dev/null || [ -t 0 ]
}

install_missing() {
  local kind=$1
  shift
  if ! may_install; then
    warn "not installed: $*"
    warn "as root: apt-get install --no-install-recommends $*"
    return
  fi
  say "installing: $*"
  if [ ${#apt_sudo[@]} -gt 0 ]; then sudo -v || die "sudo was refused"; fi
  if ! apt_lists_there; then run_logged apt-update apt_get update; fi
  if ! apt_install "$@" >"$logs/apt.log" 2>&1 </dev/null; then
    say "again, with fresh package lists"
    run_logged apt-update apt_get update
    if ! apt_install "$@" >"$logs/apt.log" 2>&1 </dev/null; then
      tail -n 15 "$logs/apt.log" >&2
      warn "apt-get could not install all of it (the whole log: $logs/apt.log); going on with what is there"
    fi
  fi
}
