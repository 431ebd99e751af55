import { Text } from '@mantine/core';
import type { Column } from './list.tsx';
import { Status, Time } from './values.tsx';

/** What lists of keys show alike, at every desk. */
export const KEY_STATE: Column<{ readonly status: string; readonly ends_at: string | null }> = {
  title: 'State',
  cell: ({ status, ends_at }) => (
    <>
      <Status value={status} />{' '}
      {ends_at === null ? null : (
        <Text span size="xs" c="dimmed">
          <Time at={ends_at} />
        </Text>
      )}
    </>
  ),
};

export const LAST_USED: Column<{ readonly last_used_at: string | null }> = {
  title: 'Last used',
  cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} age />),
};
