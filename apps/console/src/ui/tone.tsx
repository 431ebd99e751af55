import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

const TONES = { good: 'teal', bad: 'red', care: 'orange', plain: 'blue' } as const;

/** A word with a colour that says how it stands. */
export function Tone({
  tone,
  children,
}: {
  readonly tone: keyof typeof TONES;
  readonly children: ReactNode;
}) {
  return (
    <Badge color={TONES[tone]} variant="light" tt="none" miw="max-content">
      {children}
    </Badge>
  );
}
