/** Agents that share a ledger: the same file, served by one of them, and unavailable for a while. */
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { connect, until } from '../../support/tenants.ts'
import { startServer } from '../../support/server.ts'
import { openFile, temporaryFile } from './_ledgers.ts'
import { ledgerApp } from './_serve.ts'

async function agentWith(variables: Record<string, string>): Promise<TestAgent> {
  const agent = await startAgent(variables)
  onTestFinished(() => agent[Symbol.asyncDispose]())
  return agent
}

const documentTemplate = { publicKeys: [{ id: 'auth-1', purpose: 'authentication' as const }] }

async function createDid({ tenant }: TestAgent): Promise<string> {
  const { longFormDid } = await tenant('POST /did-registrar/dids', { body: { documentTemplate } })
  return longFormDid.split(':').slice(0, 3).join(':')
}

async function publish(agent: TestAgent, did: string): Promise<void> {
  await agent.tenant('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })
  await published(agent, did)
}

const published = ({ tenant }: TestAgent, did: string) =>
  until(
    'publication',
    () => tenant('GET /did-registrar/dids/{didRef}', { path: { didRef: did } }),
    ({ status }) => status === 'PUBLISHED',
  )

async function resolve(agent: TestAgent, did: string): Promise<{ status: number; body: any }> {
  const response = await agent.send('GET', `/dids/${did}`)
  return { status: response.status, body: await response.json() }
}

async function eachResolvesTheOther(one: TestAgent, two: TestAgent): Promise<void> {
  for (const [publisher, reader] of [
    [one, two],
    [two, one],
  ] as const) {
    const did = await createDid(publisher)
    expect((await resolve(reader, did)).status).toBe(404)
    await publish(publisher, did)
    const [ours, theirs] = [
      await resolve(publisher, did),
      await until(
        'resolution',
        () => resolve(reader, did),
        ({ status }) => status === 200,
      ),
    ]
    expect(theirs.body.didDocument).toEqual(ours.body.didDocument)
    expect(theirs.body.didDocument.verificationMethod[0].id).toBe(`${did}#auth-1`)
    expect(theirs.body.didDocumentMetadata).toEqual(ours.body.didDocumentMetadata)
  }
}

test('two agents on one file: each resolves what the other publishes', async () => {
  const VDR_URL = `sqlite:${temporaryFile()}`
  await eachResolvesTheOther(await agentWith({ VDR_URL }), await agentWith({ VDR_URL }))
})

test('two agents, one of which uses the other by HTTP: each resolves what the other publishes', async () => {
  const one = await agentWith({})
  await eachResolvesTheOther(one, await agentWith({ VDR_URL: `${one.url}/`, DID_CACHE_LIFETIME: '0' }))
})

test('a ledger that is down delays a publication, says so and breaks nothing else', async () => {
  let isUp = false
  const served = ledgerApp(await openFile(temporaryFile(), { now: () => new Date() }))
  const listener: RequestListener = (request, response) =>
    isUp ? served(request, response) : response.writeHead(503).end()
  const node = await startServer(listener)
  onTestFinished(() => node[Symbol.asyncDispose]())
  const agent = await agentWith({ VDR_URL: node.url, DID_CACHE_LIFETIME: '0' })
  const did = await createDid(agent)
  await agent.tenant('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })

  const { status, body } = await resolve(agent, did)
  // The location of the ledger is not public.
  expect([status, body.didResolutionMetadata.message]).toEqual([
    500,
    'The ledger that knows the DID cannot be asked now. Try again later.',
  ])
  await connect(await agent.newTenant(), await agent.newTenant())
  expect(await agent.tenant('GET /did-registrar/dids/{didRef}', { path: { didRef: did } })).toMatchObject({
    status: 'PUBLICATION_PENDING',
  })

  isUp = true
  await published(agent, did)
  expect((await resolve(agent, did)).status).toBe(200)
})

test('a publication that the ledger was not there for is made after a restart', async () => {
  const ledgerFile = temporaryFile()
  const dataDir = ledgerFile.replace(/[^/]*$/, '')
  // A closed port until the ledger starts.
  const server = createServer()
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  const variables = {
    VDR_URL: `http://127.0.0.1:${port}`,
    DID_CACHE_LIFETIME: '0',
    DEFAULT_WALLET_AUTH_API_KEY: 'the-key-of-the-restart',
  }
  const first = await startAgent(variables, { dataDir })
  const did = await createDid(first)
  await first.tenant('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })
  await first[Symbol.asyncDispose]()

  const node = createServer(ledgerApp(await openFile(ledgerFile, { now: () => new Date() })))
  await new Promise<void>((ready) => node.listen(port, '127.0.0.1', ready))
  onTestFinished(
    () => new Promise<void>((closed) => (node.close(() => closed()), node.closeAllConnections())),
  )
  const second = await startAgent(variables, { dataDir })
  onTestFinished(() => second[Symbol.asyncDispose]())
  await published(second, did)
  expect((await resolve(second, did)).status).toBe(200)
})
