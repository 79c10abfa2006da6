"""The comments of a source of C++, CUDA, SQL, Python or shell, for check_prose.py: text and line of each."""
import re

ENDINGS = (".h", ".cpp", ".cu", ".cuh", ".sql", ".spec", ".py", ".sh")
MARKS = {".sql": "--", ".py": "#", ".sh": "#", ".spec": "#"}  # of a comment to the end of its line


def line_comments(text, mark):
    """Comments on lines of their own. Lines that follow one another are one; an empty one divides."""
    own_line = re.compile(r"\s*(?:%s)+(?: (.*))?$" % re.escape(mark))
    began, lines = 0, []
    for number, line in enumerate(text.split("\n") + [""], 1):
        found = own_line.match(line)
        words = found and (found.group(1) or "").strip()
        if words:
            began = began if lines else number
            lines.append(words)
        elif lines:
            yield began, "\n".join(lines)
            lines = []


def comments(path, text):
    """[(line, text without its marks)] of a file, by its ending."""
    ending = path[path.rfind("."):]
    found = list(line_comments(text, MARKS.get(ending, "//")))
    if ending == ".py":
        blocks = r'^\s*(?:[rf]?)"""(.*?)"""'
    elif ending in MARKS:
        return found
    else:
        blocks = r"^\s*/\*+(.*?)\*/"
    for m in re.finditer(blocks, text, re.S | re.M):
        found.append((text.count("\n", 0, m.start(1)) + 1, m.group(1).strip()))
    return sorted(found)
