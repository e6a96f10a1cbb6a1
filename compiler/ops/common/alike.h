// SPDX-License-Identifier: Apache-2.0
// AlikeOps counts the operators of a graph that share the text of a kernel, by a key that a lowering makes of each.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ops/operator.h"

namespace aotc::ops {

// Keys are made once for each operator while an object is in force: on this thread, for as long as it lives. Otherwise
// each count makes the keys of all operators.
class AlikeOps {
 public:
  using Key = std::vector<int64_t>;
  // Everything that the text depends on; nullopt if the operator does not have it.
  using KeyOf = std::optional<Key> (*)(const OpView& op, const TargetInfo& target);

  explicit AlikeOps(const graph::Graph& graph);
  ~AlikeOps();
  AlikeOps(const AlikeOps&) = delete;
  AlikeOps& operator=(const AlikeOps&) = delete;

  // Operators of op's graph that have op's key, op included. With `fine`, those of them that have op's key of `fine`,
  // too: such keys are made of no other operators. Keys may depend on the goal of the target and on its FPU; the rest
  // of the target is the same for all counts of an object.
  static int64_t count(const OpView& op, const TargetInfo& target, KeyOf key_of, KeyOf fine = nullptr);

 private:
  using Ops = std::vector<const graph::Op*>;
  struct Groups {
    std::map<Key, Ops> by_key;
    std::map<const graph::Op*, const Ops*> of;  // null: no key
  };
  using Goals = std::tuple<Level, bool, bool>;
  static Groups groups_of(const graph::Graph& graph, const Ops& ops, const TargetInfo& target, KeyOf key_of);

  AlikeOps* outer_;
  const graph::Graph& graph_;
  Ops all_;
  std::map<std::tuple<KeyOf, Goals>, Groups> known_;
  std::map<std::tuple<const Ops*, KeyOf>, Groups> fine_;  // of the operators of a group of known_
};

}  // namespace aotc::ops
