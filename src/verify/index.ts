/** The verify room: agreement of two versions of a kernel, or a counterexample. */
export { findKernel, verifyEquivalent, type Counterexample, type Verdict, type VerifyOptions } from './equivalence.js';
export type { Obstacle, Runner } from './compare-runs.js';
export { settingsFor, type Setting } from './settings.js';
export { axesOf, blockShapes, constantSharedBytes, constantShape } from './shapes.js';
export type { Tried } from './tried.js';
