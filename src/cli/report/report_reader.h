// `neardup report`: what is read from the server. The server counts; only what is shown comes here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/database.h"
#include "cli/base/job.h"
#include "cli/report/page.h"
#include "cli/report/snippet.h"

namespace neardup::cli {

// The limits of report_pairs() and report_clusters().
constexpr int kTextShown = 20000;    // characters of a document of a pair
constexpr int kTextCompared = 8000;  // characters of a document of a cluster, for its title and its snippet

struct ReportAbout : PageAbout {
  ShownTime finished;  // when the latest run ended
  bool idle;           // that run has come to its end
};

struct ReportSetting {
  std::string key, label;  // in the table of the job, and for readers
  std::string text, json;  // its value; as JSON, numbers are numbers
};

enum class DocumentState { gone, null, there };  // gone: the row is no longer among those of the source

struct ReportDocument {
  DocumentState state = DocumentState::gone;
  std::string text;         // its first kTextShown characters
  std::int64_t length = 0;  // characters, or bytes of undecoded bytea
};

// A duplicate beside its representative, which comes first. Ids and paths may be cut here and below.
struct ReportPair {
  std::optional<double> similarity;
  std::int64_t cluster = 0;
  std::string ids[2];
  ReportDocument documents[2];
};

struct ReportCopy {
  std::string id, path;  // path: empty where there is none
  std::optional<double> similarity;
  DocumentState state = DocumentState::gone;
  bool longer = false;  // than what was compared
  Snippet snippet;      // beside the representative, where both documents are there
};

struct ReportCluster {
  std::int64_t number = 0, size = 0;
  std::optional<double> least, average;
  std::string id, path, title;  // of the survivor; the title is empty where it has no document
  DocumentState state = DocumentState::gone;
  std::vector<ReportCopy> copies;  // the most similar ones first
};

// One row of a cluster, whole.
struct ReportRow {
  std::int64_t cluster, size;
  std::string_view id, representative;
  std::optional<double> similarity;
  bool survivor;
  std::optional<std::string_view> path;
};

// All is read in one transaction: from one state of the tables.
class ReportReader {
 public:
  // Begins the transaction. Throws DatabaseError, as all that reads.
  ReportReader(Connection& db, const Job& job);

  const ReportAbout& about() const { return about_; }
  // Counted at the first call.
  const JobCounts& counts();
  double threshold() const { return threshold_; }  // of the similarity that the result has
  // Why documents are not shown beside the rows of the result; empty where they are. An error in reading them shows
  // after a call of pairs or clusters.
  const std::string& no_texts() const { return no_documents_.empty() ? no_ids_ : no_documents_; }
  // Why the documents cannot be read at all; empty where they can.
  const std::string& no_documents() const { return no_documents_; }
  // Why rows of the result are not found in the source, so that there are no paths either; empty where they are.
  const std::string& no_ids() const { return no_ids_; }
  bool cleaned() const { return cleaned_; }  // the profile changes texts before they are compared

  std::vector<ReportSetting> settings();
  // Duplicates by hundredths of similarity, those of exactly 1 at 100.
  std::vector<std::int64_t> similarities();
  // Clusters by size: of 2, 3 to 4, 5 to 8 ... rows.
  std::vector<std::int64_t> sizes();
  // The pairs whose similarity is nearest to the threshold; of those as near, by a hash of their ids.
  std::vector<ReportPair> pairs(std::int64_t most, bool with_texts);
  // The largest clusters.
  std::vector<ReportCluster> clusters(std::int64_t most);
  // Each row of the largest clusters, the largest first, or of all clusters, by number; the survivor first. A row is
  // valid during the call of read_row.
  void rows(std::optional<std::int64_t> largest, const std::function<void(const ReportRow&)>& read_row);
  // Ends the transaction.
  void finish();

 private:
  template <class Read>
  auto with_texts_or_without(Read read);
  std::vector<ReportPair> read_pairs(std::int64_t most, bool with_texts);
  std::vector<ReportCluster> read_clusters(std::int64_t most, bool with_texts);
  void for_each_row(const char* function, const std::string& more,
                    const std::function<void(const Result&, int)>& read_row);

  Connection& db_;
  const Job& job_;
  ReportAbout about_;
  std::optional<JobCounts> counts_;
  double threshold_ = 0;
  std::string no_documents_, no_ids_;
  bool cleaned_ = false;
};

}  // namespace neardup::cli
