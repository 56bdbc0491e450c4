/** Sessions of issuance are rows: a daemon that is killed between two steps continues, and a code issues once. */
import { expect, test } from 'vitest'
import { Daemon } from '../_daemon.ts'
import { consent, offered, push, redeemAuthorized } from './_authorization.ts'
import { addIssuer, offer, prove, recordOf, redeemOffer, request } from './_wallet.ts'

test('a session survives kill -9 after every step', async () => {
  await using daemon = await Daemon.start()
  const setup = await addIssuer(daemon, await daemon.newTenant('issuer'))
  const { credentialOffer, recordId, txCode } = await offer(setup, { txCode: true, expiresIn: 3_600 })
  await daemon.crash()
  const { body } = await redeemOffer(setup, credentialOffer, txCode)
  const jwt = await prove(setup)
  await daemon.crash()
  const first = await request(setup, { token: body.access_token, jwt })
  expect(first.status).toBe(200)
  await daemon.crash()
  expect((await request(setup, { token: body.access_token, jwt })).body).toEqual(first.body)
  expect((await redeemOffer(setup, credentialOffer, txCode)).body.error).toBe('invalid_grant')
  expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
})

test('a pushed request, a consent and an authorization code survive kill -9', async () => {
  await using daemon = await Daemon.start()
  const setup = await addIssuer(daemon, await daemon.newTenant('issuer'))
  const { parameters, txCode, verifier, recordId } = await offered(setup)
  const { body: pushed } = await push(setup, parameters)
  await daemon.crash()
  const query = { client_id: 'wallet', request_uri: pushed.request_uri }
  const code = await consent(setup, query, txCode)
  await daemon.crash()
  const { body } = await redeemAuthorized(setup, { code, verifier })
  await daemon.crash()
  expect((await request(setup, { token: body.access_token, jwt: await prove(setup) })).status).toBe(200)
  expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
  await daemon.crash()
  expect((await redeemAuthorized(setup, { code, verifier })).body.error).toBe('invalid_grant')
})
