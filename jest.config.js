/** Tests run as native ES modules (`--experimental-vm-modules`); TypeScript is stripped by swc. */
export default {
  roots: ['<rootDir>/__tests__'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: 'node',
  setupFiles: ['<rootDir>/jest.setup.js'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'es6' },
      sourceMaps: 'inline',
    }],
  },
  moduleNameMapper: {
    // Imports name the compiled file, as Node wants it; the source has another ending.
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // The native parser patches prototypes of its addon: each test file needs an addon of its own.
    '^node-gyp-build$': '<rootDir>/__tests__/helpers/load-addon.cjs',
  },
};
