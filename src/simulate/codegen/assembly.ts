/** The few inline PTX texts that are everywhere: special registers. Everything else is named and not simulated. */
import type { Stmt } from '../../syntax/tree.js';
import { U32 } from '../types.js';
import type { FunctionContext } from './context.js';
import { store, targetOf } from './places.js';

const REGISTERS: Readonly<Record<string, string>> = {
  '%laneid': 'l', '%warpid': 'W.index', '%smid': '0', '%nsmid': '1', '%lanemask_lt': '(((1<<l)-1)>>>0)', '%lanemask_le': '(l===31?4294967295:((1<<(l+1))-1)>>>0)',
  '%lanemask_gt': '(l===31?0:(-1<<(l+1))>>>0)', '%lanemask_ge': '((-1<<l)>>>0)', '%lanemask_eq': '((1<<l)>>>0)', '%clock': 'D.clock()', '%tid.x': 'W.tx[l]', '%ctaid.x': 'W.bx', '%ntid.x': 'D.blockx', '%nctaid.x': 'D.gridx',
};

export function inlineAssembly(ctx: FunctionContext, s: Extract<Stmt, { kind: 'asm' }>): void {
  const text = s.text.trim().replace(/\s+/g, ' ');
  if (text === '') return; // a barrier for the compiler alone
  const move = /^mov\.[usb]32 %0, %?(%\w+(?:\.\w)?);?$/.exec(text);
  const register = move?.[1] === undefined ? undefined : REGISTERS[move[1]];
  const [output] = s.outputs;
  if (register === undefined || output === undefined || s.outputs.length !== 1 || s.inputs.length > 0) return ctx.unsupported(`inline assembly ${JSON.stringify(text.slice(0, 40))}`, s.span);
  store(ctx, targetOf(ctx, output), { t: U32, js: register });
  ctx.flush();
}
