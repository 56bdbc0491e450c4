/** Tokens that must not be accepted: each gets 401 with a reason, `WWW-Authenticate`, and nothing else. */
import { generateKeyPairSync } from 'node:crypto'
import { exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { accepting, audience, bearer, startIssuer } from './_issuer.ts'
import { untilEnd } from '../../support/shared.ts'

const issuer = await untilEnd(startIssuer())
issuer.state.keys.unshift(...(await badKeys()))
const agent = await untilEnd(
  startAgent({ ...accepting(issuer), OIDC_CLOCK_LEEWAY: '30', OIDC_KEYS_REFRESH: '1h' }),
)
const walletId = (await agent.admin('POST /wallets', { body: { name: 'alice' } })).id
await agent.admin('POST /wallets/{walletId}/uma-permissions', {
  path: { walletId },
  body: { subject: 'alice' },
})

/** Published beside the key that signs. The library throws errors of other classes than its own for each. */
async function badKeys(): Promise<JWK[]> {
  const [good] = issuer.state.keys as [JWK]
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  return [
    { ...publicKey.export({ format: 'jwk' }), kid: 'weak', alg: 'RS256' },
    { ...good, y: good.x!, kid: 'off the curve' },
    { ...good, y: undefined, kid: 'half' } as unknown as JWK,
    { ...good, kid: 'odd', key_ops: ['sign', 'verify'] },
  ]
}

const read = (token: string) => ask(agent, 'GET /connections', { headers: bearer(token) })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a valid token is accepted, also as the scheme in another case', async () => {
  const token = await issuer.sign()
  expect((await read(token)).status).toBe(200)
  const headers = { authorization: `bearer  ${token}` }
  expect((await ask(agent, 'GET /connections', { headers })).status).toBe(200)
})

type Make = () => Promise<string> | string
const attacks: Record<string, [reason: RegExp, make: Make]> = {
  expired: [/has expired/, () => issuer.sign({ exp: issuer.now() - 31 })],
  'without an end': [/has no claim exp/, () => issuer.sign({ exp: undefined })],
  'not valid yet': [/is not valid yet/, () => issuer.sign({ nbf: issuer.now() + 60 })],
  'issued in the future': [/issued in the future/, () => issuer.sign({ iat: issuer.now() + 60 })],
  'of another issuer': [/another issuer/, () => issuer.sign({ iss: 'https://other.example' })],
  'of an issuer with a slash more': [/another issuer/, () => issuer.sign({ iss: `${issuer.url}/` })],
  'without an issuer': [/has no claim iss/, () => issuer.sign({ iss: undefined })],
  'for another audience': [/another audience/, () => issuer.sign({ aud: ['https://other.example'] })],
  'for an audience with a slash more': [/another audience/, () => issuer.sign({ aud: `${audience}/` })],
  'without an audience': [/another audience/, () => issuer.sign({ aud: undefined })],
  'without a subject': [/has no claim sub/, () => issuer.sign({ sub: undefined })],
  'with an empty subject': [/malformed claim sub/, () => issuer.sign({ sub: '' })],
  'with a line break in the subject': [/malformed claim sub/, () => issuer.sign({ sub: 'alice\nadmin' })],
  'with a number as subject': [/malformed claim sub/, () => issuer.sign({ sub: 7 })],
  'bound to a DPoP key': [/bound to a key/, () => issuer.sign({ cnf: { jkt: 'x' } })],
  'an ID token by its type': [/another kind/, () => issuer.sign({}, { typ: 'id_token+jwt' })],
  'an ID token without a type': [
    /another kind/,
    () => issuer.sign({ client_id: undefined, nonce: 'n' }, { typ: undefined }),
  ],
  'an ID token with the hash of an access token': [
    /another kind/,
    () => issuer.sign({ at_hash: 'x' }, { typ: 'JWT' }),
  ],
  'an ID token of a Keycloak': [/another kind/, () => issuer.sign({ typ: 'ID' }, { typ: 'JWT' })],
  'a refresh token of a Keycloak': [/another kind/, () => issuer.sign({ typ: 'Refresh' }, { typ: 'JWT' })],
  'a logout token': [/another kind/, () => issuer.sign({ events: {} }, { typ: 'JWT' })],
  'a DPoP proof': [/another kind/, () => issuer.sign({}, { typ: 'dpop+jwt' })],
  'an unknown critical header': [/is not a signed JWT/, () => issuer.sign({}, { crit: ['x'], x: 1 })],
  'alg none': [
    /algorithm that is not accepted/,
    async () => `${encode({ alg: 'none' })}.${(await issuer.sign()).split('.')[1]}.`,
  ],
  'alg none with a signature': [
    /algorithm that is not accepted/,
    async () => `${encode({ alg: 'none' })}.${(await issuer.sign()).split('.').slice(1).join('.')}`,
  ],
  'HS256 with the public key': [
    /algorithm that is not accepted/,
    async () => {
      const secret = new TextEncoder().encode(await exportSPKI(issuer.first.publicKey))
      const claims = { iss: issuer.url, aud: audience, sub: 'alice', roles: ['tenant'] }
      const header = { alg: 'HS256', kid: 'one', typ: 'at+jwt' }
      return new SignJWT({ ...claims, exp: issuer.now() + 600 }).setProtectedHeader(header).sign(secret)
    },
  ],
  'another algorithm than that of the key': [
    /key that the provider does not publish|wrong signature|not a signed JWT/,
    async () => {
      const { privateKey, publicKey } = await generateKeyPair('ES384')
      return issuer.sign({}, {}, { kid: 'one', alg: 'ES384', privateKey, publicKey })
    },
  ],
  'signed with another key': [
    /wrong signature/,
    async () => {
      const { privateKey, publicKey } = await generateKeyPair('ES256')
      return issuer.sign({}, {}, { kid: 'one', alg: 'ES256', privateKey, publicKey })
    },
  ],
  'a short RSA key': [
    /does not publish/,
    async () => {
      const pair = await generateKeyPair('RS256')
      return issuer.sign({}, {}, { ...pair, kid: 'weak', alg: 'RS256' })
    },
  ],
  'a key off its curve': [/does not publish/, () => issuer.sign({}, { kid: 'off the curve' })],
  'half a key': [/does not publish/, () => issuer.sign({}, { kid: 'half' })],
  'a key that cannot be imported': [/cannot be used for it/, () => issuer.sign({}, { kid: 'odd' })],
  'an unknown key id': [/key that the provider does not publish/, () => issuer.sign({}, { kid: 'other' })],
  'its own key in the header': [
    /wrong signature|does not publish/,
    async () => {
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
      const { exportJWK } = await import('jose')
      const header = { jwk: await exportJWK(publicKey), jku: 'https://attacker.example/keys' }
      return issuer.sign({}, header, { kid: 'one', alg: 'ES256', privateKey, publicKey })
    },
  ],
  'a changed payload': [
    /wrong signature/,
    async () => {
      const [header, , signature] = (await issuer.sign()).split('.')
      const claims = { iss: issuer.url, aud: audience, sub: 'bob', exp: issuer.now() + 600 }
      return `${header}.${encode(claims)}.${signature}`
    },
  ],
  'an empty signature': [/wrong signature/, async () => (await issuer.sign()).replace(/[^.]+$/, '')],
  'two parts': [/is not a signed JWT/, async () => (await issuer.sign()).split('.').slice(0, 2).join('.')],
  'no JWT': [/is not a signed JWT/, () => 'abc'],
  'an API key': [/is not a signed JWT/, () => `iak_${'x'.repeat(43)}`],
  oversize: [/more than 12288 characters/, () => issuer.sign({ more: 'x'.repeat(9_300) })],
}

test.each(Object.entries(attacks))('a token is refused: %s', async (_, [reason, make]) => {
  const { status, body, headers } = await read(await make())
  expect({ status, type: body.type }).toEqual({
    status: 401,
    type: 'error:AuthenticationError:InvalidCredentials',
  })
  expect(body.detail).toMatch(reason)
  expect(body.detail).toMatch(/^The bearer token [^.]*\.$/)
  expect(headers.get('www-authenticate')).toMatch(
    /^Bearer error="invalid_token", error_description="The bearer token [^"]*", resource_metadata="http[^"]*"$/,
  )
})

test('unknown key ids do not make the agent ask the provider again and again', async () => {
  const before = issuer.state.reads
  await Promise.all(
    Array.from({ length: 20 }, async (_, id) => read(await issuer.sign({}, { kid: `k${id}` }))),
  )
  expect(issuer.state.reads).toBe(before)
  expect(before).toBe(1)
})

test('an empty token, and a request without one', async () => {
  const empty = await ask(agent, 'GET /connections', { headers: { authorization: 'Bearer ' } })
  expect(empty.status).toBe(401)
  expect(empty.body.type).toBe('error:AuthenticationError:JwtAuthenticationError')
  const without = await ask(agent, 'GET /connections')
  expect(without.status).toBe(401)
  expect(without.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="[^"]*"$/)
})

test('a token does not help a wrong API key, nor the reverse', async () => {
  const { apiKey } = await agent.newTenant()
  const token = await issuer.sign({ exp: 1 })
  expect((await ask(agent, 'GET /connections', { apiKey, headers: bearer(token) })).status).toBe(401)
})
