/**
 * Signature algorithms of COSE (RFC 9053, RFC 9864), and which curve each goes with. ISO 18013-5 pairs ES256
 * with P-256, ES384 with P-384 and ES512 with P-521; RFC 9053 allows each with any curve.
 */
import type { CborMap, CborValue } from '../cbor/index.ts'
import type { Curve, PublicJwk } from '../crypto/keys.ts'
import { CoseError, header, nameOf } from './message.ts'

export type CoseAlgorithm = {
  /** Its number in COSE. */
  id: number
  /** Its name in COSE. */
  name: string
  /** Its name in JOSE. */
  jose: 'ES256' | 'ES384' | 'ES512' | 'EdDSA'
  crv: Curve
  hash: 'sha256' | 'sha384' | 'sha512' | null
  /** Whether the algorithm itself says the curve. Otherwise another curve is unusual. */
  isCurveFixed: boolean
}

const es256 = { jose: 'ES256', crv: 'P-256', hash: 'sha256' } as const
const es384 = { jose: 'ES384', crv: 'P-384', hash: 'sha384' } as const
const es512 = { jose: 'ES512', crv: 'P-521', hash: 'sha512' } as const
const edDsa = { jose: 'EdDSA', crv: 'Ed25519', hash: null, isCurveFixed: true } as const

/** In order of preference: the first one of a curve signs here. */
export const coseAlgorithms: readonly CoseAlgorithm[] = [
  { id: -7, name: 'ES256', ...es256, isCurveFixed: false },
  { id: -9, name: 'ESP256', ...es256, isCurveFixed: true },
  { id: -35, name: 'ES384', ...es384, isCurveFixed: false },
  { id: -51, name: 'ESP384', ...es384, isCurveFixed: true },
  { id: -36, name: 'ES512', ...es512, isCurveFixed: false },
  { id: -52, name: 'ESP512', ...es512, isCurveFixed: true },
  { id: -8, name: 'EdDSA', ...edDsa },
  { id: -19, name: 'Ed25519', ...edDsa },
]

/** HMAC with SHA-256 and 32 bytes (RFC 9053 §3.1), the only algorithm of device MACs. */
export const hmac256 = 5

/** Algorithms that are known, to name them, and not supported. */
const unsupported: Readonly<Record<number, string>> = {
  [-37]: 'PS256',
  [-47]: 'ES256K',
  [-53]: 'Ed448',
  [-257]: 'RS256',
  [-265]: 'ESB256',
  [-266]: 'ESB320',
  [-267]: 'ESB384',
  [-268]: 'ESB512',
}

/**
 * The signature algorithm in the protected header, which alone counts.
 *
 * @throws {CoseError} if there is none, or none that is supported: "ESB256 is not supported"
 */
export function algorithmOf({ protected: headers }: { protected: CborMap }): CoseAlgorithm {
  const id = headers.get(header.alg)
  if (id === undefined) throw new CoseError('alg is missing in the protected header')
  const found = coseAlgorithms.find((algorithm) => algorithm.id === id)
  if (!found) throw new CoseError(`${nameAlgorithm(id)} is not supported`)
  return found
}

function nameAlgorithm(id: CborValue): string {
  return (typeof id === 'number' && unsupported[id]) || `the algorithm ${nameOf(id)}`
}

/** The algorithm that a key signs with. @throws {CoseError} for a key that signs nothing in COSE here */
export function algorithmOfKey({ crv }: Pick<PublicJwk, 'crv'>): CoseAlgorithm {
  const found = coseAlgorithms.find((algorithm) => algorithm.crv === crv)
  if (!found) throw new CoseError(`a key on ${crv} does not sign here`)
  return found
}

/** `unusual`: another curve than ISO 18013-5 wants, and valid. `wrong`: the signature cannot be valid. */
export function pairing(algorithm: CoseAlgorithm, crv: Curve): 'usual' | 'unusual' | 'wrong' {
  if (algorithm.crv === crv) return 'usual'
  const isCurveOfIso = es256.crv === crv || es384.crv === crv || es512.crv === crv
  return isCurveOfIso && !algorithm.isCurveFixed ? 'unusual' : 'wrong'
}
