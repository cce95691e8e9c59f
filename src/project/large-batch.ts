/** When a batch is worth a thread of its own. Apart from workers.ts, which small runs need not load. */

/** Groups of files. The thread starts in some 40 ms; its young generation saves about a tenth of the time (workers.ts). */
export const LARGE_BATCH = 24;
