/** Transactions that a presentation authorizes, and attestations about the verifier, over OpenID4VP. */
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { refusal } from '../../support/tenants.ts'
import {
  failureOf,
  newVerifierDid,
  personQuery,
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
  startVerifier,
  type RequestOptions,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const verifier = await untilEnd(startVerifier())

const payment = { type: 'https://bank.example/payment', credential_ids: ['person'], amount: '10.00 EUR' }
const strong = { ...payment, amount: '9.00 EUR', transaction_data_hashes_alg: ['sha-512' as const] }
const hashesOf = (request: any, algorithm = 'sha256'): string[] =>
  request.transaction_data.map((text: string) => hash(algorithm, text, 'base64url'))

async function asked(options: RequestOptions = { transactionData: [payment] }) {
  const { presentationId, openid4vp } = await requestProof(verifier, options)
  return { presentationId, openid4vp, request: await readRequest(openid4vp!.authorizationRequest) }
}

async function outcome(options: RequestOptions, toBinding: (request: any) => object) {
  const { presentationId, request } = await asked(options)
  const vp = await presentSdJwt(request, { binding: toBinding(request) })
  const reply = await present(request, { person: [vp] })
  return reply.status === 200 ? 'accepted' : (await failureOf(verifier, presentationId))[0]
}

test('a presentation authorizes the transactions of the request, by value and signed', async () => {
  const did = await newVerifierDid(verifier)
  for (const options of [{}, { did }]) {
    const { presentationId, openid4vp, request } = await asked({
      transactionData: [payment, payment],
      ...options,
    })
    expect(openid4vp!.transactionData).toEqual([payment, payment])
    expect(request.transaction_data).toHaveLength(2)
    const [text] = request.transaction_data as [string]
    expect(JSON.parse(Buffer.from(text, 'base64url').toString())).toEqual(payment)
    expect(presentationId).toBeDefined()
  }
  const one = { transactionData: [payment] }
  expect(await outcome(one, (request) => ({ transaction_data_hashes: hashesOf(request) }))).toBe('accepted')
})

test('the hash function is one that the transaction names', async () => {
  const options = { transactionData: [strong] }
  const by = (name: string | undefined, algorithm: string) => (request: any) => ({
    transaction_data_hashes: hashesOf(request, algorithm),
    ...(name !== undefined && { transaction_data_hashes_alg: name }),
  })
  expect(await outcome(options, by('sha-512', 'sha512'))).toBe('accepted')
  for (const [name, algorithm] of [
    ['sha-256', 'sha256'],
    ['sha-512', 'sha256'],
    [undefined, 'sha512'],
    ['__proto__', 'sha512'],
  ] as const)
    expect(await outcome(options, by(name, algorithm))).toMatchObject({ name: 'transaction' })
})

test('a presentation without the transaction, or of another one, is refused', async () => {
  const one = { transactionData: [payment] }
  expect(await outcome(one, () => ({}))).toMatchObject({
    name: 'transaction',
    reason: 'transaction_data.0 is authorized by no presentation',
  })
  const other = hash('sha256', 'other', 'base64url')
  for (const hashes of [[other], 'text', [1]])
    expect(await outcome(one, () => ({ transaction_data_hashes: hashes }))).toMatchObject({
      name: 'transaction',
    })
  const twice = (request: any) => ({ transaction_data_hashes: [...hashesOf(request), ...hashesOf(request)] })
  expect(await outcome(one, twice)).toMatchObject({ name: 'transaction' })
})

test('one credential of several authorizes a transaction', async () => {
  const [person] = personQuery.credentials
  const dcqlQuery = { credentials: [person, { ...person, id: 'other' }] }
  const options = { dcqlQuery, transactionData: [{ ...payment, credential_ids: ['person', 'other'] }] }
  for (const [names, status] of [
    [['other'], 200],
    [['person', 'other'], 400],
    [[], 400],
  ] as const) {
    const { request } = await asked(options)
    const vpOf = (id: 'person' | 'other') => {
      const isNamed = (names as readonly string[]).includes(id)
      return presentSdJwt(request, { binding: isNamed ? { transaction_data_hashes: hashesOf(request) } : {} })
    }
    const reply = await present(request, { person: [await vpOf('person')], other: [await vpOf('other')] })
    expect(reply.status, JSON.stringify(names)).toBe(status)
  }
})

test('attestations about the verifier are in the signed request', async () => {
  const verifierInfo = [{ format: 'jwt', data: 'eyJhbGciOiJFUzI1NiJ9.e30.AA', credential_ids: ['person'] }]
  const { presentationId, request } = await asked({ did: await newVerifierDid(verifier), verifierInfo })
  expect(request.verifier_info).toEqual(verifierInfo)
  expect((await presentationOf(verifier, presentationId)).status).toBe('RequestCreated')
})

const [person] = personQuery.credentials
test.each<[RequestOptions, string]>([
  [{ transactionData: [{ ...payment, credential_ids: ['none'] }] }, 'transactionData.0.credential_ids.0'],
  [{ transactionData: [] }, 'transactionData'],
  [{ transactionData: [{ ...payment, text: 'x'.repeat(10_001) }] }, 'is longer'],
  [
    {
      transactionData: [payment],
      dcqlQuery: { credentials: [{ ...person, require_cryptographic_holder_binding: false }] },
    },
    'without key binding',
  ],
  [{ verifierInfo: [{ format: 'jwt', data: 'a' }] }, 'verifierInfo'],
])('a tenant cannot request %j', async (options, reason) => {
  const { status, detail } = await refusal(requestProof(verifier, options))
  expect([status, detail]).toEqual([400, expect.stringContaining(reason)])
})
