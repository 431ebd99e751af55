import { Group, Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of a page with a title of its own, and what can be done there. */
export function Panel({
  title,
  about,
  actions,
  children,
  testId,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly testId?: string;
}) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title} data-testid={testId}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {actions === undefined ? null : <Group gap="xs">{actions}</Group>}
      </Group>
      {about === undefined ? null : (
        <Text size="sm" c="dimmed" mb="sm" component="div">
          {about}
        </Text>
      )}
      {children}
    </Paper>
  );
}
