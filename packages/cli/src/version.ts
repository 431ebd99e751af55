/** As in package.json, which the bundle does not read; a test compares. */
export const VERSION = '0.1.0';
