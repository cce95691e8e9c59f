import { describe, expect, test } from '@jest/globals';
import { ReadSets } from '../../src/analysis/read-sets.js';

describe('what an answer rests on', () => {
  /** Three cells; `sum` asks for two of them, `twice` for `sum` and the third. */
  function example(): { cells: ReadSets; values: number[]; set(cell: number, value: number): void; sum(): number; twice(): number; found: string[] } {
    const cells = new ReadSets(3);
    const values = [1, 2, 3];
    const found: string[] = [];
    const get = (cell: number): number => {
      cells.read(cell);
      return values[cell] ?? NaN;
    };
    const keep = (name: string, find: () => number): (() => number) => {
      let known = cells.find(() => { found.push(name); return find(); });
      return () => {
        if (!cells.holds(known)) known = cells.find(() => { found.push(name); return find(); });
        return known.answer;
      };
    };
    const sum = keep('sum', () => get(0) + get(1));
    const twice = keep('twice', () => 2 * sum() + get(2));
    found.length = 0;
    return { cells, values, found, sum, twice, set(cell, value) { values[cell] = value; cells.changed(cell); } };
  }

  test('an answer is kept while nothing that it read changes', () => {
    const { sum, found, set } = example();
    expect(sum()).toBe(3);
    set(2, 10);
    expect(sum()).toBe(3);
    expect(found).toEqual([]);
  });

  test('it is found anew once a cell that it read has changed, and then kept again', () => {
    const { sum, found, set } = example();
    set(1, 7);
    expect(sum()).toBe(8);
    expect(sum()).toBe(8);
    expect(found).toEqual(['sum']);
  });

  test('an answer rests on what the answers that it asked for read, whether they were kept or found', () => {
    const { sum, twice, found, set } = example();
    expect(twice()).toBe(9);
    set(0, 5);
    expect(twice()).toBe(17);
    expect(found).toEqual(['twice', 'sum']);
    set(0, 6);
    // Somebody else has had it found meanwhile.
    expect(sum()).toBe(8);
    expect(twice()).toBe(19);
    expect(found).toEqual(['twice', 'sum', 'sum', 'twice']);
  });

  test('what has no cell is everybody\'s', () => {
    const { cells, sum, found } = example();
    cells.changedForAll();
    expect(sum()).toBe(3);
    expect(found).toEqual(['sum']);
  });

  test('what changes while an answer is being found may have come too late for it', () => {
    const cells = new ReadSets(1);
    let value = 1;
    const known = cells.find(() => {
      cells.read(0);
      const seen = value;
      value = 2;
      cells.changed(0);
      return seen;
    });
    expect(known.answer).toBe(1);
    expect(cells.holds(known)).toBe(false);
  });

  test('an answer that failed leaves nothing behind', () => {
    const cells = new ReadSets(2);
    const outer = cells.find(() => {
      try {
        cells.find(() => { cells.read(1); throw new Error('too deep'); });
      } catch {
        return 'none';
      }
      return 'some';
    });
    expect(outer.answer).toBe('none');
    // What the failed one had read decided that it failed.
    cells.changed(1);
    expect(cells.holds(outer)).toBe(false);
  });
});
