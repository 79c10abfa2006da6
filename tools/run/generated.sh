# shellcheck shell=bash
# Sourced by ./run: committed files that a program of tools/ wrote are what it writes today.
# shellcheck disable=SC2154  # work: set in common.sh

: "${root:?}"

# Test vectors against test/reference/oracle.py, which has nothing in common with the core.
step_golden() { script_test /usr/bin/python3 "$root/tools/golden.py" --check; }

# Tables of src/core against the Unicode Character Database: package unicode-data, of
# the version that the tables are frozen at.
step_unicode_tables() { script_test compare_unicode_tables tables; }

compare_unicode_tables() {
  local folder=${NEARDUP_UNICODE:-/usr/share/unicode} table committed
  if ! grep -q '^# Scripts-15\.0\.0\.txt' "$folder/Scripts.txt" 2>/dev/null; then
    say "skip - Unicode tables: no Unicode Character Database 15.0.0 in $folder" \
      "(Debian: unicode-data; NEARDUP_UNICODE names another folder)"
    return
  fi
  for table in unicode_table script_table; do
    committed=$(find "$root/src" -name "$table.inc")
    if /usr/bin/python3 -B "$root/tools/make_$table.py" "$folder" | cmp - "$committed"; then
      say "ok - $table.inc is what tools/make_$table.py writes"
    else
      say "not ok - $table.inc is not what tools/make_$table.py writes"
    fi
  done
}
