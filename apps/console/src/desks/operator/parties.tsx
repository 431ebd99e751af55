import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { Link } from '../../ui/navigation.tsx';
import { Id } from '../../ui/values.tsx';

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
