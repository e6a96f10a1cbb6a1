// SPDX-License-Identifier: Apache-2.0
#include "ops/common/window.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

WindowAxis::Range WindowAxis::inside() const {
  Range r{0, out - 1};
  while (!r.empty() && start(r.low) < 0) ++r.low;
  while (!r.empty() && start(r.high) + effective_kernel() > in) --r.high;
  return r;
}

namespace {
constexpr int64_t kLargest = int64_t{1} << 24;
}

bool has_padding(const WindowFields& fields) {
  return fields.pad_top != 0 || fields.pad_bottom != 0 || fields.pad_left != 0 || fields.pad_right != 0;
}

int64_t window_output(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad_before,
                      int64_t pad_after) {
  for (int64_t v : {in, kernel, stride, dilation})
    if (v < 1 || v > kLargest) return -1;
  for (int64_t v : {pad_before, pad_after})
    if (v < 0 || v > kLargest) return -1;
  int64_t span = in + pad_before + pad_after - ((kernel - 1) * dilation + 1);
  return span < 0 ? -1 : span / stride + 1;
}

void same_pads(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int32_t& before, int32_t& after) {
  before = after = 0;
  for (int64_t v : {in, kernel, stride, dilation})
    if (v < 1 || v > kLargest) return;  // infer_window reports it
  int64_t out = (in + stride - 1) / stride;
  int64_t total = std::max<int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
  total = std::min(total, kLargest);
  before = static_cast<int32_t>(total / 2);
  after = static_cast<int32_t>(total - total / 2);
}

bool infer_window(const OpView& op, const WindowFields& f, int64_t kernel_h, int64_t kernel_w, Window& out,
                  Diagnostics& diags) {
  if (!check_rank(op, 0, 4, 4, diags)) return false;
  if (f.stride_h < 1 || f.stride_w < 1 || f.dilation_h < 1 || f.dilation_w < 1)
    return bad_attribute(op, diags,
                         fmt::format("strides {}x{} and dilations {}x{} must be at least 1", f.stride_h, f.stride_w,
                                     f.dilation_h, f.dilation_w));
  const graph::Shape& in = op.operand(0).shape;
  out.batch = in[0];
  out.y = {in[1], 0, kernel_h, f.stride_h, f.dilation_h, f.pad_top, f.pad_bottom};
  out.x = {in[2], 0, kernel_w, f.stride_w, f.dilation_w, f.pad_left, f.pad_right};
  out.y.out = window_output(in[1], kernel_h, f.stride_h, f.dilation_h, f.pad_top, f.pad_bottom);
  out.x.out = window_output(in[2], kernel_w, f.stride_w, f.dilation_w, f.pad_left, f.pad_right);
  if (out.y.out < 1 || out.x.out < 1)
    return bad_shape(op, diags,
                     fmt::format("a {}x{} window does not fit an input of {} with pads {},{},{},{}", kernel_h, kernel_w,
                                 graph::to_string(in), f.pad_top, f.pad_bottom, f.pad_left, f.pad_right));
  return true;
}

Window window_of(const OpView& op, const WindowFields& fields, int64_t kernel_h, int64_t kernel_w) {
  Window out;
  Diagnostics unused;
  infer_window(op, fields, kernel_h, kernel_w, out, unused);
  return out;
}

tir::Ex lies_inside(const tir::Ex& begin, int64_t size, int64_t in) {
  return size > in ? tir::Ex(0) : begin >= 0 && begin <= in - size;
}

RowFlow rows_of_window(const WindowAxis& y, std::vector<uint8_t> fill) {
  RowFlow flow{y.effective_kernel(), y.stride, y.pad_before, 0, std::move(fill)};
  flow.after = std::max<int64_t>(0, y.start(y.out - 1) + flow.rows - y.in);
  return flow;
}

std::vector<uint8_t> zero_element(const graph::TensorType& type) {
  std::vector<uint8_t> bytes(static_cast<size_t>(size_of(type.dtype)), 0);
  if (is_float(type.dtype)) return bytes;
  const auto zero = static_cast<uint32_t>(type.zero_point());
  for (size_t b = 0; b < bytes.size() && b < sizeof zero; ++b) bytes[b] = static_cast<uint8_t>(zero >> (8 * b));
  return bytes;
}

}  // namespace aotc::ops
