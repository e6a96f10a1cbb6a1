// SPDX-License-Identifier: Apache-2.0
// A format of models as one folder: lines of text, float32 only.
//
//   toy 1
//   input a 2 3
//   b = smooth a 0.25
//   c = total b 1
//   output c
//
// An operator's line has the result, the operator, its operands and then its numbers.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "frontends/frontend.h"
#include "ops/common/reduction.h"
#include "ops/leaky_relu/attributes.h"
#include "ops/operator.h"

namespace aotc::frontends {

namespace {

constexpr std::string_view kFirstLine = "toy 1\n";

// What rules see of a line: numbers behind the operands.
struct ToyLine {
  std::vector<double> numbers;
};

std::shared_ptr<graph::AttributesBase> no_attributes(const ToyLine&) { return std::make_shared<graph::NoAttributes>(); }

std::shared_ptr<graph::AttributesBase> smooth_attributes(const ToyLine& line) {
  auto out = std::make_shared<ops::LeakyReluAttrs>();
  out->alpha = static_cast<float>(line.numbers[0]);
  return out;
}

std::shared_ptr<graph::AttributesBase> total_attributes(const ToyLine& line) {
  auto out = std::make_shared<ops::ReduceAttrs>();
  for (double axis : line.numbers) out->axes.push_back(static_cast<int64_t>(axis));
  return out;
}

struct ToyRule {
  std::string_view name;  // in the format
  std::string_view op;    // ours
  size_t operands, numbers;
  std::shared_ptr<graph::AttributesBase> (*attributes)(const ToyLine&);
};
constexpr ToyRule kToyRules[] = {
    {"larger", "maximum", 2, 0, no_attributes},
    {"smooth", "leaky_relu", 1, 1, smooth_attributes},
    {"total", "sum", 1, 1, total_attributes},
};

class ToyReader {
 public:
  ToyReader(const std::string& file, Diagnostics& diags) : diags_(diags) {
    at_.file = file;
    graph_.name = "toy";
    graph_.source_file = file;
  }

  Result<graph::Graph> read(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    for (at_.line = 2; std::getline(lines, line); ++at_.line) {
      std::istringstream words(line);
      std::vector<std::string> parts;
      for (std::string word; words >> word;) parts.push_back(word);
      if (!parts.empty() && !read_line(parts)) return kFailure;
    }
    return std::move(graph_);
  }

 private:
  bool bad(const std::string& message) {
    diags_.error(at_, "toy", message).help("a line is 'input NAME SIZES', 'NAME = OPERATOR ...' or 'output NAME'");
    return false;
  }

  bool read_line(const std::vector<std::string>& parts) {
    if (parts[0] == "input" && parts.size() > 2) return read_input(parts);
    if (parts[0] == "output" && parts.size() == 2) {
      auto found = names_.find(parts[1]);
      if (found == names_.end()) return bad(fmt::format("there is no '{}'", escape_for_display(parts[1])));
      graph_.outputs.push_back({found->second, parts[1]});
      return true;
    }
    return parts.size() > 2 && parts[1] == "=" ? read_operator(parts) : bad("nothing that is known");
  }

  bool read_input(const std::vector<std::string>& parts) {
    graph::Shape shape;
    for (size_t i = 2; i < parts.size(); ++i) shape.push_back(std::atoi(parts[i].c_str()));
    if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 1 || d > 1000; }) || shape.size() > 2)
      return bad("sizes are at most two numbers from 1 to 1000");
    graph_.inputs.push_back({add(parts[1], shape), parts[1]});
    return true;
  }

  bool read_operator(const std::vector<std::string>& parts) {
    const auto* rule =
        std::find_if(std::begin(kToyRules), std::end(kToyRules), [&](const ToyRule& r) { return r.name == parts[2]; });
    if (rule == std::end(kToyRules)) return bad(fmt::format("no operator '{}'", escape_for_display(parts[2])));
    if (parts.size() != 3 + rule->operands + rule->numbers)
      return bad(fmt::format("{} takes {} operands and {} numbers", rule->name, rule->operands, rule->numbers));
    graph::Op op;
    op.definition = ops::operators().find(rule->op);
    op.location = at_;
    ToyLine line;
    for (size_t i = 3; i < parts.size(); ++i) {
      if (i >= 3 + rule->operands) {
        line.numbers.push_back(std::atof(parts[i].c_str()));
        continue;
      }
      auto found = names_.find(parts[i]);
      if (found == names_.end()) return bad(fmt::format("there is no '{}'", escape_for_display(parts[i])));
      op.operands.push_back(found->second);
    }
    op.attributes = rule->attributes(line);
    op.results = {add(parts[0], {})};
    auto shapes = ops::definition_of(op).infer({graph_, op}, diags_);
    if (!shapes) return false;
    graph_[op.results[0]].type.shape = (*shapes)[0];
    if (!ops::verify_op({graph_, op}, diags_)) return false;
    graph_.ops.push_back(std::move(op));
    return true;
  }

  graph::TensorId add(const std::string& name, graph::Shape shape) {
    graph::Tensor tensor;
    tensor.name = name;
    tensor.type = {DType::kF32, std::move(shape), {}};
    return names_[name] = graph_.add_tensor(std::move(tensor));
  }

  Diagnostics& diags_;
  Location at_;
  graph::Graph graph_;
  std::map<std::string, graph::TensorId> names_;
};

bool is_toy(std::span<const uint8_t> bytes) {
  return bytes.size() >= kFirstLine.size() && std::equal(kFirstLine.begin(), kFirstLine.end(), bytes.begin());
}

Result<graph::Graph> read_toy(FileBytes bytes, const std::string& file, Diagnostics& diags, const ReadOptions&) {
  return ToyReader(file, diags).read({bytes.begin(), bytes.end()});
}

std::vector<FormatOperator> toy_operators() {
  std::vector<FormatOperator> out;
  for (const ToyRule& rule : kToyRules) out.push_back({.name = std::string(rule.name), .op = rule.op});
  return out;
}

}  // namespace

void add_frontend_toy(std::vector<Frontend>& to) {
  to.push_back({.name = "toy",
                .title = "the toy format",
                .files = "toys (.toy)",
                .extension = ".toy",
                .recognise = is_toy,
                .read = read_toy,
                .operators = toy_operators});
}

}  // namespace aotc::frontends
