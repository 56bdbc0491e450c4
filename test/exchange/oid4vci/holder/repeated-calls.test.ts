/**
 * Secrets of single use are sent once: a call that comes twice has one outcome, at once, later, and after a
 * crash.
 */
import { isDeepStrictEqual } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { Daemon } from '../../../support/daemon.ts'
import { refusal, until } from '../../../support/tenants.ts'
import { accept, inState, receive, show } from './_holder.ts'
import { startFakeIssuer, withTxCode, type Reply } from './_issuer.ts'
import { untilEnd } from '../../../support/shared.ts'

const issuer = await untilEnd(startFakeIssuer())
const holder = await (await sharedAgent()).newTenant('holder')
beforeEach(() => issuer.reset())

/**
 * The token endpoint, which redeems a code once, and revokes the token of a code that comes again (RFC 6749
 * §4.1.2).
 */
function redeemOnce(): void {
  let count = 0
  issuer.on('token', (_, usual) => (++count === 1 ? usual : invalidGrant))
  issuer.on('nonce', (_, usual) => (count > 1 ? { status: 401, body: { error: 'invalid_token' } } : usual))
}
const invalidGrant: Reply = { status: 400, body: { error: 'invalid_grant' } }

/** A begun authorization, and the redirect of its consent. */
async function begun() {
  const { recordId } = await receive(holder, issuer.offer('Licence', { grants: { authorization_code: {} } }))
  const path = { recordId }
  const begin = () =>
    holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
      path,
      body: { redirectUri: 'http://127.0.0.1:1/callback' },
    })
  const [one, other] = await Promise.all([begin(), begin()])
  const state = new URL(one.openid4vci!.authorizationUrl!).searchParams.get('state')!
  const complete = (answered: { code: string } | { error: string }) =>
    holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', {
      path,
      body: { state, iss: issuer.identifier, ...answered },
    })
  return { recordId, urls: [one, other].map(({ openid4vci }) => openid4vci!.authorizationUrl), complete }
}

test('a redirect that arrives twice at once redeems its code once', async () => {
  redeemOnce()
  const { recordId, complete } = await begun()
  const both = await Promise.all([complete({ code: 'code' }), complete({ code: 'code' })])
  expect(both.map((each) => each.recordId)).toEqual([recordId, recordId])
  await inState(holder, recordId, 'CredentialReceived')
  expect(issuer.at('token').length).toBe(1)
  // And once more, when the person reloads the page. The notification of the issuer may change the record
  // meanwhile.
  const reload = async () => [await complete({ code: 'code' }), await show(holder, recordId)]
  const [reloaded, held] = await until('the same record', reload, ([one, other]) =>
    isDeepStrictEqual(one, other),
  )
  expect(reloaded).toEqual(held)
  expect(issuer.at('token').length).toBe(1)
})

test('a redirect with an error that arrives twice ends the flow once', async () => {
  const { recordId, complete } = await begun()
  const error = { error: 'access_denied' }
  const states = [await Promise.all([complete(error), complete(error)]), await complete(error)].flat()
  expect(new Set(states.map(({ protocolState }) => protocolState))).toEqual(new Set(['IssuanceFailed']))
  expect((await show(holder, recordId)).metaLastFailure!.detail).toContain('access_denied')
})

test('two beginnings at once are one authorization', async () => {
  const { urls } = await begun()
  expect(urls[1]).toBe(urls[0])
})

test('an offer that is accepted twice at once is redeemed once', async () => {
  redeemOnce()
  const { recordId } = await receive(holder, issuer.offer())
  const both = await Promise.all([accept(holder, recordId), accept(holder, recordId)])
  expect(both[1]).toEqual(both[0])
  await inState(holder, recordId, 'CredentialReceived')
  expect(issuer.at('token').length).toBe(1)
})

test('a wrong transaction code that is sent twice at once costs one guess', async () => {
  issuer.on('token', () => invalidGrant)
  const { recordId } = await receive(holder, issuer.offer('Licence', withTxCode()))
  const both = [accept(holder, recordId, '1234'), accept(holder, recordId, '1234')].map(refusal)
  for (const { detail } of await Promise.all(both)) expect(detail).toContain('Compare txCode')
  expect(issuer.at('token').length).toBe(1)
})

test('the right transaction code counts while a wrong one is checked', async () => {
  issuer.on('token', ({ body }, usual) => (body.includes('tx_code=1234') ? usual : invalidGrant))
  const { recordId } = await receive(holder, issuer.offer('Licence', withTxCode()))
  const [wrong, right] = [refusal(accept(holder, recordId, '0000')), accept(holder, recordId, '1234')]
  expect((await wrong).detail).toContain('Compare txCode')
  expect((await right).recordId).toBe(recordId)
  await inState(holder, recordId, 'CredentialReceived')
})

test('a code that got no answer is sent again, and a refusal says that it may be used', async () => {
  issuer.on('token', () => ({ status: 503 }))
  const { recordId } = await receive(holder, issuer.offer())
  expect((await refusal(accept(holder, recordId))).status).toBe(503)
  issuer.on('token', () => invalidGrant)
  expect((await refusal(accept(holder, recordId))).detail).toContain('has sent the code before')
  expect((await refusal(accept(holder, recordId))).detail).toContain('The code was used, was withdrawn')
})

test('after a crash during the token request, the code is sent again, and a refusal says that it may be used', async () => {
  await using daemon = await Daemon.start()
  const tenant = await daemon.newTenant('holder')
  const { recordId } = await receive(tenant, issuer.offer())
  let end: () => void
  const ended = new Promise<void>((resolve) => (end = resolve))
  issuer.on('token', async (_, usual) => {
    await ended
    return usual
  })
  const interrupted = accept(tenant, recordId).catch(() => undefined)
  await until(
    'the token request',
    async () => issuer.at('token').length,
    (count) => count > 0,
  )
  await daemon.crash()
  end!()
  await interrupted
  issuer.on('token', () => invalidGrant)
  expect((await refusal(accept(tenant, recordId))).detail).toContain('has sent the code before')
  issuer.on('token', (_, usual) => usual)
  await accept(tenant, recordId)
  await inState(tenant, recordId, 'CredentialReceived')
})
