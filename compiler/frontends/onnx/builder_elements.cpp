// SPDX-License-Identifier: Apache-2.0
// Tensors that stand for element types aotc does not have (element_types.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/onnx/builder.h"

namespace aotc::frontends::onnx {

namespace {

bool is_nibble(int32_t element) { return element == kInt4 || element == kUint4; }

std::string_view format_name(ops::FloatFormat format) { return ops::enum_names(format)[static_cast<size_t>(format)]; }

// Unsigned 64 bits to the nearest float, or near it: of the upper half without the last bit.
Id float_of_uint64(Builder& b, Id x) {
  Id below = b.add("less", {x, b.filled_int(DType::kI64, 0)}, {}, DType::kBool);
  Id half = b.add("div", {x, b.filled_int(DType::kI64, 2)});
  // Halves of a negative number are those of the unsigned one less 2^63.
  Id upper = b.binary("add", b.binary("mul", b.cast(half, DType::kF32), 2.0), std::ldexp(1.0, 64));
  return b.add("select_v2", {below, upper, b.cast(x, DType::kF32)}, {}, DType::kF32);
}

Id uint64_of_float(Builder& b, Id x) {
  constexpr double kHalf = 9223372036854775808.0;
  Id large = b.add("greater_equal", {x, b.filled(DType::kF32, kHalf)}, {}, DType::kBool);
  Id upper = b.add("add", {b.cast(b.binary("sub", x, kHalf), DType::kI64), b.filled_int(DType::kI64, INT64_MIN)});
  return b.add("select_v2", {large, upper, b.cast(x, DType::kI64)}, {}, DType::kI64);
}

}  // namespace

void Builder::tell_labels(std::vector<std::string> labels) {
  if (!labels_.empty() && labels_ != labels)
    stop("onnx-attribute", "the model has two different lists of label strings, expected one",
         "export the model with numbers instead of one of them");
  labels_ = std::move(labels);
}

Id Builder::labels_of(const Tensor& strings) {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, int64_t> places;
  Ints indices;
  for (std::string_view text : strings.strings) {
    auto [at, is_new] = places.emplace(text, static_cast<int64_t>(names.size()));
    if (is_new) names.emplace_back(text);
    indices.push_back(at->second);
  }
  const bool whole = bounded_bytes(strings.dims, DType::kI64) >= 0 && strings.dims.size() <= limits::kMaxRank &&
                     graph::element_count(strings.dims) == static_cast<int64_t>(indices.size());
  if (!whole || strings.external || strings.has_raw)
    stop("onnx-invalid", "the data does not have the elements of the constant's shape",
         "the file is damaged; export the model again");
  if (!names.empty()) tell_labels(std::move(names));
  std::vector<uint8_t> bytes(indices.size() * sizeof(int64_t));
  std::copy_n(reinterpret_cast<const uint8_t*>(indices.data()), bytes.size(), bytes.begin());
  return set_element(constant(DType::kI64, strings.dims, std::move(bytes)), kString);
}

int32_t Builder::element(Id id) const {
  auto at = static_cast<size_t>(id.value);
  if (at < elements_.size() && elements_[at] != 0) return elements_[at];
  return element_of(dtype(id));
}

Id Builder::set_element(Id id, int32_t element) {
  auto at = static_cast<size_t>(id.value);
  if (elements_.size() <= at) elements_.resize(graph_.tensors.size(), 0);
  elements_[at] = element == element_of(dtype(id)) ? 0 : element;
  if (element == kDouble && !graph_.is_constant(id)) float64_ = true;
  return id;
}

Id Builder::rounded(Id x, int32_t element) {
  auto form = form_of(element);
  if (form->format && *form->format != ops::FloatFormat::kF64)
    x = add("float_round", {x}, {{"format", format_name(*form->format)}});
  return set_element(x, element);
}

Id Builder::from_stored(Id x, int32_t element) {
  auto form = form_of(element);
  if (!form->format) return set_element(x, element);
  return set_element(add("float_decode", {x}, {{"format", format_name(*form->format)}}, DType::kF32), element);
}

Id Builder::to_stored(Id x) {
  auto form = form_of(element(x));
  if (!form || !form->format) return x;
  // Every value is one of the format's already.
  return add("float_encode", {x}, {{"format", format_name(*form->format)}}, form->stored);
}

Id Builder::as_element(Id x, int32_t to, const Narrowing& narrowing) {
  int32_t from = element(x);
  if (from == to) return x;
  auto form = form_of(to);
  if (!form)
    stop("onnx-type", fmt::format("a cast to {} is not supported", element_type_name(to)),
         "export the model with a numeric type");
  bool real = form->carrier == DType::kF32;
  Id y = x;
  if (from == kUint64 && real) y = float_of_uint64(*this, x);
  else if (is_nibble(to)) {
    // The low four bits.
    Id bits = add("floor_mod", {add("add", {cast(x, DType::kI32), filled_int(DType::kI32, to == kInt4 ? 8 : 0)}),
                                filled_int(DType::kI32, 16)});
    y = cast(to == kInt4 ? add("sub", {bits, filled_int(DType::kI32, 8)}) : bits, form->carrier);
  } else if (to == kUint64 && dtype(x) == DType::kF32) y = uint64_of_float(*this, x);
  else y = cast(x, form->carrier);
  if (form->format && *form->format != ops::FloatFormat::kF64)
    y = add("float_round", {y},
            {{"format", format_name(*form->format)},
             {"saturate", narrowing.saturate && size_of(form->stored) == 1},
             {"powers", ops::enum_names(narrowing.powers)[static_cast<size_t>(narrowing.powers)]}});
  // The same bytes under another type: a tensor of its own, which is a view.
  if (y == x && this->type(x).elements() == 0) y = constant(dtype(x), shape(x), {});
  if (y == x) y = add("reshape", {x}, {{"shape", shape(x)}});
  return set_element(y, to);
}

}  // namespace aotc::frontends::onnx
