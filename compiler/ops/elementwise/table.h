// SPDX-License-Identifier: Apache-2.0
// Elementwise operators as rows of tables. A row says what the operator is called, which types it
// takes and which expression it is; its signature (ops/signature.h), evaluation and lowering are made
// from that, once for all rows (operator.cpp). The one thing to know: `evaluate` runs the lowered
// function in the TIR interpreter, so there is one statement of each operator, and what it is
// compared with is LiteRT.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/common/lut.h"
#include "ops/common/scaler.h"
#include "ops/operator.h"

namespace aotc::ops::elementwise {

// One result element: the operands' elements as loaded (small integers as i32), all of them visible
// where `f` adds statements.
struct Element {
  const OpView& op;
  tir::FunctionBuilder& f;
  const std::vector<tir::Ex>& in;

  const tir::Ex& operator[](size_t i) const { return in[i]; }
  DType type() const { return in.back().type(); }
};

// What a quantised operator computes. `prepare` (of one loaded operand) may be empty; what it gives
// is computed as far outside as the operand's index allows.
struct Quantized {
  std::function<tir::Ex(size_t operand, const tir::Ex& loaded)> prepare;
  std::function<tir::Ex(const Element&)> combine;
};

// What integers that carry a scale are.
enum class Stored : uint8_t {
  kNoScale,   // the row takes none, or treats them as numbers
  kCopied,    // stored values are passed on or compared: one quantisation throughout
  kQuantized  // `bytes` or `quantized` of the row
};

enum class Shapes : uint8_t {
  kBroadcast,        // all operands; one operand gives its own shape
  kLeadingCondition  // operand 0 has the others' shape, their first dimension only, or one element
};

struct Row {
  std::string_view name;
  std::string_view summary;
  size_t operands;
  std::vector<DType> types;  // of every operand but a condition, the same
  tir::Ex (*expression)(const Element&);

  bool truth = false;      // the result is bool, else it has the operands' type
  bool condition = false;  // operand 0 is bool
  bool libm = false;       // calls functions of the C library that libraries round differently
  bool fails = false;      // the expression or `quantized` has a place where the function fails
  Stored stored = Stored::kNoScale;
  Shapes shapes = Shapes::kBroadcast;
  std::string_view note = {};  // what `aotc ops` says of 8-bit types

  // kQuantized, with one operand: the function of the stored value.
  ByteFunction (*bytes)(const OpView&) = nullptr;
  // kQuantized, with more. Numbers are added to the parameters and read where code is made.
  Quantized (*quantized)(const OpView&, LoweringBuilder&, Parameters&) = nullptr;
  // What else can be wrong with operands whose counts, types, shapes and scales are in order.
  bool (*verify)(const OpView&, Diagnostics&) = nullptr;
  // Operator::as_activation
  std::optional<Activation> (*activation)(const OpView&) = nullptr;
  // With their defaults, if there are any.
  std::shared_ptr<graph::AttributesBase> (*attributes)() = nullptr;
};

// Each defined in the file of its name.
std::span<const Row> comparison_rows();
std::span<const Row> logical_rows();
std::span<const Row> arithmetic_rows();
std::span<const Row> bit_rows();
std::span<const Row> division_rows();
std::span<const Row> function_rows();
std::span<const Row> power_rows();
std::span<const Row> rounding_rows();

// Are stored values of this type quantised?
inline bool carries_scale(DType type) { return type == DType::kI8 || type == DType::kU8 || type == DType::kI16; }

}  // namespace aotc::ops::elementwise
