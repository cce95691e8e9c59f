/** Every command there is. */
import type { CommandModule } from 'yargs';
import { applyCommand } from './commands/apply.js';
import { auditCommand } from './commands/audit.js';
import { configCommand } from './commands/config.js';
import { explainCommand } from './commands/explain.js';
import { mergeCommand } from './commands/merge.js';
import { planCommand } from './commands/plan.js';
import { simulateCommand } from './commands/simulate.js';
import { transformsCommand } from './commands/transforms.js';
import { verifyCommand } from './commands/verify.js';

export const commands: readonly CommandModule[] = [auditCommand, planCommand, applyCommand, explainCommand, simulateCommand, verifyCommand, mergeCommand, transformsCommand, configCommand];
