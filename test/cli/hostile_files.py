"""Files whose structure costs more than their bytes: many small things, of each of which a library makes an object.

They are written when the tests run, in pieces, so that the script stays small. NEARDUP_FULL=1: as large as an attack;
else a tenth of it, enough to be refused. """
import gzip
import os

FULL = os.environ.get("NEARDUP_FULL") == "1"
BEGIN = "From x@example.org Thu Jan  1 00:00:00 1970\n"
MULTIPART = "Content-Type: multipart/mixed; boundary=B\n\n"
DAMAGED, COLUMNS, NO_TEXT = "damaged records", "without a text column", "without a text"
PIECE = 1 << 20


def many(count):
    return count if FULL else count // 10


class Hostile:
    """A file of pieces; and why it, or its record, is skipped: (reason, the beginning of the detail), None where it is
    loaded."""

    def __init__(self, name, skipped, *pieces):
        self.name, self.skipped, self.pieces = name, skipped, pieces

    def write(self, folder):
        """Returns its size, unpacked."""
        path = f"{folder}/{self.name}"
        size = 0
        with gzip.open(path, "wb", compresslevel=1) if path.endswith(".gz") else open(path, "wb") as file:
            for part in self.pieces:
                for piece in [part] if isinstance(part, str) else part():
                    size += file.write(piece.encode())
        return size


def times(text, count):
    """The text so many times."""
    def pieces():
        at_once = max(1, PIECE // len(text))
        for done in range(0, count, at_once):
            yield text * min(at_once, count - done)
    return pieces


def numbered(form, count):
    """The form with each number, and the one after it."""
    at_once = 10000
    return lambda: ("".join(form.format(i, i + 1) for i in range(done, min(done + at_once, count)))
                    for done in range(0, count, at_once))


def mail(name, skipped, *pieces):
    return Hostile(f"{name}.mbox.gz", skipped, BEGIN, *pieces)


def mails():
    text = "\n\nthe text\n"
    long, fields, signs = ((DAMAGED, f"headers {what}") for what in ("of more than 524288 bytes", "of ", "with "))
    yield mail("parts", (DAMAGED, "more than 10000 parts"), MULTIPART, times("--B\n\n", many(2000000)))
    yield mail("parts_within", (NO_TEXT, ""), MULTIPART, times("--B\n\n", 9999))
    yield mail("parts_with_headers", fields, MULTIPART, times("--B\na:\nb:\nc:\n\nx\n", many(400000)))
    yield mail("parts_with_long_headers", long, MULTIPART, times("--B\na: " + "x" * 1000 + "\n\nx\n", 9000))
    yield mail("fields", long if FULL else fields, times("a:\n", many(400000)), "b: c", text)
    yield mail("from", long if FULL else signs, "From: ", times("a@b,", many(400000)), text)
    yield mail("from_without_commas", signs, "From: ", times("a@b ", 100000), text)
    yield mail("froms", long, times("From: a@b,c@d\n", many(400000)), "b: c", text)
    yield mail("names", None, "From: ", times("a ", 250000), text)
    yield mail("parameters", signs, "Content-Type: text/plain", times(";a=b", 120000), text)
    yield mail("continuations", signs, "Content-Type: text/plain", numbered(";a*{}=b", 50000), text)
    yield mail("words", long, "Subject: ", times("=?utf-8?q?a?= ", many(1000000)), text)
    yield mail("words_within", None, "Subject: ", times("=?utf-8?q?a?= ", 37000), text)
    yield mail("charset", None, "Content-Type: text/plain; a*=" + "x" * 500000 + "''b", text)
    yield mail("charsets", None,
               *(piece for i in range(60 if FULL else 12) for piece in
                 (BEGIN if i else "", "Subject:", numbered(f" =?x{i}_{{}}?q?=ff?=", 20000), text, "\n")))
    yield mail("date", None, "Date: ", times("1 ", 250000), text)
    yield mail("quotes", None, "From: ", times("\"", 500000), text)
    yield mail("folded", long, "Subject: a", times("\n b", many(3000000)), text)
    yield mail("deep", None, MULTIPART.replace("B", "B0"), "--B0\n\nthe text\n",
               numbered("--B{}\nContent-Type: multipart/mixed; boundary=B{}\n\n", many(100000)))
    yield mail("same_boundaries", (DAMAGED, ""), MULTIPART, times("--B\n" + MULTIPART, many(200000)))
    yield mail("long_boundary", long, MULTIPART.replace("B", "b" * 600000))
    yield mail("prologue", (NO_TEXT, ""), MULTIPART, times("x\n", many(40000000)))
    yield mail("epilogue", None, MULTIPART, "--B\n\nthe text\n--B--\n", times("x\n", many(40000000)))
    yield mail("no_boundary", (NO_TEXT, ""), MULTIPART.replace("boundary", "border"), times("x\n", many(40000000)))
    yield mail("long_line", long, "X: ", times("x" * 1000, many(80000)), text)


def record_of_warc(kind, size, *pieces):
    return (f"WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Type: application/http\r\nContent-Length: {size}\r\n\r\n",
            *pieces, "\r\n\r\n")


def warcs():
    count = many(1000000)
    large = (DAMAGED, "HTTP: a header of more than 1000 lines or 262144 bytes")
    yield Hostile(
        "http.warc.gz", large,
        *record_of_warc("response", 17 + 5 * count + 6, "HTTP/1.1 200 OK\r\n", times("a: b\n", count), "\r\ntext"))
    yield Hostile(
        "http_lines.warc.gz", large,
        *record_of_warc("response", 17 + 5 * 1001 + 6, "HTTP/1.1 200 OK\r\n", times("a: b\n", 1001), "\r\ntext"))
    yield Hostile("http_within.warc.gz", None, *record_of_warc(
        "response", 17 + 26 + 5 * 999 + 6, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n", times("a: b\n", 999),
        "\r\ntext"))
    yield Hostile("http_line.warc.gz", large, *record_of_warc(
        "response", 17 + 3 + 100 * count + 8, "HTTP/1.1 200 OK\r\n", "a: ", times("b" * 100, count), "\r\n\r\ntext"))
    yield Hostile(
        "warc.warc.gz", (DAMAGED, "a header of more than 1000 lines"), "WARC/1.0\r\n", times("a: b\r\n", count))
    yield Hostile("warc_lines.warc.gz", (DAMAGED, "a header of more than 1000 lines"), "WARC/1.0\r\n",
                  times("a: " + "b" * 60000 + "\r\n", 900))


def lines_of_json():
    signs = (DAMAGED, "more than 4000000 signs outside of strings")
    yield Hostile("keys.jsonl.gz", signs, "{\"text\": \"t\"", numbered(",\"k{}\":1", 1500000), "}\n")
    yield Hostile("depth.jsonl.gz", (DAMAGED, ""), "{\"text\": \"t\", \"a\": ", times("[", 3000000), "\n")
    yield Hostile("brackets.jsonl.gz", signs, "{\"text\": \"t\", \"a\": ", times("[", many(100000000)), "\n")
    yield Hostile("values.jsonl.gz", signs, "{\"text\": \"t\", \"a\": [0", times(",0", many(50000000)), "]}\n")
    yield Hostile("blanks.jsonl.gz", signs, "{\"text\": \"t\", \"a\": [0", times(" 0", many(50000000)), "]}\n")
    yield Hostile("strings.jsonl.gz", signs, "{\"text\": \"t\", \"a\": [", times("\"\"", many(50000000)), "]}\n")
    yield Hostile(
        "escapes.jsonl.gz", signs, "{\"text\": \"t\", \"a\": [\"\\\\\"", times("\\\"[", many(50000000)), "]}\n")
    yield Hostile("signs_within.jsonl.gz", None, "{\"text\": \"t", times(",[ \\\"", 3000000), "\"}\n")


def tables():
    yield Hostile("columns.csv.gz", (COLUMNS, "the header has more than 10000 columns"), "text,",
                  times("a,", many(10000000)), "b\n1\n")
    yield Hostile("fields.csv.gz", (DAMAGED, "more than 10000 fields, but 2 columns"), "text,a\n",
                  times("a,", many(10000000)), "b\n")
    yield Hostile("names.csv.gz", (COLUMNS, "the header has "), "text," + "n" * 2000000, times(",a", 9990), "\n",
                  times("," * 9991 + "\n", 100))


def pages():
    names = (DAMAGED, "HTML has more than 100000 names of elements and attributes")
    yield Hostile("attributes.html.gz", (DAMAGED, "HTML has tags with too many attributes"), "<html><p ",
                  numbered("a{}=b ", many(1000000)), ">text")
    yield Hostile("elements.html.gz", names, "<html>", numbered("<a{0}>x</a{0}>", many(1200000)))
    yield Hostile("long_names.html.gz", names, "<html>", numbered("<" + "a" * 80 + "{}/>x", many(300000)))
    yield Hostile("ends.html.gz", names, "<html>", numbered("</a{}>", many(1200000)))
    yield Hostile("names.html.gz", names, "<html>", numbered("<p a{}>x", many(1200000)))
    yield Hostile("deep.html.gz", (DAMAGED, "HTML is nested too deep"), "<html>", times("<div>", many(3000000)))
    yield Hostile("flat.html.gz", None, "<html>", times("<p>x</p>", many(2000000)))
    yield Hostile("entities.html.gz", None, "<html>", times("&amp;&#1;&x", many(1000000)))


def all_files():
    for kind in (mails, warcs, lines_of_json, tables, pages):
        yield from kind()
