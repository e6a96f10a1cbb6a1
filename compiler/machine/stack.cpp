// SPDX-License-Identifier: Apache-2.0
#include "machine/stack.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "support/files.h"

namespace aotc::machine {

namespace {

bool holds_vectors(const std::string& name) {
  return name.find("vector") != std::string::npos || name.find("isr") != std::string::npos;
}

std::unique_ptr<Semantics> semantics_of(const Elf& elf, VectorLength vectors) {
  switch (elf.isa()) {
    case Isa::kThumb: return thumb_semantics(elf);
    case Isa::kRiscv: return riscv_semantics(elf, vectors);
    case Isa::kAvr: break;
  }
  return avr_semantics(elf);
}

}  // namespace

std::vector<uint32_t> functions_called(const Elf& elf, const std::string& name) {
  std::vector<uint32_t> out;
  for (const Symbol* s : elf.functions_named(name)) out.push_back(s->address);
  auto number = name.starts_with("0x") ? number_in(name) : std::nullopt;
  if (out.empty() && number) out.push_back(static_cast<uint32_t>(*number));
  return out;
}

Result<IndirectCalls> read_indirect_calls(const std::string& path, const Elf& elf, Diagnostics& diags) {
  auto bytes = read_file(path, diags, 1 << 20);
  if (!bytes) return kFailure;
  IndirectCalls out;
  std::istringstream lines(std::string(bytes->begin(), bytes->end()));
  Location where;
  where.file = path;
  for (std::string line; std::getline(lines, line);) {
    ++where.line;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string caller, callee;
    if (!(words >> caller)) continue;
    const bool colon = caller.ends_with(":");
    if (colon) caller.pop_back();
    std::vector<uint32_t> callees;
    while (words >> callee) {
      auto found = functions_called(elf, callee);
      if (found.empty())
        diags.error(where, "annotation-invalid", "the program has no function '" + escape_for_display(callee) + "'");
      callees.insert(callees.end(), found.begin(), found.end());
    }
    auto callers = functions_called(elf, caller);
    if (callers.empty())
      diags.error(where, "annotation-invalid", "the program has no function '" + escape_for_display(caller) + "'");
    if (!colon || callees.empty())
      diags.error(where, "annotation-invalid", "the line must be CALLER: CALLEE...")
          .help("write the functions that CALLER calls through pointers");
    for (uint32_t c : callers) (caller.starts_with("0x") ? out.by_address : out.by_function)[c] = callees;
  }
  if (diags.has_errors()) return kFailure;
  return out;
}

StackAnalysis::StackAnalysis(const Elf& elf, const Listing& listing, IndirectCalls indirect, VectorLength vectors)
    : elf_(elf), listing_(listing), indirect_(std::move(indirect)), semantics_(semantics_of(elf, vectors)) {}

StackAnalysis::~StackAnalysis() = default;

const Walk& StackAnalysis::walked(uint32_t entry) {
  auto refined = refined_.find(entry);
  return refined != refined_.end() ? refined->second : walked_for_any(entry);
}

const Walk& StackAnalysis::walked_for_any(uint32_t entry) {
  auto found = walks_.find(entry);
  if (found == walks_.end())
    found = walks_.emplace(entry, Walker(elf_, listing_, *semantics_).walk(entry, noreturn_)).first;
  return found->second;
}

// Functions whose address is in data or was in a register of a function that was walked.
const std::vector<uint32_t>& StackAnalysis::address_taken() {
  if (address_taken_) return *address_taken_;
  std::set<uint32_t> numbers;
  for (const Symbol& s : elf_.symbols())
    if (s.kind == SymbolKind::kFunction && s.section >= 0 && listing_.at(s.address) != nullptr) {
      const Walk& walk = walked_for_any(s.address);
      numbers.insert(walk.numbers.begin(), walk.numbers.end());
    }
  const uint32_t width = elf_.isa() == Isa::kAvr ? 2 : 4;
  for (const Section& s : elf_.sections()) {
    if (!s.allocated() || holds_vectors(s.name)) continue;
    auto bytes = elf_.content(s);
    for (uint32_t at = 0; at + width <= bytes.size(); at += width) {
      const Symbol* code = s.executable() ? elf_.function_around(s.address + at) : nullptr;
      if (code != nullptr && code->size != 0 && !elf_.is_data(s.address + at)) continue;
      uint32_t word = bytes[at] | uint32_t{bytes[at + 1]} << 8;
      if (width == 4) word |= uint32_t{bytes[at + 2]} << 16 | uint32_t{bytes[at + 3]} << 24;
      numbers.insert(word);
    }
  }
  address_taken_.emplace();
  for (uint32_t n : numbers) {
    if (elf_.isa() == Isa::kThumb && (n & 1u) == 0) continue;
    const uint32_t address = elf_.isa() == Isa::kThumb ? n - 1 : elf_.isa() == Isa::kAvr ? n * 2 : n;
    const Symbol* function = elf_.function_at(address);
    if (function != nullptr && function->kind == SymbolKind::kFunction && listing_.at(address) != nullptr)
      address_taken_->push_back(address);
  }
  return *address_taken_;
}

const std::vector<uint32_t>* StackAnalysis::given_targets(uint32_t function, uint32_t call) const {
  if (auto at = indirect_.by_address.find(call); at != indirect_.by_address.end()) return &at->second;
  auto by = indirect_.by_function.find(function);
  return by != indirect_.by_function.end() ? &by->second : nullptr;
}

// All functions that can be called below a root, itself first.
std::vector<uint32_t> StackAnalysis::below(uint32_t root) {
  std::vector<uint32_t> out = {root};
  std::set<uint32_t> seen = {root};
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t function = out[i];
    auto add = [&](uint32_t to) {
      if (seen.insert(to).second) out.push_back(to);
    };
    for (const Call& c : walked(function).calls) {
      for (uint32_t to : c.targets) add(to);
      if (!c.indirect) continue;
      const std::vector<uint32_t>* given = given_targets(function, c.address);
      for (uint32_t to : given != nullptr ? *given : address_taken()) add(to);
    }
  }
  return out;
}

// What follows a call that does not come back is not code of the function. First all calls are taken to
// come back; each function without a way back takes some ways from those that call it.
void StackAnalysis::explore(uint32_t root) {
  refined_.clear();
  for (bool more = true; more;) {
    more = false;
    std::vector<uint32_t> functions = below(root);
    std::set<uint32_t> fresh;
    for (uint32_t f : functions)
      if (!walked(f).returns && noreturn_.insert(f).second) fresh.insert(f);
    // Also those that this root does not reach any more: another will.
    const size_t erased = std::erase_if(walks_, [&](const auto& walk) {
      return std::any_of(walk.second.calls.begin(), walk.second.calls.end(), [&](const Call& c) {
        return std::any_of(c.targets.begin(), c.targets.end(), [&](uint32_t to) { return fresh.contains(to); });
      });
    });
    more = erased > 0;
  }
}

std::set<Arguments> StackAnalysis::arguments_of(uint32_t function, const std::vector<uint32_t>& callers) {
  std::set<Arguments> out;
  for (uint32_t caller : callers)
    for (const Call& c : walked(caller).calls) {
      const std::vector<uint32_t>* given = c.indirect ? given_targets(caller, c.address) : nullptr;
      const std::vector<uint32_t>& targets = !c.indirect ? c.targets : given != nullptr ? *given : address_taken();
      if (std::find(targets.begin(), targets.end(), function) == targets.end()) continue;
      if (c.indirect) out.insert(Arguments());
      else out.insert(c.arguments.begin(), c.arguments.end());
    }
  return out;
}

void StackAnalysis::refine(uint32_t root) {
  // A guess stays if there are more sets of arguments.
  constexpr size_t kMostSets = 64;
  constexpr int kMostRounds = 8;
  std::map<uint32_t, std::set<Arguments>> walked_with;
  std::set<uint32_t> wanted;
  const auto guesses = [&](uint32_t f) {
    const std::vector<Problem>& problems = walked(f).problems;
    return std::any_of(problems.begin(), problems.end(), [](const Problem& p) { return p.kind == ProblemKind::kJump; });
  };
  for (int round = 0; round < kMostRounds; ++round) {
    // Another walk of a function may find other calls.
    const std::vector<uint32_t> functions = below(root);
    std::set<uint32_t> guessing;
    for (uint32_t f : functions)
      if (f != root && guesses(f)) guessing.insert(f);
    // Arguments may come from a caller's caller.
    if (round > 0 && !guessing.empty())
      for (uint32_t f : functions)
        for (const Call& c : walked(f).calls)
          if (f != root &&
              std::any_of(c.targets.begin(), c.targets.end(), [&](uint32_t to) { return wanted.contains(to); }))
            wanted.insert(f);
    wanted.insert(guessing.begin(), guessing.end());
    bool changed = false;
    for (uint32_t f : functions) {
      if (!wanted.contains(f)) continue;
      const std::set<Arguments> sets = arguments_of(f, functions);
      if (auto [known, first] = walked_with.try_emplace(f, sets); !first) {
        if (known->second == sets) continue;
        known->second = sets;
      }
      changed = true;
      refined_.erase(f);
      if (sets.empty() || sets.size() > kMostSets) continue;
      std::optional<Walk> all;
      for (const Arguments& arguments : sets) {
        Walk one = Walker(elf_, listing_, *semantics_).walk(f, noreturn_, arguments);
        if (all) all->add(one);
        else all = std::move(one);
      }
      // Callers were walked as if it did not come back.
      if (!all->returns || !noreturn_.contains(f)) refined_[f] = std::move(*all);
    }
    if (!changed) return;
  }
  refined_.clear();
}

// The bound of one root over the walks below it.
class Bounding {
 public:
  Bounding(StackAnalysis& analysis, uint32_t root) : analysis_(analysis), elf_(analysis.elf_) {
    out_.root = root;
    analysis.explore(root);
    analysis.refine(root);
    functions_ = analysis.below(root);
    out_.functions = functions_.size();
    for (uint32_t f : functions_) add_edges(f);
    // Pointers are not taken to lead back to who calls through them; what is left of cycles is recursion.
    drop_guessed();
    find_components();
    report_recursion();
    order();
    finish(root);
  }

  StackBound take() { return std::move(out_); }

 private:
  struct Edge {
    uint32_t to = 0, place = 0;
    int64_t depth = 0;
    bool guessed = false;  // a pointer may hold this function's address
  };

  void problem(ProblemKind kind, uint32_t at, std::string text, bool assumed, bool given = false) {
    out_.problems.push_back({kind, at, std::move(text), assumed, given});
  }

  std::string names(const std::vector<uint32_t>& functions) const {
    constexpr size_t kShown = 6;
    std::string out;
    for (size_t i = 0; i < std::min(functions.size(), kShown); ++i)
      out += (i > 0 ? ", " : "") + elf_.function_name(functions[i]);
    if (functions.size() > kShown) out += fmt::format(", and {} more", functions.size() - kShown);
    return out;
  }

  void add_edges(uint32_t f) {
    const Walk& walk = analysis_.walked(f);
    for (const Problem& p : walk.problems) out_.problems.push_back(p);
    for (const Call& c : walk.calls) {
      for (uint32_t to : c.targets) edges_[f].push_back({to, c.address, c.depth, false});
      if (c.indirect) add_indirect(f, c);
    }
  }

  void add_indirect(uint32_t f, const Call& c) {
    const std::vector<uint32_t>* given = analysis_.given_targets(f, c.address);
    const bool is_given = given != nullptr;
    const std::vector<uint32_t>& targets = is_given ? *given : analysis_.address_taken();
    for (uint32_t to : targets) edges_[f].push_back({to, c.address, c.depth, !is_given});
    if (is_given)
      problem(ProblemKind::kIndirectCall, c.address,
              "a call through a pointer: it reaches " + names(targets) + ", as --indirect states", true, true);
    else if (targets.empty())
      problem(ProblemKind::kIndirectCall, c.address,
              "a call through a pointer, but the program takes no function's address", false);
    else
      problem(
          ProblemKind::kIndirectCall, c.address,
          fmt::format("a call through a pointer: assumed to reach one of the {} functions whose address is taken ({})",
                      targets.size(), names(targets)),
          true);
  }

  // Strongly connected components, by Tarjan's algorithm with a stack of its own.
  void find_components() {
    component_.clear();
    std::map<uint32_t, size_t> index, low;
    std::vector<uint32_t> open;
    std::set<uint32_t> is_open;
    size_t count = 0, components = 0;
    for (uint32_t start : functions_) {
      if (index.contains(start)) continue;
      std::vector<std::pair<uint32_t, size_t>> path = {{start, 0}};
      while (!path.empty()) {
        auto& [f, next] = path.back();
        if (next == 0 && !index.contains(f)) {
          index[f] = low[f] = count++;
          open.push_back(f);
          is_open.insert(f);
        }
        const auto& edges = edges_[f];
        if (next < edges.size()) {
          const uint32_t to = edges[next++].to;
          if (!index.contains(to)) path.emplace_back(to, 0);
          else if (is_open.contains(to)) low[f] = std::min(low[f], index[to]);
          continue;
        }
        if (low[f] == index[f]) {
          for (bool more = true; more;) {
            const uint32_t member = open.back();
            open.pop_back();
            is_open.erase(member);
            component_[member] = components;
            more = member != f;
          }
          ++components;
        }
        const uint32_t done = f;
        path.pop_back();
        if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
      }
    }
  }

  bool inside(uint32_t f, const Edge& e) const { return component_.at(f) == component_.at(e.to); }

  // From the root on, calls that are known first: where a way comes back to a function that it has come from, the last
  // pointer on it is taken not to hold what it was taken to.
  void drop_guessed() {
    enum class Seen : uint8_t { kNot, kOpen, kClosed };
    std::map<uint32_t, Seen> seen;
    for (auto& [f, edges] : edges_)
      std::stable_partition(edges.begin(), edges.end(), [](const Edge& e) { return !e.guessed; });
    std::vector<std::pair<uint32_t, size_t>> path = {{out_.root, 0}};  // and which of its edges is being followed
    seen[out_.root] = Seen::kOpen;
    while (!path.empty()) {
      const auto [f, at] = path.back();
      if (at == edges_[f].size()) {
        seen[f] = Seen::kClosed;
        path.pop_back();
        if (!path.empty()) ++path.back().second;
        continue;
      }
      const uint32_t to = edges_[f][at].to;
      if (seen[to] == Seen::kNot) {
        seen[to] = Seen::kOpen;
        path.emplace_back(to, 0);
      } else if (const size_t last = seen[to] == Seen::kOpen ? last_guess(path, to) : path.size(); last < path.size()) {
        for (; path.size() > last + 1; path.pop_back()) seen[path.back().first] = Seen::kNot;
        auto& edges = edges_[path.back().first];
        edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(path.back().second));
      } else {
        ++path.back().second;
      }
    }
    std::erase_if(functions_, [&](uint32_t f) { return seen[f] != Seen::kClosed; });  // nothing leads there any more
  }

  // The last place of the way from `to` to its end and back at which a pointer was followed; the way's size if none
  // was.
  size_t last_guess(const std::vector<std::pair<uint32_t, size_t>>& path, uint32_t to) {
    for (size_t i = path.size(); i-- > 0;) {
      if (edges_[path[i].first][path[i].second].guessed) return i;
      if (path[i].first == to) break;
    }
    return path.size();
  }

  void report_recursion() {
    std::set<size_t> told;
    for (uint32_t f : functions_)
      for (const Edge& e : edges_[f]) {
        if (!inside(f, e) || !told.insert(component_.at(f)).second) continue;
        std::vector<uint32_t> members;
        for (uint32_t other : functions_)
          if (component_.at(other) == component_.at(f)) members.push_back(other);
        problem(ProblemKind::kRecursion, e.place,
                members.size() == 1 ? "calls itself" : "calls itself through " + names(members), false);
      }
    for (uint32_t f : functions_) std::erase_if(edges_[f], [&](const Edge& e) { return inside(f, e); });
  }

  // Bounds from the leaves up, without recursion of our own.
  void order() {
    std::vector<std::pair<uint32_t, size_t>> path = {{out_.root, 0}};
    while (!path.empty()) {
      auto& [f, next] = path.back();
      const auto& edges = edges_[f];
      if (next < edges.size()) {
        const uint32_t to = edges[next++].to;
        if (!deepest_.contains(to)) path.emplace_back(to, 0);
        continue;
      }
      int64_t best = analysis_.walked(f).depth;
      const Edge* by = nullptr;
      for (const Edge& e : edges) {
        if (e.depth + deepest_.at(e.to) <= best) continue;
        best = e.depth + deepest_.at(e.to);
        by = &e;
      }
      deepest_[f] = best;
      through_[f] = by;
      path.pop_back();
    }
  }

  void finish(uint32_t root) {
    out_.bytes = deepest_.at(root);
    for (uint32_t f = root;;) {
      const Edge* e = through_.at(f);
      const Walk& walk = analysis_.walked(f);
      if (e == nullptr) {
        out_.chain.push_back({f, walk.depth_place, walk.depth});
        break;
      }
      out_.chain.push_back({f, e->place, e->depth});
      f = e->to;
    }
    std::sort(out_.problems.begin(), out_.problems.end());
    auto same = [](const Problem& a, const Problem& b) { return !(a < b) && !(b < a); };
    out_.problems.erase(std::unique(out_.problems.begin(), out_.problems.end(), same), out_.problems.end());
    for (const Problem& p : out_.problems)
      out_.state = std::max(out_.state, p.assumed ? BoundState::kAssumed : BoundState::kUnbounded);
  }

  StackAnalysis& analysis_;
  const Elf& elf_;
  StackBound out_;
  std::vector<uint32_t> functions_;
  std::map<uint32_t, std::vector<Edge>> edges_;
  std::map<uint32_t, size_t> component_;
  std::map<uint32_t, int64_t> deepest_;
  std::map<uint32_t, const Edge*> through_;
};

StackBound StackAnalysis::bound(uint32_t root) { return Bounding(*this, root).take(); }

}  // namespace aotc::machine
