# shellcheck shell=bash
# Sourced by ./run: the Debian packages of the commit, built and checked in a freshly made Debian root, put into a
# repository of apt, installed from it, used and removed in another root (./run package, and a step of test --full).
# shellcheck disable=SC2154  # work, logs: set in common.sh; debian_mirror, debian_keys: in roots.sh; came_from: in run

: "${root:?}"

package_roots=()  # to be removed at the end, whatever happens

remove_package_roots() {
  local folder
  for folder in "${package_roots[@]}"; do remove_root "$folder"; done
  package_roots=()
}

# in_root FOLDER COMMAND...: as root there, with nothing of this machine's environment
in_root() {
  local folder=$1
  shift
  chroot "$folder" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    "$@"
}

# verdict NAME LOG COMMAND...: one line and one count for it
verdict() {
  local name=$1 log=$2
  shift 2
  if "$@" >"$log" 2>&1 </dev/null; then
    say "ok - $name"
    count passed
  else
    say "not ok - $name: see $log"
    tail -n 15 "$log" | cut -c1-300
    count failed
    return 1
  fi
}

# package_version: as debian/changelog says it, 0.2.0-1
package_version() { sed -n '1s/^neardup (\([^)]*\)).*/\1/p' "$root/debian/changelog"; }

# upstream_version: the same without Debian's revision, 0.2.0
upstream_version() { package_version | sed 's/-[^-]*$//'; }

# package_source FOLDER COMMIT: the commit as a source tree and an orig tarball in
# FOLDER/build, of a user that is not root
package_source() {
  local upstream
  upstream=$(upstream_version)
  in_root "$1" useradd -m builder || return
  mkdir -p "$1/build/neardup-$upstream"
  checkout_git archive "$2" | tar -x -C "$1/build/neardup-$upstream" || return
  checkout_git archive --prefix="neardup-$upstream/" "$2" ':!debian' |
    gzip -n >"$1/build/neardup_$upstream.orig.tar.gz" || return
  in_root "$1" chown -R builder /build
}

# package_names_release FOLDER: 0.3.0-1 becomes 0.3.0-1~deb12+1: packages of two releases of Debian have different
# names, and those of the later one replace the others in an upgrade. sid has no number.
package_names_release() {
  local release
  release=$(sed -n 's/^VERSION_ID="\(.*\)"$/\1/p' "$1/usr/lib/os-release") || return
  if [ -n "$release" ]; then sed -i "1s/)/~deb$release+1)/" "$1/build/neardup-$(upstream_version)/debian/changelog"; fi
}

# package_build FOLDER: installs what the build needs, fits debian/control to the versions of this release, builds
package_build() {
  local source
  in_root "$1" apt-get install -y --no-install-recommends build-essential lintian man-db postgresql-server-dev-all ||
    return
  source=/build/neardup-$(upstream_version)
  package_names_release "$1" || return
  in_root "$1" sh -c "cd $source && pg_buildext updatecontrol && chown -R builder debian" || return
  in_root "$1" sh -c "cd $source && apt-get build-dep -y --no-install-recommends ./" || return
  in_root "$1" su builder -c "cd $source && DEB_BUILD_OPTIONS=parallel=$(processors) dpkg-buildpackage -us -uc"
}

package_lintian() {
  in_root "$1" su builder -c 'cd /build && lintian --fail-on error,warning --display-info --pedantic *.changes'
}

# package_files FOLDER: the packages that users install
package_files() {
  find "$1" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' -printf '%f\n' | sort
}

# package_names_of DEBS: of the packages that users install
package_names_of() { package_files "$1" | cut -d_ -f1; }

# package_repository FOLDER DEBS SUITE OUT: adds the packages to the repository of apt in OUT, which may have other
# suites and architectures. apt-ftparchive of the root in FOLDER writes the lists. A
# signature of before is no longer one of them.
package_repository() {
  local suite=$3 lists=dists/$3/main architecture architectures
  architecture=$(in_root "$1" dpkg --print-architecture)
  in_root "$1" apt-get install -y --no-install-recommends apt-utils || return
  rm -rf "$1/apt"
  mkdir -p "$1/apt" "$4" || return
  cp -a "$4/." "$1/apt/" || return
  mkdir -p "$1/apt/pool/$suite" "$1/apt/$lists/binary-$architecture" || return
  # -dbgsym packages, too: who debugs asks for them by name.
  cp "$2"/*.deb "$1/apt/pool/$suite/" || return
  in_root "$1" sh \
    -c "cd /apt && apt-ftparchive --arch $architecture packages pool/$suite >$lists/binary-$architecture/Packages &&
    gzip -n -9 -k -f $lists/binary-$architecture/Packages" || return
  rm -f "$1/apt/dists/$suite/Release" "$1/apt/dists/$suite/Release.gpg" "$1/apt/dists/$suite/InRelease"
  architectures=$(find "$1/apt/$lists" -maxdepth 1 -name 'binary-*' -printf '%f\n' | sed 's/^binary-//' | sort |
    tr '\n' ' ')
  in_root "$1" sh -c "cd /apt && apt-ftparchive -o APT::FTPArchive::Release::Origin=neardup \
    -o APT::FTPArchive::Release::Label=neardup -o APT::FTPArchive::Release::Suite=$suite \
    -o APT::FTPArchive::Release::Codename=$suite -o APT::FTPArchive::Release::Components=main \
    -o 'APT::FTPArchive::Release::Architectures=${architectures% }' \
    release dists/$suite >Release.new && mv Release.new dists/$suite/Release" || return
  cp -a "$1/apt/." "$4/" && rm -rf "$1/apt"
}

repository_in_root=/srv/apt-neardup  # while package_try uses it

# package_try FOLDER DEBS SUITE: installs them from the repository in DEBS/apt without anything that the build had, and
# uses them in a new cluster
package_try() {
  local version
  mkdir -p "$1/etc/postgresql-common/createcluster.d"
  echo 'create_main_cluster = false' >"$1/etc/postgresql-common/createcluster.d/neardup.conf"
  cp -a "$2/apt" "$1$repository_in_root"
  echo "deb [trusted=yes] file:$repository_in_root $3 main" >"$1/etc/apt/sources.list.d/neardup.list"
  in_root "$1" apt-get update || return
  # shellcheck disable=SC2046  # words
  in_root "$1" apt-get install -y --no-install-recommends $(package_names_of "$2") || return
  # No other repository had them.
  # shellcheck disable=SC2046  # words
  [ "$(in_root "$1" apt-cache policy $(package_names_of "$2") | grep -c "file:$repository_in_root")" \
    -eq "$(package_names_of "$2" | wc -l)" ] || return
  rm -rf "$1/etc/postgresql-common/createcluster.d/neardup.conf" "$1/etc/apt/sources.list.d/neardup.list" \
    "$1$repository_in_root" "$1"/var/lib/apt/lists/*apt-neardup*
  version=$(in_root "$1" sh -c 'ls /usr/lib/postgresql' | sort -rn | head -n 1)
  # the program has a package of its own
  if in_root "$1" dpkg -L "postgresql-$version-neardup" | grep /bin/; then return 1; fi
  in_root "$1" pg_createcluster "$version" try -- --auth=trust || return
  in_root "$1" pg_ctlcluster "$version" try start || return
  in_root "$1" su postgres -c 'psql -X -q -A -t -v ON_ERROR_STOP=1 -f -' <<'EOSQL' | grep -x 'all of it works' || return
CREATE EXTENSION neardup;
CREATE TABLE articles (id int PRIMARY KEY, body text);
INSERT INTO articles
SELECT i, 'article number ' || i / 2 || ' about ferry number ' || i / 2 * 7
    || ' and the island of ' || md5((i / 2)::text)
FROM generate_series(1, 2000) i;
CREATE INDEX articles_sig ON articles USING lsh (to_minhash(body));
ANALYZE articles;
CREATE FUNCTION pg_temp.query() RETURNS text LANGUAGE sql RETURN
  'SELECT id FROM articles WHERE jaccard(to_minhash(body),
    to_minhash((SELECT body FROM articles WHERE id = 700))) >= 0.8';
DO $$
DECLARE
  plan json;
  ids int[];
BEGIN
  SET LOCAL enable_seqscan = off;
  EXECUTE 'EXPLAIN (FORMAT json) ' || pg_temp.query() INTO plan;
  IF plan::text NOT LIKE '%articles_sig%' THEN RAISE 'the index is not used: %', plan; END IF;
  EXECUTE 'SELECT array_agg(id ORDER BY id) FROM (' || pg_temp.query() || ') found' INTO ids;
  IF ids IS DISTINCT FROM '{700,701}' THEN RAISE 'found %', ids; END IF;
  IF EXISTS (SELECT FROM neardup_version() WHERE sql <> library) THEN RAISE 'the module is of another version'; END IF;
  -- uchardet, OpenCC with its data, RE2
  IF (SELECT encoding
      FROM neardup_detect_encoding(convert_to('Пором до острова відходить о дев''ятій', 'WIN1251'))) IS NULL THEN
    RAISE 'no encoding is found';
  END IF;
  IF neardup_to_simplified('漢語') <> '汉语' THEN RAISE 'OpenCC converts otherwise'; END IF;
  PERFORM neardup_clean('rules are compiled');
END $$;
SELECT 'all of it works';
EOSQL
  echo 'a text of a few words' >"$1/tmp/page.txt"
  in_root "$1" neardup --version | grep -qx "neardup $(upstream_version)" || return
  in_root "$1" su postgres -c 'neardup load /tmp/page.txt --table pages' || return
  in_root "$1" pg_ctlcluster "$version" try stop || return
  in_root "$1" pg_dropcluster "$version" try
}

# package_purge FOLDER DEBS: removed, they leave no file
package_purge() {
  local names left
  names=$(package_names_of "$2")
  # shellcheck disable=SC2086  # words
  in_root "$1" apt-get purge -y $names || return
  rm -f "$1/tmp/page.txt"
  left=$(cd "$1" && find . -path ./proc -prune -o -path ./var/log -prune -o -name '*neardup*' -print)
  [ -z "$left" ] || { say "left: $left"; return 1; }
}

# packages_of SUITE [ARCHITECTURE]: builds for a release of Debian, checks, tries; the packages are in $work/packages
# then, or in $work/packages-ARCHITECTURE, and in the folder apt there as a repository
packages_of() {
  local folder=$work/packages${2:+-$2} target=$1${2:+ $2}
  local build=$folder-build try=$folder-try log=$logs/packages${2:+-$2} commit
  commit=$(checkout_git rev-parse HEAD)
  say "packages of ${commit:0:10}, version $(package_version), logs in $logs"
  package_roots+=("$build" "$try")
  if ! { make_root "$build" "$1" "$debian_mirror" "$debian_keys" "$1" "${2:-}" &&
    in_root "$build" apt-get update; } >"$log-root.log" 2>&1; then
    say "skip - packages for $target: debootstrap failed, see $log-root.log"
    count skipped
    return
  fi
  remove_root "$try"  # of a run that was killed
  cp -a "$build" "$try"
  mount -t proc proc "$build/proc"
  mount -t proc proc "$try/proc"
  package_source "$build" "$commit"
  verdict "packages for $target are built, and pass the regression tests" "$log-build.log" package_build "$build" ||
    return 0
  verdict "lintian has nothing against them" "$log-lintian.log" package_lintian "$build" || true
  rm -rf "$folder"
  mkdir -p "$folder"
  find "$build/build" -maxdepth 1 -type f -exec cp -t "$folder" {} +
  verdict "they are in a repository of apt" "$log-repository.log" package_repository "$build" "$folder" "$1" \
    "$folder/apt" || return 0
  verdict "installed from it in a bare $target, they work: extension, index, program" "$log-try.log" package_try \
    "$try" "$folder" "$1" || return 0
  verdict "purged, they leave nothing" "$log-purge.log" package_purge "$try" "$folder" || true
}

can_package() {
  [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null && [ -e "$debian_keys" ] &&
    checkout_git rev-parse -q --verify HEAD >/dev/null 2>&1
}
package_needs="root, debootstrap, debian-archive-keyring and a git checkout"

# ./run package [FOLDER]: for this machine, or for NEARDUP_PACKAGE_ARCHITECTURE=arm64, whose root runs under QEMU on
# other machines: slow, but as there.
run_package() {
  local folder made architecture=${NEARDUP_PACKAGE_ARCHITECTURE:-} suite=${NEARDUP_PACKAGE_SUITE:-bookworm}
  set_work
  case $architecture in
    "" | arm64) ;;
    *) die "NEARDUP_PACKAGE_ARCHITECTURE must be arm64, or empty for this machine's: $architecture" ;;
  esac
  [ "$my_uid" -eq 0 ] || die "packages are built in a root made by debootstrap; that needs $package_needs"
  made=$work/packages${architecture:+-$architecture}
  folder=${1:-$made}
  if [[ $folder != /* ]]; then folder=$came_from/$folder; fi
  install_packages package
  can_package || die "packages are built in a root made by debootstrap; that needs $package_needs"
  if [ "$architecture" = arm64 ]; then
    at_exit forget_arm64
    let_arm64_run || die "programs for arm64 do not run here: that needs qemu-user-static and a kernel with binfmt_misc"
  fi
  lock 9 "$work/test.lock" -n || die "another ./run test or ./run package is at work in this checkout"
  counts=$work/counts-package
  : >"$counts"
  at_exit remove_package_roots
  packages_of "$suite" "$architecture"
  if [ "$(total_of passed)" -gt 0 ]; then
    if [ "$folder" != "$made" ]; then
      mkdir -p "$folder"
      find "$made" -maxdepth 1 -type f -exec cp -t "$folder" {} +
      if [ "$(total_of failed)" -eq 0 ]; then run_logged packages-repository package_repository "$made-build" "$made" \
        "$suite" "$folder/apt"; fi
    fi
    find "$folder" -maxdepth 1 -name '*neardup*.deb' | sort
  fi
  [ "$(total_of failed)" -eq 0 ] && [ "$(total_of skipped)" -eq 0 ] || exit 1
}

step_packages() {
  if ! can_package; then
    say "skip - packages: they need $package_needs"
    count skipped
    return
  fi
  trap remove_package_roots EXIT
  packages_of bookworm
}
