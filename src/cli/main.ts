#!/usr/bin/env node
/** Entry point of the command `divmod`: signals and pipes first, before anything else is loaded. */

// Whoever reads our output may stop reading (`divmod … | head`): that ends the output, not the run.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.on('SIGINT', () => process.exit(130));

const { run } = await import('./run.js');
await run(process.argv.slice(2));

export {};
