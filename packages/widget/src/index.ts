export type { ThemeVariable, WidgetSide, WidgetTheme } from '@causeway/protocol/widget';
export { CausewayRamp, defineElement } from './element.ts';
export { mount, type WidgetHandle } from './mount.ts';
export type { Callbacks, MountOptions, Trade, WidgetFailure } from './options.ts';
