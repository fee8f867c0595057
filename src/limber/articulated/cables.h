// Cables of a compiled model; equations in cables.cpp and docs/theory/cables.md. Internal to articulated/.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "limber/articulated/cable_route.h"
#include "limber/model/time_function.h"

namespace limber::articulated {

struct CompiledGuide {
  int link = -1;          // −1: the world
  Vec3 p = Vec3::Zero();  // in M, as all here: the eyelet or the pulley's centre
  Vec3 n = Vec3::UnitZ(), e1 = Vec3::UnitX(), e2 = Vec3::UnitY();
  double radius = 0, sense = 1, friction = 0;
  bool holds = false;  // tensions on its two sides differ
  bool lifts = false;  // of a pulley: its cable leaves it where it would not touch
  int place = -1;      // among CompiledCable::links
};

// From one guide that holds the cable (or an end) to the next: one tension.
struct CableRun {
  int first = 0, last = 0;   // guides; of a closed cable `last` may be n and more: guide last − n
  double rest = 0;           // [m] at t = 0
  double offset = 0;         // [m] what the angles of its ends add to its length at t = 0
  int row = -1;              // elastic row of the pattern
  std::vector<int> members;  // places among CompiledCable::links that the row has, in order
};

struct CompiledCable {
  std::string name;
  std::vector<CompiledGuide> guides;
  bool closed = false, rubs = false;
  TimeFunction winch;
  double EA = 0, damping = 0, rest = 0;  // of the whole: [N], [N·s/m], [m] at t = 0
  std::vector<CableRun> runs;
  std::vector<int> links;  // that it touches, in order
  std::vector<int> pair;   // of guide k and the next, in the pattern; −1: none
  int state = 0;           // first of its numbers in State::cables
  // What of a guide carries over from step to step: the angles at which the cable meets and leaves it, and
  // what has slid over it, and [N] what that takes a metre.
  static constexpr int meets = 0, leaves = 1, slip = 2, lost = 3, width = 4;
};

// Where a cable stands: scratch, its sizes fixed.
struct CableShape {
  explicit CableShape(const CompiledCable& c);
  std::vector<GuideFrame> guides;
  std::vector<Stretch> stretch;               // behind a guide that it touches
  std::vector<int> next;                      // … to which guide
  std::vector<char> touches;                  // (guides)
  std::vector<double> meets, leaves, slip;    // (guides) angles are continuous
  std::vector<double> length, rest, tension;  // (runs) [m], [m], [N] without damping
  std::vector<Vec6> row;                      // (links) of the run at hand
  bool exists = true;                         // there is a line round its guides
};

}  // namespace limber::articulated
