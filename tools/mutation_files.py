"""The contents of test/mutations; its README has the form."""
import os
import re

from mutation_places import Bad

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "test", "mutations")
CLI_SCRIPTS = {"loader": "cli_test.py", "report": "report_test.py", "passages": "passages_test.py",
               "formats": "formats_test.py", "hostile": "hostile_test.py"}
KINDS = ("unit", "regress", "isolation", "script", *CLI_SCRIPTS, "client", "lint")
SCRIPTS = {"script": "test/t", "client": "test/clients"}


class Mutation:
    """A mistake. Its file is named after its area; its first line is `NAME: what is wrong`."""

    def __init__(self, area, lines):
        self.name, _, self.what = lines[0].partition(": ")
        self.area = area
        self.harmless = ""
        self.tests = []
        self.edits = []  # (find, put, the function that it stands in or None)
        for line in lines[1:]:
            if line.startswith("harmless: "):
                self.harmless = line.partition(": ")[2]
            elif line[:1] in ("-", "+") and self.edits:
                self.edits[-1][line[0] == "+"].append(line[1:])
            elif "@" in line:
                tests, _, function = line.partition("@")
                self.tests += [self.parse_test(test) for test in tests.split(";") if test.strip()]
                self.edits.append([[], [], function.strip() or None])
            else:
                raise Bad("%s: a line that says nothing known: %s" % (self.name, line))
        self.edits = [("\n".join(find), "\n".join(put), function) for find, put, function in self.edits]
        if not (self.what and self.edits and all(find for find, _, _ in self.edits) and (self.tests or self.harmless)):
            raise Bad("%s: needs what is wrong, a test (or harmless), and a pattern behind each @" % self.name)

    def parse_test(self, test):
        kind, _, rest = test.strip().partition(" ")
        if kind not in KINDS:
            raise Bad("%s: unknown kind of test: %s" % (self.name, test))
        folder = SCRIPTS.get(kind)
        if folder and not os.path.exists(os.path.join(ROOT, folder, rest.strip())):
            raise Bad("%s: no such script: %s/%s" % (self.name, folder, rest.strip()))
        return kind, rest.strip()


def entries():
    """(area, lines) of each mistake, by name."""
    found = []
    for file in sorted(os.listdir(FOLDER)):
        if file.endswith(".txt"):
            with open(os.path.join(FOLDER, file), encoding="utf-8") as f:
                parts = re.split(r"\n(?=(?!harmless: )\w+: )", f.read().rstrip("\n"))
            found += [(file.removesuffix(".txt"), part.split("\n")) for part in parts]
    return sorted(found, key=lambda entry: entry[1][0])


def mutations():
    return [Mutation(*entry) for entry in entries()]
