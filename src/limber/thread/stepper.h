// A step in the making: what its schemes (step.cpp, alpha.cpp, lobatto.cpp) and its books (step_ledger.cpp)
// share. Internal to thread/.
#pragma once

#include "limber/thread/system.h"

namespace limber::thread {

// Change of direction in an iteration [rad] after which it is the last, where accelerations are kept: what
// one iteration leaves, a stretch of half the square of a turn, is larger than the scheme's own error and
// takes energy.
inline constexpr double enough_kept = 1e-6;
inline constexpr double least_turn = 1e-5;  // [rad] that is done along an arc
inline constexpr double too_much = 1.5;     // [rad] beyond which the step is divided

struct Scheme {
  double ch = 0;
  double now = 1, before = 0;  // ê = now e_n + before e_{n−1}
  double mass = 0;             // of M: the acceleration's share of e
  bool keeps = false;          // accelerations: v = (e − ê)/ch, a = mass (e − v̂)
};

// Constants of generalised-α.
struct Alpha {
  double m, f, beta, gamma;
  explicit Alpha(double rho);
  double mass(double h) const { return (1 - m) / ((1 - f) * beta * h * h); }
};

// Constants of collocation at 0, c and 1 (lobatto.cpp).
struct Collocation {
  double node[2];                // c, 1
  double A[2][2], A0[2], B0[2];  // integrals of the nodes' polynomials; B0: of integrals of the first one
  double R[2][2], S[2][2];       // A⁻¹, A⁻²
  double tau, q;                 // of its iteration
  explicit Collocation(double rho);
};

double change_of_node(const double* delta);
double change_of(int nodes, const double* delta);  // largest change of a direction

struct Stepper {
  const SystemData& s;
  State& state;
  WorkspaceData& w;
  result::SolveReport& report;
  bool started = false;  // w.start is kept
  bool calm = false;     // the step is Euler's, because the scheme made energy or something touches

  bool touching() const { return s.contact && w.contact.active > 0; }
  bool damped_only() const { return calm || touching(); }
  bool keeps_accelerations() const {
    return s.options.integrator == Integrator::alpha || s.options.integrator == Integrator::lobatto;
  }

  // --- step.cpp
  void remember_strains();
  void residual(const Scheme& k, double t, bool tangent);
  bool advance(double h);
  bool calmly(double h);
  bool iterate(const Scheme& k, double t, double last);
  double given_turn() const;
  bool overlaps();
  void finish_contacts();
  bool divided(double h);
  void keep_start();
  double longest(double left) const;

  // --- alpha.cpp
  void predict(double h);
  void predict_given(const Scheme& k, double t, double h);
  void take_accelerations(const Scheme& k);
  void start_accelerations(double h);
  struct Energies {
    double total = 0, moving = 0;
  };
  Energies energies(const double* e, const Scheme* k, double t);
  bool makes_energy(const Scheme& k, double t, double work);

  // --- lobatto.cpp
  bool collocate(const Scheme& k, double h);
  double sharpness(double h);
  bool begin_stages(const Collocation& c, double h);
  bool factor_stages(const Scheme& k, const Collocation& c, double h);
  bool put_stage(int i, const Scheme& k, const Collocation& c, double h);
  double sweep_stages(const Scheme& k, const Collocation& c, double h);

  // --- step_ledger.cpp
  double stress_times_strain() const;
  void take_given_motions(double t);
  void take_fields(double t);
  void account(const Scheme& k, double t);
  void take_air(double h);
};

}  // namespace limber::thread
