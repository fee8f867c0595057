// How quick the live view is: from a pull at the 300-link bridge to the poses on the page that feel it; 5,000 and 50,000 links drawn
// in software.
import os from 'node:os';
import path from 'node:path';
import {Worker} from 'node:worker_threads';
import {check, finish, openBrowser, openPage, root, startView, test, until} from './browser.mjs';

// A move of the mouse changes the poses on the page within 50 ms, in the middle of the moves of one pull. The clock runs from the browser's
// time stamp of a real mouse event to the moment at which the page has taken the poses of a frame that the simulation made a step for
// after it knew of the move, in the callback that draws them.
//
// That is asked for on a computer that does nothing else. Where other programs want it too, browser and simulation get a share of its
// cores only, and take as much longer: the share that programs get which want all of it is measured before and after each pull.
const mostLatency = 50; // [ms]
// Continuous integration shares its computer with programs that this one does not see: there only a gross fault of drawing fails.
const leastFrames = process.env.CI ? 2.5 : 10; // a second

// Of a quarter of a second, with as many threads as there are cores.
async function shareOfCores() {
  const spin = 'for (const end = Date.now() + 600; Date.now() < end;);';
  const workers = os.cpus().map(() => new Worker(spin, {eval: true}));
  await Promise.all(workers.map((w) => new Promise((done) => w.on('online', done))));
  const [begin, used] = [performance.now(), process.cpuUsage()];
  await new Promise((done) => setTimeout(done, 250));
  const {user, system} = process.cpuUsage(used);
  const own = (user + system) / 1000 / (performance.now() - begin) / workers.length;
  await Promise.all(workers.map((w) => w.terminate()));
  return Math.min(1, own);
}
const share = (list, s) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(s * list.length))];
const both = (list) => `${share(list, 0.5).toFixed(1)} ms, nine of ten within ${share(list, 0.9).toFixed(1)} ms`;
async function sweep(page, from, k0) {
  for (let k = 0; k < 24; ++k) {
    await page.mouse.move(from.x + 10 + 3 * k, from.y - 20 - 20 * k0 - k);
    await page.waitForTimeout(25);
  }
}

const browser = await openBrowser();

await test('a pull at the 300-link bridge', async () => {
  const view = await startView(path.join(root, 'scenes', 'bridge-many.yaml'));
  const page = await openPage(browser, view.url, {viewport: {width: 960, height: 600}});
  await until(page, 'window.limber && limber.live.frames > 5', 'no frames came');
  const spot = await page.evaluate(() => {
    const {view: v} = limber.stage;
    const part = v.layers[0].parts.find((p) => p.name === 'deck.150');
    return v.toPage(v.controls.target.clone().fromArray(limber.live.latest.positions, 3 * part.index));
  });
  const rest = async () => {
    await page.evaluate("limber.live.send({do: 'pause'})");
    await until(page, 'limber.live.latest.paused', 'it does not pause');
    const own = await shareOfCores();
    await page.evaluate("limber.live.send({do: 'play'})");
    await until(page, '!limber.live.latest.paused', 'it does not go on');
    return own;
  };
  await page.mouse.move(spot.x, spot.y);
  await page.mouse.down();
  // Until a pull is quick enough even for a computer that does nothing else, five at most; the first one also warms up.
  let [good, quick] = [false, false];
  let before = await rest();
  for (let pull = 0; pull < 5 && !quick; ++pull) {
    await page.evaluate('limber.live.answers.length = 0');
    await sweep(page, spot, pull);
    await until(page, 'limber.live.answers.length >= 20', 'no answers');
    const answers = await page.evaluate('limber.live.answers');
    const after = await rest();
    const poses = answers.map((a) => a.applied - a.moved);
    const bound = mostLatency / ((before + after) / 2);
    quick = share(poses, 0.5) < mostLatency;
    good ||= share(poses, 0.5) < bound;
    console.log(`  poses after ${both(poses)} (in the program ${both(answers.map((a) => a.program))}); ${(50 * (before + after)).toFixed(0)} % of the cores are free: ${bound.toFixed(0)} ms`);
    before = after;
  }
  check(good, 'no pull was quick enough');
  // For information: until the picture is finished, which the page waits for only if it is asked to.
  await page.evaluate('limber.live.finishesPictures = true; limber.live.answers.length = 0');
  await sweep(page, spot, 0);
  await until(page, 'limber.live.answers.length >= 20', 'no answers');
  console.log(`  pictures after ${both(await page.evaluate('limber.live.answers.map((a) => a.drawn - a.moved)'))}`);
  await page.mouse.up();
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
  await view.stop();
});

await test(`5,000 links at ${leastFrames} frames a second or more, in software`, async () => {
  const view = await startView(path.join(root, 'scenes', 'sprung-chain.yaml'), '--set', 'links=5000');
  const page = await openPage(browser, view.url, {viewport: {width: 960, height: 600}});
  await until(page, 'window.limber && limber.live.frames > 3', 'no frames came');
  const size = await page.evaluate('[limber.stage.view.layers[0].instances, limber.stage.view.drawCalls]');
  check(size[0] >= 5000, `${size[0]} parts`);
  check(size[1] <= 12, `${size[1]} draw calls`);
  // Everything is drawn again at every chance, whatever the simulation does.
  await page.evaluate(() => {
    const turn = () => {
      limber.stage.view.turn(0.002, 0);
      limber.stage.view.setMoment(limber.live.latest);
    };
    setInterval(turn, 4);
  });
  let best = 0;
  for (let k = 0; k < 6 && best < leastFrames; ++k) {
    const begin = await page.evaluate('[limber.stage.view.renders, performance.now()]');
    await page.waitForTimeout(1500);
    const end = await page.evaluate('[limber.stage.view.renders, performance.now()]');
    const rate = (1000 * (end[0] - begin[0])) / (end[1] - begin[1]);
    console.log(`  ${rate.toFixed(1)} frames a second, ${size[0]} parts in ${size[1]} draw calls`);
    best = Math.max(best, rate);
  }
  check(best >= leastFrames, `${best} frames a second`);
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
  await view.stop();
});

// Without a GPU this is slow, and the figure is for information; that it takes no more draw calls and that a part can be
// clicked is not.
await test('50,000 links in as many draw calls, and one of them clicked', async () => {
  const view = await startView(path.join(root, 'scenes', 'molecule.yaml'));
  const page = await openPage(browser, view.url, {viewport: {width: 960, height: 600}});
  await until(page, 'window.limber && limber.live && limber.live.frames > 3', 'no frames came', {timeout: 60000});
  const size = await page.evaluate('[limber.stage.view.layers[0].instances, limber.stage.view.drawCalls]');
  check(size[0] >= 50000 && size[1] <= 12, `${size[0]} parts in ${size[1]} draw calls`);
  const begin = await page.evaluate('[limber.stage.view.renders, performance.now()]');
  await until(page, (n) => limber.stage.view.renders >= n, 'nothing is drawn', {timeout: 60000, argument: begin[0] + 5});
  const end = await page.evaluate('[limber.stage.view.renders, performance.now()]');
  console.log(`  ${((1000 * (end[0] - begin[0])) / (end[1] - begin[1])).toFixed(1)} frames a second, ${size[0]} parts in ${size[1]} draw calls`);
  await page.evaluate("limber.live.send({do: 'pause'})");
  await until(page, 'limber.live.latest.paused && limber.stage.moment === limber.live.latest', 'it does not pause', {timeout: 60000});
  // The part that is seen in the middle of one of the first links: itself, or one before it.
  const spot = await page.evaluate(() => {
    const {view: v, moment} = limber.stage;
    for (const part of v.layers[0].parts.slice(0, 20)) {
      const at = v.toPage(v.controls.target.clone().fromArray(moment.positions, 3 * part.index));
      const hit = v.pick(at.x, at.y);
      if (hit) return {...at, name: hit.part.name};
    }
    return null;
  });
  if (check(spot, 'nothing is seen')) {
    await page.mouse.click(spot.x, spot.y);
    await until(page, (name) => document.getElementById('chosen')?.textContent === name, `${spot.name} is not chosen`, {argument: spot.name});
  }
  check(page.faults.length === 0, page.faults.join('; '));
  await page.context().close();
  await view.stop();
});

await browser.close();
finish();
