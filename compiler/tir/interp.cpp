// Runs the register code of assemble.cpp. Float arithmetic is done in the type itself and must not
// be contracted into fused multiply-adds (-ffp-contract=off where the host has them).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tir/arithmetic.h"
#include "tir/print.h"
#include "tir/program.h"

namespace aotc::tir {

namespace {

constexpr int64_t kMaxLocalBytes = int64_t{1} << 28;

enum class TrapCode {
  kNone,
  kIndex,
  kUndefined,
  kArithmetic,
  kSum,
  kFit,
  kFloatFit,
  kLoop,
  kRange,
  kOverlap
};

// A buffer while it runs. `defined` has a byte per element of tracked buffers.
struct Live {
  uint8_t* data = nullptr;
  int64_t elements = 0;
  uint8_t* defined = nullptr;
  int64_t size = 0;  // bytes of an element
  DType type = DType::kI8;
  int param = -1;
};

struct Trap {
  TrapCode code = TrapCode::kNone;
  size_t at = 0;
  int buffer = 0;
  int64_t value = 0;
  int64_t other = 0;
  double real = 0;
};

class Machine {
 public:
  Machine(const Program& program, const std::vector<Memory>& memory, AccessObserver* observer);
  bool run();
  // What went wrong, in words.
  std::string describe() const;
  std::string loop_values() const;
  const Stmt* statement() const { return program_.origin[trap_.at]; }

 private:
  bool slow_load(const Instr& in);
  bool slow_store(const Instr& in);
  bool call(const Instr& in);
  bool copy_bytes(const Instr& in);
  bool set_bytes(const Instr& in);
  // Checks [index, index + bytes) of a buffer for a memory function; leaves the trap set if bad.
  bool check_span(int buffer, int64_t index, int64_t bytes, bool reads);
  void mark_written(Live& b, int64_t index, int64_t bytes);
  bool trap(TrapCode code, int64_t value = 0, int64_t other = 0, double real = 0, int buffer = 0) {
    trap_ = {code, trap_.at, buffer, value, other, real};
    return false;
  }

  const Program& program_;
  std::vector<Register> registers_;
  std::vector<Live> live_;
  std::vector<uint64_t> local_memory_;
  std::vector<uint8_t> shadow_;
  AccessObserver* observer_;
  Trap trap_;
};

bool tracked(const Buffer& b) { return b.role == Role::kLocal || b.role == Role::kScratch; }

Machine::Machine(const Program& program, const std::vector<Memory>& memory,
                 AccessObserver* observer)
    : program_(program), registers_(program.registers), observer_(observer) {
  size_t words = 0;
  size_t shadows = 0;
  for (const BufferSlot& s : program.buffers) {
    size_t bytes = static_cast<size_t>(s.buffer->elements * size_of(s.buffer->dtype));
    if (s.param < 0) words += (bytes + 7) / 8;
    if (tracked(*s.buffer)) shadows += static_cast<size_t>(s.buffer->elements);
  }
  local_memory_.resize(words);
  shadow_.resize(shadows);
  words = 0;
  shadows = 0;
  for (const BufferSlot& s : program.buffers) {
    const Buffer& b = *s.buffer;
    Live live{.elements = b.elements, .size = size_of(b.dtype), .type = b.dtype, .param = s.param};
    if (s.param < 0) {
      live.data = reinterpret_cast<uint8_t*>(local_memory_.data() + words);
      words += (static_cast<size_t>(b.elements * live.size) + 7) / 8;
    } else {
      live.data = memory[static_cast<size_t>(s.param)].data;
    }
    if (tracked(b)) {
      live.defined = shadow_.data() + shadows;
      shadows += static_cast<size_t>(b.elements);
    }
    live_.push_back(live);
  }
}

bool Machine::slow_load(const Instr& in) {
  Live& b = live_[static_cast<size_t>(in.a)];
  Register* r = registers_.data();
  int64_t at = r[in.b].i + r[in.c].i;
  if (at < 0 || at >= b.elements) return trap(TrapCode::kIndex, at, 0, 0, in.a);
  if (b.defined && !b.defined[at]) return trap(TrapCode::kUndefined, at, 0, 0, in.a);
  observer_->on_read(b.param, at * b.size, b.size);
  switch (b.type) {
#define X(N, T, F)                                   \
  case DType::k##N: {                                \
    T v;                                             \
    std::memcpy(&v, b.data + at * b.size, sizeof v); \
    r[in.dst].F = v;                                 \
    return true;                                     \
  }
    AOTC_TIR_ELEMENTS(X)
#undef X
  }
  return true;
}

bool Machine::slow_store(const Instr& in) {
  Live& b = live_[static_cast<size_t>(in.a)];
  Register* r = registers_.data();
  int64_t at = r[in.b].i + r[in.c].i;
  if (at < 0 || at >= b.elements) return trap(TrapCode::kIndex, at, 0, 0, in.a);
  if (!is_float(b.type) && !fits(b.type, r[in.dst].i))
    return trap(TrapCode::kFit, r[in.dst].i, static_cast<int64_t>(b.type));
  observer_->on_write(b.param, at * b.size, b.size);
  if (b.defined) b.defined[at] = 1;
  switch (b.type) {
#define X(N, T, F)                                   \
  case DType::k##N: {                                \
    T v = static_cast<T>(r[in.dst].F);               \
    std::memcpy(b.data + at * b.size, &v, sizeof v); \
    return true;                                     \
  }
    AOTC_TIR_ELEMENTS(X)
#undef X
  }
  return true;
}

template <typename T>
bool call_float(Intrinsic id, T x, T y, T* out) {
  switch (id) {
    case Intrinsic::kExp:
      *out = std::exp(x);
      return true;
    case Intrinsic::kLog:
      *out = std::log(x);
      return true;
    case Intrinsic::kTanh:
      *out = std::tanh(x);
      return true;
    case Intrinsic::kSqrt:
      *out = std::sqrt(x);
      return true;
    case Intrinsic::kFloor:
      *out = std::floor(x);
      return true;
    case Intrinsic::kCeil:
      *out = std::ceil(x);
      return true;
    case Intrinsic::kRound:
      *out = std::round(x);
      return true;
    case Intrinsic::kAbs:
      *out = std::fabs(x);
      return true;
    case Intrinsic::kErf:
      *out = std::erf(x);
      return true;
    case Intrinsic::kSin:
      *out = std::sin(x);
      return true;
    case Intrinsic::kCos:
      *out = std::cos(x);
      return true;
    case Intrinsic::kPow:
      *out = std::pow(x, y);
      return true;
    case Intrinsic::kRoundToEven:
      *out = std::nearbyint(x);
      return true;
    default:
      return false;
  }
}

bool Machine::call(const Instr& in) {
  Register* r = registers_.data();
  Intrinsic id = static_cast<Intrinsic>(in.flag);
  DType type = static_cast<DType>(in.c);
  if (id == Intrinsic::kFloatBits) {
    int32_t bits = 0;
    std::memcpy(&bits, &r[in.a].f, sizeof bits);
    r[in.dst].i = bits;
    return true;
  }
  if (id == Intrinsic::kFloatFromBits) {
    int32_t bits = static_cast<int32_t>(r[in.a].i);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    r[in.dst].f = value;
    return true;
  }
  if (type == DType::kF32) return call_float(id, r[in.a].f, r[in.b].f, &r[in.dst].f);
  if (type == DType::kF64) return call_float(id, r[in.a].d, r[in.b].d, &r[in.dst].d);
  int64_t v = r[in.a].i;
  if (v >= 0) {
    r[in.dst].i = v;
    return true;
  }
  return fold_int(BinaryOp::kSub, type, 0, v, false, &r[in.dst].i) ||
         trap(TrapCode::kArithmetic, v, 0);
}

bool Machine::check_span(int buffer, int64_t index, int64_t bytes, bool reads) {
  Live& b = live_[static_cast<size_t>(buffer)];
  if (bytes < 0) return trap(TrapCode::kRange, bytes, 0, 0, buffer);
  if (index < 0 || index > b.elements || bytes > (b.elements - index) * b.size)
    return trap(TrapCode::kRange, bytes, index, 0, buffer);
  if (reads && b.defined) {
    for (int64_t i = index; i * b.size < index * b.size + bytes; ++i)
      if (!b.defined[i]) return trap(TrapCode::kUndefined, i, 0, 0, buffer);
  }
  return true;
}

void Machine::mark_written(Live& b, int64_t index, int64_t bytes) {
  if (b.defined) std::fill_n(b.defined + index, bytes / b.size, uint8_t{1});
  if (observer_ && b.param >= 0 && bytes > 0) observer_->on_write(b.param, index * b.size, bytes);
}

bool Machine::copy_bytes(const Instr& in) {
  const Register* r = registers_.data();
  int64_t bytes = r[in.d].i;
  if (!check_span(in.dst, r[in.a].i, bytes, false) || !check_span(in.b, r[in.c].i, bytes, true))
    return false;
  Live& to = live_[static_cast<size_t>(in.dst)];
  Live& from = live_[static_cast<size_t>(in.b)];
  uint8_t* out = to.data + r[in.a].i * to.size;
  const uint8_t* source = from.data + r[in.c].i * from.size;
  if (bytes == 0) return true;
  auto address = [](const uint8_t* p) { return reinterpret_cast<uintptr_t>(p); };
  uintptr_t count = static_cast<uintptr_t>(bytes);
  if (address(out) < address(source) + count && address(source) < address(out) + count)
    return trap(TrapCode::kOverlap);
  if (observer_ && from.param >= 0) observer_->on_read(from.param, r[in.c].i * from.size, bytes);
  std::memcpy(out, source, count);
  mark_written(to, r[in.a].i, bytes);
  return true;
}

bool Machine::set_bytes(const Instr& in) {
  const Register* r = registers_.data();
  int64_t bytes = r[in.d].i;
  if (!check_span(in.dst, r[in.a].i, bytes, false)) return false;
  int64_t value = r[in.b].i;
  if (value < -128 || value > 255)
    return trap(TrapCode::kFit, value, static_cast<int64_t>(DType::kU8));
  Live& to = live_[static_cast<size_t>(in.dst)];
  if (bytes == 0) return true;
  std::memset(to.data + r[in.a].i * to.size, static_cast<int>(value), static_cast<size_t>(bytes));
  mark_written(to, r[in.a].i, bytes);
  return true;
}

bool compare_floats(uint16_t op, double a, double b) {
  double result = 0;
  return fold_float(static_cast<BinaryOp>(op), DType::kF64, a, b, &result) && result != 0;
}

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
      case Op::kHalt:
        return true;
      case Op::kMove:
        r[pc->dst] = r[pc->a];
        break;
      case Op::kJump:
        pc = code + pc->a - 1;
        break;
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
      case Op::kAllocate:
        std::fill_n(live[pc->a].defined, live[pc->a].elements, uint8_t{0});
        break;
#define LOAD(N, T, F, undefined_check)                                       \
  int64_t at = r[pc->b].i + r[pc->c].i;                                      \
  const Live& b = live[pc->a];                                               \
  if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(b.elements))        \
    TRAP(TrapCode::kIndex, at, 0, 0, pc->a);                                 \
  undefined_check;                                                           \
  T v;                                                                       \
  std::memcpy(&v, b.data + at * static_cast<int64_t>(sizeof(T)), sizeof(T)); \
  r[pc->dst].F = v;                                                          \
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
#define X(N, T, F)                                                                              \
  case Op::kStore##N: {                                                                         \
    int64_t at = r[pc->b].i + r[pc->c].i;                                                       \
    const Live& b = live[pc->a];                                                                \
    if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(b.elements))                         \
      TRAP(TrapCode::kIndex, at, 0, 0, pc->a);                                                  \
    T v = static_cast<T>(r[pc->dst].F);                                                         \
    if (std::is_integral_v<T> && (v != r[pc->dst].F || (DType::k##N == DType::kBool && v > 1))) \
      TRAP(TrapCode::kFit, r[pc->dst].i, static_cast<int64_t>(DType::k##N));                    \
    std::memcpy(b.data + at * static_cast<int64_t>(sizeof(T)), &v, sizeof(T));                  \
    if (b.defined) b.defined[at] = 1;                                                           \
    break;                                                                                      \
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
      case Op::kAddI32:
        I32_RESULT(r[pc->a].i + r[pc->b].i)
      case Op::kSubI32:
        I32_RESULT(r[pc->a].i - r[pc->b].i)
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
      case Op::kAddI64:
        I64_RESULT(__builtin_add_overflow)
      case Op::kSubI64:
        I64_RESULT(__builtin_sub_overflow)
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
      case Op::kCompareF32:
        r[pc->dst].i = compare_floats(pc->flag, r[pc->a].f, r[pc->b].f);
        break;
      case Op::kCompareF64:
        r[pc->dst].i = compare_floats(pc->flag, r[pc->a].d, r[pc->b].d);
        break;
      case Op::kNegInt: {
        int64_t x = r[pc->a].i;
        if (!fold_int(BinaryOp::kSub, static_cast<DType>(pc->flag), 0, x, false, &r[pc->dst].i))
          TRAP(TrapCode::kArithmetic, x, 0);
        break;
      }
      case Op::kNegF32:
        r[pc->dst].f = -r[pc->a].f;
        break;
      case Op::kNegF64:
        r[pc->dst].d = -r[pc->a].d;
        break;
      case Op::kLogicalNot:
        r[pc->dst].i = r[pc->a].i == 0;
        break;
      case Op::kBitNot:
        r[pc->dst].i = wrap_to(static_cast<DType>(pc->flag), ~r[pc->a].i);
        break;
      case Op::kCastInt: {
        int64_t x = r[pc->a].i;
        if (!fold_int_cast(type_of(pc->flag), x, wraps(pc->flag), &r[pc->dst].i))
          TRAP(TrapCode::kFit, x, static_cast<int64_t>(type_of(pc->flag)));
        break;
      }
      case Op::kIntToF32:
        r[pc->dst].f = static_cast<float>(r[pc->a].i);
        break;
      case Op::kIntToF64:
        r[pc->dst].d = static_cast<double>(r[pc->a].i);
        break;
      case Op::kF32ToF64:
        r[pc->dst].d = r[pc->a].f;
        break;
      case Op::kF64ToF32:
        r[pc->dst].f = static_cast<float>(r[pc->a].d);
        break;
      case Op::kF32ToInt:
      case Op::kF64ToInt: {
        double x = pc->op == Op::kF32ToInt ? r[pc->a].f : r[pc->a].d;
        if (!float_to_int(static_cast<DType>(pc->flag), x, &r[pc->dst].i))
          TRAP(TrapCode::kFloatFit, 0, pc->flag, x);
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

// "2147483647 + 1 overflows i32", or the other ways integer arithmetic can fail.
std::string describe_arithmetic(const Instr& in, int64_t x, int64_t y) {
  BinaryOp op = BinaryOp::kAdd;
  DType type = DType::kI32;
  switch (in.op) {
    case Op::kSubI32:
      op = BinaryOp::kSub;
      break;
    case Op::kMulI32:
      op = BinaryOp::kMul;
      break;
    case Op::kMulAddI32:
      op = BinaryOp::kMul;
      break;
    case Op::kAddI64:
      type = DType::kI64;
      break;
    case Op::kSubI64:
      op = BinaryOp::kSub;
      type = DType::kI64;
      break;
    case Op::kMulI64:
      op = BinaryOp::kMul;
      type = DType::kI64;
      break;
    case Op::kShr:
    case Op::kInt:
      op = op_of(in.flag);
      type = type_of(in.flag);
      break;
    case Op::kNegInt:
      return fmt::format("-({}) overflows {}", x, name_of(static_cast<DType>(in.flag)));
    case Op::kCall:
      return fmt::format("abs({}) overflows", x);
    default:
      break;
  }
  bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod;
  if (divides && y == 0) return fmt::format("{} {} 0 divides by zero", x, spelling_of(op));
  int width = size_of(type) * 8;
  if ((op == BinaryOp::kShl || op == BinaryOp::kShr) && (y < 0 || y >= width))
    return fmt::format("shift by {} is outside of [0, {})", y, width);
  return fmt::format("{} {} {} overflows {}", x, spelling_of(op), y, name_of(type));
}

std::string Machine::describe() const {
  static const Buffer kNone;
  bool any = !program_.buffers.empty();
  const Buffer& b = any ? *program_.buffers[static_cast<size_t>(trap_.buffer)].buffer : kNone;
  switch (trap_.code) {
    case TrapCode::kIndex:
      return fmt::format("index {} is outside of '{}' with {} elements", trap_.value, b.name,
                         b.elements);
    case TrapCode::kUndefined:
      return fmt::format("element {} of '{}' is read before it is written", trap_.value, b.name);
    case TrapCode::kArithmetic:
      return describe_arithmetic(program_.code[trap_.at], trap_.value, trap_.other);
    case TrapCode::kSum:
      return fmt::format("{} + {} overflows i32", trap_.value, trap_.other);
    case TrapCode::kFit:
      return fmt::format("value {} does not fit {}", trap_.value,
                         name_of(static_cast<DType>(trap_.other)));
    case TrapCode::kFloatFit:
      return fmt::format("value {} does not fit {}", trap_.real,
                         name_of(static_cast<DType>(trap_.other)));
    case TrapCode::kLoop:
      return fmt::format("the loop variable overflows i32 after {}", trap_.value);
    case TrapCode::kRange:
      return fmt::format("{} bytes at index {} are outside of '{}' with {} elements", trap_.value,
                         trap_.other, b.name, b.elements);
    case TrapCode::kOverlap:
      return "memcpy between ranges that overlap";
    case TrapCode::kNone:
      break;
  }
  return "";
}

std::string Machine::loop_values() const {
  std::string text;
  // Inner loops are recorded before the loops around them.
  for (auto loop = program_.loops.rbegin(); loop != program_.loops.rend(); ++loop) {
    if (trap_.at < loop->first || trap_.at >= loop->last) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", loop->name,
                        registers_[static_cast<size_t>(loop->variable)].i);
  }
  return text;
}

Diagnostic& report(Diagnostics& diags, const Function& function, std::string message) {
  Location where;
  where.file = "function " + function.name;
  return diags.error(where, "tir-trap", std::move(message));
}

// Whether the memory has the parameters' sizes and everything fits this machine.
bool check_memory(const Function& function, const Program& program,
                  const std::vector<Memory>& memory, Diagnostics& diags) {
  if (memory.size() != function.params.size()) {
    report(
        diags, function,
        fmt::format("called with {} parameters, takes {}", memory.size(), function.params.size()));
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
    report(diags, function,
           fmt::format("parameter '{}' is given {} bytes, takes {}", b.name, m.bytes, bytes));
    return false;
  }
  return true;
}

}  // namespace

Status interpret(const Function& function, const std::vector<Memory>& memory, Diagnostics& diags,
                 AccessObserver* observer) {
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
