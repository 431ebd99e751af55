import type { DestinationInput, PaymentRails } from '@causeway/sdk';
import { Code, Group, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Problem } from '../../ui/states.tsx';

/** An account as it is kept: at most the last characters of anything personal. */
export function MaskedDetails({ details }: { readonly details: Readonly<Record<string, string>> }) {
  return (
    <Group gap={6}>
      {Object.entries(details).map(([name, value]) => (
        <Text key={name} size="xs" span>
          {name.replaceAll('_', ' ')} <Code>{value}</Code>
        </Text>
      ))}
    </Group>
  );
}

type Rail = PaymentRails['rails'][number];

/** What was chosen so far, and the values of the rail’s fields by their keys. */
export interface RailValues {
  readonly currency: string;
  readonly country: string;
  readonly rail: string;
  readonly format: string;
  readonly institution: string;
  readonly fields: Readonly<Record<string, string>>;
}
export const NO_VALUES: RailValues = {
  currency: '',
  country: '',
  rail: '',
  format: '',
  institution: '',
  fields: {},
};

/** What the service is told; null while something is still to be chosen. */
export function destinationOf(values: RailValues, isBusiness: boolean): DestinationInput | null {
  const { currency, country, rail, institution, fields } = values;
  if (currency === '' || country === '' || rail === '') return null;
  const said = Object.entries(fields)
    .map(([name, value]) => [name, value.trim()] as const)
    .filter(([, value]) => value !== '');
  return {
    rail,
    currency,
    country_code: country,
    ...(institution === '' ? {} : { institution_id: institution }),
    details: { ...Object.fromEntries(said), ...(isBusiness ? { beneficiary_type: 'business' } : {}) },
  };
}

/** The fields of a way to pay somebody, as the discovery of the service lists them. */
export function RailForm({
  values,
  isBusiness,
  onChange,
}: {
  readonly values: RailValues;
  readonly isBusiness: boolean;
  readonly onChange: (values: RailValues) => void;
}) {
  const currencies = useQuery({
    queryKey: ['fiat-currencies'],
    queryFn: ({ signal }) => api.supported.fiatCurrencies({ signal }),
    staleTime: 300_000,
  });
  const rails = useQuery({
    queryKey: ['rails', values.currency],
    queryFn: ({ signal }) =>
      api.supported.paymentRails({ currency: values.currency, direction: 'offramp' }, { signal }),
    enabled: values.currency !== '',
    staleTime: 300_000,
  });
  const listed = rails.data?.rails ?? [];
  const countries = [...new Set(listed.flatMap((rail) => rail.countries))].sort();
  const offered = listed.filter((rail) => rail.countries.includes(values.country));
  const rail = offered.find(({ slug }) => slug === values.rail);
  return (
    <>
      {currencies.isError ? <Problem error={currencies.error} /> : null}
      {rails.isError ? <Problem error={rails.error} /> : null}
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Select
          label="Currency"
          required
          searchable
          data={(currencies.data ?? []).map(({ code }) => code)}
          value={values.currency || null}
          onChange={(currency) => onChange({ ...NO_VALUES, currency: currency ?? '' })}
          data-testid="rail-currency"
        />
        <Select
          label="Country"
          required
          searchable
          disabled={countries.length === 0}
          data={countries}
          value={values.country || null}
          onChange={(country) =>
            onChange({ ...NO_VALUES, currency: values.currency, country: country ?? '' })
          }
          data-testid="rail-country"
        />
        <Select
          label="Way to pay"
          required
          disabled={offered.length === 0}
          data={offered.map(({ slug, name }) => ({ value: slug, label: name }))}
          value={values.rail || null}
          onChange={(slug) =>
            onChange({ ...values, rail: slug ?? '', format: '', institution: '', fields: {} })
          }
          data-testid="rail-slug"
        />
      </SimpleGrid>
      {rail === undefined ? null : (
        <RailFields rail={rail} values={values} isBusiness={isBusiness} onChange={onChange} />
      )}
    </>
  );
}

function RailFields({
  rail,
  values,
  isBusiness,
  onChange,
}: {
  readonly rail: Rail;
  readonly values: RailValues;
  readonly isBusiness: boolean;
  readonly onChange: (values: RailValues) => void;
}) {
  const kind = isBusiness ? 'business' : 'individual';
  const formats = (rail.formats ?? []).filter(({ beneficiary_type = kind }) => beneficiary_type === kind);
  const format =
    formats.find(({ id }) => id === values.format) ?? (formats.length === 1 ? formats[0] : undefined);
  const fields = rail.formats === undefined ? rail.fields : (format?.fields ?? []);
  const [sought, setSought] = useState('');
  const institutions = useQuery({
    queryKey: ['institutions', rail.slug, values.country, values.currency, sought],
    queryFn: ({ signal }) =>
      api.supported.institutions(
        {
          rail: rail.slug,
          country: values.country,
          currency: values.currency,
          limit: 50,
          ...(sought === '' ? {} : { search: sought }),
        },
        { signal },
      ),
    enabled: rail.institution_required,
  });
  const fitting = (institutions.data?.institutions ?? []).filter(
    ({ institution_type }) => format === undefined || format.institution_types.includes(institution_type),
  );
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {formats.length > 1 ? (
        <Select
          label="Kind of account"
          required
          data={formats.map(({ id, name }) => ({ value: id, label: name }))}
          value={values.format || null}
          onChange={(id) => onChange({ ...values, format: id ?? '', institution: '', fields: {} })}
          data-testid="rail-format"
        />
      ) : null}
      {rail.institution_required ? (
        <Select
          label="Bank or wallet"
          required
          searchable
          filter={({ options }) => options}
          searchValue={sought}
          onSearchChange={setSought}
          data={fitting.map(({ id, name }) => ({ value: id, label: name }))}
          value={values.institution || null}
          onChange={(id) => onChange({ ...values, institution: id ?? '' })}
          data-testid="rail-institution"
        />
      ) : null}
      {fields.map((field) =>
        field.options === undefined ? (
          <TextInput
            key={field.key}
            label={field.label}
            required={field.required}
            placeholder={field.placeholder ?? ''}
            maxLength={field.max_length + 20}
            value={values.fields[field.key] ?? ''}
            onChange={({ currentTarget: { value } }) =>
              onChange({ ...values, fields: { ...values.fields, [field.key]: value } })
            }
            data-testid={`rail-field-${field.key}`}
          />
        ) : (
          <Select
            key={field.key}
            label={field.label}
            required={field.required}
            data={field.options.map(({ code, name }) => ({ value: code, label: name }))}
            value={values.fields[field.key] ?? null}
            onChange={(value) =>
              onChange({ ...values, fields: { ...values.fields, [field.key]: value ?? '' } })
            }
            data-testid={`rail-field-${field.key}`}
          />
        ),
      )}
    </SimpleGrid>
  );
}
