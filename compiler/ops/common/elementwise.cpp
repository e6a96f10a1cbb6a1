// SPDX-License-Identifier: Apache-2.0
#include "ops/common/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

using tir::Ex;

namespace {

template <typename T>
std::vector<int64_t> widen_as(std::span<const uint8_t> bytes) {
  std::vector<int64_t> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<int64_t>(value);
  }
  return out;
}

template <typename T>
void narrow_as(const std::vector<int64_t>& values, std::span<uint8_t> bytes) {
  for (size_t i = 0; i < values.size(); ++i) {
    T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

std::vector<int64_t> widen(DType type, std::span<const uint8_t> bytes) {
  switch (type) {
    case DType::kI4:
    case DType::kI8: return widen_as<int8_t>(bytes);
    case DType::kBool:
    case DType::kU8: return widen_as<uint8_t>(bytes);
    case DType::kI16: return widen_as<int16_t>(bytes);
    case DType::kU16: return widen_as<uint16_t>(bytes);
    case DType::kI32: return widen_as<int32_t>(bytes);
    case DType::kU32: return widen_as<uint32_t>(bytes);
    case DType::kI64: return widen_as<int64_t>(bytes);
    case DType::kF32:
    case DType::kF64: break;
  }
  return {};
}

void narrow(DType type, const std::vector<int64_t>& values, std::span<uint8_t> bytes) {
  switch (type) {
    case DType::kBool:
    case DType::kI4:
    case DType::kI8:
    case DType::kU8: return narrow_as<uint8_t>(values, bytes);
    case DType::kI16:
    case DType::kU16: return narrow_as<uint16_t>(values, bytes);
    case DType::kI32:
    case DType::kU32: return narrow_as<uint32_t>(values, bytes);
    case DType::kI64: return narrow_as<int64_t>(values, bytes);
    case DType::kF32:
    case DType::kF64: break;
  }
}

Ex emit_bound(const Ex& v, ClampI32 range, int64_t least, int64_t most) {
  Ex out = v;
  if (least < range.min) out = max(out, range.min);
  if (most > range.max) out = min(out, range.max);
  return out;
}

bool check_multiplier(const OpView& op, double real, int64_t largest, Diagnostics& diags) {
  if (real >= 0.0 && std::isfinite(real)) {
    int shift = std::max(quantize_multiplier(real).shift, 0);
    if (largest << shift < int64_t{1} << 31) return true;
  }
  diags
      .error(op.where(), "op-quantization",
             fmt::format("the scales of {} make a multiplier of {:g}, which overflows the "
                         "reference's 32-bit arithmetic",
                         op.op.name(), real))
      .help("re-quantise the model; a scale this far from the others is a calibration mistake");
  return false;
}

Lowered lower_unary(const OpView& op, const std::string& name,
                    const std::function<Ex(tir::FunctionBuilder&, const Ex&)>& element) {
  LoweringBuilder f(op, name);
  tir::BufferPtr in = f.operand(0);
  tir::BufferPtr out = f.result();
  f.loop("i", 0, op.result().elements(), [&](Ex i) {
    Ex x = f.let("x", load(in, i));
    f.store(out, i, element(f, x));
  });
  if (in->dtype == out->dtype) f.publish_in_place(0);
  return f.finish("flat loop");
}

void evaluate_unary_int(const OpView& op, const EvalData& data, const std::function<int64_t(int64_t)>& element) {
  std::vector<int64_t> values = widen(op.operand(0).dtype, data.operands[0]);
  for (int64_t& v : values) v = element(v);
  narrow(op.result().dtype, values, data.results[0]);
}

}  // namespace aotc::ops
