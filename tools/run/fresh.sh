# shellcheck shell=bash
# Sourced by ./run: ./run demo on freshly made Debian and Ubuntu roots, as root and as an ordinary user (test --full).
# shellcheck disable=SC2154  # work: set in common.sh

: "${root:?}"

fresh_root=""  # the root being tried, for remove_fresh_root

# Processes whose root folder is $1
processes_in() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/root" 2>/dev/null)" = "$1" ]; then printf '%s\n' "${process#/proc/}"; fi
  done
}

remove_fresh_root() {
  local process
  [ -n "$fresh_root" ] || return 0
  for process in $(processes_in "$fresh_root"); do kill "$process" 2>/dev/null || true; done
  mountpoint -q "$fresh_root/proc" && umount "$fresh_root/proc"
  rm -rf --one-file-system "$fresh_root"
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

# fresh_system SUITE MIRROR KEYRING SCRIPT: SCRIPT is debootstrap's, for suites newer than it is
fresh_system() {
  local log=$work/log/fresh-$1.log
  if [ ! -e "$3" ]; then
    say "skip - fresh $1: no $3"
    count skipped
    return
  fi
  fresh_root=$work/fresh-$1
  rm -rf --one-file-system "$fresh_root"
  if ! debootstrap --variant=minbase --keyring="$3" "$1" "$fresh_root" "$2" \
    "/usr/share/debootstrap/scripts/$4" >"$log" 2>&1; then
    say "skip - fresh $1: debootstrap of $2 failed, see $log"
    count skipped
    remove_fresh_root
    return
  fi
  # Universe holds some of Ubuntu's packages; how this machine reaches its mirrors holds there, too.
  if [ "$1" = noble ]; then echo "deb $2 $1 main universe" >"$fresh_root/etc/apt/sources.list"; fi
  cp /etc/resolv.conf "$fresh_root/etc/" 2>/dev/null || true
  { grep -lis proxy /etc/apt/apt.conf.d/* || true; } | xargs -r cp -t "$fresh_root/etc/apt/apt.conf.d/"
  printf '#!/bin/sh\nexit 101\n' >"$fresh_root/usr/sbin/policy-rc.d"
  chmod +x "$fresh_root/usr/sbin/policy-rc.d"
  mount -t proc proc "$fresh_root/proc"
  mkdir "$fresh_root/neardup"
  git -C "$root" -c safe.directory="$root" archive HEAD | tar -x -C "$fresh_root/neardup"
  chroot "$fresh_root" env -i PATH="$PATH" HOME=/root /neardup/run demo >"$log.root" 2>&1 </dev/null || true
  fresh_result "fresh $1, ./run demo as root" "$log.root"
  chroot "$fresh_root" useradd -m someone
  rm -rf "$fresh_root/neardup/.run"
  chroot "$fresh_root" chown -R someone /neardup
  chroot "$fresh_root" su someone -c "cd /neardup && ./run demo" >"$log.user" 2>&1 </dev/null || true
  fresh_result "fresh $1, ./run demo as an ordinary user" "$log.user"
  remove_fresh_root
}

step_fresh() {
  if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    say "skip - fresh systems: they need root and debootstrap"
    count skipped
    return
  fi
  trap remove_fresh_root EXIT
  fresh_system bookworm "${NEARDUP_MIRROR_DEBIAN:-http://deb.debian.org/debian}" \
    /usr/share/keyrings/debian-archive-keyring.gpg bookworm
  fresh_system noble "${NEARDUP_MIRROR_UBUNTU:-http://archive.ubuntu.com/ubuntu}" \
    /usr/share/keyrings/ubuntu-archive-keyring.gpg gutsy
}
