import { type FieldFault, paymentFieldFault } from '@causeway/protocol/payment-fields';
import type { PaymentField, Rail, VendorOrderDetail } from '@causeway/sdk';
import { Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Loaded } from '../../ui/states.tsx';

export interface GivenDetails {
  readonly details: Readonly<Record<string, string>>;
  /** Nothing is missing, and nothing is known to be refused. */
  readonly isComplete: boolean;
}

/** What is missing is not told at the field while it is being filled in. */
const FAULT_WORDS: Readonly<Record<FieldFault, (field: PaymentField) => string | null>> = {
  required: () => null,
  not_an_option: () => 'Choose one of the list.',
  too_long: ({ max_length }) => `At most ${max_length} characters.`,
  malformed: ({ label, placeholder }) =>
    `This is not the form of: ${label}.${placeholder === undefined ? '' : ` Such as ${placeholder}.`}`,
  check_digits: () => 'The check digits do not fit: look for a typing error.',
};

function faultWords(field: PaymentField, value: string): string | null {
  const fault = paymentFieldFault(field, value);
  return fault === undefined ? null : FAULT_WORDS[fault](field);
}

/** Where the customer pays: the fields that the order’s rail asks for, from discovery, and a reference if one is wanted. */
export function PaymentFields({
  order,
  onChange,
}: {
  readonly order: VendorOrderDetail;
  readonly onChange: (given: GivenDetails) => void;
}) {
  const rails = useQuery({
    queryKey: ['rails', order.fiat_currency],
    queryFn: ({ signal }) =>
      api.supported.paymentRails({ currency: order.fiat_currency, direction: 'onramp' }, { signal }),
    staleTime: 300_000,
  });
  return (
    <Loaded query={rails}>
      {({ rails: found }) => {
        const rail = found.find(({ slug }) => slug === order.payment_network_slug);
        return rail === undefined ? (
          <Text c="red">
            The rail {order.payment_network_slug} is not open now. Try again later, or decline.
          </Text>
        ) : (
          <Fields rail={rail} onChange={onChange} />
        );
      }}
    </Loaded>
  );
}

function Fields({
  rail,
  onChange,
}: {
  readonly rail: Rail;
  readonly onChange: (given: GivenDetails) => void;
}) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [formatId, setFormatId] = useState(rail.formats?.[0]?.id ?? '');
  const fieldsOf = (id: string): readonly PaymentField[] =>
    rail.formats?.find((format) => format.id === id)?.fields ?? rail.fields;
  const fields = fieldsOf(formatId);
  const tell = (given: Readonly<Record<string, string>>, asked: readonly PaymentField[]) => {
    const known = [...asked.map(({ key }) => key), 'reference'];
    const details = Object.fromEntries(
      known.flatMap((key) => (given[key]?.trim() ? [[key, given[key].trim()]] : [])),
    );
    const needsOne = (rail.require_one_of ?? []).filter((group) =>
      group.some((key) => asked.some((field) => field.key === key)),
    );
    const isComplete =
      asked.every((field) => paymentFieldFault(field, details[field.key] ?? '') === undefined) &&
      needsOne.every((group) => group.some((key) => details[key] !== undefined));
    onChange({ details, isComplete });
  };
  const set = (key: string, value: string) => {
    const next = { ...values, [key]: value };
    setValues(next);
    tell(next, fields);
  };
  return (
    <Stack gap="xs" data-testid="payment-fields">
      <Text size="sm">The customer pays you over {rail.name}. Tell where:</Text>
      {rail.formats !== undefined && rail.formats.length > 1 ? (
        <Select
          label="Kind of account"
          data={rail.formats.map(({ id, name }) => ({ value: id, label: name }))}
          value={formatId}
          allowDeselect={false}
          onChange={(id) => {
            setFormatId(id ?? '');
            tell(values, fieldsOf(id ?? ''));
          }}
        />
      ) : null}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {fields.map((field) => (
          <Field key={field.key} field={field} value={values[field.key] ?? ''} onChange={set} />
        ))}
        {fields.some(({ key }) => key.includes('reference')) ? null : (
          <TextInput
            label="Reference"
            description="What the customer writes into the payment, if you want one"
            maxLength={140}
            value={values.reference ?? ''}
            onChange={({ currentTarget }) => set('reference', currentTarget.value)}
            data-testid="field-reference"
          />
        )}
      </SimpleGrid>
    </Stack>
  );
}

function Field({
  field,
  value,
  onChange,
}: {
  readonly field: PaymentField;
  readonly value: string;
  readonly onChange: (key: string, value: string) => void;
}) {
  const { key, label, type, required, placeholder, max_length, options } = field;
  // A value is judged when its field is left: half of an IBAN is no fault yet.
  const [isLeft, setIsLeft] = useState(false);
  if (options !== undefined) {
    return (
      <Select
        label={label}
        required={required}
        searchable
        data={options.map(({ code, name }) => ({ value: code, label: name }))}
        value={value === '' ? null : value}
        onChange={(chosen) => onChange(key, chosen ?? '')}
        data-testid={`field-${key}`}
      />
    );
  }
  return (
    <TextInput
      label={label}
      required={required}
      type={type === 'email' || type === 'tel' ? type : 'text'}
      {...(placeholder === undefined ? {} : { placeholder })}
      // Separators help the eye; the service drops them.
      maxLength={max_length * 2}
      value={value}
      onChange={({ currentTarget }) => onChange(key, currentTarget.value)}
      onBlur={() => setIsLeft(true)}
      error={isLeft ? faultWords(field, value) : null}
      data-testid={`field-${key}`}
    />
  );
}
