/** A wallet is transferred to another agent together with its address, and its flows continue. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient } from '../../../daemon/client/client.ts'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { connect, credentialIn, issue, newDid, refusal, until, type Tenant } from '../../support/tenants.ts'
import { exportFrom, importInto } from './_transfer.ts'
import { openFront, type Front } from './_front.ts'
import { newFolder } from '../../support/folder.ts'

let front: Front
let folder: string
beforeEach(async () => {
  front = await openFront()
  folder = newFolder()
})
afterEach(() => front[Symbol.asyncDispose]())

/** Starts an agent behind the public address. */
const start = (variables: Record<string, string> = {}) =>
  startAgent({
    REST_SERVICE_URL: front.restUrl,
    DIDCOMM_SERVICE_URL: front.didcommUrl,
    VDR_URL: `sqlite:${join(folder, 'vdr.db')}`,
    ...variables,
  })

/** Registers a tenant with a key for an imported wallet. */
async function newTenantOf(agent: TestAgent, walletId: string): Promise<Tenant> {
  const { id: entityId } = await agent.admin('POST /iam/entities', { body: { name: 'moved', walletId } })
  const { apiKey } = await agent.admin('POST /iam/entities/{id}/api-keys', {
    path: { id: entityId },
    body: {},
  })
  return { walletId, entityId, apiKey, url: agent.url, call: createClient(agent.url, { apikey: apiKey }) }
}

/** Returns the text of the last basic message of a connection. */
const messageArrives = (tenant: Tenant, connectionId: string, text: string) =>
  until(
    text,
    () => tenant.call('GET /messages', { query: { connectionId } }),
    ({ contents }) => contents.some(({ content }) => content === text),
  )

test('an issuer is transferred: a message, a revocation and an issuance succeed, and the old agent does nothing', async () => {
  await using old = await start()
  await using peer = await startAgent({ VDR_URL: `sqlite:${join(folder, 'vdr.db')}` })
  front.leadTo(old)
  const [issuer, holder] = [await old.newTenant('issuer'), await peer.newTenant('holder')]
  const { inviterConnectionId, inviteeConnectionId } = await connect(issuer, holder)
  const [issuing, subject] = [await newDid(issuer, 'assertionMethod'), await newDid(holder, 'authentication')]
  const { recordId, issuerRecordId, credential } = await issue(
    issuer,
    holder,
    inviterConnectionId,
    issuing.did,
    subject.did,
  )
  const definition = {
    input_descriptors: [{ id: 'name', constraints: { fields: [{ path: ['$.vc.credentialSubject.name'] }] } }],
  }
  const { id: definitionId } = await issuer.call('POST /presentation-exchange/presentation-definitions', {
    body: definition,
  })
  const neighbour = await old.newTenant('neighbour')
  const { longFormDid: web } = await issuer.call('POST /did-registrar/dids', {
    body: {
      method: 'web',
      name: 'acme',
      documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'authentication' }] },
    },
  })
  const { guid } = await issuer.call('POST /schema-registry/schemas', {
    body: {
      name: 'person',
      version: '1.0.0',
      type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
      author: issuing.did,
      tags: ['people'],
      schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} },
    },
  })
  const { thid, invitation } = await issuer.call('POST /connections')

  const moved = await exportFrom(old, issuer.walletId, { move: true })
  expect(await refusal(issuer.call('GET /connections'))).toMatchObject({
    status: 503,
    type: 'error:WalletManagementServiceError:WalletMoved',
  })
  expect(await old.admin('GET /wallets/{walletId}', { path: { walletId: issuer.walletId } })).toHaveProperty(
    'movedAt',
  )
  expect((await old.send('GET', '/web/acme/did.json')).status).toBe(503)
  expect((await fetch(invitation.shortUrl!)).status).toBe(503)
  // Messages that are sent meanwhile are queued.
  await holder.call('POST /messages', {
    body: { connectionId: inviteeConnectionId, content: 'are you there?' },
  })

  await using next = await start()
  const wallet = await importInto(next, moved)
  expect(wallet).toMatchObject({ id: issuer.walletId, name: 'issuer' })
  expect(wallet).not.toHaveProperty('movedAt')
  const { contents: audited } = await next.admin('GET /audit', { query: { walletId: wallet.id } })
  expect(audited).toMatchObject([
    { actor: 'admin', action: 'POST /wallets/import', outcome: 'succeeded', status: 201 },
  ])
  const { contents: left } = await old.admin('GET /audit', { query: { walletId: wallet.id } })
  expect(left[0]).toMatchObject({
    actor: 'admin',
    action: 'POST /wallets/{walletId}/export',
    outcome: 'succeeded',
    status: 200,
  })
  front.leadTo(next)
  const again = await newTenantOf(next, wallet.id)
  expect((await again.call('GET /connections')).contents).toMatchObject([
    { connectionId: inviterConnectionId },
    { thid },
  ])
  expect(await (await fetch(invitation.shortUrl!)).json()).toMatchObject({ id: thid })
  expect((await again.call('GET /presentation-exchange/presentation-definitions')).contents).toMatchObject([
    { id: definitionId },
  ])
  expect(
    (await again.call('GET /schema-registry/schemas', { query: { tags: 'people' } })).contents,
  ).toMatchObject([{ guid }])

  await messageArrives(again, inviterConnectionId, 'are you there?')
  await again.call('POST /messages', { body: { connectionId: inviterConnectionId, content: 'yes' } })
  await messageArrives(holder, inviteeConnectionId, 'yes')

  // The status list is at the address that the credential names.
  const standing = () =>
    holder.call('GET /issue-credentials/records/{recordId}/credential', { path: { recordId } })
  await again.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  await until('the revocation', standing, (credential) => JSON.stringify(credential).includes('revoked'))

  // For wallets that were not transferred, the status list and the did:web stay where they were.
  const [checked] = await neighbour.call('POST /verification/credential', {
    body: [{ credential, verifications: [{ verification: 'RevocationCheck' }] }],
  })
  expect(checked!.result).toEqual([
    {
      verification: 'RevocationCheck',
      success: false,
      detail: 'The status check failed: the credential is revoked',
    },
  ])
  const resolved = await old.send('GET', `/dids/${encodeURIComponent(web)}`, {
    headers: { accept: 'application/did+ld+json' },
  })
  expect(await resolved.json()).toMatchObject({ id: web })

  const second = await issue(again, holder, inviterConnectionId, issuing.did, subject.did, { name: 'Bob' })
  await credentialIn(again.call, second.thid, 'CredentialSent')
  for (const agent of [old, next]) expect(readdirSync(join(agent.dataDir, 'wallets', 'transit'))).toEqual([])
})
