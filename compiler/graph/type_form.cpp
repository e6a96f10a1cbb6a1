// SPDX-License-Identifier: Apache-2.0
#include "graph/type_form.h"

#include <bit>
#include <cmath>

#include "support/text_value.h"

namespace aotc::graph {

namespace {

// Constants of up to this many elements are printed as values, longer ones as hexadecimal bytes.
constexpr size_t kMaxListElements = 16;
constexpr size_t kHexBytesPerLine = 40;

// One element as text; empty if the list cannot express its bytes.
std::string print_element(DType type, const ConstantView& constant, int64_t i) {
  const auto width = static_cast<size_t>(size_of(type));
  uint64_t bits = 0;
  for (size_t b = 0; b < width; ++b) bits |= uint64_t{constant.bytes[static_cast<size_t>(i) * width + b]} << (8 * b);
  const auto sign_extended = static_cast<int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width);
  switch (type) {
    case DType::kBool: return bits > 1 ? "" : text_value::print(bits == 1);
    case DType::kF32: return text_value::print(constant.get<float>(i));
    case DType::kF64: {
      const auto value = constant.get<double>(i);
      char buffer[40];
      return std::isnan(value) ? "" : std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
    default: return std::to_string(int_range(type).min < 0 ? sign_extended : static_cast<int64_t>(bits));
  }
}

// Appends one element of a list; false if the text does not fit the type.
bool append_element(std::vector<uint8_t>& bytes, DType type, std::string_view text) {
  float single = 0;
  double real = 0;
  bool truth = false;
  int64_t value = 0;
  switch (type) {
    case DType::kF32:
      if (!text_value::parse(text, single)) return false;
      value = std::bit_cast<int32_t>(single);
      break;
    case DType::kF64:
      if (!text_value::parse_number(text, real)) return false;
      value = std::bit_cast<int64_t>(real);
      break;
    case DType::kBool:
      if (!text_value::parse(text, truth)) return false;
      value = truth ? 1 : 0;
      break;
    default:
      const IntRange range = int_range(type);
      if (!text_value::parse(text, value) || value < range.min || value > range.max) return false;
  }
  for (int i = 0; i < size_of(type); ++i)
    bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
  return true;
}

// "[1, 2, 3]"; empty if the constant is too long or has bytes that a list cannot express.
std::string print_list(DType type, const ConstantView& constant) {
  const auto width = static_cast<size_t>(size_of(type));
  const size_t count = constant.bytes.size() / width;
  if (constant.bytes.size() % width != 0 || count > kMaxListElements) return "";
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) {
    const std::string element = print_element(type, constant, static_cast<int64_t>(i));
    if (element.empty()) return "";
    out += (i > 0 ? ", " : "") + element;
  }
  return out + "]";
}

std::string print_hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "hex {";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % kHexBytesPerLine == 0) out += "\n    ";
    out += {kDigits[bytes[i] >> 4], kDigits[bytes[i] & 15]};
  }
  return out + "\n  }";
}

// Pairs of hexadecimal digits, with white space anywhere.
std::vector<uint8_t> read_hex(TextForm& f) {
  f.text("{");
  const TextPlace at = f.place();
  const auto digits = f.until('}');
  std::vector<uint8_t> bytes;
  int high = -1;
  bool good = true;
  for (char c : digits.value_or("")) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    const int digit = text_value::hex_digit(c);
    good = good && digit >= 0;
    if (high >= 0) bytes.push_back(static_cast<uint8_t>(high * 16 + digit));
    high = high >= 0 ? -1 : digit;
  }
  if (!digits) f.fail_at(at, "expected '}' after the constant's bytes");
  if (!good || high >= 0) f.fail_at(at, "expected pairs of hexadecimal digits as the constant's bytes");
  return bytes;
}

// (scale, zero_point) or (axis N, [scales]) or (axis N, [scales], [zero points])
void form(TextForm& f, Quantization& q) {
  f.text(" quant(");
  if (!f.option("axis ", q.scale.size() != 1 || q.zero_point.size() != 1 || q.axis != 0)) {
    q.scale.resize(1);
    q.zero_point.resize(1);
    f.number(q.scale[0]);
    f.text(", ");
    f.number("a zero point", q.zero_point[0]);
  } else {
    f.number("an axis", q.axis);
    f.text(", [");
    f.list(q.scale, "]", [&](float& scale) { f.number(scale); });
    // Zero points are all 0 in nearly every per-channel tensor.
    const std::vector<int64_t> zeros(q.scale.size(), 0);
    if (f.option(", ", q.zero_point != zeros)) {
      std::string list = text_value::print(q.zero_point);
      const TextPlace at = f.place();
      f.value("a list of zero points such as [0, 0]", list);
      if (!text_value::parse(list, q.zero_point)) f.fail_at(at, "expected a list of zero points such as [0, 0]");
    } else {
      q.zero_point = zeros;
    }
  }
  f.text(")");
}

}  // namespace

void form(TextForm& f, Shape& shape) {
  f.text("[");
  if (!f.reading()) return f.write(fmt::format("{}]", fmt::join(shape, "x")));
  const TextPlace at = f.place();
  const auto text = f.until(']');
  if (!text) return f.fail_at(at, "expected ']' after the shape");
  if (!text_value::parse_numbers(*text, 'x', shape))
    f.fail_at(at, fmt::format("'{}' is not a shape such as 1x8", TextForm::shown(*text)));
}

void form(TextForm& f, TensorType& type) {
  std::string word(name_of(type.dtype));
  const TextPlace at = f.place();
  f.name("a type such as i8[1x8]", word);
  if (!text_value::parse(word, type.dtype))
    return f.fail_at(at, fmt::format("'{}' is not an element type", TextForm::shown(word)));
  form(f, type.shape);
  if (f.reading() ? f.is("quant") : type.quantization != Quantization{}) form(f, type.quantization);
}

void form(TextForm& f, DType type, ConstantView& constant, int64_t limit) {
  f.text(" = ");
  if (!f.reading()) return f.write(print_constant(type, constant, limit));
  if (f.is("hash"))
    return f.fail_at(f.place(), "the constant's bytes were omitted from this text",
                     "print the graph without a limit on constants");
  constant = own_bytes(f.accept("hex") ? read_hex(f) : read_list(f, type));
}

std::vector<uint8_t> read_list(TextForm& f, DType type) {
  std::vector<uint8_t> bytes;
  if (!f.accept("[")) f.fail("expected a list of values or 'hex {'");
  for (bool first = true; f.more("]"); first = false) {
    if (!first) f.text(",");
    const TextPlace at = f.place();
    const std::string_view text = f.scalar();
    if (text.empty()) f.fail("expected a value or ']'");
    if (!append_element(bytes, type, text))
      f.fail_at(at, fmt::format("'{}' is not a value of type {}", TextForm::shown(text), name_of(type)));
  }
  return bytes;
}

std::string print_constant(DType type, const ConstantView& constant, int64_t limit) {
  if (static_cast<int64_t>(constant.bytes.size()) > limit) {
    const std::string_view bytes(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
    return fmt::format("hash {:016x} of {} bytes", stable_hash(bytes), constant.bytes.size());
  }
  const std::string list = print_list(type, constant);
  return list.empty() ? print_hex(constant.bytes) : list;
}

std::string to_string(const TensorType& type) {
  TextForm f;
  TensorType copy = type;
  form(f, copy);
  return f.written();
}

}  // namespace aotc::graph
