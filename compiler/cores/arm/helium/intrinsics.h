// SPDX-License-Identifier: Apache-2.0
// Translates the assembly of a kernel for Helium into C with the intrinsics of arm_mve.h. Each instruction becomes one
// intrinsic or one operation of C, each value of a register becomes a variable, and branches become loops and
// conditions. So one text describes both forms of a kernel, and what a vector instruction computes is stated once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cores/implementation.h"
#include "tir/tir.h"

namespace aotc::cores::arm {

// nullopt if the text has an instruction or a branch that has no form in C.
std::optional<Implementation> mve_intrinsics(const tir::Kernel& kernel, const Implementation& assembly);

// ---------------------------------------------------------------- the stages of the translation

// Places of values: 0 to 15 are core registers.
namespace place {
inline constexpr int kVector = 16;     // q0 to q7
inline constexpr int kPredicate = 24;  // P0
inline constexpr int kTail = 25;       // the lanes of an iteration of a tail-predicated loop
inline constexpr int kCarry = 26;      // operand of VSHLC
inline constexpr int kLanes = 27;      // operand of VST4 and its like
inline constexpr int kStack = 32;      // words from sp on
inline constexpr int kCount = 64;
}  // namespace place

// kWord: an integer, or a pointer if it is computed from one. kNone: vectors of the same type as what is copied.
enum class MveType : uint8_t { kNone, kWord, kPredicate, kCarry, kI8, kI16, kI32, kLanes };

struct MveUse {
  int at = 0;                     // place
  MveType type = MveType::kWord;  // that the text expects
  int since = -1;                 // step before which the value was there, if that is earlier
  int value = -1;                 // number of the variable, -1 if nothing was put there
};

// A statement: `text` with $0, $1 for its uses and $A for its address.
struct MveStep {
  enum Kind : uint8_t { kDefine, kStore, kLabel, kBranch, kNote, kDropped } kind = kDefine;
  int to = -1;  // place that is defined
  MveType type = MveType::kNone;
  std::string text = {};
  std::vector<MveUse> uses = {};
  bool copy = false;       // the value of its use
  bool sum = false;        // of kWord: a pointer if one of its uses is
  bool minus = false;      // of `sum`: the difference of two pointers is an integer
  bool constant = false;   // the text is a number
  bool moves = false;      // the first use and `offset`
  std::string lanes = {};  // the C type of kLanes
  // $A is the pointer of the first use and `offset` bytes, to elements of `bytes` bytes.
  int bytes = 0;
  int64_t offset = 0;
  int label = -1;  // of kLabel and kBranch: the step of the label; an unconditional branch has no text
  bool backward = false;
  int value = -1;  // number of the variable that is defined
};

// The first steps define the kernel's parameters and have no text. nullopt if an instruction has no form in C.
std::optional<std::vector<MveStep>> mve_steps(const std::vector<std::string>& lines, int parameters);

struct MveValue {
  int definitions = 0;
  MveType type = MveType::kNone;
  bool pointer = false;
  unsigned parameters = 0;  // a bit for each parameter that the pointer points into
};

// Finds the variables, and drops steps that nothing needs. The kernel's parameters begin with so many pointers. nullopt
// if a condition compares what is no longer there.
std::optional<std::vector<MveValue>> mve_values(std::vector<MveStep>& steps, int parameters, int pointers);

}  // namespace aotc::cores::arm
