// SPDX-License-Identifier: Apache-2.0
// Dimensions of results as expressions: "(x[1] - width) / step + 1".
#include <cctype>

#include <fmt/format.h>

#include "ops/external/given.h"

namespace aotc::ops {

namespace {

constexpr int kDeepest = 50;

class DimensionParser {
 public:
  DimensionParser(std::string_view text, const ShapeNames& names, std::string& problem)
      : text_(text), names_(names), problem_(problem) {}

  std::optional<int64_t> all() {
    auto value = sum();
    if (value && skip_blanks() < text_.size())
      return fail(fmt::format("'{}' is not expected at column {}", text_.substr(at_, 1), at_ + 1));
    return value;
  }

 private:
  std::nullopt_t fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
    return std::nullopt;
  }

  size_t skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_;
  }

  bool take(char c) {
    if (skip_blanks() >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<int64_t> sum() {
    auto left = product();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) return left;
      auto right = product();
      if (!right) return right;
      int64_t out = 0;
      if (plus ? __builtin_add_overflow(*left, *right, &out) : __builtin_sub_overflow(*left, *right, &out))
        return fail("it is too large");
      left = out;
    }
    return left;
  }

  std::optional<int64_t> product() {
    auto left = factor();
    while (left) {
      const bool times = take('*');
      if (!times && !take('/')) return left;
      auto right = factor();
      if (!right) return right;
      int64_t out = 0;
      if (!times && (*right == 0 || (*right == -1 && *left == INT64_MIN)))
        return fail(*right == 0 ? "it divides by zero" : "it is too large");
      if (times && __builtin_mul_overflow(*left, *right, &out)) return fail("it is too large");
      left = times ? out : *left / *right;
    }
    return left;
  }

  std::optional<int64_t> factor() {
    if (++depth_ > kDeepest) return fail("it is nested too deeply");
    auto value = factor_within();
    --depth_;
    return value;
  }

  std::optional<int64_t> factor_within() {
    if (take('(')) {
      auto value = sum();
      if (value && !take(')')) return fail("a ')' is missing");
      return value;
    }
    if (take('-')) {
      auto value = factor();
      if (value && *value == INT64_MIN) return fail("it is too large");
      return value ? std::optional(-*value) : value;
    }
    skip_blanks();
    const size_t begin = at_;
    auto inside = [&](unsigned char c) { return std::isalnum(c) || c == '_'; };
    while (at_ < text_.size() && inside(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty())
      return fail(begin < text_.size()
                      ? fmt::format("'{}' is not expected at column {}", text_.substr(begin, 1), begin + 1)
                      : std::string("it ends too early"));
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return number(word);
    return take('[') ? dimension(word) : attribute(word);
  }

  std::optional<int64_t> number(std::string_view word) {
    int64_t value = 0;
    for (char c : word) {
      if (!std::isdigit(static_cast<unsigned char>(c))) return fail(fmt::format("'{}' is no number", word));
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
        return fail("it is too large");
    }
    return value;
  }

  std::optional<int64_t> dimension(std::string_view name) {
    auto index = sum();
    if (!index) return index;
    if (!take(']')) return fail("a ']' is missing");
    const graph::Shape* shape = names_.operand(name);
    if (shape == nullptr) return fail(fmt::format("there is no operand '{}'", name));
    const auto rank = static_cast<int64_t>(shape->size());
    if (*index < -rank || *index >= rank)
      return fail(fmt::format("'{}' has {} dimensions, there is no {}[{}]", name, rank, name, *index));
    return (*shape)[static_cast<size_t>(*index < 0 ? *index + rank : *index)];
  }

  std::optional<int64_t> attribute(std::string_view name) {
    if (names_.operand(name) != nullptr)
      return fail(fmt::format("'{}' is an operand: name a dimension, {}[0]", name, name));
    auto value = names_.attribute(name);
    return value ? value : fail(fmt::format("there is no attribute '{}' that is a whole number", name));
  }

  std::string_view text_;
  const ShapeNames& names_;
  std::string& problem_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<int64_t> dimension_of(std::string_view expression, const ShapeNames& names, std::string& problem) {
  return DimensionParser(expression, names, problem).all();
}

}  // namespace aotc::ops
