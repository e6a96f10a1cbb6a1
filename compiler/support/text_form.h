// SPDX-License-Identifier: Apache-2.0
// TextForm: reads or writes a text form (docs/ir.md). One function of an IR describes a syntax element in both
// directions: each call below appends a part of the text, or expects this part at the cursor and stores its value.
// The first error is reported and ends reading: the cursor moves to the end of the text, and later calls do nothing.
// White space and comments from `//` to the end of the line are skipped before every token.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "support/diagnostics.h"
#include "support/text.h"

namespace aotc {

// Length of the word [A-Za-z0-9_.]+ at the start of a text; 1 if it begins with another character.
size_t plain_token_length(std::string_view text);

// The tokens and the wording of one form.
struct TextDialect {
  const char* slug;  // of its errors
  size_t (*token_length)(std::string_view text) = plain_token_length;
  const char* found = ", found ";  // between what was expected and the token
  const char* end = "end of text";
  bool has_comments = false;  // `#` begins a token that ends with the line
};

class TextForm {
 public:
  // Writes.
  TextForm() = default;
  // Reads from byte `begin` on. The text must outlive the form.
  TextForm(const TextDialect& dialect, std::string_view text, const std::string& file, Diagnostics& diags,
           size_t begin = 0);

  bool reading() const { return diags_ != nullptr; }

  // ---------------------------------------------------------------- in both directions

  // A literal, with the white space that is written.
  void text(std::string_view literal);
  // A literal that is written if `present`. Returns true if it is part of the text.
  bool option(std::string_view literal, bool present);
  void flag(std::string_view literal, bool& value) { value = option(literal, value); }

  // `what`: the noun in "expected X".
  template <typename T>
  void number(std::string_view what, T& value, int64_t least = std::numeric_limits<T>::min(),
              int64_t most = std::numeric_limits<T>::max()) {
    if (!reading()) return write(fmt::format("{}", value));
    value = static_cast<T>(read_number(what, least, most));
  }
  void number(float& value);
  void string(std::string_view what, std::string& value);  // quoted
  void name(std::string_view what, std::string& value);
  // The text of a number, a name, a quoted string or a [list].
  void value(std::string_view what, std::string& value);

  // Items with ", " between them, up to and including `close`. An empty `close`: at least one item.
  template <typename T, typename F>
  void list(std::vector<T>& items, std::string_view close, F&& item) {
    auto another = [&](size_t i) {
      if (!reading()) return i < items.size();
      return close.empty() ? !failed() && (i == 0 || is(",")) : more(close);
    };
    for (size_t i = 0; another(i); ++i) {
      if (i > 0) text(", ");
      if (reading()) items.emplace_back();
      item(items[i]);
    }
    write(close);
  }

  // "{", statements and "}". `read` reads one statement; `write_all` writes all, each with `line`.
  template <typename Read, typename Write>
  void block(Read&& read, Write&& write_all) {
    if (!reading()) {
      write("{\n");
      indent_ += "  ";
      write_all();
      indent_.resize(indent_.size() - 2);
      return write(indent_ + "}");
    }
    for (text("{"); more("}");) read();
  }

  // ---------------------------------------------------------------- writing

  // Appends the text; does nothing while reading.
  void write(std::string_view text) {
    if (!reading()) out_ += text;
  }
  template <typename F>
  void line(F&& statement) {
    write(indent_);
    statement();
    write("\n");
  }
  const std::string& written() const { return out_; }

  // ---------------------------------------------------------------- reading

  bool failed() const { return failed_; }
  // The next token; empty at the end.
  std::string_view token() const { return token_; }
  size_t offset() const { return at_; }
  TextPlace place() const { return place_; }
  Location location(TextPlace at) const;

  bool is(std::string_view token) const { return !token_.empty() && token_ == token; }
  bool accept(std::string_view token);
  // True until `close` is next, which is then consumed, or reading has failed.
  bool more(std::string_view close) { return !failed_ && !accept(close); }
  std::string_view take() { return take(token_.size()); }
  // Consumes a word; empty if none is next.
  std::string_view word();
  // Consumes a number with its sign, such as "-inf" or "nan(0x7fc00001)", or a word; empty if none is next.
  std::string_view scalar();
  // Consumes everything up to and including `end`, and returns the text before it; nullopt if `end` is missing.
  std::optional<std::string_view> until(char end);

  void fail_at(TextPlace at, std::string message, std::string help = "");
  // Completes the message "expected X" to "expected X, found Y".
  void fail(const std::string& message);
  // Text of the file for messages.
  static std::string shown(std::string_view text) { return escape_for_display(std::string(text), 40); }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view take(size_t count);
  void advance(size_t count);
  int64_t read_number(std::string_view what, int64_t least, int64_t most);

  std::string out_, indent_;
  const TextDialect* dialect_ = nullptr;
  std::string_view text_, token_;
  std::string file_;
  Diagnostics* diags_ = nullptr;
  size_t at_ = 0;
  TextPlace place_;
  bool failed_ = false;
};

}  // namespace aotc
