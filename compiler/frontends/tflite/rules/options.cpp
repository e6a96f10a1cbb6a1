// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/rules/options.h"

#include <fmt/format.h>

#include "frontends/tflite/rules.h"
#include "ops/common/checks.h"

namespace aotc::frontends::tflite {

bool activation_of(int code, Activation& out) {
  if (code < 0 || code > 3) return false;
  constexpr Activation kByCode[] = {Activation::kNone, Activation::kRelu, Activation::kReluN1To1, Activation::kRelu6};
  out = kByCode[code];
  return true;
}

bool fused_activation(const OpView& op, int code, Activation& out, Diagnostics& diags) {
  return activation_of(code, out) || bad_attribute(op, diags, "the fused activation is not supported");
}

bool check_padding(const OpView& op, int padding, Diagnostics& diags) {
  if (padding == 0 || padding == 1) return true;
  return bad_attribute(op, diags, fmt::format("padding is {}, but must be SAME (0) or VALID (1)", padding));
}

void set_pads(int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int32_t& before,
              int32_t& after) {
  before = after = 0;
  if (padding == 0) same_pads(in, kernel, stride, dilation, before, after);
}

bool import_window(const OpView& op, int padding, int activation, int64_t kernel_h, int64_t kernel_w,
                   WindowFields& fields, Diagnostics& diags) {
  if (!check_padding(op, padding, diags)) return false;
  const graph::Shape& in = op.operand(0).shape;
  set_pads(padding, in[1], kernel_h, fields.stride_h, fields.dilation_h, fields.pad_top, fields.pad_bottom);
  set_pads(padding, in[2], kernel_w, fields.stride_w, fields.dilation_w, fields.pad_left, fields.pad_right);
  return fused_activation(op, activation, fields.activation, diags);
}

}  // namespace aotc::frontends::tflite
