/** The console’s rules, apart from the schemas: pages load them without those. */
export * from './access.ts';
export * from './differences.ts';
export * from './queue.ts';
export * from './routes.ts';
