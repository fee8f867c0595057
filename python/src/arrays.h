// numpy arrays that cannot be written to: of numbers that they own, or that stay where they are.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "limber/math/types.h"

namespace limber::python {

namespace nb = nanobind;

template <std::size_t n>
using Array = nb::ndarray<nb::numpy, const double, nb::ndim<n>>;
using Array1 = Array<1>;
using Array2 = Array<2>;
using Array3 = Array<3>;

// Takes the numbers over.
template <std::size_t n>
Array<n> array_of(std::vector<double> numbers, const std::size_t (&shape)[n]) {
  auto* kept = new std::vector<double>(std::move(numbers));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Array<n>(kept->data(), n, shape, owner);
}
inline Array1 array_of(std::vector<double> numbers) {
  const std::size_t shape[] = {numbers.size()};
  return array_of<1>(std::move(numbers), shape);
}
inline Array1 array_of(const Vec3& v) { return array_of(std::vector<double>{v[0], v[1], v[2]}); }

// Looks at `owner`'s numbers, which must not move while it lives.
template <std::size_t n>
Array<n> view_of(const std::vector<double>& numbers, const std::size_t (&shape)[n], nb::handle owner) {
  return Array<n>(numbers.data(), n, shape, owner);
}

}  // namespace limber::python
