#!/usr/bin/python3
"""Phrases that what users read does not have, each with what to write instead: `tools/check_prose.py [FILE ..]`.
Without files it reads README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md (what is not released), each README of src,
docs/*.md, the comments of SQL objects (sql/install), and the messages and hints in C++ (src/pg, src/cli). Code is left
out. Prints file:line, phrase and advice; the exit status is 1 where it finds one."""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# Regular expression -> what to write instead. Case is ignored; a blank stands for any white space.
PHRASES = (
    (r"\b(?:is|are|was|were|be|being|not) told\b", "is shown, is returned, is reported"),
    (r"\btells?\b[^.;|]{0,40}\bhow (?:far|many|much)\b", "shows the progress, shows the number of"),
    (r"\bwho(?:so)?ever\b", "a user who .., every role that .."),
    (r"(?<!users\s)(?<!user\s)(?<!roles\s)(?<!role\s)\bwho (?:may|calls|inserts|asks|reads|reports|stands|survives)\b",
     "the caller, a user who .."),
    (r"\b(?:go|goes|going|went) on with\b", "continues with"),
    (r"\bgoes on where\b", "continues where"),
    (r"\bcomes? on top\b|\bon top of\b", "in addition, beyond"),
    (r"\bmade differently (?:are|is|from)\b|\bmade alike\b", "with other parameters, with the same parameters"),
    (r"\b(?:is|are) an error\b(?! (?:in|of)\b)", "raises an error"),
    (r"\b(?:its|their) kin\b", "and related functions"),
    (r"\b(?:their|its|the) likes?\b", "and others"),
    (r"\bone's own\b", "your own"),
    (r"\bwill do\b", "is enough, is accepted"),
    (r"\banew\b", "again"),
    (r"\blook(?:s|ed)? after\b", "check, maintain"),
    (r"\btakes? up (?:what|changes)\b", "processes"),
    (r"\bsome \d[\d.,]* (?:bytes|rows|pages|words|characters|ms|s|kB|MB|GB)\b", "about .."),
    (r"\bknow better\b", "by default; if .. does not match"),
    (r"\bdo(?:es)? without\b", "does not need"),
)

def prose_of(text):
    """The text with code, addresses of links and indented blocks blanked; its lines stay."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    text = re.sub(r"^ {4,}\S.*$", blank, text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", blank, text)
    return re.sub(r"\]\([^)\n]*\)", blank, text)


def strings_of(text, pattern):
    """What matches the pattern's group, at its places; all else blanked."""
    kept = re.sub(r"[^\n]", " ", text)
    for m in re.finditer(pattern, text, re.S):
        kept = kept[:m.start(1)] + m.group(1) + kept[m.end(1):]
    return kept


COMMENTS = r"\bCOMMENT ON [^;]*? IS\s+'((?:[^']|'')*)'"
LITERALS = r'"((?:[^"\\\n]|\\.)*)"'


def unreleased(text):
    """Of CHANGELOG.md what stands before the first released version."""
    found = re.search(r"^## (?!.*unreleased)", text, re.M)
    return text[:found.start()] if found else text


def findings(path, text):
    if path.endswith(".sql"):
        text = strings_of(text, COMMENTS)
    elif path.endswith(".cpp"):
        text = strings_of(text, LITERALS)
    else:
        text = prose_of(unreleased(text) if os.path.basename(path) == "CHANGELOG.md" else text)
    for pattern, advice in PHRASES:
        for m in re.finditer(pattern.replace(" ", r"\s+"), text, re.I):
            yield text.count("\n", 0, m.start()) + 1, " ".join(m.group(0).split()), advice


def main(named):
    os.chdir(ROOT)
    pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
    for pattern in ("src/README", "src/**/README", "docs/*.md", "sql/install/*.sql", "src/pg/**/*.cpp",
                    "src/cli/**/*.cpp"):
        pages += sorted(set(glob.glob(pattern, recursive=True)) - set(pages))
    paths = named or pages
    bad = 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line, phrase, advice in sorted(findings(path, f.read())):
                print("%s:%d: \"%s\": write: %s" % (path, line, phrase, advice))
                bad += 1
    print("%s - prose keeps to plain English (%d files)%s" % (
        "not ok" if bad else "ok", len(paths), ": %d phrases" % bad if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
