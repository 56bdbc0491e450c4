/**
 * The issuer, the holder and the attacker of fixtures/credentials, their DID documents, and tokens with
 * arbitrary content.
 */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { algorithmOf, type PrivateJwk, sign, toPublic } from '../../../src/foundation/crypto/keys.ts'
import type { CredentialContent } from '../../../src/credentials/codecs/jwt-vc.ts'
import type { PresentationChecks } from './_verify.ts'
import { type Failure, VerificationError } from '../../../src/credentials/codecs/verification-error.ts'
import { canonicalDid, DidDocument, type Purpose } from '../../../src/did/document.ts'

type KeyId = 'auth-1' | 'auth-2' | 'issue-1' | 'issue-2' | 'agree-1'
export type Person = {
  did: string
  longForm: string
  keys: Record<KeyId, { purpose: Purpose; jwk: PrivateJwk }>
}

export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../fixtures/credentials/${name}`, import.meta.url), 'utf8'))
}

export const people = fixture('people.json') as { issuer: Person; holder: Person; mallory: Person }
export const { issuer, holder, mallory } = people

export const now = 1_700_000_000
export const audience = 'https://verifier.example'
export const nonce = '5f0c4f5e-3c5d-4f4f-9d52-1e3b7f6ad111'
export const schemaId = 'https://agent.example/schema-registry/schemas/1'

/** The DID document of a person, for the requested form of the DID. */
export function documentOf(person: Person, did: string = person.did): DidDocument {
  const keys = Object.entries(person.keys)
  const idsOf = (purpose: Purpose) =>
    keys.filter(([, key]) => key.purpose === purpose).map(([id]) => `${did}#${id}`)
  return DidDocument.parse({
    id: did,
    verificationMethod: keys.map(([id, { jwk }]) => ({
      id: `${did}#${id}`,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk: toPublic(jwk),
    })),
    authentication: idsOf('authentication'),
    assertionMethod: idsOf('assertionMethod'),
    keyAgreement: idsOf('keyAgreement'),
  })
}

export async function resolve(did: string): Promise<DidDocument> {
  const person = [issuer, holder, mallory].find((each) => each.did === canonicalDid(did))
  if (!person) throw new Problem('error:DIDResolution:notFound', `unknown DID ${did}`)
  return documentOf(person, did)
}

/** A credential of the issuer about the holder. */
export const content: CredentialContent = {
  issuerDid: issuer.did,
  issuerKey: issuer.keys['issue-1'].jwk,
  subjectDid: holder.longForm,
  claims: { familyName: 'Wonderland', drivingClass: 3, address: { city: 'Zürich' } },
  schemas: [schemaId],
  validityPeriod: 3600,
  now,
}

export const checks: PresentationChecks = { resolve, audience, nonce, now }

/** A part of a token before encoding. Objects are serialized as JSON. */
type Part = object | string | Uint8Array

function encode(part: Part): string {
  return toBase64url(part instanceof Uint8Array || typeof part === 'string' ? part : JSON.stringify(part))
}

/** Signs any header and payload. The header is used unchanged. */
export function forge(
  header: Part,
  payload: Part,
  signer: PrivateJwk | ((signingInput: Uint8Array) => Uint8Array),
): string {
  const signingInput = `${encode(header)}.${encode(payload)}`
  return `${signingInput}.${toBase64url(typeof signer === 'function' ? signer(utf8(signingInput)) : sign(signer, utf8(signingInput)))}`
}

/** The correct header for a key. */
export function headerOf(jwk: PrivateJwk, kid?: string): object {
  return { typ: 'JWT', alg: algorithmOf(jwk), ...(kid !== undefined && { kid }) }
}

/** The encoded header, payload and signature of a token. */
export function partsOf(jwt: string): [string, string, string] {
  return jwt.split('.') as [string, string, string]
}

/** The decoded payload of a token. */
export function payloadOf(jwt: string): Record<string, any> {
  return JSON.parse(Buffer.from(partsOf(jwt)[1], 'base64url').toString()) as Record<string, any>
}

/** The code of a refusal. The test fails if the verification succeeds or throws another error. */
export async function failureOf(verification: () => unknown): Promise<Failure> {
  let result: unknown
  try {
    result = await verification()
  } catch (error) {
    expect(error).toBeInstanceOf(VerificationError)
    return (error as VerificationError).code
  }
  throw new Error(`accepted: ${JSON.stringify(result)}`)
}
