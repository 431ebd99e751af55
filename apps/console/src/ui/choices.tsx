import {
  type MultiSelectProps,
  type SelectProps,
  MultiSelect as Several,
  Select as Single,
} from '@mantine/core';

/** Lists to choose from are large: a page that shows one loads it when it is shown. */
export function Select(props: SelectProps<string>) {
  return <Single {...props} />;
}

export function MultiSelect(props: MultiSelectProps<string>) {
  return <Several {...props} />;
}
