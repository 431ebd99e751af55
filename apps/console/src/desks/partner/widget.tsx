import { Alert, Anchor, Button, Group, List, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleCall } from '../../api/client.ts';
import { useMay, useSession } from '../../api/session.ts';
import { Panel } from '../../ui/panel.tsx';
import { Loaded, PageHead, Problem } from '../../ui/states.tsx';
import { WidgetLook } from './widget-look.tsx';

interface OwnWidget {
  readonly origins: readonly string[];
  readonly base_url: string;
}

export default function WidgetSettings() {
  const { environment } = useSession();
  const query = useQuery({
    queryKey: ['own-widget'],
    queryFn: ({ signal }) => consoleCall<OwnWidget>('getOwnWidget', { signal }),
  });
  return (
    <>
      <PageHead
        title="Widget"
        about="The on-ramp and off-ramp in your own pages: where it may be shown, and how it looks."
      >
        {environment === 'sandbox' ? (
          <Button
            component="a"
            href="/widget/playground"
            target="_blank"
            rel="noreferrer"
            size="xs"
            variant="default"
            data-testid="playground"
          >
            Open the playground
          </Button>
        ) : null}
      </PageHead>
      <Loaded query={query}>
        {(widget) => (
          <Stack>
            <Origins origins={widget.origins} />
            <WidgetLook baseUrl={widget.base_url} />
            <Text size="sm">
              Every option, sessions made by your server and the checklist for going live:{' '}
              <Anchor href="/docs/guides/widget" target="_blank" rel="noreferrer" underline="always">
                the guide of the widget
              </Anchor>
              .
            </Text>
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function Origins({ origins }: { readonly origins: readonly string[] }) {
  const may = useMay();
  const client = useQueryClient();
  const [text, setText] = useState(origins.join('\n'));
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const save = useMutation({
    mutationFn: () =>
      consoleCall<{ origins: readonly string[] }>('setOwnWidgetOrigins', { body: { origins: lines } }),
    onSuccess: async ({ origins: kept }) => {
      setText(kept.join('\n'));
      await client.invalidateQueries({ queryKey: ['own-widget'] });
    },
  });
  const isChanged = lines.join('\n') !== origins.join('\n');
  return (
    <Panel title="Pages that may show it" testId="origins">
      <Stack gap="sm">
        <Textarea
          label="Origins, one a line"
          description="Scheme, host and port; https only outside a sandbox. https://*.shop.example is every subdomain. Without any, no page of yours can embed it."
          placeholder="https://shop.example"
          autosize
          minRows={2}
          value={text}
          disabled={!may('setOwnWidgetOrigins')}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          data-testid="origins-text"
        />
        {save.isError ? <OriginProblem error={save.error} lines={lines} /> : null}
        {save.isSuccess && !isChanged ? (
          <Alert color="teal" role="status" data-testid="origins-saved">
            In force everywhere within a second.
          </Alert>
        ) : null}
        {may('setOwnWidgetOrigins') ? (
          <Group>
            <Button
              size="xs"
              disabled={!isChanged}
              loading={save.isPending}
              onClick={() => save.mutate()}
              data-testid="save-origins"
            >
              Save
            </Button>
          </Group>
        ) : (
          <Text size="xs" c="dimmed">
            Changing them needs the role admin.
          </Text>
        )}
      </Stack>
    </Panel>
  );
}

function OriginProblem({ error, lines }: { readonly error: unknown; readonly lines: readonly string[] }) {
  const { details } = error as { details?: { fields?: readonly { path: string; message: string }[] } };
  return (
    <>
      <Problem error={error} />
      <List size="sm">
        {(details?.fields ?? []).map(({ path, message }) => (
          <List.Item key={path}>
            {lines[Number(path.split('.')[1])] ?? path} {message}
          </List.Item>
        ))}
      </List>
    </>
  );
}
