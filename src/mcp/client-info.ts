/** How Parley names itself to MCP servers. */
export const clientInfo = { name: 'parley', version: '0.1.0' } as const;
