/**
 * An MCP server (revision 2026-07-28) that is a program: it speaks over its standard input and output, and keeps its drafts in memory. What
 * one process asks, another cannot take the answer to.
 *
 * --effects FILE   append a line of JSON for everything that is done, on the disk before the answer is sent
 */

import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { acceptedContent, inputRequired, inputResponse, McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const { values } = parseArgs({ options: { effects: { type: 'string' } } });
const decision = z.object({ confirm: z.boolean() });
const pollsNeeded = 2;

/** Texts that were drafted and not yet published, by their `requestState`. */
const drafts = new Map<string, string>();
const builds = new Map<string, number>();

function newServer(): McpServer {
  const server = new McpServer(
    { name: 'parley-stdio-example', version: '1.0.0' },
    { requestState: { verify: (state) => (isKnown(state) ? state : refuse()) } },
  );
  const words = { title: z.string().min(1) };

  server.registerTool('note', { description: 'Keeps a note, and asks nobody', inputSchema: z.object(words) }, async ({ title }) =>
    done('note', title),
  );

  server.registerTool(
    'slow_note',
    { description: 'Keeps a note, and takes a minute over the answer', inputSchema: z.object(words) },
    async ({ title }, { mcpReq }) => {
      const result = done('slow_note', title);
      await sleep(60_000, undefined, { signal: mcpReq.signal });
      return result;
    },
  );

  server.registerTool(
    'publish',
    { description: 'Drafts a text, and publishes it after a person has confirmed', inputSchema: z.object(words) },
    async ({ title }, { mcpReq }) => {
      const draft = mcpReq.requestState<string>();
      const answer = inputResponse(mcpReq.inputResponses, 'publish');
      if (draft === undefined || answer.kind !== 'elicit') return ask(title);
      drafts.delete(draft);
      const { confirm = false } = acceptedContent(mcpReq.inputResponses, 'publish', decision) ?? {};
      return confirm ? done('publish', title) : said(`${title} was not published`);
    },
  );

  server.registerTool(
    'build',
    { description: 'Takes a while: the result is ready at the third request', inputSchema: z.object(words) },
    async ({ title }, { mcpReq }) => {
      const build = mcpReq.requestState<string>() ?? randomUUID();
      const polls = builds.get(build) ?? 0;
      builds.set(build, polls + 1);
      return polls < pollsNeeded ? inputRequired({ requestState: build }) : done('build', title);
    },
  );
  return server;
}

function ask(title: string) {
  const draft = randomUUID();
  drafts.set(draft, title);
  const requestedSchema = {
    type: 'object' as const,
    properties: { confirm: { type: 'boolean' as const, title: 'Publish now' } },
    required: ['confirm'],
  };
  const message = `Publish ${title}?`;
  return inputRequired({
    requestState: draft,
    inputRequests: { publish: inputRequired.elicit({ message, requestedSchema }) },
  });
}

function isKnown(state: string): boolean {
  return drafts.has(state) || builds.has(state);
}

function refuse(): never {
  throw new Error('not a state of this process');
}

/** Where a real server would change the world. */
function done(tool: string, title: string): CallToolResult {
  if (values.effects !== undefined) {
    const file = openSync(values.effects, 'a', 0o600);
    writeSync(file, `${JSON.stringify({ tool, title, pid: process.pid })}\n`);
    fsyncSync(file);
    closeSync(file);
  }
  return said(`${title}: ${tool} done`);
}

function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

serveStdio(newServer, { legacy: 'reject' });
