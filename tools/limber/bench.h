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
  double spread = 0;     // of a time: the middle of its batches over the best, less 1
};

struct Suite {
  const char* name;
  const char* about;
  std::vector<Figure> (*run)(bool full);  // full: all sizes; else a minute at the most
};

std::span<const Suite> suites();

std::vector<Figure> bench_articulated(bool full);
std::vector<Figure> bench_chain(bool full);
std::vector<Figure> bench_adaptive(bool full);
std::vector<Figure> bench_thread(bool full);
std::vector<Figure> bench_rom(bool full);
std::vector<Figure> bench_contact(bool full);
std::vector<Figure> bench_cables(bool full);
void bench_structures(std::vector<Figure>& figures, bool full);  // its second part
void bench_statics(std::vector<Figure>& figures);                // its third
void bench_newton(std::vector<Figure>& figures);                 // its fourth
void bench_error(std::vector<Figure>& figures);                  // its fifth
std::filesystem::path scene_folder();                            // of the shipped scenes

}  // namespace limber::cli
