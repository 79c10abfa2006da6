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


def damaged(conn, table, number, samples, dense, whole):
    """Binary forms cut short at every byte, and with one bit turned: every bit of the first `dense` bytes, and one of
    each other; in a row behind `number`. whole() says what is wrong with one that is accepted, if anything is."""
    crashed, accepted, bad = "", 0, []
    try:
        for payload in samples:
            for cut in range(len(payload)):
                if copy_error(conn, table, copy_image(number, payload[:cut])) is None:
                    bad.append("value cut at %d of %d accepted" % (cut, len(payload)))
            if copy_error(conn, table, copy_image(number, payload + b"\0")) is None:
                bad.append("one byte too many accepted")
            for position in range(len(payload)):
                for bit in range(8) if position < dense else (position % 8,):
                    flipped = bytearray(payload)
                    flipped[position] ^= 1 << bit
                    conn.execute("TRUNCATE " + table)
                    e = copy_error(conn, table, copy_image(number, bytes(flipped)))
                    accepted += e is None
                    refused = e is not None and e.sqlstate[:2] in ("22", "0A")
                    wrong = "" if refused else "%s %s" % (e.sqlstate, e) if e else whole()
                    if wrong:
                        bad.append("byte %d bit %d: %s" % (position, bit, wrong))
    except psycopg.OperationalError as e:
        crashed = e
    check("damaged binary input: errors, no crash (%d flips were valid values)" % accepted,
          accepted > 0 and not crashed and not bad, crashed or bad[:3])
