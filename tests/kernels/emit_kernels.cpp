// SPDX-License-Identifier: Apache-2.0
// Writes kernels.c: every case's kernel in assembly and, under another prefix, in C (with intrinsics where the compiler
// has them), and the table of cases that main.c runs. A family that has assembly for the target but no case is an
// error.
//
//   emit_kernels FILE
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cases.h"
#include "codegen/c_helpers.h"
#include "codegen/c_kernel.h"
#include "cores/implementation.h"

namespace aotc::tests {

namespace {

// Kernels of vectors and of RISC-V need another core than this program runs on: the models' layers on the boards
// qemu_mps3_an547 and qemu_riscv32 run them (tests `layers.*`).
const std::set<std::string> kElsewhere = {"mve_average",
                                          "mve_clamp",
                                          "mve_columns",
                                          "mve_fill",
                                          "mve_float_taps",
                                          "mve_floats",
                                          "mve_gates",
                                          "mve_gemm",
                                          "mve_gemv",
                                          "mve_held",
                                          "mve_lstm_cell",
                                          "mve_lstm_hidden",
                                          "mve_lstm_sigmoid",
                                          "mve_lstm_tanh",
                                          "mve_planes",
                                          "mve_quads",
                                          "mve_rows",
                                          "mve_sum",
                                          "mve_taps",
                                          "mve_weave",
                                          "mve_windows",
                                          "quads_rv32",
                                          "triple_pack_rv32",
                                          "triples_rv32",
                                          "winograd_columns_rv32",
                                          "winograd_triples_rv32"};

class Emitter {
 public:
  void add(const KernelCase& c) {
    std::string name = tir::name_of(*c.kernel);
    if (kernels_.insert(name).second) define(*c.kernel, name);
    families_.insert(c.kernel->family);
    std::string buffers;
    for (size_t i = 0; i < c.buffers.size(); ++i) {
      std::string data = fmt::format("data_{}_{}", cases_, i);
      tables_ += constant(data, c.buffers[i].bytes);
      buffers += fmt::format("{{{}, {}u, {}u}}, ", data, c.buffers[i].bytes.size(), c.buffers[i].from);
    }
    std::string scalars = "0";
    for (size_t i = 0; i < c.scalars.size(); ++i)
      scalars = fmt::format("{}{}", i == 0 ? "" : scalars + ", ", c.scalars[i]);
    rows_ += fmt::format("    {{\"{0} case {1}\", call_a_{0}, call_c_{0}, {{{2}}}, {{{3}}}}},\n", name, cases_++,
                         buffers, scalars);
  }

  std::string text() const {
    return fmt::format(
        "#include \"kernel_case.h\"\n{}\n{}\n{}{}const struct kernel_case "
        "kernel_cases[] = {{\n{}}};\nconst int32_t kernel_case_count = {};\n",
        codegen::intrinsic_includes({true, true}, "c"), support_, functions_, tables_, rows_, cases_);
  }
  int cases() const { return cases_; }
  int errors() const { return errors_; }
  const std::set<std::string>& families() const { return families_; }

 private:
  void define(const tir::Kernel& kernel, const std::string& name) {
    auto made = cores::implementation_of(kernel);
    if (made) check_length(*made, name);
    if (made)
      functions_ += fmt::format(
          "#if !({})\n#error this compiler or core does not take the assembly "
          "of {}\n#endif\n",
          made->condition, name);
    for (const char* prefix : {"a", "c"}) {
      auto printed = codegen::print_c_kernel(kernel, prefix);
      for (const std::string& f : printed.use.functions)
        if ((*prefix == 'c' || !made) && used_.insert(prefix + f).second)
          support_ += codegen::support_definition(f, prefix, {true, *prefix == 'c'});
      functions_ += *prefix == 'a' ? codegen::kernel_definition(kernel, printed, KernelForm::kAssembly)
                                   : "static " + printed.text;
      std::string args;
      size_t buffers = kernel.meaning->params.size();
      for (size_t i = 0; i < printed.parameters.size(); ++i)
        args += fmt::format("{}{}", i == 0 ? "" : ", ",
                            i < buffers ? fmt::format("({})(void *)b[{}]", printed.parameters[i].type, i)
                                        : fmt::format("s[{}]", i - buffers));
      functions_ += fmt::format(
          "static void call_{0}_{1}(uint8_t *const *b, const int32_t *s) {{\n"
          "    (void)s;\n    {0}_{1}({2});\n}}\n",
          prefix, name, args);
    }
  }

  // C99 promises no longer string literals, and -pedantic warns of them.
  void check_length(const cores::Implementation& made, const std::string& name) {
    size_t length = 0;
    for (const std::string& line : made.lines)
      if (!cores::is_comment(line)) length += line.size() + 1;
    if (length <= 4095) return;
    std::fprintf(stderr, "emit_kernels: the assembly of %s is a string of %zu characters\n", name.c_str(), length);
    ++errors_;
  }

  static std::string constant(const std::string& name, const std::vector<uint8_t>& bytes) {
    std::string out = fmt::format("static const uint32_t {}[] = {{", name);
    for (size_t i = 0; i < bytes.size(); i += 4) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min<size_t>(4, bytes.size() - i));
      out += fmt::format("{}u,", word);
    }
    return out + "};\n";
  }

  std::set<std::string> kernels_, families_, used_;
  std::string support_, functions_, tables_, rows_;
  int cases_ = 0, errors_ = 0;
};

int run(const char* file) {
  const std::vector<KernelCase> cases = all_kernel_cases();
  Emitter emitter;
  for (const KernelCase& c : cases) emitter.add(c);
  int missing = emitter.errors();
  for (const std::string& family : cores::kernel_families()) {
    if (emitter.families().contains(family) || kElsewhere.contains(family)) continue;
    std::fprintf(stderr, "emit_kernels: kernel '%s' has no case in tests/kernels\n", family.c_str());
    ++missing;
  }
  std::ofstream(file, std::ios::binary) << emitter.text();
  std::printf("%d cases of %zu families\n", emitter.cases(), emitter.families().size());
  return missing > 0;
}

}  // namespace
}  // namespace aotc::tests

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: emit_kernels FILE\n", stderr), 2;
  return aotc::tests::run(argv[1]);
}
