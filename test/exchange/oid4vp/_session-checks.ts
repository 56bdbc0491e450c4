/** Checks of answers to DID requests and challenges by their source, each with the attack that it stops. */
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { ask } from '../../support/ask.ts'
import {
  answer,
  answerByTwo,
  newChallenge,
  person,
  personAndRole,
  submit,
  type Options,
} from '../enterprise/_openid4vp.ts'
import { newHolder } from '../enterprise/_suite.ts'
import { check } from '../oid4vci/_mutants.ts'
import type { Check } from './_checks.ts'
import { issueSdJwt, personQuery, type Verifier } from './_wallet.ts'

const anyIssuer: Options = { ...person, issuers: 'any' }

/** Asks for a challenge whose credential needs no holder. */
const asking = (more: object) => async (verifier: Verifier) => {
  const credentials = [{ ...personQuery.credentials[0], ...more }]
  const body = JSON.stringify({ openid4vp: { dcqlQuery: { credentials }, sameHolder: false } })
  return ask(verifier.agent, 'POST /did-authentication/challenges', { body, apiKey: verifier.tenant.apiKey })
}

export const sessionChecks: Check[] = [
  check(
    'src/exchange/enterprise/openid4vp-answer.ts',
    'row.expected_did !== null && !isSameDid(signer, row.expected_did)',
    async ({ tenant }) => answer(await newChallenge(tenant, anyIssuer, newHolder().did)),
  ),
  check(
    'src/wallet/verification/identity.ts',
    ['keys.some(({ publicKeyJwk }) => createJwkDid(publicKeyJwk) === holder)', 'true'],
    async ({ tenant }) => {
      const { did } = newHolder()
      const credential = await issueSdJwt({ payload: { sub: did } })
      return answer(await newChallenge(tenant, anyIssuer, did), { credential })
    },
  ),
  check('src/wallet/verification/identity.ts', '!isSameDid(another, holder)', async ({ tenant }) =>
    answerByTwo(await newChallenge(tenant, { ...anyIssuer, ...personAndRole })),
  ),
  check('src/wallet/verification/answer.ts', 'asked.sameHolder', async ({ tenant }) =>
    answerByTwo(await newChallenge(tenant, { ...anyIssuer, ...personAndRole })),
  ),
  check(
    'src/exchange/enterprise/authentication.ts',
    'expected !== null && !isSameDid(did, expected)',
    async ({ tenant }) => {
      const { challenge } = await newChallenge(tenant, anyIssuer, newHolder().did)
      return submit(challenge.submissionEndpoint, newHolder().answer(challenge.nonce))
    },
  ),
  check('src/wallet/verification/trust.ts', ["accepted === 'known' && isOwn", 'true'], async ({ tenant }) => {
    const key = generateKey('P-256')
    const credential = await issueSdJwt({ key, payload: { iss: createJwkDid(toPublic(key)) } })
    return answer(await newChallenge(tenant), { credential })
  }),
  check(
    'src/exchange/enterprise/openid4vp-request.ts',
    ['findUnheld(query)', 'undefined'],
    asking({ require_cryptographic_holder_binding: false }),
  ),
  check('src/credentials/dcql/query.ts', 'query.multiple === true', asking({ multiple: true })),
]
