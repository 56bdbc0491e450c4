/**
 * Authcrypt of 1 KB: this agent, didcomm-node (Rust as WASM), and the bare steps of node:crypto without
 * checks, with and without cached shared secrets.
 */
import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto'
import { deepFreeze } from '../src/did/fetch-cache.ts'
import { packAuthcrypt } from '../src/didcomm/pack.ts'
import { unpack } from '../src/didcomm/unpack.ts'
import { Message, resolver, secretsOf } from '../test/didcomm/_didcomm-node.ts'
import { as, didOfPerson, documents, newMessage, own, recipient } from '../test/didcomm/_people.ts'
import { packBare, unpackBare } from './_envelope.ts'
import { plain, type Suites } from './_harness.ts'

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
      { name: 'identity-agent', once: () => packAuthcrypt(message, parties) },
      { name: 'bare node:crypto', once: () => packBare(message, packing), isPeer: true, goal: 1.3 },
      {
        name: kept,
        once: () => packBare(message, { ...packing, agreed: agreedPacking }),
        isPeer: true,
        goal: 1.3,
      },
      {
        name: 'didcomm-node',
        once: () =>
          theirs().pack_encrypted(didOfPerson('ben'), didOfPerson('anna'), null, resolver, secretsOf(), {
            forward: false,
          }),
        isPeer: true,
        isForeign: true,
      },
    ],
    'DIDComm: unpack 1 KB authcrypt': [
      { name: 'identity-agent', once: () => unpack(envelope, as('ben')) },
      { name: 'bare node:crypto', once: () => unpackBare(bareEnvelope, unpacking), isPeer: true, goal: 1.3 },
      {
        name: kept,
        once: () => unpackBare(bareEnvelope, { ...unpacking, agreed: agreedUnpacking }),
        isPeer: true,
        goal: 1.3,
      },
      {
        name: 'didcomm-node',
        once: () => Message.unpack(envelope, resolver, secretsOf(['did:example:ben#x25519']), {}),
        isPeer: true,
        isForeign: true,
      },
    ],
  })
}
