import { Anchor, Box, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useKeys } from './keys.ts';

/** A picture or a file as it was handed in. Z makes it larger. */
export function Document({
  contentType,
  content,
  name,
}: {
  readonly contentType: string;
  /** Base64. */
  readonly content: string;
  readonly name: string;
}) {
  const [isLarge, setLarge] = useState(false);
  const [address, setAddress] = useState<string>();
  useKeys({ z: () => setLarge((before) => !before) });
  useEffect(() => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes], { type: contentType }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [content, contentType]);
  if (address === undefined) return null;
  if (!contentType.startsWith('image/')) {
    return (
      <Anchor href={address} target="_blank" rel="noreferrer" data-testid="document">
        Open {name}
      </Anchor>
    );
  }
  return (
    <Box
      data-testid="document"
      data-large={isLarge}
      style={isLarge ? { maxHeight: '70vh', overflow: 'auto' } : undefined}
      {...(isLarge ? { tabIndex: 0, role: 'region', 'aria-label': name } : {})}
    >
      <img
        src={address}
        alt={name}
        style={{ width: isLarge ? '200%' : '100%', maxHeight: isLarge ? 'none' : 320, objectFit: 'contain' }}
      />
      <Text size="xs" c="dimmed">
        {name}
      </Text>
    </Box>
  );
}
