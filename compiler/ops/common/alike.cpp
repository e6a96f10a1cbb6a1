// SPDX-License-Identifier: Apache-2.0
#include "ops/common/alike.h"

#include <algorithm>

namespace aotc::ops {

namespace {

thread_local AlikeOps* current_alike = nullptr;

}  // namespace

AlikeOps::AlikeOps(const graph::Graph& graph) : outer_(current_alike), graph_(graph) {
  current_alike = this;
  for (const graph::Op& op : graph.ops) all_.push_back(&op);
}

AlikeOps::~AlikeOps() { current_alike = outer_; }

AlikeOps::Groups AlikeOps::groups_of(const graph::Graph& graph, const Ops& ops, const TargetInfo& target,
                                     KeyOf key_of) {
  Groups out;
  for (const graph::Op* op : ops) {
    const Ops*& group = out.of[op];
    const auto key = key_of({graph, *op}, target);
    if (!key) continue;
    Ops& members = out.by_key[*key];
    members.push_back(op);
    group = &members;
  }
  return out;
}

int64_t AlikeOps::count(const OpView& op, const TargetInfo& target, KeyOf key_of, KeyOf fine) {
  if (target.whole != nullptr) {
    TargetInfo of_whole = target;
    of_whole.whole = nullptr;
    return count(*target.whole, of_whole, key_of, fine);
  }
  if (current_alike == nullptr || &current_alike->graph_ != &op.graph) {
    const AlikeOps here(op.graph);
    return count(op, target, key_of, fine);
  }
  TargetInfo common = target;
  common.asked = nullptr;
  auto group_in = [&](auto& known, const auto& at, const Ops& ops, KeyOf keys) {
    auto found = known.find(at);
    if (found == known.end()) found = known.emplace(at, groups_of(op.graph, ops, common, keys)).first;
    const auto group = found->second.of.find(&op.op);
    return group == found->second.of.end() ? nullptr : group->second;
  };
  const Goals goals{target.level, target.prefer_ram, target.fpu};
  const Ops* group = group_in(current_alike->known_, std::tuple(key_of, goals), current_alike->all_, key_of);
  if (group != nullptr && fine != nullptr)
    group = group_in(current_alike->fine_, std::tuple(group, fine), *group, fine);
  return group != nullptr ? static_cast<int64_t>(group->size()) : 1;
}

}  // namespace aotc::ops
