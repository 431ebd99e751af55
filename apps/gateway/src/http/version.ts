import manifest from '../../../../package.json' with { type: 'json' };

/** The version of this program, as its package states it. */
export const VERSION: string = manifest.version;

/** Of the interface, as the contract gives it: it stays while additions are made in place. */
export const INTERFACE_VERSION = '1.0.0';
