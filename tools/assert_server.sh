#!/usr/bin/env bash
# A PostgreSQL server with assertions, from Debian's sources, to watch the extension against:
#
#     tools/assert_server.sh PREFIX [MAJOR [alone]]
#     PG_CONFIG=PREFIX/bin/pg_config ./run test --full
#
# A server of a distribution has its assertions left out: what breaks one there goes on, and may break later and
# elsewhere. As root, for apt. It takes about 20 minutes on two processors and 1 GB;
# sources and objects lie in PREFIX-build. "alone": the server without contrib and not optimized, in 2 minutes.
# Exit status 3: apt gives no sources, or not what compiles them.
set -euo pipefail

prefix=${1:?"usage: $0 PREFIX [MAJOR]"}
major=${2:-15}
package=postgresql-$major
form=${3:-whole}
build=$prefix-build
sources_list=/etc/apt/sources.list.d/neardup-sources.list

say() { printf '%s\n' "$*"; }

# The lists of source packages, where the machine reads only those of binaries: of this release of Debian, then of those
# to come, since a release has one version of PostgreSQL.
need_source_lists() {
  local suite
  . /etc/os-release
  for suite in "$VERSION_CODENAME" sid experimental; do
    if [ -n "$(versions)" ]; then return; fi
    say "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" \
      >"$sources_list"
    apt-get update || exit 3
  done
}

versions() { apt-cache showsrc "$package" 2>/dev/null | sed -n 's/^Version: //p' | sort -rV; }

# The newest whose files are there: a mirror may lack the last update.
get_sources() {
  local version
  for version in $(versions); do
    if (cd "$build" && apt-get source --download-only "$package=$version"); then return; fi
  done
  say "no sources of $package could be fetched"
  exit 3
}

unpack() {
  local archive
  archive=$(find "$build" -maxdepth 1 -name "${package}_*.orig.tar.*" ! -name '*.asc' | sort -V | tail -n 1)
  rm -rf "$build/src"
  mkdir "$build/src"
  tar -C "$build/src" --strip-components=1 -xf "$archive"
}

# compile FLAGS: the server, its programs and libraries
compile() {
  cd "$build/src"
  ./configure --prefix="$prefix" --enable-cassert --enable-debug --without-readline --without-icu CFLAGS="$1"
  make -s -j"${NEARDUP_JOBS:-2}" -C src/backend generated-headers
  make -s -j"${NEARDUP_JOBS:-2}" -C src
  make -s -C src install
}

# Modules that extensions are built and tested with besides.
compile_rest() {
  local part
  cd "$build/src"
  make -s -j"${NEARDUP_JOBS:-2}" -C contrib
  make -s -C contrib install
  for part in regress isolation; do make -s -C "src/test/$part" install; done
}

mkdir -p "$build"
need_source_lists
apt-get install -y --no-install-recommends dpkg-dev bison flex perl bzip2 zlib1g-dev gcc make || exit 3
get_sources
unpack
if [ "$form" = alone ]; then
  (compile '-O0 -g1')
else
  (compile '-O1 -g1')
  (compile_rest)
fi
say "made: PG_CONFIG=$prefix/bin/pg_config"
