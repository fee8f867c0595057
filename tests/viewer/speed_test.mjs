// How quick the live view is: from a pull at the 300-link bridge to the picture that shows it, and 5,000 links drawn in software.
import os from 'node:os';
import path from 'node:path';
import {check, finish, openBrowser, openPage, root, startView, test, until} from './browser.mjs';

// 50 ms, the median of the moves of one pull, on a computer that does nothing else. Where others keep more programs running than there
// are cores, each gets its share of them only, and the bound stretches as much.
const busy = Math.max(1, os.loadavg()[0] / os.cpus().length);
// Continuous integration shares its computer with programs that this one does not see: there only a gross fault fails, and the
// figures are printed. `make test` on one's own computer asks for all of it.
const patience = process.env.CI ? 4 : 1;
const mostLatency = 50 * busy * patience; // [ms]
const leastFrames = 10 / patience; // a second

const browser = await openBrowser();

await test(`a pull at the 300-link bridge shows within ${mostLatency.toFixed(0)} ms (load of others: ${busy.toFixed(1)} a core)`, async () => {
  const view = await startView(path.join(root, 'scenes', 'bridge-many.yaml'));
  const page = await openPage(browser, view.url, {viewport: {width: 960, height: 600}});
  await until(page, 'window.limber && limber.live.frames > 5', 'no frames came');
  const spot = await page.evaluate(() => {
    const {view: v} = limber.stage;
    const part = v.layers[0].parts.find((p) => p.name === 'deck.150');
    const at = v.controls.target.clone().fromArray(limber.live.latest.positions, 3 * part.index);
    return v.toPage(at);
  });
  await page.mouse.move(spot.x, spot.y);
  await page.mouse.down();
  // The best of five pulls: other programs may want this computer too.
  let best = Infinity;
  for (let pull = 0; pull < 5 && best >= mostLatency; ++pull) {
    await page.evaluate('limber.live.latencies = []');
    for (let k = 0; k < 24; ++k) {
      await page.mouse.move(spot.x + 10 + 3 * k, spot.y - 20 - 20 * pull - k);
      await page.waitForTimeout(25);
    }
    await until(page, 'limber.live.latencies.length >= 10', 'no answers');
    const sorted = (await page.evaluate('limber.live.latencies')).sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)];
    console.log(`  median ${median.toFixed(1)} ms, nine of ten within ${sorted[Math.floor(0.9 * sorted.length)].toFixed(1)} ms, of ${sorted.length}`);
    best = Math.min(best, median);
  }
  await page.mouse.up();
  check(best < mostLatency, `the median was ${best} ms at best`);
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

await browser.close();
finish();
