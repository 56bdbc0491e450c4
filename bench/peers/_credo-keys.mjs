/**
 * Credo's keys on node:crypto, in memory. Adds the part that its `NodeKeyManagementService` lacks and DIDComm
 * v1 needs: NaCl boxes (ECDH-HSALSA20, XSALSA20-POLY1305), otherwise part of its downloaded binary. X25519 is
 * OpenSSL's, salsa that of @noble/ciphers.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto'
import { NodeInMemoryKeyManagementStorage, NodeKeyManagementService } from '@credo-ts/node'
import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { blake2b } from '@noble/hashes/blake2.js'

const box = { agreement: 'ECDH-HSALSA20', encryption: 'XSALSA20-POLY1305' }
const sigma = words(Buffer.from('expand 32-byte k'))

export class Keys extends NodeKeyManagementService {
  /** X25519 keys by the ids of their Ed25519 keys. */
  #agreeing = new Map()

  constructor() {
    super(new NodeInMemoryKeyManagementStorage())
  }

  isOperationSupported(context, operation) {
    const { keyAgreement, encryption, decryption } = operation
    return keyAgreement?.algorithm === box.agreement
      ? (encryption ?? decryption).algorithm === box.encryption
      : super.isOperationSupported(context, operation)
  }

  async encrypt(context, options) {
    const agreement = options.key.keyAgreement
    if (agreement?.algorithm !== box.agreement) return super.encrypt(context, options)
    const theirs = Buffer.from(agreement.externalPublicJwk.x, 'base64url')
    if (agreement.keyId) {
      const iv = randomBytes(24)
      const key = sharedKey(await this.#privateKey(context, agreement.keyId), theirs)
      return { encrypted: Buffer.from(xsalsa20poly1305(key, iv).encrypt(options.data)), iv }
    }
    const own = generateKeyPairSync('x25519', { publicKeyEncoding: { format: 'jwk' } })
    const epk = Buffer.from(own.publicKey.x, 'base64url')
    const sealed = xsalsa20poly1305(sharedKey(own.privateKey, theirs), sealNonce(epk, theirs)).encrypt(
      options.data,
    )
    return { encrypted: Buffer.concat([epk, sealed]) }
  }

  async decrypt(context, options) {
    const agreement = options.key.keyAgreement
    if (agreement?.algorithm !== box.agreement) return super.decrypt(context, options)
    const privateKey = await this.#privateKey(context, agreement.keyId)
    const { encrypted, decryption } = options
    if (agreement.externalPublicJwk) {
      const key = sharedKey(privateKey, Buffer.from(agreement.externalPublicJwk.x, 'base64url'))
      return { data: Buffer.from(xsalsa20poly1305(key, decryption.iv).decrypt(encrypted)) }
    }
    const own = Buffer.from(createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32))
    const epk = encrypted.subarray(0, 32)
    const opened = xsalsa20poly1305(sharedKey(privateKey, epk), sealNonce(epk, own)).decrypt(
      encrypted.subarray(32),
    )
    return { data: Buffer.from(opened) }
  }

  async #privateKey(context, keyId) {
    const known = this.#agreeing.get(keyId)
    if (known) return known
    const jwk = await this.getKeyAsserted(context, keyId)
    const seed = Buffer.from(jwk.d, 'base64url')
    const secret = jwk.crv === 'X25519' ? seed : createHash('sha512').update(seed).digest().subarray(0, 32)
    const key = createPrivateKey({
      key: Buffer.concat([privatePrefix, secret]),
      format: 'der',
      type: 'pkcs8',
    })
    this.#agreeing.set(keyId, key)
    return key
  }
}

const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex')
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex')

function sharedKey(privateKey, theirs) {
  const publicKey = createPublicKey({
    key: Buffer.concat([publicPrefix, theirs]),
    format: 'der',
    type: 'spki',
  })
  const key = new Uint32Array(8)
  hsalsa(sigma, words(diffieHellman({ privateKey, publicKey })), new Uint32Array(4), key)
  return new Uint8Array(key.buffer)
}

function sealNonce(epk, theirs) {
  return blake2b(Buffer.concat([epk, theirs]), { dkLen: 24 })
}

function words(bytes) {
  return new Uint32Array(new Uint8Array(bytes).buffer)
}
