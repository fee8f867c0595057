// The shapes of a model's bodies as geometry to collide with.
#pragma once

#include "limber/contact/solid.h"
#include "limber/model/body.h"

namespace limber::contact {

Geometry geometry_of(const ShapeGeometry& shape);

}  // namespace limber::contact
