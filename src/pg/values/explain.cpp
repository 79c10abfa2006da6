#include "pg/values/explain.h"

#include <algorithm>
#include <cmath>

#include "core/base/message_text.h"
#include "core/signature/ctph_compare.h"
#include "core/signature/simhash.h"

namespace neardup {
namespace {

// A measured value in six digits, or in all where six would lie on the other side of the bound.
NumberText measured(double v, double most) {
  NumberText out;
  snprintf(out.text, sizeof out.text, "%g", v);
  return (strtod(out.text, nullptr) <= most) == (v <= most) ? out : shown(v);
}

// The text in brackets behind a score; empty where the figure says it all.
std::string score_reason(const CtphScore& score, const CtphView& a, const CtphView& b) {
  const auto sizes = [](const CtphView& d) {
    return std::to_string(ctph_block_size(d.exponent)) + " and " + std::to_string(ctph_block_size(d.exponent + 1));
  };
  switch (score.reason) {
    case CtphReason::no_common_block_size:
      return " (no common block size: left " + sizes(a) + ", right " + sizes(b) + ")";
    case CtphReason::too_short:
      return " (a part is shorter than 7 characters)";
    case CtphReason::too_short_cut:
      return " (a part is shorter than 7 characters when runs are cut to 3)";
    case CtphReason::nothing_shared:
      return " (no 7 characters in a row are shared)";
    case CtphReason::nothing_shared_cut:
      return " (no 7 characters in a row are shared when runs are cut to 3)";
    case CtphReason::equal:
      return a.part1 == b.part1 && a.part2 == b.part2 ? " (equal digests)"
                                                      : " (equal when runs are cut to 3 characters)";
    case CtphReason::capped:
      return " (all that block sizes below 45 allow; else " + std::to_string(score.uncapped) + ")";
    case CtphReason::measured:
      break;
  }
  return {};
}

}  // namespace

void explain_minhash_pair(const MinhashView& a, const MinhashView& b, double threshold, PairExplanation* out) {
  *out = PairExplanation{};
  out->comparable = comparable(*a.header, *b.header);
  if (!out->comparable) {
    call_core([&] {
      snprintf(out->verdict, sizeof out->verdict,
               "not comparable, made differently: left: %s; right: %s; use minhash_like()",
               describe(header_params(*a.header)).c_str(), describe(header_params(*b.header)).c_str());
    });
    return;
  }
  const uint32_t matches = count_matches(a, b);
  const uint32_t needed = min_matches(threshold, false, a.num_perm(), a.bits());
  const double j = estimate_jaccard(matches, a.num_perm(), a.bits());
  // Binomial, with half a match and half a mismatch added: 128 of 128 is no certainty. Of 8-bit components a share
  // of 1/256 agrees by chance (minhash.h).
  const double chance = a.bits() == 8 ? 1.0 / 256 : 0.0;
  const double agree = (matches + 0.5) / (a.num_perm() + 1.0);
  const double error = std::sqrt(agree * (1 - agree) / a.num_perm()) / (1 - chance);
  out->matches = matches;
  out->needed = needed;
  out->jaccard = j;
  out->standard_error = error;
  out->similar = !a.empty() && !b.empty() && matches >= needed;
  if (a.empty() || b.empty())
    snprintf(out->verdict, sizeof out->verdict, "not similar: %s empty, and an empty document is similar to nothing",
             a.empty() && b.empty() ? "both are" : "one is");
  else if (matches >= needed)
    snprintf(out->verdict, sizeof out->verdict, "similar: %u of %u components agree, %u are needed for %s", matches,
             a.num_perm(), needed, shown(threshold).text);
  else if (threshold - j <= 2 * error)
    snprintf(out->verdict, sizeof out->verdict,
             "not similar, but within two standard errors: %u of %u components agree, %u are needed for %s; compare "
             "the documents with compare_texts()",
             matches, a.num_perm(), needed, shown(threshold).text);
  else
    snprintf(out->verdict, sizeof out->verdict, "not similar: %u of %u components agree, %u are needed for %s", matches,
             a.num_perm(), needed, shown(threshold).text);
}

void explain_simhash_pair(uint64_t a, uint64_t b, double distance, SimhashExplanation* out) {
  *out = SimhashExplanation{};
  out->hamming = hamming_distance(a, b);
  out->cosine = simhash_cosine(out->hamming);
  out->similar = out->hamming <= distance;
  snprintf(out->verdict, sizeof out->verdict, "%s: Hamming distance %d, at most %s is allowed",
           out->similar ? "similar" : "not similar", out->hamming, shown(distance).text);
}

void explain_ctph_pair(const CtphView& a, const CtphView& b, double score, double rate, CtphExplanation* out) {
  *out = CtphExplanation{};
  out->comparable = comparable(a, b);
  call_core([&] {
    if (!out->comparable) {
      snprintf(out->verdict, sizeof out->verdict,
               "not comparable: left: %s; right: %s; use to_ctph() for both, or ctph_long()", describe(a).c_str(),
               describe(b).c_str());
      return;
    }
    const CtphScore found = explain_ctph_score(a, b);
    std::string_view of_a;
    std::string_view of_b;
    const bool common = common_parts(a, b, &of_a, &of_b);
    out->block_size = common ? ctph_block_size(std::max(a.exponent, b.exponent)) : 0;
    out->score = found.score;
    out->edit_rate = ctph_edit_rate(a, b);
    out->by_score = out->score >= score;
    out->by_rate = out->edit_rate <= rate;
    snprintf(out->verdict, sizeof out->verdict,
             "%s: score %d%s, at least %s is needed; edit rate %s%s, at most %s is allowed",
             out->by_score && out->by_rate ? "similar"
             : out->by_score               ? "similar by score only"
             : out->by_rate                ? "similar by edit rate only"
                                           : "not similar",
             out->score, score_reason(found, a, b).c_str(), shown(score).text, measured(out->edit_rate, rate).text,
             common && of_a.empty() && of_b.empty() ? " (both parts are empty)" : "", shown(rate).text);
  });
}

}  // namespace neardup
