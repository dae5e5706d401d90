/** Injection token of the process's one connection to the store; its type is {@link Redis}. */
export const REDIS = Symbol('redis');
