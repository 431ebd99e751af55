import type { Recipient } from '@causeway/sdk';
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay, useSession } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useGo, useParam } from '../../ui/navigation.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Status, Time } from '../../ui/values.tsx';
import { Rows } from './customer.tsx';
import { destinationOf, MaskedDetails, NO_VALUES, RailForm } from './rail-form.tsx';

const SCREENING: Readonly<Record<string, string>> = {
  pending: 'The lists are being searched; that takes seconds.',
  clear: 'Nothing was found: the recipient can be paid.',
  review: 'A name on a list looks alike. A person at the operator decides; until then nothing is paid.',
  blocked: 'The recipient cannot be paid. Ask the operator if it is a mistake.',
};

export default function RecipientPage() {
  const recipientId = useParam('recipientId');
  const go = useGo();
  const may = useMay();
  const { environment } = useSession();
  const query = useQuery({
    queryKey: ['recipient', recipientId],
    queryFn: ({ signal }) => api.recipients.get(recipientId, { signal }),
  });
  return (
    <Loaded
      query={query}
      page={{ title: 'Recipient', list: '/partner/recipients', listTitle: 'All recipients' }}
    >
      {(recipient) => (
        <>
          <PageHead
            title={recipient.recipient_name}
            about={
              <>
                Recipient · <Id value={recipientId} name="recipient id" />
              </>
            }
          >
            {environment === 'sandbox' &&
            may('sandboxScreeningStatus') &&
            recipient.screening_status !== 'clear' ? (
              <Action
                variant="default"
                run={() => api.sandbox.screeningStatus(recipientId, { screening_status: 'clear' })}
                done="The recipient is clear."
                testId="sandbox-clear"
              >
                Clear (sandbox)
              </Action>
            ) : null}
            {may('archiveRecipient') && recipient.status === 'active' ? (
              <Action
                color="red"
                variant="light"
                run={() => api.recipients.archive(recipientId)}
                done="The recipient is archived."
                confirm="It can no longer be paid and leaves the list. Orders that are under way go on."
                onDone={() => go('/partner/recipients')}
                testId="archive"
              >
                Archive
              </Action>
            ) : null}
          </PageHead>
          <Stack>
            <Facts recipient={recipient} />
            <Destinations recipient={recipient} />
          </Stack>
        </>
      )}
    </Loaded>
  );
}

function Facts({ recipient }: { readonly recipient: Recipient }) {
  const { screening_status: screening } = recipient;
  return (
    <Panel title="Who it is">
      <dl style={{ margin: 0 }}>
        <Fact label="Kind">{recipient.recipient_kind}</Fact>
        <Fact label="Country">{recipient.recipient_country}</Fact>
        <Fact label="Name in its own script">{recipient.recipient_native_name ?? '–'}</Fact>
        <Fact label="Identity document">
          {[recipient.recipient_id_type, recipient.recipient_id_number_masked].filter(Boolean).join(' ') ||
            '–'}
        </Fact>
        <Fact label="Registration number">
          {recipient.recipient_business_registration_number_masked ?? '–'}
        </Fact>
        <Fact label="State">
          <Status value={recipient.status} />
        </Fact>
        <Fact label="Screening">
          <Status value={screening} />
        </Fact>
        <Fact label="Changed">
          <Time at={recipient.updated_at} />
        </Fact>
      </dl>
      <Text size="sm" c="dimmed" data-testid="screening-words">
        {SCREENING[screening] ?? ''}
      </Text>
    </Panel>
  );
}

function Destinations({ recipient }: { readonly recipient: Recipient }) {
  const { recipient_id: recipientId } = recipient;
  const may = useMay();
  const query = useQuery({
    queryKey: ['destinations', recipientId],
    queryFn: ({ signal }) => api.recipients.listDestinations(recipientId, { signal }),
  });
  return (
    <Panel
      title="Where it is paid"
      testId="destinations"
      actions={
        may('createDestination') && recipient.status === 'active' ? (
          <NewDestination recipientId={recipientId} isBusiness={recipient.recipient_kind === 'business'} />
        ) : null
      }
    >
      <Loaded query={query}>
        {({ destinations }) =>
          destinations.length === 0 ? (
            <Text size="sm" c="dimmed">
              No account yet. Add one: then it can be named in a quote.
            </Text>
          ) : (
            <Rows
              heads={['Destination', 'Rail', 'Account', 'Holder’s screening', 'Created']}
              rows={destinations.map((one) => [
                <Id key="id" value={one.recipient_destination_id} name="destination id" />,
                `${one.rail} · ${one.currency}, ${one.country_code}`,
                <MaskedDetails key="details" details={one.details} />,
                <Status key="screening" value={one.screening_status} />,
                <Time key="at" at={one.created_at} />,
              ])}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function NewDestination({
  recipientId,
  isBusiness,
}: {
  readonly recipientId: string;
  readonly isBusiness: boolean;
}) {
  const [values, setValues] = useState(NO_VALUES);
  const destination = destinationOf(values, isBusiness);
  return (
    <FormDialog
      label="Add an account"
      submit="Add"
      testId="add-destination"
      done="The account is added."
      isReady={destination !== null}
      onOpen={() => setValues(NO_VALUES)}
      run={() => {
        if (destination === null) throw new Error('Choose currency, country and way to pay first.');
        return api.recipients.createDestination(recipientId, destination);
      }}
    >
      <RailForm values={values} isBusiness={isBusiness} onChange={setValues} />
    </FormDialog>
  );
}
