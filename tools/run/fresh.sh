# shellcheck shell=bash
# Sourced by ./run: ./run demo on freshly made Debian and Ubuntu roots, as root and as an ordinary user (test --full),
# and ./run test there (test --fresh).
# work: set in common.sh; debian_mirror, debian_keys: in roots.sh; fresh_suites: in tests.sh
# shellcheck disable=SC2154

: "${root:?}"

fresh_root=""  # the root being tried

# fresh_demo NAME LOG COMMAND...: the demo in the root, all set-up included
fresh_demo() {
  local name=$1 log=$2 left began status=0 took
  shift 2
  began=$(date +%s.%N)
  in_fresh_root "$@" >"$log" 2>&1 || status=$?
  took=$(seconds_since "$began")
  left=$(processes_in "$fresh_root" | tr '\n' ' ')
  if [ "$status" -ne 0 ]; then
    say "not ok - $name: ended with status $status"
    tail -n 15 "$log"
    count failed
  elif ! grep -qE '(1[0-9][0-9]|200) of 200 found' "$log"; then
    say "not ok - $name: no planted copies found"
    tail -n 15 "$log"
    count failed
  elif [ -n "$left" ]; then
    say "not ok - $name: processes left: $left"
    count failed
  else
    say "ok - $name: $(grep -oE '[0-9]+ of 200 found' "$log");" \
      "$(grep -oE 'The demo took [0-9]+ s' "$log"), with all set-up $took s"
    count passed
  fi
}

# fresh_lacks SUITE WHY: a suite that --fresh was asked for must be there; --full goes on without
fresh_lacks() {
  if [ -n "$fresh_suites" ]; then
    say "not ok - fresh $1: $2"
    count failed
  else
    say "skip - fresh $1: $2"
    count skipped
  fi
}

# make_fresh_root SUITE MIRROR KEYRING SCRIPT: as make_root; the tree of the last commit is in /neardup there. False,
# with a line why, where it cannot be made.
make_fresh_root() {
  local log=$work/log/fresh-$1.log
  if [ ! -e "$3" ]; then
    fresh_lacks "$1" "no $3 (the package debian-archive-keyring or ubuntu-keyring; Debian 12 has none of Ubuntu)"
    return 1
  fi
  fresh_root=$work/fresh-$1
  if ! make_root "$fresh_root" "$@" >"$log" 2>&1; then
    fresh_lacks "$1" "debootstrap of $2 failed, see $log"
    return 1
  fi
  # Universe holds some of Ubuntu's packages.
  if [ "$1" = noble ]; then echo "deb $2 $1 main universe" >"$fresh_root/etc/apt/sources.list"; fi
  if ! mount -t proc proc "$fresh_root/proc" || ! mkdir "$fresh_root/neardup" ||
    ! checkout_git archive HEAD | tar -x -C "$fresh_root/neardup"; then
    say "not ok - fresh $1: the root cannot be filled"
    count failed
    return 1
  fi
}

in_fresh_root() { chroot "$fresh_root" env -i PATH="$PATH" HOME=/root "$@" </dev/null; }

# fresh_system DEMOS|TESTS SUITE MIRROR KEYRING SCRIPT
fresh_system() {
  local kind=$1 log=$work/log/fresh-$2.log summary began
  shift
  if ! make_fresh_root "$@"; then
    remove_root "$fresh_root"
    return 0
  fi
  fresh_demo "fresh $1, ./run demo as root" "$log.root" /neardup/run demo
  if [ "$kind" = TESTS ]; then
    began=$(date +%s.%N)
    in_fresh_root /neardup/run test >"$log.test" 2>&1 || true
    summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log.test" | tail -n 1 || true)
    say "$(grep -m 1 '^neardup tests' "$log.test" || true): ${summary:-no result}, in $(seconds_since "$began") s"
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
  fresh_demo "fresh $1, ./run demo as an ordinary user" "$log.user" su someone -c "cd /neardup && ./run demo"
  remove_root "$fresh_root"
}

# fresh_suite DEMOS|TESTS SUITE
fresh_suite() {
  case $2 in
    bookworm | trixie) fresh_system "$1" "$2" "$debian_mirror" "$debian_keys" "$2" ;;
    sid) fresh_system "$1" sid "$debian_mirror" "$debian_keys" sid ;;
    noble)
      fresh_system "$1" noble "${NEARDUP_MIRROR_UBUNTU:-http://archive.ubuntu.com/ubuntu}" \
        /usr/share/keyrings/ubuntu-archive-keyring.gpg gutsy
      ;;
    *) die "a fresh root is made of bookworm, trixie, sid or noble: $2" ;;
  esac
}

can_make_roots() {
  if [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null &&
    checkout_git rev-parse -q --verify HEAD >/dev/null 2>&1; then return; fi
  fresh_lacks systems "they need root, debootstrap and a git checkout"
  return 1
}

step_fresh() {
  local suite
  can_make_roots || return 0
  trap 'remove_root "$fresh_root"' EXIT
  for suite in bookworm trixie noble; do fresh_suite DEMOS "$suite"; done
}

# The roots of $fresh_suites: bookworm has PostgreSQL 15, trixie 17, sid 18.
step_fresh_tests() {
  local suite
  can_make_roots || return 0
  trap 'remove_root "$fresh_root"' EXIT
  for suite in $fresh_suites; do fresh_suite TESTS "$suite"; done
}
