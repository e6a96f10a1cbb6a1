// SPDX-License-Identifier: Apache-2.0
#include "ops/common/lut.h"

#include <algorithm>
#include <optional>

#include "ops/common/elementwise.h"

namespace aotc::ops {

using tir::Ex;

namespace {

// x + offset, clamped.
struct OffsetClamp {
  int64_t offset, min, max;
};

// `values[i]` is the function of least + i.
std::optional<OffsetClamp> as_offset_clamp(const std::vector<int64_t>& values, int64_t least) {
  auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  OffsetClamp form{0, *lo, *hi};
  auto at = [&](size_t i) { return least + static_cast<int64_t>(i); };
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] > *lo && values[i] < *hi) form.offset = values[i] - at(i);
  for (size_t i = 0; i < values.size(); ++i)
    if (std::clamp(at(i) + form.offset, form.min, form.max) != values[i]) return std::nullopt;
  return form;
}

// Elements in a step of the loop: with one, each look-up needs a branch. Short loops are not worth the code.
int64_t elements_in_step(int64_t elements) {
  constexpr int64_t kLeast = 64;
  for (int64_t count : {8, 4, 2})
    if (elements >= kLeast && elements % count == 0) return count;
  return 1;
}

}  // namespace

Lowered lower_byte_function(const OpView& op, const std::string& name, const ByteFunction& function, size_t operand) {
  IntRange range = int_range(op.operand(operand).dtype);
  std::vector<int64_t> values;
  for (int64_t x = range.min; x <= range.max; ++x) values.push_back(function(x));
  std::optional<OffsetClamp> form = as_offset_clamp(values, range.min);

  LoweringBuilder f(op, name);
  tir::BufferPtr in = f.operand(operand);
  tir::BufferPtr table;
  DType type = op.result().dtype;
  if (!form) {
    // Ordered by the stored byte, so that the index is an unsigned load.
    std::rotate(values.begin(), values.begin() - range.min, values.end());
    std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(size_of(type)));
    narrow(type, values, bytes);
    table = f.constant_bytes("table", type, std::move(bytes), size_of(type));
  }
  tir::BufferPtr out = f.result();
  const int64_t elements = op.result().elements(), step = form ? 1 : elements_in_step(elements);
  auto element = [&](const Ex& i) {
    Ex x = load(in, i);
    if (form) {
      ClampI32 clamp{static_cast<int32_t>(form->min), static_cast<int32_t>(form->max)};
      f.store(out, i, emit_bound(x + form->offset, clamp, range.min + form->offset, range.max + form->offset));
    } else {
      Ex byte = in->dtype == DType::kI8 ? cast(DType::kI32, cast_wrapping(DType::kU8, x)) : x;
      f.store(out, i, load(table, byte));
    }
  };
  f.loop(
      "i", 0, elements,
      [&](const Ex& i) {
        for (int64_t k = 0; k < step; ++k) element(i + k);
      },
      step);
  if (in->dtype == out->dtype) f.publish_in_place(static_cast<int>(operand));
  return f.finish(form ? "flat loop" : "table of 256");
}

}  // namespace aotc::ops
