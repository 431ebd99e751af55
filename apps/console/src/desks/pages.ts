import type { Capability, Desk } from '@causeway/protocol/console';
import type { Icon } from '@tabler/icons-react';
import type { ComponentType } from 'react';

/** A page of a desk: its address, and how it stands in the menu. */
export interface Page {
  /** Below /console/<desk>; `$name` stands for a parameter. */
  readonly path: string;
  readonly title: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
  /** Pages without are reached from others. */
  readonly menu?: { readonly icon: Icon; readonly section: string };
  /** Who has not got it does not see the page in the menu. */
  readonly needs?: Capability;
  /** Only in a sandbox. */
  readonly sandbox?: true;
}

export interface DeskPages {
  readonly desk: Desk;
  readonly title: string;
  /** The first is where one arrives. */
  readonly pages: readonly Page[];
}
