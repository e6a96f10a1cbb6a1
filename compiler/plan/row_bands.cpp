// SPDX-License-Identifier: Apache-2.0
#include "plan/row_bands.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "cores/instruction_counter.h"
#include "ops/operator.h"
#include "plan/row_operator.h"

namespace aotc::plan {

using graph::Graph;

namespace {

// Rows of more pixels are long enough for every kernel.
constexpr int64_t kWidest = 16;
constexpr int64_t kPixels[] = {2, 3, 4, 8};
constexpr int64_t kMostRows = 4;
constexpr double kEvent = 30;      // instructions around a call of a row's function
constexpr double kWorthIt = 0.97;  // of the instructions of rows, or of fewer pixels at a time

// The bands of an operator that take the fewest instructions, 0: a row. First of some pixels, then of at most 2, 3, ..
// rows, last of any.
struct Best {
  static constexpr size_t kKinds = kMostRows + 1;
  std::array<int64_t, kKinds> bands = {};
};

class BandChooser {
 public:
  BandChooser(const Graph& graph, const ops::TargetInfo& target) : graph_(graph), target_(target) {}

  // Operators of the same shapes have the same ones. `fed`: the operator's input is given a row at a time.
  const Best& best_of(size_t op, bool fed) {
    auto [found, fresh] = known_.try_emplace(shapes_of(op, fed));
    if (fresh) found->second = choose(op, fed);
    return found->second;
  }

 private:
  std::string shapes_of(size_t op, bool fed) const {
    const ops::OpView view{graph_, graph_.ops[op]};
    std::string key = fmt::format("{} {}", view.op.name(), fed);
    auto add = [&](const graph::TensorType& t) {
      key += fmt::format(" {} {}", static_cast<int>(t.dtype), graph::to_string(t.shape));
    };
    for (size_t i = 0; i < view.op.operands.size(); ++i)
      if (view.has_operand(i)) add(view.operand(i));
    for (graph::TensorId id : view.op.results) add(graph_[id].type);
    return key;
  }

  Best choose(size_t op, bool fed) const {
    const ops::OpView view{graph_, graph_.ops[op]};
    const graph::Shape& shape = view.result().shape;
    Best best;
    if (shape.size() != 4 || shape[2] > kWidest) return best;
    const auto of_row = instructions_in(op, 0, fed);
    if (!of_row || *of_row == 0) return best;
    struct Choice {
      double instructions;
      int64_t band = 0;
    } pixels{*of_row}, rows{*of_row};
    auto attempt = [&](int64_t band, Choice& best_so_far) {
      const auto now = instructions_in(op, band, fed);
      if (now && *now < kWorthIt * best_so_far.instructions) best_so_far = {*now, band};
    };
    if (ops::is_pointwise(view))
      for (int64_t count : kPixels) attempt(count, pixels);
    best.bands.front() = pixels.band;
    for (int64_t count = 2; count <= kMostRows; ++count) {
      if (count <= shape[1]) attempt(count * shape[2], rows);
      best.bands[static_cast<size_t>(count - 1)] = rows.band;
    }
    best.bands.back() = rows.instructions < kWorthIt * pixels.instructions ? rows.band : pixels.band;
    return best;
  }

  // Instructions of an operator by bands of so many pixels, 0 for rows; nothing where it cannot be done so.
  std::optional<double> instructions_in(size_t op, int64_t band, bool fed) const {
    Segment one{op, op};
    if (band > 0) one.bands = {band};
    const auto rows = rows_of_segment(graph_, one, fed);
    if (!rows || rows->sums) return std::nullopt;
    const RowStage& stage = rows->stages[0];
    const int64_t all = rows->tensors[stage.result].rows, rest = all % stage.makes;
    auto cost = [&](int64_t count) {
      return kEvent + cores::cost_of(RowOperator(graph_, *rows, 0, count).lower(target_), target_).instructions;
    };
    return static_cast<double>(all / stage.makes) * cost(stage.makes) + (rest > 0 ? cost(rest) : 0);
  }

  const Graph& graph_;
  const ops::TargetInfo& target_;
  std::map<std::string, Best> known_;
};

}  // namespace

std::vector<std::vector<Segment>> with_bands(const Graph& graph, const std::vector<Segment>& segments, bool fed,
                                             const ops::TargetInfo& target) {
  BandChooser chooser(graph, target);
  std::vector<std::vector<Segment>> out;
  for (size_t kind = 0; kind < Best::kKinds; ++kind) {
    std::vector<Segment> banded = segments;
    for (size_t s = 0; s < banded.size(); ++s) {
      std::vector<int64_t> bands;
      for (size_t i = banded[s].first; i <= banded[s].last; ++i)
        bands.push_back(chooser.best_of(i, fed && s == 0 && i == banded[s].first).bands[kind]);
      if (std::any_of(bands.begin(), bands.end(), [](int64_t b) { return b > 0; })) banded[s].bands = std::move(bands);
    }
    if (banded != segments && std::find(out.begin(), out.end(), banded) == out.end()) out.push_back(std::move(banded));
  }
  return out;
}

}  // namespace aotc::plan
