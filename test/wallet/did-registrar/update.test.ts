/** Updates and deactivation of published DIDs: each action, when it takes effect, and refusals. */
import { beforeAll, describe, expect, test } from 'vitest'
import { connect, credentialIn, newDid, refusal, startPair, type Tenant } from '../../support/tenants.ts'
import { until } from '../../support/tenants.ts'
import { withDetail } from '../../support/detail.ts'
import { untilEnd } from '../../support/shared.ts'

const pair = await untilEnd(startPair())

type Action = { actionType: string; [member: string]: unknown }

const update = (didRef: string, ...actions: Action[]) =>
  pair.issuer.call('POST /did-registrar/dids/{didRef}/updates', {
    path: { didRef },
    body: { actions } as never,
  })
const deactivate = (didRef: string) =>
  pair.issuer.call('POST /did-registrar/dids/{didRef}/deactivations', { path: { didRef } })
const show = (didRef: string) => pair.issuer.call('GET /did-registrar/dids/{didRef}', { path: { didRef } })
const waitForConfirmation = (didRef: string) =>
  until(
    'the operation is judged',
    () => show(didRef),
    ({ pendingOperation }) => pendingOperation === undefined,
  )

async function resolve(did: string): Promise<Record<string, any>> {
  const response = await pair.agent.send('GET', `/dids/${did}`)
  return { status: response.status, ...((await response.json()) as Record<string, any>) }
}

async function updated(did: string, ...actions: Action[]) {
  const { scheduledOperation } = await update(did, ...actions)
  expect(scheduledOperation).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), didRef: did })
  expect(await waitForConfirmation(did)).toEqual({ did, status: 'PUBLISHED' })
  return (await resolve(did)).didDocument
}

const idOf = ({ id }: { id: string }) => id
const addKey = (id: string, purpose = 'authentication', curve = 'Ed25519') => ({
  actionType: 'ADD_KEY',
  addKey: { id, purpose, curve },
})
const service = (id: string, serviceEndpoint: unknown = 'https://one.example/') => ({
  id,
  type: 'LinkedDomains',
  serviceEndpoint,
})

const removeKey = (id: string) => ({ actionType: 'REMOVE_KEY', removeKey: { id } })
const addVdrKey = (id: string) => ({ actionType: 'ADD_INTERNAL_KEY', addInternalKey: { id, purpose: 'vdr' } })
const removeInternalKey = (id: string) => ({ actionType: 'REMOVE_INTERNAL_KEY', removeInternalKey: { id } })
const addService = (...given: Parameters<typeof service>) => ({
  actionType: 'ADD_SERVICE',
  addService: service(...given),
})
const removeService = (id: string) => ({ actionType: 'REMOVE_SERVICE', removeService: { id } })
const updateService = (id: string, change: object) => ({
  actionType: 'UPDATE_SERVICE',
  updateService: { id, ...change },
})
const patchContext = (...contexts: string[]) => ({ actionType: 'PATCH_CONTEXT', patchContext: { contexts } })

test('every action changes its part of the document only', async () => {
  const { did, longFormDid } = await newDid(pair.issuer, 'assertionMethod')
  const before = (await resolve(did)).didDocument

  const added = await updated(
    did,
    addKey('key-2'),
    addKey('key-3', 'keyAgreement', 'X25519'),
    addKey('key-4', 'capabilityInvocation', 'secp256k1'),
  )
  expect(added.verificationMethod.map(idOf)).toEqual(
    ['key-1', 'key-2', 'key-3', 'key-4'].map((id) => `${did}#${id}`),
  )
  expect([added.authentication, added.keyAgreement, added.capabilityInvocation]).toEqual([
    [`${did}#key-2`],
    [`${did}#key-3`],
    [`${did}#key-4`],
  ])
  expect(added.verificationMethod[0]).toEqual(before.verificationMethod[0])

  const removed = await updated(did, removeKey('key-2'))
  expect(removed.verificationMethod.map(idOf)).toEqual(
    ['key-1', 'key-3', 'key-4'].map((id) => `${did}#${id}`),
  )

  const internal = await updated(did, addVdrKey('vdr-1'))
  expect(internal).toEqual(removed)
  expect(await updated(did, removeInternalKey('vdr-1'))).toEqual(removed)

  const served = await updated(did, addService('web'))
  expect(served.service).toEqual([
    { id: `${did}#web`, type: 'LinkedDomains', serviceEndpoint: 'https://one.example/' },
  ])
  const retyped = await updated(did, updateService('web', { type: ['One', 'Two'] }))
  expect(retyped.service).toEqual([
    { id: `${did}#web`, type: ['One', 'Two'], serviceEndpoint: 'https://one.example/' },
  ])
  const moved = await updated(
    did,
    updateService('web', { serviceEndpoint: [{ uri: 'https://two.example' }] }),
  )
  expect(moved.service[0].serviceEndpoint).toEqual([{ uri: 'https://two.example' }])
  expect((await updated(did, removeService('web'))).service).toEqual([])

  const contexts = ['https://one.example/context', 'https://two.example/context']
  const contextual = await updated(did, patchContext(...contexts))
  expect(contextual['@context']).toEqual([...removed['@context'], ...contexts])
  expect((await updated(did, patchContext()))['@context']).toEqual(removed['@context'])

  const long = await resolve(longFormDid)
  expect(long.didDocument.verificationMethod).toHaveLength(3)
  expect(long.didDocumentMetadata).toMatchObject({ canonicalId: did, deactivated: false })
})

test('several actions are one operation, applied completely or not at all', async () => {
  const { did } = await newDid(pair.issuer, 'assertionMethod')
  const before = await resolve(did)
  const problem = await refusal(update(did, addKey('key-2'), removeKey('no-such-key')))
  expect(problem).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/there is no active key .?no-such-key.? to remove/),
  })
  expect(await resolve(did)).toEqual(before)

  const after = await updated(did, addKey('key-2'), removeKey('key-1'))
  expect(after.verificationMethod.map(idOf)).toEqual([`${did}#key-2`])
})

describe('a refused update changes nothing', () => {
  let did: string
  beforeAll(async () => {
    did = (await newDid(pair.issuer, 'assertionMethod')).did
    await updated(did, addKey('gone'), addVdrKey('vdr-1'))
    await updated(did, removeKey('gone'))
  })

  const curves =
    'Ed25519 must be used in [Authentication, AssertionMethod]. X25519 must be used in [KeyAgreement]'
  const keys = Array.from({ length: 60 }, (_, n) => addKey(`many-${n}`))
  const cases: [string, Action | Action[], RegExp | string][] = [
    ['no action', [], /actions.*at least one action/],
    ['an unknown action', { actionType: 'BLESS' }, /actionType/],
    ['an action without its member', { actionType: 'ADD_KEY', removeKey: { id: 'key-1' } }, /addKey/],
    ['a curve for another purpose', addKey('k', 'keyAgreement', 'Ed25519'), curves],
    ['another one', addKey('k', 'authentication', 'X25519'), curves],
    ['a reserved id', addKey('master0'), 'master0 is reserved'],
    ['an id that is not a fragment', addKey('a b'), 'is not a URI fragment'],
    ['an id that exists', addKey('key-1'), 'exists or existed'],
    ['an id that existed', addKey('gone'), 'exists or existed'],
    ['too many keys', keys, 'more than 50'],
    ['removing the master key', removeInternalKey('master0'), 'reserved'],
    ['removing an internal key as a public one', removeKey('vdr-1'), 'REMOVE_INTERNAL_KEY'],
    ['removing a public key as an internal one', removeInternalKey('key-1'), 'REMOVE_KEY'],
    ['a service twice', [1, 2].map(() => addService('s')), 'exists or existed'],
    ['a service that is not there', removeService('s'), 'no active service'],
    ['an update of nothing', updateService('s', {}), /cannot both be empty/],
    ['an endpoint that is empty', updateService('s', { type: 'T', serviceEndpoint: '' }), /leave it out/],
    ['an invalid endpoint', addService('s', 'not a uri'), 'is not a URI'],
    ['a context twice', patchContext('a:b', 'a:b'), 'twice'],
    ['clearing what is empty', patchContext(), 'no context to clear'],
  ]
  test.each(cases)('%s', async (_name, actions, reason) => {
    const before = await resolve(did)
    const problem = await refusal(update(did, ...[actions].flat()))
    expect(problem.status).toBe(400)
    if (typeof reason === 'string') expect(problem.detail).toContain(reason)
    else expect(problem.detail).toMatch(reason)
    expect([await resolve(did), await show(did)]).toEqual([before, { did, status: 'PUBLISHED' }])
  })

  test('a DID that is not published', async () => {
    const { did: unpublished } = await newDid(pair.issuer, 'authentication')
    for (const call of [() => update(unpublished, addKey('k')), () => deactivate(unpublished)]) {
      expect(await refusal(call())).toMatchObject({
        status: 409,
        type: 'Conflict',
        detail: expect.stringContaining('must be PUBLISHED'),
      })
    }
  })

  test('a DID of another wallet, an unknown DID, and an invalid one', async () => {
    const foreign = (await newDid(pair.holder, 'assertionMethod')).did
    for (const didRef of [foreign, `did:prism:${'0'.repeat(64)}`]) {
      expect([await refusal(update(didRef, addKey('k'))), await refusal(deactivate(didRef))]).toMatchObject([
        { status: 404 },
        { status: 404 },
      ])
    }
    expect(await refusal(update('did:prism:abc', addKey('k')))).toMatchObject({ status: 400 })
  })
})

test('one operation at a time: a pending one is not visible, and a second one is refused', async () => {
  await using slow = await startPair({ VDR_CONFIRM_AFTER: '1' })
  const { did } = await newDid(slow.issuer, 'assertionMethod')
  const path = { didRef: did }
  const add = (id: string) => ({ path, body: { actions: [addKey(id)] } as never })
  const racing = await Promise.allSettled(
    [1, 2, 3].map((n) => slow.issuer.call('POST /did-registrar/dids/{didRef}/updates', add(`race-${n}`))),
  )
  expect(racing.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
  const won = racing.findIndex(({ status }) => status === 'fulfilled') + 1
  const problem = await refusal(slow.issuer.call('POST /did-registrar/dids/{didRef}/deactivations', { path }))
  expect(problem).toMatchObject({
    status: 409,
    type: 'Conflict',
    detail: expect.stringContaining('not confirmed yet'),
  })

  const read = () => slow.issuer.call('GET /did-registrar/dids/{didRef}', { path })
  const document = async () =>
    ((await (await slow.agent.send('GET', `/dids/${did}`)).json()) as any).didDocument
  expect([(await read()).pendingOperation, (await document()).authentication]).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}$/),
    [],
  ])
  await until('confirmation', read, ({ pendingOperation }) => pendingOperation === undefined)
  expect((await document()).authentication).toEqual([`${did}#race-${won}`])
})

async function offer(issuer: Tenant, connectionId: string, issuingDID: string, issuingKid?: string) {
  return issuer.call('POST /issue-credentials/credential-offers', {
    body: {
      connectionId,
      issuingDID,
      claims: { name: 'Alice' },
      automaticIssuance: true,
      ...(issuingKid && { issuingKid }),
    },
  })
}

test('a removed key signs and verifies nothing new, and a new key does', async () => {
  const { issuer, holder } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  const { longFormDid: subjectId } = await newDid(holder, 'authentication')
  const { did } = await newDid(issuer, 'assertionMethod')
  const accept = async (thid: string) => {
    const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
    await holder.call('POST /issue-credentials/records/{recordId}/accept-offer', {
      path: { recordId },
      body: { subjectId },
    })
    return credentialIn(holder.call, thid, 'CredentialReceived')
  }
  await accept((await offer(issuer, inviterConnectionId, did, 'key-1')).thid)
  await updated(did, addKey('key-2', 'assertionMethod'), removeKey('key-1'))

  expect(await refusal(offer(issuer, inviterConnectionId, did, 'key-1'))).toMatchObject(
    withDetail(400, 'key-1'),
  )
  const { credential } = await accept((await offer(issuer, inviterConnectionId, did, 'key-2')).thid)
  const jwt = Buffer.from(credential!, 'base64url').toString()
  expect(JSON.parse(Buffer.from(jwt.split('.')[0]!, 'base64url').toString())).toMatchObject({ alg: 'EdDSA' })
})

test('a deactivated DID: 410 with metadata, no more operations, no more signatures', async () => {
  const { issuer, holder } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  const { did, longFormDid } = await newDid(issuer, 'assertionMethod')
  const { scheduledOperation } = await deactivate(did)
  expect(scheduledOperation).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), didRef: did })
  expect(await waitForConfirmation(did)).toEqual({ did, status: 'PUBLISHED', deactivated: true })
  for (const form of [did, longFormDid]) {
    const answer = await resolve(form)
    expect(answer).toMatchObject({
      status: 410,
      didDocumentMetadata: { deactivated: true, canonicalId: did },
      didResolutionMetadata: { error: 'deactivated' },
    })
    expect(answer).not.toHaveProperty('didDocument')
  }
  for (const call of [() => update(did, addKey('k')), () => deactivate(did)]) {
    expect(await refusal(call())).toMatchObject({
      status: 409,
      type: 'Conflict',
      detail: expect.stringContaining('deactivated'),
    })
  }
  expect(await refusal(offer(issuer, inviterConnectionId, did))).toMatchObject(withDetail(400, 'deactivated'))
})
