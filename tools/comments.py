"""The comments of a source of C++, CUDA, SQL, Python or shell, for check_prose.py: text and line of each;
and the files of a checkout."""
import ast
import os
import re
import subprocess

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
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                docstring = ast.get_docstring(node, clean=False)
                if docstring:
                    found.append((node.body[0].lineno, docstring.strip()))
    elif ending not in MARKS:
        for m in re.finditer(r"^\s*/\*+(.*?)\*/", text, re.S | re.M):
            found.append((text.count("\n", 0, m.start(1)) + 1, m.group(1).strip()))
    return sorted(found)


def known_files(folder, endings):
    """The files below a checkout that git knows or does not ignore, by their endings; None where it is no checkout."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=" + os.path.realpath(folder), "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], cwd=folder, capture_output=True, text=True, check=False)
    if listed.returncode:
        return None
    return sorted(path for path in listed.stdout.split("\0")
                  if path.endswith(endings) and os.path.exists(os.path.join(folder, path)))
