/**
 * DID requests and challenges over OpenID4VP are rows: a daemon that is killed between two steps continues.
 * Expired ones accept nothing.
 */
import { expect, test } from 'vitest'
import { Daemon } from '../../support/daemon.ts'
import { until } from '../../support/tenants.ts'
import { holderKey, present, presentSdJwt, readRequest } from '../oid4vp/_wallet.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { toPublic } from '../../../src/foundation/crypto/keys.ts'
import { challengeOf, newChallenge, person, requestOf, trustIssuer } from './_openid4vp.ts'

test('a challenge survives kill -9 after every step, with ENTERPRISE_OPENID4VP alone too', async () => {
  await using daemon = await Daemon.start({ AUTH_CHALLENGE_EXPIRY: '3600', ENTERPRISE_OPENID4VP: 'true' })
  const tenant = await daemon.newTenant('acme')
  await trustIssuer(tenant)
  const plain = await tenant.call('POST /did-authentication/challenges', { body: {} })
  expect((await readRequest(plain.openid4vp!.authorizationRequest)).dcql_query).toBeDefined()
  const made = await newChallenge(tenant, person)
  await daemon.crash()
  const request = await requestOf(made)
  const vp = await presentSdJwt(request)
  await daemon.crash()
  const first = await present(request, { person: [vp] })
  await daemon.crash()
  expect(await present(request, { person: [vp] })).toMatchObject({ status: 200, body: first.body })
  const did = createJwkDid(toPublic(holderKey))
  expect(await challengeOf(tenant, made.id)).toMatchObject({ state: 'success', did, answeredBy: 'openid4vp' })
})

test('an expired challenge is not answered', async () => {
  await using daemon = await Daemon.start({ AUTH_CHALLENGE_EXPIRY: '1' })
  const tenant = await daemon.newTenant('acme')
  await trustIssuer(tenant)
  const made = await newChallenge(tenant, person)
  const request = await requestOf(made)
  const vp = await presentSdJwt(request)
  await until(
    'the expiry',
    () => fetch(made.challenge.submissionEndpoint),
    ({ status }) => status === 410,
  )
  await until(
    'a refusal',
    () => present(request, { person: [vp] }),
    ({ status }) => status === 400,
  )
  expect(await challengeOf(tenant, made.id)).toMatchObject({ state: 'pending', did: null })
})
