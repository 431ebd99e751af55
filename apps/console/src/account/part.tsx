import { Badge, Group, Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of the page. */
export function Part({
  title,
  about,
  badge,
  testId,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly badge?: ReactNode;
  readonly testId: string;
  readonly children: ReactNode;
}) {
  return (
    <Paper withBorder p="lg" component="section" aria-label={title} data-testid={testId}>
      <Group justify="space-between" mb={4}>
        <Title order={2} size="h4">
          {title}
        </Title>
        {badge}
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

export function OnOff({ isOn }: { readonly isOn: boolean }) {
  return (
    <Badge variant="light" color={isOn ? 'teal' : 'gray'} tt="none" data-on={isOn}>
      {isOn ? 'on' : 'off'}
    </Badge>
  );
}
