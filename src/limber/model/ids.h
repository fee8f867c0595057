// Strong indices: a BodyId cannot be used where a JointId is meant.
#pragma once

#include <compare>
#include <cstdint>

namespace limber {

template <class Tag>
struct Id {
  std::int32_t value = -1;
  bool valid() const { return value >= 0; }
  auto operator<=>(const Id&) const = default;
};

using MaterialId = Id<struct MaterialTag>;
using SectionId = Id<struct SectionTag>;
using BodyId = Id<struct BodyTag>;
using JointId = Id<struct JointTag>;
using BeamId = Id<struct BeamTag>;
using SpringId = Id<struct SpringTag>;
using LoopId = Id<struct LoopTag>;
using RiderId = Id<struct RiderTag>;
using TieId = Id<struct TieTag>;
using CouplingId = Id<struct CouplingTag>;
using CableId = Id<struct CableTag>;
using LoadId = Id<struct LoadTag>;  // of a model as written: point loads, then those along beams

inline constexpr BodyId world{};  // the ground, where a body is expected

}  // namespace limber
