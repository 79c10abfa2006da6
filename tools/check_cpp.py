#!/usr/bin/env python3
"""Checks of the C++ sources by libclang, each source read once: two_worlds.py, check_sizes.py, dead_includes.py.

    tools/check_cpp.py [ROOT]     ROOT: the folder of the project, this one unless given"""
import check_sizes
import cpp_sources
import dead_includes
import two_worlds

if __name__ == "__main__":
    cpp_sources.main(two_worlds, check_sizes, dead_includes)
