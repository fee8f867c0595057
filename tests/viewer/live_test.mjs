// The live view of every shipped scene, whatever its method: it moves without an error, can be paused, stepped, pulled at, read, scrubbed,
// changed by a slider, and its method can be switched on the way.
import path from 'node:path';
import {check, finish, given, openBrowser, openPage, root, shippedScenes, startView, test, until} from './browser.mjs';

const wanted = given('scene', ''); // --scene hex: those whose names begin so, of all
const scenes = shippedScenes(wanted).map((name) => `${name}.yaml`);
const browser = await openBrowser();

// In the page: a small picture of the view as a number, and where parts that can be pulled are on the screen.
const helpers = () => {
  const small = document.createElement('canvas');
  [small.width, small.height] = [320, 200];
  const to = small.getContext('2d', {willReadFrequently: true});
  window.picture = () => {
    limber.stage.view.render();
    to.drawImage(limber.stage.view.renderer.domElement, 0, 0, 320, 200);
    let hash = 0;
    for (const x of new Int32Array(to.getImageData(0, 0, 320, 200).data.buffer)) hash = (Math.imul(hash, 31) + x) | 0;
    return hash;
  };
  // Ends move more than roots. The car of a rider follows its road and cannot be pulled.
  window.candidates = () => {
    const {view} = limber.stage;
    const layer = view.layers[0];
    const moment = limber.live.latest;
    const out = [];
    const pullable = (p) => !(p.kind === 'frame' && layer.layout.frames[p.index].fixed) && !/^car/.test(p.name) && !out.some((o) => o.name === p.name);
    const stride = Math.max(1, Math.floor(layer.parts.length / 60));
    for (let k = layer.parts.length - 1; k >= 0 && out.length < 3; k -= stride) {
      const p = layer.parts[k];
      if (!pullable(p)) continue;
      const on = view.toPage(view.controls.target.clone().fromArray(p.kind === 'frame' ? moment.positions : moment.points, 3 * p.index));
      const [x, y] = [Math.round(on.x), Math.round(on.y)];
      const hit = view.pick(x, y);
      if (hit && pullable(hit.part)) out.push({x, y, name: hit.part.name, kind: hit.part.kind, points: layer.layout.polylines[hit.part.polyline]?.points});
    }
    return out;
  };
  window.place = (p) => poses()[p.kind === 'frame' ? p.name : `line ${p.name} ${p.points}`];
  // Poses by name: another method may have other frames and lines.
  window.poses = () => {
    const {layout} = limber.live.scene;
    const {positions, rotations, points} = limber.live.latest;
    const out = {};
    layout.frames.forEach((f, i) => (out[f.name] = [...positions.subarray(3 * i, 3 * i + 3), ...rotations.subarray(4 * i, 4 * i + 4)]));
    let first = 0;
    for (const line of layout.polylines) {
      out[`line ${line.name} ${line.points}`] = [...points.subarray(3 * first, 3 * (first + line.points))];
      first += line.points;
    }
    return out;
  };
  limber.stage.view.follow = () => {}; // the camera stays: what changes in a picture is what moved
  // Paused, the page shows it too; while it plays a busy computer may always be a frame behind.
  window.settled = (s) => limber.live.latest && limber.live.latest.seen >= s && (!limber.live.latest.paused || limber.stage.moment === limber.live.latest);
};
const send = async (page, command) => {
  const s = await page.evaluate((c) => limber.live.send(c), command);
  await until(page, (n) => settled(n), 'a command is not answered', {argument: s});
};
const steps = async (page, n) => {
  await page.evaluate((count) => {
    for (let k = 0; k < count; ++k) limber.live.send({do: 'step'});
  }, n);
  await send(page, {do: 'pause'});
};
const distance = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

// It moves: seen from the very start, because a stiff structure is at rest again before a slow computer draws twice. Paused it is
// still, and a step is one step.
async function tryTime(page, name, moves) {
  await send(page, {do: 'pause'});
  await page.evaluate('limber.stage.view.adaptive = false'); // fewer pixels would be another picture
  await send(page, {do: 'reset'});
  const first = await page.evaluate('picture()');
  await send(page, {do: 'play'});
  await until(page, 'limber.live.latest.time > 0.03 || limber.live.latest.failed', 'time does not go on');
  if (moves) await until(page, (p) => picture() !== p, 'the picture does not change', {argument: first});
  await send(page, {do: 'pause'});
  await until(page, 'limber.live.latest.paused && limber.stage.moment === limber.live.latest', 'it does not pause');
  const still = await page.evaluate('[picture(), limber.live.latest.time]');
  await page.waitForTimeout(100);
  const later = await page.evaluate('[picture(), limber.live.latest.time]');
  check(still[0] === later[0] && still[1] === later[1], `${name}: it moves while paused`);
  await page.click('#step');
  await until(page, (t) => Math.abs(limber.live.latest.time - t - limber.live.scene.step) < 1e-9, 'a step is not one step', {argument: still[1]});
}

// Twenty steps from the start, or more if they are short, with and without a pull differ in the part that is pulled; the force is shown, and the part's numbers.
async function tryPull(page, name) {
  await send(page, {do: 'reset'});
  const start = await page.evaluate('picture()');
  const parts = await page.evaluate('candidates()');
  const count = Math.max(20, Math.ceil(0.01 / (await page.evaluate('limber.live.scene.step'))));
  for (const part of parts) {
    if (part !== parts[0]) await send(page, {do: 'reset'});
    await steps(page, count);
    const free = await page.evaluate((p) => place(p), part);
    await send(page, {do: 'reset'});
    await page.mouse.move(part.x, part.y);
    await page.mouse.down();
    await page.mouse.move(part.x + 30, part.y - 30, {steps: 2});
    await page.mouse.move(part.x + 60, part.y - 45);
    await send(page, {do: 'pause'});
    if (!(await page.evaluate('limber.live.latest.held'))) { // welded to the ground: the page says so
      check(/cannot be pulled/.test(await page.textContent('#note')), `${name}: ${part.name} is not held, and nothing says why`);
      await page.mouse.up();
      continue;
    }
    await steps(page, count);
    await until(page, 'Number(document.getElementById("force").dataset.value) > 0', `${name}: no force`);
    const pulled = await page.evaluate((p) => [place(p), document.getElementById('force').textContent], part);
    check(distance(free, pulled[0]) > 0, `${name}: pulling at ${part.name} does not move it`);
    check(/\d [kMmµn]?N/.test(pulled[1]), `${name}: the force reads ${pulled[1]}`);
    await page.mouse.up();
    await until(page, '!limber.live.latest.held', 'it is not let go');
    check((await page.textContent('#chosen')) === part.name, `${name}: ${part.name} is not chosen`);
    await until(page, '[...document.querySelectorAll("[data-reading]")].filter((e) => Number.isFinite(Number(e.dataset.value))).length >= 4', `${name}: no numbers of ${part.name}`);
    return start;
  }
  check(false, `${name}: nothing to pull at`);
  return start;
}

// An earlier moment; at the end it is live again.
async function tryScrub(page, name, moved) {
  const now = await page.evaluate('[limber.live.latest.time, picture()]');
  await page.locator('#scrub').evaluate((e) => {
    e.value = '0';
    e.dispatchEvent(new Event('input'));
  });
  const shown = await page.evaluate('[limber.stage.moment.time, picture()]');
  check(shown[0] < now[0], `${name}: scrubbing shows ${shown[0]} s, it is ${now[0]} s`);
  if (moved) check(shown[1] !== now[1], `${name}: scrubbing shows the same picture`);
  await page.evaluate('limber.live.scrub(Infinity)');
}

// Another method goes on from the same pose, or is grey and says why.
async function trySwitch(page, name) {
  const before = await page.evaluate('({method: limber.live.scene.method, methods: limber.live.scene.methods, epoch: limber.live.scene.epoch, time: limber.live.latest.time, poses: poses(), size: limber.stage.view.size})');
  const others = before.methods.filter((m) => m.name !== before.method);
  for (const m of others.filter((o) => !o.applies)) {
    const grey = await page.evaluate((n) => document.querySelector(`#method option[value="${n}"]`).disabled, m.name);
    check(grey && m.reason.length > 10 && m.reason.length < 600 && (await page.textContent('#panel')).includes(m.reason), `${name}: ${m.name} is not grey, or without a reason: ${m.reason}`);
  }
  const able = others.filter((m) => m.applies);
  if (!able.length) return;
  const family = (m) => m.split(':')[0];
  const to = (able.find((m) => family(m.name) === family(before.method)) ?? able[0]).name;
  await page.selectOption('#method', to);
  await until(page, (e) => limber.live.scene.epoch > e && limber.live.latest?.epoch > e, 'the method does not change', {argument: before.epoch});
  const after = await page.evaluate('({method: limber.live.scene.method, time: limber.live.latest.time, poses: poses()})');
  check(after.method === to, `${name}: after the switch the method is ${after.method}`);
  const common = Object.keys(before.poses).filter((k) => after.poses[k]);
  const far = Math.max(...common.map((k) => distance(before.poses[k], after.poses[k])));
  // Links of a reduced model do not fit at their joints far from its points (docs/theory/rom.md); another method closes the gaps.
  const most = before.method === 'rom' ? 0.05 * before.size : 1e-6;
  check(after.time === before.time && common.length > 0 && far < most, `${name}: the switch to ${to} moved it by ${far} m, to ${after.time} s from ${before.time} s`);
}

// A slider changes the model, and it goes on.
async function trySlider(page, name) {
  const slider = page.locator('[data-parameter]').first();
  const parameter = await slider.getAttribute('data-parameter');
  const value = () => page.evaluate((p) => limber.live.scene.parameters.find((q) => q.name === p).value, parameter);
  const before = await value();
  const old = await page.evaluate('limber.live.scene.epoch');
  await slider.focus();
  await slider.press('ArrowRight');
  await slider.press('ArrowRight');
  await until(page, (e) => limber.live.scene.epoch > e, '', {argument: old, timeout: 15000}).catch(() => {});
  check((await value()) > before, `${name}: ${parameter} stays ${before}: ${await page.textContent('#note')}`);
  await send(page, {do: 'play'});
  await until(page, '!limber.live.latest.paused', 'it does not go on');
}

async function tryScene(page, name, moves) {
  await until(page, 'window.limber && limber.live && limber.live.frames > 0 && limber.live.inControl', 'no frames came');
  await page.evaluate(helpers);
  await tryTime(page, name, moves);
  const start = await tryPull(page, name);
  const moved = (await page.evaluate('picture()')) !== start;
  if (!moves) check(moved, `${name}: pulling does not change the picture`);
  await tryScrub(page, name, moved);
  await trySwitch(page, name);
  await trySlider(page, name);
  check(page.faults.length === 0, `${name}: ${page.faults.join('; ')}`);
}
// Drawn by software here; and a molecule that is pulled at with 1 N moves by a pixel in ten seconds.
const smaller = {'molecule.yaml': ['--set', 'bodies=2000', '--set', 'pull=1 kN'], 'millipede.yaml': ['--set', 'legs=50'], 'cross-linked.yaml': ['--set', 'bodies=1000']};
const atRest = ['arch.yaml', 'truss.yaml'];

// Two at a time: much of it is waiting.
const queue = [...scenes];
const worker = async () => {
  for (let file = queue.shift(); file; file = queue.shift())
    await test(file, async () => {
      const view = await startView(path.join(root, 'scenes', file), ...(smaller[file] ?? []));
      let page;
      try {
        page = await openPage(browser, view.url, {viewport: {width: 800, height: 420}});
        await tryScene(page, file, !atRest.includes(file));
      } finally { // what is left running would slow all that follows
        await page?.context().close();
        const code = await view.stop();
        check(code === 0, `${file}: limber view ended with ${code}`);
      }
    });
};
await Promise.all([worker(), worker()]);

// Seconds pass before a page draws: the first picture is that of t = 0 all the same. At the end of the scene's time it waits, goes on if it is
// asked to, or starts again; and the camera has kept everything in the picture that moved.
await test('it starts when it is seen and pauses at its end', async () => {
  const view = await startView(path.join(root, 'scenes', 'double-pendulum.yaml'), '--time', '2 s');
  await new Promise((done) => setTimeout(done, 1500));
  const page = await openPage(browser, view.url);
  await until(page, 'window.limber && limber.live.latest && limber.live.latest.time > 0', 'it does not start');
  check((await page.evaluate('limber.live.history[0].time')) === 0, 'the first picture is not that of the start');
  await until(page, 'limber.live.latest.paused', 'it does not pause');
  check(Math.abs((await page.evaluate('limber.live.latest.time')) - 2) < 1e-6, 'it does not pause at the end');
  check(/end of the scene/.test(await page.textContent('#note')), 'nothing says why it pauses');
  await page.waitForTimeout(600);
  const outside = await page.evaluate(() => {
    const {view: v} = limber.stage;
    const {left, right, top, bottom} = v.renderer.domElement.getBoundingClientRect();
    let count = 0;
    for (const {positions} of limber.live.history)
      for (let k = 0; k < positions.length; k += 3) {
        const {x, y} = v.toPage(v.controls.target.clone().fromArray(positions, k));
        if (x < left || x > right || y < top || y > bottom) ++count;
      }
    return count;
  });
  check(outside === 0, `${outside} places of the motion were outside the picture`);
  await page.click('#play');
  await until(page, 'limber.live.latest.time > 2.1 && !limber.live.latest.paused', 'it does not go on');
  await page.click('#reset');
  await until(page, 'limber.live.latest.time < 1.5', 'it does not start again');
  await until(page, 'limber.live.latest.paused && Math.abs(limber.live.latest.time - 2) < 1e-6', 'it does not pause a second time');
  await page.click('#reset');
  await until(page, 'limber.live.latest.time > 0 && limber.live.latest.time < 1.5 && !limber.live.latest.paused', 'it does not start from its end');
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
  check((await view.stop()) === 0, 'limber view did not end well');
});

await test('the state can be saved as a scene that runs, and a second viewer only watches', async () => {
  const view = await startView(path.join(root, 'scenes', 'double-pendulum.yaml'));
  const page = await openPage(browser, view.url);
  await until(page, 'window.limber && limber.live.frames > 3 && limber.live.inControl', 'no frames came');
  await page.evaluate(helpers);
  await send(page, {do: 'pause'});
  await page.click('#save');
  await until(page, 'limber.live.saved.length > 0', 'nothing was saved');
  const text = await page.evaluate('limber.live.saved');
  check(text.includes('limber: 1') && text.includes('joints:'), 'the saved text is no scene');
  const second = await openPage(browser, view.url);
  await until(second, 'window.limber && limber.live.frames > 0', 'the second viewer gets no frame');
  check(await second.evaluate('!limber.live.inControl && document.getElementById("play").disabled'), 'the second viewer controls');
  await page.context().close();
  await until(second, 'limber.live.inControl', 'the second viewer does not take over');
  await second.context().close();
  check((await view.stop()) === 0, 'limber view did not end well');
});

// Pulled at an end effector, the reduced model gets a point there, goes on, and the saved scene has it.
if ('y-mechanism.yaml'.startsWith(wanted))
  await test('a point is added to a reduced model', async () => {
    const view = await startView(path.join(root, 'scenes', 'y-mechanism.yaml'));
    const page = await openPage(browser, view.url);
    await until(page, 'window.limber && limber.live.frames > 0 && limber.live.inControl', 'no frames came');
    await page.evaluate(helpers);
    await send(page, {do: 'pause'});
    await send(page, {do: 'reset'});
    const index = await page.evaluate('limber.live.scene.layout.frames.findIndex((f) => f.name === "left.2")');
    const at = await page.evaluate((i) => [...limber.live.latest.positions.subarray(3 * i, 3 * i + 3)], index);
    await send(page, {do: 'grab', on: 'frame', index, p: [0, 0, 0], target: [at[0] + 0.1, at[1] + 0.05, at[2]]});
    await steps(page, 20);
    const [epoch, before] = await page.evaluate('[limber.live.scene.epoch, place({kind: "frame", name: "left.2"})]');
    await page.click('#point');
    await until(page, (e) => limber.live.scene.epoch > e && limber.live.latest?.epoch > e, 'no point was added', {argument: epoch});
    await until(page, '/point 2 of the reduced model.*N on left.2/.test(document.getElementById("note").textContent)', 'nothing tells of the point');
    const after = await page.evaluate('place({kind: "frame", name: "left.2"})');
    // Of another blend the ends stand where they stood as near as its directions allow: its own error, no jump.
    check(distance(before, after) < 1e-3, `the point moved it by ${distance(before, after)}`);
    check(await page.evaluate('limber.live.latest.held'), 'it was let go');
    await page.click('#save');
    await until(page, 'limber.live.saved.length > 0', 'nothing was saved');
    const text = await page.evaluate('limber.live.saved');
    check(/points:/.test(text) && /left\.2/.test(text.slice(text.indexOf('points:'))), 'the saved scene has no point');
    await page.context().close();
    check((await view.stop()) === 0, 'limber view did not end well');
  });

// A thread that is cut falls apart: one line becomes two.
if ('cut.yaml'.startsWith(wanted))
  await test('a thread is cut', async () => {
    const view = await startView(path.join(root, 'scenes', 'cut.yaml'));
    const page = await openPage(browser, view.url);
    await until(page, 'window.limber && limber.live.frames > 0 && limber.live.inControl', 'no frames came');
    await page.evaluate(helpers);
    await send(page, {do: 'pause'});
    await send(page, {do: 'reset'});
    const [lines, points, epoch] = await page.evaluate('[limber.live.scene.layout.polylines.length, limber.live.scene.layout.polylines[0].points, limber.live.scene.epoch]');
    await send(page, {do: 'cut', index: Math.floor(points / 2)});
    await until(page, (e) => limber.live.scene.epoch > e && limber.live.latest?.epoch > e, 'it was not cut', {argument: epoch});
    await steps(page, 5);
    check((await page.evaluate('limber.live.scene.layout.polylines.length')) > lines, 'it is still one line');
    check(!(await page.evaluate('limber.live.latest.failed')), 'it failed');
    check(page.faults.length === 0, page.faults.join('; '));
    await page.context().close();
    check((await view.stop()) === 0, 'limber view did not end well');
  });

// Seen from the side and from above, an oval strap is as wide as its section there: no round thread could be.
if ('oval.yaml'.startsWith(wanted))
  await test('a thread is drawn as its section', async () => {
    const view = await startView(path.join(root, 'scenes', 'oval.yaml'));
    const page = await openPage(browser, view.url);
    await until(page, 'window.limber && limber.live.frames > 0 && limber.live.inControl', 'no frames came');
    await page.evaluate(helpers);
    await send(page, {do: 'pause'});
    await send(page, {do: 'reset'});
    const widths = await page.evaluate(() => {
      const {view: v, moment, layout} = limber.stage;
      const line = layout.polylines[0];
      for (const mesh of v.layers[0].group.children) if (mesh.material.defines.PIECE !== undefined) mesh.visible = false; // stripes and rings
      const point = (i) => v.controls.target.clone().fromArray(moment.points, 3 * i);
      const middle = Math.floor(line.points / 2);
      return [[0, -0.2, 0], [0, -0.02, 0.2]].map((from) => {
        const x = point(middle);
        v.controls.target.copy(x);
        v.camera.position.copy(x).add(point(0).fromArray(from));
        v.controls.update();
        v.camera.updateMatrixWorld();
        const [p, q] = [v.toPage(x), v.toPage(point(middle + 1))];
        const length = Math.hypot(q.x - p.x, q.y - p.y);
        const across = {x: -(q.y - p.y) / length, y: (q.x - p.x) / length};
        const corners = line.outline.map(([a, b]) => {
          const at = x.clone().multiplyScalar(1 - a - b).addScaledVector(point(middle + line.points), a).addScaledVector(point(middle + 2 * line.points), b);
          const c = v.toPage(at);
          return (c.x - p.x) * across.x + (c.y - p.y) * across.y;
        });
        // Outwards from the middle until the strap ends.
        let seen = 0;
        while (seen < 200 && v.pick(p.x + seen * across.x, p.y + seen * across.y)?.part.polyline === 0) ++seen;
        return {seen, expected: Math.max(...corners)};
      });
    });
    for (const {seen, expected} of widths) check(Math.abs(seen - expected) < 2.5, `${seen} pixels wide, expected ${expected}`); // the edge, and a pixel
    check(Math.abs(widths[0].expected / widths[1].expected - 1) > 0.4, `the section is round: ${JSON.stringify(widths)}`);
    check(page.faults.length === 0, page.faults.join('; '));
    await page.context().close();
    await view.stop();
  });

await browser.close();
finish();
