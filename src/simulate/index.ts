/** The simulate room: kernels run under SIMT semantics without a device. */
export { failure, simulate, prepareInstance, prepareKernel, runPrepared, type BranchCount, type Counts, type LaunchShape, type PreparedKernel, type Shape, type SimulationInputs, type SimulationOptions, type SimulationResult, type StatementCount } from './simulate.js';
export { parseArgument, type Argument, type Arguments } from './arguments.js';
export { usageOf } from './usage.js';
export { fits, isSizeName, parameterLeaves, type Buffer } from './inputs.js';
export { instancesOf, MOST_INSTANCES, type Instance } from './instances.js';
export { type Fault, type FaultKind, type FaultSeverity } from './faults.js';
export { Unsupported, type SimType } from './types.js';
