// The statements by which a refresh reads and writes rows, a function each, grouped by stage. Their names say what they
// do; a comment names their parameters.
// `SELECT * FROM neardup_internal.neardup_refresh_statements('job')` prints them for a job.
#pragma once

#include "pg/jobs/refresh/refresh_step.h"

namespace neardup {

// The number of searches from which the cost of all is estimated.
inline constexpr int kSampledSearches = 20;

// Listing
Sql create_shape(const RefreshStep& step);
Sql forget_versions(const RefreshStep& step);
// True if a new list would be empty. $1: a seed, which nobody knows before. A difference is missed with probability
// 2^-64.
Sql is_unchanged(const RefreshStep& step);
Sql list_changed_rows(const RefreshStep& step);
Sql list_queued_rows(const RefreshStep& step);
Sql is_id_missing(const RefreshStep& step);
Sql index_listed_rows(const RefreshStep& step);
Sql analyze_listed_rows(const RefreshStep& step);

// The queue of a job that follows its source by a trigger
Sql copy_entries(const RefreshStep& step);
Sql index_taken_entries(const RefreshStep& step);
Sql analyze_taken_entries(const RefreshStep& step);
Sql must_compare_all(const RefreshStep& step);       // there is an entry without an id
Sql delete_signed_entries(const RefreshStep& step);  // $1, $2 as in signing
Sql delete_taken_entries(const RefreshStep& step);
Sql list_unqueued_changes(const RefreshStep& step);  // rows of check_duplicates()

Sql count_known_rows(const RefreshStep& step);  // rows that are signed
Sql count_added_rows(const RefreshStep& step);  // how many more rows the source has, by the list

// Counting passages; $1: the key of their windows
Sql fill_passages(const RefreshStep& step);

// Signing; $1, $2: rows n of the list, $1 < n <= $2; $3: number of the refresh
Sql sign_new_rows(const RefreshStep& step);     // none of which has been signed before
Sql sign_listed_rows(const RefreshStep& step);  // $4: whether another version alone is a change
Sql mark_gone_rows(const RefreshStep& step);
Sql row_with_null_element(const RefreshStep& step);  // of sets: the id of a row, as text

// Indexing
Sql forget_gone_signatures(const RefreshStep& step);
Sql create_signature_index(const RefreshStep& step, double slack);  // slack: how far below the threshold the index goes
Sql analyze_signatures(const RefreshStep& step);
Sql least_signature_similarity(const RefreshStep& step);  // $1: least similarity of documents

// measure.cpp: the index by which a job searches for near signatures, and the condition that it serves. A job searches
// by the measure of its kind of signature, or by the one that it names for sets.
bool is_searchable(const RefreshStep& step);  // an index serves the search threshold of the job
Sql index_class(const RefreshStep& step, double slack);
Sql near_condition(const RefreshStep& step, Pattern a, Pattern b);  // b is near a, or a near b

// Finding the rows whose cluster may have changed; $1: number of the refresh that clustered last
Sql count_rows(const RefreshStep& step);
Sql count_changed_rows(const RefreshStep& step);
Sql touch_changed_rows(const RefreshStep& step);
Sql key_touched_rows(const RefreshStep& step);
Sql create_edges(const RefreshStep& step);
Sql touch_rows_of_changed_representatives(const RefreshStep& step);
Sql count_touched_rows(const RefreshStep& step);
Sql count_unsearched_rows(const RefreshStep& step);
Sql analyze_touched_rows(const RefreshStep& step);
Sql count_near_rows_of_sample(const RefreshStep& step);
Sql search_near_rows(const RefreshStep& step);
Sql mark_searched_rows(const RefreshStep& step);
Sql analyze_edges(const RefreshStep& step);
Sql touch_affected_rows(const RefreshStep& step);
Sql touch_near_rows(const RefreshStep& step);
Sql touch_rows_of_touched_clusters(const RefreshStep& step);
Sql touch_settled_representatives(const RefreshStep& step);
Sql touch_representatives_of_changed_rows(const RefreshStep& step);

// Clustering; part: only touched rows
Sql rows_to_cluster(const RefreshStep& step, bool part);
Sql clusters(const RefreshStep& step, bool part);
Sql cluster_rows(const RefreshStep& step, bool part);
Sql analyze_fresh_clusters(const RefreshStep& step);

// Publishing
Sql list_heirs(const RefreshStep& step);
Sql number_clusters(const RefreshStep& step);  // $1: the next number
Sql analyze_heirs(const RefreshStep& step);
Sql analyze_numbers(const RefreshStep& step);
Sql analyze_results(const RefreshStep& step);
Sql record_changes(const RefreshStep& step, bool part);  // $1: number of the refresh
Sql delete_gone_results(const RefreshStep& step, bool part);
Sql is_result_empty(const RefreshStep& step);
Sql write_first_results(const RefreshStep& step);
Sql write_results(const RefreshStep& step);
Sql move_rows_of_merged_clusters(const RefreshStep& step);
Sql forget_gone_rows(const RefreshStep& step);
Sql count_new_clusters(const RefreshStep& step);
Sql result_hash(const RefreshStep& step);  // an aggregate over rows r of the result
// Counts and hash of the result by difference: those of the clusters of {old} are subtracted, then added as they are.
Sql list_old_clusters(const RefreshStep& step);
Sql list_new_clusters(const RefreshStep& step);
Sql analyze_old_clusters(const RefreshStep& step);
Sql subtract_old_clusters(const RefreshStep& step);
Sql add_old_clusters(const RefreshStep& step);

}  // namespace neardup
