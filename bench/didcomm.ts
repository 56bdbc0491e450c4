/** Authcrypt of 1 KB: ours, didcomm-node (Rust as WASM), and the bare steps of node:crypto without any check. */
import {
  createCipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { packAuthcrypt } from '../src/didcomm/pack.ts'
import { unpack } from '../src/didcomm/unpack.ts'
import { Message, resolver, secretsOf } from '../test/didcomm/_didcomm-node.ts'
import { as, didOfPerson, letter, own, recipient } from '../test/didcomm/_people.ts'
import type { Work } from './_harness.ts'

const message = letter({ body: { text: 'x'.repeat(1_000) } })
const parties = { sender: own('anna'), recipients: [recipient('ben')] }
const envelope = packAuthcrypt(message, parties)
const theirs = () => new Message(message as never)

export const packWorks: Work[] = [
  { name: 'identity-agent', once: () => packAuthcrypt(message, parties) },
  {
    name: 'didcomm-node',
    once: () => theirs().pack_encrypted(didOfPerson('ben'), didOfPerson('anna'), null, resolver, secretsOf(), { forward: false }),
  },
  { name: 'bare node:crypto', once: bare },
]

export const unpackWorks: Work[] = [
  { name: 'identity-agent', once: () => unpack(envelope, as('ben')) },
  { name: 'didcomm-node', once: () => Message.unpack(envelope, resolver, secretsOf(['did:example:ben#x25519']), {}) },
]

const senderKey = createPrivateKey({ key: parties.sender.privateJwk as never, format: 'jwk' })
const recipientKey = createPublicKey({ key: parties.recipients[0]!.publicJwk as never, format: 'jwk' })

/** The steps of ECDH-1PU+A256KW with A256CBC-HS512, and nothing else. */
function bare(): string {
  const options = { publicKeyEncoding: { format: 'jwk' } } as never
  const { publicKey: epk, privateKey } = generateKeyPairSync('x25519', options) as unknown as { publicKey: object; privateKey: KeyObject }
  const header = Buffer.from(
    JSON.stringify({
      epk,
      apv: 'v'.repeat(43),
      skid: parties.sender.kid,
      apu: 'u'.repeat(60),
      typ: 'application/didcomm-encrypted+json',
      enc: 'A256CBC-HS512',
      alg: 'ECDH-1PU+A256KW',
    }),
  ).toString('base64url')
  const [key, iv] = [randomBytes(64), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key.subarray(32), iv)
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(message)), cipher.final()])
  const tag = createHmac('sha512', key.subarray(0, 32))
    .update(header)
    .update(iv)
    .update(ciphertext)
    .update(Buffer.alloc(8))
    .digest()
    .subarray(0, 32)
  const [ze, zs] = [
    diffieHellman({ privateKey, publicKey: recipientKey }),
    diffieHellman({ privateKey: senderKey, publicKey: recipientKey }),
  ]
  const kek = createHash('sha256').update(ze).update(zs).update(Buffer.alloc(120)).update(tag).digest()
  const wrap = createCipheriv('id-aes256-wrap', kek, Buffer.alloc(8, 0xa6))
  const encrypted_key = Buffer.concat([wrap.update(key), wrap.final()]).toString('base64url')
  const recipients = [{ encrypted_key, header: { kid: parties.recipients[0]!.kid } }]
  return JSON.stringify({
    ciphertext: ciphertext.toString('base64url'),
    protected: header,
    recipients,
    tag: tag.toString('base64url'),
    iv: iv.toString('base64url'),
  })
}
