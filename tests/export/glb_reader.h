// Reads a GLB back, checking the container and every accessor on the way; and plays its animation.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "limber/result/recording.h"

namespace limber::exporting::testing {

class Glb {
 public:
  nlohmann::json json;
  std::string bin;

  explicit Glb(const std::filesystem::path& path) {
    const std::string file = result::read_file(path);
    expect(word(file, 0) == 0x46546C67 && word(file, 4) == 2 && word(file, 8) == file.size(), "header");
    const std::size_t text = word(file, 12);
    expect(word(file, 16) == 0x4E4F534A && text % 4 == 0 && 20 + text <= file.size(), "JSON chunk");
    json = nlohmann::json::parse(file.substr(20, text));
    if (20 + text < file.size()) {
      const std::size_t size = word(file, 20 + text);
      expect(word(file, 24 + text) == 0x004E4942 && size % 4 == 0 && 28 + text + size == file.size(),
             "BIN chunk");
      bin = file.substr(28 + text);
      expect(json.at("buffers").at(0).at("byteLength") == size, "buffer length");
    }
  }

  // All values of an accessor, one after the other.
  std::vector<double> values(std::size_t index) const {
    const auto& accessor = json.at("accessors").at(index);
    const auto& view = json.at("bufferViews").at(accessor.at("bufferView").get<std::size_t>());
    const std::string type = accessor.at("type");
    const std::size_t width = type == "SCALAR" ? 1 : type == "VEC3" ? 3 : type == "VEC4" ? 4 : 16;
    const bool is_float = accessor.at("componentType") == 5126,
               is_byte = accessor.at("componentType") == 5121;
    expect(is_float || is_byte || accessor.at("componentType") == 5123, "component type");
    const std::size_t size = is_float  ? 4
                             : is_byte ? 1
                                       : 2,
                      count = accessor.at("count"), offset = accessor.at("byteOffset");
    const std::size_t begin = view.at("byteOffset").get<std::size_t>() + offset, bytes = count * width * size;
    expect(begin % size == 0 && view.at("byteOffset").get<std::size_t>() % 4 == 0, "alignment");
    expect(!view.contains("byteStride") || view.at("byteStride") == width * size, "stride");
    expect(offset + bytes <= view.at("byteLength").get<std::size_t>() && begin + bytes <= bin.size(),
           "range");
    std::vector<double> out;
    for (std::size_t i = 0; i < count * width; ++i) {
      if (is_float) {
        float x;
        std::memcpy(&x, &bin[begin + 4 * i], 4);
        out.push_back(x);
      } else if (is_byte) {
        out.push_back(static_cast<unsigned char>(bin[begin + i]));
      } else {
        std::uint16_t x;
        std::memcpy(&x, &bin[begin + 2 * i], 2);
        out.push_back(x);
      }
    }
    return out;
  }

  std::size_t node(const std::string& name) const {
    for (std::size_t i = 0; i < json.at("nodes").size(); ++i)
      if (json.at("nodes")[i].value("name", "") == name) return i;
    throw std::runtime_error("no node " + name);
  }

  // A node's transform in its parent at the k-th time.
  Eigen::Affine3d local(std::size_t index, std::size_t k) const {
    const auto& n = json.at("nodes").at(index);
    auto t = n.value("translation", std::vector<double>{0, 0, 0});
    auto r = n.value("rotation", std::vector<double>{0, 0, 0, 1});
    auto s = n.value("scale", std::vector<double>{1, 1, 1});
    if (json.contains("animations"))
      for (const auto& channel : json["animations"][0]["channels"]) {
        if (channel["target"]["node"] != index) continue;
        const auto& sampler = json["animations"][0]["samplers"].at(channel["sampler"].get<std::size_t>());
        const std::string path = channel["target"]["path"];
        const auto all = values(sampler["output"]);
        auto& target = path == "translation" ? t : path == "rotation" ? r : s;
        const std::size_t width = target.size();
        target.assign(all.begin() + static_cast<std::ptrdiff_t>(k * width),
                      all.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
      }
    return Eigen::Translation3d(t[0], t[1], t[2]) * Eigen::Quaterniond(r[3], r[0], r[1], r[2]) *
           Eigen::Scaling(s[0], s[1], s[2]);
  }

  // In the scene, which has y up.
  Eigen::Affine3d world(std::size_t index, std::size_t k) const {
    for (std::size_t parent = 0; parent < json.at("nodes").size(); ++parent)
      for (const auto& child : json["nodes"][parent].value("children", std::vector<std::size_t>{}))
        if (child == index) return world(parent, k) * local(index, k);
    return local(index, k);
  }

 private:
  static void expect(bool good, const char* what) {
    if (!good) throw std::runtime_error(std::string("glb: wrong ") + what);
  }
  static std::uint32_t word(const std::string& file, std::size_t offset) {
    std::uint32_t x = 0;
    expect(offset + 4 <= file.size(), "size");
    std::memcpy(&x, &file[offset], 4);
    return x;
  }
};

}  // namespace limber::exporting::testing
