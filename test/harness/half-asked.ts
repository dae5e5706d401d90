/** A question that people see while its worker does not know that it is shown: whoever is asked may act before Temporal has heard that they are. */

import { inject } from 'vitest';
import { until, type Parley } from './parley.js';
import { TcpGate } from './tcp-gate.js';

/**
 * @param parley without a worker; one has shown a question before, for the store must know the script that does it
 * @param call starts the call
 * @param act what is done to its consent, before a worker comes that can go on
 * @returns the call's id
 */
export async function halfAsked(
  parley: Parley,
  call: () => Promise<string>,
  act: (consent: any) => Promise<void>,
): Promise<string> {
  const gate = await new TcpGate(new URL(inject('redisUrl'))).open();
  try {
    // Of the step that shows the question the store hears, and the worker hears nothing of the store any more.
    gate.muteAt('awaiting_input');
    const worker = await parley.start('worker', { REDIS_URL: gate.url });
    const id = await call();
    const consent = await until(async () => {
      const inbox = await parley.api('/v1/consents');
      return inbox.body.items.find((item: any) => item.invocation === id);
    });
    await act(consent);
    await worker.kill();
    await parley.start('worker');
    return id;
  } finally {
    await gate.shut();
  }
}
