// SPDX-License-Identifier: Apache-2.0
#include "plan/model_schedule.h"

#include <algorithm>
#include <climits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "plan/windows.h"

namespace aotc::plan {

namespace {

using nlohmann::json;

constexpr size_t kLongestOrder = 16;  // in the text
constexpr const char *kOrder = "order", *kWindows = "windows", *kSegments = "segments";

// Reads a list of numbers that are not negative.
template <typename T>
bool read_numbers(const json& list, T most, std::vector<T>& out) {
  if (!list.is_array()) return false;
  for (const json& number : list) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > static_cast<uint64_t>(most)) return false;
    out.push_back(number.get<T>());
  }
  return true;
}

bool read_segment(const json& one, Segment& out) {
  if (!one.is_object()) return false;
  std::vector<int64_t> ends;
  for (const char* end : {"first", "last"})
    if (!one.contains(end) || !read_numbers(json::array({one[end]}), int64_t{INT_MAX}, ends)) return false;
  out.first = static_cast<size_t>(ends[0]);
  out.last = static_cast<size_t>(ends[1]);
  if (one.contains("bands") && !read_numbers(one["bands"], int64_t{INT64_MAX}, out.bands)) return false;
  return one.size() == (one.contains("bands") ? 3u : 2u);
}

bool reorder(graph::Graph& graph, const std::vector<int>& order, std::string& problem) {
  const size_t count = graph.ops.size();
  if (order.size() != count) {
    problem = fmt::format("the order has {} operators, but the graph has {}", order.size(), count);
    return false;
  }
  const std::vector<int> definer = graph::compute_use_def(graph).definer;
  std::vector<bool> placed(count, false);
  std::vector<graph::Op> ops;
  ops.reserve(count);
  for (int index : order) {
    if (index < 0 || static_cast<size_t>(index) >= count || placed[static_cast<size_t>(index)]) {
      problem = fmt::format("the order lists operator {}, which {}", index,
                            index >= 0 && static_cast<size_t>(index) < count ? "it has already" : "does not exist");
      return false;
    }
    for (graph::TensorId id : graph.ops[static_cast<size_t>(index)].operands) {
      const int before = id.valid() ? definer[static_cast<size_t>(id.value)] : -1;
      if (before < 0 || placed[static_cast<size_t>(before)]) continue;
      problem = fmt::format("the order has operator {} before operator {}, whose result it reads", index, before);
      return false;
    }
    placed[static_cast<size_t>(index)] = true;
    ops.push_back(graph.ops[static_cast<size_t>(index)]);
  }
  graph.ops = std::move(ops);
  return true;
}

}  // namespace

std::string Arrangement::text() const {
  std::vector<std::string> parts;
  if (order.size() > kLongestOrder) parts.push_back(fmt::format("another order of {} operators", order.size()));
  else if (!order.empty()) parts.push_back(fmt::format("order {}", fmt::join(order, " ")));
  if (!windows.empty()) parts.push_back(fmt::format("windows of states {}", fmt::join(windows, " ")));
  for (const Segment& s : segments)
    parts.push_back(fmt::format("rows {}-{}", s.first, s.last) +
                    (s.bands.empty() ? "" : fmt::format(", bands {}", fmt::join(s.bands, " "))));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<int> parts_of(const graph::Graph& graph) {
  std::map<int, int> counts;
  for (const graph::Op& op : graph.ops) ++counts[op.location.op_index];
  std::map<int, int> next;
  std::vector<int> out;
  out.reserve(graph.ops.size());
  for (const graph::Op& op : graph.ops) {
    const int index = op.location.op_index;
    out.push_back(counts[index] > 1 ? next[index]++ : -1);
  }
  return out;
}

nlohmann::ordered_json to_json(const Arrangement& arrangement) {
  auto out = nlohmann::ordered_json::object();
  if (!arrangement.order.empty()) out[kOrder] = arrangement.order;
  if (!arrangement.windows.empty()) out[kWindows] = arrangement.windows;
  for (const Segment& s : arrangement.segments) {
    nlohmann::ordered_json one = {{"first", s.first}, {"last", s.last}};
    if (!s.bands.empty()) one["bands"] = s.bands;
    out[kSegments].push_back(std::move(one));
  }
  return out;
}

std::optional<Arrangement> arrangement_from_json(const json& value, std::string& problem) {
  Arrangement out;
  auto fail = [&](const std::string& what) {
    problem = what;
    return std::nullopt;
  };
  if (!value.is_object()) return fail("it is not an object");
  for (const auto& [key, list] : value.items()) {
    if (key == kOrder || key == kWindows) {
      if (!read_numbers(list, INT_MAX, key == kOrder ? out.order : out.windows))
        return fail(fmt::format("'{}' is not a list of operators or states", key));
    } else if (key == kSegments) {
      if (!list.is_array()) return fail("'segments' is not a list");
      for (const json& one : list)
        if (!read_segment(one, out.segments.emplace_back()))
          return fail("a segment has the numbers 'first' and 'last', and perhaps a list of numbers 'bands'");
    } else {
      return fail("its keys are 'order', 'windows' and 'segments'");
    }
  }
  return out;
}

std::optional<std::vector<Window>> arrange(graph::Graph& graph, const Arrangement& arrangement, std::string& problem) {
  if (!arrangement.order.empty() && !reorder(graph, arrangement.order, problem)) return std::nullopt;
  if (arrangement.windows.empty()) return std::vector<Window>();
  std::vector<Window> windows = find_windows(graph);
  std::erase_if(windows, [&](const Window& window) {
    const auto& states = arrangement.windows;
    return std::find(states.begin(), states.end(), static_cast<int>(window.state)) == states.end();
  });
  windows = order_for_windows(graph, std::move(windows));
  if (windows.size() == arrangement.windows.size()) return windows;
  problem = fmt::format("{} of the states {} can keep a window", windows.size(), fmt::join(arrangement.windows, ", "));
  return std::nullopt;
}

}  // namespace aotc::plan
