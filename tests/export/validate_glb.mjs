// node validate_glb.mjs MODULES FOLDER: every .glb below FOLDER goes through the Khronos glTF validator, found in
// MODULES/node_modules. No error, no warning, and no hint but the ones expected of a scene without anything in it.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [modules, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: validate_glb.mjs MODULES FOLDER');
  process.exit(2);
}
const { validateBytes, version } = createRequire(join(resolve(modules), 'package.json'))('gltf-validator');
const ERROR = 0, WARNING = 1;

const files = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith('.glb')).sort();
let bad = files.length === 0;
if (bad) console.error(`no .glb file below ${folder}`);
for (const name of files) {
  const report = await validateBytes(new Uint8Array(readFileSync(join(folder, name))), {
    uri: name, format: 'glb', maxIssues: 0, writeTimestamp: false,
  });
  const { numErrors, numWarnings, numInfos, numHints, messages } = report.issues;
  const unexpected = messages.filter((m) => m.severity <= WARNING || m.code !== 'NODE_EMPTY');
  const { animationCount, drawCallCount, totalVertexCount } = report.info;
  console.log(`${name}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} infos, ${numHints} hints; ` +
    `${animationCount} animations, ${drawCallCount} draw calls, ${totalVertexCount} vertices`);
  for (const m of unexpected) {
    console.error(`  ${m.severity === ERROR ? 'error' : m.severity === WARNING ? 'warning' : 'info'} ` +
      `${m.code} ${m.pointer ?? ''}: ${m.message}`);
  }
  if (unexpected.length > 0 || numErrors > 0 || numWarnings > 0) bad = true;
}
console.log(`gltf-validator ${version()}: ${files.length} files ${bad ? 'with faults' : 'good'}`);
process.exit(bad ? 1 : 0);
