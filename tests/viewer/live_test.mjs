// The live view of every shipped scene: it moves without an error, can be paused, stepped, pulled at, changed by a slider, scrubbed,
// and its method can be switched on the way.
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {spawnSync} from 'node:child_process';
import {check, finish, given, limber, openBrowser, openPage, root, startView, temporaryFolder, test, until} from './browser.mjs';

const wanted = given('scene', '');
const scenes = readdirSync(path.join(root, 'scenes')).filter((name) => name.endsWith('.yaml') && name.startsWith(wanted));
const browser = await openBrowser();

// In the page: a small picture of the view as a string, and where a part that can be pulled is on the screen.
const helpers = () => {
  window.picture = () => {
    limber.stage.view.render();
    const c = document.createElement('canvas');
    [c.width, c.height] = [320, 200];
    const to = c.getContext('2d');
    to.drawImage(limber.stage.view.renderer.domElement, 0, 0, 320, 200);
    let hash = 0;
    for (const x of to.getImageData(0, 0, 320, 200).data) hash = (Math.imul(hash, 31) + x) | 0;
    return hash;
  };
  window.findMovable = () => {
    const {view} = limber.stage;
    const layer = view.layers[0];
    const fixed = (p) => p.kind === 'frame' && layer.layout.frames[p.index].fixed;
    // Where a part's middle is on the screen, if it is the part that is seen there.
    const moment = limber.live.latest;
    for (const p of [...layer.parts].reverse()) { // ends move more than roots
      if (fixed(p) || !limber.holdable(p)) continue;
      const at = view.controls.target.clone().fromArray(p.kind === 'frame' ? moment.positions : moment.points, 3 * p.index);
      const on = view.toPage(at);
      const [x, y] = [Math.round(on.x), Math.round(on.y)];
      const hit = view.pick(x, y);
      if (hit && !fixed(hit.part) && limber.holdable(hit.part)) return {x, y, name: hit.part.name, kind: hit.part.kind, index: hit.part.index};
    }
    return null;
  };
  // The car of a rider follows its road and cannot be pulled; what hangs on the world by a weld does not move.
  limber.holdable = (part) => !/^(car|ground|base)/.test(part.name) && !/root$/.test(part.name);
  window.spot = () => [...limber.live.latest.positions, ...limber.live.latest.points, ...limber.live.latest.rotations];
  window.settled = (s) => limber.live.latest && limber.live.latest.seen >= s && limber.stage.moment === limber.live.latest;
};
const send = async (page, command) => {
  const s = await page.evaluate((c) => limber.live.send(c), command);
  await until(page, (n) => settled(n), 'a command is not answered', {argument: s});
};
const largest = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

async function tryScene(page, name) {
  await until(page, 'window.limber && limber.live && limber.live.frames > 3', 'no frames came');
  await page.evaluate(helpers);

  // It moves: seen from the very start, because a stiff structure is at rest again before a slow computer draws twice.
  await send(page, {do: 'pause'});
  await send(page, {do: 'reset'});
  const first = await page.evaluate('picture()');
  await send(page, {do: 'play'});
  await until(page, 'limber.live.latest.time > 0.15', 'time does not go on');
  await until(page, (p) => picture() !== p, 'the picture does not change', {argument: first});

  // Paused it is still, and a step is one step.
  await send(page, {do: 'pause'});
  await until(page, 'limber.live.latest.paused && limber.stage.moment === limber.live.latest', 'it does not pause');
  await page.evaluate('limber.stage.view.adaptive = false'); // fewer pixels would be another picture
  const still = await page.evaluate('[picture(), limber.live.latest.time]');
  await page.waitForTimeout(120);
  const later = await page.evaluate('[picture(), limber.live.latest.time]');
  check(still[0] === later[0] && still[1] === later[1], `${name}: it moves while paused`);
  await page.click('#step');
  await until(page, (t) => Math.abs(limber.live.latest.time - t - limber.live.scene.step) < 1e-9, 'a step is not one step', {argument: still[1]});

  // Scrubbing shows an earlier moment; at the end it is live again.
  const now = await page.evaluate('limber.live.latest.time');
  await page.locator('#scrub').evaluate((e) => {
    e.value = '0';
    e.dispatchEvent(new Event('input'));
  });
  const shown = await page.evaluate('[limber.stage.moment.time, picture()]');
  check(shown[0] < now, `${name}: scrubbing shows ${shown[0]} s, it is ${now} s`);
  check(shown[1] !== later[0], `${name}: scrubbing shows the same picture`);
  await page.evaluate('limber.live.scrub(Infinity)');

  // Another method goes on from the same pose.
  const pose = await page.evaluate('spot()');
  const methods = await page.evaluate('limber.live.scene.methods.filter((m) => m.applies && m.name !== limber.live.scene.method && m.name.startsWith("articulated")).map((m) => m.name)');
  check(methods.length > 0, `${name}: no other method`);
  const epoch = await page.evaluate('limber.live.scene.epoch');
  await page.selectOption('#method', methods[0]);
  await until(page, (e) => limber.live.scene.epoch > e && limber.live.latest.epoch > e, 'the method does not change', {argument: epoch});
  const after = await page.evaluate('[spot(), limber.live.scene.method, limber.live.latest.time]');
  check(after[1] === methods[0] && after[2] === now, `${name}: after the switch ${after[1]} at ${after[2]} s`);
  check(largest(pose, after[0]) < 1e-6, `${name}: the switch moved it by ${largest(pose, after[0])} m`);

  await page.evaluate('limber.stage.view.touched = true'); // the camera stays

  // A pull: twenty steps from the start with and without it differ where it pulls.
  await send(page, {do: 'reset'});
  const part = await page.evaluate('findMovable()');
  if (check(part, `${name}: nothing to pull at`)) {
    await page.evaluate("for (let k = 0; k < 20; ++k) limber.live.send({do: 'step'})");
    await send(page, {do: 'pause'});
    const free = await page.evaluate('spot()');
    await send(page, {do: 'reset'});
    await page.mouse.move(part.x, part.y);
    await page.mouse.down();
    await page.mouse.move(part.x + 30, part.y - 30, {steps: 2});
    await page.mouse.move(part.x + 60, part.y - 45);
    await until(page, 'limber.live.latest.held', `${name}: ${part.name} is not held`);
    await page.evaluate("for (let k = 0; k < 20; ++k) limber.live.send({do: 'step'})");
    await send(page, {do: 'pause'});
    const pulled = await page.evaluate("[spot(), Number(document.getElementById('force').dataset.value), document.getElementById('force').textContent]");
    check(largest(free, pulled[0]) > 0, `${name}: pulling at ${part.name} moves nothing`);
    check(pulled[1] > 0 && /[kMmµ]?N/.test(pulled[2]), `${name}: the force reads ${pulled[2]}`);
    await page.mouse.up();
    await until(page, '!limber.live.latest.held', 'it is not let go');
    check((await page.textContent('#chosen')) === part.name, `${name}: ${part.name} is not chosen`);
    await until(page, 'document.querySelectorAll("[data-reading]").length >= 4', `${name}: no numbers of ${part.name}`);
  }

  // A slider changes the model.
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
  check(page.faults.length === 0, `${name}: ${page.faults.join('; ')}`);
}

// Scenes of other methods, which cannot be pulled at, and those that are made for statics and come to rest at once.
async function tryToWatch(page, name, moves) {
  await until(page, 'window.limber && limber.live && limber.live.frames > 3', 'no frames came');
  await page.evaluate(helpers);
  if (moves) {
    await send(page, {do: 'pause'});
    await send(page, {do: 'reset'});
    const first = await page.evaluate('picture()');
    await send(page, {do: 'play'});
    await until(page, (p) => picture() !== p, 'the picture does not change', {argument: first});
  }
  await send(page, {do: 'pause'});
  await until(page, 'limber.live.latest.paused && limber.stage.moment === limber.live.latest', 'it does not pause');
  const before = await page.evaluate('limber.live.latest.time');
  await page.click('#step');
  await until(page, (t) => Math.abs(limber.live.latest.time - t - limber.live.scene.step) < 1e-9, 'a step is not one step', {argument: before});
  await send(page, {do: 'play'});
  await until(page, '!limber.live.latest.paused', 'it does not go on');
  check(page.faults.length === 0, `${name}: ${page.faults.join('; ')}`);
}
const smaller = {'molecule.yaml': ['--set', 'bodies=2000'], 'millipede.yaml': ['--set', 'legs=50'], 'cross-linked.yaml': ['--set', 'bodies=1000']}; // drawn by software here
const atRest = ['arch.yaml', 'truss.yaml'];
const otherMethod = (file) => /method: (adaptive|thread|rom)/.test(readFileSync(path.join(root, 'scenes', file), 'utf8'));

// Scenes that are made for statics cannot move (exit code 2), or not for long (3).
const folder = temporaryFolder();
const moves = (file) => {
  const done = spawnSync(limber, ['run', path.join(root, 'scenes', file), '--time', '0.5 s', '--quiet', '--no-vtk', '--no-glb', '--no-report', '--out', path.join(folder, file)]);
  check([0, 2, 3].includes(done.status), `${file}: ${done.stderr}`);
  if (done.status !== 0) console.log(`${file} does not move (exit code ${done.status})`);
  return done.status === 0;
};

// Two at a time: most of it is waiting.
const queue = scenes.filter(moves);
const worker = async () => {
  for (let file = queue.shift(); file; file = queue.shift())
    await test(file, async () => {
      const view = await startView(path.join(root, 'scenes', file), ...(smaller[file] ?? []));
      const page = await openPage(browser, view.url, {viewport: {width: 960, height: 500}});
      if (atRest.includes(file) || otherMethod(file)) await tryToWatch(page, file, !atRest.includes(file));
      else await tryScene(page, file);
      await page.context().close();
      const code = await view.stop();
      check(code === 0, `${file}: limber view ended with ${code}`);
    });
};
await Promise.all([worker(), worker()]);

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

await browser.close();
finish();
