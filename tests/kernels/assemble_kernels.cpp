// SPDX-License-Identifier: Apache-2.0
// Assembles the text of every kernel with LLVM, for each core that the text's condition admits: an encoding that a core
// lacks, an immediate out of its range and a label out of reach are errors. The kernels are those of the cases here and
// of random graphs that are planned for each instruction set. A family of kernels without a text is an error, too.
//
//   assemble_kernels
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../proof/machine_code.h"
#include "../random_graphs/generator.h"
#include "cases.h"
#include "cores/arm/generated/lstm_kernels.h"
#include "cores/arm/generated/mve_gates.h"
#include "cores/arm/helium/depthwise_kernels.h"
#include "cores/arm/helium/floats.h"
#include "cores/arm/helium/held.h"
#include "cores/arm/helium/taps.h"
#include "cores/cpu.h"
#include "cores/implementation.h"
#include "ops/common/quad_kernel.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "plan/program.h"
#include "support/text.h"

namespace aotc::tests {

namespace {

// A core, as LLVM names it, and the macros that compilers define for it. All of them are little-endian.
struct Core {
  const char *triple, *cpu, *features;
  std::map<std::string, std::string, std::less<>> macros;
};

std::vector<Core> all_cores() {
  using Macros = std::map<std::string, std::string, std::less<>>;
  const Macros thumb1 = {{"__GNUC__", "12"}, {"__ARMEL__", "1"}, {"__thumb__", "1"}, {"__ARM_ARCH_PROFILE", "'M'"}};
  auto with = [](Macros macros, const std::vector<const char*>& more) {
    for (const char* name : more) macros[name] = "1";
    return macros;
  };
  const Macros thumb2 = with(thumb1, {"__thumb2__", "__ARM_FEATURE_UNALIGNED"});
  const Macros dsp = with(thumb2, {"__ARM_FEATURE_DSP", "__ARM_FP"});
  Macros helium = dsp;
  helium["__ARM_FEATURE_MVE"] = "3";  // of integers and of floats
  const Macros rv32 = {{"__GNUC__", "12"}, {"__riscv", "1"}, {"__riscv_mul", "1"}, {"__riscv_xlen", "32"}};
  return {{"thumbv6m-none-eabi", "cortex-m0plus", "", thumb1},
          {"thumbv8m.base-none-eabi", "cortex-m23", "", thumb1},
          {"thumbv7m-none-eabi", "cortex-m3", "", thumb2},
          {"thumbv7em-none-eabihf", "cortex-m4", "", dsp},
          {"thumbv7em-none-eabihf", "cortex-m7", "", dsp},
          {"thumbv8m.main-none-eabihf", "cortex-m33", "", dsp},
          {"thumbv8m.main-none-eabi", "cortex-m33", "-dsp,-fpregs,-vfp2sp", thumb2},
          {"thumbv8.1m.main-none-eabihf", "cortex-m52", "", helium},
          {"thumbv8.1m.main-none-eabihf", "cortex-m55", "", helium},
          {"thumbv8.1m.main-none-eabihf", "cortex-m85", "", helium},
          {"riscv32", "generic-rv32", "+m", rv32},
          {"riscv32", "generic-rv32", "+m,+a,+c", rv32},
          {"riscv32", "generic-rv32", "+m,+a,+f,+c", rv32}};
}

// A term of a condition: "defined(A)", "!defined(A)" or "A == B".
bool is_true(std::string_view term, const Core& core) {
  constexpr std::string_view kDefined = "defined(", kEqual = " == ";
  if (term.starts_with('!')) return !is_true(term.substr(1), core);
  if (term.starts_with(kDefined))
    return core.macros.contains(term.substr(kDefined.size(), term.size() - kDefined.size() - 1));
  const size_t at = term.find(kEqual);
  const auto found = core.macros.find(term.substr(0, at));
  return at != std::string_view::npos && found != core.macros.end() && found->second == term.substr(at + kEqual.size());
}

bool admits(std::string_view condition, const Core& core) {
  constexpr std::string_view kAnd = " && ";
  for (size_t from = 0; from <= condition.size();) {
    const size_t to = std::min(condition.find(kAnd, from), condition.size());
    if (!is_true(condition.substr(from, to - from), core)) return false;
    from = to + kAnd.size();
  }
  return true;
}

// The text of a C string literal: a macro's parameter has two backslashes there.
std::string without_escapes(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) out += line[i] == '\\' ? line[++i] : line[i];
  return out;
}

// What the assembler gets of a text: a function around it, for what describes the stack.
std::string assembly_of(const cores::Implementation& made, const Core& core) {
  std::string text = std::string_view(core.triple).starts_with("thumb") ? ".syntax unified\n.thumb\n.fnstart\n" : "";
  text += ".cfi_sections .debug_frame\nkernel:\n.cfi_startproc\n";
  for (const std::string& line : made.lines)
    if (!cores::is_comment(line)) text += without_escapes(line) + "\n";
  text += ".cfi_endproc\n";
  if (std::string_view(core.triple).starts_with("thumb")) text += ".fnend\n";
  return text;
}

// Empty, or what LLVM says of a text.
std::string problem_of(const std::string& text, const Core& core) {
  return proof::MachineCode({core.triple, core.cpu, core.features}).assemble(text).problem;
}

class Texts {
 public:
  void add(const tir::Kernel& kernel) {
    for (const tir::KernelPtr& inner : tir::kernels_of(*kernel.meaning)) add(*inner);
    if (!names_.insert(tir::name_of(kernel)).second) return;
    const auto made = cores::implementation_of(kernel);
    if (!made) return;
    families_.insert(kernel.family);
    int admitted = 0;
    for (const Core& core : cores_) {
      if (!admits(made->condition, core)) continue;
      ++admitted;
      ++assembled_;
      if (std::string problem = problem_of(assembly_of(*made, core), core); !problem.empty())
        fail(fmt::format("{} for {} ({}): {}", tir::name_of(kernel), core.cpu, core.features, problem));
    }
    if (admitted == 0) fail(fmt::format("{}: no core has {}\n", tir::name_of(kernel), made->condition));
  }

  void fail(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    ++failures_;
  }

  const std::set<std::string>& families() const { return families_; }
  int failures() const { return failures_; }
  size_t kernels() const { return names_.size(); }
  int assembled() const { return assembled_; }

 private:
  std::vector<Core> cores_ = all_cores();
  std::set<std::string> names_, families_;
  int assembled_ = 0, failures_ = 0;
};

// Plans of instruction sets at every level: each chooses other kernels.
std::vector<plan::PlanOptions> all_options() {
  const std::pair<const char*, std::set<std::string_view>> kIsas[] = {
      {"armv6-m", {}},
      {"armv7-m", {"unaligned"}},
      {"rv32imac", {"mul", "unaligned"}},
      {"armv7e-m", {"unaligned", "dsp", "fpu"}},
      {"armv8.1-m.main", {"unaligned", "dsp", "mve", "mve_float", "fpu"}},
  };
  std::vector<plan::PlanOptions> out;
  for (const auto& [isa, features] : kIsas)
    for (const ops::Level level : {ops::Level::kSize, ops::Level::kBalanced, ops::Level::kSpeed}) {
      auto has = [&features](std::string_view feature) { return features.contains(feature); };
      out.emplace_back().target = cores::for_goal(cores::target_info({isa, isa, has}), {level});
    }
  return out;
}

void add_graphs(Texts& texts, Kind kind, uint64_t count) {
  const std::vector<plan::PlanOptions> options = all_options();
  for (uint64_t seed = 0; seed < count; ++seed) {
    graph::Graph graph = random_graph(seed, kind);
    Diagnostics said;
    if (!ops::verify_graph(graph, said) || !passes::run_pipeline(graph, {}, said)) continue;
    for (const plan::PlanOptions& o : options) {
      const auto program = plan::plan_program(graph, o, said);
      if (!program) continue;
      for (const plan::ProgramFunction& function : program->functions)
        for (const tir::KernelPtr& kernel : tir::kernels_of(*function.body)) texts.add(*kernel);
    }
  }
}

// Kernels for layers larger than those of random graphs.
void add_large_kernels(Texts& texts) {
  for (const char* family : {"quads_rv32", "quads_thumb2"})
    for (int64_t words : {1, 2})
      for (int64_t group : {1, 2, 5, 8})
        for (auto [same, sign] : {std::pair(true, false), std::pair(false, false), std::pair(false, true)})
          texts.add(*ops::QuadKernel{family, words, group, same, sign}.kernel());
  for (int64_t blocks : {1, 2})
    for (int64_t first : {3, 8, 16})
      for (int64_t step : {16, 40, 127})
        for (int form = 0; form < 8; ++form) {
          arm::MveScaling scaling;
          if (form % 4 > 0) scaling.form = arm::MveScaling::Form::kTwice;
          else scaling.left = 8, scaling.shift = 7;
          scaling.products = form % 4 == 2;
          if (form >= 4) scaling.clamp = {-100, 100};
          texts.add(*arm::MveHeld{blocks, first, step, 8}.kernel(scaling));
        }
  using arm::MveDepthwise;
  for (const auto kind : {MveDepthwise::kSquare, MveDepthwise::kRow, MveDepthwise::kColumn})
    for (int32_t most : {100, 127})
      for (bool tail : {false, true}) {
        arm::MveScaling even;
        even.form = arm::MveScaling::Form::kEven;
        even.clamp = {-most - 1, most};
        texts.add(*arm::mve_quads_kernel(kind, even, tail));
      }
}

// Vector kernels of half words, of uint8 and of taps.
void add_wide_kernels(Texts& texts) {
  for (int form = 0; form < 5; ++form)
    for (int32_t most : {100, form < 2 || form == 4 ? 127 : 32767}) {
      arm::MveScaling scaling;
      scaling.clamp = {-most - 1, most};
      if (form == 1) scaling.form = arm::MveScaling::Form::kTwice;
      else if (form == 4) scaling.form = arm::MveScaling::Form::kEven;
      else if (form > 1) scaling.form = arm::MveScaling::Form::kHalves;
      if (form == 0) scaling.left = 8, scaling.shift = 7;
      if (form == 3) scaling.shift = 4;
      scaling.window_sums = form < 2 || form == 4;
      const int64_t bytes = scaling.bytes();
      for (int64_t elements : {3, 24, 72}) {
        texts.add(*arm::mve_gemm_kernel({3, elements, true, bytes}, 19, scaling));
        texts.add(*arm::mve_gemm_kernel({1, elements, false, bytes}, 16, scaling));
        texts.add(*arm::mve_gemv_kernel({1, elements, false, bytes}, 13, scaling));
      }
      scaling.window_sums = false;
      for (int64_t step : {0, 48})
        for (int64_t weight_bytes : {1, 2})
          texts.add(*arm::mve_taps_kernel({3, bytes, weight_bytes, step}, 19, scaling));
    }
  arm::MveScaling sums;
  sums.form = arm::MveScaling::Form::kUnscaled;
  texts.add(*arm::mve_gemv_kernel({1, 643, false, 2}, 19, sums));
  sums.form = arm::MveScaling::Form::kUnscaledBytes;
  for (bool window : {false, true}) {
    sums.window_sums = window;
    for (int64_t elements : {3, 24, 72}) {
      texts.add(*arm::mve_gemm_kernel({3, elements, true}, 19, sums));
      texts.add(*arm::mve_gemm_kernel({1, elements, false}, 16, sums));
      texts.add(*arm::mve_gemv_kernel({1, elements, false}, 13, sums));
    }
  }
  for (int64_t bytes : {1, 2}) texts.add(*arm::mve_fill_kernel(bytes));
}

// Vector kernels of floats: all tiles.
void add_float_kernels(Texts& texts) {
  using arm::FloatTile;
  for (int64_t vectors = 1; vectors <= FloatTile::kMostSums; ++vectors)
    for (int64_t pixels = 1; pixels <= std::min(FloatTile::kMostSums / vectors, FloatTile::kMostPixels); ++pixels)
      for (int64_t unroll = 1; unroll <= FloatTile::kMostUnroll; ++unroll)
        for (int flags = 0; flags < 8; ++flags) {
          FloatTile tile{pixels, vectors, unroll, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0 ? 3 : 0};
          tile.clamps = (flags & 4) == 0;
          if (vectors == 1) tile.lanes = 1 + unroll % FloatTile::kLanes;
          texts.add(*tile.kernel());
        }
  for (int64_t pixels = 1; pixels <= arm::FloatTaps::kMostPixels; ++pixels)
    for (int64_t rows : {1, 5})
      for (int64_t columns : {int64_t{1}, int64_t{3}, arm::FloatTaps::kMostColumns})
        for (int flags = 0; flags < 8; ++flags)
          texts.add(*arm::FloatTaps{pixels, rows, columns, (flags & 1) != 0 ? arm::FloatTaps::kMostStep : 0,
                                    (flags & 2) != 0, (flags & 4) != 0 ? 3 : 0, (flags & 4) == 0}
                         .kernel());
  for (int64_t bytes : {1, 4}) texts.add(*arm::mve_rows_kernel(bytes));
  texts.add(*arm::mve_fill_kernel(4));
}

// Vector kernels of LSTM layers, which random graphs do not have.
void add_lstm_kernels(Texts& texts) {
  for (int64_t pixels : {1, 2})
    for (int64_t depth : {7, 16, 257, 4095})
      for (int flags = 0; flags < 8; ++flags)
        texts.add(*arm::GateProducts{pixels, arm::GateProducts::kTile / pixels, depth, (flags & 1) != 0,
                                     (flags & 2) != 0, (flags & 4) != 0, 3}
                       .kernel());
  texts.add(*arm::lstm_sigmoid_kernel("mve"));
  for (int bits = 0; bits <= 6; ++bits) texts.add(*arm::lstm_tanh_kernel("mve", bits));
  for (int exponent = -15; exponent <= -9; ++exponent)
    for (int32_t clip : {0, 20480})
      for (bool part : {false, true}) texts.add(*arm::lstm_cell_kernel("mve", exponent, clip, part));
  for (bool right : {false, true})
    for (bool part : {false, true}) texts.add(*arm::lstm_hidden_kernel("mve", right, part));
}

// Texts that must be refused: the test can fail.
void check_refusals(Texts& texts) {
  const std::vector<Core> cores = all_cores();
  const std::pair<size_t, const char*> kWrong[] = {
      {0, "smlad r0, r1, r2, r3"}, {3, "add.w r0, r1, #257"}, {3, "vldrb.u8 q0, [r0]"}, {3, "ldrd r0, r1, [r2, #3]"},
      {7, "addi a0,a0,5000"},      {7, "lw a0,2048(a1)"},     {6, "beq nowhere_near"},
  };
  for (const auto& [core, line] : kWrong) {
    cores::Implementation made;
    made.lines = {line};
    // A label is known only where the text defines it; out of reach it is an error of the object's writer.
    if (std::string_view(line).starts_with("beq")) made.lines = {"cbz r0, 1f", ".space 4096", "1:"};
    if (problem_of(assembly_of(made, cores[core]), cores[core]).empty())
      texts.fail(fmt::format("'{}' assembles for {}\n", made.lines[0], cores[core].cpu));
  }
}

int run() {
  Texts texts;
  check_refusals(texts);
  const std::vector<KernelCase> cases = all_kernel_cases();
  for (const KernelCase& c : cases) texts.add(*c.kernel);
  add_large_kernels(texts);
  add_wide_kernels(texts);
  add_float_kernels(texts);
  add_lstm_kernels(texts);
  add_graphs(texts, Kind::kPlain, 60);
  add_graphs(texts, Kind::kRows, 150);
  for (const std::string& family : cores::kernel_families())
    if (!texts.families().contains(family)) texts.fail(fmt::format("no kernel of the family '{}'\n", family));
  std::printf("%zu kernels of %zu families, %d texts assembled, %d failed\n", texts.kernels(), texts.families().size(),
              texts.assembled(), texts.failures());
  return texts.failures() > 0;
}

}  // namespace
}  // namespace aotc::tests

int main() { return aotc::tests::run(); }
