#include "limber/sim/options.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "limber/sim/method_table.h"
#include "limber/sim/option_table.h"

namespace limber::sim {

std::vector<std::pair<Method, std::string>> method_words() {
  std::vector<std::pair<Method, std::string>> out;
  for (const MethodInfo& m : method_table()) out.emplace_back(m.method, m.name());
  return out;
}

std::string about_methods() {
  std::string out;
  for (const MethodInfo& m : method_table())
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", m.name(), m.about);
  return out;
}

std::int64_t RunOptions::steps() const {
  // 1.1 / 0.1 is 11.000000000000002: a quotient that is whole up to rounding is meant to be whole.
  const double n = time / step;
  return static_cast<std::int64_t>(std::ceil(n - 1e-9 * std::max(1.0, n)));
}

std::int64_t RunOptions::steps_per_frame() const {
  constexpr double most = 9e15;  // an int64 holds it
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(std::min(frame / step, most))));
}

std::int64_t RunOptions::frames_per_step() const {
  if (method != Method::articulated || !(articulated.error > 0)) return 1;
  return std::max<std::int64_t>(1, std::llround(std::min(step / frame, 9e15)));
}

double RunOptions::frame_interval() const {
  return static_cast<double>(steps_per_frame()) * step / static_cast<double>(frames_per_step());
}

std::string integrator_of(const RunOptions& o) {
  const RunOption* option = find_option(o.method, "integrator");
  return option ? option->get(o).text() : "";
}

int cpu_threads_of(const RunOptions& o) {
  const RunOption* option = find_option(o.method, "cpu_threads");
  return option ? std::get<int>(option->get(o).is) : 1;
}

void set_cpu_threads(RunOptions& o, int n) {
  for (const MethodInfo& m : method_table())
    if (const RunOption* option = find_option(m.method, "cpu_threads")) option->set(o, {n});
}

void validate(const RunOptions& o) {
  if (const auto list = range_problems(o); !list.empty()) throw std::invalid_argument(list.front().text());
  if (const auto list = combination_problems(o); !list.empty()) throw ModelError(as_problems(list));
}

}  // namespace limber::sim
