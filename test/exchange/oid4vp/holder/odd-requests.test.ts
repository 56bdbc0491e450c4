/** Requests of verifiers that are odd, but have what the wallet needs: they can be answered. */
import { beforeEach, expect, test } from 'vitest'
import { acceptRequest, credentialQuery, receive, receiveDigital, startWallet } from './_holder.ts'
import { digitalParameters, openVerifier, shop, toUrl, unsigned } from './_verifier.ts'
import { untilEnd } from '../../../support/shared.ts'

const wallet = await untilEnd(startWallet())
const verifier = await untilEnd(openVerifier())
beforeEach(() => verifier.reset())

const nullMembers = {
  state: null,
  scope: null,
  redirect_uri: null,
  transaction_data: null,
  presentation_definition: null,
  presentation_definition_uri: null,
  client_metadata: null,
  verifier_info: null,
  exp: null,
  nbf: null,
  aud: null,
}

const oddQuery = {
  credentials: [
    {
      ...credentialQuery({
        claims: [{ id: null, path: ['name'], values: null, intent_to_retain: null }],
      }),
      multiple: null,
      trusted_authorities: null,
      require_cryptographic_holder_binding: null,
      claim_sets: null,
    },
  ],
  credential_sets: null,
}

test.each<[string, object]>([
  ['null', nullMembers],
  ['null in the query', { dcql_query: oddQuery }],
  [
    'of another type where only people need them',
    { client_metadata: { client_name: ['Shop'], logo_uri: 1 } },
  ],
  ['not those of this wallet', { client_metadata: 'Shop', verifier_info: 'a', unknown: [null] }],
])('a signed request whose members are %s', async (_, changes) => {
  await acceptRequest(wallet, verifier.offer(verifier.sign(changes)))
  expect(verifier.responses[0]!.has('state')).toBe(false)
})

test('a signed request for its own request_uri, as the library of the OpenWallet Foundation makes it', async () => {
  const url = verifier.offer(({ url: path }) => verifier.sign({ aud: verifier.url + path }))
  await acceptRequest(wallet, url)
})

test('an unsigned request with parameters that are null or without a value', async () => {
  const more = { client_metadata: null, verifier_info: null, dcql_query: oddQuery, exp: 1 }
  await receive(wallet.holder, toUrl(unsigned(verifier, more)))
  await receive(wallet.holder, `${toUrl(unsigned(verifier))}&request_uri=&request=&state=&client_metadata=`)
})

test('a request of the Digital Credentials API with members that are null', async () => {
  const data = digitalParameters({ ...nullMembers, dcql_query: oddQuery })
  await receiveDigital(wallet.holder, { protocol: 'openid4vp-v1-unsigned', data }, shop)
})

test.each<[string, object]>([
  ['without meta', { meta: undefined }],
  ['with empty lists', { claim_sets: [], trusted_authorities: [] }],
])('a query %s', async (_, changes) => {
  const query = { ...credentialQuery(), ...changes }
  const dcql_query = { credentials: [query], credential_sets: [] }
  await acceptRequest(wallet, verifier.offer(verifier.sign({ dcql_query })))
})

test('a query with an empty list of claims asks for none', async () => {
  const dcql_query = { credentials: [{ ...credentialQuery(), claims: [] }] }
  await acceptRequest(wallet, verifier.offer(verifier.sign({ dcql_query })))
  const [text] = (JSON.parse(verifier.responses[0]!.get('vp_token')!) as { person: string[] }).person
  expect(text!.split('~')).toHaveLength(2)
})

test.each([201, 202, 204])('a verifier that answers %i has the response', async (status) => {
  verifier.script.status = status
  await acceptRequest(wallet, verifier.offer(verifier.sign()))
  expect(verifier.responses).toHaveLength(1)
})

test('a verifier that redirects has refused the response', async () => {
  verifier.script.status = 303
  const { metaLastFailure } = await acceptRequest(
    wallet,
    verifier.offer(verifier.sign()),
    'ProblemReportReceived',
  )
  expect(metaLastFailure!.detail).toBe('The verifier answered 303.')
  expect(verifier.responses).toHaveLength(1)
})

test('a verifier that refuses the response says where the person continues', async () => {
  const redirect_uri = 'https://shop.example/failed'
  Object.assign(verifier.script, {
    status: 400,
    body: JSON.stringify({ error: 'invalid_request', redirect_uri }),
  })
  const { openid4vpRequest } = await acceptRequest(
    wallet,
    verifier.offer(verifier.sign()),
    'ProblemReportReceived',
  )
  expect(openid4vpRequest!.redirectUri).toBe(redirect_uri)
})

test.each([{}, { alg: 'ECDH-ES' }])(
  'an encrypted response, with %j in the key and keys and algorithms that this wallet does not have',
  async (alg) => {
    const jwk = { kty: 'EC', crv: 'P-256', use: 'enc', kid: 'a', ...alg }
    const { x, y } = verifier.key
    const client_metadata = {
      jwks: { keys: [null, { kty: 'AKP' }, { ...jwk, x, y, x5c: null }] },
      encrypted_response_enc_values_supported: [null, 1, 'A256GCM'],
      vp_formats_supported: null,
    }
    const changes = { response_mode: 'direct_post.jwt', client_metadata }
    await acceptRequest(wallet, verifier.offer(verifier.sign(changes)))
    expect([...verifier.responses[0]!.keys()]).toEqual(['response'])
  },
)
