-- Labels of our functions and operators. A wrong label causes no error: a result is computed too early or in the wrong
-- process, or a value hidden by row security is shown. Most functions are IMMUTABLE STRICT PARALLEL SAFE and not LEAKPROOF;
-- the others stand here, each list with its reason, so that a label that changes anywhere changes this file.
CREATE VIEW ours AS SELECT p.*, p.oid::regprocedure AS name FROM pg_proc p
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'neardup';
-- LEAKPROOF: they raise no error for any value, so they may see rows before row security does. Order and equality of signatures,
-- hamming distances, tests of lsh_query, the quiet twins of the operators that indexes have.
SELECT name FROM ours WHERE proleakproof ORDER BY name::text COLLATE "C";
-- STABLE: the answer depends on a setting, a table or a dictionary.
SELECT name FROM ours WHERE provolatile = 's' ORDER BY name::text COLLATE "C";
-- VOLATILE: they run queries of the caller's, write, or tell of the state of a session or an index. Triggers and handlers are.
SELECT name FROM ours WHERE provolatile = 'v' ORDER BY name::text COLLATE "C";
-- PARALLEL RESTRICTED: they read what only the leader has.
SELECT name FROM ours WHERE proparallel = 'r' ORDER BY name::text COLLATE "C";
-- PARALLEL UNSAFE: they run queries, write, or change what a session keeps.
SELECT name FROM ours WHERE proparallel = 'u' ORDER BY name::text COLLATE "C";
-- These are not STRICT: a NULL means something to them, a missing option above all.
SELECT name FROM ours WHERE NOT proisstrict AND prokind <> 'a' ORDER BY name::text COLLATE "C";
-- SECURITY DEFINER or with settings of their own
SELECT name, prosecdef, proconfig FROM ours WHERE prosecdef OR proconfig IS NOT NULL ORDER BY name::text COLLATE "C";
-- Support functions of the planner
SELECT name, prosupport FROM ours WHERE prosupport <> 0 ORDER BY name::text COLLATE "C";
-- Aggregates: parallel ones combine; the order of signatures does not matter, and no state is kept between them.
SELECT name, aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggtranstype::regtype, proparallel
  FROM ours JOIN pg_aggregate ON aggfnoid = ours.oid ORDER BY name::text COLLATE "C";
-- Operators: a wrong commutator or negator makes another query of it.
SELECT o.oid::regoperator AS name, o.oprcode, o.oprcom::regoperator, o.oprnegate::regoperator, o.oprrest, o.oprjoin, o.oprcanhash AS hash, o.oprcanmerge AS merge
  FROM pg_operator o JOIN pg_depend d ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e'
  JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'neardup'
  ORDER BY o.oid::regoperator::text COLLATE "C";
-- Casts: i by itself, a in an assignment, e where it is asked for
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext FROM pg_cast c
  JOIN pg_depend d ON d.classid = 'pg_cast'::regclass AND d.objid = c.oid AND d.deptype = 'e'
  JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'neardup'
  ORDER BY castsource::regtype::text COLLATE "C", casttarget::regtype::text COLLATE "C";
DROP VIEW ours;
