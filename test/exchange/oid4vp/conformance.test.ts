/**
 * The modules of the OpenID Foundation's conformance suite for verifiers, by their names there (package
 * `vp1finalverifier`, commit of 2026-11), for SD-JWT VCs. The suite needs Java and containers, so each module
 * that the verifier can pass is a test here. The documentation has the same table.
 */
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import {
  decodeJwt,
  failureOf,
  issueSdJwt,
  newVerifierDid,
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
  startVerifier,
  type Presented,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'
import { documented } from '../_conformance.ts'

const verifier = await untilEnd(startVerifier())
const did = await newVerifierDid(verifier)

const year = 365 * 86_400
const nowSeconds = () => Math.floor(Date.now() / 1_000)

/** A request by value, and a signed one by reference. */
async function requests() {
  const made = [await requestProof(verifier), await requestProof(verifier, { did })]
  return Promise.all(
    made.map(async ({ presentationId, openid4vp }) => {
      const url = new URL(openid4vp!.authorizationRequest)
      return { presentationId, url, request: await readRequest(url.href) }
    }),
  )
}

async function expectAccepted(presented: Presented = {}): Promise<void> {
  for (const { presentationId, request } of await requests()) {
    expect(request.nonce).toMatch(/^[\w.~-]{43}$/)
    const reply = await present(request, { person: [await presentSdJwt(request, presented)] })
    expect([reply.status, reply.body]).toEqual([200, {}])
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
    expect((await presentationOf(verifier, presentationId)).status).toBe('PresentationVerified')
  }
}

async function expectRefused(check: string, toPresented: () => Promise<Presented>): Promise<void> {
  for (const { presentationId, request } of await requests()) {
    const vp = await presentSdJwt(request, await toPresented())
    expect((await present(request, { person: [vp] })).status).toBe(400)
    expect(await failureOf(verifier, presentationId)).toMatchObject([{ name: check }])
  }
}

const modules: Record<string, () => Promise<void>> = {
  VP1FinalVerifierHappyFlow: () => expectAccepted(),

  async VP1FinalVerifierMinimalCnfJwk() {
    const credential = await issueSdJwt()
    const { cnf } = decodeJwt(credential).payload
    expect(Object.keys(cnf.jwk).toSorted()).toEqual(['crv', 'kty', 'x', 'y'])
    await expectAccepted({ credential })
  },

  async VP1FinalVerifierRequestUriMethodPost() {
    const [, { url }] = (await requests()) as [unknown, { url: URL }]
    expect(url.searchParams.get('request_uri_method')).toBe('post')
    const uri = url.searchParams.get('request_uri')!
    const answer = await fetch(uri, { method: 'POST', body: new URLSearchParams({ wallet_nonce: 'n-1' }) })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/oauth-authz-req+jwt',
    ])
    expect(decodeJwt(await answer.text()).payload.wallet_nonce).toBe('n-1')
    expect(uri).not.toContain('#')
  },

  async VP1FinalVerifierRequestUriFetchedTwice() {
    const [, { url, request }] = (await requests()) as [unknown, { url: URL; request: any }]
    const again = await readRequest(url.href)
    for (const name of ['nonce', 'state', 'client_id', 'response_uri'])
      expect(again[name]).toBe(request[name])
    expect((await present(again, { person: [await presentSdJwt(again)] })).status).toBe(200)
  },

  VP1FinalVerifierInvalidKbJwtSignature: () =>
    expectRefused('holder-binding', async () => ({ key: generateKey('P-256') })),

  VP1FinalVerifierInvalidCredentialSignature: () =>
    expectRefused('signature', async () => ({
      credential: await issueSdJwt({ key: generateKey('P-256') }),
    })),

  VP1FinalVerifierInvalidSdHash: () =>
    expectRefused('holder-binding', async () => ({ binding: { sd_hash: 'aW52YWxpZA' } })),

  VP1FinalVerifierInvalidKbJwtNonce: () =>
    expectRefused('nonce', async () => ({ binding: { nonce: 'other' } })),

  VP1FinalVerifierInvalidKbJwtAud: () =>
    expectRefused('audience', async () => ({ binding: { aud: 'https://invalid.example.com' } })),

  VP1FinalVerifierKbJwtIatInPast: () =>
    expectRefused('time', async () => ({ binding: { iat: nowSeconds() - year } })),

  VP1FinalVerifierKbJwtIatInFuture: () =>
    expectRefused('time', async () => ({ binding: { iat: nowSeconds() + year } })),
}

describe('modules of the conformance suite', () => {
  test.each(Object.keys(modules))('%s', (name) => modules[name]!())
})

test('the documentation has the same modules', () => {
  const { row, names } = documented('Verifier')
  expect(names).toEqual(Object.keys(modules))
  expect(row).toContain(`${names.length} of 12 modules pass`)
})
