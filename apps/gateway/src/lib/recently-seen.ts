/** Remembers the last so many of what was seen, so that nobody can fill the memory. */
export interface RecentlySeen {
  has(value: string): boolean;
  add(value: string): void;
  delete(value: string): void;
}

export function createRecentlySeen(limit: number): RecentlySeen {
  // A set keeps the order in which its values came.
  const values = new Set<string>();
  return {
    has: (value) => values.has(value),
    add(value) {
      values.delete(value);
      values.add(value);
      if (values.size <= limit) return;
      for (const oldest of values) {
        values.delete(oldest);
        return;
      }
    },
    delete: (value) => void values.delete(value),
  };
}
