/**
 * A server that shows what the SDK's own examples show, in the SDK's own ways: signed states with a lifetime, forms and URLs that follow each
 * other, progress and log messages in mid-call, a resource with a cache hint.
 */

import { randomBytes } from 'node:crypto';
import { acceptedContent, createRequestStateCodec, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { hostSdkServer, type HostOptions, type SdkServer } from '../../examples/sdk-host.js';

interface Step {
  readonly step: 'confirm' | 'sign-in';
  readonly env: string;
}

export const appConfig = 'config://app';
const confirmed = z.object({ confirm: z.boolean() });
const registration = z.object({
  username: z.string().min(3).max(20),
  email: z.email(),
  plan: z.enum(['free', 'pro']).optional(),
});

/** @param stateTtlSeconds of every `requestState` */
export async function startSdkStories(stateTtlSeconds: number, responseMode: HostOptions['responseMode']): Promise<SdkServer> {
  const states = createRequestStateCodec<Step>({
    key: randomBytes(32),
    ttlSeconds: stateTtlSeconds,
    bind: ({ mcpReq }) => mcpReq.method,
  });
  return await hostSdkServer(
    () => {
      const server = new McpServer(
        { name: 'stories', version: '1.0.0' },
        { capabilities: { logging: {} }, requestState: { verify: states.verify } },
      );
      registerRegisterUser(server);
      registerCountdown(server);
      registerAppConfig(server);
      server.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, async ({ env }, ctx) => {
        const { mcpReq } = ctx;
        if (mcpReq.requestState<Step>()?.step === 'sign-in') {
          const signedIn = inputResponse(mcpReq.inputResponses, 'auth');
          const isSignedIn = signedIn.kind === 'elicit' && signedIn.action === 'accept';
          return { isError: !isSignedIn, content: [{ type: 'text', text: isSignedIn ? `deployed to ${env}` : 'not signed in' }] };
        }
        if (acceptedContent(mcpReq.inputResponses, 'confirm', confirmed)?.confirm !== true) {
          const confirm = inputRequired.elicit({ message: `Deploy to ${env}?`, requestedSchema: confirmed });
          return inputRequired({ inputRequests: { confirm }, requestState: await states.mint({ step: 'confirm', env }, ctx) });
        }
        const auth = inputRequired.elicitUrl({ message: 'Sign in to continue', url: `https://example.com/auth?env=${env}` });
        return inputRequired({ inputRequests: { auth }, requestState: await states.mint({ step: 'sign-in', env }, ctx) });
      });
      return server;
    },
    { ...(responseMode !== undefined && { responseMode }) },
  );
}

/** Asks without a state: what was asked is clear from what was answered. */
function registerRegisterUser(server: McpServer): void {
  server.registerTool('register_user', { description: 'Registers a user' }, async ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'form');
    const user = acceptedContent(mcpReq.inputResponses, 'form', registration);
    if (user !== undefined) {
      return { content: [{ type: 'text', text: `registered ${user.username} <${user.email}> (${user.plan ?? 'free'})` }] };
    }
    if (answer.kind === 'elicit' && answer.action !== 'accept') {
      return { content: [{ type: 'text', text: `registration ${answer.action}` }] };
    }
    const form = inputRequired.elicit({ message: 'Please register', requestedSchema: registration });
    return inputRequired({ inputRequests: { form } });
  });
}

/** Tells how far it is before it asks, and again before it is done. */
function registerCountdown(server: McpServer): void {
  const inputSchema = z.object({ n: z.int().min(1).max(20_000) });
  server.registerTool('countdown', { inputSchema, outputSchema: z.object({ completed: z.int() }) }, async ({ n }, { mcpReq }) => {
    const { _meta: { progressToken } = {} } = mcpReq;
    for (let progress = 1; progress <= n; progress++) {
      if (progressToken !== undefined) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: n } });
      }
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: `step ${progress}/${n}` } });
    }
    if (acceptedContent(mcpReq.inputResponses, 'confirm', confirmed) === undefined) {
      const confirm = inputRequired.elicit({ message: 'Count again?', requestedSchema: confirmed });
      return inputRequired({ inputRequests: { confirm } });
    }
    return { content: [{ type: 'text', text: `completed ${n}` }], structuredContent: { completed: n } };
  });
}

/** May be cached for an hour by whoever reads it; it asks first all the same. */
function registerAppConfig(server: McpServer): void {
  const config = { mimeType: 'text/plain', cacheHint: { ttlMs: 3_600_000, cacheScope: 'public' as const } };
  server.registerResource('app-config', appConfig, config, async (uri, { mcpReq }) => {
    if (acceptedContent(mcpReq.inputResponses, 'confirm', confirmed) === undefined) {
      const confirm = inputRequired.elicit({ message: 'Read the configuration?', requestedSchema: confirmed });
      return inputRequired({ inputRequests: { confirm } });
    }
    return { contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'feature=on' }] };
  });
}
