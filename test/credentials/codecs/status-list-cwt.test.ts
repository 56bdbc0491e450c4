/** Status lists as CWTs: the published token, lists of this agent and of others, and lists that are refused. */
import { deflateSync, inflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex, utf8 } from '../../../src/foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  decodeCbor,
  encodeCbor,
  Tagged,
} from '../../../src/foundation/cbor/index.ts'
import { readCwt, signSign1, toX5chain, verifySign1 } from '../../../src/foundation/cose/index.ts'
import {
  generateKey,
  type PrivateJwk,
  type PublicJwk,
  toPublic,
} from '../../../src/foundation/crypto/keys.ts'
import type { VerifyChain } from '../../../src/credentials/codecs/issuer-signature.ts'
import {
  checkIdentifierListCwt,
  checkStatusListCwt,
  type ListWarning,
  readStatusListCwt,
  signStatusListCwt,
} from '../../../src/credentials/codecs/status-list-cwt.ts'
import {
  compressStatuses,
  readStatus,
  type StatusBits,
} from '../../../src/credentials/codecs/token-status-list.ts'
import { VerificationError } from '../../../src/credentials/codecs/verification-error.ts'
import { at, readMdoc } from '../../support/mdoc.ts'
import { readPublished } from '../../support/vectors.ts'
import { failureOf, now } from './_people.ts'

const published = readMdoc('status-list-cwt') as {
  tokens: Record<'status_list_cwt', string>
  encodings: Record<string, { hex: string }>
  key: PublicJwk
}

test('the published token is read, and its signature is valid', () => {
  const { sign1, x5c, claims, warnings } = readStatusListCwt(fromHex(published.tokens.status_list_cwt))
  expect(verifySign1(sign1, published.key)).toBe(true)
  expect(claims).toMatchObject({
    sub: 'https://example.com/statuslists/1',
    iat: 1_686_920_170,
    exp: 2_291_720_170,
    ttl: 43_200,
  })
  expect([...Array(16).keys()].map((index) => readStatus(claims.status_list, index))).toEqual([
    1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1,
  ])
  expect({ x5c, warnings }).toEqual({ x5c: undefined, warnings: [] })
})

type Vector = { id: string; bits: StatusBits; lst: string; statuses: [number, number][] }
const { vectors } = readPublished('token-status-list') as { vectors: Vector[] }

test('the lists in CBOR have the entries of those in JSON', () => {
  const lists = Object.values(published.encodings).map(({ hex }) => {
    const list = decodeCbor(fromHex(hex))
    return { bits: at(list, 'bits') as StatusBits, lst: at(list, 'lst') as Uint8Array }
  })
  for (const { bits, statuses, id } of vectors) {
    const [last] = statuses.at(-1)!
    const isLong = (list: { bits: StatusBits; lst: Uint8Array }) =>
      inflateSync(list.lst).length * (8 / bits) > last
    const same = lists.filter((list) => list.bits === bits && isLong(list))
    const readAll = (list: { bits: StatusBits; lst: Uint8Array }) =>
      statuses.map(([index]) => readStatus(list, index))
    expect(same.map(readAll), id).toContainEqual(statuses.map(([, value]) => value))
  }
})

const url = 'https://status.example/lists/1'
const key = generateKey('P-256')
const x5c = [Buffer.from('a certificate').toString('base64')]
const content = {
  url,
  key,
  x5c,
  bits: 2 as const,
  lst: compressStatuses(
    [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
    2,
    64,
  ),
  issuedAt: now - 10,
  expiresAt: now + 1_000,
  ttlSeconds: 300,
}
const list = signStatusListCwt(content)

const credential = { issuerDid: 'https://issuer.example', x5c: ['another certificate'] }
/** Trusts the certificate that the lists here have. */
const verifyChain: VerifyChain = (chain, issuer, of) => {
  expect([issuer, of]).toEqual([credential.issuerDid, { credential }])
  if (JSON.stringify(chain) !== JSON.stringify(x5c))
    throw new VerificationError('issuer-not-trusted', 'unknown')
  return Promise.resolve({ publicKey: toPublic(key), subject: 'CN=Signer', authorityKeyIds: [] })
}

const check = (idx: number, bytes = list) =>
  checkStatusListCwt(bytes, { idx, uri: url }, credential, { now, verifyChain })

describe('a credential', () => {
  test('is valid, revoked or suspended', async () => {
    await check(0)
    await expect(check(1)).rejects.toMatchObject({ name: 'RevokedError', status: 'revoked' })
    await expect(check(2)).rejects.toMatchObject({ name: 'RevokedError', status: 'suspended' })
    await expect(check(3)).rejects.toThrow('the status 3 of the credential is not known')
    expect(await failureOf(() => check(64))).toBe('status')
  })

  test('can have a list signed on another curve', async () => {
    const ed25519 = generateKey('Ed25519')
    const signed = signStatusListCwt({ ...content, key: ed25519 })
    const { sign1 } = readCwt(signed)
    expect(verifySign1(sign1, toPublic(ed25519))).toBe(true)
    expect(() => signStatusListCwt({ ...content, key: generateKey('secp256k1') })).toThrow(
      'does not sign here',
    )
  })
})

test('a list is written as the draft says', () => {
  const { sign1, claims } = readCwt(list, { warn: (warning) => expect(warning).toBeUndefined() })
  expect(list[0]).toBe(0xd2)
  expect(sign1.protected).toEqual(
    new Map<CborValue, CborValue>([
      [1, -7],
      [16, 'application/statuslist+cwt'],
      [33, new Uint8Array(utf8('a certificate'))],
    ]),
  )
  expect(sign1.unprotected.size).toBe(0)
  expect([...claims.keys()]).toEqual([2, 4, 6, 65_533, 65_534])
  expect(toHex(encodeCbor(decodeCbor(list)))).toBe(toHex(list))
})

/** The claims of the list here. */
const claims = readCwt(list).claims
type Change = {
  claims?: CborValue
  headers?: [CborValue, CborValue][]
  unprotected?: CborMap
  key?: PrivateJwk
}
const certified: [CborValue, CborValue] = [33, toX5chain(x5c)]
const typed: [CborValue, CborValue] = [16, 'application/statuslist+cwt']
/** A list with something changed, untagged. */
function messageOf({
  claims: payload = claims,
  headers = [typed, certified],
  ...signing
}: Change): CborValue {
  return signSign1({ key, ...signing, protected: new Map(headers), payload: encodeCbor(payload) })
}
const changed = (change: Change) => encodeCbor(new Tagged(18, messageOf(change)))
const withClaims = (...entries: [CborValue, CborValue][]) =>
  changed({ claims: new Map([...claims, ...entries]) })
const without = (removed: number) =>
  changed({ claims: new Map([...claims].filter(([label]) => label !== removed)) })
const listOf = (entries: object) =>
  withClaims([65_533, new Map<CborValue, CborValue>(Object.entries(entries))])
const bomb = deflateSync(Buffer.alloc(2 ** 26))

describe('a list is accepted with a warning', () => {
  test.each<[ListWarning, Uint8Array]>([
    ['untagged', encodeCbor(messageOf({}))],
    ['cwt-tag', encodeCbor(new Tagged(61, new Tagged(18, messageOf({}))))],
    ['type-missing', changed({ headers: [certified] })],
    ['type-missing', changed({ headers: [certified], claims: new Map([...claims, typed]) })],
  ])('%s', async (warning, bytes) => {
    await check(0, bytes)
    await expect(check(1, bytes)).rejects.toMatchObject({ status: 'revoked' })
    expect(readStatusListCwt(bytes).warnings).toEqual([warning])
  })

  test('certificates may be in either header', async () => {
    const bytes = changed({ headers: [typed], unprotected: new Map([certified]) })
    await check(0, bytes)
    expect(readStatusListCwt(bytes).warnings).toEqual([])
  })
})

describe('a list is refused', () => {
  test.each<[string, string, Uint8Array]>([
    ['that is a JWT', 'malformed', utf8('eyJhbGciOiJFUzI1NiJ9.e30.AA')],
    ['that is cut', 'malformed', list.subarray(0, 100)],
    [
      'without claims',
      'malformed',
      encodeCbor(new Tagged(18, [...(messageOf({}) as CborValue[])].with(2, null))),
    ],
    ['of claims that are no map', 'malformed', changed({ claims: [] })],
    ['of another type', 'status', changed({ headers: [[16, 'application/identifierlist+cwt'], certified] })],
    [
      'of another type among the claims',
      'status',
      changed({ headers: [certified], claims: new Map([...claims, [16, 'JWT']]) }),
    ],
    ['with another sub', 'status', withClaims([2, `${url}2`])],
    ['without sub', 'malformed', without(2)],
    ['that has ended', 'expired', withClaims([4, now - 100])],
    ['without an end', 'malformed', without(4)],
    ['of the future', 'not-yet-valid', withClaims([6, now + 100])],
    ['without iat', 'malformed', without(6)],
    ['of an iat in text', 'malformed', withClaims([6, new Tagged(0, '2023-11-14T22:00:00Z')])],
    ['without certificates', 'issuer-not-trusted', changed({ headers: [typed] })],
    ['of an unknown signer', 'issuer-not-trusted', changed({ headers: [typed, [33, utf8('other')]] })],
    ['with the signature of another', 'signature', changed({ key: generateKey('P-256') })],
    ['with the key on another curve', 'signature', changed({ key: generateKey('Ed25519') })],
    ['of three bits', 'malformed', listOf({ bits: 3, lst: content.lst })],
    ['in base64url', 'malformed', listOf({ bits: 1, lst: 'eNrbuRgAAhcBXQ' })],
    ['that is no zlib', 'status', listOf({ bits: 1, lst: new Uint8Array(9) })],
    ['that is a bomb', 'status', listOf({ bits: 1, lst: bomb })],
    ['without entries', 'status', listOf({ bits: 1, lst: compressStatuses([], 1, 0) })],
    ['without a list', 'malformed', without(65_533)],
    [
      'with the certificates unprotected, of another',
      'issuer-not-trusted',
      changed({ headers: [typed], unprotected: new Map([[33, utf8('other')]]) }),
    ],
  ])('%s', async (_what, code, bytes) => {
    expect(await failureOf(() => check(0, bytes))).toBe(code)
  })

  test('where no certificates are trusted', async () => {
    expect(await failureOf(() => checkStatusListCwt(list, { idx: 0, uri: url }, credential, { now }))).toBe(
      'issuer-not-trusted',
    )
  })
})

describe('a list of revoked identifiers', () => {
  const id = fromHex('00112233445566778899aabbccddeeff')
  const identifiers = (...ids: Uint8Array[]) =>
    new Map<CborValue, CborValue>([
      ['identifiers', new Map(ids.map((each) => [new Uint8Array(each), new Map()]))],
    ])
  const revocations = (value: CborValue, type = 'application/identifierlist+cwt') =>
    changed({
      headers: [[16, type], certified],
      claims: new Map<CborValue, CborValue>([
        [2, url],
        [6, now - 10],
        [4, now + 1_000],
        [65_530, value],
      ]),
    })
  const checkId = (bytes: Uint8Array) =>
    checkIdentifierListCwt(bytes, { id, uri: url }, credential, { now, verifyChain })

  test('has the identifier of a revoked credential', async () => {
    await checkId(revocations(identifiers()))
    await checkId(revocations(identifiers(fromHex('00'), id.subarray(1))))
    await expect(checkId(revocations(identifiers(fromHex('00'), id)))).rejects.toMatchObject({
      status: 'revoked',
    })
  })

  test('can have as many as a body holds', async () => {
    const many = Array.from({ length: 15_000 }, (_, index) => Buffer.from(String(index).padStart(16, '0')))
    await checkId(revocations(identifiers(...many)))
    await expect(checkId(revocations(identifiers(...many, id)))).rejects.toMatchObject({ status: 'revoked' })
  })

  test.each<[string, string, Uint8Array]>([
    ['that is a status list', 'status', list],
    ['of another type', 'status', revocations(identifiers(), 'application/statuslist+cwt')],
    ['without identifiers', 'malformed', revocations(new Map())],
    ['of texts', 'malformed', revocations(new Map([['identifiers', new Map([['x', new Map()]])]]))],
    ['of an array', 'malformed', revocations(new Map([['identifiers', [id]]]))],
  ])('%s is refused', async (_what, code, bytes) => {
    expect(await failureOf(() => checkId(bytes))).toBe(code)
  })
})
