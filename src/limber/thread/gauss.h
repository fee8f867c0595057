// Three Gauss points on 0 … 1: exact up to the fifth power.
#pragma once

namespace limber::thread {

inline constexpr double gauss_offset = 0.3872983346207417;  // ½√(3/5)
inline constexpr double gauss_x[3] = {0.5 - gauss_offset, 0.5, 0.5 + gauss_offset};
inline constexpr double gauss_w[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

}  // namespace limber::thread
