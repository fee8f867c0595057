// A feature a pair: the scene that uses it, and one that differs in nothing else.
#include "feature_cases.h"

namespace limber::scene {
namespace {

// An arm on a sprung joint, shaken at its tip: chain, articulated, rom and adaptive take it.
std::string arm(const std::string& joint, const std::string& body = "", const std::string& more = "",
                const std::string& type = "revolute") {
  return "limber: 1\nbodies:\n  arm:\n    box: [10 cm, 2 cm, 2 cm]\n    mass: 1 kg\n    at: [5 cm, 0, 0]\n" +
         body + "joints:\n  root:\n    type: " + type + "\n    child: arm\n    at: [0, 0, 0]\n" +
         (type == "revolute" ? "    axis: [0, 1, 0]\n" : "") + joint +
         "loads:\n  shake: {on: {on: arm, at: [5 cm, 0, 0]}, force: [0, 2 N * sin(18*t), -6 N * "
         "sin(18*t)]}\n" +
         more + "run: {step: 5 ms, rom: {ends: [arm]}}\n";
}
const std::string sprung = "    stiffness: 5 N*m/rad\n";

// Two arms on sprung ball joints, tips at the same place.
std::string pair(const std::string& more) {
  return "limber: 1\nbodies:\n  a: {box: [10 cm, 2 cm, 2 cm], mass: 1 kg, at: [5 cm, 0, 0]}\n"
         "  b: {box: [2 cm, 10 cm, 2 cm], mass: 2 kg, at: [10 cm, 5 cm, 0]}\njoints:\n"
         "  roota: {type: spherical, child: a, at: [0, 0, 0], stiffness: 5 N*m/rad}\n"
         "  rootb: {type: spherical, child: b, at: [10 cm, 10 cm, 0], stiffness: 7 N*m/rad}\n"
         "loads:\n  shake: {on: a, force: [0, 0, -9 N * sin(20*t)], moment: [\"0.3 N*m * sin(20*t)\", 0, "
         "0]}\n" +
         more + "run: {step: 5 ms, rom: {ends: [a, b]}}\n";
}

// Two arms on sprung hinges, which a coupling may tie.
std::string geared(const std::string& more) {
  return "limber: 1\nbodies:\n  a: {box: [10 cm, 2 cm, 2 cm], mass: 1 kg, at: [5 cm, 0, 0]}\n"
         "  b: {box: [10 cm, 2 cm, 2 cm], mass: 2 kg, at: [5 cm, 20 cm, 0]}\njoints:\n"
         "  roota: {type: revolute, child: a, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 5 N*m/rad}\n"
         "  rootb: {type: revolute, child: b, at: [0, 20 cm, 0], axis: [0, 1, 0], stiffness: 7 N*m/rad}\n"
         "loads:\n  shake: {on: a, force: [0, 0, -9 N * sin(20*t)]}\n" +
         more + "run: {step: 5 ms, rom: {ends: [a, b]}}\n";
}

// A soft cord clamped to the world, shaken at its tip: all methods take it.
std::string cord(const std::string& beam, const std::string& more = "", const std::string& material = "",
                 const std::string& path = "[[0, 0, 0], [20 cm, 0, 0]]") {
  return "limber: 1\nmaterials:\n  rubber:\n    E: 100 MPa\n    density: 1000 kg/m3\n" + material +
         "sections:\n  round: {circle: 5 mm}\n  flat: {rectangle: {width: 12 mm, height: 6 mm}}\n"
         "beams:\n  cord:\n    path: " +
         path + "\n    material: rubber\n    section: round\n    elements: 4\n" +
         (beam.find("    damping:") == std::string::npos ? "    damping: 20 ms\n" : "") + beam +
         "loads:\n  shake: {on: cord.tip, force: [0, 0.02 N * sin(20*t), -0.02 N * sin(20*t)]}\n" + more +
         "run: {step: 1 ms, rom: {ends: [cord.tip]}}\n";
}

}  // namespace

std::vector<FeatureCase> feature_cases() {
  std::vector<FeatureCase> all;
  const auto add = [&](const char* feature, std::string with, std::string without, bool in_both = false) {
    all.push_back({feature, std::move(with), std::move(without), in_both, false});
  };
  const auto other = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string plain_arm = arm(sprung), plain_cord = cord("");
  const std::string damped = sprung + "    damping: 0.2 N*m*s/rad\n";
  const std::string ball = arm(sprung, "", "", "spherical");
  // Of thread: a cord that hangs on a body which a joint with a given motion moves, and one that carries a
  // body.
  const auto driven = [](const std::string& joint, const std::string& more = "") {
    return cord(
        "    from: hand\n",
        "bodies:\n  hand: {sphere: 1 cm}\njoints:\n  wrist:\n    type: revolute\n    axis: [0, 1, 0]\n"
        "    child: hand\n" +
            joint + more);
  };
  const std::string motion = "    motion: 1 rad * t\n";
  const auto carried = [](const std::string& body, const std::string& more = "") {
    return cord("    clamps: [{at: 1, to: bob}]\n",
                "bodies:\n  bob:\n    sphere: 1 cm\n    at: [21 cm, 0, 0]\n" + body + more);
  };
  // A free body on springs of its own joint.
  const auto floating = [](const std::string& joint) {
    return "limber: 1\nbodies:\n  bob: {sphere: 1 cm, mass: 1 kg}\njoints:\n  held:\n    type: free\n    "
           "child: bob\n    at: [10 cm, 0, 0]\n" +
           joint + "run: {step: 5 ms, rom: {ends: [bob]}}\n";
  };
  const std::string anchor =
      "springs:\n  string: {between: [bob, {on: world, at: [10 cm, 10 cm, 0]}], stiffness: 20 N/m}\n";
  const std::string shaken =
      "loads:\n  push: {on: bob, force: [0, 0, 9 N * sin(18*t)], moment: [\"0.1 N*m * sin(18*t)\", 0, 0]}\n";
  const std::string all_six = "    stiffness: [5 N*m/rad, 5 N*m/rad, 5 N*m/rad, 500 N/m, 500 N/m, 500 N/m]\n";
  // An arm, and a free box that slides over a plane.
  const auto sliding = [](const std::string& body, const std::string& contact = "",
                          const std::string& more = "") {
    return arm(sprung, "  block:\n    box: [4 cm, 4 cm, 4 cm]\n    at: [0, 50 cm, 0]\n" + body,
               "contact:\n  planes: [{at: [0, 0, -2.01 cm]}]\n" + contact + more);
  };
  // A cord that slides over a fixed box.
  const auto lying = [](const std::string& body, const std::string& contact = "",
                        const std::string& more = "",
                        const std::string& beam = "    root: free\n    velocity: [1 m/s, 0, 0]\n") {
    return cord(beam,
                "bodies:\n  table:\n    box: [1 m, 1 m, 4 cm]\n    at: [0, 0, -2.51 cm]\n    fixed: true\n" +
                    body + "contact:\n  self: true\n" + contact + more);
  };

  add("drag of a body", arm(sprung, "    linear_drag: §2 N*s/m\n"), plain_arm);
  add("drag of a body against turning", arm(sprung, "    angular_drag: §0.1 N*m*s/rad\n"), plain_arm);
  const std::string masses = "    point_masses: §[{mass: 0.3 kg, at: [4 cm, 1 cm, 0]}]\n";
  add("point mass on a body", arm(sprung, masses), plain_arm);
  add("point mass on a body", carried(masses), carried(""));
  add("friction of a body", sliding("    velocity: [1 m/s, 0, 0]\n    friction: §0.9\n"),
      sliding("    velocity: [1 m/s, 0, 0]\n"));
  all.back().may_agree = true;  // a rest does not slide: below
  add("friction of a body", lying("    friction: §0.9\n"), lying(""));

  const std::string rough = "    velocity: [1 m/s, 0, 0]\n    friction: 0.9\n";
  const char* rule = "how two frictions make one, other than by the root of the product";
  add(rule, sliding(rough, "  combine: §minimum\n"), sliding(rough));
  all.back().may_agree = true;
  add(rule, lying("    friction: 0.9\n", "  combine: §maximum\n"), lying("    friction: 0.9\n"));
  add("friction of a pair of bodies",
      sliding(rough, "  pairs: §[{between: [block, world], friction: 0.1}]\n"), sliding(rough));
  all.back().may_agree = true;
  // At rest: how far a spring drags the block.
  const std::string pull =
      "springs:\n  pull: {between: [block, {on: world, at: [50 cm, 50 cm, 0]}], stiffness: 5 N/m, "
      "rest_length: 45 cm}\n";
  const std::string gripping = "    friction: 0.9\n";
  add("friction of a body", sliding("    friction: §0.9\n", "", pull), sliding("", "", pull));
  add(rule, sliding(gripping, "  combine: §minimum\n", pull), sliding(gripping, "", pull));
  add("friction of a pair of bodies",
      sliding(gripping, "  pairs: §[{between: [block, world], friction: 0.1}]\n", pull),
      sliding(gripping, "", pull));
  const char* with_beam = "friction of a pair with a beam";
  add(with_beam, lying("", "  pairs: §[{between: [cord, table], friction: 0.1}]\n"), lying(""));
  const std::string floor = "contact:\n  planes: [{at: [0, 0, -6 mm]}]\n";
  add(with_beam, cord("", floor + "  pairs: §[{between: [cord, world], friction: 0}]\n"), cord("", floor));
  // Surfaces and pairs: with a speed for runs, pulled aside for rests.
  const std::string fast = "    velocity: [1 m/s, 0, 0]\n", down = "    velocity: [0, 0, -1 m/s]\n";
  const auto on_terms = [](const std::string& terms, const std::string& who = "block") {
    return "  pairs: §[{between: [" + who + ", world], " + terms + "}]\n";
  };
  const auto surface = [](const std::string& terms) { return "surfaces:\n  own: {" + terms + "}\n"; };
  const std::string marked = "    surfaces: §[own]\n", unmarked = "    surfaces: [own]\n";
  for (const std::string& drag : {std::string(), pull}) {
    const std::string body = drag.empty() ? fast : "";
    add("pair of surfaces", sliding(body + unmarked, on_terms("friction: 0.9", "own"), drag + surface("")),
        sliding(body + unmarked, "", drag + surface("")));
    add("friction of a surface", sliding(body + marked, "", drag + surface("friction: 0.9")),
        sliding(body, "", drag + surface("friction: 0.9")));
    for (std::size_t k = all.size() - 2; k < all.size(); ++k) all[k].may_agree = drag.empty();  // at rest
  }
  add("restitution of a pair", sliding(down, on_terms("restitution: 0.7")), sliding(down));
  add("restitution of a body", sliding(down + "    restitution: §0.7\n"), sliding(down));
  add("restitution of a surface", sliding(down + marked, "", surface("restitution: 0.7")), sliding(down));
  const std::string soft = "stiffness: 2 kN/m", damped_soft = soft + ", damping: 30 N*s/m";
  for (const std::string& speed : {down, std::string()}) {
    add("pair that gives", sliding(speed, on_terms(soft)), sliding(speed));
    add("surface that gives", sliding(speed + marked, "", surface(soft)), sliding(speed));
  }
  const std::string hang =
      "springs:\n  hang: {between: [block, {on: world, at: [0, 50 cm, 30 cm]}], stiffness: 100 N/m, "
      "rest_length: 30 cm}\n";
  add("pair told whether it touches", sliding("", on_terms("collide: false"), hang), sliding("", "", hang));
  add("body that touches nothing", sliding("    collide: §false\n", "", hang), sliding("", "", hang));
  add("damping of a pair that gives", sliding(down, on_terms(damped_soft)), sliding(down, on_terms(soft)));
  add("damping of a surface that gives", sliding(down + marked, "", surface(damped_soft)),
      sliding(down + unmarked, "", surface(soft)));

  // A box that hangs on a joint of the kind, and a hand that one moves.
  const auto part = [](const std::string& type, const std::string& more) {
    return "limber: 1\nbodies:\n  arm: {box: [10 cm, 2 cm, 2 cm], mass: 1 kg, at: [5 cm, 0, 0]}\njoints:\n  "
           "root:\n    type: " +
           type + "\n    child: arm\n    at: [0, 0, 0]\n" + more +
           "loads:\n  shake: {on: {on: arm, at: [5 cm, 1 cm, 0]}, force: [1 N, 2 N * sin(18*t), -6 N * "
           "sin(18*t)]}\nrun: {step: 5 ms, rom: {ends: [arm]}}\n";
  };
  const auto guided = [](const std::string& type, const std::string& more) {
    return cord("    from: hand\n", "bodies:\n  hand: {sphere: 1 cm}\njoints:\n  wrist:\n    type: " + type +
                                        "\n    axis: [0, 1, 0]\n    child: hand\n    at: [0, 0, 0]\n" + more);
  };
  const std::string hinge = part("revolute", "    axis: [0, 1, 0]\n    stiffness: 5 N*m/rad\n");
  const std::string turning = guided("revolute", "    motion: 1 rad * t\n");
  const auto kind = [&](const char* feature, const std::string& type, const std::string& law,
                        const std::string& how) {
    add(feature, part("§" + type, "    axis: [0, 1, 0]\n" + law), hinge);
    add(feature, guided("§" + type, how), turning);
  };
  kind("cylindrical joint", "cylindrical", "    stiffness: [5 N*m/rad, 500 N/m]\n",
       "    motion: [1 rad * t, 1 cm/s * t]\n");
  kind("screw", "screw", "    pitch: 5 cm\n    stiffness: 5 N*m/rad\n",
       "    pitch: 5 cm\n    motion: 1 rad * t\n");
  kind("joint of a point on a line", "point_on_line", "    stiffness: [5, 5, 5, 500 N/m]\n",
       "    motion: [0, 1 rad * t, 0, 1 cm/s * t]\n");
  kind("joint of a point on a plane", "point_on_plane", "    stiffness: [5, 5, 5, 500 N/m, 500 N/m]\n",
       "    motion: [0, 1 rad * t, 0, 1 cm/s * t, 0]\n");
  kind("constant velocity joint", "constant_velocity", "    stiffness: 5 N*m/rad\n",
       "    motion: [1 rad * t, 0]\n");
  const std::string rod =
      "loops:\n  rod:\n    type: §distance\n    a: world\n    b: arm\n    a_frame: {at: [20 cm, 0, 10 cm]}\n";
  add("distance", arm("    stiffness: 5 N*m/rad\n", "", rod, "spherical"), arm(sprung, "", "", "spherical"));
  add("stiffness of a joint", arm("    stiffness: §9 N*m/rad\n"), plain_arm, true);
  add("stiffness of a joint", driven(motion + "    stiffness: §9 N*m/rad\n"), driven(motion));
  add("damping of a joint", arm(sprung + "    damping: §0.1 N*m*s/rad\n"), plain_arm);
  add("damping of a joint", driven(motion + "    damping: §0.1 N*m*s/rad\n"), driven(motion));
  add("stiffness of a free joint",
      floating("    stiffness: §[6, 6, 6, 900 N/m, 900 N/m, 900 N/m]\n" + shaken), floating(all_six + shaken),
      true);
  add("stiffness of a free joint",
      carried("",
              "joints:\n  held:\n    type: free\n    child: bob\n    stiffness: §[1, 1, 1, 9 N/m, 9 N/m, 9 "
              "N/m]\n"),
      carried(""));
  add("damping of a free joint",
      floating(all_six + "    damping: §[0.1, 0.1, 0.1, 2 N*s/m, 2 N*s/m, 2 N*s/m]\n" + shaken),
      floating(all_six + shaken));
  add("where the spring of a joint is at ease", arm(sprung + "    rest: §2 deg\n"), plain_arm);
  add("where the spring of a joint is at ease", driven(motion + sprung + "    rest: §2 deg\n"),
      driven(motion + sprung));
  add("limits of a hinge, slide or universal joint", arm(sprung + "    limits: §7 deg\n"), plain_arm);
  add("limits of a ball or free joint",
      other(arm(damped + "    limits: §7 deg\n", "", "", "spherical"), "step: 5 ms",
            "step: 5 ms, integrator: euler"),
      other(arm(damped, "", "", "spherical"), "step: 5 ms", "step: 5 ms, integrator: euler"));
  add("restitution at the limits of a joint", arm(sprung + "    limits: 7 deg\n    restitution: §0.8\n"),
      arm(sprung + "    limits: 7 deg\n"));
  add("spring of a joint by a law", arm("    spring_force: §5*x + 40*x^3\n"), plain_arm);
  add("damper of a joint by a law", arm(sprung + "    damping_force: §0.2*v*abs(v)\n"), plain_arm);
  add("preload of a joint", arm(sprung + "    preload: §0.3 N*m\n"), plain_arm);
  const std::string stops = sprung + "    limits: 1 deg\n";
  add("stops of a joint that give", arm(stops + "    stop_stiffness: §40 N*m/rad\n"), arm(stops));
  add("damping of the stops of a joint",
      arm(stops + "    stop_stiffness: 40 N*m/rad\n    stop_damping: §0.2 N*m*s/rad\n"),
      arm(stops + "    stop_stiffness: 40 N*m/rad\n"));
  add("friction of a joint", arm(sprung + "    friction: §0.1 N*m\n"), plain_arm);
  add("friction of a joint that falls with its rate",
      arm(sprung + "    friction: §{static: 0.1 N*m, dynamic: 0.05 N*m, velocity: 1 rad/s}\n"),
      arm(sprung + "    friction: 0.1 N*m\n"));
  const auto pulled = [](const std::string& law) {
    return arm(sprung, "",
               "springs:\n  string:\n    between: [arm, {on: world, at: [5 cm, 0, 10 cm]}]\n" + law);
  };
  const std::string linear = "    stiffness: 200 N/m\n";
  add("spring by a law", pulled("    spring_force: §{table: [[-1 cm, -2 N], [0, 0], [1 cm, 5 N]]}\n"),
      pulled(linear));
  add("damper of a spring by a law", pulled(linear + "    damping_force: §30*v*abs(v)\n"), pulled(linear));
  add("preload of a spring", pulled(linear + "    preload: §2 N\n"), pulled(linear));
  const auto mounted = [](const std::string& more) {
    return arm(sprung, "",
               "bushings:\n  §mount:\n    b: arm\n    stiffness: [1, 1, 1, 200, 200, 200]\n" + more);
  };
  add("bushing", mounted(""), plain_arm);
  add("damping of a bushing", other(mounted("    damping: §[0.1, 0.1, 0.1, 9, 9, 9]\n"), "§mount", "mount"),
      other(mounted(""), "§mount", "mount"));
  const std::string to_world =
      "springs:\n  cable: {between: [arm, {on: world, at: [0, 0, 10 cm]}], stiffness: 200 N/m}\n";
  add("position of a joint at t = 0", arm(sprung + "    position: §3 deg\n"), plain_arm);
  all.back().may_agree = true;  // where it rests does not depend on where it starts
  add("position of a joint at t = 0", arm(sprung + "    position: §3 deg\n", "", to_world),
      arm(sprung, "", to_world));
  add("position at t = 0 of a joint whose motion is given", driven(motion + "    position: §3 deg\n"),
      driven(motion));
  add("position of a joint at t = 0, where springs or ties are at ease there",
      arm(sprung + "    position: §3 deg\n", "", to_world), arm(sprung, "", to_world));
  const std::string moved = "joints:\n  flight:\n    type: free\n    child: ";
  add("position of a free joint at t = 0", carried("", moved + "bob\n    position: §[0, 0, 0, 1 cm, 0, 0]\n"),
      carried("", moved + "bob\n"));
  const std::string block = "  block: {box: [4 cm, 4 cm, 4 cm]}\n",
                    flight = "  flight:\n    type: free\n    child: block\n";
  add("position of a free joint at t = 0",
      arm(sprung + flight + "    position: §[0, 0, 0, 1 cm, 0, 0]\n", block), arm(sprung + flight, block));
  add("velocity of a joint at t = 0", arm(sprung + "    velocity: §1 rad/s\n"), plain_arm);
  add("position at t = 0 of a joint whose motion is given",
      arm(sprung + motion + "    position: §3 deg\n", "", to_world), arm(sprung + motion, "", to_world));
  add("velocity at t = 0 of a joint whose motion is given", driven(motion + "    velocity: §1 rad/s\n"),
      driven(motion));
  add("velocity of a free body at t = 0", floating(all_six + "    velocity: §[0, 0, 0, 0, 1 m/s, 0]\n"),
      floating(all_six));
  add("velocity of a free body at t = 0", sliding("    velocity: §[1 m/s, 0, 0]\n"), sliding(""));
  add("velocity of a free body at t = 0", carried("    velocity: §[0, 1 m/s, 0]\n"), carried(""));

  add("velocity of a free body that springs, ties or loops hold",
      floating(all_six + "    velocity: §[0, 0, 0, 0, 1 m/s, 0]\n"), floating(all_six));
  add("position of a free joint that springs, ties or loops hold",
      floating(all_six + "    position: §[0, 0, 0, 0, 1 cm, 0]\n" + anchor), floating(all_six + anchor));
  add("position of a free joint at t = 0",
      floating(all_six + "    position: §[0, 0, 0, 0, 1 cm, 0]\n" + anchor), floating(all_six + anchor));
  add("drive by a force", arm(sprung + "    drive: §{force: 0.3 N*m * sin(9*t)}\n"), plain_arm);
  add("drive by a servo", arm(sprung + "    drive: §{servo: {target: 0.1 * sin(9*t), kp: 6}}\n"), plain_arm);
  add("drive of a ball or free joint by a force",
      arm(sprung + "    drive: §{force: [0.3 N*m * sin(9*t), 0, 0]}\n", "", "", "spherical"), ball);
  add("drive of a ball or free joint by a servo",
      arm(sprung + "    drive: §{servo: {target: [0.1 * sin(9*t), 0, 0], kp: 6}}\n", "", "", "spherical"),
      ball);
  add("largest force of a servo",
      arm(sprung + "    drive: §{servo: {target: 0.2 * sin(9*t), kp: 6, max_force: 0.05}}\n"),
      arm(sprung + "    drive: {servo: {target: 0.2 * sin(9*t), kp: 6}}\n"));
  add("damping of a servo", arm(sprung + "    drive: §{servo: {target: 0.2 * sin(9*t), kp: 6, kd: 0.1}}\n"),
      arm(sprung + "    drive: {servo: {target: 0.2 * sin(9*t), kp: 6}}\n"));
  add("servo with damping and no stiffness that moves",
      arm(sprung + "    drive: §{servo: {target: 0.2 * sin(9*t), kp: 0, kd: 0.1}}\n"),
      arm(sprung + "    drive: {servo: {target: 0, kp: 0, kd: 0.1}}\n"));
  add("motion of a joint given in time", arm(sprung + "    motion: §0.1 rad * sin(9*t)\n"), plain_arm);
  add("motion of a joint given in time", driven("    motion: §1 rad * t\n"),
      driven("    motion: 2 rad * t\n"), true);

  const std::string closed =
      "loops:\n  tip:\n    type: spherical\n    a: a\n    b: b\n    at: [10 cm, 0, 0]\n";
  const std::string universal =
      "loops:\n  tip:\n    type: universal\n    a: a\n    b: b\n    at: [10 cm, 0, 0]\n";
  const std::string gears = "couplings:\n  gears:\n    gear: [roota, rootb]\n    ratio: -2\n",
                    teeth = gears + "    stiffness: 3 N*m/rad\n";
  // What happens by controllers and events; the arm is shaken from the start.
  const auto with_event = [](const std::string& event, const std::string& at = "0.1 s") {
    return "events:\n  e:\n    at: " + at + "\n" + event;
  };
  const std::string cable = "springs:\n  k: {between: [world, arm], stiffness: 300 N/m, rest_length: 2 cm}\n";
  add("controller of a joint",
      arm(sprung, "", "controllers:\n  §c: {joint: root, reads: root.angle, target: 0.3, kp: 8 N*m/rad}\n"),
      arm(sprung));
  add("event that stops the run", arm(sprung, "", with_event("    stop: §true\n")), arm(sprung));
  add("event that stops the run", cord("", with_event("    stop: §true\n", "10 ms")), cord(""));
  add("event that releases a joint, a tie or a coupling",
      arm(sprung, "", with_event("    release: §{joint: root}\n")), arm(sprung));
  add("event that releases a joint, a tie or a coupling",
      geared(gears + with_event("    release: §{coupling: gears}\n")), geared(gears));
  add("event that releases a spring", arm(sprung, "", cable + with_event("    release: §{spring: k}\n")),
      arm(sprung, "", cable));
  add("event that releases a clamp of a beam",
      cord("    clamps: [{at: 1}]\n", with_event("    release: §{beam: cord}\n", "10 ms")),
      cord("    clamps: [{at: 1}]\n"));
  add("event that switches a drive, a spring, a load or a controller off",
      arm(sprung, "", with_event("    switch: §{load: shake, on: false}\n")), arm(sprung));
  add("event that switches one on",
      arm(sprung, "",
          "events:\n  a: {at: 0, stop: false, switch: {load: shake, on: false}}\n  e:\n    at: 0.1 s\n    "
          "switch: "
          "§{load: shake, on: true}\n"),
      arm(sprung, "", "events:\n  a: {at: 0, switch: {load: shake, on: false}}\n"));
  const std::string motor = sprung + "    drive: {servo: {target: 0.2, kp: 9 N*m/rad}}\n";
  add("event that gives a drive or a controller another target",
      arm(motor, "", with_event("    switch: §{drive: root, target: -0.2}\n")), arm(motor));
  add("loop", pair("loops:\n  §tip: {type: spherical, a: a, b: b, at: [10 cm, 0, 0]}\n"), pair(""));
  add("coupling of joints", geared("couplings:\n  §gears: {gear: [roota, rootb], ratio: -2}\n"), geared(""));
  add("cam", geared("couplings:\n  gears:\n    cam: [roota, rootb]\n    profile: §x + 3*x^2\n"),
      geared("couplings:\n  gears:\n    mimic: [roota, rootb]\n"));
  for (const char* q : {"force", "gap"}) {
    add("probe of a coupling: force, gap", geared(gears + "probes:\n  - §gears." + std::string(q) + "\n"),
        geared(gears));
    add("probe of a coupling: force, gap", geared(teeth + "probes:\n  - §gears." + std::string(q) + "\n"),
        geared(teeth));
  }
  const auto roped = [&](const std::string& route, const std::string& more = "") {
    return arm(sprung, "", "cables:\n  rope:\n    route: " + route + "\n    EA: 2 kN\n" + more);
  };
  const std::string straight = "[{on: world, at: [5 cm, 0, 10 cm]}, {on: arm, at: [5 cm, 0, 0]}]";
  const auto over = [](const std::string& guide, const char* mark = "§") {
    return mark + ("[{on: world, at: [-10 cm, 0, 10 cm]}, " + guide + ", {on: arm, at: [5 cm, 0, 0]}]");
  };
  const auto round = [](const std::string& more) {
    return "{pulley: world, at: [5 cm, 0, 10 cm], radius: 1 cm, axis: [0, 1, 0], turn: positive" + more + "}";
  };
  const std::string through = "{on: world, at: [5 cm, 0, 10 cm]}", taut = "    pretension: 5 N\n";
  add("cable", arm(sprung, "", "cables:\n  §rope:\n    route: " + straight + "\n    EA: 2 kN\n"), plain_arm);
  add("closed cable", roped(over(through, ""), "    closed: §true\n"), roped(over(through, "")));
  add("cable round a pulley", roped(over(round(""))), roped(over(through, "")));
  add("pulley that grips its cable", roped(over(round(", grip: true"))), roped(over(round(""), "")));
  add("friction of a cable on a guide", roped(over(round(", friction: 0.3"))), roped(over(round(""), "")));
  add("friction of a cable on a guide", roped(over("{on: world, at: [5 cm, 0, 10 cm], friction: 0.3}")),
      roped(over(through, "")));
  add("damping of a cable", roped(straight, taut + "    damping: §3 N*s/m\n"), roped(straight, taut));
  add("rest_length of a cable", roped(straight, "    rest_length: §9.9 cm\n"), roped(straight));
  add("pretension of a cable", roped(straight, "    pretension: §5 N\n"), roped(straight));
  add("winch of a cable", roped(straight, taut + "    winch: §0.4 mm/s * t\n"), roped(straight, taut));
  for (const char* q : {"length", "tension", "1.tension", "1.wrap", "1.slip", "winch.power"})
    add("probe of a cable", roped(over(through, ""), "probes:\n  - §rope." + std::string(q) + "\n"),
        roped(over(through, "")));
  add("stiffness of a coupling", geared(gears + "    stiffness: §3 N*m/rad\n"), geared(gears));
  add("damping of a coupling", geared(teeth + "    damping: §0.1 N*m*s/rad\n"), geared(teeth));
  add("backlash of a coupling", geared(teeth + "    backlash: §1 deg\n"), geared(teeth));
  add("offset of a coupling", geared(gears + "    offset: §3 deg\n"), geared(gears));
  add("stiffness of a closing joint", pair(universal + "    stiffness: §4 N*m/rad\n"), pair(universal));
  add("stiffness of a closing ball joint", pair(closed + "    stiffness: §4 N*m/rad\n"), pair(closed));
  add("damping of a closing joint", pair(universal + "    damping: §0.1 N*m*s/rad\n"), pair(universal));
  add("damping of a closing ball joint", pair(closed + "    damping: §0.1 N*m*s/rad\n"), pair(closed));
  add("where the spring of a closing joint is at ease",
      pair(universal + "    stiffness: 4 N*m/rad\n    rest: §[2 deg, 0]\n"),
      pair(universal + "    stiffness: 4 N*m/rad\n"));
  add("where the spring of a closing joint is at ease",
      pair(closed + "    stiffness: 4 N*m/rad\n    rest: §[2 deg, 0, 0]\n"),
      pair(closed + "    stiffness: 4 N*m/rad\n"));
  add("limits of a closing joint", pair(universal + "    limits: §0.5 deg\n"), pair(universal));
  add("limits of a closing joint", pair(closed + "    limits: §0.5 deg\n"), pair(closed));
  add("restitution at the limits of a closing joint",
      pair(universal + "    limits: 0.5 deg\n    restitution: §0.8\n"),
      pair(universal + "    limits: 0.5 deg\n"));
  add("spring of a closing joint by a law", pair(universal + "    spring_force: §[4*x, 30*x^3]\n"),
      pair(universal));
  add("damper of a closing joint by a law", pair(universal + "    damping_force: §[0.1*v, 0]\n"),
      pair(universal));
  add("preload of a closing joint", pair(universal + "    preload: §0.1 N*m\n"), pair(universal));
  const std::string bounded = universal + "    limits: 0.5 deg\n";
  add("stops of a closing joint that give", pair(bounded + "    stop_stiffness: §4 N*m/rad\n"),
      pair(bounded));
  add("damping of the stops of a closing joint",
      pair(bounded + "    stop_stiffness: 4 N*m/rad\n    stop_damping: §0.1 N*m*s/rad\n"),
      pair(bounded + "    stop_stiffness: 4 N*m/rad\n"));
  add("friction of a closing joint", pair(universal + "    friction: §0.1 N*m\n"), pair(universal));
  add("friction of a closing joint that falls with its rate",
      pair(universal + "    friction: §{static: 0.1 N*m, dynamic: 0.02 N*m, velocity: [1 rad/s, 1 rad/s]}\n"),
      pair(universal + "    friction: 0.1 N*m\n"));
  const auto welded = [&](const char* parent) {
    return cord("",
                "bodies:\n  weight: {sphere: 5 mm, mass: 20 g, at: [20 cm, 0, 0]}\njoints:\n  weld:\n    "
                "type: fixed\n    child: weight\n    parent: " +
                    std::string(parent) + "\n");
  };
  add("joint on a beam", welded("§cord.tip"), welded("world"));
  add("tie", cord("", "ties:\n  §support: {on: cord@0.5, type: prismatic, axis: [1, 0, 0]}\n"), plain_cord);
  add("tie whose place moves",
      cord("",
           "ties:\n  support:\n    on: cord@0.5\n    type: prismatic\n    axis: [1, 0, 0]\n    shift: §[0, 1 "
           "cm * t, 0]\n"),
      cord("", "ties:\n  support: {on: cord@0.5, type: prismatic, axis: [1, 0, 0]}\n"));
  add("tie whose place moves", cord("", "ties:\n  support:\n    on: cord@0.5\n    turn: §[0, 0.2 * t, 0]\n"),
      cord("", "ties:\n  support: {on: cord@0.5}\n"));
  const auto spring = [](const std::string& more, const char* z = "10 cm") {
    return cord("", "springs:\n  string:\n    between: [cord.tip, {on: world, at: [20 cm, 0, " +
                        std::string(z) + "]}]\n    stiffness: 20 N/m\n" + more);
  };
  add("spring", spring(""), plain_cord);
  add("damping of a spring", spring("    damping: §0.5 N*s/m\n"), spring(""));
  add("spring that only pulls", spring("    tension_only: §true\n", "-10 cm"), spring("", "-10 cm"));

  add("rest_length of a spring", spring("    rest_length: §9 cm\n"), spring(""));
  const auto beside = [](const char* at) {
    return cord("",
                "springs:\n  string:\n    between: §[{on: cord.tip, at: " + std::string(at) +
                    "}, {on: world, at: [20 cm, 0, 10 cm]}]\n    rest_length: 9 cm\n    stiffness: 20 N/m\n");
  };
  add("spring beside the axis of its beam", beside("[0, 5 mm, 0]"), beside("[0, 0, 0]"));
  add("beam", plain_cord, other(plain_cord, "E: 100 MPa", "E: 150 MPa"), true);
  add("beam that starts on a beam",
      cord("  twig:\n    from: §cord@0.5\n    path: [[0, 0, 0], [0, 10 cm, 0]]\n    material: rubber\n    "
           "section: round\n"),
      plain_cord);
  add("beam that bends in a plane only", cord("    planar: §true\n"), plain_cord);
  add("beam that stretches as it is told", cord("    stretch: §true\n"), plain_cord);
  const std::string supported = "ties:\n  support: {on: cord@0.5, type: prismatic, axis: [1, 0, 0]}\n";
  add("beam that is told not to stretch", cord("    stretch: §false\n", supported), cord("", supported));
  add("damping of a beam", cord("    damping: §50 ms\n"), plain_cord, true);
  add("recipe of a beam other than consistent_3r", cord("    recipe: §consistent_1r\n"), plain_cord);
  add("recipe published_1r of a beam", cord("    recipe: §published_1r\n"), plain_cord);
  add("root that is not clamped", cord("    root: §pinned\n    clamps: [{at: 1}]\n"),
      cord("    clamps: [{at: 1}]\n"));
  add("clamps of a beam", cord("    clamps: §[{at: 0.5}]\n"), plain_cord);
  const std::string bow = "{arc: {radius: 20 cm, angle: 60 deg}}";
  add("beam that is straight at ease", cord("    straight: §true\n", "", "", bow), cord("", "", "", bow));
  const std::string arc = "{path: {arc: {radius: 20 cm, angle: 1 rad}}}";
  add("beam that is bent or twisted at ease other than its path", cord("    rest: §" + arc + "\n"),
      plain_cord);
  add("beam that is longer or shorter at ease than its path", cord("    rest: §{length: 19 cm}\n"),
      plain_cord);
  add("beam that is longer or shorter at ease than its path",
      cord("    rest: §{path: {arc: {radius: 20 cm, angle: 0.9 rad}}}\n"), cord("    rest: " + arc + "\n"));
  add("clamp that lets go at a time", cord("    clamps: §[{at: 1, until: 20 ms}]\n"),
      cord("    clamps: [{at: 1}]\n"));
  add("air_damping of a beam", cord("    air_damping: §9 Hz\n"), plain_cord);
  add("velocity of a beam at t = 0", cord("    velocity: §[0, 0.5 m/s, 0]\n"), plain_cord);
  add("yield stress", cord("", "", "    yield: §1 MPa\n"), plain_cord);
  add("strength", cord("", "", "    strength: §10 kPa\n"), plain_cord);
  add("creep", cord("", "", "    creep: §{rate: 0.2 Hz, stress: 10 kPa}\n"), plain_cord);
  add("fatigue", cord("", "", "    fatigue: §{rate: 0.2 Hz, stress: 10 kPa}\n"), plain_cord);

  add("force at a point", cord("", "  push: {on: cord@0.5, force: [0, 0.03 N, 0]}\n"), plain_cord, true);
  add("moment at a point", cord("", "  turn: {on: cord@0.5, moment: [0.002 N*m, 0.002 N*m, 0]}\n"),
      plain_cord);
  const std::string post = "bodies:\n  post: {sphere: 1 cm, fixed: true}\n";
  add("load on a body that is fixed", cord("", "  push: {on: post, force: [0, 9 N, 0]}\n" + post),
      cord("", post));
  add("load that turns with its body",
      cord("", "  push: {on: cord@0.5, force: [0, 0, 0.1 N], follows: true}\n"),
      cord("", "  push: {on: cord@0.5, force: [0, 0, 0.1 N]}\n"));
  add("load along a beam", cord("", "  snow: {along: cord, force_per_length: [0, 0, -0.2 N/m]}\n"),
      plain_cord);
  add("load along a beam that turns with it",
      cord("", "  snow: {along: cord, force_per_length: [0, 0, -0.9 N/m], follows: true}\n"),
      cord("", "  snow: {along: cord, force_per_length: [0, 0, -0.9 N/m]}\n"));
  add("load along a part of a beam",
      cord("", "  snow: {along: cord, force_per_length: [0, 0, -0.2 N/m], between: [0.3, 0.8]}\n"),
      cord("", "  snow: {along: cord, force_per_length: [0, 0, -0.2 N/m]}\n"));
  add("rider",
      arm(sprung, "",
          "riders:\n  §car: {on: [{body: arm, from: [-5 cm, 0, 0], to: [5 cm, 0, 0]}], mass: 0.2 kg, "
          "position: 9 cm}\n"),
      plain_arm);
  add("wind", arm(sprung, "", "wind: §{velocity: [0, 0, 20 m/s]}\n"), plain_arm);
  add("wind", cord("", "wind: §{velocity: [0, 5 m/s, 0]}\n"), plain_cord);
  add("gravity that changes in time", cord("", "gravity: [0, 0, \"-9.81 m/s2 * (1 + t)\"]\n"), plain_cord);
  add("cut of a beam", cord("", "changes:\n  - §{at: 0.05 s, beam: cord, cut: 0.5}\n"), plain_cord);
  add("new section of a beam", cord("", "changes:\n  - §{at: 0.05 s, beam: cord, section: flat}\n"),
      plain_cord);
  const std::string wood = "  wood: {E: 300 MPa, density: 900 kg/m3}\n";
  add("new material of a beam", cord("", "changes:\n  - §{at: 0.05 s, beam: cord, material: wood}\n", wood),
      cord("", "", wood));
  const std::string twig =
      "  twig:\n    from: cord@0.5\n    path: [[0, 0, 0], [0, 10 cm, 0]]\n    material: rubber\n    section: "
      "round\n";
  add("growth of a beam", cord(twig, "changes:\n  - §{at: 0.7 s, beam: twig, grow: true}\n"), cord(twig));
  add("contact", arm(sprung, "", "contact: §{planes: [{at: [0, 0, -2 cm]}]}\n"), plain_arm);
  add("contact", cord("", "contact: §{planes: [{at: [0, 0, -6 mm]}]}\n"), plain_cord);
  add("restitution of contact", sliding("    velocity: [0, 0, -1 m/s]\n", "  restitution: §0.7\n"),
      sliding("    velocity: [0, 0, -1 m/s]\n"));

  add("probe of a joint", arm(sprung, "", "probes:\n  - §root.angle\n"), plain_arm);
  add("probe of a closing joint", pair(universal + "probes:\n  - §tip.angle\n"), pair(universal));
  const std::string car =
      "riders:\n  car: {on: [{body: arm, from: [-5 cm, 0, 0], to: [5 cm, 0, 0]}], mass: 0.2 kg, position: 9 "
      "cm}\n";
  add("probe of a rider", arm(sprung, "", car + "probes:\n  - §car.position\n"), arm(sprung, "", car));
  for (const char* q : {"tension", "curvature", "twist", "bending_moment", "torque"})
    add("probe of a section: tension, curvature, twist, moment, torque",
        cord("", "probes:\n  - §cord@0.5." + std::string(q) + "\n"), plain_cord);
  add("probe of a section: tension, curvature, twist, moment, torque",
      cord("", "probes:\n  - §cord@0.5.section.moment\n"), plain_cord);
  add("probe of the force in a section", cord("", "probes:\n  - §cord@0.5.section.force\n"), plain_cord);
  const auto of_arm = [&](const char* feature, const std::string& joint, const std::string& text) {
    add(feature, arm(joint, "", "probes:\n  - §" + text + "\n"), arm(joint));
  };
  for (const char* q :
       {"reaction.force", "reaction.torque", "reaction.force.local", "reaction.torque.local"}) {
    of_arm("probe of the reaction of a joint", sprung, "root." + std::string(q));
    add("probe of the reaction of a closing joint", pair(universal + "probes:\n  - §tip." + q + "\n"),
        pair(universal));
    add("probe of the reaction at the root of a beam",
        cord("", "probes:\n  - §cord." + std::string(q) + "\n"), plain_cord);
    const std::string held = "ties:\n  hold: {on: cord@0.5, type: prismatic, axis: [1, 0, 0]}\n";
    add("probe of the reaction of a tie", cord("", held + "probes:\n  - §hold." + q + "\n"), cord("", held));
  }
  for (const char* q : {"acceleration", "angular_acceleration"})
    of_arm("probe of the acceleration of a place", sprung, "arm." + std::string(q));
  for (const char* q : {"momentum", "angular_momentum"}) {
    of_arm("probe of the momentum of a body", sprung, "arm." + std::string(q));
    of_arm("probe of the momentum of all that moves", sprung, "total." + std::string(q));
  }
  for (const char* q : {"force", "work"})
    of_arm("probe of a given motion: force, work", motion, "root.motion." + std::string(q));
  for (const char* q : {"power", "work"})
    of_arm("probe of a drive: power, work", sprung + "    drive: {force: 0.1 N*m}\n",
           "root.drive." + std::string(q));
  of_arm("probe of the work of a load", sprung, "shake.work");
  add("probe of contact: count, overlap", lying("", "", "probes:\n  - §contact.count\n"), lying(""));
  add("probe of contact: count, overlap", lying("", "", "probes:\n  - §contact.count\n", ""),
      lying("", "", "", ""));
  add("probe of contact: count, overlap", lying("", "", "probes:\n  - §contact.overlap\n"), lying(""));
  add("probe of contact: count, overlap", sliding("", "", "probes:\n  - §contact.count\n"), sliding(""));
  for (const char* q : {"force", "slip"})
    add("probe of what touches a body: force, slip, places, depth",
        sliding("", "", "probes:\n  - §block.contact." + std::string(q) + "\n"), sliding(""));
  const auto crossed = [](const std::string& contact, const std::string& z = "-1.2 cm",
                          const std::string& bar = "") {
    return cord("    velocity: [0, 0, -1 m/s]\n  bar:\n    path: [[10 cm, -10 cm, " + z +
                    "], [10 cm, 10 cm, " + z +
                    "]]\n    material: rubber\n"
                    "    section: round\n    elements: 4\n" +
                    bar,
                "contact:\n  friction: 0.2\n" + contact);
  };
  add("threads that do not touch each other", crossed("  self: §false\n"), crossed(""));
  all.back().may_agree = true;  // at rest the cord hangs above the bar; here on it
  add("threads that do not touch each other",
      crossed("  self: §false\n", "-1.05 cm", "    clamps: [{at: 1}]\n"),
      crossed("", "-1.05 cm", "    clamps: [{at: 1}]\n"));
  add("threads that do not touch each other", sliding("    velocity: [1 m/s, 0, 0]\n", "  self: §false\n"),
      sliding("    velocity: [1 m/s, 0, 0]\n"));
  const auto probe = [&](const char* feature, const std::string& text) {
    add(feature, cord("", "probes:\n  - §" + text + "\n"), plain_cord);
  };
  probe("probe of the position or rotation of a place", "cord.tip.position");
  probe("probe of the position or rotation of a place", "cord.tip.rotation");
  probe("probe of the velocity of a place", "cord.tip.velocity");
  probe("probe of the velocity of a place", "cord.tip.speed");
  probe("probe of the velocity of a place", "cord.tip.angular_velocity");
  for (const char* q : {"length", "tension"})
    add("probe of a spring", spring("probes:\n  - §string." + std::string(q) + "\n"), spring(""));
  for (const char* q : {"gravity", "elastic", "total"})
    probe("probe of gravity's, elastic or total energy", "energy." + std::string(q));
  probe("probe of kinetic energy", "energy.kinetic");
  for (const char* q : {"dissipated", "work", "remainder"})
    probe("probe of dissipated energy, work or remainder",
          "{name: energy." + std::string(q) + ", quantity: " + q + "_energy}");
  probe("probe of gravity's, elastic or total energy", "{name: all, quantity: total_energy}");
  for (const auto& scene : {lying("", "", "probes:\n  - §{name: touching, quantity: contact_count}\n"),
                            sliding("", "", "probes:\n  - §{name: touching, quantity: contact_count}\n")})
    add("probe of contact: count, overlap", scene,
        other(scene, "probes:\n  - §{name: touching, quantity: contact_count}\n", ""));
  return all;
}

}  // namespace limber::scene
