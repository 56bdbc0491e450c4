/**
 * A credential format of signed tokens is one value, in a folder of its own. It knows keys and the names of
 * status lists. It knows no wallets, no records, no messages and no HTTP, so that every protocol takes the
 * same value.
 */
import * as z from 'zod'
import type { JsonObject } from '../../foundation/json.ts'
import type { CredentialStatus } from '../codecs/jwt-vc.ts'
import type { Confirmation } from '../codecs/sd-jwt/confirmation.ts'
import type { Signed, Verifiable } from '../codecs/verify.ts'
import type { ClaimsPath } from '../dcql/query.ts'
import type { PrivateJwk, PublicJwk } from '../../foundation/crypto/keys.ts'
import type { OpenIdFormat } from '../../definitions/format-names.ts'
import { TypeMetadata } from '../codecs/sd-jwt/type-metadata.ts'
import type { HeldToken, Keys } from './keys.ts'
import { DocumentType } from './mdoc/document-type.ts'
import type { Parts } from './parts.ts'
import type { Presentation, Session } from './presentation.ts'

/** A claim that the holder can withhold, by its path in the credential. */
export type Disclosure = {
  path: string[]
  /** Further paths that it answers, of claims that it implies. */
  implied?: (path: ClaimsPath) => boolean
}

/** A decoded credential. Nothing in it is verified. */
export type Decoded = Verifiable &
  Confirmation & {
    subjectDid?: string
    /** The claims about the subject, without those about the credential itself. */
    claims: JsonObject
    /** The schemas, or the type that stands for one. */
    schemas: string[]
    /** The type, or the types. */
    types: readonly string[]
    /** The root of claims path pointers (OpenID4VP 1.0 §7). */
    root: JsonObject
    signed: Signed
    /** Absent in formats without selective disclosure. */
    disclosures?: readonly Disclosure[]
    /** A holder can prove that the credential is its own. */
    isBound: boolean
    /** The holder has signed this copy. */
    isPresented?: boolean
  }

/**
 * The type metadata of an SD-JWT VC, their integrity if they are served at its `vct`, and the types that it
 * extends.
 */
const TypeOfSdJwt = z.object({
  metadata: TypeMetadata,
  integrity: z.string().optional(),
  akaVcts: z.array(z.string()).optional(),
})

/** The type of the credentials of an OpenID4VCI issuer, as its configuration has it. */
export const IssuedType = z.union([TypeOfSdJwt, DocumentType])
export type IssuedType = z.output<typeof IssuedType>

/** The terms of an offer. */
export type Terms = {
  claims: JsonObject
  schemaIds: readonly string[]
  /** Seconds. */
  validityPeriod?: number | undefined
  /** The bare id of the key that signs, if the offer names one. */
  issuingKid?: string | undefined
  /** Of a configuration of an OpenID4VCI issuer. */
  type?: IssuedType | undefined
}

/** The issuer, the subject and the status of a credential to sign. Times are in epoch seconds. */
export type Signing = {
  /** For `iss`: a DID that others can resolve, or the URI in the certificate. */
  issuerDid: string
  issuerKey: PrivateJwk
  /** The bare id of the key of a DID. */
  keyId?: string
  /** Of a certificate. */
  x5c?: string[]
  subjectDid: string
  holderKey?: PublicJwk | undefined
  credentialStatus: CredentialStatus
  /** The same status as a reference of Token Status List. */
  tokenStatus: { status_list: { idx: number; uri: string } }
  now: number
  /** The period of validity of credentials that must end, in seconds. */
  defaultPeriod: number
}

/** The audience and the nonce of a presentation, and the claims that it discloses. */
export type Ask = {
  audience: string | undefined
  nonce: string
  /**
   * Whether to disclose the selectively disclosable claim at a path. Elements of arrays have their index as
   * text.
   */
  discloses: (path: readonly string[]) => boolean
  /**
   * Epoch seconds. Undefined for a Cloud Agent, which reads presentations of JWTs without time and key id, of
   * the long form of a DID.
   */
  now?: number
  /** Of documents, whose holder signs it. */
  session?: Session | undefined
}

export type Reading = {
  /** How many credentials a presentation may hold. */
  most: number
  /** False: the holder need not have signed. */
  isBound: boolean
  /** Tokens must be typed as credentials. Over DIDComm they need not, since Cloud Agents do not type them. */
  isTyped: boolean
  /** The types that the query names. */
  types: readonly string[]
}

export type Format = {
  id: OpenIdFormat
  /** @throws {VerificationError} if the text cannot be read */
  decode(text: string): Decoded
  /** Reads each part by itself, on first use. */
  partsOf(text: string): Parts

  /** Issuer: refuses terms that the format cannot carry. @throws {Problem} 400 with the member */
  checkTerms?(terms: Terms): void
  /** Issuer: the preferred curve of the key that signs. Undefined: any. */
  curveFor?(terms: Terms): 'Ed25519' | undefined
  /** Issuer: the form of the status list. */
  statusFormFor(
    terms: Terms,
  ): 'application/json' | 'application/statuslist+jwt' | 'application/statuslist+cwt'
  /**
   * Issuer: whether to bind the credential to the key that signed its request. `kid` is as in the header of
   * the proof.
   */
  bindsTo?(kid: string | undefined): boolean
  /** Issuer: signs the credential. Returns its compact form. */
  sign(terms: Terms, signing: Signing): string

  /** Wallet: why a credential differs from its offer. */
  findDifference(decoded: Decoded, offered: Terms): string | undefined
  /**
   * Wallet: asserts that a credential is of the offered types, and nothing but a credential.
   *
   * @throws {TypeError | VerificationError}
   */
  checkType(decoded: Decoded, offered: readonly string[]): void
  /**
   * Wallet: where the metadata of a credential's type are, whose digest the credential has, and the check of
   * a whole credential by them. Absent: types have no metadata.
   */
  typeMetadata?: {
    referenceOf(text: string): { vct: string; integrity: unknown } | undefined
    /** @throws {VerificationError} */
    check(text: string, type: TypeMetadata): void
  }
  /** Wallet: whether a credential is bound to a key, by itself or by the DID of that key alone. */
  isBoundTo(decoded: Decoded, key: { did: string; privateJwk: PrivateJwk }): boolean
  /**
   * Wallet: the key that presents a credential. Undefined if it needs none.
   *
   * @throws {Problem} if the wallet does not have it
   */
  findHolderKey(keys: Keys, held: HeldToken, decoded: Decoded): Promise<PrivateJwk | undefined>
  /**
   * Wallet: asserts that one holder can present credentials together. Absent: one credential is presented at
   * a time.
   *
   * @throws {Problem}
   */
  checkTogether?(held: readonly HeldToken[]): void
  /**
   * Wallet: presents a credential, or several in a format whose presentations hold several. Without
   * `isBound`, the holder signs nothing.
   */
  present(keys: Keys, held: readonly HeldToken[], ask: Ask, isBound: boolean): Promise<string>

  /** Verifier. @throws {VerificationError} if the text cannot be read */
  readPresentation(text: string, how: Reading): Presentation
}
