// The benchmarks of `limber bench`: suites of named figures, measured in one process.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace limber::cli {

struct Figure {
  std::string key;  // "articulated.chain_1000.step"
  double value = 0;
  std::string unit;      // "us", "1/step", "" for a ratio
  std::string baseline;  // for people: what it is compared with, measured in the same run; may be empty
};

struct Suite {
  const char* name;
  const char* about;
  std::vector<Figure> (*run)();
};

std::span<const Suite> suites();

std::vector<Figure> bench_articulated();
std::vector<Figure> bench_chain();
std::vector<Figure> bench_adaptive();
std::vector<Figure> bench_thread();
std::vector<Figure> bench_rom();
void bench_structures(std::vector<Figure>& figures);  // its second part
void bench_statics(std::vector<Figure>& figures);     // its third
std::filesystem::path scene_folder();                 // of the shipped scenes

}  // namespace limber::cli
