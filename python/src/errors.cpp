#include "errors.h"

#include <nanobind/stl/string.h>

#include "limber/math/stop.h"
#include "limber/result/recording.h"
#include "limber/sim/driver.h"
#include "work.h"

namespace limber::python {

namespace nb = nanobind;

namespace {

void set(const char* name, const nb::object& argument) {
  const nb::object error = nb::module_::import_("limber._errors").attr(name)(argument);
  PyErr_SetObject(error.type().ptr(), error.ptr());
}

nb::list faults_of(const std::vector<scene::Diagnostic>& diagnostics) {
  nb::list out;
  for (const scene::Diagnostic& d : diagnostics)
    out.append(nb::make_tuple(d.file, d.line, d.column, d.path, d.message));
  return out;
}

// Without a scene's text there are no places.
nb::list faults_of(const ModelError& e) {
  nb::list out;
  for (const Problem& p : e.problems())
    out.append(nb::make_tuple("", 0, 0, p.name + (p.field.empty() ? "" : "." + p.field), to_string(p)));
  return out;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted&) {
    raise_interrupt();
  } catch (const Stopped&) {
    raise_interrupt();
  } catch (const scene::SceneError& e) {
    set("scene_error", faults_of(e.diagnostics()));
  } catch (const ModelError& e) {
    set("scene_error", faults_of(e));
  } catch (const sim::StaticFailure& e) {
    set("NotConverged", nb::str(e.what()));
  } catch (const result::IoError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace limber::python
