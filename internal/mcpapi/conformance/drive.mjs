// Two agents drive every tool, the resources and the prompts with an official client, over one of the two transports.
// It is read from standard input in the folder of the installed packages: node --input-type=module - < drive.mjs
import assert from 'node:assert/strict';

const setup = JSON.parse(process.env.SETUP);
const sdk = await load(setup.library);
const called = new Set();

async function load(library) {
  if (library === 'sdk') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return { Client, StreamableHTTPClientTransport, StdioClientTransport };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return { Client, StreamableHTTPClientTransport, StdioClientTransport };
}

async function connect(agent) {
  const token = setup.tokens[agent];
  const transport = setup.transport === 'http'
    ? new sdk.StreamableHTTPClientTransport(new URL(setup.url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
    : new sdk.StdioClientTransport({ command: setup.parley, args: ['mcp'], env: { ...setup.env, PARLEY_TOKEN: token } });
  const options = setup.mode ? { versionNegotiation: { mode: setup.mode } } : {};
  const client = new sdk.Client({ name: `drive-${agent}`, version: '1' }, options);
  await client.connect(transport);
  return client;
}

const text = (result) => result.content.map((part) => part.text).join('');

async function call(client, name, args, wanted) {
  called.add(name);
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${text(result)}`);
  assert.match(text(result), wanted);
  assert.ok(result.structuredContent, name);
  return result;
}

async function fails(client, name, args, wanted) {
  called.add(name);
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, true, name);
  assert.match(text(result), wanted);
  return result.structuredContent;
}

const ana = await connect('ana');
const ben = await connect('ben');
const tools = (await ana.listTools()).tools.map((tool) => tool.name);

// A question, and its answer.
const question = ana.callTool({ name: 'contact_agent', arguments: { action: 'ask', agentId: 'ben', message: 'Which fruit is ripe?' } });
const asked = await call(ben, 'check_inbox', { wait: 20 }, /Which fruit is ripe/);
await call(ben, 'reply', { message: asked.structuredContent.messages[0].id, content: 'The pears.' }, /Posted/);
assert.match(text(await question), /Response from ben:.*The pears\./s);

// Work, and its end.
const work = await call(ana, 'contact_agent', { action: 'delegate', agentId: 'ben', message: 'Pick the pears.' }, /Delegated to ben/);
await call(ben, 'update_task', { task: work.structuredContent.task, status: 'completed', result: 'picked' }, /completed/);
await call(ana, 'check_inbox', { wait: 20 }, /picked/);

await call(ana, 'send_channel_message', { channelId: '#fruit', content: 'Pears are ripe, @ben.' }, /Posted/);
await call(ben, 'read_conversation', { conversation: '#fruit' }, /Pears are ripe/);
await call(ana, 'decide_approval', { id: setup.approval, approve: false, note: 'no' }, /denied/);
for (const action of ['list_agents', 'list_sessions', 'list_channels', 'list_tasks', 'list_approvals', 'whoami']) {
  await call(ana, 'query_workspace', { action }, /./);
}
if (tools.includes('memory')) {
  await call(ana, 'memory', { action: 'remember', text: 'Pears are ripe in May.' }, /./);
  await call(ana, 'memory', { action: 'recall', query: 'pears' }, /May/);
}
await fails(ana, 'sessions_send', { sessionKey: 'none', message: 'hello' }, /session|recipient/);

// What is wrong is named.
assert.equal((await fails(ana, 'reply', { message: 'm1', content: 'x', colour: 'red' }, /colour/)).code, 'E003');
await assert.rejects(ana.callTool({ name: 'no_such_tool', arguments: {} }));

const { resources } = await ana.listResources();
const agent = resources.find((resource) => resource.uri === 'parley://agents/ben');
assert.match((await ana.readResource({ uri: agent.uri })).contents[0].text, /ben/);
await assert.rejects(ana.readResource({ uri: 'parley://agents/nobody' }));
assert.equal((await ana.listResourceTemplates()).resourceTemplates.length, 3);
for (const [name, args] of [['standup', {}], ['hand_over', { agent: 'ben' }], ['review_request', { agent: 'ben', subject: 'pears' }]]) {
  assert.match((await ana.getPrompt({ name, arguments: args })).messages[0].content.text, /./);
}
assert.equal((await ana.listPrompts()).prompts.length, 3);

const revision = ana.getNegotiatedProtocolVersion?.();
await ana.close();
await ben.close();
assert.deepEqual([...called].sort(), [...tools].sort());
console.log(JSON.stringify({ tools: tools.length, revision }));
