// The access method's handler, its storage parameters, and what it demands of an operator class.
#include "pg/lsh/store/lsh_am.h"
#include "pg/lsh/lsh_callbacks.h"

extern "C" {
#include "access/amvalidate.h"
#include "access/reloptions.h"
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

relopt_kind option_kind;
bool options_added = false;

// Once a process: PostgreSQL keeps them in its own list.
void add_options() {
  if (options_added) return;
  options_added = true;
  option_kind = add_reloption_kind();
  add_real_reloption(option_kind, "threshold", "Least similarity that the index serves exactly; acts when it is built.", -1,
                     0, 1, AccessExclusiveLock);
  add_real_reloption(option_kind, "recall", "Least share of the similar rows that the index finds; acts when it is built.",
                     -1, 0, 1, AccessExclusiveLock);
  add_int_reloption(option_kind, "pending_limit", "Pages of new rows after which an insert sorts them into a run.",
                    kDefaultPendingLimit, 1, kMaxPendingLimit, ShareUpdateExclusiveLock);
}

}  // namespace

bytea* lshoptions(Datum reloptions, bool validate) {
  add_options();
  // Member by member: PostgreSQL 18 has one more.
  static relopt_parse_elt table[3];
  const auto set = [](relopt_parse_elt* option, const char* name, relopt_type type, size_t offset) {
    option->optname = name;
    option->opttype = type;
    option->offset = static_cast<int>(offset);
  };
  set(&table[0], "threshold", RELOPT_TYPE_REAL, offsetof(LshOptions, threshold));
  set(&table[1], "recall", RELOPT_TYPE_REAL, offsetof(LshOptions, recall));
  set(&table[2], "pending_limit", RELOPT_TYPE_INT, offsetof(LshOptions, pending_limit));
  bytea* result = static_cast<bytea*>(
      build_reloptions(reloptions, validate, option_kind, sizeof(LshOptions), table, lengthof(table)));
  if (validate && result != nullptr) {
    const LshOptions* options = reinterpret_cast<const LshOptions*>(result);
    if (options->threshold == 0)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("threshold must be above 0 and at most 1: 0")));
    if (options->recall == 0)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("recall must be above 0 and at most 1: 0")));
  }
  return result;
}

LshOptionValues option_values(Relation index) {
  const LshOptions* options = reinterpret_cast<const LshOptions*>(index->rd_options);
  return options == nullptr ? LshOptionValues{-1, -1} : LshOptionValues{options->threshold, options->recall};
}

int pending_limit(Relation index) {
  const LshOptions* options = reinterpret_cast<const LshOptions*>(index->rd_options);
  return options == nullptr ? kDefaultPendingLimit : options->pending_limit;
}

void call_family(Relation index, LshProc proc, void* request) {
  const int column = value_column(index);
  FunctionCall1Coll(index_getprocinfo(index, static_cast<AttrNumber>(column + 1), static_cast<uint16>(proc)),
                    index->rd_indcollation[column], PointerGetDatum(request));
}

void set_family(LshConfig* config, const char* family, uint32_t version, const void* params, uint16_t size) {
  memset(config->family, 0, sizeof config->family);
  strlcpy(config->family, family, sizeof config->family);
  config->family_version = version;
  memset(config->params, 0, sizeof config->params);
  memcpy(config->params, params, size);
  config->params_len = size;
}

void read_family(const LshConfig* config, const char* family, uint32_t version, void* params, uint16_t size) {
  if (strncmp(config->family, family, sizeof config->family) != 0 || config->family_version != version)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("the index was made by hash family \"%.24s\" version %u; this library knows \"%s\" version %u",
                    config->family, config->family_version, family, version),
             errhint("REINDEX it.")));
  if (config->params_len != size) report_bad_params();
  memcpy(params, config->params, size);
}

void report_bad_params() {
  ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED), errmsg("the parameters of the index are damaged"),
                  errhint("REINDEX it.")));
}

void refuse_options(const BindRequest* request, const char* family) {
  const char* name = request->options.threshold >= 0 ? "threshold" : request->options.recall >= 0 ? "recall" : nullptr;
  if (name != nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("an index on %s values has no option \"%s\"", family, name),
                    errhint("What it serves does not depend on one; lsh_info() tells.")));
}

bool is_lsh_index(Relation relation) {
  return relation->rd_rel->relkind == RELKIND_INDEX && relation->rd_indam != nullptr &&
         relation->rd_indam->amcostestimate == lshcostestimate;
}

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
