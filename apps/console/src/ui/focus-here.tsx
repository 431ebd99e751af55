import { type ReactNode, useEffect, useRef } from 'react';

/**
 * What takes the place of the button that was pressed, and its focus with it: nothing else would be read out. No button in it is
 * given the focus, as Enter may still be held.
 */
export function FocusHere({ testId, children }: { readonly testId: string; readonly children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1} style={{ outline: 'none' }} data-testid={testId}>
      {children}
    </div>
  );
}
