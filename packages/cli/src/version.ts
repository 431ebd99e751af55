import type { Run } from './command.ts';

/** As in package.json, which the bundle does not read; a test compares. */
export const VERSION = '0.1.0';

export const version: Run = async ({ output }) => {
  output.result({ version: VERSION }, () => VERSION);
};
