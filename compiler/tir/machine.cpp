// SPDX-License-Identifier: Apache-2.0
// What the run loop does not do itself: observed accesses, calls, memory functions; and the words
// for traps.
#include "tir/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tir/arithmetic.h"

namespace aotc::tir {

Machine::Machine(const Program& program, const std::vector<Memory>& memory, AccessObserver* observer)
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
    case DType::kI4: break;  // of the graph alone
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
    case DType::kI4: break;  // of the graph alone
  }
  return true;
}

namespace {

template <typename T>
bool call_float(Intrinsic id, T x, T y, T* out) {
  switch (id) {
    case Intrinsic::kExp: *out = std::exp(x); return true;
    case Intrinsic::kLog: *out = std::log(x); return true;
    case Intrinsic::kTanh: *out = std::tanh(x); return true;
    case Intrinsic::kSqrt: *out = std::sqrt(x); return true;
    case Intrinsic::kFloor: *out = std::floor(x); return true;
    case Intrinsic::kCeil: *out = std::ceil(x); return true;
    case Intrinsic::kRound: *out = std::round(x); return true;
    case Intrinsic::kAbs: *out = std::fabs(x); return true;
    case Intrinsic::kErf: *out = std::erf(x); return true;
    case Intrinsic::kSin: *out = std::sin(x); return true;
    case Intrinsic::kCos: *out = std::cos(x); return true;
    case Intrinsic::kPow: *out = std::pow(x, y); return true;
    case Intrinsic::kRoundToEven: *out = std::nearbyint(x); return true;
    case Intrinsic::kFmod: *out = std::fmod(x, y); return true;
    case Intrinsic::kErfc: *out = std::erfc(x); return true;
    case Intrinsic::kExpm1: *out = std::expm1(x); return true;
    case Intrinsic::kAtan2: *out = std::atan2(x, y); return true;
    default: return false;
  }
}

}  // namespace

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
  if (v >= 0 || id == Intrinsic::kKeep || id == Intrinsic::kFence) {
    r[in.dst].i = v;
    return true;
  }
  return fold_int(BinaryOp::kSub, type, 0, v, false, &r[in.dst].i) || trap(TrapCode::kArithmetic, v, 0);
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
  if (!check_span(in.dst, r[in.a].i, bytes, false) || !check_span(in.b, r[in.c].i, bytes, true)) return false;
  Live& to = live_[static_cast<size_t>(in.dst)];
  Live& from = live_[static_cast<size_t>(in.b)];
  uint8_t* out = to.data + r[in.a].i * to.size;
  const uint8_t* source = from.data + r[in.c].i * from.size;
  if (bytes == 0) return true;
  auto address = [](const uint8_t* p) { return reinterpret_cast<uintptr_t>(p); };
  uintptr_t count = static_cast<uintptr_t>(bytes);
  if (address(out) < address(source) + count && address(source) < address(out) + count) return trap(TrapCode::kOverlap);
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
  if (value < -128 || value > 255) return trap(TrapCode::kFit, value, static_cast<int64_t>(DType::kU8));
  Live& to = live_[static_cast<size_t>(in.dst)];
  if (bytes == 0) return true;
  std::memset(to.data + r[in.a].i * to.size, static_cast<int>(value), static_cast<size_t>(bytes));
  mark_written(to, r[in.a].i, bytes);
  return true;
}

namespace {

// "2147483647 + 1 overflows i32", or the other ways integer arithmetic can fail.
std::string describe_arithmetic(const Instr& in, int64_t x, int64_t y) {
  BinaryOp op = BinaryOp::kAdd;
  DType type = DType::kI32;
  switch (in.op) {
    case Op::kSubI32: op = BinaryOp::kSub; break;
    case Op::kMulI32: op = BinaryOp::kMul; break;
    case Op::kMulAddI32: op = BinaryOp::kMul; break;
    case Op::kAddI64: type = DType::kI64; break;
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
    case Op::kNegInt: return fmt::format("-({}) overflows {}", x, name_of(static_cast<DType>(in.flag)));
    case Op::kCall: return fmt::format("abs({}) overflows", x);
    default: break;
  }
  bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod;
  if (divides && y == 0) return fmt::format("{} {} 0 divides by zero", x, spelling_of(op));
  int width = size_of(type) * 8;
  if ((op == BinaryOp::kShl || op == BinaryOp::kShr) && (y < 0 || y >= width))
    return fmt::format("shift by {} is outside of [0, {})", y, width);
  return fmt::format("{} {} {} overflows {}", x, spelling_of(op), y, name_of(type));
}

}  // namespace

std::string Machine::describe() const {
  static const Buffer kNone;
  bool any = !program_.buffers.empty();
  const Buffer& b = any ? *program_.buffers[static_cast<size_t>(trap_.buffer)].buffer : kNone;
  switch (trap_.code) {
    case TrapCode::kIndex:
      return fmt::format("index {} is outside of '{}' with {} elements", trap_.value, b.name, b.elements);
    case TrapCode::kUndefined:
      return fmt::format("element {} of '{}' is read before it is written", trap_.value, b.name);
    case TrapCode::kArithmetic: return describe_arithmetic(program_.code[trap_.at], trap_.value, trap_.other);
    case TrapCode::kSum: return fmt::format("{} + {} overflows i32", trap_.value, trap_.other);
    case TrapCode::kFit:
      return fmt::format("value {} does not fit {}", trap_.value, name_of(static_cast<DType>(trap_.other)));
    case TrapCode::kFloatFit:
      return fmt::format("value {} does not fit {}", trap_.real, name_of(static_cast<DType>(trap_.other)));
    case TrapCode::kLoop: return fmt::format("the loop variable overflows i32 after {}", trap_.value);
    case TrapCode::kRange:
      return fmt::format("{} bytes at index {} are outside of '{}' with {} elements", trap_.value, trap_.other, b.name,
                         b.elements);
    case TrapCode::kOverlap: return "memcpy copies between ranges that overlap";
    case TrapCode::kFail: return "the operator is not defined for this data";
    case TrapCode::kNone: break;
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

}  // namespace aotc::tir
