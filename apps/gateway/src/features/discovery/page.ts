/** One page of a list under its own name, with where it stands in the whole. */
export function pageOf(
  name: string,
  all: readonly unknown[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): object {
  return {
    [name]: all.slice(offset, offset + limit),
    pagination: { total: all.length, limit, offset },
  };
}
