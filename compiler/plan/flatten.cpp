// SPDX-License-Identifier: Apache-2.0
#include "plan/flatten.h"

#include <algorithm>

#include "ops/operator.h"

namespace aotc::plan {

namespace {

using graph::Graph;
using graph::Op;
using graph::TensorId;

// Which tensor of the flat graph a tensor of a region is.
using Names = std::vector<TensorId>;

class Flattener {
 public:
  FlatGraph run(Graph graph) {
    std::vector<Op> ops = std::move(graph.ops);
    graph.ops.clear();
    out_.graph = std::move(graph);
    Names names;
    for (size_t i = 0; i < out_.graph.tensors.size(); ++i) names.push_back({static_cast<int32_t>(i)});
    out_.body = block(ops, names);
    for (graph::Port& port : out_.graph.outputs) port.tensor = named(names, port.tensor);
    for (graph::State& state : out_.graph.states) state.after = named(names, state.after);
    return std::move(out_);
  }

 private:
  static TensorId& named(Names& names, TensorId id) { return names[static_cast<size_t>(id.value)]; }
  int next_op() const { return static_cast<int>(out_.graph.ops.size()); }

  Block block(std::vector<Op>& ops, Names& names) {
    Block out;
    out.begin = next_op();
    for (Op& op : ops) {
      for (auto* list : {&op.operands, &op.results})
        for (TensorId& id : *list)
          if (id.valid()) id = list == &op.operands ? named(names, id) : id;
      const ops::Control control = ops::definition_of(op).traits().control;
      if (control == ops::Control::kNone) {
        for (TensorId& id : op.results) id = named(names, id);
        out_.flat_op.push_back(next_op());
        out_.outermost.push_back(depth_ == 0);
        Step step;
        step.op = step.begin = next_op();
        step.end = step.op + 1;
        out_.graph.ops.push_back(std::move(op));
        out.steps.push_back(std::move(step));
        continue;
      }
      out_.flat_op.push_back(-1);
      ++depth_;
      out.steps.push_back(control == ops::Control::kIf ? branch(op, names) : loop(op, names));
      --depth_;
    }
    out.end = next_op();
    return out;
  }

  // The region's operators, with `arguments` as its inputs; its outputs are appended to `outputs`.
  Block region(Graph& from, const std::vector<TensorId>& arguments, std::vector<TensorId>& outputs) {
    Names names(from.tensors.size());
    for (size_t i = 0; i < from.inputs.size(); ++i) named(names, from.inputs[i].tensor) = arguments[i];
    for (size_t i = 0; i < from.tensors.size(); ++i)
      if (!names[i].valid()) names[i] = out_.graph.add_tensor(from.tensors[i]);
    Block out = block(from.ops, names);
    for (const graph::Port& port : from.outputs) outputs.push_back(named(names, port.tensor));
    return out;
  }

  Step branch(Op& op, Names& names) {
    Step step;
    step.kind = Step::Kind::kIf;
    step.begin = next_op();
    step.condition = op.operands[0];
    const std::vector<TensorId> arguments(op.operands.begin() + 1, op.operands.end());
    std::vector<TensorId> first, second;
    step.blocks.push_back(region(op.regions[0], arguments, first));
    step.blocks.push_back(region(op.regions[1], arguments, second));
    for (size_t i = 0; i < op.results.size(); ++i) {
      TensorId& result = named(names, op.results[i]);
      // Both give what is there anyhow.
      if (first[i] == second[i]) {
        result = first[i];
        continue;
      }
      step.blocks[0].moves.push_back({first[i], result});
      step.blocks[1].moves.push_back({second[i], result});
    }
    step.end = next_op();
    return step;
  }

  Step loop(Op& op, Names& names) {
    Step step;
    step.kind = Step::Kind::kWhile;
    step.begin = next_op();
    Graph &condition = op.regions[0], &body = op.regions[1];
    std::vector<TensorId> values, tested, next;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      TensorId& result = named(names, op.results[i]);
      // What the body hands on as it is never changes.
      if (body.outputs[i].tensor == body.inputs[i].tensor)
        result = op.operands[i];
      else
        step.before.push_back({op.operands[i], result});
      values.push_back(result);
    }
    step.blocks.push_back(region(condition, values, tested));
    step.blocks.push_back(region(body, values, next));
    step.condition = tested[0];
    for (size_t i = 0; i < values.size(); ++i)
      if (next[i] != values[i]) step.blocks[1].moves.push_back({next[i], values[i]});
    step.end = next_op();
    return step;
  }

  FlatGraph out_;
  int depth_ = 0;
};

}  // namespace

FlatGraph flatten(Graph graph) { return Flattener().run(std::move(graph)); }

}  // namespace aotc::plan
