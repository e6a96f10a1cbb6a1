// SPDX-License-Identifier: Apache-2.0
// A family of CPUs as small as one can be: a core "toy" with one kernel, whose text computers with x86-64 run. The
// folder is like one of compiler/cores; there, CMake's table calls add_family_toy.
#include <memory>

#include "cores/family.h"
#include "ops/operator.h"

namespace aotc::cores {

namespace {

using tir::BufferPtr;
using tir::Ex;

// (a, b, out, count): out[i] is the larger of a[i] and b[i], for a count of at least 1.
tir::KernelPtr toy_larger_kernel() {
  tir::FunctionBuilder f("toy_larger");
  BufferPtr a = f.input("a", DType::kI8, 0), b = f.input("b", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  Ex count = f.scalar("count");
  f.loop("i", 0, count, [&](Ex i) { f.store(out, i, max(load(a, i), load(b, i))); });
  return f.finish_kernel("toy_larger", {});
}

// Instructions of one call, if the count is known.
std::optional<int64_t> count_toy(const Implementation& made, const std::vector<CountArgument>& arguments) {
  if (arguments.back().value <= 0) return std::nullopt;
  return arguments.back().value * static_cast<int64_t>(made.lines.size());
}

Implementation toy_larger(const tir::Kernel&) {
  Implementation out;
  out.condition = "defined(__GNUC__) && defined(__x86_64__)";
  out.arguments = {"rdi", "rsi", "rdx", "rcx"};
  out.clobbers = {"rax", "r8"};
  out.lines = {"1:",
               "movsbl (%%rdi), %%eax",
               "movsbl (%%rsi), %%r8d",
               "cmpl %%r8d, %%eax",
               "cmovll %%r8d, %%eax",
               "movb %%al, (%%rdx)",
               "incq %%rdi",
               "incq %%rsi",
               "incq %%rdx",
               "decl %%ecx",
               "jnz 1b"};
  out.count = count_toy;
  return out;
}

bool is_plain_int8(const ops::OpView& op, const ops::TargetInfo& target) {
  return op.operand(0).dtype == DType::kI8 && op.operand(0).shape == op.operand(1).shape && target.allows("toy");
}

// Asked first, and never fit.
std::optional<ops::Lowered> lower_nothing(const ops::OpView&, const ops::TargetInfo&) { return std::nullopt; }

std::optional<ops::Lowered> lower_larger(const ops::OpView& op, const ops::TargetInfo&) {
  ops::LoweringBuilder f(op, "maximum");
  BufferPtr a = f.operand(0), b = f.operand(1), out = f.result();
  f.run(toy_larger_kernel(), {address(a, 0), address(b, 0), address(out, 0), Ex(op.result().elements())});
  f.algorithm("toy");
  return f.finish();
}

}  // namespace

static constexpr machine::Timing kToy = {.source = "a toy", .load = 7};

void add_family_toy(std::vector<Family>& to) {
  Extension extension;
  extension.feature = "toy";
  extension.lowerings = {{"maximum", 10, is_plain_int8, lower_larger}, {"maximum", 20, is_plain_int8, lower_nothing}};
  extension.kernels = {{"toy_larger", toy_larger}};
  Family family;
  family.name = "toy";
  family.isas = {{"toy", {"toy"}}};
  family.cores = {{"toy", "toy", &kToy}};
  family.describe = [](const CpuQuery& query, ops::TargetInfo& target) {
    if (query.isa != "toy") return false;
    target.registers = 5;
    return true;
  };
  family.extensions = {extension};
  to.push_back(std::move(family));
}

}  // namespace aotc::cores
