/** The simulate room: kernels run under SIMT semantics without a device. */
export { simulate, prepareKernel, runPrepared, kernelEnvironment, type BranchCount, type Counts, type LaunchShape, type PreparedKernel, type Shape, type SimulationInputs, type SimulationOptions, type SimulationResult, type StatementCount } from './simulate.js';
export { parseArgument, isSizeName, type Argument, type Arguments, type Buffer } from './inputs.js';
export { type Fault, type FaultKind, type FaultSeverity } from './faults.js';
export { Unsupported } from './types.js';
