// The parts of a glTF 2.0 document (Khronos, "glTF 2.0 Specification", 2021) as they are collected, and the
// binary container around them (its chapter 4).
//
// Buffer views: vertices (positions and normals, 12 bytes apart), indices (u16), joints (4 x u16), weights (4
// x u8), animation and bind matrices (f32). Elements of the large lists are kept as JSON text.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "limber/export/mesh.h"

namespace limber::exporting {

std::string json_string(const std::string& text);  // quoted and escaped
std::string json_list(const float* values, std::size_t count);

class GlbDocument {
 public:
  GlbDocument();

  // Each distinct geometry, color and pair of them is stored once. Returns the index of the mesh.
  std::size_t mesh(const ShapeGeometry& geometry, int sides, const Color& color);
  // A mesh whose vertices are moved by the nodes `joints`, each by one: `joint_of` (vertices) counts in them.
  // The vertices stand where the inverse matrices (joints x 16, by columns) expect them. Adds the node that
  // shows it.
  void add_skinned(const std::string& name, const Mesh& mesh, const Color& color,
                   const std::vector<std::uint16_t>& joint_of, const std::vector<std::size_t>& joints,
                   const std::vector<float>& inverse);
  std::size_t add_node(std::string json);  // the index of the node
  void add_to_root(std::size_t node) { root_children_.push_back(node); }
  // path: "translation", "rotation" or "scale"; values: one sample after the other for each of the times.
  void animate(std::size_t node, const char* path, const std::vector<float>& values);
  void set_times(const std::vector<float>& times);  // before the first animate()

  // `extras` is a JSON object.
  void write(const std::filesystem::path& path, const std::string& title, const std::string& extras) const;

 private:
  struct MeshAccessors {
    std::size_t position, normal, indices;
  };
  MeshAccessors geometry(const ShapeGeometry& geometry, int sides);
  std::size_t vertex_accessor(const std::vector<Vec3>& values, bool with_range);
  std::size_t index_accessor(const Mesh& mesh);
  std::size_t animation_accessor(const std::vector<float>& values, int components, bool with_range);
  std::size_t material(const Color& color);
  std::string json(const std::string& title, const std::string& extras) const;

  std::vector<std::string> nodes_, meshes_, materials_, samplers_, channels_, skins_;
  std::vector<std::pair<int, std::string>> accessors_;    // the view, and the rest of the JSON
  std::vector<std::size_t> root_children_, scene_nodes_;  // scene_nodes_: beside the root
  std::vector<float> vertices_, animation_, binds_;       // binds_: (joints x 16)
  std::vector<std::uint16_t>
      indices_;  // an even number of them a mesh, so that the next begins at a multiple of 4
  std::vector<std::uint16_t> joints_;  // (vertices x 4)
  std::vector<std::uint8_t> weights_;  // (vertices x 4)
  std::size_t times_accessor_ = 0;
  // (kind, three sizes, sides) → accessors; (position accessor, material) → mesh
  std::map<std::array<double, 5>, MeshAccessors> geometries_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> mesh_indices_;
  std::map<Color, std::size_t> material_indices_;
};

}  // namespace limber::exporting
