/** Ready-made artifacts: importing this package never loads a compiler or the packages the sources come from. */
export * as causewayRouter from './generated/causeway-router.ts';
export * as compatibilityFallbackHandler from './generated/compatibility-fallback-handler.ts';
export * as erc2771Forwarder from './generated/erc2771-forwarder.ts';
export * as eventFlood from './generated/event-flood.ts';
export * as feeOnTransferToken from './generated/fee-on-transfer-token.ts';
export * as multiSendCallOnly from './generated/multi-send-call-only.ts';
export * as safe from './generated/safe.ts';
export * as safeProxy from './generated/safe-proxy.ts';
export * as safeProxyFactory from './generated/safe-proxy-factory.ts';
export * as testTether from './generated/test-tether.ts';
export * as testToken from './generated/test-token.ts';
