"""neardup.load of a file of Parquet: MB of text a second, by the clock and of each side's processor time, beside the same rows by
psycopg's write_row() in binary, and beside COPY of bytes that are ready (what the server takes at most). The server is that of PGHOST and
PGDATABASE, on this machine; tables named neardup_bench_* are made and dropped there.
python_load_bench.py [MB]     of text (default 300). Needs clients/python with psycopg, pyarrow and xxhash.
"""
import datetime
import os
import random
import sys
import tempfile
import time

import neardup
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from neardup import _load, _sources

WORDS = 800  # of a document: about 5.5 kB
COLUMNS = "path, size, mtime, content_hash, body, record_id, at, attributes"


def server_seconds(conn):
    with open("/proc/%d/stat" % conn.info.backend_pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make(path, megabytes):
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(2, 11))) for _ in range(20000)]
    rows = megabytes * 1000000 // 5600
    texts = [" ".join(chance.choices(words, k=WORDS)) for _ in range(rows)]
    pq.write_table(pa.table({"id": list(range(rows)), "text": texts, "url": ["https://example.org/%d" % i for i in range(rows)]}), path, row_group_size=5000)
    return sum(map(len, texts)) / 1e6


def measured(name, megabytes, conn, call):
    conn.execute("TRUNCATE neardup_bench_load; DROP TABLE IF EXISTS neardup_bench_load_files; CHECKPOINT")
    server, client, clock = server_seconds(conn), time.process_time(), time.monotonic()
    call()
    clock, client, server = time.monotonic() - clock, time.process_time() - client, server_seconds(conn) - server
    print("%-28s %6.0f MB/s by the clock, %6.0f of Python's processor time, %6.0f of the server's"
          % (name, megabytes / clock, megabytes / max(client, 1e-3), megabytes / max(server, 1e-3)), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder, psycopg.connect(autocommit=True) as conn:
        path = os.path.join(folder, "texts.parquet")
        megabytes = make(path, int(sys.argv[1]) if len(sys.argv) > 1 else 300)
        conn.execute("DROP TABLE IF EXISTS neardup_bench_load, neardup_bench_load_files")
        neardup.load(conn, "neardup_bench_load", [{"text": "a"}], name="first")  # makes the table
        source = _sources.ParquetSource(path)
        encoder = _load._Encoder(source, 0, 1 << 28, _load.LoadResult())
        rows = [encoder.row(n, r) for n, r in enumerate((r for batch in source.records(_sources.Columns(), 0) for r in batch), 1)]
        blocks = list(_load._copy_blocks(rows))
        copy = "COPY neardup_bench_load (%s) FROM STDIN (FORMAT binary)" % COLUMNS

        def ready():
            with conn.cursor() as cursor, cursor.copy(copy) as to:
                for block in blocks:
                    to.write(block)

        def by_rows():
            types = ["text", "int8", "timestamptz", "int8", "text", "text", "timestamptz", "jsonb"]
            now = datetime.datetime.now(datetime.UTC)
            with conn.cursor() as cursor, cursor.copy(copy) as to:
                to.set_types(types)
                n = 0
                for batch in pq.ParquetFile(path).iter_batches(batch_size=2048):
                    for row in batch.to_pylist():
                        n += 1
                        to.write_row(("x#%d" % n, len(row["text"]), now, n, row["text"], str(row["id"]), None, psycopg.types.json.Jsonb({"url": row["url"]})))
        print("load of 1 minute: %.1f, %d processors, %s" % (os.getloadavg()[0], os.cpu_count(), conn.execute("SELECT split_part(version(), ' on ', 1)").fetchone()[0]))
        for _ in range(2):
            measured("neardup.load", megabytes, conn, lambda: neardup.load(conn, "neardup_bench_load", path))
            measured("psycopg write_row, binary", megabytes, conn, by_rows)
            measured("COPY of bytes that are ready", megabytes, conn, ready)
        conn.execute("DROP TABLE IF EXISTS neardup_bench_load, neardup_bench_load_files")


main()
