/** Whether an error says that the store is away or cannot take a write now. What it says of a command of ours is a mistake of ours. */

import {
  AbortError,
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  TimeoutError,
} from 'redis';
import { AuditFault } from '../audit/audit.js';
import { StoreFault } from './redis.js';

const clientErrors = [
  AbortError,
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  StoreFault,
  TimeoutError,
];
/** Starting, full, without disk, or a replica after a failover. */
const refusals = /^(LOADING|OOM|MISCONF|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/;

export function isStoreOutage(error: unknown): boolean {
  if (error instanceof AuditFault) return true;
  if (error instanceof ErrorReply) return refusals.test(error.message);
  return clientErrors.some((kind) => error instanceof kind);
}
