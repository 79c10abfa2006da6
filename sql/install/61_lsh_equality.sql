-- Columns before the last of an lsh index: equality of any type that can be hashed -------------------------------------

-- One operator class of lsh for each default one of the access method hash, and its operators between types of one
-- family; operator 5 and function 15 are equality and its hash: src/pg/lsh/family.h.
DO $$
DECLARE
  family record;
  class record;
  member record;
BEGIN
  FOR family IN
    SELECT f.oid, f.opfname FROM pg_catalog.pg_opfamily f JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) f.opfmethod
    WHERE a.amname OPERATOR(pg_catalog.=) 'hash' AND f.opfnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
      AND EXISTS (SELECT FROM pg_catalog.pg_opclass c WHERE c.opcfamily OPERATOR(pg_catalog.=) f.oid AND c.opcdefault)
    ORDER BY f.opfname USING OPERATOR(pg_catalog.<)
  LOOP
    EXECUTE pg_catalog.format('CREATE OPERATOR FAMILY @extschema@.%I USING lsh', family.opfname);
    FOR class IN
      SELECT c.opcname, c.opcintype, o.amopopr, p.amproc
      FROM pg_catalog.pg_opclass c
      JOIN pg_catalog.pg_amop o ON o.amopfamily OPERATOR(pg_catalog.=) c.opcfamily
        AND o.amoplefttype OPERATOR(pg_catalog.=) c.opcintype AND o.amoprighttype OPERATOR(pg_catalog.=) c.opcintype
        AND o.amopstrategy OPERATOR(pg_catalog.=) 1
      JOIN pg_catalog.pg_amproc p ON p.amprocfamily OPERATOR(pg_catalog.=) c.opcfamily
        AND p.amproclefttype OPERATOR(pg_catalog.=) c.opcintype AND p.amprocrighttype OPERATOR(pg_catalog.=) c.opcintype
        AND p.amprocnum OPERATOR(pg_catalog.=) 2
      WHERE c.opcfamily OPERATOR(pg_catalog.=) family.oid AND c.opcdefault
        AND c.opcnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
      ORDER BY c.opcname USING OPERATOR(pg_catalog.<)
    LOOP
      EXECUTE pg_catalog.format(
        'CREATE OPERATOR CLASS @extschema@.%I DEFAULT FOR TYPE %s USING lsh FAMILY @extschema@.%I AS OPERATOR 5 %s, FUNCTION 15 %s',
        class.opcname, class.opcintype::pg_catalog.regtype, family.opfname,
        class.amopopr::pg_catalog.regoperator, class.amproc::pg_catalog.regprocedure);
    END LOOP;
    FOR member IN
      SELECT o.amopopr FROM pg_catalog.pg_amop o
      WHERE o.amopfamily OPERATOR(pg_catalog.=) family.oid AND o.amopstrategy OPERATOR(pg_catalog.=) 1
        AND o.amoplefttype OPERATOR(pg_catalog.<>) o.amoprighttype ORDER BY o.amopopr USING OPERATOR(pg_catalog.<)
    LOOP
      EXECUTE pg_catalog.format('ALTER OPERATOR FAMILY @extschema@.%I USING lsh ADD OPERATOR 5 %s',
        family.opfname, member.amopopr::pg_catalog.regoperator);
    END LOOP;
  END LOOP;
END
$$;
