// See sign.h.
#include "binding/sign.h"

#include <cstring>
#include <optional>

#include "core/document/shingle.h"
#include "core/document/winnow.h"
#include "core/signature/ctph.h"
#include "core/signature/minhash_encode.h"
#include "core/signature/sign.h"
#include "core/signature/simhash.h"

#include "binding/arguments.h"
#include "binding/arrays.h"
#include "binding/batches.h"
#include "binding/documents.h"

namespace neardup::python {
namespace {

// The defaults of SQL, sql/install: of k for text and for bytes.
constexpr int64_t kTextShingle = 3;
constexpr int64_t kByteShingle = 8;
constexpr int64_t kTextWinnow = 5;
constexpr int64_t kByteWinnow = 8;
constexpr int64_t kTextWindow = 4;
constexpr int64_t kByteWindow = 16;

nb::object bytes_object(const Made& made) { return nb::bytes(made.bytes.data(), made.bytes.size()); }
nb::object text_object(const Made& made) { return nb::str(made.bytes.data(), made.bytes.size()); }

// A list of n objects.
template <class Item>
nb::object make_list(size_t n, Item item) {
  nb::object out = nb::steal(PyList_New(static_cast<Py_ssize_t>(n)));
  if (!out.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < n; ++i) PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), item(i).release().ptr());
  return out;
}

// bigint has a sign.
nb::object list_of_hashes(const Made& made) {
  return make_list(made.hashes.size(), [&](size_t i) { return nb::int_(static_cast<int64_t>(made.hashes[i])); });
}
nb::object array_of_hashes(const Made& made) { return copy_array<int64_t>(made.hashes.data(), made.hashes.size()); }

nb::object list_of_texts(const Made& made) {
  return make_list(made.texts.size(), [&](size_t i) { return nb::str(made.texts[i].data(), made.texts[i].size()); });
}

// The stored form of a document's signature, on the stack.
class Signed {
 public:
  Signed(const MinhashParams& params, const Document& document, StopCheck* stop) {
    uint32_t components[kMaxNumPerm];
    const bool any = sign_document(params, document.data, document.size, stop, components);
    write_minhash(params, any ? components : nullptr, stored_);
    const auto* header = reinterpret_cast<const MinhashHeader*>(stored_);
    view_ = {header, any ? header + 1 : nullptr, minhash_size(params, !any)};
  }
  const MinhashView& view() const noexcept { return view_; }

 private:
  alignas(MinhashHeader) uint8_t stored_[kMaxMinhashSize];
  MinhashView view_;
};

nb::object minhash_values(Documents& documents, const MinhashParams& params, unsigned threads, Result result) {
  Recipe recipe;
  recipe.bytes_each = minhash_size(params, false) * (result == Result::text ? 2 : 1);
  if (result == Result::bytes) {
    recipe.make = [&](size_t, const Document& document, StopCheck* stop, Made* made) {
      const std::vector<uint8_t> wire = minhash_to_wire(Signed(params, document, stop).view());
      made->bytes.assign(reinterpret_cast<const char*>(wire.data()), wire.size());
    };
    recipe.take = bytes_object;
  } else {
    recipe.make = [&](size_t, const Document& document, StopCheck* stop, Made* made) {
      made->bytes = minhash_to_text(Signed(params, document, stop).view());
    };
    recipe.take = text_object;
  }
  return make_all(documents, threads, recipe);
}

// A row of components for each document. That of an empty one has the greatest value in all of them.
template <class Component>
nb::object minhash_array(Documents& documents, const MinhashParams& params, unsigned threads) {
  NewArray<Component> array(documents.size(), params.num_perm);
  Recipe recipe;
  recipe.make = [&](size_t i, const Document& document, StopCheck* stop, Made*) {
    const Signed signature(params, document, stop);
    const MinhashView& view = signature.view();
    const size_t size = params.num_perm * sizeof(Component);
    if (view.empty()) {
      std::memset(array.row(i), 0xff, size);
    } else {
      std::memcpy(array.row(i), view.components, size);
    }
  };
  make_all(documents, threads, recipe);
  return array.release(documents.is_single());
}

void put_big_endian(uint64_t value, std::string* out) {
  out->resize(sizeof value);
  for (size_t i = 0; i < sizeof value; ++i) (*out)[i] = static_cast<char>(value >> (56 - 8 * i));
}

// None alone has no array: None, as SQL has NULL.
bool is_none_alone(const nb::handle texts) { return texts.is_none(); }

}  // namespace

nb::object minhash(nb::handle texts, nb::handle k, nb::handle unit, nb::handle num_perm, nb::handle bits,
                   nb::handle seed, nb::handle threads, nb::handle result) {
  const auto documents = read_documents(texts, Accepts::text_or_bytes);
  const Shingles cut = shingles_argument(k, unit, documents->kind(), kTextShingle, kByteShingle);
  const MinhashParams params =
      document_params(cut.unit, cut.k, integer(num_perm, "num_perm"), integer(bits, "bits"), integer(seed, "seed"));
  const unsigned workers = thread_count(threads);
  const Result wanted = result_argument(result, {Result::bytes, Result::text, Result::numpy});
  if (is_none_alone(texts)) return nb::none();
  if (wanted != Result::numpy) return minhash_values(*documents, params, workers, wanted);
  if (params.bits == 32) return minhash_array<uint32_t>(*documents, params, workers);
  if (params.bits == 16) return minhash_array<uint16_t>(*documents, params, workers);
  return minhash_array<uint8_t>(*documents, params, workers);
}

nb::object simhash(nb::handle texts, nb::handle k, nb::handle unit, nb::handle threads, nb::handle result) {
  const auto documents = read_documents(texts, Accepts::text);
  const Shingles cut = shingles_argument(k, unit, Kind::text, kTextShingle, kByteShingle);
  check_k(cut.k);
  const unsigned workers = thread_count(threads);
  const Result wanted = result_argument(result, {Result::bytes, Result::text, Result::numpy});
  if (is_none_alone(texts)) return nb::none();
  const auto simhash_value = [&](const Document& document, StopCheck* stop, Made* made) {
    const std::optional<uint64_t> value = simhash_document(cut.unit, cut.k, document.data, document.size, stop);
    made->missing = !value;
    return value.value_or(0);
  };
  Recipe recipe;
  if (wanted == Result::numpy) {
    NewArray<uint64_t> array(documents->size(), 0);
    recipe.make = [&](size_t i, const Document& document, StopCheck* stop, Made* made) {
      *array.row(i) = simhash_value(document, stop, made);
    };
    make_all(*documents, workers, recipe);
    return array.release(documents->is_single());
  }
  const bool as_text = wanted == Result::text;
  recipe.make = [&](size_t, const Document& document, StopCheck* stop, Made* made) {
    const uint64_t value = simhash_value(document, stop, made);
    if (as_text) {
      made->bytes = simhash_to_text(value);
    } else {
      put_big_endian(value, &made->bytes);
    }
  };
  recipe.take = as_text ? text_object : bytes_object;
  return make_all(*documents, workers, recipe);
}

nb::object ctph(nb::handle texts, nb::handle length, nb::handle threads, nb::handle result) {
  const auto documents = read_documents(texts, Accepts::mixed);
  const std::optional<int64_t> longest = optional_integer(length, "length");
  if (longest) ctph_long(nullptr, 0, *longest);  // checks it
  const unsigned workers = thread_count(threads);
  const bool as_text = result_argument(result, {Result::bytes, Result::text}) == Result::text;
  Recipe recipe;
  recipe.make = [&](size_t, const Document& document, StopCheck* stop, Made* made) {
    const CtphDigest digest = longest ? ctph_long(document.data, document.size, *longest, stop)
                                      : neardup::ctph(document.data, document.size, stop);
    const CtphView view = digest_view(digest);
    if (as_text) {
      made->bytes = ctph_to_text(view);
    } else {
      made->bytes.resize(ctph_size(view));
      write_ctph(view, made->bytes.data());
    }
  };
  recipe.take = as_text ? text_object : bytes_object;
  return make_all(*documents, workers, recipe);
}

nb::object shingles(nb::handle texts, nb::handle k, nb::handle unit, nb::handle threads) {
  const auto documents = read_documents(texts, Accepts::text);
  const Shingles cut = shingles_argument(k, unit, Kind::text, kTextShingle, kByteShingle);
  check_k(cut.k);
  Recipe recipe;
  recipe.make = [&](size_t, const Document& document, StopCheck* stop, Made* made) {
    ShingleText all(cut.unit, static_cast<int>(cut.k), document.data, document.size, stop);
    made->texts.clear();
    for (std::string shingle; all.next(&shingle);) made->texts.push_back(shingle);
  };
  recipe.take = list_of_texts;
  return make_all(*documents, thread_count(threads), recipe);
}

nb::object shingle_hashes(nb::handle texts, nb::handle k, nb::handle unit, nb::handle threads, nb::handle result) {
  const auto documents = read_documents(texts, Accepts::text_or_bytes);
  const Shingles cut = shingles_argument(k, unit, documents->kind(), kTextShingle, kByteShingle);
  check_k(cut.k);
  Recipe recipe;
  recipe.make = [&](size_t, const Document& document, StopCheck* stop, Made* made) {
    ShingleStream stream(cut.unit, static_cast<int>(cut.k), document.data, document.size, stop);
    uint64_t batch[ShingleStream::kMaxBatch];
    made->hashes.clear();
    while (const size_t n = stream.next(batch)) made->hashes.insert(made->hashes.end(), batch, batch + n);
  };
  const Result wanted = result_argument(result, {Result::list, Result::numpy});
  recipe.take = wanted == Result::numpy ? array_of_hashes : list_of_hashes;
  return make_all(*documents, thread_count(threads), recipe);
}

nb::object winnow_hashes(nb::handle texts, nb::handle k, nb::handle window, nb::handle unit, nb::handle threads,
                         nb::handle result) {
  const auto documents = read_documents(texts, Accepts::text_or_bytes);
  const Shingles cut = shingles_argument(k, unit, documents->kind(), kTextWinnow, kByteWinnow);
  const int64_t span = optional_integer(window, "window").value_or(cut.unit == Unit::byte ? kByteWindow : kTextWindow);
  WinnowStream(cut.unit, cut.k, span, nullptr, 0);  // checks them
  Recipe recipe;
  recipe.make = [&](size_t, const Document& document, StopCheck* stop, Made* made) {
    const std::vector<int64_t> hashes =
        neardup::winnow_hashes(cut.unit, cut.k, span, document.data, document.size, {}, stop);
    made->hashes.assign(hashes.begin(), hashes.end());
  };
  const Result wanted = result_argument(result, {Result::list, Result::numpy});
  recipe.take = wanted == Result::numpy ? array_of_hashes : list_of_hashes;
  return make_all(*documents, thread_count(threads), recipe);
}

}  // namespace neardup::python
