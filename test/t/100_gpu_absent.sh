#!/bin/bash
# The GPU module absent, without a driver, of another build, failing, and fine: each gives its documented rows, harms
# nothing, and a failure is remembered for the session. Needs no GPU: doubles stand behind the C boundary.
#
# The module's place is not configurable (a path that a session could set would let it load any library), so the test
# runs a server of its own from a private copy: PostgreSQL finds its library folder from where its program lies.
# NEARDUP_DESTDIR: where `make install DESTDIR=...` has put the extension; default: the installed one.
# NEARDUP_OS_USER: the account that the server runs under when this is run as root; default postgres.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
pg_config=${PG_CONFIG:-pg_config}
bindir=$($pg_config --bindir) pkglibdir=$($pg_config --pkglibdir) sharedir=$($pg_config --sharedir)
destdir=${NEARDUP_DESTDIR:-}
unset PGHOST PGPORT PGUSER PGDATABASE PGOPTIONS PGSERVICE PGPASSFILE PGSSLMODE

if [ ! -e "$destdir$pkglibdir/neardup.so" ] || [ ! -e "$destdir$sharedir/extension/neardup.control" ]; then
  echo "skip - neardup is not installed"
  exit 0
fi

failures=0
ok() { echo "ok - $1"; }
not_ok() { failures=$((failures + 1)); echo "not ok - $1: $(echo "$2" | tr -s '\n ' '  ' | cut -c1-600)"; }
equal() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got [$2], want [$3]"; fi; }

as_server() {
  if [ "$(id -u)" = 0 ]; then runuser -u "${NEARDUP_OS_USER:-postgres}" -- "$@"; else "$@"; fi
}

work=$(mktemp -d /tmp/neardup_070.XXXXXX)
chmod 755 "$work"
finish() {
  [ -f "$work/run/data/postmaster.pid" ] && as_server "$bindir/pg_ctl" -D "$work/run/data" -m immediate stop >/dev/null 2>&1
  cd / && rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- doubles and the private copy
for fake in wrong_abi no_symbol no_driver count_fails failing_device two_fine; do
  ${CXX:-c++} -std=c++20 -shared -fPIC -I"$root/src" -DFAKE=$fake "$root/test/gpu/fake_module.cpp" -o "$work/$fake.so" ||
    { not_ok "doubles compile" "$fake"; exit 1; }
done
echo "this is not a library" > "$work/not_a_library.so"

tree=$work/tree
mkdir -p "$tree$bindir" "$tree$pkglibdir" "$tree$sharedir/extension" "$work/run"
cp "$bindir/postgres" "$tree$bindir/"
ln -s "$pkglibdir"/* "$tree$pkglibdir/"
ln -sf "$sharedir"/extension/* "$tree$sharedir/extension/"
for item in "$sharedir"/*; do [ "${item##*/}" = extension ] || ln -s "$item" "$tree$sharedir/"; done
if [ -n "$destdir" ]; then
  ln -sf "$destdir$pkglibdir"/*.so "$tree$pkglibdir/"
  ln -sf "$destdir$sharedir"/extension/* "$tree$sharedir/extension/"
fi
module=$tree$pkglibdir/neardup_gpu.so
real_module=
if [ -f "$module" ]; then real_module=$(readlink -f "$module"); fi
[ "$(id -u)" = 0 ] && chown "${NEARDUP_OS_USER:-postgres}" "$work/run"
cd "$work/run" || exit 1

# Puts a double in the module's place, by renaming: a library in use must not be written over.
cat > "$work/place" <<END
#!/bin/sh
rm -f '$module'
[ "\$1" = nothing ] || { cp "\$1" '$module.new' && mv '$module.new' '$module'; }
END
chmod 755 "$work/place"
place() { if [ "$1" = nothing ]; then "$work/place" nothing; else "$work/place" "$work/$1.so"; fi; }

data=$work/run/data
as_server "$bindir/initdb" -D "$data" -A trust -U postgres -N --locale=C -E UTF8 > "$work/initdb.log" 2>&1 ||
  { not_ok "initdb" "$(tail -3 "$work/initdb.log")"; exit 1; }
# Preloaded, so that the postmaster itself runs neardup's _PG_init.
as_server "$bindir/pg_ctl" -D "$data" -l "$work/run/log" -p "$tree$bindir/postgres" -w \
  -o "-c listen_addresses= -c unix_socket_directories=$work/run -c fsync=off -c shared_preload_libraries=neardup" \
  start > "$work/start.log" 2>&1 || { not_ok "server starts" "$(tail -3 "$work/start.log" "$work/run/log")"; exit 1; }
postmaster=$(head -1 "$data/postmaster.pid")

session() { psql -XAtq -h "$work/run" -U postgres -d "${db:-postgres}" -v ON_ERROR_STOP=1 -P null=NULL 2>&1; }
rows() { echo 'SELECT * FROM neardup_devices();' | session; }

place nothing
equal "extension is created in the private server" "$(echo 'CREATE EXTENSION neardup;' | session)" ""

# --- one row or more for each state
absent='NULL|NULL|NULL|NULL|NULL|f|the GPU module is not installed ($libdir/neardup_gpu.so)'
fine='0|Fake GPU 0|25769803776|9.0|999.10, CUDA 99.0|t|NULL
1|Fake GPU 1|25769803776|9.1|999.10, CUDA 99.0|t|NULL'

equal "module absent" "$(rows)" "$absent"

place two_fine
equal "two good devices, asked with all signals blocked" "$(rows)" "$fine"

place no_driver
no_driver='NULL|NULL|NULL|NULL|NULL|f|no NVIDIA driver on this machine (libcuda.so.1 is missing or does not answer)'
equal "module without driver" "$(rows)" "$no_driver"

place wrong_abi
wrong_abi=$(rows)
case $wrong_abi in
  'NULL|NULL|NULL|NULL|NULL|f|the GPU module is from another build of neardup: interface 999 ('*' bytes), expected '*) ok "module of another build" ;;
  *) not_ok "module of another build" "$wrong_abi" ;;
esac

place no_symbol
equal "some other library in its place" "$(rows)" \
  'NULL|NULL|NULL|NULL|NULL|f|$libdir/neardup_gpu.so is not neardup'"'"'s GPU module: it has no function neardup_gpu_get_api'

place not_a_library
garbage=$(rows)
case $garbage in
  'NULL|NULL|NULL|NULL|NULL|f|the GPU module cannot be opened: '*) ok "no library in its place" ;;
  *) not_ok "no library in its place" "$garbage" ;;
esac

place count_fails
equal "driver that fails" "$(rows)" \
  'NULL|NULL|NULL|NULL|999.10, CUDA 99.0|f|cudaGetDeviceCount failed: unknown error, call 1'

place failing_device
marks=$(printf '?%.0s' $(seq 255))
failing="0|NULL|NULL|NULL|999.10, CUDA 99.0|f|cudaGetDeviceProperties failed: GPU is lost, call 1
1|$marks|25769803776|9.1|999.10, CUDA 99.0|f|self_check failed: no kernel image ??? call 1"
equal "failing devices beside a good one" "$(rows)" "$failing
2|call 1|25769803776|9.2|999.10, CUDA 99.0|t|NULL"

# --- memory of a session
equal "a failed device is not asked again, a good one is" \
  "$(printf 'SELECT * FROM neardup_devices();\nSELECT * FROM neardup_devices();\n' | session | tail -3)" "$failing
2|call 2|25769803776|9.2|999.10, CUDA 99.0|t|NULL"

place count_fails
equal "a failed driver is not asked again" \
  "$(printf 'SELECT reason FROM neardup_devices();\nSELECT reason FROM neardup_devices();\n' | session)" \
  'cudaGetDeviceCount failed: unknown error, call 1
cudaGetDeviceCount failed: unknown error, call 1'

for state in nothing wrong_abi not_a_library no_driver; do
  place $state
  first=$(rows)
  equal "$state: remembered though the module is put right meanwhile" \
    "$(printf 'SELECT * FROM neardup_devices();\n\\! %s %s\nSELECT * FROM neardup_devices();\n' "$work/place" "$work/two_fine.so" | session)" \
    "$first
$first"
  equal "$state: a new session sees the module put right" "$(rows)" "$fine"
done

# --- what else must hold
equal "an error in the transaction does not disturb what is remembered" \
  "$(printf '\\set ON_ERROR_STOP off\nBEGIN;\nSELECT count(*) FROM neardup_devices();\nSELECT 1/0;\nROLLBACK;\nSELECT * FROM neardup_devices();\n' | session)" \
  "2
ERROR:  division by zero
$fine"

equal "used in a join, with LIMIT and in a parallel plan's leader" \
  "$(printf 'SELECT count(*) FROM neardup_devices() a, neardup_devices() b;\nSELECT device FROM neardup_devices() LIMIT 1;\n' | session)" "4
0"

echo "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0;" | session
place failing_device
equal "texts are plain in a database of another encoding" \
  "$(printf 'CREATE EXTENSION neardup;\nSELECT reason FROM neardup_devices() WHERE device = 1;\n' | db=latin session)" \
  'self_check failed: no kernel image ??? call 1'

place two_fine
equal "an ordinary user may ask" \
  "$(printf 'CREATE ROLE plain;\nSET ROLE plain;\nSELECT * FROM neardup_devices();\n' | session)" "$fine"

maps() { as_server cat "/proc/$1/maps"; }
if [ -r /proc/self/maps ]; then
  equal "the postmaster has neardup loaded" "$(maps "$postmaster" | grep -c '/neardup\.so' | sed 's/[1-9][0-9]*/yes/')" yes
  equal "the postmaster has not opened the module" "$(maps "$postmaster" | grep -c "/neardup_gpu\.so")" 0
  mapped='SELECT count(*) > 0 FROM regexp_split_to_table(pg_read_file($$/proc/self/maps$$), $$\n$$) l WHERE l LIKE $$%%/neardup_gpu.so%%$$;\n'
  equal "a session opens the module when it is asked for, not before" \
    "$(printf "SELECT neardup_version() IS NOT NULL;\n${mapped}SELECT count(*) FROM neardup_devices();\n${mapped}" | session)" \
    "t
f
2
t"
fi

# --- the real module, where it was built
if [ -n "$real_module" ] && [ -f "$real_module" ]; then
  rm -f "$module" && ln -s "$real_module" "$module"
  real=$(rows)
  if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
    case $real in
      *'|t|NULL'* | *'|f|'[a-z]*) ok "the real module answers: $(echo "$real" | head -1)" ;;
      *) not_ok "the real module answers" "$real" ;;
    esac
  else
    equal "the real module without driver" "$real" "$no_driver"
  fi
else
  echo "skip - the real module is not installed here"
fi

equal "the same server is still there" "$(head -1 "$data/postmaster.pid" 2>/dev/null)" "$postmaster"
crashes=$(grep -E 'terminated by signal|PANIC|reinitializing|TRAP' "$work/run/log")
equal "no process has crashed" "$crashes" ""

# --- single-user mode, which is no postmaster
as_server "$bindir/pg_ctl" -D "$data" -m fast -w stop >/dev/null 2>&1
place two_fine
single=$(echo 'SELECT name FROM neardup_devices()' | as_server "$tree$bindir/postgres" --single -D "$data" postgres 2>&1 | grep -c 'name = "Fake GPU')
equal "single-user mode sees the devices" "$single" 2

[ "$failures" = 0 ]
