-- From 0.3.1 to 0.4.0.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.4.0'" to load this file. \quit
