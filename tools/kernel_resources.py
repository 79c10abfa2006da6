#!/usr/bin/python3
"""Registers, spills, shared memory and occupancy of each kernel of src/gpu (those of CUB left out), for each GPU
architecture, which docs/gpu.md sums up, calculated by nvcc and ptxas without a GPU.

    tools/kernel_resources.py [ARCH ...]     default: 75 80 86 89 90; NVCC=... for another compiler

Occupancy is the share of a multiprocessor's warps that can be resident by registers, threads and the shared memory that
the kernel declares. Shared memory that the host asks for at launch lowers it, and is not known here. The limits of an
architecture: CUDA C++ Programming Guide, technical specifications per compute capability. Exit status 1 where a kernel
spills registers. """
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict, namedtuple

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
NVCC = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

Limits = namedtuple("Limits", "warps blocks shared")  # of a multiprocessor; shared memory in bytes
LIMITS = {
    "75": Limits(32, 16, 64 << 10),
    "80": Limits(64, 32, 164 << 10),
    "86": Limits(48, 16, 100 << 10),
    "89": Limits(48, 24, 100 << 10),
    "90": Limits(64, 32, 228 << 10),
}
REGISTERS = 65536  # of a multiprocessor
REGISTER_UNIT = 8  # of a thread, in which registers are given out
SHARED_OF_BLOCK = 1 << 10  # which the system takes of each block from 8.0 on

Kernel = namedtuple("Kernel", "threads registers spilled shared")


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout + done.stderr


def read_kernels(source, arch, folder):
    """name as the linker knows it -> Kernel"""
    ptx = os.path.join(folder, "kernel.ptx")
    run(NVCC, "-std=c++20", "-O3", "-I" + os.path.join(ROOT, "src"), f"-arch=compute_{arch}", "-ptx", source, "-o", ptx)
    with open(ptx, encoding="utf-8") as file:
        threads = {name: int(n) for name, n in re.findall(r"\.entry (\w+)\([^)]*\)\s*\.maxntid (\d+)", file.read())}
    said = run(os.path.join(os.path.dirname(NVCC), "ptxas"), "-v", f"-arch=sm_{arch}", ptx, "-o", "/dev/null")
    found = {}
    for part in said.split("Compiling entry function '")[1:]:
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        shared = re.search(r"(\d+) bytes smem", part)
        name = part.split("'")[0]
        if "3cub" in name:  # the sorts of CUB, which are not ours to change
            continue
        found[name] = Kernel(threads.get(name), int(re.search(r"Used (\d+) registers", part)[1]),
                             int(spills[1]) + int(spills[2]),
                             int(shared[1]) if shared else 0)
    return found


def occupancy(kernel, arch):
    limits = LIMITS[arch]
    warps = (kernel.threads + 31) // 32
    registers = (kernel.registers + REGISTER_UNIT - 1) // REGISTER_UNIT * REGISTER_UNIT * 32 * warps
    shared = kernel.shared + (SHARED_OF_BLOCK if int(arch) >= 80 else 0)
    blocks = min(limits.blocks, limits.warps // warps, REGISTERS // registers,
                 limits.shared // shared if shared else limits.blocks)
    return blocks * warps / limits.warps


def short(name):
    """The kernel's own name out of run_kernel<..>."""
    name = re.sub(r"neardup::|gpu::|\(anonymous namespace\)::|\bvoid ", "", name)
    inner = re.match(r"run_kernel<(.*?) ?>\(", name)
    return re.sub(r"(\d)u\b", r"\1", inner[1] if inner else name.split("(")[0])


def main():
    archs = sys.argv[1:] or list(LIMITS)
    table = defaultdict(dict)
    sources = sorted(glob.glob("**/*.cu", root_dir=os.path.join(ROOT, "src", "gpu"), recursive=True))
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            for arch in archs:
                for name, kernel in read_kernels(os.path.join(ROOT, "src", "gpu", source), arch, folder).items():
                    table[source, name][arch] = kernel
    names = run("c++filt", *[name for _, name in table]).splitlines() if table else []
    print("| source | kernel | threads | registers, " + ", ".join(archs) + " | spilled bytes | shared bytes | "
          "occupancy, " + ", ".join(archs) + " |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for ((source, _), by_arch), name in zip(table.items(), names):
        found = [by_arch[a] for a in archs]
        shares = ", ".join("%.0f %%" % (100 * occupancy(by_arch[a], a)) if by_arch[a].threads else "?" for a in archs)
        print(f"| {source} | `{short(name)}` | {found[0].threads} | {', '.join(str(k.registers) for k in found)} | "
              f"{max(k.spilled for k in found)} | {max(k.shared for k in found)} | {shares} |")
    return any(k.spilled for by_arch in table.values() for k in by_arch.values())


sys.exit(main())
