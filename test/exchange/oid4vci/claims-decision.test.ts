/** When a claims source is asked again, and which claims it is asked for. */
import { describe, expect, test } from 'vitest'
import { toDecision } from '../../../src/exchange/oid4vci/claims-decision.ts'
import {
  checkOrigins,
  mergeClaims,
  ofPart,
  originsOf,
  withAnswer,
} from '../../../src/exchange/oid4vci/claims-origins.ts'
import type { CredentialRecord } from '../../../src/exchange/issuance/model.ts'
import type { SourceProgress } from '../../../src/exchange/issuance/requested.ts'

const day = 86_400
const down = { kind: 'unavailable' as const, reason: 'The claims source answered 503.', seconds: 0 }

/** The seconds until the next question, or the kind of the decision. */
function next(claimsSource: SourceProgress | undefined, answer: Parameters<typeof toDecision>[1] = down) {
  const record = { id: 'record', claimsSource } as CredentialRecord
  const decision = toDecision(record, answer, { fails: false, retryFor: day })
  if (decision.kind !== 'deferred') throw new Error(decision.kind)
  const { askAtMs } = decision.change.claimsSource
  const seconds = askAtMs === undefined ? undefined : Math.round((askAtMs - Date.now()) / 1_000)
  return { seconds, ...decision.change }
}

describe('a source that does not answer', () => {
  test('is asked again after 1, 2, 4 … 60 minutes', () => {
    let progress: SourceProgress | undefined
    const minutes = Array.from({ length: 9 }, () => {
      const { seconds, claimsSource } = next(progress)
      progress = claimsSource
      return seconds! / 60
    })
    expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  test('is asked no more after a day, but when the tenant says so', () => {
    const since = Date.now() - 23.5 * 3_600_000
    const { seconds, claimsSource, metaLastFailure } = next({ since, failure: { since, count: 30 } })
    expect([seconds, claimsSource]).toEqual([undefined, { since }])
    expect(metaLastFailure).toMatchObject({
      type: 'ClaimsSourceUnavailable',
      detail: expect.stringMatching(/answered 503\. .*agent credential issue record/),
    })
  })

  test('is given the time that it names', () => {
    expect(next(undefined, { ...down, seconds: 1_800 }).seconds).toBe(1_800)
  })

  test('begins again with a minute after it has answered', () => {
    const { claimsSource } = next(
      { since: 1, failure: { since: Date.now(), count: 7 } },
      { kind: 'later', seconds: 9 },
    )
    expect(claimsSource).not.toHaveProperty('failure')
  })
})

test('a source can defer for 30 days in all', () => {
  const later = { kind: 'later' as const, seconds: 20 * day }
  const since = Date.now() - 25 * day * 1_000
  expect(next(undefined, later).seconds).toBe(20 * day)
  expect(next({ since }, later).seconds).toBe(5 * day)
  expect(next({ since: Date.now() - 31 * day * 1_000 }, later)).toMatchObject({ seconds: undefined })
})

const configuration = (claims: object[], document: object | null = null, settings: object[] = []) => ({
  claims: JSON.stringify(claims.map((claim) => ({ mandatory: false, ...claim }))),
  document: document && JSON.stringify(document),
  settings: settings.length === 0 ? null : JSON.stringify({ claims: settings }),
})

/** The claims that are asked for, by their paths in the credential. */
const wantedBy = (...given: Parameters<typeof originsOf>) =>
  originsOf(...given).wanted.map(({ path }) => path)

test('the offer comes before the log-in, and the log-in before the source', () => {
  const all = configuration([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  const identity = { claims: { a: 'log-in', b: 'log-in', other: 'log-in' } }
  expect(originsOf(all, { offered: { a: 'offer' }, identity })).toEqual({
    known: { a: 'offer', b: 'log-in' },
    wanted: [{ path: ['c'], as: ['c'] }],
  })
})

test('the claims of a document are asked for by namespace, as its schema has them', () => {
  const claims = [
    { name: 'given_name', namespace: 'org.iso' },
    { name: 'age', namespace: 'org.iso' },
  ]
  const document = { docType: 'mDL', encodings: [] }
  const offered = { 'org.iso': { given_name: 'Alice' } }
  const grouped = configuration(claims, document)
  expect(wantedBy(grouped, { offered })).toEqual([['org.iso', 'age']])
  expect(originsOf(grouped, { offered, identity: { claims: { age: 7 } } }).known).toEqual({
    'org.iso': { given_name: 'Alice', age: 7 },
  })
  const flat = configuration(claims, {
    ...document,
    namespaces: { given_name: 'org.iso', age: 'org.iso' },
  })
  expect(wantedBy(flat, { offered: { given_name: 'Alice' } })).toEqual([['age']])
})

describe('settings with an origin decide', () => {
  const names = ['country', 'name', 'phones', 'note', 'photo'].map((name) => ({ name }))
  const settings = [
    { path: ['country'], value: 'DE' },
    { path: ['name'], from: 'log-in', as: ['profile', 'name'] },
    { path: ['phones', null], from: 'source', as: ['contact', 'phone'] },
    { path: ['note'], labels: { en: 'Note' } },
    { path: ['photo'], from: 'presentation' },
  ]
  const decided = configuration(names, null, settings)

  test('and the claims of others are not asked for', () => {
    const identity = { claims: { name: 'not this', profile: { name: 'Alice' }, note: 'nor this' } }
    const { known, wanted } = originsOf(decided, { offered: {}, identity })
    expect(known).toEqual({ country: 'DE', name: 'Alice' })
    expect(wanted).toEqual([{ path: ['phones'], as: ['contact', 'phone'] }])
    expect(withAnswer(known, { contact: { phone: ['1'] } }, wanted)).toEqual({ ...known, phones: ['1'] })
  })

  test('and an offer must not have such a claim', () => {
    expect(() => checkOrigins(decided, { note: 'mine' })).not.toThrow()
    for (const offered of [{ country: 'FR' }, { name: 'Eve' }, { phones: [] }, { photo: '' }])
      expect(() => checkOrigins(decided, offered)).toThrow(/claims\.\w+: the configuration says where/)
  })

  test('for elements of documents too', () => {
    const claims = [{ name: 'age', namespace: 'org.iso' }]
    const origin = [{ path: ['org.iso', 'age'], from: 'source' }]
    const document = { docType: 'mDL', encodings: [] }
    expect(wantedBy(configuration(claims, document, origin), { offered: {} })).toEqual([['org.iso', 'age']])
    const flat = { ...document, namespaces: { age: 'org.iso' } }
    expect(wantedBy(configuration(claims, flat, origin), { offered: {} })).toEqual([['age']])
  })

  test('but labels alone decide nothing', () => {
    const labelled = configuration(names, null, [{ path: ['note'], labels: { en: 'Note' } }])
    expect(wantedBy(labelled, { offered: {} })).toHaveLength(5)
  })
})

test('claims are joined by member, and none reaches a prototype', () => {
  const one = JSON.parse('{"a":{"b":1},"__proto__":{"c":1}}')
  const all = mergeClaims(one, JSON.parse('{"a":{"d":[2]},"__proto__":{"e":2}}'))
  expect(JSON.stringify(all)).toBe('{"a":{"b":1,"d":[2]},"__proto__":{"c":1,"e":2}}')
  expect({}).not.toHaveProperty('e')
})

test('a schema for a part requires nothing, at any level, and keeps a property named required', () => {
  const schema = {
    required: ['a'],
    properties: { a: { required: ['b'], properties: { required: { type: 'string' } } } },
  }
  expect(ofPart(schema)).toEqual({ properties: { a: { properties: { required: { type: 'string' } } } } })
})
