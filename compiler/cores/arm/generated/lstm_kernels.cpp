// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/lstm_kernels.h"

#include <algorithm>

#include "ops/recurrent/fixed_point.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

namespace fixed_point = ops::fixed_point;

Ex saturated16(const Ex& v) { return clamp(v, -32768, 32767); }

template <typename F>
tir::KernelPtr activation(const std::string& family, std::vector<std::pair<std::string, int64_t>> parameters,
                          F function) {
  FunctionBuilder f(family);
  BufferPtr values = f.output("values", DType::kI16, 0);
  Ex count = f.scalar("count");
  auto let = [&](const char* name, const Ex& v) { return f.let(name, v); };
  f.loop("i", 0, count, [&](const Ex& i) { f.store(values, i, function(f.let("value", load(values, i)), let)); });
  return f.finish_kernel(family, std::move(parameters));
}

}  // namespace

Ex emit_scaling(FunctionBuilder& f, const Ex& x, const BufferPtr& table, const ScalingWords& words) {
  using tir::i64;
  const Ex shifted = words.left >= 0 ? f.let("shifted", shl_wrapping(x, load(table, words.left))) : x;
  const Ex product = cast(DType::kI64, shifted) * cast(DType::kI64, load(table, words.multiplier));
  const Ex high = f.let("high", cast(DType::kI32, (product + i64(int64_t{1} << 30)) >> i64(31)));
  if (words.right < 0) return high;
  const Ex by = f.let("by", words.negative ? Ex(0) - load(table, words.right) : load(table, words.right));
  const Ex half = cast(DType::kI64, shl_wrapping(1, by - 1));
  const Ex sum = cast(DType::kI64, high) + half - cast(DType::kI64, high < 0);
  return f.let("scaled", cast(DType::kI32, sum >> cast(DType::kI64, by)));
}

std::vector<int32_t> LstmCellTable::words() const {
  std::vector<int32_t> out(kWords);
  out[kStride] = static_cast<int32_t>(2 * stride);
  out[kCells] = static_cast<int32_t>(cells);
  out[kMultiplier] = hidden.multiplier;
  out[kRight] = std::min(hidden.shift, 0);
  out[kZeroPoint] = zero_point;
  const int right = -out[kRight];
  const int64_t addend = (int64_t{zero_point} << right) + (right > 0 ? int64_t{1} << (right - 1) : 0);
  out[kPasses] = static_cast<int32_t>((cells + 7) / 8);
  out[kAddend] = static_cast<int32_t>(addend);
  return out;
}

tir::KernelPtr lstm_sigmoid_kernel(const std::string& set) {
  return activation(set + "_lstm_sigmoid", {},
                    [](const Ex& v, const auto& let) { return fixed_point::sigmoid(v, 3, let); });
}

tir::KernelPtr lstm_tanh_kernel(const std::string& set, int integer_bits) {
  return activation(set + "_lstm_tanh", {{"integer_bits", integer_bits}},
                    [&](const Ex& v, const auto& let) { return fixed_point::tanh(v, integer_bits, let); });
}

tir::KernelPtr lstm_cell_kernel(const std::string& set, int exponent, int32_t clip, bool part) {
  const std::string family = set + "_lstm_cell";
  FunctionBuilder f(family);
  BufferPtr gates = f.output("gates", DType::kI16, 0);
  BufferPtr cell = f.output("cell", DType::kI16, 0);
  BufferPtr table = f.constant("table", DType::kI32, 0);
  Ex stride = f.let("stride", load(table, LstmCellTable::kStride) >> 1);
  f.loop("c", 0, load(table, LstmCellTable::kCells), [&](const Ex& c) {
    Ex old = f.let("old", load(gates, stride + c) * load(cell, c));
    Ex fresh = f.let("fresh", load(gates, c) * load(gates, stride * 3 + c));
    Ex sum = f.let(
        "sum", saturated16(fixed_point::rounding_shift(old, 15) + fixed_point::rounding_shift(fresh, 30 + exponent)));
    if (clip > 0) sum = f.let("clipped", clamp(sum, -clip, clip));
    f.store(cell, c, sum);
    f.store(gates, c, sum);
  });
  return f.finish_kernel(family, {{"exponent", exponent}, {"clip", clip}, {"part", part ? 1 : 0}});
}

tir::KernelPtr lstm_hidden_kernel(const std::string& set, bool right, bool part) {
  const std::string family = set + "_lstm_hidden";
  FunctionBuilder f(family);
  BufferPtr gates = f.input("gates", DType::kI16, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr table = f.constant("table", DType::kI32, 0);
  Ex stride = f.let("stride", load(table, LstmCellTable::kStride) >> 1);
  f.loop("c", 0, load(table, LstmCellTable::kCells), [&](const Ex& c) {
    Ex product = f.let("product", load(gates, stride * 2 + c) * load(gates, c));
    Ex scaled = emit_scaling(f, product, table, {LstmCellTable::kMultiplier, -1, right ? LstmCellTable::kRight : -1});
    f.store(out, c, clamp(scaled + load(table, LstmCellTable::kZeroPoint), -128, 127));
  });
  return f.finish_kernel(family, {{"right", right ? 1 : 0}, {"part", part ? 1 : 0}});
}

}  // namespace aotc::cores::arm
