// SPDX-License-Identifier: Apache-2.0
// Reads the operands of instructions in kernel texts, which thumb.h and helium/helium.h write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aotc::cores::arm {

// One operand: a register, a number, a list of registers, or an address in brackets.
struct TextOperand {
  enum Kind { kRegister, kImmediate, kList, kAddress, kShift, kLabel } kind = kImmediate;
  int reg = -1, index = -1;
  int64_t number = 0;  // also a shift's amount, an address's offset, a list's count
  bool write_back = false;
  std::vector<int> list;
};

// Splits at the commas between operands, not those in brackets.
std::vector<std::string> pieces_of(const std::string& text);

// The lines with repetitions (.rept) written out.
std::vector<std::string> written_out(const std::vector<std::string>& lines);

// -1 if it is none of the core registers.
int register_of(const std::string& text);

TextOperand operand_of(const std::string& text);

}  // namespace aotc::cores::arm
