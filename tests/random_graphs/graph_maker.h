// SPDX-License-Identifier: Apache-2.0
// A random graph while it grows: what generator.cpp makes graphs and their regions with. The one thing to
// know: every draw comes from one Random that all graphs of a seed share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "generator.h"

namespace aotc::tests {

using Attributes = std::map<std::string, std::string>;

std::vector<uint8_t> random_bytes(Random& random, const graph::TensorType& type);

class GraphMaker {
 public:
  GraphMaker(Random& draws, DType type, const std::string& name);
  virtual ~GraphMaker() = default;

  // One more operator, unless many tries are refused.
  virtual void add_op() = 0;

  graph::TensorId add_input(const graph::TensorType& type);
  // Adds the operator if it verifies. `results`: types whose shapes are to be inferred.
  bool add(const char* name, std::vector<graph::TensorId> operands, const Attributes& attributes,
           std::vector<graph::TensorType> results, std::vector<graph::Graph> regions = {});

  graph::Shape random_shape();
  // Quantised, if the type can be.
  graph::TensorType type(DType dtype, graph::Shape shape);
  graph::TensorId constant(graph::TensorType t);
  const graph::TensorType& of(graph::TensorId id) const { return made[id].type; }
  graph::TensorId last() const { return known.back(); }

  // Mostly a young tensor, so that chains grow; sometimes any.
  graph::TensorId any();
  // A tensor of exactly the type whose values do not grow from run to run or from iteration to
  // iteration, or an invalid id.
  graph::TensorId any_of(const graph::TensorType& wanted);
  // Values stay in the range of what they are computed from, or of a bounded activation: what is computed
  // from itself again and again must not leave the range of integers, nor become infinite.
  bool bounded(graph::TensorId id) const;

  Random& random;
  DType main_type;
  graph::Graph made;
  std::vector<graph::TensorId> known;  // inputs, states and results of operators

 private:
  bool settle(const graph::Op& op);
};

std::unique_ptr<GraphMaker> graph_maker(Random& random, DType main_type, const std::string& name);

}  // namespace aotc::tests
