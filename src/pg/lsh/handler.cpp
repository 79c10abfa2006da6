// The handler of the access method, and what it demands of an operator class.
#include "pg/lsh/family.h"
#include "pg/lsh/lsh_callbacks.h"

extern "C" {
#include "access/amvalidate.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "parser/parse_coerce.h"
#include "utils/regproc.h"
}

namespace neardup {
namespace {

// Support functions that must be there; the others are optional.
constexpr int kRequiredProcs[] = {kProcKeys, kProcProbes, kProcBind, kProcDescribe};
constexpr int kLastProc = kProcHash;

void complain(bool* result, const char* what, const char* opclass, const char* detail) {
  *result = false;
  ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                 errmsg("operator class \"%s\" of access method lsh %s: %s", opclass, what, detail)));
}

// Whether the function measures two values.
bool measures(const FormData_pg_amproc* proc, Oid result) {
  return check_amproc_signature(proc->amproc, result, true, 2, 2, proc->amproclefttype, proc->amproclefttype);
}

// Whether the function gives the right operand of the family's condition, from a value and a bound.
bool makes_query(Oid family, const FormData_pg_amproc* proc) {
  const Oid query = get_func_rettype(proc->amproc);
  return check_amproc_signature(proc->amproc, query, true, 2, 2, proc->amproclefttype, FLOAT8OID) &&
         OidIsValid(get_opfamily_member(family, proc->amproclefttype, query, kStrategyAtLeast));
}

}  // namespace

bool lshvalidate(Oid opclass_oid) {
  bool result = true;
  HeapTuple class_tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass_oid));
  if (!HeapTupleIsValid(class_tuple)) elog(ERROR, "cache lookup failed for operator class %u", opclass_oid);
  const Form_pg_opclass opclass = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(class_tuple));
  const Oid family = opclass->opcfamily;
  const Oid input = opclass->opcintype;
  const char* name = NameStr(opclass->opcname);
  if (OidIsValid(opclass->opckeytype)) complain(&result, "has a storage type", name, format_type_be(opclass->opckeytype));

  bool have[kLastProc + 1] = {};
  CatCList* procs = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
  for (int i = 0; i < procs->n_members; ++i) {
    const Form_pg_amproc proc = reinterpret_cast<Form_pg_amproc>(GETSTRUCT(&procs->members[i]->tuple));
    if (proc->amproclefttype != proc->amprocrighttype)
      complain(&result, "has a support function of two types", name, format_procedure(proc->amproc));
    bool good;
    switch (proc->amprocnum) {
      case kProcKeys:
      case kProcProbes:
      case kProcBind:
      case kProcDescribe:
      case kProcOrder:
        // C-callable with one pointer; nothing else can be called safely.
        good = check_amproc_signature(proc->amproc, INTERNALOID, true, 1, 1, INTERNALOID) &&
               get_func_prokind(proc->amproc) == PROKIND_FUNCTION;
        break;
      case kProcOptions:
        good = check_amoptsproc_signature(proc->amproc);
        break;
      case kProcSimilarity:
      case kProcDistance:
        good = measures(proc, FLOAT8OID) || measures(proc, INT4OID);
        break;
      case kProcMakeQuery:
      case kProcMakeStrict:
      case kProcMakeDistanceQuery:
      case kProcMakeDistanceStrict:
        good = makes_query(family, proc);
        break;
      case kProcAtLeast:
      case kProcAtMost:
        good = check_amproc_signature(proc->amproc, BOOLOID, true, 3, 3, proc->amproclefttype, proc->amproclefttype,
                                      FLOAT8OID);
        break;
      case kProcHash:
        // Hash functions take binary compatible types, too; PostgreSQL's own check has a list of them.
        good = get_func_rettype(proc->amproc) == INT8OID && get_func_nargs(proc->amproc) == 2;
        break;
      default:
        complain(&result, "has a support function of unknown number", name, format_procedure(proc->amproc));
        continue;
    }
    if (!good) complain(&result, "has a support function of the wrong signature", name, format_procedure(proc->amproc));
    if (proc->amproclefttype == input) have[proc->amprocnum] = true;
  }
  ReleaseCatCacheList(procs);

  bool searches = false;
  bool orders = false;
  bool equals = false;
  CatCList* operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
  for (int i = 0; i < operators->n_members; ++i) {
    const Form_pg_amop op = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&operators->members[i]->tuple));
    if (op->amopstrategy < 1)
      complain(&result, "has an operator of an impossible strategy", name, format_operator(op->amopopr));
    Oid returns = BOOLOID;
    if (op->amoppurpose == AMOP_ORDER) {
      returns = FLOAT8OID;
      if (get_op_rettype(op->amopopr) != FLOAT8OID)
        complain(&result, "has an ordering operator that does not return double precision", name,
                 format_operator(op->amopopr));
      if (!opfamily_can_sort_type(op->amopsortfamily, FLOAT8OID))
        complain(&result, "has an ordering operator with an unfit sort family", name, format_operator(op->amopopr));
      orders |= op->amoplefttype == input;
    } else {
      searches |= op->amoplefttype == input;
      equals |= op->amopstrategy == kStrategyEqual && IsBinaryCoercible(input, op->amoplefttype);
    }
    if (op->amopstrategy > kQuietTwin && !get_func_leakproof(get_opcode(op->amopopr)))
      complain(&result, "has an operator for row security that is not leakproof", name, format_operator(op->amopopr));
    if (!check_amop_signature(op->amopopr, returns, op->amoplefttype, op->amoprighttype))
      complain(&result, "has an operator of the wrong signature", name, format_operator(op->amopopr));
  }
  ReleaseCatCacheList(operators);

  if (equals != have[kProcHash])
    complain(&result, "needs both or neither", name, "operator 5 (equality) and support function 15 (its hash)");
  // A class may be of both kinds, for either place in an index.
  const bool compares_only = equals && !have[kProcKeys];
  for (const int proc : kRequiredProcs)
    if (!compares_only && !have[proc]) complain(&result, "lacks support function", name, psprintf("%d", proc));
  if (orders && !have[kProcOrder]) complain(&result, "has ordering operators and lacks support function", name, "5");
  if (!searches && !equals) complain(&result, "lacks", name, "a search operator");
  ReleaseSysCache(class_tuple);
  return result;
}

namespace {

constexpr IndexAmRoutine lsh_routine() {
  IndexAmRoutine am{};
  am.type = T_IndexAmRoutine;
  am.amstrategies = 0;  // an operator class numbers its own
  am.amsupport = kLastProc;
  am.amoptsprocnum = kProcOptions;
  am.amcanorder = false;
  am.amcanorderbyop = true;
  am.amcanbackward = false;
  am.amcanunique = false;
  am.amcanmulticol = true;   // lsh_columns.cpp
  am.amoptionalkey = false;  // an ordered scan without a condition would lose rows
  am.amsearcharray = false;
  am.amsearchnulls = false;
  am.amstorage = false;
  am.amclusterable = false;
  am.ampredlocks = false;  // PostgreSQL locks the relation instead
  am.amcanparallel = false;
  am.amcaninclude = false;
  am.amusemaintenanceworkmem = true;
  am.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP;
  am.amkeytype = InvalidOid;
  set_newer_am_fields(&am);

  am.ambuild = lshbuild;
  am.ambuildempty = lshbuildempty;
  am.aminsert = lshinsert;
  am.ambulkdelete = lshbulkdelete;
  am.amvacuumcleanup = lshvacuumcleanup;
  am.amcanreturn = nullptr;
  am.amcostestimate = lshcostestimate;
  am.amoptions = lshoptions;
  am.amproperty = nullptr;
  am.ambuildphasename = lshbuildphasename;
  am.amvalidate = lshvalidate;
  am.amadjustmembers = nullptr;
  am.ambeginscan = lshbeginscan;
  am.amrescan = lshrescan;
  am.amgettuple = lshgettuple;
  am.amgetbitmap = lshgetbitmap;
  am.amendscan = lshendscan;
  am.ammarkpos = nullptr;
  am.amrestrpos = nullptr;
  am.amestimateparallelscan = nullptr;
  am.aminitparallelscan = nullptr;
  am.amparallelrescan = nullptr;
  return am;
}

}  // namespace

}  // namespace neardup

extern "C" {

PG_FUNCTION_INFO_V1(lshhandler);
Datum lshhandler(PG_FUNCTION_ARGS) {
  static constexpr IndexAmRoutine routine = neardup::lsh_routine();
  return am_routine_result(&routine);
}

}  // extern "C"
