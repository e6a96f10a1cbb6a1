// SPDX-License-Identifier: Apache-2.0
// Runs the register code of assemble.cpp. Float arithmetic is done in the type itself and must not
// be contracted into fused multiply-adds (-ffp-contract=off where the host has them).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tir/arithmetic.h"
#include "tir/machine.h"
#include "tir/text.h"

namespace aotc::tir {

namespace {

constexpr int64_t kMaxLocalBytes = int64_t{1} << 28;

bool compare_floats(uint16_t op, double a, double b) {
  double result = 0;
  return fold_float(static_cast<BinaryOp>(op), DType::kF64, a, b, &result) && result != 0;
}

}  // namespace

// The loop itself. Traps leave `at` and the operands in trap_.
bool Machine::run() {
  const Instr* const code = program_.code.data();
  const Instr* pc = code;
  Register* const r = registers_.data();
  Live* const live = live_.data();
#define TRAP(...)                              \
  do {                                         \
    trap_.at = static_cast<size_t>(pc - code); \
    return trap(__VA_ARGS__);                  \
  } while (false)
#define I32_RESULT(expression)                                                             \
  {                                                                                        \
    int64_t v = (expression);                                                              \
    if (v != static_cast<int32_t>(v)) TRAP(TrapCode::kArithmetic, r[pc->a].i, r[pc->b].i); \
    r[pc->dst].i = v;                                                                      \
    break;                                                                                 \
  }
#define BINARY(op, F, expression) \
  case Op::op: {                  \
    auto x = r[pc->a].F;          \
    auto y = r[pc->b].F;          \
    r[pc->dst].F = (expression);  \
    break;                        \
  }
#define I64_RESULT(builtin)                                              \
  {                                                                      \
    int64_t x = r[pc->a].i;                                              \
    int64_t y = r[pc->b].i;                                              \
    if (builtin(x, y, &r[pc->dst].i)) TRAP(TrapCode::kArithmetic, x, y); \
    break;                                                               \
  }
  for (;; ++pc) {
    switch (pc->op) {
      case Op::kHalt: return true;
      case Op::kFail: TRAP(TrapCode::kFail);
      case Op::kMove: r[pc->dst] = r[pc->a]; break;
      case Op::kJump: pc = code + pc->a - 1; break;
      case Op::kJumpIfZero:
        if (r[pc->a].i == 0) pc = code + pc->b - 1;
        break;
      case Op::kLoopEnter:
        if (r[pc->dst].i >= r[pc->a].i) pc = code + pc->b - 1;
        break;
      case Op::kLoopNext: {
        int64_t v = r[pc->dst].i + pc->c;
        if (v > INT32_MAX) TRAP(TrapCode::kLoop, r[pc->dst].i);
        r[pc->dst].i = v;
        if (v < r[pc->a].i) pc = code + pc->b - 1;
        break;
      }
      case Op::kAllocate: std::fill_n(live[pc->a].defined, live[pc->a].elements, uint8_t{0}); break;
#define LOAD(N, T, F, undefined_check)                                                                         \
  int64_t at = r[pc->b].i + r[pc->c].i;                                                                        \
  const Live& b = live[pc->a];                                                                                 \
  if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(b.elements)) TRAP(TrapCode::kIndex, at, 0, 0, pc->a); \
  undefined_check;                                                                                             \
  T v;                                                                                                         \
  std::memcpy(&v, b.data + at * static_cast<int64_t>(sizeof(T)), sizeof(T));                                   \
  r[pc->dst].F = v;                                                                                            \
  break;
#define X(N, T, F)     \
  case Op::kLoad##N: { \
    LOAD(N, T, F, )    \
  }
        AOTC_TIR_ELEMENTS(X)
#undef X
#define X(N, T, F)                                                                 \
  case Op::kLoadTracked##N: {                                                      \
    LOAD(N, T, F, if (!b.defined[at]) TRAP(TrapCode::kUndefined, at, 0, 0, pc->a)) \
  }
        AOTC_TIR_ELEMENTS(X)
#undef X
#define X(N, T, F)                                                                                               \
  case Op::kStore##N: {                                                                                          \
    int64_t at = r[pc->b].i + r[pc->c].i;                                                                        \
    const Live& b = live[pc->a];                                                                                 \
    if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(b.elements)) TRAP(TrapCode::kIndex, at, 0, 0, pc->a); \
    T v = static_cast<T>(r[pc->dst].F);                                                                          \
    if (std::is_integral_v<T> && (v != r[pc->dst].F || (DType::k##N == DType::kBool && v > 1)))                  \
      TRAP(TrapCode::kFit, r[pc->dst].i, static_cast<int64_t>(DType::k##N));                                     \
    std::memcpy(b.data + at * static_cast<int64_t>(sizeof(T)), &v, sizeof(T));                                   \
    if (b.defined) b.defined[at] = 1;                                                                            \
    break;                                                                                                       \
  }
        AOTC_TIR_ELEMENTS(X)
#undef X
      case Op::kLoadSlow:
      case Op::kStoreSlow:
      case Op::kCall:
      case Op::kMemcpy:
      case Op::kMemset: {
        trap_.at = static_cast<size_t>(pc - code);
        bool done = pc->op == Op::kLoadSlow    ? slow_load(*pc)
                    : pc->op == Op::kStoreSlow ? slow_store(*pc)
                    : pc->op == Op::kCall      ? call(*pc)
                    : pc->op == Op::kMemcpy    ? copy_bytes(*pc)
                                               : set_bytes(*pc);
        if (!done) return false;
        break;
      }
      case Op::kAddI32: I32_RESULT(r[pc->a].i + r[pc->b].i)
      case Op::kSubI32: I32_RESULT(r[pc->a].i - r[pc->b].i)
      case Op::kMulI32:
        I32_RESULT(r[pc->a].i * r[pc->b].i)
        BINARY(kAddI32Wrap, i, static_cast<int32_t>(x + y))
        BINARY(kSubI32Wrap, i, static_cast<int32_t>(x - y))
        BINARY(kMulI32Wrap, i, static_cast<int32_t>(x * y))
      case Op::kMulAddI32: {
        int64_t v = r[pc->a].i * r[pc->b].i;
        if (v != static_cast<int32_t>(v)) TRAP(TrapCode::kArithmetic, r[pc->a].i, r[pc->b].i);
        int64_t sum = v + r[pc->c].i;
        if (sum != static_cast<int32_t>(sum)) TRAP(TrapCode::kSum, v, r[pc->c].i);
        r[pc->dst].i = sum;
        break;
      }
      case Op::kAddI64: I64_RESULT(__builtin_add_overflow)
      case Op::kSubI64: I64_RESULT(__builtin_sub_overflow)
      case Op::kMulI64:
        I64_RESULT(__builtin_mul_overflow)
        BINARY(kMinInt, i, x < y ? x : y)
        BINARY(kMaxInt, i, x > y ? x : y)
        BINARY(kBitAnd, i, x & y)
        BINARY(kBitOr, i, x | y)
        BINARY(kBitXor, i, x ^ y)
      case Op::kShr: {
        int64_t width = size_of(type_of(pc->flag)) * 8;
        int64_t by = r[pc->b].i;
        if (by < 0 || by >= width) TRAP(TrapCode::kArithmetic, r[pc->a].i, by);
        r[pc->dst].i = r[pc->a].i >> by;
        break;
      }
        BINARY(kAnd, i, (x != 0) & (y != 0))
        BINARY(kOr, i, (x != 0) | (y != 0))
        BINARY(kEqInt, i, x == y)
        BINARY(kNeInt, i, x != y)
        BINARY(kLtInt, i, x < y)
        BINARY(kLeInt, i, x <= y)
        BINARY(kGtInt, i, x > y)
        BINARY(kGeInt, i, x >= y)
      case Op::kInt: {
        int64_t x = r[pc->a].i;
        int64_t y = r[pc->b].i;
        if (!fold_int(op_of(pc->flag), type_of(pc->flag), x, y, wraps(pc->flag), &r[pc->dst].i))
          TRAP(TrapCode::kArithmetic, x, y);
        break;
      }
        BINARY(kAddF32, f, x + y)
        BINARY(kSubF32, f, x - y)
        BINARY(kMulF32, f, x * y)
        BINARY(kDivF32, f, x / y)
        BINARY(kMinF32, f, x < y ? x : y)
        BINARY(kMaxF32, f, x > y ? x : y)
        BINARY(kMulAddF32, f, r[pc->c].f + x * y)
        BINARY(kAddF64, d, x + y)
        BINARY(kSubF64, d, x - y)
        BINARY(kMulF64, d, x * y)
        BINARY(kDivF64, d, x / y)
        BINARY(kMinF64, d, x < y ? x : y)
        BINARY(kMaxF64, d, x > y ? x : y)
      case Op::kCompareF32: r[pc->dst].i = compare_floats(pc->flag, r[pc->a].f, r[pc->b].f); break;
      case Op::kCompareF64: r[pc->dst].i = compare_floats(pc->flag, r[pc->a].d, r[pc->b].d); break;
      case Op::kNegInt: {
        int64_t x = r[pc->a].i;
        if (!fold_int(BinaryOp::kSub, static_cast<DType>(pc->flag), 0, x, false, &r[pc->dst].i))
          TRAP(TrapCode::kArithmetic, x, 0);
        break;
      }
      case Op::kNegF32: r[pc->dst].f = -r[pc->a].f; break;
      case Op::kNegF64: r[pc->dst].d = -r[pc->a].d; break;
      case Op::kLogicalNot: r[pc->dst].i = r[pc->a].i == 0; break;
      case Op::kBitNot: r[pc->dst].i = wrap_to(static_cast<DType>(pc->flag), ~r[pc->a].i); break;
      case Op::kCastInt: {
        int64_t x = r[pc->a].i;
        if (!fold_int_cast(type_of(pc->flag), x, wraps(pc->flag), &r[pc->dst].i))
          TRAP(TrapCode::kFit, x, static_cast<int64_t>(type_of(pc->flag)));
        break;
      }
      case Op::kIntToF32: r[pc->dst].f = static_cast<float>(r[pc->a].i); break;
      case Op::kIntToF64: r[pc->dst].d = static_cast<double>(r[pc->a].i); break;
      case Op::kF32ToF64: r[pc->dst].d = r[pc->a].f; break;
      case Op::kF64ToF32: r[pc->dst].f = static_cast<float>(r[pc->a].d); break;
      case Op::kF32ToInt:
      case Op::kF64ToInt: {
        double x = pc->op == Op::kF32ToInt ? r[pc->a].f : r[pc->a].d;
        if (!float_to_int(static_cast<DType>(pc->flag), x, &r[pc->dst].i)) TRAP(TrapCode::kFloatFit, 0, pc->flag, x);
        break;
      }
    }
  }
#undef TRAP
#undef I32_RESULT
#undef I64_RESULT
#undef BINARY
#undef LOAD
}

namespace {

Diagnostic& report(Diagnostics& diags, const Function& function, std::string message) {
  Location where;
  where.file = "function " + function.name;
  return diags.error(where, "tir-trap", std::move(message));
}

// Whether the memory has the parameters' sizes and everything fits this machine.
bool check_memory(const Function& function, const Program& program, const std::vector<Memory>& memory,
                  Diagnostics& diags) {
  if (memory.size() != function.params.size()) {
    report(diags, function,
           fmt::format("the call passes {} parameters, expected {}", memory.size(), function.params.size()));
    return false;
  }
  int64_t local = 0;
  for (const BufferSlot& s : program.buffers) {
    const Buffer& b = *s.buffer;
    if (b.elements < 0 || b.elements > int_range(DType::kI32).max) {
      report(diags, function, fmt::format("'{}' has {} elements", b.name, b.elements));
      return false;
    }
    int64_t bytes = b.elements * size_of(b.dtype);
    if (s.param < 0) {
      local += bytes;
      if (local <= kMaxLocalBytes) continue;
      report(diags, function, fmt::format("local buffers need more than {} bytes", kMaxLocalBytes));
      return false;
    }
    const Memory& m = memory[static_cast<size_t>(s.param)];
    if (m.bytes == bytes && (m.data || bytes == 0)) continue;
    report(diags, function, fmt::format("parameter '{}' has {} bytes, expected {}", b.name, m.bytes, bytes));
    return false;
  }
  return true;
}

}  // namespace

Status interpret(const Function& called, const std::vector<Memory>& memory, Diagnostics& diags,
                 AccessObserver* observer) {
  // Not owned: the caller's function outlives the run.
  FunctionPtr whole = inline_kernels(FunctionPtr(FunctionPtr(), &called));
  const Function& function = *whole;
  std::string problem;
  Result<Program> program = assemble(function, observer != nullptr, &problem);
  if (!program) {
    report(diags, function, problem);
    return kFailure;
  }
  if (!check_memory(function, *program, memory, diags)) return kFailure;
  Machine machine(*program, memory, observer);
  if (machine.run()) return success();
  Diagnostic& error = report(diags, function, machine.describe());
  error.note("in '" + statement_text(function, machine.statement()) + "'");
  std::string loops = machine.loop_values();
  if (!loops.empty()) error.note("where " + loops);
  return kFailure;
}

}  // namespace aotc::tir
