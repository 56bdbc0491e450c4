/**
 * `/credential-status` over HTTP: statuses and access. Content of lists and effects of revocation:
 * test/flows/revocation.
 */
import { decodeJwtVc, verifySdJwt } from '../../credentials/codecs/_verify.ts'
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list'
import { expect, test } from 'vitest'
import { statusChecks } from '../../../src/wallet/credential-status/check.ts'
import { decodeJws } from '../../../src/credentials/codecs/jws.ts'
import { issueSdJwtVc } from '../../../src/credentials/codecs/sd-jwt/sd-jwt-vc.ts'
import { compressStatuses, signTokenStatusList } from '../../../src/credentials/codecs/token-status-list.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { startAgent } from '../../support/agent.ts'
import { ask as askRaw } from '../../support/ask.ts'
import { startServer } from '../../support/server.ts'
import { connect, issue, newDid } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())
const [issuer, holder] = [await agent.newTenant('issuer'), await agent.newTenant('holder')]
const { inviterConnectionId } = await connect(issuer, holder)
const [issuing, subject] = [await newDid(issuer, 'assertionMethod'), await newDid(holder, 'authentication')]
const issued = await issue(issuer, holder, inviterConnectionId, issuing.did, subject.did)
const list = new URL(decodeJwtVc(issued.credential).statuses[0]!.statusListCredential!).pathname

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
  ['a revocation of no record', 'PATCH', () => 'nothing', () => issuer.apiKey, 404],
  ['a revocation of another’s record', 'PATCH', () => issued.issuerRecordId, () => holder.apiKey, 404],
  ['a revocation by the holder', 'PATCH', () => issued.recordId, () => holder.apiKey, 422],
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
    const { status, body, headers } = await revoke(issued.issuerRecordId, issuer.apiKey)
    expect([status, body, headers.get('content-type')]).toEqual([200, undefined, null])
  }
  const after = await ask('GET', list)
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  expect(after.body).not.toEqual(before.body)
})

test('the URL of a list serves a Token Status List too, with the same revocations', async () => {
  const { statusListIndex: idx, statusListCredential: uri } = decodeJwtVc(issued.credential).statuses[0]!
  const response = await agent.send('GET', list, { headers: { accept: 'application/statuslist+jwt' } })
  expect(response.headers.get('content-type')).toMatch('application/statuslist+jwt')
  const text = await response.text()
  const { header, payload } = decodeJws(text)
  expect(header).toMatchObject({ alg: 'ES256K', typ: 'statuslist+jwt' })
  expect(payload).toMatchObject({ sub: uri, ttl: 300, status_list: { bits: 1 } })
  const read = getListFromStatusListJWT(text)
  expect(read.getStatus(Number(idx))).toBe(1)
  expect(read.getStatus((Number(idx) + 1) % 131_072)).toBe(0)
})

test('an SD-JWT VC with a Token Status List is valid until it is revoked there', async () => {
  const key = generateKey('P-256')
  const did = createJwkDid(toPublic(key))
  let status = 0
  await using host = await startServer((request, response) => {
    const lst = compressStatuses([[7, status]], 1, 64)
    const now = Math.floor(Date.now() / 1_000)
    const times = { issuedAt: now, expiresAt: now + 600, ttlSeconds: 60 }
    const url = `http://127.0.0.1:${host.port}${request.url}`
    response.end(signTokenStatusList({ url, issuer: did, kid: `${did}#0`, key, bits: 1, lst, ...times }))
  })
  const credential = issueSdJwtVc({
    issuer: did,
    issuerKey: key,
    claims: { name: 'Alice' },
    type: { vct: 'https://types.example/a' },
    status: { status_list: { idx: 7, uri: `http://127.0.0.1:${host.port}/list` } },
    issuedAt: Math.floor(Date.now() / 1_000),
  })
  const env = agent.agent.env
  const verified = () =>
    verifySdJwt(credential, { resolve: env.resolver.document, now: Date.now() / 1_000, ...statusChecks(env) })
  expect((await verified()).claims).toEqual({ name: 'Alice' })
  status = 1
  await expect(verified()).rejects.toThrow('the credential is revoked')
})
