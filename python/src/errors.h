// What the library throws, as Python's exceptions (limber/_errors.py says which).
#pragma once

#include <nanobind/nanobind.h>

#include "limber/model/model.h"
#include "limber/result/report.h"
#include "limber/scene/scene.h"

namespace limber::python {

void bind_errors(nanobind::module_& m);

// An exception of limber/_errors.py, by its name; throws it.
template <class... Args>
[[noreturn]] void raise(const char* name, Args&&... args) {
  namespace nb = nanobind;
  const nb::object error = nb::module_::import_("limber._errors").attr(name)(std::forward<Args>(args)...);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

// What a method says against a scene gets its places.
template <class F>
auto with_places(const scene::Scene& scene, F&& f) {
  try {
    return f();
  } catch (const ModelError& e) {
    throw scene::SceneError(scene::locate(scene, e));
  }
}

}  // namespace limber::python
