#!/usr/bin/env python3
"""The same pairs of documents by neardup's core, rapidfuzz and edlib, one thread, side by side, ms.

    edit_distance_bench.py [EDIT_DISTANCE_BENCH]      default: build-bench/edit_distance_bench beside this folder

rapidfuzz and edlib are not dependencies of the project: `pip install rapidfuzz edlib`. What is missing is left out.
edlib reads bytes where a text is ASCII and otherwise Python's characters, at most 256 of them.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    from rapidfuzz.distance import Levenshtein
except ImportError:
    Levenshtein = None
try:
    import edlib
except ImportError:
    edlib = None


def median_ms(work):
    times = []
    while len(times) < 101 and sum(times) < (5 if len(times) < 5 else 0.3):  # one run where it takes long
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def by_edlib(a, b, bound):
    if len(set(a) | set(b)) > 256:
        return None
    return edlib.align(a, b, mode="NW", task="distance", k=-1 if bound is None else bound)["editDistance"]


def by_rapidfuzz(a, b, bound):
    return Levenshtein.distance(a, b, score_cutoff=bound)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    core = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "build-bench", "edit_distance_bench")
    others = [(name, f) for name, module, f in
              (("rapidfuzz", Levenshtein, by_rapidfuzz), ("edlib", edlib, by_edlib)) if module is not None]
    print(f"{'texts':28} {'program':16} {'distance':>9} {'no bound':>10} {'bound':>10}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pairs")
        subprocess.run([core, "--export", path], check=True)
        with open(path, encoding="utf-8", newline="\n") as file:
            lines = file.read().splitlines()
        for line in lines:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(line + "\n")
            out = subprocess.run([core, "--rates", path], check=True, capture_output=True, text=True).stdout
            wanted = None
            for row in out.splitlines():
                name, form, distance, free, bounded = row.split("\t")
                wanted = int(distance)
                print(f"{name:28} {'neardup ' + form:16} {wanted:9} {float(free):10.4f} {float(bounded):10.4f}")
            name, a, b = line.split("\t")
            for program, f in others:
                got = f(a, b, None)
                if got is None:
                    continue
                assert got == wanted, (name, program, got, wanted)
                free = median_ms(lambda: f(a, b, None))
                bounded = median_ms(lambda: f(a, b, wanted + wanted // 20))
                print(f"{name:28} {program:16} {got:9} {free:10.4f} {bounded:10.4f}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
