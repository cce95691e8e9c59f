#!/usr/bin/env node
/**
 * Joins the modules that the command and the library load into a few files, in place of some three hundred: finding and linking these
 * took most of the time of a small run. Packages stay outside. Nothing is minified, so that a stack trace still names what failed.
 *
 *   node scripts/bundle.mjs [FOLDER]        dist/bundle unless told; what was in the folder is removed
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outdir = path.resolve(process.argv[2] ?? path.join(root, 'dist', 'bundle'));
rmSync(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  // The thread of a large batch is found by its address, beside the chunk that starts it.
  entryPoints: ['src/cli/main.ts', 'src/index.ts', 'src/project/audit-worker.ts'],
  entryNames: '[name]',
  outdir,
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  logLevel: 'warning',
});
