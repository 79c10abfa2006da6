// The stored, text and wire forms: round trips, canonical decoders, and the texts that users read.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "core/base/message_text.h"
#include "core/document/code.h"
#include "core/signature/minhash_encode.h"
#include "core/signature/sign.h"
#include "core/unicode/utf8.h"

#include "test/unit/support.h"

namespace neardup::encode_test {
namespace {

using test::Random;
using Bytes = std::vector<uint8_t>;

constexpr MinhashKind kKinds[] = {
    MinhashKind::word,     MinhashKind::character, MinhashKind::byte, MinhashKind::text_set,  MinhashKind::bigint_set,
    MinhashKind::imported, MinhashKind::weighted,  MinhashKind::line, MinhashKind::paragraph, MinhashKind::code};

MinhashParams params(MinhashKind kind, int k, int bits, int num_perm, int64_t seed) {
  const bool set = kind >= MinhashKind::text_set && kind <= MinhashKind::weighted;
  return {kind,
          static_cast<uint8_t>(set ? 0 : k),
          static_cast<uint8_t>(bits),
          static_cast<uint8_t>(kind == MinhashKind::word   ? kTokenizerVersion
                               : kind == MinhashKind::code ? kCodeVersion
                                                           : 0),
          static_cast<uint16_t>(num_perm),
          seed};
}

Bytes stored(const MinhashParams& p, const std::vector<uint32_t>& components) {
  Bytes out(minhash_size(p, components.empty()));
  write_minhash(p, components.empty() ? nullptr : components.data(), out.data());
  return out;
}

MinhashView view(const Bytes& b) { return view_minhash(b.data(), b.size()); }

// Sketches of sets of 0, 1 and 500 elements for every kind, width and a few sizes.
std::vector<Bytes> samples() {
  std::vector<Bytes> out;
  Random random(1);
  for (const MinhashKind kind : kKinds) {
    for (const int bits : {8, 16, 32}) {
      for (const int num_perm : {16, 17, 128, 1000, 4096}) {
        const int64_t seed = num_perm == 17    ? std::numeric_limits<int64_t>::min()
                             : num_perm == 128 ? 0
                                               : static_cast<int64_t>(random());
        const MinhashParams p = params(kind, 1 + static_cast<int>(random() % 64), bits, num_perm, seed);
        out.push_back(stored(p, {}));
        for (const size_t n : {1u, 500u}) {
          std::vector<uint64_t> set(n);
          for (uint64_t& x : set) x = random();
          out.push_back(stored(p, test::document_sketch(set, p.num_perm, static_cast<uint64_t>(seed))));
        }
      }
    }
  }
  return out;
}

TEST(Encode, RoundTrips) {
  for (const Bytes& b : samples()) {
    const MinhashView v = view(b);
    const std::string text = minhash_to_text(v);
    ASSERT_EQ(minhash_from_text(text), b) << text.substr(0, 60);
    ASSERT_EQ(minhash_to_text(view(minhash_from_text(text))), text);
    const Bytes wire = minhash_to_wire(v);
    ASSERT_EQ(minhash_from_wire(wire.data(), wire.size()), b) << text.substr(0, 60);
    ASSERT_EQ(wire.size(), b.size());
    const MinhashParams p = header_params(*v.header);
    ASSERT_EQ(b.size(), minhash_size(p, v.empty()));
    ASSERT_EQ(text.substr(0, 4 + kind_text(p).size()), "mh1:" + kind_text(p));
  }
}

TEST(Encode, GoldenDocuments) {
  const auto lines = test::golden_lines("golden_documents.tsv");
  ASSERT_EQ(lines.size(), 24u);
  for (const auto& fields : lines) {
    SCOPED_TRACE(fields[0] + " " + fields[1] + " " + fields[2]);
    const Unit unit = fields[0] == "byte" ? Unit::byte : parse_text_unit(fields[0]);
    const MinhashParams p =
        document_params(unit, std::stoi(fields[1]), std::stoi(fields[2]), std::stoi(fields[3]), std::stoll(fields[4]));
    const std::string document = test::bytes_of_hex(fields[5]), wire = test::bytes_of_hex(fields[7]);
    const test::Exact exact(document);
    std::vector<uint32_t> components(p.num_perm);
    const bool any = sign_document(p, exact.data(), exact.size(), nullptr, components.data());
    const Bytes signature = stored(p, any ? components : std::vector<uint32_t>());
    EXPECT_EQ(minhash_to_text(view(signature)), fields[6]);
    EXPECT_EQ(minhash_to_wire(view(signature)), Bytes(wire.begin(), wire.end()));
  }
}

TEST(Encode, ComponentsAreReduced) {
  Random random(2);
  std::vector<uint32_t> c(128);
  for (uint32_t& v : c) v = static_cast<uint32_t>(random() >> 33);
  const Bytes b32 = stored(params(MinhashKind::word, 3, 32, 128, 0), c);
  const Bytes b16 = stored(params(MinhashKind::word, 3, 16, 128, 0), c);
  const Bytes b8 = stored(params(MinhashKind::word, 3, 8, 128, 0), c);
  for (uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(component_at(view(b32), i), c[i]);
    EXPECT_EQ(component_at(view(b16), i), component16(c[i], 128));
    EXPECT_EQ(component_at(view(b8), i), component8(c[i]));
  }
  for (const int bits : {8, 16, 32}) {
    const Bytes empty = stored(params(MinhashKind::word, 3, bits, 128, 0), {});
    EXPECT_TRUE(view(empty).empty());
    EXPECT_EQ(view(empty).components, nullptr);
    EXPECT_EQ(component_at(view(empty), 5), 0xffffffffu >> (32 - bits));
  }
}

// Frozen: docs/format.md shows the same bytes.
TEST(Encode, GoldenForms) {
  std::vector<uint32_t> c(16);
  for (uint32_t i = 0; i < 16; ++i) c[i] = 0x01020304u * (i % 8) + i;
  const MinhashParams p = params(MinhashKind::word, 3, 32, 16, -2);
  const Bytes b = stored(p, c);
  const Bytes wire = minhash_to_wire(view(b));
  const Bytes head = {1, 1, 3, 32, 0, 16, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0, 1, 2, 3, 5};
  EXPECT_EQ(Bytes(wire.begin(), wire.begin() + 24), head);
  EXPECT_EQ(minhash_to_text(view(b)),
            "mh1:word3:16x32:s-2:t1:"
            "AAAAAAUDAgEKBgQCDwkGAxQMCAQZDwoFHhIMBiMVDgcIAAAADQMCARIGBAIXCQYDHAwIBCEPCgUmEgwGKxUOBw");
  EXPECT_EQ(minhash_to_text(view(stored(params(MinhashKind::bigint_set, 0, 16, 4096, 7), {}))),
            "mh1:bigint:4096x16:s7:t0:empty");
}

// Accepts or throws; what it accepts has one form only.
void wire_is_canonical(const Bytes& wire) {
  const test::Exact exact({reinterpret_cast<const char*>(wire.data()), wire.size()});
  try {
    const Bytes b = minhash_from_wire(exact.data(), exact.size());
    ASSERT_EQ(minhash_to_wire(view(b)), wire);
    ASSERT_EQ(minhash_from_text(minhash_to_text(view(b))), b);
  } catch (const Error& e) {
    ASSERT_EQ(e.code(), Errc::corrupt_data) << e.what();
  }
}

// Numbers may have leading zeros (and the seed a sign of zero), as in PostgreSQL's own types: equal text is not
// demanded, equal meaning is.
void text_is_total(const std::string& text) {
  try {
    const Bytes b = minhash_from_text(text);
    const std::string back = minhash_to_text(view(b));
    ASSERT_EQ(minhash_from_text(back), b);
    ASSERT_EQ(back.substr(back.rfind(':')), text.substr(text.rfind(':')));
  } catch (const Error& e) {
    ASSERT_EQ(e.code(), Errc::invalid_text) << e.what();
    ASSERT_FALSE(e.hint().empty());
    ASSERT_EQ(test::well_formed(e.what()), test::well_formed(test::well_formed(e.what())));
  }
}

void view_is_total(const Bytes& bytes) {
  // Aligned, as a Datum is, and of exactly this size.
  std::vector<uint32_t> words((bytes.size() + 3) / 4);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(words.data()));
  try {
    const MinhashView v = view_minhash(words.data(), bytes.size());
    const Bytes wire = minhash_to_wire(v);
    ASSERT_EQ(wire.size(), bytes.size());
    for (uint32_t i = 0; i < v.num_perm(); ++i) component_at(v, i);
    describe(header_params(*v.header));
  } catch (const Error& e) {
    ASSERT_EQ(e.code(), Errc::corrupt_data) << e.what();
  }
}

TEST(Encode, Truncated) {
  for (const Bytes& b : samples()) {
    const MinhashView v = view(b);
    const Bytes wire = minhash_to_wire(v);
    const std::string text = minhash_to_text(v);
    for (size_t n = 0; n < b.size(); n += n < 40 ? 1 : 97) {
      ASSERT_THROW(view_minhash(b.data(), n), Error);
      ASSERT_THROW(minhash_from_wire(wire.data(), n), Error);
    }
    for (size_t n = 0; n < text.size(); n += n < 50 ? 1 : 97) ASSERT_THROW(minhash_from_text(text.substr(0, n)), Error);
    ASSERT_THROW(minhash_from_text(text.substr(0, text.size() - 1)), Error);
  }
}

TEST(Encode, Extended) {
  for (const Bytes& b : samples()) {
    for (const size_t more : {1u, 2u, 4u, 16u}) {
      Bytes longer = b;
      longer.resize(b.size() + more);
      ASSERT_THROW(view(longer), Error);
      Bytes wire = minhash_to_wire(view(b));
      wire.resize(wire.size() + more);
      ASSERT_THROW(minhash_from_wire(wire.data(), wire.size()), Error);
      const std::string text = minhash_to_text(view(b));
      for (const char c : {'A', '=', ' ', ':', '\0', '\n'}) {
        ASSERT_THROW(minhash_from_text(text + std::string(more, c)), Error) << text.substr(0, 60) << c << more;
      }
    }
  }
}

TEST(Encode, FlippedBits) {
  Random random(3);
  for (const Bytes& b : samples()) {
    if (b.size() > 600) continue;
    const Bytes wire = minhash_to_wire(view(b));
    const std::string text = minhash_to_text(view(b));
    for (size_t bit = 0; bit < 8 * wire.size(); bit += bit < 136 ? 1 : 61) {
      Bytes changed = wire;
      changed[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
      wire_is_canonical(changed);
      changed = b;
      changed[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
      view_is_total(changed);
    }
    for (size_t bit = 0; bit < 8 * text.size(); bit += bit < 8 * 32 ? 1 : 61) {
      std::string changed = text;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      text_is_total(changed);
    }
    for (size_t bit = 8 * text.size() - 16; bit < 8 * text.size(); ++bit) {  // the spare bits of base64
      std::string changed = text;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      text_is_total(changed);
    }
  }
}

TEST(Encode, AnyBytes) {
  Random random(4);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(random() % 100);
    for (uint8_t& c : bytes) c = static_cast<uint8_t>(random() % 3 == 0 ? random() : random() % 5);
    if (!bytes.empty()) bytes[0] = 1;
    wire_is_canonical(bytes);
    view_is_total(bytes);
    text_is_total("mh1:" + std::string(bytes.begin(), bytes.end()));
  }
}

TEST(Encode, FieldsOutOfRange) {
  const Bytes good = minhash_to_wire(view(stored(params(MinhashKind::word, 3, 32, 16, 0), {})));
  const auto message = [&](size_t at, uint8_t value) {
    Bytes wire = good;
    wire[at] = value;
    try {
      minhash_from_wire(wire.data(), wire.size());
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::corrupt_data);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message(0, 1), "accepted");
  EXPECT_NE(message(0, 2).find("format 2"), std::string::npos) << message(0, 2);
  EXPECT_NE(message(1, 0).find("kind 0"), std::string::npos);
  EXPECT_NE(message(1, 11).find("kind 11"), std::string::npos);
  EXPECT_NE(message(2, 0).find("k is 0"), std::string::npos);
  EXPECT_NE(message(2, 65).find("k is 65"), std::string::npos);
  EXPECT_NE(message(3, 64).find("bits is 64"), std::string::npos);
  EXPECT_NE(message(5, 15).find("num_perm is 15"), std::string::npos);
  EXPECT_NE(message(4, 16).find("num_perm is 4112"), std::string::npos);
  EXPECT_NE(message(6, 0).find("tokenizer"), std::string::npos);
  EXPECT_NE(message(7, 3).find("flags"), std::string::npos);
  EXPECT_NE(message(7, 0).find("16 bytes, 80 expected"), std::string::npos) << message(7, 0);
}

// The hint says that a newer version may have written a value; it does not say so of damage.
TEST(Encode, NewerVersions) {
  const Bytes stored_form = stored(params(MinhashKind::word, 3, 32, 16, 0), {});
  const auto hint = [&](size_t at, uint8_t value) {
    Bytes bytes = stored_form;
    bytes[at] = value;
    MinhashHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    EXPECT_FALSE(is_known(header));
    try {
      view(bytes);
    } catch (const Error& e) {
      return e.hint();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(hint(0, 2), kNewerHint);
  EXPECT_EQ(hint(0, 0), "");
  EXPECT_EQ(hint(1, 11), kNewerHint);
  EXPECT_EQ(hint(1, 0), "");
  EXPECT_EQ(hint(7, 3), kNewerHint);
  MinhashHeader known;
  std::memcpy(&known, stored_form.data(), sizeof known);
  EXPECT_TRUE(is_known(known));
  known.kind = kNewestMinhashKind;
  EXPECT_TRUE(is_known(known));
}

// All ones stands for an empty bin: only imported signatures may hold it.
TEST(Encode, EmptyComponents) {
  std::vector<uint32_t> c(16, 5);
  for (const size_t at : {size_t{0}, size_t{15}}) {
    std::vector<uint32_t> one(16, 5);
    one[at] = kEmptyComponent32;
    const Bytes ours = minhash_to_wire(view(stored(params(MinhashKind::byte, 8, 32, 16, 0), one)));
    EXPECT_THROW(minhash_from_wire(ours.data(), ours.size()), Error) << at;
  }
  c[3] = kEmptyComponent32;
  for (const int bits : {16, 32}) {
    const Bytes ours = minhash_to_wire(view(stored(params(MinhashKind::byte, 8, bits, 16, 0), c)));
    EXPECT_THROW(minhash_from_wire(ours.data(), ours.size()), Error);
    const Bytes foreign = minhash_to_wire(view(stored(params(MinhashKind::imported, 0, bits, 16, 0), c)));
    EXPECT_NO_THROW(minhash_from_wire(foreign.data(), foreign.size()));
  }
  const Bytes narrow = minhash_to_wire(view(stored(params(MinhashKind::byte, 8, 8, 16, 0), c)));
  EXPECT_NO_THROW(minhash_from_wire(narrow.data(), narrow.size()));
}

TEST(Encode, BadText) {
  for (const std::string text : {"",
                                 "hello world",
                                 "mh",
                                 "mh1",
                                 "mh2:word3:16x32:s0:t1:empty",
                                 "mh1:",
                                 "mh1:word3:16x32:s0:t1",
                                 "mh1:word:16x32:s0:t1:empty",
                                 "mh1:word0:16x32:s0:t1:empty",
                                 "mh1:word03:16x32:s0:t1:empty",
                                 "mh1:word3:016x32:s0:t1:empty",
                                 "mh1:word3:16x32:s00:t1:empty",
                                 "mh1:word3:16x32:s-0:t1:empty",
                                 "mh1:word65:16x32:s0:t1:empty",
                                 "mh1:word259:16x32:s0:t1:empty",
                                 "mh1:word3:15x32:s0:t1:empty",
                                 "mh1:word3:4097x32:s0:t1:empty",
                                 "mh1:word3:65552x32:s0:t1:empty",
                                 "mh1:word3:16x12:s0:t1:empty",
                                 "mh1:word3:16x288:s0:t1:empty",
                                 "mh1:word3:16x32:s9223372036854775808:t1:empty",
                                 "mh1:word3:16x32:0:t1:empty",
                                 "mh1:word3:16x32:s:t1:empty",
                                 "mh1:word3:16x32:s+1:t1:empty",
                                 "mh1:word3:16x32:s 1:t1:empty",
                                 "mh1:word3:16x32:s0:t0:empty",
                                 "mh1:char3:16x32:s0:t1:empty",
                                 "mh1:text3:16x32:s0:t0:empty",
                                 "mh1:word3:16x32:s0:t1:Empty",
                                 "mh1:word3:16x32:s0:t1:",
                                 "mh1:word3:16x32:s0:t1:AAAA",
                                 "mh1:word3:16x32:s0:t1:empty:",
                                 "mh1:word3:16X32:s0:t1:empty",
                                 "MH1:word3:16x32:s0:t1:empty",
                                 " mh1:word3:16x32:s0:t1:empty",
                                 "mh1:wo:16x32:s0:t1:empty",
                                 "mh1::16x32:s0:t1:empty",
                                 ":::::"}) {
    try {
      minhash_from_text(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid_text) << text;
      EXPECT_EQ(std::string(e.what()).find("invalid input syntax for type minhash: \"" + text.substr(0, 32)), 0u)
          << e.what();
      EXPECT_FALSE(e.detail().empty()) << text;
      EXPECT_EQ(e.hint(), text.substr(0, 4) == "mh2:" ? kNewerHint : "To sign a document, use to_minhash(...).")
          << text;
    }
  }
}

// The message cuts between characters.
TEST(Encode, LongTextIsCutInTheMessage) {
  std::string text(31, 'x');
  for (int i = 0; i < 10; ++i) text += "\xe4\xb8\xad";
  try {
    minhash_from_text(text);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "invalid input syntax for type minhash: \"" + std::string(31, 'x') + "..\"");
  }
}

TEST(Encode, Describe) {
  EXPECT_EQ(describe(params(MinhashKind::word, 3, 32, 128, 0)), "word 3, 128x32, seed 0");
  EXPECT_EQ(describe(params(MinhashKind::character, 5, 16, 256, -7)), "char 5, 256x16, seed -7");
  EXPECT_EQ(describe(params(MinhashKind::byte, 8, 8, 4096, 1)), "byte 8, 4096x8, seed 1");
  EXPECT_EQ(describe(params(MinhashKind::text_set, 0, 32, 128, 0)), "set of text, 128x32, seed 0");
  EXPECT_EQ(describe(params(MinhashKind::bigint_set, 0, 32, 128, 0)), "set of bigint, 128x32, seed 0");
  EXPECT_EQ(describe(params(MinhashKind::imported, 0, 32, 128, 0)), "imported, 128x32, seed 0");
  MinhashParams later = params(MinhashKind::word, 3, 32, 128, 0);
  later.tokenizer = 2;
  EXPECT_EQ(describe(later), "word 3, 128x32, seed 0, tokenizer 2");
}

TEST(Encode, Comparable) {
  const MinhashParams p = params(MinhashKind::word, 3, 32, 128, 0);
  const Bytes a = stored(p, std::vector<uint32_t>(128, 1)), same = stored(p, std::vector<uint32_t>(128, 2));
  const Bytes empty = stored(p, {});
  EXPECT_NO_THROW(check_comparable(view(a), view(same)));
  EXPECT_NO_THROW(check_comparable(view(a), view(empty)));
  std::vector<MinhashParams> others(5, p);
  others[0].k = 4;
  others[1].bits = 16;
  others[2].num_perm = 256;
  others[3].seed = 1;
  others[4].tokenizer = 2;
  others.push_back(params(MinhashKind::character, 3, 32, 128, 0));
  for (const MinhashParams& q : others) {
    const Bytes b = stored(q, std::vector<uint32_t>(q.num_perm, 1));
    EXPECT_FALSE(comparable(*view(a).header, *view(b).header));
    try {
      check_comparable(view(a), view(b));
      ADD_FAILURE() << describe(q);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::incomparable);
      EXPECT_EQ(e.detail(), "left: " + describe(p) + "; right: " + describe(q));
      EXPECT_FALSE(e.hint().empty());
    }
  }
}

}  // namespace
}  // namespace neardup::encode_test
