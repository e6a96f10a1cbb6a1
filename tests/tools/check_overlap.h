// SPDX-License-Identifier: Apache-2.0
// Checks the write orders that a lowering publishes against what its function does: the TIR
// interpreter runs it and every access is watched.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/overlap.h"

namespace aotc::tests {

class AccessLog final : public tir::AccessObserver {
 public:
  struct Access {
    bool write;
    int64_t begin, end;
  };
  AccessLog(int operand, int result) : operand_(operand), result_(result) {}
  void on_read(int param, int64_t offset, int64_t bytes) override {
    if (param == operand_) log.push_back({false, offset, offset + bytes});
  }
  void on_write(int param, int64_t offset, int64_t bytes) override {
    if (param == result_) log.push_back({true, offset, offset + bytes});
  }
  std::vector<Access> log;

 private:
  int operand_, result_;
};

// Empty if every published order is safe, else what is wrong with it.
inline std::string check_overlap(const ops::Lowered& lowered) {
  // Functions that may fail are given what they are defined for: no divisor of 0.
  const uint8_t filling = tir::can_fail(lowered.function->body) ? 1 : 0;
  for (const ops::WriteOrder& order : lowered.write_orders) {
    int operand = -1, result = -1, last = -1;  // an order is about the operator's last result
    std::vector<std::vector<uint8_t>> data;
    std::vector<tir::Memory> memory;
    for (size_t a = 0; a < lowered.args.size(); ++a) {
      const ops::Arg& arg = lowered.args[a];
      const tir::Buffer& b = *lowered.function->params[a];
      if (arg.kind == ops::ArgKind::kOperand && arg.index == order.operand) operand = static_cast<int>(a);
      if (arg.kind == ops::ArgKind::kResult && arg.index > last) result = static_cast<int>(a), last = arg.index;
      data.emplace_back(static_cast<size_t>(b.elements * size_of(b.dtype)), filling);
      if (arg.kind == ops::ArgKind::kConstant) data.back() = lowered.constants[static_cast<size_t>(arg.index)].bytes;
    }
    for (auto& d : data) memory.push_back({d.data(), static_cast<int64_t>(d.size())});
    if (operand < 0 || result < 0) return "a write order names an operand that is no parameter";
    AccessLog observer(operand, result);
    Diagnostics diags;
    if (!tir::interpret(*lowered.function, memory, diags, &observer)) return diags.str();
    int64_t in = memory[static_cast<size_t>(operand)].bytes, out = memory[static_cast<size_t>(result)].bytes;
    plan::OverlapLimits claim = plan::overlap_limits(order, in, out);
    int64_t low = in, high = 0;
    std::vector<bool> needed(static_cast<size_t>(in), false);
    for (size_t i = observer.log.size(); i-- > 0;) {
      const AccessLog::Access& x = observer.log[i];
      if (!x.write) {
        low = std::min(low, x.begin);
        high = std::max(high, x.end);
        for (int64_t b = x.begin; b < x.end; ++b) needed[static_cast<size_t>(b)] = true;
        continue;
      }
      if (low >= high) continue;
      if (!order.steps.empty() && (x.end + claim.forward > low || x.begin + claim.backward < high))
        return fmt::format("limits {} and {} of operand {} are not safe: a write of [{}, {}) while [{}, {}) is needed",
                           claim.forward, claim.backward, order.operand, x.begin, x.end, low, high);
      for (int64_t b = x.begin; order.in_place && b < std::min(x.end, in); ++b)
        if (needed[static_cast<size_t>(b)])
          return fmt::format("operand {} is not safe in place: byte {} is read after it was written", order.operand, b);
    }
  }
  return "";
}

}  // namespace aotc::tests
