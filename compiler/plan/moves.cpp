// SPDX-License-Identifier: Apache-2.0
#include "plan/moves.h"

#include <algorithm>
#include <climits>

#include "plan/overlap.h"

namespace aotc::plan {

namespace {

using graph::Op;
using graph::TensorId;

class Settler {
 public:
  Settler(FlatGraph& flat, Classes& classes, const std::vector<std::optional<ops::Lowered>>& lowered)
      : flat_(flat), classes_(classes), lowered_(lowered) {
    definer_.assign(flat.graph.tensors.size(), -1);
    for (size_t i = 0; i < flat.graph.ops.size(); ++i)
      for (TensorId id : flat.graph.ops[i].results) definer_[static_cast<size_t>(id.value)] = static_cast<int>(i);
    collect(flat.body);
  }

  void run() { settle(flat_.body, 0); }

 private:
  // Moves, where they read, counted as "before operator `at`"; conditions; results that moves define.
  struct Reader {
    const Move* move;
    int at;
  };

  void collect(Block& block) {
    for (Step& step : block.steps) {
      if (step.kind == Step::Kind::kOp) continue;
      conditions_.push_back(step.condition);
      for (Move& move : step.before) readers_.push_back({&move, step.begin});
      for (Block& inner : step.blocks) collect(inner);
    }
    for (Move& move : block.moves) readers_.push_back({&move, block.end});
  }

  // Inner steps first. `loop`: the first operator of the innermost loop around the block.
  void settle(Block& block, int loop) {
    for (Step& step : block.steps) {
      if (step.kind == Step::Kind::kOp) continue;
      const bool is_loop = step.kind == Step::Kind::kWhile;
      for (Block& inner : step.blocks) settle(inner, is_loop ? step.begin : loop);
      if (!is_loop) {
        for (Block& inner : step.blocks)
          for (Move& move : inner.moves) settle_branch(inner, move);
        continue;
      }
      for (Move& move : step.blocks[1].moves) settle_next(step, move);
      for (Move& move : step.before) settle_first(step, loop, move);
    }
  }

  // The first operator that writes a class; nothing if somebody else has written it, or moves do.
  std::optional<int> first_writer_of(int wanted) const {
    int first = INT_MAX;
    for (size_t i = 0; i < definer_.size(); ++i) {
      if (classes_.of(static_cast<int>(i)) != wanted) continue;
      if (definer_[i] < 0) return std::nullopt;
      first = std::min(first, definer_[i]);
    }
    return first;
  }

  static bool is_direct(const Block& block, int op) {
    return std::any_of(block.steps.begin(), block.steps.end(),
                       [&](const Step& s) { return s.kind == Step::Kind::kOp && s.op == op; });
  }
  // All writers of the class are in the block, and in no block of it.
  bool written_in(const Block& block, int wanted) const {
    for (size_t i = 0; i < definer_.size(); ++i)
      if (classes_.of(static_cast<int>(i)) == wanted && !is_direct(block, definer_[i])) return false;
    return true;
  }

  bool reads(int op, int wanted) const {
    if (!lowered_[static_cast<size_t>(op)]) return false;  // a view is what it views
    const auto& operands = flat_.graph.ops[static_cast<size_t>(op)].operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](TensorId id) { return id.valid() && classes_.of(id) == wanted; });
  }
  bool read_by_moves(int wanted, int from, int to, const Move* but) const {
    return std::any_of(readers_.begin(), readers_.end(), [&](const Reader& r) {
      return r.move != but && r.at >= from && r.at <= to && classes_.of(r.move->from) == wanted;
    });
  }
  bool is_condition(int wanted) const {
    return std::any_of(conditions_.begin(), conditions_.end(), [&](TensorId id) { return classes_.of(id) == wanted; });
  }

  // Free: it lies nowhere yet, and is not what something else becomes.
  bool is_free(TensorId id) { return classes_.storage(id).kind == StorageKind::kNone; }

  void join(Move& move) {
    Storage storage = classes_.storage(move.to);
    classes_.join(move.to, move.from, storage);
    // What is joined is written by moves from now on, too.
    definer_[static_cast<size_t>(move.from.value)] = -1;
    move.nothing = true;
  }
  bool same(Move& move) { return move.nothing = classes_.of(move.from) == classes_.of(move.to); }

  void settle_branch(const Block& block, Move& move) {
    if (same(move) || is_condition(classes_.of(move.from))) return;
    const int value = classes_.of(move.from);
    if (!first_writer_of(value) || !written_in(block, value)) return;
    if (!read_by_moves(value, 0, INT_MAX, &move)) join(move);
  }

  // The value of the next iteration, in the place of this one's.
  void settle_next(const Step& step, Move& move) {
    if (same(move) || !is_free(move.from)) return;
    const Block& body = step.blocks[1];
    const int value = classes_.of(move.from), old = classes_.of(move.to);
    auto first = first_writer_of(value);
    if (!first || !written_in(body, value) || is_condition(old)) return;
    if (read_by_moves(value, 0, INT_MAX, &move)) return;
    if (read_by_moves(old, *first + 1, body.end, nullptr)) return;
    for (int i = *first; i < body.end; ++i) {
      if (!reads(i, old)) continue;
      const Op& op = flat_.graph.ops[static_cast<size_t>(i)];
      const ops::Lowered& lowered = *lowered_[static_cast<size_t>(i)];
      bool here = !op.results.empty() && classes_.of(op.results[0]) == value;
      if (!here || !in_place(flat_.graph, op, lowered.args, lowered.write_orders, classes_, old, value)) return;
    }
    join(move);
  }

  // What a loop begins with, if nobody needs it any more.
  void settle_first(const Step& step, int loop, Move& move) {
    if (same(move) || !is_free(move.from)) return;
    const int value = classes_.of(move.from);
    auto first = first_writer_of(value);
    if (!first || *first < loop || is_condition(value)) return;
    for (int i = step.begin; i < static_cast<int>(flat_.graph.ops.size()); ++i)
      if (reads(i, value)) return;
    if (read_by_moves(value, step.begin, INT_MAX, &move)) return;
    for (const graph::Port& port : flat_.graph.outputs)
      if (classes_.of(port.tensor) == value) return;
    for (const graph::State& state : flat_.graph.states)
      if (classes_.of(state.after) == value) return;
    join(move);
  }

  FlatGraph& flat_;
  Classes& classes_;
  const std::vector<std::optional<ops::Lowered>>& lowered_;
  std::vector<int> definer_;  // by tensor; -1: none, or moves
  std::vector<Reader> readers_;
  std::vector<TensorId> conditions_;
};

}  // namespace

void settle_moves(FlatGraph& flat, Classes& classes, const std::vector<std::optional<ops::Lowered>>& lowered) {
  Settler(flat, classes, lowered).run();
}

bool in_place(const graph::Graph& graph, const Op& op, const std::vector<ops::Arg>& args,
              const std::vector<ops::WriteOrder>& orders, const Classes& classes, int old, int next) {
  auto is_old = [&](TensorId id) { return id.valid() && classes.of(id) == old; };
  int readers = 0;
  for (const ops::Arg& arg : args)
    readers += arg.kind == ops::ArgKind::kOperand && is_old(op.operands[static_cast<size_t>(arg.index)]);
  if (readers != 1 || op.results.empty() || classes.of(op.results.back()) != next) return false;
  const int64_t result = graph[op.results.back()].type.bytes();
  for (const ops::WriteOrder& order : orders) {
    TensorId operand = op.operands[static_cast<size_t>(order.operand)];
    if (!is_old(operand)) continue;
    const int64_t bytes = graph[operand].type.bytes();
    if (order.in_place && result <= bytes) return true;
    OverlapLimits limits = overlap_limits(order, bytes, result);
    if (limits.forward >= 0 || limits.backward <= 0) return true;
  }
  return false;
}

}  // namespace aotc::plan
