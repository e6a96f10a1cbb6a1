// SPDX-License-Identifier: Apache-2.0
// The variables of a text: definitions that reach a common use are one variable.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "cores/arm/helium/intrinsics.h"

namespace aotc::cores::arm {

namespace {

class MveValues {
 public:
  MveValues(std::vector<MveStep>& steps, int parameters, int pointers)
      : steps_(steps), parameters_(parameters), pointers_(pointers), parent_(steps.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  std::optional<std::vector<MveValue>> run() {
    for (const MveStep& s : steps_)
      for (const MveUse& use : s.uses)
        if (use.since >= 0) compared_.insert(use.since);
    while (flow(false)) {
    }
    flow(true);
    if (!compares_present()) return std::nullopt;
    drop_unused();
    join();
    while (forward_copies()) {
    }
    fold_offsets();
    settle();
    load_words();
    drop_unread();
    settle();
    reuse();
    number();
    find_types();
    return std::move(values_);
  }

 private:
  using Places = std::array<std::vector<int>, place::kCount>;  // the definitions that may be in each place

  static bool merge(Places& to, const Places& from) {
    bool changed = false;
    for (size_t p = 0; p < to.size(); ++p)
      for (const int step : from[p]) {
        const auto at = std::lower_bound(to[p].begin(), to[p].end(), step);
        if (at != to[p].end() && *at == step) continue;
        to[p].insert(at, step);
        changed = true;
      }
    return changed;
  }

  // One pass over the text; returns whether more definitions reach a label than before.
  bool flow(bool record) {
    bool changed = false, reached = true;
    Places now;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const MveStep& s = steps_[i];
      if (s.kind == MveStep::kLabel) {
        Places& there = labels_[static_cast<int>(i)];
        if (reached) changed |= merge(there, now);
        now = there;
        reached = true;
      }
      if (record) {
        for (const MveUse& use : s.uses) reaching_[{i, use.at}] = now[static_cast<size_t>(use.at)];
        if (compared_.contains(static_cast<int>(i))) before_[static_cast<int>(i)] = now;
      }
      if (s.kind == MveStep::kDefine) now[static_cast<size_t>(s.to)] = {static_cast<int>(i)};
      if (s.kind != MveStep::kBranch) continue;
      changed |= merge(labels_[s.label], now);
      reached = !s.text.empty();
    }
    return changed;
  }

  const std::vector<int>& reaching(size_t step, const MveUse& use) const { return reaching_.at({step, use.at}); }

  bool compares_present() const {
    for (size_t i = 0; i < steps_.size(); ++i)
      for (const MveUse& use : steps_[i].uses)
        if (use.since >= 0 && before_.at(use.since)[static_cast<size_t>(use.at)] != reaching(i, use)) return false;
    return true;
  }

  void drop_unused() {
    std::vector<bool> needed(steps_.size());
    std::vector<size_t> left;
    auto need = [&](size_t i) {
      if (needed[i]) return;
      needed[i] = true;
      left.push_back(i);
    };
    for (size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].kind == MveStep::kStore || steps_[i].kind == MveStep::kBranch) need(i);
    while (!left.empty()) {
      const size_t i = left.back();
      left.pop_back();
      for (const MveUse& use : steps_[i].uses)
        for (const int step : reaching(i, use)) need(static_cast<size_t>(step));
    }
    for (size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].kind == MveStep::kDefine && !needed[i]) steps_[i].kind = MveStep::kDropped;
  }

  int root(int step) {
    while (parent_[static_cast<size_t>(step)] != step) step = parent_[static_cast<size_t>(step)];
    return step;
  }

  bool lives(size_t i) const { return steps_[i].kind != MveStep::kDropped; }

  void join() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!lives(i)) continue;
      if (steps_[i].kind == MveStep::kDefine) steps_[i].value = static_cast<int>(i);
      for (MveUse& use : steps_[i].uses) {
        const std::vector<int>& from = reaching(i, use);
        if (from.empty()) continue;
        use.value = from[0];
        for (const int step : from) parent_[static_cast<size_t>(root(step))] = root(from[0]);
      }
    }
    settle();
  }

  void settle() {
    definitions_.clear();
    uses_.clear();
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!lives(i)) continue;
      if (steps_[i].value >= 0) ++definitions_[steps_[i].value = root(steps_[i].value)];
      for (MveUse& use : steps_[i].uses)
        if (use.value >= 0) ++uses_[use.value = root(use.value)];
    }
  }

  bool in_loop(size_t step) const {
    for (size_t i = step; i < steps_.size(); ++i)
      if (steps_[i].kind == MveStep::kBranch && steps_[i].backward && static_cast<size_t>(steps_[i].label) < step)
        return true;
    return false;
  }

  // A variable with one definition that copies another such variable is that one. So is one that takes over a parameter
  // that nothing else uses.
  bool forward_copies() {
    bool changed = false;
    for (size_t i = 0; i < steps_.size(); ++i) {
      MveStep& s = steps_[i];
      if (!lives(i) || !s.copy || s.uses[0].value < 0 || s.uses[0].value == s.value) continue;
      const int from = s.uses[0].value;
      if (definitions_[from] != 1) continue;
      const bool takes_over = from < parameters_ && uses_[from] == 1 && !in_loop(i);
      if (definitions_[s.value] != 1 && !takes_over) continue;
      parent_[static_cast<size_t>(root(s.value))] = from;
      s.kind = MveStep::kDropped;
      settle();
      changed = true;
    }
    return changed;
  }

  bool redefined_between(int value, size_t from, size_t to) const {
    for (size_t k = 0; k < steps_.size(); ++k) {
      if (!lives(k) || steps_[k].value != value) continue;
      if (from < k && k < to) return true;
      // In a loop that begins behind `from`.
      for (size_t b = std::max(k, to); b < steps_.size(); ++b)
        if (steps_[b].kind == MveStep::kBranch && steps_[b].backward) {
          const auto label = static_cast<size_t>(steps_[b].label);
          if (from < label && label <= to && label <= k) return true;
        }
    }
    return false;
  }

  // Addresses that are a number of bytes behind a pointer use that pointer.
  void fold_offsets() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      MveStep& s = steps_[i];
      if (!lives(i) || !s.moves || s.uses[0].value < 0 || s.value == s.uses[0].value || definitions_[s.value] != 1)
        continue;
      bool all = true;
      for (size_t j = 0; j < steps_.size(); ++j) {
        MveStep& to = steps_[j];
        for (size_t u = 0; u < to.uses.size() && lives(j); ++u) {
          if (to.uses[u].value != s.value) continue;
          const bool possible =
              j > i && u == 0 && (to.bytes > 0 || to.moves) && !redefined_between(s.uses[0].value, i, j);
          all = all && possible;
          if (!possible) continue;
          to.uses[0].value = s.uses[0].value;
          to.offset += s.offset;
          if (to.moves && to.offset == 0 && to.value == to.uses[0].value) to.kind = MveStep::kDropped;
        }
      }
      if (all) s.kind = MveStep::kDropped;
    }
  }

  // Drops the definitions of variables that nothing but their own definitions read.
  void drop_unread() {
    std::set<int> needed;
    for (size_t before = needed.size() + 1; before != needed.size();) {
      before = needed.size();
      for (const MveStep& s : steps_)
        if (s.kind == MveStep::kStore || s.kind == MveStep::kBranch ||
            (s.kind == MveStep::kDefine && needed.contains(s.value)))
          for (const MveUse& use : s.uses) needed.insert(use.value);
    }
    for (MveStep& s : steps_)
      if (s.kind == MveStep::kDefine && !needed.contains(s.value)) s.kind = MveStep::kDropped;
  }

  // Whether a loop begins between both steps that has the second one in it.
  bool enters_loop(size_t from, size_t to) const {
    for (size_t b = to; b < steps_.size(); ++b)
      if (steps_[b].kind == MveStep::kBranch && steps_[b].backward) {
        const auto label = static_cast<size_t>(steps_[b].label);
        if (from < label && label <= to) return true;
      }
    return false;
  }

  // A result takes the variable of its first operand where nothing else uses that: sums, and steps of one computation.
  void reuse() {
    std::map<int, size_t> defined;  // of variables with one definition: where
    for (size_t i = 0; i < steps_.size(); ++i) {
      const MveStep& s = steps_[i];
      if (!lives(i) || s.kind != MveStep::kDefine || definitions_[s.value] != 1) continue;
      defined[s.value] = i;
      if (s.uses.empty() || s.uses[0].type != s.type || s.sum || s.copy || s.bytes > 0) continue;
      const auto from = defined.find(s.uses[0].value);
      if (from == defined.end() || uses_[from->first] != 1 || from->second == i) continue;
      const MveStep& before = steps_[from->second];
      if (before.type != s.type || before.constant || enters_loop(from->second, i)) continue;
      parent_[static_cast<size_t>(root(s.value))] = root(from->first);
    }
    settle();
  }

  // Bytes of tables of words are loaded as words, whose instructions reach further from a pointer.
  void load_words() {
    std::set<int> words, others;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const MveStep& s = steps_[i];
      if (!lives(i) || s.uses.empty() || s.uses[0].value < 0) continue;
      if (s.bytes == 4 && s.offset % 4 == 0) words.insert(s.uses[0].value);
      if ((s.bytes > 0 || s.moves) && s.offset % 4 != 0) others.insert(s.uses[0].value);
    }
    for (MveStep& s : steps_)
      if (s.text == "vldrbq_s8($A)" && words.contains(s.uses[0].value) && !others.contains(s.uses[0].value)) {
        s.text = "vreinterpretq_s8_s32(vldrwq_s32($A))";
        s.bytes = 4;
      }
  }

  void number() {
    std::map<int, int> numbers;
    for (MveStep& s : steps_) {
      if (s.kind == MveStep::kDropped) continue;
      for (MveUse& use : s.uses)
        if (use.value >= 0) use.value = numbers.try_emplace(use.value, static_cast<int>(numbers.size())).first->second;
      if (s.value >= 0) s.value = numbers.try_emplace(s.value, static_cast<int>(numbers.size())).first->second;
    }
    values_.resize(numbers.size());
  }

  MveValue& value(int number) { return values_[static_cast<size_t>(number)]; }

  void find_types() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const MveStep& s = steps_[i];
      if (s.value < 0 || !lives(i)) continue;
      ++value(s.value).definitions;
      if (static_cast<int>(i) < pointers_) {
        value(s.value).pointer = true;
        value(s.value).parameters |= 1u << i;
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < steps_.size(); ++i)
        if (lives(i) && steps_[i].value >= 0) changed |= find_type(steps_[i]);
    }
  }

  bool find_type(const MveStep& s) {
    MveValue& v = value(s.value);
    const MveValue before = v;
    if (v.type == MveType::kNone)
      v.type = s.copy && s.uses[0].value >= 0 && s.type == MveType::kNone ? value(s.uses[0].value).type : s.type;
    int pointers = 0;
    if (s.sum)
      for (const MveUse& use : s.uses) {
        if (use.since >= 0 || use.value < 0 || !value(use.value).pointer) continue;
        ++pointers;
        if (s.minus && pointers == 2) break;
        v.parameters |= value(use.value).parameters;
      }
    v.pointer = v.pointer || pointers == 1 || (pointers == 2 && !s.minus);
    return v.type != before.type || v.pointer != before.pointer || v.parameters != before.parameters;
  }

  std::vector<MveStep>& steps_;
  int parameters_, pointers_;
  std::vector<int> parent_;
  std::map<int, Places> labels_;
  std::map<std::pair<size_t, int>, std::vector<int>> reaching_;  // by step and place
  std::set<int> compared_;                 // steps before which a later condition's operands were there
  std::map<int, Places> before_;           // those steps
  std::map<int, int> definitions_, uses_;  // of each variable
  std::vector<MveValue> values_;
};

}  // namespace

std::optional<std::vector<MveValue>> mve_values(std::vector<MveStep>& steps, int parameters, int pointers) {
  return MveValues(steps, parameters, pointers).run();
}

}  // namespace aotc::cores::arm
