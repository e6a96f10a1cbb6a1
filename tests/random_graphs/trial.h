// SPDX-License-Identifier: Apache-2.0
// One random graph through everything but a C compiler.
#pragma once

#include <string>

#include "batches.h"
#include "graph/graph.h"
#include "plan/bands.h"
#include "plan/program.h"

namespace aotc::tests {

class Trial {
 public:
  using Values = Batches::Values;

  // `seed`: of inputs and options. `rows`: some operators are computed row by row, if any can be.
  Trial(uint64_t seed, graph::Graph graph, bool rows = false);

  // Empty, or what went wrong.
  std::string run();

  const graph::Graph& original() const { return graph_; }
  const plan::Program& program() const { return program_; }
  const Batches::Runs& runs() const { return runs_; }
  bool streams() const;
  // And are some of these done some rows, or pixels, at a time?
  bool has_bands_of_rows() const { return bands_of_rows_; }
  // How the emitted C may run in slices; every fourth graph.
  std::optional<Batches::Slices> slices() const;

 private:
  std::string round_trip();
  std::string divide();
  std::string read_back();
  std::string run_passes();
  std::string differ(const Values& have, const Values& want, const graph::Graph& g);
  // Runs `one` on every run's inputs and with the states that the runs before leave in `states`.
  template <typename One>
  std::string in_sequence(const graph::Graph& g, const One& one);
  std::string interpret();
  std::string interpret(const Values& in, std::vector<uint8_t>& state, std::vector<std::vector<uint8_t>>& states,
                        const Values& want);

  plan::PlanOptions plan_options() const;
  bool plan_rows();

  uint64_t seed_;
  graph::Graph graph_, optimised_;
  bool rows_;
  bool bands_of_rows_ = false;
  plan::Program program_;
  plan::Bands bands_;  // none where the graph is not run in slices
  Batches::Runs runs_;
  Diagnostics diags_;
};

}  // namespace aotc::tests
