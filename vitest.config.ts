import { defineConfig } from 'vitest/config';

// Projects by what a test needs around it, so that pure rules run without a database or a chain.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'backends/*/src/**/*.test.ts', 'apps/gateway/src/lib/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
    ],
  },
});
