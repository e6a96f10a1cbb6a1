// SPDX-License-Identifier: Apache-2.0
// CodeModel: instructions that an optimising compiler emits for each statement of a lowered function. It computes
// expressions once for equal operands, outside of the loops that do not change them, and gives each access whose
// address advances with a loop a pointer.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "cores/code_costs.h"
#include "tir/tir.h"

namespace aotc::cores {

// The branch of an If in which an integer decides a byte, if the other one adds up floats to decide it; otherwise null.
// Few integers are beside a tie.
const tir::Stmt* integer_branch(const tir::If& s);

class CodeModel {
 public:
  // `costs` must outlive the model.
  explicit CodeModel(const CodeCosts& costs) : c_(costs) {}

  struct Cost {
    double once = 0;   // instructions of one execution, without substatements
    double entry = 0;  // of a loop: instructions before its first iteration
    double turn = 0;   // of a loop: control and pointers of one iteration
    // The branch of an If for usual operands, if the other one computes rare operands exactly, in f64 or by a sum of
    // floats for a byte, or its condition hardly ever holds; otherwise null.
    const tir::Stmt* usual = nullptr;
  };

  // Half of the elements of a float buffer are zeros: results of max(x, 0). Functions for sums and products return
  // early for them. State it of a function's parameters before add(), which finds out about other buffers.
  void set_half_zero(const tir::Buffer* buffer) { half_zero_.insert(buffer); }
  bool is_half_zero(const tir::Buffer* buffer) const { return half_zero_.contains(buffer); }

  // Adds the statements of a function, with those of its loops, without those of the kernels that it calls.
  void add(const tir::Function& function);
  // Zeros for a statement that is in no added function.
  const Cost& of(const tir::Stmt& stmt) const;

  // Instructions of memcpy (`copies`) or memset of a number of bytes.
  double block(bool copies, double bytes, bool constant) const;

 private:
  class Walker;

  const CodeCosts& c_;
  std::unordered_map<const tir::Stmt*, Cost> costs_;
  std::unordered_set<const tir::Buffer*> half_zero_;
};

}  // namespace aotc::cores
