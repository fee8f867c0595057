"""Robots of others: every kind of thing that is translated, against the program whose file it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from import_against import against_mujoco, moment, smooth

import limber
from limber import Scene
from limber.doors import ImportFault, Imported, import_model

mujoco = pytest.importorskip("mujoco")
DATA = Path(__file__).parent / "data" / "doors"


def _theirs(name: str) -> object:
    return mujoco.MjModel.from_xml_path(str(DATA / name))


def test_a_tree_of_all_joints_moves_as_mujocos() -> None:
    made = import_model(DATA / "arm.xml")
    found = against_mujoco(_named("arm.xml"), made)
    assert found.freedoms == (12, 12)
    assert found.largest < 1e-10  # measured 5e-15; MuJoCo's own rounding


def _named(name: str) -> object:
    """MuJoCo's model with the names that the reader gives to what has none."""
    from limber.doors._mjcf_file import compiled, prepare
    from limber.doors._xml import Files

    return compiled(prepare(DATA / name, Files(DATA / name, [])), name)


def test_what_was_not_translated_has_its_line(tmp_path: Path) -> None:
    assert import_model(DATA / "arm.xml").complete
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "part.xml").write_text('<mujoco>\n<actuator>\n<muscle name="m" joint="hip"/>\n<adhesion body="leg" ctrlrange="0 1"/></actuator></mujoco>')
    file = tmp_path / "a" / "robot.xml"
    file.write_text(
        '<mujoco><option density="1.2"/>\n<worldbody>\n<body name="leg"><joint name="hip" range="-90 90" springyield="1" stiffness="1"/>\n<geom size="0.1"/></body>'
        '\n</worldbody><include file="part.xml"/></mujoco>'
    )
    made = import_model(file)
    assert [(n.file, n.line, n.what) for n in made.notes] == [
        ("robot.xml", 3, 'springyield of "hip"'),
        ("part.xml", 3, 'actuator "m"'),
        ("part.xml", 4, 'actuator "adhesion_4"'),
        ("robot.xml", 1, "air or water (option density, viscosity)"),
    ]
    assert all(f"{n.file}:{n.line}: {n.what}" in made.text for n in made.notes)  # at the end of the scene


def test_limits_count_from_the_reference_and_the_start_is_the_keyframes() -> None:
    made = import_model(DATA / "arm.xml")
    pan = made.tree["joints"]["pan"]
    assert np.allclose(pan["limits"], np.deg2rad([-75, 75]), atol=1e-12)
    assert np.isclose(pan["rest"], np.deg2rad(5), atol=1e-12)
    assert (pan["friction"], pan["damping"], pan["stiffness"]) == (0.1, 0.2, 3)
    assert np.isclose(pan["position"], 0.4 - np.deg2rad(15), atol=1e-12)
    assert made.tree["parameters"] == {"u_turn": 0.1, "u_hold": 0.2}


def test_the_start_is_mujocos_to_the_last_acceleration() -> None:
    """Positions, rates and drives of the keyframe, without going through the states of import_against."""
    made, model = import_model(DATA / "arm.xml"), _named("arm.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS)
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    tree = smooth(made.tree, start=True)
    names = made.names["bodies"]
    sim = moment(tree, _nothing(), list(names.values()))
    for theirs, ours in names.items():
        found, b = np.zeros(6), model.body(theirs).id
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, b, found, 0)
        assert np.allclose(sim.poses[sim.bodies.index(ours)][:3], data.xpos[b], atol=1e-12)
        assert np.allclose(sim[f"{ours}.acceleration"], found[3:] + model.opt.gravity, atol=1e-9)
        assert np.allclose(sim[f"{ours}.angular_acceleration"], found[:3], atol=1e-9)


def _nothing() -> object:
    from import_against import State

    return State({}, {})


# Rigid constraints of MuJoCo give by what solref 1 ms and solimp 0.9999 let them: some 1e-6 of what moves; the links
# of the chain and the net are held on light points, and are off by 1e-4.
@pytest.mark.parametrize(
    ("name", "off"),
    [("four_bar", 1e-5), ("weld", 5e-6), ("gears", 5e-6), ("spring", 2e-6), ("rope", 2e-6), ("pulley", 1e-6), ("sums", 2e-6), ("net", 1e-4), ("chain", 3e-4)],
)
def test_loops_tendons_and_flexes_move_as_mujocos(name: str, off: float) -> None:
    made = import_model(DATA / f"{name}.xml")
    assert made.complete, made.report()
    model = mujoco.MjModel.from_xml_path(str(DATA / f"{name}.xml"))
    data = mujoco.MjData(model)
    time = 0.3
    while data.time < time - 1e-9:
        mujoco.mj_step(model, data)
    run = made.scene.run(time=time, step=5e-4, integrator="gauss")
    moved = 0.0
    for theirs, ours in made.names["bodies"].items():
        assert np.abs(run.frames.of(ours)[-1, :3] - data.body(theirs).xpos).max() < off
        moved = max(moved, float(np.abs(run.frames.of(ours)[-1, 3:] - run.frames.of(ours)[0, 3:]).max()), float(np.ptp(run.frames.of(ours)[:, :3], axis=0).max()))
    assert moved > 0.01  # or nothing would be shown


def test_a_flex_with_a_modulus_hangs_as_a_beam() -> None:
    made = import_model(DATA / "rod.xml")
    model = mujoco.MjModel.from_xml_path(str(DATA / "rod.xml"))
    data = mujoco.MjData(model)
    for _ in range(12000):
        mujoco.mj_step(model, data)
    sag = 1.0 - data.flexvert_xpos[-1][2]
    rest = made.scene.static()
    assert np.abs(data.qvel).max() < 1e-5 and sag > 0.3
    # 24 hinges against a beam: (1/24)² of the sag, and MuJoCo's edges stretch a little
    assert np.abs(rest.points["rod.tip"] - data.flexvert_xpos[-1]).max() < 5e-3 * sag


def test_an_upper_limit_of_a_tendon_is_a_rope() -> None:
    made = import_model(DATA / "cup.xml")
    model = mujoco.MjModel.from_xml_path(str(DATA / "cup.xml"))
    data = mujoco.MjData(model)
    for _ in range(40000):
        mujoco.mj_step(model, data)
    rest = made.scene.static()
    assert abs(rest.points["ball"][2] - data.body("ball").xpos[2]) < 2e-5  # both give by 3e-5 m
    assert rest.points["ball"][2] < 0.3


# --- URDF


def test_a_urdf_moves_as_mujoco_reads_it() -> None:
    """MuJoCo knows neither mimic nor drake's elements: these are looked at below."""
    made = import_model(DATA / "leg.urdf")
    spec = mujoco.MjSpec.from_file(str(DATA / "leg.urdf"))
    spec.compiler.fusestatic = False
    tree = dict(made.tree)
    for key in ("springs", "couplings"):
        tree[key] = {}
    tree["joints"] = {n: j for n, j in tree["joints"].items() if not n.endswith("_axle")}
    tree["bodies"] = {n: b for n, b in tree["bodies"].items() if not n.endswith("_rotor")}
    plain = Imported(made.text, made.notes, made.remarks, made.name, tree, {"bodies": {n: n for n in ("thigh", "shin", "toe")}, "joints": made.names["joints"]})
    found = against_mujoco(spec.compile(), plain)
    assert found.freedoms == (3, 3)
    assert found.acceleration < 1e-10


def test_what_others_write_beside_a_urdf() -> None:
    made = import_model(DATA / "leg.urdf")
    tree = made.tree
    assert tree["couplings"]["slide_mimic"] == {"mimic": ["hip", "slide"], "ratio": 0.1, "offset": 0.02}
    assert tree["bodies"]["knee_rotor"]["inertia"] == [0.01] * 3
    assert tree["springs"]["calf"]["between"][1]["on"] == "shin"  # the foot is a point of it
    assert np.allclose(tree["bodies"]["shin"]["points"]["foot"], [0, 0, -0.25])
    assert made.complete and any("gazebo" in str(n) for n in made.remarks)
    sim = Scene({**tree, "probes": ["hip.angle", "slide.position"]}).simulate()
    sim.step(50)
    assert abs(sim["hip.angle"]) > 1e-3
    assert np.isclose(sim["slide.position"] - 0.1 * sim["hip.angle"], 0.02, atol=1e-9)


def test_loops_in_a_file_beside_a_urdf() -> None:
    made = import_model(DATA / "scissors.urdf")
    assert made.tree["loops"]["loop_0"]["type"] == "spherical"
    run = made.scene.run(time=0.2, step=1e-3)
    ends = []
    for link in ("a", "b"):
        pose = run.frames.of(link)[-1]
        from limber.doors import _space

        ends.append(pose[:3] + _space.from_quaternion(pose[3:]) @ [0.4, 0, 0])
    assert np.allclose(ends[0], ends[1], atol=1e-9)


def test_urdf_that_floats() -> None:
    fixed, floating = import_model(DATA / "leg.urdf"), import_model(DATA / "leg.urdf", floating=True)
    assert floating.scene.simulate().dofs == fixed.scene.simulate().dofs + 6


def test_sdf_and_mjcf_of_one_mechanism_are_one() -> None:
    """Two readers, one answer."""
    places = []
    for name in ("four_bar.xml", "four_bar.sdf"):
        run = import_model(DATA / name).scene.run(time=0.3, step=1e-3, integrator="gauss")
        places.append(np.array([run.frames.of(b)[-1] for b in ("crank", "coupler", "rocker")]))
    # frames differ by where the links' origins are: rotations do not
    assert np.allclose(places[0][:, 3:], places[1][:, 3:], atol=1e-9)
    assert np.ptp(places[0][:, 3:]) > 0.1


# --- hostile and wrong files

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(f'<!ENTITY {c} "{("&" + p + ";") * 10}">' for p, c in zip("abcdefghi", "bcdefghij")) + ']><mujoco model="&j;"/>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "entities"),
        ('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><robot name="&e;"/>', "entities"),
        ("<mujoco>" * 3000, "nested too deeply"),
        ("<mujoco><worldbody>", "no XML"),
        ("\0\1\2", "no XML"),
        ("", "no XML"),
        ("<html/>", "expected <mujoco>, <robot> or <sdf>"),
        ('<mujoco><include file="robot.xml"/></mujoco>', "includes itself"),
        ('<mujoco><include file="/etc/passwd"/></mujoco>', "outside"),
        ('<mujoco><include file="../../../../etc/passwd"/></mujoco>', "outside"),
        ('<mujoco><include file="gone.xml"/></mujoco>', "no file"),
        ('<mujoco><asset><mesh name="m" file="gone.stl"/></asset></mujoco>', 'robot.xml:1: there is no file "gone.stl"'),
        ('<mujoco><asset><mesh name="m" file="/dev/zero"/></asset></mujoco>', "outside"),
        ('<mujoco><worldbody><replicate count="1000000000"><body/></replicate></worldbody></mujoco>', "copies"),
        ('<mujoco><worldbody><replicate count="9999"><replicate count="9999"><geom size="1"/></replicate></replicate></worldbody></mujoco>', "copies"),
        ('<mujoco><worldbody><body name="b"><composite type="cable"/></body></worldbody></mujoco>', "composite"),
        ('<mujoco><worldbody>\n<body>\n<joint/><geom size="nan"/></body></worldbody></mujoco>', "robot.xml:3: MuJoCo refuses"),
        ('<robot name="r"><link name="a"/><link name="a"/></robot>', 'link "a" is there already'),
        ('<robot name="r"><link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>', 'no link "b"'),
        ('<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint><joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>', "no first link"),
        ('<robot name="r"><link name="a"><inertial><mass value="nan"/></inertial></link></robot>', "expected 1 number"),
        ('<robot name="r"><link name="a"><inertial><mass value="-1"/></inertial></link></robot>', "nothing has"),
        ('<robot name="r"><link name="a"><collision><geometry><mesh filename="package://x/../../../etc/passwd"/></geometry></collision></link></robot>', "outside"),
        ('<robot name="r"><link name="a"><collision><geometry><mesh filename="http://x/y.stl"/></geometry></collision></link></robot>', "no path of a file"),
        ('<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="wobbly"><parent link="a"/><child link="b"/></joint></robot>', 'no type "wobbly"'),
        ('<sdf version="1.9"><model name="m"><include><uri>robot.xml</uri></include></model></sdf>', "includes itself"),
        ('<sdf version="1.9"><model name="m"><frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="f"/></frame></model></sdf>', "leans on itself"),
        ('<sdf version="1.9"><model name="m"><link name="l"><pose>0 0</pose></link></model></sdf>', "expected 6 numbers"),
        ('<sdf version="1.9"><world name="w"/></sdf>', "no model"),
    ],
)
def test_wrong_files_are_told_where(tmp_path: Path, text: str, says: str) -> None:
    import time

    file = tmp_path / "a" / "robot.xml"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    begin = time.process_time()
    with pytest.raises(ImportFault) as e:
        import_model(file)
    assert says in str(e.value) and "robot.xml" in str(e.value)
    assert time.process_time() - begin < 1


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    with file.open("wb") as f:
        f.truncate(100_000_000)
    with pytest.raises(ImportFault, match="larger than"):
        import_model(file)


def test_a_mesh_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "m.stl").write_bytes(b"\0" * 80 + b"\xff\xff\xff\x7f" + b"\0" * 100)
    file = tmp_path / "robot.urdf"
    file.write_text('<robot name="r">\n<link name="a"><collision><geometry><mesh filename="m.stl"/></geometry></collision></link></robot>')
    with pytest.raises(ImportFault, match="robot.urdf:2.*no STL mesh"):
        import_model(file)
    assert import_model(file, meshes=False).report() == ['robot.urdf:2: mesh "m.stl": left out, as was asked']


def test_meshes_are_hulls(tmp_path: Path) -> None:
    box = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    (tmp_path / "box.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in box) + "f 1 2 3\n")
    file = tmp_path / "robot.urdf"
    file.write_text('<robot name="r"><link name="a"><collision><origin xyz="0 0 1"/><geometry><mesh filename="box.obj" scale="0.1 0.1 0.1"/></geometry></collision></link></robot>')
    shape = import_model(file).tree["bodies"]["a"]["shapes"][0]
    assert sorted(map(tuple, shape["hull"]["points"])) == sorted(tuple(0.1 * c for c in p) for p in [(float(x), float(y), float(z)) for x, y, z in box]) or np.allclose(
        sorted(map(tuple, shape["hull"]["points"])), sorted(tuple(0.1 * np.array(p)) for p in box)
    )


def test_a_body_on_two_hinges_does_not_touch_what_it_hangs_on(tmp_path: Path) -> None:
    """Between the hinges is a carrier without mass, so no one joint joins the two, which overlap."""
    file = tmp_path / "hip.xml"
    file.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="torso" pos="0 0 1"><freejoint/><geom size="0.1"/>'
        '<body name="thigh" pos="0 0 -0.1"><joint axis="1 0 0"/><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/></body>'
        '</body></worldbody></mujoco>'
    )
    made = import_model(file)
    assert made.report() == []
    sim = Scene(dict(made.tree, probes=["thigh.contact.force"])).simulate()
    sim.step(100)
    assert np.abs(sim["thigh.contact.force"]).max() == 0
    assert 0.75 < sim.now.poses[0][2] < 0.85  # it falls by g t²/2 = 0.196 m, and nothing throws it


def test_who_touches_whom(tmp_path: Path) -> None:
    """Masks, exclusions and explicit pairs: what falls through what, as in MuJoCo."""
    file = tmp_path / "filters.xml"
    balls = "".join(
        f'<body name="{name}" pos="{x} 0 {z}"><freejoint/><geom name="{name}" size="0.1" {masks}/></body>'
        for name, x, z, masks in (
            ("a", 0, 0.1, 'contype="1" conaffinity="1"'), ("b", 0, 0.4, 'contype="2" conaffinity="2"'),  # b falls through a, and lies on the floor
            ("c", 1, 0.1, 'contype="1" conaffinity="1"'), ("d", 1, 0.4, 'contype="3" conaffinity="3"'),  # d lies on c
            ("e", 2, 0.1, 'contype="1" conaffinity="1"'), ("f", 2, 0.4, 'contype="1" conaffinity="1"'),  # excluded
            ("g", 3, 0.1, 'contype="1" conaffinity="1"'), ("h", 3, 0.4, 'contype="2" conaffinity="2"'),  # a pair
        )
    )
    file.write_text(
        f'<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1" contype="3" conaffinity="3"/>{balls}</worldbody>'
        '<contact><exclude body1="e" body2="f"/><pair geom1="g" geom2="h" friction="0.7 0.7 0 0 0"/></contact></mujoco>'
    )
    made = import_model(file)
    assert made.report() == []
    assert {"between": ["g", "h"], "friction": 0.7, "collide": True} in made.tree["contact"]["pairs"]
    sim = made.scene.simulate()
    sim.step(300)  # 0.6 s: what falls 0.3 m takes 0.25 s
    heights = dict(zip(sim.bodies, sim.now.poses[:, 2], strict=True))
    theirs = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(theirs)
    for _ in range(300):
        mujoco.mj_step(theirs, data)
    for name in "abcdefgh":  # MuJoCo's contact is soft, and rings
        assert heights[name] == pytest.approx(data.body(name).xpos[2], abs=5e-3), name
    assert heights["b"] == pytest.approx(0.1, abs=1e-6) and heights["d"] == pytest.approx(0.3, abs=1e-6)


# --- texts


def test_what_repeats_is_short_and_says_the_same(tmp_path: Path) -> None:
    bodies = "".join(f'<body name="b{i}" pos="{0.1 * i} 0 1"><joint name="j{i}" axis="0 1 0" damping="0.1"/><geom type="sphere" size="0.02"/></body>' for i in range(12))
    file = tmp_path / "row.xml"
    file.write_text(f'<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>{bodies}</worldbody></mujoco>')
    made = import_model(file)
    assert "repeat" in made.text and "b${i}" in made.text and "b7" not in made.text
    short, long = made.scene.simulate(), Scene(made.tree).simulate()
    assert short.bodies == long.bodies and np.allclose(short.poses, long.poses, atol=1e-14)


@pytest.mark.parametrize("file", sorted(p.name for p in DATA.glob("*.*") if p.suffix in (".xml", ".urdf", ".sdf")))
def test_texts_are_scenes(file: str) -> None:
    made = import_model(DATA / file)
    assert made.scene.check().runs
    assert np.allclose(made.scene.simulate().poses, Scene(made.tree).simulate().poses, atol=1e-12)


def test_the_command(tmp_path: Path) -> None:
    from conftest import command

    os.environ["LIMBER_PYTHON"] = __import__("sys").executable
    out = tmp_path / "leg.yaml"
    done = command("import", str(DATA / "leg.urdf"), "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert limber.load(out).check().runs
    assert command("import", str(DATA / "leg.urdf"), "-o", str(out)).returncode == 2  # it is there already
    wrong = command("import", str(tmp_path / "gone.urdf"))
    assert wrong.returncode == 2 and "no such file" in wrong.stderr
    back = command("export", str(out), "--to", "mjcf", "-o", "-")
    assert back.returncode == 0 and back.stdout.startswith("<mujoco")
    os.environ["LIMBER_PYTHON"] = shutil.which("false") or "/bin/false"
    assert command("import", "x.urdf").returncode != 0
    os.environ["LIMBER_PYTHON"] = "/nowhere/python"
    missing = command("import", "x.urdf")
    assert missing.returncode == 4 and "needs Python" in missing.stderr
    del os.environ["LIMBER_PYTHON"]
