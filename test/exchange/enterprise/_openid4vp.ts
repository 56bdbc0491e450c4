/** DID requests and challenges for wallets of OpenID4VP. */
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import type { OpenId4VpOptions } from '../../../src/exchange/enterprise/openid4vp-model.ts'
import type { Tenant } from '../../support/tenants.ts'
import { ask } from '../../support/ask.ts'
import {
  issueSdJwt,
  issuerDid,
  personQuery,
  present,
  presentSdJwt,
  readRequest,
  type Presented,
} from '../oid4vp/_wallet.ts'

export type Options = Partial<OpenId4VpOptions>
type Caller = Pick<Tenant, 'call'>

/** The credential `person` of a trusted issuer. */
export const person = { dcqlQuery: personQuery } as Options

/** Makes the issuer of tests a trust anchor of the tenant. */
export function trustIssuer({ call }: Caller, value = issuerDid) {
  return call('POST /trust-anchors', { body: { type: 'did', value } })
}

export function newDidRequest({ call }: Caller, openid4vp: Options = person) {
  return call('POST /onboard/did-requests', { body: { from: 'Acme', openid4vp } })
}

export function newChallenge({ call }: Caller, openid4vp: Options = person, expectedDid?: string) {
  return call('POST /did-authentication/challenges', {
    body: { from: 'Acme', openid4vp, expectedDid },
  })
}

export function challengeOf({ call }: Caller, challengeId: string) {
  return call('GET /did-authentication/challenges/{challengeId}', { path: { challengeId } })
}

export function didRequestOf({ call }: Caller, didRequestId: string) {
  return call('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId } })
}

/** The parameters of a session's request. */
export function requestOf({ openid4vp }: { openid4vp?: { authorizationRequest: string } | undefined }) {
  return readRequest(openid4vp!.authorizationRequest)
}

/** Answers a session with the credential `person`. */
export async function answer(
  session: { openid4vp?: { authorizationRequest: string } | undefined },
  presented: Presented = {},
) {
  const request = await requestOf(session)
  return present(request, { person: [await presentSdJwt(request, presented)] })
}

/** Two credentials of the issuer of tests. */
export const personAndRole = {
  dcqlQuery: { credentials: ['person', 'role'].map((id) => ({ ...personQuery.credentials[0], id })) },
} as Options

/** Answers with a credential of the holder of tests, and with one of another holder. */
export async function answerByTwo(
  session: { openid4vp?: { authorizationRequest: string } | undefined },
  key = generateKey('P-256'),
) {
  const request = await requestOf(session)
  const role = { credential: await issueSdJwt({ holder: key }), key }
  return present(request, {
    person: [await presentSdJwt(request, {})],
    role: [await presentSdJwt(request, role)],
  })
}

/** Posts an answer to the link of a session. */
export function submit(endpoint: string, body: object) {
  return ask({ url: '' }, `POST ${endpoint}`, { body })
}
