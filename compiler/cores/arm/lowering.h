// SPDX-License-Identifier: Apache-2.0
// What lowerings for ARM cores begin with. The one thing to know: they are written in the words of operators.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/operator.h"

namespace aotc::cores::arm {

using namespace ops;  // NOLINT: in this namespace only

// The tables of a kernel that is called in turns (ops::Turns): what `make` gives for so many units. That of the rest,
// if there is one, is called rest_<name>.
class TurnTables {
 public:
  TurnTables() = default;
  template <typename Make>
  TurnTables(LoweringBuilder& f, const Turns& turns, const std::string& name, Make make)
      : size_(turns.size), whole_(f.constant(name, DType::kI32, make(turns.size))) {
    if (turns.rest > 0) rest_ = f.constant("rest_" + name, DType::kI32, make(turns.rest));
  }
  const tir::BufferPtr& of(int64_t units) const { return units == size_ ? whole_ : rest_; }

 private:
  int64_t size_ = 0;
  tir::BufferPtr whole_, rest_;
};

}  // namespace aotc::cores::arm
