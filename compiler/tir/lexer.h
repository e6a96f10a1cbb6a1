// SPDX-License-Identifier: Apache-2.0
// Lexer: splits the text form of TIR into tokens. A token is a view of the text, which must outlive the token. "# ..."
// is a token, because it is a Comment statement; "// ..." is skipped.
#pragma once

#include <string_view>

namespace aotc::tir {

enum class TokenKind { kName, kNumber, kPunctuation, kComment, kEnd, kBad };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // for a comment: the text after "# "
  int line = 1;
  int column = 1;
};

class Lexer {
 public:
  // Starts at byte `begin`; lines and columns refer to the whole text.
  explicit Lexer(std::string_view text, size_t begin = 0);
  Token next();

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_space();
  size_t number_length() const;
  size_t punctuation_length() const;

  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace aotc::tir
