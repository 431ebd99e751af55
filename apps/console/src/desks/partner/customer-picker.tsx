import type { User } from '@causeway/sdk';
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds a customer by id, whole e-mail address or reference; the newest are offered. */
export function CustomerPicker({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (userId: string) => void;
}) {
  const [sought, setSought] = useState('');
  const query = useQuery({
    queryKey: ['customer-picker', value, sought],
    queryFn: ({ signal }) => findCustomers(value, sought, signal),
    placeholderData: (before) => before,
  });
  return (
    <Select
      label="Customer"
      description="Id, whole e-mail address or your reference"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Choose nobody' }}
      w="100%"
      maw={380}
      filter={({ options }) => options}
      searchValue={sought}
      onSearchChange={setSought}
      nothingFoundMessage="No customer has this id, address or reference"
      data={(query.data ?? []).map((user) => ({ value: user.id, label: labelOf(user) }))}
      value={value === '' ? null : value}
      onChange={(userId) => onChange(userId ?? '')}
      data-testid="customer-picker"
    />
  );
}

const labelOf = ({ email, reference_id, id }: User): string => `${email} · ${reference_id ?? id.slice(0, 8)}`;

async function findCustomers(chosen: string, sought: string, signal: AbortSignal): Promise<readonly User[]> {
  const text = sought.trim();
  const found: User[] = [];
  if (chosen !== '') found.push(await api.users.get(chosen, { signal }));
  const isChosen = found.some((user) => labelOf(user) === text);
  if (text === '' || isChosen) found.push(...(await api.users.list({ limit: 20 }, { signal })).users);
  else if (UUID.test(text)) found.push(await api.users.get(text, { signal }));
  else {
    const query = text.includes('@') ? { email: text } : { reference_id: text };
    found.push(...(await api.users.list(query, { signal })).users);
  }
  return [...new Map(found.map((user) => [user.id, user])).values()];
}
