// SPDX-License-Identifier: Apache-2.0
// What TVM graphs become in the Graph IR, and what graphs become again. Exact messages are in
// tests/graph_json/malformed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "frontends/graph_json/writer.h"
#include "ops/external/external.h"
#include "ops/operator.h"
#include "source_dir.h"
#include "support/files.h"

namespace aotc::graph_json {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream in(source_dir() + "/tests/graph_json/malformed/" + name + ".json", std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Loaded {
  Diagnostics diags;
  GraphJsonInfo info;
  Result<graph::Graph> graph;

  Loaded(const std::string& text, std::vector<Param> params = {})
      : graph(read_graph_json(text, "g.json", std::move(params), &info, diags)) {}
};

Param weights(std::string name = "w", uint8_t bits = 8, std::vector<int64_t> shape = {1, 4}) {
  size_t bytes = bits / 8;
  for (int64_t d : shape) bytes *= static_cast<size_t>(d);
  return {std::move(name), {DataType::kInt, bits, 1}, std::move(shape), std::vector<uint8_t>(bytes, 3)};
}

TEST(GraphJson, NodesBecomeExternalOperators) {
  Loaded l(text_of("valid"), {weights()});
  ASSERT_TRUE(l.graph.ok()) << l.diags.str();
  const graph::Graph& g = *l.graph;
  ASSERT_EQ(g.inputs.size(), 1u);
  EXPECT_EQ(g.inputs[0].name, "x");
  ASSERT_EQ(g.ops.size(), 3u);
  const auto& split = g.ops[1].attrs<ops::ExternalAttrs>();
  EXPECT_EQ(split.symbol, "f_split");
  EXPECT_EQ(split.convention, CallingConvention::kPacked);
  EXPECT_EQ(g.ops[1].results.size(), 2u);
  EXPECT_EQ(g[g.ops[1].results[1]].name, "parts:1");
  EXPECT_EQ(g.ops[1].location.line, 6);
  EXPECT_EQ(g.ops[1].location.op_index, 3);
  EXPECT_TRUE(g.is_constant(g.ops[0].operands[1]));
  EXPECT_EQ(g[g.ops[0].operands[1]].constant->bytes[0], 3);
  EXPECT_TRUE(ops::verify_graph(g, l.diags)) << l.diags.str();
  // x, then x + sum, sum + parts, parts + y; storages 0, 2, 3, 4 without that of the parameter.
  EXPECT_EQ(live_bytes(g), 8);
  EXPECT_EQ(l.info.storage_bytes(g), 4 + 4 + 2 + 2);
  EXPECT_EQ(l.info.device_numbers, std::vector<int64_t>{1});
}

TEST(GraphJson, ParametersMustFit) {
  for (Param bad : {weights("v"), weights("w", 16), weights("w", 8, {4}), weights("w", 8, {1, 5}), weights("sum")}) {
    Loaded l(text_of("valid"), {bad});
    EXPECT_FALSE(l.graph.ok());
    ASSERT_EQ(l.diags.error_count(), 1) << l.diags.str();
    EXPECT_EQ(l.diags.all()[0].slug, "graph-params");
  }
  // All of them in one go.
  Loaded l(text_of("valid"), {weights("v"), weights("w", 16), weights("u")});
  EXPECT_EQ(l.diags.error_count(), 3);
}

TEST(GraphJson, DevicesAreCountedFromTheHost) {
  Loaded l(text_of("devices"));
  ASSERT_TRUE(l.graph.ok()) << l.diags.str();
  EXPECT_EQ(l.info.device_numbers, (std::vector<int64_t>{1, 12}));
  const graph::Graph& g = *l.graph;
  EXPECT_TRUE(ops::definition_of(g.ops[1]).traits().device_copy);
  EXPECT_EQ(g[g.ops[1].results[0]].device, 1);
  EXPECT_EQ(g.ops[2].device, 1);
  EXPECT_EQ(g.ops[0].device, 0);
}

TEST(GraphJson, WrittenGraphIsTheDocument) {
  for (const char* name : {"valid", "transfers", "devices", "names", "older_spellings"}) {
    Loaded l(text_of(name));
    ASSERT_TRUE(l.graph.ok()) << l.diags.str();
    auto written = write_graph_json(*l.graph, &l.info, l.diags);
    ASSERT_TRUE(written.ok());
    Document expected = l.info.document;
    // Columns that aotc does not know are of entries that may be gone.
    std::erase_if(expected.columns, [](const Column& c) { return c.name == "storage_scope" || c.name == "version"; });
    EXPECT_EQ(print_document(*written), print_document(expected)) << name;
  }
}

TEST(GraphJson, DocumentKeepsWhatItDoesNotKnow) {
  std::string text = text_of("older_spellings");
  Diagnostics diags;
  auto document = read_document(text, "g.json", diags);
  ASSERT_TRUE(document.ok()) << diags.str();
  std::string printed = print_document(*document);
  for (const char* part : {"\"storage_scope\"", "\"size_t\"", "\"metadata\"", "1.5", "\"attr\""})
    EXPECT_NE(printed.find(part), std::string::npos) << part;
  auto again = read_document(printed, "g.json", diags);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(print_document(*again), printed);
}

// A copy to a device, as partitioning adds it, gets an entry and a storage of its own.
TEST(GraphJson, WriterAddsCopies) {
  Loaded l(text_of("valid"), {weights()});
  ASSERT_TRUE(l.graph.ok());
  graph::Graph& g = *l.graph;
  graph::Op& last = g.ops[2];
  graph::Tensor moved = g[last.operands[0]];
  moved.name += "@1";
  moved.device = 1;
  graph::Op copy;
  copy.definition = ops::operators().find("device_copy");
  copy.attributes = copy.definition->default_attributes();
  copy.operands = {last.operands[0]};
  copy.results = {g.add_tensor(moved)};
  last.operands[0] = copy.results[0];
  last.device = 1;
  g[last.results[0]].device = 1;
  g.ops.insert(g.ops.begin() + 2, copy);
  l.info.device_numbers = {1, 12};
  auto written = write_graph_json(g, &l.info, l.diags);
  ASSERT_TRUE(written.ok()) << l.diags.str();
  GraphJsonInfo info;
  auto again = read_graph_json(print_document(*written), "again", {weights()}, &info, l.diags);
  ASSERT_TRUE(again.ok()) << l.diags.str();
  ASSERT_EQ(again->ops.size(), 4u);
  EXPECT_TRUE(ops::definition_of(again->ops[2]).traits().device_copy);
  EXPECT_EQ(info.entries[5].storage_id, 5);
  EXPECT_EQ(again->ops[3].device, 1);
}

TEST(GraphJson, OwnOperatorsAreNoGraph) {
  Diagnostics diags;
  auto g = graph::parse(
      "graph \"g\" {\n  input %0 \"x\" f32[1]\n  %1 \"y\" f32[1] = relu(%0)\n"
      "  output %1\n}\n",
      "g.air", ops::definition_lookup(), diags);
  ASSERT_TRUE(g.ok());
  EXPECT_FALSE(write_graph_json(*g, nullptr, diags).ok());
  ASSERT_EQ(diags.error_count(), 1);
  EXPECT_EQ(diags.all()[0].slug, "graph-write");
}

TEST(GraphJson, LargeTextIsRefused) {
  Diagnostics diags;
  EXPECT_FALSE(parse_json(std::string(kMostJsonBytes + 1, ' '), "g", diags).ok());
  std::string many = "[" + std::string(2 * kMostJsonValues, '0') + "]";
  for (size_t i = 2; i < many.size() - 1; i += 2) many[i] = ',';
  many[many.size() - 2] = '0';
  EXPECT_FALSE(parse_json(many, "g", diags).ok());
  for (const Diagnostic& d : diags.all()) EXPECT_EQ(d.slug, "graph-limit") << d.str();
}

}  // namespace
}  // namespace aotc::graph_json
