import type { ListedKey, NewKey } from '@causeway/sdk';
import { Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { consoleCall } from '../api/client.ts';
import { useMay, useSession } from '../api/session.ts';
import { Action } from '../ui/actions.tsx';
import { FormDialog, ShownOnce } from '../ui/form-dialog.tsx';
import { KEY_STATE, LAST_USED } from '../ui/key-columns.tsx';
import { List } from '../ui/list.tsx';
import { useSearch } from '../ui/navigation.tsx';
import { Empty, PageHead } from '../ui/states.tsx';
import { Time } from '../ui/values.tsx';

interface OwnKey extends ListedKey {
  readonly kind: 'secret' | 'widget' | 'vendor';
}

const KINDS: Readonly<Record<OwnKey['kind'], string>> = {
  secret: 'Secret: for your servers, does everything',
  widget: 'Widget: public, for your pages, only starts sessions',
  vendor: 'For your programs, does everything a vendor does',
};

/** The keys of a partner or a vendor, managed by its own people. */
export default function OwnKeys() {
  const may = useMay();
  const { key } = useSearch();
  return (
    <>
      <PageHead
        title="API keys"
        about="What your programs call with. A key is shown once, when it is made; here it is recognised by its last characters."
      >
        {may('createOwnKey') ? <CreateKey /> : null}
      </PageHead>
      <List<OwnKey>
        id="keys"
        queryKey={['own-keys']}
        load={async ({ limit, offset }, signal) => {
          const page = await consoleCall<{ keys: OwnKey[]; pagination: { total: number } }>('listOwnKeys', {
            query: { limit, offset },
            signal,
          });
          return { rows: page.keys, total: page.pagination.total };
        }}
        rowKey={({ key_id }) => key_id}
        marked={key}
        columns={[
          { title: 'Key', cell: ({ hint }) => hint },
          { title: 'For', cell: ({ label, kind }) => label || KINDS[kind].split(':', 1)[0] },
          { title: 'Kind', cell: ({ kind }) => kind },
          KEY_STATE,
          LAST_USED,
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Actions', end: true, cell: (key) => <KeyActions of={key} /> },
        ]}
        empty={<Empty title="No keys">Create one to call the API.</Empty>}
      />
    </>
  );
}

function Shown({ made }: { readonly made: NewKey }) {
  return (
    <ShownOnce value={made.key} label="key">
      {made.kind === 'widget'
        ? 'It is public and may stand in your pages.'
        : 'Keep it where your programs keep their secrets. Who has it acts as you.'}
    </ShownOnce>
  );
}

function CreateKey() {
  const { desk } = useSession();
  const [kind, setKind] = useState<string>('secret');
  const [label, setLabel] = useState('');
  return (
    <FormDialog
      label="New key"
      submit="Create"
      testId="create-key"
      done="The key works at once."
      onOpen={() => setLabel('')}
      run={() =>
        consoleCall<NewKey>('createOwnKey', {
          body: { ...(desk === 'partner' ? { kind } : {}), label: label.trim() },
        })
      }
      result={(made) => <Shown made={made} />}
    >
      {desk === 'partner' ? (
        <Select
          label="Kind"
          data={(['secret', 'widget'] as const).map((value) => ({ value, label: KINDS[value] }))}
          value={kind}
          allowDeselect={false}
          onChange={(value) => setKind(value ?? 'secret')}
          data-testid="key-kind"
        />
      ) : null}
      <TextInput
        label="What it is for"
        placeholder="shop backend"
        maxLength={200}
        value={label}
        onChange={({ currentTarget }) => setLabel(currentTarget.value)}
        data-testid="key-label"
      />
    </FormDialog>
  );
}

const GRACES = [
  ['0', 'At once: the old key is refused from now on'],
  ['1', 'One hour'],
  ['24', 'One day'],
  ['72', 'Three days, the longest'],
] as const;

function KeyActions({ of: key }: { readonly of: OwnKey }) {
  const may = useMay();
  const [grace, setGrace] = useState('24');
  if (key.status === 'ended' || key.status === 'revoked') return null;
  return (
    <span style={{ display: 'inline-flex', gap: 6 }}>
      {may('rollOwnKey') && key.status === 'live' ? (
        <FormDialog
          label="Roll"
          title={`Roll ${key.hint}`}
          variant="default"
          testId="roll-key"
          done="The new key works at once."
          run={() =>
            consoleCall<{ key: NewKey; old_key_ends_at: string }>('rollOwnKey', {
              params: { key_id: key.key_id },
              body: { grace_hours: Number(grace) },
            })
          }
          result={(rolled) => (
            <>
              <Shown made={rolled.key} />
              <Text size="sm">
                The old key ends <Time at={rolled.old_key_ends_at} />. Until then every answer to it says so
                in the header Key-Ends-At.
              </Text>
            </>
          )}
        >
          <Text size="sm">A new key is made now. Choose how long the old one goes on beside it.</Text>
          <Select
            label="The old key ends after"
            data={GRACES.map(([value, label]) => ({ value, label }))}
            value={grace}
            allowDeselect={false}
            onChange={(value) => setGrace(value ?? '24')}
            data-testid="grace"
          />
        </FormDialog>
      ) : null}
      {may('revokeOwnKey') ? (
        <Action
          color="red"
          variant="light"
          run={() => consoleCall('revokeOwnKey', { params: { key_id: key.key_id } })}
          done="The key is refused from now on."
          confirm={`Programs that send ${key.hint} are refused at once, for good. To change over without a gap, roll it instead.`}
          testId="revoke-key"
        >
          Revoke
        </Action>
      ) : null}
    </span>
  );
}
