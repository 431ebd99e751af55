import { Text } from '@mantine/core';
import { useServiceNow } from '../../api/clock.ts';

const URGENT_SECONDS = 120;

/** What is left until a moment of the service: `4:59`, `2 h 10 min`; red in the last two minutes. */
export function Countdown({ until, label }: { readonly until: string | null; readonly label?: string }) {
  const now = useServiceNow();
  if (until === null || now === null)
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  const seconds = Math.max(0, Math.floor((Date.parse(until) - now) / 1_000));
  const isUrgent = seconds < URGENT_SECONDS;
  return (
    <Text
      span
      role="timer"
      title={`${label ?? 'Until'} ${until.slice(0, 19).replace('T', ' ')} UTC`}
      data-testid="countdown"
      data-seconds={seconds}
      fw={isUrgent ? 700 : 500}
      c={isUrgent ? 'red.8' : undefined}
      style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}
    >
      {seconds === 0 ? 'time is up' : leftText(seconds)}
    </Text>
  );
}

export function leftText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
}
