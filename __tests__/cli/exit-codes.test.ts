import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { EXIT, winningCode, type ExitCode } from '../../src/cli/exit-codes.js';
import { divmod, folderWith, HOISTABLE, startDivmod } from './run-cli.js';

describe('exit codes', () => {
  test('the order 130, 70, 2, 4, 5, 3, 1, 0', () => {
    const order: ExitCode[] = [130, 70, 2, 4, 5, 3, 1, 0];
    order.forEach((code, i) => expect(winningCode(order.slice(i).reverse())).toBe(code));
    expect(winningCode([])).toBe(EXIT.done);
  });

  test('incomplete wins over findings', () => {
    const cwd = folderWith({ 'k.cu': '__global__ void k(int *a, const int *b) { if (b[threadIdx.x]) a[0] = 1; }\n' });
    expect(divmod(['audit', '--fail-on', 'data', 'k.cu'], { cwd }).code).toBe(1);
    expect(divmod(['audit', '--fail-on', 'data', 'k.cu', 'gone.cu'], { cwd }).code).toBe(3);
  });

  test('an interrupt ends the run with 130 and no temporary file', async () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`d${i}/k.cu`, HOISTABLE.replaceAll('scale', `scale${i}`).repeat(1)]));
    const cwd = folderWith(many);
    const child = startDivmod(['audit', '--format', 'json', '.'], cwd);
    await new Promise((resolve) => setTimeout(resolve, 600));
    child.kill('SIGINT');
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    // A machine that was done before the signal came has nothing to interrupt.
    expect(code === 130 || code === 0).toBe(true);
    expect(signal).toBe(null);
  }, 60_000);

  test('a reader that goes away is no error', async () => {
    const cwd = folderWith(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}.cu`, HOISTABLE.replaceAll('scale', `scale${i}`)])));
    const child = startDivmod(['audit', '--format', 'json', '.'], cwd);
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdout?.destroy();
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(stderr).toBe('');
    expect(code).toBe(0);
  }, 60_000);
});
