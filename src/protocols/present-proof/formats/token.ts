/** Common parts of JWT and SD-JWT presentations: the challenge, and the verification with the keys of DIDs. */
import { randomId } from '../../../base/id.ts'
import { Problem } from '../../../base/problem.ts'
import { statusChecks } from '../../../credential-status/check.ts'
import { createChainVerifier } from '../../../trust-anchors/verify-chain.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { CredentialFormat, ProofOptions } from '../../formats.ts'
import type { PresentOptions } from '../format.ts'
import { wrongFormat } from '../held-credentials.ts'
import type { PresentationRecord } from '../model.ts'
import type { RequestTerms } from '../requests.ts'

/** The challenge and the domain of a new request. Default: generated. */
export function newOptions(wallet: Wallet, { options }: RequestTerms): ProofOptions {
  return options ?? { challenge: randomId(), domain: wallet.env.config.DEFAULT_JWT_VC_OFFER_DOMAIN }
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
  if (anoncredPresentationRequest !== undefined && format !== 'AnonCreds')
    throw new Problem(
      'BadRequest',
      `anoncredPresentationRequest: the request is for ${format}. Name credentials in proofId.`,
    )
}

/** The options of the verification. */
export function checksOf(wallet: Wallet, record: PresentationRecord) {
  const { domain: audience, challenge: nonce } = getOptions(record)
  const { CREDENTIAL_LEEWAY } = wallet.env.config
  const verifyChain = createChainVerifier(wallet)
  return {
    credentialChecks: {
      leewaySeconds: CREDENTIAL_LEEWAY,
      ...statusChecks(wallet.env, record.statusCheck, verifyChain),
    },
    checks: {
      resolve: wallet.env.resolver.document,
      verifyChain,
      audience,
      nonce,
      now: Math.floor(Date.now() / 1_000),
      constraints: record.proofs,
    },
  }
}
