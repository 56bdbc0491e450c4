/** A new DID method needs two files, and one row in each of the three tables of methods. */
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import type { built } from '../support/built.ts'
import { loadWith, type Overlay, withRow } from '../support/overlay.ts'
import { publishSchema, refusal } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'

const importing = (name: string, file: string) =>
  `import { ${name} } from '${resolve('test/did/toy', file)}'\n`

/** The tables with the method in `toy/`. */
const overlay: Overlay = {
  'src/definitions/did-names.ts': (text) =>
    withRow(
      text,
      'export const facts = {\n',
      "  toy: { kind: 'ledger', managed: { curves: ['Ed25519', 'secp256k1'], isAuthor: true } },\n",
    ),
  'src/did/methods.ts': (text) =>
    importing('resolveToyDid', 'method.ts') +
    withRow(text, 'DidMethod>> = {\n', '  toy: { ...facts.toy, resolve: resolveToyDid },\n'),
  'src/wallet/did-registrar/methods.ts': (text) =>
    importing('toy', 'managed.ts') + withRow(text, 'ManagedMethod>> = {\n', '  toy,\n'),
}

type Parts = typeof built & {
  create: typeof import('../../commands/did/create.ts').default
  resolve: typeof import('../../commands/did/resolve.ts').default
}

const program = await loadWith(
  `export * from './daemon/bundle.ts'
   export { default as create } from './commands/did/create.ts'
   export { default as resolve } from './commands/did/resolve.ts'`,
  overlay,
)
const agent = await untilEnd(startAgent({ AUTH_DID_METHODS: 'peer, toy' }, { parts: program.parts as Parts }))
const tenant = await agent.newTenant()
afterAll(async () => {
  program.dispose()
})

const documentTemplate = {
  publicKeys: [
    { id: 'auth', purpose: 'authentication', curve: 'Ed25519' },
    { id: 'sign', purpose: 'assertionMethod' },
  ],
} as const

const create = async (template: object = documentTemplate) =>
  (
    await tenant.call('POST /did-registrar/dids', {
      body: { method: 'toy', documentTemplate: template } as never,
    })
  ).longFormDid

async function resolveDid(did: string) {
  const response = await agent.send('GET', `/dids/${did}`)
  return { status: response.status, ...((await response.json()) as { didDocument?: any }) }
}

test('the seam: two files of the method, three tables with a row each', () => {
  expect(readdirSync('test/did/toy')).toHaveLength(2)
  expect(Object.keys(overlay)).toHaveLength(3)
})

test('a wallet creates, publishes, updates and deactivates a DID of it, and everybody resolves it', async () => {
  const did = await create()
  const path = { didRef: did }
  expect(did).toMatch(/^did:toy:/)
  expect(await tenant.call('GET /did-registrar/dids/{didRef}', { path })).toEqual({ did, status: 'CREATED' })
  expect((await resolveDid(did)).status).toBe(404)
  const change = { actions: [{ actionType: 'REMOVE_KEY', removeKey: { id: 'sign' } } as const] }
  const update = () => tenant.call('POST /did-registrar/dids/{didRef}/updates', { path, body: change })
  expect(await refusal(update())).toMatchObject({ status: 409 })

  await tenant.call('POST /did-registrar/dids/{didRef}/publications', { path })
  expect(await tenant.call('GET /did-registrar/dids/{didRef}', { path })).toEqual({
    did,
    status: 'PUBLISHED',
  })
  expect(await resolveDid(did)).toMatchObject({
    status: 200,
    didDocument: { id: did, authentication: [`${did}#auth`], assertionMethod: [`${did}#sign`] },
  })

  await update()
  expect((await resolveDid(did)).didDocument).toMatchObject({
    authentication: [`${did}#auth`],
    assertionMethod: [],
  })

  await tenant.call('POST /did-registrar/dids/{didRef}/deactivations', { path })
  expect((await resolveDid(did)).status).toBe(410)
  expect(await refusal(update())).toMatchObject({
    status: 409,
    detail: expect.stringContaining('deactivated'),
  })
})

test('its facts hold everywhere: curves, authors, sign-in, and the texts', async () => {
  expect(
    await refusal(create({ publicKeys: [{ id: 'a', purpose: 'authentication', curve: 'P-256' }] })),
  ).toMatchObject({ detail: expect.stringContaining('the ledger of did:toy accepts no P-256 keys') })
  const author = await create()
  expect(await publishSchema(tenant, author)).toContain('/schema-registry/schemas/')
  expect(agent.agent.config.AUTH_DID_METHODS).toEqual(['peer', 'toy'])
  const { didResolutionMetadata } = (await resolveDid('did:ion:1')) as any
  expect(didResolutionMetadata.message).toMatch(/did:toy.* are$/)
})

test('the command line offers it', () => {
  const { create, resolve } = program.parts as any
  expect(create.flags.method.options).toContain('toy')
  expect(create.description).toContain('A did:toy or did:prism resolves once it is published')
  expect(resolve.description).toContain('did:toy')
})
