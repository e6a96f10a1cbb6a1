// SPDX-License-Identifier: Apache-2.0
// Matrices times vectors in recurrent layers of float activations, with weights in float32 or, dynamic range,
// in int8 (ops/common/hybrid.h). The one thing to know: sums go on from what a variable holds, in index order
// in float; of int8 the whole sum is scaled and added.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "ops/common/hybrid.h"
#include "ops/operator.h"

namespace aotc::ops {

// Of what a recurrent layer gives and remembers.
enum class Nonlinearity : uint8_t { kNone, kRelu, kRelu6, kReluN1To1, kTanh };
std::span<const std::string_view> enum_names(Nonlinearity);
tir::Ex emit_nonlinearity(Nonlinearity which, const tir::Ex& v);
tir::Ex emit_logistic(const tir::Ex& v);

// Rows of input and output: batches of sequences, or sequences of batches.
struct SequenceRows {
  int64_t batches = 1, times = 1;
  bool time_major = false;

  // The row of a batch's step, for int64_t and tir::Ex.
  template <typename Number>
  Number row(const Number& batch, const Number& time) const {
    return time_major ? time * Number(batches) + batch : batch * Number(times) + time;
  }
};

// All of it, in the operands of one operator.
class FloatProducts {
 public:
  struct Row {
    size_t operand;  // of a matrix
    tir::Ex row;
  };
  // What rows are multiplied by: floats, or what they were quantised to.
  struct Vector {
    std::function<tir::Ex(const tir::Ex& i)> element;
    int64_t count = 0;
    tir::Ex zero;
    std::map<size_t, tir::Ex> steps;  // of a sum with this matrix
  };

  // `matrices`: every operand whose rows are multiplied; `scaled`: vectors of int8 whose elements are asked for
  // by `weight`. Declares all operands and results, and scratch for `floats` and for `quantised` elements.
  FloatProducts(const OpView& op, LoweringBuilder& f, bool asymmetric, const std::vector<size_t>& matrices,
                const std::vector<size_t>& scaled, int64_t floats, int64_t quantised);

  const tir::BufferPtr& operand(size_t i) const { return operands_.at(i); }
  const tir::BufferPtr& result(size_t i) const { return results_.at(i); }
  bool has_operand(size_t i) const { return operands_.count(i) > 0; }

  // x[at .. at + count), of which those `matrices` will be multiplied that there are; quantised ones lie at
  // `to` of those that were asked for.
  Vector vector(const tir::BufferPtr& x, const tir::Ex& at, int64_t count, const std::vector<size_t>& matrices,
                int64_t to);
  // The same of floats in scratch.
  Vector vector_of_floats(int64_t at, int64_t count, const std::vector<size_t>& matrices, int64_t to);
  // Adds the product with rows[i] to the variable sums[i].
  void add(const std::vector<tir::Ex>& sums, const std::vector<Row>& rows, const Vector& vector);
  // Element of a vector of weights.
  tir::Ex weight(size_t operand, const tir::Ex& i);

  tir::Ex load_float(const tir::Ex& i) const;
  void store_float(const tir::Ex& i, const tir::Ex& value);

 private:
  Vector quantised(std::function<tir::Ex(const tir::Ex&)> element, int64_t count, const std::vector<size_t>& matrices,
                   int64_t to);

  const OpView& op_;
  LoweringBuilder& f_;
  bool hybrid_, asymmetric_;
  int64_t floats_;
  std::map<size_t, tir::BufferPtr> operands_;
  std::vector<tir::BufferPtr> results_;
  std::map<size_t, int64_t> scale_at_, sums_at_;  // by operand
  tir::BufferPtr scales_, sums_, scratch_;
};

}  // namespace aotc::ops
