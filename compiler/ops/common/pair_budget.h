// SPDX-License-Identifier: Apache-2.0
// What proofs over all pairs of two 8-bit operands may cost while one model is planned. The one thing to know:
// pairs are counted, not seconds, so the same model becomes the same code on every machine; operators behind
// the last proof that is paid for become what the reference computes, step by step.
#pragma once

#include <cstdint>

namespace aotc::ops {

// Of one plan: five hundred ADDs or a thousand MULs, many times what networks have.
inline constexpr int64_t kMostPairs = int64_t{1} << 26;

// In force on this thread for as long as it lives; the innermost counts.
class PairBudget {
 public:
  explicit PairBudget(int64_t pairs);
  ~PairBudget();
  PairBudget(const PairBudget&) = delete;
  PairBudget& operator=(const PairBudget&) = delete;

  int64_t left() const { return left_; }

  // Is there anything left? Always, where no budget is in force.
  static bool any();
  static void spend(int64_t pairs);

 private:
  PairBudget* outer_;
  int64_t left_;
};

}  // namespace aotc::ops
