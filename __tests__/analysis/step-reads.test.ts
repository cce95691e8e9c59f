import { describe, expect, test } from '@jest/globals';
import { ReadSets } from '../../src/analysis/read-sets.js';
import { StepReads } from '../../src/analysis/step-reads.js';

const evaluate = (reads: StepReads, step: number, read: () => void, ahead = false): void => {
  reads.begin(step);
  read();
  reads.end(step, ahead);
};

describe('steps and what they read', () => {
  test('asks a step again when a cell that it read has changed, and no other', () => {
    const cells = new ReadSets(3);
    const reads = new StepReads(cells, 2);
    expect([reads.mayChange(0), reads.mayChange(1)]).toEqual([true, true]);
    evaluate(reads, 0, () => { cells.read(0); });
    evaluate(reads, 1, () => { cells.read(1); cells.read(2); });
    expect([reads.mayChange(0), reads.mayChange(1)]).toEqual([false, false]);
    cells.changed(2);
    expect([reads.mayChange(0), reads.mayChange(1)]).toEqual([false, true]);
    evaluate(reads, 1, () => { cells.read(1); });
    cells.changed(2);
    expect(reads.mayChange(1)).toBe(false);
    cells.changedForAll();
    expect([reads.mayChange(0), reads.mayChange(1)]).toEqual([true, true]);
  });

  test('asks a step again when a cell changes while it is evaluated', () => {
    const cells = new ReadSets(1);
    const reads = new StepReads(cells, 1);
    evaluate(reads, 0, () => { cells.read(0); cells.changed(0); });
    expect(reads.mayChange(0)).toBe(true);
  });

  test('counts what an answer rests on, found anew or not', () => {
    const cells = new ReadSets(2);
    const reads = new StepReads(cells, 2);
    const answer = cells.find(() => { cells.read(1); return 7; });
    evaluate(reads, 0, () => { cells.find(() => { cells.read(0); return 7; }); });
    evaluate(reads, 1, () => { cells.holds(answer); });
    cells.changed(0);
    expect([reads.mayChange(0), reads.mayChange(1)]).toEqual([true, false]);
    cells.changed(1);
    expect(reads.mayChange(1)).toBe(true);
  });

  test('remembers who read ahead', () => {
    const reads = new StepReads(new ReadSets(1), 2);
    evaluate(reads, 0, () => undefined, true);
    evaluate(reads, 0, () => undefined);
    evaluate(reads, 1, () => undefined);
    expect([reads.readsAhead(0), reads.readsAhead(1)]).toEqual([true, false]);
  });
});
