#!/bin/bash
# The GPU module absent, without a driver, of another build, failing, and fine: each gives its documented rows, harms
# nothing, and a failure is remembered for the session; and what neardup.device makes of each. Needs no GPU: doubles
# stand behind the C boundary.
#
# The module's place is not configurable (a path that a session could set would let it load any library), so the test
# runs a server of its own from a private copy: PostgreSQL finds its library folder from where its program lies.
# NEARDUP_DESTDIR: where `make install DESTDIR=...` has put the extension; default: the installed one.
# NEARDUP_OS_USER: the account that the server runs under when this is run as root; default postgres.
# shellcheck disable=SC2016  # a $ in single quotes is PostgreSQL's
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
  [ -f "$work/run/data/postmaster.pid" ] &&
    as_server "$bindir/pg_ctl" -D "$work/run/data" -m immediate stop >/dev/null 2>&1
  cd / && rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- doubles and the private copy
# compile OUTPUT ARGUMENT ...
compile() {
  ${CXX:-c++} -std=c++20 -O2 -march=native -fPIC -I"$root/src" -I"$root" -o "$work/$1" "${@:2}" ||
    { not_ok "doubles compile" "$1"; exit 1; }
}
compile module.o -c "$root/test/gpu/fake_module.cpp"
for fake in no_driver count_fails failing_device two_fine create_fails lost memory_once never_ends; do
  compile "$fake.so" -shared -DFAKE=$fake "$root/test/gpu/fake_kind.cpp" "$work/module.o"
done
compile wrong_abi.so -shared -DWRONG_ABI "$root/test/gpu/fake_strangers.cpp"
compile no_symbol.so -shared "$root/test/gpu/fake_strangers.cpp"
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
  -o "-c listen_addresses= -c unix_socket_directories=$work/run -c fsync=off -c jit=off" \
  -o "-c shared_preload_libraries=neardup" \
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
  'NULL|NULL|NULL|NULL|NULL|f|the GPU module is from another build of neardup: interface 999 ('*' bytes), expected '*) \
    ok "module of another build" ;;
  *) not_ok "module of another build" "$wrong_abi" ;;
esac

place no_symbol
equal "some other library in its place" "$(rows)" \
  'NULL|NULL|NULL|NULL|NULL|f|$libdir/neardup_gpu.so is not neardup'"'"'s GPU module: '\
'it has no function neardup_gpu_get_api'

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
    "$(printf 'SELECT * FROM neardup_devices();\n\\! %s %s\nSELECT * FROM neardup_devices();\n' "$work/place" \
      "$work/two_fine.so" | session)" \
    "$first
$first"
  equal "$state: a new session sees the module put right" "$(rows)" "$fine"
done

# --- what else must hold
equal "an error in the transaction does not disturb what is remembered" \
  "$(printf '%s\n' '\set ON_ERROR_STOP off' 'BEGIN;' 'SELECT count(*) FROM neardup_devices();' 'SELECT 1/0;' \
    'ROLLBACK;' 'SELECT * FROM neardup_devices();' | session)" \
  "2
ERROR:  division by zero
$fine"

equal "used in a join, with LIMIT and in a parallel plan's leader" \
  "$(printf \
    'SELECT count(*) FROM neardup_devices() a, neardup_devices() b;\nSELECT device FROM neardup_devices() LIMIT 1;\n' \
    | session)" "4
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
  equal "the postmaster has neardup loaded" \
    "$(maps "$postmaster" | grep -c '/neardup\.so' | sed 's/[1-9][0-9]*/yes/')" yes
  equal "the postmaster has not opened the module" "$(maps "$postmaster" | grep -c "/neardup_gpu\.so")" 0
  mapped='SELECT count(*) > 0 FROM regexp_split_to_table(pg_read_file($$/proc/self/maps$$), $$\n$$) l
    WHERE l LIKE $$%/neardup_gpu.so%$$;\n'
  equal "a session opens the module when it is asked for, not before" \
    "$(printf 'SELECT neardup_version() IS NOT NULL;\n%bSELECT count(*) FROM neardup_devices();\n%b' "$mapped" \
      "$mapped" | session)" \
    "t
f
2
t"
fi

# --- searches: the same rows whatever the device, and what fails where
# minhash, simhash and ctph, one set and two; the name of the first device tells how many searches the double was asked.
rows_of_all='
SELECT md5(string_agg(p::text, $$,$$ ORDER BY p)), count(*) > 100 FROM all_pairs($$SELECT id, m FROM s$$, 0.5) p;
SELECT md5(string_agg(p::text, $$,$$ ORDER BY p)), count(*) > 100
  FROM all_pairs($$SELECT id, h FROM s$$, 0.8, $$star$$) p;
SELECT md5(string_agg(p::text, $$,$$ ORDER BY p)), count(*) > 100 FROM all_pairs($$SELECT id, c FROM s$$, 0.7) p;
SELECT md5(string_agg(p::text, $$,$$ ORDER BY p)), count(*) > 100
  FROM pairs_between($$SELECT id, h FROM s WHERE id % 3 = 0$$, $$SELECT id, h FROM s WHERE id % 3 <> 0$$, 0.8,
    $$none$$) p;
SELECT md5(string_agg(p::text, $$,$$ ORDER BY p)), count(*) > 100
  FROM pairs_between($$SELECT id, c FROM s WHERE id % 3 = 0$$, $$SELECT id, c FROM s WHERE id % 3 <> 0$$, 0.7) p;
SELECT md5(string_agg(c::text, $$,$$ ORDER BY c)), count(*) > 100 FROM all_clusters($$SELECT id, h FROM s$$, 0.8) c;
SELECT md5(string_agg(c::text, $$,$$ ORDER BY c)), count(*) > 100
  FROM (SELECT id, cluster_connected(c, 0.7) OVER (ORDER BY id) FROM s) c;
'
place nothing
session <<'END' >/dev/null
CREATE TABLE s AS
  SELECT i AS id, to_minhash(t) AS m, to_simhash(t) AS h, to_ctph(repeat(t, 20)) AS c
  FROM generate_series(1, 400) i,
    LATERAL (SELECT string_agg(CASE WHEN w % 40 = i % 7 THEN 'x' || i % 11 ELSE 'w' || w * (i % 50) END, ' ') AS t
             FROM generate_series(1, 60) w) d;
-- Far apart, so that only comparing all finds out: 0.43 seconds of work, by a low estimate.
CREATE TABLE much AS SELECT i AS id, hashint8extended(i, 5)::simhash AS h FROM generate_series(1, 84000) i;
CREATE ROLE ordinary;
CREATE TABLE talk AS
  SELECT string_agg('w' || translate(((w * w + i * (w % 7)) % 211)::text, '0123456789', 'abcdefghij'), ' ') AS body
  FROM generate_series(1, 60) i, generate_series(1, 40) w GROUP BY i;
END
on_cpu=$(echo "SET neardup.device = cpu; $rows_of_all" | session)
equal "rows of the CPU, each more than 100" "$(echo "$on_cpu" | grep -c '^[0-9a-f]\{32\}|t$')" 7

place two_fine
equal "neardup.device = gpu: the same rows from the GPU" \
  "$(echo "SET neardup.device = gpu; $rows_of_all SELECT name FROM neardup_devices() WHERE device = 0;" | session)" \
  "$on_cpu
Fake GPU 0, 7 searches, 0 open"
equal "auto: little work stays on the CPU, and the module is not asked" \
  "$(echo "SHOW neardup.device; SET neardup.device = auto; SET client_min_messages = debug1; $rows_of_all
    SELECT name FROM neardup_devices() WHERE device = 0;" | session)" \
  "auto
$on_cpu
Fake GPU 0"
equal "cpu: the module is not asked, whatever the work" \
  "$(echo "SET neardup.device = cpu; $rows_of_all SELECT name FROM neardup_devices() WHERE device = 0;" | session)" \
  "$on_cpu
Fake GPU 0"

# Searches that cannot run on a GPU use the CPU.
sets='SELECT count(*) FROM all_pairs($$SELECT i, ARRAY[i / 2, 70, 80] FROM generate_series(1, 20) i$$, 0.9);'
codes='SELECT count(*) FROM all_pairs($$SELECT i, (i / 2)::bit(64) FROM generate_series(1, 20) i$$, 0.99);'
equal "gpu: sets and bit strings are searched by the CPU, the module is not asked" \
  "$(echo "SET neardup.device = gpu; $sets $codes SELECT name FROM neardup_devices() WHERE device = 0;" | session)" \
  "9
9
Fake GPU 0"

much='SELECT count(*), sum(id_a + 3 * id_b) FROM all_pairs($$SELECT id, h FROM much$$, 0.81);'
much_on_cpu=$(echo "SET neardup.device = cpu; $much" | session)
auto='SET neardup.device = auto; SET neardup.threads = 1; SET client_min_messages = debug1;'
equal "much work: rows" "${much_on_cpu%%|*}" "$(echo "${much_on_cpu%%|*}" | grep '^[1-9][0-9]*$')"
equal "auto: much work goes to the GPU" \
  "$(echo "$auto $much SELECT name FROM neardup_devices() WHERE device = 0;" | session)" "$much_on_cpu
Fake GPU 0, 1 searches, 0 open"

# Words: several lots of rows are probed, of 64 words and more.
words='SELECT md5(string_agg(w::text, $$,$$ ORDER BY w)), count(*) > 500
  FROM word_similarities($$SELECT body FROM talk$$, vocabulary => 200, k => 5) w;'
words_on_cpu=$(echo "SET neardup.device = cpu; $words" | session)
equal "words: rows of the CPU, more than 500" "$(echo "$words_on_cpu" | grep -c '^[0-9a-f]\{32\}|t$')" 1
equal "words: neardup.device = gpu: the same rows from the GPU" \
  "$(echo "SET neardup.device = gpu; $words SELECT name FROM neardup_devices() WHERE device = 0;" | session)" \
  "$words_on_cpu
Fake GPU 0, 1 searches, 0 open"
equal "words: auto: little work stays on the CPU" \
  "$(echo "SET neardup.device = auto; SET client_min_messages = debug1; $words
    SELECT name FROM neardup_devices() WHERE device = 0;" | session)" \
  "$words_on_cpu
Fake GPU 0"

# failing STATE REASON: auto gives the rows, says why, and again in the same session; gpu is an error
failing() {
  place "$1"
  equal "$1: auto falls back and says why, again in the same session" "$(echo "$auto $much $much" | session)" \
    "DEBUG:  searching on the CPU: $2
$much_on_cpu
DEBUG:  searching on the CPU: $2
$much_on_cpu"
  equal "$1: auto with little work says nothing" "$(echo "$auto $rows_of_all" | session)" "$on_cpu"
  equal "$1: gpu is an error" \
    "$(printf '\\set VERBOSITY verbose\nSET neardup.device = gpu;\n%s' "$much" | session | grep -v LOCATION)" \
    "ERROR:  58000: cannot search on the GPU: $2
HINT:  With neardup.device = 'auto' or 'cpu' the CPU does it."
  equal "$1: cpu gives the rows" "$(echo "$auto SET neardup.device = cpu; $much" | session)" "$much_on_cpu"
}
failing nothing 'the GPU module is not installed ($libdir/neardup_gpu.so)'
failing create_fails 'no GPU is usable: self_check failed'
failing lost 'cudaStreamSynchronize failed: GPU is lost ??? (search.cu:2)'

# failing_words STATE REASON SEARCHES
failing_words() {
  place "$1"
  equal "words: $1: gpu is an error, and nothing stays open" \
    "$(printf '\\set ON_ERROR_STOP off\nSET neardup.device = gpu;\n%s\n%s' "$words" \
      "${3:+SELECT name FROM neardup_devices() WHERE device = 0;}" | session)" \
    "ERROR:  cannot search on the GPU: $2
HINT:  With neardup.device = 'auto' or 'cpu' the CPU does it.${3:+
Fake GPU 0, $3 searches, 0 open}"
}
failing_words nothing 'the GPU module is not installed ($libdir/neardup_gpu.so)'
failing_words create_fails 'no GPU is usable: self_check failed' 1
failing_words lost 'cudaStreamSynchronize failed: GPU is lost ??? (words.cu:2)' 1
failing_words memory_once 'cudaMalloc failed: out of memory (cudaErrorMemoryAllocation, words.cu:1)' 1

place lost
equal "a device lost in one search is left alone in the next ones" \
  "$(echo "$auto $much $much SELECT name FROM neardup_devices() WHERE device = 0;" | session | tail -1)" \
  'Fake GPU 0, 1 searches, 0 open'

place memory_once
no_memory='cudaMalloc failed: out of memory (cudaErrorMemoryAllocation, search.cu:1)'
equal "auto: memory may be there the next time" \
  "$(echo "$auto $much $much SELECT name FROM neardup_devices() WHERE device = 0;" | session)" \
  "DEBUG:  searching on the CPU: $no_memory
$much_on_cpu
$much_on_cpu
Fake GPU 0, 2 searches, 0 open"
equal "gpu: no memory is an error, and the session goes on" \
  "$(printf '\\set ON_ERROR_STOP off\nSET neardup.device = gpu;\n%s\n%s' "$much" "$much" | session | grep -v HINT)" \
  "ERROR:  cannot search on the GPU: $no_memory
$much_on_cpu"

place never_ends
equal "a search on the GPU can be cancelled, and frees what it had" \
  "$(printf '%s\n' '\set ON_ERROR_STOP off' 'SET neardup.device = gpu;' 'SET statement_timeout = 3000;' "$much" \
    'SET statement_timeout = 0;' 'SELECT name FROM neardup_devices() WHERE device = 0;' | session)" \
  "ERROR:  canceling statement due to statement timeout
Fake GPU 0, 1 searches, 0 open"

equal "words on the GPU can be cancelled, and free what they had" \
  "$(printf '%s\n' '\set ON_ERROR_STOP off' 'SET neardup.device = gpu;' 'SET statement_timeout = 3000;' "$words" \
    'SET statement_timeout = 0;' 'SELECT name FROM neardup_devices() WHERE device = 0;' | session)" \
  "ERROR:  canceling statement due to statement timeout
Fake GPU 0, 1 searches, 0 open"

place two_fine
equal "rows that do not fit in memory: gpu is an error, auto gives the rows" \
  "$(printf '%s\n' '\set ON_ERROR_STOP off' 'SET maintenance_work_mem = $$1MB$$;' 'SET neardup.device = gpu;' "$much" \
    'SET neardup.device = auto;' "$much" | session | grep -v HINT)" \
  "ERROR:  the rows do not fit in memory, so the GPU cannot search them
$much_on_cpu"
equal "neardup.gpu_memory_limit is for superusers, neardup.device for everyone" \
  "$(printf '%s\n' '\set ON_ERROR_STOP off' 'SELECT neardup_version() IS NOT NULL;' 'SET ROLE ordinary;' \
    'SET neardup.device = gpu;' 'SHOW neardup.device;' 'SET neardup.gpu_memory_limit = $$1GB$$;' \
    'SHOW neardup.gpu_memory_limit;' 'SET neardup.device = cuda;' | session)" \
  't
gpu
ERROR:  permission denied to set parameter "neardup.gpu_memory_limit"
0
ERROR:  invalid value for parameter "neardup.device": "cuda"
HINT:  Available values: auto, cpu, gpu.'

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
    reason='no NVIDIA driver on this machine (libcuda.so.1 is missing or does not answer)'
    equal "the real module without driver: auto searches on the CPU" "$(echo "$auto $much" | session)" \
      "DEBUG:  searching on the CPU: $reason
$much_on_cpu"
    equal "the real module without driver: gpu is an error" \
      "$(printf 'SET neardup.device = gpu;\n%s' "$much" | session | head -1)" \
      "ERROR:  cannot search on the GPU: $reason"
    equal "words: the real module without driver: gpu is an error" \
      "$(printf 'SET neardup.device = gpu;\n%s' "$words" | session | head -1)" \
      "ERROR:  cannot search on the GPU: $reason"
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
single=$(echo 'SELECT name FROM neardup_devices()' |
  as_server "$tree$bindir/postgres" --single -D "$data" postgres 2>&1 | grep -c 'name = "Fake GPU')
equal "single-user mode sees the devices" "$single" 2

# --- a library that dynamic_library_path finds has its module beside it
place nothing
mkdir "$work/mounted"
cp -L "$tree$pkglibdir/neardup.so" "$work/mounted/"
cp "$work/two_fine.so" "$work/mounted/neardup_gpu.so"
mounted=$(printf '%s\n' \
  "CREATE FUNCTION mounted_devices(OUT int, OUT name text, OUT int8, OUT text, OUT text, OUT bool, OUT text) \
RETURNS SETOF record AS 'neardup', 'neardup_devices' LANGUAGE C" 'SELECT name FROM mounted_devices()' |
  as_server "$tree$bindir/postgres" --single -D "$data" -c dynamic_library_path="$work/mounted" postgres 2>&1 |
    grep -c 'name = "Fake GPU')
equal "the module beside a library in another folder" "$mounted" 2

[ "$failures" = 0 ]
