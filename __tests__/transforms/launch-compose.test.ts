/** Plans of kernels that were divided in turn. */
import { describe, expect, test } from '@jest/globals';
import { composePlans } from '../../transforms/lib/launch-compose.js';
import type { LaunchStep } from '../../transforms/lib/types.js';

const kernel = (name: string, grid: string, args: readonly string[], unless: string | null = null): LaunchStep => ({ kind: 'kernel', kernel: name, grid, block: 'blockDim', arguments: args, unless });

describe('composePlans', () => {
  test('a choice below a role speaks of the launch and of the first kernel’s parameters', () => {
    const plans = composePlans([
      { kernel: 'k', parameters: ['x', 'nA', 'mode'], plan: { steps: [
        { kind: 'value', name: 'first_blocks', type: 'unsigned', value: 'nA < gridDim.x ? nA : gridDim.x' },
        kernel('k_first', 'dim3(first_blocks, gridDim.y, gridDim.z)', ['x']),
        kernel('k_rest', 'dim3(gridDim.x - first_blocks, gridDim.y, gridDim.z)', ['x', 'mode', 'first_blocks']),
      ] } },
      { kernel: 'k_rest', parameters: ['x', 'm', 'first'], plan: { steps: [kernel('k_a', 'gridDim', ['x'], '!(m == 2)'), kernel('k_b', 'gridDim', ['first'], 'm == 2')] } },
    ]);
    expect([...plans.keys()]).toEqual(['k']);
    const [, , a, b] = plans.get('k')?.steps ?? [];
    expect(a).toMatchObject({ kernel: 'k_a', grid: 'dim3(gridDim.x - first_blocks, gridDim.y, gridDim.z)', arguments: ['x'] });
    expect(a?.kind === 'kernel' && a.unless).toContain('(!(mode == 2))');
    expect(a?.kind === 'kernel' && a.unless).toContain('(gridDim.x - first_blocks) <= 0');
    expect(b).toMatchObject({ kernel: 'k_b', arguments: ['first_blocks'] });
  });

  test('a role below a role counts the blocks of the inner grid, under names of its own', () => {
    const roles = (name: string, first: string): LaunchStep[] => [
      { kind: 'value', name: 'first_blocks', type: 'unsigned', value: first },
      kernel(`${name}_first`, 'dim3(first_blocks, gridDim.y, gridDim.z)', ['first_blocks']),
      kernel(`${name}_rest`, 'dim3(gridDim.x - first_blocks, gridDim.y, gridDim.z)', ['n', 'first_blocks', 'gridDim.x']),
    ];
    const plans = composePlans([
      { kernel: 'k', parameters: ['n'], plan: { steps: roles('k', '2 < gridDim.x ? 2 : gridDim.x') } },
      { kernel: 'k_rest', parameters: ['n', 'first', 'blocks'], plan: { steps: roles('k_rest', 'n < gridDim.x ? n : gridDim.x') } },
    ]);
    const steps = plans.get('k')?.steps ?? [];
    expect(steps[2]).toMatchObject({ name: 'first_blocks_1', value: 'n < (gridDim.x - first_blocks) ? n : (gridDim.x - first_blocks)' });
    expect(steps[4]).toMatchObject({ kernel: 'k_rest_rest', arguments: ['n', 'first_blocks_1', 'gridDim.x - first_blocks'] });
  });
});
