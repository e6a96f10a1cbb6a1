// SPDX-License-Identifier: Apache-2.0
// Program: register-machine code that the TIR interpreter runs. Variables, constants and temporaries are registers of
// one register file. Integers of every type are stored as int64_t within their range. The comments of each Op state the
// meaning of the fields of Instr.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"
#include "tir/tir.h"

namespace aotc::tir {

// Element types in the order of DType: name, C++ type in memory, member of Register.
#define AOTC_TIR_ELEMENTS(X)                                                                                         \
  X(Bool, uint8_t, i)                                                                                                \
  X(I8, int8_t, i)                                                                                                   \
  X(U8, uint8_t, i) X(I16, int16_t, i) X(U16, uint16_t, i) X(I32, int32_t, i) X(U32, uint32_t, i) X(I64, int64_t, i) \
      X(F32, float, f) X(F64, double, d)

// In the comments, r is the register file, "dst = x" is r[dst] = x, and "to x" is a jump to instruction x.
enum class Op : uint16_t {
  kHalt,
  kMove,        // dst = a
  kJump,        // to a
  kJumpIfZero,  // to b if r[a] is 0
  kLoopEnter,   // to b unless r[dst] < r[a]
  kLoopNext,    // dst += c, then to b if r[dst] < r[a]
  kAllocate,    // all elements of buffer a become undefined
// dst = element r[b] + r[c] of buffer a. The tracked form is for buffers whose written elements are tracked.
#define X(N, T, F) kLoad##N,
  AOTC_TIR_ELEMENTS(X)
#undef X
#define X(N, T, F) kLoadTracked##N,
      AOTC_TIR_ELEMENTS(X)
#undef X
// element r[b] + r[c] of buffer a = r[dst]
#define X(N, T, F) kStore##N,
          AOTC_TIR_ELEMENTS(X)
#undef X
              kLoadSlow,  // as the loads above, for any buffer; calls the observer
  kStoreSlow,
  // dst = r[a] op r[b]
  kAddI32,
  kSubI32,
  kMulI32,
  kAddI32Wrap,
  kSubI32Wrap,
  kMulI32Wrap,
  kMulAddI32,  // dst = r[a] * r[b] + r[c]
  kAddI64,
  kSubI64,
  kMulI64,
  kMinInt,
  kMaxInt,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShr /* flag: width */,
  kAnd,
  kOr,
  kEqInt,
  kNeInt,
  kLtInt,
  kLeInt,
  kGtInt,
  kGeInt,
  kInt,  // any integer operation; flag: pack(operator, type, wrapping)
  kAddF32,
  kSubF32,
  kMulF32,
  kDivF32,
  kMinF32,
  kMaxF32,
  kMulAddF32,
  kAddF64,
  kSubF64,
  kMulF64,
  kDivF64,
  kMinF64,
  kMaxF64,
  kCompareF32,
  kCompareF64,  // flag: BinaryOp
  // dst = op r[a]
  kNegInt /* flag: type */,
  kNegF32,
  kNegF64,
  kLogicalNot,
  kBitNot /* flag: type */,
  kCastInt,  // flag: pack(type, wrapping)
  kIntToF32,
  kIntToF64,
  kF32ToF64,
  kF64ToF32,
  kF32ToInt /* flag: type */,
  kF64ToInt,
  kCall,    // dst = intrinsic number `flag` of r[a], r[b]; c: type of the operands
  kMemcpy,  // to buffer dst, element r[a], from buffer b, element r[c]; r[d] bytes
  kMemset,  // fills buffer dst from element r[a] with byte r[b]; r[d] bytes
  kFail,
};

struct Instr {
  Op op = Op::kHalt;
  uint16_t flag = 0;
  int32_t dst = 0;
  int32_t a = 0;
  int32_t b = 0;
  int32_t c = 0;
  int32_t d = 0;
};

constexpr uint16_t pack(BinaryOp op, DType type, bool wrapping) {
  return static_cast<uint16_t>(static_cast<int>(op) | static_cast<int>(type) << 8 | (wrapping ? 1 << 15 : 0));
}
constexpr BinaryOp op_of(uint16_t flag) { return static_cast<BinaryOp>(flag & 0xFF); }
constexpr DType type_of(uint16_t flag) { return static_cast<DType>((flag >> 8) & 0x7F); }
constexpr bool wraps(uint16_t flag) { return (flag >> 15) != 0; }

union Register {
  int64_t i;
  float f;
  double d;
};

struct BufferSlot {
  BufferPtr buffer;
  int param = -1;  // index of the parameter; -1: a local buffer
};

struct LoopRange {
  size_t first;  // first instruction of the body
  size_t last;
  int32_t variable;
  std::string name;
};

struct Program {
  std::vector<Instr> code;
  std::vector<const Stmt*> origin;  // statement of each instruction
  std::vector<Register> registers;  // initial values of the registers; constants have their values
  std::vector<BufferSlot> buffers;
  std::vector<LoopRange> loops;  // for messages
};

// Translates a function to a program. If the function is not well formed, sets `problem` and fails; verify() reports
// more details. `observed`: accesses of parameters use kLoadSlow and kStoreSlow, which call the observer.
Result<Program> assemble(const Function& function, bool observed, std::string* problem);

}  // namespace aotc::tir
