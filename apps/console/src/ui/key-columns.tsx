import type { ListedKey } from '@causeway/sdk';
import { Text } from '@mantine/core';
import type { Column } from './list.tsx';
import { Status, Time } from './values.tsx';

/** What lists of keys show alike, at every desk. */
export const KEY_STATE: Column<Pick<ListedKey, 'status' | 'revoked_at' | 'ends_at'>> = {
  title: 'State',
  cell: ({ status, revoked_at, ends_at }) => {
    // Since when it is refused, or until when it works.
    const at = revoked_at ?? ends_at;
    return (
      <>
        {/* `live` is also what an environment is called that is no sandbox. */}
        <Status value={status === 'live' ? 'active' : status} />{' '}
        {at === null ? null : (
          <Text span size="xs" c="dimmed">
            <Time at={at} />
          </Text>
        )}
      </>
    );
  },
};

export const LAST_USED: Column<Pick<ListedKey, 'last_used_at'>> = {
  title: 'Last used',
  cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} age />),
};
