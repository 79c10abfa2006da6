"""Files of the Unicode Character Database, for the scripts that make tables of it."""

LIMIT = 0x110000  # code points


def ranges(path):
    """Yields (first, last, value) of a property file."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                span, value = (x.strip() for x in line.split(";")[:2])
                first, _, last = span.partition("..")
                yield int(first, 16), int(last or first, 16), value
