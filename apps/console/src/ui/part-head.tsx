import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A heading of a part of a page. */
export function PartHead({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <Group justify="space-between" mb="xs" mt="md">
      <Text component="h2" fw={600} size="md" m={0}>
        {title}
      </Text>
      {children === undefined ? null : <Group gap="xs">{children}</Group>}
    </Group>
  );
}
