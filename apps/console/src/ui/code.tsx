import { Box, Group, ScrollArea, Text } from '@mantine/core';
import { Copy } from './values.tsx';

/** Text to copy: a call, a secret that is shown once, an answer as it came. */
export function CodeBlock({
  code,
  label,
  maxHeight,
}: {
  readonly code: string;
  readonly label: string;
  readonly maxHeight?: number;
}) {
  return (
    <Box bd="1px solid var(--mantine-color-default-border)" style={{ borderRadius: 6 }}>
      <Group justify="space-between" px="sm" py={4}>
        <Text size="xs" c="dimmed">
          {label}
        </Text>
        <Copy value={code} label={`Copy ${label}`} />
      </Group>
      <ScrollArea.Autosize
        mah={maxHeight ?? 420}
        type="auto"
        viewportProps={{ tabIndex: 0, 'aria-label': label, role: 'region' }}
      >
        <Box component="pre" m={0} px="sm" pb="sm" fz="xs" style={{ whiteSpace: 'pre' }}>
          {code}
        </Box>
      </ScrollArea.Autosize>
    </Box>
  );
}

export function Json({ value, label = 'JSON' }: { readonly value: unknown; readonly label?: string }) {
  return <CodeBlock code={JSON.stringify(value, null, 2)} label={label} />;
}
