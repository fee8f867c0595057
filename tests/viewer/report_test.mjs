// report.html: opens from a disk with the network off, plays, shows the numbers of probes.csv, and stays small.
import {readdirSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {check, finish, limber, modules, openBrowser, openPage, root, run, temporaryFolder, test, until} from './browser.mjs';
import {spawnSync} from 'node:child_process';

const folder = temporaryFolder();
const largest = 5e6; // bytes

const scenes = readdirSync(path.join(root, 'scenes')).filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -5));
const runFolder = (scene) => path.join(folder, scene);

await test('the sources pass the type checker', async () => {
  const done = spawnSync(process.execPath, [path.join(modules, 'node_modules/typescript/bin/tsc'), '-p', modules], {encoding: 'utf8'});
  check(done.status === 0, `tsc:\n${done.stdout}`);
});

await test('every shipped scene has a report of less than 5 MB', async () => {
  check(scenes.length > 10, `scenes found: ${scenes.length}`);
  for (const scene of scenes) {
    run('run', path.join(root, 'scenes', `${scene}.yaml`), '--quiet', '--no-vtk', '--no-glb', '--out', runFolder(scene));
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
      check(/\d/.test(text), `${name}: no text`);
    }

    // It plays: time goes on and the picture changes.
    await page.evaluate(() => limber.replay.seek(0));
    const before = await page.locator('#canvas').screenshot();
    await page.click('#play');
    await page.waitForTimeout(700);
    await page.click('#play');
    const t = await page.evaluate(() => limber.replay.t);
    check(t > 0.2, `after playing the time is ${t}`);
    const after = await page.locator('#canvas').screenshot();
    check(!before.equals(after), 'the picture did not change while playing');
    await page.waitForTimeout(150);
    check(after.equals(await page.locator('#canvas').screenshot()), 'the picture changes while paused');

    check(await page.$$eval('.plot canvas', (c) => c.length) > 0, 'no plots');
    check((await page.textContent('#report')).includes('limber: 1'), 'the scene text is missing');
    check(page.faults.length === 0, page.faults.join('; '));
    check(page.requests.every((url) => url.startsWith('file:') || url.startsWith('data:') || url.startsWith('blob:')), `asked for ${page.requests}`);
    await page.context().close();
  });
}
await browser.close();
finish();
