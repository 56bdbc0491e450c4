/** What requests and choices of every format have in common. */
import { Problem } from '../../../foundation/problem.ts'
import { type CredentialFormat, isTokenFormat } from '../../../definitions/format-names.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { ProofOptions } from '../../protocols/attachments.ts'
import { newChallenge } from '../challenge.ts'
import type { PresentOptions } from '../format.ts'
import { wrongFormat } from '../chosen-credentials.ts'
import type { PresentationRecord } from '../model.ts'
import type { RequestTerms } from '../requests.ts'

/** The challenge and the domain of a new request of a verifier. Default: a challenge that names its DID. */
export function newOptions(wallet: Wallet, { options }: RequestTerms, verifier: string): ProofOptions {
  return (
    options ?? { challenge: newChallenge(verifier), domain: wallet.env.config.DEFAULT_JWT_VC_OFFER_DOMAIN }
  )
}

/** The challenge and the domain of a record. Only a prover's record may lack them. @throws {Error} */
export function getOptions({ id, options }: PresentationRecord): ProofOptions {
  const { challenge, domain } = options ?? {}
  if (challenge === undefined || domain === undefined)
    throw new Error(`the record ${id} has no challenge and domain`)
  return { challenge, domain }
}

/** Checks that the choices are for the requested format. @throws {Problem} */
export function requireFormat(
  format: CredentialFormat,
  { credentialFormat, anoncredPresentationRequest }: PresentOptions,
): void {
  if (credentialFormat !== undefined && credentialFormat !== format)
    throw wrongFormat(`credentialFormat: the request is for ${format}.`)
  if (anoncredPresentationRequest !== undefined && isTokenFormat(format))
    throw new Problem(
      'BadRequest',
      `anoncredPresentationRequest: the request is for ${format}. Name credentials in proofId.`,
    )
}
