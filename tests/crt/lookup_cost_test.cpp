// SPDX-License-Identifier: Apache-2.0
// What a call by name costs on a Cortex-M4, in instructions, which QEMU counts.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "registry_table.h"
#include "toolchain.h"

namespace {

// C text of a system library with that many functions of names of that length.
std::string library(int functions, std::size_t length) {
  std::vector<NamedFunction> names;
  for (int i = 0; i < functions; ++i) {
    std::string name = "model_" + std::to_string(i) + "_conv_2d_relu";
    name.resize(length, 'x');
    names.push_back({name, nullptr});
  }
  const RegistryTable table(names, Tables::kHashesAndOffsets);
  std::ostringstream text, pointers, hashes, offsets, strings, list;
  text << "#include <tvm/runtime/crt/module.h>\n";
  int index = 0;
  for (const auto& [name, unused] : table.functions()) {
    text << "static int32_t " << name
         << "(TVMValue *a, int *t, int n, TVMValue *r, int *c, void *h) {\n"
            "  (void)a; (void)t; (void)n; (void)r; (void)c; (void)h; return 0;\n}\n";
    pointers << "(TVMBackendPackedCFunc)" << name << ",";
    hashes << table.get()->hashes[index] << "u,";
    offsets << table.get()->offsets[index] << ",";
    strings << "\"" << name << "\\000\"";
    list << "\"" << name << "\",";
    ++index;
  }
  text << "static const TVMBackendPackedCFunc functions[] = {" << pointers.str() << "};\n"
       << "static const uint32_t hashes[] = {" << hashes.str() << "};\n"
       << "static const uint16_t offsets[] = {" << offsets.str() << table.get()->offsets[index]
       << "};\n"
       << "static const TVMFuncRegistry registry = {\"\\" << std::oct << functions << std::dec
       << "\\000\" " << strings.str() << ", functions, hashes, offsets};\n"
       << "static const TVMModule module = {&registry};\n"
       << "const TVMModule *TVMSystemLibEntryPoint(void) { return &module; }\n"
       << "extern const uint32_t library_count;\nextern const char *const library_names[];\n"
       << "const uint32_t library_count = " << functions << ";\n"
       << "const char *const library_names[] = {" << list.str() << "};\n";
  return text.str();
}

struct Cost {
  int functions = 0, average = 0, most = 0;
};

Cost measure(const std::string& optimise, int functions, std::size_t length) {
  Cost cost;
  Scratch scratch;
  std::ofstream(scratch.path / "library.c") << library(functions, length);
  const std::string program = (scratch.path / "program").string();
  const auto link =
      run(std::string(AOTC_ARM_GCC) + " -mcpu=cortex-m4 -mthumb " + optimise + kStrict +
          include_flag() + "-ffunction-sections -fdata-sections -nostdlib -Wl,--gc-sections -T " +
          (kTests / "board/board.ld").string() + " " + (kTests / "board/lookup_cost.c").string() +
          " " + (scratch.path / "library.c").string() + runtime_sources() + " -lgcc -o " + program);
  EXPECT_EQ(link.status, 0) << link.output;
  const auto result = run(emulator("mps2-an386", "-icount shift=0") + program);
  EXPECT_EQ(result.status, 0) << result.output;
  std::istringstream lines(result.output);
  std::string name;
  for (int value = 0; lines >> name >> value;) {
    if (name == "functions") cost.functions = value;
    if (name == "average") cost.average = value;
    if (name == "most") cost.most = value;
  }
  return cost;
}

class LookupCost : public testing::TestWithParam<std::string> {};

TEST_P(LookupCost, CallByNameTakesUnder300Instructions) {
  const std::string optimise = GetParam();
  if (with_flags(AOTC_ARM_GCC, "").empty() || emulator("mps2-an386").empty()) {
    GTEST_SKIP() << "no Arm compiler or emulator installed";
  }
  const Cost cost = measure("-" + optimise, 30, 20);
  std::printf(
      "%s: 30 functions with names of 20 characters: %d instructions more than a direct "
      "call, at most %d\n",
      optimise.c_str(), cost.average, cost.most);
  EXPECT_EQ(cost.functions, 30);
  EXPECT_GT(cost.average, 50) << "the measurement measures nothing";
  EXPECT_LT(cost.average, 270);
  EXPECT_LT(cost.most, 290);
  // The number of functions hardly matters.
  const Cost more = measure("-" + optimise, 150, 20);
  std::printf("%s: 150 functions: %d, at most %d\n", optimise.c_str(), more.average, more.most);
  EXPECT_LT(more.average, cost.average + 40);
}

INSTANTIATE_TEST_SUITE_P(Optimised, LookupCost, testing::Values("Os", "O2"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
