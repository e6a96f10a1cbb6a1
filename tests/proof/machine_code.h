// SPDX-License-Identifier: Apache-2.0
// MachineCode: the text of a kernel as the bytes that LLVM assembles, and bytes as the text that LLVM disassembles.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace aotc::tests::proof {

// A core, as LLVM names it.
struct CoreName {
  const char *triple, *cpu, *features;
};

struct Assembled {
  std::vector<uint8_t> bytes = {};  // of the section .text
  bool is_final = true;             // false: it has relocations, which leave bytes to the linker
  std::string problem = {};         // empty, or LLVM's errors
};

class MachineCode {
 public:
  explicit MachineCode(const CoreName& core);
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  // `text`: a complete source, with its directives.
  Assembled assemble(const std::string& text) const;

  // An instruction at offset `at` of the code, in LLVM's syntax: "smlad r2, r10, r9, r2".
  struct Line {
    int at = 0, bytes = 0;
    std::string text;
  };
  // Empty if the bytes include something that is no instruction.
  std::vector<Line> disassemble(const std::vector<uint8_t>& code) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aotc::tests::proof
