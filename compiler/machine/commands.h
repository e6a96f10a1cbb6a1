// SPDX-License-Identifier: Apache-2.0
// `analyze stack` and `analyze size`: the same in aotc, which has objdump disassemble, and in aotc-analyze,
// which has LLVM.
#pragma once

#include <string>

#include "machine/instruction.h"
#include "options/options.h"

namespace aotc::machine {

// Makes a decoder; the argument is what --objdump names, or empty.
using DecoderChoice = std::function<Decoder(const std::string&)>;

options::Command stack_declaration(const DecoderChoice& decoder);

}  // namespace aotc::machine
