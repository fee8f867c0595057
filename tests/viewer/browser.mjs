// What the browser tests share: Debian's chromium without a screen, driven by playwright-core; limber itself; small checks.
//
//   node some_test.mjs --limber PATH --modules FOLDER-WITH-node_modules
import {AsyncLocalStorage} from 'node:async_hooks';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const argument = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at >= 0 ? process.argv[at + 1] : otherwise;
};
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const limber = path.resolve(argument('limber', path.join(root, 'build/release/limber')));
export const modules = path.resolve(argument('modules', path.join(path.dirname(limber), 'viewer')));
export const given = argument;
// `--all` (make viewer-campaign) takes every shipped scene. Else these: each method, each kind of part that is drawn and
// pulled (links, loops, beams, riders, threads, carried bodies, reduced mechanisms, thousands of bodies), and one at rest.
const everything = process.argv.includes('--all');
const sample = ['bridge-car', 'cantilever', 'diving-board', 'hand', 'knot', 'molecule', 'tether', 'truss', 'umbrella'];
export const shippedScenes = (wanted = '') => readdirSync(path.join(root, 'scenes')).filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -5)).filter((name) => (wanted ? name.startsWith(wanted) : everything || sample.includes(name)));

// Chromium refuses its sandbox as root; without a GPU it draws with SwiftShader.
export async function openBrowser() {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (!executablePath) throw new Error('chromium is missing: install the package chromium');
  const {chromium} = createRequire(path.join(modules, 'package.json'))('playwright-core');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--use-angle=swiftshader', '--use-gl=angle', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
      '--disable-dev-shm-usage', '--disable-extensions', '--no-first-run', '--disable-background-timer-throttling',
      '--disable-renderer-backgrounding'],
    timeout: 120000,
  });
}

// A page that remembers everything that went wrong in it.
export async function openPage(browser, url, {offline = false, viewport = {width: 960, height: 600}} = {}) {
  const context = await browser.newContext({viewport, offline, deviceScaleFactor: 1});
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  page.faults = [];
  page.requests = [];
  page.on('console', (message) => {
    // Chromium's own remarks on software rendering are not ours.
    if ((message.type() === 'error' || message.type() === 'warning') && !/GPU stall|GL Driver Message|swiftshader/i.test(message.text()))
      page.faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => page.faults.push(`exception: ${error.message}`));
  page.on('request', (request) => page.requests.push(request.url()));
  await page.goto(url, {waitUntil: 'load'});
  return page;
}

export function temporaryFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), 'limber_viewer_'));
  process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

export function run(...words) {
  const done = spawnSync(limber, words, {encoding: 'utf8', timeout: 300000});
  if (done.status !== 0) throw new Error(`limber ${words.join(' ')} ended with ${done.status}:\n${done.stdout}${done.stderr}`);
  return done;
}

// `limber view …` until its address is known.
export async function startView(...words) {
  const process_ = spawn(limber, ['view', '--no-open', ...words], {stdio: ['ignore', 'pipe', 'pipe']});
  const url = await new Promise((found, failed) => {
    let text = '';
    const timer = setTimeout(() => failed(new Error(`limber view gave no address:\n${text}`)), 120000);
    process_.stderr.on('data', (data) => {
      text += data;
      const match = /(http:\/\/\S+token=\S+)/.exec(text);
      if (match) {
        clearTimeout(timer);
        found(match[1]);
      }
    });
    process_.on('exit', (code) => failed(new Error(`limber view ended with ${code}:\n${text}`)));
  });
  const ended = new Promise((done) => process_.on('exit', (code) => done(code)));
  process.on('exit', () => process_.kill('SIGKILL'));
  return {
    url,
    pid: process_.pid,
    async stop() {
      process_.kill('SIGINT');
      return ended;
    },
  };
}

process.setMaxListeners(0); // one for each program that a test starts
let failures = 0;
const running = new AsyncLocalStorage(); // several tests may run at once: a failure belongs to the one it happened in
export function check(condition, what) {
  if (condition) return true;
  ++failures;
  const own = running.getStore();
  if (own) ++own.failures;
  console.log(`FAILED: ${what}`);
  return false;
}

export async function test(name, body) {
  const begin = Date.now();
  const own = {failures: 0};
  await running.run(own, async () => {
    try {
      await body();
    } catch (error) {
      check(false, `${name}: ${error.stack ?? error}`);
    }
  });
  console.log(`${own.failures ? 'not ok' : 'ok'}  ${name}  (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
}

export function finish() {
  console.log(failures ? `${failures} failures` : 'all passed');
  process.exit(failures ? 1 : 0);
}

// Waits for something on the page to become true. (The page's own policy forbids eval, which playwright's waiting uses.)
export async function until(page, expression, what, {timeout = 30000, argument} = {}) {
  for (const begin = Date.now(); Date.now() - begin < timeout; await new Promise((done) => setTimeout(done, 25)))
    if (await page.evaluate(expression, argument)) return;
  throw new Error(`${what} (waited ${timeout / 1000} s)`);
}
