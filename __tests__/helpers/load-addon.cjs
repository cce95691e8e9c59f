/**
 * Stands in for `node-gyp-build` under Jest. The real one goes through `require`, whose cache of addons outlives Jest's module
 * registry: the second test file would get an addon whose prototypes are patched already. `process.dlopen` into fresh exports
 * gives each registry classes of its own.
 */
const fs = require('node:fs');
const path = require('node:path');

function addonIn(folder) {
  if (!fs.existsSync(folder)) return null;
  const name = fs.readdirSync(folder).find((file) => file.endsWith('.node'));
  return name === undefined ? null : path.join(folder, name);
}

module.exports = function load(root) {
  const file = addonIn(path.join(root, 'build', 'Release')) ?? addonIn(path.join(root, 'prebuilds', `${process.platform}-${process.arch}`));
  if (file === null) throw new Error(`no addon in ${root}`);
  const made = { exports: {} };
  process.dlopen(made, file);
  return made.exports;
};
