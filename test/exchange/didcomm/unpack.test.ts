/** Forged messages with valid cryptography (DIDComm v2.1, "Message Layer Addressing Consistency"). */
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { isKept } from '../../../src/foundation/crypto/key-objects.ts'
import { generateKey, toPublic, type PublicJwk } from '../../../src/foundation/crypto/keys.ts'
import { keysFor, type DidDocument } from '../../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../../src/did/peer.ts'
import { parseEnvelope } from '../../../src/exchange/didcomm/jwe.ts'
import { packAuthcrypt } from '../../../src/exchange/didcomm/pack.ts'
import { recipientKids, unpack, type UnpackOptions } from '../../../src/exchange/didcomm/unpack.ts'
import { anonymous, forge, type Forgery, forged, signed } from './_forge.ts'
import { as, didOfPerson, documents, newMessage, own, recipient } from './_people.ts'
import { refuses } from './_refusal.ts'

const [anna, ben, mallory] = [didOfPerson('anna'), didOfPerson('ben'), didOfPerson('mallory')]

test('the forger’s envelope is accepted when nothing is changed', async () => {
  expect(await unpack(forged(), as('ben'))).toMatchObject({
    message: newMessage(),
    authenticated: true,
    senderKid: own('anna').kid,
  })
})

describe('the sender', () => {
  test('from another DID than the sending key’s is refused', async () => {
    await refuses(
      forged({ sender: own('mallory') }),
      `from is ${anna}, but the message was made with ${mallory}#x25519`,
    )
  })

  test('an authcrypt message without from is refused', async () => {
    const { from: _from, ...withoutFrom } = newMessage()
    await refuses(forged({ plaintext: withoutFrom }), 'from is absent')
  })

  test('a from that only begins like the sender’s DID is refused', async () => {
    for (const from of [`${anna}2`, `${anna}#x25519`, anna.toUpperCase(), anna.slice(0, -1)]) {
      await refuses(forged({ plaintext: newMessage({ from }) }), 'but the message was made with')
    }
  })

  test('a from in a merely anoncrypted message is not authenticated', async () => {
    const unpacked = await unpack(anonymous(newMessage()), as('ben'))
    expect(unpacked).toEqual({
      message: newMessage(),
      recipientKid: own('ben').kid,
      authenticated: false,
      anonymous: true,
      layers: [
        {
          type: 'anoncrypt',
          alg: 'ECDH-ES+A256KW',
          enc: expect.any(String),
          recipientKids: [own('ben').kid],
        },
      ],
    })
  })

  test('without skid the sender is read from apu', async () => {
    expect(await unpack(forged({ header: { skid: undefined } }), as('ben'))).toMatchObject({
      senderKid: own('anna').kid,
      authenticated: true,
    })
  })

  test('different skid and apu are refused, whichever of them is true', async () => {
    const apuOf = (kid: string) => toBase64url(kid)
    await refuses(forged({ sender: own('mallory'), header: { skid: own('anna').kid } }), 'skid and apu')
    await refuses(forged({ sender: own('mallory'), header: { apu: apuOf(own('anna').kid) } }), 'skid and apu')
    await refuses(forged({ header: { apu: undefined } }), 'apu')
    await refuses(forged({ header: { apu: apuOf(anna), skid: undefined } }), 'apu')
  })

  test('mallory’s key under anna’s id does not open', async () => {
    await refuses(forged({ sender: { ...own('mallory'), kid: own('anna').kid } }), 'cannot be decrypted')
  })

  test('a skid in anoncrypt proves nothing and is refused', async () => {
    await refuses(anonymous(newMessage(), { header: { skid: own('anna').kid } }), 'skid')
  })

  test('the sending key must be for keyAgreement, of that id, in the document of that DID', async () => {
    const change = (edit: (document: DidDocument) => DidDocument): UnpackOptions => ({
      ...as('ben'),
      resolve: async (did) => edit(documents[did]!),
    })
    const without = change((document) => ({
      ...document,
      keyAgreement: [`${anna}#p256`],
      authentication: [`${anna}#x25519`],
    }))
    await refuses(forged(), 'is not a key for keyAgreement', without)
    const renamed = change(
      (document) =>
        JSON.parse(JSON.stringify(document).replaceAll('#x25519"', '#x25519-old"')) as DidDocument,
    )
    await refuses(forged(), 'is not a key for keyAgreement', renamed)
    await refuses(
      forged(),
      'another DID',
      change(() => documents[mallory]!),
    )
  })

  test('relative key ids in the document mean the same key', async () => {
    const relative = JSON.parse(JSON.stringify(documents[anna]).replaceAll(`"${anna}#`, '"#')) as DidDocument
    expect(await unpack(forged(), { ...as('ben'), resolve: async () => relative })).toMatchObject({
      authenticated: true,
    })
  })

  test('a sender that does not resolve is refused, with the resolver’s error as cause', async () => {
    const cause = new Problem('error:DIDResolution:notFound', 'no such DID')
    const options = {
      ...as('ben'),
      resolve: () => {
        throw cause
      },
    }
    await expect(unpack(forged(), options)).rejects.toMatchObject({
      type: 'error:DIDCommControllerError:UnpackingFailed',
      cause,
    })
  })

  test('a jwk in the header is not the sender’s key', async () => {
    const { d: _d, ...jwk } = own('mallory').privateJwk
    const envelope = forged({
      sender: { ...own('mallory'), kid: own('anna').kid },
      header: { jwk, jku: 'https://mallory.example/keys' },
    })
    await refuses(envelope, 'cannot be decrypted')
  })
})

describe('the recipient', () => {
  test('a to without the recipient is refused, in authcrypt and in anoncrypt', async () => {
    for (const to of [[mallory], [anna, mallory], [`${ben}x`], ['']]) {
      await refuses(forged({ plaintext: newMessage({ to }) }), 'to does not name')
      await refuses(anonymous(newMessage({ to })), 'to does not name')
    }
  })

  test('a to with further DIDs, or no to, is accepted', async () => {
    const { to: _to, ...open } = newMessage()
    for (const plaintext of [
      newMessage({ to: [mallory, ben] }),
      { ...newMessage(), to: ben },
      open,
      newMessage({ to: [] }),
    ]) {
      expect(await unpack(forged({ plaintext }), as('ben'))).toMatchObject({ authenticated: true })
    }
  })

  test('apv that is not the hash of the recipients is refused', async () => {
    const apv = toBase64url(Buffer.alloc(32))
    await refuses(forged({ header: { apv } }), 'apv')
    await refuses(forged({ header: { apv: undefined } }), 'apv')
    const added = (jwe: Record<string, unknown>) => {
      const recipients = jwe['recipients'] as { encrypted_key: string }[]
      return { ...jwe, recipients: [...recipients, { ...recipients[0], header: { kid: `${ben}#p256` } }] }
    }
    await refuses(forged({ envelope: added }), 'apv')
  })

  test('recipients of several DIDs, or one twice, are refused', async () => {
    await refuses(forged({ recipients: [recipient('ben'), recipient('mallory')] }), 'several DIDs')
    await refuses(forged({ recipients: [recipient('ben'), recipient('ben')] }), 'twice')
  })

  test('without a matching key the error is RecipientNotFound', async () => {
    await expect(unpack(forged(), as('mallory'))).rejects.toMatchObject({
      type: 'error:DIDCommControllerError:RecipientNotFound',
      status: 422,
    })
    const other = { ...as('ben'), findPrivateKey: async () => own('ben', 'p256') }
    await expect(unpack(forged(), other)).rejects.toMatchObject({
      type: 'error:DIDCommControllerError:RecipientNotFound',
    })
  })

  test('the sender is not resolved without a matching key', async () => {
    let asked = 0
    const options = { ...as('mallory'), resolve: async () => ((asked += 1), documents[anna]!) }
    await expect(unpack(forged(), options)).rejects.toThrow(Problem)
    expect(asked).toBe(0)
  })
})

describe('nesting', () => {
  const authcrypt = (changes: Partial<Forgery> = {}) => JSON.parse(forged(changes)) as unknown

  test('anoncrypt of authcrypt is authenticated and anonymous', async () => {
    expect(await unpack(anonymous(authcrypt()), as('ben'))).toEqual({
      message: newMessage(),
      recipientKid: own('ben').kid,
      senderKid: own('anna').kid,
      authenticated: true,
      anonymous: true,
      layers: [
        {
          type: 'anoncrypt',
          alg: 'ECDH-ES+A256KW',
          enc: expect.any(String),
          recipientKids: [own('ben').kid],
        },
        {
          type: 'authcrypt',
          alg: 'ECDH-1PU+A256KW',
          enc: 'A256CBC-HS512',
          recipientKids: [own('ben').kid],
          senderKid: own('anna').kid,
        },
      ],
    })
  })

  test('a wrong from, to or apv in the inner envelope is refused like in an outer one', async () => {
    await refuses(anonymous(authcrypt({ sender: own('mallory') })), 'but the message was made with')
    await refuses(anonymous(authcrypt({ plaintext: newMessage({ to: [anna] }) })), 'to does not name')
    await refuses(anonymous(authcrypt({ header: { apv: toBase64url(Buffer.alloc(32)) } })), 'apv')
  })

  test('other nestings of envelopes are refused', async () => {
    const inside = (content: unknown) => ({ plaintext: content, sender: own('mallory') })
    await refuses(forged(inside(authcrypt())), 'holds another envelope')
    await refuses(forged(inside(JSON.parse(anonymous(newMessage())))), 'holds another envelope')
    await refuses(anonymous(JSON.parse(anonymous(newMessage()))), 'holds another one')
    await refuses(anonymous(JSON.parse(anonymous(authcrypt()))), 'holds another one')
    await refuses(anonymous(authcrypt({ plaintext: authcrypt() })), 'malformed')
    await refuses(anonymous(signed(authcrypt(), [own('anna', 'ed25519')])), 'malformed')
  })

  test('two envelopes for different DIDs are refused, even with both keys', async () => {
    const all: UnpackOptions = {
      ...as('ben'),
      findPrivateKey: async (kids) =>
        (await as('ben').findPrivateKey(kids)) ?? as('mallory').findPrivateKey(kids),
    }
    const inner = JSON.parse(
      forge({
        plaintext: newMessage({ to: [mallory] }),
        sender: own('anna'),
        recipients: [recipient('mallory')],
      }),
    ) as unknown
    await refuses(anonymous(inner), 'different DIDs', all)
  })
})

describe('messages that are not encrypted', () => {
  test('plaintext and signed messages are refused', async () => {
    await refuses(JSON.stringify(newMessage()), 'not a JWE')
    await refuses(JSON.stringify(signed(newMessage(), [own('anna', 'ed25519')])), 'not a JWE')
  })
})

describe('a parsed envelope', () => {
  test('has its recipients before any key is known', () => {
    const envelope = packAuthcrypt(newMessage(), {
      sender: own('anna'),
      recipients: [recipient('ben'), recipient('ben', 'x25519-2')],
    })
    const kids = [`${ben}#x25519`, `${ben}#x25519-2`]
    expect(recipientKids(envelope)).toEqual(kids)
    expect(recipientKids(Buffer.from(envelope))).toEqual(kids)
    expect(recipientKids(parseEnvelope(envelope))).toEqual(kids)
    expect(() => recipientKids('{}')).toThrow(Problem)
  })

  test('unpacks like its text and its bytes', async () => {
    const envelope = forged()
    for (const form of [envelope, Buffer.from(envelope), parseEnvelope(envelope)]) {
      expect(await unpack(form, as('ben'))).toMatchObject({ message: newMessage(), authenticated: true })
    }
  })
})

test('the ephemeral key of a message is not cached, the sender’s key is', async () => {
  // Other tests may have cached agreements with anna's keys.
  const privateJwk = generateKey('X25519')
  const did = createPeerDid({
    keyAgreement: toPublic(privateJwk),
    authentication: toPublic(generateKey('Ed25519')),
    serviceUri: 'http://127.0.0.1:1',
  })
  const document = resolvePeerDid(did)
  const envelope = forged({
    plaintext: newMessage({ from: did }),
    sender: { kid: keysFor(document, 'keyAgreement')[0]!.id, privateJwk },
  })
  await unpack(envelope, { ...as('ben'), resolve: async () => document })
  const { epk } = parseEnvelope(envelope).header
  expect([isKept(epk as PublicJwk), isKept(toPublic(privateJwk))]).toEqual([false, true])
})
