"""Tokens of code as regular expressions, written from their definition in docs/format.md. Shared by oracle.py and
test/t; never shipped."""
import re

NAME, LITERAL = "id", "lit"

KEYWORDS = frozenset("""
alignas alignof auto bool break case char const constexpr continue default do double else enum extern false float for
goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct switch
thread_local true typedef typeof typeof_unqual union unsigned void volatile while _Alignas _Alignof _Atomic _BitInt
_Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local

and and_eq asm bitand bitor catch class char8_t char16_t char32_t compl concept consteval constinit const_cast co_await
co_return co_yield decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid typename
using virtual wchar_t xor xor_eq

abstract assert boolean byte extends final finally implements import instanceof interface native null package strictfp
super synchronized throws transient

await debugger function in let var with yield

False None True as async def del elif except from global is lambda nonlocal pass raise
""".split())

SPACE = r"\x00-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
WORD = r"(?:[A-Za-z0-9_$]|[^\x00-\x7f%s])" % SPACE
DIRECTIVE = (r"\#(?:define|undef|include|embed|ifdef|ifndef|if|elifdef|elifndef|elif|else|endif|line|error|warning|"
             r"pragma|import)(?!%s)" % WORD)
PREFIX = r"(?i:u8r?|[lu]r?|br?|rb?|fr?|rf)"
OPERATORS = "... <<= <=> === !== **= -> ++ -- << <= >= == != && || += -= *= /= %= &= |= ^= @= ** :: := => ?? ?.".split()

TOKEN = re.compile(
    r"""
      (?P<gap> [%(SPACE)s]+ | \\(?=[\r\n]) | /\* (?:.*?\*/ | .*) | (?: // | (?!%(DIRECTIVE)s)\# ) [^\r\n]* )
    | (?P<kept> %(DIRECTIVE)s )
    | (?P<literal>
          0[xX] (?: [pP][+-] | '(?=[0-9A-Za-z]) | %(WORD)s | \. )*
        | \.?[0-9] (?: [eE][+-] | '(?=[0-9A-Za-z]) | %(WORD)s | \. )*
        | (?:[LUu]|u8)?R"(?P<delimiter>%(DELIMITER)s)\( (?: .*?\)(?P=delimiter)" | .* )
        | %(PREFIX)s? (?: \"\"\" (?:\\.|(?!\"\"\").)* (?:\"\"\"|\Z) | ''' (?:\\.|(?!''').)* (?:'''|\Z) )
        | %(PREFIX)s? (?: " (?: \\(?:\r\n|.|\Z) | [^"\\\r\n] )* "? | ' (?: \\(?:\r\n|.|\Z) | [^'\\\r\n] )* '? )
        | ` (?: \\(?:.|\Z) | [^`\\] )* `?
      )
    | (?P<name> %(WORD)s+ )
    | (?P<operator> %(OPERATORS)s | . )
    """ % {
        "SPACE": SPACE, "WORD": WORD, "DIRECTIVE": DIRECTIVE, "PREFIX": PREFIX,
        "DELIMITER": r"""[^\x00-\x20()\\"'`]*""", "OPERATORS": "|".join(map(re.escape, OPERATORS))},
    re.VERBOSE | re.DOTALL)


def tokens(text):
    """[(what makes it equal to others, first code point, end)]"""
    out = []
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found.group("delimiter") is not None and len(found.group("delimiter").encode()) > 16:
            # A prefix too long for C++ makes it an ordinary string.
            prefix = found.group().index('"')
            plain = TOKEN.match(text, at + prefix)
            out.append((LITERAL, at, plain.end()))
            at = plain.end()
            continue
        kind, token = found.lastgroup, found.group()
        if kind == "delimiter":
            kind = "literal"
        if kind != "gap":
            key = LITERAL if kind == "literal" else token if kind != "name" or token in KEYWORDS else NAME
            out.append((key, at, found.end()))
        at = found.end()
    return out
