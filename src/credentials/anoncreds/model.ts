/**
 * The JSON of AnonCreds (https://hyperledger.github.io/anoncreds-spec): credential definitions, offers,
 * requests, credentials. Unknown members are dropped.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'

/** A decimal number of at most 5,000 bits. The limit bounds the calculations. */
export const Decimal = z
  .string()
  .max(1_505)
  .regex(/^-?\d+$/, 'is not a decimal number')
/** A name that is a member of a JSON object. */
export const Reference = z
  .string()
  .min(1)
  .max(256)
  .refine((name) => name !== '__proto__', 'cannot be used as a name')
/** A URL, a DID or a DID URL, possibly of a long-form DID. */
export const Id = z.string().min(1).max(10_000)
const Nonce = z.string().max(100).regex(/^\d+$/, 'is not a decimal number')

/** Numbers by `attributeKey`. */
export const ByAttribute = z
  .record(Reference, Decimal)
  .refine((all) => Object.keys(all).length <= 126, 'has more than 126 members')

export const KeyCorrectnessProof = z.object({
  c: Decimal,
  xz_cap: Decimal,
  xr_cap: z.array(z.tuple([Reference, Decimal])).max(126),
})
export type KeyCorrectnessProof = z.output<typeof KeyCorrectnessProof>

export const PrimaryPublicKey = z.object({
  n: Decimal,
  s: Decimal,
  r: ByAttribute,
  rctxt: Decimal,
  z: Decimal,
})
export type PrimaryPublicKey = z.output<typeof PrimaryPublicKey>

export const CredentialDefinition = z
  .object({
    schemaId: Id,
    type: z.literal('CL'),
    tag: z.string().max(1_000),
    issuerId: Id,
    value: z.object({ primary: PrimaryPublicKey, revocation: z.unknown().optional() }),
  })
  .meta({ id: 'AnonCredsCredentialDefinition' })
export type CredentialDefinition = z.output<typeof CredentialDefinition>

export const DefinitionPrivateKey = z.object({
  value: z.object({ p_key: z.object({ p: Decimal, q: Decimal }) }),
})
export type DefinitionPrivateKey = z.output<typeof DefinitionPrivateKey>

export const CredentialOffer = z.object({
  schema_id: Id,
  cred_def_id: Id,
  key_correctness_proof: KeyCorrectnessProof,
  nonce: Nonce,
})
export type CredentialOffer = z.output<typeof CredentialOffer>

export const CredentialRequest = z.object({
  entropy: z.string().max(2_000).nullish(),
  prover_did: z.string().max(70_000).nullish(),
  cred_def_id: Id,
  blinded_ms: z.object({
    u: Decimal,
    ur: Decimal.nullish(),
    hidden_attributes: z.array(Reference).max(126),
    committed_attributes: ByAttribute,
  }),
  blinded_ms_correctness_proof: z.object({
    c: Decimal,
    v_dash_cap: Decimal,
    m_caps: ByAttribute,
    r_caps: ByAttribute,
  }),
  nonce: Nonce,
})
export type CredentialRequest = z.output<typeof CredentialRequest>

/** The holder keeps this until the credential arrives. It is as secret as the credential. */
export const RequestMetadata = z.object({
  link_secret_blinding_data: z.object({ v_prime: Decimal, vr_prime: Decimal.nullish() }),
  nonce: Nonce,
  link_secret_name: z.string(),
})
export type RequestMetadata = z.output<typeof RequestMetadata>

/** AnonCreds revocation (registries and accumulators) is not supported: this member must be absent or null. */
export const notRevocable = z.null('revocable AnonCreds credentials are not supported').optional()

/** `encoded` is the signed number: `encodeValue(raw)`. */
export const EncodedValue = z.object({ raw: z.string().max(200_000), encoded: Decimal })

/**
 * The signed number of a value, decimal (AnonCreds §"Encoding Attribute Data"): a 32-bit integer as itself,
 * with sign and leading zeros normalised; any other text as the SHA-256 of its UTF-8.
 */
export function encodeValue(raw: string): string {
  if (/^[+-]?\d+$/.test(raw) && Number(raw) >= -2_147_483_648 && Number(raw) <= 2_147_483_647)
    return BigInt(Number(raw)).toString()
  return BigInt(`0x${createHash('sha256').update(raw, 'utf8').digest('hex')}`).toString()
}

export const Credential = z.object({
  schema_id: Id,
  cred_def_id: Id,
  rev_reg_id: notRevocable,
  values: z
    .record(Reference, EncodedValue)
    .refine((all) => Object.keys(all).length <= 125, 'has more than 125 members'),
  signature: z.object({
    p_credential: z.object({ m_2: Decimal, a: Decimal, e: Decimal, v: Decimal }),
    r_credential: notRevocable,
  }),
  signature_correctness_proof: z.object({ se: Decimal, c: Decimal }),
  rev_reg: notRevocable,
  witness: notRevocable,
})
export type Credential = z.output<typeof Credential>
