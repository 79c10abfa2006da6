// `neardup report`: what is read from the server. The server counts; only what is shown comes here.
#include "cli/report/report_reader.h"

#include <algorithm>

#include "cli/base/interrupt.h"

namespace neardup::cli {
namespace {

std::optional<double> get_similarity(const Result& rows, int i, int column) {
  if (is_null(rows, i, column)) return std::nullopt;
  return get_float8(rows, i, column);
}

// Columns: whether the row is there, its document, the length of that.
DocumentState get_state(const Result& rows, int i, int column) {
  if (!get_bool(rows, i, column)) return DocumentState::gone;
  return is_null(rows, i, column + 1) ? DocumentState::null : DocumentState::there;
}

ReportDocument get_document(const Result& rows, int i, int column) {
  ReportDocument document;
  document.state = get_state(rows, i, column);
  if (document.state == DocumentState::there) {
    document.text = get_text(rows, i, column + 1);
    document.length = get_int8(rows, i, column + 2);
  }
  return document;
}

// Arguments of report_pairs() and report_clusters() behind the job.
std::string most_and_texts(std::int64_t most, bool with_texts) {
  return ", " + std::to_string(most) + (with_texts ? ", true" : ", false");
}

}  // namespace

ReportReader::ReportReader(Connection& db, const Job& job) : db_(db), job_(job) {
  db_.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const Result found = ask_job(db_, job_, "report_about");
  const auto text = [&](int column) { return std::string(get_text(found, 0, column)); };
  about_ = {page_about(found), {text(4), text(5)}, get_bool(found, 0, 6)};
  threshold_ = get_float8(found, 0, 7);
  cleaned_ = get_bool(found, 0, 8);
  no_documents_ = text(9);
  no_ids_ = text(10);
}

const JobCounts& ReportReader::counts() {
  if (!counts_) counts_ = count_job(db_, job_);
  return *counts_;
}

void ReportReader::finish() { db_.query("COMMIT"); }

// Calls read(true), which shows documents; where these cannot be read, says why, and calls read(false).
template <class Read>
auto ReportReader::with_texts_or_without(Read read) {
  if (!no_texts().empty()) return read(false);
  db_.query("SAVEPOINT texts");
  try {
    return read(true);
  } catch (const DatabaseError& error) {
    if (error.connection_lost()) throw;
    db_.query("ROLLBACK TO SAVEPOINT texts");
    no_documents_ = std::string("The documents cannot be read: ") + error.what() + ".";
  }
  return read(false);
}

std::vector<ReportSetting> ReportReader::settings() {
  const Result rows = ask_job(db_, job_, "report_settings");
  std::vector<ReportSetting> settings;
  settings.reserve(static_cast<std::size_t>(PQntuples(rows.get())));
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    settings.push_back({std::string(get_text(rows, i, 0)), std::string(get_text(rows, i, 1)),
                        std::string(get_text(rows, i, 2)), std::string(get_text(rows, i, 3))});
  }
  return settings;
}

std::vector<std::int64_t> ReportReader::similarities() {
  const Result found = ask_job(db_, job_, "report_similarities");
  std::vector<std::int64_t> hundredths(101);
  for (int i = 0; i < PQntuples(found.get()); ++i) {
    hundredths[static_cast<std::size_t>(std::min<std::int64_t>(get_int8(found, i, 0), 100))] += get_int8(found, i, 1);
  }
  return hundredths;
}

std::vector<std::int64_t> ReportReader::sizes() {
  const Result found = ask_job(db_, job_, "report_sizes");
  std::vector<std::int64_t> powers;
  for (int i = 0; i < PQntuples(found.get()); ++i) {
    powers.resize(static_cast<std::size_t>(std::max<std::int64_t>(get_int8(found, i, 0), 1)));
    powers.back() = get_int8(found, i, 1);
  }
  return powers;
}

std::vector<ReportPair> ReportReader::pairs(std::int64_t most, bool with_texts) {
  if (!with_texts) return read_pairs(most, false);
  return with_texts_or_without([&](bool texts) { return read_pairs(most, texts); });
}

std::vector<ReportPair> ReportReader::read_pairs(std::int64_t most, bool with_texts) {
  std::vector<ReportPair> pairs;
  for_each_row("report_pairs", most_and_texts(most, with_texts), [&](const Result& rows, int i) {
    ReportPair& pair = pairs.emplace_back();
    pair.similarity = get_similarity(rows, i, 0);
    pair.cluster = get_int8(rows, i, 1);
    for (int side = 0; side < 2; ++side) {
      pair.ids[side] = get_text(rows, i, 2 + side);
      pair.documents[side] = get_document(rows, i, 4 + 3 * side);
    }
  });
  return pairs;
}

std::vector<ReportCluster> ReportReader::clusters(std::int64_t most) {
  return with_texts_or_without([&](bool texts) { return read_clusters(most, texts); });
}

std::vector<ReportCluster> ReportReader::read_clusters(std::int64_t most, bool with_texts) {
  std::vector<ReportCluster> clusters;
  ReportDocument kept;  // of the cluster at work
  for_each_row("report_clusters", most_and_texts(most, with_texts), [&](const Result& rows, int i) {
    ReportDocument document = get_document(rows, i, 7);
    const std::string_view path = get_text(rows, i, 6);
    if (clusters.empty() || clusters.back().number != get_int8(rows, i, 0)) {
      clusters.push_back({get_int8(rows, i, 0),
                          get_int8(rows, i, 1),
                          get_similarity(rows, i, 2),
                          get_similarity(rows, i, 3),
                          std::string(get_text(rows, i, 5)),
                          std::string(path),
                          document_title(document.text),
                          document.state,
                          {}});
      kept = std::move(document);
      return;
    }
    ReportCopy copy{std::string(get_text(rows, i, 5)),
                    std::string(path),
                    get_similarity(rows, i, 4),
                    document.state,
                    std::max(kept.length, document.length) > kTextCompared,
                    {}};
    if (kept.state == DocumentState::there && copy.state == DocumentState::there) {
      copy.snippet = first_change(kept.text, document.text);
    }
    clusters.back().copies.push_back(std::move(copy));
  });
  return clusters;
}

void ReportReader::rows(std::optional<std::int64_t> largest, const std::function<void(const ReportRow&)>& read_row) {
  for_each_row("report_rows", ", " + (largest ? std::to_string(*largest) : "NULL"), [&](const Result& rows, int i) {
    ReportRow row{get_int8(rows, i, 0),       get_int8(rows, i, 1), get_text(rows, i, 2), get_text(rows, i, 3),
                  get_similarity(rows, i, 4), get_bool(rows, i, 5), std::nullopt};
    if (!is_null(rows, i, 6)) row.path = get_text(rows, i, 6);
    read_row(row);
  });
}

// Opens the cursor of a function, and reads its rows, some at a time.
void ReportReader::for_each_row(const char* function, const std::string& more,
                                const std::function<void(const Result&, int)>& read_row) {
  ask_job(db_, job_, function, more);
  const std::string fetch = "FETCH 500 FROM " + std::string(kRowsCursor);
  for (;;) {
    const Result rows = db_.query(fetch);
    const int n = PQntuples(rows.get());
    if (n == 0) break;
    for (int i = 0; i < n; ++i) {
      check_interrupt();
      read_row(rows, i);
    }
  }
  db_.query("CLOSE " + std::string(kRowsCursor));
}

}  // namespace neardup::cli
