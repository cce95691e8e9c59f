/** `divmod transforms [NAME]`. */
import { UsageError } from '../../project/errors.js';
import { didYouMean } from '../../project/suggest.js';
import { command } from '../command.js';
import { choice, single, textOrJson, type Argv } from '../options.js';

export const transformsCommand = command({
  command: 'transforms [name]',
  describe: 'the catalogue: obligations, variants, default grants, an example',
  options: textOrJson,
  run: async (argv: Argv, console) => {
    const format = choice(argv, 'format', ['text', 'json'], 'text');
    const [{ transforms }, { GRANTS }, { COMMON_OBLIGATION_IDS }, { catalogueJson, catalogueText, transformText }] = await Promise.all([
      import('../../../transforms/index.js'), import('../../../transforms/lib/grants.js'), import('../../../transforms/lib/common-obligations.js'), import('../../report/catalogue.js'),
    ]);
    const name = single(argv, 'name');
    const chosen = name === undefined ? transforms : transforms.filter((transform) => transform.name === name);
    if (name !== undefined && chosen.length === 0) {
      const names = transforms.map((transform) => transform.name);
      throw new UsageError(`unknown transform "${name}"${didYouMean(name, names)}; there are ${names.join(', ')}`);
    }
    if (format === 'json') {
      const { render } = await import('../../report/json.js');
      await console.result(render(catalogueJson(chosen, GRANTS)));
      return;
    }
    const [only] = chosen;
    await console.result(name !== undefined && only !== undefined ? transformText(only, COMMON_OBLIGATION_IDS, console.colorOut) : catalogueText(chosen, GRANTS, console.colorOut));
  },
});
