// SPDX-License-Identifier: Apache-2.0
// Generated kernels of the int8 LSTM for Thumb-2 with the DSP extension: one cell an iteration.
#include <cstdlib>
#include <utility>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/dsp_block.h"
#include "cores/arm/generated/fixed_point.h"
#include "cores/arm/generated/lstm_kernels.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;
using kernelgen::register_bit;
using kernelgen::Registers;
using kernelgen::Value;

namespace {

constexpr int kHalfBytes = 2;            // bytes
constexpr Registers kLoopCore = 0x5FFF;  // r0 to r12 and lr

// A loop whose pointer in r0 moves to the end in r1. The loop has as many constants in registers as leave enough for
// its values.
template <typename Describe>
Implementation loop_with_constants(const char* note, Describe describe) {
  constexpr int kFirstConstant = 2, kMost = 6;  // the values of such a loop need six registers
  LoopConstants counted;
  Block uses;
  DspMachine counting(uses, counted);
  describe(uses, counting);
  for (int count = kMost; count >= 0; --count) {
    LoopConstants constants = counted;
    std::vector<int> registers;
    for (int i = 0; i < count; ++i) registers.push_back(kFirstConstant + i);
    constants.assign(registers);
    Block body;
    DspMachine m(body, constants);
    describe(body, m);
    const auto found = DspText::find(body, kLoopCore & ~register_bit(0) & ~register_bit(1));
    if (!found) continue;
    DspText a;
    Label loop = a.label();
    a.note(note);
    a.enter(4 * static_cast<int>(constants.framed().size()));
    a.add_lsl(r1, r0, r1, 1);
    for (const auto& [value, offset] : constants.framed()) {
      a.load_constant(r2, value);
      a.str(r2, sp, offset);
    }
    for (const auto& [value, number] : constants.assigned()) a.load_constant(Reg{number}, value);
    a.bind(loop);
    a.put(body, *found);
    a.cmp(r0, r1);
    a.b("ne", loop);
    a.leave();
    return a.finish();
  }
  std::abort();  // Without constants in registers each of these loops finds registers: see the unit tests.
}

template <typename Function>
Implementation dsp_activation(Function function) {
  return loop_with_constants("On entry r0: values, r1: count. On the stack from sp: constants.",
                             [&](Block& block, DspMachine& m) {
                               Value pointer = block.live_in(Bank::kCore, 0, false);
                               const Value a = block.add(dsp::kLoadHalf, {pointer}, {}, 1);
                               block.access(dsp::kStoreHalfAfter, pointer, {function(m, a)}, {kHalfBytes}, 1);
                               block.keep(pointer);
                             });
}

}  // namespace

Implementation dsp_lstm_sigmoid(const tir::Kernel& kernel) {
  return cached(kernel, [] { return dsp_activation([](DspMachine& m, Value a) { return sigmoid(m, a, 3); }); });
}

Implementation dsp_lstm_tanh(const tir::Kernel& kernel) {
  const int integer_bits = parameter(kernel, "integer_bits");
  return cached(kernel,
                [=] { return dsp_activation([=](DspMachine& m, Value a) { return tanh(m, a, integer_bits); }); });
}

// r0, r3, r4: input, forget and cell gate, r1: cell and r2 its end; r5, r6: what rounds both products, r7: clip.
// Gates of sigmoid are not negative, so the other factor has the sign of a product that does not round to 0.
Implementation dsp_lstm_cell(const tir::Kernel& kernel) {
  const int right = 30 + parameter(kernel, "exponent"), clip = parameter(kernel, "clip");
  Block body;
  Value input = body.live_in(Bank::kCore, 0, false), cell = body.live_in(Bank::kCore, 1, false),
        forget = body.live_in(Bank::kCore, 3, false), fresh = body.live_in(Bank::kCore, 4, false);
  auto rounded = [&](Value gate, Value signed_value, int rounding) {
    const Value sum = body.add(dsp::kHalvesAdd, {gate, signed_value, body.live_in(Bank::kCore, rounding)});
    return body.add(dsp::kAddRight, {sum, signed_value}, {31});
  };
  const Value f = body.access(dsp::kLoadHalfAfter, forget, {}, {kHalfBytes}, 1);
  const Value c = body.add(dsp::kLoadHalf, {cell}, {}, 2);
  const Value g = body.access(dsp::kLoadHalfAfter, fresh, {}, {kHalfBytes}, 3);
  const Value i = body.add(dsp::kLoadHalf, {input}, {}, 4);
  const Value old = body.add(dsp::kRight, {rounded(f, c, 5)}, {15});
  Value sum = body.add(dsp::kAddRight, {old, rounded(i, g, 6)}, {right});
  sum = body.add(dsp::kSaturate, {sum}, {16});
  if (clip > 0) {
    const Value limit = body.live_in(Bank::kCore, 7);
    sum = body.add(dsp::kLeast, {body.add(dsp::kMost, {sum, limit}), limit});
  }
  body.access(dsp::kStoreHalfAfter, cell, {sum}, {kHalfBytes}, 2);
  body.access(dsp::kStoreHalfAfter, input, {sum}, {kHalfBytes}, 4);
  for (Value pointer : {input, cell, forget, fresh}) body.keep(pointer);

  DspText a;
  Label loop = a.label();
  a.note("On entry r0: gates, r1: cell, r2: table. Then r2: the cell's end, r3: forget gate, r4: cell gate.");
  a.enter(0);
  a.ldrd(r5, r6, r2, 4 * LstmCellTable::kStride);
  static_assert(LstmCellTable::kCells == LstmCellTable::kStride + 1);
  a.add(r3, r0, r5);
  a.add_lsl(r4, r3, r5, 1);
  a.add_lsl(r2, r1, r6, 1);
  a.load_constant(r5, 1 << 14);
  a.load_constant(r6, 1 << (right - 1));
  if (clip > 0) a.load_constant(r7, clip);
  a.bind(loop);
  a.put(body, 0x5F00);
  a.cmp(r1, r2);
  a.b("ne", loop);
  a.leave();
  return a.finish();
}

// r0: tanh of the cell, r3: output gate, r1: out and r2 its end; r4: multiplier, r5: shift, r7: addend. Rounded as the
// cell is, by the sign of tanh.
Implementation dsp_lstm_hidden(const tir::Kernel& kernel) {
  const bool right = parameter(kernel, "right") != 0;
  Block body;
  Value shown = body.live_in(Bank::kCore, 0, false), out = body.live_in(Bank::kCore, 1, false),
        gate = body.live_in(Bank::kCore, 3, false);
  const Value multiplier = body.live_in(Bank::kCore, 4), by = body.live_in(Bank::kCore, 5),
              addend = body.live_in(Bank::kCore, 7);
  const Value a16 = body.access(dsp::kLoadHalfAfter, shown, {}, {kHalfBytes}, 1);
  const Value b16 = body.access(dsp::kLoadHalfAfter, gate, {}, {kHalfBytes}, 2);
  const Value twice = body.add(dsp::kLeft, {body.add(dsp::kHalves, {a16, b16})}, {1});
  Value sum = body.add(dsp::kHighAdd, {twice, multiplier, addend});
  if (right) sum = body.add(dsp::kRightBy, {body.add(dsp::kAddRight, {sum, a16}, {31}), by});
  body.access(dsp::kStoreByteAfter, out, {body.add(dsp::kSaturate, {sum}, {8})}, {1}, 3);
  for (Value pointer : {shown, gate, out}) body.keep(pointer);

  DspText a;
  Label loop = a.label();
  a.note("On entry r0: gates, r1: out, r2: table. Then r2: the end of out, r3: output gate, r4, r5, r7: multiplier,");
  a.note("shift, addend.");
  a.enter(0);
  a.ldm(r2, {r2, r3, r4, r5, r6, r7});
  static_assert(LstmCellTable::kStride == 0 && LstmCellTable::kCells == 1 && LstmCellTable::kMultiplier == 2 &&
                LstmCellTable::kRight == 3 && LstmCellTable::kAddend == 5);
  a.add(r6, r1, r3);
  a.add_lsl(r3, r0, r2, 1);
  a.mov(r2, r6);
  if (right) {
    a.mov(r6, 0);
    a.sub(r5, r6, r5);
  }
  a.bind(loop);
  a.put(body, 0x5F40);
  a.cmp(r1, r2);
  a.b("ne", loop);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
