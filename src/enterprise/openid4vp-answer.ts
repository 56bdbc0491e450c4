/** Answers of OpenID4VP wallets to DID requests and challenges: the DID or key that presented a credential is who answers. */
import { isTemporary, Problem } from '../base/problem.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { type DidDocument, keysFor } from '../did/document.ts'
import { createJwkDid } from '../did/jwk.ts'
import { runChecks } from '../oid4vp/checks.ts'
import type { AnsweredSession, FindAnsweredSession } from '../oid4vp/response.ts'
import type { PresentedCredential } from '../protocols/present-proof/openid4vp.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { challenges } from './authentication.ts'
import { didRequests, isSameDid } from './onboarding.ts'
import { findSessionById, type Session } from './session.ts'
import { claim, finish } from './session-answer.ts'

const products = { onboard: didRequests, authenticate: challenges }

/** The session that a response answers. A session that was removed is ended already. */
export const findAnsweredSession: FindAnsweredSession = async (wallet, { openid4vp: { sessionId } }) => {
  if (sessionId === undefined) return undefined
  const row = await findSessionById(wallet.db, sessionId)
  return row ? toAnswered(wallet, row) : { check: async () => [], end: async () => false }
}

function toAnswered(wallet: Wallet, row: Session): AnsweredSession {
  let did: string | undefined
  return {
    async check({ checks, credentials }) {
      if (checks.some(({ result }) => result === 'failed')) return [{ name: 'identity', result: 'skipped' }]
      const identify = async () => {
        const signer = await identityOf(wallet, credentials[0])
        if (row.expected_did !== null && !isSameDid(signer, row.expected_did))
          throw new VerificationError(
            'holder-binding',
            `The holder is ${signer}, and another DID was asked for`,
          )
        did = signer
      }
      return runChecks([['identity', identify]])
    },
    async end(tx, outcome) {
      const answer = { did, answeredBy: 'openid4vp', outcome } as const
      return (await claim(tx, row)) && finish(tx, wallet, products[row.product], row, answer)
    },
  }
}

/**
 * The DID of the holder of a credential. The issuer's `sub` alone proves nothing: it is the identity if the key that signed the
 * presentation is an authentication key of that DID.
 */
async function identityOf(wallet: Wallet, presented: PresentedCredential | undefined): Promise<string> {
  const { holder, subject } = presented ?? {}
  if (holder === undefined)
    throw new VerificationError('holder-binding', 'The presentation does not prove who holds the credential')
  if (!subject?.startsWith('did:') || subject === holder) return holder
  const document = await findDocument(wallet, subject)
  const keys = document ? keysFor(document, 'authentication') : []
  return keys.some(({ publicKeyJwk }) => createJwkDid(publicKeyJwk) === holder) ? subject : holder
}

/** Undefined for a DID that does not resolve. @throws {Problem} if the resolution is temporarily impossible */
async function findDocument({ env }: Wallet, did: string): Promise<DidDocument | undefined> {
  try {
    return await env.resolver.document(did)
  } catch (error) {
    if (error instanceof Problem && !isTemporary(error)) return undefined
    throw error
  }
}
