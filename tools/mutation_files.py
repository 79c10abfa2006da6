"""The contents of test/mutations; its README has the form."""
import os

from mutation_places import Bad

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "test", "mutations")
CLI_SCRIPTS = {"loader": "cli_test.py", "report": "report_test.py", "passages": "passages_test.py",
               "formats": "formats_test.py", "hostile": "hostile_test.py"}
KINDS = ("unit", "regress", "isolation", "script", *CLI_SCRIPTS, "client", "lint")
SCRIPTS = {"script": "test/t", "client": "test/clients"}


class Mutation:
    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.what = self.area = self.harmless = ""
        self.tests = []
        self.edits = []  # (find, put, the function that it stands in or None)
        functions = []
        block = None
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        if lines and not lines[-1]:
            lines.pop()
        for line in lines:
            if line == "find:":
                self.edits.append([[], None])
                block = self.edits[-1][0]
            elif line == "put:" and self.edits and self.edits[-1][1] is None:
                self.edits[-1][1] = block = []
            elif block is not None:
                block.append(line)
            elif line.strip():
                key, _, value = line.partition(":")
                value = value.strip()
                if key == "what":
                    self.what = value
                elif key == "area":
                    self.area = value
                elif key == "harmless":
                    self.harmless = value
                elif key == "in":
                    functions.append(value)
                elif key == "test":
                    kind, _, rest = value.partition(" ")
                    if kind not in KINDS:
                        raise Bad("%s: unknown kind of test: %s" % (self.name, value))
                    folder = SCRIPTS.get(kind)
                    if folder and not os.path.exists(os.path.join(ROOT, folder, rest.strip())):
                        raise Bad("%s: no such script: %s/%s" % (self.name, folder, rest.strip()))
                    self.tests.append((kind, rest.strip()))
                else:
                    raise Bad("%s: a line that says nothing known: %s" % (self.name, line))
        if len(functions) not in (0, 1, len(self.edits)):
            raise Bad("%s: needs one function for all of its patterns, or one for each" % self.name)
        if len(functions) < 2:
            functions = (functions or [None]) * len(self.edits)
        self.edits = [
            ("\n".join(find), "\n".join(put or []), function) for (find, put), function in zip(self.edits, functions)]
        if not (self.what and self.area and self.edits and (self.tests or self.harmless)):
            raise Bad("%s: needs what, area, test (or harmless), find and put" % self.name)


def mutations():
    return [Mutation(os.path.join(FOLDER, name)) for name in sorted(os.listdir(FOLDER)) if name.endswith(".txt")]
