// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/c_layout.h"
#include "cores/implementation.h"
#include "support/text.h"

namespace aotc::codegen {

namespace {

// The compiler sees the registers of arguments and what is named as changed; the text saves the others.
std::string asm_body(const cores::Implementation& made, const PrintedFunction& f) {
  std::string declarations, operands, clobbers;
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const auto& p = f.parameters[i];
    declarations += fmt::format("    register {}a{} __asm__(\"{}\") = {};\n", p.type, i, made.arguments.at(i), p.name);
    operands += fmt::format("{}\"+r\"(a{})", i > 0 ? ", " : "", i);
  }
  for (size_t i = f.parameters.size(); i < made.arguments.size(); ++i)
    clobbers += fmt::format("\"{}\", ", made.arguments[i]);
  for (const std::string& c : made.clobbers) clobbers += fmt::format("\"{}\", ", c);
  std::string text;
  bool unwinding = false;
  for (const std::string& line : made.lines) {
    if (cores::is_unwinding(line) != unwinding) text += unwinding ? "#endif\n" : "#ifdef __GCC_HAVE_DWARF2_CFI_ASM\n";
    unwinding = cores::is_unwinding(line);
    text += cores::is_comment(line) ? fold_line(fmt::format("        /* {} */", line.substr(2))) + "\n"
                                    : fmt::format("        \"{}\\n\"\n", line);
  }
  if (unwinding) text += "#endif\n";
  return fmt::format("{{\n{}    __asm__ volatile(\n{}        : {}\n        :\n{}\n}}\n", declarations, text, operands,
                     fold_line(fmt::format("        : {}\"cc\", \"memory\");", clobbers)));
}

// Statements of C with intrinsics.
std::string intrinsics_body(const cores::Implementation& made) {
  std::string text;
  for (const std::string& line : made.body) text += fold_line(line) + "\n";
  return "{\n" + text + "}\n";
}

// "#if A && B" on as many lines as it takes.
std::string directive(const std::string& name, const std::string& condition) {
  std::string out = name + " ", rest = condition;
  for (size_t room = kCColumns - out.size(); rest.size() > room; room = kCColumns - 4) {
    const size_t at = rest.rfind(" && ", room - 6);
    if (at == std::string::npos) break;
    out += rest.substr(0, at + 4) + "\\\n    ";
    rest.erase(0, at + 4);
  }
  return out + rest + "\n";
}

}  // namespace

std::string KernelConditions::includes() const {
  std::string s;
  for (const auto& [header, condition] : headers)
    s += "\n" + directive("#if", condition) + fmt::format("#include <{}>\n#endif\n", header);
  return s;
}

std::string kernel_macros(const KernelConditions& conditions, const std::string& prefix) {
  const std::string up = upper(prefix);
  int count = 0;
  for (const auto& [condition, kernels] : conditions.kernels) count += kernels;
  if (count == 0) return "";
  std::string s = fmt::format(
      "/* Kernels, and how many of them {} where this is compiled. The others are C, which computes the\n"
      " * same and takes longer. */\n#define {}_KERNEL_COUNT {}\n",
      conditions.headers.empty() ? "are assembly" : "use vectors", up, count);
  std::string sum;
  for (const auto& [condition, kernels] : conditions.kernels) {
    const std::string name =
        conditions.kernels.size() == 1
            ? up + "_KERNELS"
            : fmt::format("{}_KERNELS_{}", up, std::count(sum.begin(), sum.end(), '+') + (sum.empty() ? 1 : 2));
    s += directive("#if", condition) + fmt::format("#define {0} {1}\n#else\n#define {0} 0\n#endif\n", name, kernels);
    sum += (sum.empty() ? "" : " + ") + name;
  }
  if (conditions.kernels.size() > 1) s += fmt::format("#define {}_KERNELS \\\n    ({})\n", up, sum);
  return s;
}

std::string kernel_message(const KernelConditions& conditions, const std::string& prefix) {
  if (conditions.kernels.empty() || conditions.family.empty()) return "";
  const std::string up = upper(prefix);
  return fmt::format(
      "/* Not on other machines: there C is what is to run. */\n"
      "#if defined(__GNUC__) && {1} && \\\n    {0}_KERNELS < \\\n    {0}_KERNEL_COUNT && \\\n"
      "    !defined({0}_KERNELS_IN_C)\n"
      "#pragma message(\"{2}: \\\nkernels are compiled as C, which takes 2 to 5 times as long: compile for the core "
      "that --cpu \\\n"
      "or --board named, {3}or define {0}_KERNELS_IN_C\")\n#endif\n\n",
      up, conditions.family, prefix,
      conditions.headers.empty() ? "" : fmt::format("by a compiler with {}, \\\n", conditions.headers.begin()->first));
}

std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable, KernelForm form,
                              KernelConditions* conditions) {
  std::string what;
  for (const auto& [name, value] : kernel.parameters)
    what += fmt::format("{} {} {}", what.empty() ? ":" : ",", name, value);
  std::string comment = fold_lines(fmt::format("/* kernel {}{} */\n", kernel.family, what));
  auto made = cores::implementation_of(kernel, form);
  if (!made) return comment + "static\n" + portable.text;
  if (conditions != nullptr) {
    ++conditions->kernels[made->condition];
    conditions->family = made->family;
    if (!made->header.empty()) conditions->headers[made->header] = made->condition;
  }
  std::string aligned = made->function_alignment > 0 ? fmt::format(", aligned({})", made->function_alignment) : "";
  std::string definition = fmt::format("static __attribute__((noinline{}))\n{}\n{}", aligned, portable.prototype,
                                       made->body.empty() ? asm_body(*made, portable) : intrinsics_body(*made));
  // Compilers with GNU assembly take literals of any length.
  if (cores::literal_bytes(made->lines) > cores::kMostLiteral)
    definition = "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n" + definition +
                 "#pragma GCC diagnostic pop\n";
  return fmt::format("{}{}{}#else\nstatic\n{}#endif\n", comment, directive("#if", made->condition), definition,
                     portable.text);
}

}  // namespace aotc::codegen
