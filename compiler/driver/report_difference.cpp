// SPDX-License-Identifier: Apache-2.0
#include "driver/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "driver/compile_options.h"
#include "driver/terminal.h"
#include "options/options.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

constexpr size_t kMostPairs = 4'000'000;

ReportJson first_result(const ReportJson& layer) {
  auto it = layer.find("results");
  return it != layer.end() && it->is_array() && !it->empty() && (*it)[0].is_object() ? (*it)[0] : ReportJson::object();
}

// What a layer is matched by.
struct Identity {
  std::string type, tensor, shape;
};

std::vector<Identity> identities(const ReportJson& report) {
  std::vector<Identity> out;
  for (const ReportJson& layer : report["layers"]) {
    const ReportJson result = first_result(layer);
    out.push_back({text_at(layer, "op_type"), text_at(result, "tensor"), result.value("shape", ReportJson()).dump()});
  }
  return out;
}

int likeness(const Identity& a, const Identity& b) {
  if (a.type != b.type) return 0;
  return a.tensor == b.tensor ? 4 : a.shape == b.shape ? 2 : 1;
}

// The old call of each new one, -1 for none; both rise.
std::vector<int> matches(const std::vector<Identity>& before, const std::vector<Identity>& after) {
  const size_t n = before.size(), m = after.size();
  std::vector<int> out(m, -1);
  if (n * m > kMostPairs) {  // one by one, as far as they go together
    for (size_t i = 0; i < std::min(n, m); ++i)
      if (likeness(before[i], after[i]) > 0) out[i] = static_cast<int>(i);
    return out;
  }
  std::vector<int> best((n + 1) * (m + 1), 0);  // of what is behind
  auto at = [&](size_t i, size_t j) -> int& { return best[i * (m + 1) + j]; };
  auto both = [&](size_t i, size_t j) {
    const int like = likeness(before[i], after[j]);
    return like > 0 ? like + at(i + 1, j + 1) : 0;
  };
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;) at(i, j) = std::max({at(i + 1, j), at(i, j + 1), both(i, j)});
  for (size_t i = 0, j = 0; i < n && j < m;) {
    if (both(i, j) > 0 && at(i, j) == both(i, j)) out[j++] = static_cast<int>(i++);
    else at(i + 1, j) >= at(i, j + 1) ? ++i : ++j;
  }
  return out;
}

// Figures are whole numbers that a double holds as well.
bool is_figure(const ReportJson& value) {
  constexpr int64_t kMost = int64_t{1} << 53;
  if (value.is_number_unsigned()) return value.get<uint64_t>() <= static_cast<uint64_t>(kMost);
  return value.is_number_integer() && value.get<int64_t>() >= -kMost && value.get<int64_t>() <= kMost;
}

// The figures that both have; `all`: also those that are equal.
ReportJson figures(const ReportJson& before, const ReportJson& after, const std::vector<std::string>& names, bool all) {
  ReportJson out = ReportJson::array();
  for (const std::string& name : names) {
    auto a = before.find(name), b = after.find(name);
    if (a == before.end() || b == after.end() || !is_figure(*a) || !is_figure(*b)) continue;
    if (all || *a != *b) out.push_back({{"figure", name}, {"old", *a}, {"new", *b}});
  }
  return out;
}

std::string measured_unit(const ReportJson& before, const ReportJson& after) {
  const std::string unit = text_at(after, "unit");
  return unit == text_at(before, "unit") ? unit : "";
}

std::vector<std::string> layer_figures(const std::string& unit) {
  std::vector<std::string> out = {"macs",       "estimated_cycles", "estimated_instructions",
                                  "live_bytes", "scratch_bytes",    "constants_bytes"};
  if (!unit.empty()) out.push_back(unit);
  return out;
}

// What changed of a layer beside its figures.
ReportJson words(const ReportJson& before, const ReportJson& after) {
  ReportJson out = ReportJson::array();
  auto differs = [](const ReportJson& a, const ReportJson& b, const char* key) {
    return a.contains(key) && b.contains(key) && a[key] != b[key];
  };
  const ReportJson was = first_result(before), is = first_result(after);
  if (differs(before, after, "op_type")) out.push_back("operator");
  if (differs(was, is, "tensor")) out.push_back("name");
  if (differs(was, is, "shape")) out.push_back("shape");
  if (differs(was, is, "dtype")) out.push_back("type");
  if (differs(before, after, "schedule")) out.push_back("schedule");
  if (differs(before, after, "constants_checksum")) out.push_back("constants");
  return out;
}

ReportJson described(const ReportJson& layer, const char* change) {
  return {
      {"change", change}, {"op_type", text_at(layer, "op_type")}, {"tensor", text_at(first_result(layer), "tensor")}};
}

ReportJson title(const ReportJson& report) {
  std::string target = text_at(report, "board").empty() ? text_at(report, "cpu") : text_at(report, "board");
  CompileOptions options;
  (void)options::restore_values({variant_group(options)},
                                report);  // of another version: what it does not know is usual
  const std::string model = text_at(report, "model").empty() ? text_at(report, "prefix") : text_at(report, "model");
  return {{"model", model}, {"target", target.empty() ? "any CPU" : target}, {"options", options.options()}};
}

std::string change_text(const ReportJson& f) {
  const double a = f["old"].get<double>(), b = f["new"].get<double>();
  std::string percent = a == 0 ? "" : fmt::format(" ({:+.1f} %)", 100.0 * (b - a) / a);
  return fmt::format("{} {} -> {}{}", figure_title(f["figure"]), with_commas(f["old"].get<int64_t>()),
                     with_commas(f["new"].get<int64_t>()), percent);
}

}  // namespace

std::string text_at(const ReportJson& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string figure_title(const std::string& figure) {
  std::string out = figure.ends_with("_bytes") ? figure.substr(0, figure.size() - 6) : figure;
  if (out == "macs") return "MACs";
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

ReportJson difference_json(const ReportJson& before, const ReportJson& after) {
  const std::string unit = measured_unit(before, after);
  ReportJson out = {{"old", title(before)}, {"new", title(after)}};
  out["totals"] = figures(before, after,
                          {"arena_bytes", "state_bytes", "constants_bytes", "code_bytes", "macs", "estimated_cycles",
                           "estimated_instructions"},
                          true);
  const auto stack_of = [](const ReportJson& r) {
    return r.contains("stack") && r["stack"].is_object() ? r["stack"] : ReportJson::object();
  };
  for (ReportJson f : figures(stack_of(before), stack_of(after), {"bytes"}, true)) {
    f["figure"] = "stack_bytes";
    out["totals"].push_back(f);
  }
  const auto values_of = [](const ReportJson& r) {
    const ReportJson run = r.value("run", ReportJson::object());
    return run.is_object() && run.contains("values") && run["values"].is_object() ? run["values"]
                                                                                  : ReportJson::object();
  };
  if (!unit.empty())
    for (const ReportJson& f : figures(values_of(before), values_of(after), {unit}, true)) out["totals"].push_back(f);

  const ReportJson &was = before["layers"], &is = after["layers"];
  const auto match = matches(identities(before), identities(after));
  ReportJson layers = ReportJson::array();
  size_t same = 0, old_call = 0;
  auto removed_before = [&](size_t end) {
    for (; old_call < end; ++old_call) {
      ReportJson j = described(was[old_call], "removed");
      j["old_call"] = old_call;
      layers.push_back(std::move(j));
    }
  };
  for (size_t i = 0; i < match.size(); ++i) {
    if (match[i] < 0) {
      ReportJson j = described(is[i], "added");
      j["new_call"] = i;
      layers.push_back(std::move(j));
      continue;
    }
    removed_before(static_cast<size_t>(match[i]));
    const ReportJson& old = was[old_call];
    ReportJson what = words(old, is[i]), numbers = figures(old, is[i], layer_figures(unit), false);
    if (what.empty() && numbers.empty()) {
      ++same;
    } else {
      ReportJson j = described(is[i], "changed");
      j["old_call"] = old_call;
      j["new_call"] = i;
      j["what"] = std::move(what);
      j["figures"] = std::move(numbers);
      layers.push_back(std::move(j));
    }
    ++old_call;
  }
  removed_before(was.size());
  out["same_layers"] = same;
  out["layers"] = std::move(layers);
  return out;
}

std::string difference_text(const ReportJson& d) {
  auto name = [](const ReportJson& t) {
    auto shown = [&](const char* key) { return escape_for_display(t[key].get<std::string>()); };
    return fmt::format("{}, {}, {}", shown("model"), shown("target"), shown("options"));
  };
  std::string out = fmt::format("old: {}\nnew: {}\n", name(d["old"]), name(d["new"]));
  std::vector<std::vector<std::string>> rows = {{"", "old", "new", "change"}};
  for (const ReportJson& f : d["totals"]) {
    const auto a = f["old"].get<int64_t>(), b = f["new"].get<int64_t>();
    rows.push_back({figure_title(f["figure"]), with_commas(a), with_commas(b),
                    a == b ? "" : (b > a ? "+" : "") + with_commas(b - a)});
  }
  out += format_table(rows);
  out += fmt::format("{} layers are the same\n", d["same_layers"].get<size_t>());
  for (const ReportJson& l : d["layers"]) {
    const std::string change = l["change"];
    const auto call = l.contains("new_call") ? l["new_call"].get<int64_t>() : l["old_call"].get<int64_t>();
    out += fmt::format("{} call {} {} '{}'", change, call, escape_for_display(l["op_type"].get<std::string>(), 40),
                       escape_for_display(l["tensor"].get<std::string>(), 40));
    std::string more;
    for (const ReportJson& w : l.value("what", ReportJson::array()))
      more += (more.empty() ? "" : ", ") + w.get<std::string>();
    for (const ReportJson& f : l.value("figures", ReportJson::array()))
      more += (more.empty() ? "" : ", ") + change_text(f);
    out += (more.empty() ? "" : ": " + more) + "\n";
  }
  return out;
}

}  // namespace aotc::driver
