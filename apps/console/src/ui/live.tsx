import { Badge } from '@mantine/core';
import type { LiveState } from '../api/live-stream.ts';

/** Whether what is shown changes as it happens. */
export function Live({ state }: { readonly state: LiveState }) {
  const isLive = state === 'live';
  return (
    <Badge
      color={isLive ? 'teal' : state === 'broken' ? 'orange' : 'gray'}
      variant="light"
      tt="none"
      title={
        isLive
          ? 'Changes are shown as they happen'
          : 'The stream of events is being opened; until then the page looks again by itself'
      }
      data-testid="live"
      data-state={state}
    >
      {isLive ? 'live' : state === 'broken' ? 'reconnecting' : 'connecting'}
    </Badge>
  );
}
