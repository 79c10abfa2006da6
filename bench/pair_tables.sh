# shellcheck shell=bash
# Sourced by the benchmarks of pairs: fills a table with signatures that have near copies. They have sql(), which runs psql, and $make, make_signatures.

: "${make:?}"

# make_pair_table TABLE minhash|simhash|ctph ROWS: columns id and sig. Of simhashes and digests of 64 characters one row in ten is a near copy.
make_pair_table() {
  sql -c "DROP TABLE IF EXISTS $1"
  case $2 in
    minhash)
      sql -c "CREATE UNLOGGED TABLE $1 (id bigint, sig minhash)"
      "$make" --rows "$3" | sql -c "COPY $1 (id, sig) FROM STDIN (FORMAT binary)"
      ;;
    simhash)
      sql -c "CREATE UNLOGGED TABLE $1 AS
        SELECT i AS id, CASE WHEN i % 10 = 9 THEN (hashint8extended(i - 1, 5) # (1::bigint << (i % 64)::int))::simhash
          ELSE hashint8extended(i, 5)::simhash END AS sig FROM generate_series(1::bigint, $3) i"
      ;;
    ctph)
      sql -c "CREATE UNLOGGED TABLE $1 AS
        SELECT i AS id, ('192:' || CASE WHEN i % 10 = 9 THEN overlay(p PLACING 'xyz' FROM 30) ELSE p END || ':' || left(p, 32))::ctph AS sig
        FROM generate_series(1::bigint, $3) i, LATERAL (SELECT left(translate(encode(sha512((i - (i % 10 = 9)::int)::text::bytea), 'base64'), E'\n=', ''), 64) AS p) s"
      ;;
  esac
  sql -c "VACUUM ANALYZE $1"
}
