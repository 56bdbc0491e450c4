/** The form of DCQL queries: those of the specification, and faults by the member that has them. */
import { readdirSync } from 'node:fs'
import { DcqlQuery as Peer } from 'dcql'
import { expect, test } from 'vitest'
import { dcqlLimits, DcqlQuery, RequestedDcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { readQuery } from './_queries.ts'

const names = readdirSync(new URL('../../../fixtures/openid/dcql', import.meta.url))

test.each(names)('reads the query of the specification in %s', async (name) => {
  const query = await readQuery(name)
  expect(DcqlQuery.parse(query)).toEqual(query)
  expect(() => Peer.validate(Peer.parse(query as Peer.Input))).not.toThrow()
})

const credential = { id: 'a', format: 'dc+sd-jwt', meta: { vct_values: ['urn:a'] } }

test.each<[string, object, string]>([
  ['no credentials', { credentials: [] }, 'credentials'],
  ['a repeated id', { credentials: [credential, credential] }, 'credentials.1.id'],
  ['an id with a space', { credentials: [{ ...credential, id: 'a b' }] }, 'credentials.0.id'],
  ['no meta', { credentials: [{ id: 'a', format: 'dc+sd-jwt' }] }, 'credentials.0.meta'],
  [
    'an empty path',
    { credentials: [{ ...credential, claims: [{ path: [] }] }] },
    'credentials.0.claims.0.path',
  ],
  [
    'a negative index',
    { credentials: [{ ...credential, claims: [{ path: ['a', -1] }] }] },
    'credentials.0.claims.0.path.1',
  ],
  [
    'a fraction as value',
    { credentials: [{ ...credential, claims: [{ path: ['a'], values: [1.5] }] }] },
    'credentials.0.claims.0.values.0',
  ],
  [
    'claim sets without claims',
    { credentials: [{ ...credential, claim_sets: [['a']] }] },
    'credentials.0.claim_sets',
  ],
  [
    'claim sets and a claim without id',
    { credentials: [{ ...credential, claims: [{ path: ['a'] }], claim_sets: [['a']] }] },
    'credentials.0.claims.0.id',
  ],
  [
    'an unknown claim in a set',
    { credentials: [{ ...credential, claims: [{ id: 'x', path: ['a'] }], claim_sets: [['y']] }] },
    'credentials.0.claim_sets.0.0',
  ],
  [
    'an unknown credential in a set',
    { credentials: [credential], credential_sets: [{ options: [['a'], ['a', 'b']] }] },
    'credential_sets.0.options.1.1',
  ],
])('refuses %s', (_, query, member) => {
  const { error } = DcqlQuery.safeParse(query)
  expect(error?.issues.map(({ path }) => path.join('.'))).toContain(member)
})

test('refuses a query above the limits', () => {
  const many = Array.from({ length: dcqlLimits.credentials + 1 }, (_, index) => ({
    ...credential,
    id: `a${index}`,
  }))
  const long = Array.from({ length: dcqlLimits.path + 1 }, () => null)
  const deep = [{ ...credential, claims: [{ path: long }] }]
  const claims = Array.from({ length: dcqlLimits.claims + 1 }, (_, index) => ({ path: [`a${index}`] }))
  for (const credentials of [many, deep, [{ ...credential, claims }]])
    expect(DcqlQuery.safeParse({ credentials }).success).toBe(false)
})

test('refuses more claims in all credentials than the limit', () => {
  const claimsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ path: [`a${index}`] }))
  const ask = (...counts: number[]) => ({
    credentials: counts.map((count, index) => ({ ...credential, id: `c${index}`, claims: claimsOf(count) })),
  })
  const full = Array.from({ length: dcqlLimits.allClaims / 100 }, () => 100)
  expect(DcqlQuery.safeParse(ask(...full)).success).toBe(true)
  const { error } = DcqlQuery.safeParse(ask(...full, 1))
  expect(error?.issues).toMatchObject([
    { path: ['credentials'], message: 'name 501 claims, and a query may name 500' },
  ])
})

test.each<[string, object, string]>([
  ['a format that cannot be verified', { format: 'ldp_vc', meta: { type_values: [['a']] } }, 'format'],
  ['an SD-JWT VC of any type', { meta: {} }, 'meta.vct_values'],
  ['a JWT of any type', { format: 'jwt_vc_json', meta: {} }, 'meta.type_values'],
  ['a claim twice', { claims: [{ path: ['a', 0] }, { path: ['a', 0] }] }, 'claims.1.path'],
  [
    'authorities that cannot be checked',
    { trusted_authorities: [{ type: 'etsi_tl', values: ['https://a.example'] }] },
    'trusted_authorities.0.type',
  ],
])('a verifier does not request %s, which a wallet reads', (_, change, member) => {
  const query = { credentials: [{ ...credential, ...change }] }
  expect(DcqlQuery.safeParse(query).success).toBe(true)
  const { error } = RequestedDcqlQuery.safeParse(query)
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([`credentials.0.${member}`])
})
