// A scene as it was read: immutable, shared by what is computed of it, by any number of threads.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "limber/scene/scene.h"

namespace limber::python {

struct CompiledScene {
  scene::Scene scene;
};
using ScenePtr = std::shared_ptr<CompiledScene>;  // nobody changes it

void bind_tree(nanobind::module_& m);
void bind_scene(nanobind::module_& m);
void bind_statics(nanobind::module_& m);
void bind_runs(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);
void bind_compare(nanobind::module_& m);
void bind_gradient(nanobind::module_& m);

}  // namespace limber::python
