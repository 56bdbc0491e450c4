/**
 * The public status of a request: for the page that the verifier shows to a person. It has names of claims,
 * which are in the request of that URL, and no values.
 */
import * as z from 'zod'
import { describePath } from '../../credentials/dcql/match.ts'
import type { CredentialQuery } from '../../credentials/dcql/query.ts'
import { openIdTraits } from '../../definitions/format-names.ts'
import { isOver } from '../../foundation/clock.ts'
import { Problem } from '../../foundation/problem.ts'
import { DigitalRequest } from '../presentation/digital-credentials.ts'
import { toVerification } from '../presentation/verification.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRequest, type RequestRecord } from './authorization-request.ts'
import { nameOf } from './known-types.ts'

export const RequestStatus = z
  .object({
    state: z
      .enum(['waiting', 'verified', 'failed', 'declined', 'expired'])
      .describe(
        '`waiting`: for a wallet. `verified` or `failed`: the checks of its presentation. `declined`: the wallet sent an error.',
      ),
    issuersChecked: z
      .boolean()
      .optional()
      .describe('`verified`: whether the verifier accepts only credentials of some issuers.'),
    asked: z
      .array(z.object({ credential: z.string(), claims: z.array(z.string()) }))
      .optional()
      .describe('What is requested, while the request waits: the name of each credential, and its claims.'),
    expiresAt: z.iso.datetime(),
    authorizationRequest: z.string().optional().describe('The URL for the wallet, while the request waits.'),
    digitalRequest: DigitalRequest.optional().describe(
      'The request for the Digital Credentials API, while it waits and if its page may make it.',
    ),
    isoMdocRequest: DigitalRequest.optional().describe('The same by the protocol `org-iso-mdoc`.'),
  })
  .meta({ id: 'OpenId4VpRequestStatus' })
export type RequestStatus = z.infer<typeof RequestStatus>

/**
 * The status, and what changes it: a commit that notifies of the topic, or the time. `next` is the page of an
 * issuance, once its request waits no longer.
 */
export type WatchedStatus = {
  status: RequestStatus
  walletId: string
  topic: string
  remainingMs: number
  next: string | undefined
}

/**
 * The status of a request's URL. The token is one of the wallet's.
 *
 * @throws {Problem} 410 for a request that was removed
 */
export async function readStatus(wallet: Wallet, token: string): Promise<WatchedStatus> {
  const record = await getRequest(wallet, token).catch((error: unknown) => {
    throw error instanceof Problem && error.status === 404 ? requestClosed() : error
  })
  const { authorizationRequest, dcqlQuery, directPost, expiresTime, origins, ...asked } = record.openid4vp
  const { digitalRequest, isoMdocRequest, issuance, redirectUri } = asked
  const state = stateOf(record)
  const isOfPage = origins?.includes(new URL(wallet.env.urls.rest).origin)
  return {
    status: {
      state,
      ...(state === 'verified' && { issuersChecked: toVerification(record).issuersChecked }),
      expiresAt: new Date(expiresTime * 1_000).toISOString(),
      ...(state === 'waiting' && {
        asked: dcqlQuery.credentials.map(toAsked),
        ...(directPost !== false && { authorizationRequest }),
        ...(isOfPage && { digitalRequest, isoMdocRequest }),
      }),
    },
    walletId: wallet.id,
    topic: `record ${record.id}`,
    remainingMs: expiresTime * 1_000 - Date.now(),
    next: issuance && state !== 'waiting' ? redirectUri : undefined,
  }
}

function toAsked({ format, meta, claims = [] }: CredentialQuery): { credential: string; claims: string[] } {
  const named = meta.doctype_value === undefined ? undefined : [meta.doctype_value]
  const types = meta.vct_values ?? meta.type_values?.[0] ?? named ?? [format]
  const root = (openIdTraits(format)?.claimsRoot ?? []).map((name) => `${name}.`).join('')
  // The elements of a document follow its namespace.
  const names = claims.map(({ path }) => describePath(named ? path.slice(1) : path))
  return {
    credential: nameOf(types),
    claims: names.map((name) => (name.startsWith(root) ? name.slice(root.length) : name)),
  }
}

/** The request waits no longer. */
export function requestClosed(): Problem {
  return new Problem(
    'error:ShortLinkError:LinkClosed',
    'The request was answered or withdrawn, or it has expired.',
  )
}

function stateOf({ state, openid4vp }: RequestRecord): RequestStatus['state'] {
  switch (state) {
    case 'RequestCreated':
      return isOver(openid4vp.expiresTime * 1_000) ? 'expired' : 'waiting'
    case 'PresentationVerified':
    case 'PresentationAccepted':
      return 'verified'
    case 'ProblemReportReceived':
      return 'declined'
    case 'RequestExpired':
      return 'expired'
    default:
      return 'failed'
  }
}
