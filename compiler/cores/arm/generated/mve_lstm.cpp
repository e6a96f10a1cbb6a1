// SPDX-License-Identifier: Apache-2.0
// Generated kernels of the int8 LSTM for the vector extension. Loops have 8 cells a pass. Loops of 16-bit lanes alone
// are predicated as a whole. Products have lanes of 32 bits, of which such a predicate would write a half: their loops
// predicate accesses outside of the gates, whose rows are whole vectors.
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/fixed_point.h"
#include "cores/arm/generated/lstm_kernels.h"
#include "cores/arm/generated/mve_block.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;
using kernelgen::register_bit;
using kernelgen::Registers;
using kernelgen::Value;

namespace {

constexpr int kCellBytes = 16, kCellLanes = 8;
constexpr Registers kLoopRegisters = 0x1FFE;  // r1 to r12; r0 is a pointer, lr the counter

// values[i] = function(values[i]).
template <typename Function>
Implementation mve_activation(Function function) {
  auto describe = [&](Block& block, MveMachine& m) {
    Value pointer = block.live_in(Bank::kCore, 0, false);
    const Value a = block.add(mve::kLoad16, {pointer});
    block.access(mve::kStore16After, pointer, {function(m, a)}, {kCellBytes}, 0);
    block.keep(pointer);
  };
  LoopConstants constants;
  Block uses;
  MveMachine counting(uses, constants);
  describe(uses, counting);
  std::vector<int> registers = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1};
  if (constants.size() > registers.size()) registers.pop_back();  // r1 stays for those that get none
  constants.assign(registers);
  Block body;
  MveMachine m(body, constants);
  describe(body, m);

  MveText a;
  Label loop = a.label();
  a.note("On entry r0: values, r1: count. Constants are in core registers.");
  a.enter(0);
  for (const auto& [number, value] : m.vectors())
    if (value == 32767) {
      // The only vector that no immediate has: all ones, shifted.
      a.load_vector(number, 0);
      a.append({"vmvn q" + std::to_string(number) + ", q" + std::to_string(number),
                "vshr.u16 q" + std::to_string(number) + ", q" + std::to_string(number) + ", #1"});
    } else {
      a.load_vector(number, value);
    }
  a.dlstp(16, r1);
  Registers free = kLoopRegisters;
  for (const auto& [value, number] : constants.assigned()) {
    a.load_constant(number, value);
    free &= ~register_bit(number);
  }
  a.bind(loop);
  a.put(body, free);
  a.letp(loop);
  a.leave();
  return a.finish();
}

// Rounded shift of a product to the right, ties away from zero: VRSHR rounds them up.
Value shifted_product(Block& block, Value product, int right) {
  const Value sum = block.add(mve::kAdd32, {product, block.add(mve::kSign32, {product})});
  return block.add(mve::kRoundedShift32, {sum}, {right});
}

// saturate16(a * b / 2^right) by lanes of 16 bits.
Value rounded_product(Block& block, Value a, Value b, int right) {
  const Value even = shifted_product(block, block.add(mve::kProductEven16, {a, b}), right);
  const Value odd = shifted_product(block, block.add(mve::kProductOdd16, {a, b}), right);
  return block.add(mve::kSaturateOdd32, {block.add(mve::kSaturate32, {even}), odd});
}

}  // namespace

Implementation mve_lstm_sigmoid(const tir::Kernel& kernel) {
  return cached(kernel, [] { return mve_activation([](MveMachine& m, Value a) { return sigmoid(m, a, 3); }); });
}

Implementation mve_lstm_tanh(const tir::Kernel& kernel) {
  const int integer_bits = parameter(kernel, "integer_bits");
  return cached(kernel,
                [=] { return mve_activation([=](MveMachine& m, Value a) { return tanh(m, a, integer_bits); }); });
}

// r0, r3, r4: input, forget and cell gate, r1: cell, r6: cells that are left, lr: passes.
Implementation mve_lstm_cell(const tir::Kernel& kernel) {
  const int exponent = parameter(kernel, "exponent"), clip = parameter(kernel, "clip");
  const bool part = parameter(kernel, "part") != 0;
  Block body;
  Value input = body.live_in(Bank::kCore, 0, false), forget = body.live_in(Bank::kCore, 3, false),
        fresh = body.live_in(Bank::kCore, 4, false), cell = body.live_in(Bank::kCore, 1, false);
  const Value f = body.access(mve::kLoad16After, forget, {}, {kCellBytes}, 1);
  const Value g = body.access(mve::kLoad16After, fresh, {}, {kCellBytes}, 2);
  const Value i = body.add(mve::kLoad16, {input}, {}, 0);
  const Value left = part ? body.live_in(Bank::kCore, 6, false) : kernelgen::kNoValue;  // cells
  const Value old_cell = part ? body.add(mve::kLoad16Some, {cell, left}, {}, 3) : body.add(mve::kLoad16, {cell}, {}, 3);
  const Value old = rounded_product(body, f, old_cell, 15);
  Value sum = body.add(mve::kAddSaturated16, {old, rounded_product(body, i, g, 30 + exponent)});
  if (clip > 0) {
    sum = body.add(mve::kMin16, {sum, body.live_in(Bank::kVector, 7)});
    sum = body.add(mve::kMax16, {sum, body.live_in(Bank::kVector, 6)});
  }
  if (part) body.access(mve::kStore16SomeAfter, cell, {sum, left}, {kCellBytes}, 3);
  else body.access(mve::kStore16After, cell, {sum}, {kCellBytes}, 3);
  if (part) body.keep(body.add(mve::kRetreat, {left}, {kCellLanes}));
  body.access(mve::kStore16After, input, {sum}, {kCellBytes}, 0);
  for (Value pointer : {input, forget, fresh, cell}) body.keep(pointer);

  MveText a;
  Label loop = a.label();
  a.note("On entry r0: gates, r1: cell, r2: table. r3: forget gate, r4: cell gate.");
  a.enter(0);
  a.ldrd(r5, r6, r2, 4 * LstmCellTable::kStride);
  static_assert(LstmCellTable::kCells == LstmCellTable::kStride + 1);
  a.add(r3, r0, r5);
  a.add_lsl(r4, r3, r5, 1);
  if (clip > 0) {
    a.load_constant(7, clip);
    a.vdup(16, q7, r7);
    a.append({"vneg.s16 q6, q7"});
  }
  a.ldr(r7, r2, 4 * LstmCellTable::kPasses);
  a.dls(r7);
  a.bind(loop);
  a.put(body, 0);
  a.le(loop);
  a.leave();
  return a.finish();
}

// r0: tanh of the cell, r3: output gate, r1: out, r8: cells that are left, lr: passes; r4: multiplier, r5: shift,
// r6: zero point.
Implementation mve_lstm_hidden(const tir::Kernel& kernel) {
  const bool right = parameter(kernel, "right") != 0, part = parameter(kernel, "part") != 0;
  Block body;
  Value shown = body.live_in(Bank::kCore, 0, false), gate = body.live_in(Bank::kCore, 3, false),
        out = body.live_in(Bank::kCore, 1, false);
  const Value multiplier = body.live_in(Bank::kCore, 4), right_by = body.live_in(Bank::kCore, 5),
              zero_point = body.live_in(Bank::kCore, 6);
  const Value a16 = body.access(mve::kLoad16After, shown, {}, {kCellBytes}, 0);
  const Value b16 = body.access(mve::kLoad16After, gate, {}, {kCellBytes}, 1);
  auto scaled = [&](Value v) {
    v = body.add(mve::kDoubledProduct32, {v, multiplier});
    if (right) {
      v = body.add(mve::kAddSaturated32, {v, body.add(mve::kSign32, {v})});
      v = body.add(mve::kRoundedShiftByCore32, {v, right_by});
    }
    return body.add(mve::kAddSaturated32, {v, zero_point});
  };
  const Value even = scaled(body.add(mve::kProductEven16, {a16, b16}));
  const Value odd = scaled(body.add(mve::kProductOdd16, {a16, b16}));
  const Value narrow = body.add(mve::kSaturateOdd32, {body.add(mve::kSaturate32, {even}), odd});
  const Value bytes = body.add(mve::kSaturate16, {narrow});
  if (part) {
    const Value left = body.live_in(Bank::kCore, 8, false);
    body.access(mve::kStore16To8SomeAfter, out, {bytes, left}, {kCellLanes}, 2);
    body.keep(body.add(mve::kRetreat, {left}, {kCellLanes}));
  } else {
    body.access(mve::kStore16To8After, out, {bytes}, {kCellLanes}, 2);
  }
  for (Value pointer : {shown, gate, out}) body.keep(pointer);

  MveText a;
  Label loop = a.label();
  a.note("On entry r0: gates, r1: out, r2: table. r3: output gate; r4 to r6: multiplier, shift, zero point.");
  a.enter(0);
  a.ldr(r7, r2, 4 * LstmCellTable::kPasses);
  a.ldm(r2, {r2, r3, r4, r5, r6});
  a.dls(r7);
  static_assert(LstmCellTable::kStride == 0 && LstmCellTable::kCells == 1 && LstmCellTable::kMultiplier == 2 &&
                LstmCellTable::kRight == 3 && LstmCellTable::kZeroPoint == 4);
  a.mov(r8, r3);
  a.add_lsl(r3, r0, r2, 1);
  a.bind(loop);
  a.put(body, 0);
  a.le(loop);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
