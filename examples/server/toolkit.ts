/** What every tool, prompt and resource of this server is given. */

import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Effects } from './effects.js';
import type { RequestStates } from './request-state.js';

export interface Toolkit {
  readonly effects: Effects;
  readonly states: RequestStates;
}

export function text(words: string): CallToolResult {
  return { content: [{ type: 'text', text: words }] };
}
