// SPDX-License-Identifier: Apache-2.0
// Writes kernels.c: every case's kernel in assembly and, under another prefix, in portable C, and the
// table of cases that main.c runs. A family that has assembly for the target but no case is an error.
//
//   emit_kernels FILE
#include <bit>
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

int32_t Data::word() {
  auto half = [&]() -> uint32_t {
    switch (pattern_) {
      case Pattern::kRandom: return random_() & 0xFFFF;
      case Pattern::kLeast: return 0x8000;
      case Pattern::kMost: return 0x7FFF;
      case Pattern::kExtremes: return random_() % 2 == 0 ? 0x8000 : 0x7FFF;
    }
    return 0;
  };
  uint32_t low = half();
  return static_cast<int32_t>(low | half() << 16);
}

Buffer Data::bytes(int64_t count, uint32_t from) {
  Buffer out{{}, from};
  for (int64_t i = 0; i < count + from; ++i) {
    bool most = pattern_ == Pattern::kMost || (pattern_ == Pattern::kExtremes && random_() % 2 == 0);
    out.bytes.push_back(pattern_ == Pattern::kRandom ? static_cast<uint8_t>(random_())
                                                     : static_cast<uint8_t>(most ? 0x7F : 0x80));
  }
  return out;
}

Buffer Data::words(int64_t count) {
  std::vector<int32_t> out;
  add_words(out, count);
  return table(out);
}

void Data::add_words(std::vector<int32_t>& to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to.push_back(word());
}

void Data::add_line(std::vector<int32_t>& to, bool sign) {
  // Sums are of about 32 bits, and what is left of them is shifted by 3: few bits here let outputs take
  // all values, many saturate them. A larger shift would hide how products are rounded.
  bool few = random_() % 4 != 0;
  to.push_back(static_cast<int32_t>(random_() >> (few ? 21 : 1)));
  to.push_back(static_cast<int32_t>(random_() >> (few ? 21 : 3)) - (1 << (few ? 10 : 28)));
  if (sign) to.push_back(static_cast<int32_t>(random_() >> (few ? 24 : 14)));
}

void Data::add_line(std::vector<int32_t>& to, bool sign, int shift) {
  if (shift != 0) return add_line(to, sign);
  // Sums of about 32 bits become some tens to some thousands; every fourth is a power of two, with ties.
  float scale = 0x1p-26f * static_cast<float>(1 << random_() % 8);
  if (random_() % 4 != 0) scale *= 1.0f + static_cast<float>(random_() >> 8) * 0x1p-24f;
  to.push_back(std::bit_cast<int32_t>(scale));
  to.push_back(static_cast<int32_t>(random_() % 256) - 128);
}

Buffer table(const std::vector<int32_t>& words) {
  Buffer out;
  out.bytes.resize(words.size() * 4);
  std::memcpy(out.bytes.data(), words.data(), out.bytes.size());
  return out;
}

namespace {

// Kernels of vectors and of RISC-V need another core than this program runs on: the models' layers on the boards
// qemu_mps3_an547 and qemu_riscv32 run them (tests `layers.*`).
const std::set<std::string> kElsewhere = {"mve_average",
                                          "mve_columns",
                                          "mve_fill",
                                          "mve_gemm",
                                          "mve_gemv",
                                          "mve_held",
                                          "mve_planes",
                                          "mve_quads",
                                          "mve_rows",
                                          "mve_sum",
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
        "#include \"kernel_case.h\"\n\n{}\n{}{}const struct kernel_case "
        "kernel_cases[] = {{\n{}}};\nconst int32_t kernel_case_count = {};\n",
        support_, functions_, tables_, rows_, cases_);
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
          support_ += codegen::support_definition(f, prefix);
      functions_ += *prefix == 'a' ? codegen::kernel_definition(kernel, printed) : "static " + printed.text;
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
  std::vector<KernelCase> cases;
  add_gemm_cases(cases);
  add_pack_cases(cases);
  add_svdf_cases(cases);
  add_winograd_cases(cases);
  add_depthwise_cases(cases);
  add_elementwise_cases(cases);
  add_tree_cases(cases);
  add_triple_cases(cases);
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
