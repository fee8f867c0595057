// The columns of probes: names, units and order from the table, numbers from what a source tells.
#include "limber/observe/columns.h"

#include <gtest/gtest.h>

#include <set>

#include "limber/math/so3.h"

namespace limber::observe {
namespace {

// Tells a different number for everything.
struct Teller : Source {
  Vec3 position(const Attachment& at) const override { return Vec3(1, 2, 3) + at.p; }
  Mat3 axes(const Attachment&) const override { return math::so3_exp(Vec3(0.1, 0.2, 0.3)); }
  Vec3 velocity(const Attachment&) const override { return {2, 3, 6}; }
  Vec3 angular_velocity(const Attachment&) const override { return {7, 8, 9}; }
  Vec3 acceleration(const Attachment&) const override { return {71, 72, 73}; }
  Vec3 angular_acceleration(const Attachment&) const override { return {74, 75, 76}; }
  MomentumReading momentum(BodyId) const override { return {Vec3(81, 82, 83), Vec3(84, 85, 86)}; }
  TouchReading touch(const Probe&) const override { return {Vec3(131, 132, 133), 134, 137, 138, 139}; }
  MomentumReading total_momentum() const override { return {Vec3(91, 92, 93), Vec3(94, 95, 96)}; }
  // A quarter turn about z: x of the frame is y of the world.
  ReactionReading reaction(JointId) const override {
    Mat3 R;
    R << 0, -1, 0, 1, 0, 0, 0, 0, 1;
    return {Vec3(101, 102, 103), Vec3(104, 105, 106), R};
  }
  ReactionReading closing_reaction(LoopId) const override {
    return {Vec3(111, 112, 113), Vec3(114, 115, 116), Mat3::Identity()};
  }
  MotionReading given_motion(JointId) const override {
    return {(Vec6() << 121, 122, 123, 124, 125, 126).finished(), 127};
  }
  DriveReading drive(JointId) const override { return {128, 129}; }
  double load_work(LoadId) const override { return 130; }
  SectionReading section(const Probe&) const override {
    return {11, 12, 13, 14, 15, Vec3(16, 17, 18), Vec3(19, 20, 21)};
  }
  JointReading joint(JointId) const override {
    JointReading out;
    for (int k = 0; k < 6; ++k) out.position[k] = 20 + k, out.velocity[k] = 30 + k, out.force[k] = 40 + k;
    return out;
  }
  JointReading closing_joint(LoopId) const override { return {{50}, Vec6::Constant(51), Vec6::Constant(52)}; }
  SpringReading spring(SpringId) const override { return {61, 62}; }
  Vec3 rider(RiderId) const override { return {63, 64, 65}; }
  CouplingReading coupling(CouplingId) const override { return {135, 136}; }
  CableReading cable(CableId, int) const override { return {141, 142, 0, 143, 144, 145}; }
  result::Energy energy() const override { return {100, 200, 400}; }
  Ledger ledger() const override { return {5, 9, 680}; }
  ContactReading contact() const override { return {3, 0.5}; }
};

Model model_with(std::vector<Probe> probes) {
  ModelBuilder b("all");
  Body body;
  body.name = "a";
  body.inertia = Inertia::about_com(1, Vec3::Zero(), Mat3::Identity());
  Joint joint;
  joint.name = "j", joint.kind = JointKind::planar, joint.child = b.add(body);
  b.add(joint);
  Loop loop;
  loop.name = "l", loop.kind = JointKind::revolute, loop.b = BodyId{0};
  b.add(loop);
  b.parts.probes = std::move(probes);
  return std::move(b).build();
}

Probe probe_of(Quantity quantity, const std::string& name = "p") {
  Probe p;
  p.name = name, p.quantity = quantity;
  p.at.body = BodyId{0};
  if (subject_of(quantity) == Subject::joint || subject_of(quantity) == Subject::support)
    p.joint = JointId{0};
  return p;
}

std::vector<double> told(const Model& model, const Probe& p) {
  result::Layout layout;
  add_columns(model, {p}, layout);
  result::Snapshot now;
  now.resize(layout);
  EXPECT_EQ(put_columns(model, {p}, Teller(), now), layout.scalars.size());
  return now.scalars;
}

TEST(Columns, NumbersOfEveryQuantity) {
  using Q = Quantity;
  const std::pair<Q, std::vector<double>> expected[] = {{Q::position, {1, 2, 3}},
                                                        {Q::velocity, {2, 3, 6}},
                                                        {Q::speed, {7}},  // √(4 + 9 + 36)
                                                        {Q::rotation, {0.1, 0.2, 0.3}},
                                                        {Q::angular_velocity, {7, 8, 9}},
                                                        {Q::joint_position, {20, 21, 22}},
                                                        {Q::joint_velocity, {30, 31, 32}},
                                                        {Q::joint_force, {40, 41, 42}},
                                                        {Q::spring_length, {61}},
                                                        {Q::spring_tension, {62}},
                                                        {Q::kinetic_energy, {100}},
                                                        {Q::gravity_energy, {200}},
                                                        {Q::elastic_energy, {400}},
                                                        {Q::total_energy, {700}},
                                                        {Q::rider_position, {63, 64, 65}},
                                                        {Q::dissipated_energy, {5}},
                                                        {Q::work_energy, {9}},
                                                        {Q::remainder_energy, {700 - 680 + 5 - 9}},
                                                        {Q::tension, {11}},
                                                        {Q::curvature, {12}},
                                                        {Q::twist, {13}},
                                                        {Q::bending_moment, {14}},
                                                        {Q::torque, {15}},
                                                        {Q::contact_count, {3}},
                                                        {Q::overlap, {0.5}},
                                                        {Q::acceleration, {71, 72, 73}},
                                                        {Q::angular_acceleration, {74, 75, 76}},
                                                        {Q::momentum, {81, 82, 83}},
                                                        {Q::angular_momentum, {84, 85, 86}},
                                                        {Q::total_momentum, {91, 92, 93}},
                                                        {Q::total_angular_momentum, {94, 95, 96}},
                                                        {Q::reaction_force, {101, 102, 103}},
                                                        {Q::reaction_torque, {104, 105, 106}},
                                                        {Q::reaction_force_local, {102, -101, 103}},
                                                        {Q::reaction_torque_local, {105, -104, 106}},
                                                        {Q::motion_force, {121, 122, 123}},
                                                        {Q::motion_work, {127}},
                                                        {Q::drive_power, {128}},
                                                        {Q::drive_work, {129}},
                                                        {Q::load_work, {130}},
                                                        {Q::coupling_force, {135}},
                                                        {Q::coupling_gap, {136}},
                                                        {Q::cable_length, {141}},
                                                        {Q::cable_tension, {142}},
                                                        {Q::cable_wrap, {143}},
                                                        {Q::cable_slip, {144}},
                                                        {Q::winch_power, {145}},
                                                        {Q::section_force, {16, 17, 18}},
                                                        {Q::section_moment, {19, 20, 21}},
                                                        {Q::contact_force, {131, 132, 133}},
                                                        {Q::contact_slip, {134}},
                                                        {Q::contact_normal, {137}},
                                                        {Q::contact_places, {138}},
                                                        {Q::contact_depth, {139}}};
  const Model model = model_with({});
  std::set<Q> seen;
  for (const auto& [quantity, numbers] : expected) {
    seen.insert(quantity);
    const std::vector<double> out = told(model, probe_of(quantity));
    ASSERT_EQ(out.size(), numbers.size()) << info_of(quantity).name;
    for (std::size_t k = 0; k < out.size(); ++k)
      EXPECT_NEAR(out[k], numbers[k], 1e-15) << info_of(quantity).name;  // rounding of exp and log
  }
  EXPECT_EQ(seen.size(), std::size(quantity_table)) << "a quantity is not tested";
}

TEST(Columns, TheWorldStandsStill) {
  const Model model = model_with({});
  for (const Quantity q : {Quantity::velocity, Quantity::rotation, Quantity::angular_velocity,
                           Quantity::acceleration, Quantity::angular_acceleration}) {
    Probe p = probe_of(q);
    p.at = {};
    EXPECT_EQ(told(model, p), std::vector<double>(3, 0.0));
  }
  Probe p = probe_of(Quantity::position);
  p.at = {}, p.at.p = Vec3(4, 5, 6);
  EXPECT_EQ(told(model, p), (std::vector<double>{4, 5, 6}));
}

TEST(Columns, NamesAndUnits) {
  const Model model = model_with({});
  Probe closing = probe_of(Quantity::joint_force, "c");
  closing.joint = {}, closing.loop = LoopId{0};
  result::Layout layout;
  add_columns(model,
              {probe_of(Quantity::velocity, "v"), probe_of(Quantity::joint_position, "q"), closing,
               probe_of(Quantity::speed, "s")},
              layout);
  const std::pair<const char*, const char*> expected[] = {{"v.x", "m/s"}, {"v.y", "m/s"}, {"v.z", "m/s"},
                                                          {"q.0", "m"},   {"q.1", "m"},   {"q.2", "rad"},
                                                          {"c", "N m"},   {"s", "m/s"}};
  ASSERT_EQ(layout.scalars.size(), std::size(expected));
  for (std::size_t k = 0; k < layout.scalars.size(); ++k) {
    EXPECT_EQ(layout.scalars[k].name, expected[k].first);
    EXPECT_EQ(layout.scalars[k].unit, expected[k].second);
  }
}

// What a question does not look at has no column; what a run always writes down is not there twice.
TEST(Columns, FollowTheTableOfFeatures) {
  const Model model =
      model_with({probe_of(Quantity::velocity, "v"), probe_of(Quantity::total_energy, "energy.total"),
                  probe_of(Quantity::total_energy, "mine")});
  const auto names = [&](Question question) {
    std::vector<std::string> out;
    for (const Probe& p : columns_for(model, question)) out.push_back(p.name);
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(Question::chain_static), (Names{"energy.total", "mine"}));
  EXPECT_EQ(names(Question::adaptive_run),
            (Names{"v", "mine", "energy.gravity", "energy.elastic", "energy.total"}));
  EXPECT_EQ(names(Question::thread_run),
            (Names{"v", "mine", "energy.kinetic", "energy.gravity", "energy.elastic", "energy.total",
                   "energy.dissipated", "energy.work", "energy.remainder"}));
}

// A method that has no answer is not asked: that would be our own mistake.
TEST(Columns, WhatAMethodDoesNotKnowIsAMistake) {
  struct Mute : Source {
    Vec3 position(const Attachment&) const override { return Vec3::Zero(); }
    Mat3 axes(const Attachment&) const override { return Mat3::Identity(); }
    SpringReading spring(SpringId) const override { return {}; }
    result::Energy energy() const override { return {}; }
  };
  const Model model = model_with({});
  const std::vector<Probe> probes{probe_of(Quantity::torque)};
  result::Layout layout;
  add_columns(model, probes, layout);
  result::Snapshot now;
  now.resize(layout);
  EXPECT_THROW(put_columns(model, probes, Mute(), now), std::logic_error);
}

TEST(Quantities, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const QuantityInfo& row : quantity_table) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(std::string(row.doc), "") << row.name;
    if (row.components == Components::coordinates) {
      EXPECT_EQ(subject_of(row.told), Subject::joint) << row.name;
    }
    if (subject_of(row.told) == Subject::whole) {
      EXPECT_NE(std::string(row.words).find('.'), std::string::npos) << row.name;
    }
  }
  EXPECT_TRUE(has_word(info_of(Quantity::joint_position), "angle"));
  EXPECT_TRUE(has_word(info_of(Quantity::joint_position), "position"));
  EXPECT_FALSE(has_word(info_of(Quantity::joint_position), "posi"));
  EXPECT_EQ(word_at_end(info_of(Quantity::reaction_force), "arm.hinge.reaction.force"), "reaction.force");
  EXPECT_EQ(word_at_end(info_of(Quantity::joint_force), "arm.hinge.reaction.force"), "force");
  EXPECT_EQ(word_at_end(info_of(Quantity::reaction_force), "reaction.force"), "");
}

}  // namespace
}  // namespace limber::observe
