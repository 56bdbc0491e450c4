/** A wallet receives credentials of an OpenID4VCI issuer, in both formats and with both grants. */
import { describe, expect, test } from 'vitest'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
import { refusal, until } from '../../../support/tenants.ts'
import { offer, recordOf } from '../_wallet.ts'
import { accept, consentAt, inState, licence, receive, show, startHolderPair, take } from './_holder.ts'
import { untilEnd } from '../../../support/shared.ts'

const pair = await untilEnd(startHolderPair())

const redirectUri = 'http://127.0.0.1:1/callback'
const begin = (recordId: string) =>
  pair.holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path: { recordId },
    body: { redirectUri },
  })
const complete = (recordId: string, body: { state: string; code?: string; iss?: string; error?: string }) =>
  pair.holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', {
    path: { recordId },
    body,
  })

const formats = [
  ['jwt_vc_json', {}, 'JWT'],
  ['dc+sd-jwt', licence, 'SDJWT'],
] as const

describe.each(formats)('a credential of the format %s', (format, options, credentialFormat) => {
  test.each([true, false])(
    'is received with a pre-authorized code; offered by reference: %s',
    async (byReference) => {
      const { setup, holder } = pair
      const made = await offer(setup, { ...options, byReference, txCode: false })
      const received = await receive(holder, made.credentialOffer)
      expect(received).toMatchObject({
        role: 'Holder',
        protocolState: 'OfferReceived',
        credentialFormat,
        openid4vci: { credentialIssuer: setup.identifier, format, grant: 'pre-authorized_code' },
      })
      expect(received.openid4vci!.txCode).toBeUndefined()
      expect(received.openid4vci!.claims.map(({ path }) => path.at(-1))).toContain('name')
      await accept(holder, received.recordId)
      const { claims } = await inState(holder, received.recordId, 'CredentialReceived')
      expect(claims).toMatchObject({ name: 'Alice' })
      await until(
        'the notification',
        () => recordOf(setup, made.recordId),
        ({ notification }) => notification?.event === 'credential_accepted',
      )
      const held = await until(
        'the answer to the notification',
        () => show(holder, received.recordId),
        ({ openid4vci }) => openid4vci?.calls?.at(-1)?.outcome === '204',
      )
      // A second call changes nothing.
      expect(await accept(holder, received.recordId)).toEqual(held)
      expect((await recordOf(setup, made.recordId)).protocolState).toBe('CredentialSent')
    },
  )

  test('is received with the consent of a person', async () => {
    const { setup, holder } = pair
    const made = await offer(setup, { ...options, grant: 'authorization_code' })
    const { recordId, openid4vci } = await receive(holder, made.credentialOffer)
    expect(openid4vci!.grant).toBe('authorization_code')
    expect(await refusal(accept(holder, recordId))).toMatchObject({ status: 400 })
    const begun = await begin(recordId)
    expect(begun.protocolState).toBe('AuthorizationPending')
    const redirect = await consentAt(setup, begun, { txCode: made.txCode })
    expect(begun.openid4vci!.authorizationState).toBe(redirect.state)
    await complete(recordId, redirect)
    const held = await inState(holder, recordId, 'CredentialReceived')
    expect(held.openid4vci).not.toHaveProperty('authorizationUrl')
    expect(held.openid4vci).not.toHaveProperty('authorizationState')
  })

  test('is bound to a key of its own', async () => {
    const [one, other] = [await take(pair, options), await take(pair, options)]
    const held = await Promise.all(
      [one, other].map(({ recordId }) => inState(pair.holder, recordId, 'CredentialReceived')),
    )
    const subjects = held.map(({ subjectId }) => subjectId!)
    expect(new Set(subjects).size).toBe(2)
    for (const { subjectId, credential } of held) {
      const text = Buffer.from(credential!, 'base64url').toString()
      if (format === 'dc+sd-jwt') expect(createJwkDid(decodeSdJwt(text).holderKey!)).toBe(subjectId)
      else expect(JSON.parse(Buffer.from(text.split('.')[1]!, 'base64url').toString()).sub).toBe(subjectId)
    }
  })
})
