/** The files of published DIDComm vectors, and what each vector is about. */
import type { PrivateJwk } from '../../src/crypto/keys.ts'
import type { DidDocument } from '../../src/did/document.ts'
import type { PublishedVector } from '../_vectors.ts'
import type { Derived } from './_packing.ts'

type Layer = { crv: string; enc: string; senderKid?: string }
export type Vector = PublishedVector & {
  packed?: unknown
  packedRef?: string
  plaintext?: unknown
  /** What is in each layer, from the outside in. */
  layers?: string[]
  /** Of the outermost layer. */
  derived?: Derived
  metadata?: {
    authenticated: boolean
    anonymousSender: boolean
    anoncrypt?: Layer
    authcrypt?: Layer
    signature?: { alg: string; kid: string }
  }
  secretKids?: string[]
  secretOverrides?: (PrivateJwk & { kid: string })[]
  next?: string
  inner?: { plaintext: unknown }
}
export type Published = {
  didDocuments: Record<string, DidDocument>
  secrets: Record<string, (PrivateJwk & Record<string, string>)[]>
  vectors: Vector[]
}
export type Jws = {
  payload: string
  signatures: { protected: string; signature: string; header: { kid: string } }[]
}

type Header = { alg?: string; enc?: string; epk?: { crv?: string } }

/** The layers of a vector as its metadata has them, or else the outermost one as far as its header can be read. */
export function groupOf(vector: Vector, packedOf: (vector: Vector) => string): string {
  const { kind, metadata } = vector
  if (kind !== 'encrypted' && kind !== 'signed') return kind
  const { anoncrypt, authcrypt, signature } = metadata ?? {}
  const layers = [
    anoncrypt && `anoncrypt ${anoncrypt.crv} ${anoncrypt.enc}`,
    authcrypt && `authcrypt ${authcrypt.crv} ${authcrypt.enc}`,
    signature && `signed ${signature.alg}`,
  ]
  if (metadata) return layers.filter(Boolean).join(' of ')
  try {
    const { protected: encrypted, signatures } = JSON.parse(packedOf(vector)) as {
      protected?: string
      signatures?: { protected: string }[]
    }
    const text = encrypted ?? signatures![0]!.protected
    const { alg, enc, epk } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Header
    if (kind === 'signed') return `signed ${alg!}`
    return `${alg!.startsWith('ECDH-1PU') ? 'authcrypt' : 'anoncrypt'} ${epk!.crv} ${enc}`
  } catch {
    return `${kind}, unreadable header`
  }
}
