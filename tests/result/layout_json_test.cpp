#include "limber/result/layout_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "tests/result/small_recording.h"

namespace limber::result::testing {
namespace {

TEST(LayoutJson, ComesBackWithEveryBit) {
  Layout layout = small_layout();
  layout.frames[1].shapes.push_back(
      {CylinderShape{1.0 / 3, 1e-300}, {math::rotation_z(1.1), {0.1, -0.2, 1e17}}});
  const Layout back = layout_from_json(layout_to_json(layout));
  EXPECT_EQ(layout_to_json(back), layout_to_json(layout));
  EXPECT_EQ(back.title, layout.title);
  ASSERT_EQ(back.frames.size(), 2u);
  EXPECT_TRUE(back.frames[0].fixed);
  EXPECT_EQ(back.frames[0].color, layout.frames[0].color);
  EXPECT_FALSE(back.frames[1].color.has_value());
  ASSERT_EQ(back.frames[1].shapes.size(), 3u);
  const auto& cylinder = std::get<CylinderShape>(back.frames[1].shapes[2].geometry);
  EXPECT_EQ(cylinder.radius, 1.0 / 3);
  EXPECT_EQ(cylinder.length, 1e-300);
  EXPECT_EQ(back.frames[1].shapes[2].X_BG.R, layout.frames[1].shapes[2].X_BG.R);
  EXPECT_EQ(back.frames[1].shapes[2].X_BG.p, layout.frames[1].shapes[2].X_BG.p);
  EXPECT_EQ(std::get<CapsuleShape>(back.frames[1].shapes[0].geometry).length, 0.2);
  EXPECT_EQ(std::get<SphereShape>(back.frames[1].shapes[1].geometry).radius, 0.02);
  EXPECT_EQ(std::get<BoxShape>(back.frames[0].shapes[0].geometry).size, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(back.polylines[1].radius, 0.004);
  EXPECT_EQ(back.point_count(), 5u);
  EXPECT_EQ(back.scalars[0].unit, "m");
  EXPECT_EQ(back.frame_value, "activity");
}

TEST(LayoutJson, KeepsSurfaces) {
  Layout layout = small_layout();
  const auto hull = std::make_shared<const math::ConvexHull>(
      math::convex_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.0 / 3}}));
  layout.frames[0].shapes = {{HullShape{hull}, {}},
                             {MeshShape{std::make_shared<const TriangleMesh>(triangles_of(*hull))}, {}},
                             {HeightFieldShape{2, 1, 3, 2, {0, 0.1, 0, 0.2, 1.0 / 3, 0.1}}, {}}};
  const Layout back = layout_from_json(layout_to_json(layout));
  EXPECT_EQ(layout_to_json(back), layout_to_json(layout));
  EXPECT_EQ(std::get<HeightFieldShape>(back.frames[0].shapes[2].geometry).heights[4], 1.0 / 3);
  EXPECT_EQ(std::get<MeshShape>(back.frames[0].shapes[1].geometry).mesh->triangles.size(), 4u);
  std::string text = layout_to_json(layout);
  text.replace(text.find("\"columns\":3"), 11, "\"columns\":4");  // does not divide six heights
  EXPECT_THROW(layout_from_json(text), std::invalid_argument);
}

TEST(LayoutJson, KeepsOutlines) {
  Layout layout;
  layout.polylines = {{"a", 2, 0.1, {}, {{1, 0}, {0, 1.0 / 3}, {-1, -1}}}, {"b", 2, 0, {}}, {"c", 2, 0, {}}};
  EXPECT_EQ(layout_from_json(layout_to_json(layout)).polylines[0].outline, layout.polylines[0].outline);
  layout.polylines[2].points = 3;  // not as long as the line
  EXPECT_THROW(layout_from_json(layout_to_json(layout)), std::invalid_argument);
  layout.polylines.pop_back();
  EXPECT_THROW(layout_from_json(layout_to_json(layout)), std::invalid_argument);
}

TEST(LayoutJson, RefusesWhatCannotBeStored) {
  Layout layout = small_layout();
  layout.polylines[0].radius = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(layout_to_json(layout), std::invalid_argument);
  layout = small_layout();
  layout.polylines[0].points = -1;
  EXPECT_THROW(layout_to_json(layout), std::invalid_argument);
}

TEST(LayoutJson, RefusesTextsThatAreNoLayout) {
  for (
      const char* text : {
          "",
          "{",
          "[]",
          "3",
          "null",
          "{\"title\":3}",
          "{\"title\":\"\"}",
          R"({"title":"","frames":{"a":1},"polylines":[],"scalars":[]})",
          R"({"title":"","frames":[{"name":"a","shapes":[{}]}],"polylines":[],"scalars":[]})",
          R"({"title":"","frames":[{"name":"a","shapes":[{"box":[1,2]}]}],"polylines":[],"scalars":[]})",
          R"({"title":"","frames":[{"name":"a","shapes":[{"sphere":"x"}]}],"polylines":[],"scalars":[]})",
          R"({"title":"","frames":[{"name":"a","shapes":[{"sphere":1e999}]}],"polylines":[],"scalars":[]})",
          R"({"title":"","frames":[{"name":"a","color":[1],"shapes":[]}],"polylines":[],"scalars":[]})",
          R"({"title":"","frames":[],"polylines":[{"name":"a","points":-1,"radius":0}],"scalars":[]})",
          R"({"title":"","frames":[],"polylines":[{"name":"a","points":1.5,"radius":0}],"scalars":[]})",
          R"({"title":"","frames":[],"polylines":[{"name":"a","points":9999999999,"radius":0}],"scalars":[]})",
          R"({"title":"","frames":[],"polylines":[],"scalars":[{"name":"a"}]})",
      })
    EXPECT_THROW(layout_from_json(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace limber::result::testing
