// Shapes given by points: convex hulls, meshes (written out or from an OBJ file), height fields.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "limber/scene/fields.h"

namespace limber::scene {
namespace {

constexpr std::size_t most_hull_points = 256, most_triangles = 20000, most_heights = 250;

Fields part(const Fields& fields, const char* key, ObjectType type) {
  return {fields.reader, fields.node(key), type, fields.path(key), fields.mark(key)};
}

// A list of lists of `count` numbers; nullopt: an error was reported.
std::optional<std::vector<std::vector<double>>> read_rows(const Fields& fields, const char* key,
                                                          const Dimension& d, int count) {
  const Node& list = fields.node(key);
  const Path path = fields.path(key);
  if (!list.is_sequence()) {
    fields.error(key, fmt::format("expected a list of lists of {} numbers, got {}", count, describe(list)));
    return std::nullopt;
  }
  std::vector<std::vector<double>> rows;
  bool good = true;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    auto row = fields.reader.quantities(*list.items[i], {&path, {}, static_cast<int>(i)}, d, count);
    good = good && row.has_value();
    if (row) rows.push_back(std::move(*row));
  }
  if (!good) return std::nullopt;
  return rows;
}

std::optional<std::vector<Vec3>> read_points(const Fields& fields, const char* key) {
  const auto rows = read_rows(fields, key, dimension::length, 3);
  if (!rows) return std::nullopt;
  std::vector<Vec3> points;
  for (const auto& r : *rows) points.emplace_back(r[0], r[1], r[2]);
  return points;
}

std::optional<ShapeGeometry> read_hull(const Fields& fields) {
  if (!fields.has("points")) return std::nullopt;
  const auto points = read_points(fields, "points");
  if (!points) return std::nullopt;
  if (points->size() > most_hull_points) {
    fields.error("points",
                 fmt::format("expected at most {} points, got {}", most_hull_points, points->size()));
    return std::nullopt;
  }
  try {
    return HullShape{std::make_shared<const math::ConvexHull>(math::convex_hull(*points))};
  } catch (const std::invalid_argument& e) {
    fields.error("points", e.what());
    return std::nullopt;
  }
}

// ---- Wavefront OBJ: lines `v x y z` and `f a b c …`, corners as a, a/t, a//n or a/t/n, from 1, or from the
// end if negative. Faces with more corners are fans.
struct ObjReader {
  TriangleMesh mesh;
  int line = 0, column = 0;
  std::string problem;

  bool read(std::string_view text, double scale);
  bool vertex(std::string_view rest, double scale);
  bool face(std::string_view rest);
  std::string_view word(std::string_view& rest);
  bool fail(std::string_view at, std::string what);
  const char* start = nullptr;  // of the line
};

bool ObjReader::fail(std::string_view at, std::string what) {
  column = static_cast<int>(at.data() - start) + 1;
  problem = std::move(what);
  return false;
}

std::string_view ObjReader::word(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(" \t\r"), rest.size());
  rest.remove_prefix(begin);
  const std::string_view out = rest.substr(0, rest.find_first_of(" \t\r"));
  rest.remove_prefix(out.size());
  return out;
}

bool ObjReader::vertex(std::string_view rest, double scale) {
  Vec3 p;
  for (int i = 0; i < 3; ++i) {
    const std::string_view w = word(rest);
    double value = 0;
    const auto [end, failed] = std::from_chars(w.data(), w.data() + w.size(), value);
    if (failed != std::errc() || end != w.data() + w.size() || !std::isfinite(value))
      return fail(w, fmt::format("expected three numbers after v, got {}", quoted(w)));
    p[i] = scale * value;
  }
  mesh.vertices.push_back(p);
  return true;
}

bool ObjReader::face(std::string_view rest) {
  std::vector<int> loop;
  const std::string_view whole = rest;
  for (std::string_view w = word(rest); !w.empty(); w = word(rest)) {
    int index = 0;
    const std::string_view first = w.substr(0, w.find('/'));
    const auto [end, failed] = std::from_chars(first.data(), first.data() + first.size(), index);
    if (failed != std::errc() || end != first.data() + first.size())
      return fail(w, fmt::format("expected numbers of vertices after f, got {}", quoted(w)));
    const int count = static_cast<int>(mesh.vertices.size());
    const int v = index > 0 ? index - 1 : count + index;
    if (index == 0 || v < 0 || v >= count)
      return fail(w, fmt::format("there is no vertex {}: {} came before", index, count));
    loop.push_back(v);
  }
  if (loop.size() < 3) return fail(whole, "a face needs at least three vertices");
  for (std::size_t i = 1; i + 1 < loop.size(); ++i) mesh.triangles.push_back({loop[0], loop[i], loop[i + 1]});
  return true;
}

bool ObjReader::read(std::string_view text, double scale) {
  while (!text.empty()) {
    const std::size_t n = text.find('\n');
    std::string_view rest = text.substr(0, n);
    text.remove_prefix(n == std::string_view::npos ? text.size() : n + 1);
    start = rest.data();
    ++line;
    const std::string_view kind = word(rest);
    if (kind == "v" && !vertex(rest, scale)) return false;
    if (kind == "f" && !face(rest)) return false;
    if (mesh.triangles.size() > most_triangles)
      return fail(kind, fmt::format("a mesh has at most {} triangles", most_triangles));
  }
  start = text.data(), column = 1;
  if (!mesh.triangles.empty()) return true;
  problem = "the file has no faces";
  return false;
}

std::optional<TriangleMesh> read_obj(const Fields& fields) {
  const double scale = fields.quantity("scale", 1);
  if (!fields.node("file").is_scalar()) {
    fields.text("file");  // reports it
    return std::nullopt;
  }
  const auto text = fields.reader.file_text(fields.node("file"), fields.path("file"));
  if (!text) return std::nullopt;
  ObjReader obj;
  if (obj.read(*text, scale)) return std::move(obj.mesh);
  fields.error("file", fmt::format("{}:{}:{}: {}", fields.text("file"), obj.line, obj.column, obj.problem));
  return std::nullopt;
}

std::optional<TriangleMesh> read_triangles(const Fields& fields) {
  if (!fields.has("vertices") || !fields.has("triangles")) return std::nullopt;
  const auto vertices = read_points(fields, "vertices");
  const auto rows = read_rows(fields, "triangles", dimension::number, 3);
  if (!vertices || !rows) return std::nullopt;
  if (rows->size() > most_triangles || rows->empty()) {
    fields.error("triangles",
                 fmt::format("expected 1 to {} triangles, got {}", most_triangles, rows->size()));
    return std::nullopt;
  }
  TriangleMesh mesh{*vertices, {}};
  const Node& list = fields.node("triangles");
  const Path path = fields.path("triangles");
  for (std::size_t i = 0; i < rows->size(); ++i) {
    std::array<int, 3> t{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double v = (*rows)[i][k];
      if (!(v >= 0 && v < static_cast<double>(vertices->size())) || v != std::floor(v)) {
        fields.reader.error(
            *list.items[i], {&path, {}, static_cast<int>(i)},
            fmt::format("expected numbers of vertices, 0 to {}, got {:g}", vertices->size() - 1, v));
        return std::nullopt;
      }
      t[k] = static_cast<int>(v);
    }
    mesh.triangles.push_back(t);
  }
  return mesh;
}

std::optional<ShapeGeometry> read_mesh(const Fields& fields) {
  auto mesh = fields.has("file") ? read_obj(fields) : read_triangles(fields);
  if (!mesh) return std::nullopt;
  double area = 0;
  for (const auto& t : mesh->triangles) {
    const Vec3& a = mesh->vertices[t[0]];
    area += (mesh->vertices[t[1]] - a).cross(mesh->vertices[t[2]] - a).norm();
  }
  if (!(area > 0)) {
    fields.error(fields.has("file") ? "file" : "triangles", "no triangle has an area");
    return std::nullopt;
  }
  return MeshShape{std::make_shared<const TriangleMesh>(std::move(*mesh))};
}

// ---- height fields

bool read_heights(const Fields& fields, HeightFieldShape& out) {
  const Node& list = fields.node("rows");
  if (!list.is_sequence() || list.items.size() < 2 || !list.items[0]->is_sequence() ||
      list.items[0]->items.size() < 2) {
    fields.error("rows", "expected at least two rows of two heights");
    return false;
  }
  out.rows = static_cast<int>(list.items.size());
  out.columns = static_cast<int>(list.items[0]->items.size());
  const auto rows = read_rows(fields, "rows", dimension::length, out.columns);
  if (!rows) return false;
  for (const auto& row : *rows) out.heights.insert(out.heights.end(), row.begin(), row.end());
  return true;
}

// The expression at every point of the grid, x and y being plain numbers [m].
bool evaluate_heights(const Fields& fields, HeightFieldShape& out) {
  const auto cells = fields.has("cells") ? fields.numbers("cells") : std::vector<double>{32, 32};
  if (!cells) return false;
  if ((*cells)[0] != std::floor((*cells)[0]) || (*cells)[1] != std::floor((*cells)[1]) ||
      !(std::max((*cells)[0], (*cells)[1]) < most_heights)) {
    fields.error("cells", fmt::format("expected two whole numbers below {}", most_heights));
    return false;
  }
  out.columns = static_cast<int>((*cells)[0]) + 1, out.rows = static_cast<int>((*cells)[1]) + 1;
  const Node& node = fields.node("height");
  if (!node.is_scalar()) {
    fields.error("height", fmt::format("expected an expression of x and y, got {}", describe(node)));
    return false;
  }
  std::string_view text = node.text;
  std::size_t offset = 0;
  if (!text.empty() && text[0] == '=') text.remove_prefix(1), offset = 1;
  Scope scope{{{"x", 0.0}, {"y", 0.0}}};
  if (node.mark.scope)
    scope.indices.insert(scope.indices.begin(), node.mark.scope->indices.begin(),
                         node.mark.scope->indices.end());
  for (int j = 0; j < out.rows; ++j)
    for (int i = 0; i < out.columns; ++i) {
      const std::size_t n = scope.indices.size();
      scope.indices[n - 2].second = (static_cast<double>(i) / (out.columns - 1) - 0.5) * out.size_x;
      scope.indices[n - 1].second = (static_cast<double>(j) / (out.rows - 1) - 0.5) * out.size_y;
      const auto value = fields.reader.value_within(node, fields.path("height"), text, offset, &scope);
      if (!value) return false;
      if (!value->loose && !(value->dimension == dimension::length) &&
          !(value->dimension == dimension::number)) {
        fields.error("height", "expected a length");
        return false;
      }
      out.heights.push_back(value->value);
    }
  return true;
}

std::optional<ShapeGeometry> read_height_field(const Fields& fields) {
  HeightFieldShape out;
  if (!fields.has("size") || !(fields.has("rows") || fields.has("height"))) return std::nullopt;
  const auto size = fields.numbers("size");
  if (!size) return std::nullopt;
  out.size_x = (*size)[0], out.size_y = (*size)[1];
  if (!(fields.has("rows") ? read_heights(fields, out) : evaluate_heights(fields, out))) return std::nullopt;
  if (std::max(out.rows, out.columns) > static_cast<int>(most_heights)) {
    fields.error("rows", fmt::format("expected at most {} by {} heights", most_heights, most_heights));
    return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<ShapeGeometry> read_surface(const Fields& fields) {
  if (fields.has("hull")) return read_hull(part(fields, "hull", ObjectType::hull));
  if (fields.has("mesh")) return read_mesh(part(fields, "mesh", ObjectType::mesh));
  if (fields.has("height_field"))
    return read_height_field(part(fields, "height_field", ObjectType::height_field));
  return std::nullopt;
}

}  // namespace limber::scene
