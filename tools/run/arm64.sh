# shellcheck shell=bash
# Sourced by ./run: arm64 on other machines. A Debian root of that architecture runs under QEMU's user emulation; what a
# cross compiler has built is tested there (a step of test --full). ./run package builds in such a root, too.
# work, logs, launcher: set in common.sh and native.sh; debian_mirror, debian_keys: in roots.sh
# shellcheck disable=SC2154

: "${root:?}"

arm64_root=""          # the root being used
arm64_registration=""  # of QEMU in the kernel, made here
arm64_mounted=0        # so is the kernel's folder for it
arm64_compiler=aarch64-linux-gnu-g++

kernel_formats=/proc/sys/fs/binfmt_misc
# The head of an ELF file for arm64: 64 bits, little-endian, a program or a library, its machine; and what of it counts.
arm64_head='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
arm64_mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

is_arm64() { [ "$(uname -m)" = aarch64 ]; }

# let_arm64_run: makes the kernel run programs for arm64 by QEMU, until forget_arm64. An earlier registration, of
# Debian's package, stays as it is. F: the emulator is opened now, so a root need not have it.
let_arm64_run() {
  local name=neardup-arm64-$$
  if is_arm64; then return; fi
  if ! mountpoint -q "$kernel_formats"; then
    mount -t binfmt_misc binfmt_misc "$kernel_formats" || return
    arm64_mounted=1
  fi
  printf '%s' ":$name:M::$arm64_head:$arm64_mask:$(command -v qemu-aarch64-static):F" >"$kernel_formats/register" ||
    return
  arm64_registration=$kernel_formats/$name
}

forget_arm64() {
  if [ -n "$arm64_registration" ]; then echo -1 >"$arm64_registration"; fi
  if [ "$arm64_mounted" = 1 ]; then umount "$kernel_formats" || true; fi
  arm64_registration="" arm64_mounted=0
}

remove_arm64() {
  remove_root "$arm64_root"
  forget_arm64
}

# arm64_fill FOLDER: PostgreSQL and the libraries for arm64, without the compiler, which is the cross compiler; the tree
# of the last commit in /neardup
arm64_fill() {
  local version packages
  mount -t proc proc "$1/proc" || return
  mkdir -p "$1/etc/postgresql-common/createcluster.d" "$1/neardup"
  echo 'create_main_cluster = false' >"$1/etc/postgresql-common/createcluster.d/neardup.conf"
  in_root "$1" apt-get update || return
  version=$(in_root "$1" apt-cache depends postgresql | grep -oE 'postgresql-[0-9]+' | grep -oE '[0-9]+' | head -n 1)
  mapfile -t packages < <(PG_CONFIG="" package_names build "$version" | grep -vx g++)
  in_root "$1" apt-get install -y --no-install-recommends "${packages[@]}" libgtest-dev || return
  checkout_git archive HEAD | tar -x -C "$1/neardup"
}

# arm64_env FOLDER COMMAND...: with what finds the libraries of the root instead of this machine's. Programs of the root
# that run outside of it, such as pg_config and tests, find theirs by QEMU_LD_PREFIX.
arm64_env() {
  local folder=$1
  shift
  env -u PKG_CONFIG_PATH QEMU_LD_PREFIX="$folder" PKG_CONFIG_SYSROOT_DIR="$folder" \
    PKG_CONFIG_LIBDIR="$folder/usr/lib/aarch64-linux-gnu/pkgconfig:$folder/usr/share/pkgconfig" "$@"
}

# arm64_build FOLDER: extension and program by the Makefile, installed in the root; then the test programs
arm64_build() {
  local tree=$1/neardup config make_options
  config=$(printf '%s\n' "$1"/usr/lib/postgresql/*/bin/pg_config)
  # pg_config names folders as they are seen from where it lies: those of the root.
  make_options=(-C "$tree" -j"$(processors)" PG_CONFIG="$config" CC="${arm64_compiler%g++}gcc --sysroot=$1" \
    CXX="$arm64_compiler --sysroot=$1" CUDA=no)
  arm64_env "$1" make "${make_options[@]}" all || return
  arm64_env "$1" make "${make_options[@]}" install || return
  # shellcheck disable=SC2054  # no list of bash
  local find_modes=(-DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY)
  arm64_env "$1" cmake -S "$tree" -B "$tree/build" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g1" \
    -DNEARDUP_OBJECTS="$tree" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER="$arm64_compiler" \
      -DCMAKE_SYSROOT="$1" \
    "${find_modes[@]}" "${launcher[@]}" || return
  arm64_env "$1" cmake --build "$tree/build" -j "$(processors)" --target unit_test fuzz_replay_test
}

# Unit tests, with those that read the test vectors, and the corpora of the fuzz targets. Kernels of the GPU module on
# the host are left out: they take half of the time, and nothing in them is arm64's.
arm64_unit() {
  local program
  export QEMU_LD_PREFIX=$1 GTEST_FILTER='-GpuSearchOnHost.*:GpuWordsOnHost.*'
  for program in unit_test fuzz_replay_test; do gtest_shard "$1/neardup/build/$program" 1 0; done
  unset QEMU_LD_PREFIX GTEST_FILTER
}

# arm64_regress FOLDER NAME MAKE-OPTIONS...: pg_regress or pg_isolation_regress inside the root, in a cluster of its own
arm64_regress() {
  local folder=$1 output=/tmp/$2 status=0
  in_root "$folder" install -d -o postgres "$output" "$output/results"
  shift 2
  in_root "$folder" su postgres \
    -c "cd /tmp && pg_virtualenv make -C /neardup installcheck EXTRA_REGRESS_OPTS=--outputdir=$output $*" \
    >"$folder$output/log" 2>&1 </dev/null || status=$?
  count_regress "$folder$output"
  return $status
}

can_test_arm64() {
  [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null && command -v qemu-aarch64-static >/dev/null &&
    command -v "$arm64_compiler" >/dev/null && [ -e "$debian_keys" ] &&
      checkout_git rev-parse -q --verify HEAD >/dev/null 2>&1
}

step_arm64() {
  local log=$logs/arm64 status=0
  if is_arm64; then
    say "skip - arm64 under QEMU: this machine is one, and has run all of it"
    count skipped
    return
  fi
  if ! can_test_arm64; then
    say "skip - arm64: it needs root, debootstrap, debian-archive-keyring, qemu-user-static, g++-aarch64-linux-gnu" \
      "and a git checkout"
    count skipped
    return
  fi
  trap remove_arm64 EXIT
  if ! let_arm64_run; then
    say "skip - arm64: the kernel takes no QEMU for its programs (binfmt_misc)"
    count skipped
    return
  fi
  arm64_root=$work/arm64
  if ! { make_root "$arm64_root" bookworm "$debian_mirror" "$debian_keys" bookworm arm64 &&
    arm64_fill "$arm64_root"; } >"$log-root.log" 2>&1; then
    say "skip - arm64: the root cannot be made, or its packages cannot be had, see $log-root.log"
    count skipped
    return
  fi
  verdict "the cross compiler builds extension, program and tests" "$log-build.log" arm64_build "$arm64_root" ||
    return 0
  arm64_unit "$arm64_root"
  arm64_regress "$arm64_root" regress ISOLATION= || status=1
  arm64_regress "$arm64_root" isolation REGRESS= || status=1
  return $status
}
