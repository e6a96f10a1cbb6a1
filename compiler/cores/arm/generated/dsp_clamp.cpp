// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/dsp_clamp.h"

#include <vector>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/dsp_block.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;
using kernelgen::Value;
using tir::Ex;

namespace {

constexpr int kLowest = -128, kHighest = 127;
constexpr int64_t kClampedBytes = 4, kBlockWords = 4;  // of a block

Implementation clamp_text(int least, int most, int words) {
  constexpr int kLeast = 2, kMost = 3;  // registers
  Block body;
  Value pointer = body.live_in(Bank::kCore, 0, false);
  const Value low = least > kLowest ? body.live_in(Bank::kCore, kLeast) : kernelgen::kNoValue;
  const Value high = most < kHighest ? body.live_in(Bank::kCore, kMost) : kernelgen::kNoValue;
  std::vector<Value> values;
  for (int i = 0; i < words; ++i) values.push_back(body.add(dsp::kLoadWordAt, {pointer}, {kClampedBytes * i}, 1));
  for (Value& v : values) {
    if (low != kernelgen::kNoValue) v = body.add(dsp::kMaxBytes, {v, low});
    if (high != kernelgen::kNoValue) v = body.add(dsp::kMinBytes, {v, high});
  }
  for (int i = 1; i < words; ++i)
    body.add(dsp::kStoreWordAt, {pointer, values[static_cast<size_t>(i)]}, {kClampedBytes * i}, 1);
  body.access(dsp::kStoreWordAfter, pointer, {values[0]}, {kClampedBytes * words}, 1);
  body.keep(pointer);

  DspText a;
  Label loop = a.label();
  a.note("On entry r0: results, r1: blocks. Then r1: their end, r2 and r3: bounds in every byte.");
  a.enter(0);
  a.add_lsl(r1, r0, r1, words == kBlockWords ? 4 : 2);
  auto in_every_byte = [](int value) { return static_cast<int>(0x01010101u * (static_cast<unsigned>(value) & 0xFF)); };
  if (least > kLowest) a.load_constant(Reg{kLeast}, in_every_byte(least));
  if (most < kHighest) a.load_constant(Reg{kMost}, in_every_byte(most));
  a.bind(loop);
  a.put(body, 0x5FF0);  // r4 to r12 and lr
  a.cmp(r0, r1);
  a.b("ne", loop);
  a.leave();
  a.at_any_address();
  return a.finish();
}

Ex clamped(const tir::BufferPtr& results, const Ex& i, ops::ClampI32 range) {
  return clamp(load(results, i), range.min, range.max);
}

}  // namespace

Work emit_byte_clamp(LoweringBuilder& f, const tir::BufferPtr& results, ops::ClampI32 range, const TargetInfo& target) {
  const int64_t elements = results->elements;
  const int bounds = (range.min > kLowest ? 1 : 0) + (range.max < kHighest ? 1 : 0);
  if (bounds == 0) return {};
  const Work word{.load = 1, .store = 1, .alu = 2.0 * bounds};
  const Work all = word * (static_cast<double>(elements) / kClampedBytes) + Work{.alu = 10, .branch = 3};
  if (elements < kClampedBytes) {
    f.loop("i", 0, elements, [&](const Ex& i) { f.store(results, i, clamped(results, i, range)); });
    return all;
  }
  const int64_t words = elements >= kClampedBytes * kBlockWords ? kBlockWords : 1, block = kClampedBytes * words;
  const tir::KernelPtr kernel = dsp_clamp_kernel(range, words);
  constexpr double kInstructionsOfWord = 5;
  f.take_turns(turns_of(elements / block, kInstructionsOfWord * static_cast<double>(words), target),
               [&](const Ex& first, int64_t blocks) { f.run(kernel, {address(results, first * block), Ex(blocks)}); });
  // The last block may overlap the one before, which changes nothing.
  if (elements % block != 0) f.run(kernel, {address(results, elements - block), Ex(1)});
  return all;
}

tir::KernelPtr dsp_clamp_kernel(ops::ClampI32 range, int64_t words) {
  tir::FunctionBuilder f("dsp_clamp");
  tir::BufferPtr results = f.output("results", DType::kI8, 0);
  const Ex blocks = f.scalar("blocks");
  f.loop("i", 0, blocks * (kClampedBytes * words),
         [&](const Ex& i) { f.store(results, i, clamped(results, i, range)); });
  return f.finish_kernel("dsp_clamp", {{"least", range.min}, {"most", range.max}, {"words", words}});
}

Implementation dsp_clamp(const tir::Kernel& kernel) {
  return cached(kernel, [&] {
    return clamp_text(parameter(kernel, "least"), parameter(kernel, "most"), parameter(kernel, "words"));
  });
}

}  // namespace aotc::cores::arm
