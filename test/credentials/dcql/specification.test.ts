/**
 * The queries of OpenID4VP 1.0 have the results that the specification documents, here and with the package
 * `dcql`.
 */
import { expect, test } from 'vitest'
import type { DcqlCredential } from '../../../src/credentials/dcql/match.ts'
import { selectCredentials } from './_select.ts'
import { DcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { askPeer, expectAsPeer } from './_peer.ts'
import { queryOf } from './_queries.ts'

const names = { given_name: 'Arthur', family_name: 'Dent' }
const address = { street_address: '42 Market Street', locality: 'Milliways', postal_code: '90210' }

const sdJwt = (vct: string, claims: object): DcqlCredential => ({
  format: 'dc+sd-jwt',
  types: [vct],
  claims: { vct, ...claims },
  isBound: true,
})
const person = (claims: object) => sdJwt('https://credentials.example.com/identity_credential', claims)
const pid = person({ ...names, address })
const otherPid = sdJwt('https://othercredentials.example/pid', { ...names, address })
const reduced = sdJwt('https://credentials.example.com/reduced_identity_credential', names)
const residence = sdJwt('https://cred.example/residence_credential', { ...address, region: 'M' })
const rewards = sdJwt('https://company.example/company_rewards', { rewards_number: 7 })

/** The content of `examples/credentials/jwt_vc.json` (Appendix B.1.3.1.1). */
const types = ['VerifiableCredential', 'IDCredential']
const jwt: DcqlCredential = {
  format: 'jwt_vc_json',
  types,
  claims: { type: types, credentialSubject: { given_name: 'Max', family_name: 'Mustermann' } },
  isBound: true,
}

/**
 * The ids of the credential queries to answer, each with the claims to disclose. Undefined if the query
 * cannot be answered.
 */
function answerOf(query: DcqlQuery, held: DcqlCredential[]) {
  expectAsPeer(query, held)
  const { answer, candidates } = selectCredentials(query, held)
  return answer?.map((id) => [id, candidates[id]![0]!.paths!.map((path) => path.join('.'))])
}

const name = ['given_name', 'family_name', 'address.street_address']

test.each<[string, string, DcqlCredential[], unknown[] | undefined]>([
  // §6.4.3 and §8.1.1
  [
    'simple',
    'the credential of the response',
    [reduced, pid],
    [['my_credential', ['family_name', 'given_name', 'address.street_address']]],
  ],
  ['simple', 'a credential of another type', [otherPid], undefined],
  ['simple', 'a credential without a claim', [person(names)], undefined],
  // Appendix B.1.3.1
  [
    'dcql_jwt_vc',
    'the credential of the example',
    [jwt],
    [['example_jwt_vc', ['credentialSubject.family_name', 'credentialSubject.given_name']]],
  ],
  // Appendix D: "the `pid` Credential, or the `other_pid` Credential, or both", and optionally `nice_to_have`
  ['credentials_alternatives', 'the first option', [pid, otherPid], [['pid', name]]],
  ['credentials_alternatives', 'the second option', [otherPid], [['other_pid', name]]],
  [
    'credentials_alternatives',
    'both credentials of the third option',
    [reduced, residence],
    [
      ['pid_reduced_cred_1', ['family_name', 'given_name']],
      ['pid_reduced_cred_2', ['postal_code', 'locality', 'region']],
    ],
  ],
  ['credentials_alternatives', 'one credential of the third option', [reduced], undefined],
  [
    'credentials_alternatives',
    'the optional credential',
    [pid, rewards],
    [
      ['pid', name],
      ['nice_to_have', ['rewards_number']],
    ],
  ],
  ['credentials_alternatives', 'the optional credential alone', [rewards], undefined],
  // Appendix D: "the mandatory claims `family_name` and `date_of_birth`, and either the claim `postal_code`,
  // or … both"
  [
    'claims_alternatives',
    'locality and region',
    [person({ ...names, date_of_birth: '1', locality: 'a', region: 'b' })],
    [['pid', ['family_name', 'locality', 'region', 'date_of_birth']]],
  ],
  [
    'claims_alternatives',
    'the postal code',
    [person({ ...names, date_of_birth: '1', postal_code: '1', locality: 'a' })],
    [['pid', ['family_name', 'postal_code', 'date_of_birth']]],
  ],
  [
    'claims_alternatives',
    'no mandatory claim',
    [person({ ...names, postal_code: '1', locality: 'a', region: 'b' })],
    undefined,
  ],
])('%s: %s', async (query, _, held, expected) => {
  expect(answerOf(await queryOf(query), held)).toEqual(expected)
})

test('value_matching_simple: credentials with the specific values', async () => {
  const query = await queryOf('value_matching_simple')
  const postalCodes = ['90210', '90211', '1', 90210]
  const answers = postalCodes.map((postal_code) =>
    answerOf(query, [person({ ...names, family_name: 'Doe', address, postal_code })]),
  )
  const answer = [['my_credential', ['family_name', 'given_name', 'address.street_address', 'postal_code']]]
  expect(answers).toEqual([answer, answer, undefined, undefined])
})

/** Formats that this wallet does not hold. */
test.each(['simple_mdoc', 'complex_mdoc', 'dcql_ldp_vc', 'multi_credentials'])(
  '%s is not answered',
  async (name) => {
    const query = await queryOf(name)
    expect(answerOf(query, [pid, jwt])).toBeUndefined()
  },
)

/** The package accepts a credential of such an authority; this wallet cannot check them, and answers nothing. */
test.each([
  ['etsi_tl', 'https://lotl.example.com'],
  ['openid_federation', 'https://trustanchor.example.com'],
])('trusted authorities of the type %s match no credential', async (type, value) => {
  const { credentials } = await queryOf('simple')
  const authorities = [{ type, values: [value] }]
  const query = DcqlQuery.parse({ credentials: [{ ...credentials[0]!, trusted_authorities: authorities }] })
  expect(answerOf(query, [pid])).toBeUndefined()
  expect(askPeer(query, [pid]).can_be_satisfied).toBe(false)
})
