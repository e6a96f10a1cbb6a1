// SPDX-License-Identifier: Apache-2.0
#include "support/text_form.h"

#include <algorithm>

#include "support/text_value.h"

namespace aotc {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

template <typename Predicate>
size_t prefix_length(std::string_view text, Predicate in) {
  size_t n = 0;
  while (n < text.size() && in(text[n])) ++n;
  return n;
}

// Length of the quoted string at the start of `text`; 0 if there is none or it is not closed on its line.
size_t quoted_length(std::string_view text) {
  for (size_t i = 1; text.starts_with('"') && i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return 0;
}

size_t scalar_length(std::string_view text) {
  const size_t length = prefix_length(text, [](char c) { return is_word(c) || c == '-' || c == '+'; });
  const size_t close =
      text.substr(0, length) == "nan" && text.substr(length).starts_with("(") ? text.find(')') : std::string_view::npos;
  return close == std::string_view::npos ? length : close + 1;
}

}  // namespace

size_t plain_token_length(std::string_view text) { return std::max<size_t>(prefix_length(text, is_word), 1); }

TextForm::TextForm(const TextDialect& dialect, std::string_view text, const std::string& file, Diagnostics& diags,
                   size_t begin)
    : dialect_(&dialect), text_(text), file_(file), diags_(&diags), at_(begin), place_(place_of(text, begin)) {
  take(0);
}

void TextForm::advance(size_t count) {
  const std::string_view passed = text_.substr(at_, count);
  at_ += count;
  place_.line += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
  const size_t last = passed.rfind('\n');
  place_.column =
      last == std::string_view::npos ? place_.column + static_cast<int>(count) : static_cast<int>(count - last);
}

// Consumes `count` characters and finds the next token.
std::string_view TextForm::take(size_t count) {
  const auto line_length = [&] { return std::min(rest().find('\n'), rest().size()); };
  const std::string_view taken = rest().substr(0, count);
  for (advance(taken.size());; advance(line_length())) {
    advance(prefix_length(rest(), is_space));
    if (!rest().starts_with("//")) break;
  }
  if (rest().empty()) {
    token_ = {};
  } else {
    const bool comment = dialect_->has_comments && rest()[0] == '#';
    token_ = rest().substr(0, comment ? line_length() : dialect_->token_length(rest()));
  }
  return taken;
}

Location TextForm::location(TextPlace at) const {
  Location where;
  where.file = file_;
  where.line = at.line;
  where.column = at.column;
  return where;
}

void TextForm::fail_at(TextPlace at, std::string message, std::string help) {
  if (failed_) return;
  failed_ = true;
  Diagnostic& error = diags_->error(location(at), dialect_->slug, std::move(message));
  if (!help.empty()) error.help(std::move(help));
  at_ = text_.size();
  token_ = {};
}

void TextForm::fail(const std::string& message) {
  std::string found = fmt::format("'{}'", shown(token_));
  if (token_.empty()) found = dialect_->end;
  if (dialect_->has_comments && token_.starts_with('#')) found = "a comment";
  fail_at(place_, message + dialect_->found + found);
}

bool TextForm::accept(std::string_view token) {
  if (!is(token)) return false;
  take();
  return true;
}

void TextForm::text(std::string_view literal) {
  if (!reading()) return write(literal);
  for (literal.remove_prefix(prefix_length(literal, is_space)); !literal.empty();) {
    const std::string_view token = literal.substr(0, dialect_->token_length(literal));
    if (!accept(token)) return fail(fmt::format("expected '{}'", token));
    literal.remove_prefix(token.size());
    literal.remove_prefix(prefix_length(literal, is_space));
  }
}

bool TextForm::option(std::string_view literal, bool present) {
  if (reading()) {
    literal.remove_prefix(prefix_length(literal, is_space));
    present = is(literal.substr(0, dialect_->token_length(literal)));
  }
  if (present) text(literal);
  return present;
}

int64_t TextForm::read_number(std::string_view what, int64_t least, int64_t most) {
  const TextPlace at = place_;
  const std::string_view text = scalar();
  int64_t value = 0;
  if (text.empty()) {
    fail(fmt::format("expected {}", what));
  } else if (!text_value::parse(text, value)) {
    fail_at(at, fmt::format("expected {}, found '{}'", what, shown(text)));
  } else if (value < least || value > most) {
    fail_at(at, fmt::format("{} is a number from {} to {}", what, least, most));
  }
  return failed_ ? std::max<int64_t>(least, 0) : value;
}

void TextForm::number(float& value) {
  if (!reading()) return write(text_value::print(value));
  const TextPlace at = place_;
  const std::string_view text = scalar();
  if (text.empty()) return fail("expected a number");
  if (!text_value::parse(text, value)) fail_at(at, fmt::format("expected a number, found '{}'", shown(text)));
}

void TextForm::string(std::string_view what, std::string& value) {
  if (!reading()) return write(text_value::print(value));
  const TextPlace at = place_;
  const std::string_view text = take(quoted_length(rest()));
  if (text.empty()) return fail(fmt::format("expected {} as a quoted string on one line", what));
  if (!text_value::parse(text, value)) fail_at(at, "the string has an escape other than \\\", \\\\ and \\xNN");
}

void TextForm::name(std::string_view what, std::string& value) {
  if (!reading()) return write(value);
  value = word();
  if (value.empty()) fail(fmt::format("expected {}", what));
}

void TextForm::value(std::string_view what, std::string& value) {
  if (!reading()) return write(value);
  size_t length = is("\"") ? quoted_length(rest()) : scalar_length(rest());
  if (is("[")) length = rest().find(']') + 1;  // 0 if there is none
  value = take(length);
  if (value.empty()) fail(fmt::format("expected {}", what));
}

std::string_view TextForm::word() { return take(prefix_length(token_, is_word)); }

std::string_view TextForm::scalar() { return take(scalar_length(rest())); }

std::optional<std::string_view> TextForm::until(char end) {
  const size_t length = rest().find(end);
  if (length == std::string_view::npos) return std::nullopt;
  return take(length + 1).substr(0, length);
}

}  // namespace aotc
