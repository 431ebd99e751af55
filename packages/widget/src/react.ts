'use client';

import { type CSSProperties, createElement, type ReactElement, useEffect, useRef } from 'react';
import { mount, type WidgetHandle } from './mount.ts';
import type { MountOptions } from './options.ts';

export interface CausewayRampProps extends MountOptions {
  readonly id?: string;
  readonly className?: string;
  readonly style?: CSSProperties;
}

const OPTIONS = [
  'widgetKey',
  'session',
  'baseUrl',
  'side',
  'fiatCurrency',
  'cryptoCurrency',
  'amount',
  'country',
  'wallet',
  'userReference',
  'theme',
  'locale',
  'fullScreenBelow',
  'title',
  'onReady',
  'onTradeStarted',
  'onTradeCompleted',
  'onError',
  'onClose',
  'onStep',
] as const satisfies readonly (keyof MountOptions)[];

/** Every option by name: one that is no longer given is undone. */
function optionsOf(props: CausewayRampProps): MountOptions {
  return Object.fromEntries(OPTIONS.map((name) => [name, props[name]]));
}

/** The widget as a component. The options of `mount` are its props; a changed prop changes the widget that is there. */
export function CausewayRamp(props: CausewayRampProps): ReactElement {
  const { id, className, style } = props;
  const place = useRef<HTMLDivElement>(null);
  const handle = useRef<WidgetHandle | null>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    if (place.current === null) return undefined;
    const mounted = mount(place.current, optionsOf(latest.current));
    handle.current = mounted;
    return () => {
      handle.current = null;
      mounted.destroy();
    };
  }, []);
  useEffect(() => handle.current?.update(optionsOf(props)));

  return createElement('div', { ref: place, id, className, style });
}

export type { MountOptions };
