// SPDX-License-Identifier: Apache-2.0
// What proofs over all pairs of two 8-bit operands came to, kept while one model is compiled several times, as a report
// does. The one thing to know: a form that is known spends what its proof did (pair_budget.h), so code is the same with
// and without what is kept.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "ops/common/activation.h"
#include "ops/operator.h"

namespace aotc::ops {

// In force on this thread for as long as it lives.
class KnownFits {
 public:
  enum class Function { kSum, kDifference, kProduct };
  using Form = std::array<int32_t, 6>;  // the numbers of one, and zeros
  using Key = std::array<int64_t, 10>;  // all that decides on it

  KnownFits();
  ~KnownFits();
  KnownFits(const KnownFits&) = delete;
  KnownFits& operator=(const KnownFits&) = delete;

  // Of a binary operator.
  static Key key_of(const OpView& op, Function function, ClampI32 clamp);
  // What is known for the key, or else what `prove` finds.
  static std::optional<Form> find(const Key& key, const std::function<std::optional<Form>()>& prove);

 private:
  struct Known {
    std::optional<Form> form;
    int64_t pairs = 0;  // that its proof took
  };
  KnownFits* outer_;
  std::map<Key, Known> known_;
};

}  // namespace aotc::ops
