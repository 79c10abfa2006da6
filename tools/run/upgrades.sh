# shellcheck shell=bash
# Sourced by ./run: what older releases and older versions of PostgreSQL have written, carried to this version and to
# newer ones (test/t/435_old_servers.py), in a root of Debian that has several versions of
# PostgreSQL (test --upgrades, a step of test --full).
# shellcheck disable=SC2154  # work, logs: set in common.sh; debian_mirror, debian_keys: in roots.sh

: "${root:?}"

upgrades_root=""  # the root being used
# Versions of PostgreSQL, and the suite of Debian that has each. The root is one of
# sid, in which programs of older suites run.
upgrade_versions=(15:bookworm 18:sid 19:experimental)
# Packages to compile the extension, and the program of 0.1.0, and to test them. Compilers and headers are those of sid.
upgrade_packages=(g++ make git libpq-dev libxxhash-dev zlib1g-dev pkg-config libuchardet-dev libopencc-dev libre2-dev \
  libssl-dev libicu-dev libkrb5-dev python3-psycopg)

# upgrades_sources FOLDER: where packages come from. sid's go before all others, whatever their versions; but a server
# of experimental needs its libpq.
upgrades_sources() {
  local version
  : >"$1/etc/apt/sources.list"
  for version in sid:sid "${upgrade_versions[@]}"; do echo "deb $debian_mirror ${version#*:} main"; done |
    sort -u >"$1/etc/apt/sources.list"
  printf 'Package: %s\nPin: release %s\nPin-Priority: %s\n\n' '*' n=sid 900 '*' n=bookworm 400 'libpq5 libpq-dev' \
    a=experimental 950 >"$1/etc/apt/preferences.d/neardup"
  # The newest packages are not what this is about: a mirror may lag behind.
  echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/99neardup"
  in_root "$1" apt-get update
}

# upgrades_server FOLDER VERSION: that PostgreSQL with its headers. These are unpacked: their package would bring a
# clang and an LLVM of each suite.
upgrades_server() {
  in_root "$1" apt-get install -y --no-install-recommends "postgresql-$2" || return
  in_root "$1" sh -c "cd /tmp && apt-get download postgresql-server-dev-$2 &&
    dpkg -x postgresql-server-dev-$2_*.deb / && rm postgresql-server-dev-$2_*.deb"
}

# upgrades_fill FOLDER: all of it, and a clone of the checkout with its history, from
# which the libraries of releases are built
upgrades_fill() {
  local version
  mount -t proc proc "$1/proc" || return
  mkdir -p "$1/etc/postgresql-common/createcluster.d"
  echo 'create_main_cluster = false' >"$1/etc/postgresql-common/createcluster.d/neardup.conf"
  upgrades_sources "$1" || return
  in_root "$1" apt-get install -y --no-install-recommends "${upgrade_packages[@]}" || return
  for version in "${upgrade_versions[@]}"; do upgrades_server "$1" "${version%:*}" || return; done
  git -c safe.directory="*" clone -q --no-hardlinks "$root" "$1/neardup"
}

remove_upgrades_root() { remove_root "$upgrades_root"; }

can_test_upgrades() {
  [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null && [ -e "$debian_keys" ] && command -v git >/dev/null &&
    checkout_git rev-parse -q --verify HEAD >/dev/null 2>&1
}

step_upgrades() {
  local oldest=${upgrade_versions[0]%:*}
  if ! can_test_upgrades; then
    say "skip - releases and versions of PostgreSQL: they need root, debootstrap, debian-archive-keyring" \
      "and a git checkout"
    count skipped
    return
  fi
  trap remove_upgrades_root EXIT
  upgrades_root=$work/upgrades
  if ! { make_root "$upgrades_root" sid "$debian_mirror" "$debian_keys" sid &&
    upgrades_fill "$upgrades_root"; } >"$logs/upgrades-root.log" 2>&1; then
    say "skip - releases and versions of PostgreSQL: the root cannot be made, or its packages cannot be had," \
      "see $logs/upgrades-root.log"
    count skipped
    return
  fi
  script_test in_root "$upgrades_root" env NEARDUP_FULL=1 PG_CONFIG="/usr/lib/postgresql/$oldest/bin/pg_config" \
    python3 /neardup/test/t/435_old_servers.py
}
