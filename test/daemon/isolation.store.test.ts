/**
 * Isolation of tenants: every endpoint of the route table with every wrong credential and with every id of
 * another tenant.
 */
import { isDeepStrictEqual } from 'node:util'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopesOf, splitKey, type Route } from '../../daemon/http/route.ts'
import { routes } from '../../daemon/routes/index.ts'
import { allScopes, type Scope } from '../../src/wallet/model.ts'
import { resolvePeerDid } from '../../src/did/peer.ts'
import { encryptedType } from '../../src/exchange/didcomm/jwe.ts'
import { findEndpoint } from '../../src/exchange/didcomm/route.ts'
import { isOnPostgres } from '../support/store.ts'
import { adminToken, startAgent, type TestAgent } from '../support/agent.ts'
import { connect, issue, newDid, type Tenant } from '../support/tenants.ts'
import { testOnSqlite } from '../support/on-sqlite.ts'
import { openParty } from '../support/party.ts'
import { createEntry } from '../wallet/vdr-entries/_entries.ts'
import { accepting, bearer, startIssuer, type Issuer } from '../wallet/bearer-tokens/_issuer.ts'
import { statementsOf } from '../security/_statements.ts'
import {
  aSchema,
  bodyOf,
  kinds,
  made,
  rows,
  unknown,
  type Case,
  type Ids,
  type Isolated,
} from './_isolation-rows.ts'

let provider: Issuer
let agent: TestAgent
let [owner, partner, mallory]: Tenant[] = []
let ids: Ids
/** The headers of each credential that does not depend on the endpoint. */
let credentials: Record<'none' | 'wrong' | 'revoked' | 'expired' | 'admin' | 'tenant', Record<string, string>>
/**
 * The headers of bearer tokens: of the administrator, of two tenants, and of mallory for the wallet of the
 * owner.
 */
let tokens: Record<
  'admin' | 'owner' | 'mallory' | 'expired' | 'foreign' | 'malloryAsOwner',
  Record<string, string>
>
/** Keys by their scopes, joined. */
const scoped = new Map<string, string>()

beforeAll(async () => {
  provider = await startIssuer()
  agent = await startAgent({
    ...accepting(provider),
    FAILED_ATTEMPTS_PER_MINUTE: '1000000',
    OID4VCI_REQUESTS_PER_MINUTE: '1000000',
    OID4VP_REQUESTS_PER_MINUTE: '1000000',
    VDR_READS_PER_MINUTE: '1000000',
    METRICS_TOKEN: 'm'.repeat(32),
  })
  ;[owner, partner, mallory] = [
    await agent.newTenant('owner'),
    await agent.newTenant('partner'),
    await agent.newTenant('mallory'),
  ]
  const { call } = owner
  const keysOf = { path: { id: owner.entityId } }
  const newKey = (body: { scopes?: Scope[]; expiresAt?: string } = {}) =>
    agent.admin('POST /iam/entities/{id}/api-keys', { ...keysOf, body })
  for (const scopes of new Set(guarded.map((route) => otherScopes(route).join(' ')))) {
    if (scopes !== '') scoped.set(scopes, (await newKey({ scopes: scopes.split(' ') as Scope[] })).apiKey)
  }
  const [revoked, expired] = [
    await newKey(),
    await newKey({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() }),
  ]
  await agent.admin('DELETE /iam/entities/{id}/api-keys/{keyId}', {
    path: { id: owner.entityId, keyId: revoked.id },
  })
  const over = new Date(Date.now() - 1_000).toISOString()
  await agent.agent.db.updateTable('api_key').set({ expires_at: over }).where('id', '=', expired.id).execute()
  for (const [subject, { walletId }] of Object.entries({ owner, mallory }))
    await agent.admin('POST /wallets/{walletId}/uma-permissions', { path: { walletId }, body: { subject } })
  const exp = provider.now() + 36_000
  const tokenOf = async (claims: object) => bearer(await provider.sign({ exp, ...claims }))
  const ofMallory = await tokenOf({ sub: 'mallory' })
  tokens = {
    admin: await tokenOf({ sub: 'root', roles: ['admin'] }),
    owner: await tokenOf({ sub: 'owner' }),
    mallory: ofMallory,
    expired: await tokenOf({ sub: 'owner', exp: provider.now() - 3_600 }),
    foreign: await tokenOf({ sub: 'owner', aud: 'https://other.example' }),
    malloryAsOwner: { ...ofMallory, 'x-wallet-id': owner.walletId },
  }
  credentials = {
    none: {},
    wrong: { apikey: `${owner.apiKey}x`, 'x-admin-api-key': `${adminToken}x` },
    revoked: { apikey: revoked.apiKey },
    expired: { apikey: expired.apiKey },
    admin: { 'x-admin-api-key': adminToken },
    tenant: { apikey: owner.apiKey },
  }

  const { inviterConnectionId: connection, inviteeConnectionId, thid } = await connect(owner, partner)
  const [issuing, subject, theirs] = [
    await newDid(owner, 'assertionMethod'),
    await newDid(owner, 'authentication'),
    await newDid(partner, 'assertionMethod'),
  ]
  const { issuerRecordId: offer } = await issue(
    owner,
    partner,
    connection,
    issuing.did,
    (await newDid(partner, 'authentication')).did,
  )
  const { recordId: credential } = await issue(partner, owner, inviteeConnectionId, theirs.did, subject.did)
  const schema = { ...aSchema, version: '1.0.0', author: issuing.did }
  const { resource } = await call('POST /schema-registry/schemas/did-url', { body: schema })
  const underDid = JSON.parse(Buffer.from(resource, 'base64url').toString()) as { id: string; guid: string }
  const published = await call('POST /schema-registry/schemas', { body: { ...schema, name: 'other' } })
  const issuer = await call('POST /oid4vci/issuers', { body: {} })
  await call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId: issuer.id },
    body: {
      configurationId: 'Person',
      format: 'jwt_vc_json',
      schemaId: `${agent.url}/schema-registry/schemas/${published.guid}`,
    },
  })
  ids = {
    walletId: owner.walletId,
    did: issuing.did,
    connection,
    offer,
    credential,
    thid,
    request: (
      await call('POST /present-proof/presentations', { body: { connectionId: connection, proofs: [] } })
    ).presentationId,
    schema: published.id,
    schemaGuid: published.guid,
    didUrlSchema: underDid.id,
    didUrlGuid: underDid.guid,
    policy: (await call('POST /verification/policies', { body: { name: 'p', description: 'p' } })).id,
    definition: (await call('POST /presentation-exchange/presentation-definitions', { body: definition })).id,
    event: (await call('POST /events/test', { body: { type: 'ConnectionUpdated' } })).id,
    issuer: issuer.id,
    entry: new URL(await createEntry(agent, owner.apiKey, Uint8Array.of(1))).hash.slice(1),
  }
  for (const resource of made) ids[resource] = await make(resource)
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const definition = {
  input_descriptors: [{ id: 'name', constraints: { fields: [{ path: ['$.vc.credentialSubject.name'] }] } }],
}

/** Makes a resource of the owner by the POST to its collection. */
async function make(resource: `/${string}`): Promise<string> {
  const collection = all.find(({ key }) => resource.startsWith(`${key.replace(/^POST /, '')}/{`))
  if (!collection)
    throw new TypeError(`No POST makes the {id} of ${resource}: name its ids in _isolation-rows.ts`)
  const { status, text } = await send(collection.key, credentials.tenant, { body: bodyOf(collection, ids) })
  if (status >= 300)
    throw new TypeError(`${collection.key} with a generic body: ${text}. Give its type .meta({ examples })`)
  const { id, ...named } = JSON.parse(text) as Record<string, string>
  return named[/\w+(?=\}$)/.exec(resource)![0]] ?? id!
}

type Answer = { status: number; text: string }

/** Sends a request. Of an endless response, returns the status alone. */
async function send(
  key: Route['key'],
  headers: Record<string, string>,
  { path = {}, query = {}, body, type = 'application/json' }: Case,
): Promise<Answer> {
  const [method, template] = splitKey(key)
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? unknown.policy),
  )
  const controller = new AbortController()
  // It costs a third of `fetch`, for thousands of requests.
  const response = await request(`${agent.url}${filled}?${new URLSearchParams(query).toString()}`, {
    method,
    headers: { 'content-type': type, ...headers },
    signal: controller.signal,
    ...(method !== 'GET' && body !== undefined && { body: JSON.stringify(body) }),
  })
  if (response.headers['content-type'] !== 'text/event-stream')
    return { status: response.statusCode, text: await response.body.text() }
  response.body.on('error', () => {})
  controller.abort()
  return { status: response.statusCode, text: '' }
}

/** Returns a response without the requested ids and its own request id. */
function withoutIds({ status, text }: Answer, asked: Ids): Answer {
  let rest = text
    .replaceAll(/(?:error:instance:|"instance":")[0-9a-f-]{36}/g, '<instance>')
    .replaceAll(/"c_nonce":"[^"]+"/g, '<nonce>')
    // The ids of the path after the first one.
    .replaceAll(unknown.policy, '<id>')
  for (const kind of kinds)
    rest = rest.replaceAll(asked[kind]!, '<id>').replaceAll(encodeURIComponent(asked[kind]!), '<id>')
  return { status, text: rest }
}

const all = routes as readonly Route[]
const guarded = all.filter(({ contract }) => contract.access !== 'public')
const casesOf = (key: string, from: Ids): Case[] => {
  const made = (rows as Readonly<Record<string, (from: Ids) => Case[]>>)[key]?.(from) ?? []
  return made.length > 0 ? made : [{}]
}

/** The scopes that do not open an endpoint of tenants. */
function otherScopes({ contract }: Route): Scope[] {
  const scopes = scopesOf(contract)
  return scopes ? allScopes.filter((scope) => !scopes.includes(scope)) : []
}

// The store does not see which of the two named the wallet.
const keysAndTokens = isOnPostgres ? ['API key'] : ['API key', 'token']

type Wrong = { name: string; headers: Record<string, string>; status: number }

/** Each wrong credential gets the same refusal, and nothing changes. */
function wrongOnes(route: Route): Wrong[] {
  const { access } = route.contract
  const others = otherScopes(route).join(' ')
  const unknownOnes = ['none', 'wrong', 'revoked', 'expired'] as const
  return [
    ...unknownOnes.map((name) => ({ name, headers: credentials[name], status: 401 })),
    ...(others === '' ? [] : [{ name: others, headers: { apikey: scoped.get(others)! }, status: 403 }]),
    ...(access === 'tenant' ? [{ name: 'admin', headers: credentials.admin, status: 401 }] : []),
    ...(access === 'admin' ? [{ name: 'tenant', headers: credentials.tenant, status: 403 }] : []),
  ]
}

/** As `wrongOnes`, with bearer tokens. */
function wrongTokens({ contract: { access } }: Route): Wrong[] {
  return [
    ...(['expired', 'foreign'] as const).map((name) => ({ name, headers: tokens[name], status: 401 })),
    ...(access === 'tenant' ? [{ name: 'admin’s token', headers: tokens.admin, status: 403 }] : []),
    ...(access === 'admin' ? [{ name: 'tenant’s token', headers: tokens.owner, status: 403 }] : []),
    {
      name: 'token for another wallet',
      headers: tokens.malloryAsOwner,
      status: access === 'metrics' ? 401 : 403,
    },
  ]
}

/** All records of the owner, as its lists show them. */
async function holdings(): Promise<unknown> {
  const lists = all.filter(
    ({ key, contract }) => key.startsWith('GET ') && !key.includes('{') && contract.access === 'tenant',
  )
  return Promise.all(lists.map(async ({ key }) => [key, await send(key, credentials.tenant, {})]))
}

testOnSqlite.each([
  ['credential', wrongOnes],
  ['token', wrongTokens],
])('a wrong %s is refused at every endpoint, whether the resource exists or not', async (_, wrongsOf) => {
  const before = await holdings()
  const wrong: unknown[] = []
  for (const route of guarded) {
    const [there, nowhere] = [casesOf(route.key, ids), casesOf(route.key, unknown)]
    for (const { name, headers, status } of wrongsOf(route))
      for (const [index, each] of there.entries()) {
        const answer = withoutIds(await send(route.key, headers, each), ids)
        const other = withoutIds(await send(route.key, headers, nowhere[index]!), unknown)
        if (answer.status !== status || answer.text !== other.text || answer.status !== other.status)
          wrong.push({ key: route.key, name, status, answer, other })
      }
  }
  expect(wrong).toEqual([])
  expect(await holdings()).toEqual(before)
})

test.each(keysAndTokens)(
  'another tenant’s record looks like a missing one with an %s, and is not changed',
  async (credential) => {
    const before = await holdings()
    const wrong: unknown[] = []
    let count = 0
    for (const { key } of all.filter((route) => route.key in rows)) {
      const [theirs, nowhere] = [rows[key as Isolated](ids), rows[key as Isolated](unknown)]
      for (const [index, each] of theirs.entries()) {
        const headers = credential === 'token' ? tokens.mallory : { apikey: mallory!.apiKey }
        const answer = withoutIds(await send(key, headers, each), ids)
        const other = withoutIds(await send(key, headers, nowhere[index]!), unknown)
        count += 1
        if (answer.status !== other.status || answer.text !== other.text || !isRefusal(key, each, answer))
          wrong.push({ key, answer, other })
      }
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(50)
    expect(await holdings()).toEqual(before)
  },
)

// It traces the statements of SQLite.
test.skipIf(isOnPostgres)(
  'the same statements run for another tenant’s record and for a missing one, so that both take the same time',
  async () => {
    const headers = { apikey: mallory!.apiKey }
    const ask = async (key: string, each: Case) => {
      const { statements } = await statementsOf(() => send(key as Isolated, headers, each))
      return statements.join('\n')
    }
    const different: unknown[] = []
    let most = 0
    for (const { key } of all.filter((route) => route.key in rows)) {
      const [theirs, nowhere] = [rows[key as Isolated](ids), rows[key as Isolated](unknown)]
      for (const [index, each] of theirs.entries()) {
        const found = await both(
          () => ask(key, each),
          () => ask(key, nowhere[index]!),
        )
        most = Math.max(most, found.theirs.split('\n').length)
        if (found.theirs !== found.nowhere) different.push({ key, ...found })
      }
    }
    expect(different).toEqual([])
    // Proves that the comparison detects differences: an existing tenant causes other statements.
    expect(most).toBeGreaterThan(2)
  },
)

/**
 * Requests both until the responses agree, at most five times: background work of the agent may differ. The
 * responses are compared each time.
 */
async function both<Found>(
  askTheirs: () => Promise<Found>,
  askNowhere: () => Promise<Found>,
): Promise<{ theirs: Found; nowhere: Found }> {
  for (let attempt = 1; ; attempt++) {
    const found = { theirs: await askTheirs(), nowhere: await askNowhere() }
    if (attempt === 5 || isDeepStrictEqual(found.theirs, found.nowhere)) return found
  }
}

/**
 * A missing id in the path is 404, but 400 for permissions, as in the Cloud Agent. A missing id in a query or
 * a body has the status of its endpoint.
 */
function isRefusal(key: string, { path }: Case, { status, text }: Answer): boolean {
  if (status === 200 && key.startsWith('GET ') && !path)
    return (JSON.parse(text) as { contents: unknown[] }).contents.length === 0
  if (key.endsWith('/uma-permissions')) return status === 400
  return path ? [401, 403, 404].includes(status) : status >= 400 && status < 500
}

test.each(keysAndTokens)('the owner finds all records with an %s', async (credential) => {
  const headers = credential === 'token' ? tokens.owner : credentials.tenant
  const missing: unknown[] = []
  for (const { key } of all.filter((route) => route.key in rows && route.key.startsWith('GET ')))
    for (const each of rows[key as Isolated](ids)) {
      const { status, text } = await send(key, headers, each)
      if (status !== 200 && !/candidates|\/credential$/.test(key)) missing.push({ key, status, text })
    }
  expect(missing).toEqual([])
})

/** Ids that any client may read. A public endpoint reveals nothing else. */
const published: Readonly<Record<string, keyof Ids>> = {
  'GET /dids/{didRef}': 'did',
  'GET /api/dids/{did}': 'did',
  'GET /api/dids/{did}/protobuf': 'did',
  'GET /schema-registry/schemas/{guid}': 'schemaGuid',
  'GET /schema-registry/schemas/{guid}/schema': 'schemaGuid',
  'GET /schema-registry/schemas/did-url/{guid}': 'didUrlGuid',
  'GET /schema-registry/schemas/did-url/{guid}/schema': 'didUrlGuid',
  'GET /presentation-exchange/presentation-definitions/{id}': 'definition',
  'GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer': 'issuer',
  'GET /.well-known/openid-credential-issuer/oid4vci/issuers/{issuerId}': 'issuer',
  'GET /.well-known/oauth-authorization-server/oid4vci/issuers/{issuerId}': 'issuer',
  'GET /oid4vci/issuers/{issuerId}/.well-known/oauth-authorization-server': 'issuer',
  'POST /oid4vci/issuers/{issuerId}/nonce': 'issuer',
}

/**
 * They refuse requests without an offer, a link to one, code, token or open credential. That the issuer
 * exists is public.
 */
const ofKnownIssuer = [
  'POST /oid4vci/issuers/{issuerId}/par',
  'GET /oid4vci/issuers/{issuerId}/offers/{configurationId}',
  'GET /oid4vci/issuers/{issuerId}/authorize',
  'POST /oid4vci/issuers/{issuerId}/authorize',
  'GET /oid4vci/issuers/{issuerId}/log-in',
  'GET /oid4vci/issuers/{issuerId}/d/{secret}',
  'POST /oid4vci/issuers/{issuerId}/d/{secret}',
  'POST /oid4vci/issuers/{issuerId}/token',
  'POST /oid4vci/issuers/{issuerId}/credentials',
  'POST /oid4vci/issuers/{issuerId}/deferred-credentials',
  'POST /oid4vci/issuers/{issuerId}/notifications',
]

test('a public endpoint returns published data only, for any credential', async () => {
  const open = all.filter(({ key, contract }) => contract.access === 'public' && key.includes('{'))
  const wrong: unknown[] = []
  for (const { key } of open) {
    const [name] = /(?<=\{)\w+/.exec(key)!
    for (const kind of kinds) {
      const ask = async (from: Ids, headers: Record<string, string> = {}) =>
        withoutIds(await send(key, headers, { path: { [name]: from[kind]! }, body: {} }), from)
      const [theirs, nowhere] = [await ask(ids), await ask(unknown)]
      if (kind === 'issuer' && ofKnownIssuer.includes(key)) {
        if (theirs.status < 400) wrong.push({ key, kind, theirs })
        continue
      }
      if (published[key] === kind) {
        if (theirs.status !== 200 || nowhere.status === 200) wrong.push({ key, kind, theirs, nowhere })
        continue
      }
      if (theirs.status < 400 || theirs.status !== nowhere.status || theirs.text !== nowhere.text)
        wrong.push({ key, kind, theirs, nowhere })
    }
    // No credential opens more or less of it.
    const [kind] = [published[key] ?? 'policy']
    const answers = []
    for (const headers of [
      credentials.none,
      credentials.wrong,
      credentials.revoked,
      credentials.admin,
      credentials.tenant,
      { apikey: mallory!.apiKey },
    ])
      answers.push(withoutIds(await send(key, headers, { path: { [name]: ids[kind]! }, body: {} }), ids))
    if (new Set(answers.map(({ status, text }) => `${status} ${text}`)).size > 1) wrong.push({ key, answers })
  }
  expect(wrong).toEqual([])
  expect(Object.keys(published).filter((key) => !open.some((route) => route.key === key))).toEqual([])
})

test('a message for a DID that is not a mailbox’s gets the same refusal, whether another wallet has the DID or none has it', async () => {
  await using sender = await openParty()
  await using stranger = await openParty()
  const { myDid } = await owner!.call('GET /connections/{connectionId}', {
    path: { connectionId: ids.connection },
  })
  const { contents } = await partner!.call('GET /connections')
  const mailboxOf = (did: string) => new URL(findEndpoint(resolvePeerDid(did))!).pathname.slice(1)
  const [own, other] = [mailboxOf(myDid!), mailboxOf(contents[0]!.myDid!)]
  const before = await holdings()
  const post = async (mailbox: string, to: string) => {
    const body = sender.pack(to, {
      type: 'https://didcomm.org/basicmessage/2.0/message',
      body: { content: 'hello' },
    })
    const { result, statements } = await statementsOf(() =>
      fetch(`${agent.didcommUrl}/${mailbox}`, {
        method: 'POST',
        headers: { 'content-type': encryptedType },
        body,
      }),
    )
    const text = (await result.text()).replaceAll(to, '<did>')
    return { ...withoutIds({ status: result.status, text }, ids), statements }
  }
  const unknownDid = other.replace(/^.{8}/, (start) => [...start].toReversed().join(''))
  for (const mailbox of [other, unknownDid, 'x']) {
    const { theirs, nowhere } = await both(
      () => post(mailbox, myDid!),
      () => post(mailbox, stranger.did),
    )
    expect(theirs).toEqual(nowhere)
    expect(theirs.status).toBe(422)
  }
  expect(await holdings()).toEqual(before)
  // At the right mailbox it is decrypted, and refused because of its sender.
  expect((await post(other, myDid!)).text).toContain('RecipientNotFound')
  expect((await post(own, myDid!)).text).not.toContain('RecipientNotFound')
})
