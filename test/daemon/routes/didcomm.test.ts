/** `POST /didcomm/unpack`: reads a message without any effect. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../../src/did/peer.ts'
import { packAnoncrypt, packAuthcrypt } from '../../../src/exchange/didcomm/pack.ts'
import { refusal, startPair } from '../../support/tenants.ts'

test('an envelope is explained layer by layer, to its own wallet only, without side effects', async () => {
  await using pair = await startPair()
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const to = made.invitation.from
  const { id: kid, publicKeyJwk: publicJwk } = keysFor(resolvePeerDid(to), 'keyAgreement')[0]!
  const privateJwk = generateKey('X25519')
  const from = createPeerDid({
    keyAgreement: toPublic(privateJwk),
    authentication: toPublic(generateKey('Ed25519')),
    serviceUri: 'http://127.0.0.1:1',
  })
  const senderKid = keysFor(resolvePeerDid(from), 'keyAgreement')[0]!.id
  const type = 'https://atalaprism.io/mercury/connections/1.0/request'
  const message = { id: randomUUID(), type, from, to: [to], thid: made.thid, body: { secret: 'x' } }
  const authcrypt = packAuthcrypt(message, {
    sender: { kid: senderKid, privateJwk },
    recipients: [{ kid, publicJwk }],
  })

  const explained = await pair.issuer.call('POST /didcomm/unpack', { body: { envelope: authcrypt } })
  expect(explained).toMatchObject({
    authenticated: true,
    anonymous: false,
    senderKid,
    recipientKid: kid,
    message: { from, thid: made.thid, body: { secret: 'x' } },
  })
  expect(explained.layers).toEqual([
    { type: 'authcrypt', alg: 'ECDH-1PU+A256KW', enc: 'A256CBC-HS512', recipientKids: [kid], senderKid },
  ])
  const anoncrypt = packAnoncrypt(message, { recipients: [{ kid, publicJwk }] })
  expect(
    await pair.issuer.call('POST /didcomm/unpack', { body: { envelope: JSON.parse(anoncrypt) } }),
  ).toMatchObject({
    authenticated: false,
    layers: [{ type: 'anoncrypt', enc: 'XC20P' }],
  })

  expect(
    (await pair.issuer.call('GET /connections/{connectionId}', { path: { connectionId: made.connectionId } }))
      .state,
  ).toBe('InvitationGenerated')
  expect(
    await refusal(pair.holder.call('POST /didcomm/unpack', { body: { envelope: authcrypt } })),
  ).toMatchObject({
    status: 422,
    type: 'error:DIDCommControllerError:RecipientNotFound',
  })
  expect(
    await refusal(pair.issuer.call('POST /didcomm/unpack', { body: { envelope: 'hello' } })),
  ).toMatchObject({ status: 422 })
})
