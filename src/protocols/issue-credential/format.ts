/** What is different about issuing credentials of each format: the one seam between the flow and the formats (`formats/`). */
import type { CredentialStatus } from '../../credentials/jwt-vc.ts'
import type { Validity } from '../../credentials/validity.ts'
import type { Attachment } from '../../didcomm/message.ts'
import type { Tx } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Received } from '../engine/receive.ts'
import type { CredentialData, CredentialRecord, Offered } from './model.ts'
import type { CredentialFormat } from '../formats.ts'
import { anonCreds } from './formats/anoncreds.ts'
import { jwt } from './formats/jwt.ts'
import { sdJwt } from './formats/sd-jwt.ts'

/** Fields that a step adds to a record, or changes. */
export type Change = Partial<CredentialData>

/** Whom the holder has a credential be about, the key that proves it, and the issuers whose credential it keeps: every issuer when left out. */
export type Choice = {
  subjectId?: string | undefined
  keyId?: string | undefined
  trustedIssuers?: string[] | undefined
}

/** What a message says, beside what every message of its kind says. */
export type Said = { attachments: Attachment[]; body?: Record<string, unknown> }

/** A credential that was made, and what is to be written with it. */
export type Made = Said & { credential: string; keep?: (tx: Tx) => Promise<unknown> }

/** A credential as the holder keeps it: who issued it, and whom it is about if it says so. */
export type Issued = { credential: string; issuer: string; subject?: string; change?: Change }

/** A credential that is not the one that was offered, and why. */
export type NotAsOffered = { mismatch: string }

/** What a credential says, which proves nothing by itself; `CredentialContent` says what the members are. */
export type Content = Validity & {
  /** AnonCreds do not say it: their definition does. */
  issuerDid?: string
  subjectDid?: string
  claims: Record<string, unknown>
  schemas: string[]
  definition?: string
  disclosable?: string[][]
  bound?: boolean
  statuses: CredentialStatus[]
  header?: object
  payload?: Record<string, unknown>
}

export type IssuanceFormat = {
  /** Issuer: what the record of an offer begins with, and what its message carries. @throws {Problem} for terms that cannot be. */
  offer(wallet: Wallet, offered: Offered): Promise<{ terms: Change; attachments: Attachment[] }>

  /** Holder: what the attachment of an offer says; `claims` are those of its preview. @throws for one that cannot be read. */
  readOffer(content: unknown, claims: Record<string, unknown>): Change

  /** Holder: asks for what a record offers. @throws {Problem} when it cannot be asked for as the caller chose. */
  request(wallet: Wallet, record: CredentialRecord, choice: Choice): Promise<Said & { change: Change }>

  /** Holder: what is chosen for an offer that is accepted beforehand. */
  choose(acceptance: Choice): Choice

  /** Issuer: what a request proves. @throws {Problem} `InvalidCredentialRequest` */
  readRequest(wallet: Wallet, record: CredentialRecord, message: Received): Promise<Change>

  /** Issuer: makes the credential. @throws {Problem} `InvalidCredentialRequest` when it turns out that the request does not hold. */
  issue(wallet: Wallet, record: CredentialRecord): Promise<Made>

  /** Holder: verifies the credential that came, and compares it with the offer. @throws {Problem} `InvalidCredentialIssue`; 503 when a check cannot be made for now. */
  verify(wallet: Wallet, record: CredentialRecord, message: Received): Promise<Issued | NotAsOffered>

  /** Reads a credential of the wallet; nothing is verified. @throws {VerificationError} */
  read(credential: string): Content
}

export const issuanceFormats: Readonly<Record<CredentialFormat, IssuanceFormat>> = {
  JWT: jwt,
  SDJWT: sdJwt,
  AnonCreds: anonCreds,
}

/** The format of a record, or of what is offered. */
export function formatOf({ credentialFormat }: { credentialFormat: CredentialFormat }): IssuanceFormat {
  return issuanceFormats[credentialFormat]
}
