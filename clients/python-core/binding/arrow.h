// Documents in Arrow arrays of strings, through the Arrow C data interface and its PyCapsules: no library of Arrow is
// needed. https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <memory>

#include "binding/documents.h"

namespace neardup::python {

// Nothing where `texts` has neither __arrow_c_array__ nor __arrow_c_stream__. TypeError for arrays of other types,
// ValueError for offsets that make no sense.
std::unique_ptr<Documents> arrow_documents(nb::handle texts, Accepts accepts);

}  // namespace neardup::python
