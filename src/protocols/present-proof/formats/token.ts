/** What proofs with JWTs and SD-JWTs have in common: they answer a challenge, and are verified with the keys of DIDs (wire.md 5). */
import { randomId } from '../../../base/id.ts'
import { Problem } from '../../../base/problem.ts'
import { statusChecks } from '../../../credential-status/check.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import {
  tokenAttachments,
  type ProofOptions,
  type CredentialFormat,
  type TokenFormat,
} from '../../formats.ts'
import type { Choice, ProofFormat } from '../format.ts'
import { wrongFormat } from '../held.ts'
import type { PresentationRecord, Requested } from '../model.ts'

/** The challenge and the domain of a request; made up when left out. */
export function optionsOf(wallet: Wallet, { options }: Requested): ProofOptions {
  return options ?? { challenge: randomId(), domain: wallet.env.config.DEFAULT_JWT_VC_OFFER_DOMAIN }
}

/** @throws when the record has none, which only a prover's may lack. */
export function getOptions({ id, options }: PresentationRecord): ProofOptions {
  if (!options) throw new Error(`the record ${id} has no options`)
  return options
}

/** Makes sure that a choice is for the format that was asked for. @throws {Problem} */
export function requireFormat(
  format: CredentialFormat,
  { credentialFormat, anoncredPresentationRequest }: Choice,
): void {
  if (credentialFormat !== undefined && credentialFormat !== format)
    throw wrongFormat(`credentialFormat: the request is for ${format}.`)
  if (anoncredPresentationRequest !== undefined && format !== 'AnonCreds')
    throw new Problem(
      'BadRequest',
      `anoncredPresentationRequest: the request is for ${format}. Name credentials in proofId.`,
    )
}

/** What a presentation is checked with, whatever its format. */
export function checksOf(wallet: Wallet, record: PresentationRecord) {
  const { domain: audience, challenge: nonce } = getOptions(record)
  const { CREDENTIAL_LEEWAY } = wallet.env.config
  return {
    credentialChecks: { leewaySeconds: CREDENTIAL_LEEWAY, ...statusChecks(wallet.env, record.statusCheck) },
    checks: {
      resolve: wallet.env.resolver.document,
      audience,
      nonce,
      now: Math.floor(Date.now() / 1_000),
      constraints: record.proofs,
    },
  }
}

/** A token as the one attachment of a message. */
export function attaching(format: TokenFormat): ProofFormat['attach'] {
  return (presentation) => tokenAttachments(presentation, format)
}
