// SPDX-License-Identifier: Apache-2.0
#include "ops/common/pair_budget.h"

namespace aotc::ops {

namespace {

thread_local PairBudget* current_budget = nullptr;

}  // namespace

PairBudget::PairBudget(int64_t pairs) : outer_(current_budget), left_(pairs) { current_budget = this; }

PairBudget::~PairBudget() { current_budget = outer_; }

bool PairBudget::any() { return current_budget == nullptr || current_budget->left_ > 0; }

void PairBudget::spend(int64_t pairs) {
  if (current_budget != nullptr) current_budget->left_ -= pairs;
}

}  // namespace aotc::ops
