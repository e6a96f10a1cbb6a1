// SPDX-License-Identifier: Apache-2.0
// Registries by themselves: lookups in all three kinds of emitted tables against a map, names whose
// hashes collide, and the registry that grows, up to its bounds.
#include <gtest/gtest.h>
#include <tvm/runtime/crt/func_registry.h>

#include <map>
#include <memory>
#include <random>

#include "registry_table.h"

namespace {

int first(TVMValue*, int*, int, TVMValue*, int*, void*) { return 1; }
int second(TVMValue*, int*, int, TVMValue*, int*, void*) { return 2; }

// -1 if there is none.
int index_of(const TVMFuncRegistry* registry, const std::string& name) {
  tvm_function_index_t index = 0xabcd;
  const auto error = TVMFuncRegistry_Lookup(registry, name.c_str(), &index);
  if (error == kTvmErrorNoError) return index;
  EXPECT_EQ(error, kTvmErrorFunctionNameNotFound);
  EXPECT_EQ(index, 0xabcd) << "a failed lookup wrote an index";
  return -1;
}

class EmittedRegistry : public testing::TestWithParam<Tables> {};

TEST(Fnv1a, TestsUseTheHashThatOthersPublish) {
  EXPECT_EQ(fnv1a(""), 0x811c9dc5u);
  EXPECT_EQ(fnv1a("a"), 0xe40c292cu);
  EXPECT_EQ(fnv1a("foobar"), 0xbf9cf968u);
}

TEST_P(EmittedRegistry, FindsEveryNameAndNoOther) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 60; ++round) {
    std::map<std::string, int> names;
    const std::size_t count = round < 40 ? static_cast<std::size_t>(round) : random() % 80;
    while (names.size() < count) {
      std::string name;
      const std::size_t length = 1 + random() % 40;
      for (std::size_t i = 0; i < length; ++i) name += "ab_1\xc3"[random() % 5];
      names.emplace(name, 0);
    }
    std::vector<NamedFunction> functions;
    for (const auto& [name, unused] : names) functions.push_back({name, first});
    const RegistryTable table(functions, GetParam());
    ASSERT_EQ(TVMFuncRegistry_GetNumFuncs(table.get()), count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& name = table.functions()[i].name;
      ASSERT_EQ(index_of(table.get(), name), static_cast<int>(i)) << name;
      ASSERT_STREQ(TVMFuncRegistry_GetName(table.get(), static_cast<std::uint16_t>(i)),
                   name.c_str());
      for (const std::string& other :
           {name + "a", name.substr(1), name.substr(0, name.size() - 1), "x" + name}) {
        ASSERT_EQ(index_of(table.get(), other) >= 0, names.count(other) == 1) << other;
      }
    }
    EXPECT_EQ(index_of(table.get(), ""), -1);
    EXPECT_EQ(TVMFuncRegistry_GetName(table.get(), static_cast<std::uint16_t>(count)), nullptr);
    TVMBackendPackedCFunc function = nullptr;
    EXPECT_EQ(TVMFuncRegistry_GetByIndex(table.get(), static_cast<std::uint16_t>(count), &function),
              kTvmErrorFunctionIndexInvalid);
  }
}

TEST_P(EmittedRegistry, NamesWithOneHashAreToldApart) {
  // Pairs that are known to collide in 32-bit FNV-1a; the second of the third is left out.
  ASSERT_EQ(fnv1a("costarring"), fnv1a("liquid"));
  ASSERT_EQ(fnv1a("declinate"), fnv1a("macallums"));
  ASSERT_EQ(fnv1a("altarage"), fnv1a("zinke"));
  const RegistryTable table({{"costarring", first},
                             {"liquid", second},
                             {"macallums", first},
                             {"declinate", second},
                             {"altarage", first}},
                            GetParam());
  for (const auto& [name, function] : table.functions()) {
    const int index = index_of(table.get(), name);
    ASSERT_GE(index, 0) << name;
    TVMBackendPackedCFunc found = nullptr;
    EXPECT_EQ(TVMFuncRegistry_GetByIndex(table.get(), static_cast<std::uint16_t>(index), &found),
              kTvmErrorNoError);
    EXPECT_EQ(found, function) << name;
  }
  EXPECT_EQ(index_of(table.get(), "zinke"), -1);
}

TEST_P(EmittedRegistry, NullIsRefused) {
  const RegistryTable table({{"f", first}}, GetParam());
  tvm_function_index_t index = 0;
  EXPECT_EQ(TVMFuncRegistry_Lookup(nullptr, "f", &index), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncRegistry_Lookup(table.get(), nullptr, &index), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncRegistry_Lookup(table.get(), "f", nullptr), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncRegistry_GetByIndex(table.get(), 0, nullptr), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncRegistry_GetName(nullptr, 0), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Tables, EmittedRegistry,
                         testing::Values(Tables::kNames, Tables::kHashes,
                                         Tables::kHashesAndOffsets),
                         [](const auto& parameter) {
                           return parameter.param == Tables::kNames    ? "names"
                                  : parameter.param == Tables::kHashes ? "hashes"
                                                                       : "hashes_and_offsets";
                         });

// A registry in a buffer on the heap, where AddressSanitizer guards both ends.
struct Growing {
  explicit Growing(std::size_t bytes, std::size_t shift = 0)
      : memory(std::make_unique<std::uint8_t[]>(bytes + shift)) {
    error = TVMMutableFuncRegistry_Create(&registry, memory.get() + shift, bytes);
  }
  tvm_crt_error_t set(const std::string& name, TVMBackendPackedCFunc function,
                      bool override = false) {
    return TVMMutableFuncRegistry_Set(&registry, name.c_str(), function, override);
  }
  std::unique_ptr<std::uint8_t[]> memory;
  TVMMutableFuncRegistry registry{};
  tvm_crt_error_t error;
};

TEST(MutableRegistry, HoldsAsManyAverageEntriesAsTheBufferHasRoomFor) {
  for (std::size_t wanted = 1; wanted < 40; ++wanted) {
    for (std::size_t shift : {0, 1, 2, 3, 5, 7}) {
      // What the header promises beside the entries: alignment, the last offset, the count.
      Growing growing(wanted * TVM_AVERAGE_FUNC_ENTRY_SIZE_BYTES + 4 + sizeof(void*), shift);
      ASSERT_EQ(growing.error, kTvmErrorNoError);
      std::size_t count = 0;
      while (true) {
        std::string name = "function_" + std::to_string(count);
        name.resize(TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES, 'x');
        const auto error = growing.set(name, count % 2 ? first : second);
        if (error != kTvmErrorNoError) {
          EXPECT_EQ(error, kTvmErrorFunctionRegistryFull);
          EXPECT_EQ(index_of(&growing.registry.registry, name), -1);
          break;
        }
        EXPECT_EQ(index_of(&growing.registry.registry, name), static_cast<int>(count));
        ++count;
      }
      EXPECT_GE(count, wanted);
      EXPECT_LE(count, wanted + 1);
      EXPECT_EQ(TVMFuncRegistry_GetNumFuncs(&growing.registry.registry), count);
    }
  }
}

TEST(MutableRegistry, BufferWithoutRoomForOneEntryIsRefused) {
  for (std::size_t bytes = 0; bytes < TVM_AVERAGE_FUNC_ENTRY_SIZE_BYTES; ++bytes) {
    EXPECT_EQ(Growing(bytes, 1).error, kTvmErrorBufferTooSmall) << bytes;
  }
  std::uint8_t byte = 0;
  TVMMutableFuncRegistry registry;
  EXPECT_EQ(TVMMutableFuncRegistry_Create(nullptr, &byte, 1), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMMutableFuncRegistry_Create(&registry, nullptr, 99), kTvmErrorFunctionCallInvalidArg);
}

TEST(MutableRegistry, LongNamesFillItSoonerAndNeverBeyondItsEnd) {
  Growing growing(256);
  std::size_t bytes = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string name(static_cast<std::size_t>(30 + i), static_cast<char>('a' + i));
    if (name.size() >= TVM_CRT_MAX_STRLEN_FUNCTION_NAME) break;
    const auto error = growing.set(name, first);
    if (error == kTvmErrorNoError) bytes += name.size() + 1;
    EXPECT_TRUE(error == kTvmErrorNoError || error == kTvmErrorFunctionRegistryFull);
  }
  EXPECT_LT(bytes, 256u);
  EXPECT_EQ(growing.set("b", first), kTvmErrorNoError) << "a short name still fits";
}

TEST(MutableRegistry, NamesAreReplacedOnlyOnRequest) {
  Growing growing(512);
  EXPECT_EQ(growing.set("f", first), kTvmErrorNoError);
  EXPECT_EQ(growing.set("g", first), kTvmErrorNoError);
  EXPECT_EQ(growing.set("f", second), kTvmErrorFunctionAlreadyDefined);
  TVMBackendPackedCFunc function = nullptr;
  EXPECT_EQ(TVMFuncRegistry_GetByIndex(&growing.registry.registry, 0, &function), 0);
  EXPECT_EQ(function, first);
  EXPECT_EQ(growing.set("f", second, true), kTvmErrorNoError);
  EXPECT_EQ(TVMFuncRegistry_GetByIndex(&growing.registry.registry, 0, &function), 0);
  EXPECT_EQ(function, second);
  EXPECT_EQ(TVMFuncRegistry_GetNumFuncs(&growing.registry.registry), 2);
}

TEST(MutableRegistry, BadNamesAndFunctionsAreRefused) {
  Growing growing(2048);
  EXPECT_EQ(growing.set("", first), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(growing.set("f", nullptr), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&growing.registry, nullptr, first, 0),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(growing.set(std::string(TVM_CRT_MAX_STRLEN_FUNCTION_NAME, 'x'), first),
            kTvmErrorBufferTooSmall);
  EXPECT_EQ(growing.set(std::string(TVM_CRT_MAX_STRLEN_FUNCTION_NAME - 1, 'x'), first),
            kTvmErrorNoError);
}

}  // namespace
