// std::filesystem::filesystem_error: what its copies share. Other functions of std::filesystem are
// not seen. corners.txt says what mc must make of it.
#include <mc/mc.h>

#include <filesystem>
#include <system_error>
#include <thread>

namespace {

const char kText[] = "a message that is long enough not to be in place";

}  // namespace

MC_TEST(FileErrorInTwoThreads) {
  std::filesystem::filesystem_error error(kText, "a", "b",
                                          std::make_error_code(std::errc::io_error));
  std::thread other([copy = std::move(error)] { mc_assert(copy.path1() == "a"); });
  mc_assert(error.code() == std::errc::io_error);
  other.join();
}
MC_MAIN();
