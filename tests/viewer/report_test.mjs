// report.html: opens from a disk with the network off, plays, shows the numbers of probes.csv, and stays small.
import {readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {check, finish, limber, modules, openBrowser, openPage, root, run, shippedScenes, temporaryFolder, test, until} from './browser.mjs';
import {spawnSync} from 'node:child_process';

const folder = temporaryFolder();
const largest = 5e6; // bytes

const scenes = shippedScenes();
// Not those that only come to rest: what moves is `limber run`'s.
const dynamic = (scene) => spawnSync(limber, ['run', path.join(root, 'scenes', `${scene}.yaml`), '--time', '0 s', '--quiet', '--no-vtk', '--no-glb', '--no-report', '--out', path.join(folder, `try-${scene}`)]).status === 0;
const runFolder = (scene) => path.join(folder, scene);

await test('the sources pass the type checker', async () => {
  const done = spawnSync(process.execPath, [path.join(modules, 'node_modules/typescript/bin/tsc'), '-p', modules], {encoding: 'utf8'});
  check(done.status === 0, `tsc:\n${done.stdout}`);
});

await test('every scene has a report of less than 5 MB', async () => {
  check(scenes.length >= 9, `scenes found: ${scenes.length}`);
  for (const scene of scenes) {
    if (!dynamic(scene)) continue;
    // One that stops on the way (exit code 3: a scene that is made for statics) has a report too.
    const done = spawnSync(limber, ['run', path.join(root, 'scenes', `${scene}.yaml`), '--quiet', '--no-vtk', '--no-glb', '--out', runFolder(scene)], {encoding: 'utf8'});
    check(done.status === 0 || done.status === 3, `${scene}: ${done.status}: ${done.stderr}`);
    const size = statSync(path.join(runFolder(scene), 'report.html')).size;
    check(size < largest, `${scene}: report.html has ${size} bytes`);
  }
});

function readCsv(file) {
  const [head, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const names = head.split(',').map((name) => name.replace(/ \[.*\]$/, ''));
  return {names, rows: lines.map((line) => line.split(',').map(Number))};
}

const browser = await openBrowser();
await test('molecule: 50,000 bodies by their names, poses rounded by no more than the report says', async () => {
  const page = await openPage(browser, pathToFileURL(path.join(runFolder('molecule'), 'report.html')).href, {offline: true});
  await until(page, 'window.limber && limber.replay', 'the page did not start', {timeout: 60000});
  const csv = readCsv(path.join(runFolder('molecule'), 'probes.csv'));
  const seen = await page.evaluate(() => {
    const {recording} = limber.replay;
    const last = recording.layout.frames.findIndex((f) => f.name === 'm.49999');
    const moments = [...recording.frameTimes].map((t) => recording.at(t));
    let [low, high] = [Infinity, -Infinity];
    for (const m of moments) for (const x of m.positions) [low, high] = [Math.min(low, x), Math.max(high, x)];
    return {
      names: new Set(recording.layout.frames.map((f) => f.name)).size, low, high,
      times: [...recording.frameTimes], scalars: moments.map((m) => [...m.scalars]),
      lengths: moments.map((m) => Math.hypot(...m.rotations.subarray(4 * 777, 4 * 777 + 4))),
      // The tip is at the end of the last link, which is 10 cm long.
      ends: moments.map((m) => [...m.positions.subarray(3 * last, 3 * last + 3)]), warnings: document.getElementById('warnings').textContent,
    };
  });
  check(seen.names === 50000, `names: ${seen.names}`);
  check(/rounded/.test(seen.warnings), `warnings: ${seen.warnings}`);
  check(seen.times.length >= 2, `moments: ${seen.times}`);
  seen.times.forEach((t, k) => {
    const row = csv.rows.find((r) => r[0] === t);
    check(row && seen.scalars[k].every((x, i) => x === row[i + 1]), `numbers at ${t} s differ from probes.csv`);
    const tip = csv.names.slice(1).map((n, i) => (n.startsWith('m.tip.position') ? row[i + 1] : NaN)).filter(Number.isFinite);
    const off = Math.abs(Math.hypot(...tip.map((x, i) => x - seen.ends[k][i])) - 0.1);
    check(off < 4 * (seen.high - seen.low) / 65534, `the last link at ${t} s is ${off} m too long`);
    check(Math.abs(seen.lengths[k] - 1) < 1e-4, `a rotation's length is ${seen.lengths[k]}`);
  });
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
});

for (const scene of ['bridge-car', 'diving-board', 'umbrella']) {
  await test(`${scene}: the report opens offline, plays, and its numbers are those of probes.csv`, async () => {
    const page = await openPage(browser, pathToFileURL(path.join(runFolder(scene), 'report.html')).href, {offline: true});
    await until(page, 'window.limber && limber.replay', 'the page did not start');
    const csv = readCsv(path.join(runFolder(scene), 'probes.csv'));

    // Every number of every frame, bit for bit.
    const stored = await page.evaluate(() => {
      const r = limber.replay.recording;
      return {names: r.layout.scalars.map((s) => s.name), times: [...r.times], columns: r.scalars.map((c) => [...c])};
    });
    check(stored.times.length === csv.rows.length, `frames: ${stored.times.length} and ${csv.rows.length}`);
    check(stored.names.join() === csv.names.slice(1).join(), `columns: ${stored.names} and ${csv.names}`);
    let different = 0;
    csv.rows.forEach((row, i) => row.forEach((x, k) => {
      if (x !== (k === 0 ? stored.times[i] : stored.columns[k - 1][i])) ++different;
    }));
    check(different === 0, `${different} numbers differ from probes.csv`);

    // What is shown at some frame.
    const at = Math.floor(csv.rows.length / 2);
    await page.evaluate((t) => limber.replay.seek(t), csv.rows[at][0]);
    const shown = await page.$$eval('[data-scalar]', (cells) => cells.map((c) => [c.dataset.scalar, Number(c.dataset.value), c.textContent]));
    check(shown.length === csv.names.length - 1, `cells: ${shown.length}`);
    for (const [name, value, text] of shown) {
      check(value === csv.rows[at][csv.names.indexOf(name)], `${name}: shown ${value}, in probes.csv ${csv.rows[at][csv.names.indexOf(name)]}`);
      check(/\d/.test(text) && !/0\.0000/.test(text), `${name}: reads ${text}`);
    }

    // It plays: time goes on and the picture changes.
    await page.evaluate(() => limber.replay.seek(0));
    const before = await page.locator('#canvas').screenshot();
    await page.click('#play');
    await until(page, 'limber.replay.t > 0.2', 'time does not go on'); // a busy computer draws late
    await page.click('#play');
    const after = await page.locator('#canvas').screenshot();
    check(!before.equals(after), 'the picture did not change while playing');
    await page.waitForTimeout(150);
    check(after.equals(await page.locator('#canvas').screenshot()), 'the picture changes while paused');

    check(await page.$$eval('.plot canvas', (c) => c.length) > 0, 'no plots');
    await checkTicks(page, scene);
    check((await page.textContent('#report')).includes('limber: 1'), 'the scene text is missing');
    check(page.faults.length === 0, page.faults.join('; '));
    check(page.requests.every((url) => url.startsWith('file:') || url.startsWith('data:') || url.startsWith('blob:')), `asked for ${page.requests}`);
    await page.context().close();
  });
}
await test('statics: the loaded shape over the unloaded one, stress, force and deflection, reactions', async () => {
  const file = path.join(folder, 'static.html');
  const scene = path.join(root, 'scenes/cantilever.yaml');
  const result = JSON.parse(run('static', scene, '--method', 'articulated', '--at', '0.9 s', '--report', file, '--json').stdout);
  const page = await openPage(browser, pathToFileURL(file).href, {offline: true});
  await until(page, 'window.limber && limber.replay', 'the page did not start');
  const seen = await page.evaluate(() => {
    const {stage, replay} = limber;
    const stress = replay.recording.fields.findIndex((f) => f.name === 'bending stress');
    return {
      layers: stage.view.layers.length,
      coloured: stage.view.layers[0].uniforms.coloured.value,
      legend: document.getElementById('legend').textContent,
      share: replay.t,
      stress: Math.max(...replay.recording.at(1).fields[stress]),
      tables: [...document.querySelectorAll('#report h2')].map((h) => h.textContent),
      curve: limber.data.plots[0].curves[0],
      cells: [...document.querySelectorAll('[data-scalar]')].map((c) => [c.dataset.scalar, Number(c.dataset.value)]),
    };
  });
  check(seen.layers === 2 && seen.coloured === 1 && seen.share === 1, JSON.stringify(seen));
  check(/bending stress.*Pa/.test(seen.legend), `legend: ${seen.legend}`);
  check(seen.tables.includes('Reactions') && seen.tables.includes('What was found'), `tables: ${seen.tables}`);
  // 1.8 N at 1 m on a strip of 30 × 5 mm: M c / I, the arm shortened by the bend; the first joint is a little off the clamp.
  const stress = (1.8 * result.probes['strip.tip.position.x'] * 0.0025) / ((0.03 * 0.005 ** 3) / 12);
  check(Math.abs(seen.stress / stress - 1) < 0.03, `stress ${seen.stress}, expected ${stress}`);
  check(Math.abs(seen.curve.y.at(-1) - 1.8) < 1e-12 && seen.curve.x[0] === 0 && seen.curve.x.length === 21, `curve ${JSON.stringify(seen.curve)}`);
  for (const [name, value] of seen.cells) check(value === result.probes[name], `${name}: ${value} and ${result.probes[name]}`);
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
});

await test('compare says where nothing acts', async () => {
  const {stderr} = run('compare', path.join(root, 'scenes/cantilever.yaml'));
  check(/nothing loads it at t = 0 s/.test(stderr), stderr);
});

await test('statics by chain: the same, from the method that limber static chooses for beams', async () => {
  const file = path.join(folder, 'chain.html');
  run('static', path.join(root, 'scenes/cantilever.yaml'), '--at', '0.9 s', '--report', file, '--json');
  const page = await openPage(browser, pathToFileURL(file).href, {offline: true});
  await until(page, 'window.limber && limber.replay', 'the page did not start');
  const seen = await page.evaluate(() => ({
    stress: Math.max(...limber.replay.recording.at(1).fields[0]),
    tip: limber.replay.recording.at(1).points.slice(-3)[0],
    layers: limber.stage.view.layers.length,
    force: limber.data.plots[0].curves[0].y.at(-1),
  }));
  // Pure bending at the clamp.
  const stress = (1.8 * seen.tip * 0.0025) / ((0.03 * 0.005 ** 3) / 12);
  check(seen.layers === 2 && Math.abs(seen.force - 1.8) < 1e-12 && Math.abs(seen.stress / stress - 1) < 0.03, JSON.stringify({...seen, stress}));
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
});

await test('contact: arrows carry what lies on the ground, in runs and at rest, and can be switched off', async () => {
  const scene = path.join(folder, 'box.yaml');
  writeFileSync(scene, 'limber: 1\nbodies: {box: {box: [0.2, 0.1, 0.06], mass: 2, at: [0, 0, 0.03]}}\n' +
    'contact: {friction: 0.5, planes: [{at: [0, 0, 0]}]}\nrun: {time: 0.2, step: 0.002}\n');
  run('run', scene, '--quiet', '--no-vtk', '--no-glb', '--out', path.join(folder, 'box'));
  run('static', scene, '--method', 'articulated', '--report', path.join(folder, 'box-rest.html'));
  for (const file of [path.join(folder, 'box/report.html'), path.join(folder, 'box-rest.html')]) {
    const page = await openPage(browser, pathToFileURL(file).href, {offline: true});
    await until(page, 'window.limber && limber.replay', 'the page did not start');
    const seen = await page.evaluate(() => {
      const {stage, replay} = limber;
      replay.seek(replay.recording.start + replay.recording.duration);
      stage.show(stage.moment, true);
      const places = stage.moment.touches;
      const force = [0, 0, 0];
      for (let k = 0; k < places.length; k += 6) for (let c = 0; c < 3; ++c) force[c] += places[k + 3 + c];
      const drawn = stage.view.arrows.count;
      document.getElementById('arrows').click();
      return {places: places.length / 6, force, drawn, off: !stage.view.arrows.group.visible, scale: document.getElementById('arrows-scale').textContent};
    });
    // As f32: seven digits.
    check(seen.places === 4 && Math.hypot(seen.force[0], seen.force[1], seen.force[2] - 2 * 9.81) < 1e-4, `${file}: ${JSON.stringify(seen)}`);
    check(seen.drawn === 4 && seen.off && /4\.9\d* N/.test(seen.scale), `${file}: ${JSON.stringify(seen)}`);
    check(page.faults.length === 0, page.faults.join('; '));
    await page.context().close();
  }
});

// Numbers at an axis tell its ticks apart, however small they are.
async function checkTicks(page, name) {
  const axes = await page.evaluate('limber.plots.flatMap((p) => p.chart.axes.map((a) => [p.title, a._values]))');
  for (const [title, texts] of axes) {
    const shown = texts.filter((t) => t);
    check(shown.length > 0 && new Set(shown).size === shown.length, `${name}: ${title}: ticks ${texts}`);
  }
}

await test('compare: a beam through every method, against the exact rod, ranked', async () => {
  const file = path.join(folder, 'compare.html');
  const result = JSON.parse(run('compare', path.join(root, 'scenes/cantilever.yaml'), '--at', '0.9 s', '--set', 'pull=6 N', '--out', file, '--json').stdout);
  check(/exact rod/.test(result.reference), result.reference);
  const ran = result.methods.filter((m) => m.applies);
  check(new Set(ran.map((m) => m.method)).size >= 3, `methods: ${ran.map((m) => m.method)}`);
  const elements = (m) => parseInt(m.setting, 10);
  // Second order: twice the elements, a quarter of the error; so more elements rank before fewer, in each method.
  for (const method of new Set(ran.map((m) => m.method))) {
    const own = ran.filter((m) => m.method === method);
    if (method === 'thread') {  // it shears and stretches, the rod does not: what is left is physical
      check(own[0].error < 2e-4, `${method}: ${own[0].error}`);
      continue;
    }
    for (let k = 0; k + 1 < own.length; ++k) {
      check(elements(own[k]) > elements(own[k + 1]), `${method}: ${own.map(elements)}`);
      const ratio = own[k + 1].error / own[k].error;
      const expected = (elements(own[k]) / elements(own[k + 1])) ** 2;
      check(ratio > 0.8 * expected && ratio < 1.25 * expected, `${method}: the error falls by ${ratio}, expected ${expected}`);
    }
    check(own[0].error < 1e-4, `${method}: ${own[0].error}`);
  }
  for (let k = 0; k + 1 < ran.length; ++k) check(ran[k].error <= ran[k + 1].error, 'not ranked');
  const page = await openPage(browser, pathToFileURL(file).href, {offline: true});
  await until(page, 'window.limber && limber.replay', 'the page did not start');
  check((await page.evaluate('limber.stage.view.layers.length')) >= 3, 'shapes are missing');
  check((await page.textContent('#report')).includes('Error against cost'), 'the plot is missing');
  await checkTicks(page, 'compare');
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
});

await browser.close();
finish();
