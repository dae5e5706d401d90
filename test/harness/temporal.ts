/** The run's Temporal, for what only Temporal knows of a call. */

import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';

/** A client without codec: what it reads is what anybody at Temporal could read. Close its `connection`. */
export async function temporalClient(): Promise<Client> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  return new Client({ connection });
}
