/** A server that the official conformance suite finds right in its scenarios `input-required-result-*`: `npm run conformance` has it judged. */

import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { hostSdkServer, type SdkServer } from '../sdk-host.js';
import { registerPrompt, registerTools, type States } from './tools.js';

export interface ConformanceServer extends SdkServer {
  /** From here on no state that was given before is known: as after a restart without the old key. */
  forgetStates(): void;
}

export async function startConformanceServer({ port = 0 }: { readonly port?: number } = {}): Promise<ConformanceServer> {
  let states = newStates();
  const server = await hostSdkServer(
    () => {
      const mcp = new McpServer({ name: 'parley-conformance', version: '1.0.0' }, { requestState: { verify: states.verify } });
      registerTools(mcp, states);
      registerPrompt(mcp);
      return mcp;
    },
    { port },
  );
  return { ...server, forgetStates: () => void (states = newStates()) };
}

function newStates(): States {
  return createRequestStateCodec<string>({ key: randomBytes(32), ttlSeconds: 3_600 });
}
