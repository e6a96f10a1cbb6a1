// SPDX-License-Identifier: Apache-2.0
// TextCursor: reads the text form of the graph IR token by token. Every function skips white space and `//` comments
// first and never moves past the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aotc::graph {

struct TextPosition {
  int line = 1;
  int column = 1;
};

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  // Position of the next token.
  TextPosition position();
  size_t offset();
  bool at_end();
  // The next token for messages: "'foo'", "end of text".
  std::string found();

  // Consumes the punctuation character, or the whole word, if it is next.
  bool accept(char punctuation);
  bool accept_word(std::string_view word);
  // True if the next character is `c`; consumes nothing.
  bool next_is(char c);

  // [A-Za-z0-9_.]+, empty if there is none.
  std::string_view word();
  // A word with signs (numbers, "-inf", "nan(0x7fc00001)"); empty if there is none.
  std::string_view scalar();
  // A quoted string with its quotes, on one line; empty if there is none or it is not closed.
  std::string_view quoted();
  // The text of a scalar, a quoted string or a [list]; empty if there is none.
  std::string_view value();
  // Everything up to `end`, which is consumed as well; nullopt if `end` is missing.
  std::optional<std::string_view> until(char end);

 private:
  void skip_space();
  void advance(size_t count);
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view take(size_t count);

  std::string_view text_;
  size_t at_ = 0;
  TextPosition position_;
};

}  // namespace aotc::graph
