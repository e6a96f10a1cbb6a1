// SPDX-License-Identifier: Apache-2.0
#include "codegen/workspace.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace aotc::codegen {

namespace {

using plan::Program;
using plan::ProgramCall;
using plan::Storage;
using plan::StorageKind;

constexpr int64_t kWorkspaceAlignment = 16;

struct Lifetime {
  int first = INT32_MAX, last = -1;
  int64_t bytes = 0;
};

// Lifetimes of the arena's tensor classes, by class.
std::map<int, Lifetime> class_lifetimes(const Program& program) {
  std::map<int, Lifetime> out;
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const ProgramCall& call = program.calls[c];
    const auto& params = program.functions[static_cast<size_t>(call.function)].body->params;
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      const Storage& s = call.arguments[a].storage;
      if (s.kind != StorageKind::kArena || s.index < 0) continue;
      Lifetime& l = out[s.index];
      l.first = std::min(l.first, static_cast<int>(c));
      l.last = std::max(l.last, static_cast<int>(c));
      l.bytes = std::max(l.bytes, call.arguments[a].elements * size_of(params[a]->dtype));
    }
  }
  return out;
}

// A tensor class or the scratch of a call, from its first to its last call.
struct Need {
  int64_t bytes = 0;
  int first = 0, last = 0;
  WorkspaceOccupant occupant;
};

std::vector<Need> needs_of(const Program& program) {
  std::vector<Need> out;
  for (const auto& [index, l] : class_lifetimes(program)) out.push_back({l.bytes, l.first, l.last, {index, -1}});
  for (size_t c = 0; c < program.calls.size(); ++c) {
    auto call = static_cast<int>(c);
    if (program.calls[c].scratch_bytes > 0) out.push_back({program.calls[c].scratch_bytes, call, call, {-1, call}});
  }
  // What lives longest lies deepest in the stack.
  std::stable_sort(out.begin(), out.end(), [](const Need& a, const Need& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  return out;
}

// The stack allocator of crt/ keeps a footer of four bytes behind each block.
int64_t block_cost(int64_t bytes) {
  return (std::max<int64_t>(bytes, 1) + 4 + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

int64_t peak_of(const std::vector<WorkspaceBlock>& blocks, size_t calls) {
  std::vector<const WorkspaceBlock*> open;
  int64_t now = 0, most = 0;
  size_t next = 0;
  for (size_t c = 0; c < calls; ++c) {
    for (; next < blocks.size() && blocks[next].first == static_cast<int>(c); ++next) {
      open.push_back(&blocks[next]);
      now += block_cost(blocks[next].bytes);
    }
    most = std::max(most, now);
    for (; !open.empty() && open.back()->last <= static_cast<int>(c); open.pop_back())
      now -= block_cost(open.back()->bytes);
  }
  return most;
}

// One way to share blocks. A tensor takes over a block that is dead but buried under live ones: the
// smallest that is large enough, or, with `grow`, else the largest, allocated larger to begin with.
std::vector<WorkspaceBlock> share_blocks(const std::vector<Need>& needs, size_t calls, bool grow) {
  std::vector<WorkspaceBlock> blocks;
  std::vector<size_t> open;
  size_t next = 0;
  for (size_t c = 0; c < calls; ++c) {
    auto call = static_cast<int>(c);
    for (; next < needs.size() && needs[next].first == call; ++next) {
      const Need& need = needs[next];
      WorkspaceBlock* chosen = nullptr;
      for (size_t b : open) {
        WorkspaceBlock& block = blocks[b];
        if (block.last >= call) continue;
        bool fits = block.bytes >= need.bytes, better = chosen == nullptr;
        if (!fits && !grow) continue;
        if (chosen != nullptr) {
          bool chosen_fits = chosen->bytes >= need.bytes;
          better = fits != chosen_fits ? fits : fits == (block.bytes < chosen->bytes);
        }
        if (better) chosen = &block;
      }
      if (chosen == nullptr) {
        open.push_back(blocks.size());
        chosen = &blocks.emplace_back();
        chosen->first = call;
      }
      chosen->bytes = std::max(chosen->bytes, need.bytes);
      chosen->last = need.last;
      chosen->occupants.push_back(need.occupant);
    }
    while (!open.empty() && blocks[open.back()].last <= call) open.pop_back();
  }
  return blocks;
}

}  // namespace

std::vector<WorkspaceBlock> workspace_blocks(const Program& program) {
  std::vector<Need> needs = needs_of(program);
  size_t calls = program.calls.size();
  auto as_is = share_blocks(needs, calls, false), grown = share_blocks(needs, calls, true);
  return peak_of(grown, calls) < peak_of(as_is, calls) ? grown : as_is;
}

int64_t workspace_bytes(const Program& program) { return peak_of(workspace_blocks(program), program.calls.size()); }

}  // namespace aotc::codegen
