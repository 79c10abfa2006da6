// The GPU module behind its C boundary, opened as the extension opens it, and the owners of device.h.
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <type_traits>

#include "gpu/base/device.h"
#include "gpu/neardup_gpu.h"

namespace {

using neardup::gpu::check;
using neardup::gpu::CudaError;
using neardup::gpu::DeviceBuffer;
using neardup::gpu::Event;
using neardup::gpu::PinnedBuffer;
using neardup::gpu::Stream;

// The module stays open until the process ends, as in the extension.
const NeardupGpuApi* api() {
  static const NeardupGpuApi* table = [] {
    void* module = dlopen(NEARDUP_GPU_MODULE, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(module, nullptr) << dlerror();
    if (module == nullptr) return static_cast<const NeardupGpuApi*>(nullptr);
    const auto get_api = reinterpret_cast<NeardupGpuGetApi>(dlsym(module, NEARDUP_GPU_SYMBOL));
    EXPECT_NE(get_api, nullptr) << dlerror();
    return get_api == nullptr ? nullptr : get_api();
  }();
  return table;
}

bool is_plain_ascii(const char* text) {
  for (; *text != '\0'; ++text) {
    if (*text < ' ' || *text > '~') return false;
  }
  return true;
}

// Skips where no GPU answers, and says why; fails the test where the module gives no proper reason.
class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(api(), nullptr);
    char error[NEARDUP_GPU_TEXT];
    if (api()->device_count(&count_, error, sizeof error) != NEARDUP_GPU_OK) GTEST_SKIP() << error;
  }

  uint32_t count_ = 0;
};

TEST(GpuModule, SpeaksThisAbi) {
  ASSERT_NE(api(), nullptr);
  EXPECT_EQ(api()->abi, NEARDUP_GPU_ABI);
  EXPECT_EQ(api()->size, sizeof(NeardupGpuApi));
}

TEST(GpuModule, ExportsNothingElse) {
  ASSERT_NE(api(), nullptr);
  void* module = dlopen(NEARDUP_GPU_MODULE, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(dlsym(module, "cudaGetDeviceCount"), nullptr);
  dlclose(module);
}

TEST(GpuModule, AnswersWithAReasonWhereThereIsNoGpu) {
  ASSERT_NE(api(), nullptr);
  uint32_t count = 77;
  char error[NEARDUP_GPU_TEXT] = "untouched";
  const NeardupGpuStatus status = api()->device_count(&count, error, sizeof error);
  if (status == NEARDUP_GPU_OK) {
    EXPECT_GE(count, 1u);
    EXPECT_STREQ(error, "");
    return;
  }
  EXPECT_EQ(count, 0u);
  EXPECT_NE(std::strlen(error), 0u);
  EXPECT_TRUE(is_plain_ascii(error)) << error;

  NeardupGpuDevice info;
  std::memset(&info, 0xff, sizeof info);
  EXPECT_EQ(api()->device_info(0, &info, error, sizeof error), status);
  EXPECT_EQ(info.usable, 0);
  EXPECT_STREQ(info.name, "");
}

TEST(GpuModule, CutsTextToTheCallersBuffer) {
  ASSERT_NE(api(), nullptr);
  NeardupGpuDevice info;
  char error[8] = "1234567";
  EXPECT_NE(api()->device_info(1u << 20, &info, error, 4), NEARDUP_GPU_OK);
  EXPECT_EQ(std::strlen(error), 3u);
  EXPECT_EQ(error[4], '5') << "wrote past the size it was given";
  EXPECT_NE(api()->device_info(1u << 20, &info, nullptr, 0), NEARDUP_GPU_OK);
}

TEST(GpuModule, RefusesNullResults) {
  ASSERT_NE(api(), nullptr);
  char error[NEARDUP_GPU_TEXT];
  EXPECT_EQ(api()->device_count(nullptr, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  EXPECT_EQ(api()->device_info(0, nullptr, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
}

TEST_F(OnDevice, DriverTellsItsVersion) {
  char text[NEARDUP_GPU_TEXT], error[NEARDUP_GPU_TEXT];
  ASSERT_EQ(api()->driver(text, sizeof text, error, sizeof error), NEARDUP_GPU_OK) << error;
  EXPECT_NE(std::strstr(text, "CUDA "), nullptr) << text;
}

TEST_F(OnDevice, EveryDeviceIsUsableOrSaysWhyNot) {
  for (uint32_t i = 0; i < count_; ++i) {
    NeardupGpuDevice info;
    char error[NEARDUP_GPU_TEXT];
    ASSERT_EQ(api()->device_info(i, &info, error, sizeof error), NEARDUP_GPU_OK) << error;
    EXPECT_EQ(info.device, i);
    EXPECT_STRNE(info.name, "");
    EXPECT_GT(info.memory_bytes, uint64_t{1} << 28);
    EXPECT_GE(info.capability_major, 3);
    EXPECT_EQ(info.usable == 1, info.reason[0] == '\0') << info.reason;
  }
}

TEST_F(OnDevice, DescribingTwiceGivesTheSame) {
  NeardupGpuDevice first, second;
  char error[NEARDUP_GPU_TEXT];
  ASSERT_EQ(api()->device_info(0, &first, error, sizeof error), NEARDUP_GPU_OK) << error;
  ASSERT_EQ(api()->device_info(0, &second, error, sizeof error), NEARDUP_GPU_OK) << error;
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
}

TEST_F(OnDevice, RefusesADeviceThatIsNotThere) {
  NeardupGpuDevice info;
  char error[NEARDUP_GPU_TEXT];
  EXPECT_EQ(api()->device_info(count_, &info, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  EXPECT_STREQ(info.name, "");
}

template <class T>
constexpr bool kMoveOnly = std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T> &&
                           !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(kMoveOnly<Stream> && kMoveOnly<Event> && kMoveOnly<DeviceBuffer<int>> && kMoveOnly<PinnedBuffer<int>>);

TEST(Check, NamesTheCallTheErrorAndThePlace) {
  const int line = __LINE__ + 2;
  try {
    check(cudaErrorInvalidValue, "cudaSomething");
    FAIL() << "check did not throw";
  } catch (const CudaError& e) {
    EXPECT_EQ(e.status(), cudaErrorInvalidValue);
    EXPECT_EQ(e.code(), neardup::Errc::device);
    EXPECT_EQ(std::string(e.what()),
              "cudaSomething failed: invalid argument (cudaErrorInvalidValue, devices_test.cpp:" +
                  std::to_string(line) + ")");
  }
}

// This needs a device: without a driver even the call that takes the error away fails.
TEST_F(OnDevice, CheckLeavesNoErrorBehind) {
  EXPECT_THROW(check(cudaSetDevice(-1), "cudaSetDevice"), CudaError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(Check, PassesSuccess) { EXPECT_NO_THROW(check(cudaSuccess, "cudaSomething")); }

TEST(Buffers, EmptyOnesNeedNoDevice) {
  DeviceBuffer<int> device(0);
  PinnedBuffer<int> pinned;
  EXPECT_EQ(device.data(), nullptr);
  EXPECT_EQ(pinned.bytes(), 0u);
}

TEST(Buffers, ImpossibleSizesAreRefusedBeforeCuda) {
  EXPECT_THROW(DeviceBuffer<uint64_t>(SIZE_MAX / 4), neardup::Error);
  try {
    PinnedBuffer<uint64_t> buffer(SIZE_MAX / 4);
    FAIL() << "allocated " << buffer.bytes();
  } catch (const neardup::Error& e) {
    EXPECT_EQ(e.code(), neardup::Errc::too_large);
  }
}

TEST_F(OnDevice, BuffersCarryDataThereAndBack) {
  constexpr size_t kN = 1000;
  PinnedBuffer<uint32_t> in(kN), out(kN);
  for (size_t i = 0; i < kN; ++i) in[i] = static_cast<uint32_t>(i * i);
  std::memset(out.data(), 0, out.bytes());

  Stream stream;
  DeviceBuffer<uint32_t> made(kN);
  DeviceBuffer<uint32_t> on_device = std::move(made);
  EXPECT_EQ(made.data(), nullptr);
  Event event;
  check(cudaMemcpyAsync(on_device.data(), in.data(), in.bytes(), cudaMemcpyHostToDevice, stream.get()),
        "cudaMemcpyAsync");
  check(cudaMemcpyAsync(out.data(), on_device.data(), out.bytes(), cudaMemcpyDeviceToHost, stream.get()),
        "cudaMemcpyAsync");
  event.record(stream);
  stream.wait();
  EXPECT_TRUE(event.done());
  EXPECT_EQ(std::memcmp(in.data(), out.data(), in.bytes()), 0);
}

TEST_F(OnDevice, DescribingLeavesAContextInUseAlone) {
  check(cudaSetDevice(0), "cudaSetDevice");
  PinnedBuffer<uint32_t> host(1);
  DeviceBuffer<uint32_t> on_device(1);
  host[0] = 12345;
  check(cudaMemcpy(on_device.data(), host.data(), host.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");

  NeardupGpuDevice info;
  char error[NEARDUP_GPU_TEXT];
  ASSERT_EQ(api()->device_info(0, &info, error, sizeof error), NEARDUP_GPU_OK) << error;

  host[0] = 0;
  check(cudaMemcpy(host.data(), on_device.data(), host.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  EXPECT_EQ(host[0], 12345u);
}

TEST_F(OnDevice, OutOfMemoryIsAnOrdinaryError) {
  try {
    DeviceBuffer<char> buffer(size_t{1} << 46);
    FAIL() << "allocated " << buffer.bytes();
  } catch (const CudaError& e) {
    EXPECT_TRUE(e.out_of_memory()) << e.what();
  }
  EXPECT_NO_THROW(DeviceBuffer<char>(1 << 20));
}

}  // namespace
