import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { generateKey, toPublic, type PublicJwk } from '../../../src/foundation/crypto/keys.ts'
import {
  type Authored,
  findProofFault,
  type Proof,
  signSchema,
} from '../../../src/credentials/schemas/proof.ts'

const author = `did:prism:${'4a'.repeat(32)}`
const authored: Authored = {
  type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  name: 'licence',
  version: '1.0.0',
  author,
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string' } },
  },
}
const key = generateKey('secp256k1')
const verificationMethod = `${author}#key-1`
const proof = signSchema(authored, { verificationMethod, privateJwk: key, domain: 'agent.example' })

/** The author's document with a key, or another. */
const resolve =
  (publicKeyJwk: PublicJwk = toPublic(key), purpose = 'assertionMethod') =>
  async (did: string) =>
    ({
      id: did,
      verificationMethod: [{ id: `${did}#key-1`, type: 'JsonWebKey2020', controller: did, publicKeyJwk }],
      [purpose]: [`${did}#key-1`],
    }) as never
const faultOf = (change: Partial<Proof> = {}, of: Partial<Authored> = {}, by = resolve()) =>
  findProofFault({ ...authored, ...of }, { ...proof, ...change }, by)

test.each(['secp256k1', 'Ed25519'] as const)(
  'a schema signed with a key on %s is its author’s',
  async (curve) => {
    const privateJwk = generateKey(curve)
    const signed = signSchema(authored, { verificationMethod, privateJwk, domain: 'agent.example' })
    expect(await findProofFault(authored, signed, resolve(toPublic(privateJwk)))).toBeUndefined()
    const header = JSON.parse(Buffer.from(signed.jws!.split('.')[0]!, 'base64url').toString())
    expect(header).toEqual({ alg: curve === 'Ed25519' ? 'EdDSA' : 'ES256K', b64: false, crit: ['b64'] })
  },
)

test('the order of members does not matter, and the signature alone in proofValue need not be there', async () => {
  const { type, properties, $schema } = authored.schema
  expect(await faultOf({}, { schema: { properties, type, $schema } })).toBeUndefined()
  const { proofValue: _, ...without } = proof
  expect(await findProofFault(authored, without, resolve())).toBeUndefined()
})

test('the author may be named in the long form, and the key in the short one', async () => {
  const long = `${author}:CgY`
  const signed = signSchema(
    { ...authored, author: long },
    { verificationMethod, privateJwk: key, domain: 'd' },
  )
  expect(await findProofFault({ ...authored, author: long }, signed, resolve())).toBeUndefined()
  expect(await findProofFault(authored, signed, resolve())).toContain('jws')
})

describe('a proof does not hold', () => {
  test.each<[string, Partial<Authored>]>([
    ['name', { name: 'other' }],
    ['version', { version: '1.0.1' }],
    ['type', { type: 'AnoncredSchemaV1' }],
    ['schema', { schema: { ...authored.schema, required: ['name'] } }],
  ])('of another %s', async (_, change) => expect(await faultOf({}, change)).toMatch(/^jws:/))

  const segment = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url')
  const signature = proof.jws!.split('..')[1]!
  test.each<[string, Partial<Proof>, string]>([
    ['of another type', { type: 'Ed25519Signature2018' }, 'type'],
    ['for another purpose', { proofPurpose: 'authentication' }, 'proofPurpose'],
    ['made at another time', { created: '2020-01-01T00:00:00Z' }, 'jws'],
    ['made at another place', { domain: 'elsewhere.example' }, 'jws'],
    ['of another DID', { verificationMethod: `did:prism:${'ba'.repeat(32)}#key-1` }, 'verificationMethod'],
    ['of another key', { verificationMethod: `${author}#key-2` }, 'verificationMethod'],
    ['without a signature', { jws: '' }, 'jws'],
    ['with a payload', { jws: proof.jws!.replace('..', '.e30.') }, 'jws'],
    ['with another signature beside it', { proofValue: 'z1' }, 'proofValue'],
    ['with an encoded payload', { jws: `${segment({ alg: 'ES256K' })}..${signature}` }, 'jws'],
    [
      'with more in its header',
      { jws: `${segment({ alg: 'ES256K', b64: false, crit: ['b64'], jwk: {} })}..${signature}` },
      'jws',
    ],
    [
      'with another algorithm',
      { jws: `${segment({ alg: 'EdDSA', b64: false, crit: ['b64'] })}..${signature}` },
      'verificationMethod',
    ],
    [
      'with none',
      { jws: `${segment({ alg: 'none', b64: false, crit: ['b64'] })}..${signature}` },
      'verificationMethod',
    ],
  ])('%s', async (_, change, member) => expect(await faultOf(change)).toMatch(new RegExp(`^${member}:`)))

  test('when the key is for another purpose, or another key', async () => {
    expect(await faultOf({}, {}, resolve(toPublic(key), 'authentication'))).toMatch(/^verificationMethod:/)
    expect(await faultOf({}, {}, resolve(toPublic(generateKey('secp256k1'))))).toMatch(/^jws:/)
    expect(await faultOf({}, {}, resolve(toPublic(generateKey('X25519'))))).toMatch(/^verificationMethod:/)
  })

  test('when the author’s DID does not resolve; an outage decides nothing', async () => {
    const gone = () => Promise.reject(new Problem('error:DIDResolution:deactivated', 'It is deactivated'))
    expect(await faultOf({}, {}, gone)).toMatch(/^verificationMethod:.*deactivated/)
    const away = () => Promise.reject(new Problem('error:ServiceUnavailable', 'The ledger is away.'))
    await expect(faultOf({}, {}, away)).rejects.toMatchObject({ status: 503 })
  })
})
