/** Token Status Lists: the published vectors, another implementation on each side, and lists that are refused. */
import { deflateSync, inflateSync } from 'node:zlib'
import { createHeaderAndPayload, getListFromStatusListJWT, StatusList } from '@sd-jwt/jwt-status-list'
import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64url } from '../../../src/foundation/bytes.ts'
import {
  checkTokenStatus,
  compressStatuses,
  readStatus,
  signTokenStatusList,
  type StatusBits,
} from '../../../src/credentials/codecs/token-status-list.ts'
import { signJws } from '../../../src/credentials/codecs/jws.ts'
import { named, readPublished, type PublishedVector } from '../../support/vectors.ts'
import { failureOf, issuer, mallory, now, resolve } from './_people.ts'

type Vector = PublishedVector & { bits: StatusBits; lst: string; statuses: [number, number][] }
const { vectors } = readPublished('token-status-list') as { vectors: Vector[] }
const length = 2 ** 20

test('a list of ten million entries is read, unless the setting allows less', () => {
  const lst = toBase64url(compressStatuses([[9_999_999, 1]], 1, 10_000_000))
  expect(readStatus({ bits: 1, lst }, 9_999_999)).toBe(1)
  expect(() => readStatus({ bits: 1, lst }, 0, 1_000_000)).toThrow('longer than 1000000 bytes')
})

test.each(named(vectors))('%s of the draft is read and written', (_, { bits, lst, statuses }) => {
  for (const [index, value] of statuses) expect(readStatus({ bits, lst }, index), `${index}`).toBe(value)
  const written = compressStatuses(statuses, bits, length)
  expect(inflateSync(written).equals(inflateSync(fromBase64(lst)))).toBe(true)
})

const url = 'https://status.example/lists/1'
const key = issuer.keys['issue-1'].jwk
const content = {
  url,
  issuer: issuer.did,
  kid: `${issuer.did}#issue-1`,
  key,
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
const list = signTokenStatusList(content)
const check = (idx: number, text = list, uri = url) =>
  checkTokenStatus(text, { idx, uri }, { issuerDid: issuer.did }, { resolve, now })

describe('a credential', () => {
  test('is valid, revoked or suspended', async () => {
    await check(0)
    await expect(check(1)).rejects.toMatchObject({ status: 'revoked' })
    await expect(check(2)).rejects.toMatchObject({ status: 'suspended' })
    await expect(check(3)).rejects.toThrow('the status 3 of the credential is not known')
  })

  test('has the same status in the other implementation, and in a list of it', async () => {
    const theirs = getListFromStatusListJWT(list)
    expect([0, 1, 2, 3].map((index) => theirs.getStatus(index))).toEqual([0, 1, 2, 3])
    const { payload } = createHeaderAndPayload(
      new StatusList([0, 1, 0, 0, 0, 0, 0, 0], 1),
      { iss: issuer.did, sub: url, iat: now },
      {
        alg: 'ES256K',
        typ: 'statuslist+jwt',
      },
    )
    const signed = signJws({ typ: 'statuslist+jwt', kid: content.kid }, payload, key)
    await check(0, signed)
    await expect(check(1, signed)).rejects.toMatchObject({ status: 'revoked' })
  })

  const payload = JSON.parse(Buffer.from(fromBase64(list.split('.')[1]!)).toString()) as Record<
    string,
    unknown
  >
  const changed = (change: object, by = key, typ = 'statuslist+jwt') =>
    signJws({ typ }, { ...payload, ...change }, by)
  const lstOf = (bytes: Uint8Array) => ({ status_list: { bits: 1, lst: toBase64url(bytes) } })
  test.each([
    ['another sub', 'status', changed({ sub: `${url}2` })],
    ['another issuer', 'status', changed({ iss: mallory.did })],
    ['the signature of another', 'signature', changed({}, mallory.keys['auth-1'].jwk)],
    ['a key that authenticates', 'signature', changed({}, issuer.keys['auth-1'].jwk)],
    ['another type', 'status', changed({}, key, 'JWT')],
    ['an end in the past', 'expired', changed({ exp: now - 100 })],
    ['a start in the future', 'not-yet-valid', changed({ iat: now + 100 })],
    ['no iat', 'malformed', changed({ iat: undefined })],
    ['three bits', 'malformed', changed({ status_list: { bits: 3, lst: '' } })],
    ['no zlib', 'status', changed(lstOf(new Uint8Array(9)))],
    ['a bomb', 'status', changed(lstOf(deflateSync(Buffer.alloc(2 ** 26))))],
    ['too few entries', 'status', changed(lstOf(compressStatuses([], 1, 0)))],
  ])('is refused if the list has %s', async (_name, code, text) => {
    expect(await failureOf(() => check(0, text))).toBe(code)
  })

  test.each([
    ['an index beyond the list', [[64, 1]]],
    ['a value of more bits', [[0, 4]]],
  ] as const)('cannot have %s', (_name, entries) => {
    expect(() => compressStatuses(entries, 2, 64)).toThrow(RangeError)
  })
})
