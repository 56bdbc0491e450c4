/**
 * Answers of OpenID4VP wallets to DID requests and challenges: the DID or key that presented a credential is
 * who answers.
 */
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { isSameDid } from '../../did/jwk.ts'
import { runChecks } from '../../credentials/formats/checks.ts'
import { identityOf } from '../../wallet/verification/identity.ts'
import type { AnsweredSession, FindAnsweredSession } from '../oid4vp/response.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { challenges } from './authentication.ts'
import { didRequests } from './onboarding.ts'
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
