import {
  Anchor,
  Badge,
  Button,
  type ButtonProps,
  Group,
  Modal,
  Stack,
  Tabs,
  Text,
  Textarea,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api } from '../../api/client.ts';
import { Link, useGo, usePath, useSearch } from '../../ui/navigation.tsx';
import type { Search } from '../../ui/search.ts';
import { Problem } from '../../ui/states.tsx';
import { Id } from '../../ui/values.tsx';

/** What the operator’s pages share: names of parties, forms in a dialog, tabs in the address. */

const NAMED = 100;

/** Partners and vendors by name, for filters and lists; of very many the newest. */
export function useParties() {
  return useQuery({
    queryKey: ['operator', 'parties'],
    queryFn: async () => {
      const [{ partners }, { vendors }] = await Promise.all([
        api.operator.partners.list({ limit: NAMED }),
        api.operator.vendors.list({ limit: NAMED }),
      ]);
      return {
        partners: partners.map(({ partner_id, name }) => ({ value: partner_id, label: name })),
        vendors: vendors.map(({ vendor_id, name }) => ({ value: vendor_id, label: name })),
      };
    },
    staleTime: 60_000,
  });
}

/** A partner or a vendor: by its name where that is known, and a link to its page. */
export function Party({ kind, id }: { readonly kind: 'partners' | 'vendors'; readonly id: string | null }) {
  const { data } = useParties();
  const known = data?.[kind].find(({ value }) => value === id)?.label;
  if (id === null || known === undefined) {
    return (
      <Id value={id} name={`${kind.slice(0, -1)} id`} {...(id ? { to: `/operator/${kind}/${id}` } : {})} />
    );
  }
  return (
    <Anchor component={Link} to={`/operator/${kind}/${id}`} size="sm">
      {known}
    </Anchor>
  );
}

export interface FormDialogProps extends Omit<ButtonProps, 'onClick'> {
  /** Of the button and the dialog. */
  readonly label: string;
  /** What is filled in. */
  readonly children: ReactNode;
  readonly submit: (reason: string) => Promise<unknown>;
  readonly done: string;
  readonly reason?: 'required' | 'optional';
  readonly isValid?: boolean;
  readonly onDone?: (result: unknown) => void;
  readonly onOpen?: () => void;
  readonly testId: string;
}

/** A button, a form in a dialog, and what came of it. */
export function FormDialog(props: FormDialogProps) {
  const { label, children, submit, done, reason, isValid = true, onDone, onOpen, testId, ...button } = props;
  const [isOpen, { open, close }] = useDisclosure(false);
  const [why, setWhy] = useState('');
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: () => submit(why.trim()),
    onSuccess: async (result) => {
      close();
      setWhy('');
      notifications.show({ message: done, color: 'teal' });
      onDone?.(result);
      await client.invalidateQueries();
    },
  });
  return (
    <>
      <Button
        size="xs"
        {...button}
        onClick={() => {
          mutation.reset();
          onOpen?.();
          open();
        }}
        data-testid={testId}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} centered size="lg">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            mutation.mutate();
          }}
        >
          <Stack>
            {children}
            {reason === undefined ? null : (
              <Textarea
                label="Reason"
                description="Kept in the audit log; name no person in it"
                required={reason === 'required'}
                maxLength={500}
                autosize
                minRows={2}
                value={why}
                onChange={({ currentTarget }) => setWhy(currentTarget.value)}
                data-testid="reason"
              />
            )}
            {mutation.isError ? <Problem error={mutation.error} /> : null}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button
                type="submit"
                loading={mutation.isPending}
                disabled={!isValid || (reason === 'required' && why.trim() === '')}
                data-testid="submit"
              >
                {label}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

export interface TabDefinition {
  readonly value: string;
  readonly title: string;
  readonly content: () => ReactNode;
}

/** Tabs whose choice is in the address; each begins with filters of its own. */
export function PageTabs({ tabs }: { readonly tabs: readonly TabDefinition[] }) {
  const path = usePath();
  const go = useGo();
  const search = useSearch();
  const chosen = tabs.find(({ value }) => value === search.tab) ?? tabs[0];
  if (chosen === undefined) return null;
  return (
    <Tabs
      value={chosen.value}
      onChange={(tab) => go(path, { search: { tab: tab ?? undefined }, replace: true })}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {tabs.map(({ value, title }) => (
          <Tabs.Tab key={value} value={value} data-testid={`tab-${value}`}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={chosen.value}>{chosen.content()}</Tabs.Panel>
    </Tabs>
  );
}

/** One value of a filter; where an address has several of it, the first. */
export function textOf(filters: Search, name: string): string | undefined {
  const [value] = [filters[name]].flat();
  return value === undefined || value === '' ? undefined : value;
}

const DAY_MS = 86_400_000;

/** Days are the viewer’s; a last day counts as a whole. */
export function periodOf(filters: Search): { readonly from?: string; readonly to?: string } {
  const [from, to] = [startOfDay(textOf(filters, 'from')), startOfDay(textOf(filters, 'to'))];
  return {
    ...(from === undefined ? {} : { from: from.toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to.getTime() + DAY_MS).toISOString() }),
  };
}

function startOfDay(day: string | undefined): Date | undefined {
  const date = day === undefined ? undefined : new Date(`${day}T00:00:00`);
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date;
}

/** Only what is given: the API takes no empty parameters. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

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

const TONES = { good: 'teal', bad: 'red', care: 'orange', plain: 'blue' } as const;

/** A word with a colour that says how it stands. */
export function Tone({
  tone,
  children,
}: {
  readonly tone: keyof typeof TONES;
  readonly children: ReactNode;
}) {
  return (
    <Badge color={TONES[tone]} variant="light" tt="none" miw="max-content">
      {children}
    </Badge>
  );
}
