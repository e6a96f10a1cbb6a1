// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/element_types.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "frontends/onnx/messages.h"

namespace aotc::frontends::onnx {

using ops::FloatFormat;

std::optional<ElementForm> form_of(int32_t element_type) {
  auto real = [](FloatFormat f) { return ElementForm{DType::kF32, ops::storage_of(f), f, f == FloatFormat::kE2m1}; };
  auto plain = [](DType t) { return ElementForm{t, t, std::nullopt}; };
  switch (element_type) {
    case kFloat: return plain(DType::kF32);
    case kUint8: return plain(DType::kU8);
    case kInt8: return plain(DType::kI8);
    case kUint16: return plain(DType::kU16);
    case kInt16: return plain(DType::kI16);
    case kInt32: return plain(DType::kI32);
    case kInt64:
    case kUint64: return plain(DType::kI64);
    case kBool: return plain(DType::kBool);
    case kUint32: return plain(DType::kU32);
    case kFloat16: return real(FloatFormat::kF16);
    case kBfloat16: return real(FloatFormat::kBf16);
    case kDouble: return real(FloatFormat::kF64);
    case kFloat8E4M3Fn: return real(FloatFormat::kE4m3fn);
    case kFloat8E4M3FnUz: return real(FloatFormat::kE4m3fnuz);
    case kFloat8E5M2: return real(FloatFormat::kE5m2);
    case kFloat8E5M2FnUz: return real(FloatFormat::kE5m2fnuz);
    case kFloat8E8M0: return real(FloatFormat::kE8m0);
    case kFloat4E2M1: return real(FloatFormat::kE2m1);
    case kUint4: return ElementForm{DType::kU8, DType::kU8, std::nullopt, true};
    case kInt4: return ElementForm{DType::kI8, DType::kI8, std::nullopt, true};
    default: return std::nullopt;
  }
}

int32_t element_of(DType type) {
  switch (type) {
    case DType::kBool: return kBool;
    case DType::kI8: return kInt8;
    case DType::kU8: return kUint8;
    case DType::kI16: return kInt16;
    case DType::kU16: return kUint16;
    case DType::kI32: return kInt32;
    case DType::kU32: return kUint32;
    case DType::kI64: return kInt64;
    case DType::kF32: return kFloat;
    case DType::kF64: return kDouble;
    default: return kUndefined;
  }
}

namespace {

// Bits of exponent and mantissa, and what the largest exponent means.
struct SmallFloat {
  int exponent, mantissa, bias;
  bool infinity;  // the largest exponent is infinity and NaN
  uint64_t nan;   // one code; 0: none
};

SmallFloat small_float(FloatFormat format) {
  switch (format) {
    case FloatFormat::kE4m3fn: return {4, 3, 7, false, 0x7f};
    case FloatFormat::kE4m3fnuz: return {4, 3, 8, false, 0x80};
    case FloatFormat::kE5m2: return {5, 2, 15, true, 0};
    case FloatFormat::kE5m2fnuz: return {5, 2, 16, false, 0x80};
    case FloatFormat::kE2m1: return {2, 1, 1, false, 0};
    case FloatFormat::kBf16: return {8, 7, 127, true, 0};
    default: return {5, 10, 15, true, 0};
  }
}

}  // namespace

float decode_float(FloatFormat format, uint64_t stored) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  if (format == FloatFormat::kF64) {
    double value = 0;
    std::memcpy(&value, &stored, sizeof value);
    return static_cast<float>(value);
  }
  if (format == FloatFormat::kE8m0) return stored == 255 ? kNaN : std::ldexp(1.0f, static_cast<int>(stored) - 127);
  SmallFloat s = small_float(format);
  uint64_t sign = uint64_t{1} << (s.exponent + s.mantissa);
  uint64_t magnitude = stored & (sign - 1);
  if (s.nan == sign ? stored == sign : s.nan != 0 && magnitude == s.nan) return kNaN;
  auto exponent = static_cast<int>(magnitude >> s.mantissa);
  auto digits = static_cast<int64_t>(magnitude & ((uint64_t{1} << s.mantissa) - 1));
  float value = 0;
  if (s.infinity && exponent == (1 << s.exponent) - 1)
    value = digits != 0 ? kNaN : std::numeric_limits<float>::infinity();
  else
    value = std::ldexp(static_cast<float>(digits + (exponent != 0 ? int64_t{1} << s.mantissa : 0)),
                       std::max(exponent, 1) - s.bias - s.mantissa);
  return (stored & sign) != 0 ? -value : value;
}

std::vector<uint8_t> to_carrier(const ElementForm& form, const uint8_t* bytes, int64_t elements) {
  auto count = static_cast<size_t>(elements);
  auto size = static_cast<size_t>(size_of(form.stored));
  if (!form.format && !form.packed) return {bytes, bytes + count * size};
  std::vector<uint8_t> out;
  out.reserve(count * static_cast<size_t>(size_of(form.carrier)));
  for (size_t i = 0; i < count; ++i) {
    uint64_t stored = 0;
    if (form.packed) stored = (bytes[i / 2] >> (i % 2 * 4)) & 15;
    else std::memcpy(&stored, bytes + i * size, size);
    if (!form.format) {
      bool negative = form.carrier == DType::kI8 && stored > 7;
      out.push_back(static_cast<uint8_t>(negative ? stored | 0xf0 : stored));
      continue;
    }
    float value = decode_float(*form.format, stored);
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    out.insert(out.end(), raw, raw + sizeof value);
  }
  return out;
}

}  // namespace aotc::frontends::onnx
