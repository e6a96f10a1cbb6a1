// SPDX-License-Identifier: Apache-2.0
#include "kernelgen/block.h"

#include <algorithm>
#include <utility>

namespace aotc::kernelgen {

int64_t instructions_of(const Row& row) { return 1 + std::count(row.text.begin(), row.text.end(), '\n'); }

Value Block::new_value(Bank bank, Registers allowed) {
  values_.push_back({bank, allowed});
  return static_cast<Value>(values_.size()) - 1;
}

Value Block::live_in(Bank bank, int number, bool stays) {
  const Value v = new_value(bank, kAnyRegister);
  values_.back().fixed = number;
  values_.back().live_out = stays;
  inputs_.push_back(v);
  return v;
}

Value Block::append(const Row& row, std::vector<Value> uses, std::initializer_list<int64_t> immediates, int stream) {
  Op op{&row, std::move(uses), immediates, kNoValue, kNoValue, stream};
  for (size_t i = 0; i < op.uses.size() && i < row.operand_in.size(); ++i)
    values_[static_cast<size_t>(op.uses[i])].allowed &= row.operand_in[i];
  if (row.result != Bank::kNone) op.result = new_value(row.result, row.result_in);
  for (int i = 1; i < row.results; ++i) new_value(row.result, row.result_in);
  if (row.moved >= 0) {
    const ValueInfo pointer = values_[static_cast<size_t>(op.uses[static_cast<size_t>(row.moved)])];
    op.moved = new_value(pointer.bank, pointer.allowed);
  }
  ops_.push_back(std::move(op));
  return ops_.back().result;
}

Value Block::add(const Row& row, std::initializer_list<Value> uses, std::initializer_list<int64_t> immediates,
                 int stream) {
  return append(row, uses, immediates, stream);
}

Value Block::access(const Row& row, Value& pointer, std::initializer_list<Value> others,
                    std::initializer_list<int64_t> immediates, int stream) {
  std::vector<Value> uses = {pointer};
  uses.insert(uses.end(), others);
  const Value result = append(row, std::move(uses), immediates, stream);
  if (ops_.back().moved != kNoValue) pointer = ops_.back().moved;
  return result;
}

void Block::keep(Value value, int number) {
  ValueInfo& info = values_[static_cast<size_t>(value)];
  info.live_out = true;
  if (number < 0) return;
  info.fixed = number;
  // So must be the values that it overwrites.
  for (auto op = ops_.rbegin(); op != ops_.rend(); ++op) {
    if (op->result != value || op->row->tied < 0) continue;
    value = op->uses[static_cast<size_t>(op->row->tied)];
    values_[static_cast<size_t>(value)].fixed = number;
  }
}

int64_t Block::instructions() const {
  int64_t sum = 0;
  for (const Op& op : ops_) sum += instructions_of(*op.row);
  return sum;
}

}  // namespace aotc::kernelgen
