#include "limber/result/layout_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

namespace limber::result {
namespace {

using json = nlohmann::ordered_json;

// ---- to JSON

double finite(double x, const std::string& name) {
  if (!std::isfinite(x)) throw std::invalid_argument("layout: a number of \"" + name + "\" is not finite");
  return x;
}

json numbers(const Vec3& v, const std::string& name) {
  return json::array({finite(v.x(), name), finite(v.y(), name), finite(v.z(), name)});
}

void put_color(json& out, const std::optional<Color>& color, const std::string& name) {
  if (!color) return;
  out["color"] = json::array();
  for (const float c : *color) out["color"].push_back(finite(c, name));
}

json mesh_to_json(const TriangleMesh& mesh, const std::string& name) {
  json out = {{"vertices", json::array()}, {"triangles", json::array()}};
  for (const Vec3& v : mesh.vertices)
    for (int i = 0; i < 3; ++i) out["vertices"].push_back(finite(v[i], name));
  for (const auto& t : mesh.triangles)
    for (const int v : t) out["triangles"].push_back(v);
  return out;
}

json field_to_json(const HeightFieldShape& field, const std::string& name) {
  json out = {{"size", {finite(field.size_x, name), finite(field.size_y, name)}},
              {"columns", field.columns},
              {"heights", json::array()}};
  for (const double h : field.heights) out["heights"].push_back(finite(h, name));
  return out;
}

json shape_to_json(const Shape& shape, const std::string& name) {
  json out = json::object();
  std::visit(
      [&](const auto& g) {
        using G = std::decay_t<decltype(g)>;
        if constexpr (std::is_same_v<G, BoxShape>)
          out["box"] = numbers(g.size, name);
        else if constexpr (std::is_same_v<G, SphereShape>)
          out["sphere"] = finite(g.radius, name);
        else if constexpr (std::is_same_v<G, HullShape>)
          out["hull"] = mesh_to_json(triangles_of(*g.hull), name);
        else if constexpr (std::is_same_v<G, MeshShape>)
          out["mesh"] = mesh_to_json(*g.mesh, name);
        else if constexpr (std::is_same_v<G, HeightFieldShape>)
          out["height_field"] = field_to_json(g, name);
        else
          out[std::is_same_v<G, CylinderShape> ? "cylinder" : "capsule"] =
              json::array({finite(g.radius, name), finite(g.length, name)});
      },
      shape.geometry);
  if (shape.X_BG.p != Vec3::Zero()) out["p"] = numbers(shape.X_BG.p, name);
  if (shape.X_BG.R != Mat3::Identity()) {
    out["R"] = json::array();
    for (int row = 0; row < 3; ++row)
      for (int col = 0; col < 3; ++col) out["R"].push_back(finite(shape.X_BG.R(row, col), name));
  }
  return out;
}

json frame_to_json(const FrameInfo& frame) {
  json out = {{"name", frame.name}};
  if (frame.fixed) out["fixed"] = true;
  put_color(out, frame.color, frame.name);
  out["shapes"] = json::array();
  for (const Shape& shape : frame.shapes) out["shapes"].push_back(shape_to_json(shape, frame.name));
  return out;
}

json polyline_to_json(const PolylineInfo& line) {
  if (line.points < 0)
    throw std::invalid_argument("layout: polyline \"" + line.name + "\" has a negative size");
  json out = {{"name", line.name}, {"points", line.points}, {"radius", finite(line.radius, line.name)}};
  put_color(out, line.color, line.name);
  for (const Vec2& corner : line.outline)
    out["outline"].push_back({finite(corner[0], line.name), finite(corner[1], line.name)});
  return out;
}

// ---- from JSON; the library's own exceptions name the missing key or the wrong type

double number(const json& in) {
  if (!in.is_number()) throw std::invalid_argument("expected a number");
  return in.get<double>();
}

template <std::size_t n>
std::array<double, n> numbers_from(const json& in) {
  if (!in.is_array() || in.size() != n)
    throw std::invalid_argument("expected " + std::to_string(n) + " numbers");
  std::array<double, n> out;
  for (std::size_t i = 0; i < n; ++i) out[i] = number(in[i]);
  return out;
}

Vec3 vector_from(const json& in) {
  const auto v = numbers_from<3>(in);
  return {v[0], v[1], v[2]};
}

std::optional<Color> color_from(const json& in) {
  if (!in.contains("color")) return std::nullopt;
  const auto c = numbers_from<3>(in.at("color"));
  return Color{static_cast<float>(c[0]), static_cast<float>(c[1]), static_cast<float>(c[2])};
}

TriangleMesh mesh_from(const json& in) {
  TriangleMesh mesh;
  const json &v = in.at("vertices"), &t = in.at("triangles");
  if (!v.is_array() || v.size() % 3 != 0 || !t.is_array() || t.size() % 3 != 0 || t.empty())
    throw std::invalid_argument("expected a mesh");
  for (std::size_t i = 0; i < v.size(); i += 3)
    mesh.vertices.emplace_back(number(v[i]), number(v[i + 1]), number(v[i + 2]));
  for (std::size_t i = 0; i < t.size(); i += 3) {
    std::array<int, 3> corners;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!t[i + k].is_number_unsigned() || t[i + k].get<std::uint64_t>() >= mesh.vertices.size())
        throw std::invalid_argument("expected the number of a vertex");
      corners[k] = t[i + k].get<int>();
    }
    mesh.triangles.push_back(corners);
  }
  return mesh;
}

HeightFieldShape field_from(const json& in) {
  HeightFieldShape field;
  const auto size = numbers_from<2>(in.at("size"));
  field.size_x = size[0], field.size_y = size[1];
  for (const json& h : in.at("heights")) field.heights.push_back(number(h));
  if (!in.at("columns").is_number_unsigned()) throw std::invalid_argument("expected a number of columns");
  const auto columns = in.at("columns").get<std::uint64_t>();
  if (columns < 2 || field.heights.size() % columns != 0 || field.heights.size() < 2 * columns)
    throw std::invalid_argument("expected rows of heights");
  field.columns = static_cast<int>(columns);
  field.rows = static_cast<int>(field.heights.size() / columns);
  return field;
}

ShapeGeometry geometry_from(const json& in) {
  if (in.contains("hull"))
    return HullShape{
        std::make_shared<const math::ConvexHull>(math::convex_hull(mesh_from(in.at("hull")).vertices))};
  if (in.contains("mesh")) return MeshShape{std::make_shared<const TriangleMesh>(mesh_from(in.at("mesh")))};
  if (in.contains("height_field")) return field_from(in.at("height_field"));
  if (in.contains("box")) return BoxShape{vector_from(in.at("box"))};
  if (in.contains("sphere")) return SphereShape{number(in.at("sphere"))};
  const bool capsule = in.contains("capsule");
  const auto [radius, length] = numbers_from<2>(in.at(capsule ? "capsule" : "cylinder"));
  if (capsule) return CapsuleShape{radius, length};
  return CylinderShape{radius, length};
}

Shape shape_from(const json& in) {
  Shape shape{geometry_from(in), Pose::identity()};
  if (in.contains("p")) shape.X_BG.p = vector_from(in.at("p"));
  if (in.contains("R")) {
    const auto R = numbers_from<9>(in.at("R"));
    for (int i = 0; i < 9; ++i) shape.X_BG.R(i / 3, i % 3) = R[static_cast<std::size_t>(i)];
  }
  return shape;
}

FrameInfo frame_from(const json& in) {
  FrameInfo frame;
  frame.name = in.at("name").get<std::string>();
  frame.fixed = in.contains("fixed") && in.at("fixed").get<bool>();
  frame.color = color_from(in);
  for (const json& shape : in.at("shapes")) frame.shapes.push_back(shape_from(shape));
  return frame;
}

PolylineInfo polyline_from(const json& in) {
  PolylineInfo line;
  line.name = in.at("name").get<std::string>();
  if (!in.at("points").is_number_unsigned()) throw std::invalid_argument("expected a number of points");
  const auto points = in.at("points").get<std::uint64_t>();
  if (points > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw std::invalid_argument("too many points");
  line.points = static_cast<int>(points);
  line.radius = number(in.at("radius"));
  line.color = color_from(in);
  if (in.contains("outline"))
    for (const json& corner : in.at("outline")) {
      const auto c = numbers_from<2>(corner);
      line.outline.emplace_back(c[0], c[1]);
    }
  return line;
}

// A section is swept with the help of the two lines that follow.
void check_outlines(const Layout& layout) {
  const auto& lines = layout.polylines;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (lines[k].outline.empty()) continue;
    if (lines[k].outline.size() < 3)
      throw std::invalid_argument("expected an outline of three corners or more");
    for (std::size_t i = 1; i <= 2; ++i)
      if (k + i >= lines.size() || lines[k + i].points != lines[k].points)
        throw std::invalid_argument("expected two lines as long after one with an outline");
  }
}

}  // namespace

std::string layout_to_json(const Layout& layout) {
  json out = {{"title", layout.title},
              {"frames", json::array()},
              {"polylines", json::array()},
              {"scalars", json::array()}};
  for (const FrameInfo& frame : layout.frames) out["frames"].push_back(frame_to_json(frame));
  for (const PolylineInfo& line : layout.polylines) out["polylines"].push_back(polyline_to_json(line));
  for (const ScalarInfo& scalar : layout.scalars)
    out["scalars"].push_back({{"name", scalar.name}, {"unit", scalar.unit}});
  if (!layout.frame_value.empty()) out["frame_value"] = layout.frame_value;
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Layout layout_from_json(std::string_view text) {
  try {
    const json in = json::parse(text);
    Layout layout;
    layout.title = in.at("title").get<std::string>();
    for (const json& frame : in.at("frames")) layout.frames.push_back(frame_from(frame));
    for (const json& line : in.at("polylines")) layout.polylines.push_back(polyline_from(line));
    for (const json& scalar : in.at("scalars"))
      layout.scalars.push_back({scalar.at("name").get<std::string>(), scalar.at("unit").get<std::string>()});
    layout.frame_value = in.value("frame_value", "");
    check_outlines(layout);
    return layout;
  } catch (const json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace limber::result
