// How the numbers of beams cut into links, of loads and of weight change with a parameter, of first order.
//
// A link's stiffness is GJ, EI_y or EI_z over a length, its mass ρA times one, the give of its joint 1/EA and
// the like: what a material and a section change is a few factors for the whole beam, whatever it is cut
// into. So a derivative by them needs neither links nor methods compiled anew.
#pragma once

#include <optional>
#include <vector>

#include "limber/model/model.h"

namespace limber::elastic {

// Of a model, in its order.
struct ModelNumbers {
  std::vector<Material> materials;
  std::vector<limber::Section> sections;
  std::vector<PointLoad> point_loads;
  std::vector<DistributedLoad> distributed_loads;
  VectorFunction gravity;
};

struct BeamRates {
  int beam = 0;
  Vec3 stiffness = Vec3::Zero();  // of GJ, EI_y, EI_z, each over itself
  Vec3 give = Vec3::Zero();       // of the compliances along the beam, and in shear along y and z
  double mass = 0;                // of ρA
};
struct LoadRate {
  int load = 0;  // point load as written; dead
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
};
struct NumberRates {
  std::vector<BeamRates> beams;
  std::vector<LoadRate> loads;
  Vec3 gravity = Vec3::Zero();
};

// Per unit of a parameter in which both sides differ by ±delta; loads and gravity as they are at time t.
// Nothing where such rates do not say all: sections that turn, followers, loads along beams, wind on shapes,
// strengths.
std::optional<NumberRates> rates_between(const Model& model, const ModelNumbers& up, const ModelNumbers& down,
                                         double delta, double t);

// Of the stiffnesses of a beam's joint, each over itself, by the coordinates of a joint of this kind.
DofArray joint_rates(const BeamRates& rates, JointKind kind);

}  // namespace limber::elastic
