"""Where the mistakes of test/mutations stand in the sources: patterns of tokens, and the functions that they stand in.

Nothing is compiled: a small scanner knows comments, strings and braces, which is enough to
tell functions apart. It reads C++ and SQL."""
import bisect
import collections
import difflib
import os
import re

CPP = re.compile(r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\\\n)
                 |(?P<token>(?:u8|[uUL])?R"(?P<ends>[^()\\\s]{0,16})\(.*?\)(?P=ends)"
                 |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|\.?\d(?:'?[\w.])*|\w+|\S)""",
                 re.S | re.X)
SQL = re.compile(r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/)|(?P<token>'(?:[^']|'')*'|"[^"]*"|\$\w*\$|\w+|\S)""", re.S | re.X)
DIRECTIVE = re.compile(r"(?:[^\n\\]|\\.)*", re.S)
NO_NAMES = {"alignas", "decltype", "noexcept", "requires", "explicit", "__attribute__", "throw"}  # before a parenthesis
CLASSES = {"class", "struct", "union"}
END = "\0"
MOST = 0.6  # of a pattern's tokens: where fewer stand together, it stands nowhere
CLOSEST = 20  # places with as many tokens of a pattern, compared further
PACKAGE = os.path.join("clients", "python", "src")


class Bad(Exception):
    """A mutation file that cannot be used."""


Function = collections.namedtuple("Function", "name begin end")  # offsets in the text


class Source:
    """The text of a file, and its tokens."""

    def __init__(self, text, sql=False):
        self.text, self.sql = text, sql
        self.tokens, self.begins = [], []
        for found in (SQL if sql else CPP).finditer(text):
            if found.group("token") is not None:
                self.tokens.append(found.group())
                self.begins.append(found.start())
        self.joined = END + END.join(self.tokens) + END
        self.offsets, at = [], 0  # of each token's END in joined
        for token in self.tokens:
            self.offsets.append(at)
            at += len(token) + 1
        self.known = None

    def end(self, n):
        return self.begins[n] + len(self.tokens[n])

    def functions(self):
        if self.known is None:
            self.known = list(sql_functions(self) if self.sql else Scanner(self).functions())
        return self.known

    def function_at(self, offset):
        """The name of the function around an offset, or None."""
        return next((f.name for f in self.functions() if f.begin <= offset < f.end), None)

    def places(self, pattern):
        """[(begin, end)] of where the tokens of `pattern` stand, or its text, where it is cut within a token."""
        wanted = Source(pattern, self.sql)
        found = []
        if wanted.tokens:
            at = self.joined.find(wanted.joined)
            while at >= 0:
                first = bisect.bisect_left(self.offsets, at)
                found.append(self.with_ends(pattern, wanted, first))
                at = self.joined.find(wanted.joined, at + 1)
        if not found and pattern:
            found = [(hit.start(), hit.end()) for hit in re.finditer(re.escape(pattern), self.text)]
        return found

    def with_ends(self, pattern, wanted, first):
        """Spaces and comments at the ends of a pattern belong to its place where they stand there."""
        begin, end = self.begins[first], self.end(first + len(wanted.tokens) - 1)
        whole = begin - wanted.begins[0]
        if whole >= 0 and self.text.startswith(pattern, whole):
            return whole, whole + len(pattern)
        return begin, end


def single_colon(tokens, i):
    return tokens[i] == ":" and ":" not in (*tokens[max(i - 1, 0):i], *tokens[i + 1:i + 2])


class Scanner:
    """The functions of a C++ file: what has a name, parameters and a body. A lambda belongs to the function that it
    stands in."""

    def __init__(self, source):
        self.source, self.tokens = source, source.tokens
        self.n = self.declaration = 0  # this token, and the one that its declaration begins with
        self.depth = 0  # of parentheses
        self.scopes = ()  # names of classes, None for other braces

    def functions(self):
        branches = []
        while self.n < len(self.tokens):
            token = self.tokens[self.n]
            if token == "#" and self.begins_line():
                self.scopes = self.directive(branches, self.scopes)
                continue
            if token in "([":
                self.depth += 1
            elif token in ")]":
                self.depth -= 1
            elif token == "{" and (self.depth > 0 or not self.opens()):
                self.skip_braces()
                continue
            elif token == "{":
                function = self.open()
                if function:
                    yield function
                continue
            elif token == "}":
                self.scopes = self.scopes[:-1]
                self.begin_declaration()
                continue
            elif (token == ";" and self.depth <= 0) or self.is_access(token):
                self.begin_declaration()
                continue
            self.n += 1

    def is_access(self, token):
        return token == ":" and self.n and self.declaration == self.n - 1 and self.tokens[self.n - 1] in (
            "public", "private", "protected")

    def begin_declaration(self):
        self.n += 1
        self.declaration, self.depth = self.n, 0

    def begins_line(self):
        text, at = self.source.text, self.source.begins[self.n]
        return not text[text.rfind("\n", 0, at) + 1:at].strip()

    def directive(self, branches, state):
        """Passes over it; what is open behind it. Each branch of an #if begins with what was open above it: the last
        one counts."""
        word = self.tokens[self.n + 1] if self.n + 1 < len(self.tokens) else ""
        if word in ("if", "ifdef", "ifndef"):
            branches.append(state)
        elif word in ("else", "elif") and branches:
            state = branches[-1]
        elif word == "endif" and branches:
            branches.pop()
        end = DIRECTIVE.match(self.source.text, self.source.begins[self.n]).end()
        if self.declaration == self.n or word in ("else", "elif"):
            self.declaration = bisect.bisect_left(self.source.begins, end)
        self.n = bisect.bisect_left(self.source.begins, end)
        return state

    def skip_braces(self):
        """Goes from a brace to behind the one that closes it."""
        depth, branches = 0, []
        declaration = self.declaration
        while self.n < len(self.tokens):
            if self.tokens[self.n] == "#" and self.begins_line():
                depth = self.directive(branches, depth)
                continue
            depth += (self.tokens[self.n] == "{") - (self.tokens[self.n] == "}")
            self.n += 1
            if depth == 0:
                break
        self.declaration = declaration

    def head(self):
        """The declaration before a brace without what its template begins with."""
        n = self.declaration
        while n < self.n and self.tokens[n] == "template":
            n += 1
            depth = 0
            while n < self.n:
                depth += (self.tokens[n] == "<") - (self.tokens[n] == ">" and self.tokens[n - 1] != "-")
                n += 1
                if depth == 0:
                    break
        return n

    def parameters(self):
        """The token that opens the parameters, None where there are none."""
        angles = 0
        tokens = self.tokens
        n = self.head()
        if "SQL_FUNCTION" in tokens[n:self.n]:  # of src/pg/base/pg.h; other macros may stand before it
            return tokens.index("SQL_FUNCTION", n) + 1
        while n < self.n:
            token = tokens[n]
            if token == "operator":
                n += 1
                if tokens[n] == "(":
                    n += 2
                while n < self.n and tokens[n] != "(":
                    n += 1
                return n
            if token == "(":
                if angles == 0 and re.match(r"[^\W\d]", tokens[n - 1]) and tokens[n - 1] not in NO_NAMES:
                    return n
                n = self.behind(n)
                continue
            if token == "=" and angles == 0:
                return None
            angles += (token == "<") - (token == ">" and tokens[n - 1] != "-")
            n += 1
        return None

    def behind(self, n):
        depth = 0
        while n < self.n:
            depth += (self.tokens[n] == "(") - (self.tokens[n] == ")")
            n += 1
            if depth == 0:
                break
        return n

    def opens(self):
        """Is it a scope or a body, not a value in braces?"""
        tokens = self.tokens
        opening = self.parameters()
        if opening is None:
            head = tokens[self.head():self.n]
            return bool(head) and "=" not in head and bool({"namespace", "extern", "enum", *CLASSES} & set(head))
        after = tokens[self.behind(opening):self.n]
        initializes = any(single_colon(after, i) for i in range(len(after))) and re.match(r"\w|>", after[-1])
        return not initializes

    def open(self):
        opening = self.parameters()
        if opening is not None:
            begin, name = self.source.begins[self.declaration], self.name_before(opening)
            self.skip_braces()
            function = Function(name, begin, self.source.end(self.n - 1))
            self.declaration, self.depth = self.n, 0
            return function
        self.scopes += (self.class_name(self.tokens[self.head():self.n]),)
        self.begin_declaration()
        return None

    @staticmethod
    def class_name(head):
        """The name of the class that a declaration opens, None of another scope."""
        if "enum" in head or not CLASSES & set(head):
            return None
        first = min(head.index(word) for word in CLASSES & set(head)) + 1
        last = next((i for i in range(first, len(head)) if single_colon(head, i) or head[i] == "<"), len(head))
        names = [token for token in head[first:last] if re.match(r"[^\W\d]", token) and token != "final"]
        return names[-1] if names else None

    def name_before(self, opening):
        tokens, n = self.tokens, opening - 1
        head = self.head()
        if "operator" in tokens[head:opening]:
            at = head + tokens[head:opening].index("operator")
            parts, n = ["operator" + "".join(tokens[at + 1:opening])], at - 1
        elif tokens[n] == "SQL_FUNCTION":
            return tokens[opening + 1]
        else:
            parts = [tokens[n]]
            n -= 1
            if tokens[n] == "~":
                parts[0] = "~" + parts[0]
                n -= 1
        while n - 2 >= head and tokens[n] == ":" and tokens[n - 1] == ":":
            n -= 2
            if tokens[n] == ">":
                depth = 0
                while n > head:
                    depth += (tokens[n] == ">") - (tokens[n] == "<")
                    n -= 1
                    if depth == 0:
                        break
            parts.insert(0, tokens[n])
            n -= 1
        return "::".join([s for s in self.scopes if s] + parts)


def sql_functions(source):
    """The functions and procedures that it creates, each up to the semicolon outside its body."""
    tokens = source.tokens
    upper = [t.upper() for t in tokens]
    for n, token in enumerate(upper):
        at = n + 3 if upper[n + 1:n + 3] == ["OR", "REPLACE"] else n + 1
        if token != "CREATE" or upper[at:at + 1] not in (["FUNCTION"], ["PROCEDURE"]):
            continue
        name, end, body = tokens[at + 1:tokens.index("(", at)][-1], at, None
        while end + 1 < len(tokens) and (tokens[end] != ";" or body):
            if tokens[end].startswith("$") and tokens[end].endswith("$") and len(tokens[end]) > 1 and body in (
                    None, tokens[end]):
                body = None if body else tokens[end]
            end += 1
        yield Function(name, source.begins[n], source.end(end))


def is_called(function, name):
    return function.name == name or function.name.endswith("::" + name)


class Sources:
    """The texts under src/, sql/install and the Python package of a tree, and its newest script of sql/upgrade."""

    def __init__(self, root):
        self.root = root
        self.texts = {}
        self.read = {}
        for folder, ends in (("src", (".cpp", ".h", ".cu")), ("sql/install", (".sql",)), (PACKAGE, (".py",))):
            for where, _, names in os.walk(os.path.join(root, folder)):
                for name in names:
                    if name.endswith(ends):
                        self.texts[os.path.relpath(os.path.join(where, name), root)] = None
        with open(os.path.join(root, "neardup.control"), encoding="utf-8") as f:
            version = re.search(r"^default_version = '(.*)'$", f.read(), re.M).group(1)
        upgrades = os.path.join(root, "sql", "upgrade")
        step = r"neardup--[^-]+--%s\.sql(\.in)?" % re.escape(version)
        steps = [name for name in os.listdir(upgrades) if re.fullmatch(step, name)]
        self.upgrade = os.path.join("sql", "upgrade", sorted(steps)[-1]) if steps else None
        for path in list(self.texts) + ([self.upgrade] if self.upgrade else []):
            with open(os.path.join(root, path), encoding="utf-8") as f:
                self.texts[path] = f.read()

    def source(self, path):
        if path not in self.read:
            self.read[path] = Source(self.texts[path], path.endswith(".sql"))
        return self.read[path]

    def hits(self, path, pattern, function=None):
        """[(path, begin, end)] of a pattern in a file, or in the functions of that name there."""
        words = re.findall(r"\w+", pattern)[1:-1] + (
            [function.split("::")[-1].split("operator")[-1]] if function else [])
        if any(word not in self.texts[path] for word in words):
            return []
        source = self.source(path)
        found = source.places(pattern)
        if function:
            spans = [f for f in source.functions() if is_called(f, function)] if found else []
            found = [(begin, end) for begin, end in found if any(self.within(path, begin, end, f) for f in spans)]
        return [(path, begin, end) for begin, end in found]

    def within(self, path, begin, end, function):
        text = self.texts[path][begin:end]
        return function.begin <= end - len(text.lstrip()) and begin + len(text.rstrip()) <= function.end

    def everywhere(self, pattern, function=None):
        return [
            hit for path in sorted(self.texts) if path != self.upgrade for hit in self.hits(path, pattern, function)]

    def place(self, name, find, function):
        """The hits of an edit: one, or a second one in the script of sql/upgrade; Bad where it does not stand once."""
        hits = self.everywhere(find, function)
        if len(hits) != 1:
            counts = collections.Counter(path for path, _, _ in hits)
            where = ", ".join("%d in %s" % (n, path) for path, n in sorted(counts.items())) or "nowhere"
            raise Bad("%s: its pattern must stand once in %s, and stands %s: %s"
                      % (name, function or "src and sql/install", where, find.strip().split("\n")[0]))
        if hits[0][0].startswith("sql") and self.upgrade:
            more = self.hits(self.upgrade, find, function)
            if len(more) > 1:
                raise Bad("%s: its pattern stands more than once in %s" % (name, self.upgrade))
            hits += more
        return hits

    def apply(self, mutation):
        """{path: changed text}; Bad where a pattern does not stand once."""
        edits = collections.defaultdict(list)
        for find, put, function in mutation.edits:
            if find == put:
                raise Bad("%s: changes nothing" % mutation.name)
            for path, begin, end in self.place(mutation.name, find, function):
                edits[path].append((begin, end, put if self.texts[path][begin:end] == find else put.strip()))
        changed = {}
        for path, places in edits.items():
            text, last = self.texts[path], len(self.texts[path])
            for begin, end, put in sorted(places, reverse=True):
                if end > last:
                    raise Bad("%s: its patterns overlap in %s" % (mutation.name, path))
                text, last = text[:begin] + put + text[end:], begin
            changed[path] = text
        return changed

    def describe(self, path, offset):
        """'FILE:LINE, in FUNCTION'"""
        function = self.source(path).function_at(offset)
        return "%s:%d, %s" % (path, self.texts[path].count("\n", 0, offset) + 1,
                              "in " + function if function else "outside functions")

    def moved(self, find):
        """Where a pattern stands now, in words: everywhere that it does, or where most of its tokens stand together; []
        for nowhere."""
        hits = self.everywhere(find)
        if hits:
            return ["it stands at %s" % self.describe(
                path, end - len(self.texts[path][begin:end].lstrip())) for path, begin, end in hits]
        best = max(
            (self.nearest(path, find) for path in sorted(self.texts) if path != self.upgrade), key=lambda near: near[0])
        share, count, of, path, offset = best
        if share < MOST:
            return []
        return ["%d of its %d tokens stand at %s" % (count, of, self.describe(path, offset))]

    def nearest(self, path, find):
        """(share, tokens found, tokens of the pattern, path, offset) of the part of a file that is most like a
        pattern."""
        source = self.source(path)
        wanted = Source(find, source.sql).tokens
        need, windows, common = collections.Counter(wanted), [], 0
        size, have = len(wanted), collections.Counter()
        for n, token in enumerate(source.tokens):
            if token in need:
                have[token] += 1
                common += have[token] <= need[token]
            if n >= size and source.tokens[n - size] in need:
                common -= have[source.tokens[n - size]] <= need[source.tokens[n - size]]
                have[source.tokens[n - size]] -= 1
            windows.append(common)
        best = (0.0, 0, size, path, 0)
        for n in sorted(range(len(windows)), key=lambda n: -windows[n])[:CLOSEST]:
            if size == 0 or windows[n] < MOST * size:
                break
            first = max(0, n - size + 1)
            blocks = difflib.SequenceMatcher(
                None, wanted, source.tokens[first:n + 1], autojunk=False).get_matching_blocks()
            same = sum(block.size for block in blocks)
            if same / size > best[0]:
                best = (same / size, same, size, path, source.begins[first + blocks[0].b])
        return best
