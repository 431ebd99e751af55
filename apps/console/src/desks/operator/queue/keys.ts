import { useEffect, useRef } from 'react';

/** Keys of the queue, by what they type; `mod+enter` is Ctrl or the command key. Dead while somebody types. */
export type Keys = Readonly<Record<string, (() => void) | undefined>>;

const TYPING = 'input:not([type="radio"], [type="checkbox"]), textarea, select, [contenteditable="true"]';

function nameOf(event: KeyboardEvent): string {
  const key = event.key.toLowerCase();
  return event.ctrlKey || event.metaKey ? `mod+${key}` : key;
}

export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.altKey || event.defaultPrevented) return;
      const name = nameOf(event);
      const target = event.target instanceof Element ? event.target : null;
      // What is typed is text, but for the one chord that ends it; a dialog has its own keys.
      if (target?.closest(TYPING) && name !== 'mod+enter') return;
      if (document.querySelector('[role="dialog"]') !== null) return;
      // Enter on a button or a link presses it.
      if (name === 'enter' && target?.closest('button, a, [role="tab"]')) return;
      const run = current.current[name];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
