/** The credentials that answer queries, compared with those that the package `dcql` finds. */
import { expect, test } from 'vitest'
import { type DcqlCredential, matchCredential } from '../../../src/credentials/dcql/match.ts'
import { selectClaims, selectDisclosures } from '../../../src/credentials/dcql/path.ts'
import { DcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { findSetFault } from '../../../src/credentials/dcql/select.ts'
import { selectCredentials } from './_select.ts'
import { askPeer, expectAsPeer } from './_peer.ts'
import { queryOf } from './_queries.ts'

const identity = 'https://credentials.example.com/identity_credential'
const reduced = 'https://credentials.example.com/reduced_identity_credential'
const residence = 'https://cred.example/residence_credential'
const rewards = 'https://company.example/company_rewards'

const sdJwt = (vct: string, claims: object, change: Partial<DcqlCredential> = {}): DcqlCredential => ({
  format: 'dc+sd-jwt',
  types: [vct],
  claims: { vct, ...claims },
  isBound: true,
  ...change,
})
const names = { given_name: 'John', family_name: 'Doe' }
const address = { street_address: '1 Way', locality: 'Town', region: 'R', postal_code: '90210' }

/** All combinations of these are presented to the queries. */
const held: DcqlCredential[] = [
  sdJwt(identity, { ...names, ...address, address, date_of_birth: '1990-01-01' }),
  sdJwt(identity, { ...names, postal_code: 90210, address, date_of_birth: '1990-01-01' }),
  sdJwt(identity, { ...names, address }, { isBound: false }),
  sdJwt(reduced, names),
  sdJwt(residence, address),
  sdJwt(rewards, { rewards_number: 7, address }),
  {
    format: 'jwt_vc_json',
    types: ['VerifiableCredential', 'IDCredential'],
    claims: {
      type: ['VerifiableCredential', 'IDCredential'],
      credentialSubject: { id: 'did:a:b', ...names },
    },
    isBound: true,
  },
]

const queries = [
  'claims_alternatives',
  'credentials_alternatives',
  'dcql_jwt_vc',
  'multi_credentials',
  'simple',
  'value_matching_simple',
]

test.each(queries)('finds the same credentials for %s as the package dcql', async (name) => {
  const query = await queryOf(name)
  for (let chosen = 1; chosen < 2 ** held.length; chosen++)
    expectAsPeer(
      query,
      held.filter((_, index) => chosen & (1 << index)),
    )
})

test('finds the same credentials by authority as the package dcql', async () => {
  const query = await queryOf('simple')
  const authority = { type: 'aki', values: ['s9tIpPmhxdiuNkHMEWNpYim8S8Y'] }
  const trusting = DcqlQuery.parse({
    credentials: [{ ...query.credentials[0]!, trusted_authorities: [authority] }],
  })
  const ids = [undefined, [], ['b3RoZXI'], ['b3RoZXI', 's9tIpPmhxdiuNkHMEWNpYim8S8Y']]
  const credentials = ids.map((authorityKeyIds) =>
    sdJwt(identity, { ...names, address }, { authorityKeyIds }),
  )
  expect(selectCredentials(trusting, credentials).candidates['my_credential']).toMatchObject([{ index: 3 }])
  for (const each of credentials.filter(({ authorityKeyIds }) => authorityKeyIds?.length !== 0))
    expect(matchCredential(each, trusting.credentials[0]!).isMatch).toBe(
      askPeer(trusting, [{ ...each, authorityKeyIds: each.authorityKeyIds?.slice(-1) }]).can_be_satisfied,
    )
})

test('selects the first claim set that a credential satisfies', async () => {
  const query = await queryOf('claims_alternatives')
  const paths = (claims: object) =>
    selectCredentials(query, [sdJwt(identity, claims)]).candidates['pid']![0]?.paths
  const all = { family_name: 'Doe', postal_code: '1', locality: 'a', region: 'b', date_of_birth: 'c' }
  expect(paths(all)).toEqual([['family_name'], ['locality'], ['region'], ['date_of_birth']])
  const { locality: _, ...rest } = all
  expect(paths(rest)).toEqual([['family_name'], ['postal_code'], ['date_of_birth']])
  const { postal_code: __, ...none } = rest
  expect(paths(none)).toBeUndefined()
})

test('answers the first option of each credential set that is complete', async () => {
  const query = await queryOf('credentials_alternatives')
  const answer = (...credentials: DcqlCredential[]) => selectCredentials(query, credentials).answer
  expect(answer(held[0]!, held[5]!)).toEqual(['pid', 'nice_to_have'])
  expect(answer(held[3]!, held[4]!)).toEqual(['pid_reduced_cred_1', 'pid_reduced_cred_2'])
  expect(answer(held[3]!, held[5]!)).toBeUndefined()
})

test.each<[string, (string | number | null)[], unknown[] | undefined]>([
  ['a member', ['name'], ['Arthur Dent']],
  ['a nested member', ['address', 'street_address'], ['42 Market Street']],
  ['a member that is null', ['nothing'], [null]],
  ['all elements', ['degrees', null, 'type'], ['Bachelor of Science', 'Master of Science']],
  ['one element', ['nationalities', 1], ['Betelgeusian']],
  ['an element that does not exist', ['nationalities', 2], undefined],
  ['an element of an object', ['address', 0], undefined],
  ['all elements of a text', ['name', null], undefined],
  ['a member of an array', ['degrees', 'type'], undefined],
  ['an inherited member', ['constructor'], undefined],
])('a path selects %s', (_, path, selected) => {
  const credential = {
    name: 'Arthur Dent',
    nothing: null,
    address: { street_address: '42 Market Street' },
    degrees: [
      { type: 'Bachelor of Science', university: 'University of Betelgeuse' },
      { type: 'Master of Science' },
    ],
    nationalities: ['British', 'Betelgeusian'],
  }
  expect(selectClaims(credential, path)).toEqual(selected)
})

test('elements that are not disclosed keep the indexes of the others', () => {
  const second: string[] = []
  second[1] = 'second'
  expect(selectClaims({ a: second }, ['a', 1])).toEqual(['second'])
  expect(selectClaims({ a: second }, ['a', 0])).toBeUndefined()
  expect(selectClaims({ a: second }, ['a', null])).toEqual(['second'])
  expect(selectClaims({ a: Array(2) }, ['a', null])).toBeUndefined()
})

test('a credential with many elements is compared with few paths, or refused', () => {
  const list = Array.from({ length: 18_000 }, (_, index) => `text ${index}`)
  const claims = (paths: (string | number | null)[][]) => ({
    credentials: [
      {
        id: 'a',
        format: 'dc+sd-jwt',
        meta: {},
        claims: paths.map((path, index) => ({ path, values: [`text ${index}`] })),
      },
    ],
  })
  const match = (paths: (string | number | null)[][], all: object = { list }) =>
    selectCredentials(DcqlQuery.parse(claims(paths)), [sdJwt(identity, all)]).answer
  const times = <Item>(count: number, toItem: (index: number) => Item) =>
    Array.from({ length: count }, (_, index) => toItem(index))
  expect(match(times(100, () => ['list', null]))).toEqual(['a'])
  const several = times(100, (index) => ['list', null, `${index}`])
  expect(() => match(several)).toThrow('too many elements')
  expect(match(several, { list: times(100, () => ({ 0: 'text 0' })) })).toBeUndefined()

  const disclosed = times(3_000, (index) => ({ path: ['list', String(index)] }))
  expect(selectDisclosures(disclosed, [['list', 7]])).toEqual([{ path: ['list', '7'] }])
  expect(() => selectDisclosures(disclosed, several)).toThrow('too many elements')
})

test('names the member that a credential does not match', async () => {
  const [query] = (await queryOf('value_matching_simple')).credentials
  const reason = (credential: DcqlCredential) => {
    const match = matchCredential(credential, query!)
    return match.isMatch ? undefined : match.reason
  }
  const claims = { ...names, address, postal_code: '90210' }
  expect(reason(sdJwt(identity, claims))).toBeUndefined()
  expect(reason(sdJwt(reduced, claims))).toBe(`meta.vct_values: its type is ${reduced}`)
  // A later version of the type.
  expect(reason(sdJwt(`${identity}/v2`, { ...claims, aka_vcts: [identity] }))).toBeUndefined()
  expect(reason(sdJwt('urn:b', { ...claims, aka_vcts: ['urn:c', 1] }))).toBe(
    'meta.vct_values: its types are urn:b, urn:c',
  )
  expect(reason(sdJwt(identity, claims, { isBound: false }))).toMatch(/^require_cryptographic_holder_binding/)
  expect(reason(sdJwt(identity, { ...claims, address: {} }))).toBe(
    'claims: address.street_address is missing',
  )
  expect(reason(sdJwt(identity, { ...claims, postal_code: 90210 }))).toBe(
    'claims: postal_code has another value',
  )
  expect(reason(held[6]!)).toBe('format: it is jwt_vc_json')
  const claim = { path: ['list', 1], values: ['b'] }
  const [indexed] = DcqlQuery.parse({ credentials: [{ ...query, claims: [claim] }] }).credentials
  for (const [list, why] of [
    [['b'], 'is missing'],
    [['b', 'a'], 'has another value'],
  ] as const)
    expect(matchCredential(sdJwt(identity, { list }), indexed!)).toMatchObject({
      reason: `claims: list[1] ${why}`,
    })
})

test('finds the fault of a set of presentations', async () => {
  const query = await queryOf('credentials_alternatives')
  expect(findSetFault(query, { pid: 1 })).toBeUndefined()
  expect(findSetFault(query, { pid_reduced_cred_1: 1, pid_reduced_cred_2: 1 })).toBeUndefined()
  expect(findSetFault(query, { pid: 2 })).toBe('pid has 2 presentations instead of one')
  expect(findSetFault(query, { pid: 0 })).toBe('pid has no presentation')
  expect(findSetFault(query, { pid: 1, other: 1 })).toBe('other is not an id of a requested credential')
  expect(findSetFault(query, { pid_reduced_cred_1: 1 })).toBe('no option of credential_sets.0 is complete')
  expect(findSetFault(query, { nice_to_have: 1 })).toBe('no option of credential_sets.0 is complete')
  expect(findSetFault(await queryOf('multi_credentials'), { pid: 1 })).toBe('mdl is missing')
  const several = DcqlQuery.parse({ credentials: [{ ...query.credentials[0]!, multiple: true }] })
  expect(findSetFault(several, { pid: 3 })).toBeUndefined()
})
