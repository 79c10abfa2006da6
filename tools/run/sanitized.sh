# shellcheck shell=bash
# Sourced by ./run: tests against a server whose neardup has every memory access
# and every shift checked, by ASan and UBSan.
# work, pg_config, server, server_bin, me, server_user: set in common.sh, packages.sh and server.sh
# shellcheck disable=SC2154

: "${root:?}"

# Scripts that call every function, with hostile, random and broken arguments, and that
# go through jobs, indexes, words and upgrades.
sanitized_scripts=(090_bad_input 095_random_calls 096_hostile_calls 120_lsh_plans 127_lsh_families \
  128_lsh_row_security 130_lsh_damage
  200_intake 205_detect_encoding 210_jobs 225_profiles 310_i_match 340_words 430_upgrade 466_ownership \
    470_hostile_objects
  475_exchanged_names 480_random_statements)

# The server of the distribution knows no sanitizer: the runtime is loaded before everything else. PostgreSQL's own
# memory contexts are not checked within their blocks, but all of the core's memory is,
# and so are stacks, globals and large values.
step_sanitized_server() {
  local runtime found
  runtime=$(c++ -print-file-name=libasan.so)
  if [ ! -e "$runtime" ]; then
    say "skip - the server with ASan and UBSan: ${CXX:-c++} has no libasan.so"
    count skipped
    return
  fi
  # The flags of sanitizer_tasks: what that has compiled is not compiled again.
  cmake -S "$root" -B "$root/build-asan" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$sanitizer_flags" "${launcher[@]}" \
    -DNEARDUP_EXTENSION=ON -DPG_CONFIG="$pg_config"
  cmake --build "$root/build-asan" -j "$(processors)" --target neardup_extension
  trap stop_server EXIT
  create_server "$work/test-sanitized-$$"
  sanitize_server "$runtime"
  start_server
  export NEARDUP_DESTDIR=$server/root NEARDUP_FULL=0 NEARDUP_LONG=0
  server_tests "${sanitized_scripts[@]}"
  stop_server
  # The server's log has what UBSan says.
  found=$(
    find "$server/reports" -type f -exec cat {} +
    grep -A 3 ': runtime error: ' "$server/server.log" || true
  )
  if [ -n "$found" ]; then
    say "not ok - reports of the sanitizers"
    say "$found"
    count failed
  else
    count passed
    rm -rf "$server"
  fi
}

# sanitize_server RUNTIME: of the server that was just created
sanitize_server() {
  install -m 755 "$root/build-asan/src/pg/neardup.so" "$server/root$("$pg_config" --pkglibdir)/neardup.so"
  install -d -m 700 "$server/reports"
  if [ "$server_user" != "$me" ]; then chown "$server_user" "$server/reports"; fi
  # libgpg-error, of libsystemd, calls gettext while it is loaded. gettext takes a lock and then memory, which starts
  # ASan, which looks for this name and, where there is none, for a translation of the message
  # that says so: it waits for that lock for ever.
  echo 'extern "C" char* swift_demangle() { return nullptr; }' |
    c++ -shared -fPIC -x c++ - -o "$server_bin/swift_demangle.so"
  mv "$server_bin/postgres" "$server_bin/postgres-alone"
  # quarantine: freed memory that is kept, to see who still reads it. Little of it: a
  # script measures whether a backend grows.
  cat >"$server_bin/postgres" <<EOF
#!/bin/bash
export LD_PRELOAD='$runtime \$ORIGIN/swift_demangle.so'
export ASAN_OPTIONS="detect_leaks=0:abort_on_error=1:strict_string_checks=1:quarantine_size_mb=16"
export ASAN_OPTIONS="\$ASAN_OPTIONS:log_path='$server/reports/asan'"
exec -a "\$0" "\$0-alone" "\$@"
EOF
  chmod 755 "$server_bin/postgres" "$server_bin/swift_demangle.so"
}
