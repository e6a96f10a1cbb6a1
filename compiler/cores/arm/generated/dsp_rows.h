// SPDX-License-Identifier: Apache-2.0
// The instruction table of Thumb-2 with the DSP extension for generated kernels (kernelgen/block.h). Products of
// halfwords are exact words; "halved" operands are shifted right in the same instruction.
#pragma once

#include "kernelgen/block.h"

namespace aotc::cores::arm::dsp {

using kernelgen::Bank;
using kernelgen::Row;

// Memory.
inline constexpr Row kFrameWord{.text = "ldr %d, [sp, #$0]", .result = Bank::kCore, .memory = Row::Memory::kRead};
inline constexpr Row kLoadWordAfter{
    .text = "ldr %d, [%0], #$0", .result = Bank::kCore, .moved = 0, .memory = Row::Memory::kRead};
// Words at increasing addresses.
constexpr Row load_words(int count) {
  return {.text = count == 1 ? "ldr %d, [%0], #4" : "ldmia %0!, %l",
          .result = Bank::kCore,
          .moved = 0,
          .memory = Row::Memory::kRead,
          .results = count};
}
inline constexpr Row kLoadWords[] = {load_words(1), load_words(1), load_words(2), load_words(3), load_words(4),
                                     load_words(5), load_words(6), load_words(7), load_words(8)};
inline constexpr Row kStoreWord{.text = "str %0, [sp, #$0]", .result = Bank::kNone, .memory = Row::Memory::kWrite};
inline constexpr Row kStoreWordAfter{
    .text = "str %1, [%0], #$0", .result = Bank::kNone, .moved = 0, .memory = Row::Memory::kWrite};
inline constexpr Row kLoadHalfAt{.text = "ldrsh %d, [%0, #$0]", .result = Bank::kCore, .memory = Row::Memory::kRead};
inline constexpr Row kStoreHalfAt{.text = "strh %1, [%0, #$0]", .result = Bank::kNone, .memory = Row::Memory::kWrite};
inline constexpr Row kLoadHalf{.text = "ldrsh %d, [%0]", .result = Bank::kCore, .memory = Row::Memory::kRead};
inline constexpr Row kLoadHalfAfter{
    .text = "ldrsh %d, [%0], #$0", .result = Bank::kCore, .moved = 0, .memory = Row::Memory::kRead};
inline constexpr Row kStoreHalfAfter{
    .text = "strh %1, [%0], #$0", .result = Bank::kNone, .moved = 0, .memory = Row::Memory::kWrite};
inline constexpr Row kLoadByteAt{.text = "ldrsb %d, [%0, #$0]", .result = Bank::kCore, .memory = Row::Memory::kRead};
inline constexpr Row kLoadByteAfter{
    .text = "ldrsb %d, [%0], #$0", .result = Bank::kCore, .moved = 0, .memory = Row::Memory::kRead};
inline constexpr Row kStoreByteAt{.text = "strb %1, [%0, #$0]", .result = Bank::kNone, .memory = Row::Memory::kWrite};
inline constexpr Row kStoreByteAfter{
    .text = "strb %1, [%0], #$0", .result = Bank::kNone, .moved = 0, .memory = Row::Memory::kWrite};

inline constexpr Row kLoadWordAt{.text = "ldr %d, [%0, #$0]", .result = Bank::kCore, .memory = Row::Memory::kRead};
inline constexpr Row kStoreWordAt{.text = "str %1, [%0, #$0]", .result = Bank::kNone, .memory = Row::Memory::kWrite};

// Constants of 16 bits.
inline constexpr Row kMove{"movw %d, #$0", Bank::kCore};
// Two equal halves of 0 to 255, or their complement.
inline constexpr Row kMoveHalves{"mov %d, #$0", Bank::kCore};
inline constexpr Row kMoveNotHalves{"mvn %d, #$0", Bank::kCore};

// Sums and shifts.
inline constexpr Row kSubtract{"sub %d, %0, %1", Bank::kCore};
inline constexpr Row kAdd{"add %d, %0, %1", Bank::kCore};
inline constexpr Row kAddHere{.text = "add %0, %0, %1", .result = Bank::kCore, .tied = 0};
inline constexpr Row kAddNumber{"add %d, %0, #$0", Bank::kCore};
inline constexpr Row kSubtractNumber{"sub %d, %0, #$0", Bank::kCore};
inline constexpr Row kAddLeft{"add %d, %0, %1, lsl #$0", Bank::kCore};
inline constexpr Row kAddRight{"add %d, %0, %1, asr #$0", Bank::kCore};
inline constexpr Row kSubtractRight{"sub %d, %0, %1, asr #$0", Bank::kCore};
inline constexpr Row kFromLeft{"rsb %d, %1, %0, lsl #$0", Bank::kCore};  // (operand 0 << n) - operand 1
inline constexpr Row kFromRight{"rsb %d, %1, %0, asr #$0", Bank::kCore};
inline constexpr Row kExclusiveRight{"eor %d, %0, %1, asr #$0", Bank::kCore};
inline constexpr Row kExclusiveRightUnsigned{"eor %d, %0, %1, lsr #$0", Bank::kCore};
inline constexpr Row kAndRight{"and %d, %0, %1, asr #$0", Bank::kCore};
inline constexpr Row kLeft{"lsl %d, %0, #$0", Bank::kCore};
inline constexpr Row kLeftBy{"lsl %d, %0, %1", Bank::kCore};
inline constexpr Row kRight{"asr %d, %0, #$0", Bank::kCore};
inline constexpr Row kRightBy{"asr %d, %0, %1", Bank::kCore};
inline constexpr Row kLowBits{"ubfx %d, %0, #0, #$0", Bank::kCore};
inline constexpr Row kSaturate{"ssat %d, #$0, %0", Bank::kCore};
inline constexpr Row kSaturateRight{"ssat %d, #$0, %0, asr #$1", Bank::kCore};
inline constexpr Row kSaturateRightHere{.text = "ssat %0, #$0, %0, asr #$1", .result = Bank::kCore, .tied = 0};
inline constexpr Row kSaturateLeft{"ssat %d, #$0, %0, lsl #$1", Bank::kCore};

// Products.
inline constexpr Row kHalves{"smulbb %d, %0, %1", Bank::kCore};
inline constexpr Row kHalvesAdd{"smlabb %d, %0, %1, %2", Bank::kCore};
inline constexpr Row kHighAddDown{.text = "smmla %0, %0, %1, %2", .result = Bank::kCore, .tied = 0};  // not rounded
inline constexpr Row kHigh{"smmulr %d, %0, %1", Bank::kCore};
inline constexpr Row kHighAdd{"smmlar %d, %0, %1, %2", Bank::kCore};

// Two products of halfwords, added to a word.
inline constexpr Row kDot{"smlad %d, %0, %1, %2", Bank::kCore};
inline constexpr Row kDotAdd{.text = "smlad %0, %1, %2, %0", .result = Bank::kCore, .tied = 0};
// One product of a lower half with a lower or an upper one.
inline constexpr Row kLowAdd{.text = "smlabb %0, %1, %2, %0", .result = Bank::kCore, .tied = 0};
inline constexpr Row kLowTopAdd{.text = "smlabt %0, %1, %2, %0", .result = Bank::kCore, .tied = 0};
// Bytes 0 and 2, or 1 and 3, as halfwords.
inline constexpr Row kEvenBytes{"sxtb16 %d, %0", Bank::kCore};
inline constexpr Row kOddBytes{"sxtb16 %d, %0, ror #8", Bank::kCore};

// The lower halves of both operands, that of operand 0 below.
inline constexpr Row kPairHalves{"pkhbt %d, %0, %1, lsl #16", Bank::kCore};

// The larger or the smaller of signed bytes. Their difference sets the flags that select.
inline constexpr Row kMaxBytes{.text = "ssub8 %d, %0, %1\nsel %d, %0, %1", .result = Bank::kCore, .early = true};
inline constexpr Row kMinBytes{.text = "ssub8 %d, %0, %1\nsel %d, %1, %0", .result = Bank::kCore, .early = true};

// A sum times the scale in s1, rounded to nearest, ties to even. Changes s0.
inline constexpr Row kRoundEven{
    .text = "vmov s0, %0\nvcvt.f32.s32 s0, s0\nvmul.f32 s0, s0, s1\nvcvtr.s32.f32 s0, s0\nvmov %0, s0",
    .result = Bank::kCore,
    .tied = 0};

// Conditions. Instructions of a row stay together, so no other changes the flags between them.
inline constexpr Row kHighIfClear{.text = "tst %1, #$0\nit eq\nsmmulreq %0, %0, %2", .result = Bank::kNone, .moved = 0};
// The lower of two neighbouring bits becomes the sign, the higher one the carry. The result is no value.
inline constexpr Row kHighIfClearTwice{
    .text = "lsls %d, %1, #$0\nit pl\nsmmulrpl %0, %0, %2\nit cc\nsmmulrcc %0, %0, %3",
    .result = Bank::kCore,
    .moved = 0,
    .early = true};
// Operand 0 is added to its products.
inline constexpr Row kHighAddIfClearTwice{
    .text = "lsls %d, %1, #$0\nit pl\nsmmlarpl %0, %0, %2, %0\nit cc\nsmmlarcc %0, %0, %3, %0",
    .result = Bank::kCore,
    .moved = 0,
    .early = true};
inline constexpr Row kSetIfZero{.text = "cmp %1, #0\nit eq\nmoveq %0, #$0", .result = Bank::kCore, .tied = 0};
inline constexpr Row kZeroIfLess{.text = "cmp %1, %2\nit lt\nmovlt %0, #0", .result = Bank::kCore, .tied = 0};
inline constexpr Row kMost{.text = "cmp %0, %1\nit gt\nmovgt %0, %1", .result = Bank::kCore, .tied = 0};
inline constexpr Row kLeast{.text = "cmn %0, %1\nit lt\nrsblt %0, %1, #0", .result = Bank::kCore, .tied = 0};

}  // namespace aotc::cores::arm::dsp
