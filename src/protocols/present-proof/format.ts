/** What is different about proving with credentials of each format: the one seam between the flow and the formats (`formats/`). */
import type { Attachment } from '../../didcomm/message.ts'
import type { Tx } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { PresentationData, PresentationRecord, Requested, RequestPresentationAction } from './model.ts'
import type { CredentialFormat } from '../formats.ts'
import { anonCreds } from './formats/anoncreds.ts'
import { jwt } from './formats/jwt.ts'
import { sdJwt } from './formats/sd-jwt.ts'

/** Fields that a step adds to a record, or changes. */
export type Change = Partial<PresentationData>

/** What a request carries: its content, which is `requestData` as well, and what is to be written with it. */
export type Asked = {
  terms: Change
  attachments: Attachment[]
  content: object
  keep?: (tx: Tx) => Promise<unknown>
}

/** What a prover chooses: credentials by their record ids, and what of them is shown. */
export type Choice = Omit<RequestPresentationAction, 'action'>

/** A credential as the wallet keeps it; of whom it is, if it says so. */
export type Held = { id: string; format: string; credential: string; issuer: string; subject: string | null }

/** What a presentation that holds has shown. */
export type Shown = Pick<PresentationData, 'disclosedClaims'>

export type ProofFormat = {
  /** Verifier: what the record of a request begins with, and what its message carries. @throws {Problem} for what cannot be asked. */
  ask(wallet: Wallet, wanted: Requested): Asked | Promise<Asked>

  /** Prover: what the attachment of a request says. @throws for one that cannot be read. */
  readRequest(content: unknown): Change

  /** Prover: what the record keeps of a choice. @throws {Problem} when it cannot be presented, before anything is promised. */
  choose(wallet: Wallet, record: PresentationRecord, choice: Choice): Promise<Change>

  /** Prover: makes the presentation that a record has been accepted with, as text. */
  present(wallet: Wallet, record: PresentationRecord): Promise<string>

  /** Prover: the presentation as the one attachment of its message. */
  attach(presentation: string): Attachment[]

  /** Verifier: verifies a presentation in this format, whatever its attachment says (wire.md 5.2). @throws {VerificationError} */
  verify(wallet: Wallet, record: PresentationRecord, presentation: string): Promise<Shown>
}

export const proofFormats: Readonly<Record<CredentialFormat, ProofFormat>> = {
  JWT: jwt,
  SDJWT: sdJwt,
  AnonCreds: anonCreds,
}

/** The format of a record, or of what is asked for. */
export function formatOf({ credentialFormat }: { credentialFormat: CredentialFormat }): ProofFormat {
  return proofFormats[credentialFormat]
}
