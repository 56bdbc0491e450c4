/**
 * Property: the document of a DID contains what its template says, before and after publication, in short and
 * long form.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Purpose, purposes } from '../../../src/did/document.ts'
import type { ResolutionResult } from '../../../src/did/resolution.ts'
import { sharedAgent } from '../../support/agent.ts'
import { character } from '../../support/character.ts'
import { until } from '../../support/tenants.ts'

/** The seed is constant, so the templates are too. */
const seed = 20_250_102

/** Text of these characters, with a maximum length. */
const textOf = (characters: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength, size: 'small' })

const letters = 'ABCxyz019'
const id = fc.oneof(
  textOf(`${letters}-._~!$&'()*+,;=:@/?`, 50),
  fc.constantFrom('https://foo.bar.com', '%41', 'x'.repeat(50)),
  fc.constantFrom('auth-1', 'service-1'),
)
const curves: Record<Purpose, readonly (string | null | undefined)[]> = {
  authentication: ['secp256k1', 'Ed25519', null, undefined],
  assertionMethod: ['secp256k1', 'Ed25519'],
  keyAgreement: ['secp256k1', 'X25519'],
  capabilityInvocation: ['secp256k1', undefined],
  capabilityDelegation: ['secp256k1'],
}
const key = fc
  .constantFrom(...purposes)
  .chain((purpose) =>
    fc.record({ id, purpose: fc.constant(purpose), curve: fc.constantFrom(...curves[purpose]) }),
  )

const name = fc.oneof(
  fc.constantFrom('LinkedDomains', 'DIDCommMessaging', 'x'.repeat(100)),
  fc.array(textOf(`${letters}-_`, 5), { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
)
const uri = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.constantFrom(
    'https://foo.bar.com',
    'HTTPS://Foo.Bar.com:443/a/../b',
    'ws://127.0.0.1:80',
    'http://',
    'did:peer:2.Ez6LS',
    'urn:X:y',
  ),
)
// The API refuses a member `__proto__` in any body.
const json = fc
  .dictionary(
    fc.string({ maxLength: 6, unit: character }),
    fc.jsonValue({ maxDepth: 2, stringUnit: character }),
    { maxKeys: 3 },
  )
  .filter((object) => !/"(?:__proto__|constructor)":/.test(JSON.stringify(object)))
const endpoint = fc.oneof(uri, json, fc.array(fc.oneof(uri, json), { minLength: 1, maxLength: 3 }))

/** The expected endpoint in the document: URLs normalised, anything else unchanged. */
const normalised = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value.map((entry) => (typeof entry === 'string' ? normalised(entry) : entry))
  return typeof value === 'string' && /^(?:https?|wss?):/i.test(value) && URL.canParse(value)
    ? new URL(value).href
    : value
}
const textual = (value: unknown) =>
  Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
const service = fc
  .record({
    id,
    type: fc.oneof(name, fc.array(name, { minLength: 1, maxLength: 2 })),
    serviceEndpoint: endpoint,
  })
  .filter(({ type, serviceEndpoint }) => textual(type) <= 100 && textual(normalised(serviceEndpoint)) <= 300)

const template = fc
  .record({
    publicKeys: fc.array(key, { maxLength: 4 }),
    internalKeys: fc.array(fc.record({ id, purpose: fc.constant('vdr') }), { maxLength: 1 }),
    services: fc.uniqueArray(service, { maxLength: 3, selector: (each) => each.id }),
    contexts: fc.uniqueArray(
      fc.oneof(uri, fc.constant('https://www.w3.org/ns/did/v1')).filter((text) => textual(text) <= 100),
      { maxLength: 3 },
    ),
  })
  // JSON has no undefined and no -0.
  .map((made) => JSON.parse(JSON.stringify(made)) as typeof made)
  .filter(({ publicKeys, internalKeys }) => {
    const ids = [...publicKeys, ...internalKeys].map((each) => each.id)
    return new Set([...ids, 'master0']).size === ids.length + 1
  })
type Template = typeof template extends fc.Arbitrary<infer T> ? T : never

/** The document of a template. Of generated and derived keys, only the curve is known. */
function expected({ publicKeys, services, contexts }: Template, did: string) {
  const types = services.flatMap(({ type }) => type)
  const relation = (purpose: Purpose) =>
    publicKeys.filter((each) => each.purpose === purpose).map((each) => `${did}#${each.id}`)
  return {
    '@context': [
      ...new Set([
        'https://www.w3.org/ns/did/v1',
        ...(publicKeys.length > 0 ? ['https://w3id.org/security/suites/jws-2020/v1'] : []),
        ...(types.includes('DIDCommMessaging') ? ['https://didcomm.org/messaging/contexts/v2'] : []),
        ...(types.includes('LinkedDomains')
          ? ['https://identity.foundation/.well-known/did-configuration/v1']
          : []),
        ...contexts,
      ]),
    ],
    id: did,
    controller: did,
    verificationMethod: publicKeys.map((each) => ({
      id: `${did}#${each.id}`,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk: { crv: each.curve ?? 'secp256k1' },
    })),
    ...Object.fromEntries(purposes.map((purpose) => [purpose, relation(purpose)])),
    service: services.map(({ id: fragment, type, serviceEndpoint }) => ({
      id: `${did}#${fragment}`,
      type,
      serviceEndpoint: normalised(serviceEndpoint),
    })),
  }
}

test('the document of a random template matches it', async () => {
  const agent = await sharedAgent()
  const { call } = await agent.newTenant()
  const resolve = async (did: string) => {
    const answer = await agent.send('GET', `/dids/${did}`)
    return { status: answer.status, ...((await answer.json()) as ResolutionResult) }
  }
  const keysSeen = new Set<string>()
  let keys = 0

  await fc.assert(
    fc.asyncProperty(template, async (documentTemplate) => {
      const { longFormDid } = await call('POST /did-registrar/dids', { body: { documentTemplate } as never })
      const did = longFormDid.split(':').slice(0, 3).join(':')
      const suffix = did.split(':')[2]

      const unpublished = await resolve(longFormDid)
      const { verificationMethod = [], ...rest } = unpublished.didDocument!
      const publicKeys = verificationMethod.map(({ publicKeyJwk }) => publicKeyJwk!)
      const bare = verificationMethod.map((method) => ({
        ...method,
        publicKeyJwk: { crv: method.publicKeyJwk!.crv },
      }))
      const { verificationMethod: methods, ...others } = expected(documentTemplate, longFormDid)
      expect(bare).toEqual(methods)
      expect(canonical(rest)).toBe(canonical(others))
      expect(unpublished.didDocumentMetadata).toEqual({ deactivated: false, versionId: suffix })
      expect((await resolve(did)).status).toBe(404)
      for (const { x } of publicKeys) keysSeen.add(x!)
      keys += publicKeys.length

      await call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })
      await until(
        'publication',
        () => call('GET /did-registrar/dids/{didRef}', { path: { didRef: did } }),
        ({ status }) => status === 'PUBLISHED',
      )
      for (const form of [did, longFormDid]) {
        const { didDocument, didDocumentMetadata } = await resolve(form)
        expect(canonical(didDocument)).toBe(
          canonical(unpublished.didDocument).replaceAll(`"${longFormDid}`, `"${form}`),
        )
        expect(didDocumentMetadata).toMatchObject({ deactivated: false, canonicalId: did, versionId: suffix })
      }
    }),
    { seed, numRuns: 30 },
  )
  expect(keys).toBeGreaterThan(30)
  expect(keysSeen.size, 'no key is given out twice').toBe(keys)
})

/** JSON with sorted members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([member, held]) => `${JSON.stringify(member)}:${canonical(held)}`).join()}}`
}
