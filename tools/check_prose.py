#!/usr/bin/python3
"""Phrases that what users read does not have, each with what to write instead, and comments of sources that are no
sentence: `tools/check_prose.py [FILE ..]`.

Without files it reads for phrases README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md (what is not released), each
README of src, docs/*.md, the comments of SQL objects (sql/install), and the messages and hints in C++ (src/pg,
src/cli), without code; and for fragments the comments of every source that git knows. Prints file:line, phrase and
advice; the exit status is 1 where it finds one."""
import glob
import os
import re
import sys

import comments

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

# A comment is a sentence or a noun with what belongs to it. Its first sentence does not open with a word of OPENERS: it
# would be a part of a sentence whose subject the reader must guess. One of CONDITIONS opens a whole sentence where a
# verb or a comma follows.
OPENERS = r"What|Whether|How|Which|Of|By|Whose|Than|And|Nor|Else|Also|Too|Not|Such"
CONDITIONS = (r"After|As|At|Because|Before|Behind|Beside|Between|Beyond|Even|For|From|If|In|Into|On|Only|Since|So|"
              r"The same|To|Under|Until|Up|When|Where|While|With|Within|Without")
FINITE = (r"\b(?:are|becomes?|begins?|can|cannot|comes?|costs?|could|counts?|did|do|does|ends?|fails?|finds?|gets?|"
          r"gives?|go|goes|had|has|have|holds?|is|keeps?|makes?|may|means?|might|must|needs?|reads?|sees?|should|"
          r"stands?|stays?|takes?|uses?|was|were|will|would|writes?)\b")
DEMONSTRATIVE = r"That (?!(?:is|was|would|makes|can|may|must|does|holds|means|costs|needs|has|leaves|gives|keeps)\b)"
FROZEN = "sql/upgrade/"
FRAGMENT = "write a sentence with a subject, or a noun: True if .., The bytes of .., Returns .."


def is_fragment(comment):
    first = re.split(r"(?<=[.:;!?])\s", comment, maxsplit=1)[0]
    if not re.match(r"\w+:", first):  # the name of a parameter
        first = first[:1].upper() + first[1:]
    if re.match(r"(?:%s)\b|%s" % (OPENERS, DEMONSTRATIVE), first):
        return not first.endswith("?")
    return bool(re.match(r"(?:%s)\b" % CONDITIONS, first)) and "," not in first and not re.search(FINITE, first)


def fragments(path, text):
    for line, comment in comments.comments(path, text):
        if is_fragment(comment):
            yield line, " ".join(comment.split())[:60], FRAGMENT


def blank_code(text):
    """The text with code, addresses of links and indented blocks blanked; its lines stay."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    text = re.sub(r"^ {4,}\S.*$", blank, text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", blank, text)
    return re.sub(r"\]\([^)\n]*\)", blank, text)


def keep_strings(text, pattern):
    """The text of the pattern's group, at its places; all else blanked."""
    kept = re.sub(r"[^\n]", " ", text)
    for m in re.finditer(pattern, text, re.S):
        kept = kept[:m.start(1)] + m.group(1) + kept[m.end(1):]
    return kept


COMMENTS = r"\bCOMMENT ON [^;]*? IS\s+'((?:[^']|'')*)'"
LITERALS = r'"((?:[^"\\\n]|\\.)*)"'


def unreleased(text):
    """The part of CHANGELOG.md before the first released version."""
    found = re.search(r"^## (?!.*unreleased)", text, re.M)
    return text[:found.start()] if found else text


def findings(path, text):
    if path.endswith(".sql"):
        text = keep_strings(text, COMMENTS)
    elif path.endswith(".cpp"):
        text = keep_strings(text, LITERALS)
    else:
        text = blank_code(unreleased(text) if os.path.basename(path) == "CHANGELOG.md" else text)
    for pattern, advice in PHRASES:
        for m in re.finditer(pattern.replace(" ", r"\s+"), text, re.I):
            yield text.count("\n", 0, m.start()) + 1, " ".join(m.group(0).split()), advice


def main(named):
    os.chdir(ROOT)
    pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
    for pattern in ("src/README", "src/**/README", "docs/*.md", "sql/install/*.sql", "src/pg/**/*.cpp",
                    "src/cli/**/*.cpp"):
        pages += sorted(set(glob.glob(pattern, recursive=True)) - set(pages))
    read = [(p, findings) for p in named or pages]
    sources = named or comments.known_files(ROOT, comments.ENDINGS)
    if sources is None:
        print("skip - comments: this is no checkout of git")
    read += [(p, fragments) for p in sources or () if p.endswith(comments.ENDINGS) and not p.startswith(FROZEN)]
    bad = 0
    for path, find in read:
        with open(path, encoding="utf-8") as f:
            for line, phrase, advice in sorted(find(path, f.read())):
                print("%s:%d: \"%s\": write: %s" % (path, line, phrase, advice))
                bad += 1
    print("%s - prose keeps to plain English (%d files)%s" % (
        "not ok" if bad else "ok", len({p for p, _ in read}), ": %d phrases" % bad if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
