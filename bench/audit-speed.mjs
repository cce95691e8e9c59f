#!/usr/bin/env node
/**
 * Prints how long a full audit of a folder takes as a ratio to parsing the same files with tree-sitter alone, in the same process, on one
 * thread, one after the other, several times.
 *
 *   node bench/audit-speed.mjs FOLDER [rounds]
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Project } from '../dist/src/index.js';

const folder = path.resolve(process.argv[2] ?? 'fixtures');
const rounds = Number(process.argv[3] ?? 3);
const require = createRequire(import.meta.url);
const Parser = require('tree-sitter');
const parser = new Parser();
parser.setLanguage(require('tree-sitter-cpp'));

const files = (statSync(folder).isFile() ? [folder] : readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((f) => path.join(folder, f)))
  .filter((f) => /\.(cu|cuh)$/.test(f));
const seconds = async (work) => {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
};

/** Tree-sitter alone: read and parse, nothing else. */
function parseOnly() {
  for (const file of files) {
    const text = readFileSync(file, 'latin1');
    parser.parse((at) => text.slice(at, at + 32_000));
  }
}

async function auditAll() {
  const project = await Project.open({ include: files });
  project.audit();
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const parse = [];
const audit = [];
for (let round = 0; round <= rounds; round++) {
  const p = await seconds(parseOnly);
  const a = await seconds(auditAll);
  if (round > 0 || rounds === 0) {
    parse.push(p);
    audit.push(a);
  }
}
const ratios = audit.map((a, k) => a / (parse[k] ?? a));
console.log(`${files.length} files; parse alone ${median(parse).toFixed(2)} s, audit ${median(audit).toFixed(2)} s`);
console.log(`audit / parse alone: min ${Math.min(...ratios).toFixed(2)}, median ${median(ratios).toFixed(2)}, max ${Math.max(...ratios).toFixed(2)}`);
