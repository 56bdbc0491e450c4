/** Checks of answers to DID requests and challenges by their source, each with the attack that it stops. */
import { generateKey, toPublic } from '../../src/crypto/keys.ts'
import { createJwkDid } from '../../src/did/jwk.ts'
import { ask } from '../_ask.ts'
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
  {
    file: 'src/enterprise/openid4vp-answer.ts',
    text: 'row.expected_did !== null && !isSameDid(signer, row.expected_did)',
    off: 'false',
    attack: async ({ tenant }) => answer(await newChallenge(tenant, anyIssuer, newHolder().did)),
  },
  {
    file: 'src/presentation/identity.ts',
    text: 'keys.some(({ publicKeyJwk }) => createJwkDid(publicKeyJwk) === holder)',
    off: 'true',
    attack: async ({ tenant }) => {
      const { did } = newHolder()
      const credential = await issueSdJwt({ payload: { sub: did } })
      return answer(await newChallenge(tenant, anyIssuer, did), { credential })
    },
  },
  {
    file: 'src/presentation/identity.ts',
    text: '!isSameDid(another, holder)',
    off: 'false',
    attack: async ({ tenant }) => answerByTwo(await newChallenge(tenant, { ...anyIssuer, ...personAndRole })),
  },
  {
    file: 'src/presentation/answer.ts',
    text: 'asked.sameHolder',
    off: 'false',
    attack: async ({ tenant }) => answerByTwo(await newChallenge(tenant, { ...anyIssuer, ...personAndRole })),
  },
  {
    file: 'src/enterprise/authentication.ts',
    text: 'expected !== null && !isSameDid(did, expected)',
    off: 'false',
    attack: async ({ tenant }) => {
      const { challenge } = await newChallenge(tenant, anyIssuer, newHolder().did)
      return submit(challenge.submissionEndpoint, newHolder().answer(challenge.nonce))
    },
  },
  {
    file: 'src/presentation/trust.ts',
    text: "accepted === 'known' && isOwn",
    off: 'true',
    attack: async ({ tenant }) => {
      const key = generateKey('P-256')
      const credential = await issueSdJwt({ key, payload: { iss: createJwkDid(toPublic(key)) } })
      return answer(await newChallenge(tenant), { credential })
    },
  },
  {
    file: 'src/enterprise/openid4vp-request.ts',
    text: 'isUnbound(query)',
    off: 'false',
    attack: asking({ require_cryptographic_holder_binding: false }),
  },
  {
    file: 'src/enterprise/openid4vp-request.ts',
    text: 'query.multiple === true',
    off: 'false',
    attack: asking({ multiple: true }),
  },
]
