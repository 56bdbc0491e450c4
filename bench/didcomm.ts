/**
 * Authcrypt of 1 KB: this agent, didcomm-node (Rust as WASM), and the bare steps of node:crypto without
 * checks, with and without cached shared secrets.
 */
import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto'
import { deepFreeze } from '../src/did/fetch-cache.ts'
import { packAuthcrypt } from '../src/exchange/didcomm/pack.ts'
import { unpack } from '../src/exchange/didcomm/unpack.ts'
import { Message, resolver, secretsOf } from '../test/exchange/didcomm/_didcomm-node.ts'
import { as, didOfPerson, documents, newMessage, own, recipient } from '../test/exchange/didcomm/_people.ts'
import { packBare, unpackBare } from './_envelope.ts'
import { foreign, ofAgent, peer, plain, type Suites } from './_harness.ts'

const message = newMessage({ body: { text: 'x'.repeat(1_000) } })
const parties = { sender: own('anna'), recipients: [recipient('ben')] }

const kept = 'bare node:crypto, what two keys agree on kept'

const privateKey = (name: 'anna' | 'ben') =>
  createPrivateKey({ key: own(name).privateJwk as never, format: 'jwk' })
const publicKey = (name: 'anna' | 'ben') =>
  createPublicKey({ key: recipient(name).publicJwk as never, format: 'jwk' })

/**
 * Packs and unpacks envelopes. This agent knows the sender by its DID document, frozen as by the resolver,
 * and checks the whole envelope.
 */
export function openDidcomm(): Suites {
  const envelope = packAuthcrypt(message, parties)
  const theirs = () => new Message(message as never)
  const packing = {
    privateKey: privateKey('anna'),
    publicKey: publicKey('ben'),
    kid: parties.recipients[0]!.kid,
    skid: parties.sender.kid,
  }
  const unpacking = { privateKey: privateKey('ben'), publicKey: publicKey('anna') }
  const bareEnvelope = packBare(message, packing)
  const [agreedPacking, agreedUnpacking] = [packing, unpacking].map(diffieHellman)
  Object.values(documents).forEach(deepFreeze)
  return plain({
    'DIDComm: pack 1 KB authcrypt': [
      ofAgent(() => packAuthcrypt(message, parties)),
      peer('bare node:crypto', () => packBare(message, packing), 1.3),
      peer(kept, () => packBare(message, { ...packing, agreed: agreedPacking }), 1.3),
      foreign('didcomm-node', () =>
        theirs().pack_encrypted(didOfPerson('ben'), didOfPerson('anna'), null, resolver, secretsOf(), {
          forward: false,
        }),
      ),
    ],
    'DIDComm: unpack 1 KB authcrypt': [
      ofAgent(() => unpack(envelope, as('ben'))),
      peer('bare node:crypto', () => unpackBare(bareEnvelope, unpacking), 1.3),
      peer(kept, () => unpackBare(bareEnvelope, { ...unpacking, agreed: agreedUnpacking }), 1.3),
      foreign('didcomm-node', () =>
        Message.unpack(envelope, resolver, secretsOf(['did:example:ben#x25519']), {}),
      ),
    ],
  })
}
