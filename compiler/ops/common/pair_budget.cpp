// SPDX-License-Identifier: Apache-2.0
#include "ops/common/pair_budget.h"

namespace aotc::ops {

namespace {

thread_local PairBudget* current = nullptr;

}  // namespace

PairBudget::PairBudget(int64_t pairs) : outer_(current), left_(pairs) { current = this; }

PairBudget::~PairBudget() { current = outer_; }

bool PairBudget::any() { return current == nullptr || current->left_ > 0; }

void PairBudget::spend(int64_t pairs) {
  if (current != nullptr) current->left_ -= pairs;
}

}  // namespace aotc::ops
