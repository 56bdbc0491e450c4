/**
 * Generates the keys of credential definitions: Camenisch–Lysyanskaya signatures over RSA
 * (https://hyperledger.github.io/anoncreds-spec, "Generating a Credential Definition Without Revocation
 * Support"). The AnonCreds library needs minutes for the primes, OpenSSL seconds.
 */
import { createHash, generatePrime, randomBytes } from 'node:crypto'
import { attributeKey, linkSecretName } from '../schemas/anoncreds-schema.ts'
import type { DefinitionPrivateKey, KeyCorrectnessProof, PrimaryPublicKey } from './model.ts'

export type DefinitionKeys = {
  primary: PrimaryPublicKey
  privateKey: DefinitionPrivateKey
  keyCorrectnessProof: KeyCorrectnessProof
}

export const modulusBits = 2_048

/** Generates a key for the attributes of a schema. Takes seconds on two cores. */
export async function generateDefinitionKeys(attrNames: readonly string[]): Promise<DefinitionKeys> {
  const [P, Q] = await generateSafePrimes()
  const [p, q, n] = [(P - 1n) / 2n, (Q - 1n) / 2n, P * Q]
  const power = powersModulo(P, Q)
  const s = findGenerator(n)
  const randomExponent = () => randomBelow(p * q - 3n) + 2n

  const names = [linkSecretName, ...attrNames.map(attributeKey)]
  const [xz, xr] = [randomExponent(), names.map(randomExponent)]
  const [z, r] = [power(s, xz), xr.map((x) => power(s, x))]

  // Proves that z and all r are powers of s, without revealing the exponents.
  const [xzTilde, xrTilde] = [randomExponent(), names.map(randomExponent)]
  const hash = createHash('sha256')
  for (const number of [z, ...r, power(s, xzTilde), ...xrTilde.map((x) => power(s, x))])
    hash.update(toBytes(number))
  const c = BigInt(`0x${hash.digest('hex')}`)

  const text = (number: bigint) => number.toString()
  return {
    primary: {
      n: text(n),
      s: text(s),
      r: Object.fromEntries(names.map((name, index) => [name, text(r[index]!)])),
      rctxt: text(power(s, randomExponent())),
      z: text(z),
    },
    privateKey: { value: { p_key: { p: text(p), q: text(q) } } },
    keyCorrectnessProof: {
      c: text(c),
      xz_cap: text(c * xz + xzTilde),
      xr_cap: names.map((name, index) => [name, text(c * xr[index]! + xrTilde[index]!)]),
    },
  }
}

/** Two safe primes (2p + 1 with p prime) whose product has exactly `modulusBits` bits. */
async function generateSafePrimes(): Promise<[bigint, bigint]> {
  for (;;) {
    const [one, other] = await Promise.all([generateSafePrime(), generateSafePrime()])
    if (one !== other && (one * other).toString(2).length === modulusBits) return [one, other]
  }
}

function generateSafePrime(): Promise<bigint> {
  const options = { safe: true, bigint: true } as const
  return new Promise((resolve, reject) =>
    generatePrime(modulusBits / 2, options, (error, prime) => (error ? reject(error) : resolve(prime))),
  )
}

/** A generator of the quadratic residues modulo n: a square x with gcd(x, n) = gcd(x - 1, n) = 1. */
function findGenerator(n: bigint): bigint {
  for (;;) {
    const root = randomBelow(n)
    const square = (root * root) % n
    if (gcd(square, n) === 1n && gcd(square - 1n, n) === 1n) return square
  }
}

/** Exponentiation modulo P·Q by the Chinese remainder theorem, which is four times as fast. */
function powersModulo(P: bigint, Q: bigint): (base: bigint, exponent: bigint) => bigint {
  const inverse = power(Q % P, P - 2n, P)
  return (base, exponent) => {
    const [ofP, ofQ] = [power(base % P, exponent % (P - 1n), P), power(base % Q, exponent % (Q - 1n), Q)]
    return ofQ + Q * (((((ofP - ofQ) % P) + P) * inverse) % P)
  }
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus
    if (bit === '1') result = (result * base) % modulus
  }
  return result
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

/** A uniformly distributed number in [0, limit). */
function randomBelow(limit: bigint): bigint {
  const bits = limit.toString(2).length
  for (;;) {
    const number =
      BigInt(`0x${randomBytes(Math.ceil(bits / 8)).toString('hex')}`) >> BigInt((8 - (bits % 8)) % 8)
    if (number < limit) return number
  }
}

function toBytes(number: bigint): Buffer {
  const hex = number.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}
