import { Alert, Anchor, Button, Center, Code, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconInbox } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { problemOf } from '../api/client.ts';
import { serviceNow } from '../api/service-time.ts';
import { Link } from './navigation.tsx';
import { Time } from './values.tsx';

/** The title of a page, what it is about, and what can be done there. */
export function PageHead({
  title,
  about,
  children,
}: {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <Group justify="space-between" align="flex-start" mb="lg">
      <div>
        <Title order={1} size="h2">
          {title}
        </Title>
        {about === undefined ? null : (
          <Text c="dimmed" size="sm" maw={720}>
            {about}
          </Text>
        )}
      </div>
      {children === undefined ? null : <Group gap="xs">{children}</Group>}
    </Group>
  );
}

export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <Center mih={160} role="status" aria-label={what}>
      <Loader size="sm" />
    </Center>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <Center mih={200} data-testid="empty">
      <Stack align="center" gap={6} maw={420} ta="center">
        <IconInbox size={32} stroke={1.4} aria-hidden />
        <Text fw={600}>{title}</Text>
        {children === undefined ? null : (
          <Text size="sm" c="dimmed" component="div">
            {children}
          </Text>
        )}
      </Stack>
    </Center>
  );
}

export function Problem({
  error,
  retry,
  title,
  children,
}: {
  readonly error: unknown;
  readonly retry?: () => void;
  /** In place of the service’s sentence, where what is wrong is told below it. */
  readonly title?: string;
  readonly children?: ReactNode;
}) {
  const { code, message, requestId } = problemOf(error);
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle />}
      title={title ?? message}
      role="alert"
      data-testid="problem"
      data-code={code}
    >
      {children}
      <Group justify="space-between">
        <Text size="xs">
          <Code>{code}</Code> {requestId === undefined ? null : <>request {requestId}</>}
        </Text>
        {retry === undefined ? null : (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** A part of a page that cannot be refreshed says so once, not each of its own parts again. */
const UnderStale = createContext(false);

/** What is shown may have changed since: it could not be read again. */
function NotRefreshed({ query }: { readonly query: UseQueryResult }) {
  // By the service’s clock, as all other times of a page.
  const at = new Date(serviceNow() - (Date.now() - query.dataUpdatedAt));
  return (
    <Alert color="orange" variant="light" p="xs" mb="md" role="status" data-testid="not-refreshed">
      Not refreshed since <Time at={at.toISOString()} />. {problemOf(query.error).message}
    </Alert>
  );
}

/** What a query has, or how it stands with it: no page shows nothing. */
export function Loaded<T>({
  query,
  page,
  isQuiet = false,
  children,
}: {
  readonly query: UseQueryResult<T>;
  /** Where the query is the whole page: what it would have shown, and the list to go back to. */
  readonly page?: { readonly title: string; readonly list: string; readonly listTitle: string };
  /** What stands around pages: they say by themselves how old they are. */
  readonly isQuiet?: boolean;
  readonly children: (data: T) => ReactNode;
}) {
  const isUnderStale = useContext(UnderStale);
  if (query.data !== undefined) {
    const isStale = query.isError && !isQuiet;
    return (
      <>
        {isStale && !isUnderStale ? <NotRefreshed query={query} /> : null}
        <UnderStale value={isUnderStale || isStale}>{children(query.data)}</UnderStale>
      </>
    );
  }
  if (!query.isError) return <Loading />;
  const problem = <Problem error={query.error} retry={() => void query.refetch()} />;
  if (page === undefined) return problem;
  return (
    <>
      <PageHead title={page.title}>
        <Anchor component={Link} to={page.list} size="sm" data-testid="back-to-list">
          {page.listTitle}
        </Anchor>
      </PageHead>
      {problem}
    </>
  );
}
