// SPDX-License-Identifier: Apache-2.0
// Reading operator sources through aotc-analyze, and every message about a function that is not
// what a node of the graph calls. AOTC_ANALYZE names the program under test.
#include "driver/operator_sources.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "driver/temporary.h"

namespace aotc::driver {
namespace {

namespace fs = std::filesystem;

const char kHead[] = "#include <stdint.h>\n#include <tvm/runtime/c_backend_api.h>\n";

// Line 3 on is `text`.
class Sources : public ::testing::Test {
 protected:
  void SetUp() override { fs::current_path(directory_.path()); }
  void TearDown() override { fs::current_path("/"); }

  void write(const std::string& name, const std::string& text) { std::ofstream(name) << kHead << text; }

  // Reads a.c with `text`; failing if that does not work.
  OperatorSources read(const std::string& text) {
    write("a.c", text);
    auto sources = read_operator_sources({"a.c"}, {}, diags_);
    EXPECT_TRUE(sources.ok()) << diags_.str();
    return sources ? *sources : OperatorSources();
  }

  // Two int8 operands, one float result.
  static std::vector<OperatorTensor> tensors() {
    return {{DType::kI8, false, "left"}, {DType::kI8, false, "right"}, {DType::kF32, true, "sum"}};
  }

  static Location node() {
    Location where;
    where.file = "g.json";
    where.line = 7;
    where.column = 3;
    where.op_index = 4;
    where.op_type = "tvm_op";
    return where;
  }

  // The messages of checking 'add' in `text`.
  std::string refusal(const std::string& text, const std::vector<OperatorTensor>& wanted = tensors(),
                      const std::string& symbol = "add") {
    OperatorSources sources = read(text);
    Diagnostics diags;
    auto checked = check_operator(sources, symbol, wanted, node(), diags);
    EXPECT_FALSE(checked.ok());
    EXPECT_TRUE(diags.has_errors());
    return diags.str();
  }

  CheckedOperator accepted(const std::string& text) {
    sources_ = read(text);
    Diagnostics diags;
    auto checked = check_operator(sources_, "add", tensors(), node(), diags);
    EXPECT_TRUE(checked.ok()) << diags.str();
    EXPECT_EQ(diags.str(), "");
    return checked ? *checked : CheckedOperator();
  }

  TemporaryDirectory directory_;
  Diagnostics diags_;
  OperatorSources sources_;
};

const std::string kCalled = "  note: g.json:7:3: op 4 tvm_op: called here\n";
const std::string kWanted =
    "  help: the graph needs int32_t add(const int8_t *, const int8_t *, float *), or a packed "
    "function\n";

TEST_F(Sources, GiveConventionAndContext) {
  CheckedOperator plain = accepted("int add(const int8_t *a, const int8_t *b, float *c) { return a == b || !c; }\n");
  EXPECT_EQ(plain.convention, CallingConvention::kPlain);
  EXPECT_FALSE(plain.takes_context);
  EXPECT_EQ(plain.function->where.str(), "a.c:3:5");

  CheckedOperator context = accepted(
      "int32_t add(const int8_t *a, const int8_t *b, float *c, void *x) { return a == b || c == x; "
      "}\n");
  EXPECT_EQ(context.convention, CallingConvention::kPlain);
  EXPECT_TRUE(context.takes_context);

  // An operand that is not const is TVM's unpacked form.
  CheckedOperator unpacked = accepted("int32_t add(const int8_t *a, int8_t *b, float *c) { return a == b || !c; }\n");
  EXPECT_EQ(unpacked.convention, CallingConvention::kUnpacked);
  unpacked = accepted("int32_t add(int8_t *a, int8_t *b, float *c) { return a == b || !c; }\n");
  EXPECT_EQ(unpacked.convention, CallingConvention::kUnpacked);
  unpacked = accepted("int32_t add(void *a, void *b, void *c) { return a == b || !c; }\n");
  EXPECT_EQ(unpacked.convention, CallingConvention::kUnpacked);
  EXPECT_FALSE(unpacked.takes_context);

  CheckedOperator packed = accepted(
      "int32_t add(void *a, int32_t *t, int32_t n, void *r, int32_t *c, void *h)\n"
      "{ return a == r || t == c || n || h; }\n");
  EXPECT_EQ(packed.convention, CallingConvention::kPacked);
  EXPECT_TRUE(packed.takes_context);
}

TEST_F(Sources, TakeTruthsAsBytes) {
  std::vector<OperatorTensor> truths = {{DType::kBool, false, ""}, {DType::kBool, true, ""}};
  for (const char* type : {"uint8_t", "_Bool"}) {
    OperatorSources sources = read(fmt::format("int add(const {} *a, {} *b) {{ return a == b; }}\n", type, type));
    Diagnostics diags;
    EXPECT_TRUE(check_operator(sources, "add", truths, node(), diags).ok()) << diags.str();
  }
  EXPECT_EQ(refusal("int add(const int8_t *a, int8_t *b) { return a == b; }\n", truths),
            "a.c:3:5: error: operator 'add': parameter 1 'a' is 'const int8_t *', but tensor 1 (an "
            "operand of uint8_t) is passed [operator-signature]\n" +
                kCalled +
                "  help: the graph needs int32_t add(const uint8_t *, uint8_t *), or a packed "
                "function\n"
                "a.c:3:5: error: operator 'add': parameter 2 'b' is 'int8_t *', but tensor 2 (a "
                "result of uint8_t) is passed [operator-signature]\n" +
                kCalled +
                "  help: the graph needs int32_t add(const uint8_t *, uint8_t *), or a packed "
                "function\n");
}

TEST_F(Sources, LackTheSymbol) {
  EXPECT_EQ(refusal("int add_i8(const int8_t *a, int8_t *b) { return a == b; }\n", tensors(), "add_8"),
            "g.json:7:3: op 4 tvm_op: error: the operator sources define no function 'add_8' "
            "[operator-missing]\n"
            "  help: did you mean 'add_i8'?\n");
  EXPECT_EQ(refusal("int other(const int8_t *a, int8_t *b) { return a == b; }\n"),
            "g.json:7:3: op 4 tvm_op: error: the operator sources define no function 'add' "
            "[operator-missing]\n"
            "  help: pass the C source that defines the function to --operators\n");
  EXPECT_EQ(refusal("int add(const int8_t *a, const int8_t *b, float *c);\n"),
            "a.c:3:5: error: operator 'add' is declared, but no source defines it "
            "[operator-missing]\n" +
                kCalled +
                "  help: pass the C source that defines the function to --operators; an inline function in "
                "C needs 'extern inline' in one source\n");
}

TEST_F(Sources, DefineItTwice) {
  const std::string text = "int add(const int8_t *a, int8_t *b) { return a == b; }\n";
  write("a.c", text);
  write("b.c", "\n" + text);
  auto sources = read_operator_sources({"a.c", "b.c"}, {}, diags_);
  ASSERT_TRUE(sources.ok()) << diags_.str();
  Diagnostics diags;
  EXPECT_FALSE(check_operator(*sources, "add", tensors(), node(), diags).ok());
  EXPECT_EQ(diags.str(), "b.c:4:5: error: operator 'add' is defined more than once [operator-ambiguous]\n" + kCalled +
                             "  note: a.c:3:5: defined here, too\n"
                             "  help: pass only one of the sources, or make one of the functions static\n");
}

TEST_F(Sources, HideIt) {
  EXPECT_EQ(refusal("static int add(const int8_t *a, int8_t *b) { return a == b; }\n"),
            "a.c:3:12: error: operator 'add' is static: the model cannot call it "
            "[operator-signature]\n" +
                kCalled + "  help: remove 'static'\n");
  write("a.cpp", "int add(const int8_t *a, int8_t *b) { return a == b; }\n");
  auto sources = read_operator_sources({"a.cpp"}, {}, diags_);
  ASSERT_TRUE(sources.ok()) << diags_.str();
  Diagnostics diags;
  EXPECT_FALSE(check_operator(*sources, "add", tensors(), node(), diags).ok());
  EXPECT_EQ(diags.str(),
            "a.cpp:3:5: error: operator 'add' has C++ linkage: the model cannot call it "
            "[operator-signature]\n" +
                kCalled + "  help: declare it extern \"C\"\n");
}

TEST_F(Sources, HaveAnotherSignature) {
  EXPECT_EQ(refusal("void add(const int8_t *a, const int8_t *b, float *c) { *c = *a + *b; }\n"),
            "a.c:3:6: error: operator 'add' returns 'void', not int32_t [operator-signature]\n" + kCalled + kWanted);
  EXPECT_EQ(refusal("int add(const int8_t *a, int b, float *c) { return a && b && c; }\n"),
            "a.c:3:5: error: operator 'add': parameter 2 'b' is not a pointer "
            "[operator-signature]\n" +
                kCalled + kWanted);
  EXPECT_EQ(refusal("int add(const int8_t *a, float *c) { return a && c; }\n"),
            "a.c:3:5: error: operator 'add' has 2 parameters, but 3 tensors are passed "
            "[operator-signature]\n" +
                kCalled + kWanted);
  // One more is a context only if it is a void pointer.
  EXPECT_EQ(refusal("int add(const int8_t *a, const int8_t *b, float *c, float *d) { return a == b || c "
                    "== d; }\n"),
            "a.c:3:5: error: operator 'add' has 4 parameters, but 3 tensors are passed "
            "[operator-signature]\n" +
                kCalled + kWanted);
  EXPECT_EQ(refusal("int add(const int8_t *a, const float *b, float *c) { return a && b && c; }\n"),
            "a.c:3:5: error: operator 'add': parameter 2 'b' is 'const float *', but tensor 2 "
            "'right' (an operand of int8_t) is passed [operator-signature]\n" +
                kCalled + kWanted);
  EXPECT_EQ(refusal("int add(int8_t *a, const int8_t *b, const float *) { return a == b; }\n"),
            "a.c:3:5: error: operator 'add': parameter 3 is 'const float *', but must not be const: tensor 3 'sum' "
            "(a result of float) is written [operator-signature]\n" +
                kCalled + kWanted);
}

TEST_F(Sources, DoNotCompile) {
  write("a.c", "int add(const int8_t *a) { return b; }\n#include \"nowhere.h\"\n");
  EXPECT_FALSE(read_operator_sources({"a.c", "none.c"}, {}, diags_).ok());
  EXPECT_EQ(diags_.str(),
            "a.c:3:35: error: use of undeclared identifier 'b' [operator-source]\n"
            "a.c:4:10: error: 'nowhere.h' file not found [operator-source]\n"
            "  help: name the directory of the header with --operator-include\n"
            "none.c: error: cannot open: No such file or directory [file-read]\n");
}

TEST_F(Sources, AreFoundThroughDirectories) {
  fs::create_directory("include");
  std::ofstream("include/mine.h") << "typedef short element;\n";
  write("-odd name.c", "#include <mine.h>\nint f(const element *a, element *b) { return a == b; }\n");
  auto sources = read_operator_sources({"-odd name.c"}, {"include"}, diags_);
  ASSERT_TRUE(sources.ok()) << diags_.str();
  ASSERT_EQ(sources->find("f").size(), 1u);
  EXPECT_EQ(sources->find("f")[0]->parameters[0].element, "int16_t");
  EXPECT_TRUE(sources->find("g").empty());
}

// The program of the environment variable for the time of a test.
class Analyzer {
 public:
  explicit Analyzer(const std::string& program) : before_(std::getenv("AOTC_ANALYZE")) {
    setenv("AOTC_ANALYZE", program.c_str(), 1);
  }
  ~Analyzer() { setenv("AOTC_ANALYZE", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST_F(Sources, NeedTheProgram) {
  write("a.c", "");
  {
    Analyzer none("/no/such");
    EXPECT_FALSE(read_operator_sources({"a.c"}, {}, diags_).ok());
    // Without sources nothing needs it.
    EXPECT_TRUE(read_operator_sources({}, {}, diags_).ok());
  }
  {
    Analyzer silent("/bin/true");
    EXPECT_FALSE(read_operator_sources({"a.c"}, {}, diags_).ok());
  }
  EXPECT_EQ(diags_.str(),
            "/no/such: error: the environment variable AOTC_ANALYZE names this file, which is not an executable "
            "program [tool-missing]\n"
            "  help: set AOTC_ANALYZE to the path of aotc-analyze, or unset it\n"
            "/bin/true: error: the program gave no result (exit code 0) [internal]\n"
            "  help: run 'aotc analyze signatures' on the sources to see all messages\n");
}

}  // namespace
}  // namespace aotc::driver
