// SPDX-License-Identifier: Apache-2.0
// The instruction table of the vector extension (Helium) for generated kernels (kernelgen/block.h).
#pragma once

#include "kernelgen/block.h"

namespace aotc::cores::arm::mve {

using kernelgen::Bank;
using kernelgen::kAnyRegister;
using kernelgen::Registers;
using kernelgen::Row;

inline constexpr Registers kLow = 0x00FF;   // r0 to r7: addresses of accesses that change the size of elements
inline constexpr Registers kEven = 0x5555;  // r0, r2, ..., lr: sums over lanes

// Scalars for vectors.
inline constexpr Row kScalar{"movw %d, #$0", Bank::kCore};
inline constexpr Row kFrameWord{.text = "ldr %d, [sp, #$0]", .result = Bank::kCore, .memory = Row::Memory::kRead};
inline constexpr Row kAddCore{"add %d, %0, %1", Bank::kCore};
inline constexpr Row kRetreat{.text = "sub %0, %0, #$0", .result = Bank::kCore, .tied = 0};
inline constexpr Row kAdvance{.text = "add %0, %0, #$0", .result = Bank::kCore, .tied = 0};

// Lanes of 16 bits.
inline constexpr Row kConstant16{"vmov.i16 %d, #$0"};
inline constexpr Row kLoad16{.text = "vldrh.u16 %d, [%0]", .memory = Row::Memory::kRead};
inline constexpr Row kLoad16After{.text = "vldrh.u16 %d, [%0], #$0", .moved = 0, .memory = Row::Memory::kRead};
inline constexpr Row kStore16After{
    .text = "vstrh.16 %1, [%0], #$0", .result = Bank::kNone, .moved = 0, .memory = Row::Memory::kWrite};
// The same of the first lanes only, as many as the operand behind the address and the value says.
inline constexpr Row kLoad16Some{.text = "vctp.16 %1\nvpst\nvldrht.u16 %d, [%0]", .memory = Row::Memory::kRead};
inline constexpr Row kStore16SomeAfter{.text = "vctp.16 %2\nvpst\nvstrht.16 %1, [%0], #$0",
                                       .result = Bank::kNone,
                                       .moved = 0,
                                       .memory = Row::Memory::kWrite};
inline constexpr Row kCopy{"vmov %d, %0"};
inline constexpr Row kAbs16{"vabs.s16 %d, %0"};
inline constexpr Row kNegate16{"vneg.s16 %d, %0"};
inline constexpr Row kAdd16{"vadd.i16 %d, %0, %1"};
inline constexpr Row kSubtract16{"vsub.i16 %d, %0, %1"};
inline constexpr Row kAddSaturated16{"vqadd.s16 %d, %0, %1"};
inline constexpr Row kShiftLeft16{"vshl.i16 %d, %0, #$0"};
inline constexpr Row kShiftLeftSaturated16{"vqshl.s16 %d, %0, #$0"};
inline constexpr Row kShiftRightRounded16{"vrshr.s16 %d, %0, #$0"};
inline constexpr Row kMean16{"vhadd.u16 %d, %0, %1"};
inline constexpr Row kClear16{.text = "vbic.i16 %0, #$0", .tied = 0};
inline constexpr Row kProduct16{"vqrdmulh.s16 %d, %0, %1"};
inline constexpr Row kMultiplyAdd16{.text = "vmla.s16 %0, %1, %2", .tied = 0};
inline constexpr Row kMin16{"vmin.s16 %d, %0, %1"};
inline constexpr Row kMax16{"vmax.s16 %d, %0, %1"};
// Operand 0 changes in lanes in which the condition holds for operand 1.
inline constexpr Row kProductIfNotNegative16{.text = "vpt.s16 ge, %1, zr\nvqrdmulht.s16 %0, %0, %2", .tied = 0};
inline constexpr Row kSubtractIfNotPositive16{.text = "vpt.s16 le, %1, zr\nvsubt.i16 %0, %2, %0", .tied = 0};
inline constexpr Row kNegateIfNegative16{.text = "vpt.s16 lt, %1, zr\nvnegt.s16 %0, %0", .tied = 0};
inline constexpr Row kSetIfZero16{.text = "vpt.i16 eq, %1, zr\nvmovt.i16 %0, #$0", .tied = 0};
inline constexpr Row kZeroIfLess16{.text = "vpt.s16 lt, %1, %2\nvmovt.i16 %0, #0", .tied = 0};

// Lanes of 32 bits.
inline constexpr Row kLoad32After{.text = "vldrw.u32 %d, [%0], #$0", .moved = 0, .memory = Row::Memory::kRead};
inline constexpr Row kAdd32{"vadd.i32 %d, %0, %1"};
inline constexpr Row kAddSaturated32{"vqadd.s32 %d, %0, %1"};
inline constexpr Row kShiftByCore32{.text = "vshl.s32 %0, %1", .tied = 0};
inline constexpr Row kRoundedShiftByCore32{.text = "vrshl.s32 %0, %1", .tied = 0};
inline constexpr Row kRoundedShift32{"vrshr.s32 %d, %0, #$0"};
inline constexpr Row kSign32{"vshr.s32 %d, %0, #31"};
inline constexpr Row kDoubledProduct32{"vqrdmulh.s32 %d, %0, %1"};
inline constexpr Row kProductEven16{"vmullb.s16 %d, %0, %1"};
inline constexpr Row kProductOdd16{"vmullt.s16 %d, %0, %1"};
// Into the even or odd lanes of 16 bits, saturated. The forms for even lanes work in place.
inline constexpr Row kSaturate32{.text = "vqmovnb.s32 %0, %0", .tied = 0};
inline constexpr Row kSaturateOdd32{.text = "vqmovnt.s32 %0, %1", .tied = 0};
inline constexpr Row kSaturate16{.text = "vqmovnb.s16 %0, %0", .tied = 0};
inline constexpr Row kLoad16To32{.text = "vldrh.s32 %d, [%0, #$0]",
                                 .operand_in = {kLow, kAnyRegister, kAnyRegister, kAnyRegister},
                                 .memory = Row::Memory::kRead};
inline constexpr Row kStore32To16{.text = "vstrh.32 %1, [%0, #$0]",
                                  .result = Bank::kNone,
                                  .operand_in = {kLow, kAnyRegister, kAnyRegister, kAnyRegister},
                                  .memory = Row::Memory::kWrite};
inline constexpr Row kStore16To8After{.text = "vstrb.16 %1, [%0], #$0",
                                      .result = Bank::kNone,
                                      .moved = 0,
                                      .operand_in = {kLow, kAnyRegister, kAnyRegister, kAnyRegister},
                                      .memory = Row::Memory::kWrite};
inline constexpr Row kStore16To8SomeAfter{.text = "vctp.16 %2\nvpst\nvstrbt.16 %1, [%0], #$0",
                                          .result = Bank::kNone,
                                          .moved = 0,
                                          .operand_in = {kLow, kAnyRegister, kAnyRegister, kAnyRegister},
                                          .memory = Row::Memory::kWrite};

// Bytes.
inline constexpr Row kLoad8After{.text = "vldrb.u8 %d, [%0], #$0", .moved = 0, .memory = Row::Memory::kRead};
// Lanes for which the predicate does not hold are 0.
inline constexpr Row kLoad8Predicated{.text = "vpst\nvldrbt.u8 %d, [%0]", .memory = Row::Memory::kRead};
inline constexpr Row kDot{.text = "vmladav.s8 %d, %0, %1", .result = Bank::kCore, .result_in = kEven};
inline constexpr Row kDotAdd{.text = "vmladava.s8 %0, %1, %2", .result = Bank::kCore, .tied = 0, .result_in = kEven};
// Four core registers into the lanes of a vector.
inline constexpr Row kGather{"vmov %d[2], %d[0], %0, %2\nvmov %d[3], %d[1], %1, %3"};

}  // namespace aotc::cores::arm::mve
