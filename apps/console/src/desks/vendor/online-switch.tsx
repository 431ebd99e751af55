import { Switch } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, problemOf } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';

export const PROFILE_KEY = ['vendor-profile'] as const;

export function useProfile() {
  return useQuery({
    queryKey: PROFILE_KEY,
    queryFn: ({ signal }) => api.vendor.profile({ signal }),
    staleTime: 10_000,
  });
}

/** Offline keeps new orders away; what is accepted goes on. */
export function OnlineSwitch({ withMeaning = false }: { readonly withMeaning?: boolean }) {
  const profile = useProfile();
  const may = useMay();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (online: boolean) => api.vendor.setOnline({ online }),
    onSuccess: async ({ online }) => {
      notifications.show({
        message: online ? 'You are online: orders can come.' : 'You are offline: no new orders come.',
        color: 'teal',
      });
      await client.invalidateQueries({ queryKey: PROFILE_KEY });
    },
    onError: (error) => notifications.show({ message: problemOf(error).message, color: 'red' }),
  });
  const online = profile.data?.online ?? false;
  return (
    <Switch
      checked={change.isPending ? (change.variables ?? online) : online}
      disabled={profile.data === undefined || change.isPending || !may('setVendorOnline')}
      label={online ? 'Online' : 'Offline'}
      {...(withMeaning
        ? {
            description:
              'Online, you are offered orders that match your offers. Offline, no new ones come; those you have accepted go on.',
          }
        : {})}
      onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
      data-testid="online"
      data-online={online}
    />
  );
}
