// SPDX-License-Identifier: Apache-2.0
#include "driver/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

bool colour() {
  const char* no = std::getenv("NO_COLOR");
  return isatty(2) != 0 && (no == nullptr || no[0] == '\0');
}

}  // namespace

// The help of an error that has none of its own.
static std::string help_of(const std::string& slug) {
  if (slug == "op-attribute")
    return "export the model with another value of this attribute; 'aotc ops' lists the operators";
  if (slug == "op-shape") return "export the model with fixed shapes that fit together";
  if (slug == "op-type")
    return "'aotc ops' lists the supported types of each operator; convert the whole model to one of these types";
  if (slug == "op-quantization") return "convert the model with full integer quantisation to int8";
  if (slug == "op-operands")
    return "export the model again: the operator does not have the operands that the file format defines";
  return fmt::format("docs/errors.md explains {}: what is wrong, and what to do", slug);
}

void print_diagnostics(const Diagnostics& diags) {
  std::string text;
  for (Diagnostic d : diags.all()) {
    if (d.severity == Severity::kError && d.helps.empty()) d.help(help_of(d.slug));
    text += d.str();
  }
  if (colour()) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
      size_t end = text.find('\n', i);
      std::string line = text.substr(i, end - i);
      for (const auto& [word, code] :
           {std::pair{": error: ", "31"}, {": warning: ", "35"}, {"  note: ", "36"}, {"  help: ", "32"}}) {
        size_t at = line.find(word);
        if (at == std::string::npos || (word[0] == ' ' && at != 0)) continue;
        std::string w(word);
        line.replace(at, w.size(), fmt::format("\x1b[{}m{}\x1b[0m", code, w));
        break;
      }
      out += line + "\n";
      i = end + 1;
    }
    text = out;
  }
  write_err(text);
}

int exit_code_of(const Diagnostics& diags, int otherwise) {
  static const std::pair<const char*, int> kCodes[] = {
      {"internal", kExitInternal},         {"tool-missing", kExitToolMissing}, {"no-emulator", kExitToolMissing},
      {"does-not-fit", kExitDoesNotFit},   {"over-budget", kExitDoesNotFit},   {"budget-invalid", kExitUsage},
      {"pool-too-small", kExitDoesNotFit}, {"not-built", kExitBadInput},       {"project-invalid", kExitBadInput},
      {"option-conflict", kExitUsage},     {"cpu-unknown", kExitBadInput},     {"pool-invalid", kExitUsage},
      {"shape-invalid", kExitUsage}};
  for (const auto& [slug, code] : kCodes)
    for (const Diagnostic& d : diags.all())
      if (d.severity == Severity::kError && d.slug == slug) return code;
  return otherwise;
}

int fail(const Diagnostics& diags, int otherwise) {
  print_diagnostics(diags);
  return exit_code_of(diags, otherwise);
}

namespace {

// "1,234", "54.2 KiB", "12 bytes"; not "2-D convolution" or "1x25x5x64".
bool is_number(const std::string& cell) {
  size_t end = cell.find_first_not_of("0123456789,.");
  if (end == 0 || cell.empty()) return false;
  std::string unit = end == std::string::npos ? "" : cell.substr(end);
  return unit.empty() || unit == " bytes" || unit == " KiB" || unit == " MiB";
}

}  // namespace

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c >= width.size()) width.push_back(0);
      width[c] = std::max(width[c], row[c].size());
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      bool number = c > 0 && is_number(row[c]);
      std::string pad(width[c] - row[c].size(), ' ');
      line += (c > 0 ? "  " : "") + (number ? pad + row[c] : row[c] + pad);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string format_bytes(int64_t bytes) {
  if (bytes < 100000) return with_commas(bytes) + " bytes";
  if (bytes < int64_t{100} << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string exact_bytes(int64_t bytes) { return with_commas(bytes) + " bytes"; }

std::string shell_quoted(const std::string& path) {
  bool plain = !path.empty() &&
               path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%=") ==
                   std::string::npos;
  if (plain) return path;
  std::string out = "'";
  for (char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(2) != 0) {}

void Progress::step(const std::string& what) {
  if (quiet_ || !terminal_) return;
  print_err("\r\x1b[K{} ...", what);
  std::fflush(stderr);
  open_ = true;
}

void Progress::bar(const std::string& what, int64_t done, int64_t total) {
  if (quiet_ || !terminal_ || total <= 0) return;
  int filled = static_cast<int>(24 * done / total);
  print_err("\r\x1b[K{} [{}{}] {}/{}", what, std::string(static_cast<size_t>(filled), '#'),
            std::string(static_cast<size_t>(24 - filled), '.'), done, total);
  std::fflush(stderr);
  open_ = true;
}

void Progress::done(const std::string& what) {
  if (quiet_) return;
  clear();
  print_err("{}\n", what);
}

void Progress::clear() {
  if (open_) print_err("\r\x1b[K");
  open_ = false;
}

Progress::~Progress() { clear(); }

}  // namespace aotc::driver
