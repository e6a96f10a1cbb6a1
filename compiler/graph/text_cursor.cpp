// SPDX-License-Identifier: Apache-2.0
#include "graph/text_cursor.h"

#include "support/diagnostics.h"

namespace aotc::graph {

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

// Length of the quoted string at the start of `text`, 0 if there is none or it is not closed.
size_t quoted_length(std::string_view text) {
  if (text.empty() || text[0] != '"') return 0;
  for (size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return 0;
}

}  // namespace

void TextCursor::advance(size_t count) {
  for (size_t end = at_ + count; at_ < end; ++at_) {
    if (text_[at_] == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      ++position_.column;
    }
  }
}

std::string_view TextCursor::take(size_t count) {
  std::string_view taken = rest().substr(0, count);
  advance(count);
  return taken;
}

void TextCursor::skip_space() {
  while (true) {
    advance(prefix_length(rest(), is_space));
    if (!rest().starts_with("//")) return;
    advance(prefix_length(rest(), [](char c) { return c != '\n'; }));
  }
}

TextPosition TextCursor::position() {
  skip_space();
  return position_;
}

size_t TextCursor::offset() {
  skip_space();
  return at_;
}

bool TextCursor::at_end() {
  skip_space();
  return rest().empty();
}

std::string TextCursor::found() {
  if (at_end()) return "end of text";
  size_t length = prefix_length(rest(), is_word);
  return "'" + escape_for_display(std::string(rest().substr(0, length == 0 ? 1 : length)), 40) + "'";
}

bool TextCursor::next_is(char c) { return !at_end() && rest()[0] == c; }

bool TextCursor::accept(char punctuation) {
  if (!next_is(punctuation)) return false;
  advance(1);
  return true;
}

bool TextCursor::accept_word(std::string_view word) {
  skip_space();
  if (rest().substr(0, prefix_length(rest(), is_word)) != word) return false;
  advance(word.size());
  return true;
}

std::string_view TextCursor::word() {
  skip_space();
  return take(prefix_length(rest(), is_word));
}

std::string_view TextCursor::scalar() {
  skip_space();
  size_t length = prefix_length(rest(), [](char c) { return is_word(c) || c == '-' || c == '+'; });
  if (rest().substr(0, length) == "nan" && rest().substr(length).starts_with("(")) {
    size_t close = rest().find(')');
    if (close != std::string_view::npos) length = close + 1;
  }
  return take(length);
}

std::string_view TextCursor::quoted() {
  skip_space();
  return take(quoted_length(rest()));
}

std::string_view TextCursor::value() {
  if (next_is('"')) return quoted();
  if (!next_is('[')) return scalar();
  size_t close = rest().find(']');
  return close == std::string_view::npos ? std::string_view() : take(close + 1);
}

std::optional<std::string_view> TextCursor::until(char end) {
  size_t length = rest().find(end);
  if (length == std::string_view::npos) return std::nullopt;
  std::string_view taken = take(length);
  advance(1);
  return taken;
}

}  // namespace aotc::graph
