// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/dsp_clamp.h"

#include <algorithm>
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
constexpr int64_t kClampedBytes = 4, kBlockWords = 4, kBlockBytes = kClampedBytes * kBlockWords;

// `apart`: the bytes are read elsewhere, which may be where they are written.
Implementation clamp_text(int least, int most, int words, bool apart) {
  const Reg to{apart ? 1 : 0}, blocks{to.number + 1}, low_bytes{to.number + 2}, high_bytes{to.number + 3};
  Block body;
  Value from = body.live_in(Bank::kCore, 0, false);
  Value pointer = apart ? body.live_in(Bank::kCore, to.number, false) : from;
  const Value low = least > kLowest ? body.live_in(Bank::kCore, low_bytes.number) : kernelgen::kNoValue;
  const Value high = most < kHighest ? body.live_in(Bank::kCore, high_bytes.number) : kernelgen::kNoValue;
  std::vector<Value> values(static_cast<size_t>(words));
  for (int i = apart ? 1 : 0; i < words; ++i)
    values[static_cast<size_t>(i)] = body.add(dsp::kLoadWordAt, {from}, {kClampedBytes * i}, 1);
  if (apart) values[0] = body.access(dsp::kLoadWordAfter, from, {}, {kClampedBytes * words}, 1);
  for (Value& v : values) {
    if (low != kernelgen::kNoValue) v = body.add(dsp::kMaxBytes, {v, low});
    if (high != kernelgen::kNoValue) v = body.add(dsp::kMinBytes, {v, high});
  }
  for (int i = 1; i < words; ++i)
    body.add(dsp::kStoreWordAt, {pointer, values[static_cast<size_t>(i)]}, {kClampedBytes * i}, 1);
  body.access(dsp::kStoreWordAfter, pointer, {values[0]}, {kClampedBytes * words}, 1);
  body.keep(pointer);
  if (apart) body.keep(from);

  DspText a;
  Label loop = a.label();
  a.note(apart ? "On entry r0: bytes, r1: results, r2: blocks. Then r2: their end, r3 and r4: bounds in every byte."
               : "On entry r0: results, r1: blocks. Then r1: their end, r2 and r3: bounds in every byte.");
  a.enter(0);
  a.add_lsl(blocks, to, blocks, words == kBlockWords ? 4 : 2);
  auto in_every_byte = [](int value) { return static_cast<int>(0x01010101u * (static_cast<unsigned>(value) & 0xFF)); };
  if (least > kLowest) a.load_constant(low_bytes, in_every_byte(least));
  if (most < kHighest) a.load_constant(high_bytes, in_every_byte(most));
  a.bind(loop);
  a.put(body, apart ? 0x5FE0 : 0x5FF0);  // r4, or r5, to r12 and lr
  a.cmp(to, blocks);
  a.b("ne", loop);
  a.leave();
  a.at_any_address();
  return a.finish();
}

int bounds_of(ops::ClampI32 range) { return (range.min > kLowest ? 1 : 0) + (range.max < kHighest ? 1 : 0); }

Work clamp_work(ops::ClampI32 range, int64_t elements) {
  const Work word{.load = 1, .store = 1, .alu = 2.0 * bounds_of(range)};
  return word * (static_cast<double>(elements) / kClampedBytes) + Work{.alu = 10, .branch = 3};
}

Ex clamped(const tir::BufferPtr& results, const Ex& i, ops::ClampI32 range) {
  return clamp(load(results, i), range.min, range.max);
}

}  // namespace

std::optional<ops::ClampI32> clamp_of_table(const OpView& op) {
  if (op.operand(0).dtype != DType::kI8 || op.result().dtype != DType::kI8) return std::nullopt;
  const std::vector<int8_t> values = op.constant(1)->to_vector<int8_t>();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const ops::ClampI32 range{*least, *most};
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != std::clamp(static_cast<int>(i) + kLowest, range.min, range.max)) return std::nullopt;
  return bounds_of(range) > 0 ? std::optional(range) : std::nullopt;
}

Work emit_byte_clamp(LoweringBuilder& f, const tir::BufferPtr& results, ops::ClampI32 range, const TargetInfo& target) {
  const int64_t elements = results->elements;
  if (bounds_of(range) == 0) return {};
  const Work all = clamp_work(range, elements);
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

tir::KernelPtr dsp_clamp_kernel(ops::ClampI32 range, int64_t words, bool apart) {
  tir::FunctionBuilder f("dsp_clamp");
  const tir::BufferPtr from = apart ? f.input("x", DType::kI8, 0) : nullptr;
  tir::BufferPtr results = f.output("results", DType::kI8, 0);
  const Ex blocks = f.scalar("blocks");
  f.loop("i", 0, blocks * (kClampedBytes * words),
         [&](const Ex& i) { f.store(results, i, clamped(apart ? from : results, i, range)); });
  std::vector<std::pair<std::string, int64_t>> parameters = {
      {"least", range.min}, {"most", range.max}, {"words", words}};
  if (apart) parameters.push_back({"apart", 1});
  return f.finish_kernel("dsp_clamp", std::move(parameters));
}

Implementation dsp_clamp(const tir::Kernel& kernel) {
  return cached(kernel, [&] {
    return clamp_text(parameter(kernel, "least"), parameter(kernel, "most"), parameter(kernel, "words"),
                      has_parameter(kernel, "apart"));
  });
}

std::optional<Lowered> lower_byte_clamp(const OpView& op, const TargetInfo& target) {
  const auto range = clamp_of_table(op);
  const int64_t elements = op.result().elements(), whole = elements / kBlockBytes;
  if (!range || whole == 0) return std::nullopt;
  LoweringBuilder f(op, "byte_table");
  const tir::BufferPtr in = f.operand(0), out = f.result();
  const tir::KernelPtr kernel = dsp_clamp_kernel(*range, kBlockWords, true);
  constexpr double kInstructions = 20;  // of a block
  f.take_turns(turns_of(whole, kInstructions, target), [&](const Ex& first, int64_t blocks) {
    f.run(kernel, {address(in, first * kBlockBytes), address(out, first * kBlockBytes), Ex(blocks)});
  });
  f.loop("i", whole * kBlockBytes, elements, [&](const Ex& i) { f.store(out, i, clamped(in, i, *range)); });
  f.publish_in_place(0);
  f.estimate(clamp_work(*range, elements), target);
  return f.finish("clamp of four bytes at a time");
}

}  // namespace aotc::cores::arm
