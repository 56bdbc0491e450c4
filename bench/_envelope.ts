/**
 * The bare steps of an authcrypt envelope (ECDH-1PU+A256KW with A256CBC-HS512) by node:crypto, without any
 * checks.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'

/** `agreed` is the cached shared secret of the two keys, if any. */
type Keys = { privateKey: KeyObject; publicKey: KeyObject; agreed?: Buffer | undefined }
type Parties = Keys & { kid: string; skid: string }
type Jwe = {
  protected: string
  recipients: { encrypted_key: string }[]
  iv: string
  ciphertext: string
  tag: string
}

const wrapIv = Buffer.alloc(8, 0xa6)
const otherInfo = Buffer.alloc(120)

/** Packs a message from the owner of `privateKey` for the owner of `publicKey`. */
export function packBare(message: object, { privateKey, publicKey, agreed, kid, skid }: Parties): string {
  const options = { publicKeyEncoding: { format: 'jwk' } } as never
  const own = generateKeyPairSync('x25519', options) as unknown as {
    publicKey: object
    privateKey: KeyObject
  }
  const header = toBase64({
    epk: own.publicKey,
    apv: 'v'.repeat(43),
    skid,
    apu: 'u'.repeat(60),
    typ: 'application/didcomm-encrypted+json',
    enc: 'A256CBC-HS512',
    alg: 'ECDH-1PU+A256KW',
  })
  const [key, iv] = [randomBytes(64), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key.subarray(32), iv)
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(message)), cipher.final()])
  const tag = tagOf(key, header, iv, ciphertext)
  const ephemeral = diffieHellman({ privateKey: own.privateKey, publicKey })
  const between = agreed ?? diffieHellman({ privateKey, publicKey })
  const wrap = createCipheriv('id-aes256-wrap', derive(ephemeral, between, tag), wrapIv)
  const encryptedKey = Buffer.concat([wrap.update(key), wrap.final()]).toString('base64url')
  return JSON.stringify({
    ciphertext: ciphertext.toString('base64url'),
    protected: header,
    recipients: [{ encrypted_key: encryptedKey, header: { kid } }],
    tag: tag.toString('base64url'),
    iv: iv.toString('base64url'),
  })
}

/** Opens an envelope of `packBare`; `publicKey` is the sender's. @throws if it was changed. */
export function unpackBare(envelope: string, { privateKey, publicKey, agreed }: Keys): object {
  const jwe = JSON.parse(envelope) as Jwe
  const { epk } = JSON.parse(Buffer.from(jwe.protected, 'base64url').toString()) as { epk: object }
  const theirs = createPublicKey({ key: epk as never, format: 'jwk' })
  const [iv, ciphertext, tag] = [fromBase64(jwe.iv), fromBase64(jwe.ciphertext), fromBase64(jwe.tag)]
  const ephemeral = diffieHellman({ privateKey, publicKey: theirs })
  const between = agreed ?? diffieHellman({ privateKey, publicKey })
  const unwrap = createDecipheriv('id-aes256-wrap', derive(ephemeral, between, tag), wrapIv)
  const key = Buffer.concat([unwrap.update(fromBase64(jwe.recipients[0]!.encrypted_key)), unwrap.final()])
  if (!timingSafeEqual(tagOf(key, jwe.protected, iv, ciphertext), tag))
    throw new Error('the envelope was changed')
  const decipher = createDecipheriv('aes-256-cbc', key.subarray(32), iv)
  return JSON.parse(Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString()) as object
}

function tagOf(key: Buffer, header: string, iv: Buffer, ciphertext: Buffer): Buffer {
  return createHmac('sha512', key.subarray(0, 32))
    .update(header)
    .update(iv)
    .update(ciphertext)
    .update(Buffer.alloc(8))
    .digest()
    .subarray(0, 32)
}

function derive(ephemeral: Buffer, between: Buffer, tag: Buffer): Buffer {
  return createHash('sha256').update(ephemeral).update(between).update(otherInfo).update(tag).digest()
}

function toBase64(header: object): string {
  return Buffer.from(JSON.stringify(header)).toString('base64url')
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
