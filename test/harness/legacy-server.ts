/** A server of MCP 2025-11-25 on the official SDK: sessions over Streamable HTTP, and tools that ask while their call is pending. */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer, type ElicitResult, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';

export interface LegacyRequest {
  readonly http: string;
  readonly session: string | undefined;
  readonly authorization: string | undefined;
  readonly message: { readonly id?: unknown; readonly method?: string; readonly params?: any; readonly result?: any };
}

export class LegacyServer {
  readonly requests: LegacyRequest[] = [];
  /** What its tools have done, in order. */
  readonly effects: string[] = [];
  readonly #sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  readonly #answersInJson: boolean;
  readonly #http = createServer((req, res) => void this.#serve(req, res));

  /** @param options.answersInJson a request gets one JSON body, and no header before it: the server asks over the other stream alone */
  constructor({ answersInJson = false }: { readonly answersInJson?: boolean } = {}) {
    this.#answersInJson = answersInJson;
  }

  /** @returns URL of its MCP endpoint */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  /** Sessions that it still has. */
  get sessions(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  /** Resets every connection; the sessions stay. */
  reset(): void {
    this.#http.closeAllConnections();
  }

  async stop(): Promise<void> {
    for (const transport of this.#sessions.values()) await transport.close();
    this.#http.close();
    this.#http.closeAllConnections();
  }

  async #serve(req: IncomingMessage, res: Parameters<NodeStreamableHTTPServerTransport['handleRequest']>[1]): Promise<void> {
    let text = '';
    for await (const chunk of req) text += chunk;
    const message = text === '' ? {} : JSON.parse(text);
    const session = req.headers['mcp-session-id'] as string | undefined;
    this.requests.push({ http: req.method ?? '', session, authorization: req.headers.authorization, message });
    const known = session === undefined ? await this.#begin() : this.#sessions.get(session);
    if (known === undefined) res.writeHead(404).end();
    else await known.handleRequest(req, res, text === '' ? undefined : message);
  }

  async #begin(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: this.#answersInJson,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await this.#mcp().connect(transport);
    return transport;
  }

  #mcp(): McpServer {
    const mcp = new McpServer({ name: 'legacy', version: '1' }, { capabilities: { tools: {} } });
    const inputSchema = z.object({ title: z.string().default('untitled') });
    type Work = (title: string, ctx: ServerContext) => Promise<string>;
    const tool = (name: string, work: Work) =>
      mcp.registerTool(name, { inputSchema }, async ({ title }, ctx) => ({
        content: [{ type: 'text', text: await work(title, ctx) }],
      }));
    const done = (title: string, { action, content }: ElicitResult) => {
      this.effects.push(`${title}: ${action}${content === undefined ? '' : ` ${JSON.stringify(content)}`}`);
      return action;
    };
    tool('note', async (title) => done(title, { action: 'accept' }));
    tool('publish', async (title, ctx) => done(title, await ctx.mcpReq.elicitInput(confirm(title))));
    tool('rename', async (title, ctx) => {
      const { content } = await ctx.mcpReq.elicitInput(naming);
      return done(title, await ctx.mcpReq.elicitInput(confirm(`${title} as ${content?.['name']}`)));
    });
    // As many servers of this revision do: the question is on no call's stream.
    tool('elsewhere', async (title) => done(title, await mcp.server.elicitInput(confirm(title))));
    tool('hasty', async (title, ctx) => done(title, await ctx.mcpReq.elicitInput(confirm(title), { timeout: 1_500 })));
    tool('slow', async (title) => {
      done(title, { action: 'accept' });
      await new Promise((resolve) => setTimeout(resolve, 15_000).unref());
      return 'late';
    });
    return mcp;
  }
}

const confirm = (title: string) => ({
  mode: 'form' as const,
  message: `Publish ${title}?`,
  requestedSchema: { type: 'object' as const, properties: { confirm: { type: 'boolean' as const } }, required: ['confirm'] },
});

const naming = {
  mode: 'form' as const,
  message: 'Under which name?',
  requestedSchema: { type: 'object' as const, properties: { name: { type: 'string' as const } }, required: ['name'] },
};
