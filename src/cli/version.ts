/** The version, from the package that this file is part of. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

let known: string | null = null;

export function version(): string {
  if (known !== null) return known;
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === 'divmod' && 'version' in manifest) {
        known = String(manifest.version);
        return known;
      }
    } catch {
      // Not here: look further up.
    }
  }
  known = '0.0.0';
  return known;
}
