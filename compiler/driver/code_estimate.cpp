// SPDX-License-Identifier: Apache-2.0
#include "driver/code_estimate.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "cores/riscv/text_count.h"

namespace aotc::driver {

namespace {

// The text of a line of an asm statement, "lw a5,0(a0)\n" without what makes it a string; empty for C.
std::string_view asm_text(std::string_view line) {
  const size_t from = line.find('"'), to = line.rfind("\\n\"");
  const bool whole = from != std::string_view::npos && to != std::string_view::npos && from < to;
  return whole && line.find_first_not_of(' ') == from ? line.substr(from + 1, to - from - 1) : std::string_view();
}

int64_t instructions_of(const std::vector<std::string>& statement) {
  const std::vector<std::string> lines = cores::riscv::without_macros(statement);
  return std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.back() != ':'; });
}

// What a compiler makes code of: instructions in asm statements, macros written out, and characters of C beside them.
struct SourceSize {
  int64_t instructions = 0, text = 0;
};

SourceSize source_size(const std::string& c) {
  SourceSize out;
  std::vector<std::string> statement;
  std::istringstream in(c);
  for (std::string line; std::getline(in, line);) {
    if (std::string_view text = asm_text(line); !text.empty()) {
      statement.emplace_back(text);
      continue;
    }
    out.instructions += instructions_of(statement);
    statement.clear();
    out.text += static_cast<int64_t>(line.size()) + 1;
  }
  return out;
}

// The size of all sources except for tables. `counts_instructions`: false takes assembly for text, too.
SourceSize source_size(const std::map<std::string, std::string>& files, bool counts_instructions) {
  SourceSize out;
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".c") || name.ends_with("_data.c")) continue;
    const SourceSize one =
        counts_instructions ? source_size(content) : SourceSize{0, static_cast<int64_t>(content.size())};
    out.instructions += one.instructions;
    out.text += one.text;
  }
  return out;
}

}  // namespace

int64_t code_of_model(const std::map<std::string, std::string>& files) {
  // An instruction of assembly has about 3 bytes, and compilers make one byte of about six characters of commented C.
  const SourceSize size = source_size(files, true);
  return size.instructions * 3 + size.text / 6;
}

// Harness, libraries and start-up, and the model's own, mostly twice (once with the trace hook).
int64_t code_of_firmware(const std::map<std::string, std::string>& files, const project::Board& board) {
  // Kernels for RISC-V are macros, whose text is shorter than their code.
  const bool written_out = board.isa.starts_with("rv32");
  const SourceSize size = source_size(files, written_out);
  if (board.has("harvard")) return 8 * 1024 + size.text * 3 / 5;
  if (written_out) return 15 * 1024 + size.instructions * 5 / 2 + size.text / 3;
  // Compilers make a byte of some three of its text; long texts are long by their calls, which take less.
  return 12 * 1024 + std::min(size.text / 3, 24 * 1024 + size.text / 12);
}

}  // namespace aotc::driver
