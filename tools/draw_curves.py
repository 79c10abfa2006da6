#!/usr/bin/env python3
"""Draws docs/s_curve.svg: how probable it is that a pair is found, by its true similarity.

    tools/draw_curves.py            writes it
    tools/draw_curves.py --check    exits 1 when the committed file is another

test/t/460_docs.py compares the numbers in the file with lsh_probability() and neardup_s_curve().
"""
import os
import sys
from math import comb

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "s_curve.svg")
NUM_PERM = 128
STEPS = 200
LEFT, TOP, WIDTH, HEIGHT = 62, 20, 560, 320  # the plot within the picture, in pixels

# name, what it is, arguments, class. bands: one of so many bands of so many
# components agrees; matches: so many of 128 components agree.
CURVES = (
    ("25 bands of 5", "bands", (25, 5), "a"),
    ("16 bands of 8", "bands", (16, 8), "b"),
    ("9 bands of 13", "bands", (9, 13), "c"),
    ("the index, jaccard >= 0.8", "matches", 103, "d"),
    ("the search of verify at 0.8", "matches", 88, "e"),
)


def probability(kind, arguments, similarity):
    if kind == "bands":
        bands, rows = arguments
        return 1 - (1 - similarity ** rows) ** bands
    return sum(comb(NUM_PERM, m) * similarity ** m * (1 - similarity) ** (NUM_PERM - m)
               for m in range(arguments, NUM_PERM + 1))


def place(similarity, p):
    return LEFT + WIDTH * similarity, TOP + HEIGHT * (1 - p)


def drawn():
    bottom = TOP + HEIGHT
    out = ["""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 445" font-family="sans-serif" font-size="13">
<title>Probability that a pair is found, by its true Jaccard similarity</title>
<!-- tools/draw_curves.py -->
<style>
.paper { fill: #fff } text { fill: #333 } .frame { stroke: #888; fill: none } \
.grid { stroke: #888; stroke-opacity: 0.3; fill: none } .at { stroke: #888; stroke-dasharray: 2 4 }
.curve { fill: none; stroke-width: 2.2 }
.a { stroke: #b35900 } .b { stroke: #0b6fb8 } .c { stroke: #7a3fa0 } .d { stroke: #c2185b; stroke-width: 3 } \
.e { stroke: #1b7f3b; stroke-dasharray: 7 4 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #15191e } text { fill: #ddd } .a { stroke: #ffa94d } .b { stroke: #5ab9ff } \
.c { stroke: #c79bff } .d { stroke: #ff6b9d } .e { stroke: #63d68a }
}
</style>
<rect class="paper" width="640" height="445"/>"""]
    for i in range(11):
        x, y = place(i / 10, i / 10)
        out.append('<path class="grid" d="M%g %gV%g M%g %gH%g"/>' % (x, TOP, bottom, LEFT, y, LEFT + WIDTH))
        out.append('<text x="%g" y="%g" text-anchor="middle">%g</text>' % (x, bottom + 18, i / 10))
        out.append('<text x="%g" y="%g" text-anchor="end">%g</text>' % (LEFT - 8, y + 4, i / 10))
    out.append('<rect class="frame" x="%d" y="%d" width="%d" height="%d"/>' % (LEFT, TOP, WIDTH, HEIGHT))
    out.append('<path class="at" d="M%g %gV%g"/>' % (place(0.8, 0)[0], TOP, bottom))
    out.append('<text x="%g" y="%g" text-anchor="middle">true Jaccard similarity of the pair</text>' % (
        LEFT + WIDTH / 2, bottom + 38))
    out.append(
        '<text transform="translate(18 %g) rotate(-90)" text-anchor="middle">probability</text>' % (TOP + HEIGHT / 2))
    for n, (name, kind, arguments, style) in enumerate(CURVES):
        points = " ".join(
            "%.2f,%.3f" % place(i / STEPS, probability(kind, arguments, i / STEPS)) for i in range(STEPS + 1))
        out.append('<polyline class="curve %s" points="%s"><title>%s</title></polyline>' % (
            style, points, name.replace(">", "&gt;")))
        x, y = LEFT + (n % 3) * 210, bottom + 68 + (n // 3) * 24
        out.append('<path class="curve %s" d="M%g %gh26"/><text x="%g" y="%g">%s</text>' % (
            style, x, y - 4, x + 33, y, name.replace(">", "&gt;")))
    return "\n".join(out + ["</svg>", ""])


def main():
    text = drawn()
    if sys.argv[1:] == ["--check"]:
        with open(PATH, encoding="utf-8") as f:
            sys.exit(f.read() != text)
    with open(PATH, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
