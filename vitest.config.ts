import { defineConfig } from 'vitest/config';

// Projects by what a test needs around it, so that pure rules run without a database or a chain.
const withGround = {
  globalSetup: ['test/harness/global-setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
const gateway = 'apps/gateway/src';

export default defineConfig({
  test: {
    // Two cores: more workers only take turns, and each holds a gateway and chains of its own.
    maxWorkers: 2,
    reporters: process.env.CI ? ['default', 'json'] : ['default', 'json'],
    outputFile: { json: '.cache/vitest.json' },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'backends/*/src/**/*.test.ts',
            `${gateway}/*.test.ts`,
            `${gateway}/lib/**/*.test.ts`,
            `${gateway}/features/payment-details/validation/**/*.test.ts`,
            `${gateway}/features/recipients/screening/**/*.test.ts`,
            `${gateway}/features/kyc/provider/**/*.test.ts`,
            'test/harness/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'local',
          include: [`${gateway}/local/**/*.test.ts`],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'chain',
          include: ['contracts/src/**/*.test.ts', `${gateway}/chain/**/*.test.ts`],
          ...withGround,
        },
      },
      {
        test: {
          name: 'database',
          include: [`${gateway}/{db,engine,http,upstream}/**/*.test.ts`, `${gateway}/features/**/*.test.ts`],
          exclude: [
            `${gateway}/features/payment-details/validation/**`,
            `${gateway}/features/recipients/screening/**`,
            `${gateway}/features/kyc/provider/**`,
          ],
          ...withGround,
        },
      },
      {
        test: {
          name: 'whole',
          include: ['test/{scenarios,invariants,faults,browser,races,model}/**/*.test.ts'],
          ...withGround,
          testTimeout: 120_000,
        },
      },
    ],
  },
});
