// SPDX-License-Identifier: Apache-2.0
#include "ops/common/known_fits.h"

#include <bit>
#include <limits>

#include "ops/common/binary.h"
#include "ops/common/pair_budget.h"

namespace aotc::ops {

namespace {

thread_local KnownFits* current = nullptr;

constexpr size_t kMostKnown = size_t{1} << 16;

}  // namespace

KnownFits::KnownFits() : outer_(current) { current = this; }

KnownFits::~KnownFits() { current = outer_; }

KnownFits::Key KnownFits::key_of(const OpView& op, Function function, ClampI32 clamp) {
  const graph::TensorType& a = op.operand(0);
  const graph::TensorType& b = op.operand(1);
  const graph::TensorType& y = op.result();
  auto bits = [](float scale) { return int64_t{std::bit_cast<uint32_t>(scale)}; };
  return {static_cast<int64_t>(function),
          static_cast<int64_t>(op.attrs<BinaryAttrs>().rounding),
          bits(a.scale()),
          bits(b.scale()),
          bits(y.scale()),
          a.zero_point(),
          b.zero_point(),
          y.zero_point(),
          clamp.min,
          clamp.max};
}

std::optional<KnownFits::Form> KnownFits::find(const Key& key, const std::function<std::optional<Form>()>& prove) {
  if (current == nullptr) return prove();
  if (auto it = current->known_.find(key); it != current->known_.end()) {
    PairBudget::spend(it->second.pairs);
    return it->second.form;
  }
  Known found;
  {
    constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
    PairBudget here(kAll);
    found.form = prove();
    found.pairs = kAll - here.left();
  }
  PairBudget::spend(found.pairs);
  if (current->known_.size() < kMostKnown) current->known_.emplace(key, found);
  return found.form;
}

}  // namespace aotc::ops
