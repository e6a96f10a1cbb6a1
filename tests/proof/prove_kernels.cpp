// SPDX-License-Identifier: Apache-2.0
// Proves kernels for Thumb and RV32: assembles a kernel's text, runs the bytes over unknown data, runs
// the kernel's meaning over the same data, and compares all bytes that either writes. docs/soundness.md says what that
// proves. Kernels, sizes of buffers and tables of shapes are those of tests/kernels.
//
//   prove_kernels [--only NAME] [--every N] [--values] [--mutants all|N] [--verbose] | --rules
//
// --rules: tests the rules by which terms are equal. --only: kernels whose names begin so. --every: the first kernel of
// each family, and each N-th. --values: instead, run the calls with the values of tests/kernels, and compare with the
// interpreter of TIR. --mutants: tries so many of a kernel.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "../kernels/cases.h"
#include "cores/implementation.h"
#include "families.h"
#include "machine.h"
#include "meaning.h"
#include "mutants.h"
#include "rules.h"

namespace aotc::tests::proof {

namespace {

// Mutants that are accepted for another reason than that nothing depends on what they change: parts of the names of the
// kernel and of the mutant.
struct Equivalent {
  std::string_view kernel, what, reason;
};
constexpr Equivalent kEquivalents[] = {
    {"gemm_pairs_1_", "'strh r2, [r1], #2': operand 1: register 5",
     "r5 moves along as the copy of out on the stack does"},
    {"_9999_1", "'ssat r8, #16, r8': ", "the limits of the cell, which follow, are narrower"},
    {"dw_strided_", "'beq #76': operand 0: +8", "skips that no iterations are added to the counter"},
};

std::string assembly_of(const Isa& isa, const cores::Implementation& made) {
  const auto [before, behind] = isa.frame();
  std::string text = before + ".cfi_sections .debug_frame\nkernel:\n.cfi_startproc\n";
  for (const std::string& line : made.lines) {
    if (cores::is_comment(line)) continue;
    // A literal's "\\" is one character of the text.
    for (size_t i = 0; i < line.size(); ++i) text += line[i] == '\\' ? line[++i] : line[i];
    text += "\n";
  }
  return text + ".cfi_endproc\n" + behind;
}

const Isa& isa_of(const tir::Kernel& kernel) { return kernel.family.ends_with("_rv32") ? riscv() : thumb(); }

// A kernel's text.
struct Text {
  const Isa* isa = nullptr;
  cores::Implementation made;
  std::vector<Instruction> instructions;
  std::vector<bool> ran;
};

// What is known of a call: the bytes that its decisions depend on, besides sizes and scalars.
class Proof {
 public:
  // `alignment`: of buffers, if it is more than their elements need.
  Proof(const KernelCase& c, Text& text, int alignment)
      : case_(c),
        text_(text),
        family_(family_of(c.kernel->family)),
        meaning_(*c.kernel->meaning),
        terms_(family_.rules),
        scalars_(c.scalars) {
    if (family_.assumed != nullptr) assumed_ = family_.assumed(c);
    for (size_t i = 0; i < std::min(scalars_.size(), family_.most_scalars.size()); ++i)
      scalars_[i] = std::min(scalars_[i], family_.most_scalars[i]);
    for (size_t i = 0; i < c.buffers.size(); ++i) {
      const tir::Buffer& param = *meaning_.params[i];
      const Buffer& buffer = c.buffers[i];
      Region r;
      r.name = param.name;
      r.source = terms_.new_source(param.name);
      r.values.assign(buffer.bytes.begin() + buffer.from, buffer.bytes.end());
      r.bytes = static_cast<int64_t>(r.values.size());
      r.known.assign(r.values.size(), family_.tables.contains(i));
      for (size_t byte = 0; byte < r.known.size() && family_.is_known != nullptr; ++byte)
        r.known[byte] = family_.is_known(c, i, static_cast<int64_t>(byte / 4));
      r.table = param.role == tir::Role::kConstant;
      r.alignment = std::max({alignment, param.alignment, static_cast<int>(size_of(param.dtype))});
      if (buffer.from % 4 != 0) r.alignment = static_cast<int>(size_of(param.dtype));
      r.writable = param.role == tir::Role::kOutput || param.role == tir::Role::kScratch;
      if (assumed_) r.assumed = [this, i](const Region&, Bit bit) { return assumed(i, bit); };
      regions_.push_back(r);
    }
    add_region("stack", text.made.stack_bytes, 8, true);
    add_region("code", 0, 4, false);
    call_.stack = static_cast<int32_t>(c.buffers.size()), call_.code = call_.stack + 1;
    for (size_t i = 0; i < c.buffers.size(); ++i) call_.arguments.push_back(terms_.base(static_cast<int32_t>(i)));
    for (int32_t v : scalars_) call_.arguments.push_back(terms_.constant(static_cast<uint32_t>(v)));
    call_.clobbers = text.made.arguments;
    call_.clobbers.insert(call_.clobbers.end(), text.made.clobbers.begin(), text.made.clobbers.end());
    call_.most_steps = 10'000'000;
    call_.data_decides = family_.data_decides;
  }

  // Throws Failure.
  void run() {
    constexpr int kMostRuns = 200;
    check_assumptions();
    for (int i = 0; i < kMostRuns; ++i) {
      try {
        expected_ = std::make_unique<Memory>(terms_, regions_);
        run_meaning(terms_, *expected_, meaning_, scalars_);
        Memory memory(terms_, regions_);
        ran_.assign(text_.instructions.size(), false);
        int64_t steps = 0;
        text_.isa->machine(terms_, memory, text_.instructions, call_)->run(&ran_, &steps);
        compare(memory);
        steps_ = steps;
        call_.most_steps = 2 * steps + 100;
        return;
      } catch (const NeedsKnown& needs) {
        learn(needs);
      }
    }
    throw Failure("too many words that decide");
  }

  // As `run`, for values that are all known.
  void run_values() {
    scalars_ = case_.scalars;
    for (size_t i = 0; i < scalars_.size(); ++i)
      call_.arguments[case_.buffers.size() + i] = terms_.constant(static_cast<uint32_t>(scalars_[i]));
    for (Region& r : regions_) r.known.assign(r.values.size(), true);
    expected_ = std::make_unique<Memory>(terms_, regions_);
    run_meaning(terms_, *expected_, meaning_, scalars_);
    Memory memory(terms_, regions_);
    text_.isa->machine(terms_, memory, text_.instructions, call_)->run();
    compare(memory);
    compare_with_interpreter();
  }

  // Whether the checker accepts another text in place of the kernel's.
  bool accepts(const std::vector<Instruction>& other, Trial* trial = nullptr) {
    const Terms::Mark mark = terms_.mark();
    bool same = true;
    try {
      Memory memory(terms_, regions_);
      text_.isa->machine(terms_, memory, other, call_)->run(nullptr, nullptr, trial);
      compare(memory);
    } catch (const Failure&) {
      same = false;
    } catch (const NeedsKnown&) {
      same = false;
    }
    terms_.forget(mark);
    return same;
  }

  // Sizes, scalars and the bytes that are known: calls with equal keys have equal proofs.
  std::string key() const {
    std::string out = tir::name_of(*case_.kernel);
    for (int32_t s : scalars_) out += fmt::format(" {}", s);
    for (const Region& r : regions_) {
      out += fmt::format(" {}:", r.bytes);
      for (size_t i = 0; i < r.known.size(); ++i)
        if (r.known[i]) out += fmt::format("{},{};", i, r.values[i]);
    }
    return out;
  }
  int64_t known_bytes(size_t buffer) const {
    return std::count(regions_[buffer].known.begin(), regions_[buffer].known.end(), true);
  }
  const tir::Kernel& kernel() const { return *case_.kernel; }
  const std::vector<bool>& ran() const { return ran_; }
  int64_t steps() const { return steps_; }
  bool used_float_rules() const { return terms_.used_float_rules(); }

 private:
  Bit assumed(size_t parameter, Bit bit) const {
    const Bit out = assumed_(parameter, bit);
    return out.source == Bit::kConstant ? out : Bit{bit.source, out.index};
  }
  // The data of the call must be as it is assumed.
  void check_assumptions() const {
    if (!assumed_) return;
    for (size_t i = 0; i < case_.buffers.size(); ++i) {
      const Region& r = regions_[i];
      auto value = [&](int32_t bit) { return r.values[static_cast<size_t>(bit / 8)] >> (bit % 8) & 1; };
      for (int32_t bit = 0; bit < 8 * r.bytes; ++bit) {
        const Bit other = assumed(i, {r.source, bit});
        if ((other.source == Bit::kConstant ? other.index : value(other.index)) != value(bit))
          throw Failure(fmt::format("bit {} of '{}' is not as it is assumed", bit, r.name));
      }
    }
  }

  void add_region(const char* name, int64_t bytes, int alignment, bool writable) {
    Region r;
    r.name = name, r.source = terms_.new_source(name), r.bytes = bytes, r.alignment = alignment, r.writable = writable;
    regions_.push_back(r);
  }

  // Words of one table at a time: the last parameter has sizes, and with them known the words of others, which may be
  // weights, decide no more.
  void learn(const NeedsKnown& needs) {
    for (size_t i = case_.buffers.size(); i-- > 0;)
      if (learn_of(i, needs)) return;
    throw Failure("a decision that depends on no table");
  }

  bool learn_of(size_t i, const NeedsKnown& needs) {
    constexpr int64_t kMostOffsets = 64;  // beside data
    Region& region = regions_[i];
    bool more = false;
    for (const Bit& bit : needs.bits) {
      if (region.source != bit.source) continue;
      if (meaning_.params[i]->role != tir::Role::kConstant && known_bytes(i) >= kMostOffsets)
        throw Failure(fmt::format("the data of '{}' decides", region.name));
      const auto word = static_cast<size_t>(bit.index / 32 * 4);
      for (size_t byte = word; byte < word + 4 && byte < region.known.size(); ++byte) {
        more = more || !region.known[byte];
        region.known[byte] = true;
      }
    }
    return more;
  }

  void compare(const Memory& memory) {
    for (size_t i = 0; i < case_.buffers.size(); ++i) {
      const auto r = static_cast<int32_t>(i);
      std::set<int64_t> all;
      for (const auto& [at, byte] : memory.written(r)) all.insert(at);
      for (const auto& [at, byte] : expected_->written(r)) all.insert(at);
      for (int64_t at : all)
        if (memory.byte(r, at) != expected_->byte(r, at) &&
            !terms_.equal(memory.load(r, at, 1, false), expected_->load(r, at, 1, false)))
          throw Failure(fmt::format("byte {} of '{}' is {}, not {}", at, regions_[i].name, text_of(memory, r, at),
                                    text_of(*expected_, r, at)));
    }
  }
  std::string text_of(const Memory& memory, int32_t r, int64_t at) { return terms_.text(memory.load(r, at, 1, false)); }

  // The interpreter of TIR has another arithmetic.
  void compare_with_interpreter() {
    tir::Function caller{"caller", {}, nullptr};
    std::vector<tir::ExprPtr> arguments;
    std::vector<std::vector<uint8_t>> data;
    for (size_t i = 0; i < case_.buffers.size(); ++i) {
      auto buffer = std::make_shared<tir::Buffer>(*meaning_.params[i]);
      buffer->elements = regions_[i].bytes / size_of(buffer->dtype);
      data.emplace_back(regions_[i].values.begin(),
                        regions_[i].values.begin() + buffer->elements * size_of(buffer->dtype));
      arguments.push_back(std::make_shared<tir::Address>(buffer, std::make_shared<tir::IntImm>(DType::kI32, 0)));
      caller.params.push_back(buffer);
    }
    for (int32_t v : case_.scalars) arguments.push_back(std::make_shared<tir::IntImm>(DType::kI32, v));
    caller.body = std::make_shared<tir::Block>(
        std::vector<tir::StmtPtr>{std::make_shared<tir::CallKernel>(case_.kernel, arguments)});
    const tir::FunctionPtr inlined = tir::inline_kernels(std::make_shared<tir::Function>(caller));
    std::vector<tir::Memory> memory;
    for (auto& bytes : data) memory.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
    Diagnostics said;
    if (!tir::interpret(*inlined, memory, said)) throw Failure("the interpreter refuses the call");
    for (size_t i = 0; i < data.size(); ++i)
      for (const auto& [at, byte] : expected_->written(static_cast<int32_t>(i))) {
        const auto known = terms_.value_of(expected_->load(static_cast<int32_t>(i), at, 1, false));
        if (known != data[i][static_cast<size_t>(at)])
          throw Failure(fmt::format("byte {} of '{}' is {} in the interpreter", at, regions_[i].name,
                                    data[i][static_cast<size_t>(at)]));
      }
  }

  const KernelCase& case_;
  Text& text_;
  const Family& family_;
  std::function<Bit(size_t parameter, Bit)> assumed_;
  const tir::Function& meaning_;
  Terms terms_;
  std::vector<int32_t> scalars_;
  std::vector<Region> regions_;
  Call call_;
  std::unique_ptr<Memory> expected_;
  std::vector<bool> ran_;
  int64_t steps_ = 0;
};

struct Options {
  std::string only;
  bool values = false, verbose = false;
  int64_t mutants = 0;  // of a kernel, at most; -1: all
  size_t every = 1;
};

struct Counts {
  int64_t kernels = 0, calls = 0, steps = 0, floats = 0, aligned = 0, assumed = 0, not_reached = 0, failed = 0,
          values = 0;
  int64_t mutants = 0, noticed = 0, same = 0, unused = 0, by_values = 0, listed = 0;
};

class Prover {
 public:
  explicit Prover(const Options& options) : options_(options) {}

  void add(const std::vector<const KernelCase*>& cases) {
    const std::string name = tir::name_of(*cases.front()->kernel);
    const auto made = cores::implementation_of(*cases.front()->kernel);
    if (!made || made->lines.empty()) return;
    Text text;
    text.isa = &isa_of(*cases.front()->kernel);
    text.made = *made;
    std::vector<std::unique_ptr<Proof>> proofs;
    try {
      read(text);
    } catch (const Failure& failure) {
      ++counts_.failed;
      problems_[failure.what()].push_back(name);
      return;
    }
    std::set<std::string> keys;
    bool floats = false;
    int alignment = 1;
    for (size_t at = 0; at < cases.size(); ++at) {
      const KernelCase* c = cases[at];
      auto proof = std::make_unique<Proof>(*c, text, alignment);
      try {
        if (options_.values) {
          proof->run_values();
          ++counts_.values;
          continue;
        }
        proof->run();
      } catch (const Failure& failure) {
        const std::string what = std::string(failure.what()).substr(0, kMostText);
        constexpr int kWords = 4;
        if (what.ends_with("no multiple of 4") && alignment < kWords) {
          alignment = kWords;
          --at;
          continue;
        }
        ++counts_.failed;
        problems_[what].push_back(name);
        return;
      }
      if (!keys.insert(proof->key()).second) continue;
      counts_.steps += proof->steps();
      floats = floats || proof->used_float_rules();
      for (size_t i = 0; i < text.ran.size(); ++i) text.ran[i] = text.ran[i] || proof->ran()[i];
      proofs.push_back(std::move(proof));
    }
    counts_.aligned += alignment > 1 ? 1 : 0;
    counts_.assumed += family_of(cases.front()->kernel->family).assumed != nullptr ? 1 : 0;
    ++counts_.kernels;
    ++families_[cases.front()->kernel->family];
    counts_.calls += static_cast<int64_t>(proofs.size());
    counts_.floats += floats ? 1 : 0;
    if (options_.values) return;
    const auto missed = std::count(text.ran.begin(), text.ran.end(), false);
    counts_.not_reached += missed;
    if (missed > 0 && options_.verbose)
      std::printf("%s: %d of %zu instructions are not reached\n", name.c_str(), static_cast<int>(missed),
                  text.ran.size());
    if (options_.verbose) print_known(name, cases.front(), *proofs.front(), proofs.size());
    if (options_.mutants != 0) mutate(name, text, proofs);
  }

  int finish() const {
    for (const auto& [what, names] : problems_)
      std::printf("%zu kernels, such as %s: %s\n", names.size(), names.front().c_str(), what.c_str());
    for (const auto& [family, count] : families_) std::printf("  %-24s %d\n", family.c_str(), count);
    if (options_.values) std::printf("%lld calls with values agree\n", static_cast<long long>(counts_.values));
    std::printf(
        "%lld kernels proven in %lld calls, %lld instructions run, %lld instructions not reached; %lld kernels by "
        "rules "
        "of floats, %lld by assumptions about bits of data, %lld need aligned buffers\n",
        static_cast<long long>(counts_.kernels), static_cast<long long>(counts_.calls),
        static_cast<long long>(counts_.steps), static_cast<long long>(counts_.not_reached),
        static_cast<long long>(counts_.floats), static_cast<long long>(counts_.assumed),
        static_cast<long long>(counts_.aligned));
    const int64_t others =
        counts_.mutants - counts_.noticed - counts_.same - counts_.unused - counts_.by_values - counts_.listed;
    if (counts_.mutants > 0)
      std::printf(
          "%lld mutants: %lld noticed, %lld have the same effect, %lld change only bits that nothing uses, "
          "%lld have equal results for all values, %lld are listed as equivalent, %lld others\n",
          static_cast<long long>(counts_.mutants), static_cast<long long>(counts_.noticed),
          static_cast<long long>(counts_.same), static_cast<long long>(counts_.unused),
          static_cast<long long>(counts_.by_values), static_cast<long long>(counts_.listed),
          static_cast<long long>(others));
    const long long passed = counts_.kernels, failed = counts_.failed + others;
    std::printf("%lld passed, %lld failed\n", passed, failed);
    return failed > 0;
  }

 private:
  void read(Text& text) {
    const MachineCode& code = text.isa == &thumb() ? thumb_code_ : riscv_code_;
    const Assembled assembled = code.assemble(assembly_of(*text.isa, text.made));
    if (!assembled.problem.empty()) throw Failure("LLVM: " + assembled.problem);
    if (!assembled.is_final) throw Failure("the text has relocations");
    text.instructions = instructions_of(*text.isa, code, assembled.bytes);
    // ADR counts from a multiple of 4, and the first instruction is taken to be at one.
    const bool has_addresses = std::ranges::any_of(text.instructions, [](const auto& i) { return i.name == "adr"; });
    constexpr int kAlignment = 4;
    if (has_addresses && text.made.function_alignment % kAlignment != 0)
      throw Failure("addresses in a text that may begin anywhere");
    text.ran.assign(text.instructions.size(), false);
  }

  static void print_known(const std::string& name, const KernelCase* c, const Proof& proof, size_t calls) {
    std::string known;
    for (size_t i = 0; i < c->buffers.size(); ++i)
      if (proof.known_bytes(i) > 0)
        known += fmt::format(" {} of {} bytes of '{}'", proof.known_bytes(i), c->buffers[i].bytes.size(),
                             c->kernel->meaning->params[i]->name);
    std::printf("%s: %zu calls, known:%s\n", name.c_str(), calls, known.c_str());
  }

  void mutate(const std::string& name, const Text& text, std::vector<std::unique_ptr<Proof>>& proofs) {
    // Short calls first: they notice most.
    std::ranges::sort(proofs, {}, [](const auto& p) { return p->steps(); });
    std::vector<Mutant> all = mutants_of(*text.isa, text.instructions);
    const auto wanted = static_cast<size_t>(options_.mutants < 0 ? static_cast<int64_t>(all.size()) : options_.mutants);
    const size_t step = std::max<size_t>(1, all.size() / std::max<size_t>(1, wanted));
    for (size_t i = 0; i < all.size(); i += step) {
      const Mutant& m = all[i];
      ++counts_.mutants;
      bool noticed = false;
      std::vector<Instruction> other = text.instructions;
      other[m.where] = m.other;
      for (const auto& proof : proofs) {
        if (noticed) break;
        if (!proof->ran()[m.where]) continue;
        noticed = !proof->accepts(other);
      }
      if (noticed) {
        ++counts_.noticed;
        continue;
      }
      Trial trial{m.where, m.other};
      const bool unused = std::ranges::all_of(proofs, [&](const auto& proof) {
        return !proof->ran()[m.where] || proof->accepts(text.instructions, &trial);
      });
      const bool listed = std::ranges::any_of(kEquivalents, [&](const Equivalent& e) {
        return name.find(e.kernel) != name.npos && m.what.find(e.what) != m.what.npos;
      });
      if (unused) ++(trial.same ? counts_.same : counts_.unused);
      else if (family_of(proofs.front()->kernel().family).rules.all_values) ++counts_.by_values;
      else if (listed) ++counts_.listed;
      else std::printf("%s: not noticed: %s\n", name.c_str(), m.what.c_str());
    }
  }

  static constexpr size_t kMostText = 400;

  const Options options_;
  const MachineCode thumb_code_{thumb().core()}, riscv_code_{riscv().core()};
  Counts counts_;
  std::map<std::string, std::vector<std::string>> problems_;
  std::map<std::string, int> families_;
};

int run(const Options& options) {
  std::vector<KernelCase> cases = all_kernel_cases();
  for (KernelCase& c : riscv_kernel_cases()) cases.push_back(std::move(c));
  std::vector<std::string> names;
  std::map<std::string, std::vector<const KernelCase*>> by_name;
  for (const KernelCase& c : cases) {
    const std::string name = tir::name_of(*c.kernel);
    if (!name.starts_with(options.only)) continue;
    auto& list = by_name[name];
    if (list.empty()) names.push_back(name);
    list.push_back(&c);
  }
  Prover prover(options);
  std::set<std::string> families;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto& list = by_name[names[i]];
    if (families.insert(list.front()->kernel->family).second || i % options.every == 0) prover.add(list);
  }
  return prover.finish();
}

}  // namespace
}  // namespace aotc::tests::proof

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  aotc::tests::proof::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--values") options.values = true;
    else if (argument == "--verbose") options.verbose = true;
    else if (argument == "--rules") return aotc::tests::proof::check_rules();
    else if (argument == "--every" && i + 1 < argc) options.every = std::max(1, std::atoi(argv[++i]));
    else if (argument == "--only" && i + 1 < argc) options.only = argv[++i];
    else if (argument == "--mutants" && i + 1 < argc) {
      const std::string_view count = argv[++i];
      options.mutants = count == "all" ? -1 : std::atoll(argv[i]);
    } else {
      return std::fputs(
                 "usage: prove_kernels [--only NAME] [--every N] [--values] [--mutants all|N] [--verbose] | --rules\n",
                 stderr),
             2;
    }
  }
  return aotc::tests::proof::run(options);
}
