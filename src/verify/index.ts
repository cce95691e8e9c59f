/** The verify room: agreement of two versions of a kernel, or a counterexample. */
export { compareOver, findKernel, verifyEquivalent, type Counterexample, type Obstacle, type Runner, type Verdict, type VerifyOptions } from './equivalence.js';
export { axesOf, blockShapes, constantShape, settingsFor, type Setting } from './settings.js';
