/** Signed messages in an envelope: authentication and refusals. */
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { unpack, type UnpackOptions } from '../../../src/exchange/didcomm/unpack.ts'
import { anonymous, forged, signed } from './_forge.ts'
import { as, didOfPerson, documents, newMessage, own } from './_people.ts'
import { refuses } from './_refusal.ts'

const [anna, mallory] = [didOfPerson('anna'), didOfPerson('mallory')]

describe('signed inside', () => {
  const by = (...fragments: string[]) => fragments.map((fragment) => own('anna', fragment))

  test.each(['ed25519', 'es256', 'es256k'])(
    'anoncrypt of a message signed with %s is authenticated',
    async (fragment) => {
      expect(await unpack(anonymous(signed(newMessage(), by(fragment))), as('ben'))).toEqual({
        message: newMessage(),
        recipientKid: own('ben').kid,
        signerKid: `${anna}#${fragment}`,
        authenticated: true,
        anonymous: true,
        layers: [
          expect.objectContaining({ type: 'anoncrypt' }),
          { type: 'signed', signerKids: [`${anna}#${fragment}`] },
        ],
      })
    },
  )

  test('authcrypt of a signed message names both keys', async () => {
    const unpacked = await unpack(forged({ plaintext: signed(newMessage(), by('ed25519')) }), as('ben'))
    expect(unpacked).toMatchObject({
      senderKid: `${anna}#x25519`,
      signerKid: `${anna}#ed25519`,
      authenticated: true,
      anonymous: false,
    })
  })

  test('several signatures of one DID are accepted, and a flattened JWS', async () => {
    expect(
      await unpack(anonymous(signed(newMessage(), by('ed25519', 'es256', 'es256k'))), as('ben')),
    ).toMatchObject({ signerKid: `${anna}#ed25519` })
    const { payload, signatures } = signed(newMessage(), by('ed25519'))
    expect(await unpack(anonymous({ payload, ...signatures[0] }), as('ben'))).toMatchObject({
      signerKid: `${anna}#ed25519`,
    })
  })

  test('a signer other than from, or than the sender, is refused', async () => {
    const byMallory = signed(newMessage(), [own('mallory', 'ed25519')])
    for (const envelope of [
      anonymous(byMallory),
      forged({ plaintext: byMallory }),
      forged({ sender: own('mallory'), plaintext: signed(newMessage(), by('ed25519')) }),
    ])
      await refuses(envelope, 'but the message was made with')
    const byBoth = signed(newMessage(), [own('anna', 'ed25519'), own('mallory', 'ed25519')])
    await refuses(anonymous(byBoth), 'several DIDs')
  })

  test('a signed message in anoncrypt without to is refused, because an earlier recipient could have forwarded it', async () => {
    const { to: _to, ...open } = newMessage()
    await refuses(anonymous(signed(open, by('ed25519'))), 'needs a to')
    await refuses(anonymous(signed(newMessage({ to: [mallory] }), by('ed25519'))), 'to does not name')
    expect(await unpack(forged({ plaintext: signed(open, by('ed25519')) }), as('ben'))).toMatchObject({
      authenticated: true,
    })
  })

  test('a signature that is changed, missing, of another algorithm or by a key not for authentication is refused', async () => {
    const good = signed(newMessage(), by('ed25519'))
    const entry = good.signatures[0]!
    const changed = toBase64url(
      Buffer.from(entry.signature, 'base64url').map((byte, index) => (index === 5 ? byte ^ 4 : byte)),
    )
    const cases: [unknown, string][] = [
      [{ ...good, signatures: [{ ...entry, signature: changed }] }, 'not one of key'],
      [{ ...good, signatures: [{ ...entry, signature: '' }] }, 'not one of key'],
      [{ ...good, signatures: [{ ...entry, signature: toBase64url(Buffer.alloc(64)) }] }, 'not one of key'],
      [{ ...good, signatures: [] }, 'not a JWS'],
      [
        { ...good, payload: toBase64url(JSON.stringify(newMessage({ body: { content: 'no' } }))) },
        'not one of key',
      ],
      [{ ...good, signatures: [{ ...entry, header: undefined }] }, 'does not name its key'],
      [{ ...good, signatures: [{ ...entry, header: { kid: `${anna}#es256` } }] }, 'not one of key'],
      [{ ...good, signatures: [entry, { ...entry, header: { kid: `${anna}#es256` } }] }, 'not one of key'],
      [{ ...good, signatures: Array.from({ length: 17 }, () => entry) }, 'not a JWS'],
      [signed(newMessage(), by('ed25519'), { alg: 'ES256K' }), 'not one of key'],
      [signed(newMessage(), by('es256k'), { alg: 'ES256' }), 'not one of key'],
      [signed(newMessage(), by('ed25519'), { alg: 'none' }), 'alg'],
      [signed(newMessage(), by('ed25519'), { alg: 'HS256' }), 'alg'],
      [signed(newMessage(), by('ed25519'), { crit: ['exp'], exp: 1 }), 'crit'],
      [signed(newMessage(), by('ed25519'), { b64: false }), 'b64'],
      [signed(newMessage(), by('ed25519'), { kid: `${anna}#es256` }), 'different keys'],
      [signed(newMessage(), by('ed25519'), { typ: 'JWT' }), 'typ'],
      [signed('not JSON', by('ed25519')), 'is not JSON'],
    ]
    for (const [content, reason] of cases) await refuses(anonymous(content), reason)
    const unfit: UnpackOptions = {
      ...as('ben'),
      resolve: async (did) => ({ ...documents[did]!, authentication: [`${anna}#es256`] }),
    }
    await refuses(anonymous(good), 'is not a key for authentication', unfit)
  })
})
