// SPDX-License-Identifier: Apache-2.0
#include "graph/text_reader.h"

namespace aotc::graph {

Location TextReader::location_of(TextPosition at) const {
  Location where;
  where.file = file_;
  where.line = at.line;
  where.column = at.column;
  return where;
}

Failure TextReader::fail_at(TextPosition at, std::string message, std::string help) {
  Diagnostic& error = diags_.error(location_of(at), slug_, std::move(message));
  if (!help.empty()) error.help(std::move(help));
  return kFailure;
}

Failure TextReader::fail(const std::string& message) {
  TextPosition at = cursor_.position();
  return fail_at(at, message + ", found " + cursor_.found());
}

Status TextReader::expect(char punctuation) {
  if (cursor_.accept(punctuation)) return success();
  return fail(fmt::format("expected '{}'", punctuation));
}

std::string TextReader::shown(std::string_view text) { return escape_for_display(std::string(text), 40); }

Result<std::string> TextReader::parse_string(const char* what) {
  TextPosition at = cursor_.position();
  std::string value;
  std::string_view text = cursor_.quoted();
  if (text.empty()) return fail(fmt::format("expected {} as a quoted string on one line", what));
  if (!attribute_text::parse(text, value))
    return fail_at(at, "the string has an escape other than \\\", \\\\ and \\xNN");
  return value;
}

Status TextReader::parse_type(TensorType& type) {
  TextPosition at = cursor_.position();
  std::string_view word = cursor_.word();
  auto dtype = dtype_from_name(word);
  if (word.empty()) return fail("expected a type such as i8[1x8]");
  if (!dtype) return fail_at(at, fmt::format("'{}' is not an element type", shown(word)));
  type.dtype = *dtype;
  if (!parse_shape(type.shape)) return kFailure;
  return cursor_.accept_word("quant") ? parse_quantization(type.quantization) : success();
}

Status TextReader::parse_shape(Shape& shape) {
  if (!expect('[')) return kFailure;
  TextPosition at = cursor_.position();
  auto text = cursor_.until(']');
  if (!text) return fail_at(at, "expected ']' after the shape");
  std::string_view dims = *text;
  while (!dims.empty()) {
    size_t x = dims.find('x');
    int64_t dim = 0;
    if (!parse_number(dims.substr(0, x), dim) || x == dims.size() - 1)
      return fail_at(at, fmt::format("'{}' is not a shape such as 1x8", shown(*text)));
    shape.push_back(dim);
    if (x == std::string_view::npos) break;
    dims = dims.substr(x + 1);
  }
  return success();
}

// (scale, zero_point) or (axis N, [scales]) or (axis N, [scales], [zero points])
Status TextReader::parse_quantization(Quantization& q) {
  if (!expect('(')) return kFailure;
  if (!cursor_.accept_word("axis")) {
    q.scale.resize(1);
    q.zero_point.resize(1);
    if (!parse_float(q.scale[0]) || !expect(',')) return kFailure;
    auto zero_point = parse_int<int64_t>("a zero point");
    if (!zero_point) return kFailure;
    q.zero_point[0] = *zero_point;
    return expect(')');
  }
  auto axis = parse_int<int>("an axis");
  if (!axis || !expect(',') || !expect('[')) return kFailure;
  q.axis = *axis;
  while (!cursor_.accept(']')) {
    if (!q.scale.empty() && !expect(',')) return kFailure;
    if (!parse_float(q.scale.emplace_back())) return kFailure;
  }
  if (!cursor_.accept(',')) {
    q.zero_point.assign(q.scale.size(), 0);
    return expect(')');
  }
  TextPosition at = cursor_.position();
  if (!attribute_text::parse(cursor_.value(), q.zero_point))
    return fail_at(at, "expected a list of zero points such as [0, 0]");
  return expect(')');
}

Status TextReader::parse_float(float& value) {
  TextPosition at = cursor_.position();
  std::string_view text = cursor_.scalar();
  if (text.empty()) return fail("expected a number");
  if (attribute_text::parse(text, value)) return success();
  return fail_at(at, fmt::format("expected a number, found '{}'", shown(text)));
}

Status TextReader::parse_value(DType type, std::vector<uint8_t>& bytes) {
  if (!expect('=')) return kFailure;
  TextPosition at = cursor_.position();
  if (cursor_.accept_word("hash"))
    return fail_at(at, "the constant's bytes were omitted from this text",
                   "print the graph without a limit on constants");
  return cursor_.accept_word("hex") ? parse_hex(bytes) : parse_list(bytes, type);
}

Status TextReader::parse_hex(std::vector<uint8_t>& bytes) {
  if (!expect('{')) return kFailure;
  TextPosition at = cursor_.position();
  auto digits = cursor_.until('}');
  if (!digits) return fail_at(at, "expected '}' after the constant's bytes");
  if (!append_hex(bytes, *digits)) return fail_at(at, "expected pairs of hexadecimal digits as the constant's bytes");
  return success();
}

Status TextReader::parse_list(std::vector<uint8_t>& bytes, DType type) {
  if (!cursor_.accept('[')) return fail("expected a list of values or 'hex {'");
  for (bool first = true; !cursor_.accept(']'); first = false) {
    if (!first && !expect(',')) return kFailure;
    TextPosition at = cursor_.position();
    std::string_view text = cursor_.scalar();
    if (text.empty()) return fail("expected a value or ']'");
    if (!append_element(bytes, type, text))
      return fail_at(at, fmt::format("'{}' is not a value of type {}", shown(text), name_of(type)));
  }
  return success();
}

}  // namespace aotc::graph
