// Small models, folders that go away, and the bytes of a run without its wall clock.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "limber/result/recording.h"
#include "limber/sim/run.h"

namespace limber::sim::testing {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "limber_sim_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  fs::path operator/(const char* name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A chain of hinged links, bent at the start, that falls and swings. `torque` drives the last joint.
inline Model chain(int links, double torque = 0) {
  ModelBuilder b("chain");
  BodyId parent = world;
  JointId last;
  for (int i = 0; i < links; ++i) {
    Body body;
    body.name = "link" + std::to_string(i);
    body.inertia = Inertia::about_com(0.5, {0.1, 0, 0}, Vec3(1e-3, 2e-3, 2e-3).asDiagonal());
    body.points = {{"tip", {0.2, 0, 0}}};
    const BodyId child = b.add(std::move(body));
    Joint joint;
    joint.name = "joint" + std::to_string(i);
    joint.kind = JointKind::revolute;
    joint.parent = parent;
    joint.child = child;
    if (parent.valid()) joint.X_PF = Pose::translation({0.2, 0, 0});
    joint.law.stiffness = dofs(0.5);
    joint.law.damping = dofs(0.01);
    joint.position[0] = 0.2;
    last = b.add(std::move(joint));
    parent = child;
  }
  b.parts.gravity = VectorFunction::constant({0, -9.81, 0});
  Probe tip;
  tip.name = "tip";
  tip.at.body = parent;
  tip.at.p = {0.2, 0, 0};
  b.add(tip);
  Probe energy;
  energy.name = "energy.total";
  energy.quantity = Quantity::total_energy;
  b.add(energy);
  if (torque != 0) {
    Drive drive;
    drive.joint = last;
    drive.target[0] = TimeFunction(torque);
    b.add(std::move(drive));
  }
  return std::move(b).build();
}

inline RunRequest request_for(const fs::path& folder, double time = 1) {
  RunRequest r;
  r.folder = folder;
  r.scene_file = "chain.yaml";
  r.sources = {{"chain.yaml", "limber: 1\n"}, {"tables/force.csv", "0, 1\n"}};
  r.set = {{"links", "3"}, {"k", "2 N/m"}};
  r.options.time = time;
  r.options.step = 0.01;
  r.options.frame = 0.03;
  r.files = {"probes.csv"};
  return r;
}

// Every file of a folder; run.json without its wall clock, the lock and the checkpoint left out.
inline std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name == "lock" || name == "checkpoint") continue;
    std::string bytes = result::read_file(entry.path());
    if (name == "run.json") {
      auto json = nlohmann::ordered_json::parse(bytes);
      json.erase("wall_clock");
      bytes = json.dump(1);
    }
    files[name] = std::move(bytes);
  }
  return files;
}

inline nlohmann::json run_json_of(const fs::path& folder) {
  return nlohmann::json::parse(result::read_file(folder / "run.json"));
}

// Stands for kill -9: leaves the loop without any farewell.
struct Killed {};
inline void kill_after(RunRequest& request, std::int64_t step) {
  request.progress = [step](const Progress& p) {
    if (p.step >= step) throw Killed{};
  };
}

}  // namespace limber::sim::testing
