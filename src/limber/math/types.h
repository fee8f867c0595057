// The vector and matrix types of limber. All doubles, all column-major Eigen.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <vector>

namespace limber {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;
using Quat = Eigen::Quaterniond;
using Vec6 = Eigen::Matrix<double, 6, 1>;  // spatial vector, angular part first: (ω; v) or (τ; f)
using Mat6 = Eigen::Matrix<double, 6, 6>;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;

inline constexpr double pi = 3.14159265358979323846;

}  // namespace limber
