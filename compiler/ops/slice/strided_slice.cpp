// SPDX-License-Identifier: Apache-2.0
// STRIDED_SLICE's entries settled against a shape.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/slice/slice.h"

namespace aotc::ops {

namespace {

class Resolver {
 public:
  Resolver(const OpView& op, const StridedSliceSpec& spec, SliceAttrs& out, Diagnostics& diags)
      : op_(op), spec_(spec), in_(op.operand(0).shape), out_(out), diags_(diags) {}

  bool run() {
    size_t entries = spec_.begin.size();
    if (spec_.end.size() != entries || spec_.strides.size() != entries || entries > 31)
      return bad_attribute(op_, diags_,
                           fmt::format("begin, end and strides have {}, {} and {} elements", entries, spec_.end.size(),
                                       spec_.strides.size()));
    bool ellipsis_seen = false;
    for (size_t i = 0; i < entries; ++i) {
      if (has(spec_.ellipsis_mask, i)) {
        if (ellipsis_seen) return bad_attribute(op_, diags_, "there are two ellipses");
        ellipsis_seen = true;
        take_ellipsis(i);
      } else if (has(spec_.new_axis_mask, i)) {
        out_.shape.push_back(1);
      } else if (!take_entry(i)) {
        return false;
      }
    }
    while (dim_ < in_.size()) take_whole();
    return true;
  }

 private:
  static bool has(int32_t mask, size_t entry) { return ((mask >> entry) & 1) != 0; }

  void take(int64_t begin, int64_t stride, int64_t count) {
    out_.begin.push_back(begin);
    out_.strides.push_back(stride);
    out_.counts.push_back(count);
    ++dim_;
  }
  void take_whole() {
    out_.shape.push_back(in_[dim_]);
    take(0, 1, in_[dim_]);
  }

  // Stands for the dimensions that the entries behind it leave over.
  void take_ellipsis(size_t entry) {
    size_t behind = 0;
    for (size_t i = entry + 1; i < spec_.begin.size(); ++i)
      if (!has(spec_.new_axis_mask, i)) ++behind;
    while (dim_ + behind < in_.size()) take_whole();
  }

  bool take_entry(size_t i) {
    if (dim_ >= in_.size())
      return bad_attribute(op_, diags_, fmt::format("more entries than the {} dimensions", in_.size()));
    int64_t n = in_[dim_], begin = spec_.begin[i], end = spec_.end[i], stride = spec_.strides[i];
    // Wide enough for any index, and no sum below overflows.
    auto huge = [](int64_t v) { return v < INT32_MIN || v > INT32_MAX; };
    if (huge(begin) || huge(end) || huge(stride) || stride == 0)
      return bad_attribute(op_, diags_,
                           fmt::format("entry {} goes from {} to {} in steps of {}", i, begin, end, stride));
    return has(spec_.shrink_axis_mask, i) ? take_index(i, n) : take_range(i, n);
  }

  bool take_index(size_t i, int64_t n) {
    int64_t index = spec_.begin[i] < 0 ? spec_.begin[i] + n : spec_.begin[i];
    if (has(spec_.begin_mask, i) || spec_.strides[i] < 0 || index < 0 || index >= n)
      return bad_attribute(op_, diags_,
                           fmt::format("entry {} takes index {} of a dimension of {}{}", i, spec_.begin[i], n,
                                       spec_.strides[i] < 0       ? " with a negative stride"
                                       : has(spec_.begin_mask, i) ? " with an open begin"
                                                                  : ""));
    take(index, 1, 1);
    return true;
  }

  bool take_range(size_t i, int64_t n) {
    int64_t stride = spec_.strides[i];
    // What a position may be: one past the last element in the direction of the stride.
    int64_t least = stride > 0 ? 0 : -1, most = stride > 0 ? n : n - 1;
    auto settle = [&](int64_t v) { return std::clamp(v < 0 ? v + n : v, least, most); };
    int64_t begin = stride > 0 ? least : most, end = stride > 0 ? most : least;
    if (!has(spec_.begin_mask, i)) begin = settle(spec_.begin[i]);
    if (spec_.end_is_offset) {
      // LiteRT does not look at the end mask here, nor bound the end.
      end = begin + spec_.end[i];
      if (has(spec_.end_mask, i) || end < least || end > most)
        return bad_attribute(op_, diags_,
                             fmt::format("entry {} ends {} behind {} in a dimension of {}", i, spec_.end[i], begin, n));
    } else if (!has(spec_.end_mask, i)) {
      end = settle(spec_.end[i]);
    }
    int64_t span = stride > 0 ? end - begin : begin - end, step = std::abs(stride);
    int64_t count = span <= 0 ? 0 : (span + step - 1) / step;
    if (count == 0) return bad_attribute(op_, diags_, fmt::format("entry {} takes nothing of a dimension of {}", i, n));
    out_.shape.push_back(count);
    take(begin, count == 1 ? 1 : stride, count);
    return true;
  }

  const OpView& op_;
  const StridedSliceSpec& spec_;
  const graph::Shape& in_;
  SliceAttrs& out_;
  Diagnostics& diags_;
  size_t dim_ = 0;
};

}  // namespace

bool resolve_strided_slice(const OpView& op, const StridedSliceSpec& spec, SliceAttrs& out, Diagnostics& diags) {
  return Resolver(op, spec, out, diags).run();
}

}  // namespace aotc::ops
