// Rows of files and records on their way into the table: new ones by COPY, changed ones by UPDATE, one transaction a
// batch.
#include "cli/load/row_sender.h"

#include <algorithm>
#include <sys/stat.h>
#include <unordered_set>

#include "cli/base/copy_writer.h"
#include "cli/input/file_reader.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kCopied = 64 * 1024;  // fields below go to libpq together

// The server objects to the data of a row: data exceptions, program limits, constraints, and triggers that raise.
bool is_of_data(const DatabaseError& error) {
  return error.in_class("22") || error.in_class("54") || error.in_class("23") || error.in_class("P0");
}

// Another loader was faster, or a serialization failure.
bool is_race(const DatabaseError& error) { return error.sqlstate() == "23505" || error.in_class("40"); }

bool holds(const Known& known, const Row& row) {
  return known.size == row.size && known.mtime == row.mtime && known.content_hash == row.content_hash;
}

// True if the row may be that of a file X#1, and not of the record 1 of X.
bool may_be_file(const std::string& path, const Known& known) {
  struct stat info = {};
  return path.front() == '/' && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == known.size &&
         file_mtime(info.st_mtim.tv_sec, info.st_mtim.tv_nsec) == known.mtime;
}

void append_record_fields(std::string& fields, const Row& row) {
  if (row.record_id.empty())
    append_null(fields);
  else
    append_field(fields, row.record_id);
  if (row.at)
    append_int8_field(fields, *row.at);
  else
    append_null(fields);
  if (row.attributes.empty())
    append_null(fields);
  else
    append_jsonb_field(fields, row.attributes);
}

std::int64_t text_bytes(const Row& row) { return static_cast<std::int64_t>(row.body.size()); }

}  // namespace

KnownRows RowSender::look_up(const std::vector<std::string_view>& paths) {
  const Result rows =
      db_.query("SELECT path, size, mtime, content_hash FROM " + table_ + " WHERE path OPERATOR(pg_catalog.=) ANY ($1)",
                Params().text_array(paths));
  KnownRows known;
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    auto value = [&](int column) { return is_null(rows, i, column) ? INT64_MIN : get_int8(rows, i, column); };
    known.insert({std::string(get_text(rows, i, 0)), {value(1), value(2), value(3)}});
  }
  return known;
}

KnownRows RowSender::look_up(const Rows& rows) {
  std::vector<std::string_view> paths;
  for (const Row* row : rows) paths.push_back(row->path);
  return look_up(paths);
}

// When the server refuses the data of a row, halves are sent, until the row is found and skipped.
void RowSender::send(std::span<const Row> rows, bool likely_new) {
  for (int attempt = 0;; ++attempt) {
    try {
      transaction(rows, likely_new && attempt == 0);
      return;
    } catch (const DatabaseError& error) {
      db_.copy_abort();
      db_.try_execute("ROLLBACK");
      if (error.connection_lost()) throw;
      if (is_race(error) && attempt < kRaces) continue;
      if (!is_of_data(error)) throw;
      if (rows.size() == 1) {
        skipped_.add(SkipReason::refused, rows[0].path, error.what());
        return;
      }
    } catch (...) {
      db_.copy_abort();
      db_.try_execute("ROLLBACK");
      throw;
    }
    break;
  }
  send(rows.first(rows.size() / 2));
  send(rows.subspan(rows.size() / 2));
}

void RowSender::transaction(std::span<const Row> rows, bool likely_new) {
  Rows all, fresh;
  for (const Row& row : rows) all.push_back(&row);
  const KnownRows known = likely_new ? KnownRows() : look_up(all);
  Outcome outcome;
  db_.query("BEGIN");
  if (known.empty())
    fresh = std::move(all);
  else
    update_known(all, known, fresh, outcome);
  if (!fresh.empty()) copy(fresh, outcome);
  db_.query("COMMIT");
  counts_.fresh += outcome.counts.fresh;
  counts_.changed += outcome.counts.changed;
  counts_.touched += outcome.counts.touched;
  counts_.same_records += outcome.counts.same_records;
  counts_.text_bytes += outcome.counts.text_bytes;
  for (const Row* row : outcome.left_out) skipped_.add(SkipReason::left_out, row->path, "");
  for (const Row* row : outcome.path_taken) skipped_.add(SkipReason::path_taken, row->path, "a file has this path");
  skipped_.add_unnamed(SkipReason::left_out, outcome.left_out_unnamed);
}

// The row of a file has nothing that only records have. A record without id, time and attributes cannot be
// distinguished from a file of the same size and time.
RowSender::Rows RowSender::without_paths_of_files(const Rows& rows, const KnownRows& known, Outcome& outcome) {
  std::vector<std::string_view> suspects;
  for (const Row* row : rows) {
    const auto match = row->is_record ? known.find(row->path) : known.end();
    if (match != known.end() && may_be_file(row->path, match->second)) suspects.push_back(row->path);
  }
  if (suspects.empty()) return rows;
  const Result found = db_.query("SELECT path FROM " + table_ +
                                     " WHERE path OPERATOR(pg_catalog.=) ANY ($1)"
                                     " AND record_id IS NULL AND at IS NULL AND attributes IS NULL",
                                 Params().text_array(suspects));
  std::unordered_set<std::string_view> of_files;
  for (int i = 0; i < PQntuples(found.get()); ++i) of_files.insert(get_text(found, i, 0));
  Rows rest;
  for (const Row* row : rows) (of_files.contains(row->path) ? outcome.path_taken : rest).push_back(row);
  return rest;
}

void RowSender::update_known(const Rows& rows, const KnownRows& known, Rows& fresh, Outcome& outcome) {
  Rows same_records, not_updated;
  for (const Row* row : without_paths_of_files(rows, known, outcome)) {
    const auto match = known.find(row->path);
    if (match == known.end()) {
      fresh.push_back(row);
      continue;
    }
    const bool with_body = match->second.content_hash != row->content_hash;
    if (row->is_record && !with_body) {
      same_records.push_back(row);
      continue;
    }
    if (!update(*row, with_body)) {
      not_updated.push_back(row);
      continue;
    }
    ++(with_body ? outcome.counts.changed : outcome.counts.touched);
    outcome.counts.text_bytes += text_bytes(*row);
  }
  if (!same_records.empty()) update_records(same_records, fresh, outcome);
  if (not_updated.empty()) return;
  const KnownRows now = look_up(not_updated);
  for (const Row* row : not_updated) {
    const auto match = now.find(row->path);
    if (match == now.end()) {
      fresh.push_back(row);  // deleted by someone else meanwhile
    } else if (holds(match->second, *row)) {
      ++outcome.counts.changed;  // a trigger or a rule has written it elsewhere
      outcome.counts.text_bytes += text_bytes(*row);
    } else {
      outcome.left_out.push_back(row);
    }
  }
}

namespace {

// The columns of records but for path and text, of the parameters of record_params().
constexpr std::string_view kRecordRows =
    "(SELECT u.path, u.size, u.mtime, u.record_id, u.at, u.attributes::pg_catalog.jsonb AS attributes, u.number"
    " FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3), pg_catalog.unnest($4),"
    " pg_catalog.unnest($5), pg_catalog.unnest($6)) WITH ORDINALITY"
    " u(path, size, mtime, record_id, at, attributes, number)) n";
// IS DISTINCT FROM finds its operators by search_path, INTERSECT by the types
constexpr std::string_view kDiffers =
    "NOT EXISTS (SELECT t.size, t.record_id, t.at, t.attributes"
    " INTERSECT SELECT n.size, n.record_id, n.at, n.attributes)";

Params record_params(const std::vector<const Row*>& rows) {
  std::vector<std::string_view> paths, ids, attributes;
  std::vector<std::int64_t> sizes;
  std::vector<std::optional<std::int64_t>> mtimes, at;
  for (const Row* row : rows) {
    paths.push_back(row->path);
    sizes.push_back(row->size);
    mtimes.push_back(row->mtime);
    ids.push_back(row->record_id);
    at.push_back(row->at);
    attributes.push_back(row->attributes);
  }
  Params params;
  params.text_array(paths)
      .int8_array(sizes)
      .timestamptz_array(mtimes)
      .text_or_null_array(ids)
      .timestamptz_array(at)
      .text_or_null_array(attributes);
  return params;
}

}  // namespace

RowSender::Differing RowSender::differing(const Rows& records) {
  const Result found =
      db_.query("SELECT n.number, t.path IS NULL FROM " + std::string(kRecordRows) + " LEFT JOIN " + table_ +
                    " t ON t.path OPERATOR(pg_catalog.=) n.path WHERE " + std::string(kDiffers),
                record_params(records));
  Differing differing;
  for (int i = 0; i < PQntuples(found.get()); ++i) {
    const Row* const row = records[static_cast<std::size_t>(get_int8(found, i, 0)) - 1];
    (get_bool(found, i, 1) ? differing.gone : differing.differ).push_back(row);
  }
  return differing;
}

// The server's count of updated rows is not enough: one that a trigger has left out still differs.
void RowSender::update_records(const Rows& rows, Rows& fresh, Outcome& outcome) {
  const Differing before = differing(rows);
  Differing after;
  if (!before.differ.empty()) {
    const Result result = db_.query("UPDATE " + table_ +
                                        " t SET size = n.size, mtime = n.mtime, record_id = n.record_id, at = n.at, "
                                        "attributes = n.attributes FROM " +
                                        std::string(kRecordRows) + " WHERE t.path OPERATOR(pg_catalog.=) n.path AND " +
                                        std::string(kDiffers),
                                    record_params(before.differ));
    if (command_rows(result) < static_cast<std::int64_t>(before.differ.size())) after = differing(before.differ);
  }
  const std::size_t same = rows.size() - before.differ.size() - before.gone.size();
  const std::size_t changed = before.differ.size() - after.differ.size() - after.gone.size();
  outcome.counts.same_records += static_cast<std::int64_t>(same);
  outcome.counts.changed += static_cast<std::int64_t>(changed);
  outcome.left_out.insert(outcome.left_out.end(), after.differ.begin(), after.differ.end());
  // deleted by someone else meanwhile
  fresh.insert(fresh.end(), before.gone.begin(), before.gone.end());
  fresh.insert(fresh.end(), after.gone.begin(), after.gone.end());
}

// False where no row was updated: it is gone, or a trigger or a rule did not let it be.
bool RowSender::update(const Row& row, bool with_body) {
  Params params;
  params.text(row.path).int8(row.size).timestamptz(row.mtime);
  if (with_body) params.int8(row.content_hash).text(row.body);
  if (row.is_record) params.text_or_null(row.record_id).timestamptz(row.at).text_or_null(row.attributes);
  const Result result = db_.query(
      "UPDATE " + table_ + " SET size = $2, mtime = $3" + (with_body ? ", content_hash = $4, body = $5" : "") +
          (row.is_record ? ", record_id = $6, at = $7, attributes = $8::pg_catalog.jsonb" : "") +
          " WHERE path OPERATOR(pg_catalog.=) $1",
      params);
  return command_rows(result) > 0;
}

// A trigger may leave rows out, put them into another table that inherits from this one, or change their paths; the
// server's count tells of the first two, the table of the third.
void RowSender::copy(const Rows& rows, Outcome& outcome) {
  const auto sent = static_cast<std::int64_t>(rows.size());
  const std::int64_t stored = copy_rows(rows);
  if (stored == sent) {
    outcome.counts.fresh += sent;
    for (const Row* row : rows) outcome.counts.text_bytes += text_bytes(*row);
    return;
  }
  const KnownRows there = look_up(rows);
  if (static_cast<std::int64_t>(there.size()) < stored) {
    outcome.counts.fresh += stored;
    outcome.left_out_unnamed += sent - stored;
    return;
  }
  for (const Row* row : rows) {
    if (!there.contains(row->path)) {
      outcome.left_out.push_back(row);
      continue;
    }
    ++outcome.counts.fresh;
    outcome.counts.text_bytes += text_bytes(*row);
  }
}

std::int64_t RowSender::copy_rows(const Rows& rows) {
  const bool records = std::any_of(rows.begin(), rows.end(), [](const Row* row) { return row->is_record; });
  db_.copy_begin("COPY " + table_ + " (path, size, mtime, content_hash, body" +
                 (records ? ", record_id, at, attributes" : "") + ") FROM STDIN (FORMAT binary)");
  std::string fields(kCopyHeader);
  for (const Row* row : rows) {
    append_int16(fields, records ? 8 : 5);
    append_field(fields, row->path);
    append_int8_field(fields, row->size);
    append_int8_field(fields, row->mtime);
    append_int8_field(fields, row->content_hash);
    append_int32(fields, static_cast<std::int32_t>(row->body.size()));
    if (row->body.size() < kCopied) {
      fields += row->body;
    } else {
      db_.copy_data(fields);
      db_.copy_data(row->body);
      fields.clear();
    }
    if (records) append_record_fields(fields, *row);
    if (fields.size() < kCopied) continue;
    db_.copy_data(fields);
    fields.clear();
  }
  fields += kCopyTrailer;
  db_.copy_data(fields);
  return db_.copy_end();
}

}  // namespace neardup::cli
