// Takes a model apart for reduction: mechanisms (what hangs together and has end effectors), bodies that fly
// freely and are simulated as they are, and bodies that never move.
#pragma once

#include "limber/model/model.h"
#include "limber/rom/reduced_model.h"

namespace limber::rom {

struct Partition {
  std::vector<Mechanism> mechanisms;  // without points
  std::vector<int> props;             // free bodies
  std::vector<int> ground;            // bodies that never move
};

// `model` has no beams. Throws ModelError for what cannot be reduced, by name: an end that is the base or
// does not exist, a part without an end, what this method does not know (wind, riders, prescribed motions).
Partition partition(const Model& model, const std::vector<std::string>& ends);

// The body that a name of an end effector stands for; "finger.tip" of a beam is its last link. −1: none.
int find_end(const Model& model, const std::string& name);

// The mechanism alone, in the frame of its base, with these wrenches (dead, axes of that frame, at the ends'
// origins) on its ends; `at` are the poses of all bodies of the model at rest. Loads and drives are those of
// time t. Bodies of the result stand in the mechanism's order.
Model model_of(const Model& model, const Mechanism& mechanism, const std::vector<Pose>& at,
               const std::vector<Vec6>& wrenches, double t);

// The joints of such a model that hold their halves together.
std::vector<JointSite> joint_sites(const Model& sub);

}  // namespace limber::rom
