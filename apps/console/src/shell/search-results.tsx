import type { Desk } from '@causeway/protocol/console';
import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from '../ui/navigation.tsx';
import { type Found, placeOf } from './search-places.ts';

/** What a search has found, where it was not one thing. */
export function Results({
  desk,
  found,
  onChosen,
}: {
  readonly desk: Desk;
  readonly found: readonly Found[];
  readonly onChosen: () => void;
}) {
  if (found.length === 0) {
    return (
      <Text size="sm" role="status" data-testid="search-nothing">
        Nothing found. Search takes whole ids, hashes, addresses, e-mails and references, not parts of them.
      </Text>
    );
  }
  return (
    <Stack gap={6} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
      {found.map((one) => {
        const place = placeOf(desk, one);
        const words = `${one.kind} by ${one.matched}: ${one.label}`;
        return (
          <li key={`${one.kind} ${one.id}`}>
            {place === undefined ? (
              <Text size="sm">{words}</Text>
            ) : (
              <Anchor component={Link} to={place} size="sm" onClick={onChosen} data-found={one.id}>
                {words}
              </Anchor>
            )}
            <Text size="xs" c="dimmed" truncate>
              {one.id}
            </Text>
          </li>
        );
      })}
    </Stack>
  );
}
