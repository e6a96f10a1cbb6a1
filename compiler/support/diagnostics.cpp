// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostics.h"

#include <fmt/format.h>

namespace aotc {

namespace {

// Length of the well-formed UTF-8 sequence at `i`, 0 if there is none.
size_t utf8_length(const std::string& s, size_t i) {
  auto byte = [&](size_t k) { return static_cast<unsigned char>(s[k]); };
  unsigned char c = byte(i);
  size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (n == 0 || i + n > s.size()) return 0;
  for (size_t k = 1; k < n; ++k)
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  if (n == 3 && ((c == 0xE0 && byte(i + 1) < 0xA0) || (c == 0xED && byte(i + 1) >= 0xA0))) return 0;
  if (n == 4 && ((c == 0xF0 && byte(i + 1) < 0x90) || (c == 0xF4 && byte(i + 1) >= 0x90))) return 0;
  return n;
}

}  // namespace

std::string escape_for_display(const std::string& text, size_t limit) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (out.size() >= limit) return out + "...";
    unsigned char c = static_cast<unsigned char>(text[i]);
    size_t n = utf8_length(text, i);
    bool c1_control = n == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (n == 0 || c < 0x20 || c == 0x7F || c == '\'' || c == '\\' || c1_control) {
      out += fmt::format("\\x{:02x}", c);
      ++i;
    } else {
      out.append(text, i, n);
      i += n;
    }
  }
  return out;
}

std::string Location::str() const {
  std::string out = file.empty() ? "<input>" : escape_for_display(file, 400);
  if (line > 0) {
    out += fmt::format(":{}", line);
    if (column > 0) out += fmt::format(":{}", column);
  }
  std::string what;
  if (subgraph > 0) what += fmt::format(" subgraph {}", subgraph);
  if (op_index >= 0) what += fmt::format(" op {}", op_index);
  if (!op_type.empty()) what += " " + escape_for_display(op_type);
  if (!tensor.empty()) {
    if (op_index < 0 && op_type.empty()) what += " tensor";
    what += " '" + escape_for_display(tensor) + "'";
  }
  if (!what.empty()) out += ":" + what;
  return out;
}

Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::help(std::string text) {
  helps.push_back(std::move(text));
  return *this;
}

std::string Diagnostic::str() const {
  const char* kind = severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "note";
  std::string out = fmt::format("{}: {}: {} [{}]\n", location.str(), kind, message, slug);
  for (const std::string& text : notes) out += "  note: " + text + "\n";
  for (const std::string& text : helps) out += "  help: " + text + "\n";
  return out;
}

Diagnostic& Diagnostics::error(const Location& where, std::string slug, std::string message) {
  ++errors_;
  all_.push_back({Severity::kError, std::move(slug), where, std::move(message), {}, {}});
  return all_.back();
}

Diagnostic& Diagnostics::warning(const Location& where, std::string slug, std::string message) {
  all_.push_back({Severity::kWarning, std::move(slug), where, std::move(message), {}, {}});
  return all_.back();
}

std::string Diagnostics::str() const {
  std::string out;
  for (const Diagnostic& d : all_) out += d.str();
  return out;
}

}  // namespace aotc
