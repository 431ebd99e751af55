import { Badge } from '@mantine/core';

export function OnOff({ isOn }: { readonly isOn: boolean }) {
  return (
    <Badge variant="light" color={isOn ? 'teal' : 'gray'} tt="none" data-on={isOn}>
      {isOn ? 'on' : 'off'}
    </Badge>
  );
}
