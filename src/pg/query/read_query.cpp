#include "pg/query/read_query.h"

#include <cctype>

namespace neardup {
namespace {

// A name as psql's users write it, with nothing else around it.
bool is_bare_name(const char* s) {
  while (isspace(static_cast<unsigned char>(*s))) ++s;
  bool any = false;
  bool quoted = false;
  for (; *s != '\0'; ++s) {
    if (*s == '"') {
      quoted = !quoted;
    } else if (!quoted && !isalnum(static_cast<unsigned char>(*s)) && *s != '_' && *s != '.' && *s != '$' &&
               !IS_HIGHBIT_SET(*s)) {
      break;
    }
    any = true;
  }
  while (isspace(static_cast<unsigned char>(*s)) || *s == ';') ++s;
  return any && *s == '\0';
}

[[noreturn]] void refuse(const char* what, const char* why) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("%s must be one SELECT, VALUES or TABLE statement that only reads", what), errdetail("%s", why)));
  pg_unreachable();
}

}  // namespace

// The types of its columns are looked at once. Before it runs, code of the caller's may do: a function that the other
// query of a call names, or one that the planner evaluates. That may set search_path, by which PostgreSQL reads the
// names in the text again, and what they stand for then has other types.
SPIPlanPtr prepare_query(const char* query, int options) {
  SPIPlanPtr plan = SPI_prepare_cursor(query, 0, nullptr, options);
  if (plan == nullptr) elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
  ListCell* cell;
  foreach (cell, SPI_plan_get_plan_sources(plan)) static_cast<CachedPlanSource*>(lfirst(cell))->fixed_result = true;
  return plan;
}

const CachedPlanSource* reading_statement(const char* what, SPIPlanPtr plan) {
  List* sources = SPI_plan_get_plan_sources(plan);
  if (list_length(sources) == 0) refuse(what, "It is empty.");
  if (list_length(sources) > 1) refuse(what, "It holds more than one statement.");
  const auto* plan_source = static_cast<CachedPlanSource*>(linitial(sources));
  if (list_length(plan_source->query_list) == 0) refuse(what, "It is empty.");
  if (list_length(plan_source->query_list) > 1) refuse(what, "A rule turns it into more than one statement.");
  const auto* query = static_cast<Query*>(linitial(plan_source->query_list));
  if (query->commandType != CMD_SELECT) refuse(what, "It is another kind of statement.");
  if (query->hasModifyingCTE) refuse(what, "Its WITH clause changes data.");
  if (query->rowMarks != NIL) refuse(what, "It locks rows (FOR UPDATE or FOR SHARE).");
  return plan_source;
}

void refuse_bare_name(const char* what, const char* text) {
  if (is_bare_name(text))
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("%s is only a name: %s", what, text),
                    errhint("To read a whole table, write TABLE %s.", text)));
}

SPIPlanPtr prepare_documents(const char* query, int* column, bool* arrays) {
  SPIPlanPtr plan = prepare_query(query, CURSOR_OPT_PARALLEL_OK);
  const TupleDesc desc = reading_statement("query", plan)->resultDesc;
  for (int i = 0; desc != nullptr && i < desc->natts; ++i) {
    const Oid type = getBaseType(TupleDescAttr(desc, i)->atttypid);
    const bool array = arrays != nullptr && (type == TEXTARRAYOID || get_element_type(type) == VARCHAROID);
    if (!array && type != TEXTOID && type != VARCHAROID) continue;
    if (arrays != nullptr) *arrays = array;
    *column = i + 1;
    return plan;
  }
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("query has no column of type text%s", arrays == nullptr ? "" : " or text[]"),
                  errdetail("Documents are taken from the first column of %s.",
                            arrays == nullptr ? "type text" : "such a type"),
                  errhint("Cast the documents: SELECT body::text FROM ...")));
  pg_unreachable();
}

void for_each_row(SPIPlanPtr plan, bool (*on_row)(void* arg, TupleTableSlot* slot), void* arg) {
  struct Receiver {
    DestReceiver receiver;  // first
    bool (*on_row)(void* arg, TupleTableSlot* slot);
    void* arg;
  };
  Receiver r = {};
  r.receiver.receiveSlot = [](TupleTableSlot* slot, DestReceiver* self) {
    auto* receiver = reinterpret_cast<Receiver*>(self);
    return receiver->on_row(receiver->arg, slot);
  };
  r.receiver.rStartup = [](DestReceiver*, int, TupleDesc) {};
  r.receiver.rShutdown = [](DestReceiver*) {};
  r.receiver.rDestroy = [](DestReceiver*) {};
  r.receiver.mydest = DestNone;
  r.on_row = on_row;
  r.arg = arg;
  SPIExecuteOptions options = {};
  options.read_only = true;
  options.must_return_tuples = true;
  options.dest = &r.receiver;
  const int result = SPI_execute_plan_extended(plan, &options);
  if (result < 0) elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(result));
}

}  // namespace neardup
