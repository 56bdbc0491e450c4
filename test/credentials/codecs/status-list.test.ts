/** Status lists: bits, both embedded proofs and JWT, with other implementations as issuer and as verifier. */
import { createHash, createPublicKey, verify as verifyBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  concat,
  fromMultibase,
  toBase64url,
  toMultibase,
  toPaddedBase64url,
} from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { generateKey, sign, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { compressBits, entryAt, expandBits, listLength } from '../../../src/credentials/codecs/bitstring.ts'
import { canonicalize } from '../../../src/foundation/json.ts'
import { decodeJws } from '../../../src/credentials/codecs/jws.ts'
import { checkStatusList, readStatusEntry } from '../../../src/credentials/codecs/status-list.ts'
import {
  statusListContexts,
  toCanonicalQuads,
  type StatusList2021,
} from '../../../src/credentials/codecs/status-list-2021.ts'
import { canonicalDid } from '../../../src/did/document.ts'
import { documentOf, failureOf, forge, issuer, mallory, now, resolve } from './_people.ts'
import {
  bitstringOf,
  canonize,
  created,
  ecKey,
  edKey,
  libraries,
  listOf,
  proved,
  url,
} from './_status-lists.ts'

const entry = (change: object = {}) =>
  readStatusEntry({
    type: 'StatusList2021Entry',
    statusPurpose: 'Revocation',
    statusListIndex: 5,
    statusListCredential: url,
    ...change,
  })
const bitstringEntry = (change: object = {}) =>
  entry({ type: 'BitstringStatusListEntry', statusPurpose: 'revocation', statusListIndex: '5', ...change })
const check = (text: string, status = entry(), issuerDid = issuer.did) =>
  checkStatusList(text, status, { issuerDid }, { resolve, now })
const reason = (work: Promise<unknown>) =>
  work.then(
    () => 'not revoked',
    (error: Error) => error.message,
  )

describe('bits', () => {
  test('of ten million entries are read, unless the setting allows less', () => {
    const encoded = toBase64url(gzipSync(Buffer.alloc(1_250_000)))
    expect(expandBits(encoded)).toHaveLength(1_250_000)
    expect(() => expandBits(encoded, 1_000_000)).toThrow('longer than 1000000 bytes')
  })

  test('start with the most significant one, and have the required length', () => {
    const bits = expandBits(toBase64url(compressBits([0, 9, listLength - 1])))
    expect(bits).toHaveLength(16_384)
    expect([bits[0], bits[1], bits[16_383]]).toEqual([0x80, 0x40, 0x01])
    expect([0, 1, 8, 9, listLength - 1].map((index) => entryAt(bits, index) === 1)).toEqual([
      true,
      false,
      false,
      true,
      true,
    ])
  })

  test('of published lists are decoded', () => {
    // The Identus documentation's, with one credential revoked, and Bitstring Status List 1.0's, with none.
    const bits = expandBits('H4sIAAAAAAAA_-3BMQ0AAAACIGf_0MbwARoAAAAAAAAAAAAAAAAAAADgbbmHB0sAQAAA')
    expect([...Array(listLength).keys()].filter((index) => entryAt(bits, index))).toEqual([6])
    expect(
      new Uint8Array(expandBits('uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA')),
    ).toEqual(new Uint8Array(16_384))
  })

  test.each([
    ['beyond the end', listLength],
    ['below the start', -1],
    ['between two', 1.5],
    ['beyond all numbers', 2 ** 53],
  ])('have no index %s', (_, index) => {
    expect(() => entryAt(expandBits(toBase64url(compressBits([]))), index)).toThrow(/index/)
    expect(() => compressBits([index])).toThrow(RangeError)
  })

  test.each([
    ['a bomb', toBase64url(gzipSync(Buffer.alloc(64 * 2 ** 20)))],
    [
      'several that make one',
      toBase64url(Buffer.concat(Array.from({ length: 512 }, () => gzipSync(Buffer.alloc(16_384))))),
    ],
    ['a list that is too short to hide in', toBase64url(gzipSync(Buffer.alloc(16_383)))],
    ['no gzip', toBase64url(Buffer.alloc(16_384))],
    ['half of one', toBase64url(compressBits([1, 77]).subarray(0, 30))],
    ['no base64', 'H4sI?'],
    ['nothing', ''],
  ])('are refused from %s', (_, encodedList) => {
    expect(() => expandBits(encodedList)).toThrow(TypeError)
  })

  test.each(['StatusList2021', 'BitstringStatusList'] as const)(
    'are decoded by another library: %s',
    async (type) => {
      const revoked = [0, 1, 7, 8, 94_567, listLength - 1]
      const text = type === 'StatusList2021' ? proved(listOf(revoked)) : bitstringOf(revoked)
      const json: any = type === 'StatusList2021' ? JSON.parse(text) : decodeJws(text).payload
      const list = await (
        await libraries[type]
      ).decodeList({ encodedList: json.credentialSubject.encodedList })
      expect(list.length).toBe(listLength)
      expect([...Array(listLength).keys()].filter((index) => list.getStatus(index))).toEqual(revoked)
    },
  )
})

describe('the signed quads', () => {
  const subject = (change: object) => ({ credentialSubject: { ...listOf([3]).credentialSubject, ...change } })
  const shapes: [string, Partial<StatusList2021>][] = [
    ['of this agent', {}],
    [
      'with the context of the Cloud Agent',
      { '@context': [listOf([])['@context'][0], statusListContexts[1]] },
    ],
    ['with seconds for a date', { issuanceDate: 1_717_793_619 }],
    ['with an id of the list in it', subject({ id: `${url}#list` })],
    ['with an issuer in long form', { issuer: issuer.longForm }],
    [
      'at another address',
      {
        id: 'http://localhost:8080/cloud-agent/credential-status/c2688c98-ecb5-4dd3-87e8-a689b8fa84dd?a=b&c=(d)',
      },
    ],
    ['in a VDR entry', { id: `vdr://?drf=prism&drid=neoprism&drv=1.0.0&m=1#${'ab'.repeat(32)}` }],
    ['of suspensions', subject({ statusPurpose: 'suspension' })],
    ['with padding', subject({ encodedList: toPaddedBase64url(compressBits([1])) })],
  ]
  test.each(shapes)('equal those of a JSON-LD processor: %s', async (_, change) => {
    const list = listOf([3], change)
    expect(toCanonicalQuads(list)).toBe(await canonize(list))
  })
})

describe('a credential', () => {
  const standard = (list: object) => {
    const options = {
      type: 'DataIntegrityProof',
      cryptosuite: 'eddsa-jcs-2022',
      proofPurpose: 'assertionMethod',
      created,
    }
    const hash = (value: object) => createHash('sha256').update(canonicalize(value)).digest()
    return JSON.stringify({
      ...list,
      proof: { ...options, proofValue: toMultibase(sign(edKey, concat(hash(options), hash(list)))) },
    })
  }
  const { credentialSubject: _2021, ...shell } = listOf([])
  const inVc = { vc: { ...shell, credentialSubject: listOf([7]).credentialSubject } }
  const asJwt = (payload: object) => forge({ alg: 'ES256K', typ: 'JWT' }, payload, ecKey)
  test.each([
    ['secp256k1', proved(listOf([7]))],
    [
      'secp256k1, with date and issuer as the Cloud Agent writes them',
      proved(listOf([7], { issuer: issuer.longForm, issuanceDate: 1_699_999_000 })),
    ],
    ['Ed25519 as the Cloud Agent signs', proved(listOf([7]), edKey)],
    ['Ed25519 as the specification signs', standard(listOf([7]))],
    ['a JWT of VC 1.1', asJwt({ iss: issuer.did, jti: url, nbf: now - 60, ...inVc })],
  ])('has a status in a StatusList2021: %s', async (_, text) => {
    expect(await reason(check(text))).toBe('not revoked')
    expect(
      await reason(
        check(text, entry({ statusListIndex: '5', statusPurpose: 'revocation' }), issuer.longForm),
      ),
    ).toBe('not revoked')
    expect(await reason(check(text, entry({ statusListIndex: 7 })))).toBe('the credential is revoked')
  })

  test('has a status in a StatusList2021: P-256', async () => {
    const key = generateKey('P-256')
    const method = {
      id: `${issuer.did}#p`,
      type: 'JsonWebKey',
      controller: issuer.did,
      publicKeyJwk: toPublic(key),
    }
    const document = { id: issuer.did, verificationMethod: [method], assertionMethod: [method.id] }
    const checks = { resolve: () => Promise.resolve(document), now }
    const text = proved(listOf([7]), key)
    const { proof, ...list } = JSON.parse(text)
    const at = (statusListIndex: number, list = text) =>
      reason(checkStatusList(list, entry({ statusListIndex }), { issuerDid: issuer.did }, checks))
    expect(await at(5)).toBe('not revoked')
    expect(await at(7)).toBe('the credential is revoked')
    expect(await at(5, proved(listOf([]), generateKey('P-256')))).toContain('not signed')
    expect(await at(5, JSON.stringify({ ...listOf([]), proof }))).toContain('not signed')
    const later = { ...proof, created: '2023-11-14T22:00:01Z' }
    expect(await at(5, JSON.stringify({ ...list, proof: later }))).toContain('not signed')
    expect(
      await at(5, JSON.stringify({ ...list, proof: { ...proof, cryptosuite: 'eddsa-jcs-2022' } })),
    ).toContain('not signed')
    // vc-di-ecdsa §3.3, computed without the agent's code.
    const hash = (value: object) => createHash('sha256').update(canonicalize(value)).digest()
    const { proofValue, ...options } = proof
    expect(proof).toMatchObject({ cryptosuite: 'ecdsa-jcs-2019', '@context': list['@context'] })
    expect(
      verifyBytes(
        'sha256',
        concat(hash(options), hash(list)),
        { key: createPublicKey({ key: toPublic(key), format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
        fromMultibase(proofValue),
      ),
    ).toBe(true)
  })

  test('has a status in a Bitstring Status List', async () => {
    for (const text of [bitstringOf([7]), bitstringOf([7], edKey, 'issue-2')]) {
      expect(await reason(check(text, bitstringEntry()))).toBe('not revoked')
      expect(await reason(check(text, bitstringEntry({ statusListIndex: '7' })))).toBe(
        'the credential is revoked',
      )
    }
  })

  test('of Bitstring Status List may have no id, and members in lists', async () => {
    const { id: _id, ...payload } = decodeJws(bitstringOf([7])).payload
    const { credentialSubject: subject } = payload as { credentialSubject: object }
    for (const change of [
      {},
      { credentialSubject: [subject] },
      { credentialSubject: { ...subject, type: ['BitstringStatusList'], statusPurpose: ['revocation'] } },
    ]) {
      const text = forge({ alg: 'ES256K' }, { ...payload, ...change }, ecKey)
      expect(await reason(check(text, bitstringEntry()))).toBe('not revoked')
      expect(await reason(check(text, bitstringEntry({ statusListIndex: '7' })))).toContain('is revoked')
    }
  })

  test('can be suspended', async () => {
    const text = proved(
      listOf([], { credentialSubject: { ...listOf([5]).credentialSubject, statusPurpose: 'Suspension' } }),
    )
    expect(await reason(check(text, entry({ statusPurpose: 'suspension' })))).toBe(
      'the credential is suspended',
    )
    await expect(check(text, entry({ statusPurpose: 'suspension' }))).rejects.toMatchObject({
      status: 'suspended',
    })
    expect(await reason(check(text))).toBe('the list has another purpose than revocation')
  })

  const good = JSON.parse(proved(listOf([5])))
  const goodEd = JSON.parse(proved(listOf([5]), edKey))
  const innocent = listOf([]).credentialSubject
  const tampered = (change: object, list: object = good) => JSON.stringify({ ...list, ...change })
  const malloryKey = mallory.keys['issue-1']?.jwk ?? mallory.keys['auth-1'].jwk
  const proof = (change: object) => ({ proof: { ...good.proof, ...change } })
  const forgeries: [name: string, why: string, text: string, status?: ReturnType<typeof entry>][] = [
    ['bits that were changed', 'not signed', tampered({ credentialSubject: innocent })],
    ['bits that were changed under Ed25519', 'not signed', tampered({ credentialSubject: innocent }, goodEd)],
    ['another’s key, which the proof shows', 'not signed', proved(listOf([]), malloryKey)],
    [
      'another’s list',
      'has another issuer than the credential',
      proved(listOf([], { issuer: mallory.did }), malloryKey),
    ],
    ['a holder’s key of the issuer', 'not signed', proved(listOf([]), issuer.keys['auth-1'].jwk)],
    ['another list of the issuer', 'has another id', proved(listOf([], { id: `${url}2` }))],
    ['a StatusList2021 without id', 'has another id', proved(listOf([], { id: undefined } as never))],
    ['no proof', 'is missing: it must be an object', tampered({ proof: undefined })],
    ['two proofs', 'must be an object', tampered({ proof: [good.proof, good.proof] })],
    ['a proof of another kind', 'type', tampered(proof({ type: 'Ed25519Signature2020' }))],
    ['a proof for something else', 'proofPurpose', tampered(proof({ proofPurpose: 'authentication' }))],
    ['an empty signature', 'not signed', tampered(proof({ jws: good.proof.jws.replace(/\.[^.]*$/, '.') }))],
    [
      'a signature over a payload of its own',
      'not a detached JWS',
      tampered(proof({ jws: forge({ alg: 'ES256K' }, 'x', ecKey) })),
    ],
    [
      'a header without crit',
      'crit',
      tampered(proof({ jws: good.proof.jws.replace(/^[^.]*/, toBase64url('{"alg":"ES256K"}')) })),
    ],
    ['a member that the quads leave out', 'not known here', tampered({ name: 'unsigned' })],
    [
      'a context that is not known',
      '@context',
      tampered({ '@context': ['https://www.w3.org/2018/credentials/v1', 'https://evil.example/v1'] }),
    ],
    ['a name twice', 'twice', proved(listOf([])).replace('{', '{"id":"https://elsewhere.example/",')],
    ['a proof that has expired', 'Valid until', tampered(proof({ expires: '2023-11-14T22:01:00Z' }))],
    [
      'a list that has expired',
      'Valid until',
      standard({ ...listOf([]), expirationDate: '2023-11-14T22:01:00Z' }),
    ],
    [
      'a list that has not begun',
      'Valid from',
      standard({ ...listOf([]), issuanceDate: '2023-11-15T22:01:00Z' }),
    ],
    ['an index that is not in it', '131072', proved(listOf([])), entry({ statusListIndex: listLength })],
    ['another type of list', 'not of the type', proved(listOf([])), bitstringEntry()],
    ['another type of list as JWT', 'not of the type', bitstringOf([])],
    [
      'a bomb',
      'longer than',
      proved(
        listOf([], {
          credentialSubject: { ...innocent, encodedList: toBase64url(gzipSync(Buffer.alloc(2 ** 26))) },
        }),
      ),
    ],
    ['not JSON', 'not JSON', '{"id":'],
    ['nothing', 'three parts', ''],
    ['a page', 'three parts', '<html>'],
    ['null', 'three parts', 'null'],
    ['a JWT by another', 'signature', bitstringOf([], malloryKey), bitstringEntry()],
    [
      'a JWT with two issuers',
      'is not its iss',
      forge({ alg: 'ES256K' }, { ...decodeJws(bitstringOf([])).payload, iss: mallory.did }, ecKey),
      bitstringEntry(),
    ],
    ['a JWT without signature', 'signature', bitstringOf([]).replace(/[^.]*$/, ''), bitstringEntry()],
    [
      'alg none',
      'alg',
      forge({ alg: 'none' }, decodeJws(bitstringOf([])).payload, () => new Uint8Array()),
      bitstringEntry(),
    ],
  ]
  test.each(forgeries)('is refused with %s', async (_, why, text, status = entry()) => {
    expect(await reason(check(text, status))).toContain(why)
    await failureOf(() => check(text, status))
  })

  test('is refused if the signer of the list is not a key of its issuer', async () => {
    const text = proved(listOf([]))
    const changed = (did: string) => Promise.resolve({ ...documentOf(issuer, did), assertionMethod: [] })
    expect(await failureOf(() => checkStatusList(text, entry(), issuerOf(), { resolve: changed, now }))).toBe(
      'status',
    )
    const away = () => Promise.reject(new Problem('error:ServiceUnavailable', 'the ledger is away'))
    await expect(checkStatusList(text, entry(), issuerOf(), { resolve: away, now })).rejects.toThrow(
      'the ledger is away',
    )
  })

  const issuerOf = () => ({ issuerDid: canonicalDid(issuer.longForm) })

  test.each([
    ['type', { type: 'RevocationList2020Status' }],
    ['type', { type: 'constructor' }],
    ['statusPurpose', { statusPurpose: 'fraud' }],
    ['statusPurpose', { statusPurpose: undefined }],
    ['statusListIndex', { statusListIndex: undefined }],
    ['statusListIndex', { statusListIndex: '' }],
    ['statusListIndex', { statusListIndex: '0x5' }],
    ['statusListCredential', { statusListCredential: undefined }],
    ['statusSize', { statusSize: 0 }],
  ])('is refused with an unsupported %s: %o', async (member, change) => {
    expect(await reason(Promise.resolve().then(() => entry(change)))).toContain(member)
    expect(await failureOf(() => entry(change))).toBe('status')
  })
})

test('the data URL of a proof contains the key, without characters that differ between base64 and base64url', () => {
  for (const key of [ecKey, edKey]) {
    const { proof } = JSON.parse(proved(listOf([]), key)) as { proof: { verificationMethod: string } }
    const [, data] = /^data:application\/json;base64,([A-Za-z0-9]+={0,2})$/.exec(proof.verificationMethod)!
    const method = JSON.parse(Buffer.from(data!, 'base64').toString())
    expect(method.publicKeyJwk?.x ?? method.publicKeyMultibase).toMatch(
      key === ecKey ? /^[\w-]{43}$/ : /^z6Mk/,
    )
  }
})
