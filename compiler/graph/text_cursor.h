// SPDX-License-Identifier: Apache-2.0
// TextCursor: reads the text form of the graph IR token by token. Every function first skips white space and `//`
// comments. No function moves past the end.
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
  // Describes the next token for messages: "'foo'", "end of text".
  std::string found();

  // If the punctuation character, or the whole word, is next: consumes it and returns true.
  bool accept(char punctuation);
  bool accept_word(std::string_view word);
  // True if the next character is `c`; consumes nothing.
  bool next_is(char c);

  // Consumes a word, [A-Za-z0-9_.]+; empty if none is next.
  std::string_view word();
  // Consumes a number with its sign, such as "-inf" or "nan(0x7fc00001)", or another word; empty if none is next.
  std::string_view scalar();
  // Consumes a quoted string on one line and returns it with its quotes; empty if none is next or it is not closed.
  std::string_view quoted();
  // Consumes a scalar, a quoted string or a [list]; empty if none is next.
  std::string_view value();
  // Consumes everything up to and including `end`, and returns the text before it; nullopt if `end` is missing.
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
