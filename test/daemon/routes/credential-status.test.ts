/**
 * `/credential-status` over HTTP: statuses and access. Content of lists and effects of revocation:
 * test/flows/revocation.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeJwtVc } from '../../../src/credentials/jwt-vc.ts'
import { startAgent, type TestAgent } from '../../_agent.ts'
import { ask as askRaw } from '../../_ask.ts'
import { connect, issue, newDid, type Tenant } from '../../_tenants.ts'

let agent: TestAgent
let [issuer, holder]: Tenant[] = []
let issued: Awaited<ReturnType<typeof issue>>
let list: string
beforeAll(async () => {
  agent = await startAgent()
  ;[issuer, holder] = [await agent.newTenant('issuer'), await agent.newTenant('holder')]
  const { inviterConnectionId } = await connect(issuer, holder)
  const [issuing, subject] = [await newDid(issuer, 'assertionMethod'), await newDid(holder, 'authentication')]
  issued = await issue(issuer, holder, inviterConnectionId, issuing.did, subject.did)
  list = new URL(decodeJwtVc(issued.credential).statuses[0]!.statusListCredential!).pathname
})
afterAll(() => agent[Symbol.asyncDispose]())

const ask = (method: string, path: string, apiKey?: string) => askRaw(agent, `${method} ${path}`, { apiKey })
const revoke = (id: string, apikey?: string) =>
  ask('PATCH', `/credential-status/revoke-credential/${id}`, apikey)

test('a list is readable without credentials, as a StatusList2021 credential', async () => {
  const { status, body } = await ask('GET', list)
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      '@context': ['https://www.w3.org/2018/credentials/v1', 'https://w3id.org/vc/status-list/2021/v1'],
      type: ['VerifiableCredential', 'StatusList2021Credential'],
      id: expect.stringMatching(new RegExp(`${list}$`)),
      issuanceDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      credentialSubject: {
        type: 'StatusList2021',
        statusPurpose: 'Revocation',
        encodedList: expect.stringMatching(/^[\w-]+$/),
      },
      proof: { proofPurpose: 'assertionMethod' },
    },
  })
})

test.each<[string, string, () => string, () => string | undefined, number]>([
  ['a list that is not there', 'GET', () => '/credential-status/nothing', () => undefined, 404],
  ['a revocation without credentials', 'PATCH', () => issued.issuerRecordId, () => undefined, 401],
  ['a revocation of no record', 'PATCH', () => 'nothing', () => issuer!.apiKey, 404],
  ['a revocation of another’s record', 'PATCH', () => issued.issuerRecordId, () => holder!.apiKey, 404],
  ['a revocation by the holder', 'PATCH', () => issued.recordId, () => holder!.apiKey, 422],
])('%s is refused', async (_, method, id, key, status) => {
  const answer = method === 'GET' ? await ask('GET', id()) : await revoke(id(), key())
  expect({ ...answer, headers: undefined }).toMatchObject({
    status,
    body: { status, type: expect.any(String) },
  })
})

test('a revocation is 200 without a body, can be repeated, and changes the list once', async () => {
  const before = await ask('GET', list)
  for (let time = 0; time < 2; time++) {
    const { status, body, headers } = await revoke(issued.issuerRecordId, issuer!.apiKey)
    expect([status, body, headers.get('content-type')]).toEqual([200, undefined, null])
  }
  const after = await ask('GET', list)
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  expect(after.body).not.toEqual(before.body)
})
