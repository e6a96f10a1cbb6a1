// SPDX-License-Identifier: Apache-2.0
#include "plan/row_actions.h"

namespace aotc::plan {

namespace {

std::vector<int64_t> values_of(const RowEvent& e) {
  std::vector<int64_t> values = {e.slot + (e.kept > 0 ? kMoves : 0)};
  values.insert(values.end(), e.sources.begin(), e.sources.end());
  values.push_back(e.kept > 0 ? e.shift : 0);
  return values;
}

bool is_of(const RowEvent& e, const RowAction& a, bool banded) {
  if (a.first.kind != e.kind || a.first.index != e.index || a.first.count != e.count) return false;
  return banded || e.kept == 0 || !a.moves() || (a.shift == e.shift && a.most_kept == e.kept);
}

void add_event(const RowEvent& e, RowAction& a) {
  a.values.push_back(values_of(e));
  if (e.kept == 0) return;
  a.least_kept = a.moves() ? std::min(a.least_kept, e.kept) : e.kept;
  a.shift = a.moves() ? std::min(a.shift, e.shift) : e.shift;
  a.most_kept = std::max(a.most_kept, e.kept);
}

// The lines of events, each of which is the next one of its action.
void fill_table(RowActions& out, const std::vector<size_t>& action_of) {
  for (const RowAction& a : out.list) {
    size_t columns = 1;
    for (size_t v = 0; v < a.values[0].size(); ++v) columns += a.varies(v);
    out.columns = std::max(out.columns, columns);
  }
  std::vector<size_t> next(out.list.size(), 0);
  for (size_t a : action_of) {
    const RowAction& action = out.list[a];
    const std::vector<int64_t>& values = action.values[next[a]++];
    out.table.push_back(static_cast<int64_t>(a));
    size_t used = 1;
    for (size_t v = 0; v < values.size(); ++v)
      if (action.varies(v)) out.table.push_back(values[v]), ++used;
    out.table.resize(out.table.size() + out.columns - used, 0);
  }
}

}  // namespace

RowActions number_events(std::span<const RowEvent> events, bool banded) {
  RowActions out;
  std::vector<size_t> action_of;
  for (const RowEvent& e : events) {
    auto found =
        std::find_if(out.list.begin(), out.list.end(), [&](const RowAction& a) { return is_of(e, a, banded); });
    if (found == out.list.end()) found = out.list.insert(out.list.end(), RowAction{e, {}, 0, 0, 0});
    add_event(e, *found);
    action_of.push_back(static_cast<size_t>(found - out.list.begin()));
  }
  // Where nothing is moved it is all the same by how much.
  for (RowAction& a : out.list)
    for (std::vector<int64_t>& v : a.values)
      if (v.back() == 0) v.back() = a.shift;
  fill_table(out, action_of);
  return out;
}

}  // namespace aotc::plan
