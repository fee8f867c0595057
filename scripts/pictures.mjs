// Makes the pictures of README.md from the shipped scenes, with the viewer itself: `make pictures`.
//
//   node scripts/pictures.mjs --limber build/release/limber [--only name]
import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {given, openBrowser, openPage, root, run, startView, temporaryFolder, until} from '../tests/viewer/browser.mjs';

// Scene, moment, what the camera looks at (else at all of it), how it turns and comes closer.
const pictures = [
  {name: 'bridge-car', time: 3.2, turn: [-0.12, -0.05], zoom: 0.72},
  {name: 'umbrella', time: 1.8, turn: [0, 0], zoom: 0.7},
  {name: 'tree', time: 1.5, turn: [0, 0], zoom: 0.95},
  {name: 'knot', time: 1.2, at: [0, 0.075, 0], turn: [-0.9, -0.1], zoom: 0.22},
  {name: 'hand', time: 2, turn: [0.3, -0.1], zoom: 0.75},
];

const images = path.join(root, 'docs/images');
mkdirSync(images, {recursive: true});
const folder = temporaryFolder();
const browser = await openBrowser();
const only = given('only', '');

for (const {name, time, at, turn, zoom} of pictures.filter((p) => !only || p.name === only)) {
  const runFolder = path.join(folder, name);
  run('run', path.join(root, 'scenes', `${name}.yaml`), '--quiet', '--no-vtk', '--no-glb', '--out', runFolder);
  const url = `${pathToFileURL(path.join(runFolder, 'report.html')).href}#picture&theme=light&t=${time}`;
  const page = await openPage(browser, url, {offline: true, viewport: {width: 960, height: 540}});
  await until(page, 'window.limber && limber.replay', 'the report did not open');
  await page.evaluate(({at: target, turn: [h, v], zoom: z}) => {
    const {camera, controls} = limber.stage.view;
    const shift = controls.target.clone().fromArray(target ?? controls.target.toArray()).sub(controls.target);
    for (const place of [camera.position, controls.target]) place.add(shift);
    limber.stage.view.turn(h, v);
    limber.stage.view.zoom(z);
    limber.stage.view.render();
  }, {at, turn, zoom});
  await page.screenshot({path: path.join(images, `${name}.png`)});
  console.log(`wrote docs/images/${name}.png`);
  await page.context().close();
}

if (!only || only === 'viewer') {
  const view = await startView(path.join(root, 'scenes/diving-board.yaml'));
  const page = await openPage(browser, `${view.url}&theme=light`, {viewport: {width: 1120, height: 640}});
  await until(page, 'window.limber && limber.live.latest && limber.live.latest.time > 0.9', 'no frames came');
  await page.evaluate("limber.live.send({do: 'pause'})");
  await until(page, 'limber.live.latest.paused', 'it does not pause');
  await page.evaluate("limber.stage.colourBy(limber.stage.fields.findIndex((f) => f.name.includes('stress')))");
  await page.waitForTimeout(600);
  await page.screenshot({path: path.join(images, 'viewer.png')});
  console.log('wrote docs/images/viewer.png');
  await page.context().close();
  await view.stop();
}
await browser.close();
process.exit(0);
