#include "limber/export/glb_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

#include "limber/export/glb_motion.h"
#include "limber/result/files.h"

namespace limber::exporting {
namespace {

static_assert(std::endian::native == std::endian::little, "glTF buffers are little endian");

constexpr int component_u8 = 5121, component_u16 = 5123, component_f32 = 5126;
constexpr int target_vertices = 34962, target_indices = 34963;
constexpr std::uint32_t magic_glb = 0x46546C67, chunk_json = 0x4E4F534A, chunk_bin = 0x004E4942;
// In the order of the file. One that is empty is left out, and those behind it move up.
enum View {
  view_vertices,
  view_indices,
  view_joints,
  view_weights,
  view_binds,
  view_animation,
  views_in_all
};

double address(const void* p) { return static_cast<double>(reinterpret_cast<std::uintptr_t>(p)); }

std::array<double, 5> key_of(const ShapeGeometry& geometry, int sides) {
  const auto kind = static_cast<double>(geometry.index());
  return std::visit(
      [&](const auto& g) -> std::array<double, 5> {
        using G = std::decay_t<decltype(g)>;
        if constexpr (std::is_same_v<G, BoxShape>)
          return {kind, g.size.x(), g.size.y(), g.size.z(), 0};
        else if constexpr (std::is_same_v<G, SphereShape>)
          return {kind, g.radius, 0, 0, static_cast<double>(sides)};
        else if constexpr (std::is_same_v<G, HullShape>)
          return {kind, address(g.hull.get()), 0, 0, 0};  // only compared: the same object is the same shape
        else if constexpr (std::is_same_v<G, MeshShape>)
          return {kind, address(g.mesh.get()), 0, 0, 0};
        else if constexpr (std::is_same_v<G, HeightFieldShape>)
          return {kind, address(g.heights.data()), 0, 0, 0};
        else
          return {kind, g.radius, g.length, 0, static_cast<double>(sides)};
      },
      geometry);
}

std::string joined(const std::vector<std::string>& elements) {
  return fmt::format("{}", fmt::join(elements, ","));
}

// ,"name":[…] — glTF allows no empty lists.
std::string member(const char* name, const std::vector<std::string>& elements) {
  return elements.empty() ? "" : fmt::format(",\"{}\":[{}]", name, joined(elements));
}

// ,"min":[…],"max":[…] of tuples of `components` values that stand one after the other
std::string range(const float* values, std::size_t count, std::size_t components) {
  std::vector<float> low(values, values + components), high = low;
  for (std::size_t i = 0; i < count; ++i) {
    low[i % components] = std::min(low[i % components], values[i]);
    high[i % components] = std::max(high[i % components], values[i]);
  }
  return fmt::format(",\"min\":{},\"max\":{}", json_list(low.data(), components),
                     json_list(high.data(), components));
}

std::pair<int, std::string> accessor(View view, std::size_t offset, int component, std::size_t count,
                                     const char* type, const std::string& range) {
  return {view, fmt::format("\"byteOffset\":{},\"componentType\":{},\"count\":{},\"type\":\"{}\"{}}}", offset,
                            component, count, type, range)};
}

template <class T>
std::string_view bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void put_u32(result::AtomicFile& out, std::size_t value) {
  const auto word = static_cast<std::uint32_t>(value);
  out.write(&word, sizeof word);
}

}  // namespace

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_list(const float* values, std::size_t count) {
  // As doubles: every reader gets back the very float.
  const std::vector<double> exact(values, values + count);
  return fmt::format("[{}]", fmt::join(exact, ","));
}

GlbDocument::GlbDocument() {
  nodes_.emplace_back();  // the root, written last
}

std::size_t GlbDocument::add_node(std::string json) {
  nodes_.push_back(std::move(json));
  return nodes_.size() - 1;
}

std::size_t GlbDocument::vertex_accessor(const std::vector<Vec3>& values, bool with_range) {
  const std::size_t begin = vertices_.size();
  for (const Vec3& v : values)
    for (int i = 0; i < 3; ++i) vertices_.push_back(to_float(v[i]));
  const std::string limits = with_range ? range(&vertices_[begin], vertices_.size() - begin, 3) : "";
  accessors_.push_back(
      accessor(view_vertices, begin * sizeof(float), component_f32, values.size(), "VEC3", limits));
  return accessors_.size() - 1;
}

std::size_t GlbDocument::index_accessor(const Mesh& mesh) {
  const std::size_t begin = indices_.size();
  for (const auto& triangle : mesh.triangles)
    for (const std::uint32_t i : triangle) indices_.push_back(static_cast<std::uint16_t>(i));
  accessors_.push_back(accessor(view_indices, begin * sizeof(std::uint16_t), component_u16,
                                indices_.size() - begin, "SCALAR", ""));
  if (indices_.size() % 2 != 0) indices_.push_back(0);
  return accessors_.size() - 1;
}

std::size_t GlbDocument::animation_accessor(const std::vector<float>& values, int components,
                                            bool with_range) {
  const std::size_t begin = animation_.size();
  animation_.insert(animation_.end(), values.begin(), values.end());
  const char* type = components == 1   ? "SCALAR"
                     : components == 3 ? "VEC3"
                     : components == 4 ? "VEC4"
                                       : "MAT4";
  const auto width = static_cast<std::size_t>(components);
  accessors_.push_back(accessor(view_animation, begin * sizeof(float), component_f32, values.size() / width,
                                type, with_range ? range(values.data(), values.size(), width) : ""));
  return accessors_.size() - 1;
}

GlbDocument::MeshAccessors GlbDocument::geometry(const ShapeGeometry& geometry, int sides) {
  const auto key = key_of(geometry, sides);
  if (const auto found = geometries_.find(key); found != geometries_.end()) return found->second;
  const Mesh mesh = mesh_of(geometry, sides);
  const std::size_t position = vertex_accessor(mesh.positions, true);
  const std::size_t normal = vertex_accessor(mesh.normals, false);
  return geometries_.emplace(key, MeshAccessors{position, normal, index_accessor(mesh)}).first->second;
}

std::size_t GlbDocument::material(const Color& color) {
  Color c;
  for (std::size_t i = 0; i < 3; ++i)
    c[i] = std::isfinite(color[i]) ? std::clamp(color[i], 0.0f, 1.0f) : 0.5f;
  const auto [place, is_new] = material_indices_.emplace(c, materials_.size());
  if (is_new) {
    const float rgba[] = {c[0], c[1], c[2], 1};
    materials_.push_back(
        fmt::format("{{\"pbrMetallicRoughness\":{{\"baseColorFactor\":{},\"metallicFactor\":0,"
                    "\"roughnessFactor\":0.6}}}}",
                    json_list(rgba, 4)));
  }
  return place->second;
}

std::size_t GlbDocument::mesh(const ShapeGeometry& shape, int sides, const Color& color) {
  const MeshAccessors accessors = geometry(shape, sides);
  const std::size_t material_index = material(color);
  const auto [place, is_new] =
      mesh_indices_.emplace(std::pair{accessors.position, material_index}, meshes_.size());
  if (is_new)
    meshes_.push_back(
        fmt::format("{{\"primitives\":[{{\"attributes\":{{\"POSITION\":{},\"NORMAL\":{}}},\"indices\":{},"
                    "\"material\":{}}}]}}",
                    accessors.position, accessors.normal, accessors.indices, material_index));
  return place->second;
}

void GlbDocument::add_skinned(const std::string& name, const Mesh& mesh, const Color& color,
                              const std::vector<std::uint16_t>& joint_of,
                              const std::vector<std::size_t>& joints, const std::vector<float>& inverse) {
  const std::size_t position = vertex_accessor(mesh.positions, true),
                    normal = vertex_accessor(mesh.normals, false), indices = index_accessor(mesh);
  const std::size_t first = joints_.size();
  for (const std::uint16_t j : joint_of) {
    joints_.insert(joints_.end(), {j, 0, 0, 0});
    weights_.insert(weights_.end(), {255, 0, 0, 0});
  }
  accessors_.push_back(
      accessor(view_joints, first * sizeof(std::uint16_t), component_u16, joint_of.size(), "VEC4", ""));
  accessors_.push_back(
      accessor(view_weights, first, component_u8, joint_of.size(), "VEC4", ",\"normalized\":true"));
  const std::size_t weights = accessors_.size() - 1, matrices = accessors_.size();
  accessors_.push_back(
      accessor(view_binds, binds_.size() * sizeof(float), component_f32, joints.size(), "MAT4", ""));
  binds_.insert(binds_.end(), inverse.begin(), inverse.end());
  meshes_.push_back(fmt::format(
      "{{\"primitives\":[{{\"attributes\":{{\"POSITION\":{},\"NORMAL\":{},\"JOINTS_0\":{},\"WEIGHTS_0\":{}}},"
      "\"indices\":{},\"material\":{}}}]}}",
      position, normal, weights - 1, weights, indices, material(color)));
  skins_.push_back(
      fmt::format("{{\"inverseBindMatrices\":{},\"joints\":[{}]}}", matrices, fmt::join(joints, ",")));
  scene_nodes_.push_back(add_node(fmt::format("{{\"name\":{},\"mesh\":{},\"skin\":{}}}", json_string(name),
                                              meshes_.size() - 1, skins_.size() - 1)));
}

void GlbDocument::set_times(const std::vector<float>& times) {
  times_accessor_ = animation_accessor(times, 1, true);
}

void GlbDocument::animate(std::size_t node, const char* path, const std::vector<float>& values) {
  const int components = std::string_view(path) == "rotation" ? 4 : 3;
  const std::size_t output = animation_accessor(values, components, false);
  channels_.push_back(fmt::format("{{\"sampler\":{},\"target\":{{\"node\":{},\"path\":\"{}\"}}}}",
                                  samplers_.size(), node, path));
  samplers_.push_back(
      fmt::format("{{\"input\":{},\"output\":{},\"interpolation\":\"LINEAR\"}}", times_accessor_, output));
}

std::string GlbDocument::json(const std::string& title, const std::string& extras) const {
  // A quarter turn about x: limber's z becomes glTF's y.
  const float half = 0.70710678f, turn[] = {-half, 0, 0, half};
  std::vector<std::string> nodes = nodes_;
  nodes[0] = fmt::format(
      "{{\"name\":\"limber\",\"rotation\":{}{}}}", json_list(turn, 4),
      root_children_.empty() ? "" : fmt::format(",\"children\":[{}]", fmt::join(root_children_, ",")));
  const std::string name = title.empty() ? "" : fmt::format("\"name\":{},", json_string(title));

  std::vector<std::string> views, accessors;
  std::size_t offset = 0, number[views_in_all] = {};
  const auto add_view = [&](View view, std::size_t size, const std::string& more) {
    number[view] = views.size();
    if (size > 0)
      views.push_back(
          fmt::format("{{\"buffer\":0,\"byteOffset\":{},\"byteLength\":{}{}}}", offset, size, more));
    offset += size;
  };
  const auto strided = [](int stride) {
    return fmt::format(",\"byteStride\":{},\"target\":{}", stride, target_vertices);
  };
  add_view(view_vertices, bytes(vertices_).size(), strided(12));
  add_view(view_indices, bytes(indices_).size(), fmt::format(",\"target\":{}", target_indices));
  add_view(view_joints, bytes(joints_).size(), strided(8));
  add_view(view_weights, bytes(weights_).size(), strided(4));
  add_view(view_binds, bytes(binds_).size(), "");
  add_view(view_animation, bytes(animation_).size(), "");
  for (const auto& [view, rest] : accessors_)
    accessors.push_back(fmt::format("{{\"bufferView\":{},{}", number[view], rest));

  std::string out = fmt::format(
      "{{\"asset\":{{\"version\":\"2.0\",\"generator\":\"limber\",\"extras\":{}}},\"scene\":0,"
      "\"scenes\":[{{{}\"nodes\":[0{}{}]}}]",
      extras, name, scene_nodes_.empty() ? "" : ",", fmt::join(scene_nodes_, ","));
  out += member("nodes", nodes) + member("meshes", meshes_) + member("materials", materials_) +
         member("skins", skins_) + member("accessors", accessors) + member("bufferViews", views);
  if (!channels_.empty())
    out += fmt::format(",\"animations\":[{{{}\"samplers\":[{}],\"channels\":[{}]}}]", name, joined(samplers_),
                       joined(channels_));
  if (offset > 0) out += fmt::format(",\"buffers\":[{{\"byteLength\":{}}}]", offset);
  out += '}';
  out.resize((out.size() + 3) / 4 * 4, ' ');
  return out;
}

void GlbDocument::write(const std::filesystem::path& path, const std::string& title,
                        const std::string& extras) const {
  const std::string text = json(title, extras);
  const std::size_t binary = bytes(vertices_).size() + bytes(indices_).size() + bytes(joints_).size() +
                             bytes(weights_).size() + bytes(binds_).size() + bytes(animation_).size();
  const std::size_t total = 12 + 8 + text.size() + (binary > 0 ? 8 + binary : 0);
  if (total > std::numeric_limits<std::uint32_t>::max())
    throw result::IoError(path, "cannot write: glTF files end at 4 GiB, this one would take " +
                                    std::to_string(total) + " bytes");
  result::AtomicFile out(path);
  for (const std::size_t word : {std::size_t{magic_glb}, std::size_t{2}, total}) put_u32(out, word);
  put_u32(out, text.size());
  put_u32(out, chunk_json);
  out.write(text);
  if (binary > 0) {
    put_u32(out, binary);
    put_u32(out, chunk_bin);
    for (const auto& part : {bytes(vertices_), bytes(indices_), bytes(joints_), bytes(weights_),
                             bytes(binds_), bytes(animation_)})
      out.write(part);
  }
  out.commit();
}

}  // namespace limber::exporting
