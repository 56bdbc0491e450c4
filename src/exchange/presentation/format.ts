/** The interface between the presentation flow and the credential formats (`formats/`). */
import type { Attachment } from '../didcomm/message.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { PresentationData, PresentationRecord } from './model.ts'
import type { RequestTerms, RequestPresentationAction } from './requests.ts'
import type { CredentialFormat } from '../protocols/attachments.ts'
import { anonCreds } from './formats/anoncreds.ts'
import { dcql } from './formats/dcql.ts'
import { tokenProof } from './formats/token.ts'
import { perToken } from '../../definitions/format-names.ts'

/** Fields of a record that a transition adds or changes. */
export type PresentationChange = Partial<PresentationData>

/**
 * A new request: the record's data, the attachments, their `content` (also `requestData`), and a write to
 * make in the same transaction.
 */
export type NewRequest = {
  terms: PresentationChange
  attachments: Attachment[]
  content: object
  store?: (tx: Tx) => Promise<unknown>
}

/** The prover's choices: credentials by their record ids, and the claims to disclose. */
export type PresentOptions = Omit<RequestPresentationAction, 'action'>

/**
 * The result of a verification, which the record stores. A presentation that is not valid has `refusal`, the
 * reason, or the format throws.
 */
export type Verdict = Pick<PresentationData, 'disclosedClaims' | 'verification' | 'dcql'> & {
  refusal?: string
}

export type ProofFormat = {
  /** Verifier: creates a request of its DID `verifier`. @throws {Problem} for invalid terms */
  createRequest(wallet: Wallet, requested: RequestTerms, verifier: string): NewRequest | Promise<NewRequest>

  /** Prover: reads the attachment of a request. @throws if it is malformed */
  readRequest(content: unknown): PresentationChange

  /**
   * Prover: checks the choices and returns the change of the record.
   *
   * @throws {Problem} if they cannot be presented
   */
  choose(wallet: Wallet, record: PresentationRecord, choice: PresentOptions): Promise<PresentationChange>

  /** Prover: creates the presentation as text. */
  present(wallet: Wallet, record: PresentationRecord): Promise<string>

  /** Prover: the presentation as an attachment. */
  attach(presentation: string): Attachment[]

  /**
   * Verifier: verifies a presentation. The attachment's format label is ignored.
   *
   * @throws {VerificationError}
   */
  verify(wallet: Wallet, record: PresentationRecord, presentation: string): Promise<Verdict>
}

export const proofFormats: Readonly<Record<CredentialFormat, ProofFormat>> = {
  ...perToken(tokenProof),
  AnonCreds: anonCreds,
}

/**
 * The format of a record or of the terms of a request. A query in DCQL may name credentials of several
 * formats.
 */
export function proofFormatOf(about: {
  credentialFormat: CredentialFormat
  dcql?: unknown
  dcqlQuery?: unknown
}): ProofFormat {
  return about.dcql === undefined && about.dcqlQuery === undefined
    ? proofFormats[about.credentialFormat]
    : dcql
}
