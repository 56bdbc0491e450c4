/** The interface between the issuance flow and the credential formats (`formats/`). */
import type { Attachment } from '../didcomm/message.ts'
import type { Decoded } from '../../credentials/formats/format.ts'
import { perToken } from '../../definitions/format-names.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { AutomaticAcceptance } from '../protocols/connection/model.ts'
import type { Received } from '../engine/receive.ts'
import type { CredentialData, CredentialRecord } from './model.ts'
import type { OfferTerms } from './offers.ts'
import type { CredentialFormat } from '../protocols/attachments.ts'
import { anonCreds } from './formats/anoncreds.ts'
import { tokenIssuance } from './formats/token.ts'

/** Fields of a record that a transition adds or changes. */
export type CredentialChange = Partial<CredentialData>

/**
 * The holder's choices when it accepts an offer: subject DID, authentication key, and accepted issuers
 * (default: all).
 */
export type AcceptOptions = Pick<AutomaticAcceptance, 'subjectId' | 'keyId' | 'trustedIssuers'>

/** The parts of a message that depend on the format. */
export type MessageContent = { attachments: Attachment[]; body?: Record<string, unknown> }

/** An issued credential, its message, and a write to make in the same transaction. */
export type IssuedMessage = MessageContent & { credential: string; store?: (tx: Tx) => Promise<unknown> }

/** A verified credential as the holder stores it. */
export type VerifiedCredential = {
  credential: string
  issuer: string
  subject?: string
  change?: CredentialChange
}

/** Why a credential differs from its offer. */
export type Mismatch = { mismatch: string }

/** A decoded credential of any format, not verified. `CredentialContent` documents the members. */
export type DecodedCredential = Pick<Decoded, 'claims' | 'schemas' | 'statuses'> &
  Partial<Decoded> & {
    /** Of AnonCreds, whose definition names the issuer. */
    definition?: string
  }

export type IssuanceFormat = {
  /**
   * Issuer: the record's initial data, and the attachments of the offer.
   *
   * @throws {Problem} for invalid terms
   */
  offer(wallet: Wallet, offered: OfferTerms): Promise<{ terms: CredentialChange; attachments: Attachment[] }>

  /**
   * Holder: reads the attachment of an offer; `claims` are those of its preview.
   *
   * @throws if it is malformed
   */
  readOffer(content: unknown, claims: Record<string, unknown>): CredentialChange

  /** Holder: the request for an offered credential. @throws {Problem} if the options are invalid */
  request(
    wallet: Wallet,
    record: CredentialRecord,
    choice: AcceptOptions,
  ): Promise<MessageContent & { change: CredentialChange }>

  /** Holder: the options that apply to an automatically accepted offer. */
  choose(acceptance: AcceptOptions): AcceptOptions

  /** Issuer: verifies a request. @throws {Problem} `InvalidCredentialRequest` */
  readRequest(wallet: Wallet, record: CredentialRecord, message: Received): Promise<CredentialChange>

  /**
   * Issuer: checks that the wallet can still sign for the offer's issuer, unless it always can.
   *
   * @throws {Problem} with the reason
   */
  checkIssuer?(wallet: Wallet, record: CredentialRecord): Promise<unknown>

  /**
   * Issuer: issues the credential.
   *
   * @throws {Problem} `InvalidCredentialRequest` if the request turns out to be invalid
   */
  issue(wallet: Wallet, record: CredentialRecord): Promise<IssuedMessage>

  /**
   * Holder: verifies a received credential and compares it with the offer.
   *
   * @throws {Problem} `InvalidCredentialIssue`; 503 if a check is not possible for now
   */
  verify(wallet: Wallet, record: CredentialRecord, message: Received): Promise<VerifiedCredential | Mismatch>

  /** Decodes a stored credential without verification. @throws {VerificationError} */
  read(credential: string): DecodedCredential
}

export const issuanceFormats: Readonly<Record<CredentialFormat, IssuanceFormat>> = {
  ...perToken(tokenIssuance),
  AnonCreds: anonCreds,
}

/** The format of a record or an offer. */
export function issuanceFormatOf({
  credentialFormat,
}: {
  credentialFormat: CredentialFormat
}): IssuanceFormat {
  return issuanceFormats[credentialFormat]
}
