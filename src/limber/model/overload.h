// One visitor from several functions: std::visit(Overload{[](const A&) {…}, [](const B&) {…}}, variant).
#pragma once

namespace limber {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace limber
