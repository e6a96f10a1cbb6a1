// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_kernel.h"

#include <fmt/format.h>

#include "codegen/c_layout.h"
#include "target/implementation.h"

namespace aotc::codegen {

namespace {

// The compiler sees the registers of arguments and what is named as changed; the text saves the others.
std::string asm_body(const target::Implementation& made, const PrintedFunction& f) {
  std::string declarations, operands, clobbers;
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const auto& p = f.parameters[i];
    declarations +=
        fmt::format("    register {}a{} __asm__(\"{}\") = {};\n", p.type, i, made.arguments.at(i), p.name);
    operands += fmt::format("{}\"+r\"(a{})", i > 0 ? ", " : "", i);
  }
  for (size_t i = f.parameters.size(); i < made.arguments.size(); ++i)
    clobbers += fmt::format("\"{}\", ", made.arguments[i]);
  for (const std::string& c : made.clobbers) clobbers += fmt::format("\"{}\", ", c);
  std::string text;
  bool unwinding = false;
  for (const std::string& line : made.lines) {
    if (target::is_unwinding(line) != unwinding)
      text += unwinding ? "#endif\n" : "#ifdef __GCC_HAVE_DWARF2_CFI_ASM\n";
    unwinding = target::is_unwinding(line);
    text += target::is_comment(line) ? fold_line(fmt::format("        /* {} */", line.substr(2))) + "\n"
                                     : fmt::format("        \"{}\\n\"\n", line);
  }
  if (unwinding) text += "#endif\n";
  return fmt::format("{{\n{}    __asm__ volatile(\n{}        : {}\n        :\n{}\n}}\n", declarations, text,
                     operands, fold_line(fmt::format("        : {}\"cc\", \"memory\");", clobbers)));
}

}  // namespace

std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable) {
  std::string what;
  for (const auto& [name, value] : kernel.parameters)
    what += fmt::format("{} {} {}", what.empty() ? ":" : ",", name, value);
  std::string comment = fold_lines(fmt::format("/* kernel {}{} */\n", kernel.family, what));
  auto made = target::implementation_of(kernel);
  if (!made) return comment + "static\n" + portable.text;
  std::string aligned = made->function_alignment > 0 ? fmt::format(", aligned({})", made->function_alignment) : "";
  return fmt::format("{}#if {}\nstatic __attribute__((noinline{}))\n{}\n{}#else\nstatic\n{}#endif\n", comment,
                     made->condition, aligned, portable.prototype, asm_body(*made, portable), portable.text);
}

}  // namespace aotc::codegen
