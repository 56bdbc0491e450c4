/**
 * Authorization requests between two steps: a pushed request (RFC 9126), and the form of the consent page.
 * Each contains the request itself, sealed with the key of the wallet for one issuer. So a request of a
 * stranger writes nothing, and nobody else can make or change one.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import {
  AuthorizationRequest,
  CheckedRequest,
  checkRequest,
  ClosedRequest,
  readTarget,
} from './authorization-request.ts'
import { authenticateClient, type ClientHeaders, useClientProof } from './client-attestation.ts'
import { readProof } from './dpop.ts'
import type { IssuerRow } from './issuers.ts'
import { useNonce } from './nonce.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { readParameters } from '../../foundation/oauth/parameters.ts'
import { withLog } from './request-log.ts'
import { findGrant } from './grant.ts'

export const PushedResponse = z
  .object({ request_uri: z.string(), expires_in: z.int() })
  .meta({ id: 'PushedAuthorizationResponse' })

const prefix = 'urn:ietf:params:oauth:request_uri:'

/** Seconds: from the push of a request to its page, and from its page to the answer. */
const lifetimes = { pushed: 90, form: 600 } as const
type Purpose = keyof typeof lifetimes
const names = { pushed: 'request_uri', form: 'page' } as const satisfies Record<Purpose, string>

const contextOf = (purpose: Purpose, issuerId: string) => `authorization-request:${purpose}:${issuerId}`
const Sealed = z.object({ request: CheckedRequest, endsMs: z.number() })

export function sealRequest(
  wallet: Wallet,
  issuerId: string,
  purpose: Purpose,
  request: CheckedRequest,
): { sealed: string; expiresIn: number } {
  const expiresIn = lifetimes[purpose]
  const text = JSON.stringify({ request, endsMs: Date.now() + expiresIn * 1_000 })
  return { sealed: wallet.seal(contextOf(purpose, issuerId), text), expiresIn }
}

/**
 * Undefined if this issuer did not seal the request for the purpose.
 *
 * @throws {ClosedRequest} if its time is over
 */
export function openRequest(
  wallet: Wallet,
  issuerId: string,
  purpose: Purpose,
  sealed: string,
): CheckedRequest | undefined {
  let opened: z.output<typeof Sealed>
  try {
    opened = Sealed.parse(JSON.parse(wallet.unseal(contextOf(purpose, issuerId), sealed)))
  } catch {
    return undefined
  }
  if (isOver(opened.endsMs))
    throw new ClosedRequest(
      'invalid_request',
      `The ${names[purpose]} has expired. Start again in the wallet.`,
    )
  return opened.request
}

/**
 * RFC 9126 §2: stores the request in its `request_uri`. A DPoP proof binds the code to its key (RFC 9449
 * §10.1). That it is used once is not stored: repeating it pushes the same request. A wallet attestation
 * binds the code to the attested key.
 *
 * @throws {OAuthError}
 */
export async function pushRequest(
  wallet: Wallet,
  issuer: IssuerRow,
  request: { parameters: URLSearchParams; headers: ClientHeaders },
): Promise<z.infer<typeof PushedResponse>> {
  const issuerState = request.parameters.get('issuer_state') ?? ''
  const find = () => findGrant(wallet.db, issuer.id, 'state_digest', issuerState)
  const checked = await withLog(wallet, 'authorization-request', find, () =>
    checkPushed(wallet, issuer, request),
  )
  const { sealed, expiresIn } = sealRequest(wallet, issuer.id, 'pushed', checked)
  return { request_uri: prefix + sealed, expires_in: expiresIn }
}

async function checkPushed(
  wallet: Wallet,
  issuer: IssuerRow,
  { parameters, headers }: { parameters: URLSearchParams; headers: ClientHeaders },
): Promise<CheckedRequest> {
  if (parameters.has('request_uri'))
    throw new OAuthError('invalid_request', 'request_uri is not allowed in a pushed request.')
  const client = await authenticateClient(wallet, issuer, headers, parameters.get('client_id') ?? undefined)
  const target = await readTarget(wallet, issuer, parameters)
  const checked = checkRequest(target, wallet.env.urls.rest)
  const { jkt = checked.jkt } = (await readProof(wallet, issuer, headers.dpop, { endpoint: 'par' })) ?? {}
  if (checked.jkt !== undefined && jkt !== checked.jkt)
    throw new OAuthError('invalid_dpop_proof', 'dpop_jkt is not the thumbprint of the key of the DPoP proof.')
  if (client) {
    await wallet.env.limitOffers(checked.grantId ?? client.keyThumbprint)
    await wallet.transaction((tx) => useClientProof(tx, client))
  }
  return {
    ...checked,
    ...(jkt !== undefined && { jkt }),
    ...(client && { clientKey: client.keyThumbprint }),
  }
}

/** The pushed request of a client. Errors have no redirect URI. @throws {OAuthError} `invalid_request` */
export function readPushed(wallet: Wallet, issuerId: string, parameters: URLSearchParams): CheckedRequest {
  const { client_id: clientId, request_uri: uri } = readParameters(
    AuthorizationRequest.pick({ client_id: true, request_uri: true }),
    parameters,
  )
  const request = uri?.startsWith(prefix)
    ? openRequest(wallet, issuerId, 'pushed', uri.slice(prefix.length))
    : undefined
  if (!request) throw new OAuthError('invalid_request', 'request_uri is not of this issuer.')
  if (request.clientId !== clientId)
    throw new OAuthError('invalid_request', 'client_id is not that of the pushed request.')
  return request
}

/**
 * Stores that a request is answered, or that its form was, until no form of it is left. False if it was
 * answered before.
 */
export function useRequest(tx: Tx, { id }: Pick<CheckedRequest, 'id'>): Promise<boolean> {
  return useNonce(tx, id, Date.now() + (lifetimes.pushed + lifetimes.form) * 1_000)
}
