// The inputs of test/fuzz/corpus once more, without a fuzzer: what a fuzz target has found stays found, in every build.
// CMake renames the entry of each target, and lists them in fuzz_targets.inc.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#define NEARDUP_FUZZ_TARGET(name) extern "C" int fuzz_##name(const uint8_t* data, size_t size);
#include "fuzz_targets.inc"
#undef NEARDUP_FUZZ_TARGET

namespace {

struct Target {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
};

const Target kTargets[] = {
#define NEARDUP_FUZZ_TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.inc"
#undef NEARDUP_FUZZ_TARGET
};

std::vector<char> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class FuzzCorpus : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, HoldsNoSurprise) {
  const std::filesystem::path folder = std::filesystem::path(NEARDUP_FUZZ_CORPUS) / GetParam().name;
  size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    const std::vector<char> input = read_file(entry.path());
    // The copy has exactly its size, so that a read beyond it is seen.
    const std::vector<uint8_t> data(input.begin(), input.end());
    EXPECT_EQ(GetParam().run(data.data(), data.size()), 0);
    ++inputs;
  }
  EXPECT_GT(inputs, 0u);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, testing::ValuesIn(kTargets),
                         [](const testing::TestParamInfo<Target>& info) { return std::string(info.param.name); });

}  // namespace
