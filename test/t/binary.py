"""Values in the binary form of COPY."""
import struct

from harness import *

HEAD = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)


def copy_error(conn, table, data):
    """Error of a binary COPY of these bytes, or None."""
    try:
        with conn.cursor() as cur, cur.copy("COPY %s FROM STDIN (FORMAT binary)" % table) as copy:
            copy.write(data)
    except psycopg.Error as e:
        return e
    return None


def copy_image(*fields):
    """A COPY of one row, of the binary forms of its columns."""
    row = b"".join(struct.pack("!i", len(f)) + f for f in fields)
    return HEAD + struct.pack("!h", len(fields)) + row + struct.pack("!h", -1)
