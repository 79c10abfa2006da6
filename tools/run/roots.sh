# shellcheck shell=bash
# Sourced by ./run: roots of Debian and Ubuntu, freshly made, for what must work where nothing was installed by hand;
# what goes into them comes from the checkout's git.
# shellcheck disable=SC2034  # used in fresh.sh and package.sh

: "${root:?}"

debian_mirror=${NEARDUP_MIRROR_DEBIAN:-http://deb.debian.org/debian}
debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

checkout_git() { git -C "$root" "$@"; }

# Processes whose root folder is $1
processes_in() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/root" 2>/dev/null)" = "$1" ]; then printf '%s\n' "${process#/proc/}"; fi
  done
}

# remove_root FOLDER: with what runs there. Whatever fails in it, the rest is done.
remove_root() {
  local process n mounted
  if [ -z "$1" ] || [ ! -e "$1" ]; then return; fi
  for process in $(processes_in "$1"); do kill "$process" 2>/dev/null || true; done
  for ((n = 0; n < 50; ++n)); do
    [ -n "$(processes_in "$1")" ] || break
    sleep 0.2
  done
  for process in $(processes_in "$1"); do kill -KILL "$process" 2>/dev/null || true; done
  for mounted in "$1/dev/pts" "$1/proc"; do
    if mountpoint -q "$mounted"; then umount "$mounted" || umount -l "$mounted" || true; fi
  done
  rm -rf --one-file-system "$1" || warn "left behind: $1"
}

# make_root FOLDER SUITE MIRROR KEYRING SCRIPT [ARCHITECTURE]: a root that knows how this machine reaches its mirrors,
# has terminals, and starts no services. SCRIPT is debootstrap's, for suites newer than it is. Programs of another
# ARCHITECTURE must run here (arm64.sh).
make_root() {
  local script=/usr/share/debootstrap/scripts/$5
  # debootstrap's own scripts end with the newest release that it knows.
  if [ ! -e "$script" ]; then script=/usr/share/debootstrap/scripts/sid; fi
  remove_root "$1"  # of a run that was killed
  debootstrap ${6:+--arch="$6"} --variant=minbase --keyring="$4" "$2" "$1" "$3" "$script" || return
  mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$1/dev/pts" || warn "no terminals in $1"
  cp /etc/resolv.conf "$1/etc/" 2>/dev/null || true
  { grep -lis proxy /etc/apt/apt.conf.d/* || true; } | xargs -r cp -t "$1/etc/apt/apt.conf.d/"
  if [ -n "${PIP_CERT:-}" ]; then  # how this machine trusts PyPI
    cp "$PIP_CERT" "$1/etc/pip-cert.crt"
    printf '[global]\ncert = /etc/pip-cert.crt\n' >"$1/etc/pip.conf"
  fi
  printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
  chmod +x "$1/usr/sbin/policy-rc.d"
}
