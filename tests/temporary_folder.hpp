#pragma once

#include <filesystem>
#include <random>
#include <string>

namespace clew {

// A new folder that goes when this does.
struct TemporaryFolder {
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() /
             ("clew-test-" + std::to_string(std::random_device()()))) {
    std::filesystem::create_directories(path);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  std::filesystem::path path;
};

}  // namespace clew
