/** A tenant with credentials that answers requests of OpenID4VP, and a verifier of this project beside it. */
import { expect } from 'vitest'
import { issueSdJwtTo } from '../../../flows/_sd-jwt.ts'
import { startConnected } from '../../../flows/_steps.ts'
import type { Client } from '../../../../daemon/client/client.ts'
import { until, type Tenant } from '../../../support/tenants.ts'
import { requestProof, type RequestOptions } from '../_wallet.ts'

export const anyCredential = 'https://www.w3.org/2018/credentials#VerifiableCredential'

/** The claims of the holder's SD-JWT. */
export const claims = {
  name: 'Alice',
  age: 30,
  address: { street: 'Main Street', city: 'Springfield' },
  nationalities: ['DE', 'FR'],
}

export type Query = {
  id?: string
  format?: string
  types?: string[]
  claims?: object[]
  more?: object
}

/** A credential query for the holder's SD-JWT. */
export function credentialQuery({
  id = 'person',
  format = 'dc+sd-jwt',
  types = [anyCredential],
  claims: asked = [{ path: ['name'] }],
  more,
}: Query = {}) {
  const meta = format === 'dc+sd-jwt' ? { vct_values: types } : { type_values: [types] }
  return { id, format, meta, ...(asked.length > 0 && { claims: asked }), ...more }
}

/** An agent with an issuer, a holder with a key-bound SD-JWT, and a verifier. */
export async function startWallet(variables: Record<string, string> = {}) {
  const holding = await startConnected(variables, 'Ed25519')
  const verifier = { tenant: await holding.agent.newTenant('verifier') }
  const { recordId: sdJwtId } = await issueSdJwtTo(holding, { keyId: 'key-1', claims })
  return { ...holding, verifier, sdJwtId, [Symbol.asyncDispose]: () => holding[Symbol.asyncDispose]() }
}
export type TestWallet = Awaited<ReturnType<typeof startWallet>>

export function receive({ call }: Pick<Tenant, 'call'>, authorizationRequest: string) {
  return call('POST /present-proof/presentations/openid4vp/requests', { body: { authorizationRequest } })
}

/** Receives a request of the Digital Credentials API, as the platform passes it on. */
export function receiveDigital({ call }: Pick<Tenant, 'call'>, digitalRequest: object, origin: string) {
  const body = { digitalRequest: digitalRequest as never, origin }
  return call('POST /present-proof/presentations/openid4vp/requests', { body })
}

export function act({ call }: Pick<Tenant, 'call'>, presentationId: string, body: object) {
  const path = { presentationId }
  return call('PATCH /present-proof/presentations/{presentationId}', { path, body: body as never })
}

export function candidatesOf({ call }: Pick<Tenant, 'call'>, presentationId: string) {
  return call('GET /present-proof/presentations/{presentationId}/candidates', { path: { presentationId } })
}

/** Waits for a state of a record. */
export function inState(call: Client, presentationId: string, state: string) {
  return until(
    state,
    () => call('GET /present-proof/presentations/{presentationId}', { path: { presentationId } }),
    ({ status }) => status === state,
  )
}

/** Receives a request, accepts it, and waits for a state of the record. */
export async function acceptRequest(
  { holder: { call } }: Pick<TestWallet, 'holder'>,
  authorizationRequest: string,
  state = 'PresentationSent',
) {
  const { presentationId } = await receive({ call }, authorizationRequest)
  await act({ call }, presentationId, { action: 'request-accept' })
  return inState(call, presentationId, state)
}

/** A request of the project's verifier, received by the holder. */
export async function requested(
  { verifier, holder }: Pick<TestWallet, 'verifier' | 'holder'>,
  options: RequestOptions = {},
) {
  const dcqlQuery = options.dcqlQuery ?? { credentials: [credentialQuery()] }
  const asked = await requestProof(verifier, { ...options, dcqlQuery })
  const received = await receive(holder, asked.openid4vp!.authorizationRequest)
  expect(received).toMatchObject({ role: 'Prover', status: 'RequestReceived' })
  return { asked, received, id: received.presentationId }
}

/** Accepts a request, and returns both records at their end. */
export async function presented(
  { verifier, holder }: Pick<TestWallet, 'verifier' | 'holder'>,
  { asked, id }: { asked: { presentationId: string }; id: string },
  body: object = {},
) {
  await act(holder, id, { action: 'request-accept', ...body })
  const proved = await inState(holder.call, id, 'PresentationSent')
  const verified = await inState(verifier.tenant.call, asked.presentationId, 'PresentationVerified')
  return { proved, verified }
}
