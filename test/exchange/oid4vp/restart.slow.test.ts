/** Requests of OpenID4VP are rows: a daemon that is killed between two steps continues. */
import { expect, test } from 'vitest'
import { Daemon } from '../../support/daemon.ts'
import {
  newVerifierDid,
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
} from './_wallet.ts'

test('a request survives kill -9 after every step', async () => {
  await using daemon = await Daemon.start()
  const verifier = { tenant: await daemon.newTenant('verifier') }
  const did = await newVerifierDid(verifier)
  const redirectUri = 'https://shop.example/done'
  const { presentationId, openid4vp } = await requestProof(verifier, { did, redirectUri, expiresIn: 3_600 })
  await daemon.crash()
  const request = await readRequest(openid4vp!.authorizationRequest)
  await daemon.crash()
  const vp = await presentSdJwt(request)
  const { body } = await present(request, { person: [vp] })
  await daemon.crash()
  expect((await present(request, { person: [vp] })).body).toEqual(body)
  expect((await presentationOf(verifier, presentationId)).status).toBe('PresentationVerified')
  const responseCode = new URL(body.redirect_uri).searchParams.get('response_code')!
  const path = { presentationId }
  await verifier.tenant.call('POST /present-proof/presentations/{presentationId}/response-code', {
    path,
    body: { responseCode },
  })
})
