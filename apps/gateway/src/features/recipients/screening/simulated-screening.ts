import type { ScreeningPort, ScreeningResult, ScreeningStatus, ScreeningSubject } from './screening.port.ts';

/** The sandbox's test values: the part of a name that gets a status. The stricter one is looked for first. */
const TEST_VALUES: readonly [part: string, status: ScreeningStatus][] = [
  ['Blocked', 'blocked'],
  ['Review', 'review'],
];

export function createSimulatedScreening(): ScreeningPort {
  const screenAtOnce = ({ name }: ScreeningSubject): ScreeningResult => ({
    status: TEST_VALUES.find(([part]) => name.includes(part))?.[1] ?? 'clear',
    hits: [],
    listVersion: 'simulated',
  });
  return { screenAtOnce, screen: async (subject) => screenAtOnce(subject) };
}
