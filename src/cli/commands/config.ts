/** `divmod config print FILE`. */
import { existsSync } from 'node:fs';
import { UsageError } from '../../project/errors.js';
import { SETTING_NAMES, SETTINGS } from '../../project/settings.js';
import { command } from '../command.js';
import { settingsFor } from '../open.js';
import { choice, factOptions, fileOptions, single, textOrJson, type Argv } from '../options.js';

export const configCommand = command({
  command: 'config <action> [file]',
  describe: 'config print FILE: the settings in force and where each comes from',
  options: { ...textOrJson, ...fileOptions, ...factOptions },
  run: async (argv: Argv, console) => {
    const action = single(argv, 'action');
    if (action !== 'print') throw new UsageError(`unknown command "config ${String(action)}" (did you mean "config print"?)`);
    const format = choice(argv, 'format', ['text', 'json'], 'text');
    const file = single(argv, 'file');
    if (file !== undefined && file !== '-' && !existsSync(file)) throw new UsageError(`${file}: no such file or folder`);
    const { settings, origins } = await settingsFor(argv);
    const rows = SETTING_NAMES.map((name) => ({ name, value: plain(settings[name]), origin: origins.get(name) ?? 'default' }));
    if (format === 'json') {
      const { render } = await import('../../report/json.js');
      await console.result(render({ file: file ?? null, settings: Object.fromEntries(rows.map(({ name, value, origin }) => [name, { value, origin }])) }));
      return;
    }
    const { styleFor } = await import('../../report/style.js');
    const style = styleFor(console.colorOut);
    const width = Math.max(...SETTING_NAMES.map((name) => name.length));
    const lines = rows.map(({ name, value, origin }) =>
      `${style.bold(name.padEnd(width))}  ${JSON.stringify(value)}  ${origin === 'default' ? style.dim('default') : style.cyan(`from ${origin}`)}  ${style.dim(SETTINGS[name].summary)}`);
    await console.result(`${lines.join('\n')}\n`);
  },
});

function plain(value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
