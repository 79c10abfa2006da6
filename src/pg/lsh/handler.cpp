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

constexpr int kRequiredProcs[] = {kProcKeys, kProcProbes, kProcBind, kProcDescribe};

struct Inspected {
  Oid family;
  Oid input;
  const char* name;
  bool valid;
  bool have[kLastProc + 1];  // support functions
  bool searches;             // operators of each kind
  bool orders;
  bool equals;
};

void complain(Inspected* c, const char* what, const char* detail) {
  c->valid = false;
  ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                 errmsg("operator class \"%s\" of access method lsh %s: %s", c->name, what, detail)));
}

bool measures(const FormData_pg_amproc* proc, Oid result) {
  return check_amproc_signature(proc->amproc, result, true, 2, 2, proc->amproclefttype, proc->amproclefttype);
}

// True if the function makes the right operand of the family's condition, from a value and a bound.
bool makes_query(Oid family, const FormData_pg_amproc* proc) {
  const Oid query = get_func_rettype(proc->amproc);
  return check_amproc_signature(proc->amproc, query, true, 2, 2, proc->amproclefttype, FLOAT8OID) &&
         OidIsValid(get_opfamily_member(family, proc->amproclefttype, query, kStrategyAtLeast));
}

bool has_signature_of_measure(Oid family, const FormData_pg_amproc* proc) {
  const int number = proc->amprocnum;
  for (const MeasureProcs& of : kMeasureProcs) {
    if (number == of.function) return measures(proc, FLOAT8OID) || measures(proc, INT4OID);
    if (number == of.predicate)
      return check_amproc_signature(proc->amproc, BOOLOID, true, 3, 3, proc->amproclefttype, proc->amproclefttype,
                                    FLOAT8OID);
    if (number == of.make_query || number == of.make_strict || number == of.make_second ||
        number == of.make_second_strict)
      return makes_query(family, proc);
  }
  return false;
}

bool has_its_signature(Oid family, const FormData_pg_amproc* proc) {
  switch (proc->amprocnum) {
    case kProcKeys:
    case kProcProbes:
    case kProcBind:
    case kProcDescribe:
    case kProcOrder:
      // C-callable with one pointer; nothing else can be called safely.
      return check_amproc_signature(proc->amproc, INTERNALOID, true, 1, 1, INTERNALOID) &&
             get_func_prokind(proc->amproc) == PROKIND_FUNCTION;
    case kProcOptions:
      return check_amoptsproc_signature(proc->amproc);
    case kProcHash:
      // Hash functions take binary compatible types, too; PostgreSQL's own check has a list of them.
      return get_func_rettype(proc->amproc) == INT8OID && get_func_nargs(proc->amproc) == 2;
    default:
      return has_signature_of_measure(family, proc);
  }
}

void check_procs(Inspected* c) {
  CatCList* procs = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(c->family));
  for (int i = 0; i < procs->n_members; ++i) {
    const Form_pg_amproc proc = reinterpret_cast<Form_pg_amproc>(GETSTRUCT(&procs->members[i]->tuple));
    if (proc->amproclefttype != proc->amprocrighttype)
      complain(c, "has a support function of two types", format_procedure(proc->amproc));
    if (proc->amprocnum < 1 || proc->amprocnum > kLastProc) {
      complain(c, "has a support function of unknown number", format_procedure(proc->amproc));
      continue;
    }
    if (!has_its_signature(c->family, proc))
      complain(c, "has a support function of the wrong signature", format_procedure(proc->amproc));
    if (proc->amproclefttype == c->input) c->have[proc->amprocnum] = true;
  }
  ReleaseCatCacheList(procs);
}

void check_operators(Inspected* c) {
  CatCList* operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(c->family));
  for (int i = 0; i < operators->n_members; ++i) {
    const Form_pg_amop op = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&operators->members[i]->tuple));
    if (op->amopstrategy < 1) complain(c, "has an operator of an impossible strategy", format_operator(op->amopopr));
    Oid returns = BOOLOID;
    if (op->amoppurpose == AMOP_ORDER) {
      returns = FLOAT8OID;
      if (get_op_rettype(op->amopopr) != FLOAT8OID)
        complain(c, "has an ordering operator that does not return double precision", format_operator(op->amopopr));
      if (!opfamily_can_sort_type(op->amopsortfamily, FLOAT8OID))
        complain(c, "has an ordering operator with an unfit sort family", format_operator(op->amopopr));
      c->orders |= op->amoplefttype == c->input;
    } else {
      c->searches |= op->amoplefttype == c->input;
      c->equals |= op->amopstrategy == kStrategyEqual && IsBinaryCoercible(c->input, op->amoplefttype);
    }
    if (op->amopstrategy > kQuietTwin && !get_func_leakproof(get_opcode(op->amopopr)))
      complain(c, "has an operator for row security that is not leakproof", format_operator(op->amopopr));
    if (!check_amop_signature(op->amopopr, returns, op->amoplefttype, op->amoprighttype))
      complain(c, "has an operator of the wrong signature", format_operator(op->amopopr));
  }
  ReleaseCatCacheList(operators);
}

void check_complete(Inspected* c) {
  if (c->equals != c->have[kProcHash])
    complain(c, "needs both or neither", "operator 5 (equality) and support function 15 (its hash)");
  // A class may be of both kinds, for either place in an index.
  const bool compares_only = c->equals && !c->have[kProcKeys];
  for (const int proc : kRequiredProcs)
    if (!compares_only && !c->have[proc]) complain(c, "lacks support function", psprintf("%d", proc));
  if (c->orders && !c->have[kProcOrder]) complain(c, "has ordering operators and lacks support function", "5");
  if (!c->searches && !c->equals) complain(c, "lacks", "a search operator");
}

// It can do nothing that is not named here.
constexpr IndexAmRoutine lsh_routine() {
  IndexAmRoutine am{};
  am.type = T_IndexAmRoutine;
  am.amstrategies = 0;  // an operator class numbers its own
  am.amsupport = kLastProc;
  am.amoptsprocnum = kProcOptions;
  am.amcanorderbyop = true;
  am.amcanmulticol = true;   // lsh_columns.cpp
  am.amoptionalkey = false;  // rows whose value is NULL are not in an index; add_nearest_paths() of planner
  am.ampredlocks = false;    // PostgreSQL locks the relation instead
  am.amusemaintenanceworkmem = true;
  am.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP;
  set_newer_am_fields(&am);

  am.ambuild = lshbuild;
  am.ambuildempty = lshbuildempty;
  am.aminsert = lshinsert;
  am.ambulkdelete = lshbulkdelete;
  am.amvacuumcleanup = lshvacuumcleanup;
  am.amcostestimate = lshcostestimate;
  am.amoptions = lshoptions;
  am.ambuildphasename = lshbuildphasename;
  am.amvalidate = lshvalidate;
  am.ambeginscan = lshbeginscan;
  am.amrescan = lshrescan;
  am.amgettuple = lshgettuple;
  am.amgetbitmap = lshgetbitmap;
  am.amendscan = lshendscan;
  return am;
}

}  // namespace

bool lshvalidate(Oid opclass_oid) {
  HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass_oid));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for operator class %u", opclass_oid);
  const Form_pg_opclass opclass = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(tuple));
  Inspected c{};
  c.family = opclass->opcfamily;
  c.input = opclass->opcintype;
  c.name = NameStr(opclass->opcname);
  c.valid = true;
  if (OidIsValid(opclass->opckeytype)) complain(&c, "has a storage type", format_type_be(opclass->opckeytype));
  check_procs(&c);
  check_operators(&c);
  check_complete(&c);
  ReleaseSysCache(tuple);
  return c.valid;
}

}  // namespace neardup

extern "C" {

PG_FUNCTION_INFO_V1(lshhandler);
Datum lshhandler(PG_FUNCTION_ARGS) {
  static constexpr IndexAmRoutine routine = neardup::lsh_routine();
  return am_routine_result(&routine);
}

}  // extern "C"
