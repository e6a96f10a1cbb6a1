// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_kernel.h"

#include <fmt/format.h>

#include "target/implementation.h"

namespace aotc::codegen {

namespace {

constexpr size_t kArguments = 4;  // r0 to r3

// The compiler sees r0 to r3 and r12 only, so it can always give them; the text saves the others.
std::string asm_body(const target::Implementation& made, const PrintedFunction& f) {
  std::string declarations, operands, clobbers;
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const auto& p = f.parameters[i];
    declarations += fmt::format("    register {}a{} __asm__(\"r{}\") = {};\n", p.type, i, i, p.name);
    operands += fmt::format("{}\"+r\"(a{})", i > 0 ? ", " : "", i);
  }
  for (size_t i = f.parameters.size(); i < kArguments; ++i) clobbers += fmt::format("\"r{}\", ", i);
  clobbers += "\"r12\", ";
  for (const std::string& c : made.clobbers) clobbers += fmt::format("\"{}\", ", c);
  std::string text;
  for (const std::string& line : made.lines)
    text += fmt::format("        \"{}\\n\"\n", line);
  return fmt::format("{{\n{}    __asm__ volatile(\n{}        : {}\n        :\n        : {}\"cc\", "
                     "\"memory\");\n}}\n",
                     declarations, text, operands, clobbers);
}

}  // namespace

std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable) {
  std::string what;
  for (const auto& [name, value] : kernel.parameters)
    what += fmt::format("{} {} {}", what.empty() ? ":" : ",", name, value);
  std::string comment = fmt::format("/* kernel {}{} */\n", kernel.family, what);
  auto made = target::implementation_of(kernel);
  if (!made) return comment + "static " + portable.text;
  return fmt::format("{}#if {}\nstatic __attribute__((noinline)) {}\n{}#else\nstatic {}#endif\n",
                     comment, made->condition, portable.prototype, asm_body(*made, portable),
                     portable.text);
}

}  // namespace aotc::codegen
