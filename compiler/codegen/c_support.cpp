// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_support.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/c_helpers.h"
#include "codegen/c_kernel.h"
#include "codegen/c_layout.h"
#include "support/text.h"

namespace aotc::codegen {

std::string kernel_definitions(SupportUse& use, const CodegenOptions& options, KernelConditions* conditions) {
  std::string kernels;
  // What a kernel calls stands in front of it.
  std::set<std::string> done;
  const std::map<std::string, tir::KernelPtr> called = use.kernels;
  auto define = [&](const tir::Kernel& kernel) {
    if (!done.insert(name_of(kernel)).second) return;
    PrintedFunction portable = print_c_kernel(kernel, options.prefix);
    use.merge(portable.use);
    kernels += kernel_definition(kernel, portable, options.kernels, conditions) + "\n";
  };
  for (const auto& [name, kernel] : called) {
    for (const tir::KernelPtr& inner : tir::kernels_of(*kernel->meaning)) define(*inner);
    define(*kernel);
  }
  return kernels;
}

namespace {

// Directives against compiler options that change results: they are an error, or are switched off.
std::string float_rules(const SupportUse& use, const std::string& prefix) {
  if (!use.floating && !use.comparing && !use.math) return "";
  // gcc says each part of -ffast-math by a macro since version 12. clang says -ffast-math and -ffinite-math-only only.
  std::string s =
      "#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \\\n"
      "    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)\n";
  s += fmt::format(
      "#error \"{}: -ffast-math and its parts change results; compile with\"\n"
      "#error \"-fno-fast-math, or define {}_FAST_MATH to accept other results\"\n#endif\n",
      prefix, upper(prefix));
  // A fused multiply-add rounds once where the reference rounds twice. clang fuses unless told, gcc
  // unless -std=c99 tells, which the Arduino IDE does not; and gcc does not know C's pragma. Parts of -ffast-math
  // that no macro tells of are switched off as well.
  if (use.floating)
    s += "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n"
         "#if __clang_major__ >= 18\n#pragma clang fp reassociate(off) reciprocal(off)\n"
         "#elif __clang_major__ >= 11\n#pragma clang fp reassociate(off)\n#endif\n"
         "#elif defined(__GNUC__)\n#pragma GCC optimize(\"fp-contract=off,no-unsafe-math-optimizations\")\n#endif\n";
  return fmt::format("#ifndef {}_FAST_MATH\n{}#endif\n\n", upper(prefix), s);
}

}  // namespace

std::string support_functions(const SupportUse& use, const CodegenOptions& options) {
  std::string s, up = upper(options.prefix);
  s += float_rules(use, options.prefix);
  // Some are used by the portable halves of kernels only, which a core with the others does not see.
  std::string unused = use.kernels.empty() ? "" : up + "_MAYBE_UNUSED\n";
  if (!use.kernels.empty() && !use.functions.empty())
    s += fmt::format(
        "#if defined(__GNUC__)\n#define {0}_MAYBE_UNUSED __attribute__((unused))\n"
        "#else\n#define {0}_MAYBE_UNUSED\n#endif\n\n",
        up);
  const HelperForm form = helper_form(use.functions, options.kernels);
  for (const std::string& f : use.functions) {
    std::string text = support_definition(f, options.prefix, form);
    // A macro is no function.
    if (const size_t at = text.find("static inline "); at != std::string::npos) text.insert(at, unused);
    s += fold_lines(text) + "\n";
  }
  return s;
}

std::string support_definitions(SupportUse& use, const CodegenOptions& options, KernelConditions& conditions) {
  std::string kernels = kernel_definitions(use, options, &conditions);
  return support_functions(use, options) + kernels;
}

}  // namespace aotc::codegen
