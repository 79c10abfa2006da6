# shellcheck shell=bash
# Sourced by ./run: ./run demo on freshly made Debian and Ubuntu roots, as root and as an ordinary user (test --full), and ./run test there
# (test --fresh).
# shellcheck disable=SC2154  # work: set in common.sh; fresh_suites: in tests.sh

: "${root:?}"

fresh_root=""  # the root being tried, for remove_fresh_root

# Processes whose root folder is $1
processes_in() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/root" 2>/dev/null)" = "$1" ]; then printf '%s\n' "${process#/proc/}"; fi
  done
}

# Whatever fails in it, the rest is done.
remove_fresh_root() {
  local process n
  [ -n "$fresh_root" ] || return 0
  for process in $(processes_in "$fresh_root"); do kill "$process" 2>/dev/null || true; done
  for ((n = 0; n < 50; ++n)); do
    [ -n "$(processes_in "$fresh_root")" ] || break
    sleep 0.2
  done
  for process in $(processes_in "$fresh_root"); do kill -KILL "$process" 2>/dev/null || true; done
  if mountpoint -q "$fresh_root/proc"; then umount "$fresh_root/proc" || umount -l "$fresh_root/proc" || true; fi
  rm -rf --one-file-system "$fresh_root" || warn "left behind: $fresh_root"
  fresh_root=""
}

fresh_result() { # NAME LOG
  local left
  left=$(processes_in "$fresh_root" | tr '\n' ' ')
  if ! grep -qE '(1[0-9][0-9]|200) of 200 found' "$2"; then
    say "not ok - $1: no planted copies found"
    tail -n 15 "$2"
    count failed
  elif [ -n "$left" ]; then
    say "not ok - $1: processes left: $left"
    count failed
  else
    say "ok - $1: $(grep -oE '[0-9]+ of 200 found' "$2"), $(grep -oE 'The demo took [0-9]+ s' "$2")"
    count passed
  fi
}

# make_fresh_root SUITE MIRROR KEYRING SCRIPT: SCRIPT is debootstrap's, for suites newer than it is. The tree of the last commit is in
# /neardup there. False, with a line why, where it cannot be made.
make_fresh_root() {
  local log=$work/log/fresh-$1.log script=/usr/share/debootstrap/scripts/$4
  # debootstrap's own scripts end with the newest release that it knows.
  if [ ! -e "$script" ]; then script=/usr/share/debootstrap/scripts/sid; fi
  if [ ! -e "$3" ]; then
    say "skip - fresh $1: no $3"
    count skipped
    return 1
  fi
  fresh_root=$work/fresh-$1
  remove_fresh_root  # of a run that was killed
  fresh_root=$work/fresh-$1
  if ! debootstrap --variant=minbase --keyring="$3" "$1" "$fresh_root" "$2" \
    "$script" >"$log" 2>&1; then
    say "skip - fresh $1: debootstrap of $2 failed, see $log"
    count skipped
    remove_fresh_root
    return 1
  fi
  # Universe holds some of Ubuntu's packages; how this machine reaches its mirrors holds there, too.
  if [ "$1" = noble ]; then echo "deb $2 $1 main universe" >"$fresh_root/etc/apt/sources.list"; fi
  cp /etc/resolv.conf "$fresh_root/etc/" 2>/dev/null || true
  { grep -lis proxy /etc/apt/apt.conf.d/* || true; } | xargs -r cp -t "$fresh_root/etc/apt/apt.conf.d/"
  printf '#!/bin/sh\nexit 101\n' >"$fresh_root/usr/sbin/policy-rc.d"
  chmod +x "$fresh_root/usr/sbin/policy-rc.d"
  if ! mount -t proc proc "$fresh_root/proc" || ! mkdir "$fresh_root/neardup" ||
    ! git -C "$root" -c safe.directory="$root" archive HEAD | tar -x -C "$fresh_root/neardup"; then
    say "not ok - fresh $1: the root cannot be filled"
    count failed
    return 1
  fi
}

in_fresh_root() { chroot "$fresh_root" env -i PATH="$PATH" HOME=/root "$@" </dev/null; }

# fresh_system DEMOS|TESTS SUITE MIRROR KEYRING SCRIPT
fresh_system() {
  local kind=$1 log=$work/log/fresh-$2.log summary
  shift
  if ! make_fresh_root "$@"; then
    remove_fresh_root
    return 0
  fi
  in_fresh_root /neardup/run demo >"$log.root" 2>&1 || true
  fresh_result "fresh $1, ./run demo as root" "$log.root"
  if [ "$kind" = TESTS ]; then
    in_fresh_root /neardup/run test >"$log.test" 2>&1 || true
    summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log.test" | tail -n 1 || true)
    say "$(grep -m 1 '^neardup tests' "$log.test" || true): ${summary:-no result}"
    if [[ $summary =~ ^([0-9]+)\ passed,\ 0\ failed ]]; then
      say "ok - fresh $1, ./run test"
      count passed
    else
      say "not ok - fresh $1, ./run test"
      tail -n 40 "$log.test"
      count failed
    fi
  fi
  in_fresh_root useradd -m someone
  rm -rf "$fresh_root/neardup/.run"
  in_fresh_root chown -R someone /neardup
  in_fresh_root su someone -c "cd /neardup && ./run demo" >"$log.user" 2>&1 || true
  fresh_result "fresh $1, ./run demo as an ordinary user" "$log.user"
  remove_fresh_root
}

# fresh_suite DEMOS|TESTS SUITE
fresh_suite() {
  local debian=${NEARDUP_MIRROR_DEBIAN:-http://deb.debian.org/debian} debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg
  case $2 in
    bookworm | trixie) fresh_system "$1" "$2" "$debian" "$debian_keys" "$2" ;;
    sid) fresh_system "$1" sid "$debian" "$debian_keys" sid ;;
    noble)
      fresh_system "$1" noble "${NEARDUP_MIRROR_UBUNTU:-http://archive.ubuntu.com/ubuntu}" \
        /usr/share/keyrings/ubuntu-archive-keyring.gpg gutsy
      ;;
    *) die "a fresh root is made of bookworm, trixie, sid or noble: $2" ;;
  esac
}

can_make_roots() {
  if [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null &&
    git -C "$root" -c safe.directory="$root" rev-parse -q --verify HEAD >/dev/null 2>&1; then return; fi
  say "skip - fresh systems: they need root, debootstrap and a git checkout"
  count skipped
  return 1
}

step_fresh() {
  local suite
  can_make_roots || return 0
  trap remove_fresh_root EXIT
  for suite in bookworm trixie noble; do fresh_suite DEMOS "$suite"; done
}

# In the roots of $fresh_suites: bookworm has PostgreSQL 15, trixie 17, sid 18.
step_fresh_tests() {
  local suite
  can_make_roots || return 0
  trap remove_fresh_root EXIT
  for suite in $fresh_suites; do fresh_suite TESTS "$suite"; done
}
