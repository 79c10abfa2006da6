-- neardup: near-duplicate documents inside PostgreSQL.
\echo Use "CREATE EXTENSION neardup" to load this file. \quit

