/**
 * The command that the suite runs as the client under test, with the URL of its server as the last argument. The client is Parley, which
 * reads its registry when it starts: so this only takes the URL to the desk, and stays until the desk says that the calls have been made.
 */

const { PARLEY_DESK: desk = '', MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const introduction = { scenario, serverUrl: process.argv.at(-1), context: JSON.parse(context) as unknown };
const reply = await fetch(desk, { method: 'POST', body: JSON.stringify(introduction) });
process.exitCode = reply.ok ? 0 : 1;
