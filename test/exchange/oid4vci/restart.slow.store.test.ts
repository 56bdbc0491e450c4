/** Sessions of issuance are rows: a daemon that is killed between two steps continues, and a code issues once. */
import { expect, test } from 'vitest'
import { Daemon } from '../../support/daemon.ts'
import { consent, offered, push, redeemAuthorized } from './_authorization.ts'
import { addIssuer, offer, prove, recordOf, redeemOffer, request } from './_wallet.ts'

test('a session of each grant survives kill -9 after every step', async () => {
  await using daemon = await Daemon.start()
  const setup = await addIssuer(daemon, await daemon.newTenant('issuer'))
  const { credentialOffer, recordId, txCode } = await offer(setup, { txCode: true, expiresIn: 3_600 })
  const authorized = await offered(setup)
  const { body: pushed } = await push(setup, authorized.parameters)
  await daemon.crash()

  const { body } = await redeemOffer(setup, credentialOffer, txCode)
  const jwt = await prove(setup)
  const query = { client_id: 'wallet', request_uri: pushed.request_uri }
  const code = await consent(setup, query, authorized.txCode)
  await daemon.crash()

  const first = await request(setup, { token: body.access_token, jwt })
  expect(first.status).toBe(200)
  const redemption = { code, verifier: authorized.verifier }
  const { body: granted } = await redeemAuthorized(setup, redemption)
  await daemon.crash()

  expect((await request(setup, { token: body.access_token, jwt })).body).toEqual(first.body)
  expect((await redeemOffer(setup, credentialOffer, txCode)).body.error).toBe('invalid_grant')
  expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
  const token = granted.access_token
  expect((await request(setup, { token, jwt: await prove(setup) })).status).toBe(200)
  expect((await recordOf(setup, authorized.recordId)).protocolState).toBe('CredentialSent')
  await daemon.crash()

  expect((await redeemAuthorized(setup, redemption)).body.error).toBe('invalid_grant')
})
