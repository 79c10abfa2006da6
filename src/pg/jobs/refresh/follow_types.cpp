// follow_source_types(): see refresh_stages.h.
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/base/open_table.h"
#include "pg/jobs/job_types.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"

namespace neardup {

namespace {

// A column of the table of signatures whose type is not that of the source any more.
struct ChangedColumn {
  const char* name;  // as in `rows`
  Oid old_type;
  int32 old_modifier;
  Oid new_type;
  int32 new_modifier;
  Oid new_collation;
};

int within_number(const char* name) { return atoi(name + strlen("within_")) - 1; }
bool is_within(const char* name) { return strncmp(name, "within_", strlen("within_")) == 0; }
bool is_key(const char* name) { return strcmp(name, "key") == 0; }
bool is_id(const char* name) { return strcmp(name, "id") == 0; }

// The user's name of the column.
const char* users_name(const JobRow& row, const char* name) {
  if (is_id(name)) return row.id;
  if (is_key(name)) return "order_by";
  if (is_within(name)) return row.within[within_number(name)];
  return strcmp(name, "at") == 0 ? row.at : name;
}

// The columns of {shape}, which has the types of today.
List* changed_columns(const RefreshStep& step) {
  List* changed = NIL;
  Relation shape = relation_open(temporary_table(step.tables.shape), AccessShareLock);
  Relation stored = relation_open(step.job.signatures_oid, AccessShareLock);
  const TupleDesc today = RelationGetDescr(shape);
  for (int i = 0; i < today->natts; ++i) {
    const Form_pg_attribute now = TupleDescAttr(today, i);
    const char* name = NameStr(now->attname);
    check_range(now->atttypid, psprintf("column \"%s\"", is_id(name)    ? step.row().id
                                                         : is_key(name) ? "order_by"
                                                                        : name));
    const AttrNumber number = get_attnum(step.job.signatures_oid, name);
    if (number <= 0) continue;
    const Form_pg_attribute old = TupleDescAttr(RelationGetDescr(stored), number - 1);
    if (old->atttypid == now->atttypid && old->atttypmod == now->atttypmod && old->attcollation == now->attcollation)
      continue;
    auto* column = static_cast<ChangedColumn*>(palloc(sizeof(ChangedColumn)));
    *column = {pstrdup(name), old->atttypid, old->atttypmod, now->atttypid, now->atttypmod, now->attcollation};
    changed = lappend(changed, column);
  }
  relation_close(stored, NoLock);
  relation_close(shape, NoLock);
  return changed;
}

// A domain's values are those of the type below it.
bool is_in_place(const ChangedColumn& column) {
  return get_typtype(column.old_type) == TYPTYPE_DOMAIN && getBaseType(column.old_type) == column.new_type;
}

// Values are converted by way of text; those of a domain as the type below it, which is in place.
Sql converted(const ChangedColumn& column, const Identifier& name) {
  const TypeName type(column.new_type, column.new_modifier);
  if (is_in_place(column)) return sql("{name}::{type}", {{"name", name}, {"type", type}});
  return sql("{name}::pg_catalog.text::{type}", {{"name", name}, {"type", type}});
}

Sql collation_clause(Oid collation) {
  if (!OidIsValid(collation)) return sql("");
  HeapTuple tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
  if (!HeapTupleIsValid(tuple)) return sql("");
  const auto* form = reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple));
  const QualifiedName name(get_namespace_name(form->collnamespace), NameStr(form->collname));
  ReleaseSysCache(tuple);
  return sql(" COLLATE {name}", {{"name", name}});
}

// "ALTER name TYPE type USING value" of a column in a table.
Sql type_change(const ChangedColumn& column, const Identifier& name, const Sql& value) {
  return sql("ALTER {name} TYPE {type}{collation} USING {value}",
             {{"name", name},
              {"type", TypeName(column.new_type, column.new_modifier)},
              {"collation", collation_clause(column.new_collation)},
              {"value", value}});
}

void alter_signatures(const RefreshStep& step, const ChangedColumn& column, const Sql& value) {
  run_statement(step_sql(step, "ALTER TABLE {signatures} {change}",
                         {{"change", type_change(column, Identifier(column.name), value)}}));
}

// Keys are read again. A domain may refuse NULL: then the old keys are converted, and where they do not fit, all is
// forgotten.
void alter_key(RefreshStep* step, const ChangedColumn& column) {
  ErrorData* error = run_undoing([&] { alter_signatures(*step, column, sql("NULL")); });
  if (error == nullptr) return;
  if (error->sqlerrcode != ERRCODE_NOT_NULL_VIOLATION && error->sqlerrcode != ERRCODE_CHECK_VIOLATION)
    ReThrowError(error);
  error = run_undoing([&] { alter_signatures(*step, column, converted(column, Identifier(column.name))); });
  if (error == nullptr) return;
  clear_signatures(&step->job, step->source.kind);
  alter_signatures(*step, column, sql("NULL"));
}

// The columns of the result that have the values of this one.
void alter_result(const RefreshStep& step, const ChangedColumn& column) {
  SqlList changes;
  const auto add = [&](const char* name) {
    changes.add(type_change(column, Identifier(name), converted(column, Identifier(name))));
  };
  if (is_id(column.name)) {
    add("id");
    add("representative");
  } else if (is_within(column.name)) {
    add(step.row().within[within_number(column.name)]);
  } else {
    return;
  }
  run_statement(step_sql(step, "ALTER TABLE {result} {changes}", {{"changes", changes.all()}}));
}

// The ids that are queued go: all rows are compared next.
void alter_queue(const RefreshStep& step, const ChangedColumn& column) {
  if (!is_id(column.name) || !step.row().follows()) return;
  run_statement(step_sql(step, "ALTER TABLE {queue} {change}",
                         {{"change", type_change(column, Identifier(column.name), sql("NULL"))}}));
}

void follow(RefreshStep* step, const ChangedColumn& column) {
  if (!is_in_place(column) && (!is_trusted_type(column.old_type) || !is_trusted_type(column.new_type)))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("casts and checks of another role's type would run with your rights")));
  if (is_key(column.name)) {
    alter_key(step, column);
  } else {
    alter_signatures(*step, column, converted(column, Identifier(column.name)));
  }
  alter_result(*step, column);
  alter_queue(*step, column);
}

}  // namespace

bool follow_source_types(RefreshStep* step) {
  drop_temporary({step->tables.shape});
  run_statement(create_shape(*step));
  List* changed = changed_columns(*step);
  ListCell* cell;
  foreach (cell, changed) {
    const auto& column = *static_cast<const ChangedColumn*>(lfirst(cell));
    ErrorData* error = run_undoing([&] { follow(step, column); });
    if (error != nullptr)
      ereport(ERROR, (errcode(error->sqlerrcode),
                      errmsg("\"%s\" of %s was %s and is %s, and the tables of the job cannot follow: %s",
                             users_name(step->row(), column.name), qualified_name(step->row().source),
                             format_type_with_typemod(column.old_type, column.old_modifier),
                             format_type_with_typemod(column.new_type, column.new_modifier), error->message),
                      errhint("Drop the job by drop_duplicates() and create it again.")));
  }
  drop_temporary({step->tables.shape});
  return changed != NIL;
}

}  // namespace neardup
