// SPDX-License-Identifier: Apache-2.0
#include "tir/lexer.h"

#include <cstddef>

namespace aotc::tir {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

// Longest first.
constexpr std::string_view kPunctuation[] = {"<<%", "..", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+%", "-%",
                                             "*%",  "(",  ")",  "{",  "}",  "[",  "]",  ",",  ":",  "=",  "+",  "-",
                                             "*",   "/",  "%",  "<",  ">",  "&",  "|",  "^",  "~",  "!",  "."};

}  // namespace

Lexer::Lexer(std::string_view text, size_t begin) : text_(text) {
  for (; at_ < begin; ++at_) {
    if (text_[at_] != '\n') continue;
    ++line_;
    line_start_ = at_ + 1;
  }
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

// Digits, fraction, exponent and type suffix. "0 .. 5" may be written "0..5".
size_t Lexer::number_length() const {
  size_t n = 0;
  while (is_digit(peek(n))) ++n;
  if (peek(n) == '.' && is_digit(peek(n + 1))) {
    ++n;
    while (is_digit(peek(n))) ++n;
  }
  bool sign = peek(n + 1) == '+' || peek(n + 1) == '-';
  if (peek(n) == 'e' && is_digit(peek(n + (sign ? 2 : 1)))) {
    n += sign ? 2 : 1;
    while (is_digit(peek(n))) ++n;
  }
  while (is_word(peek(n))) ++n;
  return n;
}

size_t Lexer::punctuation_length() const {
  for (std::string_view p : kPunctuation)
    if (text_.substr(at_, p.size()) == p) return p.size();
  return 0;
}

Token Lexer::next() {
  skip_space();
  Token token;
  token.line = line_;
  token.column = static_cast<int>(at_ - line_start_) + 1;
  if (at_ >= text_.size()) return token;
  size_t length = 0;
  char c = text_[at_];
  if (c == '#') {
    token.kind = TokenKind::kComment;
    ++at_;
    if (peek() == ' ') ++at_;
    while (at_ + length < text_.size() && text_[at_ + length] != '\n') ++length;
  } else if (is_letter(c)) {
    token.kind = TokenKind::kName;
    while (is_word(peek(length))) ++length;
  } else if (is_digit(c)) {
    token.kind = TokenKind::kNumber;
    length = number_length();
  } else {
    length = punctuation_length();
    token.kind = length > 0 ? TokenKind::kPunctuation : TokenKind::kBad;
    if (length == 0) length = 1;
  }
  token.text = text_.substr(at_, length);
  at_ += length;
  return token;
}

}  // namespace aotc::tir
