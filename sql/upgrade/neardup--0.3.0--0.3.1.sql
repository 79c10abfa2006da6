-- From 0.3.0 to 0.3.1: faults of security that are mended in the library and in the program. The objects stay as they are.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.3.1'" to load this file. \quit
