/** Agents in the process of a program: what they leave alone, what they leave behind, and wrong options. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execaNode } from 'execa'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { dist, failureOf, library } from './_library.ts'

const { createAgent, StartError } = library

test('a program with an agent ends by itself, and the agent has left nothing', async () => {
  await using folder = await temporaryFolder()
  // Listeners of the process, and a message of the program's own zod.
  const program = `
    const { string } = await import('zod')
    const said = () => string().safeParse(1).error.issues[0].message
    const before = process.eventNames().map((name) => [name, process.listenerCount(name)]).concat(said())
    const { createAgent } = await import(${JSON.stringify(`${dist}index.js`)})
    const { events, waitFor } = await import(${JSON.stringify(`${dist}client.js`)})
    const agent = await createAgent()
    const second = await createAgent({ settings: { VDR_URL: agent.url } })
    const stream = events(agent.client)
    await stream.open()
    const made = await agent.client('POST /connections')
    await stream.next()
    await waitFor(agent.client, made, 'ConnectionResponseSent', { timeoutMs: 50 }).catch(() => undefined)
    const { status } = await fetch(agent.url + '/connections', { headers: { 'x-admin-api-key': 'of-the-environment-1' } })
    await stream.return()
    await agent.close()
    await Promise.all([second.close(), second.close()])
    const after = process.eventNames().map((name) => [name, process.listenerCount(name)]).concat(said())
    console.log(JSON.stringify({ before, after, status }))`
  const { stdout, stderr } = await execaNode({
    input: program,
    nodeOptions: ['--input-type=module'],
    // Variables of a daemon must not reach the agent.
    env: {
      HOME: folder.path,
      TMPDIR: folder.path,
      AGENT_HTTP_PORT: '1',
      AGENT_DATA_DIR: '/nowhere',
      ADMIN_TOKEN: 'of-the-environment-1',
      VDR_URL: 'http://127.0.0.1:1',
    },
    extendEnv: false,
    // The process would stay for as long as something is open.
    timeout: 60_000,
  })`-`
  const { before, after, status } = JSON.parse(stdout) as Record<string, unknown>
  expect(stderr).toBe('')
  expect(after).toEqual(before)
  expect(status).toBe(401)
  expect(readdirSync(folder.path)).toEqual([])
})

test('a data folder stays, and a second agent continues with it at the same address', async () => {
  await using folder = await temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const first = await createAgent({ dataDir })
  const made = await first.client('POST /connections')
  await first.close()
  const portOf = (url: string) => new URL(url).port
  const second = await createAgent({
    dataDir,
    settings: {
      AGENT_HTTP_PORT: portOf(first.url),
      AGENT_DIDCOMM_PORT: Number(portOf(first.didcommUrl)),
      DEFAULT_WALLET_AUTH_API_KEY: first.apiKey,
      ADMIN_TOKEN: 'another-administrator',
    },
  })
  try {
    expect([second.url, second.didcommUrl, second.apiKey, second.adminKey]).toEqual([
      first.url,
      first.didcommUrl,
      first.apiKey,
      'another-administrator',
    ])
    const { contents } = await first.client('GET /connections')
    expect(contents.map(({ connectionId }) => connectionId)).toEqual([made.connectionId])
    expect((await second.newTenant('bob')).apiKey.length).toBeGreaterThan(20)
    expect((await second.admin('GET /wallets')).contents.map(({ name }) => name)).toEqual(['default', 'bob'])
  } finally {
    await second.close()
  }
  expect(existsSync(join(dataDir, 'agent.db'))).toBe(true)
})

test('the log is that of the option', async () => {
  const lines: string[] = []
  const agent = await createAgent({
    settings: { AGENT_LOG_LEVEL: 'debug' },
    log: { write: (line) => lines.push(line) },
  })
  await agent.client('GET /connections')
  await agent.close()
  expect(lines.map((line) => JSON.parse(line) as { route?: string })).toContainEqual(
    expect.objectContaining({ route: 'GET /connections' }),
  )
})

test('an agent without a default wallet has no key of a tenant', async () => {
  const agent = await createAgent({ settings: { DEFAULT_WALLET_ENABLED: false } })
  expect(agent.apiKey).toBe('')
  expect((await failureOf(agent.client('GET /connections'))).problem.status).toBe(401)
  await agent.close()
})

test('wrong options are refused by their names, and leave nothing', async () => {
  const folder = newFolder()
  await using agent = await createAgent()
  const port = Number(new URL(agent.url).port)
  const wrong: [object, string][] = [
    [{ settings: { EVENT_RETENTON: '1h' } }, 'settings.EVENT_RETENTON: it is not the name of a setting'],
    [{ settings: { EVENT_RETENTION: 'soon' } }, 'EVENT_RETENTION'],
    [{ settings: { EVENT_RETENTION: {} } }, 'settings.EVENT_RETENTION: it is neither a text'],
    [
      { settings: { AGENT_DATA_DIR: '/x' } },
      'settings.AGENT_DATA_DIR: it cannot be set here: the option dataDir',
    ],
    [{ settings: { AGENT_PROFILE: 'x' } }, 'settings.AGENT_PROFILE: it cannot be set here'],
    [{ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' } }, 'only a daemon exports traces'],
    [
      { settings: { AGENT_HTTP_PORT: port } },
      `Port ${port} of 127.0.0.1 is in use. AGENT_HTTP_PORT names it`,
    ],
    [{ settings: { ADMIN_TOKEN: 'admin' } }, 'ADMIN_TOKEN: is a well-known value'],
    [{ dataDir: agent.dataDir }, 'name another folder in dataDir.'],
    [{ dataDir: join(agent.dataDir, 'agent.db') }, 'Correct that, or name another folder in dataDir.'],
    [{ dataDir: '' }, 'dataDir: it is not the path of a folder.'],
  ]
  const temporary = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    for (const [options, reason] of wrong) {
      const error = await failureOf(createAgent(options))
      expect(error).toBeInstanceOf(StartError)
      expect(error.message).toContain(reason)
    }
    expect(readdirSync(folder)).toEqual([])
  } finally {
    process.env['TMPDIR'] = temporary
  }
})
